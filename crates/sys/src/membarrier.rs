//! Asymmetric fences between processes that share memory. One side executes a fence often, and this
//! costs almost nothing. The other side executes one rarely, and pays the cost for both.
//!
//! Each side writes its own word and then reads the word of the other side. If one side has a
//! [`light`] fence between the write and the read, and the other side has a [`heavy`] one, at least
//! one side sees what the other has written. The kernel's `membarrier` executes the heavy fence on
//! every processor that runs a process that has called [`register`]. In other processes, light
//! fences are full fences.

use std::sync::atomic::{compiler_fence, fence, AtomicBool, Ordering};

use rustix::thread::{membarrier, MembarrierCommand};

static IS_REGISTERED: AtomicBool = AtomicBool::new(false);

/// Makes the heavy fences of other processes apply to this process, so that its light fences cost
/// almost nothing. If the kernel or a sandbox forbids this, nothing changes.
pub fn register() {
    // Each call registers again, because the kernel treats a forked child as another process.
    if membarrier(MembarrierCommand::RegisterGlobalExpedited).is_ok() {
        IS_REGISTERED.store(true, Ordering::Relaxed);
    }
}

/// The fence of the side that executes it often.
#[inline]
pub fn light() {
    match IS_REGISTERED.load(Ordering::Relaxed) {
        true => compiler_fence(Ordering::SeqCst),
        false => fence(Ordering::SeqCst),
    }
}

/// The fence of the side that executes it rarely. Returns false if the fence does not apply to
/// registered processes. Then this side may miss what they have written.
#[must_use]
pub fn heavy() -> bool {
    fence(Ordering::SeqCst);
    membarrier(MembarrierCommand::GlobalExpedited).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, AtomicU64};
    use std::sync::Barrier;

    /// At least one side always sees the other's write, although only one side executes a fence
    /// instruction.
    #[test]
    fn one_side_sees_the_other() {
        const TURNS: u64 = 20_000;
        register();
        if !heavy() {
            return;
        }
        let words = [AtomicU64::new(0), AtomicU64::new(0)];
        let (meet, missed) = (Barrier::new(2), AtomicU32::new(0));
        std::thread::scope(|scope| {
            let side = |mine: usize, is_heavy: bool| {
                let (words, meet, missed) = (&words, &meet, &missed);
                move || {
                    for turn in 1..=TURNS {
                        meet.wait();
                        words[mine].store(turn, Ordering::Relaxed);
                        match is_heavy {
                            true => assert!(heavy()),
                            false => light(),
                        }
                        if words[1 - mine].load(Ordering::Relaxed) < turn {
                            missed.fetch_add(1, Ordering::Relaxed);
                        }
                        meet.wait();
                        assert!(missed.swap(0, Ordering::Relaxed) < 2, "turn {turn}");
                    }
                }
            };
            scope.spawn(side(0, true));
            scope.spawn(side(1, false));
        });
    }
}
