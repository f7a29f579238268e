//! Latency and bandwidth of messages between two processes, by size. Manganese is measured with
//! each transport, and compared with other installed libraries and with the limits of memory and
//! sockets. The method is that of the evaluation of QsNet II: ping-pong, and many messages at once
//! in one direction or both.

use std::rc::Rc;
use std::time::Duration;

use anyhow::{bail, Result};

use super::limits::Copy;
use super::messages::{messages, Means};
use super::unavailable::{too_few_processors, unavailable};
use crate::format::bytes;
use crate::goals::Goal;
use crate::net::congestion;
use crate::net::endpoint::settings_in_words;
use crate::net::measure::Test;
use crate::net::message_layer::MessageLayer;
use crate::net::netpipe::NetPipe;
use crate::net::peers::{
    MpiLibrary, PeerPrograms, DEFAULT_SETTINGS, MPICH_TCP, OPEN_MPI_MEMORY, OPEN_MPI_NO_CMA,
    OPEN_MPI_TCP,
};
use crate::net::ucx::{Ucx, UCX_MEMORY, UCX_TCP};
use crate::plan::{BenchOptions, ByDistance, Experiment, Figure, Method, ROUNDS};
use crate::probe;
use crate::record::{Axis, Better, Distance, Kind, Outcome, Plot, Point, State};
use crate::statistics::median;
use crate::suite::Suite;

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;

/// One measurement of the suite.
struct Part {
    test: Test,
    name: &'static str,
    title: &'static str,
    sizes: &'static [usize],
    /// The time limit of a full run, in seconds.
    budget: u64,
    is_in_quick: bool,
}

const PARTS: [Part; 5] = [
    Part {
        test: Test::Latency,
        name: "latency",
        title: "One-way latency",
        sizes: &[8, 64, 512, 4 * KIB, 32 * KIB, 256 * KIB, MIB],
        budget: 30,
        is_in_quick: true,
    },
    Part {
        test: Test::Exchange,
        name: "exchange",
        title: "Latency with a message each way at once",
        sizes: &[8, 512, 4 * KIB, 32 * KIB, 256 * KIB, MIB],
        budget: 18,
        is_in_quick: false,
    },
    Part {
        test: Test::Stream,
        name: "bandwidth",
        title: "Bandwidth in one direction",
        sizes: &[
            8,
            512,
            4 * KIB,
            32 * KIB,
            64 * KIB,
            256 * KIB,
            MIB,
            4 * MIB,
            16 * MIB,
        ],
        budget: 42,
        is_in_quick: true,
    },
    Part {
        test: Test::Both,
        name: "both",
        title: "Bandwidth in both directions at once",
        sizes: &[4 * KIB, 32 * KIB, 64 * KIB, 256 * KIB, MIB, 16 * MIB],
        budget: 30,
        is_in_quick: false,
    },
    Part {
        test: Test::Fresh,
        name: "fresh",
        title: "Bandwidth of messages that are written before and read after",
        sizes: &[4 * KIB, 64 * KIB, MIB, 16 * MIB],
        budget: 25,
        is_in_quick: false,
    },
];

const QUICK_SIZES: [usize; 3] = [512, 32 * KIB, MIB];
const QUICK_LATENCY_SIZES: [usize; 2] = [8, 32 * KIB];

pub fn plan(options: &BenchOptions) -> Result<Vec<Experiment>> {
    if let Some(why) = too_few_processors() {
        return Ok(vec![unavailable(Suite::Net, why)]);
    }
    let mut experiments = Vec::new();
    for means in [Means::Memory, Means::Sockets] {
        let parts = PARTS
            .iter()
            .filter(|part| part.is_in_quick || !options.is_quick)
            .filter(|part| part.test != Test::Fresh || means == Means::Memory);
        experiments.extend(parts.map(|part| part.experiment(means, options)));
    }
    Ok(experiments)
}

