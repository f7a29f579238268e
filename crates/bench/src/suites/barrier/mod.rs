//! Barriers, beside those of MPI and beside raw barriers, which are the limits.

mod hosts;
mod lines;
mod link;
mod processes;

use anyhow::Result;

use crate::net::emulated::missing_requirement;
use crate::plan::{BenchOptions, Experiment};

pub fn plan(options: &BenchOptions) -> Result<Vec<Experiment>> {
    let mut experiments = vec![processes::plan(options)?, link::plan(options)?];
    // Without links, `link` has told why.
    if missing_requirement().is_none() {
        experiments.push(hosts::plan(options)?);
    }
    Ok(experiments)
}
