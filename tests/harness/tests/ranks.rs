//! Several copies of a program whose pictures are merged into one.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use mgn_launch::inspect::in_path;
use mgn_tests::frames::picture;
use mgn_tests::{processes, programs, Outcome, Running, Stage};
use mgn_verify::Picture;
use rustix::process::Signal;

/// Longer than anything takes, even on a slow machine.
const RUN_TIMEOUT: Duration = Duration::from_secs(120);

/// Adds `iso_demo` with few triangles to the command.
fn demo(command: &mut Command) -> &mut Command {
    command
        .arg("--")
        .arg(programs("demos").join("iso_demo"))
        .args(["--triangles", "20000", "--frames", "3"])
}

/// Runs the demo through `mgn run`. `words` are the flags of `mgn run`, and `program` are further
/// arguments of the demo.
fn run(stage: &Stage, words: &str, folder: &Path, program: &[&str]) -> Outcome {
    let mut command = stage.mgn();
    command.arg("run").args(words.split_whitespace());
    // Pictures on sockets are compressed, as between hosts.
    command.env("MGN_COMPRESS", "1");
    command.arg("--save").arg(folder);
    demo(&mut command).args(program);
    Outcome::of(&mut command, RUN_TIMEOUT)
}

/// The bytes of the files of all frames.
fn frames(folder: &Path) -> Vec<Vec<u8>> {
    let frame = |n| fs::read(folder.join(format!("frame-{n:06}.png")));
    (1..).map_while(|n| frame(n).ok()).collect()
}

#[test]
fn shares_of_the_data_become_the_picture_of_all_of_it() {
    let stage = Stage::new();
    let size = ["--size", "203x101"];
    let whole = stage.folder();
    let outcome = run(&stage, "", &whole, &size);
    assert_eq!(outcome.status, Some(0), "{}", outcome.describe());
    let wanted = frames(&whole);
    assert_eq!(wanted.len(), 3);
    let share = |part| {
        let folder = stage.folder();
        run(
            &stage,
            "",
            &folder,
            &[&size[..], &["--part", part]].concat(),
        );
        frames(&folder)
    };
    assert_ne!(share("0/2"), wanted, "a share is all there is");
    for (copies, spec, transport) in [
        ("2", "depth", "shm"),
        ("2", "depth:1,0", "tcp"),
        ("3", "depth/tree-2", "unix"),
        ("5", "depth/radix-2", "shm"),
    ] {
        let folder = stage.folder();
        let words = format!("-np {copies} --composite {spec} --transport {transport}");
        let program = [&size[..], &["--part", "%r/%n"]].concat();
        let outcome = run(&stage, &words, &folder, &program);
        assert_eq!(outcome.status, Some(0), "{words}: {}", outcome.describe());
        assert!(frames(&folder) == wanted, "{words}: other pictures");
    }
}

/// The largest difference of a channel between two pictures, and the mean difference of all
/// channels.
fn difference(a: &Picture, b: &Picture) -> (u8, f64) {
    assert_eq!((a.width, a.height), (b.width, b.height));
    let both = a.pixels.iter().zip(&b.pixels);
    let apart: Vec<u8> = both.map(|(a, b)| a.abs_diff(*b)).collect();
    let sum: f64 = apart.iter().map(|apart| f64::from(*apart)).sum();
    let most = apart.iter().copied().max().unwrap_or(0);
    (most, sum / apart.len() as f64)
}

