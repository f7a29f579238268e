//! What can be measured. Each suite is a file that plans [experiments](Experiment).

mod gl;
mod link;
mod memory;
mod net;
mod noise;
mod overlap;
mod pattern;

use anyhow::Result;
use clap::ValueEnum;
use serde::{Deserialize, Serialize};

use crate::plan::{Experiment, Wishes};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Suite {
    Net,
    Overlap,
    Noise,
    Pattern,
    Memory,
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
            Suite::Gl => gl::plan(wishes),
            Suite::Link => link::plan(wishes),
        }
    }
}
