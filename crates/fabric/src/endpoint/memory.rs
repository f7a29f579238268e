//! The program's memory from which a message is sent, or into which it is received.

use std::sync::Arc;

use mgn_sys::copy::copy;

use super::written::Written;
use crate::shm::SHORT;

/// A short payload, as words. Slots hold words, and copying words is faster.
pub(crate) type Words = [u64; SHORT / 8];

/// A part of the program's memory that is to be sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Payload<'a> {
    pub(crate) memory: &'a Memory,
    pub(crate) offset: usize,
    pub(crate) len: usize,
}

/// One or several pieces of memory, which together hold one message.
///
/// The maker of the value promises that the memory stays valid, and is not otherwise accessed,
/// until its operation has ended.
#[derive(Clone, Debug)]
pub(crate) enum Memory {
    One(*mut u8, usize),
    Many(Box<[(*mut u8, usize)]>, usize),
    /// The first bytes of reserved memory, which this value keeps alive.
    Written(Arc<Written>, usize),
}

// SAFETY: the memory belongs to no thread, and the maker of the value has promised that it is not
// otherwise accessed meanwhile.
unsafe impl Send for Memory {}

impl Memory {
    pub(crate) fn one(start: *mut u8, len: usize) -> Memory {
        Memory::One(start, len)
    }

    pub(crate) fn many(pieces: impl IntoIterator<Item = (*mut u8, usize)>) -> Memory {
        let pieces: Box<[_]> = pieces.into_iter().collect();
        match &*pieces {
            [(start, len)] => Memory::One(*start, *len),
            _ => {
                let len = pieces.iter().map(|(_, len)| len).sum();
                Memory::Many(pieces, len)
            }
        }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Memory::One(_, len) | Memory::Many(_, len) | Memory::Written(_, len) => *len,
        }
    }

    /// `len` bytes from `offset` on, of memory in one piece. Returns `None` if not all of these
    /// bytes lie inside the memory.
    pub(crate) fn part(&self, offset: u64, len: usize) -> Option<Memory> {
        let offset = usize::try_from(offset).ok()?;
        let Memory::One(start, size) = self else {
            return None;
        };
        let is_inside = offset <= *size && len <= size - offset;
        // SAFETY: inside the memory, which is valid by its maker's promise.
        is_inside.then(|| Memory::One(unsafe { start.add(offset) }, len))
    }

    /// The reserved memory, if this is reserved memory.
    pub(crate) fn written(&self) -> Option<&Arc<Written>> {
        match self {
            Memory::Written(written, _) => Some(written),
            _ => None,
        }
    }

    /// All of the memory, as a payload.
    pub(crate) fn payload(&self) -> Payload<'_> {
        Payload {
            memory: self,
            offset: 0,
            len: self.len(),
        }
    }

    /// The start of the memory, if it is in one piece.
    pub(crate) fn contiguous(&self) -> Option<*mut u8> {
        match self {
            Memory::One(start, _) => Some(*start),
            Memory::Written(written, _) => Some(written.start()),
            Memory::Many(..) => None,
        }
    }

    /// Calls `each` with the pieces that hold the `len` bytes from `offset` on. Stops at the end of
    /// the memory.
    #[inline]
    pub(crate) fn pieces(
        &self,
        mut offset: usize,
        mut len: usize,
        mut each: impl FnMut(*mut u8, usize),
    ) {
        let one;
        let pieces: &[(*mut u8, usize)] = match self {
            Memory::One(start, size) => {
                one = [(*start, *size)];
                &one
            }
            Memory::Many(pieces, _) => pieces,
            Memory::Written(written, size) => {
                one = [(written.start(), *size)];
                &one
            }
        };
        for (start, size) in pieces {
            if offset >= *size {
                offset -= size;
                continue;
            }
            let part = len.min(size - offset);
            if part == 0 {
                return;
            }
            // SAFETY: inside the piece, which is valid by its maker's promise.
            each(unsafe { start.add(offset) }, part);
            offset = 0;
            len -= part;
        }
    }

    /// Copies `len` bytes from `offset` on to `into`.
    ///
    /// # Safety
    /// The memory has `len` bytes from `offset` on, and `into` is valid for `len` bytes.
    #[inline]
    pub(crate) unsafe fn gather(&self, offset: usize, into: *mut u8, len: usize) {
        let mut done = 0;
        self.pieces(offset, len, |piece, part| {
            // SAFETY: as promised to this function and by the maker of the value. `copy` is used
            // because a program may send from and receive into memory that overlaps.
            unsafe { copy(piece, into.add(done), part) };
            done += part;
        });
        debug_assert_eq!(done, len);
    }

    /// Copies the first `len` bytes of the words, as far as they fit.
    #[inline]
    pub(crate) fn put_short(&self, words: &Words, len: usize) {
        match self {
            // SAFETY: the memory has `room` bytes, by the promise of its maker.
            Memory::One(start, room) if len == 8 && *room >= 8 => unsafe {
                start.cast::<u64>().write_unaligned(words[0]);
            },
            // SAFETY: as above.
            Memory::One(start, room) if len == SHORT && *room >= SHORT => unsafe {
                start.cast::<Words>().write_unaligned(*words);
            },
            // SAFETY: the array has `SHORT` bytes.
            _ => unsafe { self.scatter(0, words.as_ptr().cast(), len.min(SHORT)) },
        }
    }

    /// Copies `len` bytes from `from` to this memory from `offset` on, as far as they fit.
    ///
    /// # Safety
    /// `from` is valid for `len` bytes.
    #[inline]
    pub(crate) unsafe fn scatter(&self, offset: usize, from: *const u8, len: usize) {
        let mut done = 0;
        self.pieces(offset, len, |piece, part| {
            // SAFETY: as in `gather`.
            unsafe { copy(from.add(done), piece, part) };
            done += part;
        });
    }
}

/// Reads at most [`SHORT`] bytes as words.
///
/// # Safety
/// `from` is valid for `len` bytes.
#[inline]
pub(crate) unsafe fn words(from: *const u8, len: usize) -> Words {
    let mut words = Words::default();
    // SAFETY: `from` is valid for `len` bytes, and the array has room for them.
    unsafe {
        match len {
            8 => words[0] = from.cast::<u64>().read_unaligned(),
            SHORT => words = from.cast::<Words>().read_unaligned(),
            _ => from.copy_to_nonoverlapping(words.as_mut_ptr().cast(), len),
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_one_message() {
        let mut parts = [vec![0u8; 3], vec![], vec![0; 5], vec![0; 1]];
        let memory = Memory::many(parts.iter_mut().map(|part| (part.as_mut_ptr(), part.len())));
        assert_eq!(memory.len(), 9);
        assert!(memory.contiguous().is_none());
        let sent: Vec<u8> = (1..=9).collect();
        // SAFETY: all memory lives in this function and has the given sizes.
        unsafe {
            memory.scatter(0, sent.as_ptr(), 4);
            memory.scatter(4, sent[4..].as_ptr(), 5);
            memory.scatter(8, sent[8..].as_ptr(), 1);
            // Bytes that do not fit are left out.
            memory.scatter(9, sent.as_ptr(), 9);
            for (offset, len) in [(0, 9), (2, 3), (3, 5), (8, 1), (9, 0)] {
                let mut back = vec![0; len];
                memory.gather(offset, back.as_mut_ptr(), len);
                assert_eq!(back, sent[offset..offset + len]);
            }
        }
        assert_eq!(parts[2], [4, 5, 6, 7, 8]);
    }
}
