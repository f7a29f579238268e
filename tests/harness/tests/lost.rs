//! Walls that lose some of their servers.

use std::fs;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use mgn_tests::frames::{drawing, hole, picture, progress, saved, some_more, wait_for};
use mgn_tests::{camera, children, programs, wall_file, Live, Outcome, Running, Stage, Watcher};
use mgn_verify::Picture;
use rustix::process::{kill_process, Pid, Signal};

const RUN_TIMEOUT: Duration = Duration::from_secs(120);

/// Four servers and the flags that make a program use them. Each server draws a tile.
struct Four {
    servers: Vec<Option<Running>>,
    arguments: Vec<String>,
}

impl Four {
    fn start(stage: &Stage, name: &str) -> Four {
        let mut arguments = vec!["--wall".into(), "2x2".into()];
        let mut servers = Vec::new();
        for tile in 0..4 {
            let name = format!("mgn-{}-{name}-{tile}", std::process::id());
            let address = format!("unix:@{name}");
            let server = Running::start(stage.mgn().args(["server", "--listen", &address]));
            servers.push(Some(server));
            let name = SocketAddr::from_abstract_name(name).unwrap();
            let start = Instant::now();
            while UnixStream::connect_addr(&name).is_err() {
                assert!(start.elapsed() < RUN_TIMEOUT, "{address} does not listen");
                std::thread::sleep(Duration::from_millis(20));
            }
            arguments.extend(["--server".into(), address]);
        }
        Four { servers, arguments }
    }

    /// Restarts the server of a tile at the same address, with further arguments.
    fn restart(&mut self, stage: &Stage, tile: usize, arguments: &[&str]) {
        let address = &self.arguments[2 * tile + 3];
        let mut server = stage.mgn();
        server.args(["server", "--listen", address]).args(arguments);
        self.servers[tile] = Some(Running::start(&mut server));
    }

    /// Stops the workers that render a tile.
    fn stop(&self, tile: usize) {
        let server = self.servers[tile].as_ref().unwrap();
        for worker in children(server.pid()) {
            kill_process(Pid::from_raw(worker as i32).unwrap(), Signal::STOP).unwrap();
        }
    }

    fn kill(&mut self, tile: usize) {
        let server = self.servers[tile].take().unwrap();
        server.signal(Signal::KILL);
        server.finish(RUN_TIMEOUT);
    }
}

/// If the renderer that answers a program's questions is lost, another renderer answers them, and
/// the program continues.
#[test]
fn questions_are_answered_by_those_that_are_left() {
    questions_are_answered("asked", &[]);
}

/// The same applies if another thread than the program's has sent the question.
#[test]
fn questions_that_passed_stages_are_answered_by_those_that_are_left() {
    questions_are_answered("passed", &["--client-spu", "wireframe"]);
}

fn questions_are_answered(name: &str, flags: &[&str]) {
    const TIMES: &str = "40";
    let stage = Stage::new();
    let program = programs("tests/conformance").join("checked_frames");
    let arguments = |folder: &Path| {
        let folder = folder.display().to_string();
        ["--out".into(), folder, "--scene".into(), "few".into()].to_vec()
    };
    let folder = stage.folder();
    let mut direct = stage.direct(&program);
    direct.args(arguments(&folder)).args(["--times", TIMES]);
    let outcome = Outcome::of(&mut direct, RUN_TIMEOUT);
    assert_eq!(outcome.status, Some(0), "{}", outcome.describe());
    let wanted = fs::read_to_string(folder.join("checked_frames.txt")).unwrap();

    let mut four = Four::start(&stage, name);
    let folder = stage.folder();
    let mut command = stage.mgn();
    command.args(["run", "--headless"]).args(&four.arguments);
    command
        .args(flags)
        .arg("--")
        .arg(&program)
        .args(arguments(&folder));
    let running = Running::start(command.args(["--times", TIMES]));
    let log = folder.join("checked_frames.txt");
    let length = || fs::metadata(&log).map_or(0, |log| log.len());
    // The session begins during the first scene.
    let mut seen = progress(progress(0, length), length);
    for tile in [0, 3, 1] {
        four.kill(tile);
        seen = progress(seen, length);
    }
    let outcome = running.finish(RUN_TIMEOUT);
    assert_eq!(outcome.status, Some(0), "{}", outcome.describe());
    for tile in ["0,0", "1,0", "1,1"] {
        let wanted = format!("the render server of tile {tile} is lost");
        assert!(outcome.stderr.contains(&wanted), "{}", outcome.describe());
    }
    // Hashes of pictures that have holes differ, so their lines are left out.
    let said = |log: String| {
        let told = |line: &&str| !line.contains("alpha");
        log.lines().filter(told).collect::<Vec<_>>().join("\n")
    };
    assert_eq!(said(fs::read_to_string(&log).unwrap()), said(wanted));
}

