//! The files of a run.

mod sample;

use std::fs;
use std::path::PathBuf;

use mgn_bench::compare::compare;
use mgn_bench::record::{Better, Fold, Head, State};
use mgn_bench::store::{self, json, load, Store, FILE};
use sample::{head, point, record, small};
use serde_json::Value;

/// A folder that is removed when this is dropped.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let name = format!("mgn-bench-store-{name}-{}", std::process::id());
        Folder(std::env::temp_dir().join(name))
    }

    fn file(&self) -> PathBuf {
        self.0.join(FILE)
    }

    /// A run with all experiments.
    fn filled(name: &str) -> Folder {
        let folder = Folder::new(name);
        let mut store = Store::open(&folder.0, head(), false).unwrap();
        for outcome in record().outcomes {
            store.add(outcome).unwrap();
        }
        folder
    }

    fn refusal(&self, head: Head) -> String {
        format!("{:#}", Store::open(&self.0, head, false).err().unwrap())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_written_run_can_be_read() {
    let folder = Folder::filled("again");
    let whole = json(&record()).unwrap();
    assert!(json(&load(&folder.0).unwrap()).unwrap() == whole);
    assert!(json(&load(&folder.file()).unwrap()).unwrap() == whole);
    let other = folder.0.join("run.json");
    fs::write(&other, &whole).unwrap();
    assert!(json(&load(&other).unwrap()).unwrap() == whole);
}

#[test]
fn a_line_that_was_cut_off_is_measured_again() {
    let folder = Folder::filled("cut");
    let text = fs::read_to_string(folder.file()).unwrap();
    let last = record().outcomes.pop().unwrap();
    for cut in [1, 40] {
        fs::write(folder.file(), &text[..text.len() - cut]).unwrap();
        assert_eq!(
            load(&folder.0).unwrap().outcomes.len(),
            record().outcomes.len() - 1
        );
        let mut store = Store::open(&folder.0, head(), false).unwrap();
        assert!(!store.has(&last.key) && store.has("net latency"));
        store.add(last.clone()).unwrap();
        assert_eq!(fs::read_to_string(folder.file()).unwrap(), text);
    }
}

#[test]
fn a_run_goes_on_only_where_it_began() {
    let folder = Folder::filled("elsewhere");
    let refusal = |change: fn(&mut Head)| {
        let mut other = head();
        change(&mut other);
        folder.refusal(other)
    };
    for (change, words) in [
        (
            (|head| head.machine.host = "elsewhere".to_string()) as fn(&mut Head),
            "host: synthetic and elsewhere",
        ),
        (
            |head| head.machine.versions[0].1 = "0.2.0".to_string(),
            "Manganese: 0.1.0 and 0.2.0",
        ),
        (
            |head| head.machine.build = "debug".to_string(),
            "build: release and debug",
        ),
        (
            |head| head.machine.settings[0].1 = "32768".to_string(),
            "eager_shm: 16384 and 32768",
        ),
        (|head| head.is_quick = true, "full and --quick"),
    ] {
        let refusal = refusal(change);
        assert!(
            refusal.contains(words) && refusal.contains("--fresh"),
            "{refusal}"
        );
    }
    // A run may continue with a different command.
    let command = "mgn bench noise".to_string();
    assert!(Store::open(&folder.0, Head { command, ..head() }, false).is_ok());
}

#[test]
fn files_of_version_2_are_read() {
    let folder = Folder::filled("old");
    let mut lines: Vec<Value> = fs::read_to_string(folder.file())
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    lines[0]["version"] = 2.into();
    for outcome in &mut lines[1..] {
        assert!(outcome.as_object_mut().unwrap().remove("goals").is_some());
    }
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    fs::write(folder.file(), text).unwrap();
    let old = load(&folder.0).unwrap();
    assert_eq!(old.outcomes.len(), record().outcomes.len());
    assert!(old.outcomes.iter().all(|outcome| outcome.goals.is_empty()));
    // The old run can be continued, and compared with a new one.
    assert!(Store::open(&folder.0, head(), false).is_ok());
    let comparison = compare(&old, &record());
    assert!(comparison.changes.is_empty() && comparison.unchanged > 0);
}

#[test]
fn unreadable_files_are_reported() {
    let folder = Folder::filled("damaged");
    let text = fs::read_to_string(folder.file()).unwrap();
    let said = |text: &str| {
        fs::write(folder.file(), text).unwrap();
        format!("{:#}", load(&folder.0).err().unwrap())
    };
    let later = text.replacen("\"version\":3", "\"version\":9", 1);
    let error = said(&later);
    assert!(
        error.contains("version 9") && error.contains("versions 2 to 3"),
        "{error}"
    );
    assert!(error.contains(FILE), "{error}");
    let damaged = text.replacen("\n{\"suite\"", "\n{\"sweet\"", 1);
    assert!(said(&damaged).contains("line 2 is damaged"));
    assert!(said("hello\n").contains("not written by mgn bench"));
    assert!(said("{\"schema\":\"manganese bench\"}\n").contains("which version"));
    assert!(said("").contains("not written by mgn bench"));
    fs::write(folder.file(), &later).unwrap();
    assert!(folder.refusal(head()).contains("version 9"));
    fs::remove_file(folder.file()).unwrap();
    assert!(format!("{:#}", load(&folder.0).err().unwrap()).contains("cannot read"));
}

#[test]
fn csv_has_a_line_for_each_point_and_each_method_without_one() {
    let record = record();
    let text = store::csv(&record).unwrap();
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let columns = reader.headers().unwrap().len();
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let series = record.outcomes.iter().flat_map(|outcome| &outcome.series);
    let wanted: usize = series.map(|line| line.points.len().max(1)).sum();
    assert_eq!(rows.len(), wanted);
    assert!(rows.iter().all(|row| row.len() == columns));
    let small = store::csv(&small(Better::Less, vec![point(8.0, 10.0, 0.5)])).unwrap();
    let row = small.lines().nth(1).unwrap();
    assert_eq!(
        row,
        "3,noise,latency,latency,shm,ours,8,B,any,resolved,10,5,15,us,less,7,,,,,,,,"
    );
}

#[test]
fn two_do_not_write_one_run() {
    let folder = Folder::new("two");
    let store = Store::open(&folder.0, head(), false).unwrap();
    for is_fresh in [false, true] {
        let refused = Store::open(&folder.0, head(), is_fresh).err().unwrap();
        assert!(
            refused.to_string().contains("another mgn bench"),
            "{refused}"
        );
    }
    drop(store);
    assert!(Store::open(&folder.0, head(), false).is_ok());
}

#[test]
fn a_fresh_run_forgets_the_earlier_one() {
    let folder = Folder::filled("fresh");
    // The second text is no run at all.
    for text in [
        fs::read_to_string(folder.file()).unwrap(),
        "hello\n".to_string(),
    ] {
        fs::write(folder.file(), text).unwrap();
        let store = Store::open(&folder.0, head(), true).unwrap();
        assert!(store.record.outcomes.is_empty());
        assert_eq!(
            fs::read_to_string(folder.file()).unwrap().lines().count(),
            1
        );
    }
}

#[test]
fn precision_is_summarized() {
    let mut points: Vec<_> = [0.1, 0.15, 0.2, 0.01]
        .iter()
        .zip(1..)
        .map(|(width, x)| point(f64::from(x), 10.0, *width))
        .collect();
    points[3].state = State::Noisy;
    let mut record = small(Better::Less, points);
    assert_eq!(
        record.precision_summary().unwrap(),
        "3 of 4 numbers are resolved; of those 66 % lie in an interval that is no wider than 15 % to either side"
    );
    assert!(mgn_bench::report::page(&record).contains("of those 66 %"));
    record.outcomes[0].plots[0].fold = Fold::Sum;
    assert_eq!(record.precision_summary(), None);
}
