//! Replaces the context of the forking thread in the child.

use crate::blank;
use crate::context::{Context, Request};
use crate::current::has_current;
use crate::link::session::shares_window;
use crate::shadow::GlState;
use crate::tls;
use mgn_sys::fork;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::Arc;

/// A context whose commands are discarded, for the only thread of a forked child, if it had a
/// context.
static ORPHAN: AtomicPtr<Context> = AtomicPtr::new(null_mut());

/// Creates the orphan, while memory may be allocated. Called before the first context is created,
/// because no thread can lose a context before that.
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
    let info = blank::context_info(0, 1, 0);
    let gl = GlState::new(&info, 0, Arc::default(), shares_window());
    let orphan = Box::into_raw(Context::new(None, 0, request, gl));
    match ORPHAN.compare_exchange(null_mut(), orphan, Ordering::AcqRel, Ordering::Acquire) {
        // SAFETY: the handler is a function of this library, which is never unloaded
        // (`-z nodelete`). It takes no lock and allocates nothing.
        Ok(_) => unsafe { fork::call_in_children(orphan_current) },
        // SAFETY: not stored, so no other thread knows it.
        Err(_) => drop(unsafe { Box::from_raw(orphan) }),
    }
}

/// Runs in a forked child: from then on, the calling thread's drawing is discarded.
unsafe extern "C" fn orphan_current() {
    let orphan = ORPHAN.load(Ordering::Acquire);
    if has_current() && !orphan.is_null() {
        tls::set_current(orphan);
    }
}
