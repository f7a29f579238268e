//! A client that waits for the server's decision.

use std::io::IoSlice;
use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use mgn_sys::peer::{self, Credentials};
use socket2::SockRef;

use crate::admission::Source;
use crate::byte_stream::ByteStream;
use crate::config::{Config, Sizes};
use crate::handshake::{self, OPENING_MAX};
use crate::peer::Peer;
use crate::seal::Seal;
use crate::wait::Deadline;
use crate::{shm, stream, Caller, Connection, Error, Handover, Role, Token, Transport};

use super::pending::Wish;

/// The time limit for a client to read its welcome.
const WELCOME_TIME: Duration = Duration::from_secs(10);

/// The version of the handoff's bytes.
const HANDOFF: u8 = 2;

/// A client that has connected and authenticated. Accept it with [`Incoming::accept`], refuse it
/// with [`Incoming::refuse`], or hand it to another process with [`Incoming::into_handoff`].
#[derive(Debug)]
pub struct Incoming {
    line: ByteStream,
    transport: Transport,
    opening: Vec<u8>,
    token: Option<Token>,
}

impl Incoming {
    pub(super) fn new(line: ByteStream, wish: Wish) -> Incoming {
        Incoming {
            line,
            transport: wish.transport,
            opening: wish.opening,
            token: wish.token,
        }
    }

    /// The client's opening.
    pub fn opening(&self) -> &[u8] {
        &self.opening
    }

    /// The transport that the client wants to use: shm, unix or tcp.
    pub fn transport(&self) -> &Transport {
        &self.transport
    }

    /// The client's process, for shm and unix.
    pub fn peer(&self) -> Option<Credentials> {
        match self.transport {
            Transport::Tcp => None,
            _ => peer::credentials(&self.line).ok(),
        }
    }

    /// The client's network address, for tcp. `None` if the client has closed the connection
    /// already.
    pub fn place(&self) -> Option<SocketAddr> {
        match self.transport {
            Transport::Tcp => tcp_place(&self.line),
            _ => None,
        }
    }

    /// The identity of the client.
    pub fn caller(&self) -> Caller {
        let source = match (self.peer(), self.place()) {
            (Some(peer), _) => Source::User(peer.uid),
            (None, Some(place)) => place.ip().into(),
            (None, None) => Source::Unknown,
        };
        Caller::new(source, self.token.clone())
    }

    /// The token that a server proves when it connects back to this client; see
    /// [`Token::for_callback`]. `None` in the same cases as for [`Caller::identity`].
    pub fn callback(&self) -> Option<Token> {
        self.token.as_ref().map(Token::for_callback)
    }

    /// Returns the client if [`Caller::require`] permits it. Otherwise refuses it, so that its
    /// `connect` fails with [`Error::Forbidden`], and returns the reason.
    pub fn require(self, needed: Role, doing: &str) -> Result<Incoming, String> {
        match self.caller().require(needed, doing) {
            Ok(()) => Ok(self),
            Err(why) => {
                // Do not wait. A client that does not read misses the reason.
                let _ = self
                    .line
                    .send(&[IoSlice::new(&handshake::not_permitted(&why))]);
                Err(why)
            }
        }
    }

    /// Whether the client has closed the connection.
    pub fn is_gone(&self) -> bool {
        peer::hung_up(&self.line)
    }

    /// Converts the client to a socket and bytes, from which another process (see
    /// `mgn_sys::passing`) can make an `Incoming` again. This process must then close its copy of
    /// the socket. Otherwise the client would not notice that the other process ends.
    pub fn into_handoff(self) -> (OwnedFd, Handover) {
        let (socket, seal) = self.line.into_parts();
        let seal = seal.map(|seal| seal.hand_over());
        let code = handshake::code(&self.transport);
        let head = [HANDOFF, code, seal.is_some().into()];
        let keys = seal.as_deref().map_or(&[][..], Vec::as_slice);
        let meta = [&head[..], keys, self.opening.as_slice()].concat();
        (socket, meta.into())
    }

    /// Makes an `Incoming` from the socket and bytes of [`Incoming::into_handoff`].
    pub fn from_handoff(socket: OwnedFd, meta: &[u8]) -> Result<Incoming, Error> {
        let wrong = Error::Misuse("the bytes of a handed-over client are invalid");
        let (code, line, opening) = match meta {
            [HANDOFF, code, 0, opening @ ..] => (*code, ByteStream::clear(socket), opening),
            [HANDOFF, code, 1, rest @ ..] => match rest.split_first_chunk() {
                Some((seal, opening)) => (
                    *code,
                    ByteStream::sealed(socket, Seal::handed_over(seal)),
                    opening,
                ),
                None => return Err(wrong),
            },
            _ => return Err(wrong),
        };
        match handshake::transport(code) {
            Some(transport) if opening.len() <= OPENING_MAX => Ok(Incoming {
                line,
                transport,
                opening: opening.to_vec(),
                token: None,
            }),
            _ => Err(wrong),
        }
    }

