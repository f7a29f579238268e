//! Connections to viewers. The parent makes them, because a worker may make none.

use crate::broker::Outcome;
use crate::tile::{host_name, Permission, TARGETS_MAX};
use mgn_fabric::admission::Source;
use mgn_fabric::{Role, Token};
use mgn_viewer::{FeedOptions, NoViewer};
use mgn_wall::Target;
use mgn_wire::hello::Shown;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{channel, Receiver, TryRecvError};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The least time between connections of a session to one of its viewers.
const CONNECT_EVERY: Duration = Duration::from_millis(500);
/// The maximum number of connections that are being made at one time, for one client and for all. A
/// client can name a viewer that is slow to answer, which occupies a thread and some descriptors
/// meanwhile.
const CONNECTIONS_PER_CLIENT_MAX: usize = 16;
const CONNECTIONS_MAX: usize = 64;

/// The clients for which connections are being made, one entry for each connection.
static CLIENTS: Mutex<Vec<Source>> = Mutex::new(Vec::new());

/// An entry of `CLIENTS`. It belongs to the thread that connects, which may outlive the session.
struct Turn(Source);

impl Turn {
    /// None if the client, or all clients together, have reached the limit.
    fn take(client: Source) -> Option<Turn> {
        let mut all = CLIENTS.lock().unwrap_or_else(PoisonError::into_inner);
        let its = all.iter().filter(|other| **other == client).count();
        let is_free = all.len() < CONNECTIONS_MAX && its < CONNECTIONS_PER_CLIENT_MAX;
        is_free.then(|| {
            all.push(client);
            Turn(client)
        })
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut all = CLIENTS.lock().unwrap_or_else(PoisonError::into_inner);
        let at = all.iter().position(|client| *client == self.0);
        at.map(|at| all.swap_remove(at));
    }
}

/// A viewer that a session may show pictures at.
#[derive(Debug)]
pub(in crate::parent) struct Viewer {
    /// Its index among the places where the session's tile is shown.
    target: u16,
    feed: FeedOptions,
    /// When it was last connected to.
    last: Option<Instant>,
}

impl Viewer {
    /// The viewers at which a client may show its tile.
    pub fn all_of(
        shown: &Shown,
        permission: &Permission<'_>,
        tokens: &ViewerTokens<'_>,
    ) -> Vec<Viewer> {
        let [own] = &shown.wall.tiles[..] else {
            return Vec::new();
        };
        let targets = own.present.iter().take(TARGETS_MAX).zip(0..);
        let found = targets.filter_map(|(place, target)| match place {
            Target::Viewer(address) if permission.covers(place) => Some(Viewer {
                target,
                feed: FeedOptions {
                    viewer: address.parse().ok()?,
                    token: tokens.of(permission.allowed.contains(place)),
                    tile: shown.tile as u16,
                    name: host_name(),
                },
                last: None,
            }),
            _ => None,
        });
        found.collect()
    }
}

/// The tokens for viewers.
pub(in crate::parent) struct ViewerTokens<'a> {
    /// The server's own token.
    pub own: Option<&'a Token>,
    /// The token for connections back to the client, if the client has proved a token.
    pub callback: Option<Token>,
}

impl ViewerTokens<'_> {
    /// The token for a viewer. `is_owners` says that the server's owner has named the viewer;
    /// otherwise only the client has.
    fn of(&self, is_owners: bool) -> Option<Token> {
        // Viewers accept pictures only from tokens with the role server.
        let is_servers = |token: &&Token| token.identity().role.permits(Role::Server);
        let own = self.own.filter(is_servers);
        let callback = self.callback.as_ref();
        match is_owners {
            true => own.or(callback).cloned(),
            false => callback.or(own).cloned(),
        }
    }
}

/// The outcome of a connection to a session's viewer.
#[derive(Debug)]
pub(in crate::parent) struct Connected {
    pub session: u64,
    pub target: u16,
    pub outcome: Outcome,
}

/// The connections that are being made for a worker.
#[derive(Debug, Default)]
pub(in crate::parent) struct Connections {
    under_way: Vec<UnderWay>,
    /// Connections that failed at once.
    failed: Vec<Connected>,
}

