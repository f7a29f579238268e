//! The messages between the parent and a worker. On the socket pair, a message is its length and
//! one of these types in postcard's format. Some messages come with a descriptor.

use crate::probe::Abilities;
use crate::sandbox::{Confined, Profile};
use mgn_fabric::Handover;
use mgn_render::BinaryKey;
use mgn_spu::Chain;
use mgn_sys::passing;
use mgn_viewer::NoViewer;
use mgn_wall::Target;
use mgn_wire::hello::{SharedWindow, Shown};
use mgn_wire::{Blame, End};
use postcard::ser_flavors::Size;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};
use zeroize::{Zeroize, Zeroizing};

/// A message from the parent. `Session`, `Frames` and a successful `Connected` come with a socket.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum ToWorker {
    /// The sandbox that the worker enters before it opens the driver.
    Start(Profile),
    /// The command connection of the session that the worker is to serve, or of another one that
    /// draws into the same window.
    Session(Box<Session>),
    /// A frames connection.
    Frames { session: u64, client: Handover },
    /// The answer to the worker's request for a connection to a viewer: the data that
    /// [`mgn_fabric::take_over`] needs besides the socket, or why there is no connection.
    Connected {
        session: u64,
        target: u16,
        outcome: Result<Handover, NoViewer>,
    },
    /// The session is to end.
    End(Cause),
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Session {
    pub id: u64,
    pub key: [u8; 16],
    /// The name of the program, for people.
    pub program: String,
    /// The window, if the program draws into one together with others.
    pub window: Option<SharedWindow>,
    /// The number of this renderer, if it is one of a wall's.
    pub tile: Option<u32>,
    /// How the session's tile is shown, if this server shows it.
    pub shown: Option<Shown>,
    /// The places where programs on other hosts may show their pictures.
    pub present: Vec<Target>,
    /// The data that `Incoming::from_handoff` needs besides the socket.
    pub client: Handover,
    pub chain: Chain,
    pub memory_limit: u64,
    pub watchdog: Duration,
    /// The key with which this client's program binaries are sealed.
    pub binary_key: BinaryKey,
    /// Whether the client may create shaders from SPIR-V.
    pub spirv: bool,
    /// How long the client may send nothing before the session ends.
    pub idle_timeout: Option<Duration>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum FromWorker {
    /// The driver is open. Reports its abilities, and how the worker is confined.
    Ready(Box<Abilities>, Confined),
    /// The driver cannot be used, for this reason.
    Failed(String),
    /// The worker needs a connection to a viewer. `target` is the viewer's index among the places
    /// where the session's tile is shown.
    Connect { session: u64, target: u16 },
    /// The session's work so far: frames, and bytes of commands.
    Drawn { frames: u64, bytes: u64 },
    /// Why the session ends, or all sessions of a window. Not sent if the client has left.
    Ended(Cause),
    /// A session of a window has ended. `cause` is none if its client has left. `drawn` counts its
    /// frames, and its bytes of commands.
    Left {
        session: u64,
        cause: Option<Cause>,
        drawn: (u64, u64),
    },
}

/// Why a session ends.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Cause {
    /// The message to the client.
    pub end: End,
    /// The limit that was exceeded, if one was.
    pub limit: Option<Limit>,
}

impl Cause {
    /// The session has exceeded a limit.
    pub fn limit(limit: Limit, why: impl Into<String>) -> Cause {
        Cause {
            end: End::new(Blame::Limits, why),
            limit: Some(limit),
        }
    }
}

impl From<End> for Cause {
    fn from(end: End) -> Cause {
        Cause { end, limit: None }
    }
}

/// The limits that end sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Limit {
    /// The time that a command may take.
    Watchdog,
    /// The time in which the client sends nothing.
    Idle,
    /// The memory of one session.
    Memory,
    /// The memory of all sessions.
    MemoryTotal,
}

/// The maximum length of a message. A client's opening is limited to far less.
const CONTROL_MESSAGE_MAX: usize = 1 << 20;
/// The maximum number of bytes that one call receives.
const PART: usize = 16384;
/// The maximum number of messages that a worker has not taken. A worker is sent few: its start, its
/// session, a frames connection, and connections to viewers. A worker that serves a window is sent
/// more, but takes them all the time.
const QUEUE_MOST: usize = 64;
/// How long a worker may leave a message untaken. Its thread for these messages does nothing else.
const WRITE_TIMEOUT: Duration = Duration::from_secs(10);

/// Sends a message, and waits until it has gone.
pub(crate) fn send<T: Serialize>(socket: impl AsFd, message: &T) -> io::Result<()> {
    let bytes = encode(message)?;
    let mut at = 0;
    while at < bytes.len() {
        at += passing::send(&socket, &bytes[at..], &[], true)?;
    }
    Ok(())
}

