//! If any process dies during a run, the other processes end well: they print one line, they do not
//! hang, and they leave nothing behind.

use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use mgn_tests::{programs, Outcome, Running, Stage};
use rustix::process::{kill_process, Pid, Signal};

const RUN_TIMEOUT: Duration = Duration::from_secs(60);
/// The time limit for the other processes to notice a loss.
const NOTICE_TIMEOUT: Duration = Duration::from_secs(10);

/// Living descendants of `parent`, with the words of their command lines.
fn below(parent: u32) -> Vec<(u32, Vec<String>)> {
    let mut all = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let Some(pid) = entry
            .file_name()
            .to_str()
            .and_then(|n| n.parse::<u32>().ok())
        else {
            continue;
        };
        let stat = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        let Some((_, after)) = stat.rsplit_once(')') else {
            continue;
        };
        let mut fields = after.split_ascii_whitespace();
        let (state, ppid) = (
            fields.next(),
            fields.next().and_then(|p| p.parse::<u32>().ok()),
        );
        if state != Some("Z") {
            let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
            let words = line
                .split(|&b| b == 0)
                .map(|w| String::from_utf8_lossy(w).into_owned());
            all.push((pid, ppid.unwrap_or(0), words.collect::<Vec<_>>()));
        }
    }
    let mut found = Vec::new();
    let mut parents = vec![parent];
    while let Some(parent) = parents.pop() {
        for (pid, ppid, words) in &all {
            if *ppid == parent {
                parents.push(*pid);
                found.push((*pid, words.clone()));
            }
        }
    }
    found
}

fn find(parent: u32, word: &str) -> Option<u32> {
    below(parent)
        .into_iter()
        .find(|(_, words)| words.iter().any(|w| w == word))
        .map(|(p, _)| p)
}

/// Kills the worker of the session and the spare worker, because they cannot be told apart from
/// outside.
fn kill_workers(parent: u32) {
    let workers: Vec<u32> = below(parent)
        .into_iter()
        .filter(|(_, words)| words.iter().any(|w| w == "worker"))
        .map(|(pid, _)| pid)
        .collect();
    assert!(!workers.is_empty(), "there is no worker");
    workers.into_iter().for_each(kill);
}

fn kill(pid: u32) {
    let pid = Pid::from_raw(pid as i32).unwrap();
    kill_process(pid, Signal::KILL).unwrap();
}

#[track_caller]
fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(start.elapsed() < RUN_TIMEOUT, "{what} does not happen");
        thread::sleep(Duration::from_millis(10));
    }
}

fn gone(pid: u32) -> bool {
    !PathBuf::from(format!("/proc/{pid}")).exists()
}

/// Starts glxgears, which runs until it is ended. Returns when the server has drawn for it.
fn gears(stage: &Stage, flags: &[&str]) -> Running {
    let save = stage.folder();
    let mut command = stage.mgn();
    command
        .arg("run")
        .args(flags)
        .args(["--every", "5", "--save"])
        .arg(&save);
    let running = Running::start(command.args(["--", "glxgears"]));
    until("the first picture", || {
        let files = fs::read_dir(&save).unwrap().count();
        (files > 1).then_some(())
    });
    running
}

/// Checks that exactly one line of the output is from us.
#[track_caller]
fn says_one_line(outcome: &Outcome) {
    let ours = |line: &&str| line.starts_with("mgn") || line.to_lowercase().contains("manganese");
    let lines: Vec<&str> = outcome.stderr.lines().filter(ours).collect();
    assert_eq!(lines.len(), 1, "{}", outcome.describe());
}

#[test]
fn a_killed_worker_ends_its_program() {
    let stage = Stage::new();
    for transport in ["shm", "tcp"] {
        let running = gears(&stage, &["--transport", transport]);
        kill_workers(running.pid());
        let outcome = running.finish(NOTICE_TIMEOUT);
        assert!(
            outcome.status.is_some_and(|s| s != 0),
            "{}",
            outcome.describe()
        );
        says_one_line(&outcome);
    }
}

