//! A lane: one direction of a connection in shared memory, with the words that both ends read and
//! write.
//!
//! ```text
//! control memory, one lane, every field on a cache line of its own:
//!   head: u64              next message the reader will take        written by the reader
//!   matched: u32           messages whose envelopes are free again  written by the reader, in the same line
//!   reader_sleeps: u32     how the reader may sleep, or 0            written by both
//!   writer_sleeps: u32     1 while a writer may sleep on it         written by both
//!   writer_closed: u32, reader_closed: u32
//!   released: u32 * n      messages released, per chunk of the lane's own memory and of other memory  written by the reader
//!   slots: 64 bytes * n { number: u64, place: u32, offset: u32, len: u32, 0: u32, head: 16 bytes, short: 24 bytes }  written by the writer
//! ```
//!
//! A slot is valid for message n when its `number` is n + 1. So one cache line carries the
//! notification and the descriptor. For an endpoint's frame, it also carries the head and a short
//! payload. A longer payload, of up to [`super::INLINE`] bytes, continues in the next slots. The
//! `number`s of these slots stay those of earlier laps. Each of these slots counts as a message.
//!
//! A chunk is free again when all messages that were sent in it have been released. Only the writer
//! compares these counts. Neither end trusts the shared words: the writer keeps its own count of
//! messages sent, the reader keeps its own count of messages taken, and each end checks the values
//! that it reads.

use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::Arc;
use std::time::Duration;

use mgn_sys::{fork, futex, Mapping};

use super::notify::{self, Real, Sleep, Slot};
use crate::peer::Peer;
use crate::Error;

/// The number of messages of a connection that may be committed and not yet received.
pub(crate) const SLOTS: u64 = 1024;

/// The number of slots of a link. It is smaller than [`SLOTS`], because a process may have a
/// thousand links.
pub(crate) const LINK_SLOTS: u64 = 256;

/// The number of counters for memory that is not the lane's own: regions for long messages in one
/// direction, and a group's chunks in the other.
const BESIDE: usize = 16;

/// The number of regions for long messages, in addition to the chunks.
pub(crate) const REGIONS: usize = 8;

/// The number of chunks of the memory that a group of servers shares.
pub(crate) const GROUP_CHUNKS: u32 = 16;

const _: () = assert!(REGIONS <= BESIDE && GROUP_CHUNKS as usize <= BESIDE);

/// A flag in a descriptor's place: the other bits are the number of a region.
pub(crate) const IN_REGION: u32 = 1 << 31;

/// A flag in a descriptor's place: the other bits are the number of a chunk of a group's memory.
pub(crate) const IN_GROUP: u32 = 1 << 29;

/// A descriptor's place that means that the bytes are in the slot itself.
pub(crate) const IN_SLOT: u32 = 1 << 30;

pub(super) const LINE: usize = 64;
const HEAD: usize = 0;
const MATCHED: usize = 8;
const READER_SLEEPS: usize = LINE;
const WRITER_SLEEPS: usize = 2 * LINE;
const WRITER_CLOSED: usize = 3 * LINE;
const READER_CLOSED: usize = 3 * LINE + 4;
const RELEASED: usize = 4 * LINE;

/// Memory that holds messages: the pool of chunks, or a region.
#[derive(Debug)]
pub(crate) struct Memory {
    pub(crate) map: Mapping,
    pub(crate) fd: OwnedFd,
    pub(crate) id: u64,
}

/// A message's place, as stated by the writer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Descriptor {
    pub(crate) place: u32,
    pub(crate) offset: u32,
    pub(crate) len: u32,
}

/// The number of payload bytes that fit in a slot, in addition to the head.
pub(crate) const SHORT: usize = 24;

#[derive(Debug)]
pub(crate) struct Lane {
    control: Arc<Mapping>,
    base: usize,
    /// The offset of the slots in `control`.
    slots_start: usize,
    pub(super) chunks: u32,
    slots: u64,
    pub(super) pool: Arc<Memory>,
    /// The peer that is woken through its socket. If there is none, the other end sleeps on the
    /// shared word (futex).
    bell: Option<Arc<Peer>>,
    /// The generation of processes that made the lane. A forked child releases nothing.
    owner: u32,
}

