//! Memory of ours that peers may write to and read from.

use std::fmt;
use std::sync::Arc;

use super::memory::Memory;
use super::progress::Shared;
use super::{memory_of, Endpoint, LinkId, Piece, Request};
use crate::token::random;
use crate::Error;

/// Bytes of a key.
pub(crate) const KEY: usize = 16;

/// What a peer needs to know to write to or read from offered memory. Whoever knows it may: it is
/// random, and travels by ordinary messages.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Key(pub [u8; KEY]);

impl fmt::Debug for Key {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Key(..)")
    }
}

/// Some memory that is offered to all peers who know its key, until this is dropped. Dropping waits
/// for what is under way.
pub struct Offered {
    shared: Arc<Shared>,
    key: Key,
    len: usize,
}

impl Offered {
    pub fn key(&self) -> Key {
        self.key
    }

    /// Bytes offered.
    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl Drop for Offered {
    fn drop(&mut self) {
        self.shared.withdraw(&self.key);
    }
}

impl fmt::Debug for Offered {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Offered")
            .field("len", &self.len)
            .finish_non_exhaustive()
    }
}

impl Endpoint {
    /// Offers memory to peers, who may write to it and read from it at any time, also while this
    /// program does something else.
    ///
    /// # Safety
    /// The memory stays valid until the value has been dropped, and until then nobody reads or
    /// writes it except as other processes' memory.
    pub unsafe fn offer(&self, memory: Piece) -> Offered {
        let mut key = Key([0; KEY]);
        random(&mut key.0);
        self.shared.expose(key, Memory::one(memory.0, memory.1));
        Offered {
            shared: self.shared.clone(),
            key,
            len: memory.1,
        }
    }

    /// Begins to write the pieces, one behind the other, to memory that the peer offers, from byte
    /// `offset` on. It ends when they are there. Neither others of its kind nor messages are
    /// waited for, or wait for it.
    ///
    /// # Errors
    /// [`Error::Misuse`] for a link that was closed. The request ends with [`Error::NotOffered`] or
    /// [`Error::OutOfRange`] where nothing was written.
    ///
    /// # Safety
    /// The memory stays valid and unchanged until the request has ended.
    pub unsafe fn iput(
        &self,
        to: LinkId,
        key: &Key,
        offset: u64,
        pieces: &[Piece],
    ) -> Result<Request, Error> {
        self.shared.put(to, *key, offset, memory_of(pieces))
    }

    /// Begins to read from memory that the peer offers, from byte `offset` on, as many bytes as the
    /// pieces hold.
    ///
    /// # Errors
    /// As for [`Endpoint::iput`].
    ///
    /// # Safety
    /// The memory stays valid, and nobody else touches it, until the request has ended.
    pub unsafe fn iget(
        &self,
        from: LinkId,
        key: &Key,
        offset: u64,
        pieces: &[Piece],
    ) -> Result<Request, Error> {
        self.shared.get(from, *key, offset, memory_of(pieces))
    }
}
