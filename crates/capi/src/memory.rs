//! One-sided access to memory

use std::ffi::{c_int, c_void};

use libc::iovec;
use mgn_fabric::endpoint::{Endpoint, Key, Piece};

use crate::arguments::{out, piece};
use crate::connections::{link, mgn_conn};
use crate::fault::{call, Fault};
use crate::library::Library;
use crate::requests::{begin, mgn_request};

/// The key to offered memory. Any process that has it can write to this memory and read it. It
/// cannot be guessed. Send it to the processes that need it.
#[derive(Clone, Copy, Debug)]
#[allow(non_camel_case_types)]
#[repr(C)]
pub struct mgn_key {
    pub bytes: [u8; 16],
}

/// Offers memory to other processes, and sets key to its key, which the program sends to them. They
/// can write and read at any time, without a call by this process, until mgn_withdraw. The memory
/// must stay valid until then. The program should read it only when it knows that no process is
/// writing, for example from a message.
#[no_mangle]
pub unsafe extern "C" fn mgn_offer(memory: *mut c_void, length: usize, key: *mut mgn_key) -> c_int {
    call(|| {
        let library = Library::current()?;
        let piece = piece(memory, length)?;
        // SAFETY: as the caller promises.
        let key = unsafe { out(key, "key") }?;
        // SAFETY: the caller's memory stays until `mgn_withdraw` or `mgn_finalize`, and is only
        // accessed as memory that other processes may change.
        key.bytes = library.offer(unsafe { library.endpoint().offer(piece) });
        Ok(0)
    })
}

/// Ends an offer. Waits for accesses that have begun.
#[no_mangle]
pub unsafe extern "C" fn mgn_withdraw(key: *const mgn_key) -> c_int {
    call(|| {
        let library = Library::current()?;
        // SAFETY: as the caller promises.
        let key = unsafe { read_key(key) }?;
        library.withdraw(&key.0).map(|()| 0)
    })
}

/// Begins to write pieces of memory, one after the other, to memory that the other process offers,
/// from byte offset on. The program must not change the pieces until the request has ended; by
/// then, the bytes have been written. A put is not ordered with messages or with other puts and
/// gets: the order of two at the same time is undefined.
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
            let key = read_key(key)?;
            Ok(Some(endpoint.iput(link(conn)?, &key, offset, pieces)?))
        }
    };
    // SAFETY: as the caller promises.
    unsafe { begin(pieces, count, request, put) }
}

/// Begins to read from memory that the other process offers, from byte offset on, as many bytes as
/// the pieces hold. Like a put, a get is not ordered.
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
            let key = read_key(key)?;
            Ok(Some(endpoint.iget(link(conn)?, &key, offset, pieces)?))
        }
    };
    // SAFETY: as the caller promises.
    unsafe { begin(pieces, count, request, get) }
}

/// The key that the program passes.
///
/// # Safety
/// `key` is null, or points to a key.
unsafe fn read_key(key: *const mgn_key) -> Result<Key, Fault> {
    // SAFETY: as the caller promises.
    let key = unsafe { out(key.cast_mut(), "key") }?;
    Ok(Key(key.bytes))
}
