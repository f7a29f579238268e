//! The messages between the mothership and servers, processes that start programs, and users'
//! commands. Each message of a `fabric` connection contains one of these types, encoded as
//! postcard.

mod limits;

use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr;

use mgn_fabric::Role;
use mgn_wall::Wall;
use mgn_wire::failover::DisplayPhase;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::report::Status;
pub use limits::{Unusable, CLIENT_MESSAGE_MAX};

/// The version of the protocol. It changes whenever these types change.
pub const VERSION: u32 = 8;
/// The length of the longest message, in bytes.
pub const MESSAGE_MAX: usize = 1 << 20;

/// The opening of a connection to the mothership.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Opening {
    /// This is the first field in all versions, so that other versions can be recognized.
    pub version: u32,
}

/// A message to the mothership. The first one identifies the sender.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum ToMothership {
    Server(Box<Hello>),
    Client(Box<Request>),
    Status,
    /// The mothership must end, with the servers that it has started.
    Stop,
    Alive,
    Sessions(Vec<Session>),
    Drawn(Drawn),
    /// A relay asks for the address of a server to which it connects a client.
    Where(Box<ServerLookup>),
    /// The tiles of a client's wall that have no renderer now: bit N stands for tile N.
    Holes(u64),
    /// The server at this address cannot draw the tile that was assigned to it. It cannot be
    /// reached, or it renders differently from the other servers.
    Unfit {
        tile: u32,
        address: String,
    },
    /// The phases of the displays of a client's genlocked tiles, by tile number.
    Phases(Vec<(u32, DisplayPhase)>),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum FromMothership {
    Alive,
    /// The server is registered under its name.
    Registered,
    /// The client has to wait, for this reason.
    Waiting(String),
    Matched(Box<Matched>),
    /// The request cannot be met, or the server is not accepted, for this reason. No message
    /// follows.
    Refused(String),
    /// A server of the client's wall is no longer registered, for this reason.
    Gone {
        server: String,
        why: String,
    },
    /// The server is registered again.
    Back {
        server: String,
    },
    /// This server must draw a tile that has no renderer.
    Instead {
        tile: u32,
        end: End,
    },
    /// The address of the server in [`ToMothership::Where`].
    At(String),
    /// The server must end.
    End,
    Status(Box<Status>),
    /// The mothership ends.
    Stopping,
    /// The role of the sender's token does not permit the request. No message follows.
    Forbidden(String),
}

/// Whether `tiles` contains a tile. Bit N stands for tile N, as in [`ToMothership::Holes`]. A
/// number of 64 or more is in no set.
pub(crate) fn has_tile(tiles: u64, tile: u32) -> bool {
    tiles.checked_shr(tile).is_some_and(|tiles| tiles & 1 != 0)
}

impl ToMothership {
    /// The role that a message requires, and a description of the request. `None` for messages that
    /// only follow a message that requires a role.
    pub fn needs(&self) -> Option<(Role, &'static str)> {
        Some(match self {
            ToMothership::Server(_) => (Role::Server, "register a server with the mothership"),
            ToMothership::Client(_) => (Role::Client, "have programs rendered"),
            ToMothership::Status => (Role::Admin, "list servers and sessions"),
            ToMothership::Stop => (Role::Admin, "stop the mothership"),
            ToMothership::Where(_) => (Role::Server, "find servers for others"),
            ToMothership::Alive
            | ToMothership::Sessions(_)
            | ToMothership::Drawn(_)
            | ToMothership::Holes(_)
            | ToMothership::Unfit { .. }
            | ToMothership::Phases(_) => return None,
        })
    }
}

/// A relay's question about a server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ServerLookup {
    pub server: String,
    /// Whether the address must be an encrypted one.
    pub encrypted: bool,
    pub whereabouts: Whereabouts,
}

/// A server that registers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Hello {
    pub name: String,
    /// A random number, which stays the same while the server runs.
    pub instance: u64,
    pub whereabouts: Whereabouts,
    /// The addresses at which it listens, the best for clients first.
    pub addresses: Vec<String>,
    pub offer: Offer,
    /// The largest number of simultaneous sessions.
    pub sessions: u32,
    /// Whether the mothership has started it.
    pub is_ours: bool,
    /// The name of the file with its token, if it has another token than the mothership.
    pub token: Option<String>,
    /// The public key that identifies it at its `tls:` addresses.
    pub key: Option<String>,
}

/// Where a process runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Whereabouts {
    /// Identifies the running system and its network. Processes with the same value can share
    /// memory and reach each other's sockets.
    pub host: String,
    pub uid: u32,
    /// The name of the host, for users and for processes on other hosts.
    pub host_name: String,
}

/// A server's abilities.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Offer {
    pub renderer: String,
    /// The driver's version, as GL_VERSION of its best profile.
    pub version: String,
    pub profiles: Vec<Profile>,
    /// Limits by name, for example `max_texture_size`, in pixels.
    pub limits: BTreeMap<String, u64>,
    /// Free memory in MiB.
    pub memory: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    pub api: Api,
    /// The highest version, as major and minor.
    pub version: (u8, u8),
    pub extensions: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Api {
    Compat,
    Core,
    Es1,
    Es,
}

