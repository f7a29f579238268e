//! Walls whose renderers have only the pixels of their tiles.

use std::path::Path;
use std::time::Duration;

use mgn_tests::{camera, compare_all, programs, wall_file, Case, Outcome, Stage, Tile};
use mgn_verify::{Camera, Picture};

const RUN_TIMEOUT: Duration = Duration::from_secs(120);

/// Four tiles of a mural whose width or height exceeds a viewport of llvmpipe.
fn strip([width, height]: [u32; 2]) -> String {
    let tile = |n: u32| {
        let [x, y, w, h] = match width > height {
            true => [width / 4 * n, 0, width / 4, height],
            false => [0, height / 4 * n, width, height / 4],
        };
        (format!("t{n}"), [x, y, w, h], String::new())
    };
    let tiles: Vec<Tile> = (0..4).map(tile).collect();
    wall_file("strip", [width, height], "fit = \"1:1\"", &tiles)
}

#[test]
fn what_is_drawn_is_where_it_belongs() {
    let stage = Stage::new();
    camera();
    let mut command = stage.mgn();
    command.args(["verify", "--frames", "5", "--wall", "3x2"]);
    command.args(["--tiling", "offset", "--", "glxgears"]);
    let outcome = Outcome::of(&mut command, RUN_TIMEOUT);
    // Some pixels are rounded differently, but only a few in each frame.
    let close = |line: &str| {
        let count = line.split_whitespace().nth(1).and_then(|n| n.parse().ok());
        line.contains(" by up to 1;") && count.is_some_and(|n: u32| n < 50)
    };
    let mut frames = outcome
        .stdout
        .lines()
        .filter(|line| line.starts_with("frame-"));
    let is_close = outcome.stdout.contains("bit-identical")
        || outcome.stdout.contains(" of 5 frames differ") && frames.all(close);
    assert!(is_close, "{}", outcome.describe());
}

/// Programs whose pictures do not depend on rounding.
#[test]
fn programs_that_set_clear_read_and_copy_see_what_they_see_directly() {
    let names = [
        "accumulation",
        "attrib_stack",
        "conditional_rendering",
        "contexts",
        "draw_texture",
        "dsa_textures",
        "fragment_tests",
        "large_images",
        "lists",
        "multisample",
        "pixel_buffers",
        "pixel_transfer",
        "queries_and_sync",
        "separable_programs",
    ];
    let folder = programs("tests/conformance");
    let case = |name: &str| {
        let arguments = |out: &Path| vec!["--out".into(), out.into()];
        Case::new(name, folder.join(name), arguments)
    };
    compare_all(&Stage::new(), &names.map(case), &["wall-offset"]);
}

/// A program draws the same picture in one piece as in several pieces with smaller viewports.
#[test]
fn a_mural_is_to_the_bit_what_its_pieces_are() {
    let arguments = |out: &Path| vec!["--out".into(), out.into()];
    let program = programs("tests/conformance").join("mural");
    let mut case = Case::new("mural", program, arguments);
    // The frames are pieces in one run and the whole mural in the other.
    case.orderly = false;
    compare_all(&Stage::new(), &[case], &["wall-mural"]);
}

/// A mural that is too large for any single renderer shows the same picture as a direct run of half
/// the size, with four pixels for each pixel.
#[test]
fn a_mural_may_be_wider_than_a_viewport() {
    is_four_times_its_half([20000, 400], 400_000);
}

#[test]
fn a_mural_may_be_higher_than_a_viewport() {
    is_four_times_its_half([400, 20000], 10_000);
}

/// At least `least` pixels of the smaller picture correspond to four equal pixels that are not
/// black.
fn is_four_times_its_half(size: [u32; 2], least: usize) {
    let stage = Stage::new();
    let camera = Camera {
        frames: Some(4),
        every: 1,
        ..camera()
    };
    let direct = stage.folder();
    let mut command = stage.direct("glxgears");
    let geometry = |size: [u32; 2]| format!("{}x{}", size[0], size[1]);
    command.args(["-geometry", &geometry(size.map(|side| side / 2))]);
    command.envs(camera.environment(Some(&direct)));
    let half = Outcome::of(&mut command, RUN_TIMEOUT);
    let saved = stage.folder();
    let mut command = stage.mgn();
    command.args(["run", "--wall", &strip(size), "--save"]);
    command.arg(&saved).args(["--", "/usr/bin/env"]);
    command.args(camera.assignments(None));
    command.args(["glxgears", "-geometry", &geometry(size)]);
    let drawn = Outcome::of(&mut command, RUN_TIMEOUT);
    let read = |file: &Path| {
        Picture::read(file)
            .unwrap_or_else(|error| panic!("{error}: {} {}", half.describe(), drawn.describe()))
    };
    let small = read(&direct.join("frame-000001.ppm"));
    let large = read(&saved.join("frame-000001.png"));
    assert_eq!([large.width, large.height], size.map(|side| side as usize));
    let pixel = |of: &Picture, x: usize, y: usize| {
        let at = (y * of.width + x) * 3;
        [of.pixels[at], of.pixels[at + 1], of.pixels[at + 2]]
    };
    let (mut inside, mut wrong) = (0, 0);
    for (x, y) in (0..small.height).flat_map(|y| (0..small.width).map(move |x| (x, y))) {
        let four = [(0, 0), (1, 0), (0, 1), (1, 1)];
        let four = four.map(|(right, down)| pixel(&large, 2 * x + right, 2 * y + down));
        if four.iter().all(|one| *one == four[0]) && four[0] != [0; 3] {
            inside += 1;
            wrong += usize::from(pixel(&small, x, y) != four[0]);
        }
    }
    assert!(inside > least, "{inside} of the gears");
    assert!(wrong < inside / 1000, "{wrong} of {inside} pixels");
}
