//! Numbers from clients with which drivers calculate before they check them.
//!
//! Mesa adds a place and a size, or a first index and a count, and compares the sum. A sum that is
//! too large for its type passes the comparison. So every command gets numbers whose sums fit
//! (`xtask/src/emit/bounds.rs` says which): those beyond are replaced by others that are just as
//! wrong, and raise the same error.

/// A side that no driver allows an image. Longer ones are replaced by this one, because they have
/// more levels than drivers have room for when they check the length.
pub(crate) const TOO_LONG: i32 = (1 << 15) + 1;

/// A place or size in bytes that is in no buffer.
pub(crate) const TOO_FAR: i64 = 1 << 61;

/// A place or side in pixels that is in no image.
const OUTSIDE: i32 = 1 << 29;

/// An index that no driver has a binding point for.
const TOO_MANY: u32 = 1 << 20;

pub(crate) fn bytes(place: i64) -> i64 {
    place.clamp(-TOO_FAR, TOO_FAR)
}

pub(crate) fn pixels(place: i32) -> i32 {
    place.clamp(-OUTSIDE, OUTSIDE)
}

/// While a list is compiled, Mesa multiplies a count with the size of an element before it looks
/// whether it is negative.
pub(crate) fn count(count: i32) -> i32 {
    count.max(-1)
}

pub(crate) fn first(index: u32) -> u32 {
    index.min(TOO_MANY)
}
