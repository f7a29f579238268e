//! Active messages

use std::ffi::{c_int, c_void};

use libc::iovec;
use mgn_fabric::endpoint::{Endpoint, Piece};

use crate::connections::{link, mgn_conn};
use crate::fault::{call, Fault};
use crate::library::Library;
use crate::requests::{begin, mgn_request, send_options};

/// A function of the program that handles active messages. The library calls it with each message
/// for its number, from any thread, but never from two threads at once. data is valid during the
/// call. The function may send messages, but should not wait. A C++ exception that leaves it ends
/// the process.
#[allow(non_camel_case_types)]
pub type mgn_handler = Option<
    unsafe extern "C-unwind" fn(
        context: *mut c_void,
        from: mgn_conn,
        tag: u64,
        data: *const c_void,
        length: usize,
    ),
>;

/// Sets the function that is called with messages for handler number. Messages for a number without
/// a handler are dropped.
#[no_mangle]
pub unsafe extern "C" fn mgn_set_handler(
    number: u16,
    handler: mgn_handler,
    context: *mut c_void,
) -> c_int {
    call(|| {
        let endpoint = Library::current()?.endpoint();
        let handler = handler.ok_or_else(|| Fault::argument("handler is null"))?;
        let context = Context(context);
        endpoint.set_handler(number, move |active| {
            let Context(context) = &context;
            // SAFETY: as the caller promises. The bytes are valid during the call.
            unsafe {
                handler(
                    *context,
                    active.from.to_bits(),
                    active.tag,
                    active.as_ptr().cast(),
                    active.len(),
                )
            }
        });
        Ok(0)
    })
}

/// Sends a message like mgn_isend. The other process does not receive it; instead, the library
/// calls its handler with this number.
#[no_mangle]
pub unsafe extern "C" fn mgn_isend_active(
    conn: mgn_conn,
    number: u16,
    tag: u64,
    pieces: *const iovec,
    count: usize,
    flags: c_int,
    request: *mut mgn_request,
) -> c_int {
    let send = |endpoint: &Endpoint, pieces: &[Piece]| {
        // SAFETY: as the caller promises.
        Ok(unsafe {
            endpoint.isend_active(link(conn)?, number, tag, pieces, send_options(flags)?)
        }?)
    };
    // SAFETY: as the caller promises.
    unsafe { begin(pieces, count, request, send) }
}

/// The pointer that the program gets back with each message for its handler.
struct Context(*mut c_void);

// SAFETY: the pointer is only passed back to the program, which knows that any thread may call.
unsafe impl Send for Context {}
