//! Sleeping on a word of shared memory until another thread or process wakes the sleepers.

use std::sync::atomic::AtomicU32;
use std::time::Duration;

use rustix::fs::Timespec;
use rustix::thread::futex::{self, Flags};

/// Sleeps while `word` holds `expected`, until woken or until `timeout` has passed. It may also
/// return earlier for no reason, so callers must check their condition again.
pub fn wait(word: &AtomicU32, expected: u32, timeout: Duration) {
    let timeout = Timespec {
        tv_sec: timeout.as_secs().min(1 << 30) as i64,
        tv_nsec: timeout.subsec_nanos().into(),
    };
    // After every failure (value changed, timed out, interrupted), the caller checks its condition
    // again.
    let _ = futex::wait(word, Flags::empty(), expected, Some(&timeout));
}

/// Wakes all threads that sleep on `word`.
pub fn wake_all(word: &AtomicU32) {
    let _ = futex::wake(word, Flags::empty(), i32::MAX as u32);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering;
    use std::time::Instant;

    #[test]
    fn wakes_and_times_out() {
        let word = AtomicU32::new(1);
        let start = Instant::now();
        wait(&word, 0, Duration::from_secs(60));
        wait(&word, 1, Duration::from_millis(5));
        assert!(start.elapsed() < Duration::from_secs(50));
        std::thread::scope(|scope| {
            let sleeper = scope.spawn(|| {
                while word.load(Ordering::SeqCst) == 1 {
                    wait(&word, 1, Duration::from_secs(60));
                }
            });
            word.store(2, Ordering::SeqCst);
            wake_all(&word);
            sleeper.join().unwrap();
        });
        assert!(start.elapsed() < Duration::from_secs(50));
    }
}
