//! A server's registration with the mothership.

use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use mgn_fabric::{Address, Token};

use crate::ask::RETRY_INTERVAL;
use crate::core::{HEARTBEAT_INTERVAL, SILENCE_TIMEOUT};
use crate::link::Link;
use crate::protocol::{FromMothership, Hello, Session, ToMothership};
use crate::Error;

/// How long a server that the mothership has started runs without a mothership while it has no
/// sessions.
const ORPHAN: Duration = Duration::from_secs(60);

/// A server's registration with the mothership. A thread maintains it, and registers again if
/// another mothership replaces the first one. The file descriptor ([`AsFd`]) becomes readable when
/// the server must end.
#[derive(Debug)]
pub struct Registration {
    shared: Arc<Shared>,
    ended: UnixStream,
}

#[derive(Debug, Default)]
struct Shared(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    sessions: Vec<Session>,
    /// Whether this has changed since the last report to the mothership.
    is_news: bool,
    failure: Option<String>,
}

impl Registration {
    /// Registers with the mothership at `address`, now or when a mothership starts there.
    ///
    /// # Errors
    /// An error if the system has no more threads or sockets.
    pub fn begin(
        address: Address,
        token: Option<Token>,
        hello: Hello,
    ) -> Result<Registration, Error> {
        let shared = Arc::new(Shared::default());
        let (ended, end) = UnixStream::pair().map_err(Error::io("cannot make a socket"))?;
        let thread = RegistrationThread {
            address,
            token,
            hello,
            shared: shared.clone(),
            was_taken: false,
        };
        thread::Builder::new()
            .name("mothership".into())
            .spawn(move || {
                thread.run();
                // The server sees that this end is closed.
                drop(end);
            })
            .map_err(Error::io("cannot start a thread"))?;
        Ok(Registration { shared, ended })
    }

    /// Reports the sessions that the server has now, with totals.
    pub fn sessions(&self, sessions: Vec<Session>) {
        let mut state = self.shared.lock();
        if state.sessions != sessions {
            state.sessions = sessions;
            state.is_news = true;
        }
    }

    /// The reason why the server must end, if the mothership has refused it or is lost.
    pub fn failure(&self) -> Option<String> {
        self.shared.lock().failure.clone()
    }
}

impl AsFd for Registration {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.ended.as_fd()
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Keeps the server registered: connects to the mothership, and to a new one after the first has
/// ended.
struct RegistrationThread {
    address: Address,
    token: Option<Token>,
    hello: Hello,
    shared: Arc<Shared>,
    /// Whether a mothership has accepted the server.
    was_taken: bool,
}

/// The next step after a connection.
enum Next {
    Again,
    End,
}

impl RegistrationThread {
    /// Returns when the server is to end.
    fn run(mut self) {
        let mut alone = Instant::now();
        let mut is_told = false;
        loop {
            let link = Link::open(&self.address, self.token.as_ref());
            let next = link.and_then(|link| {
                let next = self.attend(link);
                alone = Instant::now();
                is_told = false;
                next
            });
            match next {
                Ok(Next::End) => return,
                Ok(Next::Again) => {}
                // The role of a token does not change, so another attempt would fail too.
                Err(error @ Error::Forbidden(_)) => {
                    self.shared.lock().failure = Some(error.to_string());
                    return;
                }
                Err(error) if is_told => tracing::debug!("{error}"),
                Err(error) => {
                    is_told = true;
                    let address = &self.address;
                    tracing::warn!("the mothership at {address}: {error}; trying again");
                }
            }
            let idle = self.shared.lock().sessions.is_empty();
            if self.hello.is_ours && idle && alone.elapsed() > ORPHAN {
                let address = &self.address;
                let why = match self.was_taken {
                    true => format!("the connection to the mothership at {address} was lost"),
                    false => format!("no mothership answers at {address} from here"),
                };
                self.shared.lock().failure = Some(why);
                return;
            }
            thread::sleep(RETRY_INTERVAL);
        }
    }

    /// Exchanges messages with the mothership until the connection ends.
    fn attend(&mut self, mut link: Link) -> Result<Next, Error> {
        const STOP_CHECK_INTERVAL: Duration = Duration::from_millis(500);
        link.say(&ToMothership::Server(Box::new(self.hello.clone())))?;
        self.shared.lock().is_news = true;
        let (mut heard, mut said) = (Instant::now(), Instant::now());
        while heard.elapsed() < SILENCE_TIMEOUT {
            // Unchanged totals are sent again, so that the rates at the mothership fall to zero.
            let due = said.elapsed() >= HEARTBEAT_INTERVAL;
            let news = {
                let mut state = self.shared.lock();
                let is_news = std::mem::take(&mut state.is_news);
                (is_news || due).then(|| state.sessions.clone())
            };
            if let Some(sessions) = news {
                link.say(&ToMothership::Sessions(sessions))?;
                said = Instant::now();
            }
            match link.recv(STOP_CHECK_INTERVAL)? {
                None => continue,
                Some(FromMothership::Registered) => {
                    tracing::info!("registered as {} at {}", self.hello.name, self.address);
                    self.was_taken = true;
                }
                Some(FromMothership::End) => {
                    tracing::info!("the mothership has told this server to end");
                    return Ok(Next::End);
                }
                Some(FromMothership::Refused(why)) if self.was_taken && !self.hello.is_ours => {
                    return Err(Error::Refused(why));
                }
                Some(FromMothership::Refused(why)) => {
                    self.shared.lock().failure = Some(why);
                    return Ok(Next::End);
                }
                Some(_) => {}
            }
            heard = Instant::now();
        }
        Ok(Next::Again)
    }
}
