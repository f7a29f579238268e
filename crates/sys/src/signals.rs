//! The signal that writes to broken connections raise.

use std::marker::PhantomData;
use std::mem::zeroed;
use std::ptr::null_mut;

/// While this guard exists, writes of the calling thread to broken connections fail with EPIPE, and
/// no SIGPIPE reaches the thread. Rust programs ignore the signal, but it ends programs in other
/// languages that load this library.
#[derive(Debug)]
pub struct NoPipeSignal {
    /// The thread had already blocked the signal, so the guard does not unblock it.
    was_blocked: bool,
    /// The signal was already pending, so the guard must not take it.
    was_pending: bool,
    /// The guard must stay in the thread that has made it.
    _thread: PhantomData<*const ()>,
}

impl NoPipeSignal {
    pub fn block() -> NoPipeSignal {
        // SAFETY: a set of zeros is valid, and the call fills it in.
        let mut before: libc::sigset_t = unsafe { zeroed() };
        // SAFETY: both sets are plain memory here.
        let failed = unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &pipe(), &mut before) };
        // SAFETY: as above.
        let was_blocked = unsafe { libc::sigismember(&before, libc::SIGPIPE) } == 1;
        NoPipeSignal {
            was_blocked: was_blocked || failed != 0,
            was_pending: is_pending(),
            _thread: PhantomData,
        }
    }
}

impl Drop for NoPipeSignal {
    fn drop(&mut self) {
        let now = libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        // SAFETY: the set and the time are plain memory here; null asks for no details.
        let take = || unsafe { libc::sigtimedwait(&pipe(), null_mut(), &now) };
        // Takes the signals that writes have raised, which are pending in this thread.
        while !self.was_pending && take() == libc::SIGPIPE {}
        if !self.was_blocked {
            // SAFETY: the set is plain memory here; null asks for no previous set.
            unsafe { libc::pthread_sigmask(libc::SIG_UNBLOCK, &pipe(), null_mut()) };
        }
    }
}

/// Whether the signal is pending for this thread or process.
fn is_pending() -> bool {
    // SAFETY: the set is plain memory, which the first call fills in.
    unsafe {
        let mut waiting: libc::sigset_t = zeroed();
        libc::sigpending(&mut waiting) == 0 && libc::sigismember(&waiting, libc::SIGPIPE) == 1
    }
}

/// The set that contains only this signal.
fn pipe() -> libc::sigset_t {
    // SAFETY: the set is plain memory here, and the first call makes it empty.
    unsafe {
        let mut set: libc::sigset_t = zeroed();
        libc::sigemptyset(&mut set);
        libc::sigaddset(&mut set, libc::SIGPIPE);
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{ErrorKind, Write};
    use std::ptr::null;

    fn is_blocked() -> bool {
        // SAFETY: the set is plain memory, which the first call fills in.
        unsafe {
            let mut now: libc::sigset_t = zeroed();
            libc::pthread_sigmask(libc::SIG_BLOCK, null(), &mut now);
            libc::sigismember(&now, libc::SIGPIPE) == 1
        }
    }

    #[test]
    fn a_write_to_a_broken_connection_is_an_error_alone() {
        // SAFETY: the signal has its default action again only until the end of this test; a write
        // to a broken connection in another test would end this process, and no other test makes
        // one.
        let before = unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
        let (mut ours, theirs) = std::os::unix::net::UnixStream::pair().unwrap();
        drop(theirs);
        for _ in 0..2 {
            let guard = NoPipeSignal::block();
            let inner = NoPipeSignal::block();
            let error = ours.write(b"x").unwrap_err();
            assert_eq!(error.kind(), ErrorKind::BrokenPipe);
            drop(inner);
            assert!(is_blocked());
            drop(guard);
            // A pending signal would have ended the process here.
            assert!(!is_blocked());
        }
        // In a thread that had already blocked the signal, no signal is pending afterwards.
        // SAFETY: the set is plain memory here.
        unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &pipe(), null_mut()) };
        let guard = NoPipeSignal::block();
        let error = ours.write(b"x").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::BrokenPipe);
        drop(guard);
        assert!(is_blocked() && !is_pending());
        // SAFETY: as above.
        unsafe { libc::pthread_sigmask(libc::SIG_UNBLOCK, &pipe(), null_mut()) };
        // SAFETY: as above.
        unsafe { libc::signal(libc::SIGPIPE, before) };
    }
}
