//! Errors

use std::ffi::{c_char, c_int, CStr};

use crate::last_error;

pub const MGN_OK: c_int = 0;

#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum mgn_err {
    /// an argument is invalid
    Argument = -1,
    /// no such connection, request, message, reservation, memory, broadcast, compositor, outlet or
    /// barrier
    Handle = -2,
    /// mgn_init has not been called, or has been called twice; or mgn_finalize has been called; or
    /// a draw or show function uses the compositor that is calling it; or calls for a barrier are
    /// in the wrong order
    State = -3,
    /// the timeout has expired
    Timeout = -4,
    /// the other process has closed the connection or ended; or the object was closed in the
    /// meantime
    Closed = -5,
    /// the message is longer than the memory for it; the part that fits was received
    Truncated = -6,
    /// the operation was cancelled
    Cancelled = -7,
    /// the receive cannot complete: the connection is full of messages that the program does not
    /// receive, and the requested message is behind them
    Starved = -8,
    /// the description of the job is invalid, or its name is in use
    Job = -9,
    /// the other process refused the connection: wrong secret, job or release
    Refused = -10,
    /// a system call failed
    System = -11,
    /// a bug in this library
    Internal = -12,
    /// the other process does not offer this memory, or offers less than the request covers
    Offer = -13,
    /// the processes disagree about what they composite, or about a barrier
    Composite = -14,
    /// the outlet cannot show or save pictures
    Outlet = -15,
}

/// Describes an error code in a few words. Never null.
#[no_mangle]
pub extern "C" fn mgn_strerror(error: c_int) -> *const c_char {
    CStr::as_ptr(meaning(error))
}

/// Describes the last error in this thread in detail. The text is valid until the next call in this
/// thread fails. Never null.
#[no_mangle]
pub extern "C" fn mgn_last_error() -> *const c_char {
    last_error::get()
}

/// The texts of `mgn_strerror`.
const MEANINGS: [(mgn_err, &CStr); 15] = [
    (mgn_err::Argument, c"an argument is invalid"),
    (
        mgn_err::Handle,
        c"no such connection, request, message, reservation, memory, broadcast, compositor, outlet or barrier",
    ),
    (
        mgn_err::State,
        c"the call is not possible at this time",
    ),
    (mgn_err::Timeout, c"the timeout has expired"),
    (
        mgn_err::Closed,
        c"another process has ended or has closed the connection, or the object is closed",
    ),
    (
        mgn_err::Truncated,
        c"the message was longer than the memory for it",
    ),
    (mgn_err::Cancelled, c"the operation was cancelled"),
    (
        mgn_err::Starved,
        c"the receive is blocked by messages that the program has not received",
    ),
    (
        mgn_err::Job,
        c"the description of the job is invalid, or its name is in use",
    ),
    (mgn_err::Refused, c"the other process refused the connection"),
    (mgn_err::System, c"a system call failed"),
    (mgn_err::Internal, c"a bug in the library"),
    (
        mgn_err::Offer,
        c"the other process does not offer this memory, or offers less than requested",
    ),
    (
        mgn_err::Composite,
        c"the processes disagree about what they composite, or about a barrier",
    ),
    (mgn_err::Outlet, c"pictures cannot be shown or saved there"),
];

fn meaning(code: c_int) -> &'static CStr {
    let found = MEANINGS.iter().find(|(known, _)| *known as c_int == code);
    match found {
        Some((_, text)) => text,
        None if code >= MGN_OK => c"no error",
        None => c"no error of this library",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_have_texts() {
        for (code, text) in MEANINGS {
            assert_eq!(meaning(code as c_int), text);
        }
        assert_eq!(meaning(0), c"no error");
        assert_eq!(meaning(-99), c"no error of this library");
    }
}
