//! Runs a program that leaves pictures directly and through a server, and compares the results.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use mgn_verify::{compare_folders, Difference};
use serde_json::Value;

use crate::expected::Expected;
use crate::job::in_parallel;
use crate::outcome::{figures, Outcome};
use crate::stage::{root, Stage};
use crate::wall::{wall_file, Tile};

/// The transport in the entries for programs that fail with the local driver.
const DIRECTLY: &str = "directly";

/// Longer than any program takes, even on a slow machine.
const RUN_TIMEOUT: Duration = Duration::from_secs(400);

/// A wall with tiles of different sizes. There are bezels between some tiles, others overlap, and
/// only large windows reach one of them.
fn uneven(fit: &str) -> String {
    let tiles = [
        ("left", [0, 0, 90, 200]),
        ("right", [101, 7, 199, 83]),
        ("middle", [80, 70, 100, 150]),
        ("far", [290, 250, 10, 10]),
    ];
    of_tiles("uneven", [300, 260], fit, &tiles)
}

/// Four tiles with bezels between them.
fn bezels() -> String {
    let tiles = [
        ("a", [0, 0, 120, 120]),
        ("b", [130, 0, 126, 120]),
        ("c", [0, 133, 120, 123]),
        ("d", [130, 133, 126, 123]),
    ];
    of_tiles("bezels", [256, 256], "1:1", &tiles)
}

/// Ten tiles of a mural that is larger than the largest viewport.
fn mural() -> String {
    const EDGES: [u32; 6] = [0, 9900, 16400, 32768, 39800, 40000];
    let columns = EDGES.iter().zip(&EDGES[1..]);
    let places = columns.flat_map(|(x, end)| [(x, end - x, 0), (x, end - x, 150)]);
    let tiles = places.map(|(x, width, y)| {
        let name = format!("{x},{y}");
        (name, [*x, y, width, 150], String::new())
    });
    let tiles: Vec<Tile> = tiles.collect();
    wall_file("mural", [40000, 300], "fit = \"1:1\"", &tiles)
}

fn of_tiles(name: &str, size: [u32; 2], fit: &str, tiles: &[(&str, [u32; 4])]) -> String {
    let tiles = tiles
        .iter()
        .map(|(name, rect)| (name.to_string(), *rect, String::new()));
    let tiles: Vec<Tile> = tiles.collect();
    wall_file(name, size, &format!("fit = \"{fit}\""), &tiles)
}

type Arguments = dyn Fn(&Path) -> Vec<OsString> + Sync + Send;

/// One program with its arguments.
pub struct Case {
    /// The name of the case, which is also the name of its folder in `target/failures`.
    pub name: String,
    pub program: PathBuf,
    /// The arguments with which the program leaves its files in this folder.
    pub arguments: Box<Arguments>,
    /// The exit statuses with which the program may end, both directly and through a server.
    pub statuses: Vec<i32>,
    /// Whether each run needs its own X server: for programs that leave something on the X server,
    /// that get input, or whose windows must not be covered.
    pub alone: bool,
    /// Whether the program shows the same frames in the same order in each run.
    pub orderly: bool,
    /// Whether each run compiles the shaders again. The compiler does not repeat its warnings for
    /// shaders that it finds in its cache.
    pub compiles: bool,
}

impl Case {
    pub fn new(
        name: impl Into<String>,
        program: impl Into<PathBuf>,
        arguments: impl Fn(&Path) -> Vec<OsString> + Sync + Send + 'static,
    ) -> Case {
        Case {
            name: name.into(),
            program: program.into(),
            arguments: Box::new(arguments),
            statuses: vec![0],
            alone: false,
            orderly: true,
            compiles: false,
        }
    }

    /// Prepares the command of a run, either directly or through a server.
    fn prepare(&self, command: &mut Command) {
        if self.compiles {
            command.env("MESA_SHADER_CACHE_DISABLE", "true");
        }
    }
}

/// The result of one case.
#[derive(Default)]
struct Verdict {
    /// Differences by transport.
    differences: Vec<(String, Difference)>,
    /// How the direct run ended, if it did not end well. In this case there is no comparison.
    ended_directly: Option<String>,
    /// Reasons why a comparison is worthless: the program did not end well, or our server did not
    /// render it.
    problems: Vec<String>,
    files: usize,
}

