//! Programs that are rendered by the servers of a mothership.

use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use mgn_tests::{camera, compare_all, programs, wall_file, Case, Head, Outcome, Running, Stage};
use mgn_verify::Picture;
use rustix::process::Signal;

const RUN_TIMEOUT: Duration = Duration::from_secs(120);

/// A mothership on this host, with its own folder.
struct TestMothership<'a> {
    stage: &'a Stage,
    folder: PathBuf,
    address: String,
    mothership: Running,
}

impl TestMothership<'_> {
    /// Starts a mothership with this configuration, which listens at `name` in its folder. Returns
    /// when it answers.
    fn start<'a>(stage: &'a Stage, name: &str, config: &str) -> TestMothership<'a> {
        let folder = stage.folder();
        let file = folder.join("mothership.toml");
        fs::write(&file, config).unwrap();
        let address = format!("unix:{}", folder.join(name).display());
        let mut command = stage.mgn();
        command.arg("mothership").arg(&file);
        command.args(["--listen", &address]);
        let mothership = TestMothership {
            stage,
            mothership: Running::start(command.env("XDG_STATE_HOME", &folder)),
            folder,
            address,
        };
        while Outcome::of(&mut mothership.mgn(&["status"]), RUN_TIMEOUT).status != Some(0) {
            std::thread::sleep(Duration::from_millis(50));
        }
        mothership
    }

    /// A command that finds the mothership.
    fn mgn(&self, arguments: &[&str]) -> Command {
        let mut command = self.stage.mgn();
        command.args(arguments).env("MGN_MOTHERSHIP", &self.address);
        command
    }

    /// Stops the mothership by `mgn stop`.
    fn stop(self) -> Outcome {
        let stopped = Outcome::of(&mut self.mgn(&["stop"]), RUN_TIMEOUT);
        assert_eq!(stopped.status, Some(0), "{}", stopped.describe());
        let outcome = self.mothership.finish(RUN_TIMEOUT);
        assert_eq!(outcome.status, Some(0), "{}", outcome.describe());
        outcome
    }
}

/// The log of a server that the mothership has started.
fn log(folder: &Path, server: &str) -> PathBuf {
    let entries = fs::read_dir(folder.join("manganese")).unwrap().flatten();
    // The keys of servers are beside the mothership's folder.
    let mut folders = entries.filter(|entry| entry.path().is_dir());
    let only = folders.next().unwrap();
    only.path().join(format!("{server}.log"))
}

