//! Tests that clients can connect during floods of connections that do not authenticate.

mod support;

use std::net::SocketAddr;
use std::sync::{Arc, Barrier, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use mgn_fabric::{
    connect, Address, Config, Error, Listener, Relay, Role, Store, Targets, Token, Transport,
};
use support::attack::{self, far_way_to, lines_logged, survive, LINES};
use support::*;

/// The beginnings of a hello, and of a TLS record.
const HELLO: &[u8] = b"\x93MGNFAB\n";
const RECORD: &[u8] = &[22, 3, 1, 1, 0, 1];

/// The tests count log lines and memory of the whole process, so only one may run at a time.
static ALONE: Mutex<()> = Mutex::new(());

fn token() -> Token {
    "0123456789abcdef".repeat(4).parse().unwrap()
}

fn place(address: &Address) -> SocketAddr {
    let text = address.to_string();
    text.split_once(':').unwrap().1.parse().unwrap()
}

/// Accepts all clients for as long as the test program runs.
fn serve(scheme: &str) -> Address {
    let address = format!("{scheme}:127.0.0.1:0").parse().unwrap();
    let listener = Listener::bind(&address, Some(token())).unwrap();
    let address = listener.address().clone();
    thread::spawn(move || loop {
        let incoming = listener.accept().unwrap();
        // The client may have given up.
        let _ = incoming.accept(b"hi", &Config::default());
    });
    address
}

fn come_in(address: &Address) {
    let (_, welcome) = connect(address, Transport::Tcp, Some(&token()), b"", TIMEOUT).unwrap();
    assert_eq!(welcome, b"hi");
}

#[test]
fn a_flood_from_one_source_keeps_nobody_else_out() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    for (scheme, text) in [
        ("tcp", &b""[..]),
        ("tcp", HELLO),
        ("tls", b""),
        ("tls", RECORD),
    ] {
        let server = place(&serve(scheme));
        let far = format!("{scheme}:{}", far_way_to(server)).parse().unwrap();
        survive(server, text, || come_in(&far));
    }
}

#[test]
fn one_client_cannot_hold_all_places_of_a_relay() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    attack::take_all_descriptors();
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("tokens");
    let [greedy, other] = ["greedy", "other"].map(|name| {
        let token = Token::new(name, Role::Client).unwrap();
        Store::add(&store, &token).unwrap();
        token
    });
    // The server, too, admits both clients, by the tokens that they prove to it through the relay.
    let admits = || Arc::new(Store::open(&store).unwrap());
    let listener = Listener::bind(&"tcp:127.0.0.1:0".parse().unwrap(), admits()).unwrap();
    let targets = Targets::from([("gpu".into(), listener.address().clone())]);
    thread::spawn(move || loop {
        let incoming = listener.accept().unwrap();
        // Each connection stays until the client ends it.
        thread::spawn(move || {
            let connection = incoming.accept(b"hi", &Config::default()).unwrap();
            let (_sender, mut receiver) = connection.split();
            while receiver.recv(None).is_ok() {}
        });
    });
    let address = "tcp:127.0.0.1:0".parse().unwrap();
    let relay = Relay::bind(&address, admits(), None, targets, None).unwrap();
    let address: Address = format!("{}/gpu", relay.address()).parse().unwrap();
    thread::spawn(move || relay.run());
    let enter = |token| connect(&address, Transport::Tcp, Some(token), b"", TIMEOUT);
    let mut held = Vec::new();
    let refusal = loop {
        match enter(&greedy) {
            Ok((connection, _)) => held.push(connection),
            Err(error) => break error,
        }
        assert!(held.len() <= 256, "there is no limit");
    };
    assert_eq!(held.len(), 256, "{refusal}");
    let Error::Refused(why) = &refusal else {
        panic!("{refusal}")
    };
    assert!(why.contains("limit of 256 connections"), "{why}");
    enter(&other).unwrap();
    // A place becomes free when its connection has ended.
    drop(held.pop());
    let start = Instant::now();
    while enter(&greedy).is_err() {
        assert!(start.elapsed() < TIMEOUT, "its place stays taken");
        thread::sleep(Duration::from_millis(10));
    }
    // Refusals do not fill the log.
    let lines = lines_logged();
    for _ in 0..2 * LINES {
        let _ = connect(
            &format!("{address}x").parse().unwrap(),
            Transport::Tcp,
            Some(&other),
            b"",
            TIMEOUT,
        );
    }
    let lines = lines_logged() - lines;
    assert!(lines < LINES, "{lines} lines were logged");
}

#[test]
fn a_flood_keeps_nobody_from_a_relay() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let targets = Targets::from([("gpu".into(), serve("tcp"))]);
    let address = "tcp:127.0.0.1:0".parse().unwrap();
    let relay = Relay::bind(&address, Some(token()), None, targets, None).unwrap();
    let relay_place = place(relay.address());
    thread::spawn(move || relay.run());
    let far = format!("tcp:{}/gpu", far_way_to(relay_place))
        .parse()
        .unwrap();
    for text in [&b""[..], HELLO] {
        survive(relay_place, text, || come_in(&far));
    }
}

/// The processes of a job connect in this way, and so do machines behind one address.
#[test]
fn a_thousand_honest_clients_of_one_source_come_in_at_once() {
    const CLIENTS: usize = 1000;
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    support::attack::take_all_descriptors();
    for scheme in ["tcp", "tls"] {
        let server = serve(scheme);
        let together = Barrier::new(CLIENTS);
        thread::scope(|scope| {
            let client = || {
                together.wait();
                let (patience, token) = (Duration::from_secs(60), token());
                connect(&server, Transport::Tcp, Some(&token), b"", patience).map(drop)
            };
            let builder = || thread::Builder::new().stack_size(256 << 10);
            let clients = (0..CLIENTS).map(|_| builder().spawn_scoped(scope, client).unwrap());
            let clients: Vec<_> = clients.collect();
            for client in clients {
                client.join().unwrap().unwrap();
            }
        });
    }
}
