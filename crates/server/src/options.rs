//! What a server is to do.

use mgn_fabric::{Address, Token};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, Clone)]
pub struct Options {
    pub listen: Vec<Address>,
    /// Clients must know it; TCP is not served without one.
    pub token: Option<Token>,
    /// Receive and check everything, but draw nothing.
    pub discard: bool,
    pub max_sessions: usize,
    /// Bytes of memory that a session's worker may use beyond what it shares.
    pub memory_limit: u64,
    /// How long a command may run.
    pub watchdog: Duration,
    /// End when standard input does, which is how a starter that dies takes its server with it.
    pub end_with_stdin: bool,
    /// End when the last client has gone, once there has been one.
    pub once: bool,
    /// Print `listening on ADDRESS` for each address when clients can come.
    pub announce: bool,
    pub worker: WorkerCommand,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            listen: Vec::new(),
            token: None,
            discard: false,
            max_sessions: 64,
            memory_limit: 8 << 30,
            watchdog: Duration::from_secs(30),
            end_with_stdin: false,
            once: false,
            announce: true,
            worker: WorkerCommand::default(),
        }
    }
}

/// The program that becomes a worker: it must call [`crate::worker`], and its standard input is the server's.
#[derive(Debug, Clone)]
pub struct WorkerCommand {
    pub program: PathBuf,
    pub arguments: Vec<OsString>,
}

impl Default for WorkerCommand {
    /// This executable with the argument `worker`.
    fn default() -> WorkerCommand {
        WorkerCommand {
            program: "/proc/self/exe".into(),
            arguments: vec!["worker".into()],
        }
    }
}
