//! The progress of messages while the program computes: post-compute-wait, as in the evaluation of
//! QsNet II. A message in each direction is begun, then both processes compute for a time T, then
//! both wait for the rest.

use std::time::Duration;

use anyhow::Result;

use super::messages::{Means, Messages};
use super::unavailable::{too_few_processors, unavailable};
use crate::format::bytes;
use crate::net::measure::{Sample, Test, SWEEP_SECONDS};
use crate::net::message_layer::MessageLayer;
use crate::net::peers::{MpiLibrary, DEFAULT_SETTINGS, MPICH_TCP, OPEN_MPI_MEMORY, OPEN_MPI_TCP};
use crate::plan::{BenchOptions, Experiment, Figure, Method, ROUNDS};
use crate::record::{Axis, Better, Outcome, Plot, Point, State};
use crate::suite::Suite;

const SIZES: [usize; 4] = [4 << 10, 32 << 10, 256 << 10, 1 << 20];

/// The largest share of the transfer time that may be left after the longest computing time, for a
/// library that makes progress in the meantime.
const PROGRESS: f64 = 0.1;

pub fn plan(options: &BenchOptions) -> Result<Vec<Experiment>> {
    if let Some(why) = too_few_processors() {
        return Ok(vec![unavailable(Suite::Overlap, why)]);
    }
    let experiments = [Means::Memory, Means::Sockets].map(|means| experiment(means, options));
    Ok(experiments.into())
}

fn experiment(means: Means, options: &BenchOptions) -> Experiment {
    use MpiLibrary::{Mpich, OpenMpi};
    let sizes = options.full_or_quick(&SIZES[..], &SIZES[1..2]);
    let mpi = |library, settings| MessageLayer::Mpi(options.peers.clone(), library, settings);
    let layers = match means {
        Means::Memory => vec![
            ("shm", MessageLayer::Ours("shm")),
            ("shm, in place", MessageLayer::Ours("shm-placed")),
            ("Open MPI", mpi(OpenMpi, OPEN_MPI_MEMORY)),
            ("MPICH", mpi(Mpich, DEFAULT_SETTINGS)),
        ],
        Means::Sockets => vec![
            ("tcp", MessageLayer::Ours("tcp")),
            ("unix", MessageLayer::Ours("unix")),
            ("Open MPI, tcp", mpi(OpenMpi, OPEN_MPI_TCP)),
            ("MPICH, tcp", mpi(Mpich, MPICH_TCP)),
        ],
    };
    let methods = layers.into_iter().map(|(name, layer)| {
        let is_in_place = matches!(layer, MessageLayer::Ours("shm-placed"));
        Box::new(Messages {
            name,
            layer,
            test: Test::Sweep,
            sizes: sizes.to_vec(),
            seconds: options.full_or_quick(0.27, 0.09),
            figures: Box::new(move |size, sample| figures(means, is_in_place, size, sample)),
        }) as Box<dyn Method>
    });
    let mut plots = Vec::new();
    for (kind, title, unit, better) in [
        (
            "available",
            "Share of the time that is left to compute",
            "%",
            Better::More,
        ),
        (
            "rate",
            "Bandwidth per direction while computing",
            "GB/s",
            Better::More,
        ),
    ] {
        plots.extend(sizes.iter().map(|size| {
            let of = format!("messages of {}B, {}", bytes(*size as f64), means.title());
            let y = match unit {
                "%" => Axis::linear("available", unit),
                _ => Axis::log("rate", unit),
            };
            let x = Axis::log("computing time T", "us");
            Plot::new(
                id(means, kind, *size),
                format!("{title}: {of}"),
                x,
                y,
                better,
            )
        }));
    }
    let longest = SWEEP_SECONDS[SWEEP_SECONDS.len() - 1] * 1e3;
    plots.push(Plot::new(
        waited(means),
        format!("Waited after computing for {longest} ms, {}", means.title()),
        Axis::log("message size", "B"),
        Axis::linear("waited, of the transfer", "%"),
        Better::Less,
    ));
    Experiment {
        suite: Suite::Overlap,
        key: format!("overlap {}", means.name()),
        plots,
        methods: methods.collect(),
        depends_on_distance: true,
        budget: Duration::from_secs(options.full_or_quick(50, 5)),
        rounds: ROUNDS,
        notes: Vec::new(),
        goals: Vec::new(),
        conclude: match means {
            Means::Memory => |outcome| progress(outcome, Means::Memory),
            Means::Sockets => |outcome| progress(outcome, Means::Sockets),
        },
    }
}

