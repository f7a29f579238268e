//! Errors between the mothership and the processes that it knows, one sentence each.

use std::io;

use mgn_fabric::Address;

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    #[error(transparent)]
    Fabric(#[from] mgn_fabric::Error),
    #[error("there is no mothership: {0}; start one with `mgn mothership`, or name another with --mothership")]
    NotThere(mgn_fabric::Error),
    /// The mothership's message.
    #[error("{0}")]
    Refused(String),
    /// The mothership's message about a request that the role of this process's token does not
    /// permit.
    #[error("not permitted: {0}")]
    Forbidden(String),
    #[error("no server was available for the program within {seconds} s: {why}")]
    Patience { seconds: u64, why: String },
    #[error(
        "this process and the mothership speak different protocols; use the same release on both ends"
    )]
    Release,
    #[error("the mothership has closed the connection without an answer")]
    NoAnswer,
    #[error("the mothership at {0} was told to stop and has not stopped; check its log")]
    StillThere(Address),
    #[error("{doing}: {source}")]
    Io { doing: String, source: io::Error },
}

impl Error {
    pub(crate) fn io<E: Into<io::Error>>(doing: impl Into<String>) -> impl FnOnce(E) -> Error {
        let doing = doing.into();
        move |source| Error::Io {
            doing,
            source: source.into(),
        }
    }
}
