//! A lock that costs one thread next to nothing.
//!
//! Most programs call an endpoint from one thread, which shares it with the helper only; an
//! ordinary lock's two atomic operations would be a good part of what a short message costs. So a
//! thread that comes again and again is *favoured*: it says that it is inside with a plain store,
//! and looks whether anybody else wants to be. The others pay for it, with a system call that is a
//! barrier in all threads of the process (`membarrier`). The helper, a *guest*, excludes the
//! favoured thread for the time of its visit; another thread of the program's ends the favour, and
//! all take the mutex from then on, until one of them has come often enough alone. The idea is that
//! of biased locks (Kawachiya, Koseki and Onodera, OOPSLA 2002).

use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{compiler_fence, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};
use std::thread;
use std::time::Duration;

use rustix::thread::{membarrier, membarrier_query, MembarrierCommand, MembarrierQuery};

use crate::shm::{Atomic, Atomics, Real};

/// Favours in a lock's life: threads that take turns for long would only make each other pay.
const FAVOURS: usize = 16;

/// Times in a row that a thread comes alone before it is favoured for the first time; each next
/// time twice as many.
const COMES_ALONE: u32 = 16;

pub(super) struct Lock<T> {
    value: UnsafeCell<T>,
    /// Each is given once; the last one given may be in force.
    favours: [Favour<Real>; FAVOURS],
    last: AtomicUsize,
    guest: AtomicUsize,
    order: Mutex<Order>,
}

/// Who came, as far as the mutex tells.
struct Order {
    given: usize,
    /// Whether the last favour is in force.
    is_favouring: bool,
    thread: usize,
    times: u32,
}

// SAFETY: whoever reaches the value is the only one: see `Favour` and `Guard`.
unsafe impl<T: Send> Sync for Lock<T> {}

/// Whoever has it is inside.
pub(super) struct Guard<'a, T> {
    lock: &'a Lock<T>,
    how: How<'a>,
}

enum How<'a> {
    Favoured(&'a Favour<Real>),
    Guest(
        #[allow(dead_code)] MutexGuard<'a, Order>,
        Option<&'a Favour<Real>>,
    ),
    InOrder(#[allow(dead_code)] MutexGuard<'a, Order>),
}

impl<T> Lock<T> {
    pub(super) fn new(value: T) -> Lock<T> {
        // To be told so for the first time takes a process with other threads 5 to 20 ms, in which
        // no message should have to wait.
        has_barrier();
        Lock {
            value: UnsafeCell::new(value),
            favours: Default::default(),
            last: AtomicUsize::new(0),
            guest: AtomicUsize::new(0),
            order: Mutex::new(Order {
                given: 0,
                is_favouring: false,
                thread: 0,
                times: 0,
            }),
        }
    }

    /// Says that this thread is the guest, who ends no favours.
    pub(super) fn be_guest(&self) {
        self.guest.store(here(), Ordering::Relaxed);
    }

    #[inline]
    pub(super) fn lock(&self) -> Guard<'_, T> {
        let favour = &self.favours[self.last.load(Ordering::Acquire) % FAVOURS];
        if favour.is_for(here()) && favour.enter(light_barrier) {
            return Guard {
                lock: self,
                how: How::Favoured(favour),
            };
        }
        self.lock_in_order()
    }

    #[cold]
    #[inline(never)]
    fn lock_in_order(&self) -> Guard<'_, T> {
        let mut order = self.order.lock().unwrap_or_else(PoisonError::into_inner);
        let here = here();
        if here == self.guest.load(Ordering::Relaxed) {
            let favour = self.excluded(&order);
            wait_until(|| favour.is_none_or(|favour| !favour.is_inside()));
            return Guard {
                lock: self,
                how: How::Guest(order, favour),
            };
        }
        let last = &self.favours[self.last.load(Ordering::Relaxed)];
        if order.is_favouring && !last.is_for(here) {
            // For good.
            last.exclude();
            wait_until(|| !last.is_inside());
            order.is_favouring = false;
            order.thread = 0;
        }
        if order.thread != here {
            (order.thread, order.times) = (here, 0);
        }
        order.times += 1;
        let wanted = COMES_ALONE << order.given;
        if !order.is_favouring && order.times > wanted && order.given < FAVOURS && has_barrier() {
            self.favours[order.given].give(here);
            self.last.store(order.given, Ordering::Release);
            order.given += 1;
            order.is_favouring = true;
        }
        Guard {
            lock: self,
            how: How::InOrder(order),
        }
    }

    /// For the guest, unless somebody is inside.
    pub(super) fn try_visit(&self) -> Option<Guard<'_, T>> {
        let order = match self.order.try_lock() {
            Ok(order) => order,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        let favour = self.excluded(&order);
        if let Some(favour) = favour.filter(|favour| favour.is_inside()) {
            favour.admit();
            return None;
        }
        Some(Guard {
            lock: self,
            how: How::Guest(order, favour),
        })
    }

    /// Whether somebody seems to be inside, from outside.
    pub(super) fn is_inside(&self) -> bool {
        self.favours[self.last.load(Ordering::Relaxed)].is_inside()
            || matches!(self.order.try_lock(), Err(TryLockError::WouldBlock))
    }

    /// The favour in force, after its thread was told to stay out.
    fn excluded(&self, order: &Order) -> Option<&Favour<Real>> {
        let favour = &self.favours[self.last.load(Ordering::Relaxed)];
        order.is_favouring.then(|| {
            favour.exclude();
            favour
        })
    }
}

