//! A relay: it forwards connections to servers that clients cannot reach themselves.
//!
//! A client proves to the relay that it knows the token, as it does to a server, and names a server
//! in its opening. After the relay has accepted it, all further bytes on the socket are between the
//! client and the server. They begin with the server's own handshake. If the address is `tls:`,
//! they are encrypted, and the relay cannot read them.

use std::collections::BTreeMap;
use std::io::{IoSlice, IoSliceMut};
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use rustix::event::PollFlags;
use rustix::io::Errno;
use rustix::net::{shutdown, Shutdown};

use crate::admission::Refusals;
use crate::byte_stream::ByteStream;
use crate::peer::{Peer, SILENCE_TIME};
use crate::wait::Deadline;
use crate::{
    connect, is_name, printable, Access, Address, Caller, Error, Incoming, Listener, Token,
};

/// The maximum number of connections. A session has two.
const CONNECTIONS_MAX: usize = 1024;

/// The size of the buffer for bytes that one end has sent and the other has not read, in addition
/// to the system's buffers.
const BUFFER: usize = 64 << 10;

/// The time limit for reaching a server. It is shorter than clients wait.
const REACH_TIME: Duration = Duration::from_secs(10);

const MAGIC: &[u8] = b"mgn relay 1\n";

/// A client's opening for a relay.
pub(crate) fn opening(server: &str) -> Vec<u8> {
    [MAGIC, server.as_bytes()].concat()
}

/// The server that an opening names.
pub(crate) fn asked_for(opening: &[u8]) -> Option<&str> {
    std::str::from_utf8(opening.strip_prefix(MAGIC)?).ok()
}

/// The relay's servers, by the names that clients use.
pub type Targets = BTreeMap<String, Address>;

/// A directory of servers in addition to a relay's targets. `find` returns the address of a server,
/// encrypted or not as requested, or the reason why there is none.
pub trait Directory: std::fmt::Debug + Send + Sync {
    fn find(&self, name: &str, encrypted: bool) -> Result<Address, String>;
}

/// A relay that listens.
#[derive(Debug)]
pub struct Relay {
    listener: Listener,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    token: Option<Token>,
    targets: Targets,
    others: Option<Arc<dyn Directory>>,
    /// Whether the relay listens at, and forwards to, encrypted addresses.
    encrypted: bool,
    connections: Mutex<Connections>,
}

/// The connections that have a place.
#[derive(Debug)]
struct Connections {
    all: BTreeMap<u64, Caller>,
    next: u64,
    refusals: Refusals,
}

impl Relay {
    /// Listens for clients that `access` admits. The relay does not check their roles, because the
    /// server checks them. The relay proves `token` to other relays on the way to a server. If
    /// `others` is given, the relay looks up names there that are not targets.
    ///
    /// # Errors
    /// As for [`Listener::bind`]; [`Error::Address`] if this address or a server's is not `tcp:` or
    /// `tls:`, or if one is encrypted and the other is not.
    pub fn bind(
        address: &Address,
        access: impl Into<Access>,
        token: Option<Token>,
        targets: Targets,
        others: Option<Arc<dyn Directory>>,
    ) -> Result<Relay, Error> {
        let listens = kind(address)?;
        for target in targets.values() {
            if kind(target)? != listens {
                return Err(Error::Address {
                    text: target.to_string(),
                    why: "a relay at tls: forwards only to servers at tls:, and one at tcp: only to tcp:",
                });
            }
        }
        Ok(Relay {
            listener: Listener::bind(address, access)?,
            shared: Arc::new(Shared {
                token,
                targets,
                others,
                encrypted: listens,
                connections: Mutex::new(Connections {
                    all: BTreeMap::new(),
                    next: 0,
                    refusals: Refusals::of("connections that were not forwarded"),
                }),
            }),
        })
    }

    /// The address at which clients can connect, with the chosen port.
    pub fn address(&self) -> &Address {
        self.listener.address()
    }

