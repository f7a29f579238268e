//! What the parent and a worker say to each other over a socket pair: postcard of these types behind their length, with a descriptor where one belongs.

use crate::probe::Abilities;
use mgn_spu::Chain;
use mgn_sys::passing;
use mgn_wall::Target;
use mgn_wire::hello::Shown;
use mgn_wire::End;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

/// From the parent; a client's socket comes with each.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum ToWorker {
    /// The command connection of the session that the worker is to serve.
    Session(Box<Session>),
    /// Its frames connection.
    Frames { client: Vec<u8> },
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Session {
    pub id: u64,
    pub key: [u8; 16],
    /// The program's name, for messages.
    pub program: String,
    /// Which renderer of a wall it is.
    pub tile: Option<u32>,
    /// If its tile is shown here.
    pub shown: Option<Shown>,
    /// What programs elsewhere may have shown here.
    pub present: Vec<Target>,
    /// Digits of the secret that viewers know too.
    pub token: Option<String>,
    /// What `Incoming::from_handoff` needs besides the socket.
    pub client: Vec<u8>,
    pub chain: Chain,
    pub memory_limit: u64,
    pub watchdog: Duration,
    /// Whether the server wants to know what it draws.
    pub is_followed: bool,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum FromWorker {
    /// The driver is open.
    Ready(Box<Abilities>),
    /// There is no driver, and why.
    Failed(String),
    /// What the session has done so far: frames, and bytes of commands.
    Drawn { frames: u64, bytes: u64 },
    /// Why the session ends, if not because its client has gone.
    Ended(End),
}

/// Longer than any message: a client's opening is bounded far below.
const MOST: usize = 1 << 20;

/// Sends a message, and waits until it has gone.
pub(crate) fn send<T: Serialize>(
    socket: impl AsFd,
    message: &T,
    fd: Option<BorrowedFd<'_>>,
) -> io::Result<()> {
    let body = postcard::to_allocvec(message).map_err(io::Error::other)?;
    let mut bytes = (body.len() as u32).to_le_bytes().to_vec();
    bytes.extend(body);
    let mut fds: Vec<BorrowedFd<'_>> = fd.into_iter().collect();
    let mut at = 0;
    while at < bytes.len() {
        at += passing::send(&socket, &bytes[at..], &fds, true)?;
        fds.clear();
    }
    Ok(())
}

/// Puts messages together from what arrives.
#[derive(Debug, Default)]
pub(crate) struct Inbox {
    bytes: Vec<u8>,
    fds: VecDeque<OwnedFd>,
}

impl Inbox {
    /// Takes what has arrived, waiting for something if `wait` is set. False means that the other end has closed.
    pub fn fill(&mut self, socket: impl AsFd, wait: bool) -> io::Result<bool> {
        let mut part = [0; 16384];
        let mut fds = Vec::new();
        match passing::recv(socket, &mut part, &mut fds, wait) {
            Ok(0) => Ok(false),
            Ok(n) => {
                self.bytes.extend_from_slice(&part[..n]);
                self.fds.extend(fds);
                Ok(true)
            }
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => Ok(true),
            Err(e) => Err(e),
        }
    }

    /// The next message that is complete.
    pub fn next<T: DeserializeOwned>(&mut self) -> io::Result<Option<T>> {
        let Some((length, rest)) = self.bytes.split_first_chunk::<4>() else {
            return Ok(None);
        };
        let length = u32::from_le_bytes(*length) as usize;
        if length > MOST {
            return Err(io::ErrorKind::InvalidData.into());
        }
        if rest.len() < length {
            return Ok(None);
        }
        let message = postcard::from_bytes(&rest[..length]).map_err(io::Error::other)?;
        self.bytes.drain(..4 + length);
        Ok(Some(message))
    }

    /// The descriptor that came with the message just taken.
    pub fn descriptor(&mut self) -> Option<OwnedFd> {
        self.fds.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixStream;

    #[test]
    fn messages_arrive_whole_and_in_order() {
        let (left, right) = UnixStream::pair().unwrap();
        let (near, far) = UnixStream::pair().unwrap();
        send(&left, &FromWorker::Failed("x".repeat(20_000)), None).unwrap();
        send(
            &left,
            &ToWorker::Frames {
                client: vec![1, 2, 3],
            },
            Some(far.as_fd()),
        )
        .unwrap();
        drop(left);
        let mut inbox = Inbox::default();
        let first: FromWorker = loop {
            assert!(inbox.fill(&right, true).unwrap());
            if let Some(message) = inbox.next().unwrap() {
                break message;
            }
        };
        assert!(matches!(first, FromWorker::Failed(text) if text.len() == 20_000));
        let second: ToWorker = loop {
            if let Some(message) = inbox.next().unwrap() {
                break message;
            }
            assert!(inbox.fill(&right, true).unwrap());
        };
        assert!(matches!(second, ToWorker::Frames { client } if client == [1, 2, 3]));
        let passed = inbox.descriptor().unwrap();
        drop(far);
        rustix::io::write(&passed, b"!").unwrap();
        let mut one = [0];
        assert_eq!(rustix::io::read(&near, &mut one).unwrap(), 1);
        assert!(!inbox.fill(&right, true).unwrap());
    }

    #[test]
    fn nonsense_is_an_error() {
        let mut inbox = Inbox {
            bytes: vec![0xff; 32],
            fds: VecDeque::new(),
        };
        assert!(inbox.next::<FromWorker>().is_err());
    }
}