#[test]
fn a_killed_server_ends_its_programs() {
    let stage = Stage::new();
    let running = gears(&stage, &[]);
    let worker = find(running.pid(), "worker").expect("a worker");
    kill(find(running.pid(), "server").expect("a server"));
    let outcome = running.finish(NOTICE_TIMEOUT);
    assert!(
        outcome.status.is_some_and(|s| s != 0),
        "{}",
        outcome.describe()
    );
    says_one_line(&outcome);
    until("the worker's end", || gone(worker).then_some(()));
}

#[test]
fn a_program_may_go_on_without_its_server() {
    let stage = Stage::new();
    let running = gears(&stage, &["--on-loss", "continue"]);
    kill_workers(running.pid());
    thread::sleep(Duration::from_secs(2));
    let program = find(running.pid(), "glxgears").expect("the program goes on");
    running.signal(Signal::TERM);
    let outcome = running.finish(NOTICE_TIMEOUT);
    assert_eq!(outcome.status, Some(128 + 15), "{}", outcome.describe());
    says_one_line(&outcome);
    assert!(gone(program));
}

/// A program that loses its renderer in the way that `how` names, and the program's log.
fn loser(stage: &Stage, how: &str, flags: &[&str]) -> (Running, PathBuf) {
    let folder = stage.folder();
    let mut command = stage.mgn();
    command
        .env("CONFORM_LOST", how)
        .arg("run")
        .args(flags)
        .arg("--")
        .arg(programs("tests/conformance").join("context_kinds"))
        .args(["--scene", "lost", "--out"])
        .arg(&folder);
    let running = Running::start(&mut command);
    let log = folder.join("context_kinds.txt");
    until("the program", || {
        let text = fs::read_to_string(&log).unwrap_or_default();
        text.contains("waiting").then_some(())
    });
    (running, log)
}

/// The log of a program that asked for notification of resets: it is told of a reset, one error is
/// reported once, no wait blocks, and mapping returns memory.
const TOLD: &str = "status: 8255\na command: 507, then 0\nresult available: 1 1\nsignaled: 9119\nwaited: 911a\nmapped: 1\na new object: 1\n";

#[test]
fn a_program_that_asked_for_it_is_told_of_the_loss() {
    let stage = Stage::new();
    let (running, log) = loser(&stage, "killed", &[]);
    kill_workers(running.pid());
    let outcome = running.finish(NOTICE_TIMEOUT);
    assert_eq!(outcome.status, Some(0), "{}", outcome.describe());
    says_one_line(&outcome);
    let log = fs::read_to_string(log).unwrap();
    assert!(log.ends_with(TOLD), "{log}");
}

#[test]
fn an_endless_shader_costs_its_program_the_context_and_nobody_else_anything() {
    let stage = Stage::new();
    let socket = stage.folder().join("socket");
    let address = format!("unix:{}", socket.display());
    let mut command = stage.mgn();
    command.args(["server", "--watchdog", "1", "--listen", &address]);
    let server = Running::start(&mut command);
    until("the server", || socket.exists().then_some(()));
    let there = ["--server", &address];
    let save = stage.folder();
    let mut command = stage.mgn();
    command
        .args(["run", "--server", &address, "--save"])
        .arg(&save)
        .args(["--", "glxgears"]);
    let bystander = Running::start(&mut command);
    let pictures = || fs::read_dir(&save).unwrap().count();
    until("the bystander's pictures", || {
        (pictures() > 1).then_some(())
    });

    let (robust, robust_log) = loser(&stage, "loops", &there);
    let outcome = robust.finish(NOTICE_TIMEOUT);
    assert_eq!(outcome.status, Some(0), "{}", outcome.describe());
    says_one_line(&outcome);
    assert!(
        outcome
            .stderr
            .contains("a command has run for more than 1 s"),
        "{}",
        outcome.describe()
    );
    let log = fs::read_to_string(robust_log).unwrap();
    assert!(log.ends_with(TOLD), "{log}");

    let (ordinary, ordinary_log) = loser(&stage, "loops, ordinary", &there);
    let outcome = ordinary.finish(NOTICE_TIMEOUT);
    assert_eq!(outcome.status, Some(1), "{}", outcome.describe());
    says_one_line(&outcome);
    let log = fs::read_to_string(ordinary_log).unwrap();
    assert!(log.ends_with("waiting\n"), "{log}");

    // With an ordinary context, the program continues without a notification, and its waits do not
    // block either.
    let flags = ["--server", &address, "--on-loss", "continue"];
    let (blank, blank_log) = loser(&stage, "loops, ordinary", &flags);
    let outcome = blank.finish(RUN_TIMEOUT);
    assert_eq!(outcome.status, Some(0), "{}", outcome.describe());
    says_one_line(&outcome);
    let log = fs::read_to_string(blank_log).unwrap();
    let untold = TOLD
        .replace("status: 8255", "status: 0")
        .replace("507", "0");
    assert!(log.ends_with(&untold), "{log}");

    let before = pictures();
    until("more of the bystander's pictures", || {
        (pictures() > before + 5).then_some(())
    });
    bystander.signal(Signal::TERM);
    bystander.finish(NOTICE_TIMEOUT);
    server.signal(Signal::TERM);
    server.finish(NOTICE_TIMEOUT);
}

