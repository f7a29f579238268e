//! One direction of a connection in shared memory: the words that both ends touch.
//!
//! ```text
//! control memory, one lane, every field on a cache line of its own:
//!   head: u64              next message the reader will take        written by the reader
//!   reader_sleeps: u32     1 while the reader may sleep on it       by both
//!   writer_sleeps: u32     1 while a writer may sleep on it         by both
//!   writer_closed: u32, reader_closed: u32
//!   released: u32 * n      messages released, per chunk and region  by the reader
//!   slots: 32 bytes * 1024 { number: u64, place: u32, offset: u32, len: u32 }  by the writer
//! ```
//!
//! A slot is valid for message n when its `number` is n + 1: one cache line then carries both the
//! news and the descriptor. A chunk is free again when as many messages of it were released as were
//! sent, which only the writer compares. Neither end believes any of this: the writer keeps its own
//! count of what it sent, the reader its own of what it took, and each checks what it reads.

use std::os::fd::OwnedFd;
use std::sync::atomic::{fence, Ordering};
use std::sync::Arc;
use std::time::Duration;

use mgn_sys::{futex, Mapping};

use crate::Error;

/// Messages that may be committed and not yet received.
pub(crate) const SLOTS: u64 = 1024;

/// Regions for long messages, beside the chunks.
pub(crate) const REGIONS: usize = 8;

/// Set in a descriptor's place: the rest is the number of a region.
pub(crate) const IN_REGION: u32 = 1 << 31;

const LINE: usize = 64;
const SLOT: usize = 32;
const HEAD: usize = 0;
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

/// A message's place, as the writer says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Descriptor {
    pub(crate) place: u32,
    pub(crate) offset: u32,
    pub(crate) len: u32,
}

#[derive(Debug)]
pub(crate) struct Lane {
    control: Arc<Mapping>,
    base: usize,
    chunks: u32,
    pool: Arc<Memory>,
}

impl Lane {
    /// Bytes of control memory for a lane with so many chunks, whole pages.
    pub(crate) fn bytes(chunks: u32) -> usize {
        (Lane::slots(chunks) + SLOTS as usize * SLOT).next_multiple_of(4096)
    }

    fn slots(chunks: u32) -> usize {
        (RELEASED + (chunks as usize + REGIONS) * 4).next_multiple_of(LINE)
    }

    /// The lane whose control words begin `base` bytes into `control`.
    pub(crate) fn new(control: Arc<Mapping>, base: usize, chunks: u32, pool: Memory) -> Lane {
        assert!(base + Lane::bytes(chunks) <= control.len());
        Lane {
            control,
            base,
            chunks,
            pool: Arc::new(pool),
        }
    }

    pub(crate) fn pool(&self) -> &Arc<Memory> {
        &self.pool
    }

    pub(crate) fn chunks(&self) -> u32 {
        self.chunks
    }

    /// Number of the counter that takes a region's releases.
    pub(crate) fn region_counter(&self, slot: usize) -> u32 {
        self.chunks + slot as u32
    }

    /// Puts message `number` (from 0) where the reader finds it. The writer has made sure that its
    /// slot is free.
    pub(crate) fn put(&self, number: u64, message: Descriptor) {
        let slot = self.slot(number);
        self.control
            .word(slot + 8)
            .store(message.place, Ordering::Relaxed);
        self.control
            .word(slot + 12)
            .store(message.offset, Ordering::Relaxed);
        self.control
            .word(slot + 16)
            .store(message.len, Ordering::Relaxed);
        self.control.long(slot).store(number + 1, Ordering::Release);
        self.wake(READER_SLEEPS);
    }

    /// Whether message `number` has been put.
    pub(crate) fn is_there(&self, number: u64) -> bool {
        self.control.long(self.slot(number)).load(Ordering::Acquire) == number + 1
    }

    /// Takes message `number`, if it is there, and frees its slot. Each field is read once.
    pub(crate) fn take(&self, number: u64) -> Option<Descriptor> {
        if !self.is_there(number) {
            return None;
        }
        let slot = self.slot(number);
        let message = Descriptor {
            place: self.control.word(slot + 8).load(Ordering::Relaxed),
            offset: self.control.word(slot + 12).load(Ordering::Relaxed),
            len: self.control.word(slot + 16).load(Ordering::Relaxed),
        };
        self.control
            .long(self.base + HEAD)
            .store(number + 1, Ordering::Release);
        self.wake(WRITER_SLEEPS);
        Some(message)
    }

    /// How many messages the reader has taken, as far as it says, checked against how many were
    /// put.
    pub(crate) fn taken(&self, put: u64) -> Result<u64, Error> {
        let head = self.control.long(self.base + HEAD).load(Ordering::Acquire);
        match put.checked_sub(head) {
            Some(0..=SLOTS) => Ok(head),
            _ => Err(Error::PeerMisbehaved(
                "it took messages that were never sent",
            )),
        }
    }

    /// Says that one more message of a chunk or region has been dropped.
    pub(crate) fn release(&self, counter: u32) {
        self.counter(counter).fetch_add(1, Ordering::Release);
        self.wake(WRITER_SLEEPS);
    }

    /// Messages of a chunk or region released so far, modulo 2^32, as the reader says.
    pub(crate) fn released(&self, counter: u32) -> u32 {
        self.counter(counter).load(Ordering::Acquire)
    }

    /// Sleeps until the writer puts a message or `timeout` passes, unless `ready` at the last moment.
    pub(crate) fn reader_sleep(&self, timeout: Duration, ready: impl FnOnce() -> bool) {
        self.sleep(READER_SLEEPS, timeout, ready);
    }

    /// Sleeps until the reader gives something back, likewise.
    pub(crate) fn writer_sleep(&self, timeout: Duration, ready: impl FnOnce() -> bool) {
        self.sleep(WRITER_SLEEPS, timeout, ready);
    }

    pub(crate) fn wake_writer(&self) {
        self.wake(WRITER_SLEEPS);
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

    /// Announces the sleep, then looks once more: with the fence here and the one in `wake`, either
    /// this side sees the news or the other side sees the announcement.
    fn sleep(&self, word: usize, timeout: Duration, ready: impl FnOnce() -> bool) {
        let word = self.control.word(self.base + word);
        word.store(1, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        if ready() {
            word.store(0, Ordering::Relaxed);
        } else {
            futex::wait(word, 1, timeout);
        }
    }

    fn wake(&self, word: usize) {
        fence(Ordering::SeqCst);
        let word = self.control.word(self.base + word);
        if word.load(Ordering::Relaxed) != 0 && word.swap(0, Ordering::Relaxed) != 0 {
            futex::wake_all(word);
        }
    }

    fn counter(&self, counter: u32) -> &std::sync::atomic::AtomicU32 {
        assert!(counter < self.chunks + REGIONS as u32);
        self.control
            .word(self.base + RELEASED + counter as usize * 4)
    }

    fn slot(&self, number: u64) -> usize {
        self.base + Lane::slots(self.chunks) + (number % SLOTS) as usize * SLOT
    }
}

const _: () = assert!(SLOTS.is_power_of_two());

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
        let control = memory_of(Lane::bytes(chunks), 0).map;
        Lane::new(
            Arc::new(control),
            0,
            chunks,
            memory_of(chunks as usize * chunk, 1),
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
