//! A client that waits for the server's decision.

use std::io::IoSlice;
use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use mgn_sys::peer::{self, Credentials};
use socket2::SockRef;

use crate::admission::Source;
use crate::config::{Config, Sizes};
use crate::handshake::{self, OPENING_MAX};
use crate::line::Line;
use crate::peer::Peer;
use crate::seal::Seal;
use crate::wait::Deadline;
use crate::{shm, stream, Caller, Connection, Error, Handover, Role, Token, Transport};

use super::pending::Wish;

/// How long a client may take to read its welcome.
const WELCOME_TIME: Duration = Duration::from_secs(10);

/// The layout of the handoff's bytes.
const HANDOFF: u8 = 2;

/// A client that has connected and shown who it is. Let it in with [`Incoming::accept`], send it
/// away with [`Incoming::refuse`], or give it to another process with [`Incoming::into_handoff`].
#[derive(Debug)]
pub struct Incoming {
    line: Line,
    transport: Transport,
    opening: Vec<u8>,
    token: Option<Token>,
}

impl Incoming {
    pub(super) fn new(line: Line, wish: Wish) -> Incoming {
        Incoming {
            line,
            transport: wish.transport,
            opening: wish.opening,
            token: wish.token,
        }
    }

    /// What the client said first.
    pub fn opening(&self) -> &[u8] {
        &self.opening
    }

    /// What the client wants to use: shm, unix or tcp.
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

    /// Where in the network the client is, for tcp. None for one that has gone already.
    pub fn place(&self) -> Option<SocketAddr> {
        match self.transport {
            Transport::Tcp => tcp_place(&self.line),
            _ => None,
        }
    }

    /// Who the client has shown itself to be.
    pub fn caller(&self) -> Caller {
        let source = match (self.peer(), self.place()) {
            (Some(peer), _) => Source::User(peer.uid),
            (None, Some(place)) => place.ip().into(),
            (None, None) => Source::Unknown,
        };
        Caller::new(source, self.token.clone())
    }

    /// What a server proves when it connects back to this client; see [`Token::for_callback`]. None
    /// like [`Caller::identity`].
    pub fn callback(&self) -> Option<Token> {
        self.token.as_ref().map(Token::for_callback)
    }

    /// The client, if [`Caller::require`] says so. Otherwise it is sent away, its `connect` fails
    /// with [`Error::Forbidden`], and this gives the reason.
    pub fn require(self, needed: Role, doing: &str) -> Result<Incoming, String> {
        match self.caller().require(needed, doing) {
            Ok(()) => Ok(self),
            Err(why) => {
                // A client that does not read misses the reason; nothing waits for it.
                let _ = self
                    .line
                    .send(&[IoSlice::new(&handshake::not_permitted(&why))]);
                Err(why)
            }
        }
    }

    /// Whether the client has hung up meanwhile.
    pub fn is_gone(&self) -> bool {
        peer::hung_up(&self.line)
    }

    /// The client as a socket and bytes, for another process (see `mgn_sys::passing`) to make an
    /// `Incoming` of again. This process must then close its copy, or the client would not notice
    /// the other one's end.
    pub fn into_handoff(self) -> (OwnedFd, Handover) {
        let (socket, seal) = self.line.into_parts();
        let seal = seal.map(|seal| seal.hand_over());
        let code = handshake::code(&self.transport);
        let head = [HANDOFF, code, seal.is_some().into()];
        let keys = seal.as_deref().map_or(&[][..], Vec::as_slice);
        let meta = [&head[..], keys, self.opening.as_slice()].concat();
        (socket, meta.into())
    }

    /// The opposite of [`Incoming::into_handoff`].
    pub fn from_handoff(socket: OwnedFd, meta: &[u8]) -> Result<Incoming, Error> {
        let wrong = Error::Misuse("a handed-over client comes with bytes that make no sense");
        let (code, line, opening) = match meta {
            [HANDOFF, code, 0, opening @ ..] => (*code, Line::clear(socket), opening),
            [HANDOFF, code, 1, rest @ ..] => match rest.split_first_chunk() {
                Some((seal, opening)) => (
                    *code,
                    Line::sealed(socket, Seal::handed_over(seal)),
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

    /// Sends the client away; its `connect` fails with [`Error::Refused`] and this reason.
    pub fn refuse(self, why: &str) {
        // Whoever does not read the reason does not get it.
        let _ = self.line.send(&[IoSlice::new(&handshake::refused(why))]);
    }

    /// Sends the client away for now; its `connect` fails with [`Error::NotNow`] and this reason.
    pub fn put_off(self, why: &str) {
        // As above.
        let _ = self.line.send(&[IoSlice::new(&handshake::put_off(why))]);
    }

    /// Who it is, for people.
    pub(crate) fn name(&self) -> String {
        name(&self.line, &self.transport)
    }

    /// Lets the client in, to whoever is behind the socket that this gives; nothing that follows is
    /// encrypted for us.
    pub(crate) fn let_through(self) -> Result<OwnedFd, Error> {
        let bytes = handshake::accepted(&Sizes::new(&Config::default())?, b"")?;
        let deadline = Deadline::after(Some(WELCOME_TIME));
        let sent = self.line.send_all(&bytes, &[], &deadline);
        sent.map_err(|_| Error::Closed(self.name()))?;
        Ok(self.line.into_parts().0)
    }

    /// Lets the client in, with a welcome of at most 4 MiB for its application.
    ///
    /// # Errors
    /// [`Error::Closed`] where the client has gone, [`Error::Misuse`] for impossible sizes.
    pub fn accept(self, welcome: &[u8], config: &Config) -> Result<Connection, Error> {
        let way = self.open(welcome, config, shm::SLOTS)?;
        match way.memory {
            Some(memory) => shm::server(way.peer, way.credentials, &way.sizes, memory),
            None => Ok(stream::server(way.peer, way.credentials, &way.sizes)),
        }
    }

    /// Lets the client in, and leaves it to the caller what to make of the way to it.
    pub(crate) fn open(self, welcome: &[u8], config: &Config, slots: u64) -> Result<Way, Error> {
        self.open_with(welcome, config, |sizes| shm::create(sizes, slots))
    }

    /// Likewise with shared memory, where that is the transport, that the caller makes.
    pub(crate) fn open_with(
        self,
        welcome: &[u8],
        config: &Config,
        make: impl FnOnce(&Sizes) -> Result<[OwnedFd; shm::DESCRIPTORS], Error>,
    ) -> Result<Way, Error> {
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
        Ok(Way {
            peer,
            credentials,
            sizes,
            memory,
        })
    }
}

/// What a server has when it has let a client in.
pub(crate) struct Way {
    pub(crate) peer: Arc<Peer>,
    pub(crate) credentials: Option<Credentials>,
    pub(crate) sizes: Sizes,
    /// The shared memory, where that is the transport.
    pub(crate) memory: Option<[OwnedFd; shm::DESCRIPTORS]>,
}

/// Who is at the other end, for people.
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
