//! The suites of `mgn bench`.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Suite {
    Net,
    Overlap,
    Noise,
    Pattern,
    Barrier,
    Memory,
    Composite,
    Gl,
    Link,
    Programs,
    Crowd,
}

impl Suite {
    /// The suites that run if none is named.
    pub const DEFAULT: [Suite; 9] = [
        Suite::Net,
        Suite::Overlap,
        Suite::Noise,
        Suite::Pattern,
        Suite::Barrier,
        Suite::Memory,
        Suite::Composite,
        Suite::Gl,
        Suite::Link,
    ];

    pub fn name(self) -> String {
        let value = self.to_possible_value();
        value.map_or(String::new(), |value| value.get_name().to_string())
    }

    /// The heading of its section in a report.
    pub fn title(self) -> &'static str {
        match self {
            Suite::Net => "Latency and bandwidth of messages",
            Suite::Overlap => "Messages while the program computes",
            Suite::Noise => "Noise of the operating system",
            Suite::Pattern => "Many processes at once",
            Suite::Barrier => "Barriers",
            Suite::Memory => "Copies and thresholds",
            Suite::Composite => "Many pictures become one",
            Suite::Gl => "Drawing",
            Suite::Link => "Slow links",
            Suite::Programs => "Programs",
            Suite::Crowd => "Many links",
        }
    }
}
