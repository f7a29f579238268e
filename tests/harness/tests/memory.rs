//! What a program's process needs does not grow with the length of what it draws.

use std::time::Duration;

use mgn_tests::{programs, Outcome, Stage};

const LIMIT: Duration = Duration::from_secs(60);
/// All of the process, the client library and the memory that it shares with the server included.
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
        let outcome = Outcome::of(&mut command, LIMIT);
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
