//! Measuring: rounds, the probe of how far the processors are, the time box.

use std::collections::BTreeMap;
use std::time::Instant;

use anyhow::{bail, Result};

use crate::child;
use crate::plan::{Experiment, Figure};
use crate::probe;
use crate::record::{Fold, Outcome, Percentiles, Place, Plot, Point, Series, State};
use crate::statistics::{half_width, median, LEAST_ROUNDS, NOISY};

/// Where all intervals are narrower, to either side, more rounds are not run.
const NARROW: f64 = 0.05;

/// Runs of one way that may fail before it is left out.
const FAILURES: u32 = 2;

/// Runs of a way in a round, until the processors do not move meanwhile.
const TRIES: u32 = 2;

/// Why a run does not count.
const MOVED: &str = "meanwhile the processors moved, or were busy with something else";

/// Values of one place in a plot, as they come: which round, and the figure.
type Values = Vec<(u32, Figure)>;

/// Measures until all intervals are narrow or the time is over. `step` is told which round begins, and of which way. None if this process was told to end.
pub fn measure(experiment: &mut Experiment, mut step: impl FnMut(u32, &str)) -> Option<Outcome> {
    let begun = Instant::now();
    let ways = &mut experiment.ways;
    let mut notes: Vec<Option<String>> = ways.iter().map(|way| way.missing()).collect();
    let mut failures: Vec<u32> = notes
        .iter()
        .map(|note| note.as_ref().map_or(0, |_| FAILURES))
        .collect();
    // By way, line, plot, x as bits (of positive numbers, in their order), and place.
    let mut found: BTreeMap<(usize, String, String, u64, Place), Values> = BTreeMap::new();
    let mut moved = vec![0; ways.len()];
    let mut round = 0;
    while round < *experiment.rounds.end() && failures.iter().any(|count| *count < FAILURES) {
        let enough = round >= *experiment.rounds.start() && is_narrow(&experiment.plots, &found);
        if enough || round > 0 && begun.elapsed() >= experiment.budget {
            break;
        }
        for (at, way) in ways.iter_mut().enumerate() {
            if failures[at] >= FAILURES {
                continue;
            }
            step(round, &way.name());
            for _ in 0..TRIES {
                let here = || match experiment.is_placed {
                    true => probe::place(),
                    false => Some(Place::Any),
                };
                let before = here();
                let figures = way.run().and_then(numbers);
                if child::is_over() {
                    return None;
                }
                let figures = match figures {
                    Ok(figures) => figures,
                    Err(error) => {
                        failures[at] += 1;
                        notes[at] = Some(format!("{error:#}"));
                        break;
                    }
                };
                let (Some(place), true) = (before, before == here()) else {
                    moved[at] += 1;
                    continue;
                };
                for figure in figures {
                    let series = figure.series.clone().unwrap_or_else(|| way.name());
                    let key = (at, series, figure.plot.clone(), figure.x.to_bits(), place);
                    found.entry(key).or_default().push((round, figure));
                }
                break;
            }
        }
        round += 1;
    }
    let mut is_drawn = vec![false; ways.len()];
    for (at, ..) in found.keys() {
        is_drawn[*at] = true;
    }
    let mut lost = Vec::new();
    for (at, way) in ways.iter().enumerate().filter(|(at, _)| moved[*at] > 0) {
        match is_drawn[at] {
            true => lost.push(format!("{} {}", way.name(), moved[at])),
            false => notes[at] = notes[at].take().or(Some(MOVED.to_string())),
        }
    }
    let series = lines(experiment, &notes, &is_drawn, found);
    let mut outcome = Outcome {
        suite: experiment.suite,
        key: experiment.key.clone(),
        plots: experiment.plots.clone(),
        series,
        notes: experiment.notes.clone(),
        rounds: round,
        seconds: begun.elapsed().as_secs_f64(),
    };
    let words = (experiment.conclude)(&outcome);
    outcome.notes.extend(words);
    if !lost.is_empty() {
        let lost = lost.join(", ");
        let words = format!("Runs that do not count ({MOVED}): {lost}");
        outcome.notes.push(words);
    }
    Some(outcome)
}

