//! Nonblocking operations

use std::ffi::c_int;

use libc::iovec;
use mgn_fabric::endpoint::{Ended, Endpoint, Piece, Request, SendOptions};

use crate::arguments::{duration, out, pieces, write_optional};
use crate::blocking::{mgn_status, peek};
use crate::connections::{link, mgn_conn, wanted};
use crate::fault::{call, Fault};
use crate::library::Library;

/// A request: an operation that has begun. 0 stands for a request that has ended; it may be tested
/// and waited for.
#[allow(non_camel_case_types)]
pub type mgn_request = u64;

/// A flag for mgn_isend: the request ends when the receiver has taken the message. Without it, the
/// request ends as soon as the memory may be used again.
pub const MGN_SYNC: c_int = 1;

/// A flag for mgn_isend: the message may overtake others.
pub const MGN_UNORDERED: c_int = 2;

/// Begins to send one message that consists of count pieces of memory. The program must not change
/// them until the request has ended. flags is 0, MGN_SYNC, MGN_UNORDERED, or both combined by |.
#[no_mangle]
pub unsafe extern "C" fn mgn_isend(
    conn: mgn_conn,
    tag: u64,
    pieces: *const iovec,
    count: usize,
    flags: c_int,
    request: *mut mgn_request,
) -> c_int {
    let send = |endpoint: &Endpoint, pieces: &[Piece]| {
        // SAFETY: as the caller promises.
        Ok(unsafe { endpoint.isend(link(conn)?, tag, pieces, send_options(flags)?) }?)
    };
    // SAFETY: as the caller promises.
    unsafe { begin(pieces, count, request, send) }
}

/// Begins to receive a message from conn (or MGN_ANY) into pieces of memory. The program must not
/// use them until the request has ended. The request takes the first message whose tag equals tag
/// in all bits that are not set in ignore. If ignore is 0, only this tag matches; if it is
/// UINT64_MAX, every tag matches.
#[no_mangle]
pub unsafe extern "C" fn mgn_irecv(
    conn: mgn_conn,
    tag: u64,
    ignore: u64,
    pieces: *const iovec,
    count: usize,
    request: *mut mgn_request,
) -> c_int {
    let receive = |endpoint: &Endpoint, pieces: &[Piece]| {
        // SAFETY: as the caller promises.
        Ok(Some(unsafe {
            endpoint.irecv(wanted(conn, tag, ignore), pieces)
        }))
    };
    // SAFETY: as the caller promises.
    unsafe { begin(pieces, count, request, receive) }
}

/// Begins an operation on pieces of the program's memory. Writes its request, or 0 if it has ended
/// already.
///
/// # Safety
/// `pieces` points to `count` pieces. `request` is null, or points to memory for a request.
pub(crate) unsafe fn begin(
    pieces: *const iovec,
    count: usize,
    request: *mut mgn_request,
    operation: impl FnOnce(&Endpoint, &[Piece]) -> Result<Option<Request>, Fault>,
) -> c_int {
    call(|| {
        let endpoint = Library::current()?.endpoint();
        // SAFETY: as the caller promises.
        let (pieces, request) = unsafe { (self::pieces(pieces, count)?, out(request, "request")?) };
        *request = operation(endpoint, &pieces)?.map_or(0, Request::to_bits);
        Ok(0)
    })
}

/// Tests a request. Returns 1 if it has ended, and sets it to 0; returns 0 if it has not ended. If
/// the request failed, returns its error. status may be null.
#[no_mangle]
pub unsafe extern "C" fn mgn_test(request: *mut mgn_request, status: *mut mgn_status) -> c_int {
    // SAFETY: as the caller promises.
    call(|| unsafe { finish(request, 0, status) }.map(c_int::from))
}

/// Waits until a request has ended, and sets it to 0. If the request failed, returns its error.
/// After MGN_ERR_TIMEOUT the request continues. status may be null.
#[no_mangle]
pub unsafe extern "C" fn mgn_wait(
    request: *mut mgn_request,
    timeout: c_int,
    status: *mut mgn_status,
) -> c_int {
    // SAFETY: as the caller promises.
    call(|| match unsafe { finish(request, timeout, status) }? {
        true => Ok(0),
        false => Err(Fault::timeout("waiting for a request")),
    })
}

