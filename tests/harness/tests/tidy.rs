//! Rules of this project that a program can check. CONTRIBUTING.md explains them.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use mgn_tests::root;

/// The maximum number of lines in a hand-written file. A longer file should be split.
const LINES_MAX: usize = 1000;

/// The crates that may contain `unsafe`. All other crates forbid it.
const UNSAFE: [&str; 9] = [
    "sys",
    "fabric",
    "composite",
    "client",
    "render",
    "wire",
    "capi",
    "icet",
    "bench",
];

/// The maximum width of comments, which is that of code.
const COLUMNS: usize = 100;

fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder)
        .expect("the folder can be read")
        .flatten()
    {
        let path = entry.path();
        let name = entry.file_name();
        if path.is_dir() {
            if !["target", ".git", "generated", "corpus"]
                .iter()
                .any(|n| name == *n)
            {
                walk(&path, found);
            }
        } else {
            found.push(path);
        }
    }
}

fn sources(extensions: &[&str]) -> Vec<(PathBuf, String)> {
    let mut files = Vec::new();
    walk(&root(), &mut files);
    files
        .into_iter()
        .filter(|p| {
            p.extension()
                .is_some_and(|e| extensions.iter().any(|x| e == *x))
        })
        .filter_map(|p| fs::read_to_string(&p).ok().map(|text| (p, text)))
        .collect()
}

fn fail_with(wrong: Vec<String>) {
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn files_are_short() {
    let long = sources(&["rs", "c", "h", "sh", "py"])
        .into_iter()
        .filter_map(|(path, text)| {
            let lines = text.lines().count();
            (lines > LINES_MAX).then(|| format!("{}: {lines} lines", path.display()))
        });
    fail_with(long.collect());
}

/// Tables and fenced text keep their shape. Text that a program writes does not count as a comment.
#[test]
fn comments_are_narrow() {
    let mut wrong = Vec::new();
    for (path, text) in sources(&["rs"]) {
        let mut is_fenced = false;
        for (n, line) in text.lines().enumerate() {
            let start = line.trim_start();
            if !start.starts_with("//") {
                is_fenced = false;
                continue;
            }
            let words = start.trim_start_matches(['/', '!']).trim_start();
            is_fenced ^= words.starts_with("```");
            let is_free = is_fenced || words.starts_with('|') || line.ends_with("\\n\\");
            if !is_free && line.chars().count() > COLUMNS {
                wrong.push(format!(
                    "{}:{}: over {COLUMNS} columns",
                    path.display(),
                    n + 1
                ));
            }
        }
    }
    fail_with(wrong);
}

/// There are no runnable examples in comments, because `cargo xtask test` would not run them.
#[test]
fn comments_contain_no_examples_to_run() {
    let mut wrong = Vec::new();
    for (path, text) in sources(&["rs"]) {
        let mut is_fenced = false;
        for (n, line) in text.lines().enumerate() {
            let start = line.trim_start();
            let Some(words) = ["///", "//!"].iter().find_map(|c| start.strip_prefix(c)) else {
                is_fenced = false;
                continue;
            };
            let Some(language) = words.trim_start().strip_prefix("```") else {
                continue;
            };
            is_fenced = !is_fenced;
            if is_fenced && language != "text" {
                wrong.push(format!(
                    "{}:{}: begin this fence with ```text",
                    path.display(),
                    n + 1
                ));
            }
        }
    }
    fail_with(wrong);
}

#[test]
fn unsafe_stays_where_it_belongs() {
    let mut wrong = Vec::new();
    for entry in fs::read_dir(root().join("crates")).unwrap().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if UNSAFE.contains(&name.as_str()) {
            continue;
        }
        let main = ["src/lib.rs", "src/main.rs"].map(|f| entry.path().join(f));
        let text = main
            .iter()
            .find_map(|f| fs::read_to_string(f).ok())
            .unwrap_or_default();
        if !text.contains("#![forbid(unsafe_code)]") {
            wrong.push(format!("crates/{name} does not forbid unsafe code"));
        }
    }
    fail_with(wrong);
}

