//! `mgn bench` without drawing: its files, how it continues, and failures.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

/// A separate folder for a test, with an empty folder for programs.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path =
            std::env::temp_dir().join(format!("mgn-cli-bench-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(path.join("bin")).unwrap();
        Folder(path)
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Writes an executable program.
    fn program(&self, name: &str, text: &str) {
        let path = self.at("bin").join(name);
        fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// The command for a run into the folder `run`, as on a machine without other libraries.
    fn bench(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mgn"));
        command
            .arg("bench")
            .args(arguments)
            .arg("--dir")
            .arg(self.at("run"))
            .env("PATH", self.at("bin"))
            .stdin(Stdio::null());
        command
    }

    fn succeeds(&self, arguments: &[&str]) -> String {
        let output = self.bench(arguments).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {said}");
        String::from_utf8(output.stdout).unwrap()
    }

    #[track_caller]
    fn refuses(&self, arguments: &[&str], words: &[&str]) {
        is_refused(&self.bench(arguments).output().unwrap(), words);
    }

    fn results(&self) -> String {
        fs::read_to_string(self.at("run/results.jsonl")).unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[track_caller]
fn is_refused(output: &Output, words: &[&str]) {
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    for word in words {
        assert!(said.contains(word), "{said}: no {word}");
    }
}

fn read(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn settings_are_tried() {
    let folder = Folder::new("settings");
    let json = folder.at("json");
    let noise = ["noise", "--quick", "--iterations", "10", "--json"];
    let noise = [&noise[..], &[json.to_str().unwrap()]].concat();
    folder.succeeds(&[&noise[..], &["--set", "eager_shm=9K"]].concat());
    let record = read(&json);
    let mut settings = record["machine"]["settings"].as_array().unwrap().iter();
    let eager = settings.find(|setting| setting[0] == "eager_shm").unwrap();
    assert_eq!(eager[1], "9216");
    // A run cannot be continued with other options.
    folder.refuses(&noise, &["eager_shm"]);
    folder.refuses(&["--set", "eager=9K"], &["\"eager\"", "eager_shm"]);
    folder.refuses(&["--set", "chunks=few"], &["chunks", "not a number"]);
}

#[test]
fn a_run_is_written_down_and_not_made_twice() {
    let folder = Folder::new("files");
    let (json, csv) = (folder.at("json"), folder.at("csv"));
    let files = [
        "--json",
        json.to_str().unwrap(),
        "--csv",
        csv.to_str().unwrap(),
    ];
    let noise = ["noise", "--quick", "--iterations", "100"];
    let table = folder.succeeds(&[&noise[..], &files].concat());
    assert!(table.contains("time lost (%), by processor"), "{table}");
    let record = read(&json);
    assert_eq!(record["schema"], "manganese bench");
    let machine = &record["machine"];
    assert_eq!(machine["versions"][0][0], "Manganese");
    assert!(machine["build"].is_string() && machine["settings"].is_array());
    assert!(table.contains("numbers are resolved"), "{table}");
    let outcome = &record["outcomes"][0];
    let of_plot = |id: &str| {
        let series = outcome["series"].as_array().unwrap().iter();
        series
            .filter(move |one| one["plot"] == id)
            .cloned()
            .collect::<Vec<_>>()
    };
    let processors = thread::available_parallelism().unwrap().get();
    let histogram = of_plot("noise-histogram");
    assert_eq!(histogram.len(), processors);
    for processor in histogram {
        let points = processor["points"].as_array().unwrap().iter();
        let counted: f64 = points.map(|point| point["value"].as_f64().unwrap()).sum();
        assert_eq!(counted, 100.0, "every iteration is counted once");
    }
    let text = fs::read_to_string(&csv).unwrap();
    assert!(text
        .lines()
        .next()
        .unwrap()
        .starts_with("version,suite,experiment,plot,method"));
    for part in ["noise-percentiles", "noise-histogram", "noise-share"] {
        assert!(text.contains(&format!(",{part},")), "{text}");
    }

    // The same command uses the saved results; another number of iterations is another experiment.
    let before = folder.results();
    assert_eq!(folder.succeeds(&noise), table);
    assert_eq!(folder.results(), before);
    folder.succeeds(&["noise", "--quick", "--iterations", "50"]);
    assert_eq!(folder.results().lines().count(), 3);

    folder.refuses(&["noise"], &["run/results.jsonl", "--quick", "--fresh"]);
    folder.refuses(
        &["noise", "--quick", "--only", "no such thing"],
        &["no such thing"],
    );
    let other = before.replacen("\"version\":3", "\"version\":9", 1);
    fs::write(folder.at("run/results.jsonl"), other).unwrap();
    folder.refuses(&noise, &["version 9", "versions 2 to 3"]);
    folder.succeeds(&[&noise[..], &["--fresh"]].concat());
    assert_eq!(folder.results().lines().count(), 2);
    fs::write(folder.at("run/results.jsonl"), "something else\n").unwrap();
    folder.refuses(&noise, &["not written by mgn bench"]);
}

#[test]
fn an_interrupted_run_goes_on() {
    let folder = Folder::new("interrupted");
    let arguments = ["noise", "memory", "--quick", "--iterations", "50"];
    let mut command = folder.bench(&arguments);
    let child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    let has_noise = || {
        let text = fs::read_to_string(folder.at("run/results.jsonl")).unwrap_or_default();
        text.matches('\n').count() == 2
    };
    while !has_noise() {
        assert!(
            begun.elapsed() < Duration::from_secs(120),
            "noise is measured"
        );
        thread::sleep(Duration::from_millis(20));
    }
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    let output = child.wait_with_output().unwrap();
    is_refused(&output, &["interrupted", "same command"]);
    let before = folder.results();
    assert_eq!(before.lines().count(), 2);
    folder.succeeds(&arguments);
    let after = folder.results();
    assert!(
        after.starts_with(&before) && after.lines().count() == 4,
        "{after}"
    );
}

#[test]
fn one_processor_limits_the_measurements() {
    let folder = Folder::new("one");
    let mut processors = rustix::thread::CpuSet::new();
    let mine = rustix::thread::sched_getaffinity(None).unwrap();
    let one = (0..rustix::thread::CpuSet::MAX_CPU).find(|at| mine.is_set(*at));
    processors.set(one.unwrap());
    // Children inherit the set of processors from their thread.
    let table = thread::spawn(move || {
        rustix::thread::sched_setaffinity(None, &processors).unwrap();
        folder.succeeds(&["net", "noise", "--quick", "--iterations", "20"])
    });
    let table = table.join().unwrap();
    assert!(
        table.contains("net: two processes must run at the same time"),
        "{table}"
    );
    assert!(table.contains("20 iterations on each processor"), "{table}");
}

#[test]
fn messages_are_measured_although_programs_are_missing_or_broken() {
    let folder = Folder::new("peers");
    folder.program("ucx_perftest", "echo it is broken >&2; exit 3");
    folder.program("mpicc.mpich", "echo no header >&2; exit 1");
    let json = folder.at("json");
    folder.succeeds(&[
        "net",
        "overlap",
        "pattern",
        "memory",
        "--quick",
        "--json",
        json.to_str().unwrap(),
    ]);
    let record = read(&json);
    let outcomes = record["outcomes"].as_array().unwrap();
    let keys: Vec<&str> = outcomes
        .iter()
        .map(|outcome| outcome["key"].as_str().unwrap())
        .collect();
    assert_eq!(
        keys,
        [
            "net latency memory",
            "net bandwidth memory",
            "net latency sockets",
            "net bandwidth sockets",
            "overlap memory",
            "overlap sockets",
            "pattern",
            "memory copies",
            "memory crossover",
        ]
    );
    let latency = outcomes[0]["series"].as_array().unwrap();
    let note = |name: &str| {
        let series = latency
            .iter()
            .find(|series| series["name"] == name)
            .unwrap();
        assert_eq!(series["points"], Value::Array(Vec::new()), "{name}");
        series["note"].as_str().unwrap().to_string()
    };
    assert!(
        note("Open MPI").contains("not installed"),
        "{}",
        note("Open MPI")
    );
    assert!(note("MPICH").contains("no header"), "{}", note("MPICH"));
    assert!(
        note("UCX tag").contains("it is broken"),
        "{}",
        note("UCX tag")
    );
    // If the machine was too busy for a measurement, a note says so.
    for outcome in outcomes {
        for series in outcome["series"].as_array().unwrap() {
            let is_told =
                !series["points"].as_array().unwrap().is_empty() || series["note"].is_string();
            assert!(is_told, "{series}");
        }
    }
}

#[test]
fn many_links_have_goals() {
    let folder = Folder::new("crowd");
    let json = folder.at("json");
    let table = folder.succeeds(&["crowd", "--quick", "--json", json.to_str().unwrap()]);
    let record = read(&json);
    let outcomes = record["outcomes"].as_array().unwrap();
    let keys: Vec<&Value> = outcomes.iter().map(|outcome| &outcome["key"]).collect();
    assert_eq!(keys, ["crowd all to all", "crowd many to one"]);
    for (outcome, transports) in outcomes.iter().zip([2, 3]) {
        let lines = outcome["series"].as_array().unwrap();
        let (with, without): (Vec<_>, Vec<_>) = lines
            .iter()
            .partition(|line| !line["points"].as_array().unwrap().is_empty());
        // If the machine was too busy for a message to arrive in time, a note says so.
        for line in &without {
            let note = line["note"].as_str().unwrap();
            assert!(note.contains("arrived within"), "{note}");
        }
        let measured = transports - without.len();
        assert!(measured > 0 && with.len() == 6 * measured, "{outcome}");
        assert_eq!(outcome["goals"].as_array().unwrap().len(), 5 * measured);
    }
    for words in ["<= 256", "goals are reached"] {
        assert!(table.contains(words), "{table}");
    }
}

#[test]
fn programs_are_left_out_without_what_they_need() {
    let folder = Folder::new("programs");
    let table = folder.succeeds(&["programs", "--quick"]);
    let missing = "direct, shm, own server: Xvfb is not installed";
    assert!(table.contains(missing), "{table}");
}

#[test]
fn a_wrong_suite_is_corrected() {
    let folder = Folder::new("wrong");
    let output = folder.bench(&["program"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("'programs'"), "{said}");
}

#[test]
fn barriers_are_measured_although_programs_are_missing() {
    let folder = Folder::new("barriers");
    let json = folder.at("json");
    folder.succeeds(&["barrier", "--quick", "--json", json.to_str().unwrap()]);
    let record = read(&json);
    let outcomes = record["outcomes"].as_array().unwrap();
    let series = outcomes[0]["series"].as_array().unwrap();
    let of = |name: &str| series.iter().find(|one| one["name"] == name).unwrap();
    for (name, counts) in [
        ("shm", 2),
        ("star", 2),
        ("tree-8", 2),
        ("dissemination", 2),
        ("udp", 2),
        ("two flags", 1),
        ("a counter, yielding", 1),
        ("plain udp, polling", 2),
        ("plain udp, sleeping", 2),
    ] {
        let points = of(name)["points"].as_array().unwrap();
        assert_eq!(points.len(), counts, "{}", of(name));
        for point in points {
            assert!(point["value"].as_f64().unwrap() > 0.0, "{point}");
            // A busy machine passes too few barriers for some of the percentiles.
            assert!(point["percentiles"]["most"].is_number(), "{point}");
        }
    }
    for name in ["Open MPI", "Open MPI, yielding", "MPICH"] {
        let note = of(name)["note"].as_str().unwrap();
        assert!(note.contains("not installed"), "{note}");
    }
    // Emulated links need programs, or root.
    let note = outcomes[1]["series"][0]["note"].as_str().unwrap();
    assert!(note.contains("emulated links need"), "{note}");
}

#[test]
fn unwritable_files_are_reported_at_once() {
    let folder = Folder::new("unwritable");
    for flag in ["--json", "--csv"] {
        let path = folder.at("no/such/folder");
        folder.refuses(
            &["noise", flag, path.to_str().unwrap()],
            &["no/such/folder"],
        );
        assert!(!folder.at("run").exists(), "nothing was measured");
    }
}

#[test]
fn a_library_that_hangs_costs_its_time_once() {
    let folder = Folder::new("hangs");
    // The program prints a version as Open MPI's mpirun does, and hangs at every other call.
    let version = "[ \"$1\" = --version ] && echo mpirun 4.1.4 && exit";
    folder.program(
        "mpirun.openmpi",
        &format!("{version}; exec /bin/sleep 1000"),
    );
    folder.program("mpicc.openmpi", "exit 0");
    let json = folder.at("json");
    let begun = Instant::now();
    folder.succeeds(&[
        "net",
        "overlap",
        "pattern",
        "--quick",
        "--json",
        json.to_str().unwrap(),
    ]);
    // Each run ends after 20 s without a result, and there would be 14 runs.
    assert!(
        begun.elapsed() < Duration::from_secs(150),
        "{:?}",
        begun.elapsed()
    );
    let record = read(&json);
    let outcomes = record["outcomes"].as_array().unwrap().iter();
    let series = outcomes.flat_map(|outcome| outcome["series"].as_array().unwrap());
    let is_theirs = |one: &&Value| one["name"].as_str().unwrap().starts_with("Open MPI");
    let theirs: Vec<&Value> = series.clone().filter(is_theirs).collect();
    let notes: Vec<&str> = theirs
        .iter()
        .filter_map(|one| one["note"].as_str())
        .collect();
    assert_eq!(notes.len(), 7);
    for (at, note) in notes.iter().enumerate() {
        let is_told = note.contains("mpirun.openmpi did not end within");
        assert!(
            is_told && (at == 0 || note.contains("not tried again")),
            "{note}"
        );
    }
    // The other measurements continue.
    let ours = series.filter(|one| one["name"] == "shm");
    assert!(
        ours.filter(|one| !one["points"].as_array().unwrap().is_empty())
            .count()
            > 2
    );
    assert!(folder.at("run/programs/messages.c").exists());
}
