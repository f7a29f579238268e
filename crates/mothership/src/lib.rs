//! The mothership. It knows the servers that render and the clients that need a renderer, and
//! assigns servers to clients. Commands and pictures never pass through it.
//!
//! A [`Config`] describes walls. [`core`] makes the decisions, and [`run`] is the process that
//! executes them. A server registers with a [`Registration`]. A process that starts a program finds
//! servers for it with [`ask()`]. Relays use [`find`]. Commands for users use [`status`] and
//! [`stop`].
#![forbid(unsafe_code)]

mod ask;
pub mod config;
pub mod core;
mod daemon;
mod error;
mod failover;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing;
mod link;
pub mod protocol;
mod register;
mod report;
mod whereabouts;

pub use ask::{ask, Match, TileServer};
pub use config::Config;
pub use daemon::{run, Options};
pub use error::Error;
pub use failover::Failover;
pub use link::{find, status, stop};
pub use register::Registration;
pub use report::{ClientStatus, Rate, ServerStatus, SessionStatus, Status, TileStatus};
pub use whereabouts::free_memory;

use mgn_fabric::Address;

/// The default address of the mothership.
pub fn default_address() -> Address {
    Address::Abstract("manganese-mothership".into())
}