/// A server that comes back waits with one session until there can be a snapshot.
#[test]
fn a_successor_waits_for_its_snapshot() {
    let stage = Stage::new();
    let program = programs("tests/conformance").join("checked_frames");
    let mut four = Four::start(&stage, "waiting");
    let (folder, begun) = (stage.folder(), stage.folder());
    let counts = stage.folder().join("counts");
    fs::write(&counts, "").unwrap();
    let mut command = stage.mgn();
    command.args(["run", "--headless"]).args(&four.arguments);
    command.arg("--").arg(&program).arg("--out").arg(&folder);
    let running = Running::start(command.env("CONFORM_COUNTS_WHILE", &counts));
    let log = folder.join("checked_frames.txt");
    progress(0, || {
        let said = fs::read_to_string(&log).unwrap_or_default();
        said.contains("== counted").into()
    });
    four.kill(1);
    // Each session writes a file, so files count the sessions.
    let trace = format!("print:file={}", begun.join("trace").display());
    four.restart(&stage, 1, &["--spu", &trace]);
    let sessions = || fs::read_dir(&begun).unwrap().count() as u64;
    progress(0, sessions);
    // The new renderer asks for a snapshot twice a second.
    std::thread::sleep(Duration::from_millis(1700));
    assert_eq!(sessions(), 1);
    fs::remove_file(&counts).unwrap();
    let outcome = running.finish(RUN_TIMEOUT);
    assert_eq!(outcome.status, Some(0), "{}", outcome.describe());
}

/// A lost tile is filled while the program polls for the result of a query. From then on, its new
/// renderer is asked for results as well.
#[test]
fn a_tile_is_filled_while_results_are_asked_for() {
    let stage = Stage::new();
    let program = programs("tests/conformance").join("checked_frames");
    let mut four = Four::start(&stage, "polling");
    let (folder, begun) = (stage.folder(), stage.folder());
    let polls = stage.folder().join("polls");
    fs::write(&polls, "").unwrap();
    let mut command = stage.mgn();
    command.args(["run", "--headless"]).args(&four.arguments);
    command.arg("--").arg(&program).arg("--out").arg(&folder);
    command.args(["--scene", "polled"]);
    let running = Running::start(command.env("CONFORM_COUNTS_WHILE", &polls));
    let log = folder.join("checked_frames.txt");
    progress(0, || {
        let said = fs::read_to_string(&log).unwrap_or_default();
        said.contains("asks").into()
    });
    four.kill(2);
    let trace = begun.join("trace");
    let stage_of_it = format!("print:file={}", trace.display());
    four.restart(&stage, 2, &["--spu", &stage_of_it]);
    let asked = || {
        let said = fs::read_to_string(&trace).unwrap_or_default();
        said.matches("mgnCounted").count() as u64
    };
    progress(progress(0, asked), asked);
    fs::remove_file(&polls).unwrap();
    let outcome = running.finish(RUN_TIMEOUT);
    assert_eq!(outcome.status, Some(0), "{}", outcome.describe());
    let wanted = "tile 0,1 has a render server again";
    assert!(outcome.stderr.contains(wanted), "{}", outcome.describe());
    let said = fs::read_to_string(&log).unwrap();
    assert!(said.contains("then 16384"), "{said}");
}

