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
    /// As `Stream`; each buffer is written before and read after.
    Fresh,
    /// One each way is begun, then both compute, then both wait (post-compute-wait).
    Overlap,
}

/// What a run says.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// Seconds of one repetition.
    pub seconds: f64,
    /// Messages in one repetition, one way.
    pub window: f64,
    /// Seconds of CPU of both processes.
    pub cpu: f64,
}

impl Test {
    pub const fn name(self) -> &'static str {
        match self {
            Test::Latency => "latency",
            Test::Stream => "stream",
            Test::Both => "both",
            Test::Fresh => "fresh",
            Test::Overlap => "overlap",
        }
    }

    pub fn unit(self, size: usize) -> &'static str {
        match self {
            Test::Latency => "us",
            Test::Overlap => "",
            _ if size < 1024 => "M/s",
            _ => "GB/s",
        }
    }

    /// Microseconds one way; millions of messages or gigabytes a second, one way; the share of the time that was left to compute.
    pub fn value(self, size: usize, sample: &Sample, compute: f64) -> f64 {
        match self {
            Test::Latency => sample.seconds / 2.0 * 1e6,
            Test::Overlap => compute / sample.seconds,
            _ if size < 1024 => sample.window / sample.seconds / 1e6,
            _ => sample.window * size as f64 / sample.seconds / 1e9,
        }
    }

    pub fn better(self, one: f64, other: f64) -> f64 {
        match self {
            Test::Latency => one.min(other),
            _ => one.max(other),
        }
    }

    /// More is better.
    pub fn ratio(self, value: f64, other: f64) -> f64 {
        match self {
            Test::Latency => other / value,
            _ => value / other,
        }
    }

    /// Messages under way at once.
    pub fn window(self, size: usize) -> usize {
        match size {
            _ if matches!(self, Test::Latency | Test::Overlap) => 1,
            0..=0x10000 => 64,
            0x10001..=0x400000 => 8,
            _ => 2,
        }
    }
}

impl FromStr for Test {
    type Err = String;

    fn from_str(text: &str) -> Result<Test, String> {
        let all = [
            Test::Latency,
            Test::Stream,
            Test::Both,
            Test::Fresh,
            Test::Overlap,
        ];
        let found = all.into_iter().find(|test| test.name() == text);
        found.ok_or_else(|| format!("{text} is no test"))
    }
}
