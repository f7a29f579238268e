//! Frames that a run saves while it continues.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use mgn_verify::Picture;

use crate::camera::camera;
use crate::outcome::Running;
use crate::stage::programs;

/// Longer than anything takes, even on a slow machine.
const RUN_TIMEOUT: Duration = Duration::from_secs(120);

/// Starts a program of 200 x 100 pixels through this `mgn`, with the flags of a wall. The frames
/// are saved in `folder`. They are the same in every run.
///
/// # Panics
/// If it cannot be started.
pub fn drawing(mut mgn: Command, folder: &Path, wall: &[&str], frames: u32) -> Running {
    camera();
    mgn.args(["run", "--headless", "--save"])
        .arg(folder)
        .args(wall)
        .arg("--")
        .arg(programs("demos").join("iso_demo"))
        .args(["--size", "200x100", "--triangles", "2000"])
        .args(["--mode", "vbo", "--frames", &frames.to_string()]);
    Running::start(&mut mgn)
}

/// Waits until `seen` returns more than `before`, and returns that number.
///
/// # Panics
/// If the number does not grow in time.
pub fn progress(before: u64, seen: impl Fn() -> u64) -> u64 {
    let start = Instant::now();
    loop {
        let now = seen();
        if now > before {
            return now;
        }
        assert!(
            start.elapsed() < RUN_TIMEOUT,
            "it does not go on after {before}"
        );
        thread::sleep(Duration::from_millis(10));
    }
}

/// The number of frames in a folder, which is also the number of the last frame. A frame that is
/// being written is not counted.
pub fn saved(folder: &Path) -> u64 {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    let is_whole = |file: &fs::DirEntry| file.path().extension().is_some_and(|e| e == "png");
    files.filter(is_whole).count() as u64
}

/// # Panics
/// If the frame does not exist.
pub fn picture(folder: &Path, frame: u64) -> Picture {
    let file = folder.join(format!("frame-{frame:06}.png"));
    Picture::read(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// Whether a picture has stripes in place of a tile.
pub fn hole(picture: &Picture) -> bool {
    let mut pixels = picture.pixels.chunks_exact(3);
    pixels.any(|rgb| rgb == [0x60; 3])
}

/// Waits for a frame that has all tiles if `is_whole`, otherwise for a frame with a missing tile.
///
/// # Panics
/// If there is no such frame in time.
pub fn wait_for(folder: &Path, is_whole: bool) {
    let mut seen = progress(0, || saved(folder));
    while hole(&picture(folder, seen)) == is_whole {
        seen = progress(seen, || saved(folder));
    }
}

/// Waits for a few more frames, and returns the number of the last one.
///
/// # Panics
/// If the frames do not come in time.
pub fn some_more(folder: &Path) -> u64 {
    progress(saved(folder) + 5, || saved(folder))
}
