//! Blocking messages, with tag 0

use std::ffi::{c_int, c_void};

use mgn_fabric::endpoint::{How, LinkId, Status};

use crate::arguments::{input, link, patience, set, wanted};
use crate::connections::mgn_conn;
use crate::fault::call;
use crate::library::Library;
use crate::requests::mgn_probe;

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
        let piece = input(data, length)?;
        let how = How {
            sync: true,
            unordered: false,
        };
        // SAFETY: the caller's memory stays until this returns, and this waits for the end.
        let request = unsafe { endpoint.isend(link(conn)?, 0, &[piece], how) }?;
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
            .peek(&wanted(conn, 0, 0), patience(timeout))?;
        Ok(found.is_some().into())
    })
}

/// Waits for the next message, and sets status to its length and connection. The message can still
/// be received.
#[no_mangle]
pub unsafe extern "C" fn mgn_peek(conn: mgn_conn, status: *mut mgn_status) -> c_int {
    // SAFETY: as the caller promises.
    unsafe { mgn_probe(conn, 0, 0, -1, status) }
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
        let piece = input(data, room)?;
        // SAFETY: the caller's memory stays until this returns, and this waits for the end.
        let request = unsafe { endpoint.irecv(wanted(conn, 0, 0), &[piece]) };
        let ended = endpoint.wait(request, None)?;
        // SAFETY: as the caller promises.
        unsafe { set(status, ended.map(mgn_status::from)) };
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
