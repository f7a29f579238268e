//! What can be measured. Each suite is a file that plans [experiments](Experiment).

mod composite;
mod gl;
mod link;
mod memory;
mod net;
mod noise;
mod overlap;
mod pattern;

use std::time::Duration;

use anyhow::Result;
use clap::ValueEnum;
use serde::{Deserialize, Serialize};

use crate::plan::{no_words, Experiment, Figure, Way, Wishes};
use crate::record::{Axis, Better, Kind, Plot};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Suite {
    Net,
    Overlap,
    Noise,
    Pattern,
    Memory,
    Composite,
    Gl,
    Link,
}

impl Suite {
    pub fn name(self) -> String {
        let value = self.to_possible_value();
        value.map_or(String::new(), |value| value.get_name().to_string())
    }

    /// What a heading says of it.
    pub fn title(self) -> &'static str {
        match self {
            Suite::Net => "Latency and bandwidth of messages",
            Suite::Overlap => "Messages while the program computes",
            Suite::Noise => "Noise of the operating system",
            Suite::Pattern => "Many processes at once",
            Suite::Memory => "Copies and thresholds",
            Suite::Composite => "Many pictures become one",
            Suite::Gl => "Drawing",
            Suite::Link => "Slow links",
        }
    }

    pub fn plan(self, wishes: &Wishes) -> Result<Vec<Experiment>> {
        match self {
            Suite::Net => net::plan(wishes),
            Suite::Overlap => overlap::plan(wishes),
            Suite::Noise => noise::plan(wishes),
            Suite::Pattern => pattern::plan(wishes),
            Suite::Memory => memory::plan(wishes),
            Suite::Composite => composite::plan(wishes),
            Suite::Gl => gl::plan(wishes),
            Suite::Link => link::plan(wishes),
        }
    }
}

/// What a suite has if nothing of it can be measured here, and why. A later run in the same folder
/// tries again: its experiments are called otherwise.
fn left_out(suite: Suite, why: String) -> Experiment {
    let axis = || Axis::linear("", "");
    Experiment {
        suite,
        key: format!("{}, left out", suite.name()),
        plots: vec![Plot::new(suite.name(), "", axis(), axis(), Better::Neither)],
        ways: vec![Box::new(LeftOut(suite, why))],
        is_placed: false,
        budget: Duration::ZERO,
        rounds: 1..=1,
        notes: Vec::new(),
        conclude: no_words,
    }
}

struct LeftOut(Suite, String);

impl Way for LeftOut {
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

/// Why two processes that each want a processor cannot be measured here, if so.
fn too_few_processors() -> Option<String> {
    let count = std::thread::available_parallelism().map_or(1, usize::from);
    let why = "two processes are to run at once, and this may use one processor only";
    (count < 2).then(|| why.to_string())
}
