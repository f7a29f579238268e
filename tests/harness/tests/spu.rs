//! Programs run through chains of stages. The tests check the files that stages write.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use mgn_tests::{camera, programs, Outcome, Stage};
use mgn_verify::Picture;

const RUN_TIMEOUT: Duration = Duration::from_secs(60);

fn finished(command: &mut Command) -> Outcome {
    let outcome = Outcome::of(command, RUN_TIMEOUT);
    assert_eq!(outcome.status, Some(0), "{}", outcome.describe());
    outcome
}

/// `rings` with its tenth frame saved as a file.
fn rings(dump: &Path) -> Vec<String> {
    let program = programs("demos").join("rings").display().to_string();
    let options = "--mode immediate --frames 12 --size 200x150 --warmup 0 --dump";
    let options = options.split(' ').map(str::to_owned);
    let dump = format!("10:{}", dump.display());
    [program].into_iter().chain(options).chain([dump]).collect()
}

struct Run {
    folder: PathBuf,
    picture: Picture,
    stderr: String,
}

impl Run {
    /// Runs `rings` through stages. The names of their files begin with `@`, which is replaced by a
    /// folder.
    fn through(stage: &Stage, spus: &[&str]) -> Run {
        let folder = stage.folder();
        let dump = folder.join("10.ppm");
        let mut command = stage.mgn();
        command.arg("run");
        for spu in spus {
            let spu = spu.replace('@', &format!("{}/", folder.display()));
            command.arg("--spu").arg(spu);
        }
        let outcome = finished(command.arg("--").args(rings(&dump)));
        Run {
            picture: Picture::read(&dump).unwrap(),
            folder,
            stderr: outcome.stderr,
        }
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.folder.join(name)).unwrap()
    }

    fn names(&self) -> BTreeSet<String> {
        let files = fs::read_dir(&self.folder).unwrap().flatten();
        files
            .map(|f| f.file_name().into_string().unwrap())
            .collect()
    }
}

/// The number of calls of `command` in a histogram.
fn calls(table: &str, command: &str) -> u64 {
    let mut rows = table
        .lines()
        .map(|l| l.split_whitespace().collect::<Vec<_>>());
    let row = rows.find(|row| row.last() == Some(&command));
    row.map_or(0, |row| row[0].parse().unwrap())
}

/// Stages in the program's process see the same commands as stages in the server, even if
/// `--frames` ends the program.
#[test]
fn stages_look_in_the_programs_process() {
    let stage = Stage::new();
    for last in [&["--frames", "8"][..], &[]] {
        let folder = stage.folder();
        let mut command = stage.mgn();
        command.arg("run").args(last).current_dir(&folder);
        command.args(["--client-spu", "histogram:file=table"]);
        command.args(["--client-spu", "print:file=trace"]);
        let there = format!("print:file={}", folder.join("there").display());
        command.args(["--spu", &there, "--"]);
        finished(command.args(rings(&folder.join("10.ppm"))));
        let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
        let (own, there) = (read("trace"), read("there"));
        let lines = || own.lines().zip(there.lines());
        assert!(lines().count() > 100, "{own}");
        let different = lines().find(|(own, there)| own != there);
        assert_eq!(different, None);
        let frames = if last.is_empty() { 12 } else { 8 };
        assert_eq!(own.matches("mgnSwapBuffers").count(), frames);
        assert_eq!(calls(&read("table"), "mgnSwapBuffers"), frames as u64);
    }
    let saves = ["run", "--client-spu", "save:dir=pictures", "--", "true"];
    let refused = Outcome::of(
        stage.mgn().current_dir(stage.folder()).args(saves),
        RUN_TIMEOUT,
    );
    assert_eq!(refused.status, Some(125), "{}", refused.describe());
    assert!(refused.stderr.contains("--spu"), "{}", refused.describe());
}

