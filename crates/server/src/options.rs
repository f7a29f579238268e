//! The settings of a server.

use crate::memory::memory_total;
use crate::probe::Abilities;
use mgn_fabric::{Access, Address, Inherited, Token};
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
    /// Listening sockets that were passed to this process.
    pub inherited: Vec<Inherited>,
    /// The tokens that are admitted over TCP. A client's token must have the role client.
    pub access: Access,
    /// The token by which the server proves itself to viewers that `present` names.
    pub token: Option<Token>,
    /// The stages that commands pass on their way to the renderer.
    pub chain: Chain,
    /// The places where programs from the network may show tiles. Programs of the server's own user
    /// may show tiles anywhere.
    pub present: Vec<Target>,
    pub max_sessions: usize,
    /// The maximum number of sessions of one client: of one user at unix sockets, of one address
    /// (or IPv6 network) over TCP. If it is none, each address gets
    /// [`Options::max_sessions_of_address`], and users of this machine have no limit of their own.
    pub max_sessions_per_client: Option<usize>,
    /// The maximum number of sessions of clients with the same token, wherever they come from.
    pub max_sessions_per_token: Option<usize>,
    /// Bytes of memory that a session may use, including its part of the memory that it shares with
    /// its client.
    pub memory_limit: u64,
    /// Bytes of memory that all sessions may use together.
    pub memory_total: u64,
    /// How long a client may send nothing before its session ends.
    pub idle_timeout: Option<Duration>,
    /// How long a command may run.
    pub watchdog: Duration,
    pub sandbox: Sandbox,
    /// Clients from the network may create shaders from SPIR-V, which the driver does not validate.
    /// Clients of the server's own user always may.
    pub spirv: bool,
    /// End when the standard input ends. So the server ends even if the process that started it
    /// dies.
    pub end_with_stdin: bool,
    /// End when the last client has gone, once there has been one.
    pub once: bool,
    /// Print `listening on ADDRESS` for each address when clients can come.
    pub announce: bool,
    /// The object that is notified of what the server does.
    pub follower: Option<Arc<dyn Follower>>,
    pub worker: WorkerCommand,
}

/// Whether workers are confined to what rendering needs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Sandbox {
    Off,
    /// As far as this system and the driver allow.
    #[default]
    Possible,
    /// The server does not start if a worker's files or system calls cannot be confined.
    Required,
}

/// An observer of a server's work, which may end it.
pub trait Follower: std::fmt::Debug + Send + Sync {
    /// The server accepts clients now. It offers them these abilities.
    fn listening(&self, abilities: &Abilities, addresses: &[Address]);
    /// The current sessions. Called whether or not anything has changed.
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
    /// Bytes of commands.
    pub bytes: u64,
}

/// The least number of sessions that one address of the network may have, if the server has as
/// many. It covers a wall with 16 tiles on this server, a restart of the same program, and others.
const OF_ADDRESS_MIN: usize = 32;

impl Options {
    /// How many sessions one address of the network gets if no option sets the number: a quarter of
    /// all, but at least 32.
    pub fn max_sessions_of_address(max_sessions: usize) -> usize {
        (max_sessions / 4).max(OF_ADDRESS_MIN).min(max_sessions)
    }
}

impl Default for Options {
    fn default() -> Options {
        Options {
            listen: Vec::new(),
            inherited: Vec::new(),
            access: Access::default(),
            token: None,
            chain: Chain::default(),
            present: Vec::new(),
            max_sessions: 64,
            max_sessions_per_client: None,
            max_sessions_per_token: None,
            memory_limit: 8 << 30,
            memory_total: memory_total(),
            idle_timeout: None,
            watchdog: Duration::from_secs(30),
            sandbox: Sandbox::default(),
            spirv: false,
            end_with_stdin: false,
            once: false,
            announce: true,
            follower: None,
            worker: WorkerCommand::default(),
        }
    }
}

/// The program that becomes a worker. It must call [`crate::worker()`]. Its standard input is its
/// connection to the server.
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
