//! What published measurements of earlier systems say of the quantities that `mgn bench` measures, for a reader to see beside them.

use crate::record::{Better, Kind, Outcome, Plot, Point, State};

/// A measured figure of a paper.
#[derive(Debug)]
pub struct Fact {
    /// [`Suite::name`](crate::suites::Suite::name).
    pub suite: &'static str,
    pub source: Source,
    pub quantity: &'static str,
    /// As the paper says it.
    pub figure: &'static str,
    pub mark: Option<Mark>,
}

/// The same as a number, where a plot of ours shows the same quantity.
#[derive(Debug)]
pub struct Mark {
    /// [`Plot::id`], in which an asterisk stands for anything.
    pub plot: &'static str,
    pub at: At,
    pub value: f64,
    pub unit: &'static str,
}

/// Of which parameter a figure is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum At {
    /// The least one: the smallest message.
    Least,
    Value(f64),
    /// What was reached at best, wherever that was.
    Best,
    /// A level that nothing of ours is the same as.
    Level,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    QsNet,
    Parnass,
    Libtcomm,
    UdpTcp,
    VgCluster,
}

impl Source {
    pub fn name(self) -> &'static str {
        match self {
            Source::QsNet => "QsNet II",
            Source::Parnass => "Parnass",
            Source::Libtcomm => "libtcomm",
            Source::UdpTcp => "UDP/TCP OpenGL",
            Source::VgCluster => "VG Cluster",
        }
    }

    /// What was measured there.
    pub fn about(self) -> &'static str {
        match self {
            Source::QsNet => {
                "MPI over QsNet II between two nodes with two Opterons of 1.8 GHz each"
            }
            Source::Parnass => {
                "SGI O2 and Origin 200 with Myrinet, Fast Ethernet and shared memory, Bonn"
            }
            Source::Libtcomm => {
                "WireGL over Quadrics Elan on the Terascale Computing System, Pittsburgh"
            }
            Source::UdpTcp => {
                "Chromium with vertices over UDP between two PCs, Lyon, Utah and Nancy"
            }
            Source::VgCluster => "a hardware compositor for eight renderers, Kyoto",
        }
    }
}

const fn fact(
    suite: &'static str,
    source: Source,
    quantity: &'static str,
    figure: &'static str,
    mark: Option<Mark>,
) -> Fact {
    Fact {
        suite,
        source,
        quantity,
        figure,
        mark,
    }
}

const fn mark(plot: &'static str, at: At, value: f64, unit: &'static str) -> Option<Mark> {
    Some(Mark {
        plot,
        at,
        value,
        unit,
    })
}

use Source::{Libtcomm, Parnass, QsNet, UdpTcp, VgCluster};

