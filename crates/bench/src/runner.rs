//! Measurement in rounds. Checks the distance of the processors and the time limit.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::{bail, Result};

use crate::child;
use crate::goals;
use crate::plan::{ByDistance, Experiment, Figure};
use crate::probe;
use crate::record::{Distance, Fold, Outcome, Percentiles, Plot, Point, Series, State};
use crate::statistics::{half_width, median, MIN_ROUNDS, NOISY};

/// No more rounds are run if the half-widths of all intervals are below this share of the median.
const NARROW: f64 = 0.05;

/// A method is left out after this number of failures.
const FAILURES: u32 = 2;

/// How often a method may run in a round. It runs again if the processors have moved during the
/// run.
const TRIES: u32 = 2;

/// The reason why a run does not count.
const MOVED: &str = "the processors moved or were busy with something else during the run";

/// The reason why the results of a round are neither near nor far.
const UNKNOWN: &str = "the processors moved or were busy with something else during the round";

/// The values of a series for one x: the number of the round, and the figure.
type Values = Vec<(u32, Figure)>;

/// The environment of a measurement.
trait Environment {
    /// The distance between the processors. `None` if it cannot be measured.
    fn distance(&self) -> Option<Distance>;

    /// Whether this process got a signal to end.
    fn is_interrupted(&self) -> bool;

    /// The time since the measurement began.
    fn elapsed(&self) -> Duration;
}

struct RealEnvironment(Instant);

impl Environment for RealEnvironment {
    fn distance(&self) -> Option<Distance> {
        probe::distance()
    }

    fn is_interrupted(&self) -> bool {
        child::is_interrupted()
    }

    fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }
}

/// Measures until all intervals are narrow or the time is over. Calls `step` with the round and the
/// method's name before each run. Returns `None` if this process got a signal to end.
pub fn measure(experiment: &mut Experiment, step: impl FnMut(u32, &str)) -> Option<Outcome> {
    measure_in(&RealEnvironment(Instant::now()), experiment, step)
}

