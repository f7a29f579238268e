//! Renderers of a wall are killed at chosen moments. The program continues, or ends with one clear
//! error. No process hangs, and nothing is left behind.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use mgn_fuzzing::Random;
use mgn_tests::{parent, processes, programs, Running, Stage};
use rustix::process::{kill_process, Pid, Signal};

const RUN_TIMEOUT: Duration = Duration::from_secs(60);

/// The process that is lost, and the moment.
enum Loss {
    /// A renderer or a spare worker of the server, at most this long after the program was started.
    Within(Duration),
    /// A renderer that has reached this command. Others wait for it.
    At(&'static str),
    /// A renderer, and then the renderer that gives its state to the successor.
    Giver,
    /// A renderer, and then its successor.
    Taker,
    /// The server, and with it all renderers, when a renderer has reached this command.
    All(&'static str),
}
use Loss::{All, At, Giver, Taker, Within};

/// A program on four tiles. The renderers write traces of their commands to files.
struct Show {
    running: Running,
    traces: PathBuf,
}

impl Show {
    fn start(stage: &Stage, program: &str, scene: &str, times: &str) -> Show {
        let traces = stage.folder();
        let mut command = stage.mgn();
        command.args(["run", "--headless", "--wall", "2x2", "--spu"]);
        command.arg(format!("print:file={}/trace", traces.display()));
        command
            .arg("--")
            .arg(programs("tests/conformance").join(program));
        command.args(["--scene", scene, "--times", times, "--out"]);
        let running = Running::start(command.arg(stage.folder()));
        Show { running, traces }
    }

    /// The rendering processes, in the order in which they began, each with the number of times
    /// that it has reached this command.
    fn renderers(&self, command: &str) -> Vec<(Pid, usize)> {
        let mut found: Vec<_> = holders(&self.traces)
            .into_iter()
            .map(|(pid, trace)| {
                let said = fs::read_to_string(&trace).unwrap_or_default();
                (trace, pid, said.matches(command).count())
            })
            .collect();
        found.sort_by(|(one, ..), (other, ..)| one.cmp(other));
        let found = found.into_iter().map(|(_, pid, times)| (pid, times));
        found.collect()
    }

    /// Waits until a renderer has reached a command for the `times`-th time, and returns its
    /// process. Renderers in `but` do not count. `None` if the program ends first.
    fn reached(&self, command: &str, times: usize, but: &[Pid]) -> Option<Pid> {
        let start = Instant::now();
        while start.elapsed() < RUN_TIMEOUT && !self.has_ended() {
            let all = self.renderers(command);
            let is_meant = |(pid, seen): &&(Pid, usize)| *seen >= times && !but.contains(pid);
            if let Some((pid, _)) = all.iter().find(is_meant) {
                return Some(*pid);
            }
            thread::sleep(Duration::from_millis(1));
        }
        None
    }

    fn has_ended(&self) -> bool {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.running.pid()));
        stat.is_ok_and(|stat| stat.contains(") Z "))
    }

    /// Waits until the program and all processes that it has started have ended.
    fn wait(&self) {
        let start = Instant::now();
        while !self.has_ended() || !holders(&self.traces).is_empty() {
            assert!(start.elapsed() < RUN_TIMEOUT, "it does not end");
            thread::sleep(Duration::from_millis(10));
        }
        let runs = format!("run-{}-", self.running.pid());
        let left = fs::read_dir(self.traces.ancestors().nth(2).unwrap())
            .unwrap()
            .flatten();
        let mut left = left.map(|entry| entry.file_name().into_string().unwrap());
        assert_eq!(left.find(|name| name.starts_with(&runs)), None);
    }

    /// The workers of the program's server, with or without a session.
    fn workers(&self) -> Vec<Pid> {
        let is_own = |pid: &u32| {
            let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            words.ends_with(b"\0worker\0")
                && parent(*pid).and_then(parent) == Some(self.running.pid())
        };
        processes().filter(is_own).filter_map(named).collect()
    }
}

/// Stops a process for a random time, so that others wait for it, and then kills it.
fn kill(victim: Pid, dice: &mut Random) {
    // The process may have ended already.
    let _ = kill_process(victim, Signal::STOP);
    thread::sleep(Duration::from_millis(dice.below(100) as u64));
    let _ = kill_process(victim, Signal::KILL);
}

fn named(pid: u32) -> Option<Pid> {
    Pid::from_raw(pid as i32)
}

/// The processes that have files of a folder open, each with one of these files.
fn holders(folder: &Path) -> Vec<(Pid, PathBuf)> {
    let open = |pid: u32| {
        let files = fs::read_dir(format!("/proc/{pid}/fd"));
        let files = files.into_iter().flatten().flatten();
        let mut files = files.filter_map(|file| fs::read_link(file.path()).ok());
        let file = files.find(|file| file.starts_with(folder))?;
        Some((named(pid)?, file))
    };
    processes().filter_map(open).collect()
}

#[test]
fn a_renderer_may_be_lost_at_any_moment() {
    let stage = Stage::new();
    let windows = ("windows", "three_windows", "3");
    let copies = ("copy_and_bitmap", "copies", "2");
    let queries = ("queries_and_sync", "occlusion", "3");
    let long = ("checked_frames", "few", "30");
    let cases = [
        (windows, Within(Duration::from_millis(600))),
        (windows, At("mgnCreateContext(")),
        (windows, At("mgnSwapBuffers(")),
        (copies, At("mgnTakeTiles(")),
        (copies, At("mgnFill(")),
        (queries, At("mgnCounted(")),
        (long, Giver),
        (long, Taker),
        (copies, All("mgnFill(")),
    ];
    let mut losses = 0;
    for (seed, ((program, scene, times), loss)) in cases.into_iter().enumerate() {
        let mut dice = Random::new(seed as u64 + 1);
        let show = Show::start(&stage, program, scene, times);
        let victim = match loss {
            Within(time) => {
                thread::sleep(time.mul_f64(dice.below(100) as f64 / 100.0));
                let all = show.workers();
                all.get(dice.below(all.len().max(1))).copied()
            }
            At(command) => show.reached(command, 1 + dice.below(2), &[]),
            All(command) => {
                let one = show.reached(command, 1 + dice.below(2), &[]);
                let server = one.and_then(|pid| parent(pid.as_raw_nonzero().get() as u32));
                server.and_then(named)
            }
            Giver | Taker => {
                let first = show.reached("mgnRun(", 1 + dice.below(30), &[]);
                let all: Vec<Pid> = show.renderers("").iter().map(|(pid, _)| *pid).collect();
                first.into_iter().for_each(|pid| kill(pid, &mut dice));
                match loss {
                    Giver => show.reached("mgnSnapshot(", 1, &[]),
                    _ => show.reached("(", 1, &all),
                }
            }
        };
        victim.into_iter().for_each(|pid| kill(pid, &mut dice));
        show.wait();
        let outcome = show.running.finish(RUN_TIMEOUT);
        let said = |words| outcome.stderr.matches(words).count();
        let ends = [
            "the program ends",
            "no session with the render server",
            "the render server did not start",
        ];
        let ended: usize = ends.into_iter().map(said).sum();
        let is_well = match outcome.status {
            // The program may have ended normally just before its server was lost.
            Some(0) => ended <= 1,
            Some(1 | 125) => ended == 1,
            _ => false,
        };
        assert!(is_well, "case {seed}: {}", outcome.describe());
        losses += usize::from(said(" is lost") > 0);
    }
    // Some programs may end before their renderer can be killed.
    assert!(losses >= 3, "{losses} of the renderers were lost");
}
