//! Accepting clients.

mod bind;
mod incoming;
mod inherited;
mod pending;

use std::collections::{HashMap, VecDeque};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use mgn_sys::{passing, peer};
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::event::Timespec;
use rustix::process::{getrlimit, Resource};
use rustix::time::{
    timerfd_create, timerfd_settime, Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags,
};
use socket2::{SockAddr, Socket};

pub(crate) use incoming::Admitted as ServerWay;
pub use incoming::Incoming;
pub use inherited::Inherited;

use crate::admission::{Admission, Refusals, Source};
use crate::byte_stream::ByteStream;
use crate::handshake;
use crate::wait::Deadline;
use crate::{tls, Access, Address, Error, ServerKey, Transport};
use bind::Cleanup;
use pending::{Demands, Pending};

/// The time limit for a client to authenticate.
const HANDSHAKE_TIME: Duration = Duration::from_secs(5);

/// The limit for clients that are in the handshake at the same time: one client per `DESCRIPTORS`
/// descriptors that this process may have, but at least `PENDING_MIN` and at most `PENDING_MAX`.
const PENDING_MAX: usize = 1024;
const PENDING_MIN: usize = 64;
const DESCRIPTORS: usize = 4;

/// The number of clients that are accepted before clients in the handshake are served again.
const ACCEPTED_AT_ONCE: usize = 16;

/// Listens at an address and leads clients through the handshake. Slow or hostile clients do not
/// delay others.
///
/// You can poll a listener ([`AsFd`]) together with other descriptors. It is readable when
/// [`Listener::accept_timeout`] has work to do. That does not mean that a client is ready.
pub struct Listener {
    address: Address,
    demands: Demands,
    sockets: Vec<Socket>,
    epoll: OwnedFd,
    /// Makes the epoll readable when a client's time limit has passed, or when a line has to be
    /// logged.
    timer: OwnedFd,
    state: Mutex<State>,
    _cleanup: Option<Cleanup>,
}

struct State {
    /// Clients in the handshake, by the numbers of `admission`.
    pending: HashMap<u64, Pending>,
    admission: Admission,
    refusals: Refusals,
    /// The time to which the timer is set.
    due: Option<Instant>,
    ready: VecDeque<Incoming>,
}

/// Numbers from here on are listening sockets. Lower numbers are pending clients.
const FIRST_SOCKET: u64 = 1 << 62;
const TIMER: u64 = u64::MAX;

