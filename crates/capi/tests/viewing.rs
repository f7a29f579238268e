//! Pictures of a C program, as a page of the viewer gets them.

mod support;
#[path = "../../viewer/tests/support/mod.rs"]
mod watching;

use std::io::Write;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use mgn_wall::Wall;
use support::{compile, installed};
use watching::{viewer, Shown, Watcher};

const RUN_TIMEOUT: Duration = Duration::from_secs(60);

/// The colours in the middle of the upper and of the lower half.
fn colours(shown: &Shown) -> [[u8; 3]; 2] {
    let image = turbojpeg::decompress(&shown.jpeg, turbojpeg::PixelFormat::RGB).unwrap();
    [1, 3].map(|quarter| {
        let at = image.height * quarter / 4 * image.pitch + image.width / 2 * 3;
        image.pixels[at..at + 3].try_into().unwrap()
    })
}

#[test]
fn pictures_of_c_programs_are_seen() {
    let viewer = viewer(Wall::grid(1, 1).unwrap(), "capi");
    let program = compile("tests/viewing.c", &[], "viewing");
    let mut command = Command::new(program);
    command
        .arg(viewer.feeds().to_string())
        .env("LD_LIBRARY_PATH", installed().join("lib"))
        .stdin(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut watcher = Watcher::connect(&viewer);
    watcher.look(&[96]);
    let start = Instant::now();
    let shown = loop {
        match watcher.take().pop() {
            Some(shown) => break shown,
            None => assert!(start.elapsed() < RUN_TIMEOUT, "no picture comes"),
        }
    };
    child.stdin.take().unwrap().write_all(b"\n").unwrap();
    assert_eq!((shown.tile, shown.size), (0, (96, 64)));
    let found = colours(&shown);
    let wanted = [[230, 20, 20], [20, 20, 230u8]];
    let both = found.iter().flatten().zip(wanted.iter().flatten());
    assert!(
        both.into_iter().all(|(a, b)| a.abs_diff(*b) < 16),
        "{found:?}"
    );
    assert!(child.wait().unwrap().success());
}