/// A single program rounds after each slice. The copies round in another order, so the pictures
/// differ slightly.
#[test]
fn slices_are_blended_in_their_order() {
    let stage = Stage::new();
    let draw = |words: &str, program: &[&str]| {
        let folder = stage.folder();
        let mut command = stage.mgn();
        command.arg("run").args(words.split_whitespace());
        command.arg("--save").arg(&folder).arg("--");
        command.arg(programs("demos").join("volume"));
        command.args(["--frames", "2", "--size", "160x120"]);
        let outcome = Outcome::of(command.args(program), RUN_TIMEOUT);
        assert_eq!(outcome.status, Some(0), "{words}: {}", outcome.describe());
        picture(&folder, 2)
    };
    let whole = draw("", &[]);
    let part = ["--part", "%r/%n"];
    let merged = draw("-np 3 --composite over", &part);
    let (most, mean) = difference(&whole, &merged);
    assert!(most <= 12 && mean < 1.0, "{most} {mean}");
    let reversed = draw("-np 3 --composite over:2,1,0", &part);
    let (most, _) = difference(&whole, &reversed);
    assert!(most > 40, "{most}: in any order");
    let other = draw("-np 3 --composite over:2,1,0/tree-2", &part);
    let (most, _) = difference(&other, &reversed);
    assert!(most <= 1, "{most}");
}

/// The outcome of a run that fails within the waiting times that its flags allow.
fn failure(stage: &Stage, words: &str, script: &str) -> Outcome {
    let program = programs("demos").join("iso_demo");
    let script = script.replace(
        "DEMO",
        &format!("{} --triangles 20000 --size 200x100", program.display()),
    );
    let mut command = stage.mgn();
    command.arg("run").args(words.split_whitespace());
    command.args(["--", "sh", "-c", &script]);
    Outcome::of(&mut command, RUN_TIMEOUT)
}

/// One line reports the error, no matter which ranks have found it.
#[test]
fn what_goes_wrong_is_said_once() {
    let stage = Stage::new();
    const ALL: &str = "-np 3 --composite depth";
    for (words, script, status, said) in [
        (
            ALL,
            "exec DEMO --frames 9 --size 2%r0x100",
            76,
            "is 210 x 100 and that of rank 0 200 x 100",
        ),
        (
            ALL,
            "test %r = 1 && exec DEMO --frames 2; exec DEMO --frames 9",
            76,
            "rank 1 has ended after 2 frames",
        ),
        (
            "-np 3 --composite depth --composite-timeout 6",
            "test %r = 1 && sleep 100; exec DEMO",
            76,
            "rank 1 has drawn no frame 1 for 6s",
        ),
        (
            "-np 3 --composite depth --composite-timeout 6",
            "test %r = 1 && { DEMO --frames 1; sleep 100; }; exec DEMO --frames 5",
            76,
            "rank 1 has ended after 1 frames",
        ),
        (
            ALL,
            "test %r = 2 && exit 9; exec DEMO",
            9,
            "rank 2 has ended with status 9",
        ),
        (
            ALL,
            "(sleep 1; test %r = 1 && kill -9 $$) & exec DEMO",
            137,
            "rank 1 was ended by signal 9",
        ),
        (
            "-np 2 --composite over",
            "test %r = 0 && sleep 1; exec DEMO",
            76,
            "its window has no alpha",
        ),
    ] {
        let outcome = failure(&stage, words, script);
        let told = outcome.describe();
        assert_eq!(outcome.status, Some(status), "{script}: {told}");
        let lines = outcome.stderr.lines();
        let lines: Vec<&str> = lines.filter(|line| line.starts_with("mgn:")).collect();
        assert_eq!(lines.len(), 1, "{script}: {told}");
        assert!(lines[0].contains(said), "{script}: {told}");
    }
}

/// The run ends when the window of rank 0 is closed.
#[test]
fn the_others_end_with_rank_0() {
    let stage = Stage::new();
    let script = "test %r = 0 && exec DEMO --frames 3; exec DEMO";
    let outcome = failure(&stage, "-np 3 --composite depth", script);
    assert_eq!(outcome.status, Some(0), "{}", outcome.describe());
    assert!(outcome.stderr.is_empty(), "{}", outcome.describe());
}

