//! Published measurements of earlier systems, for comparison with the quantities that `mgn bench`
//! measures.

use crate::record::{Better, Kind, Outcome, Plot, Point, Series, State};

/// A measured value from a paper.
#[derive(Debug)]
pub struct Fact {
    /// [`Suite::name`](crate::suite::Suite::name).
    pub suite: &'static str,
    pub source: Source,
    pub quantity: &'static str,
    /// The value in the words of the paper.
    pub figure: &'static str,
    pub mark: Option<Mark>,
    /// Our values to show besides those at the mark.
    here: &'static [OurPoint],
}

/// The value as a number. Facts have a mark if one of our plots shows the same quantity.
#[derive(Debug)]
pub struct Mark {
    /// The [`Plot::id`], in which an asterisk matches any text.
    pub plot: &'static str,
    pub at: Parameter,
    pub value: f64,
    pub unit: &'static str,
}

/// One of our points.
#[derive(Clone, Copy, Debug)]
struct OurPoint {
    /// As [`Mark::plot`].
    plot: &'static str,
    /// The name of the series, or `None` for our best one.
    line: Option<&'static str>,
    at: Parameter,
}

/// The parameter of a value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Parameter {
    /// The smallest parameter, such as the smallest message.
    Smallest,
    Value(f64),
    /// Any parameter: the best value counts.
    Best,
    /// The value applies to all parameters, and is drawn as a level.
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

    /// The subject of the measurements.
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
                "Chromium with vertices over UDP between two PCs, Lyon, Utah and Nancy; its scenes are others than the one here"
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
) -> Fact {
    Fact {
        suite,
        source,
        quantity,
        figure,
        mark: None,
        here: &[],
    }
}

impl Fact {
    const fn marked(
        self,
        plot: &'static str,
        at: Parameter,
        value: f64,
        unit: &'static str,
    ) -> Fact {
        let mark = Mark {
            plot,
            at,
            value,
            unit,
        };
        Fact {
            mark: Some(mark),
            ..self
        }
    }

    const fn beside(self, here: &'static [OurPoint]) -> Fact {
        Fact { here, ..self }
    }
}

const fn at(plot: &'static str, line: &'static str, x: f64) -> OurPoint {
    OurPoint {
        plot,
        line: Some(line),
        at: Parameter::Value(x),
    }
}

/// The plots of the demo, which draws 1.2 million triangles per frame in immediate mode, as in the
/// evaluation of libtcomm.
const STREAM: &str = "gl-iso-demo-stream";
const WAIT: &str = "gl-iso-demo-wait";
const RATE: &str = "gl-iso-demo-rate";
const COPIES: &str = "memory-copies";
const FRAMES: &str = "link-frames";

/// A message size in bytes.
const MIB: f64 = (1 << 20) as f64;

use Source::{Libtcomm, Parnass, QsNet, UdpTcp, VgCluster};

