//! Several programs draw into one window. Their picture is the same as that of one program.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use mgn_tests::{programs, wall_file, Outcome, Running, Stage, Tile};
use mgn_verify::Picture;

const RUN_TIMEOUT: Duration = Duration::from_secs(300);
/// Width and height of the programs' windows.
const SIZE: u32 = 256;

/// The renderers of the window: one renderer, or those of a wall, also with offset tiling.
const KINDS: [&[&str]; 3] = [
    &[],
    &["--wall", "2x2"],
    &["--wall", "3x1", "--tiling", "offset"],
];

/// A server that programs can share.
struct Shared<'a> {
    stage: &'a Stage,
    address: String,
    kind: &'static [&'static str],
    server: Option<Running>,
}

/// The folders and outcomes of a window's programs, by rank.
struct Left {
    folders: Vec<PathBuf>,
    outcomes: Vec<Outcome>,
}

impl<'a> Shared<'a> {
    fn new(stage: &'a Stage) -> Shared<'a> {
        Shared::of(stage, KINDS[0])
    }

    fn of(stage: &'a Stage, kind: &'static [&'static str]) -> Shared<'a> {
        let socket = stage.folder().join("server");
        let address = format!("unix:{}", socket.display());
        let server = Running::start(stage.mgn().args(["server", "--listen", &address]));
        let start = Instant::now();
        while !socket.exists() {
            assert!(start.elapsed() < RUN_TIMEOUT, "the server does not start");
            thread::sleep(Duration::from_millis(10));
        }
        Shared {
            stage,
            address,
            kind,
            server: Some(server),
        }
    }

    /// Program `rank` of `ranks` in the window `name`.
    fn program(&self, name: &str, scene: &str, of: (usize, usize), out: &Path) -> Command {
        self.program_with(self.kind, name, scene, of, out)
    }

    /// The same with these flags.
    fn program_with(
        &self,
        flags: &[&str],
        name: &str,
        scene: &str,
        (rank, ranks): (usize, usize),
        out: &Path,
    ) -> Command {
        let mut command = self.stage.mgn();
        command
            .args(["run", "--server", &self.address, "--shared-window", name])
            .args(flags)
            .args(["--window-clients", &ranks.to_string(), "--"])
            .arg(program())
            .args(["--scene", scene, "--out"])
            .arg(out)
            .env("PARALLEL_RANK", rank.to_string())
            .env("PARALLEL_RANKS", ranks.to_string());
        command
    }

    /// Runs all programs of a window to their ends.
    fn all(&self, name: &str, scene: &str, ranks: usize, more: impl Fn(&mut Command)) -> Left {
        let folders: Vec<PathBuf> = (0..ranks).map(|_| self.stage.folder()).collect();
        let start = |(rank, out): (usize, &PathBuf)| {
            let mut command = self.program(name, scene, (rank, ranks), out);
            more(&mut command);
            Running::start(&mut command)
        };
        let running: Vec<Running> = folders.iter().enumerate().map(start).collect();
        let outcomes = running.into_iter().map(|r| r.finish(RUN_TIMEOUT)).collect();
        Left { folders, outcomes }
    }

    /// Runs one program alone, with the system's own driver.
    fn alone(&self, scene: &str, more: impl Fn(&mut Command)) -> PathBuf {
        let out = self.stage.folder();
        let mut command = self.stage.direct(program());
        command.args(["--scene", scene, "--out"]).arg(&out);
        more(&mut command);
        well(&Outcome::of(&mut command, RUN_TIMEOUT));
        out
    }
}

impl Left {
    #[track_caller]
    fn well(self) -> Left {
        self.outcomes.iter().for_each(well);
        self
    }

    /// The log of a rank.
    fn log(&self, rank: usize) -> String {
        fs::read_to_string(self.folders[rank].join("parallel.txt")).expect("a log")
    }
}

fn program() -> PathBuf {
    programs("tests/conformance").join("parallel")
}

#[track_caller]
fn well(outcome: &Outcome) {
    assert_eq!(outcome.status, Some(0), "{}", outcome.describe());
}

fn picture(folder: &Path, scene: &str) -> Vec<u8> {
    fs::read(folder.join(format!("parallel.{scene}.ppm"))).expect("a picture")
}

#[test]
fn programs_that_take_turns_draw_what_one_draws() {
    let stage = Stage::new();
    for kind in KINDS {
        let shared = Shared::of(&stage, kind);
        // With offset tiling, lists copy only the pixels of the tile.
        let can_list = !kind.contains(&"offset");
        let scenes = ["interleaved", "copies", "strips"].into_iter();
        for scene in scenes.chain(can_list.then_some("lists")) {
            let expected = picture(&shared.alone(scene, |_| ()), scene);
            for ranks in [2, 3] {
                let left = shared.all("turns", scene, ranks, |_| ()).well();
                assert!(
                    picture(&left.folders[0], scene) == expected,
                    "{scene}: the picture of {ranks} programs differs with {kind:?}"
                );
            }
        }
    }
}

#[test]
fn all_renderers_agree_on_the_order_of_programs() {
    let stage = Stage::new();
    for kind in KINDS {
        let shared = Shared::of(&stage, kind);
        let left = shared.all("order", "exclusive", 4, |_| ()).well();
        for rank in 0..4 {
            assert_eq!(
                left.log(rank),
                "== exclusive\n0 pixels differ from the first\nexclusive: no error\nend of scene: no error\n",
                "rank {rank} with {kind:?}"
            );
        }
    }
}

#[test]
fn threads_of_a_program_wait_one_after_the_other() {
    let stage = Stage::new();
    for kind in KINDS {
        let shared = Shared::of(&stage, kind);
        let left = shared.all("threads", "threads", 2, |_| ()).well();
        for rank in 0..2 {
            assert!(left.log(rank).contains("threads: no error"), "{kind:?}");
        }
    }
}

#[test]
fn the_picture_is_the_same_each_time() {
    const ROUNDS: &str = "1000";
    let stage = Stage::new();
    let rounds = |command: &mut Command| {
        command.env("PARALLEL_ROUNDS", ROUNDS);
    };
    for kind in &KINDS[..2] {
        let shared = Shared::of(&stage, kind);
        let expected = picture(&shared.alone("again", |_| ()), "again");
        let left = shared.all("again", "again", 2, rounds).well();
        let log = left.log(0);
        assert!(log.contains("\n0 of 1000 rounds"), "{log}");
        assert!(picture(&left.folders[0], "again") == expected, "{kind:?}");
    }
}

#[test]
fn many_programs_meet_at_a_barrier() {
    let stage = Stage::new();
    for (kind, ranks) in [(KINDS[0], 32), (KINDS[1], 8)] {
        let shared = Shared::of(&stage, kind);
        let left = shared.all("many", "apart", ranks, |_| ()).well();
        for rank in 0..ranks {
            assert_eq!(
                left.log(rank),
                "== apart\napart: no error\nend of scene: no error\n"
            );
        }
    }
}

#[test]
fn frames_that_one_hands_over_show_what_all_have_drawn() {
    let stage = Stage::new();
    let shared = Shared::new(&stage);
    let saved = |ranks: usize, kind: &[&str]| {
        let out = stage.folder();
        let folders: Vec<PathBuf> = (0..ranks).map(|rank| out.join(rank.to_string())).collect();
        let start = |rank: usize| {
            let folder = folders[rank].to_str().expect("text");
            let flags = [&["--save", folder], kind].concat();
            let out = stage.folder();
            let mut command = shared.program_with(&flags, "frames", "frames", (rank, ranks), &out);
            Running::start(&mut command)
        };
        let running: Vec<Running> = (0..ranks).map(start).collect();
        running
            .into_iter()
            .for_each(|r| well(&r.finish(RUN_TIMEOUT)));
        let mut files: Vec<PathBuf> = fs::read_dir(&folders[0])
            .expect("saved frames")
            .map(|entry| entry.expect("a file").path())
            .collect();
        files.sort();
        let read = |path: &PathBuf| fs::read(path).expect("a picture");
        files.iter().map(read).collect::<Vec<_>>()
    };
    let one = saved(1, &[]);
    assert_eq!(one.len(), 5);
    for kind in &KINDS[..2] {
        assert!(one == saved(3, kind), "the frames of three programs differ");
    }
}

#[test]
fn commands_that_make_no_sense_raise_errors() {
    let stage = Stage::new();
    for kind in &KINDS[..2] {
        let shared = Shared::of(&stage, kind);
        let left = shared
            .all("errors", "mistakes", 2, mistake("errors"))
            .well();
        let expected = "== mistakes\n\
            a barrier for zero processes: GL_INVALID_VALUE\n\
            a barrier for another number: GL_INVALID_OPERATION\n\
            a semaphore of another value: GL_INVALID_OPERATION\n\
            an unknown barrier: GL_INVALID_OPERATION\n\
            a semaphore to take from: GL_INVALID_OPERATION\n\
            a semaphore to give to: GL_INVALID_OPERATION\n\
            a semaphore to destroy: GL_INVALID_OPERATION\n\
            a barrier to destroy: GL_INVALID_OPERATION\n\
            between glBegin and glEnd: GL_INVALID_OPERATION\n\
            a barrier of its own: no error\n\
            end of scene: no error\n";
        for rank in 0..2 {
            assert_eq!(left.log(rank), expected);
        }
    }
}

fn mistake(what: &'static str) -> impl Fn(&mut Command) {
    move |command| {
        command.env("PARALLEL_MISTAKE", what);
    }
}

/// Checks that the program has ended with one line that names this reason.
#[track_caller]
fn says(outcome: &Outcome, what: &str) {
    let lost =
        "mgn: the render server is lost: the programs that share the window cannot continue: ";
    let told = outcome
        .stderr
        .lines()
        .any(|line| line.starts_with(lost) && line.contains(what));
    assert!(told && outcome.status == Some(1), "{}", outcome.describe());
}

#[test]
fn who_dies_or_leaves_is_an_error_for_those_that_wait() {
    let stage = Stage::new();
    for kind in &KINDS[..2] {
        let shared = Shared::of(&stage, kind);
        let left = shared.all("death", "mistakes", 3, mistake("death"));
        assert_eq!(left.outcomes[0].status, Some(3));
        for other in &left.outcomes[1..] {
            says(other, "has died");
        }
        let left = shared.all("leave", "mistakes", 3, mistake("leave"));
        well(&left.outcomes[0]);
        for other in &left.outcomes[1..] {
            says(
                other,
                "barrier 1 is for 3 programs, and no more than 2 are left",
            );
        }
    }
}

#[test]
fn who_dies_inside_a_barrier_is_an_error_for_the_others() {
    let stage = Stage::new();
    for kind in &KINDS[..2] {
        let shared = Shared::of(&stage, kind);
        let left = shared.all("inside", "mistakes", 3, mistake("death inside"));
        // All others may wait before the first program ends itself.
        if left.outcomes[0].status != Some(3) {
            says(&left.outcomes[0], "all wait for each other");
        }
        for other in &left.outcomes[1..] {
            // The death of the first program is found before or after the last of the others waits.
            let all_wait = other.stderr.contains("all wait for each other");
            says(
                other,
                if all_wait {
                    "barrier 1"
                } else {
                    "has died at barrier 1"
                },
            );
        }
    }
}

#[test]
fn programs_that_all_wait_are_told_so() {
    let stage = Stage::new();
    for kind in &KINDS[..2] {
        let shared = Shared::of(&stage, kind);
        let left = shared.all("deadlock", "mistakes", 2, mistake("deadlock"));
        for outcome in &left.outcomes {
            says(outcome, "all wait for each other: parallel, process ");
            says(outcome, "waits at semaphore 70");
            says(outcome, "waits at semaphore 71");
        }
    }
}

/// A program that is alone in a window for two.
fn alone_of_two(shared: &Shared<'_>, name: &str) -> Command {
    let out = shared.stage.folder();
    let mut command = shared.program(name, "interleaved", (0, 2), &out);
    command.env("MGN_WINDOW_WAIT", "1");
    command
}

#[test]
fn a_program_that_never_comes_is_waited_for_as_long_as_was_said() {
    let stage = Stage::new();
    let shared = Shared::new(&stage);
    let outcome = Outcome::of(&mut alone_of_two(&shared, "one"), RUN_TIMEOUT);
    says(&outcome, "only 1 of 2 programs have joined within 1 s");
    // The failed program leaves nothing that would disturb later programs.
    shared.all("one", "interleaved", 2, |_| ()).well();
}

/// A wall of four tiles over the programs' window. Each tile is shown as files in `folder`. Returns
/// the name of the wall's file.
fn wall_of_files(folder: &Path) -> String {
    let half = SIZE / 2;
    let tile = |n: u32| -> Tile {
        let rect = [n % 2 * half, n / 2 * half, half, half];
        let present = format!("{{ files = \"{}\" }}", folder.display());
        (format!("{n}"), rect, present)
    };
    let tiles: Vec<Tile> = (0..4).map(tile).collect();
    wall_file("files", [SIZE; 2], "fit = \"1:1\"", &tiles)
}

/// The tiles show a frame no matter which program hands it over, and the last frame stays.
#[test]
fn tiles_show_the_last_frame_of_all_programs() {
    let stage = Stage::new();
    let shared = Shared::new(&stage);
    let shown = |ranks: usize| {
        let folder = stage.folder();
        let wall = wall_of_files(&folder);
        let start = |rank: usize| {
            let (flags, out) = (["--wall", &wall], stage.folder());
            let mut command = shared.program_with(&flags, "tiles", "frames", (rank, ranks), &out);
            command.env("PARALLEL_SWAPS", "turns");
            Running::start(&mut command)
        };
        let running: Vec<Running> = (0..ranks).map(start).collect();
        running
            .into_iter()
            .for_each(|r| well(&r.finish(RUN_TIMEOUT)));
        // A late frame is left out if a newer frame is already shown.
        let last = |tile: u32| {
            let files = fs::read_dir(folder.join(tile.to_string())).expect("pictures");
            let newest = files.map(|file| file.expect("a file").path()).max();
            Picture::read(&newest.expect("a picture")).expect("a picture")
        };
        [0, 1, 2, 3].map(last)
    };
    let one = shown(1);
    for _ in 0..3 {
        assert!(one == shown(3), "the last frame of three programs differs");
    }
}

/// Two programs draw into a window on a wall of two servers, and one of the servers is killed.
#[test]
fn a_server_that_is_lost_ends_all_programs_of_a_window() {
    let stage = Stage::new();
    let (shared, mut other) = (Shared::new(&stage), Shared::new(&stage));
    let servers = ["--wall", "2x1", "--server", &other.address];
    let start = |rank: usize| {
        let mut command = shared.program_with(&servers, "two", "again", (rank, 2), &stage.folder());
        command.env("PARALLEL_ROUNDS", "1000000");
        Running::start(&mut command)
    };
    let running: Vec<Running> = (0..2).map(start).collect();
    thread::sleep(Duration::from_secs(1));
    drop(other.server.take());
    for program in running {
        let outcome = program.finish(RUN_TIMEOUT);
        let told = outcome.stderr.contains("mgn: the render server is lost");
        assert!(told && outcome.status == Some(1), "{}", outcome.describe());
    }
}

#[test]
fn programs_of_a_window_name_the_same_wall() {
    let stage = Stage::new();
    let shared = Shared::of(&stage, KINDS[1]);
    let other = Shared {
        stage: &stage,
        address: shared.address.clone(),
        kind: &["--wall", "1x4"],
        server: None,
    };
    let out = [stage.folder(), stage.folder()];
    let programs = [&shared, &other]
        .iter()
        .enumerate()
        .map(|(rank, of)| {
            let mut command = of.program("walls", "interleaved", (rank, 2), &out[rank]);
            Running::start(&mut command)
        })
        .collect::<Vec<_>>();
    let outcomes: Vec<Outcome> = programs
        .into_iter()
        .map(|r| r.finish(RUN_TIMEOUT))
        .collect();
    let said = |outcome: &Outcome| outcome.stderr.contains("its wall has different tiles");
    assert!(
        outcomes.iter().any(said),
        "{}\n{}",
        outcomes[0].describe(),
        outcomes[1].describe()
    );
    assert!(outcomes.iter().all(|outcome| outcome.status == Some(1)));
}

#[test]
fn a_window_needs_a_server_that_others_can_name() {
    let stage = Stage::new();
    let mut command = stage.mgn();
    command.args(["run", "--shared-window", "x", "--", "glxinfo"]);
    let outcome = Outcome::of(&mut command, RUN_TIMEOUT);
    assert_eq!(outcome.status, Some(125), "{}", outcome.describe());
    assert!(
        outcome.stderr.contains("--shared-window needs --server"),
        "{}",
        outcome.describe()
    );
}
