//! Limits for numbers from clients with which drivers calculate before they check them.
//!
//! Mesa adds an offset and a size, or a first index and a count, and compares the sum. A sum that
//! overflows its type passes the comparison. So every command gets numbers whose sums do not
//! overflow (`xtask/src/emit/bounds.rs` lists the commands). Numbers beyond that are replaced by
//! others that are also out of range and raise the same error.

/// A side that is too long for an image in every driver. Longer sides are replaced by this one:
/// they would have more mipmap levels than drivers have room for when they check the length.
pub(crate) const TOO_LONG: i32 = (1 << 15) + 1;

/// An offset or size in bytes that lies beyond every buffer.
pub(crate) const TOO_FAR: i64 = 1 << 61;

/// An offset or side in pixels that lies outside of every image.
const OUTSIDE: i32 = 1 << 29;

/// An index for which no driver has a binding point.
const TOO_MANY: u32 = 1 << 20;

pub(crate) fn bytes(place: i64) -> i64 {
    place.clamp(-TOO_FAR, TOO_FAR)
}

pub(crate) fn pixels(place: i32) -> i32 {
    place.clamp(-OUTSIDE, OUTSIDE)
}

/// While a list is compiled, Mesa multiplies a count by the size of an element before it checks
/// whether the count is negative.
pub(crate) fn count(count: i32) -> i32 {
    count.max(-1)
}

pub(crate) fn first(index: u32) -> u32 {
    index.min(TOO_MANY)
}
