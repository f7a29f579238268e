//! What can go wrong with a connection, each as one sentence for the person who reads it.

use std::io;
use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The other end closed the connection or died. Says who that was.
    #[error("{0} has closed the connection or ended")]
    Closed(String),

    #[error("timed out while {0}")]
    TimedOut(String),

    /// The other end's own words on why it does not want us.
    #[error("refused: {0}")]
    Refused(String),

    /// The same, and it is worth coming again.
    #[error("refused for now: {0}")]
    NotNow(String),

    #[error("not authenticated: {0}")]
    Auth(String),

    /// The other end's own words on what our token does not permit.
    #[error("not permitted: {0}")]
    Forbidden(String),

    /// A server has shown a key that the token does not name.
    #[error("{server} shows the key {key}, which {known} does not name. Compare it with `mgn token key` on the server's host: if it is the same, make a new token there and copy it here; otherwise somebody is in between")]
    OtherKey {
        server: String,
        /// Where the key is that was expected.
        known: String,
        key: String,
    },

    /// A token file of 64 digits, which names neither a role nor a server, was to be used over a
    /// network.
    #[error("the token {0} has the format of earlier releases and cannot be used over a network; {new}", new = crate::token::NEW)]
    OldToken(String),

    /// The other end broke the protocol; the connection is of no further use.
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

    /// Shared memory cannot reach the server, although its socket does. Says who that is.
    #[error("{0} is at the far end of a forwarded socket (for example by ssh), which cannot share memory; use --transport unix")]
    Forwarded(String),

    /// A unix socket took the connection, and then closed it before anything was said. Says who
    /// should have been there.
    #[error("{0} closed the connection before it sent anything; if ssh forwards the socket, no server is at its far end")]
    Mute(String),

    #[error("{0} is in use by a running server")]
    InUse(String),

    #[error("{text:?} is not a valid address: {why}")]
    Address { text: String, why: &'static str },

    #[error("{0}")]
    Token(String),

    /// What this process was told about its job makes no sense, or is not enough.
    #[error("{0}")]
    Job(String),

    #[error("{path}:{line}: {why}", path = path.display())]
    Hostfile {
        path: PathBuf,
        line: usize,
        why: String,
    },

    /// A message longer than this direction of the connection carries.
    #[error("a message of {len} bytes is longer than the connection's limit of {max}")]
    TooLong { len: usize, max: usize },

    /// Every chunk is held by a reservation that nobody commits or drops.
    #[error("all {0} chunks of the connection are held by unfinished reservations")]
    NoSpace(usize),

    /// The system, or a limit on this process, has no more memory.
    #[error("there is no memory for {0} bytes")]
    NoMemory(usize),

    /// A message was longer than the memory that was given to receive it. What fits was received.
    #[error("a message of {len} bytes was received into {room}")]
    Truncated { len: usize, room: usize },

    /// The operation was given up before it was matched.
    #[error("cancelled")]
    Cancelled,

    /// A receive waits for a message that cannot come: its sender has used up its envelopes on
    /// others that nobody receives.
    #[error("{0} unreceived messages are queued before it; receive those first")]
    Starved(u32),

    /// The peer offers no memory by this key, or does not any more.
    #[error("the other end offers no such memory")]
    NotOffered,

    /// The peer's memory is smaller than what was to be written or read.
    #[error("{len} bytes at offset {offset} reach beyond the memory that the other end offers")]
    OutOfRange { offset: u64, len: usize },

    /// A transport that nobody answers on (null, file) was asked to wait for a message.
    #[error("this transport has no peer")]
    NoPeer,

    #[error("{path}: {why}", path = path.display())]
    BadRecording { path: PathBuf, why: String },

    /// A setting that makes no sense: where it stands, and why.
    #[error("{0}")]
    Settings(String),

    /// The caller asked for something that makes no sense.
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
