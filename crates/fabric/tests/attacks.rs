//! Floods of connections that do not authenticate, and clients that connect nevertheless.

mod support;

use std::net::SocketAddr;
use std::sync::{Barrier, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use mgn_fabric::{connect, Address, Config, Listener, Relay, Targets, Token, Transport};
use support::attack::{far_way_to, survive};
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
    for (scheme, text) in [("tcp", &b""[..]), ("tcp", HELLO), ("tls", RECORD)] {
        let server = place(&serve(scheme));
        let far = format!("{scheme}:{}", far_way_to(server)).parse().unwrap();
        survive(server, text, || come_in(&far));
    }
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

/// The processes of a job do this, and so do machines behind one address.
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
