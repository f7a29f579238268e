//! `mgn verify`, as users run it.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use mgn_tests::{camera, Outcome, Stage};

const RUN_TIMEOUT: Duration = Duration::from_secs(60);

fn verify(stage: &Stage, arguments: &[&str]) -> Outcome {
    // From here on, the fixed-clock library is beside this build's `mgn`.
    camera();
    Outcome::of(stage.mgn().arg("verify").args(arguments), RUN_TIMEOUT)
}

/// A command line for a shell that runs `script`. In the script, `$ours` is not empty if the run is
/// through a server.
fn script(script: &str) -> Vec<String> {
    let whole = format!("ours=$MGN_SERVER; {script}");
    ["--", "sh", "-c", &whole].map(str::to_owned).into()
}

#[track_caller]
fn ends_with(outcome: &Outcome, status: i32, words: &[&str]) {
    assert_eq!(outcome.status, Some(status), "{}", outcome.describe());
    let said = if status < 2 {
        &outcome.stdout
    } else {
        &outcome.stderr
    };
    let said = said.trim_end().lines().last().unwrap_or_default();
    for word in words {
        assert!(
            said.contains(word),
            "{word} is not last: {}",
            outcome.describe()
        );
    }
}

#[test]
fn equal_frames_are_a_success() {
    let stage = Stage::new();
    let out = stage.folder();
    let keep = out.to_str().unwrap();
    for more in [
        &["--headless", "--", "glxgears"][..],
        &[
            "--transport",
            "tcp",
            "--out",
            keep,
            "--every",
            "4",
            "es2gears_x11",
        ],
    ] {
        let mut arguments = vec!["--frames", "12"];
        arguments.extend(more);
        let outcome = verify(&stage, &arguments);
        let count = if more.len() > 3 { "3" } else { "12" };
        ends_with(&outcome, 0, &[count, "frames, bit-identical"]);
    }
    assert_eq!(fs::read_dir(&out).unwrap().count(), 0);
}

#[test]
fn a_frame_that_differs_is_told_and_kept() {
    let stage = Stage::new();
    let out = stage.folder();
    // Through a server, the program's clock runs at another speed, so only the first frame is the
    // same.
    let run = script("[ \"$ours\" ] && export MGN_CLOCK_STEP_NS=1; exec glxgears");
    let mut arguments = vec!["--frames", "3", "--out", out.to_str().unwrap()];
    arguments.extend(run.iter().map(String::as_str));
    let outcome = verify(&stage, &arguments);
    ends_with(
        &outcome,
        1,
        &["2 of 3 frames differ", out.to_str().unwrap()],
    );
    let first = outcome.stdout.lines().next().unwrap_or_default();
    for word in ["frame-000002.ppm", "pixels", "the first is at", "directly"] {
        assert!(first.contains(word), "{first}");
    }
    for kind in ["direct", "ours", "difference"] {
        assert!(out.join(format!("frame-000002.{kind}.png")).exists());
        assert!(!out.join(format!("frame-000001.{kind}.png")).exists());
    }
}

#[test]
fn an_end_that_differs_is_told() {
    let stage = Stage::new();
    let run = script("[ \"$ours\" ] && timeout 20 glxgears && exit 7; exec glxgears");
    let mut arguments = vec!["--frames", "2"];
    arguments.extend(run.iter().map(String::as_str));
    let outcome = verify(&stage, &arguments);
    ends_with(&outcome, 1, &["2 frames, bit-identical"]);
    assert!(outcome
        .stdout
        .contains("status is 7 through the server, and 0 directly"));
}

#[test]
fn input_comes_at_its_frame() {
    let stage = Stage::new();
    let file = stage.folder().join("said");
    let said = format!("4:date +%Y >> {}; sleep 0.01", file.display());
    let run = ["--frames", "6", "--input", &said, "--", "glxgears"];
    ends_with(&verify(&stage, &run), 0, &["6 frames"]);
    let text = fs::read_to_string(&file).unwrap();
    assert_eq!(text.lines().count(), 2, "once a run: {text}");
    assert!(!text.contains("2001"), "its clock is the true one: {text}");
    let fails = ["--frames", "6", "--input", "2:exit 3", "--", "glxgears"];
    let outcome = verify(&stage, &fails);
    assert!(outcome.stderr.contains("exit 3"), "{}", outcome.describe());
}

#[test]
fn what_cannot_be_compared_is_one_clear_line() {
    let stage = Stage::new();
    let ends = |arguments: &[&str], words: &[&str]| {
        let outcome = verify(&stage, arguments);
        ends_with(&outcome, 2, words);
        assert!(outcome.stdout.is_empty(), "{}", outcome.describe());
    };
    ends(&["--", "true"], &["used no OpenGL", "directly"]);
    ends(&["--", "glxinfo", "-B"], &["made no frames", "directly"]);
    let forever = ["--timeout", "1", "--", "sh", "-c", "while :; do :; done"];
    ends(&forever, &["had not ended", "--timeout"]);
}

/// The message on a machine without the library. The library is searched for as by an installed
/// `mgn`.
#[test]
fn a_library_that_is_not_there_is_said() {
    let stage = Stage::new();
    let mut command: Command = stage.mgn();
    command.env("MGN_FIXED_CLOCK_LIBRARY", Path::new("/no/such.so"));
    let outcome = Outcome::of(command.args(["verify", "--", "glxgears"]), RUN_TIMEOUT);
    ends_with(&outcome, 125, &["/no/such.so"]);
}
