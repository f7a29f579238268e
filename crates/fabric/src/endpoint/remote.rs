//! One-sided access: memory of this process that peers may write to and read from.

use std::fmt;
use std::sync::Arc;

use super::memory::Memory;
use super::progress::Shared;
use super::remote_key::{Key, KEY};
use super::{memory_of, Endpoint, LinkId, Piece, Request};
use crate::token::random;
use crate::Error;

/// Memory that is offered to all peers that know its key, until this value is dropped. Dropping it
/// waits for accesses in progress.
pub struct Offered {
    shared: Arc<Shared>,
    key: Key,
    len: usize,
}

impl Offered {
    pub fn key(&self) -> Key {
        self.key
    }

    /// The number of bytes offered.
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
    /// Offers memory to peers, which may write to it and read from it at any time, also while this
    /// program does something else.
    ///
    /// # Safety
    /// The memory stays valid until the value has been dropped. Until then this process reads and
    /// writes it only as memory that other processes may change at any time.
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
    /// `offset` on. The request ends when the bytes are there. It is not ordered with other
    /// requests or with messages.
    ///
    /// # Errors
    /// [`Error::Misuse`] for a closed link. If the request ends with [`Error::NotOffered`] or
    /// [`Error::OutOfRange`], nothing was written.
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
    /// The memory stays valid and is not otherwise accessed until the request has ended.
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