pub const FACTS: &[Fact] = &[
    fact("net", QsNet, "Latency, one way at a time", "1.58 µs").marked(
        "net-latency-*",
        Parameter::Smallest,
        1.58,
        "us",
    ),
    fact("net", QsNet, "Latency, both ways at once", "3.41 µs").marked(
        "net-exchange-*",
        Parameter::Smallest,
        3.41,
        "us",
    ),
    fact("net", QsNet, "Bandwidth, one way at a time", "875 MB/s").marked(
        "net-bandwidth-*",
        Parameter::Best,
        875.0,
        "MB/s",
    ),
    fact("net", QsNet, "Bandwidth, both ways at once", "857 MB/s").marked(
        "net-both-*-sum",
        Parameter::Best,
        857.0,
        "MB/s",
    ),
    fact("net", Parnass, "Latency, MPI over shared memory", "16 µs").marked(
        "net-latency-memory",
        Parameter::Smallest,
        16.0,
        "us",
    ),
    fact(
        "net",
        Parnass,
        "Latency, MPI over BullFrog (Myrinet)",
        "70 µs",
    ),
    fact(
        "link",
        Parnass,
        "Latency, MPI over Fast Ethernet",
        "0.63 ms",
    )
    .marked("link-latency", Parameter::Value(100.0), 630.0, "us"),
    fact("link", Parnass, "Latency, MPI over Ethernet", "1.15 ms").marked(
        "link-latency",
        Parameter::Value(10.0),
        1150.0,
        "us",
    ),
    fact("net", Parnass, "Latency, BullDog without MPI", "19 µs"),
    fact(
        "net",
        Parnass,
        "Latency, Myricom API; with flow control and copies",
        "125 µs; 250 µs",
    ),
    fact(
        "net",
        Parnass,
        "Bandwidth, MPI over shared memory",
        "1 Gbit/s",
    )
    .marked("net-bandwidth-memory", Parameter::Best, 1000.0, "Mbit/s"),
    fact(
        "net",
        Parnass,
        "the same, beyond the second-level cache",
        "610 Mbit/s",
    ),
    fact(
        "net",
        Parnass,
        "Bandwidth, MPI over BullFrog (Myrinet)",
        "220 Mbit/s",
    ),
    fact(
        "link",
        Parnass,
        "Bandwidth, MPI over Fast Ethernet",
        "40 to 47 Mbit/s",
    )
    .beside(&[at("link-stream-1m", "Manganese, tcp", 100.0)]),
    fact("link", Parnass, "Bandwidth, MPI over Ethernet", "7 Mbit/s").marked(
        "link-stream-1m",
        Parameter::Value(10.0),
        7.0,
        "Mbit/s",
    ),
    fact(
        "net",
        Parnass,
        "Bandwidth, BullDog; BullFrog, without MPI",
        "22 Mbit/s; 250 Mbit/s",
    ),
    fact(
        "net",
        Parnass,
        "Bandwidth, Myricom API; with flow control and copies",
        "150 Mbit/s; 37 Mbit/s",
    ),
    fact(
        "overlap",
        QsNet,
        "Processor left to the program, as soon as it computes longer than a round trip (32 KB)",
        "95.9 %",
    )
    .marked("overlap-available-32768-*", Parameter::Level, 95.9, "%")
    .beside(&[
        at("overlap-available-32768-memory", "shm", 30.0),
        at("overlap-available-32768-memory", "shm, in place", 30.0),
    ]),
    fact(
        "overlap",
        QsNet,
        "Processor left to the program at best (32 KB)",
        "99.5 %",
    )
    .marked("overlap-available-32768-*", Parameter::Best, 99.5, "%"),
    fact(
        "noise",
        QsNet,
        "A million iterations of 1 ms on each processor",
        "no noise; the second processor slightly worse",
    )
    .beside(&[
        at("noise-share", "all processors", 0.0),
        at("noise-share", "all processors", 1.0),
    ]),
    fact(
        "barrier",
        VgCluster,
        "MPI_Barrier of nine PCs over Fast Ethernet (here: two processes)",
        "3.7 ms",
    )
    .beside(&[at("barrier-link-idle", "udp", 100.0)]),
    fact(
        "barrier",
        VgCluster,
        "MPI_Barrier of nine PCs over congested Fast Ethernet (here: two processes)",
        "over 10 ms",
    )
    .beside(&[at("barrier-link-congested", "udp", 100.0)]),
    fact(
        "barrier",
        VgCluster,
        "MPI_Barrier of nine PCs over Gigabit Ethernet (here: two processes)",
        "0.1 ms",
    )
    .beside(&[at("barrier-link-idle", "udp", 1000.0)]),
    fact(
        "barrier",
        VgCluster,
        "MPI_Barrier of nine PCs over congested Gigabit Ethernet (here: two processes)",
        "0.5 ms",
    )
    .beside(&[at("barrier-link-congested", "udp", 1000.0)]),
    fact(
        "barrier",
        VgCluster,
        "Barrier of nine PCs by a wire on the parallel port",
        "under 3 µs",
    ),
    fact(
        "composite",
        VgCluster,
        "Readback, barrier by wire, composition and drawing of 8 pictures, 256x256",
        "144.9 frames/s",
    )
    .beside(&[at("composite-barrier", "barrier shm", 65536.0)]),
    fact(
        "composite",
        VgCluster,
        "Readback, barrier by wire, composition and drawing of 8 pictures, 512x512",
        "45.8 frames/s",
    )
    .beside(&[at("composite-barrier", "barrier shm", 262144.0)]),
    fact(
        "composite",
        VgCluster,
        "Readback, barrier by wire, composition and drawing of 8 pictures, 1024x768",
        "16.5 frames/s",
    )
    .beside(&[at("composite-barrier", "barrier shm", 786432.0)]),
    fact(
        "composite",
        VgCluster,
        "Readback, barrier by wire, composition and drawing of 8 pictures, 1024x1024",
        "12.3 frames/s",
    )
    .beside(&[at("composite-barrier", "barrier shm", 1048576.0)]),
    fact(
        "composite",
        VgCluster,
        "Readback, barrier by wire, composition and drawing of 8 pictures, 1280x1024",
        "10.0 frames/s",
    )
    .beside(&[at("composite-barrier", "barrier shm", 1310720.0)]),
    fact(
        "composite",
        VgCluster,
        "Readback, barrier by wire, composition and drawing of 8 pictures, 1600x1200",
        "7.1 frames/s",
    )
    .beside(&[at("composite-barrier", "barrier shm", 1920000.0)]),
    fact(
        "memory",
        Parnass,
        "Bus, written by the processor: O2; Origin 200; PC",
        "22; 22; 355 Mbit/s",
    )
    .beside(&[at(COPIES, "two copies", MIB)]),
    fact(
        "memory",
        Parnass,
        "Bus, read by the network card: O2; Origin 200; PC",
        "681; 338; 1015 Mbit/s",
    )
    .beside(&[at(COPIES, "one copy (process_vm_readv)", MIB)]),
    fact(
        "memory",
        Parnass,
        "Bus, written by the network card: O2; Origin 200; PC",
        "727; 742; 1015 Mbit/s",
    )
    .beside(&[
        at(COPIES, "no copy, written and read", MIB),
        at(COPIES, "memcpy", MIB),
    ]),
    fact(
        "gl",
        Libtcomm,
        "iso_demo, 1.2 million triangles a frame, into nothing",
        "53 MB/s",
    )
    .marked(STREAM, Parameter::Level, 53.0, "MB/s")
    .beside(&[at(STREAM, "null", 0.0)]),
    fact(
        "gl",
        Libtcomm,
        "iso_demo over Elan to servers that discard, 1 to 3 of them",
        "22 to 28 MB/s",
    )
    .beside(&[at(STREAM, "discard", 1.0), at(STREAM, "discard", 3.0)]),
    fact(
        "gl",
        Libtcomm,
        "the same over TCP on Ethernet, at best",
        "12 MB/s",
    ),
    fact(
        "gl",
        Libtcomm,
        "What rendering costs more than discarding",
        "10 %",
    )
    .beside(&[at(RATE, "discard", 1.0), at(RATE, "render", 1.0)]),
    fact(
        "gl",
        Libtcomm,
        "Share of the program's time that it waits in send",
        "35 to 45 %",
    )
    .beside(&[at(WAIT, "discard", 1.0), at(WAIT, "discard", 3.0)]),
    fact(
        "link",
        UdpTcp,
        "100 Mbit/s, crocodile: TCP; UDP/TCP",
        "2.2; 2.7 frames/s",
    )
    .beside(&[at(FRAMES, "unseen", 100.0)]),
    fact(
        "link",
        UdpTcp,
        "100 Mbit/s, rings: TCP; UDP/TCP",
        "110; 110 frames/s",
    )
    .beside(&[at(FRAMES, "unseen", 100.0)]),
    fact(
        "link",
        UdpTcp,
        "10 Mbit/s, crocodile: TCP; UDP/TCP",
        "0.28; 0.36 frames/s",
    )
    .beside(&[at(FRAMES, "unseen", 10.0)]),
    fact(
        "link",
        UdpTcp,
        "10 Mbit/s, rings: TCP; UDP/TCP",
        "24; 39 frames/s",
    )
    .beside(&[at(FRAMES, "unseen", 10.0)]),
    fact(
        "link",
        UdpTcp,
        "11 Mbit/s wireless with losses, crocodile: TCP; UDP/TCP",
        "0.0666; 0.37 frames/s",
    )
    .beside(&[at(FRAMES, "unseen", 11.0)]),
    fact(
        "link",
        UdpTcp,
        "11 Mbit/s wireless with losses, rings: TCP; UDP/TCP",
        "5.5; 8 frames/s",
    )
    .beside(&[at(FRAMES, "unseen", 11.0)]),
];