/// Sends a message to the server. If that fails, the server has ended, and the closed socket shows
/// this elsewhere.
pub(crate) fn notify_server(control: &UnixStream, message: &FromWorker) {
    if let Err(error) = send(control, message) {
        tracing::debug!("the server does not listen: {error}");
    }
}

/// Encodes a message. Messages to workers contain keys, so their bytes are wiped.
pub(crate) fn encode<T: Serialize>(message: &T) -> io::Result<Zeroizing<Vec<u8>>> {
    let length = postcard::serialize_with_flavor(message, Size::default());
    let length = length.map_err(io::Error::other)?;
    let mut bytes = Zeroizing::new(vec![0; 4 + length]);
    let (head, body) = bytes.split_at_mut(4);
    head.copy_from_slice(&(length as u32).to_le_bytes());
    postcard::to_slice(message, body).map_err(io::Error::other)?;
    Ok(bytes)
}

/// Messages to a worker, which are sent as it takes them: the parent serves others meanwhile.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    queue: VecDeque<QueuedMessage>,
    /// When the worker last took something, or something was put into the empty queue.
    moved: Option<Instant>,
}

#[derive(Debug)]
struct QueuedMessage {
    bytes: Zeroizing<Vec<u8>>,
    sent: usize,
    fd: Option<OwnedFd>,
}

impl Outbox {
    /// Puts a message behind those that have not gone.
    ///
    /// # Errors
    /// If too many have not.
    pub fn push<T: Serialize>(
        &mut self,
        message: &T,
        fd: Option<OwnedFd>,
        now: Instant,
    ) -> io::Result<()> {
        if self.queue.len() >= QUEUE_MOST {
            return Err(io::Error::other("too many messages wait for it"));
        }
        if self.queue.is_empty() {
            self.moved = Some(now);
        }
        let bytes = encode(message)?;
        self.queue.push_back(QueuedMessage { bytes, sent: 0, fd });
        Ok(())
    }

    /// Sends what there is room for.
    ///
    /// # Errors
    /// If the other end has closed, or has taken nothing for too long.
    pub fn flush(&mut self, socket: impl AsFd, now: Instant) -> io::Result<()> {
        while let Some(message) = self.queue.front_mut() {
            let fd: Vec<BorrowedFd<'_>> = message.fd.iter().map(|fd| fd.as_fd()).collect();
            match passing::send(&socket, &message.bytes[message.sent..], &fd, false) {
                Ok(sent) => {
                    message.sent += sent;
                    message.fd = None;
                    self.moved = Some(now);
                }
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => break,
                Err(e) => return Err(e),
            }
            if message.sent == message.bytes.len() {
                self.queue.pop_front();
            }
        }
        let waits = self.moved.is_some_and(|moved| now - moved > WRITE_TIMEOUT);
        if waits && !self.is_empty() {
            let seconds = WRITE_TIMEOUT.as_secs();
            let why = format!("it has taken no message for {seconds} s");
            return Err(io::Error::new(io::ErrorKind::TimedOut, why));
        }
        Ok(())
    }

    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }
}

/// Puts messages together from what arrives. Holds no more than one message and what one call
/// received behind it, if all messages are taken after each [`Inbox::fill`].
#[derive(Debug)]
pub(crate) struct Inbox {
    /// Has room for all that it may hold: a vector that grows leaves copies of keys in memory.
    bytes: Zeroizing<Vec<u8>>,
    fds: VecDeque<OwnedFd>,
    most_fds: usize,
}

impl Inbox {
    /// Keeps at most `most_fds` descriptors that have not been taken.
    pub fn new(most_fds: usize) -> Inbox {
        Inbox {
            bytes: Zeroizing::new(Vec::with_capacity(CONTROL_MESSAGE_MAX + 4 + PART)),
            fds: VecDeque::new(),
            most_fds,
        }
    }

    /// Takes what has arrived, waiting for something if `wait` is set. False means that the other
    /// end has closed.
    ///
    /// # Errors
    /// If the other end has sent more than it may, or the socket fails.
    pub fn fill(&mut self, socket: impl AsFd, wait: bool) -> io::Result<bool> {
        if self.bytes.len() > CONTROL_MESSAGE_MAX + 4 {
            return Err(invalid("a message is too long"));
        }
        let mut part = Zeroizing::new([0; PART]);
        let mut fds = Vec::new();
        match passing::recv(socket, &mut part[..], &mut fds, wait) {
            Ok(0) => Ok(false),
            Ok(n) => {
                if self.fds.len() + fds.len() > self.most_fds {
                    return Err(invalid("file descriptors arrived that no message needs"));
                }
                self.bytes.extend_from_slice(&part[..n]);
                self.fds.extend(fds);
                Ok(true)
            }
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => Ok(true),
            Err(e) => Err(e),
        }
    }

