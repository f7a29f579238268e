//! Suites that cannot be measured on this machine.

use std::time::Duration;

use anyhow::Result;

use crate::machine::processors;
use crate::plan::{no_conclusions, ByDistance, Experiment, Figure, Method};
use crate::record::{Axis, Better, Kind, Plot};
use crate::suite::Suite;

/// The only experiment of a suite that cannot be measured here. It records the reason. Its key
/// differs from those of the suite's experiments, so a later run in the same folder measures them.
pub fn unavailable(suite: Suite, why: String) -> Experiment {
    let axis = || Axis::linear("", "");
    Experiment {
        suite,
        key: format!("{}, left out", suite.name()),
        plots: vec![Plot::new(suite.name(), "", axis(), axis(), Better::Neither)],
        methods: vec![Box::new(Unavailable(suite, why))],
        by_distance: ByDistance::No,
        budget: Duration::ZERO,
        rounds: 1..=1,
        notes: Vec::new(),
        goals: Vec::new(),
        conclude: no_conclusions,
    }
}

struct Unavailable(Suite, String);

impl Method for Unavailable {
    fn name(&self) -> String {
        self.0.name()
    }

    fn kind(&self) -> Kind {
        Kind::Ours
    }

    fn command(&self) -> String {
        format!("mgn bench {}", self.0.name())
    }

    fn missing(&self) -> Option<String> {
        Some(self.1.clone())
    }

    fn run(&mut self) -> Result<Vec<Figure>> {
        anyhow::bail!("{}", self.1)
    }
}

/// The reason why two processes cannot each have a processor on this machine, or `None` if they
/// can.
pub fn too_few_processors() -> Option<String> {
    let count = processors();
    let why = "two processes must run at the same time, and mgn may use only one processor";
    (count < 2).then(|| why.to_string())
}
