//! Memory offered to other processes

use std::ffi::{c_int, c_void};

use libc::iovec;
use mgn_fabric::endpoint::{Endpoint, Key, Piece};

use crate::arguments::{input, link, out};
use crate::connections::mgn_conn;
use crate::fault::{call, Fault};
use crate::library::Library;
use crate::requests::{begin, mgn_request};

/// What another process needs to know to write to or read from offered memory: send it there.
/// Whoever has it may; nobody can guess it.
#[derive(Clone, Copy, Debug)]
#[allow(non_camel_case_types)]
#[repr(C)]
pub struct mgn_key {
    pub bytes: [u8; 16],
}

/// Offers memory to those who are told its key. They write and read at any time, without this
/// program's doing, until mgn_withdraw; so long the memory stays. The program looks at it when
/// messages, or the like, say that nobody writes.
#[no_mangle]
pub unsafe extern "C" fn mgn_offer(memory: *mut c_void, length: usize, key: *mut mgn_key) -> c_int {
    call(|| {
        let library = Library::current()?;
        let piece = input(memory, length)?;
        // SAFETY: as the caller promises.
        let key = unsafe { out(key, "key") }?;
        // SAFETY: the caller's memory stays until `mgn_withdraw` or `mgn_finalize`, and is looked
        // at as that of other processes.
        key.bytes = library.offer(unsafe { library.endpoint().offer(piece) });
        Ok(0)
    })
}

/// Ends an offer. Waits for what is under way.
#[no_mangle]
pub unsafe extern "C" fn mgn_withdraw(key: *const mgn_key) -> c_int {
    call(|| {
        let library = Library::current()?;
        // SAFETY: as the caller promises.
        let key = unsafe { told(key) }?;
        library.withdraw(&key.0).map(|()| 0)
    })
}

/// Begins to write the pieces, one behind the other, to memory that the other process offers, from
/// byte offset on. They stay unchanged until the request has ended, which says that they are there.
/// Neither messages nor others of its kind are waited for: two at once are in no order.
#[no_mangle]
pub unsafe extern "C" fn mgn_put(
    conn: mgn_conn,
    key: *const mgn_key,
    offset: u64,
    pieces: *const iovec,
    count: usize,
    request: *mut mgn_request,
) -> c_int {
    let put = |endpoint: &Endpoint, pieces: &[Piece]| {
        // SAFETY: as the caller promises.
        unsafe {
            let key = told(key)?;
            Ok(Some(endpoint.iput(link(conn)?, &key, offset, pieces)?))
        }
    };
    // SAFETY: as the caller promises.
    unsafe { begin(pieces, count, request, put) }
}

/// Begins to read from such memory as many bytes as the pieces hold.
#[no_mangle]
pub unsafe extern "C" fn mgn_get(
    conn: mgn_conn,
    key: *const mgn_key,
    offset: u64,
    pieces: *const iovec,
    count: usize,
    request: *mut mgn_request,
) -> c_int {
    let get = |endpoint: &Endpoint, pieces: &[Piece]| {
        // SAFETY: as the caller promises.
        unsafe {
            let key = told(key)?;
            Ok(Some(endpoint.iget(link(conn)?, &key, offset, pieces)?))
        }
    };
    // SAFETY: as the caller promises.
    unsafe { begin(pieces, count, request, get) }
}

/// The key that the program tells.
///
/// # Safety
/// `key` is null or a key.
unsafe fn told(key: *const mgn_key) -> Result<Key, Fault> {
    // SAFETY: as the caller promises.
    let key = unsafe { out(key.cast_mut(), "key") }?;
    Ok(Key(key.bytes))
}
