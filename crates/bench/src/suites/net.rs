//! Latency and bandwidth of messages between two processes, by their size: over each transport of ours, over other libraries where they are installed, and
//! what memory and plain sockets can do at best. The method is that of the evaluation of QsNet II: ping-pong, and many at once in one direction or both.

use std::rc::Rc;
use std::time::Duration;

use anyhow::{bail, Result};

use super::{left_out, too_few_processors, Suite};
use crate::machine::congestion_control;
use crate::net::measure::{Sample, Test};
use crate::net::ours::settings_in_words;
use crate::net::peers::{
    netpipe, netpipe_command, netpipe_missing, Library, Mpi, Settings, AS_IT_IS, BY_MEMORY,
    MPICH_TCP, NO_CMA, OPEN_MPI_TCP, UCX_MEMORY, UCX_TCP,
};
use crate::net::source::{Messages, Source};
use crate::plan::{no_words, Experiment, Figure, Way, Wishes, ROUNDS};
use crate::probe;
use crate::record::{Axis, Better, Kind, Outcome, Percentiles, Plot, Point, State};
use crate::statistics::median;

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;

/// Whether two processes exchange messages by shared memory or by sockets.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Means {
    Memory,
    Sockets,
}

impl Means {
    pub fn name(self) -> &'static str {
        match self {
            Means::Memory => "memory",
            Means::Sockets => "sockets",
        }
    }

    pub fn title(self) -> &'static str {
        match self {
            Means::Memory => "shared memory",
            Means::Sockets => "sockets of one host",
        }
    }
}

/// One measurement of the suite.
struct Part {
    test: Test,
    name: &'static str,
    title: &'static str,
    sizes: &'static [usize],
    /// Seconds of a full run's time box.
    budget: u64,
    is_in_quick: bool,
}

const PARTS: [Part; 4] = [
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
];

const QUICK_SIZES: [usize; 3] = [512, 32 * KIB, MIB];
const QUICK_LATENCY_SIZES: [usize; 2] = [8, 32 * KIB];

pub fn plan(wishes: &Wishes) -> Result<Vec<Experiment>> {
    if let Some(why) = too_few_processors() {
        return Ok(vec![left_out(Suite::Net, why)]);
    }
    let mpi = Rc::new(Mpi::default());
    let mut experiments = Vec::new();
    for means in [Means::Memory, Means::Sockets] {
        let parts = PARTS
            .iter()
            .filter(|part| part.is_in_quick || !wishes.is_quick);
        experiments.extend(parts.map(|part| part.experiment(means, &mpi, wishes)));
    }
    Ok(experiments)
}

/// Ours, others' and the limits, where they do it.
fn sources(
    means: Means,
    test: Test,
    mpi: &Rc<Mpi>,
    wishes: &Wishes,
) -> Vec<(&'static str, Source)> {
    use Library::{Mpich, OpenMpi};
    let with = |library, settings| Source::Mpi(mpi.clone(), library, settings);
    let is_one_way = matches!(test, Test::Latency | Test::Stream);
    let mut sources = match means {
        Means::Memory => vec![
            ("shm", Source::Ours("shm")),
            ("Open MPI", with(OpenMpi, BY_MEMORY)),
            ("MPICH", with(Mpich, AS_IT_IS)),
        ],
        Means::Sockets => vec![
            ("tcp", Source::Ours("tcp")),
            ("unix", Source::Ours("unix")),
            ("Open MPI, tcp", with(OpenMpi, OPEN_MPI_TCP)),
            ("MPICH, tcp", with(Mpich, MPICH_TCP)),
        ],
    };
    if means == Means::Memory && !wishes.is_quick {
        sources.push(("Open MPI, no CMA", with(OpenMpi, NO_CMA)));
    }
    if is_one_way {
        sources.push(match means {
            Means::Memory => ("UCX tag", Source::Ucx(UCX_MEMORY, "tag")),
            Means::Sockets => ("UCX tag, tcp", Source::Ucx(UCX_TCP, "tag")),
        });
        if means == Means::Memory && !wishes.is_quick {
            sources.push(("UCX am", Source::Ucx(UCX_MEMORY, "am")));
        }
        if means == Means::Sockets {
            sources.push(("plain tcp", Source::Raw("tcp")));
            sources.push(("plain unix", Source::Raw("unix")));
        }
    }
    sources
}

