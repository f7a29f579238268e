//! Reasons why a server cannot start or continue.

use std::path::PathBuf;

/// One sentence each, for the person who started it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServerError {
    #[error(transparent)]
    Fabric(#[from] mgn_fabric::Error),
    #[error(transparent)]
    Spu(#[from] mgn_spu::SpuError),
    #[error(transparent)]
    Render(#[from] mgn_render::RenderError),
    /// The first worker did not come up; these are its words.
    #[error("{0}")]
    Worker(String),
    #[error("cannot start a worker process: {0}")]
    Spawn(std::io::Error),
    #[error("{doing}: {source}")]
    Io {
        doing: &'static str,
        source: std::io::Error,
    },
    #[error("the process was not started by a server")]
    NoParent,
    #[error("{file} {why}")]
    Recording { file: PathBuf, why: String },
    /// Why a recording was not played to its end.
    #[error("{0}")]
    Viewer(String),
    #[error("the key of program binaries {file} has {bytes} bytes, and a key has 32; remove the file, and the server makes a new one")]
    BinaryKey { file: PathBuf, bytes: usize },
    #[error("--require-sandbox demands that sessions' files and system calls are confined, but the driver does not work in such a sandbox: {0}; start the server without this flag to see whether the driver works at all")]
    Sandbox(String),
    #[error("nothing to listen on")]
    NoAddress,
}

impl ServerError {
    pub(crate) fn io<E: Into<std::io::Error>>(
        doing: &'static str,
    ) -> impl FnOnce(E) -> ServerError {
        move |source| ServerError::Io {
            doing,
            source: source.into(),
        }
    }
}