fn measure_in(
    environment: &impl Environment,
    experiment: &mut Experiment,
    mut step: impl FnMut(u32, &str),
) -> Option<Outcome> {
    let methods = &mut experiment.methods;
    let here = |of| match experiment.by_distance == of {
        true => environment.distance(),
        false => Some(Distance::Any),
    };
    let mut notes: Vec<Option<String>> = methods.iter().map(|method| method.missing()).collect();
    let mut failures: Vec<u32> = notes
        .iter()
        .map(|note| note.as_ref().map_or(0, |_| FAILURES))
        .collect();
    // The keys are method, series, plot, x as bits (which sort like the positive numbers), and
    // distance.
    let mut found: BTreeMap<(usize, String, String, u64, Distance), Values> = BTreeMap::new();
    let mut moved = vec![0; methods.len()];
    let mut unknown = 0;
    let mut round = 0;
    while round < *experiment.rounds.end() && failures.iter().any(|count| *count < FAILURES) {
        let enough = round >= *experiment.rounds.start()
            && is_narrow(&experiment.plots, unknown > 0, &found);
        if enough || round > 0 && environment.elapsed() >= experiment.budget {
            break;
        }
        let at_round = here(ByDistance::Round);
        let mut figures_of_round = Vec::new();
        // What ran before can slow a method down, so not always the same method is first.
        let mut order: Vec<usize> = (0..methods.len()).collect();
        order.retain(|at| failures[*at] < FAILURES);
        if round % 2 == 1 {
            order.reverse();
        }
        for at in order {
            let method = &mut methods[at];
            step(round, &method.name());
            for _ in 0..TRIES {
                let before = here(ByDistance::Run);
                let figures = method.run().and_then(numbers);
                if environment.is_interrupted() {
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
                let (Some(distance), true) = (before, before == here(ByDistance::Run)) else {
                    moved[at] += 1;
                    continue;
                };
                figures_of_round.extend(figures.into_iter().map(|figure| (at, distance, figure)));
                break;
            }
        }
        let of_round = at_round.filter(|_| at_round == here(ByDistance::Round));
        unknown += u32::from(of_round.is_none() && !figures_of_round.is_empty());
        for (at, of_run, figure) in figures_of_round {
            let distance = match experiment.by_distance {
                ByDistance::Round => of_round.unwrap_or(Distance::Any),
                _ => of_run,
            };
            let name = || methods[at].name();
            let series = figure.series.clone().unwrap_or_else(name);
            let key = (
                at,
                series,
                figure.plot.clone(),
                figure.x.to_bits(),
                distance,
            );
            found.entry(key).or_default().push((round, figure));
        }
        round += 1;
    }
    let mut is_drawn = vec![false; methods.len()];
    for (at, ..) in found.keys() {
        is_drawn[*at] = true;
    }
    let mut lost = Vec::new();
    for (at, method) in methods.iter().enumerate().filter(|(at, _)| moved[*at] > 0) {
        match is_drawn[at] {
            true => lost.push(format!("{} {}", method.name(), moved[at])),
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
        goals: Vec::new(),
        rounds: round,
        seconds: environment.elapsed().as_secs_f64(),
    };
    outcome.goals = goals::evaluate(&experiment.goals, &outcome);
    let words = (experiment.conclude)(&outcome);
    outcome.notes.extend(words);
    if !lost.is_empty() {
        let lost = lost.join(", ");
        let words = format!("Runs that do not count ({MOVED}): {lost}");
        outcome.notes.push(words);
    }
    if unknown > 0 {
        let words = format!("Rounds that are neither near nor far ({UNKNOWN}): {unknown}");
        outcome.notes.push(words);
    }
    Some(outcome)
}

/// Refuses figures that JSON cannot represent: infinite values and NaN.
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
    has_unknown: bool,
    found: &BTreeMap<(usize, String, String, u64, Distance), Values>,
) -> bool {
    found.iter().all(|((_, _, id, _, distance), values)| {
        // A few rounds of unknown distance need not become more.
        if *distance == Distance::Any && has_unknown && values.len() < MIN_ROUNDS {
            return true;
        }
        let is_median = plots
            .iter()
            .any(|plot| plot.id == *id && plot.fold == Fold::Median);
        let values: Vec<f64> = values.iter().map(|(_, figure)| figure.value).collect();
        !is_median || values.len() >= MIN_ROUNDS && half_width(median(&values)) <= NARROW
    })
}

/// The series of all plots. A method without values has one series, which contains the reason.
fn lines(
    experiment: &Experiment,
    notes: &[Option<String>],
    is_drawn: &[bool],
    found: BTreeMap<(usize, String, String, u64, Distance), Values>,
) -> Vec<Series> {
    let mut lines: Vec<Series> = Vec::new();
    for ((at, name, id, _, distance), values) in found {
        let Some(plot) = experiment.plots.iter().find(|plot| plot.id == id) else {
            continue;
        };
        let point = point(plot, distance, &values);
        let line = lines
            .iter_mut()
            .find(|line| line.plot == id && line.name == name);
        match line {
            Some(line) => line.points.push(point),
            None => lines.push(Series {
                plot: id,
                name,
                kind: experiment.methods[at].kind(),
                command: experiment.methods[at].command(),
                points: vec![point],
                note: notes[at].clone(),
            }),
        }
    }
    for line in &mut lines {
        let order = |point: &Point| (point.distance, point.x);
        line.points
            .sort_by(|one, other| order(one).partial_cmp(&order(other)).expect("numbers"));
    }
    for (at, method) in experiment.methods.iter().enumerate() {
        let (name, note) = (method.name(), &notes[at]);
        if note.is_some() && !is_drawn[at] {
            lines.push(Series {
                plot: experiment.plots[0].id.clone(),
                name,
                kind: method.kind(),
                command: method.command(),
                points: Vec::new(),
                note: note.clone(),
            });
        }
    }
    lines
}

fn point(plot: &Plot, distance: Distance, found: &Values) -> Point {
    let values: Vec<f64> = found.iter().map(|(_, figure)| figure.value).collect();
    let (value, low, high) = match plot.fold {
        Fold::Median => median(&values),
        Fold::Sum => [values.iter().sum(); 3].into(),
        Fold::Last => [values[values.len() - 1]; 3].into(),
    };
    let state = match plot.fold {
        Fold::Median if values.len() < MIN_ROUNDS => State::Unresolved,
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
        distance,
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
    use std::cell::{Cell, RefCell};
    use std::ops::RangeInclusive;
    use std::rc::Rc;

    use super::*;
    use crate::plan::Method;
    use crate::record::{Axis, Better, Kind};
    use crate::suite::Suite;

    /// A processor whose distance changes, and a clock that advances by a second with each run.
    struct Fake {
        /// The results of the probe in order. The last one repeats.
        distances: RefCell<Vec<Option<Distance>>>,
        log: Log,
        /// After this number of runs, the process is told to end.
        end: usize,
    }

    type Log = Rc<RefCell<Vec<&'static str>>>;

    impl Environment for Fake {
        fn distance(&self) -> Option<Distance> {
            let mut distances = self.distances.borrow_mut();
            match distances.len() {
                1 => distances[0],
                _ => distances.remove(0),
            }
        }

        fn is_interrupted(&self) -> bool {
            self.log.borrow().len() >= self.end
        }

        fn elapsed(&self) -> Duration {
            Duration::from_secs(self.log.borrow().len() as u64)
        }
    }

    /// A method that returns its values in order, and then begins again. NaN stands for a failure.
    struct Says {
        name: &'static str,
        values: &'static [f64],
        at: Cell<usize>,
        log: Log,
    }

    impl Method for Says {
        fn name(&self) -> String {
            self.name.to_string()
        }

        fn kind(&self) -> Kind {
            Kind::Ours
        }

        fn command(&self) -> String {
            String::new()
        }

        fn missing(&self) -> Option<String> {
            self.values.is_empty().then(|| "not installed".to_string())
        }

        fn run(&mut self) -> Result<Vec<Figure>> {
            self.log.borrow_mut().push(self.name);
            let at = self.at.replace(self.at.get() + 1);
            let value = self.values[at % self.values.len()];
            Ok(vec![Figure::new("latency", 8.0, value)])
        }
    }

    /// A measurement. It returns the outcome and the order of the runs.
    struct Run {
        distances: Vec<Option<Distance>>,
        by_distance: ByDistance,
        budget: u64,
        rounds: RangeInclusive<u32>,
        end: usize,
    }

    impl Default for Run {
        fn default() -> Run {
            Run {
                distances: vec![Some(Distance::Near)],
                by_distance: ByDistance::Run,
                budget: 1000,
                rounds: 5..=7,
                end: usize::MAX,
            }
        }
    }

    impl Run {
        fn of(
            self,
            methods: &[(&'static str, &'static [f64])],
        ) -> (Option<Outcome>, Vec<&'static str>) {
            let log = Log::default();
            let fake = Fake {
                distances: self.distances.into(),
                log: log.clone(),
                end: self.end,
            };
            let axis = || Axis::linear("", "");
            let says = |(name, values): &(&'static str, &'static [f64])| {
                let (at, log) = (Cell::new(0), log.clone());
                Box::new(Says {
                    name,
                    values,
                    at,
                    log,
                }) as Box<dyn Method>
            };
            let mut experiment = Experiment {
                suite: Suite::Net,
                key: "net".to_string(),
                plots: vec![Plot::new("latency", "", axis(), axis(), Better::Less)],
                methods: methods.iter().map(says).collect(),
                by_distance: self.by_distance,
                budget: Duration::from_secs(self.budget),
                rounds: self.rounds,
                notes: Vec::new(),
                goals: Vec::new(),
                conclude: crate::plan::no_conclusions,
            };
            let outcome = measure_in(&fake, &mut experiment, |_, _| {});
            drop((experiment, fake));
            (outcome, Rc::try_unwrap(log).unwrap().into_inner())
        }
    }

    /// Two methods in each of some rounds, alternately in order and in reverse order.
    fn alternating(rounds: usize) -> Vec<&'static str> {
        let all = ["one", "two", "two", "one"].into_iter().cycle();
        all.take(2 * rounds).collect()
    }

    const NEAR: Option<Distance> = Some(Distance::Near);
    const FAR: Option<Distance> = Some(Distance::Far);

    #[test]
    fn ways_take_turns_until_all_is_narrow() {
        let (outcome, order) = Run::default().of(&[("one", &[1.0]), ("two", &[2.0])]);
        let outcome = outcome.unwrap();
        assert_eq!(outcome.rounds, 5);
        assert_eq!(order, alternating(5));
        for (line, value) in outcome.series.iter().zip([1.0, 2.0]) {
            let point = &line.points[0];
            assert_eq!(
                (point.value, point.state, point.distance),
                (value, State::Resolved, Distance::Near)
            );
            assert_eq!(point.rounds, [0, 1, 2, 3, 4]);
        }
        // If the intervals are not narrow, it continues to the last round.
        let (outcome, _) = Run::default().of(&[("one", &[1.0, 1.3])]);
        assert_eq!(outcome.unwrap().rounds, 7);
    }

    #[test]
    fn no_round_begins_when_the_time_is_over() {
        let run = Run {
            budget: 6,
            ..Run::default()
        };
        let (outcome, order) = run.of(&[("one", &[1.0]), ("two", &[1.0])]);
        let outcome = outcome.unwrap();
        assert_eq!((outcome.rounds, order.len()), (3, 6));
        // Three values are too few.
        let points = outcome.series.iter().flat_map(|line| &line.points);
        assert!(points.clone().count() == 2);
        assert!(points
            .into_iter()
            .all(|point| point.state == State::Unresolved));
    }

    #[test]
    fn values_that_disagree_are_noise() {
        let (outcome, _) = Run::default().of(&[("one", &[1.0, 5.0, 30.0, 2.0, 90.0])]);
        assert_eq!(outcome.unwrap().series[0].points[0].state, State::Noisy);
    }

    #[test]
    fn a_run_during_which_processors_moved_is_repeated() {
        let run = Run {
            // The distance changes twice in the first round, and is unknown once.
            distances: vec![NEAR, FAR, FAR, NEAR, NEAR, None, NEAR],
            ..Run::default()
        };
        let (outcome, order) = run.of(&[("one", &[1.0])]);
        let outcome = outcome.unwrap();
        // In the first round, both tries are lost. In the second round, the second try counts.
        assert_eq!(outcome.series[0].points[0].rounds[0], 1);
        assert_eq!(order.len(), outcome.rounds as usize + 2);
        let notes = &outcome.notes;
        assert!(
            notes[0].contains(MOVED) && notes[0].ends_with("one 3"),
            "{notes:?}"
        );
        // If the distance is never known, the series has a reason instead of points.
        let run = Run {
            distances: vec![None],
            ..Run::default()
        };
        let line = run.of(&[("one", &[1.0])]).0.unwrap().series.remove(0);
        assert!(line.points.is_empty() && line.note.as_deref() == Some(MOVED));
    }

    #[test]
    fn near_and_far_are_not_mixed() {
        let mut distances = Vec::new();
        for distance in [NEAR, FAR].repeat(20) {
            distances.extend([distance, distance]);
        }
        let run = Run {
            distances,
            rounds: 12..=12,
            ..Run::default()
        };
        let (outcome, _) = run.of(&[("one", &[1.0, 3.0])]);
        let points = outcome.unwrap().series.remove(0).points;
        let found: Vec<_> = points
            .iter()
            .map(|p| (p.distance, p.value, p.state))
            .collect();
        assert_eq!(
            found,
            [
                (Distance::Near, 1.0, State::Resolved),
                (Distance::Far, 3.0, State::Resolved)
            ]
        );
    }

    #[test]
    fn a_round_of_unknown_distance_is_apart() {
        let methods: [(&str, &[f64]); 2] = [("one", &[1.0]), ("two", &[2.0])];
        let run = Run {
            // The distance changes during the first round and is unknown before the second.
            distances: vec![NEAR, FAR, None, FAR, FAR],
            by_distance: ByDistance::Round,
            rounds: 4..=4,
            ..Run::default()
        };
        let (outcome, order) = run.of(&methods);
        let outcome = outcome.unwrap();
        assert_eq!(order, alternating(4));
        for line in &outcome.series {
            let found: Vec<_> = line
                .points
                .iter()
                .map(|p| (p.distance, &*p.rounds))
                .collect();
            let expected: [(Distance, &[u32]); 2] =
                [(Distance::Far, &[2, 3]), (Distance::Any, &[0, 1])];
            assert_eq!(found, expected, "{}", line.name);
        }
        let note = &outcome.notes[0];
        assert!(note.contains(UNKNOWN) && note.ends_with(": 2"), "{note}");
    }

    #[test]
    fn a_method_that_fails_twice_is_left_out() {
        let methods: [(&str, &[f64]); 3] = [("bad", &[f64::NAN]), ("one", &[1.0]), ("none", &[])];
        let (outcome, order) = Run::default().of(&methods);
        let outcome = outcome.unwrap();
        let count = |name: &str| order.iter().filter(|other| **other == name).count();
        assert_eq!((count("bad"), count("one"), count("none")), (2, 5, 0));
        let line = |name: &str| {
            outcome
                .series
                .iter()
                .find(|line| line.name == name)
                .unwrap()
        };
        assert!(line("bad").points.is_empty() && line("bad").note.is_some());
        assert_eq!(line("none").note.as_deref(), Some("not installed"));
        assert_eq!(line("one").points[0].state, State::Resolved);
        // A method that failed once has a note and values.
        let values: &[f64] = &[f64::NAN, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
        let line = Run::default()
            .of(&[("once", values)])
            .0
            .unwrap()
            .series
            .remove(0);
        assert!(line.note.is_some() && line.points[0].values.len() >= MIN_ROUNDS);
    }

    #[test]
    fn an_interrupted_measurement_has_no_outcome() {
        let run = Run {
            end: 3,
            ..Run::default()
        };
        let (outcome, order) = run.of(&[("one", &[1.0]), ("two", &[2.0])]);
        assert!(outcome.is_none() && order.len() == 3);
    }

    #[test]
    fn infinite_values_are_failures() {
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