/// Runs every case directly and over each of `transports`, and compares all files that the runs
/// leave. Checks that our server rendered the program, and that no other driver was loaded. The
/// frames of a wall, put together from its tiles, are compared with the frames of one renderer.
///
/// Some of the transports are walls: `wall-2x2` has four renderers, `wall-tcp` has four that are
/// reached by sockets, `wall-mural` is larger than viewports, and `wall-replicas` consists of a
/// wall with four renderers and another wall. `stages-shm` has stages in the program's process. If
/// there are walls, the run over `shm` also saves its frames.
///
/// # Panics
/// If anything is wrong, with a table of all of it. Pictures that differ are in `target/failures`.
pub fn compare_all(stage: &Stage, cases: &[Case], transports: &[&str]) {
    assert!(!cases.is_empty(), "there is nothing to compare");
    let verdicts = in_parallel(cases, |case| compare(stage, case, transports));
    let mut expected = Expected::read(&stage.mesa());
    let mut wrong = String::new();
    let mut files = 0;
    for (case, verdict) in cases.iter().zip(&verdicts) {
        files += verdict.files;
        if let Some(how) = &verdict.ended_directly {
            if !expected.has(&case.name, DIRECTLY) {
                let _ = writeln!(wrong, "{} {DIRECTLY}: {how}", case.name);
            }
        }
        for problem in &verdict.problems {
            let _ = writeln!(wrong, "{}: {problem}", case.name);
        }
        for (transport, difference) in &verdict.differences {
            if !expected.has(&difference.what, transport) {
                let _ = writeln!(wrong, "{} over {transport}: {difference}", case.name);
            }
        }
    }
    println!(
        "{} programs, {files} files compared over {}",
        cases.len(),
        transports.join(", ")
    );
    for what in expected.outlived() {
        let here = cases
            .iter()
            .any(|case| *what == case.name || what.starts_with(&format!("{}.", case.name)));
        if here {
            let _ = writeln!(
                wrong,
                "{what} is a listed difference and does not differ any more"
            );
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

fn compare(stage: &Stage, case: &Case, transports: &[&str]) -> Verdict {
    let mut verdict = Verdict::default();
    let own = case.alone.then(Stage::new);
    let stage = own.as_ref().unwrap_or(stage);
    let direct = stage.folder();
    let mut command = stage.direct(&case.program);
    case.prepare(&mut command);
    command.args((case.arguments)(&direct));
    let outcome = Outcome::of(&mut command, RUN_TIMEOUT);
    if !outcome.status.is_some_and(|s| case.statuses.contains(&s)) {
        verdict.ended_directly = Some(outcome.describe());
        return verdict;
    }
    let is_wall = |transport: &str| case.orderly && transport.starts_with("wall-");
    let mut order = transports.to_vec();
    // The frames of a wall are compared with the frames of one renderer.
    let has_wall = order.iter().any(|transport| is_wall(transport));
    let shown = has_wall.then(|| stage.folder());
    order.sort_by_key(|transport| *transport != "shm");
    if let Some(one) = shown.as_ref().filter(|_| !order.contains(&"shm")) {
        let out = stage.folder();
        // Only the frames of this run are needed. Its exit status and its other files do not
        // matter.
        run_through(stage, case, "shm", &out, Some(one));
        let _ = fs::remove_dir_all(out);
    }
    for transport in order {
        let ours = stage.folder();
        let stitched = shown.as_ref().filter(|_| is_wall(transport));
        let stitched = stitched.map(|one| (one, stage.folder()));
        let saved = match &stitched {
            Some((_, folder)) => Some(folder.as_path()),
            None => shown.as_deref().filter(|_| transport == "shm"),
        };
        let outcome = run_through(stage, case, transport, &ours, saved);
        let ended_well = outcome.status.is_some_and(|s| case.statuses.contains(&s));
        if !ended_well {
            verdict
                .problems
                .push(format!("over {transport}: {}", outcome.describe()));
        }
        let drew = pictures(&direct) && pictures(&ours);
        match figures(&stats_of(&ours)) {
            None => verdict
                .problems
                .push(format!("over {transport}: there are no figures")),
            Some(figures) => verdict
                .problems
                .extend(not_ours(&figures, drew).map(|why| format!("over {transport}: {why}"))),
        }
        let failures = root()
            .join("target/failures")
            .join(&case.name)
            .join(transport);
        let _ = fs::remove_dir_all(&failures);
        let mut found = compare_folders(&direct, &ours, Some(&failures))
            .expect("pictures can be read, and kept");
        // A program that crashed leaves fewer files. The missing files are not reported.
        found.retain(|d| ended_well || !d.is_missing());
        verdict.files += fs::read_dir(&ours).map_or(0, |d| d.count());
        verdict
            .differences
            .extend(found.into_iter().map(|d| (transport.to_string(), d)));
        let _ = fs::remove_dir_all(ours);
        if let Some((one, wall)) = stitched {
            let differs = shown_otherwise(one, &wall).into_iter();
            let said =
                differs.map(|frame| format!("over {transport}: the wall shows another {frame}"));
            verdict.problems.extend(said);
            let _ = fs::remove_dir_all(wall);
        }
    }
    if let Some(one) = shown {
        let _ = fs::remove_dir_all(one);
    }
    let _ = fs::remove_dir_all(direct);
    verdict
}

/// Runs a case over a transport. The program leaves its files in `out`, the statistics are written
/// beside that folder, and the frames that are shown go to `saved`.
fn run_through(
    stage: &Stage,
    case: &Case,
    transport: &str,
    out: &Path,
    saved: Option<&Path>,
) -> Outcome {
    let mut command = through(stage, transport, &stats_of(out));
    case.prepare(&mut command);
    if let Some(folder) = saved {
        command.arg("--save").arg(folder);
    }
    if case.alone {
        command.arg("--headless");
    }
    command.arg("--").arg(&case.program);
    Outcome::of(command.args((case.arguments)(out)), RUN_TIMEOUT)
}

fn stats_of(out: &Path) -> PathBuf {
    out.with_extension("json")
}

/// The frames that differ between the two folders. Frames that only one folder has are ignored,
/// because the last ones may be under way when a program ends.
fn shown_otherwise(one: &Path, wall: &Path) -> Vec<String> {
    let frames = fs::read_dir(one).into_iter().flatten().flatten();
    let names = frames.map(|frame| frame.file_name());
    let same = |name: &OsString| {
        let read = |folder: &Path| fs::read(folder.join(name)).ok();
        let (one, wall) = (read(one), read(wall));
        wall.is_none() || one == wall
    };
    let others = names.filter(|name| !same(name));
    others
        .map(|name| name.to_string_lossy().into_owned())
        .collect()
}

fn through(stage: &Stage, transport: &str, stats: &Path) -> Command {
    let mut command = stage.mgn();
    command.args(["run", "--stats-json"]).arg(stats);
    let staged = transport.strip_prefix("stages-");
    if staged.is_some() {
        let table = stats.with_extension("table");
        let looks = format!("histogram:file={}", table.display());
        command.args(["--client-spu", &looks]);
    }
    let transport = staged.unwrap_or(transport);
    match transport.strip_prefix("wall-") {
        Some("uneven") => command.args(["--wall", &uneven("1:1")]),
        Some("replicas") => command.args(["--wall", "2x2", "--wall", "1x1"]),
        Some("offset") => command.args(["--wall", "2x2", "--tiling", "offset"]),
        Some("mural") => command.args(["--wall", &mural()]),
        Some("bezels") => command.args(["--wall", &bezels()]),
        Some("scaled") => command.args(["--wall", &uneven("scale")]),
        Some("tcp") => command.args(["--wall", "2x2", "--transport", "tcp"]),
        Some(wall) => command.args(["--wall", wall]),
        None => command.args(["--transport", transport]),
    };
    // Vertices are always welded over this transport, so that both ways of sending them are
    // compared.
    if transport == "tcp" {
        command.args(["--weld", "always"]);
    }
    command
}

/// Whether there are any pictures in the folder. A program may skip all its scenes because OpenGL
/// lacks a feature.
fn pictures(folder: &Path) -> bool {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    files
        .into_iter()
        .any(|file| file.path().extension().is_some_and(|e| e == "ppm"))
}

/// The reason why the statistics of a run do not show that our server rendered it. `drew` is
/// whether the program drew.
fn not_ours(figures: &Value, drew: bool) -> Option<String> {
    if figures["other_drivers"]
        .as_array()
        .is_none_or(|d| !d.is_empty())
    {
        return Some(format!(
            "another driver was loaded: {}",
            figures["other_drivers"]
        ));
    }
    if drew && figures["reached_server"] != true {
        return Some("the program did not reach the server".into());
    }
    let answers = figures["answer_bytes"].as_u64().unwrap_or(0);
    (drew && answers == 0).then(|| "the server has executed nothing".into())
}
