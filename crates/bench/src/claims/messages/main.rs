//! `mgn-bench-messages`: messages between processes, by Manganese and by other libraries.
//!
//! Most rows measure one quantity between two processes, by several methods. A round runs each
//! method once, one after the other, pinned to two processors. Virtual processors move. So before
//! and after each run, a probe measures the time in which a cache line passes between the
//! processors. A run is repeated if this changed from near (below 150 ns) to far or back, or if it
//! differs from the other runs of its round. Rows distinguish near and far. Ratios are computed for
//! each round. Other rows measure the throughput and the fairness of many processes and many links.
#![forbid(unsafe_code)]

mod crowd;
mod report;
mod rows;

use std::path::PathBuf;
use std::rc::Rc;

use anyhow::{Context, Result};
use clap::Parser;
use serde_json::json;

use mgn_bench::net::endpoint::settings_in_words;
use mgn_bench::net::measure;
use mgn_bench::net::message_layer::MessageLayer;
use mgn_bench::net::peers::PeerPrograms;
use mgn_bench::probe::{self, NEAR_NS};
use mgn_bench::Part;
use report::{Measured, Run};
use rows::{Method, NamedMethod, Row};

#[derive(Parser)]
struct Options {
    #[command(subcommand)]
    command: Option<Command>,
    /// Rounds of every row
    #[arg(short = 'n', long, default_value_t = 3)]
    rounds: usize,
    /// Seconds of every run
    #[arg(long, default_value_t = 0.3)]
    seconds: f64,
    /// Only rows whose name contains this
    #[arg(long)]
    only: Option<String>,
    /// Only see that every row of ours runs; the figures say nothing
    #[arg(long)]
    quick: bool,
    /// Also write everything measured to this file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

#[derive(clap::Subcommand)]
enum Command {
    #[command(subcommand, hide = true)]
    BenchPart(Part),
}

fn main() -> Result<()> {
    let mut options = Options::parse();
    if let Some(Command::BenchPart(part)) = &options.command {
        return part.run();
    }
    if options.quick {
        (options.rounds, options.seconds) = (1, 0.004);
    }
    if let Some(settings) = settings_in_words() {
        println!("{settings}");
    }
    println!("{}", report::HEADINGS);
    let mut results = Vec::new();
    let folder = tempfile::tempdir()?;
    let peers = Rc::new(PeerPrograms::new(folder.path().to_path_buf()));
    let rows = rows::all();
    let mut methods: Vec<NamedMethod> = rows.iter().flat_map(|row| row.methods).copied().collect();
    methods.sort_by_key(|(name, _)| *name);
    methods.dedup_by_key(|(name, _)| *name);
    for (name, method) in methods {
        if !options.quick && !is_there(&method.layer(&peers), &options) {
            println!("{name} is skipped: what it needs is not installed");
        }
    }
    let is_wanted = |name: &str| options.only.as_ref().is_none_or(|only| name.contains(only));
    for row in rows.iter().filter(|row| is_wanted(row.name)) {
        let measured =
            run(row, &peers, &options).with_context(|| format!("{} failed", row.name))?;
        for part in &measured {
            print!("{}", part.lines());
            results.extend(part.json().as_array().cloned().unwrap_or_default());
        }
    }
    mgn_bench::net::crowd::raise_limits()?;
    for crowd in crowd::all(options.quick) {
        if is_wanted(crowd.name) {
            let measured = crowd.measure(options.quick);
            let measured = measured.with_context(|| format!("{} failed", crowd.name))?;
            print!("{}", measured.lines());
            results.push(measured.json());
        }
    }
    if let Some(path) = &options.json {
        let text = format!("{:#}\n", json!({ "version": 1, "rows": results }));
        std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

/// Whether a method can be measured on this machine.
fn is_there(layer: &MessageLayer, options: &Options) -> bool {
    match layer {
        MessageLayer::Ours(_) | MessageLayer::Raw(_) => true,
        _ => !options.quick && layer.missing().is_none(),
    }
}

/// The number of runs of a method in a round, until one can be compared with the others.
const TRIES: usize = 3;

/// Measures a row. Returns the rounds that count, near and far.
fn run<'a>(row: &'a Row, peers: &Rc<PeerPrograms>, options: &Options) -> Result<Vec<Measured<'a>>> {
    let there = |method: &Method| is_there(&method.layer(peers), options);
    let methods = row.methods.iter().filter(|(_, method)| there(method));
    let methods: Vec<NamedMethod> = methods.copied().collect();
    let (mut near, mut far) = (Vec::new(), Vec::new());
    for _ in 0..options.rounds {
        let mut round: Vec<Run> = Vec::new();
        for (_, method) in &methods {
            // If the processors move all the time, the round is lost.
            for _ in 0..TRIES {
                let run = once(row, &method.layer(peers), options)?;
                let first = round.first().map_or(run.line, |first| first.line);
                let is_alike = run.line.is_finite() && (run.line < NEAR_NS) == (first < NEAR_NS);
                if is_alike || options.quick {
                    round.push(run);
                    break;
                }
            }
        }
        if round.len() == methods.len() {
            match round[0].line < NEAR_NS {
                true => near.push(round),
                false => far.push(round),
            }
        }
    }
    let lost = options.rounds - near.len() - far.len();
    if lost > 0 {
        println!("{}: the processors moved in {lost} rounds", row.name);
    }
    let parts = [near, far].into_iter().filter(|rounds| !rounds.is_empty());
    let parts = parts.map(|rounds| Measured {
        row,
        methods: methods.clone(),
        rounds,
    });
    Ok(parts.collect())
}

/// One run. Its cache line time is infinite if the processors moved during the run.
fn once(row: &Row, layer: &MessageLayer, options: &Options) -> Result<Run> {
    let (test, size) = (row.test, row.size);
    let mut seconds = options.seconds;
    if test == measure::Test::Overlap {
        seconds *= 2.0;
    }
    let before = probe::cache_line_ns();
    let sample = layer.run(test, &[size], seconds)?.remove(0);
    let after = probe::cache_line_ns();
    let is_steady = (before < NEAR_NS) == (after < NEAR_NS);
    Ok(Run {
        values: test.values(size, &sample),
        cpu: sample.cpu,
        line: match is_steady {
            true => (before + after) / 2.0,
            false => f64::INFINITY,
        },
    })
}