/// Results of queries lack the counts of a lost tile, and do not wait for them.
#[test]
fn what_a_lost_tile_counts_is_missing() {
    let stage = Stage::new();
    let program = programs("tests/conformance").join("counts");
    let mut four = Four::start(&stage, "counted");
    let folder = stage.folder();
    let mut command = stage.mgn();
    command.args(["run", "--headless"]).args(&four.arguments);
    command.arg("--").arg(&program).arg("--out").arg(&folder);
    command.args(["--scene", "samples", "--times", "60"]);
    let running = Running::start(&mut command);
    let log = folder.join("counts.txt");
    let length = || fs::metadata(&log).map_or(0, |log| log.len());
    let seen = progress(progress(0, length), length);
    four.kill(3);
    progress(seen, length);
    let outcome = running.finish(RUN_TIMEOUT);
    assert_eq!(outcome.status, Some(0), "{}", outcome.describe());
    let log = fs::read_to_string(&log).unwrap();
    let counted: Vec<&str> = log
        .lines()
        .filter(|line| ["box: 65536", "box: 49152"].contains(line))
        .collect();
    assert_eq!(counted.first(), Some(&"box: 65536"), "{log}");
    assert_eq!(counted.last(), Some(&"box: 49152"), "{log}");
}

/// The session ends when the last server is lost.
#[test]
fn a_wall_without_servers_ends() {
    let stage = Stage::new();
    let mut four = Four::start(&stage, "all");
    let folder = stage.folder();
    let mut command = stage.mgn();
    command.args(["run", "--headless", "--save"]).arg(&folder);
    command.args(&four.arguments).args(["--", "glxgears"]);
    let running = Running::start(&mut command);
    let frames = || fs::read_dir(&folder).unwrap().count() as u64;
    let seen = progress(0, frames);
    (0..3).for_each(|tile| four.kill(tile));
    progress(seen, frames);
    four.kill(3);
    let outcome = running.finish(RUN_TIMEOUT);
    assert_ne!(outcome.status, Some(0), "{}", outcome.describe());
    let end = "the render server is lost";
    assert!(outcome.stderr.contains(end), "{}", outcome.describe());
}

/// The area of a lost renderer shows stripes. The rest of the picture is unchanged.
#[test]
fn a_lost_tile_is_a_hole_in_the_picture() {
    const FRAMES: &str = "400";
    let stage = Stage::new();
    camera();
    let demo = programs("demos").join("iso_demo");
    let mut four = Four::start(&stage, "hole");
    let run = |folder: &Path| {
        let mut command = stage.mgn();
        command
            .args(["run", "--headless", "--save"])
            .arg(folder)
            .args(&four.arguments)
            .arg("--")
            .arg(&demo)
            .args([
                "--size",
                "200x100",
                "--triangles",
                "2000",
                "--frames",
                FRAMES,
            ]);
        Running::start(&mut command)
    };
    let last = |folder: &Path| {
        let file = format!("frame-{:06}.png", FRAMES.parse::<u32>().unwrap());
        let picture = Picture::read(&folder.join(file)).unwrap();
        assert_eq!((picture.width, picture.height), (200, 100));
        picture.pixels
    };
    let (undisturbed, disturbed) = (stage.folder(), stage.folder());
    let outcome = run(&undisturbed).finish(RUN_TIMEOUT);
    assert_eq!(outcome.status, Some(0), "{}", outcome.describe());
    let running = run(&disturbed);
    progress(0, || fs::read_dir(&disturbed).unwrap().count() as u64);
    four.kill(1);
    let outcome = running.finish(RUN_TIMEOUT);
    assert_eq!(outcome.status, Some(0), "{}", outcome.describe());
    let (wanted, found) = (last(&undisturbed), last(&disturbed));
    let pixels = wanted.chunks_exact(3).zip(found.chunks_exact(3));
    for (n, (wanted, found)) in pixels.enumerate() {
        let (x, y) = (n % 200, n / 200);
        if x >= 100 && y < 50 {
            let grey = [[0x30; 3], [0x60; 3]][(x + y) / 16 % 2];
            assert_eq!(found, grey, "the hole at {x}, {y}");
        } else {
            assert_eq!(found, wanted, "at {x}, {y}");
        }
    }
}

