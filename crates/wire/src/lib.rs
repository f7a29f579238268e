//! The command stream: how OpenGL's commands are written into messages and read out of them.
//!
//! Records and messages are laid out as docs/design/stream.md says. `Encoder` writes them (the
//! client), `Decoder` reads them and calls the `Commands` trait (the server). Nothing here does
//! I/O, and nothing trusts what it reads.

pub mod debug;
pub mod decode;
pub mod draws;
pub mod encoder;
pub mod ending;
pub mod failover;
pub mod frames;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing;
#[rustfmt::skip]
#[allow(clippy::all, clippy::undocumented_unsafe_blocks, reason = "written by a program; what is unsafe is argued where it writes it")]
mod generated;
pub mod hello;
pub mod lens;
pub mod locations;
pub mod pack;
mod payload;
mod reply;
pub mod sift;
pub mod sizes;

pub use decode::{again, Decoder, Fault};
pub use encoder::Encoder;
pub use ending::{Blame, End, NoSnapshot};
pub use generated::commands::Commands;
pub use generated::{gl, ops};
pub use pack::Pack;
pub use payload::{Data, Plain, Slice};
pub use reply::{Answer, Reply};

/// The size of a chunk of the command connection.
pub const CHUNK: usize = 256 * 1024;
/// The longest message: a record's length in words fits 16 bits even if it is the only one.
pub const MESSAGE_MAX: usize = CHUNK - 4;
/// `context:u32 sorted:u32` at the start of every message; see [`sift`].
pub const MESSAGE_HEADER: usize = 8;
/// The longest record.
pub const RECORD_MAX: usize = MESSAGE_MAX - MESSAGE_HEADER;
/// The longest command, sent as `LONG` records.
pub const LONG_MAX: usize = 1 << 30;

/// The most bytes of messages, with the lengths before them, in one answer to `mgnSnapshot`.
pub const SNAPSHOT_PART: usize = 1 << 24;

/// Opcodes of the stream itself.
pub mod stream {
    /// `op:u32 bytes:u64`: the body of command `op` follows in `LONG_DATA` records.
    pub const LONG: u16 = 1;
    /// An array: the next bytes of the body.
    pub const LONG_DATA: u16 = 2;
}

/// Whether each renderer of a wall has its own answer to command `op`. All renderers answer other
/// commands alike, so one of them answers for all.
pub fn everyone_answers(op: u16) -> bool {
    matches!(
        op,
        ops::MGN_CREATE_CONTEXT
            | ops::MGN_FINISH
            | ops::MGN_READ_TILES
            | ops::MGN_TAKE_TILES
            | ops::MGN_COUNTED
    )
}

/// Whether command `op` is sent to one renderer of a wall only, which the client chooses and which
/// answers.
pub fn asked_alone(op: u16) -> bool {
    op == ops::MGN_SNAPSHOT
}

/// A command's name by opcode.
pub fn name(op: u16) -> &'static str {
    let index = usize::from(op.wrapping_sub(ops::FIRST));
    ops::NAMES.get(index).copied().unwrap_or("?")
}
