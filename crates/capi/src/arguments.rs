//! What C hands over, checked as far as it can be.

use std::ffi::{c_char, c_int, c_void, CStr};
use std::time::Duration;

use libc::iovec;
use mgn_fabric::endpoint::{LinkId, Piece, Wanted};

use crate::connections::{mgn_conn, MGN_ANY};
use crate::fault::{Code, Fault};

/// Pieces of one message, at most: as for the system's own calls.
const PIECES_MAX: usize = 1024;

pub(crate) fn handle(what: &str, number: u64) -> Fault {
    Fault::new(Code::Handle, format!("there is no {what} {number:#x}"))
}

pub(crate) fn link(conn: mgn_conn) -> Result<LinkId, Fault> {
    match conn {
        MGN_ANY => Err(handle("connection", conn)),
        _ => Ok(LinkId::from_bits(conn)),
    }
}

/// Messages from this connection, or from any where it is `MGN_ANY`.
pub(crate) fn wanted(conn: mgn_conn, tag: u64, ignore: u64) -> Wanted {
    Wanted {
        from: (conn != MGN_ANY).then(|| LinkId::from_bits(conn)),
        tag,
        ignore,
    }
}

/// Milliseconds; None: forever.
pub(crate) fn patience(timeout: c_int) -> Option<Duration> {
    u64::try_from(timeout).ok().map(Duration::from_millis)
}

/// # Safety
/// The pointer is null or to a value that nobody else uses meanwhile.
pub(crate) unsafe fn out<'a, T>(place: *mut T, name: &str) -> Result<&'a mut T, Fault> {
    if !place.is_null() && !place.is_aligned() {
        return Err(Fault::argument(format!("{name} is not aligned")));
    }
    // SAFETY: as the caller promises, and it is aligned.
    unsafe { place.as_mut() }.ok_or_else(|| Fault::argument(format!("{name} is null")))
}

/// Writes a value that the program may not want.
///
/// # Safety
/// The pointer is null or to a place for the value.
pub(crate) unsafe fn set<T>(place: *mut T, value: Option<T>) {
    if let (false, Some(value)) = (place.is_null(), value) {
        // SAFETY: as the caller promises.
        unsafe { place.write_unaligned(value) };
    }
}

/// # Safety
/// The pointer is null or to a string.
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

/// Copies as much of a text as there is room for, and its zero byte. Gives the whole text's length.
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

/// Memory of a message in one piece.
pub(crate) fn input(start: *const c_void, len: usize) -> Result<Piece, Fault> {
    match (start.is_null(), len) {
        (_, 0) => Ok((std::ptr::NonNull::<u8>::dangling().as_ptr(), 0)),
        (true, _) => Err(Fault::argument("the message's memory is null")),
        // No memory is larger.
        (_, len) if len > isize::MAX as usize => {
            Err(Fault::argument(format!("a message of {len} bytes")))
        }
        _ => Ok((start.cast_mut().cast(), len)),
    }
}

/// # Safety
/// `start` is null or so many pieces.
pub(crate) unsafe fn pieces(start: *const iovec, count: usize) -> Result<Vec<Piece>, Fault> {
    if count == 0 {
        return Ok(vec![input(std::ptr::null(), 0)?]);
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
    let pieces = unsafe { std::slice::from_raw_parts(start, count) };
    let total = pieces
        .iter()
        .try_fold(0usize, |sum, piece| sum.checked_add(piece.iov_len));
    if total.is_none_or(|total| total > isize::MAX as usize) {
        return Err(Fault::argument("the pieces are too long in total"));
    }
    pieces
        .iter()
        .map(|piece| input(piece.iov_base, piece.iov_len))
        .collect()
}
