//! The server's door.

mod bind;
mod incoming;

use std::collections::{HashMap, VecDeque};
use std::io::{self, IoSlice};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use mgn_sys::{passing, peer};
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::event::Timespec;
use socket2::Socket;

pub use incoming::Incoming;
pub(crate) use incoming::Way as ServerWay;

use crate::handshake::{self, Progress, ServerSide};
use crate::line::Line;
use crate::tls::{Disagreed, Negotiation};
use crate::wait::Deadline;
use crate::{Address, Error, Token, Transport};
use bind::Cleanup;

/// How long a client may take to show who it is.
const HANDSHAKE_TIME: Duration = Duration::from_secs(5);

/// Clients in the handshake at once; one more pushes out the oldest.
const PENDING_MAX: usize = 64;

/// Listens at an address and leads clients through the handshake. Clients that are slow or hostile
/// hold up nobody else.
///
/// Poll it ([`AsFd`]) together with other descriptors: it is readable when [`Listener::accept_timeout`]
/// has something to do, which need not already be a finished client.
pub struct Listener {
    address: Address,
    token: Option<Token>,
    allowed: &'static [Transport],
    sockets: Vec<Socket>,
    epoll: OwnedFd,
    state: Mutex<State>,
    _cleanup: Option<Cleanup>,
}

#[derive(Default)]
struct State {
    pending: HashMap<u64, Pending>,
    next: u64,
    ready: VecDeque<Incoming>,
}

struct Pending {
    line: Line,
    stage: Stage,
    since: Instant,
    who: String,
    token: Option<Token>,
    allowed: &'static [Transport],
}

/// How far a client has come.
enum Stage {
    /// It has not agreed on encryption yet.
    Encrypting(Box<Negotiation>),
    Showing(ServerSide),
}

/// Numbers from here on are pending clients, those below are listening sockets.
const FIRST_CLIENT: u64 = 1 << 32;

impl Listener {
    /// Listens. A TCP port of 0 takes a free one, see [`Listener::address`]; a host name with
    /// several addresses is served at all of them. Clients by TCP must prove that they know the
    /// token, and TCP is refused without one. At a unix socket the system says whose process a
    /// client is, so no token is asked for. The socket gets mode 0600, and one that a dead server
    /// left behind is replaced.
    ///
    /// # Errors
    /// [`Error::InUse`] where a server is running there already, [`Error::Auth`] for TCP without a
    /// token, [`Error::Io`].
    pub fn bind(address: &Address, token: Option<Token>) -> Result<Listener, Error> {
        let (sockets, address, cleanup) = match address {
            Address::Tcp { .. } if token.is_none() => {
                return Err(Error::Auth(format!(
                    "serving {address} needs a token; `mgn token new` makes one"
                )))
            }
            Address::Tcp {
                server: Some(_), ..
            } => {
                return Err(Error::Address {
                    text: address.to_string(),
                    why: "a server behind a relay listens at an address of its own",
                })
            }
            Address::Tcp {
                host, port, tls, ..
            } => {
                let (sockets, port) = bind::tcp(address, host, *port)?;
                let address = Address::Tcp {
                    host: host.clone(),
                    port,
                    tls: *tls,
                    server: None,
                };
                (sockets, address, None)
            }
            _ => {
                let (socket, cleanup) = bind::unix(address)?;
                (vec![socket], address.clone(), cleanup)
            }
        };
        let watch = || -> io::Result<OwnedFd> {
            let epoll = epoll::create(CreateFlags::CLOEXEC)?;
            for (at, socket) in sockets.iter().enumerate() {
                epoll::add(
                    &epoll,
                    socket,
                    EventData::new_u64(at as u64),
                    EventFlags::IN,
                )?;
            }
            Ok(epoll)
        };
        let epoll = watch().map_err(Error::io(format!("cannot listen at {address}")))?;
        let allowed: &[Transport] = match address {
            Address::Tcp { .. } => &[Transport::Tcp],
            _ => &[Transport::Shm, Transport::Unix],
        };
        let token = token.filter(|_| matches!(address, Address::Tcp { .. }));
        let state = Mutex::new(State {
            next: FIRST_CLIENT,
            ..State::default()
        });
        Ok(Listener {
            address,
            token,
            allowed,
            sockets,
            epoll,
            state,
            _cleanup: cleanup,
        })
    }

    /// Where clients find it, with the port that was chosen.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// The next client that has shown who it is. Clients that fail to are logged and dropped.
    pub fn accept(&self) -> Result<Incoming, Error> {
        loop {
            if let Some(incoming) = self.accept_timeout(Duration::MAX)? {
                return Ok(incoming);
            }
        }
    }