fn id(means: Means, kind: &str, size: usize) -> String {
    format!("overlap-{kind}-{size}-{}", means.name())
}

fn waited(means: Means) -> String {
    format!("overlap-waited-{}", means.name())
}

/// The libraries that keep the progress rule: transfers that were begun continue without calls of
/// the library.
fn progress(outcome: &Outcome, means: Means) -> Vec<String> {
    let lines = outcome
        .series
        .iter()
        .filter(|line| line.plot == waited(means) && !line.points.is_empty());
    let say = |(name, kept, count): (&str, usize, usize)| match kept {
        0 => format!("{name} does not make progress while the program computes"),
        _ if kept == count => {
            format!("{name} makes progress while the program computes: the progress rule holds")
        }
        _ => {
            format!("{name} makes progress while the program computes with {kept} of {count} sizes")
        }
    };
    let kept = lines.map(|line| {
        // Noise counts too, because a short time that varies much is still short.
        let points = line
            .points
            .iter()
            .filter(|point| point.state != State::Unresolved);
        let is_kept = |point: &Point| point.high <= PROGRESS * 100.0;
        let is_broken = |point: &Point| point.low > PROGRESS * 100.0;
        let (kept, broken): (Vec<_>, Vec<_>) = points
            .filter(|point| is_kept(point) || is_broken(point))
            .partition(|point| is_kept(point));
        (line.name.as_str(), kept.len(), kept.len() + broken.len())
    });
    kept.filter(|(_, _, count)| *count > 0).map(say).collect()
}

fn figures(means: Means, is_in_place: bool, size: usize, sample: &Sample) -> Vec<Figure> {
    let [transfer, pairs @ ..] = &sample.seconds[..] else {
        return Vec::new();
    };
    let mut figures = Vec::new();
    for (compute, pair) in SWEEP_SECONDS.iter().zip(pairs.chunks_exact(2)) {
        let whole = pair[0];
        let figure =
            |kind: &str, value: f64| Figure::new(&id(means, kind, size), compute * 1e6, value);
        figures.push(figure("available", compute / whole * 100.0).cpu(sample.cpu));
        figures.push(figure("rate", size as f64 / whole / 1e9));
    }
    // Messages in place are not received before the wait.
    if let (false, Some(waited_last)) = (is_in_place, pairs.last()) {
        let share = waited_last / transfer * 100.0;
        figures.push(Figure::new(&waited(means), size as f64, share));
    }
    figures
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Distance, Kind, Series};

    /// The intervals of the waiting time, as a percentage of the transfer time, by size.
    fn line(name: &str, intervals: [(f64, f64, State); 3]) -> Series {
        let points = SIZES.iter().zip(intervals);
        let points = points.map(|(size, (low, high, state))| Point {
            x: *size as f64,
            distance: Distance::Near,
            values: vec![low, high],
            rounds: vec![0, 1],
            value: (low + high) / 2.0,
            low,
            high,
            state,
            percentiles: None,
            cpu: None,
        });
        Series {
            plot: waited(Means::Memory),
            name: name.to_string(),
            kind: Kind::Ours,
            command: String::new(),
            points: points.collect(),
            note: None,
        }
    }

    #[test]
    fn the_progress_rule_is_reported() {
        use State::{Noisy, Resolved, Unresolved};
        let (little, much) = ((0.1, 9.0, Resolved), (98.0, 101.0, Resolved));
        let outcome = Outcome {
            suite: Suite::Overlap,
            key: String::new(),
            plots: Vec::new(),
            series: vec![
                // Noise counts too, because a short time that varies much is still short.
                line("always", [little, little, (0.0, 8.0, Noisy)]),
                line("never", [much, much, much]),
                line("at times", [much, little, little]),
                // Intervals across the limit, and unresolved values, do not count.
                line(
                    "unclear",
                    [(5.0, 20.0, Resolved), little, (0.0, 1.0, Unresolved)],
                ),
                line("unknown", [(5.0, 20.0, Resolved); 3]),
            ],
            notes: Vec::new(),
            goals: Vec::new(),
            rounds: 5,
            seconds: 1.0,
        };
        assert_eq!(
            progress(&outcome, Means::Memory),
            [
                "always makes progress while the program computes: the progress rule holds",
                "never does not make progress while the program computes",
                "at times makes progress while the program computes with 2 of 3 sizes",
                "unclear makes progress while the program computes: the progress rule holds",
            ]
        );
        assert!(progress(&outcome, Means::Sockets).is_empty());
    }
}
