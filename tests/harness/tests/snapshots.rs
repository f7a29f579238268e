//! After a snapshot, a session continues as it would have without one. The conformance programs are
//! recorded, and replayed across snapshots.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use mgn_tests::{in_parallel, programs, Outcome, Stage};
use serde_json::Value;

const RUN_TIMEOUT: Duration = Duration::from_secs(120);

/// Longer recordings are left out: these programs ask for every parameter that there is.
const MOST_MESSAGES: u64 = 3000;

/// The percentage of a recording after which the snapshot is taken.
const PLACE: u64 = 55;

/// Programs whose results differ after a snapshot, the prefix of the versions of Mesa for which
/// they differ, and the reason. An entry whose program no longer differs is an error.
const DIFFERENT: &[(&str, &str, &str)] = &[
    (
        "copy_and_bitmap",
        "",
        "not all of a raster position can be set",
    ),
    (
        "es1_fixed",
        "22.",
        "a negative zero in a plane of eye coordinates is a positive one afterwards",
    ),
    (
        "multisample",
        "",
        "samples of a multisampled image are not to be had one by one",
    ),
    (
        "read_buffers",
        "22.",
        "which buffer a new context reads depends on the surface that is current meanwhile",
    ),
];

/// Programs whose recordings cannot be replayed: no renderer answers while a recording is made.
const NOT_REPLAYED: &[(&str, &str)] = &[
    (
        "elements",
        "reads indices from a buffer whose contents it asked for",
    ),
    ("fork_exec", "several processes write to the recording"),
];

/// Programs whose recordings use features that some drivers lack. No driver reports its features
/// while a recording is made.
const ASSUMING: &[(&str, &str)] = &[
    ("draw_texture", "OpenGL ES 1"),
    ("egl_surfaceless", "OpenGL ES 1"),
    ("egl_surfaces", "a configuration without depth and stencil"),
    ("es1_drawing", "OpenGL ES 1"),
    ("es1_fixed", "OpenGL ES 1"),
];

/// The message of `mgn replay` for such a recording.
const LACKING: &str = "this driver lacks";

/// The result of a replay.
#[derive(PartialEq)]
struct Replayed {
    frames: Vec<Vec<u8>>,
    answers: Value,
}

#[test]
fn recordings_go_on_from_snapshots() {
    let stage = Stage::new();
    let folder = programs("tests/conformance");
    let is_program = |entry: &fs::DirEntry| {
        let meta = entry.metadata();
        meta.is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
    };
    let files = fs::read_dir(&folder)
        .expect("the programs' folder")
        .flatten();
    let mut names: Vec<String> = files
        .filter(is_program)
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    let mesa = stage.mesa();
    let differences = in_parallel(&names, |name| across(&stage, &folder, name));
    let mut wrong = String::new();
    let mut taken = 0;
    for (name, (snapshots, difference)) in names.iter().zip(differences) {
        taken += snapshots;
        let mut expected = DIFFERENT.iter();
        let expected =
            expected.find(|(known, version, _)| known == name && mesa.starts_with(version));
        match (expected, difference) {
            (None, Some(what)) => wrong += &format!("{name}: {what}\n"),
            (Some(_), None) => wrong += &format!("{name}: differs no longer\n"),
            _ => {}
        }
    }
    assert!(wrong.is_empty(), "after {taken} snapshots:\n{wrong}");
    assert!(taken > names.len(), "{taken} snapshots were taken");
}

/// The number of snapshots that were taken of a program, and the first error.
fn across(stage: &Stage, folder: &Path, name: &str) -> (usize, Option<String>) {
    let known = NOT_REPLAYED.iter().any(|(known, _)| *known == name);
    let assumes = ASSUMING.iter().any(|(assuming, _)| *assuming == name);
    let out = stage.folder();
    let recording = out.join("recording");
    let mut command = stage.mgn();
    command
        .args(["run", "--transport"])
        .arg(format!("file:{}", recording.display()))
        .arg("--")
        .arg(folder.join(name))
        .arg("--out")
        .arg(&out);
    Outcome::of(&mut command, RUN_TIMEOUT);
    let whole = match replay(stage, &recording, 0, "skip") {
        Err(_) if known => return (0, None),
        Err(why) if why.contains(LACKING) && assumes => return (0, None),
        Ok(_) if known => return (0, Some("can be replayed".into())),
        Err(why) => return (0, Some(why)),
        Ok((_, played)) => played["messages"].as_u64().unwrap_or(0),
    };
    if whole > MOST_MESSAGES {
        return (0, None);
    }
    let mut snapshots = 0;
    let from = whole * PLACE / 100;
    let mut against = None;
    for middle in ["skip", "take", "succeed"] {
        let (replayed, played) = match replay(stage, &recording, from, middle) {
            Ok(replayed) => replayed,
            Err(why) => return (snapshots, Some(format!("{middle} at {from}: {why}"))),
        };
        snapshots += usize::from(!played["at"].is_null());
        match &against {
            None => against = Some(replayed),
            Some(first) if *first != replayed => {
                let what = difference(first, &replayed);
                return (snapshots, Some(format!("{middle} at {from}: {what}")));
            }
            Some(_) => {}
        }
    }
    let _ = fs::remove_dir_all(&out);
    (snapshots, None)
}

fn difference(one: &Replayed, other: &Replayed) -> String {
    let frames = one.frames.iter().zip(&other.frames);
    let frame = frames.enumerate().find(|(_, (a, b))| a != b);
    let none = Vec::new();
    let list = |replayed: &Replayed| replayed.answers.as_array().unwrap_or(&none).clone();
    let (a, b) = (list(one), list(other));
    let answer = a.iter().zip(&b).enumerate().find(|(_, (a, b))| a != b);
    let answer = answer.map(|(at, (answer, _))| format!("{at}, {}", answer[0]));
    format!("frame {:?}, answer {answer:?}", frame.map(|(at, _)| at))
}

fn replay(
    stage: &Stage,
    recording: &Path,
    from: u64,
    middle: &str,
) -> Result<(Replayed, Value), String> {
    let folder = stage.folder();
    let mut command = stage.mgn();
    command
        .arg("replay")
        .arg(recording)
        .args(["--from", &from.to_string(), "--middle", middle])
        .arg("--save")
        .arg(&folder);
    let outcome = Outcome::of(&mut command, RUN_TIMEOUT);
    if outcome.status != Some(0) {
        return Err(outcome.describe());
    }
    let played: Value = serde_json::from_str(&outcome.stdout).map_err(|e| e.to_string())?;
    let mut files: Vec<_> = fs::read_dir(&folder)
        .map_err(|e| e.to_string())?
        .flatten()
        .map(|entry| entry.path())
        .collect();
    files.sort();
    let frames = files
        .iter()
        .filter_map(|file| fs::read(file).ok())
        .collect();
    let _ = fs::remove_dir_all(&folder);
    let mut answers = played["answers"].clone();
    if let Some(answers) = answers.as_array_mut() {
        // The state of a fence depends on the time.
        answers.retain(|answer| answer[0] != "glClientWaitSync");
    }
    Ok((Replayed { frames, answers }, played))
}
