//! Endpoints with links of every kind.

// Each test program uses a part of it.
#![allow(dead_code)]

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use mgn_fabric::endpoint::{Endpoint, Joined, LinkId, Settings};
use mgn_fabric::{Listener, Token, Transport};

pub const TRANSPORTS: [Transport; 3] = [Transport::Shm, Transport::Unix, Transport::Tcp];

pub const LONG: Option<Duration> = Some(Duration::from_secs(20));

pub fn token(transport: &Transport) -> Option<Token> {
    (*transport == Transport::Tcp).then(|| "5".repeat(64).parse().unwrap())
}

pub fn listen(transport: &Transport) -> Listener {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let name = NEXT.fetch_add(1, Ordering::Relaxed);
    let address = match transport {
        Transport::Tcp => "tcp:127.0.0.1:0".into(),
        _ => format!("unix:@mgn-links-{}-{name}", std::process::id()),
    };
    Listener::bind(&address.parse().unwrap(), token(transport)).unwrap()
}

pub fn accept(endpoint: &Endpoint, listener: &Listener) -> LinkId {
    loop {
        let incoming = listener.accept().unwrap();
        if let Joined::Link(link, _) = endpoint.accept(incoming).unwrap() {
            return link;
        }
    }
}

pub fn connect(endpoint: &Endpoint, listener: &Listener, transport: &Transport) -> LinkId {
    let token = token(transport);
    let patience = Duration::from_secs(10);
    endpoint
        .connect(listener.address(), transport, token.as_ref(), b"", patience)
        .unwrap()
}

/// Two endpoints with these settings and their links. The second one has accepted the first.
pub fn pair(
    transport: &Transport,
    one: Settings,
    other: Settings,
) -> ((Endpoint, LinkId), (Endpoint, LinkId)) {
    let listener = listen(transport);
    let one = Endpoint::with(one).unwrap();
    let other = Endpoint::with(other).unwrap();
    let (here, there) = thread::scope(|scope| {
        let there = scope.spawn(|| accept(&other, &listener));
        let here = connect(&one, &listener, transport);
        (here, there.join().unwrap())
    });
    ((one, here), (other, there))
}

pub fn pattern(len: usize, seed: usize) -> Vec<u8> {
    (0..len)
        .map(|at| (at * 31 + at / 251 + seed) as u8)
        .collect()
}
