//! The memory that the members of a group on one host share, and the outcomes that members derive
//! from it.
//!
//! Each member counts its arrivals in a cache line of its own. A counter keeps its value when its
//! member dies. So at any time, all members find the same answer to the question whether all
//! members have arrived at an epoch. This makes outcomes uniform without a coordinator. There
//! is one exception: an epoch fails because of a set of lost members, and two members that look at
//! different times may find different sets. So the first member that looks writes its set to the
//! memory (a *verdict*).
//!
//! The code is generic over the atomics: the processor's atomics, or the atomics of the model
//! checker.

use std::sync::atomic::Ordering;

use crate::Combine;

/// The maximum number of members. A verdict is a word with a bit for each member.
pub const MEMBERS_MAX: usize = 64;

/// A flag in a counter: the member has left. The other bits are the number of epochs at which it
/// has arrived.
const LEFT: u64 = 1 << 63;

pub(super) trait Atomic<T> {
    fn load(&self, order: Ordering) -> T;
    fn store(&self, value: T, order: Ordering);
    fn add(&self, value: T, order: Ordering) -> T;
    fn or(&self, value: T, order: Ordering) -> T;
    /// Stores the value if the word is 0. Returns the previous value.
    fn claim(&self, value: T) -> T;
}

/// One word of the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PageWord {
    /// A bit for each member that is lost.
    Lost,
    /// A bit for each lost member that made the last epoch of view `.0` fail.
    Verdict(usize),
    /// The result of the epoch before the last epoch of view `.0`.
    Before(usize),
    /// The number of epochs at which a member has arrived.
    Arrived(usize),
    /// The value that a member has contributed: one word for even epochs, and one for odd epochs.
    Value(usize, u64),
    /// The number of members that may sleep.
    Sleepers,
}

pub(super) trait Page {
    type Long: Atomic<u64>;
    type Word: Atomic<u32>;

    fn long(&self, place: PageWord) -> &Self::Long;

    /// The word that changes when members that may sleep have to look at the memory.
    fn bell(&self) -> &Self::Word;

    /// The fence of a member that changes the memory, for example by its arrival.
    fn light_fence();

    /// The fence of a member that may sleep. Returns false if the fence has no effect on members
    /// that arrive.
    fn heavy_fence() -> bool;

    /// Wakes all members that sleep at the bell.
    fn wake(&self);
}

/// The state of one member.
#[derive(Debug)]
pub(super) struct Seat {
    pub me: usize,
    combine: Combine,
    /// A bit for each member that takes part.
    pub view: u64,
    /// The number of views before the present one.
    views: usize,
    pub epoch: u64,
    pub has_arrived: bool,
    /// The members that have been seen to have arrived at this epoch.
    pub seen: u64,
    /// The members in `seen` that have left, and contribute no value.
    left: u64,
    /// The value that this member has contributed to this epoch.
    value: u64,
    /// The result of the last epoch that passed.
    last: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Passed {
        epoch: u64,
        value: u64,
    },
    /// The epoch has failed. `lost` has a bit for each lost member.
    Failed {
        epoch: u64,
        lost: u64,
    },
    /// The other members count this member as lost.
    Excluded,
}

impl Seat {
    pub fn new(me: usize, count: usize, combine: Combine) -> Seat {
        Seat {
            me,
            combine,
            view: u64::MAX >> (MEMBERS_MAX - count),
            views: 0,
            epoch: 0,
            has_arrived: false,
            seen: 0,
            left: 0,
            value: 0,
            last: 0,
        }
    }

    #[inline]
    pub fn arrive<P: Page>(&mut self, page: &P, value: u64) {
        self.put(page, value);
        rouse(page);
    }

    /// Arrives, and passes if all other members arrive during `pauses` short pauses. Returns the
    /// result. After `None`, the member has arrived, and has to call [`Seat::look`].
    #[inline]
    pub fn arrive_and_pass<P: Page>(&mut self, page: &P, value: u64, pauses: u32) -> Option<u64> {
        self.put(page, value);
        // This delays the first look only a little: the number of sleeping members is in this
        // member's cache, and the other members' counters are already being fetched.
        rouse(page);
        self.pass_soon(page, pauses)
    }

