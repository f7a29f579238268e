//! The identity of a client.

use crate::memory::Share;
use mgn_fabric::admission::Source;
use mgn_fabric::{printable, Caller, Incoming};
use mgn_sys::peer::own_uid;
use mgn_sys::user;
use std::collections::BTreeMap;
use std::fmt;
use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};

/// A client as the kernel describes it, and its token.
#[derive(Debug, Clone)]
pub(super) struct Peer {
    pub caller: Caller,
    /// The name of the client's user, if the user is known and has a name.
    pub user: Option<String>,
    /// Only for TCP.
    pub address: Option<SocketAddr>,
}

impl Peer {
    pub fn of(incoming: &Incoming) -> Peer {
        let caller = incoming.caller();
        Peer {
            user: match caller.source() {
                Source::User(uid) => user_name(uid),
                _ => None,
            },
            address: incoming.place(),
            caller,
        }
    }

    /// Where the client comes from. Limits on sessions count by this: clients with different tokens
    /// at one address, or in one IPv6 network, count together.
    pub fn source(&self) -> Source {
        self.caller.source()
    }

    pub fn uid(&self) -> Option<u32> {
        self.source().uid()
    }

    /// The name of the token that the client has proved, for TCP.
    pub fn token(&self) -> Option<&str> {
        self.caller.identity().map(|token| token.name.as_str())
    }

    /// A name that distinguishes the client from all others, now and in later sessions: the name of
    /// its token, or its user if the kernel reports the user. The server's own user always
    /// gets the same name, because the user's number may differ between hosts.
    pub fn lasting_name(&self) -> String {
        match (self.source(), self.token()) {
            (_, Some(token)) => format!("token {token}"),
            (Source::User(uid), None) if uid == own_uid() => "the server's user".into(),
            (source, None) => source.to_string(),
        }
    }

    /// The share of a session of this client that uses `memory` bytes.
    pub fn share(&self, memory: u64) -> Share {
        Share {
            client: self.lasting_name(),
            source: self.source(),
            memory,
        }
    }
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.user, &self.address) {
            (Some(name), _) => write!(f, "user {name}"),
            (None, Some(address)) => address.fmt(f),
            (None, None) => self.source().fmt(f),
        }
    }
}

/// The name of a user. It is looked up only once, because that may take a network round trip. Only
/// the server's own user and root can connect, so few names are kept.
fn user_name(uid: u32) -> Option<String> {
    static NAMES: Mutex<BTreeMap<u32, Option<String>>> = Mutex::new(BTreeMap::new());
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    names
        .entry(uid)
        .or_insert_with(|| user::name(uid).map(|name| printable(&name, 100)))
        .clone()
}

/// A client's claims about itself. None of them is proved.
#[derive(Debug, Clone)]
pub(super) struct Claim {
    /// Printable, 100 characters at most.
    pub program: String,
    pub pid: u32,
    pub tile: Option<u32>,
}

impl fmt::Display for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, process {}", self.program, self.pid)?;
        match self.tile {
            Some(tile) => write!(f, ", tile {tile}"),
            None => Ok(()),
        }
    }
}