impl Mark {
    pub fn is_of(&self, plot: &Plot) -> bool {
        is_like(&plot.id, self.plot) && convert(self.value, self.unit, &plot.y.unit).is_some()
    }

    /// The value in another unit. `None` if the unit belongs to another quantity.
    pub fn value_in(&self, unit: &str) -> Option<f64> {
        convert(self.value, self.unit, unit)
    }
}

/// One of our points, with its plot and the name of its series.
pub type Found<'a> = (&'a Plot, &'a str, &'a Point);

impl Fact {
    /// Our measured values of the same quantity.
    pub fn here<'a>(&self, outcomes: &[&'a Outcome]) -> Vec<Found<'a>> {
        let marked = self
            .mark
            .as_ref()
            .filter(|mark| mark.at != Parameter::Level);
        let at_mark = marked.map(|mark| OurPoint {
            plot: mark.plot,
            line: None,
            at: mark.at,
        });
        let all = at_mark.iter().chain(self.here);
        all.filter_map(|here| here.find(outcomes)).collect()
    }
}

impl OurPoint {
    /// The best of several points. Unresolved points count only if there are no resolved ones.
    fn find<'a>(&self, outcomes: &[&'a Outcome]) -> Option<Found<'a>> {
        let plots = outcomes.iter().flat_map(|outcome| &outcome.plots);
        let plot = plots
            .into_iter()
            .find(|plot| is_like(&plot.id, self.plot))?;
        let lines = outcomes.iter().flat_map(|outcome| &outcome.series);
        let is_meant = |line: &&Series| match self.line {
            Some(name) => line.name == name,
            None => line.kind == Kind::Ours,
        };
        let lines = lines.filter(|line| line.plot == plot.id).filter(is_meant);
        let points: Vec<(&str, &Point)> = lines
            .flat_map(|line| line.points.iter().map(|point| (&line.name[..], point)))
            .collect();
        let wanted = match self.at {
            Parameter::Level | Parameter::Best => None,
            Parameter::Smallest => points
                .iter()
                .map(|(_, point)| point.x)
                .min_by(f64::total_cmp),
            Parameter::Value(x) => Some(x),
        };
        let is_there = |x: f64| wanted.is_none_or(|wanted| (x - wanted).abs() <= wanted * 1e-9);
        let rated = points.iter().filter(|(_, point)| is_there(point.x));
        let order = |one: &&(&str, &Point), other: &&(&str, &Point)| {
            let value = one.1.value.total_cmp(&other.1.value);
            let value = match plot.better {
                Better::Less => value.reverse(),
                _ => value,
            };
            let is_resolved = |point: &Point| point.state == State::Resolved;
            is_resolved(one.1).cmp(&is_resolved(other.1)).then(value)
        };
        let (name, point) = rated.max_by(order)?;
        Some((plot, *name, *point))
    }
}

