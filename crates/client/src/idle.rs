//! Threads without a context, and contexts without a server.

use crate::blank;
use crate::context::{refill, Context, Request};
use crate::gl::GlState;
use crate::tls;
use mgn_sys::fork;
use mgn_wire::{Encoder, RECORD_MAX};
use std::cell::UnsafeCell;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::Arc;

/// What the thread's word points at without a context: an encoder without room, and memory for
/// nobody's state.
///
/// GLVND gives programs functions that do nothing while no context is current, so entry points do
/// not run on this. It is there so that one that does finds mapped memory and not a null pointer.
#[repr(C)]
pub struct Idle {
    context: UnsafeCell<IdleContext>,
}

#[repr(C, align(16))]
struct IdleContext {
    enc: Encoder,
    rest: [u8; size_of::<Context>() - size_of::<Encoder>()],
}

// SAFETY: the encoder is never changed (its room stays empty), and the rest belongs to nobody.
unsafe impl Sync for Idle {}

pub static IDLE: Idle = Idle {
    context: UnsafeCell::new(IdleContext {
        enc: Encoder::new(refill),
        rest: [0; size_of::<Context>() - size_of::<Encoder>()],
    }),
};

pub fn idle_context() -> *mut Context {
    IDLE.context.get().cast()
}

/// Whether the calling thread has a context.
pub fn has_current() -> bool {
    !std::ptr::eq(tls::current(), idle_context())
}

/// Works on the calling thread's context, if it has one.
///
/// Window-system calls use it, which have no other reference to the context. `work` calls no entry
/// point and none of the functions that do: they make a reference of their own. In builds that
/// check themselves, doing so within another such call is a panic.
pub fn with_current<R>(work: impl FnOnce(&mut Context) -> R) -> Option<R> {
    if !has_current() {
        return None;
    }
    let _only = Only::new();
    // SAFETY: not the idle one, so it is a context that this thread has for itself, and nobody
    // above uses a reference to it.
    Some(work(unsafe { &mut *tls::current() }))
}

#[cfg(debug_assertions)]
pub use checked::assert_free;
#[cfg(debug_assertions)]
use checked::Only;

/// The reference of `with_current`, and later of entry points that look for it, is the only one.
#[cfg(debug_assertions)]
mod checked {
    use std::cell::Cell;

    thread_local! {
        static TAKEN: Cell<bool> = const { Cell::new(false) };
    }

    pub struct Only;

    impl Only {
        pub fn new() -> Only {
            assert_free();
            TAKEN.set(true);
            Only
        }
    }

    impl Drop for Only {
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
struct Only;

#[cfg(not(debug_assertions))]
impl Only {
    fn new() -> Only {
        Only
    }
}

/// Where commands that go nowhere are written. Nobody reads it.
#[repr(align(64))]
struct Scratch(UnsafeCell<[u8; RECORD_MAX]>);

// SAFETY: only ever written to, by raw pointer, and never read.
unsafe impl Sync for Scratch {}

static SCRATCH: Scratch = Scratch(UnsafeCell::new([0; RECORD_MAX]));

/// Room for one record that goes nowhere.
pub fn nowhere() -> *mut u8 {
    SCRATCH.0.get().cast()
}

/// A context whose commands go nowhere, for the one thread of a forked child that had a context.
static ORPHAN: AtomicPtr<Context> = AtomicPtr::new(null_mut());

/// Makes the orphan, while memory may be allocated. Done before the first context is created: a
/// thread has no context to lose before that.
pub fn prepare_orphan() {
    if !ORPHAN.load(Ordering::Acquire).is_null() {
        return;
    }
    let request = Request {
        api: 0,
        major: 1,
        minor: 0,
        flags: 0,
        format: None,
        config_id: 0,
        screen: 0,
        visual: 0,
        shared_with: 0,
    };
    let gl = GlState::new(&blank::context_info(0, 1, 0), 0, Arc::default());
    let orphan = Box::into_raw(Context::new(None, 0, request, gl));
    match ORPHAN.compare_exchange(null_mut(), orphan, Ordering::AcqRel, Ordering::Acquire) {
        // SAFETY: the handler is a function of this library, which is never unloaded
        // (`-z nodelete`). It takes no lock and allocates nothing.
        Ok(_) => unsafe { fork::call_in_children(orphan_current) },
        // SAFETY: not stored, so nobody else knows it.
        Err(_) => drop(unsafe { Box::from_raw(orphan) }),
    }
}

/// Runs in a forked child: what the calling thread goes on drawing is drawn nowhere.
unsafe extern "C" fn orphan_current() {
    let orphan = ORPHAN.load(Ordering::Acquire);
    if has_current() && !orphan.is_null() {
        tls::set_current(orphan);
    }
}
