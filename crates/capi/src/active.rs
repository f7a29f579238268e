//! Active messages

use std::ffi::{c_int, c_void};

use libc::iovec;
use mgn_fabric::endpoint::{Endpoint, Piece};

use crate::arguments::link;
use crate::connections::mgn_conn;
use crate::fault::{call, Fault};
use crate::library::Library;
use crate::requests::{begin, how, mgn_request};

/// Called for a message, from any thread, one at a time. data is valid during the call, which may
/// send, and should not wait.
#[allow(non_camel_case_types)]
pub type mgn_handler = Option<
    unsafe extern "C" fn(
        context: *mut c_void,
        from: mgn_conn,
        tag: u64,
        data: *const c_void,
        length: usize,
    ),
>;

/// Sets what is called for messages to handler number.
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
            // SAFETY: as the caller promises; the bytes are there during the call.
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

/// As mgn_isend, to a handler of the other process.
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
        Ok(unsafe { endpoint.isend_active(link(conn)?, number, tag, pieces, how(flags)?) }?)
    };
    // SAFETY: as the caller promises.
    unsafe { begin(pieces, count, request, send) }
}

/// What is handed to a handler of the program's with each message.
struct Context(*mut c_void);

// SAFETY: the pointer is only handed back to the program, which knows that any thread may call.
unsafe impl Send for Context {}
