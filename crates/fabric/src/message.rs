//! A received message.

use std::fmt;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

use mgn_sys::copy::copy;
use mgn_sys::Readable;

use crate::block::Block;
use crate::shm::lane::{Lane, Memory};
use crate::stream::receive_pool::Filled;

/// A received message, in place. When it is dropped, the sender may reuse its memory. Messages may
/// be dropped in any order and on any thread.
///
/// Over shared memory, the sender can still change the bytes. So they are accessible only through a
/// raw pointer, and must be copied before they are checked.
pub struct Message {
    start: *const u8,
    len: usize,
    owner: Owner,
}

pub(crate) enum Owner {
    Heap {
        _filled: Arc<Filled>,
    },
    Shared {
        lane: Arc<Lane>,
        /// The index of the lane's counter that counts the release.
        counter: u32,
        /// The region of a message that is not in the pool.
        region: Option<Arc<Memory>>,
        offset: u32,
    },
}

/// The shared memory in which a message lies, for passing it to a process that can map it.
#[derive(Debug)]
pub struct Segment<'a> {
    pub fd: BorrowedFd<'a>,
    /// The identifier of the memory. All messages in this memory have the same `id`. Other memory
    /// of this direction of the connection has other identifiers.
    pub id: u64,
    /// The size of the whole segment in bytes.
    pub size: usize,
    /// The offset of the message in the segment.
    pub offset: usize,
}

// SAFETY: the memory stays mapped while the value lives.
unsafe impl Readable for Message {
    fn as_ptr(&self) -> *const u8 {
        self.start
    }

    fn len(&self) -> usize {
        self.len
    }
}

impl Message {
    pub(crate) fn new(start: *const u8, len: usize, owner: Owner) -> Message {
        Message { start, len, owner }
    }

    /// The first `len` bytes of a private block.
    pub(crate) fn of_block(block: Block, len: usize) -> Message {
        Message::of_filled(Arc::new(Filled::new(block, None)), len)
    }

    /// The first `len` bytes of a block that other code also uses.
    pub(crate) fn of_filled(filled: Arc<Filled>, len: usize) -> Message {
        let start = filled.block().range(0, len);
        Message::new(start, len, Owner::Heap { _filled: filled })
    }

    /// The message's first byte, at least 8-byte aligned (64 over shared memory). Valid until the
    /// message is dropped.
    pub fn as_ptr(&self) -> *const u8 {
        self.start
    }

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// A private copy of the message.
    pub fn to_vec(&self) -> Vec<u8> {
        let mut copy = Vec::with_capacity(self.len);
        self.copy_range(0, self.len, &mut copy);
        copy
    }

    /// Appends a copy of `len` bytes from `offset` on to `into`. Panics if the message is shorter.
    pub fn copy_range(&self, offset: usize, len: usize, into: &mut Vec<u8>) {
        assert!(
            offset <= self.len && len <= self.len - offset,
            "range outside the message"
        );
        into.reserve(len);
        // SAFETY: the source range is inside the message, whose memory stays mapped while `self`
        // lives; the target was just reserved and is initialised by the copy. A peer that writes at
        // the same time can only make the copied values arbitrary.
        unsafe {
            let end = into.as_mut_ptr().add(into.len());
            copy(self.start.add(offset), end, len);
            into.set_len(into.len() + len);
        }
    }

    /// The shared memory in which the message lies. `None` for other transports.
    pub fn segment(&self) -> Option<Segment<'_>> {
        match &self.owner {
            Owner::Heap { .. } => None,
            Owner::Shared {
                lane,
                region,
                offset,
                ..
            } => {
                let memory = region.as_ref().unwrap_or(lane.pool());
                Some(Segment {
                    fd: memory.fd.as_fd(),
                    id: memory.id,
                    size: memory.map.len(),
                    offset: *offset as usize,
                })
            }
        }
    }
}

impl Drop for Message {
    fn drop(&mut self) {
        if let Owner::Shared { lane, counter, .. } = &self.owner {
            lane.release(*counter);
        }
    }
}

// SAFETY: `owner` keeps the memory. It belongs to no thread, and is accessed only through a raw
// pointer or by copying.
unsafe impl Send for Message {}
// SAFETY: as for Send; nothing can be changed through a shared reference.
unsafe impl Sync for Message {}

impl fmt::Debug for Message {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Message").field("len", &self.len).finish()
    }
}
