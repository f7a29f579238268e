//! Helpers for tests: connections of every kind.

// Each test program uses a part of this module.
#![allow(dead_code)]

pub mod attack;
pub mod links;
pub mod networks;
pub mod other;

use std::fmt;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::{self, ScopedJoinHandle};
use std::time::{Duration, Instant};

use mgn_fabric::{connect, Address, Config, Connection, Listener, Token, Transport};

pub const TIMEOUT: Duration = Duration::from_secs(10);

/// A kind of connection between two ends.
#[derive(Clone, Debug)]
pub struct Kind {
    pub transport: Transport,
    pub address: &'static str,
}

pub const SHM: Kind = Kind {
    transport: Transport::Shm,
    address: "unix:",
};
pub const UNIX: Kind = Kind {
    transport: Transport::Unix,
    address: "unix:",
};
pub const ABSTRACT: Kind = Kind {
    transport: Transport::Shm,
    address: "unix:@",
};
pub const TCP4: Kind = Kind {
    transport: Transport::Tcp,
    address: "tcp:127.0.0.1:0",
};
pub const TCP6: Kind = Kind {
    transport: Transport::Tcp,
    address: "tcp:[::1]:0",
};

pub const TLS: Kind = Kind {
    transport: Transport::Tcp,
    address: "tls:127.0.0.1:0",
};

impl fmt::Display for Kind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} at {}", self.transport, self.address)
    }
}

impl Kind {
    pub fn is_shm(&self) -> bool {
        self.transport == Transport::Shm
    }

    pub fn token(&self) -> Option<Token> {
        let token = "0123456789abcdef".repeat(4).parse().unwrap();
        (self.transport == Transport::Tcp).then_some(token)
    }

    pub fn listen(&self) -> (Listener, Folder) {
        let folder = Folder::new();
        let name = folder.path().file_name().unwrap().to_str().unwrap();
        let address: Address = match self.address {
            "unix:" => Address::Unix(folder.path().join("socket")),
            "unix:@" => Address::Abstract(name.into()),
            text => text.parse().unwrap(),
        };
        (Listener::bind(&address, self.token()).unwrap(), folder)
    }

    /// Both ends of a connection: the client's and the server's.
    pub fn join(&self, config: &Config) -> (Connection, Connection) {
        let (listener, _folder) = self.listen();
        let address = listener.address().clone();
        thread::scope(|scope| {
            let client = scope.spawn(move || {
                let token = self.token();
                let transport = self.transport.clone();
                connect(&address, transport, token.as_ref(), b"opening", TIMEOUT).unwrap()
            });
            let incoming = listener
                .accept_timeout(TIMEOUT)
                .unwrap()
                .expect("a client has connected");
            assert_eq!(incoming.opening(), b"opening");
            assert_eq!(incoming.transport(), &self.transport);
            let server = incoming.accept(b"welcome", config).unwrap();
            let (client, welcome) = client.join().unwrap();
            assert_eq!(welcome, b"welcome");
            (client, server)
        })
    }
}

/// Runs the listener until `client` has ended, and checks that it accepts no client meanwhile.
pub fn lets_nobody_in<T>(listener: &Listener, client: &ScopedJoinHandle<T>) {
    let mut is_over = false;
    while !is_over {
        is_over = client.is_finished();
        let found = listener.accept_timeout(Duration::from_millis(20)).unwrap();
        assert!(found.is_none(), "a client was accepted");
    }
}

/// Runs the listener, which must accept no client, until it closes the connection to `stranger`.
/// Returns the bytes that `stranger` received. Reads from `stranger` must not block, because the
/// listener may have to run first.
pub fn told_until_closed(listener: &Listener, mut stranger: impl Read) -> io::Result<Vec<u8>> {
    let (start, mut told) = (Instant::now(), Vec::new());
    loop {
        let found = listener.accept_timeout(Duration::from_millis(20)).unwrap();
        assert!(found.is_none(), "a client was accepted");
        match stranger.read_to_end(&mut told) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                assert!(
                    start.elapsed() < 2 * TIMEOUT,
                    "the listener does not close it"
                );
            }
            end => return end.map(|_| told),
        }
    }
}

/// A private folder that is removed when dropped.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new() -> Folder {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("mgn-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Small chunks, so that tests reach every limit.
pub fn small() -> Config {
    Config {
        message_max: 8192,
        send_pool_bytes: 4 * 8192,
        recv_pool_bytes: 4 * 8192,
        large_max: 8 << 20,
        ..Config::default()
    }
}

/// Bytes that are different for each message and change with the position.
pub fn pattern(number: usize, len: usize) -> Vec<u8> {
    (0..len)
        .map(|at| (number * 31 + at * 7 + at / 251) as u8)
        .collect()
}
