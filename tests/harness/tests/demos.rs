//! The demos in every mode, at frames 1, 10 and 30.

use std::ffi::OsString;
use std::path::Path;

use mgn_tests::{compare_all, programs, Case, Stage};

const MODES: [&str; 4] = ["immediate", "arrays", "vbo", "static"];

fn arguments(mode: &str, more: &[&str], out: &Path) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = vec!["--mode".into(), mode.into()];
    arguments.extend(["--frames", "30", "--size", "400x300"].map(OsString::from));
    arguments.extend(more.iter().map(OsString::from));
    for frame in [1, 10, 30] {
        let file = out.join(format!("{frame:03}.ppm"));
        arguments.push("--dump".into());
        arguments.push(format!("{frame}:{}", file.display()).into());
    }
    arguments
}

fn cases(demo: &'static str, more: &'static [&'static str]) -> Vec<Case> {
    let program = programs("demos").join(demo);
    let case = |mode: &'static str| {
        Case::new(format!("{demo}-{mode}"), &program, move |out| {
            arguments(mode, more, out)
        })
    };
    MODES.map(case).into()
}

#[test]
fn every_mode_of_every_demo_is_the_same() {
    // iso_demo draws a tenth of its triangles. The pictures test the same, and the test is ten
    // times faster.
    let all = [
        cases("iso_demo", &["--triangles", "120000"]),
        cases("rings", &[]),
        cases("meshview", &[]),
    ];
    let all: Vec<Case> = all.into_iter().flatten().collect();
    compare_all(
        &Stage::new(),
        &all,
        &["shm", "tcp", "wall-2x2", "wall-3x1", "wall-uneven"],
    );
}
