//! Detects whether this process is a forked child, and provides values that a forked child
//! initialises again.

use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};
use std::sync::Once;

static FORKS: AtomicU32 = AtomicU32::new(0);
static WATCH: Once = Once::new();

/// The number of forks between the process that first called this and the present process. The
/// check makes no system call, unlike a query of the process's number.
#[inline]
pub fn generation() -> u32 {
    WATCH.call_once(|| {
        // SAFETY: the handler only increments an atomic number. This is allowed in the child of a
        // process with several threads.
        unsafe { libc::pthread_atfork(None, None, Some(forked)) };
    });
    FORKS.load(Ordering::Relaxed)
}

extern "C" fn forked() {
    FORKS.fetch_add(1, Ordering::Relaxed);
}

/// Makes forked children call `handler` before they return from the fork.
///
/// # Safety
/// The handler must exist as long as the process. It must take no locks and allocate no memory,
/// because no other thread exists in the child and any lock may be held forever.
pub unsafe fn call_in_children(handler: unsafe extern "C" fn()) {
    // SAFETY: as promised to this function.
    unsafe { libc::pthread_atfork(None, None, Some(handler)) };
}

/// A separate value for each process. It is made at its first use, and never freed.
///
/// A forked child gets its own value. It does not use its parent's value, because another thread of
/// the parent may have held locks in it at the time of the fork.
#[derive(Debug)]
pub struct PerProcess<T> {
    made: AtomicPtr<Instance<T>>,
}

#[derive(Debug)]
struct Instance<T> {
    /// The generation of the process to which the value belongs.
    generation: u32,
    value: T,
}

impl<T> Default for PerProcess<T> {
    fn default() -> PerProcess<T> {
        PerProcess::new()
    }
}

impl<T> PerProcess<T> {
    pub const fn new() -> PerProcess<T> {
        PerProcess {
            made: AtomicPtr::new(null_mut()),
        }
    }

    /// The value, if this process has already made it.
    pub fn existing(&self) -> Option<&'static T>
    where
        T: Sync,
    {
        // SAFETY: never freed once stored.
        let made = unsafe { self.made.load(Ordering::Acquire).as_ref() }?;
        (made.generation == generation()).then_some(&made.value)
    }

    pub fn get(&self) -> &'static T
    where
        T: Default + Send + Sync,
    {
        let generation = generation();
        let mut there = self.made.load(Ordering::Acquire);
        loop {
            // SAFETY: never freed once stored.
            if let Some(made) = unsafe { there.as_ref() } {
                if made.generation == generation {
                    return &made.value;
                }
            }
            let value = T::default();
            let fresh = Box::into_raw(Box::new(Instance { generation, value }));
            let stored =
                self.made
                    .compare_exchange(there, fresh, Ordering::AcqRel, Ordering::Acquire);
            match stored {
                // SAFETY: just stored, never freed.
                Ok(_) => return unsafe { &(*fresh).value },
                Err(other) => {
                    // SAFETY: it was not stored, so no other thread knows it.
                    drop(unsafe { Box::from_raw(fresh) });
                    there = other;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a condition is true in a forked child. The condition must take no lock.
    fn in_a_child(is_so: impl FnOnce() -> bool) -> bool {
        // SAFETY: the child only evaluates the condition and exits.
        let child = unsafe { libc::fork() };
        if child == 0 {
            let status = if is_so() { 0 } else { 1 };
            // SAFETY: the call never returns.
            unsafe { libc::_exit(status) };
        }
        let mut status = -1;
        // SAFETY: the child belongs to this process, and the status belongs to this function.
        assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
        status == 0
    }

    #[test]
    fn a_child_is_another_generation() {
        let mine = generation();
        assert!(in_a_child(|| generation() == mine + 1));
        assert_eq!(generation(), mine);
    }

    #[test]
    fn a_child_has_a_value_of_its_own() {
        static NUMBER: PerProcess<AtomicU32> = PerProcess::new();
        assert!(NUMBER.existing().is_none());
        NUMBER.get().store(7, Ordering::Relaxed);
        assert!(in_a_child(|| {
            NUMBER.existing().is_none() && NUMBER.get().swap(8, Ordering::Relaxed) == 0
        }));
        assert_eq!(NUMBER.get().load(Ordering::Relaxed), 7);
        assert!(std::ptr::eq(NUMBER.get(), NUMBER.existing().unwrap()));
    }
}
