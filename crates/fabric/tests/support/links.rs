//! Endpoints with links of every kind.

use std::thread;
use std::time::Duration;

use mgn_fabric::endpoint::{Endpoint, Joined, LinkId, Request, Settings};
use mgn_fabric::{Error, Listener};

pub use super::{Kind, SHM, TCP4, TIMEOUT, TLS, UNIX};

/// The kinds of links between endpoints.
pub const ALL: [Kind; 4] = [SHM, UNIX, TCP4, TLS];

/// The kinds of links within one host.
pub const HOST: [Kind; 2] = [SHM, UNIX];

pub const LONG: Option<Duration> = Some(Duration::from_secs(20));

pub fn accept(endpoint: &Endpoint, listener: &Listener) -> LinkId {
    accept_named(endpoint, listener).0
}

/// The next link, and the name that its peer gave. Ignores other connections that come before it.
pub fn accept_named(endpoint: &Endpoint, listener: &Listener) -> (LinkId, Vec<u8>) {
    loop {
        if let Ok(Joined::Link(link, name)) = endpoint.accept(listener.accept().unwrap()) {
            return (link, name);
        }
    }
}

pub fn try_connect(
    endpoint: &Endpoint,
    listener: &Listener,
    kind: &Kind,
    name: &[u8],
) -> Result<LinkId, Error> {
    let (address, token) = (listener.address(), kind.token());
    endpoint.connect(address, &kind.transport, token.as_ref(), name, TIMEOUT)
}

pub fn connect(endpoint: &Endpoint, listener: &Listener, kind: &Kind, name: &[u8]) -> LinkId {
    try_connect(endpoint, listener, kind, name).unwrap()
}

/// Whether `request` has ended now. If it has not ended, waits for its end, so that its memory is
/// free.
pub fn has_ended(endpoint: &Endpoint, request: Request) -> bool {
    let has_ended = endpoint.test(request).unwrap().is_some();
    if !has_ended {
        endpoint.wait(request, LONG).unwrap().unwrap();
    }
    has_ended
}

/// Two endpoints with these settings, and their links. The second endpoint has accepted the first.
pub fn pair(
    kind: &Kind,
    one: Settings,
    other: Settings,
) -> ((Endpoint, LinkId), (Endpoint, LinkId)) {
    let (listener, _folder) = kind.listen();
    let one = Endpoint::with(one).unwrap();
    let other = Endpoint::with(other).unwrap();
    let (here, there) = thread::scope(|scope| {
        let there = scope.spawn(|| accept_named(&other, &listener));
        let here = connect(&one, &listener, kind, b"somebody");
        let (there, name) = there.join().unwrap();
        assert_eq!(name, b"somebody");
        (here, there)
    });
    ((one, here), (other, there))
}

pub fn pattern(len: usize, seed: usize) -> Vec<u8> {
    (0..len)
        .map(|at| (at * 31 + at / 251 + seed) as u8)
        .collect()
}
