//! How far the two processors are from each other.

use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::record::Place;

const TRIPS: u32 = 20_000;

/// A cache line that changes hands in less than this, in ns, has not far to go.
pub const NEAR: f64 = 150.0;

/// None where the processors are too busy to tell.
pub fn place() -> Option<Place> {
    match line() {
        time if time < NEAR => Some(Place::Near),
        time if time.is_finite() => Some(Place::Far),
        _ => None,
    }
}

/// A probe that takes longer, on one processor say, is given up.
const PATIENCE: Duration = Duration::from_millis(100);

/// Nanoseconds in which a cache line changes hands, one way, between processors 0 and 1. Infinite where they don't hand it over.
pub fn line() -> f64 {
    #[repr(align(128))]
    struct Line(AtomicU32);
    let line = Line(AtomicU32::new(0));
    let turn = |mine: u32| {
        let start = Instant::now();
        for trip in 0..TRIPS {
            let wanted = 2 * trip + mine;
            let mut looks = 0u32;
            while line.0.load(Ordering::Acquire) != wanted {
                std::hint::spin_loop();
                looks += 1;
                if looks % (1 << 16) == 0 && start.elapsed() > PATIENCE {
                    return f64::INFINITY;
                }
            }
            line.0.store(wanted + 1, Ordering::Release);
        }
        start.elapsed().as_nanos() as f64 / f64::from(2 * TRIPS)
    };
    thread::scope(|scope| {
        scope.spawn(|| {
            pin(1);
            turn(1)
        });
        scope
            .spawn(|| {
                pin(0);
                turn(0)
            })
            .join()
            .unwrap_or(f64::INFINITY)
    })
}

/// Ties the calling thread to a processor, where that is there.
pub fn pin(processor: usize) {
    let mut set = rustix::thread::CpuSet::new();
    set.set(processor);
    let _ = rustix::thread::sched_setaffinity(None, &set);
}
