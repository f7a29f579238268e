//! The replay of a recorded stream draws the same as the program draws through a server.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use mgn_tests::{camera, programs, Outcome, Stage};

const RUN_TIMEOUT: Duration = Duration::from_secs(180);

fn finished(command: &mut Command) -> Outcome {
    let outcome = Outcome::of(command, RUN_TIMEOUT);
    assert_eq!(outcome.status, Some(0), "{}", outcome.describe());
    outcome
}

fn saved(folder: &Path) -> Vec<Vec<u8>> {
    let frame = |i| std::fs::read(folder.join(format!("frame-{i:06}.png")));
    (1..).map_while(|i| frame(i).ok()).collect()
}

#[test]
fn a_replayed_recording_draws_the_same() {
    let stage = Stage::new();
    let demo = |name: &str| programs("demos").join(name).display().to_string();
    let mut gears = vec!["env".into()];
    let still = camera().assignments(None).into_iter();
    gears.extend(still.map(|a| a.into_string().expect("the path is text")));
    gears.push("es2gears_x11".into());
    let commands = [
        vec![demo("iso_demo"), "--mode".into(), "immediate".into()],
        vec![demo("iso_demo"), "--mode".into(), "static".into()],
        vec![demo("rings")],
        vec![demo("meshview")],
        // A program with shaders and uniforms.
        gears,
    ];
    for program in commands {
        let folder = stage.folder();
        let (recording, live, replayed) = (
            folder.join("recording"),
            folder.join("live"),
            folder.join("replayed"),
        );
        let run = |what: &mut dyn FnMut(&mut Command)| {
            let mut command = stage.mgn();
            command.args(["run", "--frames", "3"]);
            what(&mut command);
            command.arg("--").args(&program);
            finished(&mut command);
        };
        run(&mut |command| {
            let to = format!("file:{}", recording.display());
            command.args(["--transport", &to]);
        });
        run(&mut |command| {
            command.arg("--save").arg(&live);
        });
        finished(
            stage
                .mgn()
                .arg("replay")
                .arg(&recording)
                .arg("--save")
                .arg(&replayed),
        );
        let live = saved(&live);
        assert_eq!(live.len(), 3, "{program:?}");
        assert!(live == saved(&replayed), "{program:?}");
    }
}

/// Stages in the program's process decode commands and write them again. The result is identical to
/// the bit.
#[test]
fn stages_that_look_leave_the_stream_as_it_is() {
    let stage = Stage::new();
    for (name, mode) in [
        ("rings", "immediate"),
        ("meshview", "immediate"),
        ("iso_demo", "static"),
    ] {
        let folder = stage.folder();
        let recorded = |name_of: &str, flags: &[&str]| {
            let file = folder.join(name_of);
            let mut command = stage.mgn();
            command.args(["run", "--frames", "3", "--transport"]);
            command.arg(format!("file:{}", file.display()));
            let program = programs("demos").join(name);
            finished(
                command
                    .args(flags)
                    .arg("--")
                    .arg(program)
                    .args(["--mode", mode]),
            );
            let recording = std::fs::read(file).unwrap();
            // A recording begins with the name of the process and its id, which differ.
            let length = u32::from_le_bytes(recording[8..12].try_into().unwrap());
            recording[12 + length as usize..].to_vec()
        };
        let table = format!("histogram:file={}", folder.join("table").display());
        let plain = recorded("plain", &[]);
        assert!(plain.len() > 10_000, "{name}");
        assert!(
            plain == recorded("looked", &["--client-spu", &table]),
            "{name}"
        );
    }
}

#[test]
fn what_is_no_whole_recording_is_one_clear_line() {
    let stage = Stage::new();
    let folder = stage.folder();
    let recording = folder.join("recording");
    let to = format!("file:{}", recording.display());
    let program = programs("demos").join("rings");
    finished(
        stage
            .mgn()
            .args(["run", "--frames", "2", "--transport", &to, "--"])
            .arg(program),
    );
    let whole = std::fs::read(&recording).expect("a recording");
    for (what, bytes) in [
        ("empty", &[][..]),
        ("text", &b"This is no recording, but a text."[..]),
        ("cut", &whole[..whole.len() - 5]),
    ] {
        let file = folder.join(what);
        std::fs::write(&file, bytes).expect("the disk has room");
        let outcome = Outcome::of(stage.mgn().arg("replay").arg(&file), RUN_TIMEOUT);
        assert_eq!(outcome.status, Some(1), "{what}: {}", outcome.describe());
        let said = outcome.stderr.trim();
        assert_eq!(said.lines().count(), 1, "{what}: {said}");
        assert!(said.contains(what), "{what}: {said}");
    }
}
