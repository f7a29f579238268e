//! The memory of a program's process grows neither with the number of its draws nor with the number
//! of objects that it has created.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;
use std::time::Duration;

use mgn_tests::{programs, Outcome, Stage};

const RUN_TIMEOUT: Duration = Duration::from_secs(60);
/// The limit for the whole process, including the client library and the memory that it shares with
/// the server.
const MOST_KB: u64 = 100 * 1024;

#[test]
fn long_runs_and_many_uploads_take_little_memory() {
    let stage = Stage::new();
    for transport in ["shm", "tcp"] {
        let mut command = stage.mgn();
        command
            .args(["run", "--transport", transport, "--"])
            .arg(programs("tests/conformance").join("memory"))
            .arg("--out")
            .arg(stage.folder());
        let outcome = Outcome::of(&mut command, RUN_TIMEOUT);
        assert_eq!(outcome.status, Some(0), "{}", outcome.describe());
        let peaks: Vec<u64> = outcome
            .stderr
            .lines()
            .filter_map(|line| {
                line.split_once(" kB at most")?
                    .0
                    .rsplit(' ')
                    .next()?
                    .parse()
                    .ok()
            })
            .collect();
        assert_eq!(peaks.len(), 4, "{}", outcome.describe());
        assert!(
            peaks.iter().all(|peak| *peak < MOST_KB),
            "over {transport}: {}",
            outcome.describe()
        );
    }
}

/// The numbers of objects, contexts and windows that are created and deleted.
const OPERATIONS: [(&str, u32); 2] = [("shm", 1_000_000), ("tcp", 200_000)];
/// The maximum growth of either side after the first tenth of the operations. Half of it is Xlib's:
/// a program that renders directly grows by that much. The rest is for allocators, which keep more
/// memory when a busy machine runs threads in another order. A loss of ten bytes in each of a
/// million operations would exceed the limit.
const GROWTH_KB: u64 = 8 * 1024;

#[test]
fn a_million_creations_and_deletions_leave_both_sides_as_large_as_they_were() {
    let stage = Stage::new();
    for (transport, operations) in OPERATIONS {
        let mut run = stage
            .mgn()
            .args(["run", "--transport", transport, "--"])
            .arg(programs("tests/conformance").join("churn"))
            .arg("--out")
            .arg(stage.folder())
            .env("CHURN", operations.to_string())
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("mgn runs");
        let mut go_on = run.stdin.take().expect("a pipe");
        let said = BufReader::new(run.stderr.take().expect("a pipe"));
        let mut sizes = Vec::new();
        for line in said.lines().map_while(Result::ok) {
            let client = line
                .strip_prefix("churned ")
                .and_then(|rest| rest.split(' ').next()?.parse().ok());
            let client: u64 = client.unwrap_or_else(|| panic!("over {transport}: {line}"));
            sizes.push((client, worker_size(run.id())));
            go_on.write_all(b"\n").expect("the program listens");
        }
        assert!(run.wait().expect("it ends").success(), "over {transport}");
        let &[(client, worker), (client_after, worker_after)] = &sizes[..] else {
            panic!("over {transport}: {sizes:?}");
        };
        assert!(
            client_after < client + GROWTH_KB && worker_after < worker + GROWTH_KB,
            "over {transport}: {sizes:?} kB"
        );
    }
}

/// The size in kB of the worker that renders for a run. It is the largest of the server's
/// processes.
fn worker_size(run: u32) -> u64 {
    let children = |parents: &[u32]| -> Vec<u32> {
        let parent = |pid: u32| status(pid, "PPid:").and_then(|p| u32::try_from(p).ok());
        fs::read_dir("/proc")
            .expect("/proc")
            .flatten()
            .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
            .filter(|pid| parent(*pid).is_some_and(|p| parents.contains(&p)))
            .collect()
    };
    let is_server = |pid: &u32| {
        fs::read(format!("/proc/{pid}/cmdline"))
            .is_ok_and(|line| line.split(|b| *b == 0).any(|word| word == b"server"))
    };
    let mut servers = children(&[run]);
    servers.retain(is_server);
    let workers = children(&servers);
    let sizes = workers.into_iter().filter_map(|pid| status(pid, "VmRSS:"));
    sizes.max().expect("a worker")
}

/// The number after `name` in the status of a process.
fn status(pid: u32, name: &str) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}
