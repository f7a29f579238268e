//! Messages about the tiles of a wall and their render servers, between a program and the `mgn run`
//! that started it.
//!
//! The program connects to the socket [`SOCKET`] in the directory of the run, opening with
//! [`OPENING`]. The answer to that is a list of [`Assignment`]s: the tiles that have had another
//! server since the run began. Then the program sends [`FromProgram`], and `mgn run`, which asks
//! the mothership, sends further assignments. All travel as postcard.

use crate::ending::exactly;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The name of the socket. It exists if a mothership can replace servers of the run.
pub const SOCKET: &str = "failover";

/// What a program opens its connection with. The number is the version of these messages.
pub const OPENING: &[u8] = b"mgn failover 2";

/// What a program says of a tile.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum FromProgram {
    /// It has no renderer.
    Lost { tile: u32 },
    /// It needs no other renderer any longer: it has one again, or can never have one.
    Settled { tile: u32 },
    /// The server at an address cannot draw it.
    Unfit { tile: u32, address: String },
    /// Its display is genlocked.
    Phase { tile: u32, phase: DisplayPhase },
}

/// What is known of the display of a genlocked tile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DisplayPhase {
    /// How much later than the reference's it refreshes, in ns; negative: earlier. None if its
    /// vertical blanks are not known.
    pub error: Option<i64>,
    /// How many frames have appeared later than planned.
    pub late: u32,
}

impl FromProgram {
    /// The tile that it is about.
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
    /// The file with its token, if it has one of its own.
    pub token_file: Option<PathBuf>,
    /// Its public key, if that is known.
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
