//! Walls whose tiles are shown by their servers.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use mgn_tests::{
    children, parent, processes, programs, still, still_gears, wall_file, watch, Head, Live,
    Outcome, Running, Stage, Tile,
};
use mgn_verify::Picture;
use rustix::process::{kill_process, Pid, Signal};
use x11rb::connection::Connection;
use x11rb::protocol::xproto::{ConnectionExt as _, CreateWindowAux, WindowClass};

const RUN_TIMEOUT: Duration = Duration::from_secs(120);

/// A wall file: 2x2 tiles over a window of glxgears. Each pixel of the window covers `scale` pixels
/// of the mural in each direction. `present` returns the TOML value for where each tile is shown.
fn wall(scale: u32, present: impl Fn(usize) -> String) -> String {
    bezelled([150 * scale; 2], [0; 2], SCALED, present)
}

const SCALED: &str = "fit = \"scale\"";
const GENLOCKED: &str = "fit = \"scale\"\ngenlock = true";

/// The same for tiles of any size, with bezels between them, and with other settings for the wall.
fn bezelled(
    [width, height]: [u32; 2],
    [across, down]: [u32; 2],
    settings: &str,
    present: impl Fn(usize) -> String,
) -> String {
    let tile = |n: usize| -> Tile {
        let (x, y) = (n as u32 % 2, n as u32 / 2);
        let rect = [x * (width + across), y * (height + down), width, height];
        (format!("{x},{y}"), rect, format!("[{}]", present(n)))
    };
    let tiles: Vec<Tile> = (0..4).map(tile).collect();
    let size = [2 * width + across, 2 * height + down];
    wall_file("heads", size, settings, &tiles)
}

/// The part of a picture that the `n`-th of four tiles shows, enlarged `scale` times in each
/// direction.
fn quarter(of: &Picture, n: usize, scale: usize) -> Picture {
    let (width, height) = (of.width / 2, of.height / 2);
    let (left, top) = (n % 2 * width, n / 2 * height);
    let mut pixels = Vec::new();
    for y in 0..height * scale {
        for x in 0..width * scale {
            let at = (top + y / scale) * of.width + left + x / scale;
            pixels.extend_from_slice(&of.pixels[at * 3..][..3]);
        }
    }
    Picture {
        width: width * scale,
        height: height * scale,
        pixels,
    }
}

/// Waits until the condition is true.
fn until(what: &str, is_so: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < RUN_TIMEOUT, "it does not come: {what}");
        thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn each_head_shows_its_quarter() {
    let stage = Stage::new();
    let want = still_gears(&stage, &[]);
    let heads: Vec<Head> = (0..4).map(|_| Head::start()).collect();
    for (scale, settings) in [(1, SCALED), (2, SCALED), (1, GENLOCKED), (2, GENLOCKED)] {
        // One window covers its screen, and the others have positions.
        let place = |n: usize| match n {
            0 => ([0, 0], "fullscreen = true".to_owned()),
            n => ([n as u32 * 10, 7], format!("position = [{}, 7]", n * 10)),
        };
        let wall = bezelled([150 * scale; 2], [0; 2], settings, |n| {
            let (display, place) = (heads[n].display(), place(n).1);
            format!("{{ window = \"{display}\", {place} }}")
        });
        let mut command = stage.mgn();
        command.args(["run", "--wall", &wall, "--", "/usr/bin/env"]);
        command.args(still().assignments(None));
        let running = Running::start(command.arg("glxgears"));
        for (n, head) in heads.iter().enumerate() {
            let side = 150 * scale;
            let ([x, y], _) = place(n);
            let quarter = quarter(&want, n, scale as usize);
            until(&format!("tile {n} at scale {scale}, {settings}"), || {
                head.see([x, y, side, side]) == quarter
            });
        }
        running.signal(Signal::TERM);
        running.finish(RUN_TIMEOUT);
        until("the windows go", || heads.iter().all(|h| h.windows() == 0));
    }
}

/// When a window in front of a tile's window closes, the tile is drawn again, even if the program
/// draws no frame.
#[test]
fn heads_are_drawn_again_where_they_were_covered() {
    drawn_again(SCALED);
    drawn_again(GENLOCKED);
}

