//! Work on two threads. The machines for tests have two processors, and a run keeps one of them
//! busy.

use std::sync::Mutex;

const JOBS: usize = 2;

/// Does `work` on each item and returns the results in the items' order.
pub fn in_parallel<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = Mutex::new(0);
    let done: Mutex<Vec<Option<R>>> = Mutex::new(items.iter().map(|_| None).collect());
    std::thread::scope(|scope| {
        for _ in 0..JOBS {
            scope.spawn(|| loop {
                let at = {
                    let mut next = next.lock().expect("no work panics with the lock");
                    *next += 1;
                    *next - 1
                };
                let Some(item) = items.get(at) else { break };
                let result = work(item);
                done.lock().expect("no work panics with the lock")[at] = Some(result);
            });
        }
    });
    let done = done.into_inner().expect("no work panics with the lock");
    done.into_iter()
        .map(|r| r.expect("every item was worked on"))
        .collect()
}