/// A rank is stopped, and a launcher is killed. No process is left.
#[test]
fn nothing_is_left_behind() {
    let stage = Stage::new();
    let mark = (1_000_000 + std::process::id()).to_string();
    let left = || -> Vec<String> {
        let line = |pid: u32| fs::read_to_string(format!("/proc/{pid}/cmdline")).ok();
        let lines = processes().filter_map(line);
        lines.filter(|line| line.contains(&mark)).collect()
    };
    let script = format!("(sleep 3; test %r = 1 && kill -STOP $$) & exec DEMO --warmup {mark}");
    let words = "-np 3 --composite depth --composite-timeout 6";
    let outcome = failure(&stage, words, &script);
    assert_eq!(outcome.status, Some(76), "{}", outcome.describe());
    assert!(outcome.stderr.contains("rank 1 has drawn no frame"));
    assert!(left().is_empty(), "{:?}", left());

    let mut command = stage.mgn();
    command.args("run -np 2 --composite depth --".split(' '));
    command.arg(programs("demos").join("iso_demo"));
    command.args(["--warmup", &mark]);
    let mut running = Running::start(&mut command);
    let start = Instant::now();
    while left().len() < 5 {
        assert!(
            start.elapsed() < RUN_TIMEOUT && !running.has_ended(),
            "{:?}",
            left()
        );
        std::thread::sleep(Duration::from_millis(20));
    }
    running.signal(Signal::KILL);
    while !left().is_empty() {
        assert!(start.elapsed() < RUN_TIMEOUT, "{:?}", left());
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn wrong_words_are_explained() {
    let stage = Stage::new();
    for (words, said) in [
        ("-np 0", "0 is not in 1..=1024"),
        ("-np two", "invalid value 'two' for '--np <N>'"),
        ("-np 2 --composite deph", "did you mean depth?"),
        ("-np 2 --composite over:0", "the order lacks rank 1"),
        (
            "-np 2 --composite over:0,2",
            "names rank 2, but there are only 2 ranks",
        ),
        ("-np 2 --composite depth/radix", "no schedule"),
        (
            "-np 2 --composite depth --shared-window w",
            "cannot be used with",
        ),
        (
            "-np 2 --composite depth --transport null",
            "needs renderers; leave out --transport",
        ),
        ("-np 2 --save /tmp/x", "leave out --save"),
        ("--composite depth", "this is the only rank: add -np N"),
        ("--composite-timeout 5", "--composite <SPEC>"),
    ] {
        let mut command = stage.mgn();
        command.arg("run").args(words.split_whitespace());
        let outcome = Outcome::of(command.args(["--", "true"]), RUN_TIMEOUT);
        let told = outcome.describe();
        assert!(
            outcome.status.is_some_and(|status| status > 0),
            "{words}: {told}"
        );
        assert!(outcome.stderr.contains(said), "{words}: {told}");
    }
}

/// Ranks that a launcher of MPI has started find each other by the environment that it has set.
#[test]
fn launchers_of_mpi_start_ranks_too() {
    let stage = Stage::new();
    let wanted = stage.folder();
    run(&stage, "", &wanted, &["--size", "200x100"]);
    let wanted = frames(&wanted);
    assert_eq!(wanted.len(), 3);
    for (launcher, flags) in [
        (
            "mpirun.openmpi",
            "--allow-run-as-root --oversubscribe -np 3",
        ),
        ("mpiexec.mpich", "-n 3"),
    ] {
        if in_path(launcher.as_ref()).is_none() {
            eprintln!("SKIPPED: {launcher} is not installed");
            continue;
        }
        let folder = stage.folder();
        let mgn = stage.mgn();
        let mut command = stage.direct(launcher);
        command.args(flags.split(' ')).arg(mgn.get_program());
        command.args(["run", "--composite", "depth", "--save"]);
        demo(command.arg(&folder));
        command.args(["--size", "200x100", "--part", "%r/%n"]);
        let outcome = Outcome::of(&mut command, RUN_TIMEOUT);
        assert_eq!(
            outcome.status,
            Some(0),
            "{launcher}: {}",
            outcome.describe()
        );
        assert!(frames(&folder) == wanted, "{launcher}: other pictures");
    }
}

/// The test needs no Slurm: the processes get the environment that `srun -n 3` would set.
#[test]
fn ranks_of_slurm_find_each_other() {
    let stage = Stage::new();
    let (wanted, merged) = (stage.folder(), stage.folder());
    run(&stage, "", &wanted, &["--size", "200x100"]);
    let rank = |rank: &str| {
        let mut command = stage.mgn();
        command.args(["run", "--composite", "depth", "--save"]);
        demo(command.arg(&merged)).args(["--size", "200x100", "--part", "%r/%n"]);
        command
            .env("SLURM_PROCID", rank)
            .env("SLURM_NTASKS", "3")
            .env("SLURM_JOB_ID", std::process::id().to_string())
            .env("SLURM_JOB_NODELIST", "localhost")
            .env("SLURM_TASKS_PER_NODE", "3")
            .env("SLURMD_NODENAME", "localhost")
            .env("MGN_PORT", port());
        Running::start(&mut command)
    };
    let ranks = ["2", "1", "0"].map(rank);
    for (number, rank) in ranks.into_iter().enumerate() {
        let outcome = rank.finish(RUN_TIMEOUT);
        assert_eq!(outcome.status, Some(0), "{number}: {}", outcome.describe());
    }
    assert!(frames(&merged) == frames(&wanted), "other pictures");
}

/// The ranks treat two names of this host as two hosts, and therefore connect by TCP.
#[test]
fn ranks_of_several_hosts_share_a_secret() {
    let stage = Stage::new();
    let (wanted, merged, files) = (stage.folder(), stage.folder(), stage.folder());
    run(&stage, "", &wanted, &["--size", "200x100"]);
    let (hosts, token) = (files.join("hosts"), files.join("token"));
    fs::write(&hosts, "127.0.0.1 slots=1\nlocalhost slots=1\n").unwrap();
    let rank = |rank: &str, token: Option<&Path>| {
        let mut command = stage.mgn();
        command.args(["run", "--composite", "depth", "--save"]);
        demo(command.arg(&merged)).args(["--size", "200x100", "--part", "%r/%n"]);
        command.env("MGN_RANK", rank).env("MGN_HOSTFILE", &hosts);
        command.env("MGN_PORT", port());
        command.envs(token.map(|token| ("MGN_TOKEN_FILE", token)));
        Running::start(&mut command)
    };
    let outcome = rank("0", None).finish(RUN_TIMEOUT);
    assert!(
        outcome.stderr.contains("need a secret"),
        "{}",
        outcome.describe()
    );
    let made = Outcome::of(stage.mgn().args(["token", "new"]).arg(&token), RUN_TIMEOUT);
    assert_eq!(made.status, Some(0), "{}", made.describe());
    let other = rank("1", Some(&token));
    let outcome = rank("0", Some(&token)).finish(RUN_TIMEOUT);
    assert_eq!(outcome.status, Some(0), "{}", outcome.describe());
    let other = other.finish(RUN_TIMEOUT);
    assert_eq!(other.status, Some(0), "{}", other.describe());
    assert!(frames(&merged) == frames(&wanted), "other pictures");
}

/// A port such that a few ports from 1024 above it on are free.
fn port() -> String {
    let process = std::process::id() % 1000;
    (20_000 + 4 * process).to_string()
}

/// A program gets its rank and size even if it is not composited.
#[test]
fn copies_know_their_rank_and_size() {
    let stage = Stage::new();
    let script = "echo %r of %n, $MGN_RANK of $MGN_SIZE, 100%%";
    let outcome = failure(&stage, "-np 2", script);
    let mut lines: Vec<&str> = outcome.stdout.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, ["0 of 2, 0 of 2, 100%", "1 of 2, 1 of 2, 100%"]);
}
