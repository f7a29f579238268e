//! Whether this process is the one that it was, or a child that was forked from it.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::Once;

static FORKS: AtomicU32 = AtomicU32::new(0);
static WATCH: Once = Once::new();

/// How many forks lie between this process and the one in which this was first called. Costs no
/// system call, as asking for the process's number does.
#[inline]
pub fn generation() -> u32 {
    WATCH.call_once(|| {
        // SAFETY: the handler does nothing but add to an atomic number, which is allowed in a child
        // of many threads.
        unsafe { libc::pthread_atfork(None, None, Some(forked)) };
    });
    FORKS.load(Ordering::Relaxed)
}

extern "C" fn forked() {
    FORKS.fetch_add(1, Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_is_another_generation() {
        let mine = generation();
        // SAFETY: the child only compares and exits.
        let child = unsafe { libc::fork() };
        if child == 0 {
            let is_next = generation() == mine + 1;
            // SAFETY: it never returns.
            unsafe { libc::_exit(if is_next { 0 } else { 1 }) };
        }
        let mut status = -1;
        // SAFETY: the child is this process's, and the status this function's.
        assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
        assert_eq!((status, generation()), (0, mine));
    }
}
