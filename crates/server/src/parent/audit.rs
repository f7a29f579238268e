//! The audit log: a line when a session begins, a line when it ends, and lines about clients that
//! are refused.
//!
//! The lines are events of `tracing` with the target [`TARGET`]. Fields that contain a client's own
//! claims have names that begin with `claimed_`. The number of lines about refused clients is
//! limited, because being refused costs a client nothing.

use super::identity::{Claim, Peer};
use super::process::WorkerExit;
use crate::control::{Cause, Limit};
use mgn_fabric::admission::Refusals;
use mgn_wire::Blame;
use std::fmt;
use std::time::{Duration, Instant};

/// The target of all events here, and of the events of `mgn_fabric` about connections that it
/// closes.
const TARGET: &str = "audit";

/// Emits an event whose level is known only at run time.
macro_rules! event {
    ($level:expr, $($what:tt)+) => {
        match $level {
            Level::Info => tracing::info!(target: TARGET, $($what)+),
            Level::Warn => tracing::warn!(target: TARGET, $($what)+),
            Level::Error => tracing::error!(target: TARGET, $($what)+),
        }
    };
}

/// Emits an event about a session, with its client.
macro_rules! session_event {
    ($subject:expr, $level:expr, $event:literal, $($what:tt)+) => {
        event!(
            $level,
            event = $event,
            session = $subject.session,
            user = $subject.peer.user.as_deref(),
            uid = $subject.peer.uid(),
            address = $subject.peer.address.map(tracing::field::display),
            token = $subject.peer.token(),
            claimed_program = $subject.claim.program.as_str(),
            claimed_pid = $subject.claim.pid,
            tile = $subject.claim.tile,
            $($what)+
        )
    };
}

enum Level {
    Info,
    Warn,
    Error,
}

/// Why a session has ended.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Reason {
    ClientLeft,
    /// The worker has said why.
    Told(Cause),
    /// The client's token has been revoked, for this reason.
    Revoked(String),
    /// The server has killed the worker, because it sent an invalid message or did not read its
    /// messages.
    Killed(String),
    Crashed(WorkerExit),
    ServerStop,
}

impl Reason {
    /// A word for programs.
    fn code(&self) -> &'static str {
        match self {
            Reason::ClientLeft => "client-left",
            Reason::Told(cause) => match (cause.limit, cause.end.blame) {
                (Some(Limit::Watchdog), _) => "watchdog",
                (Some(Limit::Idle), _) => "idle",
                (Some(Limit::Memory), _) => "memory-limit",
                (Some(Limit::MemoryTotal), _) => "memory-total",
                (None, Blame::Nobody) => "server-stop",
                (None, Blame::Client) => "client-misbehaved",
                (None, Blame::Driver) => "driver-failed",
                (None, Blame::Server) => "server-failed",
                (None, Blame::Network) => "connection-failed",
                (None, Blame::Limits) => "limit",
                (None, Blame::Peers) => "window",
            },
            Reason::Revoked(_) => "token-revoked",
            Reason::Killed(_) => "worker-killed",
            Reason::Crashed(WorkerExit::Signal(_)) => "worker-crashed",
            Reason::Crashed(_) => "worker-failed",
            Reason::ServerStop => "server-stop",
        }
    }

    fn level(&self) -> Level {
        match self {
            Reason::ClientLeft | Reason::ServerStop => Level::Info,
            Reason::Told(cause) => match cause.end.blame {
                Blame::Nobody => Level::Info,
                Blame::Limits | Blame::Peers => Level::Warn,
                _ => Level::Error,
            },
            Reason::Revoked(_) => Level::Warn,
            Reason::Killed(_) | Reason::Crashed(_) => Level::Error,
        }
    }

    /// The signal that ended the worker, if one did.
    fn signal(&self) -> Option<i32> {
        match self {
            Reason::Crashed(WorkerExit::Signal(signal)) => Some(*signal),
            _ => None,
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::ClientLeft => f.write_str("the client has left"),
            Reason::Told(cause) => cause.end.fmt(f),
            Reason::Revoked(why) => f.write_str(why),
            Reason::Killed(why) => write!(f, "its worker {why}"),
            Reason::Crashed(ending) => write!(f, "its worker {ending}"),
            Reason::ServerStop => f.write_str("the server is shutting down"),
        }
    }
}

