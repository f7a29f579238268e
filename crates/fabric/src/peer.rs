//! The socket of a connection, and the detection of the peer's end.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use mgn_sys::{fork, passing, peer, tcp};
use rustix::event::{PollFd, PollFlags};
use rustix::io::Errno;
use socket2::{SockAddr, SockRef, TcpKeepalive};

use crate::byte_stream::ByteStream;
use crate::seal::BROKEN;
use crate::wait::{poll, Deadline};
use crate::Error;

/// A TCP peer whose machine has not answered for this long counts as dead.
pub(crate) const SILENCE_TIME: Duration = Duration::from_secs(10);

/// The interval at which a thread that waits for a TCP peer checks whether its machine answers.
const SILENCE_CHECK_INTERVAL: Duration = Duration::from_millis(500);

#[derive(Debug)]
pub(crate) struct Peer {
    line: ByteStream,
    /// The pidfd of the process at the other end of a unix socket. It is needed because the
    /// process's children may hold the socket open after its death.
    pidfd: Option<OwnedFd>,
    name: String,
    /// Set for TCP, whose other end may vanish without closing the connection.
    silence: Option<Mutex<Silence>>,
    is_on_this_host: bool,
    /// The generation of processes that made the connection. A forked child has the socket, too,
    /// but must not act for its parent.
    owner: u32,
}

/// The congestion control between two ends on one host. No packets are lost on one host, so paced
/// sending (as in bbr) would only delay messages.
const UNPACED: &[u8] = b"cubic";

fn is_within_host(socket: &SockRef<'_>) -> bool {
    let ip = |address: std::io::Result<SockAddr>| Some(address.ok()?.as_socket()?.ip());
    let here = ip(socket.local_addr());
    here.is_some() && here == ip(socket.peer_addr())
}

impl Peer {
    /// A peer over a unix socket. Set `watch` if the process at the other end is the process that
    /// connected or listened. If another process has inherited the socket, the kernel would report
    /// the ID of the wrong process.
    pub(crate) fn unix(socket: OwnedFd, name: String, watch: bool) -> Peer {
        let pidfd = peer::pidfd(&socket).filter(|_| watch);
        Peer {
            pidfd,
            ..Peer::new(ByteStream::clear(socket), name)
        }
    }

    /// A peer over TCP. Its machine counts as dead if it has not answered for `silence`. The kernel
    /// chooses the sizes of the buffers, and adapts them to the path.
    pub(crate) fn tcp(line: ByteStream, name: String, silence: Duration) -> Peer {
        // The kernel counts whole seconds. It probes an idle machine after half of the time, and
        // about four times in the other half.
        let seconds = (silence.as_secs() as u32).max(2);
        let (quiet, rest) = (seconds / 2, seconds - seconds / 2);
        let interval = (rest / 4).max(1);
        let keepalive = TcpKeepalive::new()
            .with_time(Duration::from_secs(quiet.into()))
            .with_interval(Duration::from_secs(interval.into()))
            .with_retries((rest / interval).min(100));
        let options = SockRef::from(&line);
        if let Err(error) = options
            .set_tcp_keepalive(&keepalive)
            .and(options.set_tcp_nodelay(true))
        {
            tracing::debug!("cannot set TCP options: {error}");
        }
        let is_on_this_host = is_within_host(&options);
        if is_on_this_host {
            if let Err(error) = options.set_tcp_congestion(UNPACED) {
                tracing::debug!("cannot set the TCP congestion control: {error}");
            }
        }
        Peer {
            silence: Some(Mutex::new(Silence::new(silence))),
            is_on_this_host,
            ..Peer::new(line, name)
        }
    }

    fn new(line: ByteStream, name: String) -> Peer {
        Peer {
            line,
            pidfd: None,
            name,
            silence: None,
            is_on_this_host: true,
            owner: fork::generation(),
        }
    }

    /// Whether the peer's process runs on this host, and so shares its processors.
    pub(crate) fn is_on_this_host(&self) -> bool {
        self.is_on_this_host
    }

