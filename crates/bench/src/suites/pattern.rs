//! Patterns of messages, by the number of processes: all to all, around a ring, between random
//! pairs, and all to one. In one step, each process sends its messages of the pattern and receives
//! the messages for it.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use anyhow::{bail, Context, Result};

use crate::argv::Argv;
use crate::child;
use crate::machine::{by_distance_if_unpinned, processors};
use crate::net::crowd::{command_all, mesh, plain_mesh, raise_limits, MemberProcess};
use crate::net::peers::{
    task, MpiLibrary, MpiSettings, PeerPrograms, DEFAULT_SETTINGS, OPEN_MPI_MEMORY, OPEN_MPI_TCP,
    PATTERNS,
};
use crate::plan::{no_conclusions, BenchOptions, Experiment, Figure, Method, ROUNDS};
use crate::record::{Axis, Better, Kind, Plot};
use crate::suite::Suite;

const PROCESSES: [usize; 4] = [2, 4, 8, 16];

/// The sizes: one for the time of a step, and one for the bandwidth.
const SIZES: [usize; 2] = [8, 64 << 10];

/// The time limit of a run. Many processes on few processors are slow.
const RUN_TIMEOUT: Duration = Duration::from_secs(60);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pattern {
    AllToAll,
    Ring,
    RandomPairs,
    HotSpot,
}

const ALL: [Pattern; 4] = [
    Pattern::AllToAll,
    Pattern::Ring,
    Pattern::RandomPairs,
    Pattern::HotSpot,
];

pub fn plan(options: &BenchOptions) -> Result<Vec<Experiment>> {
    raise_limits()?;
    let counts = options.full_or_quick(&PROCESSES[..], &PROCESSES[..2]);
    let seconds = options.full_or_quick(0.02, 0.005);
    let ours = |by| {
        Box::new(OurPatterns {
            by,
            counts: counts.to_vec(),
            seconds,
            round: 0,
        }) as Box<dyn Method>
    };
    let mpi = |name, library, settings| {
        Box::new(MpiPatterns {
            name,
            peers: options.peers.clone(),
            library,
            settings,
            counts: counts.to_vec(),
            seconds,
            round: 0,
        }) as Box<dyn Method>
    };
    let mut methods = vec![
        ours(By::Transport("shm")),
        ours(By::PlainMemory),
        mpi("Open MPI", MpiLibrary::OpenMpi, OPEN_MPI_MEMORY),
    ];
    if !options.is_quick {
        methods.push(mpi("MPICH", MpiLibrary::Mpich, DEFAULT_SETTINGS));
        methods.push(ours(By::Transport("tcp")));
        methods.push(mpi("Open MPI, tcp", MpiLibrary::OpenMpi, OPEN_MPI_TCP));
    }
    let plots = ALL.iter().flat_map(|pattern| {
        let plot = |size: usize, title: String, y, better| {
            Plot::new(
                pattern.plot(size),
                title,
                Axis::log("processes", ""),
                y,
                better,
            )
        };
        let name = pattern.title();
        [
            plot(
                SIZES[0],
                format!("{name}: a step with messages of 8 B"),
                Axis::log("time", "us"),
                Better::Less,
            ),
            plot(
                SIZES[1],
                format!("{name}: all messages of 64 KiB together"),
                Axis::log("rate", "GB/s"),
                Better::More,
            ),
        ]
    });
    let processors = processors();
    Ok(vec![Experiment {
        suite: Suite::Pattern,
        key: "pattern".to_string(),
        plots: plots.collect(),
        methods,
        by_distance: by_distance_if_unpinned(),
        budget: Duration::from_secs(options.full_or_quick(160, 6)),
        rounds: ROUNDS,
        notes: vec![format!("{processors} processors; Open MPI is told if there are more processes than that, and then yields")],
        goals: Vec::new(),
        conclude: no_conclusions,
    }])
}