impl Listener {
    /// Listens at `address`. With TCP port 0, the system chooses a free port; see
    /// [`Listener::address`]. If a host name has several addresses, listens at all of them. TCP
    /// clients must prove that they have one of the tokens of `access`. An `access` without tokens
    /// is refused for TCP. At a unix socket, the system identifies the user of a client's process,
    /// so no token is required. The socket gets mode 0600. A socket that a dead server has left
    /// behind is replaced.
    ///
    /// # Errors
    /// [`Error::InUse`] if a server is running there already, [`Error::Auth`] for TCP without a
    /// token, [`Error::OldToken`], [`Error::Io`].
    pub fn bind(address: &Address, access: impl Into<Access>) -> Result<Listener, Error> {
        let access = access.into();
        needs_token(address, &access)?;
        let (sockets, address, cleanup) = match address {
            Address::Tcp {
                server: Some(_), ..
            } => {
                return Err(Error::Address {
                    text: address.to_string(),
                    why:
                        "a server behind a relay must listen at its own address, not at the relay's",
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
        Listener::at(address, sockets, access, cleanup)
    }

    /// Listens on a socket that was passed to this process. A socket in the file system keeps its
    /// mode, and stays when the listener ends.
    ///
    /// # Errors
    /// [`Error::Auth`] for TCP without a token, [`Error::OldToken`], [`Error::Io`].
    pub fn adopt(inherited: &Inherited, access: impl Into<Access>) -> Result<Listener, Error> {
        let access = access.into();
        let address = inherited.address();
        needs_token(address, &access)?;
        let socket = inherited.socket();
        let socket = socket.map_err(Error::io(format!("cannot listen at {address}")))?;
        Listener::at(address.clone(), vec![socket], access, None)
    }

    fn at(
        address: Address,
        sockets: Vec<Socket>,
        access: Access,
        cleanup: Option<Cleanup>,
    ) -> Result<Listener, Error> {
        for socket in &sockets {
            let place = socket.local_addr().ok().and_then(|place| place.as_socket());
            for token in access.tokens().iter().flat_map(|tokens| tokens.iter()) {
                place.map_or(Ok(()), |place| token.check_place(place.ip()))?;
            }
        }
        let failed = || Error::io(format!("cannot listen at {address}"));
        let timer = timerfd_create(
            TimerfdClockId::Monotonic,
            TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK,
        )
        .map_err(|error| failed()(error.into()))?;
        let watch = || -> io::Result<OwnedFd> {
            let epoll = epoll::create(CreateFlags::CLOEXEC)?;
            let numbered = (FIRST_SOCKET..).zip(sockets.iter().map(Socket::as_fd));
            for (number, fd) in numbered.chain([(TIMER, timer.as_fd())]) {
                epoll::add(&epoll, fd, EventData::new_u64(number), EventFlags::IN)?;
            }
            Ok(epoll)
        };
        let epoll = watch().map_err(failed())?;
        let is_tcp = address.is_tcp();
        let demands = Demands {
            encrypted: match address {
                Address::Tcp { tls: true, .. } => {
                    let key = access.key().cloned().map_or_else(ServerKey::generate, Ok)?;
                    let config = tls::server_config(&key);
                    Some(config.map_err(|error| failed()(io::Error::other(error)))?)
                }
                _ => None,
            },
            access: address.needs_token().then_some(access),
            allowed: match is_tcp {
                true => &[Transport::Tcp],
                false => &[Transport::Shm, Transport::Unix],
            },
        };
        let state = Mutex::new(State {
            pending: HashMap::new(),
            admission: Admission::new(places(), HANDSHAKE_TIME),
            refusals: Refusals::default(),
            due: None,
            ready: VecDeque::new(),
        });
        Ok(Listener {
            address,
            demands,
            sockets,
            epoll,
            timer,
            state,
            _cleanup: cleanup,
        })
    }

    /// The address at which clients can connect, with the chosen port.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// Waits for the next client that has authenticated. Clients that fail to authenticate are
    /// logged and dropped.
    pub fn accept(&self) -> Result<Incoming, Error> {
        loop {
            if let Some(incoming) = self.accept_timeout(Duration::MAX)? {
                return Ok(incoming);
            }
        }
    }

    /// Does the same as [`Listener::accept`], but returns `None` after `timeout`. Several threads
    /// take turns.
    pub fn accept_timeout(&self, timeout: Duration) -> Result<Option<Incoming>, Error> {
        let deadline = Deadline::after(Some(timeout));
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        // Space for all possible events, so that a busy connection cannot hide others.
        let mut events = Vec::with_capacity(PENDING_MAX + self.sockets.len() + 1);
        loop {
            if let Some(incoming) = state.ready.pop_front() {
                return Ok(Some(incoming));
            }
            let now = Instant::now();
            self.look_at_the_clock(&mut state, now)?;
            let wait = deadline.left(Duration::from_secs(60));
            let wait = Timespec {
                tv_sec: wait.as_secs() as i64,
                tv_nsec: wait.subsec_nanos().into(),
            };
            events.clear();
            let room = rustix::buffer::spare_capacity(&mut events);
            match epoll::wait(&self.epoll, room, Some(&wait)) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(self.failed(error)),
            }
            // Serve existing connections first. A connection that finishes its handshake frees a
            // place for a new connection.
            let numbers = || events.iter().map(|event| event.data.u64());
            for client in numbers().filter(|number| *number < FIRST_SOCKET) {
                self.continue_handshake(&mut state, client);
            }
            for socket in numbers().filter(|number| (FIRST_SOCKET..TIMER).contains(number)) {
                self.welcome_new(&mut state, &self.sockets[(socket - FIRST_SOCKET) as usize]);
            }
            if state.ready.is_empty() && deadline.passed() {
                self.look_at_the_clock(&mut state, Instant::now())?;
                return Ok(None);
            }
        }
    }

    /// Drops clients whose time limit has passed, logs due reports, and sets the timer to the next
    /// event.
    fn look_at_the_clock(&self, state: &mut State, now: Instant) -> Result<(), Error> {
        for number in state.admission.expire(now) {
            if let Some(pending) = state.pending.remove(&number) {
                self.turn_away(state, &pending, pending.delay());
            }
        }
        if let Some(report) = state.refusals.report(now) {
            tracing::warn!(target: "audit", event = "refusals", "{}: {report}", self.address);
        }
        let ends = [
            state.admission.poll_timeout(),
            state.refusals.poll_timeout(),
        ];
        let due = ends.into_iter().flatten().min();
        if due != state.due {
            // The time must not be 0, which would stop the timer.
            let wait = due.map(|due| due.saturating_duration_since(now).as_nanos().max(1) as u64);
            let wait = Duration::from_nanos(wait.unwrap_or(0));
            let timer = Itimerspec {
                it_interval: Timespec::default(),
                it_value: Timespec {
                    tv_sec: wait.as_secs() as i64,
                    tv_nsec: wait.subsec_nanos().into(),
                },
            };
            timerfd_settime(&self.timer, TimerfdTimerFlags::empty(), &timer)
                .map_err(|error| self.failed(error))?;
            state.due = due;
        }
        Ok(())
    }

    fn failed(&self, error: rustix::io::Errno) -> Error {
        Error::Io {
            doing: format!("waiting for clients at {}", self.address),
            source: error.into(),
        }
    }

    /// Accepts the clients that wait at one of the sockets.
    fn welcome_new(&self, state: &mut State, socket: &Socket) {
        for _ in 0..ACCEPTED_AT_ONCE {
            let (socket, address) = match socket.accept() {
                Ok(taken) => taken,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => continue,
                Err(error) => return self.make_room(state, &error),
            };
            let now = Instant::now();
            let (socket, source, who) = match self.identify(socket, &address) {
                Ok(found) => found,
                Err((source, why)) => {
                    let who = format!("a client at {}", self.address);
                    let listener = Some(&self.address);
                    state.refusals.log(source, &who, listener, &why);
                    continue;
                }
            };
            let (number, lost) = state.admission.admit(source, now);
            self.push_out(state, lost);
            let pending =
                Pending::new(ByteStream::clear(socket), source, who, self.demands.clone());
            let data = EventData::new_u64(number);
            match epoll::add(&self.epoll, &pending.line, data, EventFlags::IN) {
                Ok(()) => {
                    state.pending.insert(number, pending);
                }
                Err(error) => {
                    state.admission.leave(number);
                    self.turn_away(
                        state,
                        &pending,
                        &format!("its socket cannot be polled: {error}"),
                    );
                }
            }
        }
    }

    /// Handles a lack of descriptors or memory for a new client. The client keeps waiting in the
    /// queue.
    fn make_room(&self, state: &mut State, error: &io::Error) {
        let now = Instant::now();
        let why = format!("it cannot be accepted: {error}");
        if state.refusals.note(Source::Unknown, &why, now) {
            tracing::warn!("cannot accept a client at {}: {error}", self.address);
        }
        match state.admission.evict(now) {
            Some(lost) => self.push_out(state, Some(lost)),
            None => std::thread::sleep(Duration::from_millis(50)),
        }
    }

    /// Prepares a client's socket, and finds its source and name, or the reason why it is refused.
    fn identify(
        &self,
        socket: Socket,
        address: &SockAddr,
    ) -> Result<(OwnedFd, Source, String), (Source, String)> {
        let source = address.as_socket().map(|place| place.ip().into());
        let mut source = source.unwrap_or(Source::Unknown);
        let is_tcp = self.address.is_tcp();
        let prepared = socket.set_nonblocking(true).and_then(|()| match is_tcp {
            true => socket.set_tcp_nodelay(true),
            false => Ok(()),
        });
        prepared.map_err(|error| (source, error.to_string()))?;
        let socket = OwnedFd::from(socket);
        if is_tcp {
            let who = incoming::name(&socket, &Transport::Tcp);
            return Ok((socket, source, who));
        }
        let found = peer::credentials(&socket).map_err(|error| (source, error.to_string()))?;
        source = Source::User(found.uid);
        if found.uid != peer::own_uid() && found.uid != 0 {
            let why = format!("the server belongs to uid {}", peer::own_uid());
            let _ = passing::send(&socket, &handshake::forbidden(&why), &[], false);
            return Err((source, format!("it belongs to uid {}", found.uid)));
        }
        let who = incoming::name(&socket, &Transport::Unix);
        Ok((socket, source, who))
    }

    /// Reads from a client, and answers. A socket that is dropped leaves the epoll by itself. A
    /// socket that stays open, perhaps in another process, must be removed from the epoll, because
    /// all its later data would cause events here.
    fn continue_handshake(&self, state: &mut State, number: u64) {
        let Some(pending) = state.pending.get_mut(&number) else {
            return;
        };
        let now = Instant::now();
        let steps = pending.steps;
        let advanced = pending.advance();
        if let Ok(None) = advanced {
            if pending.steps != steps {
                state.admission.step(number, now);
            }
            let places = pending.places();
            let lost = state.admission.resize(number, places, now);
            return self.push_out(state, lost);
        }
        state.admission.leave(number);
        let Some(pending) = state.pending.remove(&number) else {
            return;
        };
        match advanced {
            Ok(wish) => {
                if let Err(error) = epoll::delete(&self.epoll, &pending.line) {
                    tracing::warn!("cannot stop watching {}: {error}", pending.who);
                }
                let incoming = wish.map(|wish| Incoming::new(pending.line, wish));
                state.ready.extend(incoming);
            }
            Err(why) => self.turn_away(state, &pending, &why),
        }
    }

    /// Drops clients that have lost their places to others.
    fn push_out(&self, state: &mut State, lost: impl IntoIterator<Item = u64>) {
        for number in lost {
            if let Some(pending) = state.pending.remove(&number) {
                self.turn_away(state, &pending, "too many clients are connecting at once");
            }
        }
    }

    fn turn_away(&self, state: &mut State, pending: &Pending, why: &str) {
        let listener = Some(&self.address);
        state
            .refusals
            .log(pending.source, &pending.who, listener, why);
    }
}

fn needs_token(address: &Address, access: &Access) -> Result<(), Error> {
    if address.needs_token() && !access.has_tokens() {
        return Err(Error::Auth(format!(
            "serving {address} needs a token; `mgn token new` makes one"
        )));
    }
    Ok(())
}

/// The number of clients that may be in the handshake at the same time.
fn places() -> usize {
    let descriptors = getrlimit(Resource::Nofile).current;
    let descriptors = descriptors.map_or(usize::MAX, |limit| limit as usize);
    (descriptors / DESCRIPTORS).clamp(PENDING_MIN, PENDING_MAX)
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
