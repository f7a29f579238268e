//! The clock that all processes of a host have in common.

use rustix::time::{clock_gettime, ClockId};

/// `CLOCK_MONOTONIC` in ns. Nothing sets it, and it begins anew when the host starts.
pub fn monotonic() -> i64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec * 1_000_000_000 + now.tv_nsec
}
