//! The arena: the part of a lane's memory for reserved messages of any length that fits.
//!
//! It lies behind the chunks of the pool, in the same memory, and consists of units of the size of
//! a chunk. A message has one or more consecutive units, and the counter of its first unit counts
//! its release. Only the writer keeps the state of the units. It reads nothing from the reader
//! except these counters. A reader with false counters only damages its own messages, or receives
//! fewer messages through the arena.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mgn_sys::fork;

use super::lane::Lane;

/// The number of messages that each call checks for their release, beginning with the oldest. If
/// there is no free memory, a call checks all messages.
const RELEASES_CHECKED: usize = 8;

/// The maximum number of bytes that one call returns to the system. Other threads wait during the
/// call.
const GIVEN_UP: usize = 8 << 20;

#[derive(Debug)]
pub(crate) struct Arena {
    lane: Arc<Lane>,
    /// The first unit, as a chunk number of the lane, and the number of units.
    first: u32,
    units: u32,
    unit: usize,
    book: Mutex<Book>,
    /// The generation of processes that made the arena. A forked child must not write to it.
    owner: u32,
}

/// A run of units: the first unit, and the number of units.
type Run = (u32, u32);

/// The state of the units. Units that are neither free nor flying are held by an [`Extent`] that
/// was not sent.
#[derive(Debug)]
struct Book {
    free: BTreeMap<u32, u32>,
    /// Runs that were sent and are not known to be released, the oldest first.
    flying: VecDeque<Run>,
    /// For each unit, the number of messages sent so far that began with it, modulo 2^32.
    sent: Vec<u32>,
    /// Units for which the system has allocated memory.
    warm: Vec<bool>,
    /// Set if memory was taken since the last call of `tidy`.
    is_used: bool,
}

/// Memory for one message. If the message was not sent, dropping this frees the memory.
#[derive(Debug)]
pub(crate) struct Extent {
    arena: Arc<Arena>,
    first: u32,
    count: u32,
    is_sent: AtomicBool,
}

impl Arena {
    /// The last `units` chunks of a lane that this end writes to.
    pub(crate) fn new(lane: &Arc<Lane>, units: u32) -> Arena {
        let unit = lane.pool().map.len() / lane.chunks() as usize;
        Arena {
            lane: lane.clone(),
            first: lane.chunks() - units,
            units,
            unit,
            book: Mutex::new(Book {
                free: BTreeMap::from([(0, units)]),
                flying: VecDeque::new(),
                sent: Vec::new(),
                warm: Vec::new(),
                is_used: false,
            }),
            owner: fork::generation(),
        }
    }

    /// Takes memory for a message of `len` bytes. Returns `None` if there is not enough now, or if
    /// the arena is too small.
    pub(crate) fn take(self: &Arc<Arena>, len: usize) -> Option<Extent> {
        let count = u32::try_from(len.div_ceil(self.unit).max(1)).ok()?;
        if count > self.units || !self.is_ours() {
            return None;
        }
        let mut book = self.book();
        book.is_used = true;
        book.collect(self.released(), RELEASES_CHECKED);
        let first = book.first_fit(count).or_else(|| {
            book.collect(self.released(), usize::MAX);
            book.first_fit(count)
        })?;
        book.sent.resize(self.units as usize, 0);
        book.warm.resize(self.units as usize, false);
        book.warm[first as usize..(first + count) as usize].fill(true);
        Some(Extent {
            arena: self.clone(),
            first,
            count,
            is_sent: AtomicBool::new(false),
        })
    }

    /// Returns idle memory to the system, unless memory was taken since the last call. Call it at
    /// intervals.
    pub(crate) fn tidy(&self) {
        let mut book = self.book();
        if std::mem::take(&mut book.is_used) || book.warm.is_empty() {
            return;
        }
        book.collect(self.released(), usize::MAX);
        let mut left = (GIVEN_UP / self.unit).max(1);
        let idle: Vec<Run> = book.free.iter().map(|(at, count)| (*at, *count)).collect();
        for (start, count) in idle {
            for at in start..start + count {
                if left > 0 && std::mem::take(&mut book.warm[at as usize]) {
                    left -= 1;
                    let offset = (self.first + at) as usize * self.unit;
                    self.lane.pool().map.give_up(offset, self.unit);
                }
            }
        }
        if !book.warm.contains(&true) {
            book.warm = Vec::new();
        }
    }

