//! Other people's programs, made repeatable by a preloaded clock.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use mgn_tests::{assignments, camera, compare_all, Case, Stage};
use mgn_verify::Camera;

/// Scenes of glmark2, each small and at frame 20.
const GLMARK2: [&str; 24] = [
    "build:use-vbo=false",
    "build:use-vbo=true",
    "texture:texture-filter=nearest",
    "texture:texture-filter=linear",
    "texture:texture-filter=mipmap",
    "shading:shading=gouraud",
    "shading:shading=phong",
    "shading:shading=cel",
    "bump:bump-render=normals",
    "bump:bump-render=height",
    "effect2d",
    "pulsar",
    "desktop:effect=shadow",
    "buffer:update-method=map",
    "buffer:update-method=subdata",
    "ideas",
    "jellyfish",
    "terrain",
    "shadow",
    "refract",
    "conditionals:vertex-steps=5",
    "function:fragment-steps=5",
    "loop:vertex-steps=5",
    "clear",
];

/// `PROGRAM ARGUMENTS` up to frame `frames`, photographed every so many.
fn shot(name: &str, program: &str, arguments: &[&str], frames: u64, every: u64) -> Option<Case> {
    let Some(program) = find(program) else {
        println!("skipped: {program} is not installed");
        return None;
    };
    let camera = Camera {
        frames: Some(frames),
        every,
        ..camera()
    };
    let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
    Some(Case::new(name, "/usr/bin/env", move |out: &Path| {
        let mut all = assignments(&camera, Some(out));
        all.push(program.clone().into());
        all.extend(arguments.iter().cloned());
        all
    }))
}

fn find(program: &str) -> Option<PathBuf> {
    ["/usr/bin", "/usr/games", "/usr/local/bin"]
        .iter()
        .map(|dir| Path::new(dir).join(program))
        .find(|path| path.exists())
}

#[test]
fn every_program_is_the_same() {
    let menu = ["--window", "--noaudio", "--vidmode", "0"];
    let mut cases = vec![
        shot("glxgears", "glxgears", &[], 100, 10),
        shot("es2gears", "es2gears_x11", &[], 100, 10),
        shot("chromium-bsu", "chromium-bsu", &menu, 30, 10),
    ];
    cases.extend(GLMARK2.iter().map(|scene| {
        let name = format!("glmark2-{}", scene.replace([':', '='], "-"));
        shot(
            &name,
            "glmark2",
            &["--size", "320x240", "-b", scene],
            20,
            10,
        )
    }));
    let cases: Vec<Case> = cases.into_iter().flatten().collect();
    compare_all(&Stage::new(), &cases, &["shm", "tcp"]);
}
