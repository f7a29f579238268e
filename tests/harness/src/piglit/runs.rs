//! Runs of piglit, with the local driver or through a server, in batches.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::ValueEnum;
use serde::Deserialize;

use super::store::{Outcome, Status, Store};
use super::suite::Profile;
use crate::stage::Stage;

/// The number of tests in a batch, which takes about a minute. An interrupted run continues after
/// the last complete batch.
const BATCH: usize = 200;
/// The time limit of a test in seconds. These profiles have no tests for which piglit itself has a
/// longer limit.
const TEST_LIMIT: u32 = 60;
/// The maximum number of bytes that are kept of a test's output.
const SAID_MAX: usize = 4000;

/// How the tests reach the driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum Route {
    /// Directly, as the reference.
    #[value(skip)]
    Local,
    Shm,
    Tcp,
    /// To the four renderers of a wall. Each renderer has a quarter of each window.
    Wall,
}

impl Route {
    pub fn name(self) -> &'static str {
        match self {
            Route::Local => "local",
            Route::Shm => "shm",
            Route::Tcp => "tcp",
            Route::Wall => "wall",
        }
    }

    /// The command for piglit that makes its tests run in this way.
    fn piglit(self, stage: &Stage) -> Command {
        let arguments: &[&str] = match self {
            Route::Local => return stage.direct("piglit"),
            Route::Shm => &["--transport", "shm"],
            Route::Tcp => &["--transport", "tcp"],
            Route::Wall => &["--wall", "2x2"],
        };
        let mut mgn = stage.mgn();
        mgn.arg("run").args(arguments).args(["--", "piglit"]);
        mgn
    }
}

/// Runs tests and stores the results.
#[derive(Debug)]
pub struct Runner {
    stage: Stage,
    /// The folder in which piglit writes its results and its log.
    folder: PathBuf,
    /// The number of tests that run at once.
    jobs: usize,
}

impl Runner {
    /// # Errors
    /// If `folder` cannot be made.
    pub fn new(folder: &Path, jobs: usize) -> Result<Runner, String> {
        fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        Ok(Runner {
            stage: Stage::new(),
            folder: folder.to_owned(),
            jobs,
        })
    }

    /// The version of the local driver.
    pub fn mesa(&self) -> String {
        self.stage.mesa()
    }

    /// Runs each of `tests`, which belong to `profile`, once more, and adds the results to `store`.
    ///
    /// # Errors
    /// The reason why piglit could not run them.
    pub fn run(
        &self,
        profile: Profile,
        way: Route,
        tests: &[String],
        store: &mut Store,
    ) -> Result<(), String> {
        self.run_by(self.jobs, profile, way, tests, store)
    }

    /// As [`Runner::run`], but only one test runs at a time.
    ///
    /// # Errors
    /// As [`Runner::run`].
    pub fn run_alone(
        &self,
        profile: Profile,
        way: Route,
        tests: &[String],
        store: &mut Store,
    ) -> Result<(), String> {
        self.run_by(1, profile, way, tests, store)
    }

    fn run_by(
        &self,
        jobs: usize,
        profile: Profile,
        way: Route,
        tests: &[String],
        store: &mut Store,
    ) -> Result<(), String> {
        let mut done = 0;
        for batch in tests.chunks(BATCH) {
            let outcomes = self.batch(profile, way, batch, jobs)?;
            store
                .add(outcomes)
                .map_err(|error| format!("the results cannot be kept in target/piglit: {error}"))?;
            done += batch.len();
            eprintln!(
                "{} {}: {done} of {}",
                profile.name(),
                way.name(),
                tests.len()
            );
        }
        Ok(())
    }

    fn batch(
        &self,
        profile: Profile,
        way: Route,
        tests: &[String],
        jobs: usize,
    ) -> Result<BTreeMap<String, Outcome>, String> {
        let list = self.folder.join("tests.txt");
        let results = self.folder.join("results");
        let failed = |error| format!("{}: {error}", self.folder.display());
        fs::write(&list, tests.join("\n") + "\n").map_err(failed)?;
        let mut piglit = way.piglit(&self.stage);
        piglit
            .args(["run", "--platform", "glx", "--log-level", "quiet"])
            .args(["--jobs", &jobs.to_string()])
            .args(["--timeout", &TEST_LIMIT.to_string()])
            .arg("--overwrite")
            .arg("--test-list")
            .arg(&list)
            .arg(profile.in_piglit())
            .arg(&results)
            .env("PIGLIT_COMPRESSION", "none")
            .stdout(Stdio::null());
        if jobs == 1 {
            piglit.arg("--no-concurrency");
        }
        let ended = piglit
            .output()
            .map_err(|error| format!("{piglit:?} cannot be started: {error}"))?;
        let said = String::from_utf8_lossy(&ended.stderr);
        let problem = |why: &str| format!("{piglit:?} {why}:\n{}", tail(said.trim()));
        if !ended.status.success() {
            return Err(problem(&format!("ended with {}", ended.status)));
        }
        let text = fs::read(results.join("results.json")).map_err(failed)?;
        let results: Results = serde_json::from_slice(&text)
            .map_err(|error| format!("piglit's results cannot be understood: {error}"))?;
        let outcomes: BTreeMap<String, Outcome> = results
            .tests
            .into_iter()
            .map(|(test, result)| (test, result.outcome()))
            .collect();
        match tests.iter().find(|test| !outcomes.contains_key(*test)) {
            Some(test) => Err(problem(&format!("gave no result for {test}"))),
            None => Ok(outcomes),
        }
    }
}