/// Returns true if the request has ended.
///
/// # Safety
/// As for `mgn_test`.
unsafe fn finish(
    request: *mut mgn_request,
    timeout: c_int,
    status: *mut mgn_status,
) -> Result<bool, Fault> {
    let endpoint = Library::current()?.endpoint();
    // SAFETY: as the caller promises.
    let request = unsafe { out(request, "request") }?;
    if *request == 0 {
        return Ok(true);
    }
    let ended = match endpoint.wait(Request::from_bits(*request), duration(timeout)) {
        Ok(None) => return Ok(false),
        ended => ended,
    };
    // The request does not exist any more, even if it failed.
    *request = 0;
    // SAFETY: as the caller promises.
    unsafe { write_optional(status, ended?.map(mgn_status::from)) };
    Ok(true)
}

/// Waits until one of several requests has ended, sets it to 0, and sets index to its place in the
/// array. If the request failed, returns its error. Requests that are 0 are ignored; if all are 0,
/// index is set to count. After MGN_ERR_TIMEOUT all requests continue.
#[no_mangle]
pub unsafe extern "C" fn mgn_waitany(
    requests: *mut mgn_request,
    count: usize,
    timeout: c_int,
    index: *mut usize,
    status: *mut mgn_status,
) -> c_int {
    call(|| {
        let endpoint = Library::current()?.endpoint();
        if count > 0 && (requests.is_null() || !requests.is_aligned()) {
            return Err(Fault::argument("requests is null or not aligned"));
        }
        // SAFETY: as the caller promises.
        let index = unsafe { out(index, "index") }?;
        let requests = match count.min(isize::MAX as usize / size_of::<u64>()) {
            0 => &mut [][..],
            // SAFETY: the caller promises `count` requests, and they are aligned.
            count => unsafe { std::slice::from_raw_parts_mut(requests, count) },
        };
        let positions: Vec<usize> = (0..requests.len())
            .filter(|at| requests[*at] != 0)
            .collect();
        *index = count;
        if positions.is_empty() {
            return Ok(0);
        }
        let running: Vec<Request> = positions
            .iter()
            .map(|at| Request::from_bits(requests[*at]))
            .collect();
        let Some(Ended { at, result: ended }) = endpoint.wait_any(&running, duration(timeout))?
        else {
            return Err(Fault::timeout("waiting for one of several requests"));
        };
        *index = positions[at];
        requests[positions[at]] = 0;
        // SAFETY: as the caller promises.
        unsafe { write_optional(status, Some(ended?.into())) };
        Ok(0)
    })
}

/// Cancels a request. Returns 1 if the request has not begun its work and ends with
/// MGN_ERR_CANCELLED; returns 0 if it ends as if it had not been cancelled. In both cases, wait for
/// it.
#[no_mangle]
pub extern "C" fn mgn_cancel(request: mgn_request) -> c_int {
    call(|| {
        let endpoint = Library::current()?.endpoint();
        match request {
            0 => Ok(0),
            _ => Ok(endpoint.cancel(Request::from_bits(request))?.into()),
        }
    })
}

/// Waits for a message that mgn_irecv with the same arguments would take, and describes it in
/// status. The message can still be received.
#[no_mangle]
pub unsafe extern "C" fn mgn_probe(
    conn: mgn_conn,
    tag: u64,
    ignore: u64,
    timeout: c_int,
    status: *mut mgn_status,
) -> c_int {
    // SAFETY: as the caller promises.
    call(|| unsafe { peek(conn, tag, ignore, duration(timeout), status) })
}

pub(crate) fn send_options(flags: c_int) -> Result<SendOptions, Fault> {
    if flags & !(MGN_SYNC | MGN_UNORDERED) != 0 {
        return Err(Fault::argument(format!("flags {flags:#x} are not known")));
    }
    Ok(SendOptions {
        sync: flags & MGN_SYNC != 0,
        unordered: flags & MGN_UNORDERED != 0,
    })
}
