//! What a server is to do.

use crate::probe::Abilities;
use mgn_fabric::{Access, Address, Token};
use mgn_spu::Chain;
use mgn_wall::Target;
use std::ffi::OsString;
use std::os::fd::BorrowedFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

#[derive(Debug, Clone)]
pub struct Options {
    pub listen: Vec<Address>,
    /// Who is admitted by TCP, in the role client.
    pub access: Access,
    /// What the server proves to viewers that `present` names.
    pub token: Option<Token>,
    /// What commands pass on their way to the renderer.
    pub chain: Chain,
    /// Where programs that come by network may have tiles shown; those of the server's own user may anywhere.
    pub present: Vec<Target>,
    pub max_sessions: usize,
    /// Bytes of memory that a session's worker may use beyond what it shares.
    pub memory_limit: u64,
    /// How long a command may run.
    pub watchdog: Duration,
    /// Confine workers to what rendering needs, as far as this system can.
    pub sandbox: bool,
    /// End when standard input does, which is how a starter that dies takes its server with it.
    pub end_with_stdin: bool,
    /// End when the last client has gone, once there has been one.
    pub once: bool,
    /// Print `listening on ADDRESS` for each address when clients can come.
    pub announce: bool,
    /// Who is told what the server does.
    pub follower: Option<Arc<dyn Follower>>,
    pub worker: WorkerCommand,
}

/// Somebody who follows what a server does, and may end it.
pub trait Follower: std::fmt::Debug + Send + Sync {
    /// Clients can come, and are offered this.
    fn listening(&self, abilities: &Abilities, addresses: &[Address]);
    /// The sessions under way, whether or not there is news of them.
    fn sessions(&self, sessions: Vec<SessionReport>);
    /// Becomes readable when the server is to end.
    fn end(&self) -> Option<BorrowedFd<'_>>;
}

/// A session, and what it has done since it began.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionReport {
    pub id: u64,
    /// The program and its process, for people.
    pub program: String,
    pub frames: u64,
    /// Of commands.
    pub bytes: u64,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            listen: Vec::new(),
            access: Access::default(),
            token: None,
            chain: Chain::default(),
            present: Vec::new(),
            max_sessions: 64,
            memory_limit: 8 << 30,
            watchdog: Duration::from_secs(30),
            sandbox: true,
            end_with_stdin: false,
            once: false,
            announce: true,
            follower: None,
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
