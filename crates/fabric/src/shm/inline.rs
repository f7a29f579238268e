//! Payloads that continue in the slots after their frame's slot.
//!
//! With a chunk, the reader would have to fetch another cache line and release the memory. For a
//! few hundred bytes, this takes longer than the copy. So the slots carry these bytes, except in
//! the 8 bytes of each slot's number, and the bytes are released with the slots.

use super::lane::{prefetch_for_writing, Lane, AHEAD, LINE, SHORT};

/// The number of payload bytes in each slot after the first: all bytes except the slot's number.
const MORE: usize = LINE - 8;

/// The maximum number of slots of a payload after the first.
const MORE_SLOTS: usize = 5;

/// The longest payload in slots.
pub(crate) const INLINE: usize = SHORT + MORE_SLOTS * MORE;

/// The number of slots that a payload of `len` bytes needs after the first.
#[inline]
pub(crate) fn more_slots(len: usize) -> u64 {
    len.saturating_sub(SHORT).div_ceil(MORE) as u64
}

impl Lane {
    /// Copies the `len` bytes that follow the short payload of frame `number` to the next slots.
    /// Call it before the frame is put.
    ///
    /// # Safety
    /// `from` is valid for `len` bytes.
    #[inline]
    pub(crate) unsafe fn put_more(&self, number: u64, from: *const u8, len: usize) {
        for (slot, done) in (number + 1..).zip((0..len).step_by(MORE)) {
            prefetch_for_writing(self.slot(slot + AHEAD));
            // SAFETY: `from` is valid for `len` bytes. Each slot has `MORE` bytes behind its
            // number, and the writer has made sure that it is free.
            unsafe { copy_more(from.add(done), self.more(slot), len - done) };
        }
    }

    /// Copies the bytes that [`Lane::put_more`] has written.
    ///
    /// # Safety
    /// `into` is valid for `len` bytes.
    #[inline]
    pub(crate) unsafe fn look_at_more(&self, number: u64, into: *mut u8, len: usize) {
        for (slot, done) in (number + 1..).zip((0..len).step_by(MORE)) {
            // SAFETY: `into` is valid for `len` bytes. Each slot has `MORE` bytes behind its
            // number. An honest writer does not change them until they are released. If the writer
            // changes them, the copy has arbitrary bytes, which are valid, too.
            unsafe { copy_more(self.more(slot), into.add(done), len - done) };
        }
    }

    /// The bytes behind a slot's number.
    #[inline]
    fn more(&self, number: u64) -> *mut u8 {
        let slot = std::ptr::from_ref(self.slot(number)).cast_mut();
        // SAFETY: the address is inside the slot, which is memory that both processes write to.
        unsafe { slot.cast::<u8>().add(LINE - MORE) }
    }
}

/// Copies the first `MORE` of `len` bytes, or all if there are fewer. For a full slot, the length
/// is constant, so the compiler needs no call of `memcpy`.
///
/// # Safety
/// Both are valid for the smaller of `len` and `MORE` bytes.
#[inline]
unsafe fn copy_more(from: *const u8, into: *mut u8, len: usize) {
    // SAFETY: the caller has promised this.
    unsafe {
        match len >= MORE {
            true => from.copy_to_nonoverlapping(into, MORE),
            false => from.copy_to_nonoverlapping(into, len),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::lane::tests::lane;
    use super::super::lane::{Descriptor, IN_SLOT, SLOTS};
    use super::*;

    #[test]
    fn payloads_go_on_in_the_next_slots() {
        let lane = lane(2, 4096);
        let (head, short) = ([1, 2], [3, 4, 5]);
        let mut number = 0;
        for round in 0..SLOTS {
            let len = round as usize % (INLINE + 1);
            // These bytes look like the numbers of messages of the next round, and must not be
            // mistaken for them.
            let bytes: Vec<u8> = (number..number + INLINE as u64 / 8)
                .flat_map(|number| (number + SLOTS).to_ne_bytes())
                .take(len.saturating_sub(SHORT))
                .collect();
            let frame = Descriptor {
                place: IN_SLOT,
                offset: 0,
                len: len as u32,
            };
            let mut found = vec![0; bytes.len()];
            // SAFETY: each vector has as many bytes as its length says.
            unsafe {
                lane.put_more(number, bytes.as_ptr(), bytes.len());
                lane.put_frame(number, frame, head, short, false);
                lane.look_at_more(number, found.as_mut_ptr(), found.len());
            }
            assert_eq!(lane.look(number), Some((frame, head, short)));
            assert!(found == bytes, "{len}");
            let next = number + 1 + more_slots(len);
            for number in number + 1..next + SLOTS {
                assert!(!lane.is_there(number), "{len}: {number}");
            }
            number = next;
        }
    }
}