/// A server that comes back gets its state from a remaining server. Then the picture is the same as
/// without the loss.
#[test]
fn a_server_that_comes_again_takes_its_tile_over() {
    const FRAMES: u32 = 300;
    let stage = Stage::new();
    camera();
    let demo = programs("demos").join("iso_demo");
    let mut four = Four::start(&stage, "again");
    let (undisturbed, disturbed) = (stage.folder(), stage.folder());
    let arguments = four.arguments.clone();
    let run = |folder: &Path, frames: u32| {
        let mut command = stage.mgn();
        command
            .args(["run", "--headless", "--save"])
            .arg(folder)
            .args(&arguments)
            .arg("--")
            .arg(&demo)
            .args(["--size", "200x100", "--triangles", "2000"])
            .args(["--mode", "vbo", "--frames", &frames.to_string()]);
        Running::start(&mut command)
    };
    let frames = || fs::read_dir(&disturbed).unwrap().count() as u64;
    // The program runs until the server has been killed, restarted and filled. The time for this
    // varies.
    let running = run(&disturbed, 1_000_000);
    progress(0, frames);
    for tile in [1, 0] {
        four.kill(tile);
        let mut seen = frames();
        four.restart(&stage, tile, &[]);
        seen = progress(seen + 2, frames);
        while hole(&picture(&disturbed, seen - 1)) {
            seen = progress(seen, frames);
        }
    }
    let last = u64::from(FRAMES).max(progress(frames() + 5, frames)) - 2;
    progress(last + 1, frames);
    running.signal(Signal::TERM);
    let outcome = running.finish(RUN_TIMEOUT);
    for tile in ["0,0", "1,0"] {
        let wanted = format!("tile {tile} has a render server again");
        assert!(outcome.stderr.contains(&wanted), "{}", outcome.describe());
    }
    let outcome = run(&undisturbed, last as u32).finish(RUN_TIMEOUT);
    assert_eq!(outcome.status, Some(0), "{}", outcome.describe());
    assert_eq!(picture(&disturbed, last), picture(&undisturbed, last));
}

/// If the renderer that gives its state to a new renderer is lost as well, a third renderer fills
/// the tile. Then the tile of the lost giver is filled.
#[test]
fn another_gives_what_a_lost_one_was_to_give() {
    let stage = Stage::new();
    let mut four = Four::start(&stage, "giver");
    let (undisturbed, disturbed) = (stage.folder(), stage.folder());
    let arguments = four.arguments.clone();
    let wall: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let running = drawing(stage.mgn(), &disturbed, &wall, 1_000_000);
    wait_for(&disturbed, true);
    four.kill(1);
    wait_for(&disturbed, false);
    // The stopped renderer gets the request for a snapshot, and does not answer.
    four.stop(0);
    let begun = stage.folder();
    let trace = format!("print:file={}", begun.join("trace").display());
    four.restart(&stage, 1, &["--spu", &trace]);
    progress(0, || fs::read_dir(&begun).unwrap().count() as u64);
    std::thread::sleep(Duration::from_secs(1));
    four.kill(0);
    four.restart(&stage, 0, &[]);
    wait_for(&disturbed, true);
    let last = some_more(&disturbed);
    running.signal(Signal::TERM);
    let outcome = running.finish(RUN_TIMEOUT);
    for tile in ["0,0", "1,0"] {
        let wanted = format!("tile {tile} has a render server again");
        assert!(outcome.stderr.contains(&wanted), "{}", outcome.describe());
    }
    let outcome =
        drawing(stage.mgn(), &undisturbed, &["--wall", "2x2"], last as u32).finish(RUN_TIMEOUT);
    assert_eq!(outcome.status, Some(0), "{}", outcome.describe());
    assert_eq!(picture(&disturbed, last), picture(&undisturbed, last));
}

