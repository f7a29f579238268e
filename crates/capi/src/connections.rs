//! Connections

use std::ffi::{c_char, c_int};

use mgn_fabric::endpoint::{LinkId, Wanted};

use crate::arguments::{duration, optional_text, out, FOREVER};
use crate::fault::{call, Fault};
use crate::library::Library;

/// A connection to another process, or to this one. A number is never used for a second connection.
#[allow(non_camel_case_types)]
pub type mgn_conn = u64;

/// In place of a connection: receives a message from any process.
pub const MGN_ANY: mgn_conn = 0;

/// Sets conn to the connection to a rank. There is one connection between two processes, which the
/// first call in either of them creates. Waits for the other process to start. host is null, or the
/// name of the host on which the rank must be.
#[no_mangle]
pub unsafe extern "C" fn mgn_open(
    host: *const c_char,
    rank: u32,
    timeout: c_int,
    conn: *mut mgn_conn,
) -> c_int {
    call(|| {
        let member = &Library::current()?.member;
        // SAFETY: as the caller promises.
        let (host, conn) = unsafe { (optional_text(host, "host")?, out(conn, "conn")?) };
        if let Some(wanted) = host {
            let found = member.host(rank)?;
            if wanted != found {
                return Err(Fault::argument(format!(
                    "rank {rank} is on {found}, not on {wanted}"
                )));
            }
        }
        let link = member.open(rank, duration(timeout).unwrap_or(FOREVER))?;
        *conn = link.to_bits();
        Ok(0)
    })
}

/// Returns the rank at the other end of a connection.
#[no_mangle]
pub extern "C" fn mgn_rank_of(conn: mgn_conn) -> c_int {
    call(|| {
        let rank = Library::current()?.member.rank_of(link(conn)?);
        rank.map(|rank| rank as c_int)
            .ok_or_else(|| Fault::no_such("connection", conn))
    })
}

/// Closes a connection at both ends. Calls and requests that wait for it end with MGN_ERR_CLOSED in
/// both processes.
#[no_mangle]
pub extern "C" fn mgn_close(conn: mgn_conn) -> c_int {
    call(|| {
        let endpoint = Library::current()?.endpoint();
        let link = link(conn)?;
        if !endpoint.is_open(link) {
            return Err(Fault::no_such("connection", conn));
        }
        endpoint.close(link);
        Ok(0)
    })
}

/// The link of a connection. `MGN_ANY` has no link, and causes an error.
pub(crate) fn link(conn: mgn_conn) -> Result<LinkId, Fault> {
    match conn {
        MGN_ANY => Err(Fault::no_such("connection", conn)),
        _ => Ok(LinkId::from_bits(conn)),
    }
}

/// Selects messages from a connection, or from any connection for `MGN_ANY`.
pub(crate) fn wanted(conn: mgn_conn, tag: u64, ignore: u64) -> Wanted {
    Wanted {
        from: (conn != MGN_ANY).then(|| LinkId::from_bits(conn)),
        tag,
        ignore,
    }
}
