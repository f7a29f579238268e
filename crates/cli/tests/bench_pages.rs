//! Pages and comparisons of runs of `mgn bench`.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

/// A separate folder for a test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path =
            std::env::temp_dir().join(format!("mgn-bench-pages-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir(&path).unwrap();
        Folder(path)
    }

    fn mgn(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mgn"));
        command.current_dir(&self.0).arg("bench").args(arguments);
        command.output().unwrap()
    }

    #[track_caller]
    fn says(&self, arguments: &[&str]) -> String {
        let output = self.mgn(arguments);
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Checks that the command fails with one line that contains all of `words`.
    #[track_caller]
    fn refuses(&self, arguments: &[&str], words: &[&str]) {
        let output = self.mgn(arguments);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert_eq!(said.trim_end().lines().count(), 1, "{said}");
        for word in words {
            assert!(said.contains(word), "{word} is not in {said}");
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_run_becomes_a_page_and_is_compared() {
    let folder = Folder::new("page");
    let noise = [
        "noise",
        "--quick",
        "--iterations",
        "10",
        "--dir",
        "run",
        "--json",
        "run.json",
    ];
    folder.says(&noise);
    assert_eq!(folder.says(&["report", "run"]), "run/report.html\n");
    let page = fs::read_to_string(folder.0.join("run/report.html")).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("mgn bench noise --quick"));
    folder.says(&["report", "run.json", "--output", "other.html"]);
    assert_eq!(
        fs::read_to_string(folder.0.join("other.html")).unwrap(),
        page
    );

    let said = folder.says(&["compare", "run", "run.json"]);
    assert!(said.contains("Nothing changed beyond noise"), "{said}");
    let said = folder.says(&["compare", "run", "run", "--json"]);
    let found: serde_json::Value = serde_json::from_str(&said).unwrap();
    assert_eq!(found["schema"], "manganese bench comparison");
    assert_eq!(found["changes"], serde_json::json!([]));
}

#[test]
fn files_that_are_no_runs_are_refused() {
    let folder = Folder::new("refused");
    folder.refuses(&["report", "run"], &["cannot read run"]);
    fs::write(folder.0.join("a"), "hello\n").unwrap();
    folder.refuses(&["report", "a"], &["a: ", "not written by mgn bench"]);
    let later = "{\"schema\": \"manganese bench\", \"version\": 7}\n";
    fs::write(folder.0.join("b"), later).unwrap();
    folder.refuses(&["compare", "b", "a"], &["b: ", "version 7"]);
    folder.refuses(&["compare", "b", "a", "--json"], &["b: ", "version 7"]);
}
