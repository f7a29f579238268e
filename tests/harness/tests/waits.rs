//! Tests of the commands for which programs wait.

use std::fs;
use std::time::Duration;

use mgn_tests::{programs, Outcome, Stage};

/// The round trips of a scene, by the command that caused them.
fn waits(stage: &Stage, scene: &str) -> serde_json::Value {
    let folder = stage.folder();
    let stats = folder.join("stats.json");
    let mut command = stage.mgn();
    command.args(["run", "--stats-json"]).arg(&stats).arg("--");
    command.arg(programs("tests/conformance").join("checked_frames"));
    command.args(["--scene", scene, "--out"]).arg(&folder);
    let outcome = Outcome::of(&mut command, Duration::from_secs(60));
    assert_eq!(outcome.status, Some(0), "{}", outcome.describe());
    let figures: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(stats).unwrap()).unwrap();
    assert!(
        figures["round_trips"]["glReadPixels"].as_u64() >= Some(1),
        "{figures}"
    );
    figures["round_trips"].clone()
}

#[test]
fn errors_that_cannot_be_are_not_asked_for() {
    let stage = Stage::new();
    assert_eq!(waits(&stage, "few"), waits(&stage, "many"));
    assert_eq!(waits(&stage, "few_changes"), waits(&stage, "many_changes"));
    assert_eq!(waits(&stage, "few_lists"), waits(&stage, "many_lists"));
    assert_eq!(waits(&stage, "few_repeats"), waits(&stage, "many_repeats"));
}

#[test]
fn small_reads_are_answered_from_one() {
    let stage = Stage::new();
    assert_eq!(waits(&stage, "few_reads"), waits(&stage, "many_reads"));
}
