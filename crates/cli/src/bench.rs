//! `mgn bench`.

use std::fs::OpenOptions;
use std::path::Path;
use std::rc::Rc;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{bail, Context};
use indicatif::{ProgressBar, ProgressStyle};
use mgn_bench::net::peers::PeerPrograms;
use mgn_bench::plan::{BenchOptions, Experiment};
use mgn_bench::record::{Head, SCHEMA, VERSION};
use mgn_bench::store::{self, Store};
use mgn_bench::suite::Suite;
use mgn_bench::{child, compare, machine, report, runner, suites, table};
use mgn_fabric::endpoint::Settings;

use crate::args::{Bench, BenchCommand, BenchCompare, BenchReport};
use crate::output::print;

pub fn bench(bench: Bench) -> anyhow::Result<()> {
    if let Some(command) = bench.command {
        return match command {
            BenchCommand::Report(report) => page(&report),
            BenchCommand::Compare(compare) => compare_runs(&compare),
        };
    }
    measure(bench)
}

fn page(report: &BenchReport) -> anyhow::Result<()> {
    let record = store::load(&report.run)?;
    let folder = match report.run.is_dir() {
        true => &report.run,
        false => report.run.parent().unwrap_or(Path::new("")),
    };
    let output = match &report.output {
        Some(output) => output.clone(),
        None => folder.join("report.html"),
    };
    std::fs::write(&output, report::page(&record))
        .with_context(|| format!("cannot write {}", output.display()))?;
    print(&format!("{}\n", output.display()))
}

fn compare_runs(runs: &BenchCompare) -> anyhow::Result<()> {
    let comparison = compare::compare(&store::load(&runs.a)?, &store::load(&runs.b)?);
    match runs.json {
        true => print(&(serde_json::to_string_pretty(&comparison)? + "\n")),
        false => print(&compare::lines(&comparison)),
    }
}

fn measure(bench: Bench) -> anyhow::Result<()> {
    for setting in &bench.settings {
        // This process has no other threads yet, and passes the variable on to all processes that
        // it starts.
        let (name, value) = Settings::variable(setting)?;
        std::env::set_var(name, value);
    }
    let iterations = bench.iterations;
    let options = BenchOptions {
        is_quick: bench.quick,
        iterations: iterations.unwrap_or(if bench.quick { 1_000 } else { 10_000 }),
        program: bench.program,
        mgn: std::env::current_exe().context("cannot find this program's own file")?,
        peers: Rc::new(PeerPrograms::new(bench.dir.join("programs"))),
    };
    let suites = match &bench.suites[..] {
        [] => &Suite::DEFAULT,
        suites => suites,
    };
    let mut experiments = Vec::new();
    for suite in suites {
        let planned = suites::plan(*suite, &options);
        experiments
            .extend(planned.with_context(|| format!("{} cannot be measured", suite.name()))?);
    }
    if let Some(only) = &bench.only {
        experiments.retain(|experiment| experiment.key.contains(only.as_str()));
        if experiments.is_empty() {
            bail!("no experiment's name contains {only:?}");
        }
    }
    for path in bench.json.iter().chain(&bench.csv) {
        let file = OpenOptions::new().append(true).create(true).open(path);
        file.with_context(|| format!("cannot write {}", path.display()))?;
    }
    let mut store = Store::open(&bench.dir, head(&options)?, bench.fresh)?;
    child::handle_signals()?;
    let known = |store: &Store, experiment: &Experiment| store.has(&experiment.key);
    let (done, left): (Vec<_>, Vec<_>) = experiments
        .into_iter()
        .partition(|experiment| known(&store, experiment));
    for outcome in &store.record.outcomes {
        if done.iter().any(|experiment| experiment.key == outcome.key) {
            print(&table::lines(outcome))?;
        }
    }
    let bar = ProgressBar::new(left.len() as u64);
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {elapsed_precise}  {wide_msg}");
    bar.set_style(style.context("a bar's template")?);
    bar.enable_steady_tick(std::time::Duration::from_millis(500));
    // Each experiment is dropped after its measurement. This ends all processes that it has
    // started.
    for mut experiment in left {
        let key = experiment.key.clone();
        let outcome = runner::measure(&mut experiment, |round, method| {
            bar.set_message(format!("{key}: {method}, round {}", round + 1));
        });
        let Some(outcome) = outcome else {
            bar.finish_and_clear();
            bail!("interrupted; run the same command again to continue");
        };
        bar.suspend(|| print(&table::lines(&outcome)))?;
        bar.inc(1);
        store.add(outcome)?;
    }
    bar.finish_and_clear();
    let write = |path: &Path, text: String| {
        std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
    };
    if let Some(path) = &bench.json {
        write(path, store::json(&store.record)?)?;
    }
    if let Some(path) = &bench.csv {
        write(path, store::csv(&store.record)?)?;
    }
    let record = &store.record;
    for words in [record.precision_summary(), record.goal_summary()]
        .into_iter()
        .flatten()
    {
        print(&format!("\n{words}\n"))?;
    }
    print(&format!(
        "\nAll of it is in {}; mgn bench report {} makes a page of it.\n",
        bench.dir.display(),
        bench.dir.display()
    ))
}

fn head(options: &BenchOptions) -> anyhow::Result<Head> {
    let words: Vec<String> = std::env::args().collect();
    Ok(Head {
        schema: SCHEMA.to_string(),
        version: VERSION,
        is_quick: options.is_quick,
        command: std::iter::once("mgn".to_string())
            .chain(words.into_iter().skip(1))
            .collect::<Vec<_>>()
            .join(" "),
        began: SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs(),
        machine: machine::describe(&options.mgn),
    })
}
