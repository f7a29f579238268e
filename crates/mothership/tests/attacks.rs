//! Connections that do not identify themselves or make forbidden requests, and other connections,
//! which the mothership continues to serve.

#[path = "../../fabric/tests/support/attack.rs"]
mod attack;

use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use attack::{far_way_to, lines_logged, survive, LINES};
use mgn_fabric::{connect, Access, Address, Receiver, Role, Sender, Store, Token, Transport};
use mgn_mothership::config::Mothership;
use mgn_mothership::protocol::{self, FromMothership, Opening, Request, ToMothership, Wanted};
use mgn_mothership::{run, status, stop, Config, Error, Options};
use tempfile::TempDir;

/// All tests of the process share one log, so they run one at a time.
static ALONE: Mutex<()> = Mutex::new(());

/// Starts a mothership that admits `admin`, among others.
fn start(access: Access, admin: &Token) -> (SocketAddr, Address, JoinHandle<Result<(), Error>>) {
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let place = free.local_addr().unwrap();
    drop(free);
    let address: Address = format!("tcp:{place}").parse().unwrap();
    let mothership = Mothership {
        listen: vec![address.clone()],
        ..Mothership::default()
    };
    let options = Options {
        config: Config {
            mothership,
            ..Config::default()
        },
        inherited: Vec::new(),
        command: "mgn".into(),
        access,
    };
    let running = thread::spawn(|| run(options));
    let start = Instant::now();
    while let Err(Error::NotThere(error)) = status(&address, Some(admin)) {
        assert!(start.elapsed() < Duration::from_secs(60), "{error}");
        thread::sleep(Duration::from_millis(10));
    }
    (place, address, running)
}

/// A folder with a store of these tokens.
fn store<const N: usize>(tokens: [(&str, Role); N]) -> (TempDir, Access, [Token; N]) {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("tokens");
    let tokens = tokens.map(|(name, role)| {
        let token = Token::new(name, role).unwrap();
        Store::add(&store, &token).unwrap();
        token
    });
    let access = Access::from(Arc::new(Store::open(&store).unwrap()));
    (folder, access, tokens)
}

fn enter(address: &Address, token: &Token) -> Result<(Sender, Receiver), mgn_fabric::Error> {
    let opening = protocol::encode(&Opening {
        version: protocol::VERSION,
    });
    let limit = Duration::from_secs(60);
    let (connection, _) = connect(address, Transport::Tcp, Some(token), &opening, limit)?;
    Ok(connection.split())
}

#[test]
fn a_flood_keeps_nobody_from_the_mothership() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let token = Token::generate();
    let (place, address, running) = start(Some(token.clone()).into(), &token);
    let far = format!("tcp:{}", far_way_to(place)).parse().unwrap();
    for text in [&b""[..], b"\x93MGNFAB\n"] {
        survive(place, text, || {
            let status = status(&far, Some(&token)).unwrap();
            assert_eq!(status.listening.len(), 1);
        });
    }
    stop(&address, Some(&token)).unwrap();
    running.join().unwrap().unwrap();
}

#[test]
fn those_who_ask_for_what_they_may_not_have_do_not_fill_the_log() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let tokens = [("client", Role::Client), ("admin", Role::Admin)];
    let (_folder, access, [client, admin]) = store(tokens);
    let (_, address, running) = start(access, &admin);
    let lines = lines_logged();
    for _ in 0..3 * LINES {
        let error = status(&address, Some(&client)).unwrap_err();
        assert!(matches!(error, Error::Forbidden(_)), "{error}");
    }
    let lines = lines_logged() - lines;
    assert!(lines < LINES, "{lines} lines were logged");
    stop(&address, Some(&admin)).unwrap();
    running.join().unwrap().unwrap();
}

/// A refused connection that continues to send does not keep its thread and its socket.
#[test]
fn who_is_turned_away_does_not_stay() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let tokens = [("client", Role::Client), ("admin", Role::Admin)];
    let (_folder, access, [client, admin]) = store(tokens);
    let (_, address, running) = start(access, &admin);
    let (sender, _receiver) = enter(&address, &client).unwrap();
    let send = |message: &ToMothership| sender.send(&protocol::encode(message));
    // A client may not ask for the status.
    send(&ToMothership::Status).unwrap();
    let start = Instant::now();
    while send(&ToMothership::Alive).is_ok() {
        assert!(start.elapsed() < Duration::from_secs(60), "it stays");
        thread::sleep(Duration::from_millis(50));
    }
    stop(&address, Some(&admin)).unwrap();
    running.join().unwrap().unwrap();
}

/// Requests that would cost the mothership much time or memory are refused.
#[test]
fn a_client_that_wants_too_much_is_refused() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let tokens = [("client", Role::Client), ("admin", Role::Admin)];
    let (_folder, access, [client, admin]) = store(tokens);
    let (_, address, running) = start(access, &admin);
    let (sender, mut receiver) = enter(&address, &client).unwrap();
    assert_eq!(sender.message_max(), protocol::CLIENT_MESSAGE_MAX);
    let mut request = Request::new(Wanted::Single(None), "a test");
    request.needs.extensions = (0..5000).map(|n| format!("{n:x}")).collect();
    let message = ToMothership::Client(Box::new(request));
    sender.send(&protocol::encode(&message)).unwrap();
    let refused = loop {
        let message = receiver.recv(Some(Duration::from_secs(60))).unwrap();
        let message = message.expect("an answer comes");
        match protocol::decode(&message.to_vec()).unwrap() {
            FromMothership::Alive => {}
            FromMothership::Refused(why) => break why,
            other => panic!("{other:?}"),
        }
    };
    assert!(refused.contains("5000 extensions"), "{refused}");
    let there = status(&address, Some(&admin)).unwrap();
    assert!(there.clients.is_empty());
    stop(&address, Some(&admin)).unwrap();
    running.join().unwrap().unwrap();
}

#[test]
fn one_client_cannot_hold_all_places_of_the_mothership() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    attack::take_all_descriptors();
    let tokens = [
        ("greedy", Role::Client),
        ("other", Role::Client),
        ("admin", Role::Admin),
    ];
    let (_folder, access, [greedy, other, admin]) = store(tokens);
    let (_, address, running) = start(access, &admin);
    let alive = protocol::encode(&ToMothership::Alive);
    let mut held = Vec::new();
    let refusal = loop {
        match enter(&address, &greedy) {
            Ok(halves) => held.push(halves),
            Err(error) => break error.to_string(),
        }
        // Connections that stay open must send messages regularly.
        for (sender, _) in &held {
            sender.send(&alive).unwrap();
        }
        assert!(held.len() <= 250, "there is no limit");
    };
    assert_eq!(held.len(), 250, "{refusal}");
    assert!(refusal.contains("limit of 250 connections"), "{refusal}");
    enter(&address, &other).unwrap();
    status(&address, Some(&admin)).unwrap();
    stop(&address, Some(&admin)).unwrap();
    running.join().unwrap().unwrap();
}