impl Lane {
    /// The size of the control memory of a lane with this number of chunks and slots, in whole
    /// pages.
    pub(crate) fn bytes(chunks: u32, slots: u64) -> usize {
        (Lane::slots_at(chunks) + slots as usize * size_of::<Slot>()).next_multiple_of(4096)
    }

    fn slots_at(chunks: u32) -> usize {
        (RELEASED + (chunks as usize + BESIDE) * 4).next_multiple_of(LINE)
    }

    /// The lane whose control words begin `base` bytes into `control`.
    pub(crate) fn new(
        control: Arc<Mapping>,
        base: usize,
        chunks: u32,
        slots: u64,
        pool: impl Into<Arc<Memory>>,
        bell: Option<Arc<Peer>>,
    ) -> Lane {
        assert!(slots.is_power_of_two() && base % 4096 == 0);
        assert!(base + Lane::bytes(chunks, slots) <= control.len());
        Lane {
            control,
            base,
            slots_start: base + Lane::slots_at(chunks),
            chunks,
            slots,
            pool: pool.into(),
            bell,
            owner: fork::generation(),
        }
    }

    pub(crate) fn pool(&self) -> &Arc<Memory> {
        &self.pool
    }

    pub(crate) fn chunks(&self) -> u32 {
        self.chunks
    }

    /// The index of the counter of a region's released messages.
    pub(crate) fn region_counter(&self, slot: usize) -> u32 {
        self.chunks + slot as u32
    }

    /// The index of the counter of released messages in a chunk of a group's memory.
    pub(crate) fn group_counter(&self, chunk: u32) -> u32 {
        self.chunks + chunk
    }

    /// Puts message `number` (from 0) in its slot, and wakes the reader if it sleeps. The writer
    /// has made sure that the slot is free.
    pub(crate) fn put(&self, number: u64, message: Descriptor) {
        self.put_quietly(number, message);
        self.wake_after(READER_SLEEPS, false);
    }

    /// Does the same as `put`, but does not wake a sleeping reader. Call [`Lane::wake_reader`]
    /// later.
    pub(crate) fn put_quietly(&self, number: u64, message: Descriptor) {
        self.slot(number).fill(number, message);
    }

    /// Puts a frame, whose head and short payload travel with the descriptor. A frame that can wait
    /// does not wake a reader in [`Sleep::Light`].
    #[inline]
    pub(crate) fn put_frame(
        &self,
        number: u64,
        message: Descriptor,
        head: [u64; 2],
        short: [u64; SHORT / 8],
        can_wait: bool,
    ) {
        self.slot(number).fill_frame(number, message, head, short);
        self.wake_after(READER_SLEEPS, can_wait);
        // The slots of the next messages are in the reader's cache. To fetch one takes as long as
        // to send a message.
        prefetch_for_writing(self.slot(number + AHEAD));
    }

    /// Whether message `number` has been put.
    #[inline]
    pub(crate) fn is_there(&self, number: u64) -> bool {
        self.slot(number).has(number)
    }

    /// Takes message `number`, if it has been put, and frees its slot. Each field is read once.
    pub(crate) fn take(&self, number: u64) -> Option<Descriptor> {
        let message = self.slot(number).read(number)?;
        self.publish_head(number + 1);
        Some(message)
    }

    /// Reads frame `number`, if it has been put. [`Lane::publish_head`] frees its slot.
    #[inline]
    pub(crate) fn look(&self, number: u64) -> Option<(Descriptor, [u64; 2], [u64; SHORT / 8])> {
        self.slot(number).read_frame(number)
    }

    /// Tells the writer that all messages before this one have been read.
    pub(crate) fn publish_head(&self, next: u64) {
        self.publish_head_quietly(next);
        self.wake(WRITER_SLEEPS);
    }

    /// Does the same as `publish_head`, but does not wake a sleeping writer. Call
    /// [`Lane::wake_writer`] later.
    #[inline]
    pub(crate) fn publish_head_quietly(&self, next: u64) {
        self.control
            .long(self.base + HEAD)
            .store(next, Ordering::Release);
    }

    /// Tells the writer the total number of envelopes that have become free again, modulo 2^32.
    #[inline]
    pub(crate) fn publish_matched(&self, matched: u32) {
        self.control
            .word(self.base + MATCHED)
            .store(matched, Ordering::Release);
    }

    pub(crate) fn matched(&self) -> u32 {
        self.control
            .word(self.base + MATCHED)
            .load(Ordering::Acquire)
    }

