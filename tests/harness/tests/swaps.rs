//! Several programs that wait for each other before they swap.

use std::process::Command;
use std::time::Duration;

use mgn_tests::{programs, Outcome, Stage};

/// Longer than anything takes, even on a slow machine.
const RUN_TIMEOUT: Duration = Duration::from_secs(120);

/// Runs `script` in three ranks. DEMO stands for a program that draws.
fn run(stage: &Stage, words: &str, script: &str) -> Outcome {
    let demo = programs("demos").join("iso_demo");
    let demo = format!("{} --triangles 2000 --size 200x100", demo.display());
    let script = script.replace("DEMO", &demo);
    let mut command: Command = stage.mgn();
    command.args("run -np 3".split(' ')).args(words.split(' '));
    command.args(["--", "sh", "-c", &script]);
    Outcome::of(&mut command, RUN_TIMEOUT)
}

/// Rank 0 cannot complete three frames before rank 1 begins its first frame.
#[test]
fn nobody_is_ahead() {
    let stage = Stage::new();
    for kind in [
        "auto",
        "star",
        "tree-2",
        "dissemination",
        "hierarchical",
        "udp",
    ] {
        let done = stage.folder().join("done");
        let script = format!(
            "test %r = 0 && {{ DEMO --frames 3; touch {done}; exit 0; }}
             test %r = 1 && sleep 1; test -e {done} && echo EARLY; exec DEMO --frames 3",
            done = done.display()
        );
        let outcome = run(&stage, &format!("--swap-barrier {kind}"), &script);
        let told = outcome.describe();
        assert_eq!(outcome.status, Some(0), "{kind}: {told}");
        assert!(!outcome.stdout.contains("EARLY"), "{kind}: {told}");
        assert!(outcome.stderr.is_empty(), "{kind}: {told}");
    }
    // Without the barrier, rank 0 completes its frames before the others begin.
    for (words, status) in [
        ("--present window", 0),
        ("--swap-barrier shm --swap-timeout 3", 76),
    ] {
        let script = format!(
            "test %r = 0 && {{ DEMO --frames 3; touch {done}; exit 0; }}
             until test -e {done}; do sleep 0.1; done; exec DEMO --frames 3",
            done = stage.folder().join("done").display()
        );
        let outcome = run(&stage, words, &script);
        assert_eq!(outcome.status, Some(status), "{}", outcome.describe());
    }
}

#[test]
fn others_go_on_without_a_rank_that_ends() {
    let stage = Stage::new();
    for kind in ["shm", "tree", "udp"] {
        let script = "test %r = 1 && exec DEMO --frames 2; exec DEMO --frames 9";
        let outcome = run(&stage, &format!("--swap-barrier {kind}"), script);
        assert_eq!(outcome.status, Some(0), "{kind}: {}", outcome.describe());
        assert!(outcome.stderr.is_empty(), "{kind}: {}", outcome.describe());
    }
}

/// One line names the rank that hangs, whichever rank it is.
#[test]
fn a_rank_that_hangs_is_named() {
    let stage = Stage::new();
    for (words, rank, said) in [
        ("--swap-barrier shm --swap-timeout 3", 1, "for rank 1"),
        ("--swap-barrier star --swap-timeout 3", 0, "for rank 0"),
    ] {
        let script = format!("(sleep 2; test %r = {rank} && kill -STOP $$) & exec DEMO");
        let outcome = run(&stage, words, &script);
        let told = outcome.describe();
        assert_eq!(outcome.status, Some(76), "{words}: {told}");
        let lines = outcome.stderr.lines();
        let lines: Vec<&str> = lines.filter(|line| line.starts_with("mgn:")).collect();
        assert_eq!(lines.len(), 1, "{words}: {told}");
        assert!(lines[0].contains(said), "{words}: {told}");
    }
}

/// The launcher reports the lost rank, as it does without the barrier.
#[test]
fn a_rank_that_is_killed_ends_all() {
    let stage = Stage::new();
    let script = "(sleep 1; test %r = 1 && kill -9 $$) & exec DEMO";
    let outcome = run(&stage, "--swap-barrier dissemination", script);
    let told = outcome.describe();
    assert_eq!(outcome.status, Some(137), "{told}");
    assert!(
        outcome.stderr.contains("rank 1 was ended by signal 9"),
        "{told}"
    );
}

#[test]
fn compositions_wait_too() {
    let stage = Stage::new();
    let script = "test %r = 0 && exec DEMO --frames 3; exec DEMO";
    for kind in ["shm", "star", "udp"] {
        let words = format!("--composite depth --swap-barrier {kind}");
        let outcome = run(&stage, &words, script);
        assert_eq!(outcome.status, Some(0), "{kind}: {}", outcome.describe());
        assert!(outcome.stderr.is_empty(), "{kind}: {}", outcome.describe());
    }
}

#[test]
fn wrong_words_are_explained() {
    let stage = Stage::new();
    for (words, said) in [
        (
            "-np 2 --swap-barrier dissemnation",
            "did you mean dissemination?",
        ),
        ("-np 2 --swap-barrier shm:eth0", "takes no interface"),
        ("-np 2 --swap-barrier wired", "needs to know its lines"),
        ("--swap-barrier shm", "this is the only rank: add -np N"),
        ("--swap-timeout 5", "--swap-barrier <KIND>"),
    ] {
        let mut command = stage.mgn();
        command.arg("run").args(words.split(' '));
        let outcome = Outcome::of(command.args(["--", "true"]), RUN_TIMEOUT);
        let told = outcome.describe();
        assert!(
            outcome.status.is_some_and(|status| status > 0),
            "{words}: {told}"
        );
        assert!(outcome.stderr.contains(said), "{words}: {told}");
    }
}
