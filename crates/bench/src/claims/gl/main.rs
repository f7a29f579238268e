//! `mgn-bench`: the speed of programs through Manganese, as a ratio to the local driver.
//!
//! Each row compares two or more modes of running one program. A round runs each mode once, one
//! after the other, and gives one ratio for each. The row shows the median of the ratios over all
//! rounds, and their range, because machines drift during measurements. It also shows the CPU
//! seconds of the program and of the server.
#![forbid(unsafe_code)]

mod report;
mod rows;

use anyhow::{Context, Result};
use clap::Parser;
use mgn_bench::gl::run::Servers;
use std::path::PathBuf;

#[derive(Parser)]
struct Options {
    /// Where `mgn`, `demos/` and `bench/` are
    #[arg(long, default_value = "target")]
    target: PathBuf,
    /// The profile that `mgn` was built with
    #[arg(long, default_value = "release")]
    profile: String,
    /// Rounds of every row
    #[arg(short = 'n', long, default_value_t = 5)]
    rounds: usize,
    /// Only rows whose name contains this
    #[arg(long)]
    only: Option<String>,
    /// Also write everything measured to this file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

fn main() -> Result<()> {
    let options = Options::parse();
    let servers = Servers::start(&options.target, &options.profile)?;
    let mut results = Vec::new();
    println!("{}", report::HEADINGS);
    for row in rows::all() {
        if options
            .only
            .as_ref()
            .is_some_and(|only| !row.name.contains(only.as_str()))
        {
            continue;
        }
        let name = row.name;
        if let Some(missing) = row.missing() {
            println!("{name:<28} skipped, since this fails here: {missing}");
            continue;
        }
        let result = row
            .measure(&servers, options.rounds)
            .with_context(|| format!("{name} failed"))?;
        print!("{}", report::lines(&result));
        results.push(result);
    }
    if let Some(path) = options.json {
        std::fs::write(&path, report::json(&results))
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}
