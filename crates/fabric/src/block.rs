//! Memory for messages: reservations, and the private memory of messages that travel through
//! sockets and files.

use std::alloc::{alloc_zeroed, dealloc, Layout};
use std::ptr::NonNull;
use std::sync::Mutex;

use mgn_sys::copy::copy;

use crate::Error;

/// The alignment of a message's first byte, in chunks of every kind.
pub(crate) const ALIGN: usize = 64;

/// The space in front of a message for its frame header.
pub(crate) const HEAD: usize = ALIGN;

/// The transport's part of a reservation.
pub(crate) struct Room {
    pub(crate) ptr: *mut u8,
    pub(crate) capacity: usize,
    pub(crate) place: MemorySource,
}

/// The origin of a reservation's memory.
pub(crate) enum MemorySource {
    /// The rest of a chunk of the shared pool, from `offset` on.
    Chunk {
        chunk: u32,
        offset: u32,
    },
    /// A shared region made for one long message.
    Region {
        slot: usize,
    },
    Heap(Block),
    /// The memory needs no release: it was sent, or has been returned.
    Spent,
}

/// Heap memory that is zeroed when it is allocated, 64-byte aligned. It is accessed through raw
/// pointers, because messages in one part of the block are read while another part is being filled.
#[derive(Debug)]
pub(crate) struct Block {
    /// The start of the allocation, up to [`ALIGN`] bytes before `base`.
    whole: NonNull<u8>,
    base: NonNull<u8>,
    size: usize,
}

// SAFETY: a block owns its memory, which belongs to no thread.
unsafe impl Send for Block {}
// SAFETY: a shared reference gives only raw pointers, and each use of them has its own SAFETY
// comment.
unsafe impl Sync for Block {}

impl Block {
    /// Allocates a block. A peer may have determined the size, so failure is an error.
    ///
    /// # Errors
    /// [`Error::NoMemory`].
    pub(crate) fn new(size: usize) -> Result<Block, Error> {
        let layout = Block::layout(size).ok_or(Error::NoMemory(size))?;
        // SAFETY: the layout's size is not zero.
        let whole = NonNull::new(unsafe { alloc_zeroed(layout) }).ok_or(Error::NoMemory(size))?;
        // SAFETY: there are `ALIGN` bytes more than the block's, and the next multiple is no
        // further.
        let base = unsafe { whole.add(whole.align_offset(ALIGN)) };
        Ok(Block { whole, base, size })
    }

    /// The layout of the allocation. Its alignment is small, so that the allocator gets zeroed
    /// pages from the system and does not write to them. With a larger alignment, allocators zero
    /// all the memory themselves.
    fn layout(size: usize) -> Option<Layout> {
        Layout::from_size_align(size.checked_add(ALIGN)?, align_of::<usize>()).ok()
    }

    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// A pointer to `len` bytes at `offset`. Panics if they do not all lie inside.
    pub(crate) fn range(&self, offset: usize, len: usize) -> *mut u8 {
        assert!(
            offset <= self.size && len <= self.size - offset,
            "range outside the block"
        );
        // SAFETY: inside the allocation or one past its end.
        unsafe { self.base.as_ptr().add(offset) }
    }

    /// Copies bytes within the block or into another one; the ranges are checked.
    pub(crate) fn copy_to(&self, from: usize, into: &Block, at: usize, len: usize) {
        // SAFETY: both ranges are inside their blocks, and may overlap. Only the caller
        // writes to the target range, because it holds the block that it fills.
        unsafe { copy(self.range(from, len), into.range(at, len), len) }
    }

    /// Copies bytes out; the range is checked.
    pub(crate) fn read(&self, offset: usize, into: &mut [u8]) {
        let from = self.range(offset, into.len());
        // SAFETY: the source is inside the block and initialised; `into` does not overlap it.
        unsafe { copy(from, into.as_mut_ptr(), into.len()) }
    }