/// With offset tiling, renderers have only the pixels of their tiles. Even then a lost tile is
/// filled, including the tile of the renderer that answers questions.
#[test]
fn tiles_of_offset_tiling_are_filled() {
    let stage = Stage::new();
    let mut four = Four::start(&stage, "offset");
    let (undisturbed, disturbed) = (stage.folder(), stage.folder());
    let arguments = four.arguments.clone();
    let offset = ["--tiling", "offset"];
    let wall: Vec<&str> = arguments.iter().map(String::as_str).chain(offset).collect();
    let running = drawing(stage.mgn(), &disturbed, &wall, 1_000_000);
    wait_for(&disturbed, true);
    for tile in [2, 0] {
        four.kill(tile);
        wait_for(&disturbed, false);
        four.restart(&stage, tile, &[]);
        wait_for(&disturbed, true);
    }
    let last = some_more(&disturbed);
    running.signal(Signal::TERM);
    let outcome = running.finish(RUN_TIMEOUT);
    for tile in ["0,1", "0,0"] {
        let wanted = format!("tile {tile} has a render server again");
        assert!(outcome.stderr.contains(&wanted), "{}", outcome.describe());
    }
    let wall = [&["--wall", "2x2"], &offset[..]].concat();
    let outcome = drawing(stage.mgn(), &undisturbed, &wall, last as u32).finish(RUN_TIMEOUT);
    assert_eq!(outcome.status, Some(0), "{}", outcome.describe());
    assert_eq!(picture(&disturbed, last), picture(&undisturbed, last));
}

/// Pages in browsers are told which tile is lost, and show the other tiles. They show all tiles
/// when the lost tile is back.
#[test]
fn pages_are_told_which_tile_is_lost() {
    let stage = Stage::new();
    let mut four = Four::start(&stage, "watched");
    let mut command = stage.mgn();
    command.args(["run", "--viewer"]).args(&four.arguments);
    command.args(["--", "glxgears"]);
    let live = Live::start(command, 1);
    let mut page = Watcher::open(&live.urls[0], 4, RUN_TIMEOUT);
    page.sees(4);
    four.kill(1);
    page.is_told(&["live", "lost", "live", "live"]);
    page.sees(3);
    four.restart(&stage, 1, &[]);
    page.is_told(&["live"; 4]);
    page.sees(4);
    // The viewer ends with its run.
    live.signal(Signal::KILL);
    page.is_left();
}

/// A separate viewer tells pages that all tiles are lost, and then shows the next program.
#[test]
fn a_viewer_outlives_a_program() {
    let stage = Stage::new();
    let feeds = format!("unix:@mgn-{}-feeds", std::process::id());
    let tile = |n: u32| {
        let present = format!("{{ viewer = \"{feeds}\" }}");
        (n.to_string(), [150 * n, 0, 150, 300], present)
    };
    let wall = wall_file("pair", [300, 300], "", &[0, 1].map(tile));
    let mut viewer = stage.mgn();
    viewer.args(["viewer", "--feeds", &feeds, "--wall"]);
    viewer.arg(&wall).env("MGN_LOG", "warn");
    let viewer = Live::viewer(viewer);
    let mut page = Watcher::open(&viewer.urls[0], 2, RUN_TIMEOUT);
    for _ in 0..2 {
        let mut command = stage.mgn();
        command.args(["run", "--wall", &wall, "--", "glxgears"]);
        let running = Running::start(&mut command);
        page.is_told(&["live"; 2]);
        page.sees(2);
        running.signal(Signal::KILL);
        page.is_told(&["lost"; 2]);
    }
}