    /// Asks the writer to wake this end when a message comes, or with `None`, not to wake it.
    /// Messages that came before cause no wake-up.
    pub(crate) fn watch_reader(&self, how: Option<Sleep>) {
        let word = self.control.word(self.base + READER_SLEEPS);
        match how {
            Some(how) => notify::announce::<Real>(word, how),
            None => word.store(0, Ordering::Relaxed),
        }
    }

    /// Asks the reader to wake this end when it returns slots or memory.
    pub(crate) fn watch_writer(&self) {
        notify::announce::<Real>(self.control.word(self.base + WRITER_SLEEPS), Sleep::Deep);
    }

    /// The number of messages that the reader says it has taken, checked against the number of
    /// messages put.
    pub(crate) fn taken(&self, put: u64) -> Result<u64, Error> {
        let head = self.control.long(self.base + HEAD).load(Ordering::Acquire);
        match put.checked_sub(head) {
            Some(ahead) if ahead <= self.slots => Ok(head),
            _ => Err(Error::PeerMisbehaved(
                "it took messages that were never sent",
            )),
        }
    }

    /// Counts the release of one more message of a chunk or region. Has no effect in a forked
    /// child, because the message still belongs to its parent.
    pub(crate) fn release(&self, counter: u32) {
        if self.owner != fork::generation() {
            return;
        }
        self.counter(counter).fetch_add(1, Ordering::Release);
        self.wake(WRITER_SLEEPS);
    }

    /// The number of messages of a chunk or region that the reader says it has released, modulo
    /// 2^32.
    pub(crate) fn released(&self, counter: u32) -> u32 {
        self.counter(counter).load(Ordering::Acquire)
    }

    /// Sleeps until the writer puts a message or `timeout` passes. Returns at once if `ready` is
    /// true after the sleep has been announced.
    pub(crate) fn reader_sleep(&self, timeout: Duration, ready: impl FnOnce() -> bool) {
        self.sleep(READER_SLEEPS, timeout, ready);
    }

    /// Sleeps in the same way until the reader returns slots or memory.
    pub(crate) fn writer_sleep(&self, timeout: Duration, ready: impl FnOnce() -> bool) {
        self.sleep(WRITER_SLEEPS, timeout, ready);
    }

    pub(crate) fn wake_writer(&self) {
        self.wake(WRITER_SLEEPS);
    }

    pub(crate) fn wake_reader(&self) {
        self.wake(READER_SLEEPS);
    }

    pub(crate) fn close_writer(&self) {
        self.control
            .word(self.base + WRITER_CLOSED)
            .store(1, Ordering::Release);
        self.wake(READER_SLEEPS);
    }

    pub(crate) fn close_reader(&self) {
        self.control
            .word(self.base + READER_CLOSED)
            .store(1, Ordering::Release);
        self.wake(WRITER_SLEEPS);
    }

    pub(crate) fn writer_closed(&self) -> bool {
        self.control
            .word(self.base + WRITER_CLOSED)
            .load(Ordering::Acquire)
            != 0
    }

    pub(crate) fn reader_closed(&self) -> bool {
        self.control
            .word(self.base + READER_CLOSED)
            .load(Ordering::Acquire)
            != 0
    }

    fn sleep(&self, word: usize, timeout: Duration, ready: impl FnOnce() -> bool) {
        let word = self.control.word(self.base + word);
        notify::announce::<Real>(word, Sleep::Deep);
        if ready() {
            word.store(0, Ordering::Relaxed);
        } else {
            futex::wait(word, 1, timeout);
        }
    }

    fn wake(&self, word: usize) {
        let word = self.control.word(self.base + word);
        if notify::wake::<Real>(word) {
            self.ring(word);
        }
    }

    #[inline]
    fn wake_after(&self, word: usize, can_wait: bool) {
        let word = self.control.word(self.base + word);
        if notify::wake_after::<Real>(word, can_wait) {
            self.ring(word);
        }
    }

    #[cold]
    fn ring(&self, word: &AtomicU32) {
        match &self.bell {
            Some(peer) => peer.ring(),
            None => futex::wake_all(word),
        }
    }

    fn counter(&self, counter: u32) -> &AtomicU32 {
        assert!(counter < self.chunks + BESIDE as u32);
        self.control
            .word(self.base + RELEASED + counter as usize * 4)
    }