/// A stage draws the same on either side, over any transport.
#[test]
fn stages_change_commands_in_the_programs_process() {
    let stage = Stage::new();
    let mut gears = vec!["env".into()];
    let by_clock = camera().assignments(None).into_iter();
    gears.extend(by_clock.map(|a| a.into_string().expect("the path is text")));
    gears.push("glxgears".into());
    let demo = |name: &str, mode: &str| {
        let program = programs("demos").join(name).display().to_string();
        vec![program, "--mode".into(), mode.into()]
    };
    for program in [
        gears,
        demo("rings", "static"),
        demo("meshview", "immediate"),
    ] {
        let saved = |flags: &[&str]| {
            let folder = stage.folder();
            let mut command = stage.mgn();
            command
                .args(["run", "--frames", "4", "--save"])
                .arg(&folder);
            finished(command.args(flags).arg("--").args(&program));
            let frame = |i| fs::read(folder.join(format!("frame-{i:06}.png")));
            let frames: Vec<Vec<u8>> = (1..).map_while(|i| frame(i).ok()).collect();
            assert_eq!(frames.len(), 4, "{program:?} {flags:?}");
            frames
        };
        let lines = saved(&["--spu", "wireframe"]);
        assert!(lines != saved(&[]), "{program:?}");
        for way in [
            &["--transport", "shm"][..],
            &["--transport", "tcp"],
            &["--wall", "2x2"],
        ] {
            let flags = [way, &["--client-spu", "wireframe"]].concat();
            assert!(lines == saved(&flags), "{program:?} {way:?}");
        }
    }
}

/// Clients sort geometry by the program's own drawing, and leave room for the lines that a stage in
/// the server makes of it.
#[test]
fn lines_of_stages_cross_the_edges_of_tiles() {
    let stage = Stage::new();
    let picture = |flags: &[&str]| {
        let folder = stage.folder();
        let mut command = stage.mgn();
        command.arg("run").args(flags).arg("--");
        command.arg(programs("tests/conformance").join("spread"));
        finished(command.args(["--scene", "wide", "--out"]).arg(&folder));
        fs::read(folder.join("spread.wide.ppm")).unwrap()
    };
    let lines = picture(&["--spu", "wireframe"]);
    assert!(lines != picture(&[]));
    for way in [
        &["--wall", "2x2"][..],
        &["--wall", "3x1", "--transport", "tcp"],
    ] {
        let flags = [way, &["--spu", "wireframe"]].concat();
        assert!(lines == picture(&flags), "{way:?}");
    }
}

/// If a stage in the program's process answers in place of the renderer, the program gets the
/// stage's answer and its errors.
#[test]
fn programs_read_their_own_mode_back() {
    let stage = Stage::new();
    let program = programs("tests/conformance").join("errors");
    let log = |mut command: Command| {
        let folder = stage.folder();
        finished(command.arg(&program).arg("--out").arg(&folder));
        let log = fs::read_to_string(folder.join("errors.txt")).unwrap();
        // The log contains hashes of pictures, which differ.
        let told = |line: &&str| !line.starts_with("picture:");
        log.lines().filter(told).collect::<Vec<_>>().join("\n")
    };
    let trace = stage.folder().join("trace");
    let mut staged = stage.mgn();
    staged.args(["run", "--client-spu", "wireframe", "--spu"]);
    staged.arg(format!("print:file={}", trace.display()));
    staged.arg("--");
    assert_eq!(log(staged), log(stage.direct("env")));
    let trace = fs::read_to_string(trace).unwrap();
    assert!(!trace.contains("glGetIntegerv(pname=GL_POLYGON_MODE"));
    assert!(trace.contains("glIsEnabled(cap=GL_SCISSOR_TEST"));
}

#[test]
fn stages_that_look_leave_their_files_and_change_nothing() {
    let stage = Stage::new();
    let plain = Run::through(&stage, &[]);
    let looked = Run::through(
        &stage,
        &[
            "print:file=@trace",
            "histogram:file=@table,every=5",
            "perf:file=@perf",
            "save:dir=@saved,every=5",
        ],
    );
    assert_eq!(plain.picture.difference(&looked.picture), None);
    let saved = Picture::read(&looked.folder.join("saved/frame-000010.png")).unwrap();
    assert_eq!(plain.picture.difference(&saved), None);
    assert_eq!(
        fs::read_dir(looked.folder.join("saved")).unwrap().count(),
        2
    );
    assert_eq!(
        looked.names().into_iter().collect::<Vec<_>>(),
        ["10.ppm", "perf", "saved", "table", "trace"]
    );
    // The table at the end contains all commands of the trace, including the last one.
    let trace = looked.read("trace");
    let table = looked.read("table");
    let (parts, all) = table.split_once("all 12 frames").expect("a last table");
    assert!(
        parts.contains("frames 1 to 5\n") && parts.contains("frames 6 to 10\n"),
        "{parts}"
    );
    for command in [
        "mgnSwapBuffers",
        "mgnRun",
        "glClear",
        "mgnCreateContext",
        "mgnDestroyContext",
    ] {
        let lines = trace
            .lines()
            .filter(|l| l.contains(&format!(" {command}(")))
            .count();
        assert_eq!(calls(all, command), lines as u64, "{command}: {table}");
    }
    assert_eq!(calls(all, "in"), 0);
    assert_eq!(calls(all, "mgnSwapBuffers"), 12);
    assert!(
        trace.contains("glClear(mask=GL_DEPTH_BUFFER_BIT|GL_COLOR_BUFFER_BIT)"),
        "{trace}"
    );
    let perf = looked.read("perf");
    let last = perf.lines().last().unwrap();
    assert!(
        last.starts_with("all ") && last.contains(": 12 frames"),
        "{perf}"
    );
    assert!(!last.contains(" 0 vertices"), "{perf}");
}

