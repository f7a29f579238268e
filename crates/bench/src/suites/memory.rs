//! What memory can do: messages that are copied twice, once and not at all, by size, as Parnass' table of its machines' buses; and from which size on it is
//! better that a message waits for its receiver than that it is sent at once.

use std::time::{Duration, Instant};

use anyhow::Result;

use super::net::messages;
use super::{left_out, too_few_processors, Suite};
use crate::net::measure::Test;
use crate::net::ours::settings_in_words;
use crate::net::source::Source;
use crate::plan::{no_words, Experiment, Figure, Way, Wishes, ROUNDS};
use crate::record::{Axis, Better, Kind, Outcome, Place, Plot, State};
use crate::table::bytes;

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;

const SIZES: [usize; 5] = [4 * KIB, 64 * KIB, 256 * KIB, MIB, 16 * MIB];
const CROSSING_SIZES: [usize; 7] = [
    KIB,
    4 * KIB,
    8 * KIB,
    16 * KIB,
    32 * KIB,
    64 * KIB,
    128 * KIB,
];

pub fn plan(wishes: &Wishes) -> Result<Vec<Experiment>> {
    if let Some(why) = too_few_processors() {
        return Ok(vec![left_out(Suite::Memory, why)]);
    }
    let seconds = wishes.either(0.03, 0.01);
    let ours = |name, way, test, sizes: &[usize], plot: &str| {
        let source = Source::Ours(way);
        Box::new(messages(name, source, test, sizes, seconds, plot)) as Box<dyn Way>
    };
    let sizes = wishes.either(&SIZES[..], &SIZES[1..4]);
    let plot = |id: &str, title: &str, y, better| {
        Plot::new(id, title, Axis::log("message size", "B"), y, better)
    };
    let copies = "memory-copies";
    let buffer = messages(
        "a shared buffer",
        Source::Raw("memory"),
        Test::Place,
        sizes,
        seconds,
        copies,
    );
    let rates = Experiment {
        suite: Suite::Memory,
        key: "memory copies".to_string(),
        plots: vec![plot(
            copies,
            "Messages that are copied twice, once, and not at all",
            Axis::log("rate", "GB/s"),
            Better::More,
        )],
        ways: vec![
            ours("two copies", "shm-offered", Test::Stream, sizes, copies),
            ours("one copy (process_vm_readv)", "shm-single", Test::Stream, sizes, copies),
            ours("no copy, written and read", "shm-placed", Test::Place, sizes, copies),
            Box::new(buffer),
            Box::new(Copy::new(copies.to_string(), sizes, seconds)),
        ],
        is_placed: true,
        budget: Duration::from_secs(wishes.either(25, 2)),
        rounds: ROUNDS,
        notes: vec![
            "Where something is copied the buffers are reused untouched; where nothing is, the sender writes and the receiver reads every byte"
                .to_string(),
        ],
        conclude: no_words,
    };
    let crossing = "memory-crossing";
    let sizes = wishes.either(&CROSSING_SIZES[..], &CROSSING_SIZES[2..6]);
    let crossover = Experiment {
        suite: Suite::Memory,
        key: "memory crossover".to_string(),
        plots: vec![plot(
            crossing,
            "One-way latency of messages that are sent at once, or wait for their receiver",
            Axis::log("time", "us"),
            Better::Less,
        )],
        ways: vec![
            ours("eager", "shm-eager", Test::Latency, sizes, crossing),
            ours("rendezvous", "shm-offered", Test::Latency, sizes, crossing),
            ours(
                "rendezvous, one copy",
                "shm-single",
                Test::Latency,
                sizes,
                crossing,
            ),
        ],
        is_placed: true,
        budget: Duration::from_secs(wishes.either(15, 2)),
        rounds: ROUNDS,
        notes: Vec::new(),
        conclude: crossovers,
    };
    Ok(vec![rates, crossover])
}

/// From which size on rendezvous is as fast as eager, and what this machine's settings are.
fn crossovers(outcome: &Outcome) -> Vec<String> {
    let of = |name: &str, place| {
        let line = outcome.series.iter().find(|line| line.name == name);
        let points = line.map(|line| line.points.iter());
        let points = points.into_iter().flatten();
        points.filter(move |point| point.place == place && point.state == State::Resolved)
    };
    let mut words = Vec::new();
    for (place, name) in [(Place::Near, "near"), (Place::Far, "far")] {
        let pairs: Vec<(f64, bool)> = of("eager", place)
            .filter_map(|eager| {
                let other = of("rendezvous", place).find(|other| other.x == eager.x)?;
                Some((eager.x, other.value <= eager.value))
            })
            .collect();
        let last_slower = pairs.iter().rposition(|(_, is_as_fast)| !is_as_fast);
        let text = match (pairs.get(last_slower.map_or(0, |at| at + 1)), pairs.last()) {
            (_, None) => continue,
            (Some((size, _)), _) => {
                format!("rendezvous is as fast as eager from {}B on", bytes(*size))
            }
            (None, Some((size, _))) => format!("eager is faster up to {}B", bytes(*size)),
        };
        words.push(format!("Processors {name}: {text}"));
    }
    words.extend(settings_in_words());
    words
}

/// Copying from one place to another, by one processor.
pub struct Copy {
    plot: String,
    sizes: Vec<usize>,
    seconds: f64,
}

impl Copy {
    pub fn new(plot: String, sizes: &[usize], seconds: f64) -> Copy {
        Copy {
            plot,
            sizes: sizes.to_vec(),
            seconds,
        }
    }
}

impl Way for Copy {
    fn name(&self) -> String {
        "memcpy".to_string()
    }

    fn kind(&self) -> Kind {
        Kind::Limit
    }

    fn command(&self) -> String {
        "mgn bench memory".to_string()
    }

    fn run(&mut self) -> Result<Vec<Figure>> {
        let figures = self.sizes.iter().map(|size| {
            let from = vec![1u8; *size];
            let mut into = vec![2u8; *size];
            let each = best(self.seconds, || {
                into.copy_from_slice(std::hint::black_box(&from));
                std::hint::black_box(&mut into);
            });
            Figure::new(&self.plot, *size as f64, *size as f64 / each / 1e9)
        });
        Ok(figures.collect())
    }
}

/// Seconds of one repetition, of the best of several parts of the time.
pub fn best(seconds: f64, mut work: impl FnMut()) -> f64 {
    let (mut spent, mut least, mut count) = (0.0, f64::MAX, 1u32);
    while spent < seconds {
        let begun = Instant::now();
        (0..count).for_each(|_| work());
        let took = begun.elapsed().as_secs_f64();
        if took < seconds / 8.0 {
            count *= 2;
            continue;
        }
        spent += took;
        least = least.min(took / f64::from(count));
    }
    least
}
