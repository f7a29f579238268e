//! Third-party programs, made repeatable by a preloaded clock. docs/programs.md describes them.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use mgn_tests::{camera, compare_all, root, Case, Stage};
use mgn_verify::{Camera, Input};

/// The benchmarks that glmark2 runs by default. Each group runs in one process.
const GLMARK2: [&[&str]; 3] = [
    &[
        "build:use-vbo=false",
        "build:use-vbo=true",
        "texture:texture-filter=nearest",
        "texture:texture-filter=linear",
        "texture:texture-filter=mipmap",
        "shading:shading=gouraud",
        "shading:shading=blinn-phong-inf",
        "shading:shading=phong",
        "shading:shading=cel",
        "bump:bump-render=high-poly",
        "bump:bump-render=normals",
        "bump:bump-render=height",
    ],
    &[
        "effect2d:kernel=0,1,0;1,-4,1;0,1,0;",
        "effect2d:kernel=1,1,1,1,1;1,1,1,1,1;1,1,1,1,1;",
        "pulsar:light=false:quads=5:texture=false",
        "desktop:blur-radius=5:effect=blur:passes=1:separable=true:windows=4",
        "desktop:effect=shadow:windows=4",
        "buffer:columns=200:interleave=false:update-dispersion=0.9:update-fraction=0.5:update-method=map",
        "buffer:columns=200:interleave=false:update-dispersion=0.9:update-fraction=0.5:update-method=subdata",
        "buffer:columns=200:interleave=true:update-dispersion=0.9:update-fraction=0.5:update-method=map",
        "ideas:speed=duration",
        "jellyfish",
    ],
    &[
        "terrain",
        "shadow",
        "refract",
        "conditionals:fragment-steps=0:vertex-steps=0",
        "conditionals:fragment-steps=5:vertex-steps=0",
        "conditionals:fragment-steps=0:vertex-steps=5",
        "function:fragment-complexity=low:fragment-steps=5",
        "function:fragment-complexity=medium:fragment-steps=5",
        "loop:fragment-loop=false:fragment-steps=5:vertex-steps=5",
        "loop:fragment-steps=5:fragment-uniform=false:vertex-steps=5",
        "loop:fragment-steps=5:fragment-uniform=true:vertex-steps=5",
    ],
];

/// Starts the game, moves along, and shoots.
const PLAY: [&str; 4] = [
    "20:xdotool mousemove 320 200 key Return",
    "40:xdotool mousemove 300 350 mousedown 1",
    "70:xdotool mousemove 400 300",
    "100:xdotool mousemove 250 380",
];

/// How the pictures of a program are taken.
struct Shots {
    /// End the program after this number of frames. `None` if it ends by itself.
    frames: Option<u64>,
    every: u64,
    input: &'static [&'static str],
}

/// Frames 10, 20 and 30.
const FRAMES_10_20_30: Shots = Shots {
    frames: Some(30),
    every: 10,
    input: &[],
};

/// For programs that write their pictures into a folder that is passed to them.
const OWN: Shots = Shots {
    frames: None,
    every: 1_000_000,
    input: &[],
};

/// The case for `PROGRAM ARGUMENTS`. If the program is not installed, prints this and returns
/// `None`. The argument `OUT` is replaced by the folder for pictures.
fn case(name: &str, program: &str, arguments: &[&str], shots: &Shots) -> Option<Case> {
    let Some(program) = find(program) else {
        println!("skipped: {name}, for want of {program}");
        return None;
    };
    let camera = Camera {
        frames: shots.frames,
        every: shots.every,
        input: shots
            .input
            .iter()
            .map(|i| i.parse::<Input>().expect("frame and command"))
            .collect(),
        ..camera()
    };
    let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
    let mut case = Case::new(name, "/usr/bin/env", move |out: &Path| {
        let mut all = camera.assignments(Some(out));
        all.push("SDL_AUDIODRIVER=dummy".into());
        all.push(program.clone().into());
        all.extend(arguments.iter().map(|a| match a == "OUT" {
            true => out.into(),
            false => a.clone(),
        }));
        all
    });
    case.alone = true;
    Some(case)
}

/// A program of tests/gallery for the system's Python. `None` if that Python cannot import the
/// modules.
fn python(name: &str, modules: &str, shots: &Shots) -> Option<Case> {
    python_of("/usr/bin/python3", name, modules, shots)
}

