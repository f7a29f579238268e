//! Answers: values and arrays in the order in which the command declares them.

use crate::Plain;

/// Collects an answer on the server: the return value, then each array as `count:u32` and its
/// elements, padded to 4 bytes.
#[derive(Default, Debug)]
pub struct Reply {
    bytes: Vec<u8>,
    asked: bool,
}

impl Reply {
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.asked = false;
    }

    /// Whether the command that was executed has an answer, even an empty one.
    pub fn is_asked(&self) -> bool {
        self.asked
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Marks an answer as existing although it is empty.
    pub fn empty(&mut self) {
        self.asked = true;
    }

    /// A return value, widened to 8 bytes.
    pub fn value<T: Plain>(&mut self, value: T) {
        self.asked = true;
        let at = self.bytes.len();
        self.push(&[value]);
        self.bytes.resize(at + 8, 0);
    }

    /// Adds the first `count` of `elements`.
    pub fn array<T: Plain>(&mut self, elements: &[T], count: u32) {
        self.asked = true;
        let elements = &elements[..elements.len().min(count as usize)];
        self.bytes.extend((elements.len() as u32).to_le_bytes());
        self.push(elements);
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }

    /// Adds an array of bytes, which the caller fills.
    pub fn room(&mut self, bytes: usize) -> &mut [u8] {
        self.asked = true;
        self.bytes.extend((bytes as u32).to_le_bytes());
        let at = self.bytes.len();
        self.bytes.resize((at + bytes).next_multiple_of(4), 0);
        &mut self.bytes[at..at + bytes]
    }

    fn push<T: Plain>(&mut self, elements: &[T]) {
        // SAFETY: plain elements are bytes without padding.
        let bytes = unsafe {
            std::slice::from_raw_parts(elements.as_ptr().cast::<u8>(), size_of_val(elements))
        };
        self.bytes.extend_from_slice(bytes);
    }
}

/// Decodes an answer on the client. Missing values read as zeros, as does the answer of a lost
/// server.
#[derive(Default, Debug)]
pub struct Answer {
    bytes: Vec<u8>,
    at: usize,
}

impl Answer {
    pub fn new(bytes: Vec<u8>) -> Answer {
        Answer { bytes, at: 0 }
    }

    pub fn value<T: Plain>(&mut self) -> T {
        let mut value = T::default();
        if let Some(bytes) = self.take(8) {
            // SAFETY: T is plain and at most 8 bytes.
            unsafe {
                std::ptr::copy_nonoverlapping(
                    bytes.as_ptr(),
                    (&raw mut value).cast(),
                    size_of::<T>(),
                )
            };
        }
        value
    }

    /// Copies the next array to `to`, if that is not null. Returns its length in elements, which is
    /// at most `most`, whatever the server sends.
    ///
    /// # Safety
    /// `to` is null or has room for `most` elements.
    pub unsafe fn array<T: Plain>(&mut self, to: *mut T, most: usize) -> usize {
        let bytes = self.next_array(size_of::<T>());
        let bytes = &bytes[..bytes.len().min(most.saturating_mul(size_of::<T>()))];
        if !to.is_null() {
            // SAFETY: the caller has room for as many.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to.cast(), bytes.len()) };
        }
        bytes.len() / size_of::<T>()
    }

    /// The next array, whose elements have `size` bytes.
    pub fn next_array(&mut self, size: usize) -> &[u8] {
        let Some(count) = self.take(4) else {
            return &[];
        };
        let count = u32::from_le_bytes([count[0], count[1], count[2], count[3]]) as usize;
        let bytes = count.saturating_mul(size).min(self.bytes.len() - self.at);
        let at = self.at;
        self.at = (at + bytes).next_multiple_of(4).min(self.bytes.len());
        &self.bytes[at..at + bytes]
    }

    fn take(&mut self, n: usize) -> Option<&[u8]> {
        let at = self.at;
        let end = at.checked_add(n).filter(|&end| end <= self.bytes.len())?;
        self.at = end;
        Some(&self.bytes[at..end])
    }
}
