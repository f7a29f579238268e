//! A ring of pieces in shared memory: one process copies messages into it, and another one copies
//! them out of it. Both use the `memcpy` of the C library. This is the limit for messages that are
//! copied twice.

use std::sync::atomic::{AtomicU64, Ordering};

use mgn_sys::Mapping;

/// A line of the caches.
pub const LINE: usize = 64;

/// The maximum length of a piece. Several of them fit into the caches, so a message is in memory
/// only at its two ends.
const PIECE_MAX: usize = 32 << 10;

/// The maximum number of pieces in a ring.
const PIECES_MAX: usize = 64;

/// A ring begins with the number of pieces that were taken out. Then it has a line for each place,
/// with the number of the piece in that place. The pieces themselves follow.
const HEADER: usize = (1 + PIECES_MAX) * LINE;

/// A message of at most this length is in the line of its number.
const INLINE_MAX: usize = LINE - size_of::<u64>();

/// One end of a ring.
pub struct Ring {
    offset: usize,
    /// The bytes of all pieces.
    bytes: usize,
    /// The length of a message, and of its pieces. The last piece of a message may be shorter.
    size: usize,
    piece: usize,
    /// The pieces that this end has put in or taken out so far.
    count: u64,
}

impl Ring {
    /// The ring at this offset of a mapping.
    pub fn new(offset: usize, bytes: usize) -> Ring {
        Ring {
            offset,
            bytes,
            size: 0,
            piece: LINE,
            count: 0,
        }
    }

    /// The length of the memory for a ring.
    pub const fn room(bytes: usize) -> usize {
        HEADER + bytes
    }

    /// From now on, messages have this size. Both ends must call this, while the ring is empty.
    pub fn prepare(&mut self, size: usize) {
        self.size = size;
        self.piece = size.next_multiple_of(LINE).clamp(LINE, PIECE_MAX);
    }

    /// Puts the next piece of the message, which begins at `at`, into the ring. Returns its length,
    /// or `None` if there is no room.
    pub fn put(&mut self, map: &Mapping, message: &[u8], at: usize) -> Option<usize> {
        let taken = (self.count + 1).saturating_sub(self.pieces());
        if !has_reached(map, self.offset, taken) {
            return None;
        }
        let (line, bytes) = self.place();
        let len = self.piece.min(self.size - at);
        let piece = map.range(bytes, len);
        // SAFETY: the range has `len` bytes. The other process has already copied the piece that
        // was there before, and reads the new piece only after its number is stored.
        unsafe { piece.copy_from_nonoverlapping(message[at..at + len].as_ptr(), len) };
        self.count += 1;
        map.long(line).store(self.count, Ordering::Release);
        Some(len)
    }

    /// Takes the next piece out of the ring and copies it to `at`. Returns its length, or `None` if
    /// no piece has come.
    pub fn take(&mut self, map: &Mapping, message: &mut [u8], at: usize) -> Option<usize> {
        let (line, bytes) = self.place();
        if !has_reached(map, line, self.count + 1) {
            return None;
        }
        let len = self.piece.min(self.size - at);
        let piece = map.range(bytes, len);
        // SAFETY: the range has `len` bytes. The other process writes them again only after the
        // number is stored.
        unsafe { piece.copy_to_nonoverlapping(message[at..at + len].as_mut_ptr(), len) };
        self.count += 1;
        map.long(self.offset).store(self.count, Ordering::Release);
        Some(len)
    }

    /// The maximum number of pieces in the ring.
    fn pieces(&self) -> u64 {
        (self.bytes / self.piece).min(PIECES_MAX) as u64
    }

    /// The offset of the next piece's line, and the offset of its bytes.
    fn place(&self) -> (usize, usize) {
        let index = (self.count % self.pieces()) as usize;
        let line = self.offset + LINE * (1 + index);
        match self.size <= INLINE_MAX {
            true => (line, line + size_of::<u64>()),
            false => (line, self.offset + HEADER + index * self.piece),
        }
    }
}

/// Whether the number at an offset has reached `count`.
pub fn has_reached(map: &Mapping, at: usize, count: u64) -> bool {
    let number: &AtomicU64 = map.long(at);
    number.load(Ordering::Acquire) >= count
}

/// Messages that are transferred piece by piece: how many are left, and where the next piece begins
/// in the one under way.
#[derive(Clone, Copy)]
pub struct Left {
    pub messages: usize,
    pub at: usize,
}

impl Left {
    pub fn new(messages: usize) -> Left {
        Left { messages, at: 0 }
    }

    /// Counts a piece of a message of `size` bytes.
    pub fn moved(&mut self, len: usize, size: usize) {
        self.at += len;
        if self.at == size {
            *self = Left::new(self.messages - 1);
        }
    }
}