    /// Likewise, but gives None after `timeout`. Several threads take turns.
    pub fn accept_timeout(&self, timeout: Duration) -> Result<Option<Incoming>, Error> {
        let deadline = Deadline::after(Some(timeout));
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(incoming) = state.ready.pop_front() {
                return Ok(Some(incoming));
            }
            let patience = state.expire(Instant::now());
            let mut events = Vec::with_capacity(16);
            let wait = deadline.left(patience);
            let wait = Timespec {
                tv_sec: wait.as_secs() as i64,
                tv_nsec: wait.subsec_nanos().into(),
            };
            match epoll::wait(
                &self.epoll,
                rustix::buffer::spare_capacity(&mut events),
                Some(&wait),
            ) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => {
                    let doing = format!("waiting for clients at {}", self.address);
                    return Err(Error::Io {
                        doing,
                        source: error.into(),
                    });
                }
            }
            for event in &events {
                match event.data.u64() {
                    client @ FIRST_CLIENT.. => state.progress(client, &self.epoll),
                    at => self.welcome_new(&mut state, &self.sockets[at as usize]),
                }
            }
            if events.is_empty() && state.ready.is_empty() && deadline.passed() {
                return Ok(None);
            }
        }
    }

    /// Takes whoever waits at one of the sockets.
    fn welcome_new(&self, state: &mut State, socket: &Socket) {
        // A flood of clients must not keep those in the handshake waiting.
        for _ in 0..16 {
            let socket = match socket.accept() {
                Ok((socket, _)) => socket,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => continue,
                Err(error) => {
                    // No descriptors or no memory: the client keeps waiting in the queue.
                    tracing::warn!("cannot take a client at {}: {error}", self.address);
                    std::thread::sleep(Duration::from_millis(50));
                    return;
                }
            };
            let (socket, who) = match self.identify(socket) {
                Ok(found) => found,
                Err(why) => {
                    tracing::warn!("a client at {} was turned away: {why}", self.address);
                    continue;
                }
            };
            if state.pending.len() >= PENDING_MAX {
                state.drop_oldest();
            }
            let number = state.next;
            state.next += 1;
            let added = epoll::add(
                &self.epoll,
                &socket,
                EventData::new_u64(number),
                EventFlags::IN,
            );
            if let Err(error) = added {
                tracing::warn!("cannot watch {who}: {error}");
                continue;
            }
            let stage = match self.address {
                Address::Tcp { tls: true, .. } => match Negotiation::server() {
                    Ok(negotiation) => Stage::Encrypting(Box::new(negotiation)),
                    Err(error) => {
                        tracing::warn!("no encryption for {who}: {error}");
                        continue;
                    }
                },
                _ => Stage::Showing(ServerSide::new(self.token.clone(), self.allowed)),
            };
            state.pending.insert(
                number,
                Pending {
                    line: Line::clear(socket),
                    stage,
                    since: Instant::now(),
                    who,
                    token: self.token.clone(),
                    allowed: self.allowed,
                },
            );
        }
    }

    /// Prepares a client's socket and finds out who it is, or why it may not come in.
    fn identify(&self, socket: Socket) -> Result<(OwnedFd, String), String> {
        socket
            .set_nonblocking(true)
            .map_err(|error| error.to_string())?;
        if let Address::Tcp { .. } = self.address {
            socket
                .set_tcp_nodelay(true)
                .map_err(|error| error.to_string())?;
            let socket = OwnedFd::from(socket);
            let who = incoming::name(&socket, &Transport::Tcp);
            return Ok((socket, who));
        }
        let socket = OwnedFd::from(socket);
        let found = peer::credentials(&socket).map_err(|error| error.to_string())?;
        if found.uid != peer::own_uid() && found.uid != 0 {
            let why = format!("the server belongs to uid {}", peer::own_uid());
            let _ = passing::send(&socket, &handshake::forbidden(&why), &[], false);
            return Err(format!("it belongs to uid {}", found.uid));
        }
        let who = incoming::name(&socket, &Transport::Unix);
        Ok((socket, who))
    }
}

impl State {
    /// Drops clients that took too long; gives how long the next may still take.
    fn expire(&mut self, now: Instant) -> Duration {
        let mut patience = Duration::from_secs(60);
        self.pending.retain(|_, pending| {
            let left = HANDSHAKE_TIME.saturating_sub(now.duration_since(pending.since));
            if left.is_zero() {
                tracing::warn!("{} took too long to show who it is", pending.who);
            } else {
                // Rounded up, so that it has really passed by the next look.
                patience = patience.min(left + Duration::from_millis(1));
            }
            !left.is_zero()
        });
        patience
    }

