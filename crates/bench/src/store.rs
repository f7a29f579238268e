//! The results file of a run: JSON lines, one for each experiment. So an interrupted run can
//! continue.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{bail, Context, Result};
use rustix::fs::{flock, FlockOperation};
use rustix::io::Errno;
use serde_json::Value;

use crate::compare::differences;
use crate::record::{Head, Outcome, Record, Series, READABLE, SCHEMA, VERSION};

/// The name of the results file in the folder of a run.
pub const FILE: &str = "results.jsonl";

pub struct Store {
    path: PathBuf,
    file: File,
    pub record: Record,
}

impl Store {
    /// Continues the run in a folder, or begins a new run if there is none or if `is_fresh`. The
    /// file is locked until this is dropped.
    pub fn open(folder: &Path, head: Head, is_fresh: bool) -> Result<Store> {
        let path = folder.join(FILE);
        fs::create_dir_all(folder)
            .with_context(|| format!("cannot make the folder {}", folder.display()))?;
        let writing = || format!("cannot write {}", path.display());
        let mut options = OpenOptions::new();
        let file = options.read(true).append(true).create(true).open(&path);
        let mut file = file.with_context(writing)?;
        if let Err(Errno::WOULDBLOCK) = flock(&file, FlockOperation::NonBlockingLockExclusive) {
            bail!(
                "another mgn bench is writing {}: choose another --dir, or wait for it",
                path.display()
            );
        }
        let mut text = String::new();
        if !is_fresh {
            file.read_to_string(&mut text)
                .with_context(|| format!("cannot read {}", path.display()))?;
        }
        if text.is_empty() {
            let line = serde_json::to_string(&head)? + "\n";
            file.set_len(0)
                .and_then(|()| file.write_all(line.as_bytes()))
                .with_context(writing)?;
            let outcomes = Vec::new();
            let record = Record { head, outcomes };
            return Ok(Store { path, file, record });
        }
        let record = grown(&text).with_context(|| path.display().to_string())?;
        is_same(&record.head, &head).with_context(|| path.display().to_string())?;
        // If an interruption has cut off the last line, its experiment is measured again.
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        file.set_len(whole as u64).with_context(writing)?;
        Ok(Store { path, file, record })
    }

    pub fn has(&self, key: &str) -> bool {
        self.record
            .outcomes
            .iter()
            .any(|outcome| outcome.key == key)
    }

    pub fn add(&mut self, outcome: Outcome) -> Result<()> {
        let line = serde_json::to_string(&outcome)? + "\n";
        self.file
            .write_all(line.as_bytes())
            .and_then(|()| self.file.sync_data())
            .with_context(|| format!("cannot write {}", self.path.display()))?;
        self.record.outcomes.push(outcome);
        Ok(())
    }
}

/// Refuses to continue a run that was measured under other conditions.
fn is_same(there: &Head, here: &Head) -> Result<()> {
    let differences = differences(there, here);
    if differences.is_empty() {
        return Ok(());
    }
    bail!(
        "the results in this folder were measured under other conditions ({}): choose another --dir, or discard them with --fresh",
        differences.join("; ")
    )
}

/// Reads a run. `path` is the run's folder, the results file in it, or a file that `--json` wrote.
pub fn load(path: &Path) -> Result<Record> {
    let file = match path.is_dir() {
        true => path.join(FILE),
        false => path.to_path_buf(),
    };
    let text =
        fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
    let record = match serde_json::from_str::<Value>(&text) {
        Ok(value) if value.get("outcomes").is_some() => {
            check(&value).and_then(|()| Ok(serde_json::from_value(value)?))
        }
        _ => grown(&text),
    };
    record.with_context(|| file.display().to_string())
}

/// Parses the lines. An incomplete last line is ignored.
fn grown(text: &str) -> Result<Record> {
    let mut lines = text
        .split_inclusive('\n')
        .filter(|line| line.ends_with('\n'));
    let first = lines.next().unwrap_or_default();
    let Ok(value) = serde_json::from_str::<Value>(first) else {
        bail!("this file was not written by mgn bench");
    };
    check(&value)?;
    let head = serde_json::from_value(value).context("its first line is damaged")?;
    let outcomes: Result<Vec<Outcome>> = lines
        .enumerate()
        .map(|(at, line)| {
            serde_json::from_str(line).with_context(|| format!("its line {} is damaged", at + 2))
        })
        .collect();
    Ok(Record {
        head,
        outcomes: outcomes?,
    })
}

fn check(value: &Value) -> Result<()> {
    if value.get("schema").and_then(Value::as_str) != Some(SCHEMA) {
        bail!("this file was not written by mgn bench");
    }
    match value.get("version").and_then(Value::as_u64) {
        Some(version) if is_readable(version) => Ok(()),
        Some(version) => bail!(
            "this is version {version} of the schema, and this mgn reads versions {} to {VERSION}: \
             use the mgn that wrote it, or measure again",
            READABLE.start()
        ),
        None => bail!("it does not say which version of the schema it is"),
    }
}

fn is_readable(version: u64) -> bool {
    u32::try_from(version).is_ok_and(|version| READABLE.contains(&version))
}

/// The contents of the JSON file.
pub fn json(record: &Record) -> Result<String> {
    Ok(serde_json::to_string_pretty(record)? + "\n")
}

/// The contents of the CSV file: a line for each point, and for each method without points.
pub fn csv(record: &Record) -> Result<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record([
        "version",
        "suite",
        "experiment",
        "plot",
        "method",
        "kind",
        "x",
        "x_unit",
        "place",
        "state",
        "value",
        "low",
        "high",
        "unit",
        "better",
        "rounds",
        "p50",
        "p90",
        "p99",
        "p999",
        "most",
        "cpu_here",
        "cpu_there",
        "note",
    ])?;
    let lower = |value: serde_json::Result<Value>| -> Result<String> {
        Ok(value?.as_str().unwrap_or_default().to_string())
    };
    for outcome in &record.outcomes {
        for series in &outcome.series {
            let Some(plot) = outcome.plots.iter().find(|plot| plot.id == series.plot) else {
                continue;
            };
            let Series {
                name, kind, note, ..
            } = series;
            let head = [
                VERSION.to_string(),
                outcome.suite.name(),
                outcome.key.clone(),
                plot.id.clone(),
                name.clone(),
                lower(serde_json::to_value(kind))?,
            ];
            let note = note.clone().unwrap_or_default();
            for point in &series.points {
                let optional = |value: Option<f64>| value.map_or(String::new(), |v| v.to_string());
                let percentiles = point.percentiles.map_or([None; 5], |all| all.all());
                let [p50, p90, p99, p999, most] = percentiles.map(optional);
                let point = [
                    point.x.to_string(),
                    plot.x.unit.clone(),
                    lower(serde_json::to_value(point.distance))?,
                    lower(serde_json::to_value(point.state))?,
                    point.value.to_string(),
                    point.low.to_string(),
                    point.high.to_string(),
                    plot.y.unit.clone(),
                    lower(serde_json::to_value(plot.better))?,
                    point.values.len().to_string(),
                    p50,
                    p90,
                    p99,
                    p999,
                    most,
                    optional(point.cpu.map(|cpu| cpu[0])),
                    optional(point.cpu.map(|cpu| cpu[1])),
                    note.clone(),
                ];
                writer.write_record(head.iter().chain(&point))?;
            }
            if series.points.is_empty() {
                let empty = vec![String::new(); 17];
                writer.write_record(head.iter().chain(&empty).chain([&note]))?;
            }
        }
    }
    Ok(String::from_utf8(writer.into_inner()?)?)
}
