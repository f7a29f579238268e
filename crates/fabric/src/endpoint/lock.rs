//! A biased lock: it costs almost nothing for the thread that takes it most often.
//!
//! Most programs call an endpoint from one thread. Only the helper thread uses the endpoint, too.
//! The two atomic operations of an ordinary lock would be a large part of the cost of a short
//! message. So a thread that takes the lock many times in a row is *favoured*: it marks itself as
//! inside with a plain store, and checks whether another thread wants to enter. In exchange, the
//! other threads need a system call that is a barrier in all threads of the process (`membarrier`).
//! The helper is a *guest*: it excludes the favoured thread only while it holds the lock. If
//! another thread of the program takes the lock, the favour ends. All threads then take the mutex,
//! until one thread has taken it often enough in a row. The idea is that of biased locks
//! (Kawachiya, Koseki and Onodera, OOPSLA 2002).

use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{compiler_fence, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};
use std::thread;
use std::time::Duration;

use rustix::thread::{membarrier, membarrier_query, MembarrierCommand, MembarrierQuery};

use crate::shm::{Atomic, Atomics, Real};

/// The number of favours in a lock's life. If threads keep taking turns, favours only cost time.
const FAVOURS: usize = 16;

/// The number of times in a row that a thread must take the lock before the first favour. It
/// doubles for each further favour.
const COMES_ALONE: u32 = 16;

pub(super) struct Lock<T> {
    value: UnsafeCell<T>,
    /// Each favour is given once. The favour that was given last may be in force.
    favours: [Favour<Real>; FAVOURS],
    last: AtomicUsize,
    guest: AtomicUsize,
    order: Mutex<Order>,
}

/// The state that the mutex protects: the favours, the thread that took the mutex last, and how
/// many times in a row it has done so.
struct Order {
    given: usize,
    /// Whether the last favour is in force.
    is_favouring: bool,
    thread: usize,
    times: u32,
}

// SAFETY: only one thread at a time reaches the value: see `Favour` and `Guard`.
unsafe impl<T: Send> Sync for Lock<T> {}

/// The thread that has the guard holds the lock.
pub(super) struct Guard<'a, T> {
    lock: &'a Lock<T>,
    how: Entrance<'a>,
}

enum Entrance<'a> {
    Favoured(&'a Favour<Real>),
    Guest(
        #[allow(dead_code)] MutexGuard<'a, Order>,
        Option<&'a Favour<Real>>,
    ),
    InOrder(#[allow(dead_code)] MutexGuard<'a, Order>),
}

impl<T> Lock<T> {
    pub(super) fn new(value: T) -> Lock<T> {
        // The first query takes 5 to 20 ms in a process with several threads. Do it here, so that
        // no message has to wait for it.
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

    /// Makes this thread the guest. A guest that takes the lock does not end a favour.
    pub(super) fn be_guest(&self) {
        self.guest.store(here(), Ordering::Relaxed);
    }

    #[inline]
    pub(super) fn lock(&self) -> Guard<'_, T> {
        let favour = &self.favours[self.last.load(Ordering::Acquire) % FAVOURS];
        if favour.is_for(here()) && favour.enter(light_barrier) {
            return Guard {
                lock: self,
                how: Entrance::Favoured(favour),
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
                how: Entrance::Guest(order, favour),
            };
        }
        let last = &self.favours[self.last.load(Ordering::Relaxed)];
        if order.is_favouring && !last.is_for(here) {
            // This ends the favour for good.
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
            how: Entrance::InOrder(order),
        }
    }

    /// Takes the lock for the guest, unless another thread holds it.
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
            how: Entrance::Guest(order, favour),
        })
    }

    /// Whether another thread seems to hold the lock. The answer may be out of date.
    pub(super) fn is_inside(&self) -> bool {
        self.favours[self.last.load(Ordering::Relaxed)].is_inside()
            || matches!(self.order.try_lock(), Err(TryLockError::WouldBlock))
    }

    /// Excludes the favoured thread. Returns the favour in force, if there is one.
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
        // SAFETY: only one thread has a guard. Threads with `InOrder` and `Guest` hold the mutex.
        // If another thread is favoured, they have seen it outside after they excluded it, and it
        // stays outside. A favoured thread has seen, after it marked itself as inside, that it was
        // not excluded, so a thread that excludes it sees it inside. The barriers guarantee that at
        // least one of these two threads sees the other. If the favoured thread takes the mutex, it
        // may exclude itself, which is harmless.
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
            Entrance::Favoured(favour) => favour.leave(),
            Entrance::Guest(_, Some(favour)) => favour.admit(),
            Entrance::Guest(_, None) | Entrance::InOrder(_) => {}
        }
    }
}

/// The words through which a favoured thread and the thread that excludes it communicate.
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
            // This cannot fail, because `has_barrier` has tried it.
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

    /// Enters as the favoured thread. Returns false if the thread is excluded.
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

    /// Excludes the favoured thread. The caller holds the mutex, and then waits until the favoured
    /// thread is outside.
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

/// The favoured thread's half of the barrier. It only has to keep the compiler from reordering,
/// because `membarrier` reaches all processors.
#[inline]
fn light_barrier() {
    compiler_fence(Ordering::SeqCst);
}

/// Whether this process may use `membarrier`.
fn has_barrier() -> bool {
    static HAS: OnceLock<bool> = OnceLock::new();
    *HAS.get_or_init(|| {
        membarrier_query().contains(MembarrierQuery::PRIVATE_EXPEDITED)
            && membarrier(MembarrierCommand::RegisterPrivateExpedited).is_ok()
            && membarrier(MembarrierCommand::PrivateExpedited).is_ok()
    })
}

/// A number that is unique among the living threads. It is never 0.
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
            // This thread ends favours several times.
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
        let is_favoured = || matches!(lock.lock().how, Entrance::Favoured(_));
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
        // The next thread may get the guest's number.
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
                        // SAFETY: this test checks that no other thread is inside.
                        shared.with_mut(|value| unsafe { *value += 1 });
                        theirs.leave();
                    }
                }
            });
            favour.exclude_by(fence);
            if !favour.is_inside() {
                // SAFETY: as above.
                value.with_mut(|value| unsafe { *value += 1 });
            }
            favour.admit();
            favoured.join().unwrap();
        });
    }
}
