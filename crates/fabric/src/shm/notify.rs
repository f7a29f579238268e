//! Notification between the two ends of a lane: numbered slots, and words that show which end
//! sleeps.
//!
//! The two ends are different processes. The code is generic over the kind of atomics: the
//! processor's atomics in shared memory, and the model checker's atomics. The model checker tries
//! the orders in which the ends may see each other's writes, with at most three preemptions.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::{Descriptor, SHORT};

/// A kind of atomics.
pub(crate) trait Atomics {
    type Word: Atomic<u32>;
    type Long: Atomic<u64>;

    fn fence(order: Ordering);

    /// Stores a value that the other end checks after [`announce`]. If [`wake_after`] follows, at
    /// least one end sees the write of the other end.
    fn publish(place: &Self::Long, value: u64);
}

pub(crate) trait Atomic<T> {
    fn load(&self, order: Ordering) -> T;
    fn store(&self, value: T, order: Ordering);
    fn swap(&self, value: T, order: Ordering) -> T;
}

macro_rules! atomic {
    ($atomic:ty, $value:ty) => {
        impl Atomic<$value> for $atomic {
            #[inline]
            fn load(&self, order: Ordering) -> $value {
                <$atomic>::load(self, order)
            }

            #[inline]
            fn store(&self, value: $value, order: Ordering) {
                <$atomic>::store(self, value, order);
            }

            #[inline]
            fn swap(&self, value: $value, order: Ordering) -> $value {
                <$atomic>::swap(self, value, order)
            }
        }
    };
}

/// The processor's atomics.
#[derive(Debug)]
pub(crate) enum Real {}

atomic!(AtomicU32, u32);
atomic!(AtomicU64, u64);

impl Atomics for Real {
    type Word = AtomicU32;
    type Long = AtomicU64;

    #[inline]
    fn fence(order: Ordering) {
        std::sync::atomic::fence(order);
    }

    // An exchange is cheaper than a store and a fence.
    #[inline]
    fn publish(place: &AtomicU64, value: u64) {
        place.swap(value, Ordering::SeqCst);
    }
}

/// A slot in shared memory. Any bits are valid.
#[repr(C, align(64))]
pub(crate) struct Slot<A: Atomics = Real> {
    number: A::Long,
    place: A::Word,
    offset: A::Word,
    len: A::Word,
    _zero: A::Word,
    head: [A::Long; 2],
    short: [A::Long; SHORT / 8],
}

impl<A: Atomics> Slot<A> {
    /// Puts message `number` here. The writer has made sure that the slot is free.
    #[inline]
    pub(crate) fn fill(&self, number: u64, message: Descriptor) {
        self.place.store(message.place, Ordering::Relaxed);
        self.offset.store(message.offset, Ordering::Relaxed);
        self.len.store(message.len, Ordering::Relaxed);
        A::publish(&self.number, number + 1);
    }

    /// Puts frame `number` here, with its head and short payload beside the descriptor.
    #[inline]
    pub(crate) fn fill_frame(
        &self,
        number: u64,
        message: Descriptor,
        head: [u64; 2],
        short: [u64; SHORT / 8],
    ) {
        for (place, word) in self.head.iter().zip(head) {
            place.store(word, Ordering::Relaxed);
        }
        for (place, word) in self.short.iter().zip(short) {
            place.store(word, Ordering::Relaxed);
        }
        self.fill(number, message);
    }

    /// Whether message `number` is here.
    #[inline]
    pub(crate) fn has(&self, number: u64) -> bool {
        self.number.load(Ordering::Acquire) == number + 1
    }

    /// Message `number`, if it is here. Each field is read once.
    #[inline]
    pub(crate) fn read(&self, number: u64) -> Option<Descriptor> {
        self.has(number).then(|| self.descriptor())
    }

    /// Frame `number`, if it is here. Each field is read once.
    #[inline]
    pub(crate) fn read_frame(
        &self,
        number: u64,
    ) -> Option<(Descriptor, [u64; 2], [u64; SHORT / 8])> {
        if !self.has(number) {
            return None;
        }
        let words = |words: &[A::Long], at: usize| words[at].load(Ordering::Relaxed);
        Some((
            self.descriptor(),
            std::array::from_fn(|at| words(&self.head, at)),
            std::array::from_fn(|at| words(&self.short, at)),
        ))
    }

