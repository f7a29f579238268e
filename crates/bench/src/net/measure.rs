//! The tests of messages, and their results.

use std::str::FromStr;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Test {
    /// A message in one direction, then a message back.
    Latency,
    /// Many messages in one direction, then a short message back. Buffers are reused untouched.
    Stream,
    /// Many messages in both directions at once.
    Both,
    /// One message in each direction at once. Both ends wait for both messages.
    Exchange,
    /// As `Stream`, but each buffer is written before it is sent, and read after it was received.
    Fresh,
    /// As `Stream`, but messages are written and read in place.
    InPlace,
    /// Both ends begin one message in each direction, compute, and then wait (post-compute-wait).
    Overlap,
    /// The same for each computing time of [`SWEEP_SECONDS`].
    Sweep,
}

/// The result of a run for one size.
#[derive(Clone, Debug)]
pub struct Sample {
    /// Seconds of one repetition. For overlap: the time without computing, then the waiting time
    /// after computing for each multiple in [`COMPUTE_FACTORS`]. For a sweep: the time without
    /// computing, then for each of [`SWEEP_SECONDS`] the total time and the waiting time.
    pub seconds: Vec<f64>,
    /// The number of messages in one repetition, in one direction.
    pub window: f64,
    /// CPU seconds of each process.
    pub cpu: [f64; 2],
    /// The [`PERCENTILES`] of individual repetitions in seconds, for tests that time individual
    /// repetitions. `None` if there are too few repetitions for a percentile.
    pub percentiles: Option<[Option<f64>; 5]>,
}

/// The percentiles of individual repetitions.
pub const PERCENTILES: [f64; 5] = [50.0, 90.0, 99.0, 99.9, 100.0];

/// Computing times of the overlap test, as multiples of the transfer time.
pub const COMPUTE_FACTORS: [f64; 4] = [0.5, 2.0, 4.0, 10.0];

/// Computing times in seconds of the sweep.
pub const SWEEP_SECONDS: [f64; 8] = [1e-5, 3e-5, 1e-4, 3e-4, 5e-4, 1e-3, 2e-3, 5e-3];

/// The number of parts into which the time of an overlap run is divided.
pub const OVERLAP_PARTS: f64 = 1.0 + COMPUTE_FACTORS.len() as f64;

impl Test {
    const ALL: [Test; 8] = [
        Test::Latency,
        Test::Stream,
        Test::Both,
        Test::Exchange,
        Test::Fresh,
        Test::InPlace,
        Test::Overlap,
        Test::Sweep,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Test::Latency => "latency",
            Test::Stream => "stream",
            Test::Both => "both",
            Test::Exchange => "exchange",
            Test::Fresh => "fresh",
            Test::InPlace => "place",
            Test::Overlap => "overlap",
            Test::Sweep => "sweep",
        }
    }

    /// Whether individual repetitions are timed as well.
    pub fn is_timed(self) -> bool {
        matches!(self, Test::Latency | Test::Exchange)
    }

    /// The number of messages in flight.
    pub fn window(self, size: usize) -> usize {
        match size {
            _ if matches!(
                self,
                Test::Latency | Test::Exchange | Test::Overlap | Test::Sweep
            ) =>
            {
                1
            }
            0..=0x10000 => 64,
            0x10001..=0x400000 => 8,
            _ => 2,
        }
    }
}

impl FromStr for Test {
    type Err = String;

    fn from_str(text: &str) -> Result<Test, String> {
        let found = Test::ALL.into_iter().find(|test| test.name() == text);
        found.ok_or_else(|| format!("{text} is not a test"))
    }
}
