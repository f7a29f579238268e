//! The render server: a parent process that listens, and a worker process for every session.
//!
//! The parent never touches OpenGL. It hands each client's sockets to a worker that has already
//! opened the driver, so a client does not wait for the driver. A worker that crashes, hangs or
//! takes too much memory ends one session and no other. One spare worker is kept ready, except in
//! the first moment of a session, which needs the processors.
#![forbid(unsafe_code)]

mod answers;
mod binary_key;
mod broker;
mod control;
mod error;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing;
mod memory;
mod options;
mod parent;
mod pictures;
mod probe;
mod recording;
mod replay;
mod sandbox;
mod tile;
mod turns;
mod watchdog;
mod window;
mod worker;

pub use error::ServerError;
pub use memory::memory_total;
pub use options::{Follower, Options, Sandbox, SessionReport, WorkerCommand};
pub use parent::{run, try_worker};
pub use probe::{probe, probe_environment, Abilities};
pub use recording::{play, play_across, Crossed, Middle, Played, Viewer};
pub use sandbox::{sandbox_parts, Confined};
pub use worker::worker;
