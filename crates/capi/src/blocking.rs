//! Blocking messages, with tag 0

use std::ffi::{c_int, c_void};
use std::time::Duration;

use mgn_fabric::endpoint::{LinkId, SendOptions, Status};

use crate::arguments::{duration, out, piece, write_optional};
use crate::connections::{link, mgn_conn, wanted};
use crate::fault::{call, Fault};
use crate::library::Library;

/// Describes a message.
#[derive(Clone, Copy, Debug)]
#[allow(non_camel_case_types)]
#[repr(C)]
pub struct mgn_status {
    pub conn: mgn_conn,
    pub tag: u64,
    /// The length of the whole message in bytes.
    pub length: u64,
}

/// Sends a message, and returns when the receiver has taken it.
#[no_mangle]
pub unsafe extern "C" fn mgn_send(conn: mgn_conn, data: *const c_void, length: usize) -> c_int {
    call(|| {
        let endpoint = Library::current()?.endpoint();
        let piece = piece(data, length)?;
        let options = SendOptions {
            sync: true,
            unordered: false,
        };
        // SAFETY: the caller's memory stays valid until this returns, and this waits for the end of
        // the request.
        let request = unsafe { endpoint.isend(link(conn)?, 0, &[piece], options) }?;
        if let Some(request) = request {
            endpoint.wait(request, None)?;
        }
        Ok(0)
    })
}

/// Waits for a message. Returns 1 if one can be received, and 0 if none came in time.
#[no_mangle]
pub extern "C" fn mgn_poll(conn: mgn_conn, timeout: c_int) -> c_int {
    call(|| {
        let found = Library::current()?
            .endpoint()
            .peek(&wanted(conn, 0, 0), duration(timeout))?;
        Ok(found.is_some().into())
    })
}

/// Waits for the next message, and sets status to its length and connection. The message can still
/// be received.
#[no_mangle]
pub unsafe extern "C" fn mgn_peek(conn: mgn_conn, status: *mut mgn_status) -> c_int {
    // SAFETY: as the caller promises.
    call(|| unsafe { peek(conn, 0, 0, None, status) })
}

/// Waits for a message, and describes it in `status`.
///
/// # Safety
/// `status` is null, or points to memory for a status.
pub(crate) unsafe fn peek(
    conn: mgn_conn,
    tag: u64,
    ignore: u64,
    timeout: Option<Duration>,
    status: *mut mgn_status,
) -> Result<c_int, Fault> {
    let endpoint = Library::current()?.endpoint();
    // SAFETY: as the caller promises.
    let status = unsafe { out(status, "status") }?;
    let found = endpoint.peek(&wanted(conn, tag, ignore), timeout)?;
    *status = found
        .ok_or_else(|| Fault::timeout("waiting for a message"))?
        .into();
    Ok(0)
}

/// Waits for the next message, and receives it. status may be null.
#[no_mangle]
pub unsafe extern "C" fn mgn_recv(
    conn: mgn_conn,
    data: *mut c_void,
    room: usize,
    status: *mut mgn_status,
) -> c_int {
    call(|| {
        let endpoint = Library::current()?.endpoint();
        let piece = piece(data, room)?;
        // SAFETY: the caller's memory stays valid until this returns, and this waits for the end of
        // the request.
        let request = unsafe { endpoint.irecv(wanted(conn, 0, 0), &[piece]) };
        let ended = endpoint.wait(request, None)?;
        // SAFETY: as the caller promises.
        unsafe { write_optional(status, ended.map(mgn_status::from)) };
        Ok(0)
    })
}

impl From<Status> for mgn_status {
    fn from(status: Status) -> mgn_status {
        mgn_status {
            conn: LinkId::to_bits(status.link),
            tag: status.tag,
            length: status.len as u64,
        }
    }
}
