//! Messages where they lie

use std::ffi::{c_int, c_void};

use mgn_fabric::endpoint::Request;

use crate::arguments::{link, out, patience, set, wanted};
use crate::connections::mgn_conn;
use crate::fault::{call, Fault};
use crate::library::Library;
use crate::requests::{how, mgn_request};
use crate::whole::mgn_status;

/// A message that was taken where it lies.
#[allow(non_camel_case_types)]
pub type mgn_message = u64;

/// Memory that a message is being written into.
#[allow(non_camel_case_types)]
pub type mgn_reservation = u64;

/// Waits for a message and gives it where it is, without a copy if its sender could put it there.
/// It is valid until mgn_release; until then its sender can do without that memory. Over shared
/// memory a hostile sender could still change it.
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

/// Gives memory to write a message of up to length bytes into, 64-byte aligned. Over shared memory
/// the receiver takes it right there. Does not wait.
#[no_mangle]
pub unsafe extern "C" fn mgn_reserve(
    conn: mgn_conn,
    length: usize,
    data: *mut *mut c_void,
    reservation: *mut mgn_reservation,
) -> c_int {
    call(|| {
        let library = Library::current()?;
        // SAFETY: as the caller promises.
        let (data, reservation) = unsafe { (out(data, "data")?, out(reservation, "reservation")?) };
        let mut reserved = library.endpoint().reserve(link(conn)?, length)?;
        *data = reserved.as_mut_ptr().cast();
        *reservation = library.keep_reserved(reserved);
        Ok(0)
    })
}

/// Begins to send the first length bytes of it, after which data is no longer the program's. Nobody
/// has to wait: request may be null. After MGN_ERR_ARGUMENT the reservation is as before, after
/// other errors it is gone.
#[no_mangle]
pub unsafe extern "C" fn mgn_commit(
    reservation: mgn_reservation,
    length: usize,
    tag: u64,
    flags: c_int,
    request: *mut mgn_request,
) -> c_int {
    call(|| {
        let library = Library::current()?;
        let how = how(flags)?;
        let reserved = library.unreserve(reservation, length)?;
        match reserved.commit(length, tag, how)? {
            Some(begun) if request.is_null() => library.endpoint().detach(begun)?,
            // SAFETY: as the caller promises.
            begun => unsafe { set(request, Some(begun.map_or(0, Request::to_bits))) },
        }
        Ok(0)
    })
}

/// Gives the memory back without sending anything.
#[no_mangle]
pub extern "C" fn mgn_discard(reservation: mgn_reservation) -> c_int {
    call(|| {
        let unused = Library::current()?.unreserve(reservation, 0)?;
        drop(unused);
        Ok(0)
    })
}