#[test]
fn a_program_that_wants_too_much_memory_is_told_and_goes_on() {
    let stage = Stage::new();
    let (socket, folder) = (stage.folder().join("socket"), stage.folder());
    let address = format!("unix:{}", socket.display());
    let mut command = stage.mgn();
    command.args(["server", "--memory-limit", "512", "--listen", &address]);
    let server = Running::start(&mut command);
    until("the server", || socket.exists().then_some(()));
    let mut command = stage.mgn();
    command
        .env("CONFORM_FULL", "1")
        .args(["run", "--server", &address, "--"])
        .arg(programs("tests/conformance").join("context_kinds"))
        .args(["--scene", "full", "--out"])
        .arg(&folder);
    let outcome = Outcome::of(&mut command, RUN_TIMEOUT);
    assert_eq!(outcome.status, Some(0), "{}", outcome.describe());
    let log = fs::read_to_string(folder.join("context_kinds.txt")).unwrap();
    let told = "a buffer: GL_OUT_OF_MEMORY\nsome buffers: 1\na texture: GL_OUT_OF_MEMORY\nall textures: 0\ndeleting: no error\n\
        a texture: GL_OUT_OF_MEMORY\nsome textures: 1\npixel: 0 255 0\n";
    assert!(log.contains(told), "{log}");
    server.signal(Signal::TERM);
    server.finish(NOTICE_TIMEOUT);
}

#[test]
fn a_killed_command_takes_everything_along() {
    let stage = Stage::new();
    let running = gears(&stage, &["--headless"]);
    let family: Vec<u32> = below(running.pid())
        .into_iter()
        .map(|(pid, _)| pid)
        .collect();
    assert!(
        family.len() >= 4,
        "a server, a worker, an X server and the program"
    );
    kill(running.pid());
    for pid in family {
        until("everybody's end", || gone(pid).then_some(()));
    }
}

#[test]
fn a_server_outlives_its_clients_and_forgets_them() {
    let stage = Stage::new();
    let socket = stage.folder().join("socket");
    let address = format!("unix:{}", socket.display());
    let server = Running::start(stage.mgn().args(["server", "--listen", &address]));
    until("the server", || socket.exists().then_some(()));
    let run = |frames: &str| {
        let mut command = stage.mgn();
        command.args([
            "run", "--server", &address, "--frames", frames, "--", "glxgears",
        ]);
        Running::start(&mut command)
    };
    let workers = || {
        below(server.pid())
            .iter()
            .filter(|(_, w)| w.contains(&"worker".into()))
            .count()
    };
    // One program is killed while the others draw.
    let draw = || {
        let victim = gears(&stage, &["--server", &address]);
        let others: Vec<Running> = (0..4).map(|_| run("60")).collect();
        kill(find(victim.pid(), "glxgears").expect("the program"));
        for other in others {
            let outcome = other.finish(RUN_TIMEOUT);
            assert_eq!(outcome.status, Some(0), "{}", outcome.describe());
        }
        drop(victim);
        // The remaining worker is for the next session. It is started shortly after a session has
        // begun.
        until("a worker without a session and nothing else", || {
            (workers() == 1 && below(server.pid()).len() == 1).then_some(())
        });
        anonymous(server.pid())
    };
    // The allocator keeps memory for the largest number of threads that ran at once, which varies
    // by chance. Memory that sessions leave behind would grow each time.
    let mut kept = vec![draw()];
    loop {
        let before = kept[kept.len() - 1];
        kept.push(draw());
        if kept[kept.len() - 1] <= before + 256 {
            break;
        }
        assert!(
            kept.len() < 6,
            "the server keeps more and more KiB: {kept:?}"
        );
    }
    server.signal(Signal::TERM);
    let outcome = server.finish(NOTICE_TIMEOUT);
    assert!(outcome.status.is_some(), "{}", outcome.describe());
    assert!(!socket.exists(), "its socket is removed");
}