/// The layers that support the test: ours, others, and the limits.
fn layers(means: Means, test: Test, options: &BenchOptions) -> Vec<(&'static str, MessageLayer)> {
    use MpiLibrary::{Mpich, OpenMpi};
    let peers = &options.peers;
    let mpi = |library, settings| MessageLayer::Mpi(peers.clone(), library, settings);
    let ucx = |tls, kind| MessageLayer::Ucx(peers.clone(), Ucx { tls, kind });
    let is_one_way = matches!(test, Test::Latency | Test::Stream);
    let mut layers = match means {
        Means::Memory => vec![
            ("shm", MessageLayer::Ours("shm")),
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
    if means == Means::Memory && !options.is_quick {
        layers.push(("Open MPI, no CMA", mpi(OpenMpi, OPEN_MPI_NO_CMA)));
    }
    if means == Means::Sockets && !options.is_quick {
        layers.push(("tls", MessageLayer::Ours("tls")));
    }
    if means == Means::Memory && test != Test::Fresh {
        layers.push(("memcpy in and out", MessageLayer::Raw("copies")));
    }
    if is_one_way {
        layers.push(match means {
            Means::Memory => ("UCX tag", ucx(UCX_MEMORY, "tag")),
            Means::Sockets => ("UCX tag, tcp", ucx(UCX_TCP, "tag")),
        });
        if means == Means::Memory && !options.is_quick {
            layers.push(("UCX am", ucx(UCX_MEMORY, "am")));
        }
        if means == Means::Sockets {
            layers.push(("plain tcp", MessageLayer::Raw("tcp")));
            layers.push(("plain unix", MessageLayer::Raw("unix")));
        }
    }
    layers
}

impl Part {
    fn experiment(&self, means: Means, options: &BenchOptions) -> Experiment {
        let sizes = match (options.is_quick, self.test) {
            (true, Test::Latency) => &QUICK_LATENCY_SIZES[..],
            (true, _) => &QUICK_SIZES,
            (false, _) => self.sizes,
        };
        let id = format!("net-{}-{}", self.name, means.name());
        let seconds = options.full_or_quick(0.03, 0.01);
        let mut methods: Vec<Box<dyn Method>> = Vec::new();
        let layers = layers(means, self.test, options);
        let is_peer = |layer: &&(&str, MessageLayer)| layer.1.kind() == Kind::Peer;
        let peers: Vec<&str> = layers
            .iter()
            .filter(is_peer)
            .map(|(name, _)| *name)
            .collect();
        let goals = goals(means, self.test, &id, &peers);
        let goals = goals
            .into_iter()
            .filter(|goal| sizes.iter().any(|size| *size as f64 == goal.x));
        for (name, layer) in layers {
            methods.push(Box::new(messages(
                name, layer, self.test, sizes, seconds, &id,
            )));
        }
        if !options.is_quick {
            methods.extend(checks(means, self.test, &id, &options.peers));
        }
        match (means, self.test) {
            (Means::Memory, Test::Latency) => {
                methods.push(Box::new(CacheLine { plot: id.clone() }))
            }
            (Means::Memory, Test::Stream) => {
                for (name, layer) in [
                    ("shm, in place", MessageLayer::Ours("shm-placed")),
                    ("plain read", MessageLayer::Raw("memory")),
                ] {
                    let sizes: Vec<usize> =
                        sizes.iter().copied().filter(|size| *size > 8).collect();
                    let place = Test::InPlace;
                    methods.push(Box::new(messages(name, layer, place, &sizes, seconds, &id)));
                }
                methods.push(Box::new(Copy::new(id.clone(), sizes, seconds)));
            }
            _ => {}
        }
        let unit = match self.test {
            Test::Latency | Test::Exchange => ("time", "us", Better::Less),
            _ => ("rate", "GB/s", Better::More),
        };
        let plot = |id: String, more: &str| {
            let title = format!("{}{more}, by {}", self.title, means.title());
            let (x, y) = (Axis::log("message size", "B"), Axis::log(unit.0, unit.1));
            Plot::new(id, title, x, y, unit.2)
        };
        let plots = match self.test {
            Test::Both => vec![
                plot(id.clone(), ", per direction"),
                plot(format!("{id}-sum"), ", both together"),
            ],
            _ => vec![plot(id, "")],
        };
        let buffers = match self.test {
            Test::Fresh => {
                "each buffer is written before it is sent, and read after it has arrived"
            }
            _ => "buffers are reused untouched",
        };
        let mut notes = vec![format!(
            "Each run: every size for {seconds} s and the best repetitions of it count; {buffers}"
        )];
        if means == Means::Memory {
            notes.extend(settings_in_words());
        } else {
            let control = congestion::control();
            notes.push(format!("Congestion control of TCP: {control}"));
        }
        Experiment {
            suite: Suite::Net,
            key: format!("net {} {}", self.name, means.name()),
            plots,
            methods,
            by_distance: ByDistance::Run,
            budget: Duration::from_secs(options.full_or_quick(self.budget, 5)),
            rounds: ROUNDS,
            notes,
            goals: goals.collect(),
            conclude: check,
        }
    }
}

/// The name of the series for the cache line.
const CACHE_LINE: &str = "a cache line";

/// The goals of a part. `peers` are the other libraries that the part measures.
fn goals(means: Means, test: Test, id: &str, peers: &[&str]) -> Vec<Goal> {
    let of = |method: &str, size: usize| Goal::of(id, method, size as f64);
    let best = |method, size| of(method, size).ratio_to(peers.iter().copied());
    let beside = |method, limit, size| of(method, size).ratio_to([limit]);
    let long = [64 * KIB, MIB, 16 * MIB];
    let all = [4 * KIB, 64 * KIB, MIB, 16 * MIB];
    match (means, test) {
        (Means::Memory, Test::Latency) => vec![
            best("shm", 8).at_least(1.0),
            of("shm", 8).times(CACHE_LINE).at_most(1.6),
        ],
        (Means::Memory, Test::Stream) => {
            // UCX's program for `am` does not copy messages that are sent eagerly: it leaves them
            // at the place where they arrive, and the receiver has no buffer.
            let copying = peers.iter().copied().filter(|name| *name != "UCX am");
            let short = [
                best("shm", 8).at_least(1.0),
                of("shm", 4 * KIB).ratio_to(copying).at_least(0.95),
            ];
            let long = long.map(|size| best("shm", size).at_least(0.95));
            let in_place = |size| beside("shm, in place", "plain read", size).at_least(0.9);
            short
                .into_iter()
                .chain(long)
                .chain(all.map(in_place))
                .collect()
        }
        (Means::Memory, Test::Both | Test::Fresh) => {
            all.map(|size| best("shm", size).at_least(0.95)).into()
        }
        (Means::Sockets, Test::Latency) => ["tcp", "unix"]
            .map(|name| best(name, 8).at_least(1.0))
            .into(),
        (Means::Sockets, Test::Stream) => [("tcp", "plain tcp"), ("unix", "plain unix")]
            .into_iter()
            .flat_map(|(name, plain)| long.map(|size| beside(name, plain, size).at_least(0.95)))
            .collect(),
        _ => Vec::new(),
    }
}

/// The suffix of the names of libraries that NetPIPE measured.
const BY_NETPIPE: &str = ", by NetPIPE";
const NETPIPE_SIZES: [usize; 4] = [8, 64, 512, 4 * KIB];
const NETPIPE_STREAMS: [usize; 3] = [64 * KIB, 256 * KIB, MIB];

/// Libraries that NetPIPE measures as well.
fn checks(means: Means, test: Test, plot: &str, peers: &Rc<PeerPrograms>) -> Vec<Box<dyn Method>> {
    let libraries = match means {
        Means::Memory => [
            ("Open MPI", MpiLibrary::OpenMpi, OPEN_MPI_MEMORY),
            ("MPICH", MpiLibrary::Mpich, DEFAULT_SETTINGS),
        ],
        Means::Sockets => [
            ("Open MPI, tcp", MpiLibrary::OpenMpi, OPEN_MPI_TCP),
            ("MPICH, tcp", MpiLibrary::Mpich, MPICH_TCP),
        ],
    };
    let (sizes, is_stream): (&[usize], bool) = match test {
        Test::Latency => (&NETPIPE_SIZES, false),
        Test::Stream => (&NETPIPE_STREAMS, true),
        _ => return Vec::new(),
    };
    let check = |(name, library, settings)| {
        Box::new(NetPipeCheck {
            name: format!("{name}{BY_NETPIPE}"),
            netpipe: NetPipe {
                library,
                settings,
                sizes,
                is_stream,
            },
            peers: peers.clone(),
            plot: plot.to_string(),
        }) as Box<dyn Method>
    };
    libraries.map(check).into()
}

/// The ratio of our figures to NetPIPE's figures for the same library: the median, and the largest
/// deviation.
fn check(outcome: &Outcome) -> Vec<String> {
    let lines = outcome.series.iter();
    let theirs = lines.filter_map(|line| Some((line, line.name.strip_suffix(BY_NETPIPE)?)));
    let words = theirs.filter_map(|(theirs, name)| {
        let mut lines = outcome.series.iter();
        let ours = lines.find(|line| line.name == name && line.plot == theirs.plot)?;
        let is_resolved = |point: &&Point| point.state == State::Resolved;
        let ratios = theirs.points.iter().filter(is_resolved).filter_map(|one| {
            let is_same = |other: &&Point| other.x == one.x && other.distance == one.distance;
            let other = ours.points.iter().filter(is_resolved).find(is_same)?;
            Some((other.value / one.value, one))
        });
        let ratios: Vec<(f64, &Point)> = ratios.collect();
        let values: Vec<f64> = ratios.iter().map(|(ratio, _)| *ratio).collect();
        let distance = |ratio: f64| ratio.ln().abs();
        let order = |a: &&(f64, &Point), b: &&(f64, &Point)| distance(a.0).total_cmp(&distance(b.0));
        let (worst, point) = ratios.iter().max_by(order)?;
        let (middle, ..) = median(&values);
        let distance = match point.distance {
            Distance::Near => ", near",
            Distance::Far => ", far",
            Distance::Any => "",
        };
        Some(format!(
            "{name}: our program's figures are {middle:.2} times NetPIPE's in the middle of {} sizes and placements, and {worst:.2} times at worst ({}B{distance})",
            ratios.len(),
            bytes(point.x)
        ))
    });
    words.collect()
}

/// A library measured by NetPIPE.
struct NetPipeCheck {
    name: String,
    netpipe: NetPipe,
    peers: Rc<PeerPrograms>,
    plot: String,
}

impl Method for NetPipeCheck {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn kind(&self) -> Kind {
        Kind::Peer
    }

    fn command(&self) -> String {
        self.netpipe.argv(&self.peers).to_string()
    }

    fn missing(&self) -> Option<String> {
        self.netpipe.missing(&self.peers)
    }

    fn run(&mut self) -> Result<Vec<Figure>> {
        let times = self.netpipe.run(&self.peers)?;
        let figure = |(size, time): (&usize, f64)| {
            let x = *size as f64;
            let value = match self.netpipe.is_stream {
                true => x / time / 1e9,
                false => time * 1e6,
            };
            Figure::new(&self.plot, x, value)
        };
        Ok(self.netpipe.sizes.iter().zip(times).map(figure).collect())
    }
}

/// The time in which a cache line passes to the other processor. This is the lower limit for a
/// message of 8 bytes.
struct CacheLine {
    plot: String,
}

impl Method for CacheLine {
    fn name(&self) -> String {
        CACHE_LINE.to_string()
    }

    fn kind(&self) -> Kind {
        Kind::Limit
    }

    fn command(&self) -> String {
        "mgn bench net".to_string()
    }

    fn run(&mut self) -> Result<Vec<Figure>> {
        let line = probe::cache_line_ns();
        if !line.is_finite() {
            bail!("two threads cannot run on two processors");
        }
        Ok(vec![Figure::new(&self.plot, 8.0, line / 1e3)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Series;

    fn line(name: &str, values: &[(f64, Distance, f64)]) -> Series {
        let point =
            |(x, distance, value): &(f64, Distance, f64)| Point::single(*x, *distance, *value);
        Series {
            plot: "net-latency-memory".to_string(),
            name: name.to_string(),
            kind: Kind::Peer,
            command: String::new(),
            points: values.iter().map(point).collect(),
            note: None,
        }
    }

    #[test]
    fn goals_are_about_what_is_measured() {
        let options = BenchOptions::of_nowhere(false);
        let mut count = 0;
        for part in &PARTS {
            for means in [Means::Memory, Means::Sockets] {
                let experiment = part.experiment(means, &options);
                count += experiment.goals.len();
                for goal in &experiment.goals {
                    assert!(!goal.others.is_empty() && goal.target.is_some(), "{goal:?}");
                    assert!(goal.others.iter().all(|name| !name.ends_with(BY_NETPIPE)));
                    assert_eq!(goal.plot, experiment.plots[0].id);
                }
            }
        }
        // The goals for latency, streams, in place, both ways and fresh in memory, and the two
        // tests by sockets.
        assert_eq!(count, 2 + 5 + 4 + 4 + 4 + 2 + 6);
        let stream = goals(Means::Memory, Test::Stream, "id", &["UCX tag", "UCX am"]);
        let others = |x: f64| &stream.iter().find(|goal| goal.x == x).unwrap().others;
        assert_eq!(*others(4096.0), ["UCX tag"]);
        assert_eq!(*others(65536.0), ["UCX tag", "UCX am"]);
    }

    #[test]
    fn the_worst_size_is_named() {
        let mut outcome = Outcome {
            suite: Suite::Net,
            key: String::new(),
            plots: Vec::new(),
            series: vec![
                line("MPICH", &[(8.0, Distance::Near, 1.0)]),
                line(
                    "Open MPI",
                    &[
                        (8.0, Distance::Near, 1.01),
                        (64.0, Distance::Near, 1.0),
                        (4096.0, Distance::Far, 1.5),
                    ],
                ),
                line(
                    "Open MPI, by NetPIPE",
                    &[
                        (8.0, Distance::Near, 1.0),
                        (64.0, Distance::Near, 1.0),
                        (4096.0, Distance::Far, 2.0),
                        (4096.0, Distance::Near, 9.0),
                    ],
                ),
            ],
            notes: Vec::new(),
            goals: Vec::new(),
            rounds: 5,
            seconds: 1.0,
        };
        assert_eq!(
            check(&outcome),
            ["Open MPI: our program's figures are 1.00 times NetPIPE's in the middle of 3 sizes and placements, and 0.75 times at worst (4 KiB, far)"]
        );
        // Values that are not resolved are ignored.
        outcome.series[2].points[2].state = State::Noisy;
        assert!(
            check(&outcome)[0].ends_with("1.01 times at worst (8B, near)"),
            "{:?}",
            check(&outcome)
        );
        outcome.series.pop();
        assert!(check(&outcome).is_empty());
    }
}
