//! Broadcast: one writer, many readers

use std::ffi::{c_int, c_void};

use mgn_fabric::Error;

use crate::arguments::{duration, out, piece, FOREVER};
use crate::broadcast_end::BroadcastEnd;
use crate::fault::{call, Fault};
use crate::in_place::mgn_message;
use crate::library::Library;

/// One end of a broadcast connection. Every message of its writer goes to all readers. Readers on
/// one host share one copy.
#[allow(non_camel_case_types)]
pub type mgn_broadcast = u64;

/// Opens a broadcast connection for writing, under a number that the program chooses, and waits
/// until the given number of readers have joined. Readers that join later get the messages that are
/// sent from then on. longest is the largest length of a message in bytes, at most 16 MiB. After
/// MGN_ERR_TIMEOUT the connection is not open.
#[no_mangle]
pub unsafe extern "C" fn mgn_broadcast_open(
    number: u32,
    longest: usize,
    readers: u32,
    timeout: c_int,
    broadcast: *mut mgn_broadcast,
) -> c_int {
    let open = |library: &Library| {
        let writer = library.member.broadcast(number, longest);
        let writer = writer.map_err(|error| match error {
            Error::Misuse(why) => Fault::argument(format!("longest is {longest}: {why}")),
            other => other.into(),
        })?;
        let (number, opened) = library.add_broadcast(BroadcastEnd::from(writer))?;
        let joined = opened
            .writer()?
            .wait_for_readers(readers, duration(timeout));
        if let Err(error) = joined {
            let _ = library.remove_broadcast(number);
            return Err(error.into());
        }
        Ok(number)
    };
    // SAFETY: as the caller promises.
    unsafe { open_end(broadcast, open) }
}

/// Joins, as a reader, the broadcast connection that another rank opens under this number. Waits
/// until it is open.
#[no_mangle]
pub unsafe extern "C" fn mgn_broadcast_join(
    rank: u32,
    number: u32,
    timeout: c_int,
    broadcast: *mut mgn_broadcast,
) -> c_int {
    let join = |library: &Library| {
        let timeout = duration(timeout).unwrap_or(FOREVER);
        let reader = library.member.read_broadcast(rank, number, timeout)?;
        let (number, _) = library.add_broadcast(BroadcastEnd::from(reader))?;
        Ok(number)
    };
    // SAFETY: as the caller promises.
    unsafe { open_end(broadcast, join) }
}

/// Makes an end with `open`, and writes its number, if the pointer to it is valid.
///
/// # Safety
/// As for `out`.
unsafe fn open_end(
    broadcast: *mut mgn_broadcast,
    open: impl FnOnce(&Library) -> Result<mgn_broadcast, Fault>,
) -> c_int {
    call(|| {
        let library = Library::current()?;
        // SAFETY: as the caller promises.
        let broadcast = unsafe { out(broadcast, "broadcast") }?;
        *broadcast = open(library)?;
        Ok(0)
    })
}

/// Sends a message to all readers that have joined. Its memory may be used again when this returns.
/// Waits while a reader is too far behind to take more messages. Readers that have ended are
/// skipped.
#[no_mangle]
pub unsafe extern "C" fn mgn_broadcast_send(
    broadcast: mgn_broadcast,
    data: *const c_void,
    length: usize,
) -> c_int {
    call(|| {
        let broadcast = Library::current()?.broadcast(broadcast)?;
        let (start, len) = piece(data, length)?;
        // SAFETY: the caller promises `len` bytes, which stay unchanged until this returns.
        let bytes = unsafe { std::slice::from_raw_parts(start, len) };
        broadcast.writer()?.send(bytes)?;
        Ok(0)
    })
}

/// For the writer: returns the number of readers, except those that are known to have ended.
#[no_mangle]
pub extern "C" fn mgn_broadcast_readers(broadcast: mgn_broadcast) -> c_int {
    call(|| {
        let broadcast = Library::current()?.broadcast(broadcast)?;
        Ok(broadcast.writer()?.readers() as c_int)
    })
}

/// For a reader: waits for the next message, and gives the program its memory to read, until
/// mgn_release. MGN_ERR_CLOSED means that no more messages will come.
#[no_mangle]
pub unsafe extern "C" fn mgn_broadcast_take(
    broadcast: mgn_broadcast,
    timeout: c_int,
    data: *mut *const c_void,
    length: *mut usize,
    message: *mut mgn_message,
) -> c_int {
    call(|| {
        let library = Library::current()?;
        let broadcast = library.broadcast(broadcast)?;
        // SAFETY: as the caller promises.
        let (data, length, message) = unsafe {
            (
                out(data, "data")?,
                out(length, "length")?,
                out(message, "message")?,
            )
        };
        let received = broadcast.take(duration(timeout))?;
        (*data, *length) = (received.as_ptr().cast(), received.len());
        *message = library.add_message(Box::new(received));
        Ok(0)
    })
}

/// Closes one end. If the writer closes its end, readers get the messages that have been sent, and
/// then MGN_ERR_CLOSED. Threads that wait at this end in mgn_broadcast_send or mgn_broadcast_take
/// get MGN_ERR_CLOSED, too.
#[no_mangle]
pub extern "C" fn mgn_broadcast_close(broadcast: mgn_broadcast) -> c_int {
    call(|| {
        Library::current()?.remove_broadcast(broadcast)?.close();
        Ok(0)
    })
}
