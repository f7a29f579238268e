//! Stream processing units: stages that see every command and pass it on, or don't.
//!
//! A stage implements `mgn_wire::Commands`, whose methods forward to `next` by default, so that a new one is a small file that overrides what it cares
//! about. The last stage is the renderer.
#![forbid(unsafe_code)]

mod discard;
#[rustfmt::skip]
#[allow(clippy::all, clippy::undocumented_unsafe_blocks, reason = "written by a program; what is unsafe is argued where it writes it")]
mod generated;
mod locations;
mod nop;
mod print;

pub use discard::Discard;
pub use locations::Locations;
pub use nop::Nop;
pub use print::Print;

/// What chains may name.
pub const NAMES: &[&str] = &["discard", "nop", "print"];
