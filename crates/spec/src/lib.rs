//! The commands of OpenGL as a model: what the registry (`gl.xml`) says of each, and what
//! `overlay.toml` adds to it.
//!
//! Used only while generating code (`cargo xtask generate`). The registry knows names, types,
//! aliases and most array lengths; the overlay says which commands are written by hand, which are
//! refused and why, what cannot fail, and how a command travels where that differs from its C
//! declaration.
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
