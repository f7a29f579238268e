//! Memory that programs write to through a mapping, or that holds a buffer's contents.

use super::bytes::Bytes;
use mgn_sys::copy::copy;
use mgn_sys::Watched;
use std::alloc::{alloc_zeroed, dealloc, Layout};
use std::ops::Range;

/// The alignment that `GL_MIN_MAP_BUFFER_ALIGNMENT` promises.
pub const ALIGNMENT: usize = 64;

/// Zeroed bytes at a fixed address. The program may write to them while it holds a mapping, so they
/// are only accessed by raw pointer.
///
/// Untouched pages cost nothing: the allocator gets large blocks zeroed from the kernel. It does
/// not if the alignment is larger than its own, so `ALIGNMENT` more bytes are allocated instead.
#[derive(Debug)]
pub struct Memory {
    block: *mut u8,
    from: Origin,
    len: usize,
}

#[derive(Debug)]
enum Origin {
    Allocator(Layout),
    Kernel(Watched),
}

/// From this size on, asking the kernel which pages were written is cheaper than comparing all of
/// them.
const WATCHED_MIN: usize = 256 << 10;

// SAFETY: the block belongs to this value alone, in whichever thread.
unsafe impl Send for Memory {}
// SAFETY: no reference to the bytes exists. The program may write to its bytes at any time. The
// lock of the table of buffers orders this library's accesses.
unsafe impl Sync for Memory {}

impl Memory {
    /// `None` if there is not enough memory.
    pub fn zeroed(len: usize) -> Option<Memory> {
        let layout = Layout::from_size_align(len.checked_add(ALIGNMENT)?, 16).ok()?;
        // SAFETY: the layout has a size.
        let block = unsafe { alloc_zeroed(layout) };
        let from = Origin::Allocator(layout);
        (!block.is_null()).then_some(Memory { block, from, len })
    }

    /// The same, but `take_written` finds changes if the memory is large and the kernel supports
    /// that.
    pub fn watched(len: usize) -> Option<Memory> {
        if len < WATCHED_MIN {
            return Memory::zeroed(len);
        }
        let pages = Watched::new(len.checked_add(ALIGNMENT)?).ok()?;
        Some(Memory {
            block: pages.as_ptr(),
            from: Origin::Kernel(pages),
            len,
        })
    }

    /// The parts that may have been written since the last call. Some may lie beyond the end.
    pub fn take_written(&self) -> Vec<Range<usize>> {
        match &self.from {
            // Pages are aligned, so byte 0 is their first.
            Origin::Kernel(pages) => pages.take_written(),
            Origin::Allocator(_) => std::iter::once(0..self.len).collect(),
        }
    }

    pub fn contents(&self) -> Contents<'_> {
        Contents(self)
    }

    pub fn len(&self) -> usize {
        self.len
    }

    /// The address of byte `offset`. That of byte 0 is a multiple of `ALIGNMENT`.
    pub fn at(&self, offset: usize) -> *mut u8 {
        debug_assert!(offset <= self.len);
        let first = self.block as usize;
        self.block
            .wrapping_add(first.next_multiple_of(ALIGNMENT) - first + offset)
    }

    /// Whether it has `len` bytes at `offset`.
    fn has(&self, offset: usize, len: usize) -> bool {
        offset.checked_add(len).is_some_and(|end| end <= self.len)
    }

    /// Copies bytes to `offset`, if they fit.
    pub fn write(&self, offset: usize, from: Bytes<'_>) {
        if self.has(offset, from.len()) {
            // SAFETY: both have the bytes. The program may have a mapping of the same bytes, so
            // they may overlap.
            unsafe { copy(from.start(), self.at(offset), from.len()) };
        }
    }

    /// Copies `len` bytes from `from_offset` of other memory to `offset`, if both ranges exist.
    pub fn copy(&self, offset: usize, from: &Memory, from_offset: usize, len: usize) {
        if let Some(start) = from.contents().at(from_offset, len) {
            // SAFETY: the other memory has the bytes.
            self.write(offset, unsafe { Bytes::new(start, len) });
        }
    }

    /// Whether `len` bytes at `offset` equal those at `other_offset` of other memory. The program
    /// may be writing to them.
    #[inline]
    pub fn same(&self, offset: usize, other: &Memory, other_offset: usize, len: usize) -> bool {
        if !self.has(offset, len) || !other.has(other_offset, len) {
            return false;
        }
        let (a, b) = (self.at(offset), other.at(other_offset));
        // SAFETY: both have the bytes. Nothing refers to them.
        unsafe {
            if len == ALIGNMENT {
                return a.cast::<[u64; ALIGNMENT / 8]>().read_unaligned()
                    == b.cast::<[u64; ALIGNMENT / 8]>().read_unaligned();
            }
            (0..len).all(|i| a.add(i).read() == b.add(i).read())
        }
    }

    /// Whether the memory from `offset` on equals `bytes`.
    pub fn holds(&self, offset: usize, bytes: &[u8]) -> bool {
        // SAFETY: the byte lies in the block.
        let is_there = |(n, byte): (usize, &u8)| unsafe { self.at(offset + n).read() == *byte };
        self.has(offset, bytes.len()) && bytes.iter().enumerate().all(is_there)
    }

    /// A copy of `len` bytes from `offset` on, if they exist.
    pub fn read(&self, offset: usize, len: usize) -> Option<Vec<u8>> {
        let mut bytes = self.has(offset, len).then(|| vec![0; len])?;
        // SAFETY: the bytes lie in the block.
        unsafe { copy(self.at(offset), bytes.as_mut_ptr(), len) };
        Some(bytes)
    }
}

/// The contents of a buffer, for reading.
#[derive(Clone, Copy)]
pub struct Contents<'a>(&'a Memory);

impl Contents<'_> {
    /// The address of `len` bytes at `offset`, if they exist.
    pub fn at(&self, offset: usize, len: usize) -> Option<*const u8> {
        self.0
            .has(offset, len)
            .then(|| self.0.at(offset).cast_const())
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if let Origin::Allocator(layout) = self.from {
            // SAFETY: allocated with this layout.
            unsafe { dealloc(self.block, layout) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "asks the kernel which pages were written")]
    fn is_aligned_zeroed_and_bounded() {
        for len in [0, 1, 63, 64, 65, 5000, 1 << 20] {
            check(&Memory::zeroed(len).unwrap(), len);
            check(&Memory::watched(len).unwrap(), len);
        }
        assert!(
            Memory::zeroed(usize::MAX - 8).is_none() && Memory::watched(usize::MAX - 8).is_none()
        );
    }

    #[test]
    #[cfg_attr(miri, ignore = "asks the kernel which pages were written")]
    fn what_was_written_is_within_what_is_told() {
        for len in [100, WATCHED_MIN, 1 << 20] {
            let memory = Memory::watched(len).unwrap();
            memory.take_written();
            memory.write(len - 3, Bytes::from(&[1, 2][..]));
            assert!(memory
                .take_written()
                .iter()
                .any(|part| part.contains(&(len - 2))));
        }
    }

    fn check(memory: &Memory, len: usize) {
        assert_eq!(memory.at(0) as usize % ALIGNMENT, 0);
        assert_eq!(memory.read(0, len).unwrap(), vec![0; len]);
        assert_eq!(memory.read(1, len), None);
        memory.write(len.saturating_sub(2), Bytes::from(&[1, 2][..]));
        if len >= 2 {
            assert_eq!(memory.read(len - 2, 2).unwrap(), [1, 2]);
        }
    }
}
