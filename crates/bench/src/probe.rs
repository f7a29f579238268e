//! The distance between the two processors of a measurement.

use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::record::Distance;

const TRIPS: u32 = 20_000;

/// Two processors are near each other if a cache line passes between them in less than this time,
/// in ns.
pub const NEAR_NS: f64 = 150.0;

/// `None` if the processors are too busy for a measurement.
pub fn distance() -> Option<Distance> {
    match cache_line_ns() {
        time if time < NEAR_NS => Some(Distance::Near),
        time if time.is_finite() => Some(Distance::Far),
        _ => None,
    }
}

/// The time limit of a probe. It applies, for example, if both threads share a processor.
const PROBE_TIMEOUT: Duration = Duration::from_millis(100);

/// The time in nanoseconds in which a cache line passes one way between the [processors](processor)
/// of two processes. Infinite if it exceeds the limit.
pub fn cache_line_ns() -> f64 {
    #[repr(align(128))]
    struct Line(AtomicU32);
    let line = Line(AtomicU32::new(0));
    let turn = |mine: u32| {
        let start = Instant::now();
        for trip in 0..TRIPS {
            let wanted = 2 * trip + mine;
            let mut polls = 0u32;
            while line.0.load(Ordering::Acquire) != wanted {
                std::hint::spin_loop();
                polls += 1;
                if polls % (1 << 16) == 0 && start.elapsed() > PROBE_TIMEOUT {
                    return f64::INFINITY;
                }
            }
            line.0.store(wanted + 1, Ordering::Release);
        }
        start.elapsed().as_nanos() as f64 / f64::from(2 * TRIPS)
    };
    let pinned = |mine: u32| match processor(mine as usize).and_then(pin) {
        Ok(()) => turn(mine),
        Err(_) => f64::INFINITY,
    };
    thread::scope(|scope| {
        scope.spawn(|| pinned(1));
        let first = scope.spawn(|| pinned(0));
        first.join().unwrap_or(f64::INFINITY)
    })
}

/// The processors that the calling thread may use.
pub fn processors() -> Result<Vec<usize>> {
    let mine = rustix::thread::sched_getaffinity(None)
        .context("cannot find out which processors may be used")?;
    let all = 0..rustix::thread::CpuSet::MAX_CPU;
    Ok(all.filter(|at| mine.is_set(*at)).collect())
}

/// The processor for a process of this rank. Ranks share processors if there are too few.
pub fn processor(rank: usize) -> Result<usize> {
    let processors = processors()?;
    Ok(processors[rank % processors.len()])
}

/// Pins the calling thread to a processor.
pub fn pin(processor: usize) -> Result<()> {
    let mut set = rustix::thread::CpuSet::new();
    set.set(processor);
    let pinned = rustix::thread::sched_setaffinity(None, &set);
    pinned.with_context(|| format!("cannot use processor {processor}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_are_those_that_may_be_used() {
        let all = processors().unwrap();
        let (first, last) = (all[0], all[all.len() - 1]);
        let count = thread::available_parallelism().unwrap().get();
        assert_eq!(all.len(), count);
        // This runs in a separate thread, so that the pinning does not affect other tests.
        let mine = thread::spawn(move || {
            pin(last).unwrap();
            [processor(0), processor(1)].map(Result::unwrap)
        });
        assert_eq!(mine.join().unwrap(), [last, last]);
        assert_eq!(processor(0).unwrap(), first);
        assert!(pin(rustix::thread::CpuSet::MAX_CPU - 1).is_err());
    }
}
