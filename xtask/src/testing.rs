//! `cargo xtask test`: all tests of the workspace, several test binaries at the same time.
//!
//! `cargo test` runs one binary after another. Many of our binaries wait for processes, so two
//! binaries at the same time keep a machine of two processors busy. If a test fails, the output of
//! its binary is shown. Otherwise, only the lines are shown that say why tests are skipped. The end
//! of the output lists the slowest binaries, and the last line contains the totals. Comments
//! contain no examples to run (`tidy.rs` checks that), so rustdoc is not run.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use anyhow::{bail, Context, Result};

/// The number of slowest binaries that are listed at the end.
const SLOWEST: usize = 10;

/// Builds all tests of the workspace, and runs the binaries whose names contain one of `filters`.
/// Without filters, runs all binaries. Fails if a test fails.
pub fn test(root: &Path, filters: &[&str]) -> Result<()> {
    // The harness runs `mgn` and the client library, which belong to no test.
    build(root)?;
    let mut binaries = binaries(root)?;
    if !filters.is_empty() {
        binaries.retain(|b| filters.iter().any(|f| b.name.contains(f)));
        if binaries.is_empty() {
            bail!(
                "no test binary has a name that contains {}",
                filters.join(" or ")
            );
        }
    }
    // The binaries of `mgn-tests` take longest, so they start first.
    binaries.sort_by_key(|b| !b.name.starts_with("mgn-tests"));
    report(side_by_side(binaries))
}

/// An executable with tests.
struct Binary {
    /// The package and the target, as in `mgn-tests::walls`.
    name: String,
    file: PathBuf,
    /// The working directory, which is the folder of its package, as with `cargo test`.
    folder: PathBuf,
}

struct Outcome {
    name: String,
    took: Duration,
    passed: u32,
    failed: u32,
    ignored: u32,
    /// Tests that libtest counts as passed, but that print that they, or parts of them, are
    /// skipped.
    skipped: u32,
    /// Also false if the process ended before it printed how many tests passed.
    is_success: bool,
    output: String,
}

/// Cargo with the environment of a shell. `cargo xtask` sets variables that describe this package.
/// Crates whose build scripts depend on these variables would be rebuilt, together with all crates
/// that depend on them.
fn cargo(root: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO"));
    command.args(arguments).current_dir(root);
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&name);
        }
    }
    if links_slowly() {
        command.env("RUSTFLAGS", "-Clink-arg=-fuse-ld=lld");
    }
    command
}

/// Whether Rust would link with the linker of binutils although lld is installed. The linker of
/// binutils takes four times as long. On this platform, Rust 1.90 and newer contain lld and use it.
/// Flags that the user sets may already select a linker, so the result is then false.
fn links_slowly() -> bool {
    let said = |program: &str| {
        let output = Command::new(program).arg("--version").output().ok()?;
        Some(String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let minor = said("rustc").and_then(|text| text.split('.').nth(1)?.parse::<u32>().ok());
    let is_set = std::env::vars_os().any(|(name, _)| name.to_string_lossy().contains("RUSTFLAGS"));
    !is_set && minor.is_some_and(|minor| minor < 90) && said("ld.lld").is_some()
}

fn build(root: &Path) -> Result<()> {
    let arguments = ["build", "--workspace", "--all-targets", "--locked"];
    let status = cargo(root, &arguments)
        .status()
        .context("cannot run cargo")?;
    if !status.success() {
        bail!("cargo build failed");
    }
    Ok(())
}

fn binaries(root: &Path) -> Result<Vec<Binary>> {
    let arguments = ["test", "--workspace", "--locked", "--no-run"];
    let output = cargo(root, &arguments)
        .arg("--message-format=json")
        .stderr(Stdio::inherit())
        .output()
        .context("cannot run cargo")?;
    if !output.status.success() {
        bail!("cargo test --no-run failed");
    }
    let lines = String::from_utf8(output.stdout)?;
    let mut found = Vec::new();
    for line in lines.lines() {
        let message: serde_json::Value = serde_json::from_str(line)?;
        let is_test = message["profile"]["test"].as_bool() == Some(true);
        let (true, Some(file)) = (is_test, message["executable"].as_str()) else {
            continue;
        };
        let manifest = message["manifest_path"].as_str().context("no manifest")?;
        let folder = Path::new(manifest).parent().context("no folder")?;
        let package = package_name(&folder.join("Cargo.toml"))?;
        let target = message["target"]["name"].as_str().unwrap_or_default();
        let kind = message["target"]["kind"][0].as_str().unwrap_or_default();
        found.push(Binary {
            name: match kind {
                "test" => format!("{package}::{target}"),
                "bin" => format!("{package} (bin {target})"),
                _ => package,
            },
            file: file.into(),
            folder: folder.into(),
        });
    }
    Ok(found)
}

/// The name of the package in a manifest.
fn package_name(manifest: &Path) -> Result<String> {
    let text = std::fs::read_to_string(manifest)?;
    let line = text.lines().find_map(|l| l.strip_prefix("name = \""));
    let name = line.and_then(|l| l.strip_suffix('"'));
    Ok(name
        .with_context(|| format!("{}: no name", manifest.display()))?
        .to_owned())
}

/// Runs the binaries, as many at the same time as there are processors.
fn side_by_side(binaries: Vec<Binary>) -> Vec<Outcome> {
    let at_once = std::thread::available_parallelism().map_or(1, usize::from);
    let left = Mutex::new(binaries.into_iter());
    let done = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..at_once {
            scope.spawn(|| loop {
                let next = left.lock().expect("no thread panics with it").next();
                let Some(binary) = next else { break };
                let outcome = run(&binary);
                say(&outcome);
                done.lock().expect("no thread panics with it").push(outcome);
            });
        }
    });
    done.into_inner().expect("no thread panics with it")
}

