//! Fences of two weights between processes that share memory: one side, which is often there, pays
//! almost nothing, and the other, which is rarely there, pays for both.
//!
//! Each side writes a word of its own and then reads the other's. With a [`light`] fence between
//! the two on one side and a [`heavy`] one on the other, at least one of them sees what the other
//! wrote. The kernel's `membarrier` makes the heavy fence one for every processor that runs a
//! process that has called [`register`]. In a process that has not, light fences are full ones.

use std::sync::atomic::{compiler_fence, fence, AtomicBool, Ordering};

use rustix::thread::{membarrier, MembarrierCommand};

static IS_REGISTERED: AtomicBool = AtomicBool::new(false);

/// From now on, heavy fences of other processes also count for this one, and its light fences cost
/// almost nothing. Nothing changes if the kernel or a sandbox does not allow that.
pub fn register() {
    // Each time, because the child of a fork is another process to the kernel.
    if membarrier(MembarrierCommand::RegisterGlobalExpedited).is_ok() {
        IS_REGISTERED.store(true, Ordering::Relaxed);
    }
}

/// The fence of the side that is often there.
#[inline]
pub fn light() {
    match IS_REGISTERED.load(Ordering::Relaxed) {
        true => compiler_fence(Ordering::SeqCst),
        false => fence(Ordering::SeqCst),
    }
}

/// The fence of the side that is rarely there. Returns false if it does not count for others that
/// have registered: then this side may miss what they write.
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

    /// The two sides never both miss each other, though only one has a fence in the processor.
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