/// Two displays have a common phase, show frames in time, and determine the rate of the program.
#[test]
fn displays_are_genlocked() {
    let stage = Stage::new();
    let heads = [Head::start(), Head::start()];
    let tag = std::process::id();
    let mut config = String::from(
        "[[wall]]\nname = \"pair\"\ngenlock = true\ngrid = [2, 1]\ntile_size = [150, 300]\n\
         servers = [\"a\", \"b\"]\n",
    );
    let windows = heads
        .each_ref()
        .map(|head| format!("{{ window = \"{}\" }}", head.display()));
    config += &format!("tile_present = [{}]\n", windows.join(", "));
    for name in ["a", "b"] {
        config +=
            &format!("[[server]]\nname = \"{name}\"\nlisten = \"unix:@mgn-{tag}-gl-{name}\"\n");
    }
    let mothership = TestMothership::start(&stage, "home", &config);
    let lines = mothership.folder.join("lines");
    let program = format!("exec glxgears 2>{}", lines.display());
    let arguments = ["run", "--wall", "pair", "--", "sh", "-c", &program];
    let running = Running::start(&mut mothership.mgn(&arguments));
    let client = || {
        let mut status = mothership.mgn(&["status", "--json"]);
        let said = Outcome::of(&mut status, RUN_TIMEOUT).stdout;
        let status: serde_json::Value = serde_json::from_str(&said).unwrap();
        status["clients"][0].clone()
    };
    let wait = |what: &str, is_so: &dyn Fn(&serde_json::Value) -> bool| {
        let start = Instant::now();
        loop {
            let client = client();
            if is_so(&client) {
                return;
            }
            let said = &client["tiles"];
            assert!(
                start.elapsed() < RUN_TIMEOUT,
                "{what} does not come: {said}"
            );
            std::thread::sleep(Duration::from_millis(200));
        }
    };
    let error = |client: &serde_json::Value, tile: usize| {
        client["tiles"][tile]["genlock"]["error"].as_i64()
    };
    // All Xvfb servers have their vertical blanks at the same moments, but report them late on a
    // busy machine. There are 60 per second. Without genlock, the program would be much faster.
    let in_a_row = Cell::new(0);
    wait("a common phase, at the displays' rate", &|client| {
        let is_small = |tile| error(client, tile).is_some_and(|error| error.abs() < 4_000_000);
        let rate = client["rate"]["frames_per_second"].as_f64();
        let is_slow = rate.is_some_and(|rate| rate > 1.0 && rate < 62.0);
        match is_small(0) && is_small(1) && is_slow {
            true => in_a_row.set(in_a_row.get() + 1),
            false => in_a_row.set(0),
        }
        in_a_row.get() >= 5
    });
    let shown = Outcome::of(&mut mothership.mgn(&["status"]), RUN_TIMEOUT).stdout;
    assert!(shown.contains("PHASE") && shown.contains(" ms "), "{shown}");
    // A tile that has lost its display delays no other tile, and is reported.
    let [first, second] = heads;
    drop(first);
    wait("the loss", &|client| {
        error(client, 0).is_none() && error(client, 1) == Some(0)
    });
    let before = second.see([0, 0, 150, 300]);
    let start = Instant::now();
    while second.see([0, 0, 150, 300]) == before {
        assert!(start.elapsed() < RUN_TIMEOUT, "the other tile stands still");
    }
    wait("a line about the loss", &|_| {
        let wanted = "the tile 0,0 is not genlocked: its server reports no vertical blanks";
        fs::read_to_string(&lines).unwrap().contains(wanted)
    });
    running.signal(Signal::TERM);
    running.finish(RUN_TIMEOUT);
    mothership.stop();
}

/// Each rank gets the servers of the wall, and the ranks' pictures are merged.
#[test]
fn ranks_share_a_wall_of_the_mothership() {
    let stage = Stage::new();
    let tag = std::process::id();
    let mut config = String::from(
        "[[wall]]\nname = \"desk\"\ngrid = [2, 1]\ntile_size = [100, 150]\n\
         servers = [\"a\", \"b\"]\n",
    );
    for name in ["a", "b"] {
        config +=
            &format!("[[server]]\nname = \"{name}\"\nlisten = \"unix:@mgn-{tag}-np-{name}\"\n");
    }
    let mothership = TestMothership::start(&stage, "home", &config);
    let pictures = [&[][..], &["--wall", "desk"]].map(|wall| {
        let saved = stage.folder();
        let mut command = mothership.mgn(&["run", "-np", "2", "--composite", "depth"]);
        command.args(wall).arg("--save").arg(&saved).arg("--");
        command.arg(programs("demos").join("iso_demo"));
        command.args(["--triangles", "20000", "--part", "%r/%n"]);
        command.args(["--size", "200x150", "--frames", "3"]);
        let outcome = Outcome::of(&mut command, RUN_TIMEOUT);
        assert_eq!(outcome.status, Some(0), "{wall:?}: {}", outcome.describe());
        (1..=3)
            .map(|n| Picture::read(&saved.join(format!("frame-{n:06}.png"))).unwrap())
            .collect::<Vec<_>>()
    });
    assert!(pictures[0] == pictures[1], "the wall changes the pictures");
    for server in ["a", "b"] {
        let said = fs::read_to_string(log(&mothership.folder, server)).unwrap();
        let sessions = said.matches("event=\"session-begin\"").count();
        assert!(sessions >= 2, "{server}: {said}");
    }
    mothership.stop();
}