#[derive(Debug)]
struct UnderWay {
    session: u64,
    target: u16,
    /// Reaches its end when there is an outcome.
    done: UnixStream,
    outcome: Receiver<Outcome>,
}

impl Connections {
    /// Connects to a viewer of the session, on a thread.
    ///
    /// # Errors
    /// If the session has no such viewer, or a connection to it is already being made.
    pub fn begin(
        &mut self,
        session: u64,
        target: u16,
        viewers: &mut [Viewer],
        client: Source,
    ) -> Result<(), String> {
        let mut viewers = viewers.iter_mut();
        let viewer = viewers.find(|viewer| viewer.target == target);
        let viewer =
            viewer.ok_or("a connection request for a viewer that its session does not have")?;
        let mut others = self.under_way.iter();
        if others.any(|other| (other.session, other.target) == (session, target)) {
            return Err("a second connection request for the same viewer".into());
        }
        match start(viewer, client) {
            Ok((done, outcome)) => self.under_way.push(UnderWay {
                session,
                target,
                done,
                outcome,
            }),
            Err(why) => self.refuse(session, target, &why, false),
        }
        Ok(())
    }

    /// Reports that no connection is made, and why.
    pub fn refuse(&mut self, session: u64, target: u16, why: &str, is_final: bool) {
        let why = why.into();
        self.failed.push(Connected {
            session,
            target,
            outcome: Err(NoViewer { why, is_final }),
        });
    }

    /// Descriptors that become readable when there is an outcome.
    pub fn descriptors(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.under_way.iter().map(|one| one.done.as_fd())
    }

    /// The next outcome, if there is one.
    pub fn next(&mut self) -> Option<Connected> {
        if let Some(failed) = self.failed.pop() {
            return Some(failed);
        }
        let mut under_way = self.under_way.iter().enumerate();
        let (at, outcome) = under_way.find_map(|(at, one)| match one.outcome.try_recv() {
            Ok(outcome) => Some((at, outcome)),
            Err(TryRecvError::Disconnected) => {
                let why = "the thread that connects has ended".into();
                let is_final = true;
                Some((at, Err(NoViewer { why, is_final })))
            }
            Err(TryRecvError::Empty) => None,
        })?;
        let UnderWay {
            session, target, ..
        } = self.under_way.swap_remove(at);
        Some(Connected {
            session,
            target,
            outcome,
        })
    }
}

/// Starts the thread that connects. Returns a socket that reaches its end when there is an outcome,
/// and the channel that delivers the outcome.
fn start(viewer: &mut Viewer, client: Source) -> Result<(UnixStream, Receiver<Outcome>), String> {
    let turn = Turn::take(client).ok_or("the server makes too many connections to viewers")?;
    let failed = |error: std::io::Error| error.to_string();
    let (done, end) = UnixStream::pair().map_err(failed)?;
    let (say, outcome) = channel();
    let now = Instant::now();
    let due = viewer.last.map(|last| last + CONNECT_EVERY);
    let pause = due.map_or(Duration::ZERO, |due| due.saturating_duration_since(now));
    viewer.last = Some(now + pause);
    let feed = viewer.feed.clone();
    let connect = move || {
        thread::sleep(pause);
        let connected = feed.connect_for_another();
        drop(turn);
        // The worker may have ended.
        let _ = say.send(connected);
        drop(end);
    };
    let name = "to a viewer".to_owned();
    let spawned = thread::Builder::new().name(name).spawn(connect);
    spawned.map_err(failed)?;
    Ok((done, outcome))
}

#[cfg(test)]
mod tests {
    use super::*;
    use mgn_fabric::{take_over, Address, Config, Listener};
    use rustix::event::{poll, PollFd, PollFlags};
    use std::net::IpAddr;

    const ME: Source = Source::User(0);

    fn viewer(target: u16, address: &Address, token: &Token) -> Viewer {
        Viewer {
            target,
            feed: FeedOptions {
                viewer: address.clone(),
                token: Some(token.clone()),
                tile: 0,
                name: "gpu".into(),
            },
            last: None,
        }
    }