    #[inline]
    pub(super) fn slot(&self, number: u64) -> &Slot {
        let at = self.slots_start + (number & (self.slots - 1)) as usize * size_of::<Slot>();
        // SAFETY: `new` has checked that all slots lie inside the control memory, which is
        // writable, page-aligned, and lives as long as `self`. Any bits are a valid slot, and the
        // other process accesses it atomically, too.
        unsafe { &*self.control.as_ptr().add(at).cast::<Slot>() }
    }
}

const _: () = assert!(size_of::<Slot>() == LINE);

/// The number of slots by which the writer prefetches ahead.
pub(super) const AHEAD: u64 = 8;

#[inline]
pub(super) fn prefetch_for_writing(slot: &Slot) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch changes nothing that a program can observe.
    unsafe {
        use std::arch::x86_64::{_mm_prefetch, _MM_HINT_ET0};
        _mm_prefetch::<_MM_HINT_ET0>(std::ptr::from_ref(slot).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = slot;
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use mgn_sys::{memory, Protection};

    pub(crate) fn memory_of(bytes: usize, id: u64) -> Memory {
        let fd = memory::create("test", bytes).unwrap();
        let map = Mapping::new(&fd, bytes, Protection::ReadWrite).unwrap();
        Memory { map, fd, id }
    }

    pub(crate) fn lane(chunks: u32, chunk: usize) -> Lane {
        let control = memory_of(Lane::bytes(chunks, SLOTS), 0).map;
        Lane::new(
            Arc::new(control),
            0,
            chunks,
            SLOTS,
            memory_of(chunks as usize * chunk, 1),
            None,
        )
    }

    #[test]
    fn messages_pass_in_order_around_the_ring() {
        let lane = lane(2, 4096);
        for number in 0..SLOTS * 3 {
            assert_eq!(lane.take(number), None);
            let sent = Descriptor {
                place: 1,
                offset: number as u32,
                len: 2,
            };
            lane.put(number, sent);
            assert_eq!(lane.taken(number + 1).unwrap(), number);
            assert_eq!(lane.take(number), Some(sent));
        }
        assert_eq!(lane.taken(SLOTS * 3).unwrap(), SLOTS * 3);
    }

    #[test]
    fn messages_that_lie_outside_are_caught() {
        let lane = Arc::new(lane(8, 4096));
        let at = |place: u32, offset: u32, len: u32| Descriptor { place, offset, len };
        for found in [at(3, 0, 4096), at(3, 64, 4032), at(0, 4096, 0)] {
            assert!(lane.message(found, 4096).is_ok(), "{found:?}");
        }
        for found in [
            at(8, 0, 1),
            at(3, 1, 1),
            at(3, 64, 4033),
            at(3, 8192, 0),
            at(3, 0, u32::MAX),
        ] {
            assert!(lane.message(found, usize::MAX).is_err(), "{found:?}");
        }
        assert!(lane.message(at(3, 0, 101), 100).is_err());
        for found in [at(3, 0, 5 * 4096), at(7, 0, 4096), at(5, 0, 0)] {
            let message = lane.long_message(found, 3).unwrap();
            assert_eq!(
                message.segment().unwrap().offset,
                found.place as usize * 4096
            );
        }
        for found in [
            at(2, 0, 1),
            at(8, 0, 0),
            at(u32::MAX, 0, 0),
            at(3, 64, 1),
            at(3, 0, 5 * 4096 + 1),
            at(7, 0, 4097),
            at(7, 0, u32::MAX),
        ] {
            assert!(lane.long_message(found, 3).is_err(), "{found:?}");
        }
        assert!(lane.long_message(at(8, 0, 0), 8).is_err(), "no such memory");
    }

    #[test]
    fn a_reader_that_lies_is_caught() {
        let lane = lane(2, 4096);
        lane.put(
            0,
            Descriptor {
                place: 0,
                offset: 0,
                len: 1,
            },
        );
        for lie in [2, 1000, u64::MAX] {
            lane.control.long(HEAD).store(lie, Ordering::SeqCst);
            assert!(lane.taken(1).is_err());
        }
        lane.control.long(HEAD).store(0, Ordering::SeqCst);
        assert!(lane.taken(SLOTS + 1).is_err(), "fell back behind the ring");
    }
}
