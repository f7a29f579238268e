//! The conformance programs: the picture and the log of every scene are the same through a server.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use mgn_tests::{compare_all, programs, Case, Stage};

/// Programs that read back their windows from the X server. The windows of other programs could
/// cover these windows.
const ALONE: [&str; 3] = ["depths", "displays", "glx_drawables"];

/// Programs whose frames depend on more than their drawing: threads or processes show several
/// windows in any order, windows are resized while they are shown, or a window shows contents that
/// the program has not drawn.
const UNORDERED: [&str; 7] = [
    "displays",
    "egl_window",
    "fork_exec",
    "glx_and_egl",
    "glx_queries",
    "threads",
    "windows",
];

/// Programs that log the messages of the shader compiler.
const COMPILING: [&str; 1] = ["glsl_interface"];

/// The ways from a program to its renderers. With `stages-`, stages in the program's process decode
/// all commands and encode them again without a change. With `wall-tcp`, each renderer gets its own
/// copy of the commands for its tile.
const WAYS: [&str; 6] = [
    "shm",
    "tcp",
    "wall-2x2",
    "wall-uneven",
    "stages-shm",
    "stages-wall-tcp",
];

/// `MGN_WAYS` selects some of `WAYS`. Its values are separated by commas.
#[test]
fn every_scene_is_the_same() {
    let chosen = std::env::var("MGN_WAYS").ok();
    let ways: Vec<&str> = match &chosen {
        Some(chosen) => chosen.split(',').collect(),
        None => WAYS.into(),
    };
    for way in &ways {
        assert!(
            WAYS.contains(way),
            "MGN_WAYS: there is no way {way:?} among {WAYS:?}"
        );
    }
    compare_all(&Stage::new(), &cases(), &ways);
}

fn cases() -> Vec<Case> {
    let folder = programs("tests/conformance");
    let mut names: Vec<String> = fs::read_dir(&folder)
        .expect("the programs' folder")
        .flatten()
        .filter(|e| {
            e.metadata()
                .is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
        })
        .map(|e| e.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
        .into_iter()
        .map(|name| {
            let program = folder.join(&name);
            let alone = ALONE.contains(&name.as_str());
            let orderly = !UNORDERED.contains(&name.as_str());
            let compiles = COMPILING.contains(&name.as_str());
            let mut case = Case::new(name, program, |out| vec!["--out".into(), out.into()]);
            case.alone = alone;
            case.orderly = orderly;
            case.compiles = compiles;
            case
        })
        .collect()
}
