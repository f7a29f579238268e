//! The commands of OpenGL as a model: what the registry (`gl.xml`) says of each, and what
//! `commands.toml` and `overlay.toml` add to it.
//!
//! Used only while generating code (`cargo xtask generate`). The registry knows names, types,
//! aliases and most array lengths. `commands.toml` has a row for each command with more to say:
//! whether it is written by hand or refused and why, what it does to state, whether it may fail,
//! and how it travels where that differs from its C declaration. `overlay.toml` is about extensions
//! and the commands of our own.
#![forbid(unsafe_code)]

mod model;
mod overlay;
mod registry;

pub use model::{snake, Carry, Class, Command, Direction, Len, Model, Param, Scalar, WireType};
pub use overlay::{Overlay, SessionCommand};
pub use registry::{Extension, Feature, RawCommand, RawParam, Registry};

/// Errors while reading the registry or the overlay.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("the registry is not well-formed XML: {0}")]
    Xml(#[from] roxmltree::Error),
    #[error("the overlay is not valid TOML: {0}")]
    Toml(#[from] toml::de::Error),
    #[error("the registry has no command {0}, which the overlay or an extension names")]
    NoSuchCommand(String),
    #[error("overlay, {command}: {problem}")]
    Overlay { command: String, problem: String },
}