/// The parts of piglit's output that are used.
#[derive(Deserialize)]
struct Results {
    tests: BTreeMap<String, TestResult>,
}

#[derive(Deserialize)]
struct TestResult {
    result: Status,
    #[serde(default)]
    subtests: BTreeMap<String, serde_json::Value>,
    #[serde(default)]
    command: String,
    #[serde(default)]
    out: String,
    #[serde(default)]
    err: String,
    returncode: Option<i32>,
    time: Times,
}

#[derive(Deserialize)]
struct Times {
    start: f64,
    end: f64,
}

impl TestResult {
    fn outcome(self) -> Outcome {
        let parts = self
            .subtests
            .into_iter()
            // piglit stores the name of its own type beside the parts.
            .filter(|(name, _)| name != "__type__")
            .map(|(name, status)| {
                let status = serde_json::from_value(status).unwrap_or(Status::Other);
                (name, status)
            })
            .collect();
        let lost = self
            .err
            .lines()
            .find_map(|line| line.split_once("render server is lost: "))
            .map(|(_, why)| why.to_owned());
        let mut ours = self.err.lines().filter(|line| line.starts_with("mgn: "));
        // The second message comes from the server's watchdog. A busy machine can trigger it, too.
        let waits = ["timed out while", "a command has run for more than"];
        let has_waited = |line: &str| waits.iter().any(|wait| line.contains(wait));
        let late = self.result == Status::Timeout || ours.any(has_waited);
        let said = if self.result == Status::Pass && lost.is_none() {
            String::new()
        } else {
            let code = self
                .returncode
                .map_or_else(String::new, |code| format!("status {code}"));
            let (out, err) = (tail(&self.out), tail(&self.err));
            format!("{}\n{code}\n{out}\n{err}\n", self.command)
        };
        Outcome {
            status: self.result,
            parts,
            late,
            lost,
            said,
            seconds: self.time.end - self.time.start,
        }
    }
}

/// The end of `text`, which contains the reason.
fn tail(text: &str) -> &str {
    let mut from = text.len().saturating_sub(SAID_MAX);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    &text[from..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_understood() {
        let text = r#"{"__type__": "TestrunResult", "totals": {}, "tests": {
            "spec@a": {"__type__": "TestResult", "command": "a -auto", "out": "", "err": "",
                "result": "pass", "returncode": 0, "pid": [1],
                "subtests": {"__type__": "Subtests", "one": "pass", "two": "dmesg-warn"},
                "time": {"start": 1.5, "end": 2.0, "__type__": "TimeAttribute"}},
            "spec@b": {"command": "b", "out": "no", "result": "notrun", "returncode": null,
                "err": "x\nmgn: the render server is lost: signal 11; the program ends\n",
                "subtests": {}, "time": {"start": 0, "end": 0}}}}"#;
        let results: Results = serde_json::from_str(text).unwrap();
        let outcomes: Vec<_> = results
            .tests
            .into_values()
            .map(TestResult::outcome)
            .collect();
        assert_eq!(outcomes[0].status, Status::Pass);
        let parts = [
            ("one".to_owned(), Status::Pass),
            ("two".to_owned(), Status::Other),
        ];
        assert_eq!(outcomes[0].parts, BTreeMap::from(parts));
        assert_eq!(outcomes[0].lost, None);
        assert!(!outcomes[0].late && !outcomes[1].late);
        assert_eq!(outcomes[0].said, "");
        assert_eq!(outcomes[0].seconds, 0.5);
        assert_eq!(outcomes[1].status, Status::Other);
        let lost = outcomes[1].lost.as_deref();
        assert_eq!(lost, Some("signal 11; the program ends"));
        assert!(outcomes[1].said.starts_with("b\n"));
    }

    #[test]
    fn what_may_only_have_been_late_is_told_apart() {
        let result = |result, err: &str| {
            let err = err.to_owned();
            let (out, command) = (String::new(), String::new());
            let test = TestResult {
                result,
                subtests: BTreeMap::new(),
                command,
                out,
                err,
                returncode: None,
                time: Times {
                    start: 0.0,
                    end: 0.0,
                },
            };
            test.outcome().late
        };
        assert!(result(Status::Timeout, ""));
        let busy = "mgn: cannot render by shm: timed out while connecting to the server at unix:/x";
        assert!(result(Status::Skip, busy));
        let slow = "mgn: the render server is lost: a command has run for more than 30 s";
        assert!(result(Status::Fail, slow));
        assert!(!result(Status::Skip, "mgn: there is no X server"));
        assert!(!result(Status::Fail, "the test timed out while waiting"));
    }

    #[test]
    fn tails_are_cut_between_characters() {
        let text = "é".repeat(SAID_MAX);
        assert_eq!(tail(&text).len(), SAID_MAX);
        let odd = format!("{text}x");
        assert_eq!(tail(&odd).len(), SAID_MAX - 1);
    }
}