pub const FACTS: &[Fact] = &[
    fact(
        "net",
        QsNet,
        "Latency, one way at a time",
        "1.58 µs",
        mark("net-latency-*", At::Least, 1.58, "us"),
    ),
    fact(
        "net",
        QsNet,
        "Latency, both ways at once",
        "3.41 µs",
        mark("net-exchange-*", At::Least, 3.41, "us"),
    ),
    fact(
        "net",
        QsNet,
        "Bandwidth, one way at a time",
        "875 MB/s",
        mark("net-bandwidth-*", At::Best, 875.0, "MB/s"),
    ),
    fact(
        "net",
        QsNet,
        "Bandwidth, both ways at once",
        "857 MB/s",
        mark("net-both-*-sum", At::Best, 857.0, "MB/s"),
    ),
    fact(
        "net",
        Parnass,
        "Latency, MPI over shared memory",
        "16 µs",
        mark("net-latency-memory", At::Least, 16.0, "us"),
    ),
    fact(
        "net",
        Parnass,
        "Latency, MPI over BullFrog (Myrinet)",
        "70 µs",
        mark("net-latency-sockets", At::Least, 70.0, "us"),
    ),
    fact(
        "net",
        Parnass,
        "Latency, MPI over Fast Ethernet",
        "0.63 ms",
        mark("net-latency-sockets", At::Least, 630.0, "us"),
    ),
    fact(
        "net",
        Parnass,
        "Latency, MPI over Ethernet",
        "1.15 ms",
        mark("net-latency-sockets", At::Least, 1150.0, "us"),
    ),
    fact(
        "net",
        Parnass,
        "Latency, BullDog without MPI",
        "19 µs",
        None,
    ),
    fact(
        "net",
        Parnass,
        "Latency, Myricom API; with flow control and copies",
        "125 µs; 250 µs",
        None,
    ),
    fact(
        "net",
        Parnass,
        "Bandwidth, MPI over shared memory",
        "1 Gbit/s",
        mark("net-bandwidth-memory", At::Best, 1000.0, "Mbit/s"),
    ),
    fact(
        "net",
        Parnass,
        "the same, beyond the second-level cache",
        "610 Mbit/s",
        None,
    ),
    fact(
        "net",
        Parnass,
        "Bandwidth, MPI over BullFrog (Myrinet)",
        "220 Mbit/s",
        mark("net-bandwidth-sockets", At::Best, 220.0, "Mbit/s"),
    ),
    fact(
        "net",
        Parnass,
        "Bandwidth, MPI over Fast Ethernet",
        "40 to 47 Mbit/s",
        None,
    ),
    fact(
        "net",
        Parnass,
        "Bandwidth, MPI over Ethernet",
        "7 Mbit/s",
        None,
    ),
    fact(
        "net",
        Parnass,
        "Bandwidth, BullDog; BullFrog, without MPI",
        "22 Mbit/s; 250 Mbit/s",
        None,
    ),
    fact(
        "net",
        Parnass,
        "Bandwidth, Myricom API; with flow control and copies",
        "150 Mbit/s; 37 Mbit/s",
        None,
    ),
    fact(
        "overlap",
        QsNet,
        "Processor left to the program, as soon as it computes longer than a round trip (32 KB)",
        "95.9 %",
        mark("overlap-available-32768-*", At::Level, 95.9, "%"),
    ),
    fact(
        "overlap",
        QsNet,
        "Processor left to the program at best (32 KB)",
        "99.5 %",
        mark("overlap-available-32768-*", At::Best, 99.5, "%"),
    ),
    fact(
        "noise",
        QsNet,
        "A million iterations of 1 ms on each processor",
        "no noise; the second processor slightly worse",
        None,
    ),
    fact(
        "pattern",
        VgCluster,
        "MPI_Barrier over Fast Ethernet; with a congested network",
        "3.7 ms; over 10 ms",
        None,
    ),
    fact(
        "pattern",
        VgCluster,
        "MPI_Barrier over Gigabit Ethernet; with a congested network",
        "0.1 ms; 0.5 ms",
        None,
    ),
    fact(
        "pattern",
        VgCluster,
        "Barrier by a wire on the parallel port",
        "under 3 µs",
        None,
    ),
    fact(
        "memory",
        Parnass,
        "Bus, written by the processor: O2; Origin 200; PC",
        "22; 22; 355 Mbit/s",
        None,
    ),
    fact(
        "memory",
        Parnass,
        "Bus, read by the network card: O2; Origin 200; PC",
        "681; 338; 1015 Mbit/s",
        None,
    ),
    fact(
        "memory",
        Parnass,
        "Bus, written by the network card: O2; Origin 200; PC",
        "727; 742; 1015 Mbit/s",
        None,
    ),
    fact(
        "gl",
        Libtcomm,
        "iso_demo, 1.2 million triangles a frame, into nothing",
        "53 MB/s",
        mark("gl-*-stream", At::Level, 53.0, "MB/s"),
    ),
    fact(
        "gl",
        Libtcomm,
        "iso_demo over Elan to servers that discard, 1 to 3 of them",
        "22 to 28 MB/s",
        None,
    ),
    fact(
        "gl",
        Libtcomm,
        "the same over TCP on Ethernet, at best",
        "12 MB/s",
        mark("gl-*-stream", At::Level, 12.0, "MB/s"),
    ),
    fact(
        "gl",
        Libtcomm,
        "What rendering costs more than discarding",
        "10 %",
        None,
    ),
    fact(
        "gl",
        Libtcomm,
        "Share of the program's time that it waits in send",
        "35 to 45 %",
        None,
    ),
    fact(
        "link",
        UdpTcp,
        "100 Mbit/s, crocodile: TCP; UDP/TCP",
        "2.2; 2.7 frames/s",
        None,
    ),
    fact(
        "link",
        UdpTcp,
        "100 Mbit/s, rings: TCP; UDP/TCP",
        "110; 110 frames/s",
        None,
    ),
    fact(
        "link",
        UdpTcp,
        "10 Mbit/s, crocodile: TCP; UDP/TCP",
        "0.28; 0.36 frames/s",
        None,
    ),
    fact(
        "link",
        UdpTcp,
        "10 Mbit/s, rings: TCP; UDP/TCP",
        "24; 39 frames/s",
        None,
    ),
    fact(
        "link",
        UdpTcp,
        "11 Mbit/s wireless with losses, crocodile: TCP; UDP/TCP",
        "0.0666; 0.37 frames/s",
        None,
    ),
    fact(
        "link",
        UdpTcp,
        "11 Mbit/s wireless with losses, rings: TCP; UDP/TCP",
        "5.5; 8 frames/s",
        None,
    ),
];

