//! The plan of a run: experiments. Each experiment compares methods for the same task.

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

use anyhow::Result;

use crate::goals::Goal;
use crate::net::peers::PeerPrograms;
use crate::record::{Kind, Outcome, Percentiles, Plot};
use crate::statistics::MIN_ROUNDS;
use crate::suite::Suite;

/// The options of a run.
#[derive(Clone, Debug)]
pub struct BenchOptions {
    pub is_quick: bool,
    /// The number of iterations of the calibrated loop on every processor, for the suite `noise`.
    pub iterations: u64,
    /// The program that the suites `gl` and `link` draw instead of the demo.
    pub program: Vec<std::ffi::OsString>,
    /// The path of `mgn`.
    pub mgn: PathBuf,
    pub peers: Rc<PeerPrograms>,
}

impl BenchOptions {
    /// For tests that plan but measure nothing.
    #[cfg(test)]
    pub(crate) fn of_nowhere(is_quick: bool) -> BenchOptions {
        BenchOptions {
            is_quick,
            iterations: 10,
            program: Vec::new(),
            mgn: "/nowhere/bin/mgn".into(),
            peers: Rc::new(PeerPrograms::new("/nowhere/programs".into())),
        }
    }

    /// A value that is smaller for a quick run.
    pub fn full_or_quick<T>(&self, full: T, quick: T) -> T {
        match self.is_quick {
            true => quick,
            false => full,
        }
    }
}

/// What is sorted into near and far, if the results depend on the distance between the two
/// processors in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByDistance {
    No,
    /// Runs, whose processes are pinned. A run without a known distance does not count.
    Run,
    /// Rounds, whose processes are not pinned. A round without a known distance is neither near nor
    /// far.
    Round,
}

/// Methods that are compared. Each round runs each method once, one after the other.
pub struct Experiment {
    pub suite: Suite,
    /// The name that identifies the experiment in the results, such as `net latency`. A later run
    /// skips experiments that have been measured.
    pub key: String,
    pub plots: Vec<Plot>,
    pub methods: Vec<Box<dyn Method>>,
    pub by_distance: ByDistance,
    /// The time limit. No round begins after it.
    pub budget: Duration,
    /// The minimum number of rounds, which applies unless the time is over, and the maximum.
    pub rounds: RangeInclusive<u32>,
    /// Facts for readers, such as the congestion control, or the methods that were left out and the
    /// reasons.
    pub notes: Vec<String>,
    /// Targets that the methods must reach, and comparisons between methods.
    pub goals: Vec<Goal>,
    /// Derives conclusions from the outcome. They become further notes.
    pub conclude: fn(&Outcome) -> Vec<String>,
}

/// For an experiment without conclusions.
pub fn no_conclusions(_: &Outcome) -> Vec<String> {
    Vec::new()
}

/// The default number of rounds.
pub const ROUNDS: RangeInclusive<u32> = MIN_ROUNDS as u32..=40;

/// One method: a library with a transport, or a kind of rendering.
pub trait Method {
    /// The name of the method's line in a plot.
    fn name(&self) -> String;

    fn kind(&self) -> Kind;

    /// The command for the same measurement. Empty if there is none.
    fn command(&self) -> String;

    /// The reason why the method cannot be measured on this machine, such as "Open MPI is not
    /// installed". `None` if it can be measured.
    fn missing(&self) -> Option<String> {
        None
    }

    /// Measures once, with its own time limit. A program that hangs is ended.
    fn run(&mut self) -> Result<Vec<Figure>>;
}

/// A value from one run of a method, for one x of a plot.
#[derive(Clone, Debug)]
pub struct Figure {
    /// The [`Plot::id`].
    pub plot: String,
    /// The name of the series, if the method has several. Otherwise the series has the method's
    /// name.
    pub series: Option<String>,
    pub x: f64,
    pub value: f64,
    pub percentiles: Option<Percentiles>,
    /// CPU seconds of this side and of the other side.
    pub cpu: Option<[f64; 2]>,
}

impl Figure {
    pub fn new(plot: &str, x: f64, value: f64) -> Figure {
        Figure {
            plot: plot.to_string(),
            series: None,
            x,
            value,
            percentiles: None,
            cpu: None,
        }
    }

    pub fn of(mut self, series: String) -> Figure {
        self.series = Some(series);
        self
    }

    pub fn cpu(mut self, cpu: [f64; 2]) -> Figure {
        self.cpu = Some(cpu);
        self
    }
}
