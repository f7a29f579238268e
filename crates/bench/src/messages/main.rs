//! `mgn-bench-messages`: messages between two processes, ours and others'.
//!
//! Every row measures one thing in several ways. A round runs each way once, one after the other; each run is two processes, pinned to two processors.
//! Before and after every run the time is measured in which a cache line changes hands, because virtual processors move: runs during which it changed, or
//! rounds whose runs differ in it, don't count, and rows tell near (below 150 ns) and far apart. Ratios are of the best of the others, round by round.
#![deny(unsafe_code)]

mod measure;
#[allow(unsafe_code)]
mod ours;
mod peers;
mod probe;

use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::{Parser, Subcommand};

use measure::{Sample, Test};

#[derive(Parser)]
struct Options {
    #[command(subcommand)]
    command: Option<Command>,
    /// Where `bench/messages`, the program for MPI, is
    #[arg(long, default_value = "target")]
    target: PathBuf,
    /// Rounds of every row
    #[arg(short = 'n', long, default_value_t = 5)]
    rounds: usize,
    /// Seconds of every run
    #[arg(long, default_value_t = 0.3)]
    seconds: f64,
    /// Only rows whose name contains this
    #[arg(long)]
    only: Option<String>,
}

#[derive(Subcommand)]
enum Command {
    /// One of the two processes of a run of ours
    #[command(hide = true)]
    End(ours::End),
}

/// A way of sending messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    Ours(&'static str),
    /// Ours, written where it is sent from and read where it lies.
    InPlace(&'static str),
    OpenMpi(&'static [&'static str]),
    Ucx(&'static str),
}

struct Row {
    name: &'static str,
    test: Test,
    size: usize,
    /// Seconds of computing while a message is under way.
    compute: f64,
    ways: &'static [(&'static str, Way)],
    /// What is wanted of the ratio to the best of the others.
    wanted: f64,
}

const CMA: &[&str] = &["--mca", "btl", "self,vader"];
const NO_CMA: &[&str] = &[
    "--mca",
    "btl",
    "self,vader",
    "--mca",
    "btl_vader_single_copy_mechanism",
    "none",
];
const MPI_TCP: &[&str] = &[
    "--mca",
    "btl",
    "self,tcp",
    "--mca",
    "btl_tcp_if_include",
    "lo",
];

const SHM: &[(&str, Way)] = &[
    ("shm", Way::Ours("shm")),
    ("Open MPI", Way::OpenMpi(CMA)),
    ("Open MPI, no CMA", Way::OpenMpi(NO_CMA)),
];
const SHM_UCX: &[(&str, Way)] = &[
    ("shm", Way::Ours("shm")),
    ("Open MPI", Way::OpenMpi(CMA)),
    ("Open MPI, no CMA", Way::OpenMpi(NO_CMA)),
    ("UCX", Way::Ucx("posix,cma,self")),
];
/// Where what is written and read counts.
const SHM_BOTH: &[(&str, Way)] = &[
    ("shm", Way::Ours("shm")),
    ("shm, in place", Way::InPlace("shm")),
    ("Open MPI", Way::OpenMpi(CMA)),
    ("Open MPI, no CMA", Way::OpenMpi(NO_CMA)),
];
const TCP: &[(&str, Way)] = &[
    ("tcp", Way::Ours("tcp")),
    ("unix", Way::Ours("unix")),
    ("Open MPI, tcp", Way::OpenMpi(MPI_TCP)),
];

fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    let mut row = |name, test, size, compute, ways, wanted| {
        rows.push(Row {
            name,
            test,
            size,
            compute,
            ways,
            wanted,
        });
    };
    row("one way, 8 B", Test::Latency, 8, 0.0, SHM_UCX, 1.0);
    row("messages of 8 B", Test::Stream, 8, 0.0, SHM_UCX, 1.0);
    row("stream, 4 KiB", Test::Stream, 4 << 10, 0.0, SHM_UCX, 0.95);
    row("stream, 64 KiB", Test::Stream, 64 << 10, 0.0, SHM_UCX, 0.95);
    row("stream, 1 MiB", Test::Stream, 1 << 20, 0.0, SHM_UCX, 0.95);
    row("stream, 16 MiB", Test::Stream, 16 << 20, 0.0, SHM_UCX, 0.95);
    row("both ways, 4 KiB", Test::Both, 4 << 10, 0.0, SHM, 0.95);
    row("both ways, 64 KiB", Test::Both, 64 << 10, 0.0, SHM, 0.95);
    row("both ways, 1 MiB", Test::Both, 1 << 20, 0.0, SHM, 0.95);
    row("both ways, 16 MiB", Test::Both, 16 << 20, 0.0, SHM, 0.95);
    row(
        "written and read, 64 KiB",
        Test::Fresh,
        64 << 10,
        0.0,
        SHM_BOTH,
        0.95,
    );
    row(
        "written and read, 1 MiB",
        Test::Fresh,
        1 << 20,
        0.0,
        SHM_BOTH,
        0.95,
    );
    row(
        "written and read, 16 MiB",
        Test::Fresh,
        16 << 20,
        0.0,
        SHM_BOTH,
        0.95,
    );
    row("one way, 8 B, sockets", Test::Latency, 8, 0.0, TCP, 1.0);
    row(
        "stream, 64 KiB, sockets",
        Test::Stream,
        64 << 10,
        0.0,
        TCP,
        0.95,
    );
    row(
        "stream, 1 MiB, sockets",
        Test::Stream,
        1 << 20,
        0.0,
        TCP,
        0.95,
    );
    row(
        "available, 32 KiB",
        Test::Overlap,
        32 << 10,
        1e-3,
        SHM_BOTH,
        1.0,
    );
    row(
        "available, 1 MiB",
        Test::Overlap,
        1 << 20,
        1e-3,
        SHM_BOTH,
        1.0,
    );
    row(
        "available, 32 KiB, sockets",
        Test::Overlap,
        32 << 10,
        1e-3,
        TCP,
        1.0,
    );
    row(
        "available, 1 MiB, sockets",
        Test::Overlap,
        1 << 20,
        1e-3,
        TCP,
        1.0,
    );
    rows
}