fn drawn_again(settings: &str) {
    let stage = Stage::new();
    let head = Head::start();
    let display = head.display();
    let wall = bezelled([150; 2], [0; 2], settings, |n| {
        let (x, y) = (n % 2 * 150, n / 2 * 150);
        format!(r#"{{ window = "{display}", position = [{x}, {y}] }}"#)
    });
    let mut command = stage.mgn();
    command.args(["run", "--wall", &wall, "--", "glxgears"]);
    let running = Running::start(&mut command);
    let all = [0, 0, 300, 300];
    let black = |picture: &Picture| picture.pixels.iter().all(|byte| *byte == 0);
    until("a picture", || !black(&head.see(all)));
    let program = children(running.pid()).into_iter().find(|pid| {
        fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|n| n == "glxgears\n")
    });
    let program = Pid::from_raw(program.expect("the program") as i32).unwrap();
    kill_process(program, Signal::STOP).unwrap();
    let shown = || head.see(all);
    let stands = || {
        let before = shown();
        // On a busy machine, a picture may come late.
        (0..10).all(|_| {
            thread::sleep(Duration::from_millis(300));
            shown() == before
        })
    };
    until("it stands still", stands);
    let want = shown();
    let (connection, screen) = x11rb::connect(Some(display)).unwrap();
    let screen = &connection.setup().roots[screen];
    let cover = connection.generate_id().unwrap();
    let looks = CreateWindowAux::new()
        .background_pixel(screen.white_pixel)
        .override_redirect(1);
    let made = connection.create_window(
        screen.root_depth,
        cover,
        screen.root,
        0,
        0,
        300,
        300,
        0,
        WindowClass::INPUT_OUTPUT,
        screen.root_visual,
        &looks,
    );
    made.unwrap().check().unwrap();
    connection.map_window(cover).unwrap().check().unwrap();
    until("it is covered", || shown() != want);
    // Without the server, the uncovered window is not drawn again.
    let workers = showing().into_iter().filter(|pid| {
        let server = parent(*pid);
        server.and_then(parent) == Some(running.pid())
    });
    let workers: Vec<Pid> = workers
        .filter_map(|pid| Pid::from_raw(pid as i32))
        .collect();
    assert_eq!(workers.len(), 4);
    let all_workers = |signal| {
        workers
            .iter()
            .for_each(|pid| kill_process(*pid, signal).unwrap())
    };
    all_workers(Signal::STOP);
    connection.destroy_window(cover).unwrap().check().unwrap();
    thread::sleep(Duration::from_millis(500));
    assert!(shown() != want, "the X server has kept it");
    all_workers(Signal::CONT);
    until("it is seen again", || shown() == want);
    kill_process(program, Signal::CONT).unwrap();
    running.signal(Signal::TERM);
    running.finish(RUN_TIMEOUT);
}

