//! Operations that go on by themselves

use std::ffi::c_int;

use libc::iovec;
use mgn_fabric::endpoint::{Ended, Endpoint, How, Piece, Request};

use crate::arguments::{link, out, patience, pieces, set, wanted};
use crate::connections::mgn_conn;
use crate::fault::{call, Fault};
use crate::library::Library;
use crate::whole::mgn_status;

/// An operation that has begun. 0 is one that has ended: it can be waited for.
#[allow(non_camel_case_types)]
pub type mgn_request = u64;

/// For mgn_isend: it ends when the receiver has taken the message, not when the memory may be used
/// again.
pub const MGN_SYNC: c_int = 1;

/// For mgn_isend: the message may overtake others.
pub const MGN_UNORDERED: c_int = 2;

/// Begins to send a message made of count pieces, one behind the other. They stay unchanged until
/// the request has ended. flags: 0, MGN_SYNC, …
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
        Ok(unsafe { endpoint.isend(link(conn)?, tag, pieces, how(flags)?) }?)
    };
    // SAFETY: as the caller promises.
    unsafe { begin(pieces, count, request, send) }
}

/// Begins to receive a message from conn (or MGN_ANY) into the pieces, whose memory stays until the
/// request has ended. It takes the first message whose tag equals tag in all bits that are not set
/// in ignore: 0 takes this tag only, UINT64_MAX any.
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

/// Begins an operation on pieces of the program's memory, and tells its request: 0 where it has
/// ended already.
///
/// # Safety
/// `pieces` are `count`; `request` is null or a place for one.
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

/// 1: the request has ended; it is set to 0. 0: it has not. status may be null.
#[no_mangle]
pub unsafe extern "C" fn mgn_test(request: *mut mgn_request, status: *mut mgn_status) -> c_int {
    // SAFETY: as the caller promises.
    call(|| unsafe { finish(request, 0, status) }.map(c_int::from))
}

/// Waits until the request has ended, and sets it to 0. After MGN_ERR_TIMEOUT it goes on. How it
/// ended is returned.
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

/// True when the request has ended.
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
    let ended = match endpoint.wait(Request::from_bits(*request), patience(timeout)) {
        Ok(None) => return Ok(false),
        ended => ended,
    };
    // However it ended, it is gone.
    *request = 0;
    // SAFETY: as the caller promises.
    unsafe { set(status, ended?.map(mgn_status::from)) };
    Ok(true)
}

/// Waits until one of several requests has ended, sets it to 0, and tells its place. Those that are
/// 0 are passed over; if all are, index is count.
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
            // SAFETY: so many are there, as the caller promises, and they are aligned.
            count => unsafe { std::slice::from_raw_parts_mut(requests, count) },
        };
        let places: Vec<usize> = (0..requests.len())
            .filter(|at| requests[*at] != 0)
            .collect();
        *index = count;
        if places.is_empty() {
            return Ok(0);
        }
        let running: Vec<Request> = places
            .iter()
            .map(|at| Request::from_bits(requests[*at]))
            .collect();
        let Some(Ended { at, result: ended }) = endpoint.wait_any(&running, patience(timeout))?
        else {
            return Err(Fault::timeout("waiting for one of several requests"));
        };
        *index = places[at];
        requests[places[at]] = 0;
        // SAFETY: as the caller promises.
        unsafe { set(status, Some(ended?.into())) };
        Ok(0)
    })
}

/// Gives a request up. 1: nothing had happened, and it has ended with MGN_ERR_CANCELLED. 0: it ends
/// as it ends. It is waited for in either case.
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

/// Waits for a message with such a tag, as for mgn_irecv, and tells of it. It stays.
#[no_mangle]
pub unsafe extern "C" fn mgn_probe(
    conn: mgn_conn,
    tag: u64,
    ignore: u64,
    timeout: c_int,
    status: *mut mgn_status,
) -> c_int {
    call(|| {
        let endpoint = Library::current()?.endpoint();
        // SAFETY: as the caller promises.
        let status = unsafe { out(status, "status") }?;
        let found = endpoint.peek(&wanted(conn, tag, ignore), patience(timeout))?;
        *status = found
            .ok_or_else(|| Fault::timeout("waiting for a message"))?
            .into();
        Ok(0)
    })
}

pub(crate) fn how(flags: c_int) -> Result<How, Fault> {
    if flags & !(MGN_SYNC | MGN_UNORDERED) != 0 {
        return Err(Fault::argument(format!("flags {flags:#x} are not known")));
    }
    Ok(How {
        sync: flags & MGN_SYNC != 0,
        unordered: flags & MGN_UNORDERED != 0,
    })
}
