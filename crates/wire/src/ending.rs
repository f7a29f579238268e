//! Why a session ends, and whose fault that is; and why a renderer gives no snapshot. Both are
//! encoded as postcard. Their effects depend on their kind only: the text is for people.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Whose fault it is that a session ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Blame {
    /// No fault: the server's owner has ended the session.
    Nobody,
    /// The client has sent what it must not send.
    Client,
    /// OpenGL or EGL failed at an operation that must succeed.
    Driver,
    /// The server has failed.
    Server,
    /// The connection broke.
    Network,
    /// The session has used more than the server's owner lets it.
    Limits,
    /// The programs that share a window with the client: one of them, or all together.
    Peers,
}

/// The last message of a session, from the server: whose fault the end is, and one sentence about
/// it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    pub blame: Blame,
    pub why: String,
}

impl End {
    pub fn new(blame: Blame, why: impl Into<String>) -> End {
        let why = why.into();
        End { blame, why }
    }

    pub fn encode(&self) -> Vec<u8> {
        postcard::to_allocvec(self).unwrap_or_default()
    }

    /// None for bytes that are something else.
    pub fn decode(bytes: &[u8]) -> Option<End> {
        exactly(bytes)
    }
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let about = match self.blame {
            Blame::Nobody | Blame::Limits => "",
            Blame::Client => "the client misbehaved: ",
            Blame::Driver => "the driver failed: ",
            Blame::Server => "the server failed: ",
            Blame::Network => "the connection failed: ",
            Blame::Peers => "the programs that share the window cannot continue: ",
        };
        write!(f, "{about}{}", self.why)
    }
}

/// Why a renderer gives no snapshot of its state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum NoSnapshot {
    /// An operation is under way, and a stream cannot begin in the middle of it. A snapshot may be
    /// possible after further commands.
    #[error("not now, because {0}")]
    NotNow(String),
    /// Some state cannot be read back.
    #[error("never, because {0}")]
    Never(String),
}

impl NoSnapshot {
    /// Encodes it in at most `most` bytes. The text is cut if necessary.
    pub fn encode(&self, most: usize) -> Vec<u8> {
        let mut cut = self.clone();
        loop {
            let bytes = postcard::to_allocvec(&cut).unwrap_or_default();
            let (NoSnapshot::NotNow(why) | NoSnapshot::Never(why)) = &mut cut;
            if bytes.len() <= most || why.pop().is_none() {
                return bytes;
            }
        }
    }

    /// None for bytes that are something else.
    pub fn decode(bytes: &[u8]) -> Option<NoSnapshot> {
        exactly(bytes)
    }
}

/// Decodes a value that must use all of the bytes.
pub(crate) fn exactly<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Option<T> {
    let (value, rest) = postcard::take_from_bytes(bytes).ok()?;
    rest.is_empty().then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Fault;

    #[test]
    fn ends_arrive_as_they_were_sent() {
        for blame in [
            Blame::Nobody,
            Blame::Client,
            Blame::Driver,
            Blame::Server,
            Blame::Network,
            Blame::Limits,
            Blame::Peers,
        ] {
            let end = End::new(blame, "never: the client misbehaved");
            assert_eq!(End::decode(&end.encode()), Some(end));
        }
        let bytes = End::new(Blame::Client, "so").encode();
        assert_eq!(End::decode(&bytes[..bytes.len() - 1]), None);
        assert_eq!(End::decode(&[bytes, vec![0]].concat()), None);
        assert_eq!(End::decode(&[9, 0]), None);
        assert_eq!(End::decode(&[]), None);
    }

    #[test]
    fn the_words_of_a_snapshot_are_cut_and_its_kind_is_not() {
        let why = NoSnapshot::NotNow("never: ä".repeat(100));
        let bytes = why.encode(64);
        assert!(bytes.len() <= 64);
        let back = NoSnapshot::decode(&bytes);
        assert!(
            matches!(&back, Some(NoSnapshot::NotNow(why)) if why.starts_with("never: ä")),
            "{back:?}"
        );
        assert_eq!(NoSnapshot::decode(b"not now: glBegin"), None);
    }

    #[test]
    fn each_fault_is_somebodys() {
        for (fault, blame, words) in [
            (Fault::NoContext, Blame::Client, "the client misbehaved: "),
            (
                Fault::refused("not for you"),
                Blame::Client,
                "the client misbehaved: ",
            ),
            (
                Fault::driver("EGL_BAD_MATCH"),
                Blame::Driver,
                "the driver failed: EGL_BAD_MATCH",
            ),
            (
                Fault::server("no thread"),
                Blame::Server,
                "the server failed: no thread",
            ),
            (
                Fault::Network("reset".into()),
                Blame::Network,
                "the connection failed: reset",
            ),
            (Fault::Over, Blame::Nobody, "the server is shutting down"),
            (
                Fault::peers("all wait"),
                Blame::Peers,
                "the programs that share the window cannot continue: all wait",
            ),
        ] {
            let end = End::from(&fault);
            assert_eq!(end.blame, blame, "{fault}");
            assert!(end.to_string().starts_with(words), "{end}");
        }
    }
}
