//! The tests of messages, and their results.

use std::str::FromStr;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Test {
    /// A message in one direction, and then one back.
    Latency,
    /// Many messages in one direction, then a short one back. Buffers are reused untouched.
    Stream,
    /// Many messages in both directions at once.
    Both,
    /// One message in each direction at once; both ends wait for both.
    Exchange,
    /// As `Stream`, but each buffer is written before and read after.
    Fresh,
    /// As `Stream`, but each message is written and read in place.
    InPlace,
    /// One message in each direction is begun, then both ends compute, then both wait
    /// (post-compute-wait).
    Overlap,
    /// The same for each computing time of [`SWEEP_SECONDS`].
    Sweep,
}

/// The result of a run for one size.
#[derive(Clone, Debug)]
pub struct Sample {
    /// Seconds of one repetition. For overlap: without computing; then the waiting times after
    /// computing for each of [`COMPUTE_FACTORS`] times as long; then the total time with computing
    /// for [`COMPUTE_SECONDS`]. For a sweep: without computing; then for each of [`SWEEP_SECONDS`]
    /// the total time and the waiting time.
    pub seconds: Vec<f64>,
    /// The number of messages in one repetition, in one direction.
    pub window: f64,
    /// CPU seconds of each process.
    pub cpu: [f64; 2],
    /// The [`PERCENTILES`] of individual repetitions in seconds, for tests that time these. `None`
    /// if there are too few repetitions for the percentile.
    pub percentiles: Option<[Option<f64>; 5]>,
}

/// The percentiles of individual repetitions.
pub const PERCENTILES: [f64; 5] = [50.0, 90.0, 99.0, 99.9, 100.0];

/// Computing times of the overlap test, as multiples of the transfer time.
pub const COMPUTE_FACTORS: [f64; 4] = [0.5, 2.0, 4.0, 10.0];

/// The computing time in seconds of the overlap test, for the share of time that is left to
/// compute.
pub const COMPUTE_SECONDS: f64 = 1e-3;

/// Computing times in seconds of the sweep.
pub const SWEEP_SECONDS: [f64; 8] = [1e-5, 3e-5, 1e-4, 3e-4, 5e-4, 1e-3, 2e-3, 5e-3];

/// The number of parts into which the time of an overlap run is divided.
pub const OVERLAP_PARTS: f64 = 2.0 + COMPUTE_FACTORS.len() as f64;

/// The unit of a figure of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    Microseconds,
    MillionsPerSecond,
    GigabytesPerSecond,
    /// The share of the time that was left to compute.
    Available,
    /// The waiting time, as a share of the transfer time.
    Waited,
}

impl Unit {
    pub const fn name(self) -> &'static str {
        match self {
            Unit::Microseconds => "us",
            Unit::MillionsPerSecond => "M/s",
            Unit::GigabytesPerSecond => "GB/s",
            Unit::Available => "of time",
            Unit::Waited => "of xfer",
        }
    }

    pub const fn is_less_better(self) -> bool {
        matches!(self, Unit::Microseconds | Unit::Waited)
    }

    pub fn better(self, one: f64, other: f64) -> f64 {
        match self.is_less_better() {
            true => one.min(other),
            false => one.max(other),
        }
    }

    /// The quality of a value relative to another one: larger is better.
    pub fn ratio(self, value: f64, other: f64) -> f64 {
        match self.is_less_better() {
            true => other / value,
            false => value / other,
        }
    }
}

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

    /// The unit of a run's main figure.
    pub fn unit(self, size: usize) -> Unit {
        match self {
            Test::Latency | Test::Exchange => Unit::Microseconds,
            Test::Overlap | Test::Sweep => Unit::Available,
            _ if size < 1024 => Unit::MillionsPerSecond,
            _ => Unit::GigabytesPerSecond,
        }
    }

    /// The figures of a run: one; for overlap the available share, the waiting times after each of
    /// [`COMPUTE_FACTORS`], and the transfer time.
    pub fn values(self, size: usize, sample: &Sample) -> Vec<f64> {
        let seconds = &sample.seconds;
        match (self, &seconds[..]) {
            (Test::Overlap, [transfer, waited @ .., whole]) => {
                let waited = waited.iter().map(|waited| waited / transfer);
                let mut values = vec![COMPUTE_SECONDS / whole];
                values.extend(waited);
                values.push(transfer * 1e6);
                values
            }
            (Test::Latency, _) => vec![seconds[0] / 2.0 * 1e6],
            (Test::Exchange, _) => vec![seconds[0] * 1e6],
            _ if size < 1024 => vec![sample.window / seconds[0] / 1e6],
            _ => vec![sample.window * size as f64 / seconds[0] / 1e9],
        }
    }

    /// Whether individual repetitions are timed too.
    pub fn is_timed(self) -> bool {
        matches!(self, Test::Latency | Test::Exchange)
    }

    /// The number of messages under way at once.
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
        found.ok_or_else(|| format!("{text} is no test"))
    }
}