/// Figures that can be written down: what is no number, or is infinite, cannot.
fn numbers(figures: Vec<Figure>) -> Result<Vec<Figure>> {
    for figure in &figures {
        let percentiles = figure.percentiles.iter();
        let percentiles = percentiles.flat_map(|all| all.all()).flatten();
        let mut all = [figure.x, figure.value].into_iter();
        let mut rest = percentiles.chain(figure.cpu.into_iter().flatten());
        if !all.all(f64::is_finite) || !rest.all(f64::is_finite) {
            bail!("it gave no number for {}, at {}", figure.plot, figure.x);
        }
    }
    Ok(figures)
}

fn is_narrow(
    plots: &[Plot],
    found: &BTreeMap<(usize, String, String, u64, Place), Values>,
) -> bool {
    found.iter().all(|((_, _, id, ..), values)| {
        let is_median = plots
            .iter()
            .any(|plot| plot.id == *id && plot.fold == Fold::Median);
        let values: Vec<f64> = values.iter().map(|(_, figure)| figure.value).collect();
        !is_median || values.len() >= LEAST_ROUNDS && half_width(median(&values)) <= NARROW
    })
}

/// The lines of all plots, and of each way that gave none in a plot the reason.
fn lines(
    experiment: &Experiment,
    notes: &[Option<String>],
    is_drawn: &[bool],
    found: BTreeMap<(usize, String, String, u64, Place), Values>,
) -> Vec<Series> {
    let mut lines: Vec<Series> = Vec::new();
    for ((at, name, id, _, place), values) in found {
        let Some(plot) = experiment.plots.iter().find(|plot| plot.id == id) else {
            continue;
        };
        let point = point(plot, place, &values);
        let line = lines
            .iter_mut()
            .find(|line| line.plot == id && line.name == name);
        match line {
            Some(line) => line.points.push(point),
            None => lines.push(Series {
                plot: id,
                name,
                kind: experiment.ways[at].kind(),
                command: experiment.ways[at].command(),
                points: vec![point],
                note: notes[at].clone(),
            }),
        }
    }
    for line in &mut lines {
        let order = |point: &Point| (point.place, point.x);
        line.points
            .sort_by(|one, other| order(one).partial_cmp(&order(other)).expect("numbers"));
    }
    for (at, way) in experiment.ways.iter().enumerate() {
        let (name, note) = (way.name(), &notes[at]);
        if note.is_some() && !is_drawn[at] {
            lines.push(Series {
                plot: experiment.plots[0].id.clone(),
                name,
                kind: way.kind(),
                command: way.command(),
                points: Vec::new(),
                note: note.clone(),
            });
        }
    }
    lines
}

fn point(plot: &Plot, place: Place, found: &Values) -> Point {
    let values: Vec<f64> = found.iter().map(|(_, figure)| figure.value).collect();
    let (value, low, high) = match plot.fold {
        Fold::Median => median(&values),
        Fold::Sum => [values.iter().sum(); 3].into(),
        Fold::Last => [values[values.len() - 1]; 3].into(),
    };
    let state = match plot.fold {
        Fold::Median if values.len() < LEAST_ROUNDS => State::Unresolved,
        Fold::Median if half_width((value, low, high)) > NOISY => State::Noisy,
        _ => State::Resolved,
    };
    let middle = |of: &dyn Fn(&Figure) -> Option<f64>| {
        let values: Option<Vec<f64>> = found.iter().map(|(_, figure)| of(figure)).collect();
        values.map(|values| median(&values).0)
    };
    let side = |side: usize| middle(&|figure| figure.cpu.map(|cpu| cpu[side]));
    let has_percentiles = found.iter().all(|(_, figure)| figure.percentiles.is_some());
    let percentiles = has_percentiles.then(|| {
        let of = |at: usize| middle(&move |figure| figure.percentiles.as_ref()?.all()[at]);
        Percentiles::from(std::array::from_fn(of))
    });
    Point {
        x: found[0].1.x,
        place,
        rounds: found.iter().map(|(round, _)| *round).collect(),
        value,
        low,
        high,
        state,
        percentiles,
        cpu: side(0).zip(side(1)).map(Into::into),
        values,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_number_is_a_failure() {
        let of = |value: f64| numbers(vec![Figure::new("latency", 8.0, value)]);
        assert_eq!(of(1.5).unwrap().len(), 1);
        for value in [f64::NAN, f64::INFINITY] {
            let error = of(value).unwrap_err().to_string();
            assert!(error.contains("latency, at 8"), "{error}");
        }
        let cpu = Figure::new("latency", 8.0, 1.0).cpu([0.0, f64::NAN]);
        assert!(numbers(vec![cpu]).is_err());
    }
}
