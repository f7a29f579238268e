//! Jobs whose ranks are threads with an endpoint each.

use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use mgn_fabric::job::{Job, Member};

/// Runs `each` as every rank of a job of its own. Returns the results of the ranks, in their order.
pub fn members<T: Send>(size: usize, each: impl Fn(&Member) -> T + Sync) -> Vec<T> {
    some_members(&new_name(), size, 0..size, each)
}

/// A name for a job of its own.
pub fn new_name() -> String {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    format!("composite-{}-{number}", std::process::id())
}

/// Runs `each` as some ranks of a job. Returns their results, in the order of `ranks`.
pub fn some_members<T: Send>(
    name: &str,
    size: usize,
    ranks: impl IntoIterator<Item = usize>,
    each: impl Fn(&Member) -> T + Sync,
) -> Vec<T> {
    thread::scope(|scope| {
        let ranks: Vec<_> = ranks
            .into_iter()
            .map(|rank| {
                let each = &each;
                scope.spawn(move || {
                    let hosts = vec!["localhost".to_owned(); size];
                    let job = Job::new(name, rank as u32, hosts).unwrap();
                    let member = job.join().unwrap();
                    let result = each(&member);
                    member.leave();
                    result
                })
            })
            .collect();
        ranks.into_iter().map(|rank| rank.join().unwrap()).collect()
    })
}
