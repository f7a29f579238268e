//! Keeps the program's signals away from our threads.

/// Blocks all signals in the calling thread until it is dropped.
pub struct Signals {
    before: libc::sigset_t,
}

impl Signals {
    pub fn block_all() -> Signals {
        // SAFETY: both sets are plain memory that the calls fill in.
        unsafe {
            let mut all: libc::sigset_t = std::mem::zeroed();
            let mut before: libc::sigset_t = std::mem::zeroed();
            libc::sigfillset(&mut all);
            libc::pthread_sigmask(libc::SIG_SETMASK, &all, &mut before);
            Signals { before }
        }
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        // SAFETY: the set was filled in by block_all.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &self.before, std::ptr::null_mut()) };
    }
}
