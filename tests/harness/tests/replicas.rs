//! One program is shown on several walls.

use std::path::{Path, PathBuf};
use std::time::Duration;

use mgn_tests::{
    camera, compare_all, programs, wall_file, watch, Case, Live, Outcome, Stage, Tile,
};
use mgn_verify::{Camera, Picture};

const RUN_TIMEOUT: Duration = Duration::from_secs(120);

/// A wall over a window of 300 x 300 pixels, with `columns` x `columns` tiles. The tiles are also
/// saved as files in `folder`.
fn wall(name: &str, columns: u32, folder: &Path) -> String {
    let side = 300 / columns;
    let tile = |n: u32| {
        let (x, y) = (n % columns * side, n / columns * side);
        let present = format!("[\"program\", {{ files = \"{}\" }}]", folder.display());
        (format!("t{n}"), [x, y, side, side], present)
    };
    let tiles: Vec<Tile> = (0..columns * columns).map(tile).collect();
    wall_file(name, [300, 300], "", &tiles)
}

/// The part of a picture that belongs to tile `n`.
fn part(of: &Picture, n: usize, columns: usize) -> Picture {
    let side = of.width / columns;
    let (left, top) = (n % columns * side, n / columns * side);
    let row = |y: usize| &of.pixels[((top + y) * of.width + left) * 3..][..side * 3];
    Picture {
        width: side,
        height: side,
        pixels: (0..side).flat_map(row).copied().collect(),
    }
}

/// Two walls, one with four tiles and one with a single tile, and the program's own window show the
/// same picture as a direct run.
#[test]
fn walls_show_one_program() {
    const FRAMES: u64 = 10;
    let stage = Stage::new();
    let camera = Camera {
        frames: Some(FRAMES),
        every: 1,
        ..camera()
    };
    let direct = stage.folder();
    let mut command = stage.direct("glxgears");
    command.envs(camera.environment(Some(&direct)));
    let outcome = Outcome::of(&mut command, RUN_TIMEOUT);
    let (saved, four, one) = (stage.folder(), stage.folder(), stage.folder());
    let mut command = stage.mgn();
    command
        .args(["run", "--wall", &wall("desk", 2, &four)])
        .args(["--wall", &wall("beamer", 1, &one), "--save"])
        .arg(&saved)
        .args(["--", "/usr/bin/env"])
        .args(camera.assignments(None))
        .arg("glxgears");
    let drawn = Outcome::of(&mut command, RUN_TIMEOUT);
    // The last frames may be under way when the program ends.
    for frame in 1..=FRAMES - 3 {
        let read = |file: PathBuf| {
            Picture::read(&file).unwrap_or_else(|error| {
                panic!("{error}: {} {}", outcome.describe(), drawn.describe())
            })
        };
        let want = read(direct.join(format!("frame-{frame:06}.ppm")));
        let name = format!("frame-{frame:06}.png");
        assert!(
            read(saved.join(&name)) == want,
            "frame {frame} of the program"
        );
        for n in 0..4 {
            let tile = read(four.join(format!("t{n}")).join(&name));
            assert!(tile == part(&want, n, 2), "frame {frame} of tile {n}");
        }
        assert!(read(one.join("t0").join(&name)) == want, "frame {frame}");
    }
}

/// Programs that read, copy and count their pixels get the same results as in a direct run.
#[test]
fn replicas_change_nothing_for_programs() {
    let names = [
        "read_pixels",
        "copy_and_bitmap",
        "queries_and_sync",
        "texture_copy",
    ];
    let folder = programs("tests/conformance");
    let case = |name: &str| {
        let arguments = |out: &Path| vec!["--out".into(), out.into()];
        Case::new(name, folder.join(name), arguments)
    };
    compare_all(&Stage::new(), &names.map(case), &["wall-replicas"]);
}

/// Each wall has a page.
#[test]
fn walls_are_shown_in_browsers() {
    let stage = Stage::new();
    let mut command = stage.mgn();
    command
        .args(["run", "--viewer", "--viewer"])
        .args(["--wall", "2x2", "--wall", "1x1", "--", "glxgears"]);
    let live = Live::start(command, 2);
    for (url, tiles) in live.urls.iter().zip([4, 1]) {
        watch(url, tiles, RUN_TIMEOUT);
    }
}