#[test]
fn the_mothership_finds_who_draws_a_wall() {
    let stage = Stage::new();
    camera();
    let tag = std::process::id();
    let mut config = String::new();
    for name in ["a", "b", "c"] {
        config += &format!("[[server]]\nname = \"{name}\"\nlisten = \"unix:@mgn-{tag}-{name}\"\n");
    }
    config += "[[wall]]\nname = \"desk\"\ngrid = [2, 2]\ntile_size = [150, 150]\n";
    config += "servers = [\"a\", \"b\", \"c\", \"a\"]\n";
    let mothership = TestMothership::start(&stage, "home", &config);
    let mgn = |arguments: &[&str]| mothership.mgn(arguments);
    let walls = [
        &["--wall", "desk"][..],
        &["--wall", "3x1", "--mothership", &mothership.address],
        &["--mothership", &mothership.address],
    ];
    for wall in walls {
        let arguments = [&["verify", "--frames", "5"], wall, &["--", "glxgears"]].concat();
        let outcome = Outcome::of(&mut mgn(&arguments), RUN_TIMEOUT);
        assert!(
            outcome.stdout.contains("bit-identical"),
            "{}",
            outcome.describe()
        );
    }
    let start = Instant::now();
    let running = Running::start(&mut mgn(&["run", "--wall", "desk", "--", "glxgears"]));
    let status = loop {
        let said = Outcome::of(&mut mgn(&["status", "--json"]), RUN_TIMEOUT).stdout;
        let status: serde_json::Value = serde_json::from_str(&said).unwrap();
        let client = &status["clients"][0];
        let server = &status["servers"][0]["sessions"][1];
        let is_fast = |rate: &serde_json::Value| {
            let frames = rate["rate"]["frames_per_second"].as_f64();
            let bytes = rate["rate"]["bytes_per_second"].as_f64();
            frames > Some(0.0) && bytes > Some(0.0)
        };
        if is_fast(client) && is_fast(server) {
            break status;
        }
        assert!(start.elapsed() < RUN_TIMEOUT, "it stays so: {status}");
        std::thread::sleep(Duration::from_millis(200));
    };
    assert_eq!(status["clients"][0]["program"], "glxgears");
    running.signal(Signal::TERM);
    running.finish(RUN_TIMEOUT);
    let refused = Outcome::of(
        &mut mgn(&["run", "--wall", "dusk", "--", "glxgears"]),
        RUN_TIMEOUT,
    );
    assert_eq!(refused.status, Some(125), "{}", refused.describe());
    assert!(
        refused.stderr.contains("the configuration has desk"),
        "{}",
        refused.describe()
    );
    for (server, tile) in [("a", 0), ("b", 1), ("c", 2), ("a", 3)] {
        let said = fs::read_to_string(log(&mothership.folder, server)).unwrap();
        let wanted = format!(" tile={tile}\n");
        assert!(
            said.contains("glxgears") && said.contains(&wanted),
            "{server}: {said}"
        );
    }
    let outcome = mothership.stop();
    for words in [
        "glxgears draws on desk",
        "glxgears draws on 3x1",
        "glxgears draws on 1x1",
    ] {
        assert!(outcome.stderr.contains(words), "{}", outcome.describe());
    }
}

/// A server that the mothership starts has the chains of the configuration: its wall's chain and
/// its own. The paths of their files are relative to the configuration. The chain also applies to a
/// wall's replica. The stages that the wall names for the program's own process run there.
#[test]
fn started_servers_run_their_chains() {
    let stage = Stage::new();
    let tag = std::process::id();
    let server = |name: &str| {
        format!("[[server]]\nname = \"{name}\"\nlisten = \"unix:@mgn-{tag}-{name}\"\n")
    };
    let wall = |name: &str, columns: u32, servers: &str| {
        format!(
            "[[wall]]\nname = \"{name}\"\ngrid = [{columns}, 1]\ntile_size = [150, 300]\n\
             servers = [{servers}]\n"
        )
    };
    let config = [
        server("chained"),
        "chain = [\"wireframe\", { spu = \"histogram\", file = \"calls\" }]\n".into(),
        server("plain"),
        server("another"),
        wall("desk", 2, "\"chained\", \"plain\""),
        "replicas = [\"beamer\"]\nchain = [{ spu = \"histogram\", file = \"all.txt\" }]\n".into(),
        "client_chain = [\"wireframe\", \"histogram\"]\n".into(),
        wall("beamer", 1, "\"another\""),
    ];
    let mothership = TestMothership::start(&stage, "chains", &config.concat());
    let folder = mothership.folder.clone();
    let run = ["run", "--wall", "desk", "--frames", "3", "--"];
    let outcome = Outcome::of(
        &mut mothership.mgn(&[&run[..], &["glxgears"]].concat()),
        RUN_TIMEOUT,
    );
    assert_eq!(outcome.status, Some(0), "{}", outcome.describe());
    let said = fs::read_to_string(log(&folder, "another")).unwrap();
    assert!(said.contains(" tile=2\n"), "{said}");
    mothership.stop();
    let calls = |file| fs::read_to_string(folder.join(file)).unwrap();
    for calls in [
        calls("calls"),
        calls("all-chained.txt"),
        calls("all-plain.txt"),
        outcome.stderr,
    ] {
        assert!(calls.contains("glCallList"), "{calls}");
        assert!(calls.contains("glPolygonMode"), "{calls}");
    }
}

