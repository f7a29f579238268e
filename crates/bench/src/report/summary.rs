//! The summary of a run: the most important good and bad results, derived from the numbers.

use super::text;
use crate::format::{amount, number};
use crate::record::{Better, Distance, Kind, Outcome, Plot, Point, Record, Series, State};
use crate::suite::Suite;

/// Numbers within this factor of each other are about the same.
const ALIKE: f64 = 1.1;
/// The number of best results, and of worst results, that are named.
const NAMED: usize = 3;

/// One of our numbers, and the best number of others for the same x and distance of the same plot.
struct Pair<'r> {
    suite: Suite,
    plot: &'r Plot,
    ours: (&'r Series, &'r Point),
    other: (&'r Series, &'r Point),
    /// How many times better ours is. Below 1, ours is worse.
    factor: f64,
}

/// About ten sentences. They say how often Manganese is better or worse than other libraries and
/// programs, then where it is best and worst, then how close it comes to the limits of the machine.
/// Only resolved numbers count. Empty if there are none of these.
pub fn lines(record: &Record) -> Vec<String> {
    let mut lines = Vec::new();
    let peers = pairs(record, Kind::Peer);
    if !peers.is_empty() {
        let count = |of: &dyn Fn(f64) -> bool| peers.iter().filter(|pair| of(pair.factor)).count();
        lines.push(format!(
            "Compared with the best other library or program at {}: better by more than 10 % at {}, within 10 % at {}, worse by more than 10 % at {}.",
            text::count(peers.len(), "point"),
            count(&|factor| factor > ALIKE),
            count(&|factor| (1.0 / ALIKE..=ALIKE).contains(&factor)),
            count(&|factor| factor < 1.0 / ALIKE),
        ));
        let best = chosen(&peers, |one, other| other.factor.total_cmp(&one.factor));
        let best = best.into_iter().filter(|pair| pair.factor > ALIKE);
        lines.extend(best.map(|pair| format!("Better: {}.", beside_peer(pair))));
        let worst = chosen(&peers, |one, other| one.factor.total_cmp(&other.factor));
        let worst = worst.into_iter().filter(|pair| pair.factor < 1.0 / ALIKE);
        lines.extend(worst.map(|pair| format!("Worse: {}.", beside_peer(pair))));
    }
    let limits = pairs(record, Kind::Limit);
    if !limits.is_empty() {
        let mut factors: Vec<f64> = limits.iter().map(|pair| pair.factor).collect();
        factors.sort_by(f64::total_cmp);
        lines.push(format!(
            "Compared with the limits of the machine at {}: {} in the median.",
            text::count(factors.len(), "point"),
            share(factors[factors.len() / 2]),
        ));
        let nearest = chosen(&limits, |one, other| other.factor.total_cmp(&one.factor));
        lines.extend(
            nearest
                .first()
                .map(|pair| format!("Nearest: {}.", beside_limit(pair))),
        );
        let farthest = chosen(&limits, |one, other| one.factor.total_cmp(&other.factor));
        lines.extend(
            farthest
                .first()
                .map(|pair| format!("Farthest: {}.", beside_limit(pair))),
        );
    }
    lines
}

/// Our numbers, each with a number of this kind to compare with. Numbers without one are left out.
fn pairs(record: &Record, kind: Kind) -> Vec<Pair<'_>> {
    let mut pairs = Vec::new();
    for outcome in &record.outcomes {
        for plot in &outcome.plots {
            for distance in Distance::ALL {
                pairs.extend(pairs_of(outcome, plot, distance, kind));
            }
        }
    }
    pairs
}

fn pairs_of<'r>(
    outcome: &'r Outcome,
    plot: &'r Plot,
    distance: Distance,
    kind: Kind,
) -> Vec<Pair<'r>> {
    let of = |kind: Kind| {
        let lines = outcome.series.iter();
        lines.filter(move |line| line.plot == plot.id && line.kind == kind)
    };
    let mut pairs: Vec<Pair> = Vec::new();
    for other in of(kind) {
        let Some(ours) = counterpart(other, of(Kind::Ours)) else {
            continue;
        };
        for point in ours
            .points
            .iter()
            .filter(|point| point.distance == distance)
        {
            let Some(beside) = other
                .points
                .iter()
                .find(|p| p.x == point.x && p.distance == distance)
            else {
                continue;
            };
            let Some(factor) = factor(plot.better, point, beside) else {
                continue;
            };
            let pair = Pair {
                suite: outcome.suite,
                plot,
                ours: (ours, point),
                other: (other, beside),
                factor,
            };
            // If there are several other numbers, the best one counts.
            let known = pairs
                .iter_mut()
                .find(|known| known.ours.0.name == ours.name && known.ours.1.x == point.x);
            match known {
                Some(known) if known.factor > factor => *known = pair,
                Some(_) => {}
                None => pairs.push(pair),
            }
        }
    }
    pairs
}