impl<T> Deref for Guard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: whoever has a guard is alone inside. In order and as a guest it has the mutex,
        // and the favoured thread, if that is another one, was seen outside after it had
        // been excluded, and stays there. The favoured thread has seen after entering that it was
        // not excluded, so that whoever excludes it sees it inside: the barriers make sure
        // of one or the other. That it excludes itself in order is no matter: it is one thread.
        unsafe { &*self.lock.value.get() }
    }
}

impl<T> DerefMut for Guard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above.
        unsafe { &mut *self.lock.value.get() }
    }
}

impl<T> Drop for Guard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        match &self.how {
            How::Favoured(favour) => favour.leave(),
            How::Guest(_, Some(favour)) => favour.admit(),
            How::Guest(_, None) | How::InOrder(_) => {}
        }
    }
}

/// What a favoured thread and the one that excludes it say to each other.
struct Favour<A: Atomics> {
    thread: AtomicUsize,
    inside: A::Word,
    excluded: A::Word,
}

impl Default for Favour<Real> {
    fn default() -> Favour<Real> {
        Favour {
            thread: AtomicUsize::new(0),
            inside: AtomicU32::new(0),
            excluded: AtomicU32::new(0),
        }
    }
}

impl Favour<Real> {
    fn exclude(&self) {
        self.exclude_by(|| {
            // It works since it was tried.
            let _ = membarrier(MembarrierCommand::PrivateExpedited);
        });
    }
}

impl<A: Atomics> Favour<A> {
    #[inline]
    fn is_for(&self, thread: usize) -> bool {
        self.thread.load(Ordering::Relaxed) == thread
    }

    fn give(&self, thread: usize) {
        self.thread.store(thread, Ordering::Relaxed);
    }

    /// By the favoured thread. False: it is excluded.
    #[inline]
    fn enter(&self, barrier: impl FnOnce()) -> bool {
        assert!(
            self.inside.load(Ordering::Relaxed) == 0,
            "an endpoint is called from a signal handler that interrupted a call"
        );
        self.inside.store(1, Ordering::Relaxed);
        barrier();
        if self.excluded.load(Ordering::Acquire) == 0 {
            return true;
        }
        self.leave();
        false
    }

    #[inline]
    fn leave(&self) {
        self.inside.store(0, Ordering::Release);
    }

    /// By the owner of the mutex, who then waits until nobody is inside.
    fn exclude_by(&self, barrier: impl FnOnce()) {
        self.excluded.store(1, Ordering::Relaxed);
        barrier();
    }

    fn is_inside(&self) -> bool {
        self.inside.load(Ordering::Acquire) != 0
    }

    fn admit(&self) {
        self.excluded.store(0, Ordering::Release);
    }
}

/// The favoured thread's part of the barrier, for the compiler only: the other's reaches all
/// processors.
#[inline]
fn light_barrier() {
    compiler_fence(Ordering::SeqCst);
}

