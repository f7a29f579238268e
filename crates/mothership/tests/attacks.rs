//! Connections that do not say who they are, and whoever asks the mothership nevertheless.

#[path = "../../fabric/tests/support/attack.rs"]
mod attack;

use std::net::TcpListener;
use std::thread;
use std::time::{Duration, Instant};

use attack::{far_way_to, survive};
use mgn_fabric::Token;
use mgn_mothership::config::Mothership;
use mgn_mothership::{run, status, stop, Config, Error, Options};

#[test]
fn a_flood_keeps_nobody_from_the_mothership() {
    let token = Token::generate();
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let place = free.local_addr().unwrap();
    drop(free);
    let address = format!("tcp:{place}").parse().unwrap();
    let mothership = Mothership {
        listen: vec![format!("tcp:{place}").parse().unwrap()],
        ..Mothership::default()
    };
    let options = Options {
        config: Config {
            mothership,
            ..Config::default()
        },
        inherited: Vec::new(),
        command: "mgn".into(),
        access: Some(token.clone()).into(),
    };
    let running = thread::spawn(|| run(options));
    let start = Instant::now();
    while let Err(Error::NotThere(error)) = status(&address, Some(&token)) {
        assert!(start.elapsed() < Duration::from_secs(60), "{error}");
        thread::sleep(Duration::from_millis(10));
    }
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
