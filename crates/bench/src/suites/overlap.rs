//! The progress of messages while the program computes: post-compute-wait, as in the evaluation of
//! QsNet II. Both processes begin a message in each direction, compute for a time T, and then wait
//! for the rest.

use std::time::Duration;

use anyhow::Result;

use super::messages::{Means, Messages};
use super::unavailable::{too_few_processors, unavailable};
use crate::format::bytes;
use crate::goals::Goal;
use crate::net::measure::{Sample, Test, COMPUTE_FACTORS, SWEEP_SECONDS};
use crate::net::message_layer::MessageLayer;
use crate::net::peers::{MpiLibrary, DEFAULT_SETTINGS, MPICH_TCP, OPEN_MPI_MEMORY, OPEN_MPI_TCP};
use crate::plan::{no_conclusions, BenchOptions, ByDistance, Experiment, Figure, Method, ROUNDS};
use crate::record::{Axis, Better, Kind, Outcome, Plot, Point, State};
use crate::suite::Suite;

const SIZES: [usize; 4] = [4 << 10, 32 << 10, 256 << 10, 1 << 20];

/// The largest share of the transfer time that may remain after the longest computing time, for a
/// library that makes progress during the computation.
const PROGRESS: f64 = 0.1;

pub fn plan(options: &BenchOptions) -> Result<Vec<Experiment>> {
    if let Some(why) = too_few_processors() {
        return Ok(vec![unavailable(Suite::Overlap, why)]);
    }
    let all = [Means::Memory, Means::Sockets];
    let mut experiments: Vec<Experiment> = all.map(|means| experiment(means, options)).into();
    if !options.is_quick {
        experiments.extend(all.map(|means| transfers(means, options)));
    }
    Ok(experiments)
}

const IN_PLACE: &str = "shm, in place";

fn layers(means: Means, options: &BenchOptions) -> Vec<(&'static str, MessageLayer)> {
    use MpiLibrary::{Mpich, OpenMpi};
    let mpi = |library, settings| MessageLayer::Mpi(options.peers.clone(), library, settings);
    match means {
        Means::Memory => vec![
            ("shm", MessageLayer::Ours("shm")),
            (IN_PLACE, MessageLayer::Ours("shm-placed")),
            ("Open MPI", mpi(OpenMpi, OPEN_MPI_MEMORY)),
            ("MPICH", mpi(Mpich, DEFAULT_SETTINGS)),
        ],
        Means::Sockets => vec![
            ("tcp", MessageLayer::Ours("tcp")),
            ("unix", MessageLayer::Ours("unix")),
            ("Open MPI, tcp", mpi(OpenMpi, OPEN_MPI_TCP)),
            ("MPICH, tcp", mpi(Mpich, MPICH_TCP)),
        ],
    }
}