/// Why a client is refused. The client gets the text of the error.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub(super) enum Refusal {
    #[error("this is a render server, and it does not understand this client. If you meant the render server, use the same release on both ends")]
    NotUnderstood,
    #[error("client and server were not built from the same table of commands; use the same release on both ends")]
    OtherRelease,
    #[error("{0}")]
    NotPermitted(String),
    #[error("{0}")]
    Revoked(String),
    #[error("the server already has {0} sessions, its maximum")]
    Sessions(usize),
    #[error("this client already has {0} sessions, the maximum for one client (--max-sessions-per-client of the server)")]
    SessionsOfClient(usize),
    #[error("clients with this token already have {0} sessions, the maximum for one token (--max-sessions-per-token of the server)")]
    SessionsOfToken(usize),
    #[error("the server has no memory left for another session: its sessions use or reserve {} of {} MiB (--memory-total of the server)", used >> 20, total >> 20)]
    Memory { used: u64, total: u64 },
    #[error("there is no such session")]
    NoSession,
    /// The client gets the same message as for `NoSession`.
    #[error("there is no such session")]
    WrongKey,
    #[error("the window already has its {0} programs (--window-clients)")]
    WindowFull(u32),
    #[error("this program gives --window-clients {said}, and the others {others}")]
    WindowOther { said: String, others: String },
    #[error("{0}")]
    NoRenderer(String),
    #[error("the server is shutting down")]
    ServerStop,
}

impl Refusal {
    /// A word for programs.
    fn code(&self) -> &'static str {
        match self {
            Refusal::NotUnderstood => "not-understood",
            Refusal::OtherRelease => "other-release",
            Refusal::NotPermitted(_) => "not-permitted",
            Refusal::Revoked(_) => "token-revoked",
            Refusal::Sessions(_) => "max-sessions",
            Refusal::SessionsOfClient(_) => "max-sessions-per-client",
            Refusal::SessionsOfToken(_) => "max-sessions-per-token",
            Refusal::Memory { .. } => "memory-total",
            Refusal::NoSession => "no-such-session",
            Refusal::WrongKey => "wrong-key",
            Refusal::WindowFull(_) => "window-full",
            Refusal::WindowOther { .. } => "window-other",
            Refusal::NoRenderer(_) => "no-renderer",
            Refusal::ServerStop => "server-stop",
        }
    }
}

/// A session in the log.
#[derive(Debug)]
pub(super) struct Subject {
    pub session: u64,
    pub peer: Peer,
    pub claim: Claim,
    pub began: Instant,
}

impl Subject {
    pub fn log_begin(&self) {
        let session = self.session;
        session_event!(
            self,
            Level::Info,
            "session-begin",
            "session {session} begins"
        );
    }

    /// `drawn` is the number of frames, and of bytes of commands.
    pub fn log_end(&self, reason: &Reason, drawn: (u64, u64), now: Instant) {
        session_event!(
            self,
            reason.level(),
            "session-end",
            seconds = seconds(now - self.began),
            bytes = drawn.1,
            frames = drawn.0,
            reason = reason.code(),
            signal = reason.signal(),
            "session {} has ended: {reason}",
            self.session
        );
    }
}

fn seconds(time: Duration) -> f64 {
    time.as_millis() as f64 / 1000.0
}

/// Lines about refused clients.
#[derive(Debug)]
pub(super) struct RefusalLog(Refusals);

impl Default for RefusalLog {
    fn default() -> RefusalLog {
        RefusalLog(Refusals::of("clients that were refused"))
    }
}

impl RefusalLog {
    /// Logs the first refusal in a while, and counts the others.
    pub fn note(&mut self, peer: &Peer, claim: Option<&Claim>, why: &Refusal, now: Instant) {
        if !self.0.note(peer.source(), why.code(), now) {
            return;
        }
        tracing::warn!(
            target: TARGET,
            event = "refused",
            user = peer.user.as_deref(),
            uid = peer.uid(),
            address = peer.address.map(tracing::field::display),
            token = peer.token(),
            claimed_program = claim.map(|claim| claim.program.as_str()),
            claimed_pid = claim.map(|claim| claim.pid),
            tile = claim.and_then(|claim| claim.tile),
            reason = why.code(),
            "{peer} was turned away: {why}"
        );
    }

    /// Logs the number of refusals that were only counted, when this is due.
    pub fn report(&mut self, now: Instant) {
        if let Some(report) = self.0.report(now) {
            tracing::warn!(target: TARGET, event = "refusals", "{report}");
        }
    }
}
