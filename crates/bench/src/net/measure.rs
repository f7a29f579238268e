//! What is measured, and how it is said.

use std::str::FromStr;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Test {
    /// A message there and one back.
    Latency,
    /// Many one way, then a short one back. Buffers are used again as they are.
    Stream,
    /// Many both ways at once.
    Both,
    /// One each way at once, then both wait.
    Exchange,
    /// As `Stream`; each buffer is written before and read after.
    Fresh,
    /// As `Stream`, but each message is read where it lies.
    InPlace,
    /// One each way is begun, then both compute, then both wait (post-compute-wait).
    Overlap,
    /// The same, computing for each of [`SWEEP_SECONDS`].
    Sweep,
}

/// What a run says.
#[derive(Clone, Debug)]
pub struct Sample {
    /// Seconds of one repetition. For overlap those of one that does not compute, the waits after
    /// computing for [`COMPUTE_FACTORS`] as long, and the seconds of one that computes for [`COMPUTE_SECONDS`];
    /// for a sweep those of one that does not compute, and for each of [`SWEEP_SECONDS`] those of one and
    /// of them the waiting.
    pub seconds: Vec<f64>,
    /// Messages in one repetition, one way.
    pub window: f64,
    /// Seconds of CPU of either process.
    pub cpu: [f64; 2],
    /// Of single repetitions, where those are timed: [`PERCENTILES`], in seconds, as far as they
    /// are enough for them.
    pub percentiles: Option<[Option<f64>; 5]>,
}

/// Which percentiles of single repetitions are told.
pub const PERCENTILES: [f64; 5] = [50.0, 90.0, 99.0, 99.9, 100.0];

/// How long is computed while messages are under way, in times of the transfer, to see how long is
/// waited then.
pub const COMPUTE_FACTORS: [f64; 4] = [0.5, 2.0, 4.0, 10.0];

/// How long is computed to see how much of the time is left for that, in seconds.
pub const COMPUTE_SECONDS: f64 = 1e-3;

/// How long is computed while messages are under way, in seconds.
pub const SWEEP_SECONDS: [f64; 8] = [1e-5, 3e-5, 1e-4, 3e-4, 5e-4, 1e-3, 2e-3, 5e-3];

/// Parts of the time of a run for overlap.
pub const OVERLAP_PARTS: f64 = 2.0 + COMPUTE_FACTORS.len() as f64;

/// One of the figures that a run gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    Microseconds,
    MillionsPerSecond,
    GigabytesPerSecond,
    /// The share of the time that was left to compute.
    Available,
    /// What was waited, as a share of the transfer's time.
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

    /// How good a value is beside another one: more is better.
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

    /// The figures of a run: one, and for overlap the available share, what is waited after each of
    /// [`COMPUTE_FACTORS`], and the transfer's time.
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

    /// Whether single repetitions are timed as well.
    pub fn is_timed(self) -> bool {
        matches!(self, Test::Latency | Test::Exchange)
    }

    /// Messages under way at once.
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