/// The private memory of a process in KiB. Pages of libraries are not included, because the part of
/// them that counts as private depends on which other processes use the library.
fn anonymous(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap();
    let line = status.lines().find_map(|l| l.strip_prefix("Anonymous:"));
    let number = line.and_then(|l| l.split_whitespace().next()?.parse().ok());
    number.expect("a line about anonymous memory")
}

#[test]
fn servers_say_why_they_cannot_listen() {
    let stage = Stage::new();
    let token = stage.folder().join("token");
    let made = Outcome::of(stage.mgn().args(["token", "new"]).arg(&token), RUN_TIMEOUT);
    assert_eq!(made.status, Some(0), "{}", made.describe());
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("tcp:{}", taken.local_addr().unwrap());
    // A configuration folder without the store in which `mgn token new` has put the token.
    let settings = stage.folder();
    let serve = |arguments: &[&str]| {
        let mut command = stage.mgn();
        command
            .arg("server")
            .args(arguments)
            .env("XDG_CONFIG_HOME", &settings)
            .env_remove("MGN_TOKEN_FILE");
        Outcome::of(&mut command, NOTICE_TIMEOUT)
    };
    let token = token.to_str().unwrap();
    for (arguments, word) in [
        (&["--listen", &address, "--token-file", token][..], "in use"),
        (&["--listen", "tcp:127.0.0.1:0"], "token"),
        (
            &["--listen", "unix:/no/such/folder/socket"],
            "/no/such/folder/socket",
        ),
        (
            &["--listen", "unix:@x", "--token-file", "/no/such/token"],
            "/no/such/token",
        ),
    ] {
        let outcome = serve(arguments);
        assert_eq!(
            outcome.status,
            Some(1),
            "{arguments:?}: {}",
            outcome.describe()
        );
        assert!(outcome.stderr.contains(word), "{}", outcome.describe());
        assert_eq!(outcome.stderr.lines().count(), 1, "{}", outcome.describe());
    }
}

#[test]
fn a_server_that_is_not_there_is_one_line() {
    let stage = Stage::new();
    let folder = stage.folder();
    let address = format!("unix:{}", folder.join("nobody").display());
    let mut command: Command = stage.mgn();
    command.args(["run", "--server", &address, "--", "glxgears"]);
    let outcome = Outcome::of(&mut command, RUN_TIMEOUT);
    assert!(
        outcome.status.is_some_and(|s| s != 0),
        "{}",
        outcome.describe()
    );
    assert!(outcome.stderr.contains("nobody"), "{}", outcome.describe());
}

#[test]
fn nobody_has_to_read_standard_error() {
    let stage = Stage::new();
    for (words, status) in [("-- true", 0), ("-- false", 1), ("-np 2 -- false", 1)] {
        let (ours, theirs) = UnixStream::pair().unwrap();
        drop(ours);
        let mut command = stage.mgn();
        command.arg("run").args(words.split(' '));
        let ended = command.stderr(OwnedFd::from(theirs)).status().unwrap();
        assert_eq!(ended.code(), Some(status), "{words}");
    }
}
