//! Whether other threads compute on the processors of this host.
//!
//! A member that yields to a thread that computes gets the processor back only milliseconds later.
//! A member that sleeps is woken earlier: the kernel lets it run before a thread that computes.
//! Between members that all wait, yielding is faster.

use std::time::{Duration, Instant};

/// If a yield takes longer than this, a thread that computes has run. Members that wait yield
/// within microseconds.
const COMPUTING: Duration = Duration::from_millis(1);

/// If threads have computed for `STOLEN` in yields during the time `WINDOW`, the member does not
/// yield for the time `PAUSE`. A thread of low priority computes for less.
const STOLEN: Duration = Duration::from_millis(10);
const WINDOW: Duration = Duration::from_millis(100);
const PAUSE: Duration = Duration::from_millis(200);

/// What one member knows about other threads, from the durations of its yields.
#[derive(Debug, Default)]
pub(super) struct Load {
    /// When the present window began, and for how long threads have computed since.
    window: Option<(Instant, Duration)>,
    paused_until: Option<Instant>,
}

impl Load {
    pub fn allows_yields(&self, now: Instant) -> bool {
        self.paused_until.is_none_or(|until| until <= now)
    }

    /// A yield has taken the time `gone`, until `now`.
    pub fn has_yielded(&mut self, gone: Duration, now: Instant) {
        if gone <= COMPUTING {
            return;
        }
        let is_present = |(began, _): &(Instant, Duration)| now - *began <= WINDOW;
        let present = self.window.filter(is_present);
        let (began, stolen) = present.unwrap_or((now, Duration::ZERO));
        self.window = Some((began, stolen + gone));
        if stolen + gone >= STOLEN {
            self.window = None;
            self.paused_until = Some(now + PAUSE);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn members_sleep_while_threads_compute() {
        let mut load = Load::default();
        let start = Instant::now();
        for n in 0..2 {
            load.has_yielded(4 * MS, start + 5 * n * MS);
            assert!(load.allows_yields(start + 5 * n * MS));
        }
        load.has_yielded(4 * MS, start + 10 * MS);
        assert!(!load.allows_yields(start + 10 * MS));
        assert!(!load.allows_yields(start + 10 * MS + PAUSE - MS));
        // Then it tries again.
        let again = start + 10 * MS + PAUSE;
        assert!(load.allows_yields(again));
        load.has_yielded(4 * MS, again);
        assert!(load.allows_yields(again));
        load.has_yielded(6 * MS, again + 6 * MS);
        assert!(!load.allows_yields(again + 6 * MS));
    }

    #[test]
    fn members_yield_if_threads_compute_rarely_or_shortly() {
        let mut load = Load::default();
        let start = Instant::now();
        for n in 0..1000 {
            load.has_yielded(COMPUTING, start + n * MS);
            // A thread of low priority.
            if n % 60 == 0 {
                load.has_yielded(4 * MS, start + n * MS);
            }
            assert!(load.allows_yields(start + n * MS), "{n}");
        }
    }
}
