//! What is going to be measured: experiments, which compare ways to do one thing.

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

use anyhow::Result;

use crate::net::peers::PeerPrograms;
use crate::record::{Kind, Outcome, Percentiles, Plot};
use crate::statistics::LEAST_ROUNDS;
use crate::suite::Suite;

/// What a user asks for.
#[derive(Clone, Debug)]
pub struct BenchOptions {
    pub is_quick: bool,
    /// Iterations of a calibrated loop on every processor, in `noise`.
    pub iterations: u64,
    /// The program that is drawn in `gl` and `link`, instead of the demo.
    pub program: Vec<std::ffi::OsString>,
    /// `mgn` itself.
    pub mgn: PathBuf,
    pub peers: Rc<PeerPrograms>,
}

impl BenchOptions {
    /// A time or a number that a quick run makes do with less of.
    pub fn full_or_quick<T>(&self, full: T, quick: T) -> T {
        match self.is_quick {
            true => quick,
            false => full,
        }
    }
}

/// Ways to do one thing. In each round all of them run once, one after the other.
pub struct Experiment {
    pub suite: Suite,
    /// Its name, by which a later run finds that it was measured: `net latency`.
    pub key: String,
    pub plots: Vec<Plot>,
    pub methods: Vec<Box<dyn Method>>,
    /// Whether it matters how far apart the two processors are that it runs on.
    pub depends_on_distance: bool,
    /// The time box: no round begins later.
    pub budget: Duration,
    /// As many at least, unless the time is over, and at most.
    pub rounds: RangeInclusive<u32>,
    /// What a reader should know: the congestion control, what was left out and why.
    pub notes: Vec<String>,
    /// What its outcome says in words, as more notes.
    pub conclude: fn(&Outcome) -> Vec<String>,
}

/// Nothing to add in words.
pub fn no_conclusions(_: &Outcome) -> Vec<String> {
    Vec::new()
}

/// How many rounds are run where nothing else is wanted.
pub const ROUNDS: RangeInclusive<u32> = LEAST_ROUNDS as u32..=40;

/// One way: a library and a transport, or a kind of rendering.
pub trait Method {
    /// The name of its line in a plot.
    fn name(&self) -> String;

    fn kind(&self) -> Kind;

    /// What a reader would type to see the same, as far as there is such a command.
    fn command(&self) -> String;

    /// Why it cannot be measured on this machine, if so: "Open MPI is not installed".
    fn missing(&self) -> Option<String> {
        None
    }

    /// Measures once. Takes no longer than its own limits allow: whatever it starts is ended when
    /// it hangs.
    fn run(&mut self) -> Result<Vec<Figure>>;
}

/// What one run of a way says of one place in a plot.
#[derive(Clone, Debug)]
pub struct Figure {
    /// [`Plot::id`].
    pub plot: String,
    /// The name of its line, where a way has several; otherwise the way's.
    pub series: Option<String>,
    pub x: f64,
    pub value: f64,
    pub percentiles: Option<Percentiles>,
    /// Seconds of CPU of this side and of the other one.
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
