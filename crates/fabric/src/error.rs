//! The errors of connections. Each is shown as one sentence to the user.

use std::io;
use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The other end closed the connection or died. Holds the name of the other end.
    #[error("{0} has closed the connection or ended")]
    Closed(String),

    #[error("timed out while {0}")]
    TimedOut(String),

    /// The other end has refused us. Holds the reason of the other end.
    #[error("refused: {0}")]
    Refused(String),

    /// The other end has refused us for now. Holds the reason of the other end. A later attempt may
    /// succeed.
    #[error("refused for now: {0}")]
    NotNow(String),

    #[error("not authenticated: {0}")]
    Auth(String),

    /// Our token does not permit the request. Holds the other end's reason.
    #[error("not permitted: {0}")]
    Forbidden(String),

    /// A server has shown a key that the token does not name.
    #[error("{server} presents the key {key}, which is not in {known}. Ask the server's owner for its key, which `mgn token key` prints to the server's user (with the same --server-key, if it has one). If the key is the same, ask for a new token; otherwise the connection may be intercepted")]
    OtherKey {
        server: String,
        /// The place where the expected key is stored.
        known: String,
        key: String,
    },

    /// A token file of 64 digits, which names neither a role nor a server, cannot be used over a
    /// network.
    #[error("the token {0} has the format of earlier releases and cannot be used over a network; {new}", new = crate::token::NEW)]
    OldToken(String),

    /// The other end broke the protocol. The connection cannot be used any more.
    #[error("the other end broke the protocol: {0}")]
    PeerMisbehaved(&'static str),

    #[error("{0} does not speak Manganese's protocol")]
    NotManganese(String),

    #[error("the two ends speak different versions of the protocol: {ours} here, {theirs} there; use the same release of Manganese on both")]
    Version { ours: u16, theirs: u16 },

    #[error("{doing}: {source}")]
    Io { doing: String, source: io::Error },

    #[error("{}: {source}", unreachable(address, source))]
    Unreachable { address: String, source: io::Error },

    #[error("the host {host} has no known address: {source}; check the spelling of its name")]
    UnknownHost { host: String, source: io::Error },

    /// The client can reach the server's socket, but cannot share memory with the server. Holds the
    /// server's name.
    #[error("{0} is at the far end of a forwarded socket (for example by ssh), which cannot share memory; use --transport unix")]
    Forwarded(String),

    /// A unix socket accepted the connection, and closed it before anything was sent. Holds the
    /// expected server's name.
    #[error("{0} closed the connection before it sent anything; if ssh forwards the socket, no server is at its far end")]
    Mute(String),

    #[error("{0} is in use by another process")]
    InUse(String),

    #[error("{text:?} is not a valid address: {why}")]
    Address { text: String, why: &'static str },

    #[error("{0}")]
    Token(String),

    /// The description of this process's job is invalid, or is incomplete.
    #[error("{0}")]
    Job(String),

    #[error("{path}:{line}: {why}", path = path.display())]
    Hostfile {
        path: PathBuf,
        line: usize,
        why: String,
    },

    /// A message is longer than this direction of the connection permits.
    #[error("a message of {len} bytes is longer than the connection's limit of {max}")]
    TooLong { len: usize, max: usize },

    /// Reservations that this process neither commits nor drops hold all chunks.
    #[error("all {0} chunks of the connection are held by unfinished reservations")]
    NoSpace(usize),

    /// The system, or a limit on this process, has no more memory.
    #[error("there is no memory for {0} bytes")]
    NoMemory(usize),

    /// A message was longer than the memory of its receive. The bytes that fit were received.
    #[error("a message of {len} bytes was received into memory of {room} bytes")]
    Truncated { len: usize, room: usize },

    /// The operation was cancelled before it was matched.
    #[error("cancelled")]
    Cancelled,

    /// A receive waits for a message that cannot come, because other messages that were not
    /// received hold all envelopes of the sender.
    #[error("{0} unreceived messages are queued before it; receive those first")]
    Starved(u32),

    /// The peer does not offer memory under this key, or has withdrawn it.
    #[error("the other end offers no such memory")]
    NotOffered,

    /// The access reaches beyond the memory that the peer offers.
    #[error("{len} bytes at offset {offset} reach beyond the memory that the other end offers")]
    OutOfRange { offset: u64, len: usize },

    /// A receive on a transport without a peer (null, file).
    #[error("this transport has no peer")]
    NoPeer,

    #[error("{path}: {why}", path = path.display())]
    BadRecording { path: PathBuf, why: String },

    /// A setting is invalid. Holds the place of the setting and the reason.
    #[error("{0}")]
    Settings(String),

    /// The caller has used the interface incorrectly.
    #[error("{0}")]
    Misuse(&'static str),
}

fn unreachable(address: &str, source: &io::Error) -> String {
    match source.kind() {
        io::ErrorKind::ConnectionRefused | io::ErrorKind::NotFound => {
            format!("nothing listens at {address}")
        }
        io::ErrorKind::PermissionDenied => format!("you may not connect to {address}"),
        _ => format!("{address} cannot be reached"),
    }
}

impl Error {
    pub(crate) fn io(doing: impl Into<String>) -> impl FnOnce(io::Error) -> Error {
        let doing = doing.into();
        move |source| Error::Io { doing, source }
    }

    /// A copy to report again: the source of an I/O error is reduced to its kind and text.
    pub(crate) fn again(&self) -> Error {
        match self {
            Error::Closed(who) => Error::Closed(who.clone()),
            Error::PeerMisbehaved(what) => Error::PeerMisbehaved(what),
            Error::Misuse(what) => Error::Misuse(what),
            Error::NoMemory(bytes) => Error::NoMemory(*bytes),
            Error::BadRecording { path, why } => Error::BadRecording {
                path: path.clone(),
                why: why.clone(),
            },
            Error::Io { doing, source } => Error::Io {
                doing: doing.clone(),
                source: io::Error::new(source.kind(), source.to_string()),
            },
            other => Error::Io {
                doing: "using a broken connection".into(),
                source: io::Error::other(other.to_string()),
            },
        }
    }
}
