//! The command line of `mgn bench`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use mgn_bench::suite::Suite;

/// Measure this machine's communication and rendering, in comparison with other installed software.
///
/// Without a suite, the command runs all suites but `programs` and `crowd`, in about 70 minutes.
/// `programs` takes half an hour, and `crowd` ten minutes. Nothing else should run during that
/// time. Results are saved in a folder as they are measured; to continue an interrupted
/// run, give the same command again. `mgn bench report` makes a page of a run, and `mgn bench
/// compare` compares two runs.
///
/// Some suites state goals, such as a share of the speed of direct rendering. Tables and the page
/// show for each goal what was measured, and whether it is reached.
///
/// Each number has the interval in which its median lies. `unresolved` means that fewer than five
/// rounds counted, `noisy` that the rounds disagree too much for a meaningful number.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Bench {
    #[command(subcommand)]
    pub command: Option<BenchCommand>,

    /// Suites to run
    #[arg(value_enum)]
    pub suites: Vec<Suite>,

    /// Measure fewer sizes in fewer rounds: without a suite, in two minutes
    #[arg(long)]
    pub quick: bool,

    /// Save the results in folder DIR
    #[arg(long, value_name = "DIR", default_value = "mgn-bench")]
    pub dir: PathBuf,

    /// Discard results of an earlier run in the folder
    #[arg(long)]
    pub fresh: bool,

    /// Run only experiments whose name contains TEXT
    #[arg(long, value_name = "TEXT")]
    pub only: Option<String>,

    /// Also write all results to FILE as JSON
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,

    /// Also write all results to FILE as CSV
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,

    /// Measure endpoints with this setting, instead of the one that `mgn tune` has found
    ///
    /// Example: --set eager_shm=16K. May be repeated.
    #[arg(long = "set", value_name = "SETTING=VALUE")]
    pub settings: Vec<String>,

    /// Number of one-millisecond loops that `noise` runs on each processor
    ///
    /// [default: 10000, with --quick 1000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(10..=10_000_000))]
    pub iterations: Option<u64>,

    /// Program that `gl` and `link` draw, instead of iso_demo
    #[arg(last = true, value_name = "PROGRAM")]
    pub program: Vec<OsString>,
}

#[derive(Debug, Subcommand)]
pub enum BenchCommand {
    Report(BenchReport),
    Compare(BenchCompare),
}

/// Make an HTML page of the results of a run
///
/// The page is one file without scripts, and it loads nothing else. It has plots, tables of every
/// value with its interval, the command for each value, a list of what could not be measured and
/// why, and published values of the same quantities.
#[derive(Debug, Args)]
pub struct BenchReport {
    /// Folder of a run, or the file that --json wrote
    #[arg(value_name = "DIR")]
    pub run: PathBuf,

    /// Write the page to FILE
    ///
    /// [default: report.html in the folder]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Show what changed between two runs
///
/// A number counts as changed if the intervals of the two runs do not overlap and the medians
/// differ by more than 5 %. Numbers that are unresolved or noisy in either run cannot be compared.
/// The exit status does not depend on changes.
#[derive(Debug, Args)]
pub struct BenchCompare {
    /// Folder of a run, or the file that --json wrote
    pub a: PathBuf,

    /// Folder or file of a later run
    pub b: PathBuf,

    /// Print JSON
    #[arg(long)]
    pub json: bool,
}
