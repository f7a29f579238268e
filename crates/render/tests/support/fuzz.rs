//! Code that tests with random commands share: the numbers, and the settings from the environment.

use std::time::{Duration, Instant};

/// The random numbers of these tests. They are not those of `mgn_fuzzing`, because the sequences
/// that were examined with each driver, and those that show the mutants of `scripts/mutants.sh`,
/// are made from these.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) % n
    }

    pub fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u64) as usize]
    }
}

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