fn is_like(id: &str, pattern: &str) -> bool {
    match pattern.split_once('*') {
        Some((start, end)) => id.starts_with(start) && id.ends_with(end),
        None => id == pattern,
    }
}

/// Converts a value to another unit. `None` if the units belong to different quantities.
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
    use clap::ValueEnum;

    use super::*;
    use crate::suite::Suite;

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

    /// The planned suites on a machine that has the demo. The demo is deleted with the folder.
    fn planned() -> (tempfile::TempDir, Vec<crate::plan::Experiment>) {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("demos")).unwrap();
        std::fs::write(folder.path().join("demos/iso_demo"), "").unwrap();
        let options = crate::plan::BenchOptions {
            is_quick: false,
            iterations: 10,
            program: Vec::new(),
            mgn: folder.path().join("bin/mgn"),
            peers: std::rc::Rc::new(crate::net::peers::PeerPrograms::new("nowhere".into())),
        };
        let plans = Suite::value_variants().iter();
        let plans = plans.flat_map(|suite| crate::suites::plan(*suite, &options).unwrap());
        (folder, plans.collect())
    }

    #[test]
    fn marks_refer_to_measured_plots() {
        let (_folder, planned) = planned();
        let has_links = planned.iter().any(|one| one.key == "link messages");
        for fact in FACTS {
            for here in fact.here {
                let is_planned = planned.iter().any(|experiment| {
                    let mut plots = experiment.plots.iter();
                    let mut names = experiment.methods.iter().map(|method| method.name());
                    plots.any(|plot| plot.id == here.plot)
                        && names.any(|name| here.line.is_some_and(|line| name.starts_with(line)))
                });
                let is_left_out = here.plot.contains("link-") && !has_links;
                assert!(is_planned || is_left_out, "{here:?} of {fact:?}");
            }
            let has_row = !fact.here.is_empty() || fact.mark.is_some();
            let is_of = |suite| fact.suite == suite;
            assert!(has_row || !is_of("memory") && !is_of("noise") && !is_of("link"));
        }
    }

    #[test]
    fn ours_stand_beside_the_same() {
        let axis = || crate::record::Axis::linear("", "");
        let point = |x: f64, value: f64, state| Point {
            x,
            distance: crate::record::Distance::Any,
            values: vec![value],
            rounds: vec![0],
            value,
            low: value,
            high: value,
            state,
            percentiles: None,
            cpu: None,
        };
        let line = |plot: &str, name: &str, points| Series {
            plot: plot.to_string(),
            name: name.to_string(),
            kind: Kind::Ours,
            command: String::new(),
            points,
            note: None,
        };
        let plots = [
            (STREAM, Better::More),
            ("net-latency-sockets", Better::Less),
            ("net-latency-memory", Better::Less),
        ];
        let outcome = Outcome {
            suite: Suite::Gl,
            key: String::new(),
            plots: plots
                .map(|(id, better)| Plot::new(id, "", axis(), axis(), better))
                .into(),
            series: vec![
                line(STREAM, "null", vec![point(0.0, 3500.0, State::Resolved)]),
                line(
                    STREAM,
                    "discard",
                    vec![
                        point(1.0, 2800.0, State::Resolved),
                        point(3.0, 2300.0, State::Noisy),
                    ],
                ),
                line(
                    "net-latency-sockets",
                    "unix",
                    vec![point(8.0, 2.8, State::Resolved)],
                ),
                line(
                    "net-latency-memory",
                    "shm",
                    vec![
                        point(8.0, 0.2, State::Noisy),
                        point(8.0, 0.3, State::Resolved),
                        point(64.0, 0.1, State::Resolved),
                    ],
                ),
            ],
            notes: Vec::new(),
            goals: Vec::new(),
            rounds: 5,
            seconds: 1.0,
        };
        let beside = |quantity: &str| -> Vec<f64> {
            let mut facts = FACTS.iter();
            let fact = facts.find(|fact| fact.quantity.starts_with(quantity));
            let found = fact.unwrap().here(&[&outcome]);
            found.iter().map(|(.., point)| point.value).collect()
        };
        assert_eq!(beside("iso_demo, 1.2 million"), [3500.0]);
        assert_eq!(beside("iso_demo over Elan"), [2800.0, 2300.0]);
        assert_eq!(beside("Latency, MPI over shared memory"), [0.3]);
        // Figures of networks are not compared with sockets of one host.
        for network in ["Myrinet", "Ethernet"] {
            let facts = FACTS.iter().filter(|fact| fact.quantity.contains(network));
            assert!(facts.clone().count() > 1);
            for fact in facts {
                assert!(fact.here(&[&outcome]).is_empty(), "{fact:?}");
            }
        }
    }
}