fn main() -> Result<()> {
    let options = Options::parse();
    if let Some(Command::End(end)) = &options.command {
        return end.run();
    }
    println!("row                          way                 median unit     ratio to the best other (range)   wanted       CPU s  line ns");
    for (name, way) in [SHM_UCX, TCP].concat() {
        if !is_there(&way, &options) {
            println!("{name} is skipped: what it needs is not installed");
        }
    }
    for row in rows() {
        if options
            .only
            .as_ref()
            .is_some_and(|only| !row.name.contains(only.as_str()))
        {
            continue;
        }
        run(&row, &options).with_context(|| format!("{} failed", row.name))?;
    }
    Ok(())
}

/// Whether a way can be measured on this machine.
fn is_there(way: &Way, options: &Options) -> bool {
    let has = |name: &str| {
        let path = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&path).any(|folder| folder.join(name).exists())
    };
    match way {
        Way::Ours(_) | Way::InPlace(_) => true,
        Way::OpenMpi(_) => has("mpirun.openmpi") && options.target.join("bench/messages").exists(),
        Way::Ucx(_) => has("ucx_perftest"),
    }
}

/// A sample and the time in which a cache line changed hands then.
struct Probed {
    sample: Sample,
    line: f64,
}

/// A cache line that changes hands in less than this, in ns, has not far to go.
const NEAR: f64 = 150.0;

fn run(row: &Row, options: &Options) -> Result<()> {
    let ways: Vec<_> = row
        .ways
        .iter()
        .filter(|(_, way)| is_there(way, options))
        .collect();
    let mut rounds: Vec<Vec<Probed>> = Vec::new();
    let mut tries = 0;
    while rounds.len() < options.rounds && tries < 3 * options.rounds {
        tries += 1;
        let mut round = Vec::new();
        for (_, way) in &ways {
            let before = probe::line();
            let sample = match way {
                Way::Ours(transport) | Way::InPlace(transport) => ours::run(
                    transport,
                    matches!(way, Way::InPlace(_)),
                    row.test,
                    row.size,
                    options.seconds,
                    row.compute,
                ),
                Way::OpenMpi(with) => peers::open_mpi(
                    &options.target,
                    with,
                    row.test,
                    row.size,
                    options.seconds,
                    row.compute,
                ),
                Way::Ucx(with) => peers::ucx(with, row.test, row.size),
            }?;
            let after = probe::line();
            round.push(((before < NEAR) == (after < NEAR)).then_some(Probed {
                sample,
                line: (before + after) / 2.0,
            }));
        }
        let Some(round) = round.into_iter().collect::<Option<Vec<_>>>() else {
            continue;
        };
        if round
            .iter()
            .all(|probed| (probed.line < NEAR) == (round[0].line < NEAR))
        {
            rounds.push(round);
        }
    }
    for near in [true, false] {
        let rounds: Vec<_> = rounds
            .iter()
            .filter(|round| (round[0].line < NEAR) == near)
            .collect();
        if rounds.is_empty() {
            continue;
        }
        for (at, (name, way)) in ways.iter().enumerate() {
            let values: Vec<f64> = rounds
                .iter()
                .map(|round| row.test.value(row.size, &round[at].sample, row.compute))
                .collect();
            let is_peer = |way: &Way| !matches!(way, Way::Ours(_) | Way::InPlace(_));
            let ratios: Vec<f64> = rounds
                .iter()
                .map(|round| {
                    let value =
                        |at: usize| row.test.value(row.size, &round[at].sample, row.compute);
                    let others = (0..ways.len())
                        .filter(|other| is_peer(&ways[*other].1))
                        .map(value);
                    let best = others.fold(None, |best: Option<f64>, v| {
                        Some(best.map_or(v, |b| row.test.better(b, v)))
                    });
                    best.map_or(0.0, |best| row.test.ratio(value(at), best))
                })
                .collect();
            let (ratios, values) = (sorted(ratios), sorted(values));
            let ratio = match is_peer(way) {
                true => String::new(),
                false => format!(
                    "{:.2} ({:.2}-{:.2})",
                    middle(&ratios),
                    ratios[0],
                    ratios[ratios.len() - 1]
                ),
            };
            let verdict = match (is_peer(way), middle(&ratios) >= row.wanted) {
                (true, _) => String::new(),
                (_, true) => format!(">= {:.2}: yes", row.wanted),
                (_, false) => format!(">= {:.2}: NO", row.wanted),
            };
            let title = if at > 0 {
                String::new()
            } else {
                format!("{}{}", row.name, if near { "" } else { " (far)" })
            };
            let cpu = sorted(rounds.iter().map(|round| round[at].sample.cpu).collect());
            let line = sorted(rounds.iter().map(|round| round[at].line).collect());
            println!(
                "{title:<28} {name:<17} {:>9.3} {:<8} {ratio:<33} {verdict:<12} {:>5.2} {:>8.0}",
                middle(&values),
                row.test.unit(row.size),
                middle(&cpu),
                middle(&line)
            );
        }
    }
    if rounds.len() < options.rounds {
        println!(
            "{:<28} {} of {} rounds count: the processors moved",
            "",
            rounds.len(),
            options.rounds
        );
    }
    Ok(())
}

fn sorted(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_by(f64::total_cmp);
    values
}

fn middle(values: &[f64]) -> f64 {
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}
