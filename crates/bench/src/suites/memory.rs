//! The speed of memory: messages that are copied twice, once and not at all, by size, as in the
//! tables of Parnass. The suite also finds the size from which a rendezvous, in which the message
//! waits for its receiver, is faster than sending eagerly.

use std::time::Duration;

use anyhow::Result;

use super::limits::Copy;
use super::messages::messages;
use super::unavailable::{too_few_processors, unavailable};
use crate::format::bytes;
use crate::net::endpoint::settings_in_words;
use crate::net::measure::Test;
use crate::net::message_layer::MessageLayer;
use crate::plan::{no_conclusions, BenchOptions, ByDistance, Experiment, Method, ROUNDS};
use crate::record::{Axis, Better, Distance, Outcome, Plot, Point, Series, State};
use crate::suite::Suite;

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

/// The series of messages that are sent without waiting for the receiver.
const EAGER: &str = "eager";

pub fn plan(options: &BenchOptions) -> Result<Vec<Experiment>> {
    if let Some(why) = too_few_processors() {
        return Ok(vec![unavailable(Suite::Memory, why)]);
    }
    let seconds = options.full_or_quick(0.03, 0.01);
    let ours = |name, method, test, sizes: &[usize], plot: &str| {
        let layer = MessageLayer::Ours(method);
        Box::new(messages(name, layer, test, sizes, seconds, plot)) as Box<dyn Method>
    };
    let sizes = options.full_or_quick(&SIZES[..], &SIZES[1..4]);
    let plot = |id: &str, title: &str, y, better| {
        Plot::new(id, title, Axis::log("message size", "B"), y, better)
    };
    let copies = "memory-copies";
    let buffer = messages(
        "a shared buffer",
        MessageLayer::Raw("memory"),
        Test::InPlace,
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
        methods: vec![
            ours("two copies", "shm-offered", Test::Stream, sizes, copies),
            ours("one copy (process_vm_readv)", "shm-single", Test::Stream, sizes, copies),
            ours("no copy, written and read", "shm-placed", Test::InPlace, sizes, copies),
            Box::new(buffer),
            Box::new(Copy::new(copies.to_string(), sizes, seconds)),
        ],
        by_distance: ByDistance::Run,
        budget: Duration::from_secs(options.full_or_quick(25, 2)),
        rounds: ROUNDS,
        notes: vec![
            "Methods that copy reuse their buffers untouched; with those that do not, the sender writes every byte and the receiver reads it"
                .to_string(),
        ],
        goals: Vec::new(),
        conclude: no_conclusions,
    };
    let crossing = "memory-crossing";
    let sizes = options.full_or_quick(&CROSSING_SIZES[..], &CROSSING_SIZES[2..6]);
    let crossover = Experiment {
        suite: Suite::Memory,
        key: "memory crossover".to_string(),
        plots: vec![plot(
            crossing,
            "One-way latency of messages that are sent at once, or wait for their receiver",
            Axis::log("time", "us"),
            Better::Less,
        )],
        methods: vec![
            ours(EAGER, "shm-eager", Test::Latency, sizes, crossing),
            ours("rendezvous", "shm-offered", Test::Latency, sizes, crossing),
            ours(
                "rendezvous, one copy",
                "shm-single",
                Test::Latency,
                sizes,
                crossing,
            ),
        ],
        by_distance: ByDistance::Run,
        budget: Duration::from_secs(options.full_or_quick(15, 2)),
        rounds: ROUNDS,
        notes: Vec::new(),
        goals: Vec::new(),
        conclude: crossovers,
    };
    Ok(vec![rates, crossover])
}

/// The fastest method for each size, and the settings of this machine, as text.
fn crossovers(outcome: &Outcome) -> Vec<String> {
    let mut words = Vec::new();
    for (distance, name) in [(Distance::Near, "near"), (Distance::Far, "far")] {
        // The fastest methods, each with the first and the last size at which it is fastest.
        let mut winners: Vec<(&str, f64, f64)> = Vec::new();
        for size in CROSSING_SIZES.map(|size| size as f64) {
            let Some(winner) = fastest(outcome, distance, size) else {
                continue;
            };
            match winners.last_mut() {
                Some((last, _, until)) if *last == winner => *until = size,
                _ => winners.push((winner, size, size)),
            }
        }
        let parts = winners
            .iter()
            .map(|(winner, from, until)| match from == until {
                true => format!("{winner} at {}B", bytes(*from)),
                false => format!("{winner} from {}B to {}B", bytes(*from), bytes(*until)),
            });
        let parts: Vec<String> = parts.collect();
        if !parts.is_empty() {
            words.push(format!(
                "Processors {name}, the fastest: {}",
                parts.join("; ")
            ));
        }
    }
    words.extend(settings_in_words());
    words
}

/// The method with the lowest latency, if the results are resolved. Only methods that were measured
/// with this size count. There is no result if eager is not one of them.
fn fastest<'a>(outcome: &'a Outcome, distance: Distance, size: f64) -> Option<&'a str> {
    let of_line = |line: &'a Series| {
        let mut points = line.points.iter();
        let point = points.find(|point| point.x == size && point.distance == distance)?;
        Some((&line.name[..], point))
    };
    let found: Vec<(&str, &Point)> = outcome.series.iter().filter_map(of_line).collect();
    let is_told = found.len() > 1
        && found.iter().any(|(name, _)| *name == EAGER)
        && found
            .iter()
            .all(|(_, point)| point.state == State::Resolved);
    let order = |a: &&(&str, &Point), b: &&(&str, &Point)| a.1.value.total_cmp(&b.1.value);
    let (name, _) = found.iter().min_by(order).filter(|_| is_told)?;
    Some(*name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Kind;

    fn line(name: &str, values: [f64; 4]) -> Series {
        let point =
            |(size, value): (&usize, f64)| Point::single(*size as f64, Distance::Far, value);
        Series {
            plot: "memory-crossing".to_string(),
            name: name.to_string(),
            kind: Kind::Ours,
            command: String::new(),
            points: CROSSING_SIZES.iter().zip(values).map(point).collect(),
            note: None,
        }
    }

    #[test]
    fn the_fastest_method_is_named() {
        let mut outcome = Outcome {
            suite: Suite::Memory,
            key: String::new(),
            plots: Vec::new(),
            series: vec![
                line(EAGER, [1.0, 2.0, 8.0, 16.0]),
                line("rendezvous", [2.0, 3.0, 9.0, 12.0]),
                line("rendezvous, one copy", [3.0, 3.5, 4.0, 5.0]),
            ],
            notes: Vec::new(),
            goals: Vec::new(),
            rounds: 5,
            seconds: 1.0,
        };
        let far = |outcome: &Outcome| crossovers(outcome).remove(0);
        assert_eq!(
            far(&outcome),
            "Processors far, the fastest: eager from 1 KiB to 4 KiB; rendezvous, one copy from 8 KiB to 16 KiB"
        );
        // The method of one copy is missing.
        let one_copy = outcome.series.pop().unwrap();
        assert!(far(&outcome).ends_with("eager from 1 KiB to 8 KiB; rendezvous at 16 KiB"));
        // A method that might be the fastest is not resolved.
        outcome.series.push(one_copy);
        outcome.series[2].points[3].state = State::Noisy;
        assert!(far(&outcome).ends_with("rendezvous, one copy at 8 KiB"));
        outcome.series.truncate(1);
        assert!(!far(&outcome).contains("fastest"));
    }
}