    #[inline]
    fn descriptor(&self) -> Descriptor {
        Descriptor {
            place: self.place.load(Ordering::Relaxed),
            offset: self.offset.load(Ordering::Relaxed),
            len: self.len.load(Ordering::Relaxed),
        }
    }
}

/// The kinds of sleep of an end that does not poll.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Sleep {
    /// Every frame wakes the end.
    Deep = 1,
    /// The end's program does other work. Frames that can wait until the program polls do not wake
    /// it.
    Light = 2,
}

/// The value of the word while the end polls.
const AWAKE: u32 = 0;

/// Records in `sleeps` that this end may be asleep from now on. The end must then check for news
/// once more. The fence in this function and the fence in [`wake`] guarantee that this end sees the
/// news, or the other end sees that this end sleeps.
#[inline]
pub(crate) fn announce<A: Atomics>(sleeps: &A::Word, how: Sleep) {
    sleeps.store(how as u32, Ordering::Relaxed);
    A::fence(Ordering::SeqCst);
}

/// Whether the other end has to be woken for news that has just been written. Returns true once per
/// [`announce`].
#[inline]
pub(crate) fn wake<A: Atomics>(sleeps: &A::Word) -> bool {
    A::fence(Ordering::SeqCst);
    wake_after::<A>(sleeps, false)
}

/// Does the same for news that was [published](Atomics::publish). News that can wait does not wake
/// an end in [`Sleep::Light`].
#[inline]
pub(crate) fn wake_after<A: Atomics>(sleeps: &A::Word, can_wait: bool) -> bool {
    let how = sleeps.load(Ordering::SeqCst);
    let is_left = how == AWAKE || can_wait && how == Sleep::Light as u32;
    !is_left && sleeps.swap(AWAKE, Ordering::Relaxed) != AWAKE
}

/// The model checker's atomics.
#[cfg(test)]
pub(crate) mod checked {
    use super::*;
    use loom::sync::atomic::{AtomicU32, AtomicU64};

    pub(crate) enum Checked {}

    atomic!(AtomicU32, u32);
    atomic!(AtomicU64, u64);

    impl Atomics for Checked {
        type Word = AtomicU32;
        type Long = AtomicU64;

        fn fence(order: Ordering) {
            loom::sync::atomic::fence(order);
        }

