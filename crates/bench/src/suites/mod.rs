//! The experiments of each suite.

mod barrier;
mod composite;
mod composite_loop;
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
mod paraview;
mod pattern;
mod program_rows;
mod programs;
mod readback;
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

#[cfg(test)]
mod tests {
    use super::*;
    use clap::ValueEnum;

    /// A goal about another plot or method would be left out of the results without a message.
    #[test]
    fn goals_are_about_plots_and_methods_of_their_experiment() {
        let mut goals = 0;
        let suites = Suite::value_variants().iter();
        for (suite, is_quick) in suites.flat_map(|suite| [(*suite, false), (*suite, true)]) {
            for experiment in plan(suite, &BenchOptions::of_nowhere(is_quick)).unwrap() {
                let methods: Vec<String> = experiment.methods.iter().map(|m| m.name()).collect();
                for goal in &experiment.goals {
                    let has_plot = experiment.plots.iter().any(|plot| plot.id == goal.plot);
                    let mut names = goal.others.iter().chain([&goal.method]);
                    let has_methods = names.all(|name| methods.contains(name));
                    assert!(has_plot && has_methods, "{}: {goal:?}", experiment.key);
                    goals += 1;
                }
            }
        }
        assert!(goals > 100, "{goals} goals");
    }
}
