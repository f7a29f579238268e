//! Messages about the tiles of a wall and their render servers, between a program and the `mgn run`
//! that started it.
//!
//! The program connects to the socket [`SOCKET`] in the directory of the run, and sends
//! [`OPENING`]. The answer is a list of [`Assignment`]s: the tiles that got another server since
//! the run began. Then the program sends [`FromProgram`] messages. `mgn run` asks the mothership,
//! and sends further assignments. All messages are encoded as postcard.

use crate::ending::exactly;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The name of the socket. It exists only if a mothership can replace servers of the run.
pub const SOCKET: &str = "failover";

/// The bytes with which a program opens its connection. The number is the version of these
/// messages.
pub const OPENING: &[u8] = b"mgn failover 2";

/// A program's report on a tile.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum FromProgram {
    /// The tile has no renderer.
    Lost { tile: u32 },
    /// The tile needs no replacement any longer: it has a renderer again, or can never have one.
    Settled { tile: u32 },
    /// The server at this address cannot draw the tile.
    Unfit { tile: u32, address: String },
    /// The phase of the tile's genlocked display.
    Phase { tile: u32, phase: DisplayPhase },
}

/// The state of the display of a genlocked tile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DisplayPhase {
    /// How much later than the reference display it refreshes, in ns; negative if earlier. None if
    /// its vertical blanks are not known.
    pub error: Option<i64>,
    /// The number of frames that appeared later than planned.
    pub late: u32,
}

impl FromProgram {
    /// The tile that the message is about.
    pub fn tile(&self) -> u32 {
        match self {
            FromProgram::Lost { tile }
            | FromProgram::Settled { tile }
            | FromProgram::Phase { tile, .. }
            | FromProgram::Unfit { tile, .. } => *tile,
        }
    }
}

/// The server that is to draw a tile from now on, in the form of the environment variables that
/// name a program's servers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Assignment {
    pub tile: u32,
    pub address: String,
    pub transport: String,
    /// The file with the server's token, if it has a token of its own.
    pub token_file: Option<PathBuf>,
    /// The server's public key, if it is known.
    pub key: Option<String>,
}

pub fn encode(message: &impl Serialize) -> Vec<u8> {
    postcard::to_allocvec(message).unwrap_or_default()
}

/// None for bytes that are something else.
pub fn decode<T: for<'a> Deserialize<'a>>(bytes: &[u8]) -> Option<T> {
    exactly(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_whole_or_nothing() {
        let unfit = FromProgram::Unfit {
            tile: 3,
            address: "tcp:h:7000".into(),
        };
        let bytes = encode(&unfit);
        assert_eq!(decode(&bytes), Some(unfit));
        for end in 0..bytes.len() {
            assert_eq!(decode::<FromProgram>(&bytes[..end]), None);
        }
        assert_eq!(decode::<FromProgram>(&[&bytes[..], &[0]].concat()), None);
        assert_eq!(decode::<FromProgram>(&[9]), None);
    }
}
