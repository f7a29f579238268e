//! The clock that all processes of a host share.

use rustix::time::{clock_gettime, ClockId};

/// `CLOCK_MONOTONIC` in ns. This clock cannot be set, and it starts again when the host boots.
pub fn monotonic() -> i64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec * 1_000_000_000 + now.tv_nsec
}
