//! Messages in place, without a copy

use std::ffi::{c_int, c_void};

use mgn_fabric::endpoint::Request;

use crate::arguments::{duration, out, write_optional};
use crate::blocking::mgn_status;
use crate::connections::{link, mgn_conn, wanted};
use crate::fault::{call, Fault};
use crate::library::Library;
use crate::requests::{mgn_request, send_options};

/// A message that the program reads in place.
#[allow(non_camel_case_types)]
pub type mgn_message = u64;

/// Memory into which the program writes a message.
#[allow(non_camel_case_types)]
pub type mgn_reservation = u64;

/// Waits for a message that mgn_irecv with the same arguments would take, and gives the program its
/// memory to read. Nothing is copied if the sender could put the message into shared memory. The
/// memory is valid until mgn_release; until then, the sender cannot use it for other messages. In
/// shared memory, a hostile sender could change the message while the program reads it. status may
/// be null.
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
            .take(&wanted(conn, tag, ignore), duration(timeout))?;
        let received = found.ok_or_else(|| Fault::timeout("waiting for a message"))?;
        // SAFETY: as the caller promises.
        unsafe { write_optional(status, Some(received.status.into())) };
        // The message is in a box, because the bytes of a short message may be inside the object.
        let received = Box::new(received);
        *data = received.as_ptr().cast();
        *message = library.add_message(received);
        Ok(0)
    })
}

/// Releases the memory of a message, which the program must not read any more.
#[no_mangle]
pub extern "C" fn mgn_release(message: mgn_message) -> c_int {
    call(|| Library::current()?.release(message).map(|()| 0))
}

/// Gives the program memory, aligned to 64 bytes, for a message of up to length bytes. Over shared
/// memory, the receiver reads the message in this memory, without a copy. Never waits.
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
        *reservation = library.add_reservation(reserved);
        Ok(0)
    })
}

/// Begins to send the first length bytes of a reservation. From then on, the program must not use
/// the memory. request may be null, because the program need not wait for it. After
/// MGN_ERR_ARGUMENT the reservation is unchanged; after any other error it is gone.
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
        let options = send_options(flags)?;
        let reserved = library.remove_reservation(reservation, length)?;
        match reserved.commit(length, tag, options)? {
            Some(begun) if request.is_null() => library.endpoint().detach(begun)?,
            // SAFETY: as the caller promises.
            begun => unsafe { write_optional(request, Some(begun.map_or(0, Request::to_bits))) },
        }
        Ok(0)
    })
}

/// Gives up a reservation. Nothing is sent.
#[no_mangle]
pub extern "C" fn mgn_discard(reservation: mgn_reservation) -> c_int {
    call(|| {
        let unused = Library::current()?.remove_reservation(reservation, 0)?;
        drop(unused);
        Ok(0)
    })
}
