//! Code that tests with random commands share: their settings from the environment.

use std::time::{Duration, Instant};

/// `MGN_FUZZ_MINUTES` and `MGN_FUZZ_SEED` say how long to look, and from which seed. With
/// `MGN_FUZZ_TRACE` a test prints each command before it is executed, in case one crashes. With
/// `MGN_FUZZ_WITHOUT`, numbers separated by commas, there is one round without these commands, to
/// find out which of them matter.
///
/// Read it before the first renderer is made: renderers take these variables out of the
/// environment.
pub struct Settings {
    pub seed: u64,
    pub traces: bool,
    without: Option<Vec<u64>>,
    minutes: Option<u64>,
    start: Instant,
}

impl Settings {
    pub fn from_environment() -> Settings {
        let number = |name: &str| std::env::var(name).ok()?.parse::<u64>().ok();
        let without = std::env::var("MGN_FUZZ_WITHOUT").ok();
        let numbers = |text: String| text.split(',').flat_map(str::parse).collect();
        Settings {
            without: without.map(numbers),
            seed: number("MGN_FUZZ_SEED").unwrap_or(1),
            traces: std::env::var_os("MGN_FUZZ_TRACE").is_some(),
            minutes: number("MGN_FUZZ_MINUTES"),
            start: Instant::now(),
        }
    }

    /// Whether to leave out the command of this number.
    pub fn leaves_out(&self, number: u64) -> bool {
        let without = self.without.as_ref();
        without.is_some_and(|without| without.contains(&number))
    }

    /// Whether to stop after `rounds`: when the time is over, or without one after `usual` rounds.
    pub fn is_enough(&self, rounds: u64, usual: u64) -> bool {
        match self.minutes {
            _ if self.without.is_some() => rounds > 0,
            Some(minutes) => self.start.elapsed() > Duration::from_secs(60 * minutes),
            None => rounds >= usual,
        }
    }
}
