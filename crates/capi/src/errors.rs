//! Errors

use std::ffi::{c_char, c_int, CStr};

use crate::fault;

pub const MGN_OK: c_int = 0;

#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum mgn_err {
    /// an argument makes no sense
    Argument = -1,
    /// no such connection, request, message, reservation, memory, broadcast, compositor or outlet
    Handle = -2,
    /// before mgn_init, after mgn_finalize, or mgn_init twice; or a function that draws or shows a
    /// tile uses the compositor that is calling it
    State = -3,
    /// the time has passed
    Timeout = -4,
    /// the other process has closed the connection or ended
    Closed = -5,
    /// the message was longer than the memory for it; what fits was received
    Truncated = -6,
    /// the operation was given up
    Cancelled = -7,
    /// so many messages that nobody receives stand before it that it cannot come
    Starved = -8,
    /// what was said about the job makes no sense, or is in use
    Job = -9,
    /// the other process lets us not in: wrong secret, job or release
    Refused = -10,
    /// a call to the system failed
    System = -11,
    /// a mistake of this library
    Internal = -12,
    /// the other process does not offer this memory, or less of it
    Offer = -13,
    /// the processes do not agree about what they composite
    Composite = -14,
    /// pictures cannot be shown or saved there
    Outlet = -15,
}

/// What an error means. Never null.
#[no_mangle]
pub extern "C" fn mgn_strerror(error: c_int) -> *const c_char {
    CStr::as_ptr(fault::meaning(error))
}

/// What the last call in this thread that failed has to say, valid until the next one fails. Never
/// null.
#[no_mangle]
pub extern "C" fn mgn_last_error() -> *const c_char {
    fault::last()
}