    /// The bytes at `offset`, for the only thread that fills or sends this part of the block.
    pub(crate) fn bytes_mut(&mut self, offset: usize, len: usize) -> &mut [u8] {
        let start = self.range(offset, len);
        // SAFETY: the range is inside the block, initialised (zeroed at birth), and borrowed
        // exclusively with the block.
        unsafe { std::slice::from_raw_parts_mut(start, len) }
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        let layout = Block::layout(self.size).expect("it was allocated with this layout");
        // SAFETY: allocated in `new` with this same layout.
        unsafe { dealloc(self.whole.as_ptr(), layout) }
    }
}

/// Blocks for outgoing messages. The block that came back last is reused first, because it may
/// still be in the cache.
#[derive(Debug)]
pub(crate) struct BlockPool {
    chunk: usize,
    max: usize,
    spare: Mutex<Vec<Block>>,
}

/// The number of chunks kept for reuse. More may be in use at the same time.
const SPARE_BLOCKS_MAX: usize = 4;

impl BlockPool {
    /// Makes a pool of blocks for messages of up to `chunk` bytes. Messages of up to `max` bytes
    /// get larger blocks.
    pub(crate) fn new(chunk: usize, max: usize) -> BlockPool {
        BlockPool {
            chunk,
            max: max.max(chunk),
            spare: Mutex::new(Vec::new()),
        }
    }

    pub(crate) fn max(&self) -> usize {
        self.max
    }

    /// A block with [`HEAD`] bytes, at least `len` bytes for a message, and padding behind it.
    /// Returns the block and the capacity of its message part.
    pub(crate) fn take(&self, len: usize) -> Result<(Block, usize), Error> {
        let mut spare = self
            .spare
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        let fit = |block: &Block| block.size() >= HEAD + len.next_multiple_of(ALIGN);
        let found = spare.iter().rposition(fit).map(|at| spare.remove(at));
        drop(spare);
        let block = match found {
            Some(block) => block,
            None => Block::new(HEAD + len.max(self.chunk).next_multiple_of(ALIGN))?,
        };
        let capacity = (block.size() - HEAD).min(self.max);
        Ok((block, capacity))
    }

    /// Reserves space for a message of `len` bytes, in a block.
    pub(crate) fn reserve(&self, len: usize) -> Result<Room, Error> {
        let (block, capacity) = self.take(len)?;
        Ok(Room {
            ptr: block.range(HEAD, capacity),
            capacity,
            place: MemorySource::Heap(block),
        })
    }

    /// Takes back the block of a reservation that [`BlockPool::reserve`] has made.
    pub(crate) fn cancel(&self, place: MemorySource) {
        if let MemorySource::Heap(block) = place {
            self.give(block);
        }
    }

    /// Takes a block back. Never waits for the lock: if a process forks while another thread holds
    /// the lock, a child that waits for the lock waits for ever.
    pub(crate) fn give(&self, block: Block) {
        let Ok(mut spare) = self.spare.try_lock() else {
            return;
        };
        let large = |block: &Block| block.size() > HEAD + self.chunk.next_multiple_of(ALIGN);
        if large(&block) {
            // Only one large block is kept: the last one that came back.
            spare.retain(|other| !large(other));
            spare.insert(0, block);
        } else if spare.len() < SPARE_BLOCKS_MAX {
            spare.push(block);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pool_reuses_chunks_and_one_large_block() {
        let pool = BlockPool::new(1000, 10_000);
        let (first, capacity) = pool.take(10).unwrap();
        assert_eq!(capacity, 1024);
        assert_eq!(first.range(HEAD, 1000) as usize % ALIGN, 0);
        let place = first.range(0, 1);
        pool.give(first);
        let (again, _) = pool.take(1000).unwrap();
        assert_eq!(again.range(0, 1), place);
        let (large, capacity) = pool.take(10_000).unwrap();
        assert_eq!(capacity, 10_000);
        pool.give(large);
        pool.give(again);
        assert_eq!(
            pool.take(1).unwrap().0.range(0, 1),
            place,
            "small ones are preferred for small messages"
        );
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri allocates in earnest")]
    fn what_nobody_has_is_an_error() {
        for size in [1 << 50, isize::MAX as usize, usize::MAX] {
            assert!(matches!(Block::new(size), Err(Error::NoMemory(_))));
        }
    }

    #[test]
    #[should_panic(expected = "outside the block")]
    fn ranges_are_checked() {
        Block::new(64).unwrap().range(60, 5);
    }
}