    pub(crate) fn socket(&self) -> BorrowedFd<'_> {
        self.line.as_fd()
    }

    /// The line that carries the connection's bytes.
    pub(crate) fn line(&self) -> &ByteStream {
        &self.line
    }

    /// Rings the doorbell: sends a byte to wake a thread that waits at the socket's other end. If
    /// the socket is full, the thread wakes without another byte.
    pub(crate) fn ring(&self) {
        let _ = passing::send(&self.line, &[0], &[], false);
    }

    /// Reads the doorbell bytes that have arrived.
    pub(crate) fn drain_doorbell(&self) {
        let mut bytes = [0; 64];
        while matches!(
            passing::recv(&self.line, &mut bytes, &mut Vec::new(), false),
            Ok(64)
        ) {}
    }

    /// The descriptors to poll for the peer: its socket, and the pidfd, if there is one.
    pub(crate) fn fds(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        std::iter::once(self.line.as_fd()).chain(self.pidfd.as_ref().map(AsFd::as_fd))
    }

    /// Whether the peer has closed or died, as far as this is known without waiting.
    pub(crate) fn gone(&self) -> bool {
        let is_gone = match &self.pidfd {
            Some(pidfd) => peer::hung_up_or_ended(&self.line, pidfd),
            None => peer::hung_up(&self.line),
        };
        is_gone || self.silent()
    }

    /// Whether this end notices that the peer's process ends, even if other processes hold its
    /// socket.
    pub(crate) fn is_watched(&self) -> bool {
        self.pidfd.is_some()
    }

    /// Whether the peer's process has ended. Its last bytes may still be unread.
    pub(crate) fn ended(&self) -> bool {
        self.pidfd.as_ref().is_some_and(peer::ended)
    }

    /// Whether a TCP peer's machine has stopped answering although we have sent it data.
    pub(crate) fn silent(&self) -> bool {
        let Some(watch) = &self.silence else {
            return false;
        };
        let mut watch = watch.lock().unwrap_or_else(PoisonError::into_inner);
        // The kernel probes an idle machine; see [`Peer::tcp`].
        if !self.line.is_awaiting.swap(false, Ordering::Relaxed) {
            return false;
        }
        let Ok(progress) = tcp::progress(&self.line) else {
            return false;
        };
        if !progress.is_done() {
            self.line.is_awaiting.store(true, Ordering::Relaxed);
        }
        watch.look(&progress, Instant::now())
    }

    /// Waits until the socket is ready or the deadline has passed. Returns false if the peer is
    /// gone.
    pub(crate) fn wait(&self, wanted: PollFlags, deadline: Option<&Deadline>) -> io::Result<bool> {
        loop {
            // The pidfd reports a dead process at once. A silent machine has to be found by checks.
            let slice = SILENCE_CHECK_INTERVAL * if self.silence.is_some() { 1 } else { 10 };
            let slice = deadline.map_or(slice, |deadline| deadline.left(slice));
            let mut fds = vec![PollFd::new(&self.line, wanted)];
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

    /// Ends the connection at once, even if other processes here hold the socket.
    pub(crate) fn hang_up(&self) {
        if self.ours() {
            let _ = rustix::net::shutdown(&self.line, rustix::net::Shutdown::Both);
        }
    }

    /// The error for a failed system call on the socket.
    pub(crate) fn failed(&self, doing: &str, source: io::Error) -> Error {
        if means_gone(&source) {
            return self.closed();
        }
        match Errno::from_io_error(&source) {
            Some(Errno::BADMSG) => Error::PeerMisbehaved(BROKEN),
            _ => Error::Io {
                doing: format!("{doing} on the connection to {}", self.name),
                source,
            },
        }
    }

    /// Whether this process may act for the connection. A forked child may not.
    pub(crate) fn ours(&self) -> bool {
        self.owner == fork::generation()
    }

    pub(crate) fn closed(&self) -> Error {
        Error::Closed(self.name.clone())
    }
}

/// Whether an error means only that the other end is gone.
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

/// Tells a dead machine from a machine whose program does not read, by checks at intervals.
///
/// TCP_USER_TIMEOUT would do this in the kernel, but it also ends a connection to a peer with a
/// closed window. Such a peer is only stopped or busy, and its machine still answers probes. The
/// answers may be minutes apart, because the kernel probes less and less often. So this type
/// measures how long sent data has been waiting for an answer, and not the age of the last answer.
#[derive(Debug)]
struct Silence {
    limit: Duration,
    /// The time at which unanswered data was first seen.
    since: Option<Instant>,
}

impl Silence {
    fn new(limit: Duration) -> Silence {
        Silence { limit, since: None }
    }

    /// Whether the machine is dead.
    fn look(&mut self, progress: &tcp::Progress, now: Instant) -> bool {
        if !progress.unanswered() {
            self.since = None;
            return false;
        }
        let waiting = now - *self.since.get_or_insert(now);
        if progress.last_answer < waiting {
            // The machine has answered since `self.since`, so this wait began after the last check.
            self.since = Some(now);
            return false;
        }
        waiting >= self.limit
    }
}

#[cfg(test)]
mod tests {
    use std::io::{IoSlice, Read};
    use std::net::{TcpListener, TcpStream};

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_machine_is_asked_as_long_as_something_waits_for_it() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut far, _) = listener.accept().unwrap();
        let peer = Peer::tcp(ByteStream::clear(near.into()), "it".into(), SILENCE_TIME);
        let is_asked = || {
            assert!(!peer.silent());
            peer.line.is_awaiting.load(Ordering::Relaxed)
        };
        while is_asked() {}
        // Send more than the sockets hold, until nothing is unacknowledged and some data is still
        // unsent.
        let mut sent = 0;
        let is_done = || tcp::progress(&peer.line).unwrap().unacknowledged == 0;
        while sent == 0 || !is_done() {
            sent += peer.line.send(&[IoSlice::new(&[7; 1 << 20])]).unwrap_or(0);
        }
        assert!(is_asked());
        far.read_exact(&mut vec![0; sent]).unwrap();
        while is_asked() {}
    }

    #[test]
    fn nothing_is_paced_within_a_host() {
        let allowed = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_allowed_congestion_control");
        if !allowed.is_ok_and(|names| names.contains("cubic")) {
            return;
        }
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        SockRef::from(&near).set_tcp_congestion(b"reno").unwrap();
        let peer = Peer::tcp(ByteStream::clear(near.into()), "it".into(), SILENCE_TIME);
        let control = SockRef::from(&peer.line).tcp_congestion().unwrap();
        assert!(control.starts_with(UNPACED), "{control:?}");
    }

    fn progress(last_answer: u32, last_sent: u32, probes: u32) -> tcp::Progress {
        let (last_answer, last_sent) = (last_answer * SECOND, last_sent * SECOND);
        tcp::Progress {
            last_answer,
            last_sent,
            unacknowledged: 1,
            unsent: 0,
            probes,
        }
    }

    #[test]
    fn a_machine_that_answers_nothing_is_dead() {
        let (mut silence, start) = (Silence::new(10 * SECOND), Instant::now());
        // The connection was idle for an hour before.
        for second in 0..10 {
            assert!(!silence.look(&progress(3600 + second, 0, 0), start + second * SECOND));
        }
        assert!(silence.look(&progress(3610, 3, 0), start + 10 * SECOND));
        let mut silence = Silence::new(10 * SECOND);
        assert!(!silence.look(&progress(100, 200, 1), start));
        assert!(silence.look(&progress(110, 210, 1), start + 10 * SECOND));
    }

    #[test]
    fn one_that_answers_seldom_is_not() {
        let (mut silence, start) = (Silence::new(10 * SECOND), Instant::now());
        for round in 0..50 {
            let now = start + round * 60 * SECOND;
            // At each check a probe is in flight, and the previous one was answered.
            assert!(!silence.look(&progress(59, 0, 1), now));
            // In between, nothing is in flight.
            if round % 2 == 0 {
                assert!(!silence.look(&progress(20, 21, 0), now + 20 * SECOND));
            }
        }
    }
}
