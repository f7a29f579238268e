//! The socket under a connection, and whether somebody is still at its other end.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use mgn_sys::{peer, tcp};
use rustix::event::{PollFd, PollFlags};

use crate::wait::{poll, Deadline};
use crate::Error;

/// A TCP peer that has answered nothing for this long is dead.
pub(crate) const SILENCE: Duration = Duration::from_secs(10);

/// How often a thread that waits for a TCP peer asks whether its machine answers.
const LOOK: Duration = Duration::from_millis(500);

#[derive(Debug)]
pub(crate) struct Peer {
    socket: OwnedFd,
    /// Of the process at the other end of a unix socket: its children may hold the socket open
    /// after its death.
    pidfd: Option<OwnedFd>,
    name: String,
    tcp: bool,
    silence: Duration,
    suspect: AtomicBool,
    /// Who made the connection. A forked child has the socket too, but must not speak for its
    /// parent.
    owner: u32,
}

impl Peer {
    /// `watch` is set where the process at the other end is the one that connected; a server's
    /// worker has inherited its socket, so there the pid would be another's.
    pub(crate) fn new(socket: OwnedFd, tcp: bool, name: String, watch: bool) -> Peer {
        let pidfd = if watch && !tcp {
            peer::pidfd(&socket)
        } else {
            None
        };
        Peer {
            socket,
            pidfd,
            name,
            tcp,
            silence: SILENCE,
            suspect: AtomicBool::new(false),
            owner: std::process::id(),
        }
    }

    pub(crate) fn with_silence(mut self, silence: Duration) -> Peer {
        self.silence = silence;
        self
    }

    pub(crate) fn socket(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Whether the peer has closed or died, as far as can be told without waiting.
    pub(crate) fn gone(&self) -> bool {
        self.ended() || peer::hung_up(&self.socket) || self.silent()
    }

    /// Whether the peer can no longer read or write, though bytes of it may still lie here.
    pub(crate) fn ended(&self) -> bool {
        self.pidfd.as_ref().is_some_and(peer::ended)
    }

    /// Whether a TCP peer's machine has stopped answering although we sent it something.
    ///
    /// TCP_USER_TIMEOUT would do this in the kernel, but it also takes a peer that merely does not
    /// read (stopped, or busy) for dead: that one still answers the probes of its closed window.
    /// A probe may be under way while we look, so silence counts only when seen twice.
    pub(crate) fn silent(&self) -> bool {
        if !self.tcp {
            return false;
        }
        let silent = tcp::progress(&self.socket).is_ok_and(|now| now.unanswered(self.silence));
        let before = self.suspect.swap(silent, Ordering::Relaxed);
        silent && before
    }

    /// Waits until the socket is ready, or the deadline has passed; false when the peer is gone.
    pub(crate) fn wait(&self, wanted: PollFlags, deadline: Option<&Deadline>) -> io::Result<bool> {
        loop {
            // A dead process shows at once by its pidfd, a silent machine only when asked for.
            let slice = if self.tcp { LOOK } else { LOOK * 10 };
            let slice = deadline.map_or(slice, |deadline| deadline.left(slice));
            let mut fds = vec![PollFd::new(&self.socket, wanted)];
            fds.extend(
                self.pidfd
                    .as_ref()
                    .map(|pidfd| PollFd::new(pidfd, PollFlags::IN)),
            );
            match poll(&mut fds, slice)? {
                0 if self.silent() => return Ok(false),
                0 if deadline.is_some_and(Deadline::passed) => return Ok(true),
                0 => {}
                _ if !fds[0].revents().is_empty() => return Ok(true),
                _ => return Ok(false),
            }
        }
    }

    /// What a failed system call on the socket means.
    pub(crate) fn failed(&self, doing: &str, source: io::Error) -> Error {
        match means_gone(&source) {
            true => self.closed(),
            false => Error::Io {
                doing: format!("{doing} on the connection to {}", self.name),
                source,
            },
        }
    }

    /// Whether this process may speak for the connection: a forked child may not.
    pub(crate) fn ours(&self) -> bool {
        self.owner == std::process::id()
    }

    pub(crate) fn closed(&self) -> Error {
        Error::Closed(self.name.clone())
    }
}

/// Errors that mean no more than that the other end is gone.
fn means_gone(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::BrokenPipe
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::TimedOut
            | io::ErrorKind::HostUnreachable
            | io::ErrorKind::NetworkUnreachable
            | io::ErrorKind::NotConnected
    )
}