#[test]
fn nothing_is_left_for_later() {
    // The words are put together here, so that this file does not contain them.
    let words = [["TO", "DO"], ["FIX", "ME"], ["X", "XX"]].map(|w| w.concat());
    let mut wrong = Vec::new();
    for (path, text) in sources(&["rs", "c", "h", "sh", "md", "toml"]) {
        for (n, line) in text.lines().enumerate() {
            let mut found = line.split(|c: char| !c.is_ascii_alphanumeric());
            if found.any(|word| words.iter().any(|w| w == word)) {
                wrong.push(format!("{}:{}: {}", path.display(), n + 1, line.trim()));
            }
        }
    }
    fail_with(wrong);
}

#[test]
fn the_map_shows_every_crate() {
    let map = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let crates = fs::read_dir(root().join("crates")).unwrap().flatten();
    let missing = crates
        .map(|e| format!("crates/{}", e.file_name().to_string_lossy()))
        .filter(|name| !map.contains(&format!("`{name}`")))
        .map(|name| format!("ARCHITECTURE.md does not mention {name}"));
    fail_with(missing.collect());
}

#[test]
fn every_crate_takes_the_workspace_lints() {
    let wrong = sources(&["toml"])
        .into_iter()
        .filter(|(path, text)| path.ends_with("Cargo.toml") && text.contains("[package]"))
        .filter(|(_, text)| !text.contains("[lints]\nworkspace = true"))
        .map(|(path, _)| format!("{} has no [lints] workspace = true", path.display()));
    fail_with(wrong.collect());
}

#[test]
fn readme_links_lead_somewhere() {
    let mut wrong = Vec::new();
    for (path, text) in sources(&["md"]) {
        let folder = path.parent().unwrap();
        for part in text.split("](").skip(1) {
            let link = part.split(')').next().unwrap_or_default();
            let file = link.split('#').next().unwrap_or_default();
            let local = !file.is_empty() && !file.contains("://") && !file.contains(' ');
            // The site keeps the pages at their positions in the repository.
            let folder = if folder.ends_with("docs/site") {
                &root()
            } else {
                folder
            };
            if local && !folder.join(file).exists() {
                wrong.push(format!("{}: {link}", path.display()));
            }
        }
    }
    fail_with(wrong);
}

#[test]
fn the_site_has_every_page() {
    let summary = fs::read_to_string(root().join("docs/site/SUMMARY.md")).unwrap();
    let pages = |folder: &'static str| {
        let pages = fs::read_dir(root().join(folder)).unwrap().flatten();
        pages.map(move |page| format!("{folder}/{}", page.file_name().to_string_lossy()))
    };
    let missing = pages("docs")
        .chain(pages("docs/design"))
        .filter(|name| name.ends_with(".md") && !summary.contains(&format!("]({name})")))
        .map(|name| format!("docs/site/SUMMARY.md does not list {name}"));
    fail_with(missing.collect());
}

