//! Stream processing units: stages that see every command and pass it on, or don't.
//!
//! A stage implements `mgn_wire::Commands`, whose methods forward to `next` by default, so that a
//! new one is a small file that overrides the commands that it needs. One that only looks is an
//! [`Observer`]. The last stage is the renderer, or a sender of commands. A [`Chain`] names the
//! stages before it.
#![forbid(unsafe_code)]

pub mod chain;
mod discard;
mod ends;
#[rustfmt::skip]
#[allow(clippy::all, clippy::undocumented_unsafe_blocks, reason = "written by a program; what is unsafe is argued where it writes it")]
mod generated;
mod histogram;
mod locations;
mod nop;
mod observe;
mod perf;
mod print;
mod save;
mod wireframe;

pub use chain::{is_path, Chain, Sending, SpuError, Stage, StageContext, NAMES};
pub use discard::Discard;
#[cfg(test)]
use generated::pace;
pub use histogram::Histogram;
pub use locations::Locations;
pub use nop::Nop;
pub use observe::{Call, Observe, Observer, Value, Values};
pub use perf::Perf;
pub use print::Print;
pub use save::Save;
pub use wireframe::Wireframe;
