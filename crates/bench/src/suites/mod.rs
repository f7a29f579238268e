//! What can be measured. Each suite is a file that plans [experiments](Experiment).

mod noise;

use anyhow::Result;
use clap::ValueEnum;
use serde::{Deserialize, Serialize};

use crate::plan::{Experiment, Wishes};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Suite {
    Noise,
}

impl Suite {
    pub fn name(self) -> String {
        let value = self.to_possible_value();
        value.map_or(String::new(), |value| value.get_name().to_string())
    }

    /// What a heading says of it.
    pub fn title(self) -> &'static str {
        match self {
            Suite::Noise => "Noise of the operating system",
        }
    }

    pub fn plan(self, wishes: &Wishes) -> Result<Vec<Experiment>> {
        match self {
            Suite::Noise => noise::plan(wishes),
        }
    }
}