impl Part {
    fn experiment(&self, means: Means, mpi: &Rc<Mpi>, wishes: &Wishes) -> Experiment {
        let sizes = match (wishes.is_quick, self.test) {
            (true, Test::Latency) => &QUICK_LATENCY_SIZES[..],
            (true, _) => &QUICK_SIZES,
            (false, _) => self.sizes,
        };
        let id = format!("net-{}-{}", self.name, means.name());
        let seconds = wishes.either(0.03, 0.01);
        let mut ways: Vec<Box<dyn Way>> = Vec::new();
        for (name, source) in sources(means, self.test, mpi, wishes) {
            ways.push(Box::new(messages(
                name, source, self.test, sizes, seconds, &id,
            )));
        }
        let is_checked = means == Means::Memory && self.test == Test::Latency && !wishes.is_quick;
        if is_checked {
            for (name, library, settings) in CHECKED {
                ways.push(Box::new(NetPipe {
                    name: format!("{name}{BY_NETPIPE}"),
                    library,
                    settings,
                    plot: id.clone(),
                }));
            }
        }
        match (means, self.test) {
            (Means::Memory, Test::Latency) => ways.push(Box::new(Line { plot: id.clone() })),
            (Means::Memory, Test::Stream) => {
                ways.push(Box::new(messages(
                    "shm, in place",
                    Source::Ours("shm-placed"),
                    Test::Place,
                    sizes,
                    seconds,
                    &id,
                )));
                ways.push(Box::new(super::memory::Copy::new(
                    id.clone(),
                    sizes,
                    seconds,
                )));
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
        let mut notes = vec![format!(
            "Each run: every size for {seconds} s and the best repetitions of it count; buffers are reused untouched"
        )];
        if means == Means::Memory {
            notes.extend(settings_in_words());
        } else {
            let control = congestion_control();
            notes.push(format!("Congestion control of TCP: {control}"));
        }
        Experiment {
            suite: Suite::Net,
            key: format!("net {} {}", self.name, means.name()),
            plots,
            ways,
            is_placed: true,
            budget: Duration::from_secs(wishes.either(self.budget, 5)),
            rounds: ROUNDS,
            notes,
            conclude: if is_checked { check } else { no_words },
        }
    }
}

/// Libraries that are measured by NetPIPE, too.
const CHECKED: [(&str, Library, Settings); 2] = [
    ("Open MPI", Library::OpenMpi, BY_MEMORY),
    ("MPICH", Library::Mpich, AS_IT_IS),
];

const BY_NETPIPE: &str = ", by NetPIPE";
const NETPIPE_SIZES: [usize; 4] = [8, 64, 512, 4 * KIB];

/// How far NetPIPE's figures are from ours for the same library.
fn check(outcome: &Outcome) -> Vec<String> {
    let mut words = Vec::new();
    for (name, ..) in CHECKED {
        let points = |name: &str| {
            let line = outcome.series.iter().find(|line| line.name == name);
            line.into_iter().flat_map(|line| &line.points)
        };
        let theirs = format!("{name}{BY_NETPIPE}");
        let ratios: Vec<f64> = points(&theirs)
            .filter_map(|one| {
                let is_same = |other: &&Point| other.x == one.x && other.place == one.place;
                let other = points(name).find(is_same)?;
                let is_resolved = [one, other]
                    .iter()
                    .all(|point| point.state == State::Resolved);
                is_resolved.then_some(other.value / one.value)
            })
            .collect();
        if !ratios.is_empty() {
            let (middle, ..) = median(&ratios);
            words.push(format!(
                "{name} takes {middle:.2} times as long here as NetPIPE says, in the middle of {} sizes and placements",
                ratios.len()
            ));
        }
    }
    words
}

/// A library, measured by NetPIPE.
struct NetPipe {
    name: String,
    library: Library,
    settings: Settings,
    plot: String,
}

impl Way for NetPipe {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn kind(&self) -> Kind {
        Kind::Peer
    }

    fn command(&self) -> String {
        netpipe_command(self.library, &self.settings, &NETPIPE_SIZES)
    }

    fn missing(&self) -> Option<String> {
        netpipe_missing(self.library)
    }

    fn run(&mut self) -> Result<Vec<Figure>> {
        let times = netpipe(self.library, &self.settings, &NETPIPE_SIZES)?;
        let figure =
            |(size, time): (&usize, f64)| Figure::new(&self.plot, *size as f64, time * 1e6);
        Ok(NETPIPE_SIZES.iter().zip(times).map(figure).collect())
    }
}

/// Messages of one source, of each size.
pub fn messages(
    name: &'static str,
    source: Source,
    test: Test,
    sizes: &[usize],
    seconds: f64,
    plot: &str,
) -> Messages {
    let plot = plot.to_string();
    Messages {
        name,
        source,
        test,
        sizes: sizes.to_vec(),
        seconds,
        figures: Box::new(move |size, sample| figures(&plot, test, size, sample)),
    }
}

fn figures(plot: &str, test: Test, size: usize, sample: &Sample) -> Vec<Figure> {
    let seconds = sample.seconds[0];
    let x = size as f64;
    let us = |seconds: f64| match test {
        Test::Latency => seconds / 2.0 * 1e6,
        _ => seconds * 1e6,
    };
    let value = match test {
        Test::Latency | Test::Exchange => us(seconds),
        _ => sample.window * x / seconds / 1e9,
    };
    let mut figure = Figure::new(plot, x, value).cpu(sample.cpu);
    figure.percentiles = sample
        .percentiles
        .map(|all| Percentiles::from(all.map(|one| one.map(us))));
    let mut figures = vec![figure];
    if test == Test::Both {
        figures.push(Figure::new(&format!("{plot}-sum"), x, 2.0 * value));
    }
    figures
}

/// The time in which a cache line changes hands: no message of 8 bytes is faster.
struct Line {
    plot: String,
}

impl Way for Line {
    fn name(&self) -> String {
        "a cache line".to_string()
    }

    fn kind(&self) -> Kind {
        Kind::Limit
    }

    fn command(&self) -> String {
        "mgn bench net".to_string()
    }

    fn run(&mut self) -> Result<Vec<Figure>> {
        let line = probe::line();
        if !line.is_finite() {
            bail!("two threads do not get two processors");
        }
        Ok(vec![Figure::new(&self.plot, 8.0, line / 1e3)])
    }
}