    /// Does the same as [`Seat::look`], in a fraction of the time, if no epoch of this view has
    /// failed.
    #[inline]
    fn pass_soon(&mut self, page: &impl Page, mut pauses: u32) -> Option<u64> {
        let lost = page.long(PageWord::Lost).load(Ordering::Acquire);
        let mut value = self.value;
        let mut others = self.view & !(1 << self.me);
        while others != 0 {
            let member = others.trailing_zeros() as usize;
            let count = page.long(PageWord::Arrived(member)).load(Ordering::Acquire);
            if count & !LEFT > self.epoch {
                let place = page.long(PageWord::Value(member, self.epoch % 2));
                value = self.combine.of(value, place.load(Ordering::Acquire));
            } else if count & LEFT == 0 {
                pauses = pauses.checked_sub(1)?;
                // Without this pause, processors read the counter speculatively, and have to repeat
                // the reads when it changes.
                std::hint::spin_loop();
                continue;
            }
            others &= others - 1;
        }
        let verdict = page.long(PageWord::Verdict(self.views));
        if lost & 1 << self.me != 0 || verdict.load(Ordering::Acquire) != 0 {
            return None;
        }
        self.last = value;
        self.next();
        Some(value)
    }

    #[inline]
    fn put(&mut self, page: &impl Page, value: u64) {
        self.has_arrived = true;
        self.value = value;
        self.seen = 1 << self.me;
        // If another member finds this value in place of an older value, it also finds the verdict
        // that let this member go on.
        let place = page.long(PageWord::Value(self.me, self.epoch % 2));
        place.store(value, Ordering::Release);
        let counter = page.long(PageWord::Arrived(self.me));
        counter.store(self.epoch + 1, Ordering::Release);
    }

    pub fn leave<P: Page>(&mut self, page: &P) {
        let counter = page.long(PageWord::Arrived(self.me));
        counter.store(LEFT | self.epoch, Ordering::Release);
        rouse(page);
    }

    /// The outcome of the epoch at which this member has arrived. `None` while the epoch has no
    /// outcome.
    #[inline]
    pub fn look(&mut self, page: &impl Page) -> Option<Outcome> {
        // Read this before the counters. The counters of members that are lost by then do not
        // change later.
        let lost = page.long(PageWord::Lost).load(Ordering::Acquire);
        if lost & 1 << self.me != 0 {
            return Some(Outcome::Excluded);
        }
        let mut missing = self.view & !self.seen;
        while missing != 0 {
            let member = missing.trailing_zeros() as usize;
            let count = page.long(PageWord::Arrived(member)).load(Ordering::Acquire);
            if count & !LEFT <= self.epoch {
                if count & LEFT == 0 {
                    break;
                }
                self.left |= 1 << member;
            }
            missing &= missing - 1;
            self.seen |= 1 << member;
        }
        if missing == 0 {
            return Some(self.pass(page));
        }
        match lost & self.view {
            0 => None,
            lost => self.fail(page, lost),
        }
    }

    /// The members that have neither arrived at this epoch nor left, one bit each. [`Seat::look`]
    /// stops at the first of them.
    pub fn missing(&self, page: &impl Page) -> u64 {
        let is_missing = |member: &usize| {
            let count = page
                .long(PageWord::Arrived(*member))
                .load(Ordering::Acquire);
            count & LEFT == 0 && count <= self.epoch
        };
        let unseen = self.view & !self.seen;
        let unseen = (0..u64::BITS as usize).filter(|member| unseen & 1 << member != 0);
        unseen
            .filter(is_missing)
            .fold(0, |all, member| all | 1 << member)
    }

    fn pass(&mut self, page: &impl Page) -> Outcome {
        // Do not read the own value from the page, because other members have just fetched that
        // cache line.
        let mut value = self.value;
        let mut others = self.view & !self.left & !(1 << self.me);
        while others != 0 {
            let member = others.trailing_zeros() as usize;
            others &= others - 1;
            let place = page.long(PageWord::Value(member, self.epoch % 2));
            value = self.combine.of(value, place.load(Ordering::Acquire));
        }
        // Other members can be two epochs ahead only if the next epoch has failed for them. They
        // may then have overwritten the values, so use the stored result.
        if page
            .long(PageWord::Verdict(self.views))
            .load(Ordering::Acquire)
            != 0
        {
            value = page
                .long(PageWord::Before(self.views))
                .load(Ordering::Acquire);
        }
        self.last = value;
        let epoch = self.next();
        Outcome::Passed { epoch, value }
    }