fn experiment(means: Means, options: &BenchOptions) -> Experiment {
    let sizes = options.full_or_quick(&SIZES[..], &SIZES[1..2]);
    let layers = layers(means, options);
    let goals = available_goals(means, &layers).into_iter();
    let goals = goals.filter(|goal| {
        sizes
            .iter()
            .any(|size| goal.plot == id(means, "available", *size))
    });
    let goals: Vec<Goal> = goals.collect();
    let methods = layers.into_iter().map(|(name, layer)| {
        let is_in_place = name == IN_PLACE;
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
        by_distance: ByDistance::Run,
        budget: Duration::from_secs(options.full_or_quick(50, 5)),
        rounds: ROUNDS,
        notes: Vec::new(),
        goals,
        conclude: match means {
            Means::Memory => |outcome| progress(outcome, Means::Memory),
            Means::Sockets => |outcome| progress(outcome, Means::Sockets),
        },
    }
}

/// The computing time in seconds at which the goals for the available share apply.
const COMPUTE_SECONDS: f64 = 1e-3;

fn available_goals(means: Means, layers: &[(&str, MessageLayer)]) -> Vec<Goal> {
    let of =
        |method: &str, size| Goal::of(id(means, "available", size), method, COMPUTE_SECONDS * 1e6);
    let peers = layers
        .iter()
        .filter(|(_, layer)| layer.kind() == Kind::Peer);
    let peers = peers.map(|(name, _)| *name);
    let [_, short, _, long] = SIZES;
    match means {
        Means::Memory => vec![
            of("shm", short).at_least(99.0),
            of(IN_PLACE, short).at_least(99.0),
            of("shm", long).at_least(95.0),
            of(IN_PLACE, long).at_least(99.0),
        ],
        Means::Sockets => vec![
            of("tcp", short).at_least(97.0),
            of("tcp", long).above(peers).at_least(5.0),
        ],
    }
}

/// The sizes of the experiment `transfers`.
const TRANSFER_SIZES: [usize; 2] = [SIZES[1], SIZES[3]];

/// The remaining wait after computing for multiples of the transfer time.
fn transfers(means: Means, options: &BenchOptions) -> Experiment {
    let mut plots: Vec<Plot> = TRANSFER_SIZES
        .map(|size| {
            let of = format!("messages of {}B, {}", bytes(size as f64), means.title());
            Plot::new(
                id(means, "remaining", size),
                format!("Waited after computing: {of}"),
                Axis::log("computing time", "transfers"),
                Axis::linear("waited, of the transfer", "%"),
                Better::Less,
            )
        })
        .into();
    plots.push(Plot::new(
        transfer(means),
        format!("The transfer alone, {}", means.title()),
        Axis::log("message size", "B"),
        Axis::log("time", "us"),
        Better::Less,
    ));
    // Messages in place are only received when the program waits.
    let layers = layers(means, options).into_iter();
    let layers: Vec<(&'static str, MessageLayer)> =
        layers.filter(|(name, _)| *name != IN_PLACE).collect();
    let ours = layers
        .iter()
        .filter(|(_, layer)| layer.kind() == Kind::Ours);
    let goals = ours
        .flat_map(|(name, _)| remaining_goals(means, name))
        .collect();
    let methods = layers.into_iter().map(|(name, layer)| {
        Box::new(Messages {
            name,
            layer,
            test: Test::Overlap,
            sizes: TRANSFER_SIZES.to_vec(),
            seconds: 0.25,
            figures: Box::new(move |size, sample| remaining(means, size, sample)),
        }) as Box<dyn Method>
    });
    Experiment {
        suite: Suite::Overlap,
        key: format!("overlap transfers {}", means.name()),
        plots,
        methods: methods.collect(),
        by_distance: ByDistance::Run,
        budget: Duration::from_secs(20),
        rounds: ROUNDS,
        notes: Vec::new(),
        goals,
        conclude: no_conclusions,
    }
}

/// The progress rule, for computing times in which a transfer could be complete.
fn remaining_goals(means: Means, method: &str) -> Vec<Goal> {
    let goals = TRANSFER_SIZES.into_iter().flat_map(move |size| {
        let times = COMPUTE_FACTORS.into_iter().filter(|times| *times >= 2.0);
        times.map(move |times| Goal::of(id(means, "remaining", size), method, times))
    });
    goals.map(|goal| goal.at_most(PROGRESS * 100.0)).collect()
}

fn remaining(means: Means, size: usize, sample: &Sample) -> Vec<Figure> {
    let [alone, waited @ ..] = &sample.seconds[..] else {
        return Vec::new();
    };
    let plot = id(means, "remaining", size);
    let waited = COMPUTE_FACTORS.iter().zip(waited);
    let waited = waited.map(|(times, waited)| Figure::new(&plot, *times, waited / alone * 100.0));
    let alone = Figure::new(&transfer(means), size as f64, alone * 1e6).cpu(sample.cpu);
    waited.chain([alone]).collect()
}

fn transfer(means: Means) -> String {
    format!("overlap-transfer-{}", means.name())
}

fn id(means: Means, kind: &str, size: usize) -> String {
    format!("overlap-{kind}-{size}-{}", means.name())
}

fn waited(means: Means) -> String {
    format!("overlap-waited-{}", means.name())
}

/// Says which libraries keep the progress rule, that is, whose transfers continue without calls of
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
        // Noisy points count too, because a short time that varies much is still short.
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
    // Messages in place are only received when the program waits.
    if let (false, Some(waited_last)) = (is_in_place, pairs.last()) {
        let share = waited_last / transfer * 100.0;
        figures.push(Figure::new(&waited(means), size as f64, share));
    }
    figures
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Distance, Series};

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

    fn sample(seconds: Vec<f64>) -> Sample {
        Sample {
            seconds,
            window: 1.0,
            cpu: [0.0; 2],
            percentiles: None,
        }
    }

    #[test]
    fn goals_are_about_what_is_measured() {
        let options = BenchOptions::of_nowhere(false);
        for (means, counts) in [(Means::Memory, [4, 6]), (Means::Sockets, [2, 12])] {
            let [whole, transfers] = [experiment(means, &options), transfers(means, &options)];
            assert_eq!([whole.goals.len(), transfers.goals.len()], counts);
            let swept = sample(vec![1e-4; 1 + 2 * SWEEP_SECONDS.len()]);
            let waited = sample(vec![1e-4; 1 + COMPUTE_FACTORS.len()]);
            for (planned, sample) in [(whole, &swept), (transfers, &waited)] {
                let figures: Vec<Figure> = SIZES
                    .iter()
                    .flat_map(|size| match planned.plots.len() {
                        3 => remaining(means, *size, sample),
                        _ => figures(means, false, *size, sample),
                    })
                    .collect();
                for goal in &planned.goals {
                    let is_it = |figure: &Figure| (&figure.plot, figure.x) == (&goal.plot, goal.x);
                    assert!(figures.iter().any(is_it), "{goal:?}");
                }
            }
        }
    }

    #[test]
    fn the_remaining_wait_is_a_share_of_the_transfer() {
        let sample = sample(vec![2e-3, 1e-3, 5e-4, 2e-4, 0.0]);
        let found = remaining(Means::Memory, SIZES[1], &sample);
        let values: Vec<(f64, f64)> = found.iter().map(|one| (one.x, one.value)).collect();
        let expected = [(0.5, 50.0), (2.0, 25.0), (4.0, 10.0), (10.0, 0.0)];
        assert_eq!(values[..4], expected);
        assert_eq!(values[4], (SIZES[1] as f64, 2000.0));
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
                // Noisy points count too, because a short time that varies much is still short.
                line("always", [little, little, (0.0, 8.0, Noisy)]),
                line("never", [much, much, much]),
                line("at times", [much, little, little]),
                // Intervals that contain the limit, and unresolved values, do not count.
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
