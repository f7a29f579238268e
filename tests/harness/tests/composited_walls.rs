//! Composited pictures on walls: sort-first and sort-last together. Each rank draws its share of
//! the data, divided into tiles.

use std::fs;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixStream};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use mgn_tests::{children, programs, wall_file, watch, Live, Outcome, Running, Stage, Tile};
use mgn_verify::Picture;
use rustix::process::{kill_process, Pid, Signal};

/// Longer than anything takes, even on a slow machine.
const RUN_TIMEOUT: Duration = Duration::from_secs(120);

const SIZE: [u32; 2] = [203, 101];
const FRAMES: u32 = 3;

/// Adds `iso_demo` to the command. Each rank draws a share of its triangles.
fn demo(command: &mut Command, frames: u32) -> &mut Command {
    command
        .arg("--")
        .arg(programs("demos").join("iso_demo"))
        .args(["--triangles", "20000", "--part", "%r/%n"])
        .args(["--size", &format!("{}x{}", SIZE[0], SIZE[1])])
        .args(["--frames", &frames.to_string()])
}

fn run(stage: &Stage, words: &str, folder: &Path) -> Outcome {
    let mut command = stage.mgn();
    command.arg("run").args(words.split_whitespace());
    // Pictures on sockets are compressed, as between hosts.
    command.env("MGN_COMPRESS", "1");
    command.arg("--save").arg(folder);
    Outcome::of(demo(&mut command, FRAMES), RUN_TIMEOUT)
}

/// The same with `volume`, whose window has an alpha channel.
fn run_volume(stage: &Stage, words: &str, folder: &Path) -> Outcome {
    let mut command = stage.mgn();
    command.arg("run").args(words.split_whitespace());
    command.arg("--save").arg(folder).arg("--");
    command.arg(programs("demos").join("volume"));
    command.args(["--size", "160x120", "--part", "%r/%n"]);
    command.args(["--frames", &FRAMES.to_string()]);
    Outcome::of(&mut command, RUN_TIMEOUT)
}

/// All frames in a folder.
fn frames(folder: &Path) -> Vec<Picture> {
    let frame = |n| Picture::read(&folder.join(format!("frame-{n:06}.png")));
    (1..).map_while(|n| frame(n).ok()).collect()
}