    /// Forwards connections until the listener fails.
    ///
    /// # Errors
    /// The listener's error, when it cannot listen any more.
    pub fn run(&self) -> Result<(), Error> {
        loop {
            let incoming = self.listener.accept()?;
            let place = match ConnectionSlot::take(&self.shared, incoming.caller()) {
                Ok(place) => place,
                Err(why) => {
                    self.shared.turn_away(incoming, &why);
                    continue;
                }
            };
            let serve = move || place.serve(incoming);
            let begun = thread::Builder::new().name("relay".into()).spawn(serve);
            if let Err(error) = begun {
                tracing::warn!("cannot start a thread for a client: {error}");
            }
        }
    }
}

/// Whether an address is encrypted.
fn kind(address: &Address) -> Result<bool, Error> {
    match address {
        Address::Tcp { tls, .. } => Ok(*tls),
        other => Err(Error::Address {
            text: other.to_string(),
            why: "relays listen at, and forward to, tcp:HOST:PORT or tls:HOST:PORT",
        }),
    }
}

impl Shared {
    fn connections(&self) -> MutexGuard<'_, Connections> {
        let connections = self.connections.lock();
        connections.unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells a client the reason why its connection is not forwarded, and logs the reason, unless a
    /// similar refusal was logged a short time ago.
    fn turn_away(&self, incoming: Incoming, why: &str) {
        let (source, name) = (incoming.caller().source(), incoming.name());
        let mut connections = self.connections();
        connections.refusals.log_report();
        connections.refusals.log(source, &name, None, why);
        drop(connections);
        incoming.refuse(why);
    }
}

/// One of the permitted connections.
struct ConnectionSlot {
    shared: Arc<Shared>,
    number: u64,
}

impl ConnectionSlot {
    /// A place for a client's connection, or the reason why there is none.
    fn take(shared: &Arc<Shared>, caller: Caller) -> Result<ConnectionSlot, String> {
        let mut connections = shared.connections();
        caller.may_enter("the relay", CONNECTIONS_MAX, connections.all.values())?;
        let number = connections.next;
        connections.next += 1;
        connections.all.insert(number, caller);
        drop(connections);
        let shared = shared.clone();
        Ok(ConnectionSlot { shared, number })
    }

    /// Serves a client until both ends have closed, or one end is lost.
    fn serve(&self, incoming: Incoming) {
        let who = incoming.name();
        let (name, socket) = match self.reach(incoming.opening()) {
            Ok(reached) => reached,
            Err(why) => return self.shared.turn_away(incoming, &why),
        };
        let client = match incoming.let_through() {
            Ok(client) => client,
            Err(error) => return tracing::warn!("cannot forward {who} to {name}: {error}"),
        };
        tracing::info!("forwarding {who} to {name}");
        let peer = |socket: OwnedFd, name: &str| {
            Peer::tcp(ByteStream::clear(socket), name.into(), SILENCE_TIME)
        };
        let ends = [peer(client, &who), peer(socket, &name)];
        let bytes = join(&ends);
        tracing::info!("{who} has left {name} after {bytes} bytes");
    }

    /// A socket to the server that a client asks for, or the reason why there is none.
    fn reach(&self, opening: &[u8]) -> Result<(String, OwnedFd), String> {
        let Shared {
            targets, others, ..
        } = &*self.shared;
        let known = || {
            let mut all: Vec<&str> = targets.keys().map(String::as_str).collect();
            if others.is_some() {
                all.push("the mothership's servers");
            }
            all.join(", ")
        };
        let Some(asked) = asked_for(opening) else {
            return Err(format!(
                "this is a relay; name a server behind it, as in tls:HOST:PORT/NAME: {}",
                known()
            ));
        };
        let name = printable(asked, 64);
        let unknown = |why: String| {
            format!(
                "the relay knows no server {name}{why}; it forwards to {}",
                known()
            )
        };
        let address = match (targets.get(asked), others) {
            (Some(address), _) => address.clone(),
            (None, Some(others)) if is_name(asked) => others
                .find(asked, self.shared.encrypted)
                .map_err(|why| unknown(format!(" ({why})")))?,
            _ => return Err(unknown(String::new())),
        };
        let deadline = Deadline::after(Some(REACH_TIME));
        match connect::reach(&address, self.shared.token.as_ref(), &deadline) {
            Ok(socket) => Ok((name, socket)),
            Err(error) => Err(format!("the relay cannot reach {name}: {error}")),
        }
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        self.shared.connections().all.remove(&self.number);
    }
}