/// Two servers that the mothership does not start.
const SERVERS: &str = "[[host]]\nname = \"here\"\n\
    [[server]]\nname = \"left\"\nhost = \"here\"\n\
    [[server]]\nname = \"right\"\nhost = \"here\"\n";

/// A mothership with a configuration, and servers that connect to it.
struct Site<'s> {
    stage: &'s Stage,
    file: PathBuf,
    home: String,
}

impl Site<'_> {
    fn new<'s>(stage: &'s Stage, name: &str, config: &str) -> Site<'s> {
        let file = stage.folder().join("wall.toml");
        fs::write(&file, config).unwrap();
        let home = format!("unix:@mgn-{}-{name}", std::process::id());
        Site { stage, file, home }
    }

    /// Starts a mothership, and returns when it listens. A client that came earlier would not find
    /// it.
    fn mothership(&self) -> Running {
        let mut command = self.stage.mgn();
        command.arg("mothership").arg(&self.file);
        let running = Running::start(command.args(["--listen", &self.home]));
        let name = self.home.trim_start_matches("unix:");
        let listens = || {
            let sockets = fs::read_to_string("/proc/net/unix").unwrap();
            let is_ours = |line: &str| line.split_whitespace().last() == Some(name);
            u64::from(sockets.lines().any(is_ours))
        };
        progress(0, listens);
        running
    }

    fn server(&self, name: &str) -> Running {
        Running::start(&mut self.server_of(name))
    }

    fn server_of(&self, name: &str) -> Command {
        let address = format!("{}-{name}", self.home);
        let mut command = self.stage.mgn();
        command.args(["server", "--mothership", &self.home, "--name", name]);
        command.args(["--listen", &address]);
        command
    }
}

/// The loss of all servers of one wall does not affect another wall that shows the same picture.
#[test]
fn a_replica_goes_on_without_the_other_wall() {
    let stage = Stage::new();
    camera();
    let demo = programs("demos").join("iso_demo");
    let (shown, undisturbed) = (stage.folder(), stage.folder());
    let mut config = SERVERS.to_owned();
    for (wall, server) in [("desk", "left"), ("beamer", "right")] {
        config += &format!("[[wall]]\nname = \"{wall}\"\ngrid = [1, 1]\n");
        config += &format!("tile_size = [200, 100]\nservers = [\"{server}\"]\n");
    }
    config += &format!("present = {{ files = \"{}\" }}\n", shown.display());
    let site = Site::new(&stage, "replica", &config);
    let _mothership = site.mothership();
    let (left, _right) = (site.server("left"), site.server("right"));
    let run = |flags: &[&str], frames: u64| {
        let mut command = stage.mgn();
        command
            .args(["run", "--headless"])
            .args(flags)
            .arg("--")
            .arg(&demo)
            .args(["--size", "200x100", "--triangles", "2000"])
            .args(["--frames", &frames.to_string()]);
        Running::start(&mut command)
    };
    let walls = ["--wall", "desk", "--wall", "beamer"];
    let running = run(
        &[&walls[..], &["--mothership", &site.home]].concat(),
        1_000_000,
    );
    let shown = shown.join("0,0");
    let frames = || fs::read_dir(&shown).map_or(0, |files| files.count() as u64);
    let seen = progress(2, frames);
    left.signal(Signal::KILL);
    left.finish(RUN_TIMEOUT);
    let last = progress(frames().max(seen) + 5, frames) - 2;
    running.signal(Signal::TERM);
    let outcome = running.finish(RUN_TIMEOUT);
    let wanted = "the render server of tile 0,0 is lost";
    assert!(outcome.stderr.contains(wanted), "{}", outcome.describe());
    let saved = undisturbed.display().to_string();
    let outcome = run(&["--save", &saved], last).finish(RUN_TIMEOUT);
    assert_eq!(outcome.status, Some(0), "{}", outcome.describe());
    assert_eq!(picture(&shown, last), picture(&undisturbed, last));
}