/// `make demo` names the best and the worst row, even if all rows are faster than locally, or none
/// is.
#[test]
fn the_demo_says_what_is_fast_and_what_is_slow() {
    let said = |rows: &str| {
        let script = r#"set -euo pipefail; . scripts/speeds.sh; printf '%s' "$1" | speeds"#;
        let mut bash = Command::new("bash");
        bash.current_dir(root()).args(["-c", script, "bash", rows]);
        let output = bash.output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let all = "0.98 iso_demo-arrays\n10.20 iso_demo-immediate\n0.61 glxgears\n- iso_demo-vbo\n";
    assert_eq!(
        said(all),
        "Fastest: iso_demo-immediate, 10.20 times the local driver's speed: glBegin and glEnd become \
         arrays before they reach the driver.\n\
         Slowest: glxgears, 0.61 times the local driver's speed: its frames are short, and each picture \
         comes back to be shown.\n"
    );
    for (rows, best, worst) in [
        (
            "0.50 glxgears\n0.90 iso_demo-vbo\n",
            "iso_demo-vbo, 0.90",
            "glxgears, 0.50",
        ),
        (
            "3.10 glxgears\n1.20 iso_demo-vbo\n",
            "glxgears, 3.10",
            "iso_demo-vbo, 1.20",
        ),
        ("0.70 glxgears\n", "glxgears, 0.70", "glxgears, 0.70"),
    ] {
        let said = said(rows);
        let lines: Vec<&str> = said.lines().collect();
        assert_eq!(lines.len(), 2, "{said}");
        assert!(lines[0].starts_with(&format!("Fastest: {best} ")), "{said}");
        assert!(
            lines[1].starts_with(&format!("Slowest: {worst} ")),
            "{said}"
        );
        assert!(
            lines.iter().all(|line| !line.contains(": .")),
            "no reason: {said}"
        );
    }
    assert_eq!(said("- glxgears\n"), "");
    // Every row of the demo has a reason.
    let demo = fs::read_to_string(root().join("scripts/demo.sh")).unwrap();
    assert!(demo.contains("speeds <") && demo.contains("for mode in immediate arrays vbo static;"));
    for name in [
        "iso_demo-immediate",
        "iso_demo-arrays",
        "iso_demo-vbo",
        "iso_demo-static",
        "iso_demo-commands",
    ] {
        assert!(!said(&format!("1.00 {name}\n")).contains(": ."), "{name}");
    }
}

/// If no root can be made, `.ci/run` says so clearly and runs the demo, the tests and the packages
/// on the machine. If a goal has failed in the root, it runs none of these on the machine, and
/// fails. It also fails if `make lint`, which runs at the same time as the root, has failed. When
/// its time is up, it leaves checks out and names them.
#[test]
fn ci_without_a_root_runs_on_the_machine() {
    let folder = std::env::temp_dir().join(format!("mgn-ci-{}", std::process::id()));
    let program = |path: &str, script: &str| {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    };
    program("scripts/fresh-root.sh", "exit $ROOT_STATUS");
    program(
        "bin/make",
        "echo goals: $*; [ \"$2\" != lint ] || exit $LINT_STATUS",
    );
    fs::create_dir_all(folder.join(".ci")).unwrap();
    fs::copy(root().join(".ci/run"), folder.join(".ci/run")).unwrap();
    let run = |status: &str, lint: &str, minutes: &str| {
        let path = std::env::var("PATH").unwrap();
        let output = Command::new("bash")
            .arg(folder.join(".ci/run"))
            .env("PATH", format!("{}:{path}", folder.join("bin").display()))
            .env("ROOT_STATUS", status)
            .env("LINT_STATUS", lint)
            .env("MINUTES", minutes)
            .output()
            .unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        let goals = |goal: &str| said.lines().any(|line| line == format!("goals: {goal}"));
        let here = ["demo", "test", "deb"].map(goals);
        let last = said.lines().last().unwrap().to_owned();
        (
            output.status.code(),
            here,
            said.contains("NO FRESH ROOT"),
            last,
        )
    };
    let (status, here, loud, last) = run("77", "0", "60");
    assert_eq!((status, here, loud), (Some(0), [true; 3], true), "{last}");
    assert!(last.starts_with("ci: passed in "), "{last}");
    let (status, here, loud, last) = run("0", "0", "60");
    assert_eq!((status, here, loud), (Some(0), [false; 3], false), "{last}");
    let (status, here, loud, last) = run("1", "0", "60");
    assert_eq!((status, here, loud), (Some(1), [false; 3], false), "{last}");
    assert!(last.starts_with("ci: FAILED (fresh root) after "), "{last}");
    let (status, _, _, last) = run("0", "1", "60");
    assert_eq!(status, Some(1), "{last}");
    assert!(last.starts_with("ci: FAILED (make lint) after "), "{last}");
    // Without any time, it names the checks that it has left out.
    let (status, _, _, last) = run("0", "0", "0");
    assert_eq!(status, Some(0), "{last}");
    assert!(
        last.contains("; NOT RUN, for want of time: ") && last.contains("make test-python"),
        "{last}"
    );
    fs::remove_dir_all(folder).unwrap();
}
