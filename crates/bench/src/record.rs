//! What was measured, as it is written down: docs/bench.md describes the files.

use serde::{Deserialize, Serialize};

use crate::statistics::{half_width, SURE};
use crate::suite::Suite;

/// What a file says first.
pub const SCHEMA: &str = "manganese bench";

/// Readers refuse others.
pub const VERSION: u32 = 2;

/// Everything of one run: the JSON file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Record {
    #[serde(flatten)]
    pub head: Head,
    pub outcomes: Vec<Outcome>,
}

impl Record {
    /// How many of its numbers are resolved, and how many of those are sure; none where nothing is
    /// a median.
    pub fn sureness(&self) -> Option<String> {
        let (mut all, mut resolved, mut sure) = (0, 0, 0);
        for outcome in &self.outcomes {
            let is_median = |line: &&Series| {
                let mut plots = outcome.plots.iter();
                plots.any(|plot| plot.id == line.plot && plot.fold == Fold::Median)
            };
            let lines = outcome.series.iter().filter(is_median);
            for point in lines.flat_map(|line| &line.points) {
                all += 1;
                if point.state == State::Resolved {
                    resolved += 1;
                    let interval = (point.value, point.low, point.high);
                    sure += usize::from(half_width(interval) <= SURE);
                }
            }
        }
        let mut words = format!("{resolved} of {all} numbers are resolved");
        if let Some(share) = (sure * 100).checked_div(resolved) {
            let width = SURE * 100.0;
            words += &format!(
                "; of those {share} % lie in an interval that is no wider than {width} % to either side"
            );
        }
        (all > 0).then_some(words)
    }
}

/// Where and how it was measured: the first line of the file that a run grows, and the beginning of
/// the JSON file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Head {
    pub schema: String,
    pub version: u32,
    pub is_quick: bool,
    /// The command that began the run.
    pub command: String,
    /// When it began, in seconds since 1970.
    pub began: u64,
    pub machine: Machine,
}

/// The machine on which it was measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    pub host: String,
    pub processor: String,
    /// Those that this process may use.
    pub processors: usize,
    pub memory_gib: f64,
    pub kernel: String,
    pub system: String,
    pub hypervisor: bool,
    /// Of TCP, unless a link says otherwise.
    pub congestion_control: String,
    /// Of Manganese, of what draws, and of what it is compared with: "Open MPI", "4.1.4";
    /// "installed" where a program does not say.
    pub versions: Vec<(String, String)>,
    /// How Manganese was compiled: "release" or "debug".
    pub build: String,
    /// Of endpoints, as `mgn tune` writes them: "eager_shm", "16384".
    pub settings: Vec<(String, String)>,
}

/// What became of an experiment.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Outcome {
    pub suite: Suite,
    pub key: String,
    pub plots: Vec<Plot>,
    pub series: Vec<Series>,
    pub notes: Vec<String>,
    /// How many rounds were run, and how many seconds that took.
    pub rounds: u32,
    pub seconds: f64,
}

/// Figures that belong together: a quantity over a parameter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plot {
    /// Unique in a record: `net-latency`.
    pub id: String,
    pub title: String,
    pub x: Axis,
    pub y: Axis,
    pub better: Better,
    pub fold: Fold,
}

impl Plot {
    /// Of medians.
    pub fn new(
        id: impl Into<String>,
        title: impl Into<String>,
        x: Axis,
        y: Axis,
        better: Better,
    ) -> Plot {
        Plot {
            id: id.into(),
            title: title.into(),
            x,
            y,
            better,
            fold: Fold::Median,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Axis {
    /// "message size".
    pub name: String,
    /// "B"; empty for a number without one.
    pub unit: String,
    pub is_log: bool,
}

impl Axis {
    pub fn linear(name: &str, unit: &str) -> Axis {
        Axis {
            name: name.to_string(),
            unit: unit.to_string(),
            is_log: false,
        }
    }

    pub fn log(name: &str, unit: &str) -> Axis {
        Axis {
            is_log: true,
            ..Axis::linear(name, unit)
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    Less,
    More,
    Neither,
}

/// What the values of several rounds come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Fold {
    /// Their median, with an interval.
    Median,
    /// Things that were counted.
    Sum,
    /// What is said of all rounds so far: the last word counts.
    Last,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    Ours,
    /// Somebody else's library or program.
    Peer,
    /// What this machine can do at best, without any library.
    Limit,
}

/// A line of a plot, or why there is none.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Series {
    pub plot: String,
    pub name: String,
    pub kind: Kind,
    pub command: String,
    pub points: Vec<Point>,
    /// What it lacks, or what went wrong.
    pub note: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Point {
    pub x: f64,
    #[serde(rename = "place")]
    pub distance: Distance,
    /// A value for each round that counts, and those rounds' numbers: values of two ways in the
    /// same round were measured one right after the other.
    pub values: Vec<f64>,
    pub rounds: Vec<u32>,
    /// What the values come to.
    pub value: f64,
    /// The interval in which the median lies in at least 93 % of all cases.
    pub low: f64,
    pub high: f64,
    pub state: State,
    pub percentiles: Option<Percentiles>,
    pub cpu: Option<[f64; 2]>,
}

#[cfg(test)]
impl Point {
    /// One value, that of one round.
    pub fn single(x: f64, distance: Distance, value: f64) -> Point {
        Point {
            x,
            distance,
            values: vec![value],
            rounds: vec![0],
            value,
            low: value,
            high: value,
            state: State::Resolved,
            percentiles: None,
            cpu: None,
        }
    }
}

/// How far from each other the two processors were.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Distance {
    Near,
    Far,
    /// It does not matter.
    Any,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    Resolved,
    /// Too few rounds counted.
    Unresolved,
    /// The rounds say too different things for any number to be meant.
    Noisy,
}

/// Of many single values within one run, in the plot's unit. None where they are too few for any to
/// lie beyond it.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Percentiles {
    pub p50: Option<f64>,
    pub p90: Option<f64>,
    pub p99: Option<f64>,
    pub p999: Option<f64>,
    #[serde(rename = "most")]
    pub max: Option<f64>,
}

impl Percentiles {
    pub fn all(&self) -> [Option<f64>; 5] {
        [self.p50, self.p90, self.p99, self.p999, self.max]
    }
}

impl From<[Option<f64>; 5]> for Percentiles {
    fn from([p50, p90, p99, p999, max]: [Option<f64>; 5]) -> Percentiles {
        Percentiles {
            p50,
            p90,
            p99,
            p999,
            max,
        }
    }
}