fn run(binary: &Binary) -> Outcome {
    measured(binary.name.clone(), &mut command(binary))
}

fn command(binary: &Binary) -> Command {
    let mut command = Command::new(&binary.file);
    command
        // Skipped tests print this in output that libtest drops without this flag.
        .arg("--show-output")
        .current_dir(&binary.folder)
        .env("CARGO_MANIFEST_DIR", &binary.folder)
        // The libraries that tests load need not be built again (client/tests/common/built.rs).
        .env("MGN_BUILT", "1");
    command
}

fn measured(name: String, command: &mut Command) -> Outcome {
    let start = Instant::now();
    let result = command.stdin(Stdio::null()).output();
    let took = start.elapsed();
    match result {
        Ok(output) => judged(name, took, &output),
        Err(error) => Outcome {
            name,
            took,
            passed: 0,
            failed: 0,
            ignored: 0,
            skipped: 0,
            is_success: false,
            output: format!("cannot be started: {error}\n"),
        },
    }
}

fn judged(name: String, took: Duration, output: &Output) -> Outcome {
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let count = |what: &str| text.lines().filter_map(|l| counted(l, what)).sum::<u32>();
    let skipped = skipped(&text);
    Outcome {
        name,
        took,
        passed: count("passed").saturating_sub(skipped),
        failed: count("failed"),
        ignored: count("ignored"),
        skipped,
        is_success: output.status.success(),
        output: format!(
            "{text}{}{}\n",
            String::from_utf8_lossy(&output.stderr),
            output.status
        ),
    }
}

/// The number before `what` in a closing line of libtest:
/// `test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.1s`.
fn counted(line: &str, what: &str) -> Option<u32> {
    let counts = line.strip_prefix("test result: ")?;
    let mut words = counts.split([' ', ';', '.']).filter(|w| !w.is_empty());
    let mut before = words.next()?;
    words.find_map(|word| {
        let number = (word == what).then(|| before.parse().ok()).flatten();
        before = word;
        number
    })
}

/// The number of passed tests that print that they are skipped, from the output of libtest with
/// `--show-output`. This output has a section for each test that prints something. The sections of
/// passed tests come first.
fn skipped(output: &str) -> u32 {
    let mut is_passing = false;
    let mut is_counted = false;
    let mut count = 0;
    for line in output.lines() {
        match line {
            "successes:" => is_passing = true,
            "failures:" => is_passing = false,
            _ if line.starts_with("---- ") && line.ends_with(" ----") => is_counted = false,
            _ if is_passing && !is_counted && is_why(line) => {
                is_counted = true;
                count += 1;
            }
            _ => {}
        }
    }
    count
}

/// Whether this line says why a test is skipped.
fn is_why(line: &str) -> bool {
    line.trim_start().starts_with("SKIPPED")
}

fn say(outcome: &Outcome) {
    let Outcome {
        name,
        passed,
        ignored,
        skipped,
        ..
    } = outcome;
    let took = outcome.took.as_secs_f64();
    let how = if outcome.is_success { "ok" } else { "FAILED" };
    let ignored = match ignored {
        0 => String::new(),
        n => format!(", {n} ignored"),
    };
    let skipped = match skipped {
        0 => String::new(),
        n => format!(", {n} skipped"),
    };
    println!("{how:6} {name}: {passed} passed{skipped}{ignored} in {took:.1} s");
    for line in outcome.output.lines().filter(|l| is_why(l)) {
        println!("       {}", line.trim());
    }
    if !outcome.is_success {
        println!("{}", outcome.output);
    }
}