impl Pattern {
    fn name(self) -> &'static str {
        match self {
            Pattern::AllToAll => "all-to-all",
            Pattern::Ring => "ring",
            Pattern::RandomPairs => "random-pairs",
            Pattern::HotSpot => "hot-spot",
        }
    }

    fn title(self) -> &'static str {
        match self {
            Pattern::AllToAll => "All to all",
            Pattern::Ring => "Ring",
            Pattern::RandomPairs => "Random pairs",
            Pattern::HotSpot => "Hot spot",
        }
    }

    fn plot(self, size: usize) -> String {
        format!("pattern-{}-{size}", self.name())
    }

    /// The receivers of each process. `seed` selects the random pairs. If the number of processes
    /// is odd, one process has no partner.
    fn edges(self, count: usize, seed: u64) -> Vec<Vec<usize>> {
        let others = |rank: usize| (0..count).filter(move |other| *other != rank);
        match self {
            Pattern::AllToAll => (0..count).map(|rank| others(rank).collect()).collect(),
            Pattern::Ring => (0..count).map(|rank| vec![(rank + 1) % count]).collect(),
            Pattern::HotSpot => (0..count)
                .map(|rank| if rank == 0 { vec![] } else { vec![0] })
                .collect(),
            Pattern::RandomPairs => {
                let mut order: Vec<usize> = (0..count).collect();
                let mut state = seed;
                for last in (1..count).rev() {
                    // The upper half of a linear congruential generator (Knuth's MMIX).
                    state = state
                        .wrapping_mul(6_364_136_223_846_793_005)
                        .wrapping_add(1_442_695_040_888_963_407);
                    order.swap(last, (state >> 33) as usize % (last + 1));
                }
                let mut edges = vec![vec![]; count];
                for pair in order.chunks_exact(2) {
                    edges[pair[0]].push(pair[1]);
                    edges[pair[1]].push(pair[0]);
                }
                edges
            }
        }
    }

    /// The figure of a step that took `seconds`.
    fn figure(self, count: usize, size: usize, seconds: f64) -> Figure {
        let messages: usize = self.edges(count, 0).iter().map(Vec::len).sum();
        let value = match size == SIZES[0] {
            true => seconds * 1e6,
            false => (messages * size) as f64 / seconds / 1e9,
        };
        Figure::new(&self.plot(size), count as f64, value)
    }
}

/// How processes exchange messages.
#[derive(Clone, Copy, Debug)]
enum By {
    Transport(&'static str),
    /// Through rings of pieces in shared memory, without any library.
    PlainMemory,
}

/// Patterns among processes of this program.
struct OurPatterns {
    by: By,
    counts: Vec<usize>,
    seconds: f64,
    round: u64,
}

impl Method for OurPatterns {
    fn name(&self) -> String {
        match self.by {
            By::Transport(transport) => transport.to_string(),
            By::PlainMemory => "plain memory".to_string(),
        }
    }

    fn kind(&self) -> Kind {
        match self.by {
            By::Transport(_) => Kind::Ours,
            By::PlainMemory => Kind::Limit,
        }
    }

    fn command(&self) -> String {
        "mgn bench pattern".to_string()
    }

    fn run(&mut self) -> Result<Vec<Figure>> {
        self.round += 1;
        let mut figures = Vec::new();
        for count in &self.counts {
            let mut all = match self.by {
                By::Transport(transport) => mesh(transport, *count)?,
                By::PlainMemory => plain_mesh(*count)?,
            };
            for pattern in ALL {
                let edges = pattern.edges(*count, self.round);
                for size in SIZES {
                    let seconds = self.step(&mut all, &edges, size)?;
                    figures.push(pattern.figure(*count, size, seconds));
                }
            }
        }
        Ok(figures)
    }
}

impl OurPatterns {
    /// The seconds of one step in the slowest process.
    fn step(&self, all: &mut [MemberProcess], edges: &[Vec<usize>], size: usize) -> Result<f64> {
        let from =
            |rank: usize| (0..edges.len()).filter(move |other| edges[*other].contains(&rank));
        let links = |rank: usize, others: Vec<usize>| {
            let links = others
                .iter()
                .map(|other| (other - usize::from(*other > rank)).to_string());
            let links: Vec<String> = links.collect();
            if links.is_empty() {
                "-".to_string()
            } else {
                links.join(",")
            }
        };
        let mut count = 1u64;
        loop {
            let answers = command_all(all, |rank| {
                let (to, from) = (
                    links(rank, edges[rank].clone()),
                    links(rank, from(rank).collect()),
                );
                format!("steps {count} {size} {to} {from}")
            })?;
            let mut longest = 0.0f64;
            for (_, answer) in &answers {
                longest = longest.max(answer.trim().parse().context("a process printed no time")?);
            }
            if longest >= self.seconds {
                return Ok(longest / count as f64);
            }
            if child::is_interrupted() {
                bail!("interrupted");
            }
            count *= 2;
        }
    }
}

struct MpiPatterns {
    name: &'static str,
    peers: Rc<PeerPrograms>,
    library: MpiLibrary,
    settings: MpiSettings,
    counts: Vec<usize>,
    seconds: f64,
    round: u64,
}

impl Method for MpiPatterns {
    fn name(&self) -> String {
        self.name.to_string()
    }

