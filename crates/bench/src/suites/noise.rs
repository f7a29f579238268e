//! The processor time that the operating system takes from programs. A loop that is calibrated to
//! take a millisecond runs on all processors at once, and the excess time of each iteration is
//! recorded. The method is that of the evaluation of QsNet II.

use std::hint::black_box;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;
use hdrhistogram::Histogram;

use crate::child;
use crate::plan::{no_conclusions, BenchOptions, ByDistance, Experiment, Figure, Method};
use crate::probe::{pin, processors};
use crate::record::{Axis, Better, Fold, Kind, Plot};
use crate::statistics::{histogram, percentile};
use crate::suite::Suite;

/// The duration of an undisturbed loop in nanoseconds.
const LOOP_NS: u64 = 1_000_000;

/// The iterations are divided into this number of parts. Each part gives one value for the share of
/// lost time.
const PARTS: u64 = 10;

/// The number of attempts to find the speed of the loop.
const CALIBRATIONS: u32 = 200;

const PERCENTILES: [f64; 6] = [50.0, 90.0, 99.0, 99.9, 99.99, 100.0];

/// The upper bounds of the histogram's classes: the excess time of an iteration, in microseconds.
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

pub fn plan(options: &BenchOptions) -> Result<Vec<Experiment>> {
    let part = (options.iterations / PARTS).max(1);
    let plots = vec![
        Plot {
            fold: Fold::Last,
            ..Plot::new(
                "noise-percentiles",
                "How much longer a loop of 1 ms takes",
                Axis::linear("percentile", "%"),
                Axis::log("time lost in an iteration", "us"),
                Better::Less,
            )
        },
        Plot {
            fold: Fold::Sum,
            ..Plot::new(
                "noise-histogram",
                "How often a loop of 1 ms takes that much longer",
                Axis::log("time lost in an iteration, up to", "us"),
                Axis::log("iterations", ""),
                Better::Neither,
            )
        },
        Plot::new(
            "noise-share",
            "Share of the time for which a processor does not run the program",
            Axis::linear("processor", ""),
            Axis::linear("time lost", "%"),
            Better::Less,
        ),
    ];
    let processors = processors()?.into_iter();
    Ok(vec![Experiment {
        suite: Suite::Noise,
        key: format!("noise, {} iterations", part * PARTS),
        plots,
        methods: vec![Box::new(Loops {
            processors: processors.map(Processor::new).collect(),
            iterations: part,
            count: None,
        })],
        by_distance: ByDistance::No,
        // There is no time limit, because the number of iterations is fixed.
        budget: Duration::MAX,
        rounds: PARTS as u32..=PARTS as u32,
        notes: vec![format!(
            "{} iterations on each processor, all at once",
            part * PARTS
        )],
        goals: Vec::new(),
        conclude: no_conclusions,
    }])
}

struct Loops {
    processors: Vec<Processor>,
    iterations: u64,
    /// The number of steps of the loop that take a millisecond.
    count: Option<u64>,
}

struct Processor {
    number: usize,
    /// The excess times of its iterations so far, in nanoseconds.
    lost: Histogram<u64>,
}

impl Method for Loops {
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
        let taken: Result<Vec<Vec<u64>>> = thread::scope(|scope| {
            let threads: Vec<_> = self
                .processors
                .iter()
                .map(|processor| {
                    scope.spawn(|| {
                        let pinned = pin(processor.number);
                        start.wait();
                        pinned?;
                        let is_on = |_: &u64| !child::is_interrupted();
                        let iterations = (0..self.iterations).take_while(is_on);
                        Ok(iterations.map(|_| time(count)).collect())
                    })
                })
                .collect();
            let joined = threads.into_iter().map(|thread| thread.join());
            joined.map(|taken| taken.expect("a loop ends")).collect()
        });
        let all = self.processors.iter_mut().zip(taken?);
        Ok(all
            .flat_map(|(processor, taken)| processor.figures(&taken))
            .collect())
    }
}

impl Processor {
    fn new(number: usize) -> Processor {
        let lost = histogram();
        Processor { number, lost }
    }

