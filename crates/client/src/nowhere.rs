//! Memory for commands that are not sent.

use mgn_wire::{Encoder, RECORD_MAX};
use std::cell::UnsafeCell;

/// Memory for commands that go nowhere. It is never read.
#[repr(align(64))]
struct Scratch(UnsafeCell<[u8; RECORD_MAX]>);

// SAFETY: only ever written to, by raw pointer, and never read.
unsafe impl Sync for Scratch {}

static SCRATCH: Scratch = Scratch(UnsafeCell::new([0; RECORD_MAX]));

/// Room for one record that is discarded.
pub fn nowhere() -> *mut u8 {
    SCRATCH.0.get().cast()
}

/// The hook of an encoder whose commands are all discarded: see `Encoder::refill`.
pub unsafe fn refill(_encoder: *mut Encoder, _n: usize) -> *mut u8 {
    nowhere()
}
