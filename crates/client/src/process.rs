//! Everything this process has, in one place that a forked child starts afresh.
//!
//! A child must not touch what its parent uses: neither the stream, nor locks that another thread
//! of the parent held at the moment of the fork. So all global state hangs off one pointer, and the
//! child's fork handler takes the pointer away: the child gets a state of its own when it first
//! needs one, and the parent's copy is left alone, locks and all.

use crate::contexts::Contexts;
use crate::gl::debug::later::Later;
use crate::session::{Session, SessionSlot};
use crate::surface::Drawables;
use crate::vendor::{egl::Displays, glx::Screens};
use crate::x11::watch::Watch;
use std::collections::HashMap;
use std::os::fd::RawFd;
use std::sync::atomic::{AtomicI32, AtomicPtr, Ordering};
use std::sync::{Arc, Mutex, Once};

#[derive(Default)]
pub struct Process {
    pub session: SessionSlot,
    pub contexts: Contexts,
    pub drawables: Drawables,
    pub screens: Screens,
    pub displays: Displays,
    pub later: Later,
    watches: Mutex<HashMap<String, Arc<Watch>>>,
}

static PROCESS: AtomicPtr<Process> = AtomicPtr::new(std::ptr::null_mut());

/// Descriptors of private X connections, for a child to close: the X server sees the end of a
/// connection only when all copies are closed.
static X_SOCKETS: [AtomicI32; 8] = [const { AtomicI32::new(-1) }; 8];

/// This process's state.
pub fn process() -> &'static Process {
    let there = PROCESS.load(Ordering::Acquire);
    // SAFETY: never freed once stored.
    if let Some(process) = unsafe { there.as_ref() } {
        return process;
    }
    watch_forks();
    let fresh = Box::into_raw(Box::default());
    match PROCESS.compare_exchange(
        std::ptr::null_mut(),
        fresh,
        Ordering::AcqRel,
        Ordering::Acquire,
    ) {
        // SAFETY: just stored, never freed.
        Ok(_) => unsafe { &*fresh },
        Err(other) => {
            // SAFETY: ours was not stored, so nobody else knows it.
            drop(unsafe { Box::from_raw(fresh) });
            // SAFETY: stored by another thread, never freed.
            unsafe { &*other }
        }
    }
}

/// The session if there is one already, without making one. For ends of processes.
pub fn existing_session() -> Option<&'static Session> {
    // SAFETY: never freed once stored.
    let process = unsafe { PROCESS.load(Ordering::Acquire).as_ref() }?;
    process.session.existing()
}

impl Process {
    /// The private connection to the X server `display`, made when first asked for.
    pub fn watch(&self, display: &str) -> Option<Arc<Watch>> {
        let mut watches = self.watches.lock().unwrap_or_else(|e| e.into_inner());
        if let Some(watch) = watches.get(display) {
            return Some(watch.clone());
        }
        match Watch::open(display) {
            Ok(watch) => {
                remember(watch.fd());
                let watch = Arc::new(watch);
                watches.insert(display.to_owned(), watch.clone());
                Some(watch)
            }
            Err(why) => {
                crate::log::line(why);
                None
            }
        }
    }
}

fn remember(fd: RawFd) {
    for slot in &X_SOCKETS {
        if slot
            .compare_exchange(-1, fd, Ordering::AcqRel, Ordering::Relaxed)
            .is_ok()
        {
            return;
        }
    }
}

fn watch_forks() {
    static ONCE: Once = Once::new();
    // SAFETY: the handler is a function of this library, which is never unloaded (`-z nodelete`).
    ONCE.call_once(|| unsafe {
        libc::pthread_atfork(None, None, Some(in_the_child));
    });
}

/// Runs in a forked child, in which no thread but the caller exists and any lock may be held for
/// ever: it takes none and allocates nothing.
unsafe extern "C" fn in_the_child() {
    PROCESS.store(std::ptr::null_mut(), Ordering::Release);
    crate::idle::orphan_current();
    for slot in &X_SOCKETS {
        let fd = slot.swap(-1, Ordering::AcqRel);
        if fd >= 0 {
            // SAFETY: the child's copy of a descriptor whose owner was left behind with the
            // parent's state.
            unsafe { libc::close(fd) };
        }
    }
}
