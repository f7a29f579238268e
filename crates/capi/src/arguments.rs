//! Conversion and checks of the arguments that C programs pass.

use std::ffi::{c_char, c_int, c_void, CStr};
use std::time::Duration;

use libc::iovec;
use mgn_fabric::endpoint::Piece;

use crate::fault::Fault;

/// The largest number of pieces of one message: the limit of readv and writev.
const PIECES_MAX: usize = 1024;

/// The timeout of a call that opens an object without a time limit. No program runs for longer.
pub(crate) const FOREVER: Duration = Duration::from_secs(u32::MAX as u64);

/// A timeout in milliseconds. `None` if it is negative: there is no limit.
pub(crate) fn duration(timeout: c_int) -> Option<Duration> {
    u64::try_from(timeout).ok().map(Duration::from_millis)
}

/// The value behind a pointer that must not be null.
///
/// # Safety
/// The pointer is null, or points to a value that nothing else accesses in the meantime.
pub(crate) unsafe fn out<'a, T>(target: *mut T, name: &str) -> Result<&'a mut T, Fault> {
    if !target.is_null() && !target.is_aligned() {
        return Err(Fault::argument(format!("{name} is not aligned")));
    }
    // SAFETY: as the caller promises, and it is aligned.
    unsafe { target.as_mut() }.ok_or_else(|| Fault::argument(format!("{name} is null")))
}

/// Writes a value, unless the program passed null because it does not want the value.
///
/// # Safety
/// The pointer is null, or points to memory for the value.
pub(crate) unsafe fn write_optional<T>(target: *mut T, value: Option<T>) {
    if let (false, Some(value)) = (target.is_null(), value) {
        // SAFETY: as the caller promises.
        unsafe { target.write_unaligned(value) };
    }
}

/// # Safety
/// The pointer is null, or points to a string that ends with a zero byte.
pub(crate) unsafe fn text<'a>(start: *const c_char, name: &str) -> Result<&'a str, Fault> {
    // SAFETY: as the caller promises.
    unsafe { optional_text(start, name) }?.ok_or_else(|| Fault::argument(format!("{name} is null")))
}

/// # Safety
/// As for `text`.
pub(crate) unsafe fn optional_text<'a>(
    start: *const c_char,
    name: &str,
) -> Result<Option<&'a str>, Fault> {
    if start.is_null() {
        return Ok(None);
    }
    // SAFETY: it is not null, and a string as the caller promises.
    let text = unsafe { CStr::from_ptr(start) }.to_str();
    text.map(Some)
        .map_err(|_| Fault::argument(format!("{name} is not UTF-8")))
}

/// Copies as much of a text as fits, and a final zero byte. Returns the length of the whole text.
///
/// # Safety
/// `start` is null or has room for `room` bytes.
pub(crate) unsafe fn copy_text(
    text: &str,
    start: *mut c_char,
    room: usize,
) -> Result<c_int, Fault> {
    if room > 0 && start.is_null() {
        return Err(Fault::argument("the place for the text is null"));
    }
    if room > 0 {
        let len = text.len().min(room - 1);
        // SAFETY: `len` bytes and one more have room, as the caller promises.
        unsafe {
            std::ptr::copy_nonoverlapping(text.as_ptr(), start.cast(), len);
            start.add(len).write(0);
        }
    }
    Ok(text.len() as c_int)
}

/// The memory of a message that is one piece. Empty memory may be null.
pub(crate) fn piece(start: *const c_void, len: usize) -> Result<Piece, Fault> {
    match (start.is_null(), len) {
        (_, 0) => Ok((std::ptr::NonNull::<u8>::dangling().as_ptr(), 0)),
        (true, _) => Err(Fault::argument("the message's memory is null")),
        // No object in memory is longer.
        (_, len) if len > isize::MAX as usize => {
            Err(Fault::argument(format!("a message of {len} bytes")))
        }
        _ => Ok((start.cast_mut().cast(), len)),
    }
}

/// # Safety
/// `start` is null, or points to `count` pieces.
pub(crate) unsafe fn pieces(start: *const iovec, count: usize) -> Result<Vec<Piece>, Fault> {
    if count == 0 {
        return Ok(vec![piece(std::ptr::null(), 0)?]);
    }
    if start.is_null() || !start.is_aligned() {
        return Err(Fault::argument("pieces is null or not aligned"));
    }
    if count > PIECES_MAX {
        return Err(Fault::argument(format!(
            "{count} pieces are more than {PIECES_MAX}"
        )));
    }
    // SAFETY: as the caller promises; it is aligned.
    let vectors = unsafe { std::slice::from_raw_parts(start, count) };
    let total = vectors
        .iter()
        .try_fold(0usize, |sum, vector| sum.checked_add(vector.iov_len));
    if total.is_none_or(|total| total > isize::MAX as usize) {
        return Err(Fault::argument("the pieces are too long in total"));
    }
    vectors
        .iter()
        .map(|vector| piece(vector.iov_base, vector.iov_len))
        .collect()
}
