//! The lines of plots of barriers: their names, their figures, and comparisons between them.

use crate::barrier::microseconds;
use crate::format::number;
use crate::plan::Figure;
use crate::record::{Outcome, Point, Series, State};

pub const UDP: &str = "udp";
pub const POLLED_LINE: &str = "plain udp, polling";

/// A figure from the batches of one run.
pub fn figure(plot: &str, x: f64, batches: &[f64]) -> Figure {
    let (value, percentiles) = microseconds(batches);
    let mut figure = Figure::new(plot, x, value);
    figure.percentiles = Some(percentiles.into());
    figure
}

/// The time of one line of a plot, as a multiple of the time of another line: "shm, times the time
/// of two flags: 1.20 at 2 processes". `None` if there is no parameter at which both are resolved.
pub fn verdict(
    outcome: &Outcome,
    plot: &str,
    ours: &str,
    other: &str,
    unit: &str,
) -> Option<String> {
    let line = |name: &str| {
        let mut lines = outcome.series.iter();
        lines.find(|line: &&Series| line.plot == plot && line.name == name)
    };
    let (mine, others) = (line(ours)?, line(other)?);
    let is_resolved = |point: &&Point| point.state == State::Resolved;
    let at = |point: &Point| {
        let mut points = others.points.iter().filter(is_resolved);
        let beside = points.find(|beside| beside.x == point.x)?;
        let ratio = point.value / beside.value;
        Some(format!("{ratio:.2} at {} {unit}", number(point.x)))
    };
    let ratios = mine.points.iter().filter(is_resolved).filter_map(at);
    let ratios: Vec<String> = ratios.collect();
    (!ratios.is_empty())
        .then(|| format!("{ours}, times the time of {other}: {}", ratios.join(", ")))
}
