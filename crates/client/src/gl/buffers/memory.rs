//! Memory that programs write to through a mapping, or that holds a buffer's contents.

use std::alloc::{alloc_zeroed, dealloc, Layout};

/// What `GL_MIN_MAP_BUFFER_ALIGNMENT` promises.
pub const ALIGNMENT: usize = 64;

/// Zeroed bytes at a fixed address, which the program may write to while it holds a mapping. So they are only reached by raw pointer.
///
/// Pages that nobody touches cost nothing: the allocator gets large blocks zeroed from the kernel, which it would not for a larger alignment than its
/// own. Hence the `ALIGNMENT` bytes more.
#[derive(Debug)]
pub struct Memory {
    block: *mut u8,
    layout: Layout,
    len: usize,
}

// SAFETY: the block belongs to this value alone, wherever that is.
unsafe impl Send for Memory {}

impl Memory {
    /// `None` if there is not so much memory.
    pub fn zeroed(len: usize) -> Option<Memory> {
        let layout = Layout::from_size_align(len.checked_add(ALIGNMENT)?, 16).ok()?;
        // SAFETY: the layout has a size.
        let block = unsafe { alloc_zeroed(layout) };
        (!block.is_null()).then_some(Memory { block, layout, len })
    }

    pub fn len(&self) -> usize {
        self.len
    }

    /// The address of byte `offset`; that of byte 0 is a multiple of `ALIGNMENT`.
    pub fn at(&self, offset: usize) -> *mut u8 {
        debug_assert!(offset <= self.len);
        let first = self.block as usize;
        self.block
            .wrapping_add(first.next_multiple_of(ALIGNMENT) - first + offset)
    }

    /// Copies `len` bytes to `offset`, if they fit.
    ///
    /// # Safety
    /// `from` holds `len` bytes.
    pub unsafe fn write(&self, offset: usize, from: *const u8, len: usize) {
        if offset.checked_add(len).is_some_and(|end| end <= self.len) {
            // SAFETY: the caller's promise, and the check. The program may have a mapping of the same bytes, so they may overlap.
            unsafe { std::ptr::copy(from, self.at(offset), len) };
        }
    }

    /// Whether `bytes` are those from `offset` on.
    pub fn holds(&self, offset: usize, bytes: &[u8]) -> bool {
        let fits = offset
            .checked_add(bytes.len())
            .is_some_and(|end| end <= self.len);
        // SAFETY: the bytes lie in the block. Programs may write there only while they hold a mapping of it, and then nobody asks.
        fits && unsafe { std::slice::from_raw_parts(self.at(offset), bytes.len()) } == bytes
    }

    /// A copy of `len` bytes from `offset` on, if they are there.
    pub fn read(&self, offset: usize, len: usize) -> Option<Vec<u8>> {
        offset.checked_add(len).filter(|&end| end <= self.len)?;
        let mut bytes = vec![0; len];
        // SAFETY: the bytes lie in the block.
        unsafe { std::ptr::copy_nonoverlapping(self.at(offset), bytes.as_mut_ptr(), len) };
        Some(bytes)
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout.
        unsafe { dealloc(self.block, self.layout) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_aligned_zeroed_and_bounded() {
        for len in [0, 1, 63, 64, 65, 5000, 1 << 20] {
            let memory = Memory::zeroed(len).unwrap();
            assert_eq!(memory.at(0) as usize % ALIGNMENT, 0);
            assert_eq!(memory.read(0, len).unwrap(), vec![0; len]);
            assert_eq!(memory.read(1, len), None);
            // SAFETY: the bytes are there.
            unsafe { memory.write(len.saturating_sub(2), [1u8, 2].as_ptr(), 2) };
            if len >= 2 {
                assert_eq!(memory.read(len - 2, 2).unwrap(), [1, 2]);
            }
        }
        assert!(Memory::zeroed(usize::MAX - 8).is_none());
    }
}
