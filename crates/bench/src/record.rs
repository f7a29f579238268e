//! The results of a run. docs/bench.md describes the format.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use crate::goals::{self, GoalResult};
use crate::statistics::{half_width, PRECISE};
use crate::suite::Suite;

/// The schema name at the beginning of a file.
pub const SCHEMA: &str = "manganese bench";

/// The version of the schema. Readers refuse versions outside [`READABLE`].
pub const VERSION: u32 = 3;

/// The versions that can be read. Version 2 has no goals.
pub const READABLE: RangeInclusive<u32> = 2..=VERSION;

/// All results of one run: the JSON file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Record {
    #[serde(flatten)]
    pub head: Head,
    pub outcomes: Vec<Outcome>,
}

impl Record {
    /// The number of resolved medians, and the number of these with narrow intervals, as text.
    /// `None` if there are no medians.
    pub fn precision_summary(&self) -> Option<String> {
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
                    sure += usize::from(half_width(interval) <= PRECISE);
                }
            }
        }
        let mut words = format!("{resolved} of {all} numbers are resolved");
        if let Some(share) = (sure * 100).checked_div(resolved) {
            let width = PRECISE * 100.0;
            words += &format!(
                "; of those {share} % lie in an interval that is no wider than {width} % to either side"
            );
        }
        (all > 0).then_some(words)
    }

    /// The number of goals that are reached, as text. `None` if there are no goals.
    pub fn goal_summary(&self) -> Option<String> {
        goals::summary(self.outcomes.iter().flat_map(|outcome| &outcome.goals))
    }
}

/// The conditions of a run: the first line of the results file, and the beginning of the JSON file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Head {
    pub schema: String,
    pub version: u32,
    pub is_quick: bool,
    /// The command line of the run.
    pub command: String,
    /// The start of the run, in seconds since 1970.
    pub began: u64,
    pub machine: Machine,
}

/// The machine on which the run was measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    pub host: String,
    pub processor: String,
    /// The processors that this process may use.
    pub processors: usize,
    pub memory_gib: f64,
    pub kernel: String,
    pub system: String,
    pub hypervisor: bool,
    /// The congestion control of TCP. Experiments may use another one, which their notes name.
    pub congestion_control: String,
    /// The versions of Manganese, the OpenGL driver, and the libraries in the comparison, such as
    /// "Open MPI", "4.1.4". The version is "installed" if a program does not print it.
    pub versions: Vec<(String, String)>,
    /// The build profile of Manganese: "release" or "debug".
    pub build: String,
    /// The settings of endpoints as `mgn tune` writes them, such as "eager_shm", "16384".
    pub settings: Vec<(String, String)>,
}

/// The results of an experiment.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Outcome {
    pub suite: Suite,
    pub key: String,
    pub plots: Vec<Plot>,
    pub series: Vec<Series>,
    pub notes: Vec<String>,
    /// Files of version 2 have no goals.
    #[serde(default)]
    pub goals: Vec<GoalResult>,
    /// The number of rounds that were run, and the seconds that they took.
    pub rounds: u32,
    pub seconds: f64,
}

/// A quantity as a function of a parameter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plot {
    /// Unique in a record, such as `net-latency`.
    pub id: String,
    pub title: String,
    pub x: Axis,
    pub y: Axis,
    pub better: Better,
    pub fold: Fold,
}

impl Plot {
    /// A plot of medians.
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
    /// Such as "message size".
    pub name: String,
    /// Such as "B". Empty for a number without a unit.
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

    /// The axis of a plot without a parameter. All points of such a plot are at 0.
    pub fn none() -> Axis {
        Axis::linear("", "")
    }

    /// Whether there is a parameter.
    pub fn is_parameter(&self) -> bool {
        !self.name.is_empty()
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

/// How the values of several rounds are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Fold {
    /// The median, with an interval.
    Median,
    /// The sum, for counts.
    Sum,
    /// The last value, for values that already summarize all rounds so far.
    Last,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    Ours,
    /// Another library or program.
    Peer,
    /// A limit of this machine, measured without any library.
    Limit,
}

/// A series of a plot, or the reason why there is none.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Series {
    pub plot: String,
    pub name: String,
    pub kind: Kind,
    pub command: String,
    pub points: Vec<Point>,
    /// The reason why the series could not be measured, or an error.
    pub note: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Point {
    pub x: f64,
    #[serde(rename = "place")]
    pub distance: Distance,
    /// The value of each round that counts, and the numbers of these rounds. Within a round, the
    /// methods are measured directly after one another.
    pub values: Vec<f64>,
    pub rounds: Vec<u32>,
    /// The value that combines all rounds, according to the plot's [`Fold`].
    pub value: f64,
    /// The interval, which contains the true median with a probability of at least 93 %.
    pub low: f64,
    pub high: f64,
    pub state: State,
    pub percentiles: Option<Percentiles>,
    pub cpu: Option<[f64; 2]>,
}

#[cfg(test)]
impl Point {
    /// A point with a single value.
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

/// The distance between the two processors of a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Distance {
    Near,
    Far,
    /// The results do not depend on the distance, or it is unknown.
    Any,
}

impl Distance {
    pub const ALL: [Distance; 3] = [Distance::Near, Distance::Far, Distance::Any];
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    Resolved,
    /// Too few rounds counted.
    Unresolved,
    /// The values of the rounds differ too much.
    Noisy,
}

/// Percentiles of single values within one run, in the unit of the plot. `None` if there are too
/// few values for a percentile.
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