/// The series of ours that has the same purpose as `other`: the one with the same kind of socket,
/// or else the first one that does render.
fn counterpart<'r>(other: &Series, ours: impl Iterator<Item = &'r Series>) -> Option<&'r Series> {
    let draws = |line: &&Series| {
        !["null", "discard"]
            .iter()
            .any(|word| line.name.starts_with(word))
    };
    let ours: Vec<&Series> = ours.filter(draws).collect();
    let carried = socket(other);
    let same = ours.iter().find(|line| socket(line) == carried);
    // A limit such as a memory copy has no transport.
    let any = ours
        .first()
        .filter(|_| carried.is_none() || other.kind == Kind::Limit);
    same.or(any).copied()
}

/// The kind of socket that the name of a series contains.
fn socket(line: &Series) -> Option<&str> {
    let mut words = line.name.split(|c: char| !c.is_alphanumeric());
    words.find(|word| ["tcp", "unix", "tls", "udp"].contains(word))
}

/// How many times better our number is than the other. `None` if that is undefined.
fn factor(better: Better, ours: &Point, other: &Point) -> Option<f64> {
    let is_known = |point: &Point| point.state == State::Resolved && point.value > 0.0;
    if !is_known(ours) || !is_known(other) {
        return None;
    }
    match better {
        Better::Less => Some(other.value / ours.value),
        Better::More => Some(ours.value / other.value),
        Better::Neither => None,
    }
}

/// The first pairs in this order. Pairs of different suites are preferred, and then pairs of
/// different plots.
fn chosen<'p, 'r>(
    pairs: &'p [Pair<'r>],
    order: impl Fn(&Pair, &Pair) -> std::cmp::Ordering,
) -> Vec<&'p Pair<'r>> {
    let mut sorted: Vec<&Pair> = pairs.iter().collect();
    sorted.sort_by(|one, other| order(one, other));
    let mut chosen: Vec<&Pair> = Vec::new();
    for of_new_suite in [true, false] {
        for pair in &sorted {
            let is_new = match of_new_suite {
                true => chosen.iter().all(|known| known.suite != pair.suite),
                false => chosen.iter().all(|known| known.plot.id != pair.plot.id),
            };
            if is_new && chosen.len() < NAMED {
                chosen.push(pair);
            }
        }
    }
    chosen.sort_by(|one, other| order(one, other));
    chosen
}

/// "One-way latency, by shared memory, 8 B, processors near: 0.18 µs by shm, 0.35 by Open MPI (1.9
/// times as good)".
fn beside_peer(pair: &Pair) -> String {
    let times = match pair.factor {
        factor if factor >= 100.0 => "more than 100 times as good".to_string(),
        factor if factor >= 1.0 => format!("{factor:.1} times as good"),
        factor if factor <= 0.01 => "less than a hundredth as good".to_string(),
        factor => format!("{factor:.2} times as good"),
    };
    format!("{} ({times})", beside(pair))
}

fn beside_limit(pair: &Pair) -> String {
    format!("{} ({} of it)", beside(pair), share(pair.factor))
}

fn beside(pair: &Pair) -> String {
    let plot = pair.plot;
    let unit = match &plot.y.unit[..] {
        "" => String::new(),
        unit => format!(" {}", text::unit(unit)),
    };
    let at = amount(pair.ours.1.x, &plot.x.unit);
    let at = match &plot.x.unit[..] {
        _ if !plot.x.is_parameter() => String::new(),
        "" => format!(", {} {at}", plot.x.name),
        _ => format!(", {at}"),
    };
    let distance = text::distance_name(pair.ours.1.distance);
    let distance = distance.map_or(String::new(), |name| format!(", {}", name.to_lowercase()));
    format!(
        "{}{at}{distance}: {}{unit} by {}, {} by {}",
        plot.title,
        number(pair.ours.1.value),
        pair.ours.0.name,
        number(pair.other.1.value),
        pair.other.0.name,
    )
}

fn share(factor: f64) -> String {
    let percent = factor * 100.0;
    match percent < 10.0 {
        true => format!("{percent:.1} %"),
        false => format!("{percent:.0} %"),
    }
}
