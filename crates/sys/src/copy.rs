//! Copies of memory that are fast at all addresses of source and destination.
//!
//! For long copies, the memcpy of glibc before 2.40 uses the instruction `rep movsb` if the
//! processor says that it is fast. On AMD's Zen 3 and Zen 4, this instruction is slow if the
//! destination's offset within its page is 1 to 31 bytes above the source's: 3 GB/s instead of 45
//! (glibc's bug 30994). Copies from the start of a page to memory of `malloc` are slow for this
//! reason, because `malloc` puts large blocks 16 bytes after the start of a page. Shorter copies
//! use vector registers. Therefore, this module divides slow copies on such processors into short
//! ones.

use std::hint::black_box;
use std::ptr;
use std::sync::OnceLock;
use std::time::Instant;

/// No memcpy uses `rep movsb` for copies of this length.
const PIECE: usize = 1984;
const PAGE: usize = 4096;
/// The number of bytes by which the destination's offset is above the source's in the slow case.
const SLOW: std::ops::Range<usize> = 1..32;

/// Copies `len` bytes. Source and destination may overlap.
///
/// # Safety
/// `from` is valid for reads of `len` bytes, and `into` for writes.
#[inline]
pub unsafe fn copy(from: *const u8, into: *mut u8, len: usize) {
    let ahead = (into as usize).wrapping_sub(from as usize);
    if len > PIECE && SLOW.contains(&(ahead % PAGE)) && ahead >= len && is_slow() {
        // SAFETY: as promised to this function. The destination does not begin within the source,
        // so that no piece overwrites bytes that are still to be copied.
        unsafe { in_pieces(from, into, len) }
    } else {
        // SAFETY: as promised to this function.
        unsafe { ptr::copy(from, into, len) }
    }
}

/// # Safety
/// As for [`copy`], and `into` does not lie within the `len` bytes from `from` on.
#[cold]
unsafe fn in_pieces(from: *const u8, into: *mut u8, len: usize) {
    let mut done = 0;
    while done < len {
        let piece = PIECE.min(len - done);
        // SAFETY: within what this function was promised.
        unsafe { ptr::copy(from.add(done), into.add(done), piece) };
        done += piece;
    }
}

/// Whether copies on this machine are much slower in the slow case than in other cases.
fn is_slow() -> bool {
    static IS_SLOW: OnceLock<bool> = OnceLock::new();
    *IS_SLOW.get_or_init(measure)
}

#[cold]
fn measure() -> bool {
    const LEN: usize = 2 * PAGE;
    const TIMES: usize = 5;
    let mut memory = vec![0u8; 5 * PAGE + LEN];
    // The compiler must not leave out copies that nothing reads.
    let start = black_box(memory.as_mut_ptr());
    // The time of the fastest copy, because others may have been interrupted.
    let time = |ahead: usize| {
        // SAFETY: both ranges lie within the memory, and do not overlap.
        let once = |_| unsafe {
            let began = Instant::now();
            ptr::copy(start, start.add(3 * PAGE + ahead), LEN);
            began.elapsed()
        };
        (0..TIMES).map(once).min().unwrap_or_default()
    };
    let _ = time(PAGE / 2);
    time(SLOW.start + 15) > 3 * time(PAGE / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_copied_wherever_it_lies() {
        let sent: Vec<u8> = (0..40_000u32).map(|n| (n % 251) as u8).collect();
        for len in [0, 1, PIECE, PIECE + 1, 3 * PIECE, 30_000] {
            for ahead in [0, 1, 16, 31, 32, 4095] {
                let mut memory = vec![0u8; PAGE + len];
                let offset = |start: &[u8]| start.as_ptr() as usize % PAGE;
                let at = (offset(&sent) + ahead + PAGE - offset(&memory)) % PAGE;
                // SAFETY: both have `len` bytes.
                unsafe { in_pieces(sent.as_ptr(), memory[at..].as_mut_ptr(), len) };
                assert_eq!(memory[at..at + len], sent[..len]);
                memory.fill(0);
                // SAFETY: as above.
                unsafe { copy(sent.as_ptr(), memory[at..].as_mut_ptr(), len) };
                assert_eq!(memory[at..at + len], sent[..len]);
            }
        }
    }

    #[test]
    fn memory_may_overlap() {
        for ahead in [16isize, PAGE as isize + 16, -16, -(PAGE as isize) + 16] {
            let mut memory: Vec<u8> = (0..60_000u32).map(|n| (n % 251) as u8).collect();
            let before = memory.clone();
            let (at, len) = (10_000, 40_000);
            let into = (at as isize + ahead) as usize;
            let start = memory.as_mut_ptr();
            // SAFETY: both ranges lie within the memory.
            unsafe { copy(start.add(at), start.add(into), len) };
            assert_eq!(memory[into..into + len], before[at..at + len], "{ahead}");
        }
    }
}