impl std::fmt::Display for Api {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(match self {
            Api::Compat => "OpenGL",
            Api::Core => "OpenGL core",
            Api::Es1 => "OpenGL ES 1",
            Api::Es => "OpenGL ES",
        })
    }
}

/// A client's request for renderers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Request {
    pub wanted: Wanted,
    pub needs: Needs,
    pub whereabouts: Whereabouts,
    /// The transport of the commands, if the client requires a certain one.
    pub transport: Option<TransportKind>,
    /// The program's name, for users.
    pub program: String,
    pub pid: u32,
    /// The answer of an earlier mothership, which remains valid.
    pub held: Option<Box<Matched>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Wanted {
    /// Walls of the configuration that show the same.
    Walls(Vec<String>),
    /// Grids of tiles that show the same, each as columns and rows. Any servers may render them.
    Grids(Vec<(u32, u32)>),
    /// One renderer: the server of this name, or any server.
    Single(Option<String>),
}

impl std::fmt::Display for Wanted {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Wanted::Walls(names) => write!(out, "the wall {}", names.join(" and ")),
            Wanted::Grids(sizes) => {
                let size = |(columns, rows): &(u32, u32)| format!("{columns} x {rows}");
                let sizes: Vec<_> = sizes.iter().map(size).collect();
                write!(out, "a grid of {}", sizes.join(" and "))
            }
            Wanted::Single(Some(name)) => write!(out, "the server {name}"),
            Wanted::Single(None) => write!(out, "a server"),
        }
    }
}

/// A program's requirements.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Needs {
    /// `None` if any API suffices.
    pub api: Option<Api>,
    pub version: (u8, u8),
    pub extensions: BTreeSet<String>,
    /// The smallest sufficient values, by the names in [`LIMITS`].
    pub limits: BTreeMap<String, u64>,
}

/// The limits that servers report.
pub const LIMITS: [&str; 3] = [
    "max_texture_size",
    "max_viewport_size",
    "max_renderbuffer_size",
];

/// Text that is not a list of needs.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{word:?} is not a need; needs are gl=4.5, core=3.3, es=3.2 or es1=1.1, or GL_EXTENSION, or one of {limits} with =N", limits = LIMITS.join(", "))]
pub struct NoNeed {
    word: String,
}

/// `gl=4.5,GL_ARB_bindless_texture,max_texture_size=8192`
impl FromStr for Needs {
    type Err = NoNeed;

    fn from_str(text: &str) -> Result<Needs, NoNeed> {
        let mut needs = Needs::default();
        for word in text.split(',') {
            needs
                .add(word)
                .ok_or_else(|| NoNeed { word: word.into() })?;
        }
        Ok(needs)
    }
}

impl Needs {
    /// Adds a need. Returns `None` if the text is not a need.
    fn add(&mut self, word: &str) -> Option<()> {
        if word.starts_with("GL_") {
            self.extensions.insert(word.into());
            return Some(());
        }
        let (name, value) = word.split_once('=')?;
        if LIMITS.contains(&name) {
            self.limits.insert(name.into(), value.parse().ok()?);
            return Some(());
        }
        self.api = Some(match name {
            "gl" => Api::Compat,
            "core" => Api::Core,
            "es1" => Api::Es1,
            "es" => Api::Es,
            _ => return None,
        });
        let (major, minor) = value.split_once('.')?;
        self.version = (major.parse().ok()?, minor.parse().ok()?);
        Some(())
    }
}

/// The transport between a client and a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TransportKind {
    Shm,
    Unix,
    Tcp,
}

/// The servers that draw for a client.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Matched {
    pub wall: Wall,
    /// One server for each tile of the wall.
    pub ends: Vec<End>,
    /// Stream processing units for the program's own process.
    pub client_chain: Vec<String>,
    /// The renderer of all servers.
    pub renderer: String,
    pub version: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct End {
    pub server: String,
    pub address: String,
    pub transport: TransportKind,
    /// The name of the file with the server's token, in the folder of the mothership's token.
    /// `None` if both have the same token.
    pub token: Option<String>,
    /// The public key that identifies the server if the address is `tls:`. The server has reported
    /// it to the mothership.
    pub key: Option<String>,
}

/// A session of a server, with its totals since it began.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    pub id: u64,
    pub program: String,
    pub drawn: Option<Drawn>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Drawn {
    pub frames: u64,
    pub bytes: u64,
}

pub fn encode<T: Serialize>(message: &T) -> Vec<u8> {
    postcard::to_allocvec(message).expect("these types have a serialised form")
}

/// Decodes a message. Returns `None` for invalid bytes, and if the bytes continue after the
/// message.
pub fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    if bytes.len() > MESSAGE_MAX {
        return None;
    }
    match postcard::take_from_bytes(bytes) {
        Ok((message, [])) => Some(message),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_messages_are_none() {
        assert!(decode::<String>(&encode(&"x".repeat(MESSAGE_MAX - 10))).is_some());
        assert!(decode::<String>(&encode(&"x".repeat(MESSAGE_MAX))).is_none());
        let mut trailing = encode(&ToMothership::Alive);
        trailing.push(0);
        assert!(decode::<ToMothership>(&trailing).is_none());
    }
}