fn python_of(python: &str, name: &str, modules: &str, shots: &Shots) -> Option<Case> {
    python_as(name, python, name, modules, shots)
}

/// The same, with a label that differs from the name of the file.
fn python_as(label: &str, python: &str, name: &str, modules: &str, shots: &Shots) -> Option<Case> {
    let imports = std::process::Command::new(python)
        .args(["-c", &format!("import {modules}")])
        .output();
    if !imports.is_ok_and(|o| o.status.success()) {
        println!("skipped: {name}, for want of Python's {modules}");
        return None;
    }
    let file = root().join("tests/gallery").join(format!("{name}.py"));
    let file = file.to_str().expect("the path is text");
    case(label, python, &[file, "OUT"], shots)
}

fn find(program: &str) -> Option<PathBuf> {
    ["", "/usr/bin", "/usr/games", "/usr/local/bin"]
        .iter()
        .map(|dir| Path::new(dir).join(program))
        .find(|path| path.is_absolute() && path.exists())
}

fn glmark2(program: &str) -> impl Iterator<Item = Option<Case>> + '_ {
    GLMARK2.iter().enumerate().map(move |(n, scenes)| {
        let mut arguments = vec!["--size", "240x180", "-b", ":duration=0.05"];
        arguments.extend(scenes.iter().flat_map(|scene| ["-b", scene]));
        let shots = Shots { every: 2, ..OWN };
        case(&format!("{program}-{}", n + 1), program, &arguments, &shots)
    })
}

#[test]
fn every_program_is_the_same() {
    let hundred = Shots {
        frames: Some(100),
        ..FRAMES_10_20_30
    };
    let play = Shots {
        frames: Some(130),
        every: 10,
        input: &PLAY,
    };
    let turn = Shots {
        input: &["10:xdotool mousemove 100 100 key Up", "20:xdotool key Up"],
        ..FRAMES_10_20_30
    };
    let once = Shots {
        frames: Some(1),
        every: 1,
        input: &[],
    };
    let ten = Shots {
        frames: Some(10),
        every: 5,
        input: &[],
    };
    // scripts/deps.sh installs packages here that Debian does not have.
    let pyvista = root().join("target/gallery-python/bin/python");
    let pyvista = pyvista.to_str().expect("the path is text");
    let godot = root().join("tests/gallery/godot_game");
    let godot = godot.to_str().expect("the path is text");
    let godot = ["--path", godot, "--audio-driver", "Dummy"];
    let game = ["--window", "--noaudio", "--vidmode", "0"];
    let love = root().join("tests/gallery/love_game");
    let love = love.to_str().expect("the path is text");
    let mut cases = vec![
        case("glxgears", "glxgears", &[], &hundred),
        case("glxheads", "glxheads", &[], &FRAMES_10_20_30),
        case("glxdemo", "glxdemo", &[], &once),
        case("es2gears", "es2gears_x11", &[], &hundred),
        case("love", "love", &[love], &FRAMES_10_20_30),
        python("vtk_scenes", "vtk", &OWN),
        python("vtk_offscreen", "vtk", &OWN),
        python("moderngl_scene", "moderngl, numpy", &OWN),
        python("pyglet_shapes", "pyglet", &FRAMES_10_20_30),
        python("vispy_markers", "vispy, pyglet", &FRAMES_10_20_30),
        python("pygame_cube", "pygame, OpenGL", &turn),
        python("qt_widget", "PyQt5.QtOpenGL", &FRAMES_10_20_30),
        python("gtk3_area", "gi, OpenGL", &FRAMES_10_20_30),
        python(
            "gtk4_window",
            "gi; gi.require_version('Gtk', '4.0')",
            &FRAMES_10_20_30,
        ),
        python_of(pyvista, "pyvista_plot", "pyvista", &OWN),
        python_as("vtk_egl", pyvista, "vtk_offscreen", "vtk", &OWN),
        case("godot", "godot3", &godot, &ten),
    ];
    cases.extend(glmark2("glmark2"));
    cases.extend(glmark2("glmark2-es2"));
    cases.push(case("chromium-bsu", "chromium-bsu", &game, &play));
    let cases: Vec<Case> = cases.into_iter().flatten().collect();
    compare_all(
        &Stage::new(),
        &cases,
        &["shm", "tcp", "wall-2x2", "wall-scaled"],
    );
}