    fn drop_oldest(&mut self) {
        if let Some(oldest) = self.pending.keys().min().copied() {
            if let Some(pending) = self.pending.remove(&oldest) {
                tracing::warn!("{} was pushed out by newer clients", pending.who);
            }
        }
    }

    /// Reads what a client has sent and answers. Dropping its socket takes it out of the epoll, but one that goes on to live, perhaps in another
    /// process, would be reported here with all that arrives there.
    fn progress(&mut self, number: u64, epoll: &OwnedFd) {
        let Some(mut pending) = self.pending.remove(&number) else {
            return;
        };
        match pending.advance() {
            Ok(None) => {
                self.pending.insert(number, pending);
            }
            Ok(Some((transport, opening))) => {
                if let Err(error) = epoll::delete(epoll, &pending.line) {
                    tracing::warn!("cannot stop watching {}: {error}", pending.who);
                }
                self.ready
                    .push_back(Incoming::new(pending.line, transport, opening));
            }
            Err(why) => tracing::warn!("{} was turned away: {why}", pending.who),
        }
    }
}

impl Pending {
    /// Goes on until the client has to send more; gives its wish when it has shown who it is.
    fn advance(&mut self) -> Result<Option<(Transport, Vec<u8>)>, String> {
        let mut buffer = [0; 4096];
        loop {
            let wants = match &self.stage {
                Stage::Encrypting(negotiation) => negotiation.wants(),
                Stage::Showing(side) => side.wants(),
            };
            let want = wants.min(buffer.len());
            let mut fds = Vec::new();
            let got = match self.line.recv_with(&mut buffer[..want], &mut fds) {
                Ok(0) => return Err("it hung up".into()),
                Ok(got) => got,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
                Err(error) => return Err(error.to_string()),
            };
            if !fds.is_empty() {
                return Err("it sent descriptors that nobody wants".into());
            }
            if let Some(done) = self.take(&buffer[..got])? {
                // What it says too early could not go to another process with it.
                return match self.line.seal.as_ref().is_none_or(|seal| seal.is_empty()) {
                    true => Ok(Some(done)),
                    false => Err("it spoke before it was let in".into()),
                };
            }
        }
    }

    /// Takes what came.
    fn take(&mut self, bytes: &[u8]) -> Result<Option<(Transport, Vec<u8>)>, String> {
        match &mut self.stage {
            Stage::Encrypting(negotiation) => {
                let taken = negotiation.receive(bytes);
                let answer = negotiation.take_output();
                if let Err(why) = taken {
                    return Err(match why {
                        Disagreed::Clear => {
                            let why = "only encrypted connections are served at this address: \
                                       write tls: in place of tcp:";
                            self.refuse(&handshake::forbidden(why));
                            "it does not encrypt".into()
                        }
                        other => {
                            self.refuse(&answer);
                            other.to_string()
                        }
                    });
                }
                self.send(&answer)?;
                self.encrypt()?;
                Ok(None)
            }
            Stage::Showing(side) => match side.receive(bytes) {
                Progress::More => Ok(None),
                Progress::Send(bytes) => self.send(&bytes).map(|()| None),
                Progress::Done { transport, opening } => Ok(Some((transport, opening))),
                Progress::Fail(bytes, why) => {
                    self.refuse(&bytes);
                    Err(why)
                }
            },
        }
    }

    /// Goes on in secret when that has been agreed on.
    fn encrypt(&mut self) -> Result<(), String> {
        let placeholder = Stage::Showing(ServerSide::new(None, &[]));
        match std::mem::replace(&mut self.stage, placeholder) {
            Stage::Encrypting(negotiation) if negotiation.is_over() => {
                let agreed = negotiation.finish().map_err(|error| error.to_string())?;
                let token = self.token.as_ref().map(|token| agreed.bind(token));
                self.stage = Stage::Showing(ServerSide::new(token, self.allowed));
                self.line.seal = Some(Box::new(agreed.seal));
            }
            earlier => self.stage = earlier,
        }
        Ok(())
    }

    /// So little is sent in a handshake that it always fits the socket's buffer.
    fn send(&self, bytes: &[u8]) -> Result<(), String> {
        if bytes.is_empty() {
            return Ok(());
        }
        match self.line.send(&[IoSlice::new(bytes)]) {
            Ok(sent) if sent == bytes.len() => Ok(()),
            Ok(_) => Err("it does not read".into()),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Says why it may not come in. A socket that is closed with something unread in it would take that back.
    fn refuse(&self, bytes: &[u8]) {
        let _ = self.send(bytes);
        let _ = self.line.recv_with(&mut [0; 4096], &mut Vec::new());
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.epoll.as_fd()
    }
}

impl std::fmt::Debug for Listener {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Listener")
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}
