//! `mgn bench` with drawing: quick runs end on any machine, and leave no processes or files behind.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use mgn_tests::{camera, programs, target, Outcome, Running};
use rustix::process::Signal;
use serde_json::Value;

/// The limit is long, because the machine may be busy.
const RUN_TIMEOUT: Duration = Duration::from_secs(600);

const MARK: &str = "MGN_BENCH_TEST";

/// A folder for all files of a run. The environment of the run's processes contains its path.
struct RunFolder(PathBuf);

impl RunFolder {
    fn new(name: &str) -> RunFolder {
        camera();
        let path = PathBuf::from(format!("/tmp/mgn-bench-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(path.join("run")).unwrap();
        RunFolder(path)
    }

    fn bench(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(target().join("mgn"));
        command
            .arg("bench")
            .args(&arguments[..1])
            .arg("--json")
            .arg(self.0.join("json"))
            .arg("--dir")
            .arg(self.0.join("dir"))
            .args(&arguments[1..])
            .env("XDG_RUNTIME_DIR", self.0.join("run"))
            .env(MARK, &self.0)
            .env_remove("DISPLAY");
        command
    }

    /// The outcomes of a run's experiments.
    fn outcomes(&self, arguments: &[&str]) -> Vec<Value> {
        let outcome = Outcome::of(&mut self.bench(arguments), RUN_TIMEOUT);
        assert_eq!(outcome.status, Some(0), "{}", outcome.describe());
        self.is_clean();
        let text = fs::read_to_string(self.0.join("json")).unwrap();
        let record: Value = serde_json::from_str(&text).unwrap();
        record["outcomes"].as_array().unwrap().clone()
    }

    /// The names of the run's living processes.
    fn processes(&self) -> Vec<String> {
        let mark = format!("{MARK}={}", self.0.display());
        let is_ours = |process: &Path| {
            let environment = fs::read(process.join("environ")).unwrap_or_default();
            environment.split(|b| *b == 0).any(|v| v == mark.as_bytes())
        };
        let all = fs::read_dir("/proc").unwrap().flatten();
        let ours = all.map(|e| e.path()).filter(|path| is_ours(path));
        ours.filter_map(|path| fs::read_to_string(path.join("comm")).ok())
            .map(|name| name.trim().to_string())
            .collect()
    }

    /// Checks that the run has left no processes, and therefore no networks, and no folders of
    /// runs, and therefore no sockets.
    fn is_clean(&self) {
        let begun = Instant::now();
        while !self.processes().is_empty() {
            assert!(begun.elapsed() < RUN_TIMEOUT, "{:?} live", self.processes());
            thread::sleep(Duration::from_millis(20));
        }
        let left: Vec<_> = fs::read_dir(self.0.join("run/manganese"))
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.file_name())
            .collect();
        assert!(left.is_empty(), "{left:?}");
    }
}

impl Drop for RunFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The names of the series with numbers, and the names and reasons of the series without numbers.
fn lines(outcome: &Value) -> (BTreeSet<String>, Vec<(String, String)>) {
    let name = |line: &Value| line["name"].as_str().unwrap().to_string();
    let lines = outcome["series"].as_array().unwrap();
    let (with, without): (Vec<_>, Vec<_>) = lines
        .iter()
        .partition(|line| !line["points"].as_array().unwrap().is_empty());
    let note = |line: &&Value| line["note"].as_str().unwrap_or_default().to_string();
    (
        with.into_iter().map(name).collect(),
        without
            .iter()
            .map(|line| (name(line), note(line)))
            .collect(),
    )
}

#[test]
fn gl_comes_to_its_end() {
    programs("demos");
    let folder = RunFolder::new("gl");
    let outcomes = folder.outcomes(&["gl", "--quick"]);
    assert_eq!(outcomes.len(), 1);
    assert_eq!(outcomes[0]["key"], "gl iso_demo --triangles 120000");
    let (drawn, left) = lines(&outcomes[0]);
    for name in ["direct", "null", "discard", "render", "render, tcp"] {
        assert!(drawn.contains(name), "{name}: {drawn:?}, {left:?}");
    }
    for name in ["virgl", "indirect GLX"] {
        let is_said = left.iter().any(|(n, note)| n == name && !note.is_empty());
        assert!(drawn.contains(name) || is_said, "{drawn:?}, {left:?}");
    }
    let plots = outcomes[0]["plots"].as_array().unwrap();
    for plot in plots {
        let has_some = |line: &Value| line["plot"] == plot["id"];
        let series = outcomes[0]["series"].as_array().unwrap();
        assert!(series.iter().any(has_some), "{plot}");
    }
}

#[test]
fn programs_come_to_their_end() {
    programs("demos");
    let folder = RunFolder::new("programs");
    let starts = folder.outcomes(&["programs", "--quick", "--only", "start"]);
    let keys: Vec<&str> = starts
        .iter()
        .map(|one| one["key"].as_str().unwrap())
        .collect();
    let expected = ["programs start, one frame", "programs start, empty caches"];
    assert_eq!(keys, expected);
    let (measured, left) = lines(&starts[0]);
    assert_eq!(measured.len(), 3, "{measured:?}, {left:?}");
    // Each mode has a ratio without a target, and a difference with a target. If the distance of
    // the processors changes between two rounds, it has them at each distance.
    let mut goals = starts[0]["goals"].as_array().unwrap().clone();
    let place = goals[0]["place"].clone();
    goals.retain(|goal| goal["place"] == place);
    let quantities: Vec<&Value> = goals.iter().map(|goal| &goal["quantity"]).collect();
    assert_eq!(quantities, ["ratio", "difference", "ratio", "difference"]);
    assert!(goals[0]["target"].is_null() && goals[1]["target"]["at_most"] == 200.0);

    let folder = RunFolder::new("triangles");
    let outcomes = folder.outcomes(&["programs", "--quick", "--only", "cull, vbo"]);
    let (measured, left) = lines(&outcomes[0]);
    for name in ["direct", "null", "discard, shm", "shm", "tcp"] {
        assert!(measured.contains(name), "{name}: {measured:?}, {left:?}");
    }
    let waits = |line: &&Value| line["plot"].as_str().unwrap().ends_with("-wait");
    let waiting = outcomes[0]["series"]
        .as_array()
        .unwrap()
        .iter()
        .filter(waits);
    assert_eq!(waiting.count(), 4, "all but direct");
}

#[test]
fn walls_of_all_kinds_draw() {
    programs("demos");
    let folder = RunFolder::new("walls");
    for (row, methods) in [("to all", 4), ("sorting, static", 2)] {
        let outcomes = folder.outcomes(&["programs", "--quick", "--only", row]);
        let outcome = outcomes.last().unwrap();
        let (measured, left) = lines(outcome);
        assert!(measured.len() == methods, "{measured:?}, {left:?}");
    }
}

#[test]
fn pictures_are_read_back_and_the_whole_loop_runs() {
    programs("demos");
    let folder = RunFolder::new("composite");
    let readback = folder.outcomes(&["composite", "--quick", "--only", "readback"]);
    let (measured, left) = lines(&readback[0]);
    assert!(
        measured.len() == 4 && left.is_empty(),
        "{measured:?}, {left:?}"
    );
    for operation in ["depth", "over"] {
        let only = format!("loop {operation}");
        let outcomes = folder.outcomes(&["composite", "--quick", "--only", &only, "--fresh"]);
        let (measured, left) = lines(&outcomes[0]);
        assert!(measured.contains("8 renderers"), "{measured:?}, {left:?}");
    }
}

#[test]
fn link_comes_to_its_end() {
    programs("demos");
    let folder = RunFolder::new("link");
    let outcomes = folder.outcomes(&["link", "--quick"]);
    let (_, left) = lines(&outcomes[0]);
    if let Some((_, why)) = left.iter().find(|(name, _)| name == "link") {
        assert!(why.starts_with("emulated links need"), "{why}");
        eprintln!("SKIPPED: {why}");
        return;
    }
    assert_eq!(outcomes.len(), 2);
    let (measured, left) = lines(&outcomes[0]);
    assert!(
        measured.contains("Manganese, tcp"),
        "{measured:?}, {left:?}"
    );
    assert!(measured.contains("sockets"), "{measured:?}, {left:?}");
    let (drawn, left) = lines(&outcomes[1]);
    assert!(drawn.contains("unseen"), "{drawn:?}, {left:?}");
    let notes = outcomes[1]["notes"].to_string();
    assert!(notes.contains("congestion control"), "{notes}");
}

#[test]
fn barriers_come_to_their_end() {
    let folder = RunFolder::new("barrier");
    let outcomes = folder.outcomes(&["barrier", "--quick"]);
    let (measured, left) = lines(&outcomes[0]);
    for name in ["shm", "udp", "two flags", "plain udp, polling"] {
        assert!(measured.contains(name), "{measured:?}, {left:?}");
    }
    let (_, left) = lines(&outcomes[1]);
    if let Some((_, why)) = left.iter().find(|(name, _)| name == "barrier") {
        assert!(why.starts_with("emulated links need"), "{why}");
        eprintln!("SKIPPED: {why}");
        return;
    }
    for plot in ["barrier-link-idle", "barrier-link-congested"] {
        for name in ["udp", "dissemination, tcp", "plain udp, polling"] {
            let mut series = outcomes[1]["series"].as_array().unwrap().iter();
            let is_there = series.any(|one| {
                let has_points = one["points"].as_array().is_some_and(|all| !all.is_empty());
                one["plot"] == plot && one["name"] == name && has_points
            });
            assert!(is_there, "{name} in {plot}: {left:?}");
        }
    }
}

/// The run is interrupted when it has networks, and a server in one of them.
#[test]
fn an_interrupted_run_leaves_nothing() {
    programs("demos");
    let folder = RunFolder::new("interrupted");
    let running = Running::start(&mut folder.bench(&["link", "--quick", "--only", "iso_demo"]));
    let begun = Instant::now();
    while !folder.processes().iter().any(|name| name == "iso_demo") {
        let is_over = !Path::new(&format!("/proc/{}/environ", running.pid())).exists()
            || folder.processes().is_empty() && begun.elapsed() > Duration::from_secs(5);
        if is_over || begun.elapsed() > RUN_TIMEOUT {
            break;
        }
        thread::sleep(Duration::from_millis(5));
    }
    running.signal(Signal::INT);
    let outcome = running.finish(RUN_TIMEOUT);
    folder.is_clean();
    // Without root, the run ends before it can be interrupted.
    let is_told = outcome.stderr.contains("interrupted");
    let is_over =
        outcome.stdout.contains("emulated links need") || outcome.stderr.contains("no experiment");
    assert!(is_told || is_over, "{}", outcome.describe());
}

#[test]
fn programs_that_do_not_draw_are_said_to() {
    let folder = RunFolder::new("bad");
    let outcome = Outcome::of(
        &mut folder.bench(&["gl", "--quick", "--", "/no/such/program"]),
        RUN_TIMEOUT,
    );
    assert_eq!(outcome.status, Some(1), "{}", outcome.describe());
    assert!(
        outcome.stderr.contains("/no/such/program"),
        "{}",
        outcome.describe()
    );
    assert_eq!(
        outcome.stderr.trim_end().lines().count(),
        1,
        "{}",
        outcome.describe()
    );
    for (program, said) in [
        (&["true"][..], "drew no 4 frames"),
        (
            &["sh", "-c", "echo it broke >&2; kill -SEGV $$"],
            "signal: 11",
        ),
    ] {
        let arguments = [&["gl", "--quick", "--"], program].concat();
        let outcomes = folder.outcomes(&arguments);
        let last = outcomes.last().unwrap();
        let (drawn, left) = lines(last);
        assert!(drawn.is_empty(), "{drawn:?}");
        let (_, note) = left.iter().find(|(name, _)| name == "direct").unwrap();
        assert!(note.contains(said), "{note}");
        let is_said = |(_, note): &(String, String)| note.contains("other methods were not tried:");
        assert!(left.iter().any(is_said), "{left:?}");
    }
}

#[test]
fn without_root_there_is_a_line_about_links() {
    let folder = RunFolder::new("user");
    let mgn = folder.bench(&["link", "--quick", "--", "true"]);
    let mut command = Command::new("setpriv");
    command
        .args(["--reuid", "65534", "--clear-groups"])
        .arg(mgn.get_program())
        .args(mgn.get_args())
        .env(MARK, &folder.0)
        .env_remove("XDG_RUNTIME_DIR");
    for folder in [folder.0.clone(), folder.0.join("run")] {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(folder, fs::Permissions::from_mode(0o777)).unwrap();
    }
    let outcome = Outcome::of(&mut command, RUN_TIMEOUT);
    if matches!(outcome.status, Some(126 | 127)) || outcome.stderr.contains("setpriv") {
        eprintln!(
            "SKIPPED: this cannot be run as another user: {}",
            outcome.describe()
        );
        return;
    }
    assert_eq!(outcome.status, Some(0), "{}", outcome.describe());
    let said = outcome
        .stdout
        .lines()
        .filter(|line| line.contains("links need root"));
    assert_eq!(said.count(), 1, "{}", outcome.describe());
    folder.is_clean();
}
