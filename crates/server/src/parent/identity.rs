//! Who a client is.

use mgn_fabric::admission::Source;
use mgn_fabric::{printable, Incoming};
use mgn_sys::peer::own_uid;
use mgn_sys::user;
use std::collections::BTreeMap;
use std::fmt;
use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};

/// Who a client has shown itself to be. Limits per client count sessions of equal identities.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Identity {
    /// A user of this machine, as the kernel says at a unix socket.
    User(u32),
    /// An IPv4 address, or the network of an IPv6 address. Clients with different tokens at one
    /// address count together.
    Network(Source),
}

/// A client as the kernel describes it.
#[derive(Debug, Clone)]
pub(super) struct Peer {
    pub identity: Identity,
    /// The name of the user, if it is a user and has one.
    pub user: Option<String>,
    /// For TCP.
    pub address: Option<SocketAddr>,
    /// The name of the token that the client has proved, for TCP.
    pub token: Option<String>,
}

impl Peer {
    pub fn of(incoming: &Incoming) -> Peer {
        match incoming.peer() {
            Some(credentials) => Peer {
                identity: Identity::User(credentials.uid),
                user: user_name(credentials.uid),
                address: None,
                token: None,
            },
            None => {
                let address = incoming.place();
                let source = address.map_or(Source::Unknown, |place| place.ip().into());
                Peer {
                    identity: Identity::Network(source),
                    user: None,
                    address,
                    token: incoming.identity().map(|token| token.name.clone()),
                }
            }
        }
    }

    pub fn uid(&self) -> Option<u32> {
        match self.identity {
            Identity::User(uid) => Some(uid),
            Identity::Network(_) => None,
        }
    }

    /// What distinguishes it from all other clients, now and in later sessions: its token's name,
    /// or its user where the kernel says who it is. A user with servers on several hosts may have
    /// another number on each.
    pub fn lasting_name(&self) -> String {
        match (&self.identity, &self.token) {
            (Identity::User(uid), _) if *uid == own_uid() => "the server's user".into(),
            (Identity::User(uid), _) => format!("uid {uid}"),
            (Identity::Network(_), Some(token)) => format!("token {token}"),
            // Nobody comes by TCP without a token; this is like nobody else all the same.
            (Identity::Network(source), None) => format!("address {source}"),
        }
    }

    /// For the sums of refused clients.
    pub fn source(&self) -> Source {
        match &self.identity {
            Identity::User(uid) => Source::User(*uid),
            Identity::Network(source) => *source,
        }
    }
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.identity, &self.user, &self.address) {
            (Identity::User(_), Some(name), _) => write!(f, "user {name}"),
            (Identity::User(uid), None, _) => write!(f, "uid {uid}"),
            (Identity::Network(_), _, Some(address)) => address.fmt(f),
            (Identity::Network(source), _, None) => source.fmt(f),
        }
    }
}

/// The name of a user. It is looked up once: that may take a network round trip. Users who can
/// connect are the server's own and root, so few are kept.
fn user_name(uid: u32) -> Option<String> {
    static NAMES: Mutex<BTreeMap<u32, Option<String>>> = Mutex::new(BTreeMap::new());
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    names
        .entry(uid)
        .or_insert_with(|| user::name(uid).map(|name| printable(&name, 100)))
        .clone()
}

/// What a client says of itself. None of it is proved.
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