/// One line for each of the slowest binaries, the slowest first.
fn slowest(outcomes: &[Outcome]) -> String {
    let mut slow: Vec<&Outcome> = outcomes.iter().collect();
    slow.sort_by_key(|o| std::cmp::Reverse(o.took));
    slow.iter()
        .take(SLOWEST)
        .map(|o| format!("  {:6.1} s  {}\n", o.took.as_secs_f64(), o.name))
        .collect()
}

fn report(outcomes: Vec<Outcome>) -> Result<()> {
    println!("\nThe slowest:\n{}", slowest(&outcomes));
    let bad: Vec<&str> = outcomes
        .iter()
        .filter(|o| !o.is_success)
        .map(|o| o.name.as_str())
        .collect();
    let sum = |of: fn(&Outcome) -> u32| outcomes.iter().map(of).sum::<u32>();
    // A process that ended before its count counts as one failure.
    let silent = outcomes.iter().filter(|o| !o.is_success && o.failed == 0);
    let failed = sum(|o| o.failed) + silent.count() as u32;
    let (passed, skipped) = (sum(|o| o.passed), sum(|o| o.skipped));
    println!("\n{passed} passed, {failed} failed, {skipped} skipped");
    if !bad.is_empty() {
        bail!("tests failed in: {}", bad.join(", "));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str =
        "test result: ok. 31 passed; 2 failed; 1 ignored; 0 measured; 7 filtered out; finished in 0.01s";

    #[test]
    fn counts_come_from_the_closing_line() {
        assert_eq!(counted(LINE, "passed"), Some(31));
        assert_eq!(counted(LINE, "failed"), Some(2));
        assert_eq!(counted(LINE, "ignored"), Some(1));
        assert_eq!(counted("test walls::passed ... ok", "passed"), None);
    }

    /// The output of libtest with `--show-output`, for five tests.
    const SHOWN: &str = "\
running 5 tests
test a ... ok
successes:

---- a stdout ----
SKIPPED: there is no a
SKIPPED: nor the other one

---- b stdout ----
nothing is SKIPPED here

---- c stdout ----
first this
SKIPPED: there is no c


successes:
    a
    b
    c
    d

failures:

---- e stdout ----
SKIPPED: a part of it
thread 'e' panicked at e.rs:1:1:

failures:
    e

test result: FAILED. 4 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s
";

    #[test]
    fn tests_that_say_so_are_skipped_and_have_not_passed() {
        let mut command = Command::new("printf");
        let outcome = measured("shown".into(), command.args(["%s", SHOWN]));
        assert_eq!((outcome.passed, outcome.failed, outcome.skipped), (2, 1, 2));
    }

    /// A test of libtest itself: it shows the output of a passed test because of `--show-output`.
    #[test]
    fn what_a_test_that_passes_says_is_shown() {
        const ASKED: &str = "MGN_TEST_SAYS_SKIPPED";
        if std::env::var_os(ASKED).is_some() {
            return eprintln!("SKIPPED: as asked");
        }
        let binary = Binary {
            name: "this".into(),
            file: std::env::current_exe().unwrap(),
            folder: ".".into(),
        };
        let mut command = command(&binary);
        command.env(ASKED, "1").args([
            "--exact",
            "testing::tests::what_a_test_that_passes_says_is_shown",
        ]);
        let outcome = measured("this".into(), &mut command);
        assert_eq!((outcome.passed, outcome.skipped), (0, 1));
        assert!(outcome.output.lines().any(is_why), "{}", outcome.output);
    }

    #[test]
    fn the_ten_slowest_are_named() {
        let mut outcomes: Vec<Outcome> = (1..=12)
            .map(|n| {
                let name = format!("n{n}");
                let mut outcome = measured(name, &mut Command::new("true"));
                outcome.took = Duration::from_secs(n * 7 % 13);
                outcome
            })
            .collect();
        outcomes.swap(0, 5);
        let said = slowest(&outcomes);
        let took: Vec<&str> = said
            .lines()
            .map(|line| line.split_whitespace().next().unwrap())
            .collect();
        let longest: Vec<String> = (3..=12).rev().map(|s| format!("{s}.0")).collect();
        assert_eq!(took, longest, "{said}");
        assert!(said.starts_with("    12.0 s  n11\n"), "{said}");
    }

    #[test]
    fn a_process_that_ends_early_is_a_failure() {
        let outcome = measured("early".into(), Command::new("sh").args(["-c", "exit 3"]));
        assert!(!outcome.is_success);
        assert!(report(vec![outcome]).is_err());
    }
}
