//! Where the oldest receive of a link waits for its message, shown to the sender, who may write it straight there.
//!
//! The reader of a lane opens the berth when it has taken all frames there were, and says how many: a writer that has put others since knows that they come
//! first. Then either the writer enters, writes to the reader's memory, and says that the berth is full; or the reader closes it, for example because its
//! message comes as a frame after all. The one who changes the state first has its way.

use std::sync::atomic::Ordering;

use super::news::{self, Atomic, Atomics, Real, Sleep};

/// What a berth is for. A writer believes none of it but the address, which is in the reader's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Opening {
    /// Frames that the reader had taken.
    pub(crate) taken: u64,
    pub(crate) tag: u64,
    /// Bits of the tag that don't matter.
    pub(crate) ignore: u64,
    pub(crate) address: u64,
    pub(crate) len: u64,
}

/// A berth as its reader finds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Berthed {
    Open,
    /// The writer is writing.
    Entered,
    /// The message is here.
    Full {
        tag: u64,
        len: u64,
    },
    Closed,
}

const CLOSED: u64 = 0;
const OPEN: u64 = 1;
const ENTERED: u64 = 2;
const FULL: u64 = 3;
const STATES: u64 = 4;

/// The words that both ends share. Any bits are valid.
#[repr(C, align(64))]
pub(crate) struct Berth<A: Atomics = Real> {
    /// How often it was opened, and its state.
    state: A::Long,
    taken: A::Long,
    tag: A::Long,
    ignore: A::Long,
    address: A::Long,
    len: A::Long,
    pub(super) reader_sleeps: A::Word,
    _zero: A::Word,
}

impl<A: Atomics> Berth<A> {
    /// Opens it for the `number`th time. The reader has made sure that it is closed, or has taken what was in it.
    pub(crate) fn open(&self, number: u64, opening: &Opening) {
        self.taken.store(opening.taken, Ordering::Relaxed);
        self.tag.store(opening.tag, Ordering::Relaxed);
        self.ignore.store(opening.ignore, Ordering::Relaxed);
        self.address.store(opening.address, Ordering::Relaxed);
        self.len.store(opening.len, Ordering::Relaxed);
        self.state.store(number * STATES + OPEN, Ordering::Release);
    }

    /// What has become of its `number`th opening.
    #[inline]
    pub(crate) fn look(&self, number: u64) -> Berthed {
        match self
            .state
            .load(Ordering::Acquire)
            .wrapping_sub(number * STATES)
        {
            OPEN => Berthed::Open,
            ENTERED => Berthed::Entered,
            FULL => Berthed::Full {
                tag: self.tag.load(Ordering::Relaxed),
                len: self.len.load(Ordering::Relaxed),
            },
            _ => Berthed::Closed,
        }
    }

    /// The reader closes it. False: the writer has entered before.
    pub(crate) fn close(&self, number: u64) -> bool {
        let open = number * STATES;
        self.state.change(open + OPEN, open + CLOSED)
    }

    /// Asks the writer to ring when it is full. What it has filled before is not told.
    pub(crate) fn watch(&self) {
        news::announce::<A>(&self.reader_sleeps, Sleep::Deep);
    }

    /// The writer's look: whether it is open, for which time, and what for.
    #[inline]
    pub(crate) fn opening(&self) -> Option<(u64, Opening)> {
        let state = self.state.load(Ordering::Acquire);
        let opening = || Opening {
            taken: self.taken.load(Ordering::Relaxed),
            tag: self.tag.load(Ordering::Relaxed),
            ignore: self.ignore.load(Ordering::Relaxed),
            address: self.address.load(Ordering::Relaxed),
            len: self.len.load(Ordering::Relaxed),
        };
        (state % STATES == OPEN).then(|| (state / STATES, opening()))
    }

    /// The writer enters. False: it has been closed since it was looked at. Else all that was found there holds.
    pub(crate) fn enter(&self, number: u64) -> bool {
        let open = number * STATES;
        self.state.change(open + OPEN, open + ENTERED)
    }

