//! The experiments of each suite. Each file plans those of one suite.

mod barrier;
mod barrier_link;
mod composite;
mod crowd;
mod demo;
mod gl;
mod icet;
mod limits;
mod link;
mod memory;
mod messages;
mod net;
mod noise;
mod overlap;
mod pattern;
mod program_rows;
mod programs;
mod unavailable;

use anyhow::Result;

use crate::plan::{BenchOptions, Experiment};
use crate::suite::Suite;

/// The experiments of a suite.
pub fn plan(suite: Suite, options: &BenchOptions) -> Result<Vec<Experiment>> {
    match suite {
        Suite::Net => net::plan(options),
        Suite::Overlap => overlap::plan(options),
        Suite::Noise => noise::plan(options),
        Suite::Pattern => pattern::plan(options),
        Suite::Barrier => barrier::plan(options),
        Suite::Memory => memory::plan(options),
        Suite::Composite => composite::plan(options),
        Suite::Gl => gl::plan(options),
        Suite::Link => link::plan(options),
        Suite::Programs => programs::plan(options),
        Suite::Crowd => crowd::plan(options),
    }
}