    #[cold]
    fn fail(&mut self, page: &impl Page, lost: u64) -> Option<Outcome> {
        let is_missing = |member: &usize| {
            let count = page
                .long(PageWord::Arrived(*member))
                .load(Ordering::Acquire);
            count & LEFT == 0 && count <= self.epoch
        };
        let lost = (0..MEMBERS_MAX).filter(|member| lost & 1 << member != 0);
        let missing = lost.filter(is_missing);
        let missing: u64 = missing.map(|member| 1 << member).sum();
        if missing == 0 {
            return None;
        }
        // All members that write this word write the same value.
        let before = page.long(PageWord::Before(self.views));
        before.store(self.last, Ordering::Release);
        let lost = match page.long(PageWord::Verdict(self.views)).claim(missing) {
            0 => missing,
            others => others,
        };
        self.view &= !lost;
        self.views += 1;
        let epoch = self.next();
        Some(Outcome::Failed { epoch, lost })
    }

    /// Goes on to the next epoch. Returns the previous epoch.
    fn next(&mut self) -> u64 {
        self.epoch += 1;
        self.has_arrived = false;
        (self.seen, self.left) = (0, 0);
        self.epoch - 1
    }
}

/// Records that a member is lost, and wakes the members that sleep.
pub(super) fn lose<P: Page>(page: &P, member: usize) {
    page.long(PageWord::Lost).or(1 << member, Ordering::SeqCst);
    ring(page);
}

/// Call this after a change of the memory. Wakes members that may have fallen asleep before they
/// saw the change. The fence here and the fence in [`announce`] guarantee that either those members
/// see the change, or this member sees that they may sleep. A full fence here would wait until the
/// change is visible to all processors, which takes as long as the whole barrier.
#[inline]
fn rouse<P: Page>(page: &P) {
    P::light_fence();
    if page.long(PageWord::Sleepers).load(Ordering::SeqCst) > 0 {
        ring(page);
    }
}

fn ring(page: &impl Page) {
    page.bell().add(1, Ordering::SeqCst);
    page.wake();
}

/// Announces that this member may sleep. From now on, a member that changes the memory rings the
/// bell. Returns the bell's value, and whether the other members are certain to ring. The member
/// must then look at the memory again. If there is no outcome, it sleeps as long as the bell has
/// this value.
pub(super) fn announce<P: Page>(page: &P) -> (u32, bool) {
    let bell = page.bell().load(Ordering::SeqCst);
    page.long(PageWord::Sleepers).add(1, Ordering::SeqCst);
    (bell, P::heavy_fence())
}

pub(super) fn awake(page: &impl Page) {
    page.long(PageWord::Sleepers)
        .add(u64::MAX, Ordering::SeqCst);
}

/// Implements `Atomic` for an atomic type of the standard library or of the model checker.
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

            fn add(&self, value: $value, order: Ordering) -> $value {
                self.fetch_add(value, order)
            }

            fn or(&self, value: $value, order: Ordering) -> $value {
                self.fetch_or(value, order)
            }

            fn claim(&self, value: $value) -> $value {
                let (success, failure) = (Ordering::AcqRel, Ordering::Acquire);
                match self.compare_exchange(0, value, success, failure) {
                    Ok(there) | Err(there) => there,
                }
            }
        }
    };
}
pub(super) use atomic;

#[cfg(test)]
mod tests {
    use super::*;
    use loom::sync::atomic::{AtomicU32, AtomicU64};
    use loom::sync::{Arc, Notify};
    use loom::thread;

    atomic!(AtomicU32, u32);
    atomic!(AtomicU64, u64);

    /// A page in the model checker's memory.
    struct Checked {
        lost: AtomicU64,
        verdicts: [[AtomicU64; 2]; 2],
        members: Vec<[AtomicU64; 3]>,
        bell: AtomicU32,
        sleepers: AtomicU64,
        beds: Vec<Notify>,
    }

