//! The memory of a reserved message, until it has been sent.

use std::fmt;
use std::sync::Arc;

use crate::block::Block;
use crate::shm::{Arena, Extent};
use crate::stream::receive_pool::Filled;
use crate::{Error, Message};

/// Private memory of this process, or memory that is shared with the receiver.
pub(crate) struct Written {
    start: *mut u8,
    len: usize,
    place: MemorySource,
}

enum MemorySource {
    Private(Arc<Filled>),
    Shared(Extent),
}

// SAFETY: `place` keeps the memory. It belongs to no thread, and is accessed only through a raw
// pointer.
unsafe impl Send for Written {}
// SAFETY: as for Send.
unsafe impl Sync for Written {}

impl Written {
    pub(crate) fn shared(extent: Extent, len: usize) -> Written {
        Written {
            start: extent.start(),
            len,
            place: MemorySource::Shared(extent),
        }
    }

    /// Private memory of this process.
    pub(crate) fn private(len: usize) -> Result<Written, Error> {
        let block = Block::new(len)?;
        Ok(Written {
            start: block.range(0, len),
            len,
            place: MemorySource::Private(Arc::new(Filled::new(block, None))),
        })
    }

    pub(crate) fn start(&self) -> *mut u8 {
        self.start
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The extent of the memory, if it lies in this arena.
    pub(crate) fn extent_in(&self, arena: &Arc<Arena>) -> Option<&Extent> {
        match &self.place {
            MemorySource::Shared(extent) => Some(extent).filter(|extent| extent.is_of(arena)),
            MemorySource::Private(_) => None,
        }
    }

    pub(crate) fn is_private(&self) -> bool {
        matches!(self.place, MemorySource::Private(_))
    }

    /// The first `len` bytes as a message, without copying. Returns `None` for shared memory.
    pub(crate) fn to_message(&self, len: usize) -> Option<Message> {
        match &self.place {
            MemorySource::Private(filled) => Some(Message::of_filled(filled.clone(), len)),
            MemorySource::Shared(_) => None,
        }
    }
}

impl fmt::Debug for Written {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Written")
            .field("len", &self.len)
            .finish_non_exhaustive()
    }
}