    /// The figures of this part, and percentiles over all parts so far. Percentiles with too few
    /// values are left out.
    fn figures(&mut self, taken: &[u64]) -> Vec<Figure> {
        let name = format!("processor {}", self.number);
        // The shortest iteration counts as undisturbed. The calibrated time is not used, because
        // the clock rate of the processor may have changed since.
        let least = taken.iter().copied().min().unwrap_or(LOOP_NS);
        let lost = || taken.iter().map(|time| time - least);
        let mut classes = [0u64; CLASSES.len()];
        for excess in lost() {
            let us = excess as f64 / 1e3;
            let class = CLASSES.iter().position(|end| us < *end).unwrap_or(0);
            classes[class] += 1;
        }
        let share = lost().sum::<u64>() as f64 / taken.iter().sum::<u64>() as f64;
        lost().for_each(|excess| self.lost += excess);
        let percentiles = PERCENTILES.iter().filter_map(|share| {
            let value = percentile(&self.lost, *share)? / 1e3;
            Some(Figure::new("noise-percentiles", *share, value).of(name.clone()))
        });
        let counted = CLASSES.iter().zip(classes).map(|(end, count)| {
            let end = end.min(1e6);
            Figure::new("noise-histogram", end, count as f64).of(name.clone())
        });
        let share = Figure::new("noise-share", self.number as f64, share * 100.0);
        percentiles.chain(counted).chain([share]).collect()
    }
}

/// The number of steps of the loop that take a millisecond. The largest of several results counts,
/// because disturbances can only reduce it.
fn calibrate() -> u64 {
    let mut count = 1000;
    while time(count) < LOOP_NS {
        count *= 2;
    }
    let rate = (0..CALIBRATIONS).map(|_| count as f64 / time(count) as f64);
    (rate.fold(0.0, f64::max) * LOOP_NS as f64) as u64
}

/// The nanoseconds that the loop takes for this number of steps. The function is not inlined,
/// because another copy of the loop might have a different speed.
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
    fn lost_time_is_counted_once() {
        // Nine undisturbed iterations and one that lost 30 us.
        let mut taken = vec![LOOP_NS; 9];
        taken.push(LOOP_NS + 30_000);
        let figures = Processor::new(3).figures(&taken);
        let value = |plot: &str, x: f64| {
            let mut found = figures.iter().filter(|f| f.plot == plot && f.x == x);
            found.next().map(|figure| figure.value).unwrap()
        };
        assert_eq!(value("noise-percentiles", 50.0), 0.0);
        assert!((value("noise-percentiles", 100.0) - 30.0).abs() < 0.01);
        assert_eq!(value("noise-histogram", 1.0), 9.0);
        assert_eq!(value("noise-histogram", 50.0), 1.0);
        assert!((value("noise-share", 3.0) - 100.0 * 30.0 / 10_030.0).abs() < 1e-9);
        let counted = figures.iter().filter(|f| f.plot == "noise-histogram");
        assert_eq!(counted.map(|f| f.value).sum::<f64>(), 10.0);
    }

    #[test]
    fn percentiles_are_those_of_all_parts() {
        // In each part, one iteration loses a lot of time: 1 ms in the first part, and 10 ms in the
        // last part.
        let mut processor = Processor::new(0);
        let mut parts = (1..=10).map(|part| {
            let mut taken: Vec<u64> = (0..1000).map(|at| LOOP_NS + at * 10).collect();
            taken[500] = LOOP_NS + part * 1_000_000;
            processor.figures(&taken)
        });
        let first = parts.next().unwrap();
        let last = parts.last().unwrap();
        let value = |figures: &[Figure], x: f64| {
            let is_it = |f: &&Figure| f.plot == "noise-percentiles" && f.x == x;
            let value = figures.iter().find(is_it)?.value;
            Some(value.round())
        };
        assert_eq!(value(&first, 99.99), None, "of 1000 that is no number");
        assert_eq!(value(&first, 100.0), Some(1000.0));
        assert_eq!(value(&last, 50.0), Some(5.0));
        assert_eq!(value(&last, 99.9), Some(10.0));
        assert_eq!(value(&last, 99.99), Some(9000.0));
        assert_eq!(value(&last, 100.0), Some(10_000.0));
    }
}