/// Whether this process has the barrier.
fn has_barrier() -> bool {
    static HAS: OnceLock<bool> = OnceLock::new();
    *HAS.get_or_init(|| {
        membarrier_query().contains(MembarrierQuery::PRIVATE_EXPEDITED)
            && membarrier(MembarrierCommand::RegisterPrivateExpedited).is_ok()
            && membarrier(MembarrierCommand::PrivateExpedited).is_ok()
    })
}

/// A number that is this thread's alone while it lives. Never 0.
#[inline]
fn here() -> usize {
    thread_local!(static HERE: u8 = const { 0 });
    HERE.with(|here| std::ptr::from_ref(here) as usize)
}

fn wait_until(mut done: impl FnMut() -> bool) {
    for turn in 0.. {
        if done() {
            return;
        }
        match turn {
            0..100 => thread::yield_now(),
            _ => thread::sleep(Duration::from_micros(50)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shm::Checked;

    #[test]
    fn one_at_a_time_whoever_comes() {
        let lock = Lock::new([0u64; 2]);
        let count = |state: &mut [u64; 2]| {
            state[0] += 1;
            compiler_fence(Ordering::SeqCst);
            state[1] += 1;
            assert_eq!(state[0], state[1]);
        };
        const TIMES: u64 = 300_000;
        thread::scope(|scope| {
            scope.spawn(|| (0..TIMES).for_each(|_| count(&mut lock.lock())));
            scope.spawn(|| {
                lock.be_guest();
                for turn in 0..TIMES / 10 {
                    match turn % 2 {
                        0 => count(&mut lock.lock()),
                        _ => loop {
                            if let Some(mut state) = lock.try_visit() {
                                break count(&mut state);
                            }
                        },
                    }
                }
            });
            // Ends favours now and then.
            scope.spawn(|| {
                for _ in 0..8 {
                    thread::sleep(Duration::from_millis(2));
                    count(&mut lock.lock());
                }
            });
        });
        assert_eq!(lock.lock()[0], TIMES + TIMES / 10 + 8);
    }

    #[test]
    fn who_comes_alone_is_favoured() {
        let lock = Lock::new(());
        let is_favoured = || matches!(lock.lock().how, How::Favoured(_));
        assert!(!is_favoured());
        (0..COMES_ALONE).for_each(|_| drop(lock.lock()));
        assert_eq!(is_favoured(), has_barrier());
        thread::scope(|scope| {
            scope.spawn(|| {
                lock.be_guest();
                drop(lock.lock());
                assert!(lock.try_visit().is_some());
            });
        });
        assert_eq!(is_favoured(), has_barrier());
        // The next thread may have the number that the guest had.
        lock.guest.store(0, Ordering::Relaxed);
        thread::scope(|scope| {
            scope.spawn(|| drop(lock.lock()));
        });
        assert!(!is_favoured());
        let inside = lock.lock();
        thread::scope(|scope| {
            scope.spawn(|| assert!(lock.try_visit().is_none()));
        });
        drop(inside);
    }

    #[test]
    fn either_sees_the_other() {
        loom::model(|| {
            let favour = loom::sync::Arc::new(Favour::<Checked> {
                thread: AtomicUsize::new(0),
                inside: loom::sync::atomic::AtomicU32::new(0),
                excluded: loom::sync::atomic::AtomicU32::new(0),
            });
            let value = loom::sync::Arc::new(loom::cell::UnsafeCell::new(0));
            let fence = || Checked::fence(Ordering::SeqCst);
            let (theirs, shared) = (favour.clone(), value.clone());
            let favoured = loom::thread::spawn(move || {
                for _ in 0..2 {
                    if theirs.enter(fence) {
                        // SAFETY: that nobody else is inside is what is tried.
                        shared.with_mut(|value| unsafe { *value += 1 });
                        theirs.leave();
                    }
                }
            });
            favour.exclude_by(fence);
            if !favour.is_inside() {
                // SAFETY: likewise.
                value.with_mut(|value| unsafe { *value += 1 });
            }
            favour.admit();
            favoured.join().unwrap();
        });
    }
}