#[test]
fn wireframe_and_discard_change_the_picture() {
    let stage = Stage::new();
    let plain = Run::through(&stage, &[]);
    let lines = Run::through(&stage, &["wireframe", "save:dir=@saved,every=10"]);
    let saved = Picture::read(&lines.folder.join("saved/frame-000010.png")).unwrap();
    assert_eq!(lines.picture.difference(&saved), None);
    let background = &plain.picture.pixels[..3];
    let drawn = |p: &Picture| {
        p.pixels
            .chunks_exact(3)
            .filter(|p| *p != background)
            .count()
    };
    let (full, outline) = (drawn(&plain.picture), drawn(&lines.picture));
    assert!(outline > 0 && outline != full, "{outline} of {full} pixels");
    let nothing = Run::through(&stage, &["discard"]);
    assert!(nothing.picture.pixels.iter().all(|value| *value == 0));
}

#[test]
fn without_a_file_it_is_said_on_standard_error() {
    let said = Run::through(&Stage::new(), &["histogram"]).stderr;
    assert!(said.contains("all 12 frames"), "{said}");
}

/// Two programs use a separate server, one after the other. The server ends while a third program
/// runs.
#[test]
fn sessions_have_files_of_their_own_and_leave_them_when_the_server_ends() {
    let stage = Stage::new();
    let folder = stage.folder();
    let address = format!("unix:{}", folder.join("socket").display());
    let mut server = stage.mgn();
    server.args(["server", "--listen", &address, "--spu"]);
    server.arg(format!(
        "histogram:file={}",
        folder.join("table.txt").display()
    ));
    let server = mgn_tests::Running::start(&mut server);
    wait_until("the server listens", || folder.join("socket").exists());
    for _ in 0..2 {
        let mut command = stage.mgn();
        command.args(["run", "--server", &address, "--"]);
        finished(command.args(rings(&stage.folder().join("10.ppm"))));
    }
    let mut command = stage.mgn();
    command.args(["run", "--server", &address, "--", "glxgears"]);
    let last = mgn_tests::Running::start(&mut command);
    wait_until("the third session begins", || {
        folder.join("table-3.txt").exists()
    });
    server.signal(rustix::process::Signal::TERM);
    let outcome = server.finish(RUN_TIMEOUT);
    assert_eq!(outcome.status, Some(0), "{}", outcome.describe());
    drop(last);
    for name in ["table.txt", "table-2.txt", "table-3.txt"] {
        let table = fs::read_to_string(folder.join(name)).unwrap();
        assert!(table.starts_with("all "), "{name}: {table}");
    }
}

fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = std::time::Instant::now();
    while !holds() {
        assert!(start.elapsed() < RUN_TIMEOUT, "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_recording_is_replayed_through_a_chain_with_and_without_a_driver() {
    let stage = Stage::new();
    let folder = stage.folder();
    let recording = folder.join("recording");
    let mut command = stage.mgn();
    command.args(["run", "--transport"]);
    command
        .arg(format!("file:{}", recording.display()))
        .arg("--");
    finished(command.args(rings(&folder.join("10.ppm"))));
    let replay = |stages: &[String]| {
        let mut command = stage.mgn();
        command.arg("replay").arg(&recording);
        for stage in stages {
            command.args(["--spu", stage]);
        }
        finished(&mut command).stdout
    };
    let dir = folder.join("saved");
    let said = replay(&[format!("save:dir={},every=6", dir.display())]);
    assert!(said.starts_with("12 frames"), "{said}");
    assert_eq!(fs::read_dir(&dir).unwrap().count(), 2);
    let table = folder.join("table");
    let said = replay(&[format!("histogram:file={}", table.display()), "nop".into()]);
    assert!(said.starts_with("12 frames"), "{said}");
    let table = fs::read_to_string(table).unwrap();
    assert_eq!(calls(&table, "mgnSwapBuffers"), 12, "{table}");
}
