//! The report at the end of a run: a table, and the names of all tests that fail.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::Path;

use super::known::Known;
use super::runs::Route;
use super::suite::Profile;
use super::verdict::Verdict;

/// A test that was run, and its result.
#[derive(Debug)]
pub struct Judged {
    pub profile: Profile,
    pub way: Route,
    pub test: String,
    pub verdict: Verdict,
    /// Its output, if it did not pass.
    pub said: String,
}

/// The report on a whole run.
#[derive(Debug, Default)]
pub struct Report {
    rows: BTreeMap<(Profile, Route), Row>,
    failing: Vec<String>,
    outlived: Vec<String>,
}

#[derive(Debug, Default)]
struct Row {
    run: usize,
    pass: usize,
    neither: usize,
    unsteady: usize,
    known: usize,
    failing: usize,
}

impl Report {
    /// Adds the result of a test. If the test failed, its output is written to a file in `folder`.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn add(&mut self, judged: &Judged, known: &Known, folder: &Path) -> Result<(), String> {
        let way = judged.way.name();
        let row = self.rows.entry((judged.profile, judged.way)).or_default();
        row.run += 1;
        let listed = known.reason(&judged.test, way).is_some();
        let named = format!("{way}: {}", judged.test);
        match &judged.verdict {
            Verdict::Fails(_) if listed => row.known += 1,
            Verdict::Fails(how) => {
                row.failing += 1;
                let file = folder.join(format!("{way}-{}.txt", file_name(&judged.test)));
                fs::write(&file, &judged.said)
                    .map_err(|error| format!("{}: {error}", file.display()))?;
                self.failing
                    .push(format!("{named}: {how} ({})", file.display()));
            }
            Verdict::Passes => {
                row.pass += 1;
                if listed {
                    self.outlived.push(named);
                }
            }
            Verdict::NeitherLocally => row.neither += 1,
            Verdict::Unsteady | Verdict::AskLocally => row.unsteady += 1,
        }
        Ok(())
    }

    /// Whether all tests that fail are listed, and all tests that are listed fail.
    pub fn is_good(&self) -> bool {
        self.failing.is_empty() && self.outlived.is_empty()
    }
}

/// As Markdown, for `docs/conformance.md`.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "| profile | way | run | pass | pass in neither | unsteady locally | known to fail | **fail** |"
        )?;
        writeln!(f, "|---|---|---:|---:|---:|---:|---:|---:|")?;
        for ((profile, way), row) in &self.rows {
            writeln!(
                f,
                "| `{}` | {} | {} | {} | {} | {} | {} | {} |",
                profile.name(),
                way.name(),
                row.run,
                row.pass,
                row.neither,
                row.unsteady,
                row.known,
                row.failing
            )?;
        }
        for failing in &self.failing {
            writeln!(f, "FAILS {failing}")?;
        }
        for outlived in &self.outlived {
            writeln!(
                f,
                "PASSES {outlived}: remove it from tests/piglit/expected-failures.toml"
            )?;
        }
        Ok(())
    }
}

/// The name of a test, with only such characters as suit the name of a file.
fn file_name(test: &str) -> String {
    let kept = |c: char| {
        if c.is_ascii_alphanumeric() || "-_.@".contains(c) {
            c
        } else {
            '_'
        }
    };
    test.chars().map(kept).take(200).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(test: &str, verdict: Verdict) -> Judged {
        Judged {
            profile: Profile::QuickGl,
            way: Route::Shm,
            test: test.to_owned(),
            verdict,
            said: "why".to_owned(),
        }
    }

    #[test]
    fn a_report_is_good_if_nothing_fails_and_the_list_is_right() {
        let folder = std::env::temp_dir().join(format!("mgn-report-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let listed = "[[failure]]\ntest = \"spec@listed\"\nreason = \"why\"";
        let known = Known::parse(listed, "22.3.6").unwrap();
        let fails = || Verdict::Fails("it crashes".to_owned());
        let of = |all: &[(&str, Verdict)]| {
            let mut report = Report::default();
            for (test, verdict) in all {
                let judged = judged(test, verdict.clone());
                report.add(&judged, &known, &folder).unwrap();
            }
            report
        };

        let good = of(&[
            ("spec@a", Verdict::Passes),
            ("spec@b", Verdict::Unsteady),
            ("spec@c", Verdict::NeitherLocally),
            ("spec@listed", fails()),
        ]);
        assert!(good.is_good());
        let row = "| `quick_gl` | shm | 4 | 1 | 1 | 1 | 1 | 0 |\n";
        assert!(good.to_string().ends_with(row), "{good}");

        let failing = of(&[("spec@a b/c", fails())]);
        assert!(!failing.is_good());
        assert!(failing
            .to_string()
            .contains("FAILS shm: spec@a b/c: it crashes"));
        let file = folder.join("shm-spec@a_b_c.txt");
        assert_eq!(fs::read_to_string(file).unwrap(), "why");

        let outlived = of(&[("spec@listed", Verdict::Passes)]);
        assert!(!outlived.is_good());
        assert!(outlived.to_string().contains("PASSES shm: spec@listed"));
        fs::remove_dir_all(&folder).unwrap();
    }
}