/// Many servers start, draw and end. Only their logs are left.
#[test]
fn a_crowd_leaves_nothing_behind() {
    const SERVERS: usize = 12;
    let stage = Stage::new();
    let place = stage.folder();
    let names: Vec<String> = (0..SERVERS).map(|n| format!("s{n}")).collect();
    let mut config = String::new();
    for name in &names {
        let socket = place.join(name);
        let socket = socket.display();
        config +=
            &format!("[[server]]\nname = \"{name}\"\nlisten = \"unix:{socket}\"\ndiscard = true\n");
    }
    config += "[[wall]]\nname = \"desk\"\ngrid = [4, 3]\ntile_size = [75, 100]\n";
    config += &format!("servers = {names:?}\n");
    let mothership = TestMothership::start(&stage, "crowd", &config);
    let run = ["run", "--wall", "desk", "--frames", "20", "--", "glxgears"];
    let mut run = mothership.mgn(&run);
    run.env("TMPDIR", &place).env("XDG_RUNTIME_DIR", &place);
    let outcome = Outcome::of(&mut run, RUN_TIMEOUT);
    assert_eq!(outcome.status, Some(0), "{}", outcome.describe());
    let sockets = || names.iter().filter(|name| place.join(name).exists());
    assert_eq!(sockets().count(), SERVERS);
    // All processes that the mothership has started are told where to log.
    let ours = format!("XDG_STATE_HOME={}", mothership.folder.display());
    let left = || {
        let processes = fs::read_dir("/proc").unwrap().flatten();
        let environments = processes.filter_map(|p| fs::read(p.path().join("environ")).ok());
        let is_ours = |variables: &Vec<u8>| {
            let mut variables = variables.split(|byte| *byte == 0);
            variables.any(|variable| variable == ours.as_bytes())
        };
        environments.filter(is_ours).count()
    };
    assert!(left() >= SERVERS);
    let address = mothership.address.clone();
    mothership.stop();
    assert_eq!(left(), 0);
    let files: Vec<_> = fs::read_dir(&place).unwrap().flatten().collect();
    assert!(files.is_empty(), "{files:?}");
    let shared = fs::read_dir("/dev/shm").unwrap().flatten();
    let is_ours = |name: &str| name.contains("mgn") || name.contains("manganese");
    assert!(!shared
        .into_iter()
        .any(|f| is_ours(&f.file_name().to_string_lossy())));
    let address = address.strip_prefix("unix:").unwrap();
    assert!(!Path::new(address).exists());
}

