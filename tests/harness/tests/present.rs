//! The program's window and the saved pictures show the picture that was drawn.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use mgn_tests::{programs, still, still_gears, Outcome, Running, Stage};
use mgn_verify::Picture;
use x11rb::connection::Connection;
use x11rb::protocol::xproto::{ConnectionExt as _, ImageFormat};

const RUN_TIMEOUT: Duration = Duration::from_secs(60);

/// The upper left corner of the X server's screen.
fn screenshot(stage: &Stage, width: u16, height: u16) -> Picture {
    let (connection, screen) =
        x11rb::connect(Some(stage.display())).expect("the X server is there");
    let root = connection.setup().roots[screen].root;
    let image = connection
        .get_image(ImageFormat::Z_PIXMAP, root, 0, 0, width, height, !0)
        .expect("a connection")
        .reply()
        .expect("the screen can be read");
    let pixels = image
        .data
        .chunks_exact(4)
        .flat_map(|p| [p[2], p[1], p[0]])
        .collect();
    Picture {
        width: width.into(),
        height: height.into(),
        pixels,
    }
}

#[test]
fn the_window_shows_the_picture() {
    let stage = Stage::new();
    // Tests are threads of one process. This variable gives our own connection access to the X
    // server.
    std::env::set_var("XAUTHORITY", stage.authority());
    let want = still_gears(&stage, &[]);
    for transport in ["shm", "unix", "tcp"] {
        let mut command = stage.mgn();
        command.args(["run", "--transport", transport, "--", "/usr/bin/env"]);
        command.args(still().assignments(None));
        let running = Running::start(command.arg("glxgears"));
        let start = Instant::now();
        let (width, height) = (want.width as u16, want.height as u16);
        let mut seen = screenshot(&stage, width, height);
        while seen != want && start.elapsed() < Duration::from_secs(20) {
            thread::sleep(Duration::from_millis(50));
            seen = screenshot(&stage, width, height);
        }
        let difference = want.difference(&seen);
        drop(running);
        assert_eq!(difference, None, "over {transport}");
    }
}

#[test]
fn saved_frames_are_the_pictures() {
    let stage = Stage::new();
    let folder = stage.folder();
    let rings = programs("demos").join("rings");
    let dump = folder.join("10.ppm");
    let options = ["--frames", "12", "--size", "320x200", "--warmup", "0"];
    let mut direct = stage.direct(&rings);
    direct
        .args(options)
        .arg("--dump")
        .arg(format!("10:{}", dump.display()));
    let outcome = Outcome::of(&mut direct, RUN_TIMEOUT);
    let want = Picture::read(&dump).unwrap_or_else(|e| panic!("{e}: {}", outcome.describe()));
    for present in ["window", "none"] {
        let save = stage.folder();
        let mut command = stage.mgn();
        command
            .args(["run", "--present", present, "--every", "5", "--save"])
            .arg(&save);
        let outcome = Outcome::of(command.arg("--").arg(&rings).args(options), RUN_TIMEOUT);
        assert_eq!(outcome.status, Some(0), "{}", outcome.describe());
        let mut names: Vec<_> = fs::read_dir(&save)
            .unwrap()
            .flatten()
            .map(|e| e.file_name())
            .collect();
        names.sort();
        assert_eq!(names, ["frame-000005.png", "frame-000010.png"]);
        let got = Picture::read(&save.join("frame-000010.png")).unwrap();
        assert_eq!(want.difference(&got), None);
    }
}

#[test]
fn frames_ends_the_program_after_so_many() {
    let stage = Stage::new();
    let stats = stage.folder().join("stats.json");
    let mut command = stage.mgn();
    command
        .args([
            "run",
            "--headless",
            "--stats",
            "--frames",
            "7",
            "--stats-json",
        ])
        .arg(&stats);
    let outcome = Outcome::of(command.args(["--", "glxgears"]), RUN_TIMEOUT);
    assert_eq!(outcome.status, Some(0), "{}", outcome.describe());
    let figures: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(stats).unwrap()).unwrap();
    assert_eq!(figures["frames"], 7, "{figures}");
    assert!(figures["bytes_per_frame"].as_f64().unwrap() > 0.0);
    assert!(figures["frames_per_second"].as_f64().unwrap() > 0.0);
    assert!(figures["commands_per_frame"].as_f64().unwrap() > 0.0);
    assert!(outcome.stderr.contains("7 in"), "{}", outcome.stderr);
}