    /// The writer has written. True if the reader has to be woken.
    pub(crate) fn fill(&self, number: u64, tag: u64, len: u64) -> bool {
        self.tag.store(tag, Ordering::Relaxed);
        self.len.store(len, Ordering::Relaxed);
        A::publish(&self.state, number * STATES + FULL);
        news::wake_after::<A>(&self.reader_sleeps, true)
    }

    /// The writer could not write, and leaves. The message comes as a frame.
    pub(crate) fn leave(&self, number: u64) {
        self.state
            .store(number * STATES + CLOSED, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shm::Checked;

    use loom::cell::UnsafeCell;
    use loom::sync::atomic::{AtomicU32, AtomicU64};
    use loom::sync::{Arc, Notify};
    use loom::thread;

    /// A berth, the memory it is about, and a lane that has room for all frames.
    struct Shared {
        berth: Berth<Checked>,
        memory: UnsafeCell<u64>,
        lane: [AtomicU64; 2],
        lane_sleeps: AtomicU32,
        reader: Notify,
    }

    impl Shared {
        fn new() -> Arc<Shared> {
            let (word, long) = (|| AtomicU32::new(0), || AtomicU64::new(0));
            Arc::new(Shared {
                berth: Berth {
                    state: long(),
                    taken: long(),
                    tag: long(),
                    ignore: long(),
                    address: long(),
                    len: long(),
                    reader_sleeps: word(),
                    _zero: word(),
                },
                memory: UnsafeCell::new(0),
                lane: [long(), long()],
                lane_sleeps: word(),
                reader: Notify::new(),
            })
        }

        /// Sends messages from 1 on, by the berth where it is open for the next one.
        fn write(&self, count: u64) {
            let mut put = 0;
            for message in 1..=count {
                let found = self.berth.opening();
                let fits = found.filter(|(_, opening)| opening.taken == put as u64);
                match fits.filter(|(number, _)| self.berth.enter(*number)) {
                    Some((number, opening)) => {
                        assert_eq!(opening.len, 8, "what was found holds");
                        // SAFETY: the reader leaves it alone while we are in there, or else the checker says so.
                        self.memory.with_mut(|memory| unsafe { *memory = message });
                        if self.berth.fill(number, message, 8) {
                            self.reader.notify();
                        }
                    }
                    None => {
                        Checked::publish(&self.lane[put], message);
                        put += 1;
                        if news::wake_after::<Checked>(&self.lane_sleeps, true) {
                            self.reader.notify();
                        }
                    }
                }
            }
        }

        fn has_frame(&self, taken: usize) -> bool {
            self.lane
                .get(taken)
                .is_some_and(|slot| slot.load(Ordering::Acquire) != 0)
        }

        /// Takes a message, one way or the other.
        fn read(&self, number: u64, taken: &mut usize) -> u64 {
            let opening = Opening {
                taken: *taken as u64,
                tag: 0,
                ignore: 0,
                address: 0,
                len: 8,
            };
            self.berth.open(number, &opening);
            loop {
                match self.berth.look(number) {
                    Berthed::Full { tag, .. } => {
                        // SAFETY: the writer has left it, or else the checker says so.
                        assert_eq!(self.memory.with(|memory| unsafe { *memory }), tag);
                        return tag;
                    }
                    Berthed::Open if self.has_frame(*taken) && self.berth.close(number) => {
                        *taken += 1;
                        return self.lane[*taken - 1].load(Ordering::Acquire);
                    }
                    _ => {}
                }
                self.berth.watch();
                news::announce::<Checked>(&self.lane_sleeps, Sleep::Deep);
                let is_full = matches!(self.berth.look(number), Berthed::Full { .. });
                if !is_full && !self.has_frame(*taken) {
                    self.reader.wait();
                } else {
                    thread::yield_now();
                }
            }
        }
    }

    #[test]
    fn messages_come_in_order_by_berth_and_lane() {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(3);
        model.check(|| {
            let shared = Shared::new();
            let writing = shared.clone();
            let writer = thread::spawn(move || writing.write(2));
            let mut taken = 0;
            for message in 1..=2 {
                assert_eq!(shared.read(message, &mut taken), message);
            }
            writer.join().unwrap();
        });
    }
}
