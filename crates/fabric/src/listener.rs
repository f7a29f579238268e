//! The server's door.

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

pub use incoming::Incoming;
pub(crate) use incoming::Way as ServerWay;
pub use inherited::Inherited;

use crate::admission::{Admission, Refusals, Source};
use crate::handshake;
use crate::line::Line;
use crate::wait::Deadline;
use crate::{tls, Access, Address, Error, ServerKey, Transport};
use bind::Cleanup;
use pending::{Demands, Pending};

/// How long a client may take to show who it is.
const HANDSHAKE_TIME: Duration = Duration::from_secs(5);

/// Clients in the handshake at once, at most and at least, and the part of this process's
/// descriptors that they may take in between.
const PENDING_MAX: usize = 1024;
const PENDING_MIN: usize = 64;
const DESCRIPTORS: usize = 4;

/// Clients that are taken at once, before those in the handshake are heard again.
const BATCH: usize = 16;

/// Listens at an address and leads clients through the handshake. Clients that are slow or hostile
/// hold up nobody else.
///
/// Poll it ([`AsFd`]) together with other descriptors: it is readable when
/// [`Listener::accept_timeout`] has something to do, which need not already be a finished client.
pub struct Listener {
    address: Address,
    demands: Demands,
    sockets: Vec<Socket>,
    epoll: OwnedFd,
    /// Makes the epoll readable when a client's time is over, or a line is to be logged.
    timer: OwnedFd,
    state: Mutex<State>,
    _cleanup: Option<Cleanup>,
}

struct State {
    /// By the numbers of `admission`.
    pending: HashMap<u64, Pending>,
    admission: Admission,
    refusals: Refusals,
    /// What the timer is set to.
    due: Option<Instant>,
    ready: VecDeque<Incoming>,
}

/// Numbers from here on are listening sockets, those below are pending clients.
const FIRST_SOCKET: u64 = 1 << 62;
const TIMER: u64 = u64::MAX;

impl Listener {
    /// Listens. A TCP port of 0 takes a free one, see [`Listener::address`]; a host name with
    /// several addresses is served at all of them. Clients by TCP must prove that they have one of
    /// the tokens of `access`, and TCP is refused without any. At a unix socket the system says
    /// whose process a client is, so no token is asked for. The socket gets mode 0600, and one
    /// that a dead server left behind is replaced.
    ///
    /// # Errors
    /// [`Error::InUse`] where a server is running there already, [`Error::Auth`] for TCP without a
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
        Listener::at(address, sockets, access, cleanup)
    }

    /// Likewise, on a socket that was passed to this process. A socket in the file system stays
    /// when the listener ends, with the mode that it has.
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
        let is_tcp = matches!(address, Address::Tcp { .. });
        let demands = Demands {
            encrypted: match address {
                Address::Tcp { tls: true, .. } => {
                    let key = access.key().cloned().map_or_else(ServerKey::generate, Ok)?;
                    let config = tls::server_config(&key);
                    Some(config.map_err(|error| failed()(io::Error::other(error)))?)
                }
                _ => None,
            },
            access: is_tcp.then_some(access),
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
        // Room for all that can happen, so that a busy connection hides no other.
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
            // Connections that have begun come first: one that proceeds leaves a place for a new
            // one.
            let numbers = || events.iter().map(|event| event.data.u64());
            for client in numbers().filter(|number| *number < FIRST_SOCKET) {
                self.hear(&mut state, client);
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

    /// Drops clients whose time is over, logs what is due, and sets the timer to what is next.
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
            // Not 0, which would stop the timer.
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

    /// Takes whoever waits at one of the sockets.
    fn welcome_new(&self, state: &mut State, socket: &Socket) {
        for _ in 0..BATCH {
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
            let pending = Pending::new(Line::clear(socket), source, who, self.demands.clone());
            let data = EventData::new_u64(number);
            match epoll::add(&self.epoll, &pending.line, data, EventFlags::IN) {
                Ok(()) => {
                    state.pending.insert(number, pending);
                }
                Err(error) => {
                    state.admission.leave(number);
                    self.turn_away(state, &pending, &format!("it cannot be watched: {error}"));
                }
            }
        }
    }

    /// There are no descriptors or there is no memory for a client, which keeps waiting in the
    /// queue.
    fn make_room(&self, state: &mut State, error: &io::Error) {
        let now = Instant::now();
        let why = format!("it cannot be taken: {error}");
        if state.refusals.note(Source::Unknown, &why, now) {
            tracing::warn!("cannot take a client at {}: {error}", self.address);
        }
        match state.admission.evict(now) {
            Some(lost) => self.push_out(state, Some(lost)),
            None => std::thread::sleep(Duration::from_millis(50)),
        }
    }

    /// Prepares a client's socket and finds out who it is, or why it may not come in.
    fn identify(
        &self,
        socket: Socket,
        address: &SockAddr,
    ) -> Result<(OwnedFd, Source, String), (Source, String)> {
        let source = address.as_socket().map(|place| place.ip().into());
        let mut source = source.unwrap_or(Source::Unknown);
        let is_tcp = matches!(self.address, Address::Tcp { .. });
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

    /// Reads what a client has sent and answers. Dropping its socket takes it out of the epoll, but
    /// one that goes on to live, perhaps in another process, would be reported here with all that
    /// arrives there.
    fn hear(&self, state: &mut State, number: u64) {
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

    /// Drops clients that have lost their places.
    fn push_out(&self, state: &mut State, lost: impl IntoIterator<Item = u64>) {
        for number in lost {
            if let Some(pending) = state.pending.remove(&number) {
                self.turn_away(state, &pending, "too many came at once");
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
    match address {
        Address::Tcp { .. } if !access.has_tokens() => Err(Error::Auth(format!(
            "serving {address} needs a token; `mgn token new` makes one"
        ))),
        _ => Ok(()),
    }
}

/// How many clients may be in the handshake at once.
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
