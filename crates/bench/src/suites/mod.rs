//! The experiments of each suite. Each file plans those of one suite.

mod composite;
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
mod unavailable;

use anyhow::Result;

use crate::plan::{Experiment, Wishes};
use crate::suite::Suite;

/// The experiments of a suite.
pub fn plan(suite: Suite, wishes: &Wishes) -> Result<Vec<Experiment>> {
    match suite {
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