/// Two tiles that cover the whole picture, and a third tile over its middle.
fn tiles() -> [(&'static str, [u32; 4]); 3] {
    let [width, height] = SIZE;
    [
        ("left", [0, 0, 90, height]),
        ("right", [90, 0, width - 90, height]),
        ("middle", [40, 20, 120, 50]),
    ]
}

/// A wall whose tiles are saved as files in `folder`.
fn files_wall(name: &str, fit: &str, folder: &Path) -> String {
    let present = format!("{{ files = \"{}\" }}", folder.display());
    let tile = |(name, rect): (&str, [u32; 4])| -> Tile { (name.into(), rect, present.clone()) };
    let tiles: Vec<Tile> = tiles().into_iter().map(tile).collect();
    wall_file(name, SIZE, &format!("fit = \"{fit}\""), &tiles)
}

fn cut(picture: &Picture, [x, y, width, height]: [u32; 4]) -> Picture {
    let rows = y as usize..(y + height) as usize;
    let row = |y: usize| {
        let at = (y * picture.width + x as usize) * 3;
        &picture.pixels[at..at + width as usize * 3]
    };
    Picture {
        width: width as usize,
        height: height as usize,
        pixels: rows.flat_map(row).copied().collect(),
    }
}

/// The composited picture in the window of rank 0 is the same for all divisions into tiles.
#[test]
fn tiles_change_nothing_of_a_composited_picture() {
    let stage = Stage::new();
    for spec in ["depth", "over", "max"] {
        let run = if spec == "over" { run_volume } else { run };
        let wanted = stage.folder();
        let outcome = run(&stage, &format!("-np 2 --composite {spec}"), &wanted);
        assert_eq!(outcome.status, Some(0), "{}", outcome.describe());
        let wanted = frames(&wanted);
        assert_eq!(wanted.len(), FRAMES as usize);
        for more in ["--wall 2x2", "--wall 3x1 --wall 1x2 --transport tcp"] {
            let words = format!("-np 2 --composite {spec} {more}");
            let folder = stage.folder();
            let outcome = run(&stage, &words, &folder);
            assert_eq!(outcome.status, Some(0), "{words}: {}", outcome.describe());
            assert!(frames(&folder) == wanted, "{words}: other pictures");
        }
    }
}

/// Servers that show tiles show their parts of the composited picture.
#[test]
fn servers_show_tiles_of_the_composited_picture() {
    let stage = Stage::new();
    let wanted = stage.folder();
    let outcome = run(&stage, "-np 3 --composite depth", &wanted);
    assert_eq!(outcome.status, Some(0), "{}", outcome.describe());
    let wanted = frames(&wanted);
    for (name, transport) in [("merged-shm", "shm"), ("merged-unix", "unix")] {
        let shown = stage.folder();
        let wall = files_wall(name, "1:1", &shown);
        let words = format!("-np 3 --composite depth --transport {transport} --wall {wall}");
        let saved = stage.folder();
        let outcome = run(&stage, &words, &saved);
        assert_eq!(outcome.status, Some(0), "{words}: {}", outcome.describe());
        assert!(
            frames(&saved) == wanted,
            "{words}: other pictures are saved"
        );
        for (tile, rect) in tiles() {
            let found = frames(&shown.join(tile));
            let wanted: Vec<Picture> = wanted.iter().map(|p| cut(p, rect)).collect();
            assert_eq!(found.len(), wanted.len(), "{words}: {tile}");
            assert!(found == wanted, "{words}: {tile} shows other pictures");
        }
    }
}

/// The page of a run shows the composited picture of the ranks.
#[test]
fn composited_pictures_are_shown_in_browsers() {
    let stage = Stage::new();
    for (flags, tiles) in [(&["--wall", "2x1"][..], 2), (&[], 1)] {
        let mut command = stage.mgn();
        command.args(["run", "-np", "2", "--composite", "depth", "--viewer"]);
        demo(command.args(flags), 1_000_000);
        let live = Live::start(command, 1);
        watch(&live.urls[0], tiles, RUN_TIMEOUT);
    }
}

#[test]
fn windows_that_would_be_resized_are_refused() {
    let stage = Stage::new();
    let wall = files_wall("merged-window", "window", &stage.folder());
    let words = format!("-np 2 --composite depth --wall {wall}");
    let outcome = run(&stage, &words, &stage.folder());
    let told = outcome.describe();
    assert_eq!(outcome.status, Some(125), "{told}");
    assert!(outcome.stderr.contains("give the wall fit ="), "{told}");
}

/// Waits until the condition is true.
fn until(what: &str, is_so: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < RUN_TIMEOUT, "it does not come: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The loss of a rank ends the run. The loss of a tile's server does not.
#[test]
fn ranks_and_servers_are_lost_as_without_the_other() {
    let stage = Stage::new();
    let shown = stage.folder();
    let wall = files_wall("merged-lost", "1:1", &shown);
    let mut command = stage.mgn();
    command.args(["run", "-np", "2", "--composite", "depth", "--wall", &wall]);
    command.args(["--", "sh", "-c"]);
    let program = programs("demos").join("iso_demo");
    command.arg(format!(
        "(sleep 2; test %r = 1 && kill -9 $$) & exec {} --triangles 2000 --size {}x{}",
        program.display(),
        SIZE[0],
        SIZE[1]
    ));
    let outcome = Outcome::of(&mut command, RUN_TIMEOUT);
    let told = outcome.describe();
    assert_eq!(outcome.status, Some(137), "{told}");
    assert!(
        outcome.stderr.contains("rank 1 was ended by signal 9"),
        "{told}"
    );

    let mut servers: Vec<(Running, String)> = (0..3)
        .map(|n| {
            let name = format!("mgn-{}-merged-{n}", std::process::id());
            let address = format!("unix:@{name}");
            let server = Running::start(stage.mgn().args(["server", "--listen", &address]));
            let name = SocketAddr::from_abstract_name(name).unwrap();
            until("a server", || UnixStream::connect_addr(&name).is_ok());
            (server, address)
        })
        .collect();
    let shown = stage.folder();
    let mut rects = tiles();
    // The tile that will be lost gets a part of the picture that no other tile has.
    rects[2].1 = [0, 0, 20, 20];
    let present = format!("{{ files = \"{}\" }}", shown.display());
    let tile = |(name, rect): (&str, [u32; 4])| -> Tile { (name.into(), rect, present.clone()) };
    let all: Vec<Tile> = rects.into_iter().map(tile).collect();
    let wall = wall_file("merged-hole", SIZE, "fit = \"1:1\"", &all);
    let saved = stage.folder();
    let mut command = stage.mgn();
    command.args(["run", "-np", "2", "--composite", "depth", "--wall", &wall]);
    for (_, address) in &servers {
        command.args(["--server", address]);
    }
    command.arg("--save").arg(&saved);
    let running = Running::start(demo(&mut command, 400));
    let picture = shown.join("right/frame-000005.png");
    until("a picture of a tile", || picture.exists());
    let (right, _) = servers.remove(1);
    right.signal(Signal::KILL);
    right.finish(RUN_TIMEOUT);
    let outcome = running.finish(RUN_TIMEOUT);
    assert_eq!(outcome.status, Some(0), "{}", outcome.describe());
    let last = Picture::read(&saved.join("frame-000400.png")).unwrap();
    let left = Picture::read(&shown.join("left/frame-000400.png")).unwrap();
    assert!(cut(&last, rects[0].1) == left, "the tile that is left");
    let hole = cut(&last, rects[1].1);
    for (n, pixel) in hole.pixels.chunks_exact(3).enumerate() {
        let (x, y) = (n % hole.width + 90, n / hole.width);
        let grey = [[0x30; 3], [0x60; 3]][(x + y) / 16 % 2];
        assert_eq!(pixel, grey, "the hole at {x}, {y}");
    }
    assert!(fs::metadata(shown.join("right/frame-000400.png")).is_err());
    for (server, _) in servers {
        server.signal(Signal::TERM);
        server.finish(RUN_TIMEOUT);
    }
}

/// With `--on-loss continue`, a rank that has lost its renderers continues without pictures, and
/// the other ranks do not wait for it.
#[test]
fn nobody_waits_for_a_rank_that_goes_on_without_pictures() {
    let stage = Stage::new();
    for wall in [&[][..], &["--wall", "2x1"]] {
        let (saved, done) = (stage.folder(), stage.folder());
        let mut command = stage.mgn();
        command.args(["run", "-np", "2", "--composite", "depth"]);
        command.args(["--composite-timeout", "86400", "--on-loss", "continue"]);
        command.args(wall).arg("--save").arg(&saved);
        // Rank 1 draws 100 million frames more than rank 0, so it does not end by itself.
        let program = format!(
            "{} --triangles 2000 --size {}x{} --frames $((300 + %r * 100000000)) && touch {}/%r",
            programs("demos").join("iso_demo").display(),
            SIZE[0],
            SIZE[1],
            done.display()
        );
        let running = Running::start(command.args(["--", "sh", "-c", &program]));
        let picture = saved.join("frame-000005.png");
        until("a composited picture", || picture.exists());
        let has = |pid: u32, word: &str| {
            let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            let mut words = line.split(|byte| *byte == 0);
            words.any(|other| other == word.as_bytes())
        };
        let own = |pid: &u32| {
            let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            let mut all = environment.split(|byte| *byte == 0);
            all.any(|variable| variable == b"MGN_RANK=1")
        };
        let rank = children(running.pid()).into_iter().find(own);
        let mut of_rank = children(rank.expect("rank 1")).into_iter();
        let server = of_rank.find(|pid| has(*pid, "--embedded"));
        let server = server.expect("the server of rank 1");
        for pid in children(server).into_iter().chain([server]) {
            let _ = kill_process(Pid::from_raw(pid as i32).unwrap(), Signal::KILL);
        }
        until("the end of rank 0", || done.join("0").exists());
        running.signal(Signal::TERM);
        let told = running.finish(RUN_TIMEOUT).describe();
        assert!(told.contains("continues without pictures"), "{told}");
        let last = saved.join("frame-000300.png");
        assert!(!last.exists(), "it was too late to lose a renderer");
    }
}
