//! Jobs whose ranks are threads with an endpoint each.

use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use mgn_composite::Group;
use mgn_fabric::job::{Job, Member};

/// How members reach each other's pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    Memory,
    Messages,
    /// So many ranks share memory; the next ones are as on another host.
    Hosts(usize),
}

impl By {
    pub fn group(self, member: &Member, number: u16, patience: Duration) -> Group<'_> {
        let group = match self {
            By::Memory => Group::new(member, number, patience),
            By::Messages => Group::as_on_host(member, number, patience, member.rank()),
            By::Hosts(ranks) => {
                let host = member.rank() / ranks as u32;
                Group::as_on_host(member, number, patience, host)
            }
        };
        let group = group.unwrap();
        let hosts = match self {
            By::Memory => 1,
            By::Messages => group.size(),
            By::Hosts(ranks) => group.size().div_ceil(ranks),
        };
        assert_eq!(group.hosts(), hosts);
        group
    }
}

/// Runs `each` as every rank of a job of its own. Gives what the ranks came to, in their order.
pub fn members<T: Send>(size: usize, each: impl Fn(&Member) -> T + Sync) -> Vec<T> {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let name = format!("composite-{}-{number}", std::process::id());
    thread::scope(|scope| {
        let ranks: Vec<_> = (0..size)
            .map(|rank| {
                let (name, each) = (&name, &each);
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
