//! The calling thread's context.

use crate::context::Context;
use crate::tls;

/// The calling thread's context.
///
/// # Safety
/// Only one such reference is in use at a time. Entry points take it first and pass it on.
#[inline(always)]
pub unsafe fn context<'a>() -> &'a mut Context {
    #[cfg(debug_assertions)]
    assert_free();
    // SAFETY: the word is never null, and a context is current in one thread only.
    unsafe { &mut *tls::current() }
}

/// Whether the calling thread has a context.
pub fn has_current() -> bool {
    !std::ptr::eq(tls::current(), tls::idle_context())
}

/// Runs `work` on the calling thread's context, if it has one.
///
/// For window-system calls, which have no other reference to the context. `work` calls no entry
/// point and no function that does: these create a reference of their own. With debug assertions, a
/// call within another such call panics.
pub fn with_current<R>(work: impl FnOnce(&mut Context) -> R) -> Option<R> {
    if !has_current() {
        return None;
    }
    let _only = BorrowGuard::new();
    // SAFETY: not the idle one, so it is a context that only this thread has, and no caller uses a
    // reference to it.
    Some(work(unsafe { &mut *tls::current() }))
}

#[cfg(debug_assertions)]
use checked::{assert_free, BorrowGuard};

/// Asserts that the reference of `with_current`, or that of a later entry point, is the only one.
#[cfg(debug_assertions)]
mod checked {
    use std::cell::Cell;

    thread_local! {
        static TAKEN: Cell<bool> = const { Cell::new(false) };
    }

    pub struct BorrowGuard;

    impl BorrowGuard {
        pub fn new() -> BorrowGuard {
            assert_free();
            TAKEN.set(true);
            BorrowGuard
        }
    }

    impl Drop for BorrowGuard {
        fn drop(&mut self) {
            TAKEN.set(false);
        }
    }

    /// # Panics
    /// If the calling thread is within `with_current`.
    pub fn assert_free() {
        assert!(!TAKEN.get(), "a second reference to the context");
    }
}

#[cfg(not(debug_assertions))]
struct BorrowGuard;

#[cfg(not(debug_assertions))]
impl BorrowGuard {
    fn new() -> BorrowGuard {
        BorrowGuard
    }
}