    /// Refuses the client: its `connect` fails with [`Error::Refused`] and this reason.
    pub fn refuse(self, why: &str) {
        // Do not wait. A client that does not read misses the reason.
        let _ = self.line.send(&[IoSlice::new(&handshake::refused(why))]);
    }

    /// Refuses the client for now: its `connect` fails with [`Error::NotNow`] and this reason.
    pub fn put_off(self, why: &str) {
        // Do not wait, as in `refuse`.
        let _ = self.line.send(&[IoSlice::new(&handshake::put_off(why))]);
    }

    /// The client's name, for messages to the user.
    pub(crate) fn name(&self) -> String {
        name(&self.line, &self.transport)
    }

    /// Accepts the client of a relay, and returns the socket to be forwarded to another server.
    /// Later bytes on the socket are not encrypted with this connection's keys.
    pub(crate) fn let_through(self) -> Result<OwnedFd, Error> {
        let bytes = handshake::accepted(&Sizes::new(&Config::default())?, b"")?;
        let deadline = Deadline::after(Some(WELCOME_TIME));
        let sent = self.line.send_all(&bytes, &[], &deadline);
        sent.map_err(|_| Error::Closed(self.name()))?;
        Ok(self.line.into_parts().0)
    }

    /// Accepts the client, with a welcome of at most 4 MiB for its application.
    ///
    /// # Errors
    /// [`Error::Closed`] if the client is gone, [`Error::Misuse`] for impossible sizes.
    pub fn accept(self, welcome: &[u8], config: &Config) -> Result<Connection, Error> {
        let way = self.open(welcome, config, shm::SLOTS)?;
        match way.memory {
            Some(memory) => shm::server(way.peer, way.credentials, &way.sizes, memory),
            None => Ok(stream::server(way.peer, way.credentials, &way.sizes)),
        }
    }

    /// Accepts the client. The caller makes the connection from the returned parts.
    pub(crate) fn open(
        self,
        welcome: &[u8],
        config: &Config,
        slots: u64,
    ) -> Result<Admitted, Error> {
        self.open_with(welcome, config, |sizes| shm::create(sizes, slots))
    }

    /// Accepts the client. For shm, `make` makes the shared memory.
    pub(crate) fn open_with(
        self,
        welcome: &[u8],
        config: &Config,
        make: impl FnOnce(&Sizes) -> Result<[OwnedFd; shm::DESCRIPTORS], Error>,
    ) -> Result<Admitted, Error> {
        let sizes = Sizes::new(config)?;
        let credentials = self.peer();
        let tcp = self.transport == Transport::Tcp;
        let name = name(&self.line, &self.transport);
        let memory = match self.transport {
            Transport::Shm => Some(make(&sizes)?),
            _ => None,
        };
        let fds: Vec<_> = memory.iter().flatten().map(|fd| fd.as_fd()).collect();
        let bytes = handshake::accepted(&sizes, welcome)?;
        let deadline = Deadline::after(Some(WELCOME_TIME));
        let sent = self.line.send_all(&bytes, &fds, &deadline);
        let peer = Arc::new(match tcp {
            true => Peer::tcp(self.line, name, sizes.silence()),
            false => Peer::unix(self.line.into_parts().0, name, true),
        });
        sent.map_err(|error| peer.failed("welcoming", error))?;
        Ok(Admitted {
            peer,
            credentials,
            sizes,
            memory,
        })
    }
}

/// A server's resources after it has accepted a client.
pub(crate) struct Admitted {
    pub(crate) peer: Arc<Peer>,
    pub(crate) credentials: Option<Credentials>,
    pub(crate) sizes: Sizes,
    /// The shared memory, for shm.
    pub(crate) memory: Option<[OwnedFd; shm::DESCRIPTORS]>,
}

/// The name of the other end, for messages to the user.
pub(super) fn name(socket: &impl AsFd, transport: &Transport) -> String {
    match transport {
        Transport::Tcp => match tcp_place(socket) {
            Some(place) => format!("the client at {place}"),
            None => "the client".into(),
        },
        _ => match peer::credentials(socket) {
            Ok(found) if found.pid > 0 => format!("the client (process {})", found.pid),
            _ => "the client".into(),
        },
    }
}

fn tcp_place(socket: &impl AsFd) -> Option<SocketAddr> {
    SockRef::from(socket).peer_addr().ok()?.as_socket()
}