/// Forwards in both directions until both directions have ended, or one end is gone. Returns the
/// number of forwarded bytes.
fn join(ends: &[Peer; 2]) -> u64 {
    let [client, server] = ends;
    let carried = AtomicU64::new(0);
    let way = |from: &Peer, to: &Peer| {
        if carry(from, to, &carried).is_err() {
            client.hang_up();
            server.hang_up();
        }
    };
    thread::scope(|scope| {
        let back = thread::Builder::new().name("relay".into());
        match back.spawn_scoped(scope, || way(server, client)) {
            Ok(_) => way(client, server),
            Err(error) => tracing::warn!("cannot start a thread for a client: {error}"),
        }
    });
    carried.into_inner()
}

/// Forwards in one direction. Reads more only after the other end has accepted everything. Returns
/// an error if an end is gone.
fn carry(from: &Peer, to: &Peer, carried: &AtomicU64) -> Result<(), Errno> {
    let mut buffer = vec![0; BUFFER];
    let wait = |peer: &Peer, wanted| match peer.wait(wanted, None) {
        Ok(true) => Ok(()),
        _ => Err(Errno::PIPE),
    };
    loop {
        let got = match from.line().recv(&mut [IoSliceMut::new(&mut buffer)]) {
            Ok(got) => got,
            Err(Errno::AGAIN) => {
                wait(from, PollFlags::IN)?;
                continue;
            }
            Err(Errno::PIPE) => return shutdown(to.socket(), Shutdown::Write),
            Err(error) => return Err(error),
        };
        let mut rest = &buffer[..got];
        while !rest.is_empty() {
            match to.line().send(&[IoSlice::new(rest)]) {
                Ok(sent) => rest = &rest[sent..],
                Err(Errno::AGAIN) => wait(to, PollFlags::OUT)?,
                Err(error) => return Err(error),
            }
        }
        carried.fetch_add(got as u64, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};

    use super::*;
    use crate::wait::ready;
    use crate::{connect, Config, Connection, Transport};

    const TIMEOUT: Duration = Duration::from_secs(10);

    fn token() -> Token {
        "0123456789abcdef".repeat(4).parse().unwrap()
    }

    fn relay(scheme: &str, targets: &[(&str, &Address)]) -> Address {
        let targets = targets.iter();
        let targets = targets.map(|(name, address)| (name.to_string(), (*address).clone()));
        let address = format!("{scheme}:127.0.0.1:0").parse().unwrap();
        let relay = Relay::bind(
            &address,
            Some(token()),
            Some(token()),
            targets.collect(),
            None,
        )
        .unwrap();
        let address = relay.address().clone();
        thread::spawn(move || relay.run());
        address
    }

    fn behind(relay: &Address, server: &str) -> Address {
        format!("{relay}/{server}").parse().unwrap()
    }

    fn server(scheme: &str) -> Listener {
        let address = format!("{scheme}:[::1]:0").parse().unwrap();
        Listener::bind(&address, Some(token())).unwrap()
    }

    /// A listener that speaks no protocol, and its address.
    fn plain() -> (TcpListener, Address) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("tcp:{}", listener.local_addr().unwrap());
        (listener, address.parse().unwrap())
    }

    fn joined(listener: &Listener, address: &Address) -> [Connection; 2] {
        thread::scope(|scope| {
            let client =
                || connect::connect(address, Transport::Tcp, Some(&token()), b"me", TIMEOUT);
            let client = scope.spawn(client);
            let incoming = listener.accept().unwrap();
            assert_eq!(incoming.opening(), b"me");
            let server = incoming.accept(b"", &Config::default()).unwrap();
            [client.join().unwrap().unwrap().0, server]
        })
    }

    fn refusal(address: &Address, token: &Token) -> Error {
        connect::connect(address, Transport::Tcp, Some(token), b"", TIMEOUT).unwrap_err()
    }

    #[test]
    fn messages_go_both_ways_until_an_end_ends() {
        for scheme in ["tcp", "tls"] {
            let listener = server(scheme);
            let first = relay(scheme, &[("gpu", listener.address())]);
            let second = relay(scheme, &[("far", &behind(&first, "gpu"))]);
            for address in [behind(&first, "gpu"), behind(&second, "far")] {
                let pairs: Vec<_> = (0..20).map(|_| joined(&listener, &address)).collect();
                for (number, pair) in pairs.into_iter().enumerate() {
                    let [one, other] = pair.map(Connection::split);
                    for (from, mut to) in [(&one.0, other.1), (&other.0, one.1)] {
                        let message = vec![number as u8; 250_000];
                        for _ in 0..4 {
                            from.send(&message).unwrap();
                            let got = to.recv(Some(TIMEOUT)).unwrap().unwrap();
                            assert_eq!(got.to_vec(), message);
                        }
                    }
                }
                let [client, server] = joined(&listener, &address);
                let mut server = server.split();
                drop(client);
                assert!(matches!(
                    server.1.recv(Some(TIMEOUT)),
                    Err(Error::Closed(_))
                ));
                let [client, server] = joined(&listener, &address);
                let mut client = client.split();
                drop(server);
                assert!(matches!(
                    client.1.recv(Some(TIMEOUT)),
                    Err(Error::Closed(_))
                ));
            }
        }
    }

    #[test]
    fn whoever_is_not_carried_is_told_why() {
        let (closed, nobody) = plain();
        drop(closed);
        let relay = relay("tcp", &[("gone", &nobody)]);
        let wrong = refusal(&behind(&relay, "gone"), &Token::generate());
        assert!(matches!(wrong, Error::Auth(_)), "{wrong}");
        for (address, words) in [
            (
                behind(&relay, "other"),
                "knows no server other; it forwards to gone",
            ),
            (behind(&relay, "gone"), "cannot reach gone"),
            (relay, "this is a relay"),
        ] {
            let error = refusal(&address, &token());
            assert!(
                matches!(&error, Error::Refused(why) if why.contains(words)),
                "{error}"
            );
        }
        let secret = "tls:[::1]:0".parse().unwrap();
        for target in ["tcp:[::1]:7", "unix:@x"] {
            let targets = Targets::from([("it".into(), target.parse().unwrap())]);
            let error = Relay::bind(&secret, Some(token()), None, targets, None).unwrap_err();
            assert!(error.to_string().contains(target), "{error}");
        }
    }

    #[test]
    fn the_token_is_proved_to_the_server_too() {
        let address = "tls:[::1]:0".parse().unwrap();
        let other = Listener::bind(&address, Some(Token::generate())).unwrap();
        let relay = relay("tls", &[("other", other.address())]);
        thread::scope(|scope| {
            scope.spawn(|| other.accept_timeout(Duration::from_secs(2)));
            let error = refusal(&behind(&relay, "other"), &token());
            assert!(matches!(error, Error::Auth(_)), "{error}");
        });
    }

    #[test]
    fn a_server_that_says_nothing_is_given_up() {
        let (_silent, nobody) = plain();
        let address = behind(&relay("tcp", &[("silent", &nobody)]), "silent");
        let short = Duration::from_millis(300);
        let error = connect::connect(&address, Transport::Tcp, Some(&token()), b"", short);
        assert!(matches!(error, Err(Error::TimedOut(_))));
    }

    #[test]
    fn little_is_kept_for_a_client_that_does_not_read() {
        let (listener, target) = plain();
        let address = behind(&relay("tcp", &[("flood", &target)]), "flood");
        let deadline = Deadline::after(Some(TIMEOUT));
        let client = connect::reach(&address, Some(&token()), &deadline).unwrap();
        let (mut server, _) = listener.accept().unwrap();
        server.set_nonblocking(true).unwrap();
        let mut sent = 0;
        while ready(
            std::os::fd::AsFd::as_fd(&server),
            PollFlags::OUT,
            &Deadline::after(Some(Duration::from_secs(1))),
        )
        .unwrap()
        {
            sent += server.write(&[5; 1 << 16]).unwrap();
            assert!(sent < 256 << 20, "the system's buffers are smaller");
        }
        // All bytes arrive when the client finally reads.
        drop(server);
        let mut client = TcpStream::from(client);
        client.set_nonblocking(false).unwrap();
        let mut got = Vec::new();
        client.read_to_end(&mut got).unwrap();
        assert!(got.len() == sent && got.iter().all(|byte| *byte == 5));
    }
}
