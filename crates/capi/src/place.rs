//! Messages where they lie

use std::ffi::{c_int, c_void};

use crate::arguments::{out, patience, set, wanted};
use crate::connections::mgn_conn;
use crate::fault::{call, Fault};
use crate::library::Library;
use crate::whole::mgn_status;

/// A message that was taken where it lies.
#[allow(non_camel_case_types)]
pub type mgn_message = u64;

/// Waits for a message and gives it where it is, without a copy if its sender could put it there. It is valid until mgn_release; until then its sender can
/// do without that memory. Over shared memory a hostile sender could still change it.
#[no_mangle]
pub unsafe extern "C" fn mgn_take(
    conn: mgn_conn,
    tag: u64,
    ignore: u64,
    timeout: c_int,
    data: *mut *const c_void,
    status: *mut mgn_status,
    message: *mut mgn_message,
) -> c_int {
    call(|| {
        let library = Library::current()?;
        // SAFETY: as the caller promises.
        let (data, message) = unsafe { (out(data, "data")?, out(message, "message")?) };
        let found = library
            .endpoint()
            .take(&wanted(conn, tag, ignore), patience(timeout))?;
        let received = found.ok_or_else(|| Fault::timeout("waiting for a message"))?;
        // SAFETY: as the caller promises.
        unsafe { set(status, Some(received.status.into())) };
        // Boxed: what is short may lie inside of it.
        let received = Box::new(received);
        *data = received.as_ptr().cast();
        *message = library.keep(received);
        Ok(0)
    })
}

/// Gives the message's memory back.
#[no_mangle]
pub extern "C" fn mgn_release(message: mgn_message) -> c_int {
    call(|| Library::current()?.release(message).map(|()| 0))
}