    /// For each unit, the number of messages beginning with it that the reader says it has
    /// released.
    fn released(&self) -> impl Fn(u32) -> u32 + '_ {
        |unit| self.lane.released(self.first + unit)
    }

    fn is_ours(&self) -> bool {
        self.owner == fork::generation()
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Book {
    /// Takes the first free run with `count` units. So units that were used before are preferred to
    /// unused units.
    fn first_fit(&mut self, count: u32) -> Option<u32> {
        let (at, size) = self.free.iter().find(|(_, size)| **size >= count)?;
        let (at, size) = (*at, *size);
        self.free.remove(&at);
        if size > count {
            self.free.insert(at + count, size - count);
        }
        Some(at)
    }

    fn give(&mut self, (mut at, mut count): Run) {
        if let Some((before, size)) = self.free.range(..at).next_back() {
            if before + size == at {
                (at, count) = (*before, count + size);
            }
        }
        if let Some(size) = self.free.remove(&(at + count)) {
            count += size;
        }
        self.free.insert(at, count);
    }

    /// Frees the units that the reader has released, among the `most` oldest messages.
    fn collect(&mut self, released: impl Fn(u32) -> u32, most: usize) {
        let (mut at, mut looks) = (0, 0);
        while at < self.flying.len() && looks < most {
            looks += 1;
            let run = self.flying[at];
            if released(run.0) == self.sent[run.0 as usize] {
                self.flying.remove(at);
                self.give(run);
            } else {
                at += 1;
            }
        }
    }
}

impl Extent {
    /// The start of the memory, which has at least as many bytes as were requested.
    pub(crate) fn start(&self) -> *mut u8 {
        let arena = &self.arena;
        let offset = (arena.first + self.first) as usize * arena.unit;
        let len = self.count as usize * arena.unit;
        arena.lane.pool().map.range(offset, len)
    }

    pub(crate) fn is_of(&self, arena: &Arc<Arena>) -> bool {
        Arc::ptr_eq(&self.arena, arena)
    }

    /// Counts a message of `len` bytes at the start of this memory. May be called only once. The
    /// memory then belongs to the reader until it releases the message, and units that the message
    /// does not need are free. Returns the chunk number for the message's descriptor.
    pub(crate) fn send(&self, len: usize) -> u32 {
        let arena = &self.arena;
        let was_sent = self.is_sent.swap(true, Ordering::Relaxed);
        assert!(!was_sent, "memory is sent once");
        let used = (len.div_ceil(arena.unit).max(1) as u32).min(self.count);
        let mut book = arena.book();
        if used < self.count {
            book.give((self.first + used, self.count - used));
        }
        let sent = &mut book.sent[self.first as usize];
        *sent = sent.wrapping_add(1);
        book.flying.push_back((self.first, used));
        arena.first + self.first
    }
}

impl Drop for Extent {
    fn drop(&mut self) {
        if !self.is_sent.load(Ordering::Relaxed) && self.arena.is_ours() {
            self.arena.book().give((self.first, self.count));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::lane::tests::lane;
    use super::*;
    use crate::testing::Random;

    const UNIT: usize = 4096;

    /// A lane of two chunks and an arena of eight units.
    fn arena() -> (Arc<Lane>, Arc<Arena>) {
        let lane = Arc::new(lane(10, UNIT));
        let arena = Arc::new(Arena::new(&lane, 8));
        (lane, arena)
    }

    fn free(arena: &Arc<Arena>) -> u32 {
        arena.book().free.values().sum()
    }

    #[test]
    fn what_is_not_sent_comes_back() {
        let (_, arena) = arena();
        let whole = arena.take(8 * UNIT).unwrap();
        assert!(arena.take(1).is_none() && arena.take(8 * UNIT + 1).is_none());
        drop(whole);
        assert!(arena.take(usize::MAX).is_none());
        let (one, three) = (arena.take(0).unwrap(), arena.take(2 * UNIT + 1).unwrap());
        assert_eq!(three.start() as usize - one.start() as usize, UNIT);
        assert_eq!(free(&arena), 4);
        drop(one);
        drop(three);
        assert_eq!(arena.book().free, BTreeMap::from([(0, 8)]));
    }

    #[test]
    fn what_is_sent_comes_back_when_it_is_released() {
        let (lane, arena) = arena();
        for _ in 0..100 {
            let extent = arena.take(5 * UNIT).unwrap();
            // The message is shorter than its memory, so the rest is free at once.
            let place = extent.send(UNIT + 1);
            drop(extent);
            assert_eq!((place, free(&arena)), (2, 6));
            assert!(arena.take(7 * UNIT).is_none());
            lane.release(place);
            assert!(arena.take(8 * UNIT).is_some());
        }
    }

    #[test]
    fn a_message_that_is_held_blocks_no_others() {
        let (lane, arena) = arena();
        let held = arena.take(1).unwrap().send(1);
        let mut used = std::collections::BTreeSet::new();
        for _ in 0..1000 {
            let place = arena.take(UNIT).unwrap().send(UNIT);
            used.insert(place);
            lane.release(place);
        }
        assert!(used.len() == 1 && !used.contains(&held), "{used:?}");
    }

    #[test]
    fn nothing_is_ever_given_twice() {
        let (lane, arena) = arena();
        let mut random = Random::new(7);
        let mut held: Vec<Extent> = Vec::new();
        let mut flying: Vec<(u32, u32)> = Vec::new();
        for _ in 0..20_000 {
            match random.below(4) {
                0 | 1 => held.extend(arena.take(random.below(3 * UNIT))),
                2 if !held.is_empty() => {
                    let extent = held.swap_remove(random.below(held.len()));
                    if random.below(3) > 0 {
                        let used = 1 + random.below(extent.count as usize) as u32;
                        flying.push((extent.send(used as usize * UNIT), used));
                    }
                }
                3 if !flying.is_empty() => {
                    let (place, _) = flying.swap_remove(random.below(flying.len()));
                    lane.release(place);
                }
                _ => arena.tidy(),
            }
            let mut owners = [0; 8];
            let all = held.iter().map(|extent| (extent.first, extent.count));
            let all = all.chain(flying.iter().map(|(place, used)| (place - 2, *used)));
            for (first, count) in all {
                (first..first + count).for_each(|unit| owners[unit as usize] += 1);
            }
            assert!(owners.iter().all(|count| *count < 2), "{owners:?}");
        }
        drop(held);
        flying.iter().for_each(|(place, _)| lane.release(*place));
        assert!(arena.take(8 * UNIT).is_some(), "all memory is free again");
    }

    #[test]
    fn idle_memory_goes_back_to_the_system() {
        let (lane, arena) = arena();
        let extent = arena.take(2 * UNIT).unwrap();
        // SAFETY: it is taken, and has `2 * UNIT` bytes.
        unsafe { extent.start().write_bytes(7, 2 * UNIT) };
        let place = extent.send(2 * UNIT);
        let read = |place: u32| {
            let start = lane.pool().map.range(place as usize * UNIT, 1);
            // SAFETY: the memory is mapped, and no other thread writes to it now.
            unsafe { start.read() }
        };
        arena.tidy();
        arena.tidy();
        assert_eq!(read(place), 7, "a message that is not released stays");
        lane.release(place);
        arena.tidy();
        assert_eq!((read(place), read(place + 1)), (0, 0));
        assert!(arena.book().warm.is_empty());
    }

    #[test]
    fn a_reader_that_lies_gets_less() {
        let (lane, arena) = arena();
        for _ in 0..50 {
            (0..8).for_each(|unit| lane.release(2 + unit));
            let taken: Vec<_> = (0..9).filter_map(|_| arena.take(UNIT)).collect();
            let places: std::collections::BTreeSet<u32> =
                taken.iter().map(|extent| extent.send(1)).collect();
            assert_eq!(places.len(), taken.len());
        }
    }
}
