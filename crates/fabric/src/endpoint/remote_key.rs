//! The key of memory that is offered to peers.

use std::fmt;

/// The length of a key in bytes.
pub(crate) const KEY: usize = 16;

/// The key of offered memory. Every peer that knows it may write to and read from the memory. It is
/// random, and the program sends it in ordinary messages.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Key(pub [u8; KEY]);

impl fmt::Debug for Key {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Key(..)")
    }
}
