//! Bytes that are read in place.

use std::marker::PhantomData;
use std::ops::Range;

/// Bytes at an address, such as data of the program. Another thread may write to them at the same
/// time, so they are only read through the address, and there is no reference to them.
#[derive(Clone, Copy, Debug)]
pub struct Bytes<'a> {
    start: *const u8,
    len: usize,
    lives: PhantomData<&'a [u8]>,
}

impl<'a> Bytes<'a> {
    /// # Safety
    /// `len` bytes at `start` can be read throughout `'a`.
    pub unsafe fn new(start: *const u8, len: usize) -> Bytes<'a> {
        let lives = PhantomData;
        Bytes { start, len, lives }
    }

    pub fn start(&self) -> *const u8 {
        self.start
    }

    pub fn len(&self) -> usize {
        self.len
    }

    /// A part of the bytes. Panics if the range is out of bounds.
    pub fn part(&self, range: Range<usize>) -> Bytes<'a> {
        assert!(range.start <= range.end && range.end <= self.len);
        Bytes {
            start: self.start.wrapping_add(range.start),
            len: range.len(),
            lives: PhantomData,
        }
    }
}

impl<'a> From<&'a [u8]> for Bytes<'a> {
    fn from(bytes: &'a [u8]) -> Bytes<'a> {
        // SAFETY: the slice's own bytes.
        unsafe { Bytes::new(bytes.as_ptr(), bytes.len()) }
    }
}
