//! How much of the processors' time the operating system takes from programs: a loop that is calibrated to take a millisecond is run on all processors at
//! once, and each time that it took longer is counted. The method is that of the evaluation of QsNet II.

use std::hint::black_box;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use hdrhistogram::Histogram;

use super::Suite;
use crate::child;
use crate::plan::{no_words, Experiment, Figure, Way, Wishes};
use crate::probe::pin;
use crate::record::{Axis, Better, Fold, Kind, Plot};

/// What the loop takes, in nanoseconds, when nothing disturbs it.
const LOOP: u64 = 1_000_000;

/// Iterations are split into so many parts, each of which gives one value of a percentile.
const PARTS: u64 = 10;

/// Tries to find out how fast the loop is.
const CALIBRATIONS: u32 = 200;

const PERCENTILES: [f64; 6] = [50.0, 90.0, 99.0, 99.9, 99.99, 100.0];

/// Upper ends of the histogram's classes, as what an iteration took longer, in microseconds.
const CLASSES: [f64; 13] = [
    1.0,
    2.0,
    5.0,
    10.0,
    20.0,
    50.0,
    100.0,
    200.0,
    500.0,
    1e3,
    1e4,
    1e5,
    f64::INFINITY,
];

pub fn plan(wishes: &Wishes) -> Result<Vec<Experiment>> {
    let part = (wishes.iterations / PARTS).max(1);
    let plots = vec![
        Plot::new(
            "noise-percentiles",
            "What a loop of 1 ms takes longer",
            Axis::linear("percentile", "%"),
            Axis::log("time lost in an iteration", "us"),
            Better::Less,
        ),
        Plot {
            fold: Fold::Sum,
            ..Plot::new(
                "noise-histogram",
                "How often a loop of 1 ms takes so much longer",
                Axis::log("time lost in an iteration, up to", "us"),
                Axis::log("iterations", ""),
                Better::Neither,
            )
        },
        Plot::new(
            "noise-share",
            "Share of its time that a processor is not there for the program",
            Axis::linear("processor", ""),
            Axis::linear("time lost", "%"),
            Better::Less,
        ),
    ];
    let processors =
        rustix::thread::sched_getaffinity(None).context("cannot tell the processors")?;
    let processors = (0..rustix::thread::CpuSet::MAX_CPU).filter(|at| processors.is_set(*at));
    Ok(vec![Experiment {
        suite: Suite::Noise,
        key: format!("noise, {} iterations", part * PARTS),
        plots,
        ways: vec![Box::new(Loops {
            processors: processors.collect(),
            iterations: part,
            count: None,
        })],
        is_placed: false,
        // It ends by itself.
        budget: Duration::MAX,
        rounds: PARTS as u32..=PARTS as u32,
        notes: vec![format!(
            "{} iterations on each processor, all at once",
            part * PARTS
        )],
        conclude: no_words,
    }])
}

struct Loops {
    processors: Vec<usize>,
    iterations: u64,
    /// Steps of the loop that take a millisecond.
    count: Option<u64>,
}

impl Way for Loops {
    fn name(&self) -> String {
        "all processors".to_string()
    }

    fn kind(&self) -> Kind {
        Kind::Limit
    }

    fn command(&self) -> String {
        format!("mgn bench noise --iterations {}", self.iterations * PARTS)
    }

    fn run(&mut self) -> Result<Vec<Figure>> {
        let count = *self.count.get_or_insert_with(calibrate);
        let start = Barrier::new(self.processors.len());
        let taken: Vec<Vec<u64>> = thread::scope(|scope| {
            let threads: Vec<_> = self
                .processors
                .iter()
                .map(|processor| {
                    scope.spawn(|| {
                        pin(*processor);
                        start.wait();
                        let is_on = |_: &u64| !child::is_over();
                        let iterations = (0..self.iterations).take_while(is_on);
                        iterations.map(|_| time(count)).collect()
                    })
                })
                .collect();
            let joined = threads.into_iter().map(|thread| thread.join());
            joined.map(|taken| taken.expect("a loop ends")).collect()
        });
        let mut figures = Vec::new();
        for (processor, taken) in self.processors.iter().zip(taken) {
            figures.extend(figures_of(*processor, &taken)?);
        }
        Ok(figures)
    }
}

fn figures_of(processor: usize, taken: &[u64]) -> Result<Vec<Figure>> {
    let name = format!("processor {processor}");
    let mut histogram = Histogram::<u64>::new(3)?;
    // The undisturbed loop is the shortest one: a processor's clock is not what it was when it was calibrated.
    let least = taken.iter().copied().min().unwrap_or(LOOP);
    let mut classes = [0u64; CLASSES.len()];
    for time in taken {
        let excess = time - least;
        histogram.record(excess)?;
        let us = excess as f64 / 1e3;
        let class = CLASSES.iter().position(|end| us < *end).unwrap_or(0);
        classes[class] += 1;
    }
    let lost = taken.iter().map(|time| time - least).sum::<u64>() as f64;
    let all = taken.iter().sum::<u64>() as f64;
    let percentiles = PERCENTILES.map(|percentile| {
        let value = histogram.value_at_percentile(percentile) as f64 / 1e3;
        Figure::new("noise-percentiles", percentile, value).of(name.clone())
    });
    let counted = CLASSES.iter().zip(classes).map(|(end, count)| {
        let end = end.min(1e6);
        Figure::new("noise-histogram", end, count as f64).of(name.clone())
    });
    let share = Figure::new("noise-share", processor as f64, lost / all * 100.0);
    Ok(percentiles
        .into_iter()
        .chain(counted)
        .chain([share])
        .collect())
}

/// Steps of the loop that take a millisecond: of several tries the most, since what disturbs can only make it fewer.
fn calibrate() -> u64 {
    let mut count = 1000;
    while time(count) < LOOP {
        count *= 2;
    }
    let rate = (0..CALIBRATIONS).map(|_| count as f64 / time(count) as f64);
    (rate.fold(0.0, f64::max) * LOOP as f64) as u64
}

/// Nanoseconds in which the loop makes so many steps. It is one loop for all who call it: another copy might be another speed.
#[inline(never)]
fn time(count: u64) -> u64 {
    let start = Instant::now();
    for step in 0..count {
        black_box(step);
    }
    start.elapsed().as_nanos() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_lost_is_counted_once() {
        // Nine undisturbed iterations and one that lost 30 us.
        let mut taken = vec![LOOP; 9];
        taken.push(LOOP + 30_000);
        let figures = figures_of(3, &taken).unwrap();
        let value = |plot: &str, x: f64| {
            let mut found = figures.iter().filter(|f| f.plot == plot && f.x == x);
            found.next().map(|figure| figure.value).unwrap()
        };
        assert_eq!(value("noise-percentiles", 50.0), 0.0);
        assert!((value("noise-percentiles", 100.0) - 30.0).abs() < 0.1);
        assert_eq!(value("noise-histogram", 1.0), 9.0);
        assert_eq!(value("noise-histogram", 50.0), 1.0);
        assert!((value("noise-share", 3.0) - 100.0 * 30.0 / 10_030.0).abs() < 1e-9);
        let counted = figures.iter().filter(|f| f.plot == "noise-histogram");
        assert_eq!(counted.map(|f| f.value).sum::<f64>(), 10.0);
    }
}