/// Renderers are sent the commands for their tiles only, unless broadcast is chosen.
#[test]
fn geometry_is_sorted_by_tiles() {
    let stage = Stage::new();
    let demo = programs("demos").join("iso_demo");
    let sent = |wall: &[&str], triangles: &str| {
        let stats = stage.folder().join("stats.json");
        let mut command = stage.mgn();
        command
            .args(["run", "--transport", "tcp", "--weld", "never"])
            .arg("--stats-json")
            .arg(&stats)
            .args(wall)
            .arg("--")
            .arg(&demo)
            .args(["--cull", "--frames", "3", "--triangles", triangles]);
        let outcome = Outcome::of(&mut command, RUN_TIMEOUT);
        assert_eq!(outcome.status, Some(0), "{}", outcome.describe());
        let text = fs::read_to_string(&stats).unwrap();
        let figures: serde_json::Value = serde_json::from_str(&text).unwrap();
        figures["bytes"].as_f64().unwrap()
    };
    let one = sent(&[], "200000");
    let four = sent(&["--wall", "2x2"], "200000");
    // Over sockets, each renderer gets its own copy. Without sorting, four renderers would get four
    // times as many bytes.
    assert!(
        four < 1.6 * one,
        "{four} bytes to four renderers, {one} to one"
    );
    let all = sent(&["--wall", "2x2", "--client-spu", "broadcast"], "200000");
    assert!(all > 3.9 * one, "{all} bytes to all of four, {one} to one");
}

/// The renderer of a tile gets the draws that touch it, whether their vertices come from arrays,
/// are in buffers, or are placed by shaders within bounds.
#[test]
fn arrays_and_buffers_are_sorted_by_tiles() {
    let stage = Stage::new();
    let program = programs("tests/conformance").join("spread");
    // 64 patches of 400 triangles. Each patch lies within one quarter of the window.
    let touching = 64 * 400 / 4;
    for scene in [
        "immediate",
        "arrays",
        "elements",
        "buffers",
        "buffers_of_elements",
        "elements_of_memory",
        "instances",
        "refilled",
        "refilled_elements",
        "bounded",
    ] {
        let folder = stage.folder();
        let mut command = stage.mgn();
        command
            .args(["run", "--wall", "2x2", "--transport", "tcp", "--spu"])
            .arg(format!("perf:file={}", folder.join("perf").display()))
            .arg("--")
            .arg(&program)
            .args(["--scene", scene, "--out"])
            .arg(stage.folder());
        let outcome = Outcome::of(&mut command, RUN_TIMEOUT);
        assert_eq!(outcome.status, Some(0), "{}", outcome.describe());
        let files: Vec<_> = fs::read_dir(&folder).unwrap().flatten().collect();
        assert_eq!(files.len(), 4);
        for file in files {
            let said = fs::read_to_string(file.path()).unwrap();
            let last = said.lines().last().unwrap();
            let (before, _) = last.split_once(" primitives").unwrap();
            let drawn: u64 = before.rsplit(' ').next().unwrap().parse().unwrap();
            let most = touching * 115 / 100;
            assert!((touching..=most).contains(&drawn), "{scene}: {last}");
        }
    }
}

/// With bezels as well, one renderer counts each pixel.
#[test]
fn pixels_behind_bezels_are_counted_once() {
    let program = programs("tests/conformance").join("counts");
    let case = Case::new("counts", program, |out| vec!["--out".into(), out.into()]);
    compare_all(&Stage::new(), &[case], &["wall-bezels"]);
}

/// Each renderer counts the samples of its own tile, and does not get the draws of the others. If
/// tiles overlap, all renderers get all draws.
#[test]
fn samples_are_counted_in_tiles() {
    let stage = Stage::new();
    let program = programs("tests/conformance").join("counts");
    let tile = |name: &str, x, width| (name.to_string(), [x, 0, width, 256], String::new());
    let tiles = [tile("a", 0, 140), tile("b", 120, 136)];
    let overlapping = wall_file("overlap", [256, 256], "fit = \"1:1\"", &tiles);
    let round_trips = |wall: &str, scene: &str| {
        let stats = stage.folder().join("stats.json");
        let mut command = stage.mgn();
        command
            .args(["run", "--wall", wall, "--stats-json"])
            .arg(&stats)
            .arg("--")
            .arg(&program)
            .args(["--scene", scene, "--out"])
            .arg(stage.folder());
        let outcome = Outcome::of(&mut command, RUN_TIMEOUT);
        assert_eq!(outcome.status, Some(0), "{}", outcome.describe());
        let text = fs::read_to_string(&stats).unwrap();
        let figures: serde_json::Value = serde_json::from_str(&text).unwrap();
        figures["round_trips"].clone()
    };
    for scene in ["samples", "framebuffers"] {
        let exact = round_trips("2x2", scene);
        assert!(exact["mgnCounted"].as_u64() > Some(0), "{exact}");
        assert!(exact.get("mgnTakeTiles").is_none(), "{exact}");
        let overlapped = round_trips(&overlapping, scene);
        assert!(
            overlapped["mgnTakeTiles"].as_u64() > Some(0),
            "{overlapped}"
        );
    }
}