    /// Takes bytes that have arrived in another way.
    #[cfg(any(test, feature = "fuzzing"))]
    pub fn arrives(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// The next message that is complete.
    ///
    /// # Errors
    /// If it is none of that type, or longer than that.
    pub fn next<T: DeserializeOwned>(&mut self) -> io::Result<Option<T>> {
        let Some((length, rest)) = self.bytes.split_first_chunk::<4>() else {
            return Ok(None);
        };
        let length = u32::from_le_bytes(*length) as usize;
        if length > CONTROL_MESSAGE_MAX {
            return Err(invalid("a message is too long"));
        }
        if rest.len() < length {
            return Ok(None);
        }
        let (message, rest) = postcard::take_from_bytes(&rest[..length])
            .map_err(|_| invalid("a message is invalid"))?;
        if !rest.is_empty() {
            return Err(invalid("bytes follow a message"));
        }
        let taken = 4 + length;
        let left = self.bytes.len() - taken;
        self.bytes.copy_within(taken.., 0);
        self.bytes[left..].zeroize();
        self.bytes.truncate(left);
        Ok(Some(message))
    }

    /// The descriptor that came with the message just taken.
    pub fn descriptor(&mut self) -> Option<OwnedFd> {
        self.fds.pop_front()
    }
}

fn invalid(why: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixStream;

    #[test]
    fn messages_arrive_whole_and_in_order() {
        let (left, right) = UnixStream::pair().unwrap();
        let (near, far) = UnixStream::pair().unwrap();
        let client = Handover::new(vec![7; 300_000]);
        let frames = ToWorker::Frames {
            session: 1,
            client: client.clone(),
        };
        let now = Instant::now();
        let mut outbox = Outbox::default();
        let start = ToWorker::Start(Profile::default());
        outbox.push(&start, None, now).unwrap();
        outbox.push(&frames, Some(far.into()), now).unwrap();
        let mut inbox = Inbox::new(1);
        let mut next = || loop {
            if let Some(message) = inbox.next().unwrap() {
                break message;
            }
            outbox.flush(&left, now).unwrap();
            assert!(inbox.fill(&right, false).unwrap());
        };
        assert!(matches!(next(), ToWorker::Start(_)));
        assert!(matches!(next(), ToWorker::Frames { client: c, .. } if c == client));
        assert!(outbox.is_empty());
        let passed = inbox.descriptor().unwrap();
        rustix::io::write(&passed, b"!").unwrap();
        drop(passed);
        let mut one = [0];
        assert_eq!(rustix::io::read(&near, &mut one).unwrap(), 1);
        drop(left);
        assert!(!inbox.fill(&right, true).unwrap());
    }

    #[test]
    fn nobody_waits_for_an_end_that_takes_nothing() {
        let (left, _right) = UnixStream::pair().unwrap();
        let now = Instant::now();
        let mut outbox = Outbox::default();
        let frames = ToWorker::Frames {
            session: 1,
            client: vec![0; CONTROL_MESSAGE_MAX / 2].into(),
        };
        for _ in 0..QUEUE_MOST {
            outbox.push(&frames, None, now).unwrap();
        }
        assert!(outbox.push(&frames, None, now).is_err());
        outbox.flush(&left, now).unwrap();
        assert!(!outbox.is_empty());
        outbox.flush(&left, now + WRITE_TIMEOUT).unwrap();
        let late = now + WRITE_TIMEOUT + Duration::from_secs(1);
        let error = outbox.flush(&left, late).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }

    fn holding(bytes: Vec<u8>) -> Inbox {
        let mut inbox = Inbox::new(0);
        inbox.arrives(&bytes);
        inbox
    }

    #[test]
    fn nonsense_is_an_error() {
        assert!(holding(vec![0xff; 32]).next::<FromWorker>().is_err());
        let mut longer = encode(&FromWorker::Failed("why".into())).unwrap().to_vec();
        longer[0] += 1;
        longer.push(0);
        assert!(holding(longer).next::<FromWorker>().is_err());
    }

    #[test]
    fn an_inbox_holds_what_it_may() {
        let (left, right) = UnixStream::pair().unwrap();
        passing::send(&left, b"x", &[left.as_fd()], true).unwrap();
        assert!(Inbox::new(0).fill(&right, true).is_err());
        passing::send(&left, b"x", &[left.as_fd(), left.as_fd()], true).unwrap();
        assert!(Inbox::new(1).fill(&right, true).is_err());
        let mut full = holding(vec![0; CONTROL_MESSAGE_MAX + 5]);
        passing::send(&left, b"x", &[], true).unwrap();
        assert!(full.fill(&right, true).is_err());
    }
}