/// A wall of 200 x 100 pixels.
fn desk() -> String {
    let wall = "[[wall]]\nname = \"desk\"\ngrid = [2, 1]\ntile_size = [100, 100]\n";
    format!("{SERVERS}{wall}servers = [\"left\", \"right\"]\n")
}

fn end(server: Running) {
    server.signal(Signal::KILL);
    server.finish(RUN_TIMEOUT);
}

/// A server that comes on line elsewhere takes over the tile of a lost server. This also works with
/// a restarted mothership, which learns about the program from the program itself.
#[test]
fn a_spare_server_takes_a_lost_ones_tile() {
    let stage = Stage::new();
    let site = Site::new(&stage, "spares", &desk());
    let first = site.mothership();
    let (_left, right) = (site.server("left"), site.server("right"));
    let (undisturbed, disturbed) = (stage.folder(), stage.folder());
    let wall = ["--wall", "desk", "--mothership", &site.home];
    let running = drawing(stage.mgn(), &disturbed, &wall, 1_000_000);
    let frames = || saved(&disturbed);
    wait_for(&disturbed, true);
    end(right);
    wait_for(&disturbed, false);
    let spare = site.server("spare");
    wait_for(&disturbed, true);
    end(first);
    let seen = frames();
    progress(seen + 5, frames);
    wait_for(&disturbed, true);
    end(spare);
    wait_for(&disturbed, false);
    let _another = site.mothership();
    let _spare = site.server("another");
    wait_for(&disturbed, true);
    let last = some_more(&disturbed);
    running.signal(Signal::TERM);
    let outcome = running.finish(RUN_TIMEOUT);
    let wanted = "tile 1,0 has a render server again";
    let times = outcome.stderr.matches(wanted).count();
    assert_eq!(times, 2, "{}", outcome.describe());
    let outcome =
        drawing(stage.mgn(), &undisturbed, &["--wall", "2x1"], last as u32).finish(RUN_TIMEOUT);
    assert_eq!(outcome.status, Some(0), "{}", outcome.describe());
    assert_eq!(picture(&disturbed, last), picture(&undisturbed, last));
}

/// The mothership cannot tell that a spare server has a different driver, but the program can. The
/// program then gets the next spare server.
#[test]
fn a_spare_server_that_will_not_do_is_passed_over() {
    let stage = Stage::new();
    let site = Site::new(&stage, "unfit", &desk());
    let _mothership = site.mothership();
    let (_left, right) = (site.server("left"), site.server("right"));
    let folder = stage.folder();
    let wall = ["--wall", "desk", "--mothership", &site.home];
    let running = drawing(stage.mgn(), &folder, &wall, 1_000_000);
    wait_for(&folder, true);
    // Of the available servers, the one with the most free sessions comes first.
    let mut odd = site.server_of("odd");
    odd.args(["--max-sessions", "50"]);
    let _odd = Running::start(odd.env("MESA_GLES_VERSION_OVERRIDE", "3.0"));
    let mut even = site.server_of("even");
    let _even = Running::start(even.args(["--max-sessions", "2"]));
    let are_there = || {
        let mut status = stage.mgn();
        let status = status.args(["status", "--mothership", &site.home]).output();
        let said = String::from_utf8(status.unwrap().stdout).unwrap();
        u64::from(said.contains("odd") && said.contains("even"))
    };
    progress(0, are_there);
    end(right);
    wait_for(&folder, false);
    wait_for(&folder, true);
    running.signal(Signal::TERM);
    let outcome = running.finish(RUN_TIMEOUT);
    let unfit = format!(
        "no server takes over tile 1,0 yet: the server at {}-odd",
        site.home
    );
    for wanted in [&unfit, "tile 1,0 has a render server again"] {
        assert!(outcome.stderr.contains(wanted), "{}", outcome.describe());
    }
}
