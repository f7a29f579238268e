//! How far the two processors are from each other.

use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Instant;

const TRIPS: u32 = 20_000;

/// Nanoseconds in which a cache line changes hands, one way, between processors 0 and 1.
pub fn line() -> f64 {
    #[repr(align(128))]
    struct Line(AtomicU32);
    let line = Line(AtomicU32::new(0));
    let turn = |mine: u32| {
        for trip in 0..TRIPS {
            let wanted = 2 * trip + mine;
            while line.0.load(Ordering::Acquire) != wanted {
                std::hint::spin_loop();
            }
            line.0.store(wanted + 1, Ordering::Release);
        }
    };
    thread::scope(|scope| {
        scope.spawn(|| {
            pin(1);
            turn(1);
        });
        scope
            .spawn(|| {
                pin(0);
                let start = Instant::now();
                turn(0);
                start.elapsed().as_nanos() as f64 / f64::from(2 * TRIPS)
            })
            .join()
            .unwrap_or(f64::MAX)
    })
}

/// Ties the calling thread to a processor, where that is there.
pub fn pin(processor: usize) {
    let mut set = rustix::thread::CpuSet::new();
    set.set(processor);
    let _ = rustix::thread::sched_setaffinity(None, &set);
}