    fn kind(&self) -> Kind {
        Kind::Peer
    }

    fn command(&self) -> String {
        let runs: Vec<Argv> = self.counts.iter().map(|n| self.argv(*n, 1)).collect();
        self.peers.shell_command(self.library, PATTERNS, &runs)
    }

    fn missing(&self) -> Option<String> {
        self.peers.missing(self.library, &self.settings, PATTERNS)
    }

    fn run(&mut self) -> Result<Vec<Figure>> {
        self.round += 1;
        let mut figures = Vec::new();
        for count in &self.counts {
            let name = format!("{} with {count} processes", self.name);
            let (argv, task) = (
                self.argv(*count, self.round),
                task(PATTERNS, &self.settings),
            );
            let finished = self.peers.run(&argv, &task, RUN_TIMEOUT);
            let found = read(&finished.with_context(|| name.clone())?.stdout)?;
            for pattern in ALL {
                for size in SIZES {
                    let seconds = found.get(&(pattern.name().to_string(), size));
                    let seconds = seconds.with_context(|| {
                        format!("{name} printed no result for {}", pattern.name())
                    })?;
                    figures.push(pattern.figure(*count, size, *seconds));
                }
            }
        }
        Ok(figures)
    }
}

impl MpiPatterns {
    /// The command of a run of this number of processes. `seed` selects the random pairs.
    fn argv(&self, processes: usize, seed: u64) -> Argv {
        let sizes = SIZES.map(|size| size.to_string()).join(",");
        let words = [sizes, self.seconds.to_string(), seed.to_string()];
        let MpiPatterns {
            library, settings, ..
        } = self;
        self.peers
            .argv(*library, settings, PATTERNS, processes, &words)
    }
}

/// Parses the output of the program for MPI.
fn read(text: &str) -> Result<BTreeMap<(String, usize), f64>> {
    let line = |line: &str| {
        let [pattern, size, seconds] = line.split_whitespace().collect::<Vec<_>>()[..] else {
            bail!("a run printed {line:?}");
        };
        Ok(((pattern.to_string(), size.parse()?), seconds.parse()?))
    };
    text.lines().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_what_they_are_called() {
        for count in [2, 3, 8, 16] {
            let all = Pattern::AllToAll.edges(count, 0);
            assert!(all.iter().all(|to| to.len() == count - 1));
            let ring = Pattern::Ring.edges(count, 0);
            assert_eq!(ring[count - 1], [0]);
            let hot = Pattern::HotSpot.edges(count, 0);
            assert!(hot[0].is_empty() && hot[1..].iter().all(|to| to == &[0]));
            for seed in 0..20 {
                let pairs = Pattern::RandomPairs.edges(count, seed);
                let alone = pairs.iter().filter(|to| to.is_empty()).count();
                assert_eq!(alone, count % 2);
                for (rank, to) in pairs.iter().enumerate() {
                    assert!(to
                        .iter()
                        .all(|other| *other != rank && pairs[*other] == [rank]));
                }
            }
        }
        let seeds = (0..20).map(|seed| Pattern::RandomPairs.edges(16, seed));
        let different: std::collections::HashSet<_> = seeds.collect();
        assert!(different.len() > 10, "pairs are random");
    }

    #[test]
    fn command_lines_are_as_shown() {
        let mpi = MpiPatterns {
            name: "Open MPI",
            peers: Rc::new(PeerPrograms::new("run/programs".into())),
            library: MpiLibrary::OpenMpi,
            settings: OPEN_MPI_MEMORY,
            counts: vec![2, 16],
            seconds: 0.02,
            round: 0,
        };
        let shell_command = mpi.command();
        let runs: Vec<&str> = shell_command.split(" && ").collect();
        assert!(runs[0].starts_with("mpicc.openmpi "), "{shell_command}");
        assert_eq!(
            runs[1..],
            [2, 16].map(|count| mpi.argv(count, 1).to_string())
        );
        assert!(runs[1].contains("-np 2 --bind-to core"), "{shell_command}");
        assert!(
            runs[2].contains("-np 16 --oversubscribe --bind-to none"),
            "{shell_command}"
        );
    }

    #[test]
    fn output_is_parsed() {
        let found = read("ring 8 0.5\nhot-spot 65536 0.25\n").unwrap();
        assert_eq!(found[&("ring".to_string(), 8)], 0.5);
        assert!(read("ring 8").is_err() && read("ring x 1").is_err());
    }
}