    fn wait(connections: &mut Connections) -> Connected {
        loop {
            let mut fds: Vec<PollFd<'_>> = connections
                .descriptors()
                .map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN))
                .collect();
            assert!(!fds.is_empty());
            poll(&mut fds, None).unwrap();
            if let Some(connected) = connections.next() {
                return connected;
            }
        }
    }

    #[test]
    fn a_session_has_its_viewers_connected_to_and_nothing_else() {
        let token = Token::generate();
        let anywhere = "tls:127.0.0.1:0".parse().unwrap();
        let listener = Listener::bind(&anywhere, Some(token.clone())).unwrap();
        let address = listener.address().clone();
        let mut viewers = [viewer(2, &address, &token)];
        let mut connections = Connections::default();
        assert!(connections.begin(7, 0, &mut viewers, ME).is_err());
        assert_eq!(connections.descriptors().count(), 0);
        connections.begin(7, 2, &mut viewers, ME).unwrap();
        // Only one connection at a time.
        assert!(connections.begin(7, 2, &mut viewers, ME).is_err());
        let incoming = listener.accept().unwrap();
        let there = incoming.accept(b"", &Config::default()).unwrap();
        let connected = wait(&mut connections);
        assert_eq!((connected.session, connected.target), (7, 2));
        let (socket, bytes) = connected.outcome.unwrap();
        let (sender, _receiver) = take_over(socket, &bytes, &address).unwrap().split();
        sender.send(b"a picture").unwrap();
        let (_sender, mut receiver) = there.split();
        assert_eq!(receiver.recv(None).unwrap().unwrap().to_vec(), b"a picture");
        assert_eq!(connections.descriptors().count(), 0);
    }

    #[test]
    fn a_viewer_that_is_not_there_is_tried_again_after_a_pause() {
        let token = Token::generate();
        let anywhere = "tcp:127.0.0.1:0".parse().unwrap();
        let listener = Listener::bind(&anywhere, Some(token.clone())).unwrap();
        let address = listener.address().clone();
        drop(listener);
        let mut viewers = [viewer(0, &address, &token)];
        let mut connections = Connections::default();
        let began = Instant::now();
        for _ in 0..2 {
            connections.begin(7, 0, &mut viewers, ME).unwrap();
            let NoViewer { why, is_final } = wait(&mut connections).outcome.unwrap_err();
            assert!(why.contains("127.0.0.1") && !is_final, "{why}");
        }
        assert!(began.elapsed() >= CONNECT_EVERY);
    }

    #[test]
    fn no_client_has_all_connections() {
        let client = |number| Source::from(IpAddr::from([192, 0, 2, number]));
        let take = |number| {
            let turns = (0..CONNECTIONS_MAX).filter_map(|_| Turn::take(client(number)));
            turns.collect::<Vec<Turn>>()
        };
        let mut held: Vec<Vec<Turn>> = (1..=5).map(take).collect();
        let counts: Vec<usize> = held.iter().map(Vec::len).collect();
        assert_eq!(counts[..3], [CONNECTIONS_PER_CLIENT_MAX; 3]);
        // Other tests may hold some entries.
        assert!(counts.iter().sum::<usize>() <= CONNECTIONS_MAX);
        held.clear();
        assert!(Turn::take(client(1)).is_some());
    }

    /// A viewer that only the client has named gets the client's token, if there is one.
    #[test]
    fn each_viewer_has_its_token() {
        let token = |role| Some(Token::new("a", role).unwrap());
        let id = |token: &Option<Token>| token.as_ref().map(Token::id);
        let back = token(Role::Client).map(|client| client.for_callback());
        for (role, is_shown) in [(Role::Client, false), (Role::Server, true)] {
            let own = token(role);
            let tokens = ViewerTokens {
                own: own.as_ref(),
                callback: back.clone(),
            };
            let to_owners = if is_shown { &own } else { &back };
            assert_eq!(id(&tokens.of(true)), id(to_owners));
            assert_eq!(id(&tokens.of(false)), id(&back));
        }
        let none = ViewerTokens {
            own: None,
            callback: None,
        };
        assert!(none.of(true).is_none() && none.of(false).is_none());
    }
}
