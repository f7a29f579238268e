//! The plan of a run: experiments. Each compares methods of doing the same thing.

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
    /// Iterations of the calibrated loop on every processor, for the suite `noise`.
    pub iterations: u64,
    /// The program that the suites `gl` and `link` draw instead of the demo.
    pub program: Vec<std::ffi::OsString>,
    /// The path of `mgn`.
    pub mgn: PathBuf,
    pub peers: Rc<PeerPrograms>,
}

impl BenchOptions {
    /// For tests that plan, and measure nothing.
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

/// Methods that are compared. In each round, each of them runs once, one after the other.
pub struct Experiment {
    pub suite: Suite,
    /// The name by which a later run recognizes that it was measured, such as `net latency`.
    pub key: String,
    pub plots: Vec<Plot>,
    pub methods: Vec<Box<dyn Method>>,
    /// Whether the results depend on the distance between the two processors on which it runs.
    pub depends_on_distance: bool,
    /// The time limit: no round begins later.
    pub budget: Duration,
    /// The minimum number of rounds, unless the time is over, and the maximum.
    pub rounds: RangeInclusive<u32>,
    /// Facts that a reader should know, such as the congestion control, and what was left out and
    /// why.
    pub notes: Vec<String>,
    /// What the methods are compared with, and must reach.
    pub goals: Vec<Goal>,
    /// Conclusions from the outcome, as further notes.
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
    /// The name of its line in a plot.
    fn name(&self) -> String;

    fn kind(&self) -> Kind;

    /// The command by which a reader gets the same measurement, if there is one.
    fn command(&self) -> String;

    /// The reason why it cannot be measured on this machine, if so: "Open MPI is not installed".
    fn missing(&self) -> Option<String> {
        None
    }

    /// Measures once, within a time limit of its own. A program that hangs is ended.
    fn run(&mut self) -> Result<Vec<Figure>>;
}

/// A value from one run of a method, for one x of a plot.
#[derive(Clone, Debug)]
pub struct Figure {
    /// The [`Plot::id`].
    pub plot: String,
    /// The name of the series, if a method has several; otherwise that of the method.
    pub series: Option<String>,
    pub x: f64,
    pub value: f64,
    pub percentiles: Option<Percentiles>,
    /// CPU seconds of this side and of the other one.
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