    impl Checked {
        fn new(count: usize) -> Arc<Checked> {
            let long = || AtomicU64::new(0);
            Arc::new(Checked {
                lost: long(),
                verdicts: [[long(), long()], [long(), long()]],
                members: (0..count).map(|_| [long(), long(), long()]).collect(),
                bell: AtomicU32::new(0),
                sleepers: long(),
                beds: (0..count).map(|_| Notify::new()).collect(),
            })
        }

        fn wait(&self, seat: &mut Seat) -> Outcome {
            loop {
                if let Some(outcome) = seat.look(self) {
                    return outcome;
                }
                let (bell, _) = announce(self);
                let outcome = seat.look(self);
                if outcome.is_none() && self.bell.load(Ordering::SeqCst) == bell {
                    self.beds[seat.me].wait();
                }
                awake(self);
                if let Some(outcome) = outcome {
                    return outcome;
                }
            }
        }
    }

    impl Page for Checked {
        type Long = AtomicU64;
        type Word = AtomicU32;

        fn long(&self, place: PageWord) -> &AtomicU64 {
            match place {
                PageWord::Lost => &self.lost,
                PageWord::Verdict(view) => &self.verdicts[view][0],
                PageWord::Before(view) => &self.verdicts[view][1],
                PageWord::Arrived(member) => &self.members[member][0],
                PageWord::Value(member, parity) => &self.members[member][1 + parity as usize],
                PageWord::Sleepers => &self.sleepers,
            }
        }

        fn bell(&self) -> &AtomicU32 {
            &self.bell
        }

        fn light_fence() {
            loom::sync::atomic::fence(Ordering::SeqCst);
        }

        fn heavy_fence() -> bool {
            loom::sync::atomic::fence(Ordering::SeqCst);
            true
        }

        fn wake(&self) {
            self.beds.iter().for_each(Notify::notify);
        }
    }

    fn check(waits: usize, run: impl Fn() + Sync + Send + 'static) {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(waits);
        model.check(run);
    }

    /// Tries the orders of the accesses of two members in two epochs, with at most three
    /// preemptions. No member sleeps forever, and both members get both numbers.
    #[test]
    fn two_members_pass_in_every_order() {
        check(3, || {
            let page = Checked::new(2);
            let run = |page: Arc<Checked>, me: usize| {
                let mut seat = Seat::new(me, 2, Combine::Any);
                for epoch in 0..2 {
                    let value = 3 + epoch * 12;
                    let passed = seat.arrive_and_pass(&*page, (1 + epoch * 4) << me, 0);
                    let passed = passed.map(|value| Outcome::Passed { epoch, value });
                    let outcome = passed.unwrap_or_else(|| page.wait(&mut seat));
                    assert_eq!(outcome, Outcome::Passed { epoch, value });
                }
            };
            let there = page.clone();
            let other = thread::spawn(move || run(there, 1));
            run(page, 0);
            other.join().unwrap();
        });
    }

    /// One of three members dies at its second epoch while the other two wait. These notice the
    /// death in any order, and one of them goes on to the epoch after the next before the other has
    /// looked.
    #[test]
    fn survivors_agree_in_every_order() {
        check(2, || {
            let page = Checked::new(3);
            let mut dead = Seat::new(2, 3, Combine::Any);
            dead.arrive(&*page, 4);
            let run = |page: Arc<Checked>, me: usize| {
                let mut seat = Seat::new(me, 3, Combine::Any);
                let lost = 4;
                let expected = [
                    Outcome::Passed { epoch: 0, value: 7 },
                    Outcome::Failed { epoch: 1, lost },
                    Outcome::Passed {
                        epoch: 2,
                        value: 48,
                    },
                ];
                for (outcome, value) in expected.into_iter().zip([1, 0, 16]) {
                    seat.arrive(&*page, value << me);
                    assert_eq!(page.wait(&mut seat), outcome);
                }
            };
            let there = page.clone();
            let other = thread::spawn(move || run(there, 1));
            lose(&*page, 2);
            run(page, 0);
            other.join().unwrap();
        });
    }
}
