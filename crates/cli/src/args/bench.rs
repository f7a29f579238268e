//! The command line of `mgn bench`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use mgn_bench::suites::Suite;

/// Measure what this machine's communication and rendering can do, beside what else is installed.
///
/// Without a suite all of them are run, in less than a quarter of an hour, during which nothing else should run. What is measured is kept in a folder as it
/// comes: a run that was interrupted goes on when the same command is given again. `mgn bench report` makes a page of it, `mgn bench compare` tells two
/// runs apart. Numbers come with the interval in which the median lies; `unresolved` stands where fewer than five rounds counted, `noisy` where they
/// disagree too much for any number to mean something.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Bench {
    #[command(subcommand)]
    pub command: Option<BenchCommand>,

    /// What to measure
    #[arg(value_enum)]
    pub suites: Vec<Suite>,

    /// Everything in a minute and a half: fewer sizes, fewer rounds
    #[arg(long)]
    pub quick: bool,

    /// The folder that keeps what is measured
    #[arg(long, value_name = "DIR", default_value = "mgn-bench")]
    pub dir: PathBuf,

    /// Forget what the folder holds of an earlier run
    #[arg(long)]
    pub fresh: bool,

    /// Only experiments whose name contains this
    #[arg(long, value_name = "TEXT")]
    pub only: Option<String>,

    /// Also write everything as JSON
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,

    /// Also write everything as CSV
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,

    /// Measure endpoints with a setting of their own, as eager_shm=16K, in place of what `mgn tune` has found; may be repeated
    #[arg(long = "set", value_name = "SETTING=VALUE")]
    pub settings: Vec<String>,

    /// How often `noise` runs its loop of a millisecond on each processor [default: 10000, with --quick 1000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(10..=10_000_000))]
    pub iterations: Option<u64>,

    /// The program that `gl` and `link` draw, instead of iso_demo
    #[arg(last = true, value_name = "PROGRAM")]
    pub program: Vec<OsString>,
}

#[derive(Debug, Subcommand)]
pub enum BenchCommand {
    Report(BenchReport),
    Compare(BenchCompare),
}

/// Make a page of what was measured
///
/// One HTML file, which fetches nothing and runs no scripts: plots, tables of every value with its interval, the command for each of them, what could not be
/// measured and why, and what papers say of the same quantities.
#[derive(Debug, Args)]
pub struct BenchReport {
    /// The folder of a run, or the file that --json wrote
    #[arg(value_name = "DIR")]
    pub run: PathBuf,

    /// The page [default: report.html in the folder]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Tell what changed between two runs
///
/// A number has changed if the intervals of both runs lie apart and the medians differ by more than 5 %. What was unresolved or noisy in either of them
/// cannot be told. The exit status says nothing of changes.
#[derive(Debug, Args)]
pub struct BenchCompare {
    /// The folder of a run, or the file that --json wrote
    pub a: PathBuf,

    /// Another one, measured later
    pub b: PathBuf,

    /// As JSON
    #[arg(long)]
    pub json: bool,
}
