//! The results of tests so far, kept in a file from one run to the next.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// How a test or a part of one ended. All of piglit's other results are failures here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    Pass,
    Warn,
    Skip,
    Fail,
    Crash,
    Timeout,
    #[serde(other)]
    Other,
}

impl Status {
    /// How good the result is: a pass is better than a warning, and a warning is better than all
    /// others.
    pub fn rank(self) -> u32 {
        match self {
            Status::Pass => 2,
            Status::Warn => 1,
            _ => 0,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Status::Pass => "pass",
            Status::Warn => "warn",
            Status::Skip => "skip",
            Status::Fail => "fail",
            Status::Crash => "crash",
            Status::Timeout => "timeout",
            Status::Other => "other",
        }
    }
}

/// One run of a test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    pub status: Status,
    /// The parts of the test, which pass or fail on their own.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parts: BTreeMap<String, Status>,
    /// Whether the test ran out of time, or its server did not answer in time. The machine may have
    /// been busy.
    #[serde(default)]
    pub late: bool,
    /// The client library's message when it lost its server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost: Option<String>,
    /// For a test that did not pass: how it was started, and its output.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub said: String,
    pub seconds: f64,
}

/// The outcomes of tests with one build or driver. A test has one outcome for each run.
#[derive(Debug)]
pub struct Store {
    path: PathBuf,
    file: Contents,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Contents {
    /// The build or driver that the outcomes belong to.
    of: String,
    outcomes: BTreeMap<String, Vec<Outcome>>,
}

impl Store {
    /// The contents of the file if they belong to `of`; otherwise an empty store.
    pub fn open(path: &Path, of: &str) -> Store {
        let kept = fs::read(path)
            .ok()
            .and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let file = kept
            .filter(|contents: &Contents| contents.of == of)
            .unwrap_or_else(|| Contents {
                of: of.to_owned(),
                ..Contents::default()
            });
        Store {
            path: path.to_owned(),
            file,
        }
    }

    /// All runs of the test.
    pub fn of(&self, test: &str) -> &[Outcome] {
        self.file.outcomes.get(test).map_or(&[], Vec::as_slice)
    }

    pub fn len(&self) -> usize {
        self.file.outcomes.len()
    }

    pub fn is_empty(&self) -> bool {
        self.file.outcomes.is_empty()
    }

    pub fn forget(&mut self, test: &str) {
        self.file.outcomes.remove(test);
    }

    /// Adds an outcome for each of these tests, and writes the file.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn add(&mut self, outcomes: BTreeMap<String, Outcome>) -> io::Result<()> {
        for (test, outcome) in outcomes {
            self.file.outcomes.entry(test).or_default().push(outcome);
        }
        // The file is replaced at once, because a run may be interrupted at any time.
        let new = self.path.with_extension("new");
        fs::write(&new, serde_json::to_vec(&self.file)?)?;
        fs::rename(&new, &self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_another_build_gave_counts_for_nothing() {
        let folder = std::env::temp_dir().join(format!("mgn-store-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("shm.json");
        let outcome = Outcome {
            status: Status::Fail,
            parts: BTreeMap::from([("a".to_owned(), Status::Pass)]),
            late: false,
            lost: None,
            said: "why".to_owned(),
            seconds: 0.5,
        };
        let mut store = Store::open(&path, "one");
        let run = BTreeMap::from([("spec@x".to_owned(), outcome.clone())]);
        store.add(run.clone()).unwrap();
        store.add(run).unwrap();

        let again = Store::open(&path, "one");
        assert_eq!(again.of("spec@x"), [outcome.clone(), outcome]);
        assert!(again.of("spec@y").is_empty());
        assert!(Store::open(&path, "two").is_empty());
        fs::remove_dir_all(&folder).unwrap();
    }
}
