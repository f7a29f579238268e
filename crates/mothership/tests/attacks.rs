//! Connections that do not identify themselves, or request what they may not have, and connections
//! that the mothership serves nevertheless.

#[path = "../../fabric/tests/support/attack.rs"]
mod attack;

use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use attack::{far_way_to, lines_logged, survive, LINES};
use mgn_fabric::{connect, Access, Address, Role, Store, Token, Transport};
use mgn_mothership::config::Mothership;
use mgn_mothership::protocol::{self, Opening, ToMothership};
use mgn_mothership::{run, status, stop, Config, Error, Options};

/// The log is the whole process's: one test at a time.
static ALONE: Mutex<()> = Mutex::new(());

/// A mothership that admits `admin`, among others.
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
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("tokens");
    let [client, admin] = [Role::Client, Role::Admin].map(|role| {
        let token = Token::new(&role.to_string(), role).unwrap();
        Store::add(&store, &token).unwrap();
        token
    });
    let access = Access::from(Arc::new(Store::open(&store).unwrap()));
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

#[test]
fn one_client_cannot_hold_all_places_of_the_mothership() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    attack::take_all_descriptors();
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("tokens");
    let tokens = [
        ("greedy", Role::Client),
        ("other", Role::Client),
        ("admin", Role::Admin),
    ];
    let [greedy, other, admin] = tokens.map(|(name, role)| {
        let token = Token::new(name, role).unwrap();
        Store::add(&store, &token).unwrap();
        token
    });
    let access = Access::from(Arc::new(Store::open(&store).unwrap()));
    let (_, address, running) = start(access, &admin);
    let opening = protocol::encode(&Opening {
        version: protocol::VERSION,
    });
    let enter = |token| {
        let limit = Duration::from_secs(60);
        connect(&address, Transport::Tcp, Some(token), &opening, limit)
    };
    let alive = protocol::encode(&ToMothership::Alive);
    let mut held = Vec::new();
    let refusal = loop {
        match enter(&greedy) {
            Ok((connection, _)) => held.push(connection.split()),
            Err(error) => break error.to_string(),
        }
        // Those that stay have to send something now and then.
        for (sender, _) in &held {
            sender.send(&alive).unwrap();
        }
        assert!(held.len() <= 250, "there is no limit");
    };
    assert_eq!(held.len(), 250, "{refusal}");
    assert!(refusal.contains("limit of 250 connections"), "{refusal}");
    enter(&other).unwrap();
    status(&address, Some(&admin)).unwrap();
    stop(&address, Some(&admin)).unwrap();
    running.join().unwrap().unwrap();
}