impl Mark {
    pub fn is_of(&self, plot: &Plot) -> bool {
        is_like(&plot.id, self.plot) && convert(self.value, self.unit, &plot.y.unit).is_some()
    }

    /// In another unit; none where that is of something else.
    pub fn value_in(&self, unit: &str) -> Option<f64> {
        convert(self.value, self.unit, unit)
    }

    /// What we have of the same quantity: the best point of ours, with the name of its line.
    pub fn beside<'a>(&self, outcomes: &[&'a Outcome]) -> Option<(&'a Plot, &'a str, &'a Point)> {
        let plots = outcomes.iter().flat_map(|outcome| &outcome.plots);
        let plot = plots.into_iter().find(|plot| self.is_of(plot))?;
        let lines = outcomes.iter().flat_map(|outcome| &outcome.series);
        let ours = lines.filter(|line| line.plot == plot.id && line.kind == Kind::Ours);
        let points: Vec<(&str, &Point)> = ours
            .flat_map(|line| line.points.iter().map(|point| (&line.name[..], point)))
            .filter(|(_, point)| point.state == State::Resolved)
            .collect();
        let all = || points.iter().map(|(_, point)| point.x);
        let wanted = match self.at {
            At::Level => return None,
            At::Best => None,
            At::Least => all().min_by(f64::total_cmp),
            At::Value(x) => all().min_by(|a, b| (a - x).abs().total_cmp(&(b - x).abs())),
        };
        let rated = points
            .iter()
            .filter(|(_, point)| wanted.is_none_or(|x| point.x == x));
        let order = |one: &&(&str, &Point), other: &&(&str, &Point)| {
            let order = one.1.value.total_cmp(&other.1.value);
            match plot.better {
                Better::Less => order.reverse(),
                _ => order,
            }
        };
        rated
            .max_by(order)
            .map(|(name, point)| (plot, *name, *point))
    }
}

fn is_like(id: &str, pattern: &str) -> bool {
    match pattern.split_once('*') {
        Some((start, end)) => id.starts_with(start) && id.ends_with(end),
        None => id == pattern,
    }
}

/// Times in ns, rates in B/s, shares in %.
fn convert(value: f64, from: &str, to: &str) -> Option<f64> {
    let size = |unit: &str| {
        Some(match unit {
            "ns" => ('t', 1.0),
            "us" => ('t', 1e3),
            "ms" => ('t', 1e6),
            "s" => ('t', 1e9),
            "Mbit/s" => ('r', 1e6 / 8.0),
            "Gbit/s" => ('r', 1e9 / 8.0),
            "MB/s" => ('r', 1e6),
            "MiB/s" => ('r', 1024.0 * 1024.0),
            "GB/s" => ('r', 1e9),
            "GiB/s" => ('r', 1024.0 * 1024.0 * 1024.0),
            _ => return None,
        })
    };
    if from == to {
        return Some(value);
    }
    let ((kind, one), (other_kind, other)) = (size(from)?, size(to)?);
    (kind == other_kind).then(|| value * one / other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_put_into_our_units() {
        assert_eq!(convert(1000.0, "Mbit/s", "MB/s"), Some(125.0));
        assert_eq!(convert(1.58, "us", "us"), Some(1.58));
        assert_eq!(convert(0.63, "ms", "us"), Some(630.0));
        assert_eq!(convert(1.0, "us", "MB/s"), None);
        assert_eq!(convert(1.0, "%", "%"), Some(1.0));
        assert_eq!(convert(1.0, "frames/s", "%"), None);
    }

    #[test]
    fn plots_are_named_by_patterns() {
        assert!(is_like("gl-iso-stream", "gl-*-stream") && is_like("net", "net"));
        assert!(!is_like("gl-iso-rate", "gl-*-stream") && !is_like("net-latency", "net"));
    }

    #[test]
    fn figures_and_their_numbers_agree() {
        for fact in FACTS {
            let Some(mark) = &fact.mark else { continue };
            let said = fact.figure.split_whitespace().collect::<Vec<_>>();
            let [value, unit] = said[..] else {
                panic!("{fact:?}")
            };
            let unit = unit.replace('µ', "u");
            let number = convert(value.parse().unwrap(), &unit, mark.unit);
            assert!((number.unwrap() - mark.value).abs() < 1e-9, "{fact:?}");
        }
    }
}