/// A list that contains only draws is called by the renderers whose tiles it touches.
#[test]
fn display_lists_are_sorted_by_tiles() {
    let stage = Stage::new();
    // 64 patches, with a quarter of them in each quarter of the window. They are called one by one
    // or four at a time. Some scenes add calls that all renderers must make.
    for (scene, times, name) in [
        ("lists", "16", "glCallList"),
        ("lists_of_arrays", "17", "glCallList"),
        ("lists_together", "5", "glCallLists"),
    ] {
        let folder = stage.folder();
        let mut command = stage.mgn();
        command
            .args(["run", "--wall", "2x2", "--spu"])
            .arg(format!("histogram:file={}", folder.join("calls").display()))
            .arg("--")
            .arg(programs("tests/conformance").join("spread"))
            .args(["--scene", scene, "--out"])
            .arg(stage.folder());
        let outcome = Outcome::of(&mut command, RUN_TIMEOUT);
        assert_eq!(outcome.status, Some(0), "{}", outcome.describe());
        let files: Vec<_> = fs::read_dir(&folder).unwrap().flatten().collect();
        assert_eq!(files.len(), 4);
        for file in files {
            let said = fs::read_to_string(file.path()).unwrap();
            let mut lines = said.lines().map(|line| line.split_whitespace());
            let is_said = lines
                .any(|words| words.clone().next() == Some(times) && words.last() == Some(name));
            assert!(is_said, "{scene}: {said}");
        }
    }
}

/// Several programs draw into one window on a wall of two servers. Each server shows one window.
#[test]
fn programs_share_a_window_on_a_wall() {
    const SIZE: u32 = 256;
    let stage = Stage::new();
    let head = Head::start();
    let tag = std::process::id();
    let mut config = String::new();
    for name in ["left", "right"] {
        config += &format!("[[server]]\nname = \"{name}\"\nlisten = \"unix:@mgn-{tag}-{name}\"\n");
    }
    let display = head.display();
    let half = SIZE / 2;
    config += &format!("[[wall]]\nname = \"desk\"\ngrid = [2, 1]\ntile_size = [{half}, {SIZE}]\n");
    config += &format!("fit = \"1:1\"\npresent = {{ window = \"{display}\" }}\n");
    config += "servers = [\"left\", \"right\"]\n";
    let mothership = TestMothership::start(&stage, "shared", &config);
    let program = programs("tests/conformance").join("parallel");
    let out = stage.folder();
    let mut alone = stage.direct(&program);
    let outcome = Outcome::of(
        alone.args(["--scene", "frames", "--out"]).arg(&out),
        RUN_TIMEOUT,
    );
    assert_eq!(outcome.status, Some(0), "{}", outcome.describe());
    let want = fs::read(out.join("parallel.frames.ppm")).unwrap();
    let start = |rank: usize| {
        let mut command = mothership.mgn(&["run", "--wall", "desk", "--shared-window", "desk"]);
        command
            .args(["--window-clients", "2", "--"])
            .arg(&program)
            .args(["--scene", "frames", "--out"])
            .arg(stage.folder())
            .env("PARALLEL_SWAPS", "turns")
            .env("PARALLEL_STAY", "1000")
            .env("PARALLEL_RANK", rank.to_string())
            .env("PARALLEL_RANKS", "2");
        Running::start(&mut command)
    };
    let running = [start(0), start(1)];
    let since = Instant::now();
    while !want.ends_with(&head.see([0, 0, SIZE, SIZE]).pixels) {
        assert!(since.elapsed() < RUN_TIMEOUT, "the picture does not come");
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(head.windows(), 2);
    for program in running {
        program.signal(Signal::TERM);
        program.finish(RUN_TIMEOUT);
    }
    mothership.stop();
}