        // The checker supports sequential consistency only for fences.
        fn publish(place: &AtomicU64, value: u64) {
            place.store(value, Ordering::Release);
            Checked::fence(Ordering::SeqCst);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::checked::Checked;
    use super::*;

    use loom::cell::UnsafeCell;
    use loom::sync::atomic::{AtomicU32, AtomicU64};
    use loom::sync::{Arc, Notify};
    use loom::thread;

    const SLOTS: u64 = 2;

    /// A lane of two slots, with a chunk for each slot, and a doorbell for each end.
    struct Ring {
        slots: [Slot<Checked>; SLOTS as usize],
        chunks: [UnsafeCell<u64>; SLOTS as usize],
        head: AtomicU64,
        reader_sleeps: AtomicU32,
        writer_sleeps: AtomicU32,
        reader: Notify,
        writer: Notify,
    }

    impl Ring {
        fn new() -> Arc<Ring> {
            let (word, long) = (|| AtomicU32::new(0), || AtomicU64::new(0));
            let slot = || Slot {
                number: long(),
                place: word(),
                offset: word(),
                len: word(),
                _zero: word(),
                head: [long(), long()],
                short: [long(), long(), long()],
            };
            Arc::new(Ring {
                slots: [slot(), slot()],
                chunks: [UnsafeCell::new(0), UnsafeCell::new(0)],
                head: long(),
                reader_sleeps: word(),
                writer_sleeps: word(),
                reader: Notify::new(),
                writer: Notify::new(),
            })
        }

        fn write(&self, count: u64) {
            for number in 0..count {
                while number - self.head.load(Ordering::Acquire) >= SLOTS {
                    announce::<Checked>(&self.writer_sleeps, Sleep::Deep);
                    if number - self.head.load(Ordering::Acquire) >= SLOTS {
                        self.writer.wait();
                    }
                }
                let at = (number % SLOTS) as usize;
                // SAFETY: no other thread reads the chunk now. Otherwise the checker reports it.
                self.chunks[at].with_mut(|chunk| unsafe { *chunk = number + 70 });
                let message = Descriptor {
                    place: at as u32,
                    offset: number as u32,
                    len: 7,
                };
                let (head, short) = ([number; 2], [number + 30; SHORT / 8]);
                self.slots[at].fill_frame(number, message, head, short);
                if wake_after::<Checked>(&self.reader_sleeps, true) {
                    self.reader.notify();
                }
            }
        }

        /// Reads frames, and returns `batch` slots at a time.
        fn read(&self, count: u64, batch: u64) {
            for number in 0..count {
                let at = (number % SLOTS) as usize;
                let (message, head, short) = loop {
                    if let Some(found) = self.slots[at].read_frame(number) {
                        break found;
                    }
                    announce::<Checked>(&self.reader_sleeps, Sleep::Deep);
                    if !self.slots[at].has(number) {
                        self.reader.wait();
                    }
                };
                assert_eq!((message.place, message.offset), (at as u32, number as u32));
                assert_eq!((head, short), ([number; 2], [number + 30; SHORT / 8]));
                // SAFETY: no other thread writes the chunk now. Otherwise the checker reports it.
                let chunk = self.chunks[at].with(|chunk| unsafe { *chunk });
                assert_eq!(chunk, number + 70);
                if (number + 1) % batch == 0 {
                    self.head.store(number + 1, Ordering::Release);
                    if wake::<Checked>(&self.writer_sleeps) {
                        self.writer.notify();
                    }
                }
            }
        }
    }

    /// Checks frames that take both slots of a ring. The second slot has no number of its own. Its
    /// bytes become visible together with the bytes of the first slot.
    fn check_wide(count: u64, waits: usize) {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(waits);
        model.check(move || {
            let ring = Ring::new();
            let writing = ring.clone();
            let writer = thread::spawn(move || {
                for number in (0..count).map(|frame| frame * SLOTS) {
                    while writing.head.load(Ordering::Acquire) < number {
                        announce::<Checked>(&writing.writer_sleeps, Sleep::Deep);
                        if writing.head.load(Ordering::Acquire) < number {
                            writing.writer.wait();
                        }
                    }
                    // SAFETY: no other thread reads these bytes now. Otherwise the checker reports
                    // it.
                    writing.chunks[1].with_mut(|more| unsafe { *more = number + 70 });
                    let message = Descriptor {
                        place: 0,
                        offset: 0,
                        len: 80,
                    };
                    writing.slots[0].fill_frame(number, message, [number; 2], [number; 3]);
                    if wake_after::<Checked>(&writing.reader_sleeps, true) {
                        writing.reader.notify();
                    }
                }
            });
            for number in (0..count).map(|frame| frame * SLOTS) {
                while ring.slots[0].read_frame(number).is_none() {
                    announce::<Checked>(&ring.reader_sleeps, Sleep::Deep);
                    if !ring.slots[0].has(number) {
                        ring.reader.wait();
                    }
                }
                // SAFETY: no other thread writes these bytes now. Otherwise the checker reports it.
                let more = ring.chunks[1].with(|more| unsafe { *more });
                assert_eq!(more, number + 70);
                assert!(!ring.slots[1].has(number + 1));
                ring.head.store(number + SLOTS, Ordering::Release);
                if wake::<Checked>(&ring.writer_sleeps) {
                    ring.writer.notify();
                }
            }
            writer.join().unwrap();
        });
    }

    /// Checks every interleaving of two threads with at most `waits` preemptions.
    fn check(count: u64, batch: u64, waits: usize) {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(waits);
        model.check(move || {
            let ring = Ring::new();
            let writing = ring.clone();
            let writer = thread::spawn(move || writing.write(count));
            ring.read(count, batch);
            writer.join().unwrap();
        });
    }

    #[test]
    fn frames_come_whole_and_nobody_sleeps_for_ever() {
        check(3, 1, 3);
    }

    #[test]
    fn slots_may_be_given_back_several_at_a_time() {
        check(4, 2, 3);
    }

    #[test]
    fn frames_of_two_slots_come_whole() {
        check_wide(3, 3);
    }

    /// Runs in `make stress`.
    #[test]
    #[ignore = "takes minutes"]
    fn more_frames_in_more_orders() {
        check(4, 1, 3);
        check(6, 2, 3);
    }
}
