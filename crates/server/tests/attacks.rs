//! Connections that do not identify themselves, and the sessions that begin nevertheless.

// The encoder copies what it is pointed at.
#![allow(clippy::undocumented_unsafe_blocks)]

#[path = "../../fabric/tests/support/attack.rs"]
mod attack;
#[allow(dead_code)]
#[macro_use]
mod support;

use std::net::SocketAddr;
use std::time::Duration;

use attack::{far_way_to, survive_in};
use mgn_fabric::{connect, Error, Role as TokenRole, Token, Transport};
use mgn_wire::hello::Role;
use support::{opening, Server};

processes!();

#[test]
fn a_flood_keeps_no_session_from_beginning() {
    attack::take_all_descriptors();
    let server = Server::start(true, &[]);
    let address = server.address.to_string();
    let place: SocketAddr = address.strip_prefix("tcp:").unwrap().parse().unwrap();
    let far = format!("tcp:{}", far_way_to(place)).parse().unwrap();
    let lines = || server.log().lines().count();
    for text in [&b""[..], b"\x93MGNFAB\n"] {
        survive_in(server.child.id(), lines, place, text, || {
            let opening = opening(Role::Session {
                program: "test".into(),
                pid: std::process::id(),
                tile: None,
                shown: None,
                window: None,
            });
            let (token, patience) = (server.token.as_ref(), Duration::from_secs(20));
            connect(&far, Transport::Tcp, token, &opening, patience).unwrap();
        });
    }
}

/// A process with a server's token cannot use the servers of a wall.
#[test]
fn a_server_has_no_sessions() {
    let token = |role| Token::new("gpu", role).unwrap();
    for (token, may) in [
        (token(TokenRole::Server), false),
        (token(TokenRole::Client), true),
    ] {
        let server = Server::start(true, &[("TEST_TOKEN", &token.to_text())]);
        let opening = opening(Role::Session {
            program: "test".into(),
            pid: std::process::id(),
            tile: None,
            shown: None,
            window: None,
        });
        let patience = Duration::from_secs(20);
        let opened = connect(
            &server.address,
            Transport::Tcp,
            Some(&token),
            &opening,
            patience,
        );
        match opened.map(drop) {
            Ok(()) => assert!(may),
            Err(Error::Forbidden(why)) => assert!(!may && why.contains("role client"), "{why}"),
            Err(error) => panic!("{error}"),
        }
    }
}
