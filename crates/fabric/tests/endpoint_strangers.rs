//! Tests that an endpoint refuses clients that do not ask for a link, and processes of other users.

mod support;

use std::net::TcpStream;
use std::os::unix::net::{SocketAddr, UnixStream};
use std::thread;
use std::time::{Duration, Instant};

use mgn_fabric::endpoint::{Endpoint, SendOptions, Wanted};
use mgn_fabric::{connect, Address, Config, Error, Listener, Transport};
use support::links::accept;
use support::other::{ready, Apart, Other, Part};
use support::*;

const ALL: [Kind; 5] = [
    ABSTRACT,
    UNIX,
    TCP4,
    TLS,
    Kind {
        transport: Transport::Unix,
        address: "unix:@",
    },
];

/// Not a test, but the code of the other process.
#[test]
fn child() {
    let Some(part) = Part::mine() else { return };
    let (address, kind) = (part.address, part.kind);
    let endpoint = Endpoint::new().unwrap();
    // A wrong token gives no more access than no token.
    let token = kind.token().map(|_| "9".repeat(64).parse().unwrap());
    let joined = endpoint.connect(&address, &kind.transport, token.as_ref(), b"", TIMEOUT);
    let found = look_inside(std::os::unix::process::parent_id());
    ready(&format!("{joined:?} {found:?}"));
    // The process keeps many silent connections, and makes new ones all the time.
    let mut unix = Vec::new();
    let mut tcp = Vec::new();
    loop {
        match &address {
            Address::Tcp { host, port, .. } => {
                tcp.extend(TcpStream::connect((host.as_str(), *port)))
            }
            Address::Abstract(name) => {
                use std::os::linux::net::SocketAddrExt;
                let place = SocketAddr::from_abstract_name(name).unwrap();
                unix.extend(UnixStream::connect_addr(&place));
            }
            Address::Unix(path) => unix.extend(UnixStream::connect(path)),
        }
        if tcp.len() + unix.len() > 300 {
            tcp.clear();
            unix.clear();
        }
        thread::sleep(Duration::from_millis(2));
    }
}

/// The data that another user's process reveals. It should be empty.
fn look_inside(pid: u32) -> Vec<String> {
    let mut found = Vec::new();
    for place in ["fd", "map_files"] {
        if std::fs::read_dir(format!("/proc/{pid}/{place}")).is_ok() {
            found.push(place.into());
        }
    }
    for number in 0..64 {
        if std::fs::File::open(format!("/proc/{pid}/fd/{number}")).is_ok() {
            found.push(format!("fd/{number}"));
        }
    }
    if std::fs::File::open(format!("/proc/{pid}/mem")).is_ok() {
        found.push("mem".into());
    }
    // SAFETY: system calls that take numbers only.
    unsafe {
        let process = libc::syscall(libc::SYS_pidfd_open, pid, 0);
        for number in 0..64 {
            if process >= 0 && libc::syscall(libc::SYS_pidfd_getfd, process, number, 0) >= 0 {
                found.push(format!("descriptor {number}"));
            }
        }
    }
    found
}

/// Checks that permitted clients can connect and exchange messages.
fn works(endpoint: &Endpoint, listener: &Listener, kind: &Kind) {
    let other = Endpoint::new().unwrap();
    let (there, here) = thread::scope(|scope| {
        let there = scope.spawn(|| accept(endpoint, listener));
        let token = kind.token();
        let address = listener.address();
        let here = other.connect(address, &kind.transport, token.as_ref(), b"", TIMEOUT);
        (there.join().unwrap(), here.unwrap())
    });
    for number in 0..50 {
        let sent = pattern(number, 9000);
        other.send(here, 1, &sent, SendOptions::default()).unwrap();
        let mut into = vec![0; 9000];
        endpoint.recv(Wanted::new(there, 1), &mut into).unwrap();
        assert!(into == sent);
    }
}

#[test]
fn who_wants_something_else_is_told_what_there_is() {
    for kind in ALL {
        let endpoint = Endpoint::new().unwrap();
        let (listener, _folder) = kind.listen();
        let mut other_version = b"MgnE\x04\x01".to_vec();
        other_version.extend([0; 16]);
        let wishes: [(&[u8], &str); 5] = [
            (b"", "an endpoint is served here"),
            (b"something else", "an endpoint is served here"),
            (&other_version, "another version"),
            (b"MgnE\x05\x01short", "is invalid"),
            (b"MgnE\x05\x07sixteen bytes of", "is invalid"),
        ];
        for (opening, hint) in wishes {
            let error = thread::scope(|scope| {
                let comes = scope.spawn(|| {
                    let (token, transport) = (kind.token(), kind.transport.clone());
                    connect(
                        listener.address(),
                        transport,
                        token.as_ref(),
                        opening,
                        TIMEOUT,
                    )
                });
                let accepted = endpoint.accept(listener.accept().unwrap());
                assert!(
                    matches!(accepted, Err(Error::PeerMisbehaved(_))),
                    "{accepted:?}"
                );
                comes.join().unwrap().unwrap_err()
            });
            assert!(matches!(error, Error::Refused(_)), "{error}");
            assert!(error.to_string().contains(hint), "{error}, and not {hint}");
        }
        // In the other direction: an endpoint connects to a server of plain connections.
        let error = thread::scope(|scope| {
            let comes = scope.spawn(|| {
                let token = kind.token();
                endpoint.connect(
                    listener.address(),
                    &kind.transport,
                    token.as_ref(),
                    b"",
                    TIMEOUT,
                )
            });
            let incoming = listener.accept().unwrap();
            let _connection = incoming.accept(b"welcome", &Config::default());
            comes.join().unwrap().unwrap_err()
        });
        assert!(matches!(error, Error::Refused(_)), "{error}");
        assert!(error.to_string().contains("serves no endpoint"), "{error}");
        works(&endpoint, &listener, &kind);
    }
}

#[test]
fn another_user_gets_nowhere_and_stops_nobody() {
    if mgn_sys::peer::own_uid() != 0 {
        eprintln!("SKIPPED: only root can use several users");
        return;
    }
    let nobody = Apart {
        user: Some(65534),
        ..Apart::default()
    };
    for kind in ALL {
        let endpoint = Endpoint::new().unwrap();
        let (listener, _folder) = kind.listen();
        works(&endpoint, &listener, &kind);
        let (_stranger, said) = thread::scope(|scope| {
            let start = || Other::start("stranger", &kind, listener.address(), nobody);
            let stranger = scope.spawn(start);
            while !stranger.is_finished() {
                let found = listener.accept_timeout(Duration::from_millis(20)).unwrap();
                assert!(found.is_none(), "{kind:?}: it was accepted");
            }
            stranger.join().unwrap()
        });
        // The process may not even connect to a socket in the file system.
        let is_refused = said.starts_with("Err(Auth(") || said.contains("PermissionDenied");
        assert!(is_refused && said.ends_with("[]"), "{kind:?}: {said}");
        // While the process keeps connecting, permitted clients are accepted.
        let start = Instant::now();
        for _ in 0..10 {
            works(&endpoint, &listener, &kind);
        }
        assert!(
            start.elapsed() < Duration::from_secs(60),
            "{:?}",
            start.elapsed()
        );
    }
}