#[test]
fn all_tiles_show_every_frame() {
    let stage = Stage::new();
    let (shown, saved) = (stage.folder(), stage.folder());
    let wall = wall(1, |n| match n {
        0 => format!(r#""program", {{ files = "{}" }}"#, shown.display()),
        _ => format!(r#"{{ files = "{}" }}"#, shown.display()),
    });
    let mut command = stage.mgn();
    command
        .args(["run", "--wall", &wall, "--frames", "10", "--save"])
        .arg(&saved)
        .args(["--", "glxgears"]);
    let outcome = Outcome::of(&mut command, RUN_TIMEOUT);
    assert_eq!(outcome.status, Some(0), "{}", outcome.describe());
    let names = |folder: &Path| {
        let entries = fs::read_dir(folder).unwrap().flatten();
        let mut names: Vec<_> = entries.map(|entry| entry.file_name()).collect();
        names.sort();
        names
    };
    // The last frames may be under way when the program ends.
    let all = names(&saved);
    assert!(all.len() >= 7, "{all:?}");
    for name in &all[..7] {
        let whole = Picture::read(&saved.join(name)).unwrap();
        for n in 0..4 {
            let file = shown.join(format!("{},{}", n % 2, n / 2)).join(name);
            let tile = Picture::read(&file).unwrap();
            assert_eq!(quarter(&whole, n, 1).difference(&tile), None, "{file:?}");
        }
    }
}

/// The picture continues behind bezels, even if it is stretched to a mural of another size and
/// shape.
#[test]
fn tiles_between_bezels_show_what_lies_under_them() {
    let stage = Stage::new();
    let want = still_gears(&stage, &[]);
    for (tile, bezel) in [
        ([140, 145], [20, 10]),
        ([280, 210], [40, 30]),
        ([65, 44], [20, 12]),
        ([340, 97], [20, 7]),
    ] {
        let files = Files(stage.folder());
        let mut command = stage.mgn();
        command.args([
            "run",
            "--wall",
            &bezelled(tile, bezel, SCALED, |_| files.target()),
        ]);
        command.args(["--frames", "5", "--", "/usr/bin/env"]);
        command.args(still().assignments(None));
        let outcome = Outcome::of(command.arg("glxgears"), RUN_TIMEOUT);
        assert_eq!(outcome.status, Some(0), "{}", outcome.describe());
        // Tiles begin and end at the edges of the window's pixels. A pixel of a tile shows the
        // pixel of the window at its centre.
        let under = |axis: usize, nth: u32, at: u32, pixels: usize| {
            let (tile, bezel) = (tile[axis] as usize, bezel[axis] as usize);
            let first = nth as usize * (tile + bezel);
            let edge = |at: usize| at * pixels / (2 * tile + bezel);
            let (from, to) = (edge(first), edge(first + tile));
            from + (2 * at as usize + 1) * (to - from) / (2 * tile)
        };
        for n in 0..4u32 {
            let row = |y| (0..tile[0]).map(move |x| (x, y));
            let all = (0..tile[1]).flat_map(row).map(|(x, y)| {
                let left = under(0, n % 2, x, want.width);
                under(1, n / 2, y, want.height) * want.width + left
            });
            let pixels = all.flat_map(|at| want.pixels[at * 3..][..3].to_vec());
            let part = Picture {
                width: tile[0] as usize,
                height: tile[1] as usize,
                pixels: pixels.collect(),
            };
            let shown = files.picture(n as usize, 2);
            assert_eq!(part.difference(&shown), None, "{n} of {tile:?}");
        }
    }
}

/// The first window of a program that matches the wall's condition is shown on the wall. No other
/// window is.
#[test]
fn a_wall_takes_the_window_that_it_wants() {
    let stage = Stage::new();
    let program = programs("tests/conformance").join("windows");
    let cases = [
        ("{}", 0),
        (r#"{ title = "second *" }"#, 1),
        (r#"{ class = "Large", nth = 2 }"#, 2),
        ("{ min_size = [257, 1] }", 2),
        (r#"{ title = "*of three", class = "conform", nth = 2 }"#, 1),
    ];
    for (windows, nth) in cases {
        // The program is short, and its last frame may be lost when it ends.
        until(windows, || {
            let (shown, drawn) = (stage.folder(), stage.folder());
            let present = format!("{{ files = {:?} }}", shown.display().to_string());
            let tile = ("all".to_string(), [0, 0, 300, 300], present);
            let more = format!("fit = \"1:1\"\nwindows = {windows}");
            let wall = wall_file("one", [300, 300], &more, &[tile]);
            let mut command = stage.mgn();
            command.args(["run", "--wall", &wall, "--"]).arg(&program);
            command.args(["--scene", "three_windows", "--out"]);
            let outcome = Outcome::of(command.arg(&drawn), RUN_TIMEOUT);
            assert_eq!(outcome.status, Some(0), "{}", outcome.describe());
            let name = format!("windows.three_windows.0.{nth}.ppm");
            let want = Picture::read(&drawn.join(name)).unwrap();
            let tile = Picture::read(&shown.join("all/frame-000001.png"));
            let is_right = |tile| assert!(tile == want, "{windows}: another window is shown");
            tile.map(is_right).is_ok()
        });
    }
}

#[test]
fn a_window_is_made_as_large_as_the_mural() {
    let stage = Stage::new();
    let shown = stage.folder();
    let want = quarter(&still_gears(&stage, &["-geometry", "600x600"]), 3, 1);
    let present = |_| format!(r#"{{ files = "{}" }}"#, shown.display());
    let wall = bezelled([300; 2], [0; 2], "fit = \"window\"", present);
    let mut command = stage.mgn();
    command.args(["run", "--wall", &wall, "--", "/usr/bin/env"]);
    command.args(still().assignments(None));
    let running = Running::start(command.arg("glxgears"));
    until("the window is as large", || {
        let files = fs::read_dir(shown.join("1,1"));
        let last = files.into_iter().flatten().flatten().map(|f| f.path());
        let last = last.max().map(|path| Picture::read(&path));
        last.is_some_and(|picture| picture.is_ok_and(|picture| picture == want))
    });
    running.signal(Signal::TERM);
    running.finish(RUN_TIMEOUT);
}

/// The X server of one tile stops. No other tile gets more than one frame ahead of that tile.
#[test]
fn a_head_that_stands_still_holds_all_others() {
    let stage = Stage::new();
    let files = Files(stage.folder());
    let heads: Vec<Head> = (0..4).map(|_| Head::start()).collect();
    // A frame is written to a file when it should become visible.
    let wall = wall(1, |n| {
        let (display, file) = (heads[n].display(), files.target());
        format!(r#"{{ window = "{display}", position = [0, 0] }}, {file}"#)
    });
    let mut command = stage.mgn();
    command.args(["run", "--wall", &wall, "--", "glxgears"]);
    let running = Running::start(&mut command);
    files.wait_beyond(5);
    let see = |n: usize| heads[n].see([0, 0, 150, 150]);
    for (slow, head) in heads.iter().enumerate() {
        head.signal(Signal::STOP);
        let frame = files.held();
        let others = [0, 1, 2, 3].into_iter().filter(|n| *n != slow);
        for n in others.clone() {
            assert_eq!(see(n).difference(&files.picture(n, frame)), None, "{n}");
        }
        let held: Vec<Picture> = others.clone().map(see).collect();
        head.signal(Signal::CONT);
        files.wait_beyond(frame + 5);
        for (n, held) in others.zip(held) {
            until("the picture moves", || see(n) != held);
        }
        files.are_together();
    }
    running.signal(Signal::TERM);
    running.finish(RUN_TIMEOUT);
}

/// Frames that four tiles have shown as files in a folder.
struct Files(PathBuf);

impl Files {
    /// The TOML value for where a tile is shown.
    fn target(&self) -> String {
        format!(r#"{{ files = "{}" }}"#, self.0.display())
    }

    fn of_tile(&self, n: usize) -> PathBuf {
        self.0.join(format!("{},{}", n % 2, n / 2))
    }

    fn picture(&self, n: usize, frame: u32) -> Picture {
        let name = format!("frame-{frame:06}.png");
        Picture::read(&self.of_tile(n).join(name)).expect("a picture")
    }

    /// The number of the newest frame of a tile.
    fn newest(&self, n: usize) -> u32 {
        let files = fs::read_dir(self.of_tile(n)).into_iter().flatten();
        let newest = files.flatten().map(|file| file.file_name()).max();
        let name = newest.map(|name| name.into_string().expect("text"));
        let number = |name: String| name["frame-".len()..][..6].parse().expect("a number");
        name.map_or(0, number)
    }

    fn all(&self) -> [u32; 4] {
        [0, 1, 2, 3].map(|n| self.newest(n))
    }

    fn wait_beyond(&self, frame: u32) {
        let are_beyond = || self.all().into_iter().all(|newest| newest > frame);
        until(&format!("all tiles show frame {frame}"), are_beyond);
    }

    /// Checks that no running tile is more than a frame ahead of any tile that is read later.
    fn are_together(&self) {
        for _ in 0..20 {
            let all = self.all();
            assert!(is_together(all), "{all:?}");
        }
    }

    /// Waits until one tile holds up all others. Checks that the others have reached the same
    /// frame, and returns its number. The tile that holds them up may be one frame behind.
    fn held(&self) -> u32 {
        let stand_still = || {
            let before = self.all();
            (0..60).all(|_| {
                thread::sleep(Duration::from_millis(50));
                self.all() == before
            })
        };
        until("the tiles stand still", stand_still);
        let mut held = self.all();
        held.sort();
        assert!(held[0] + 1 >= held[1] && held[1] == held[3], "{held:?}");
        held[3]
    }
}

/// Whether no tile is more than a frame ahead of any tile that was read later.
fn is_together(all: [u32; 4]) -> bool {
    (0..4).all(|n| all[n..].iter().all(|later| later + 1 >= all[n]))
}

/// The processes that show a tile.
fn showing() -> Vec<u32> {
    let shows = |pid: &u32| {
        let threads = fs::read_dir(format!("/proc/{pid}/task"));
        threads.into_iter().flatten().flatten().any(|thread| {
            fs::read_to_string(thread.path().join("comm")).is_ok_and(|name| name.trim() == "tile")
        })
    };
    processes().filter(shows).collect()
}

#[test]
fn a_server_that_stands_still_holds_all_tiles() {
    let stage = Stage::new();
    let files = Files(stage.folder());
    let wall = wall(1, |_| files.target());
    let mut command = stage.mgn();
    command.args(["run", "--wall", &wall, "--", "glxgears"]);
    let running = Running::start(&mut command);
    files.wait_beyond(5);
    let server = showing().into_iter().find_map(|pid| {
        let server = parent(pid)?;
        (parent(server)? == running.pid()).then_some(server)
    });
    let server = server.expect("a server of this run");
    let workers: Vec<u32> = showing()
        .into_iter()
        .filter(|pid| parent(*pid) == Some(server))
        .collect();
    assert_eq!(workers.len(), 4);
    let worker = Pid::from_raw(workers[0] as i32).unwrap();
    kill_process(worker, Signal::STOP).unwrap();
    let frame = files.held();
    kill_process(worker, Signal::CONT).unwrap();
    files.wait_beyond(frame + 5);
    // The others do not wait for a lost tile. They wait for its successor.
    kill_process(worker, Signal::STOP).unwrap();
    let frame = files.held();
    kill_process(worker, Signal::KILL).unwrap();
    files.wait_beyond(frame + 5);
    // The successor first shows the frames that it has missed.
    until("it has caught up", || is_together(files.all()));
    files.are_together();
    running.signal(Signal::TERM);
    running.finish(RUN_TIMEOUT);
}

#[test]
fn what_cannot_be_shown_is_said_to_the_program() {
    let stage = Stage::new();
    let targets = [
        r#"{ window = ":4123" }"#,
        "\"none\"",
        "\"none\"",
        "\"none\"",
    ];
    let wall = wall(1, |n| targets[n].into());
    let mut command = stage.mgn();
    command.args(["run", "--wall", &wall, "--frames", "3", "--", "glxgears"]);
    let outcome = Outcome::of(&mut command, RUN_TIMEOUT);
    let words = "no connection to the X server :4123";
    assert!(
        outcome.status != Some(0) && outcome.stderr.contains(words),
        "{}",
        outcome.describe()
    );
}

/// A client on the network can use only the places that the server's owner allows.
#[test]
fn servers_show_programs_elsewhere_what_is_allowed() {
    let stage = Stage::new();
    let shown = stage.folder();
    let token = stage.folder().join("token");
    let made = Outcome::of(stage.mgn().args(["token", "new"]).arg(&token), RUN_TIMEOUT);
    assert_eq!(made.status, Some(0), "{}", made.describe());
    let target = format!(r#"{{ files = "{}" }}"#, shown.display());
    let wall = wall(1, |_| target.clone());
    for is_allowed in [false, true] {
        let mut server = stage.mgn();
        server.args(["server", "--listen", "tcp:127.0.0.1:0", "--token-file"]);
        server.arg(&token);
        if is_allowed {
            server.arg(format!("--present=files={}", shown.display()));
        }
        let mut server = server
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut said = BufReader::new(server.stdout.take().unwrap()).lines();
        let address = said.find_map(|line| Some(line.ok()?.strip_prefix("listening on ")?.into()));
        let address: String = address.expect("an address");
        let mut command = stage.mgn();
        command.args(["run", "--wall", &wall, "--server", &address, "--token-file"]);
        command
            .arg(&token)
            .args(["--frames", "5", "--", "glxgears"]);
        let outcome = Outcome::of(&mut command, RUN_TIMEOUT);
        kill_process(Pid::from_child(&server), Signal::TERM).unwrap();
        server.wait().unwrap();
        let refused = outcome.stderr.contains("may not show the tile");
        assert_eq!(refused, !is_allowed, "{}", outcome.describe());
        assert_eq!(shown.join("1,1").exists(), is_allowed);
    }
}

#[test]
fn a_run_is_shown_in_browsers() {
    let stage = Stage::new();
    let cases = [
        (&["--wall", "2x2"][..], 4),
        (&[], 1),
        (&["--transport", "tcp"], 1),
    ];
    for (flags, tiles) in cases {
        let mut command = stage.mgn();
        command.args(["run", "--viewer"]).args(flags);
        command.args(["--", "glxgears"]);
        let live = Live::start(command, 1);
        watch(&live.urls[0], tiles, RUN_TIMEOUT);
    }
}
