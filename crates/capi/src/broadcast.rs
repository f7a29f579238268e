//! Broadcast: one writer, many readers

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use mgn_fabric::job::{Reader, Writer};
use mgn_fabric::{Error, Message};

use crate::arguments::{input, out, patience};
use crate::connections::FOREVER;
use crate::fault::{call, Code, Fault};
use crate::library::Library;
use crate::place::mgn_message;

/// One end of a broadcast connection. Every message of its writer goes to all readers. Readers on
/// one host share one copy.
#[allow(non_camel_case_types)]
pub type mgn_broadcast = u64;

/// Opens a broadcast connection for writing, under a number of the program's choice, and waits
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
        let (number, opened) = library.add_broadcast(Broadcast::Writer(writer))?;
        let joined = opened
            .writer()?
            .wait_for_readers(readers, patience(timeout));
        if let Err(error) = joined {
            let _ = library.remove_broadcast(number);
            return Err(error.into());
        }
        Ok(number)
    };
    // SAFETY: as the caller promises.
    unsafe { give(broadcast, open) }
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
        let patience = patience(timeout).unwrap_or(FOREVER);
        let reader = library.member.read_broadcast(rank, number, patience)?;
        let (number, _) = library.add_broadcast(Broadcast::Reader {
            reader: Mutex::new(reader),
            is_closed: AtomicBool::new(false),
        })?;
        Ok(number)
    };
    // SAFETY: as the caller promises.
    unsafe { give(broadcast, join) }
}

/// Makes an end, once there is a place for its number.
///
/// # Safety
/// As for `out`.
unsafe fn give(
    broadcast: *mut mgn_broadcast,
    make: impl FnOnce(&Library) -> Result<mgn_broadcast, Fault>,
) -> c_int {
    call(|| {
        let library = Library::current()?;
        // SAFETY: as the caller promises.
        let broadcast = unsafe { out(broadcast, "broadcast") }?;
        *broadcast = make(library)?;
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
        let (start, len) = input(data, length)?;
        // SAFETY: so many bytes are there and stay unchanged until this returns, as the caller
        // promises.
        let bytes = unsafe { std::slice::from_raw_parts(start, len) };
        broadcast.writer()?.send(bytes)?;
        Ok(0)
    })
}

/// For the writer: returns the number of readers, without those that are known to have ended.
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
        let received = broadcast.take(patience(timeout))?;
        (*data, *length) = (received.as_ptr().cast(), received.len());
        *message = library.keep(Box::new(received));
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

/// How often one who waits for a message looks whether the end was closed.
const LOOK: Duration = Duration::from_millis(50);

/// One end, as the library keeps it.
pub(crate) enum Broadcast {
    Writer(Writer),
    Reader {
        reader: Mutex<Reader>,
        is_closed: AtomicBool,
    },
}

impl Broadcast {
    /// Ends what waits. The end itself goes when nobody uses it any more.
    pub(crate) fn close(&self) {
        match self {
            Broadcast::Writer(writer) => writer.close(),
            Broadcast::Reader { is_closed, .. } => is_closed.store(true, Ordering::Relaxed),
        }
    }

    fn writer(&self) -> Result<&Writer, Fault> {
        match self {
            Broadcast::Writer(writer) => Ok(writer),
            Broadcast::Reader { .. } => Err(Fault::argument("this process reads the broadcast")),
        }
    }

    fn take(&self, patience: Option<Duration>) -> Result<Message, Fault> {
        let Broadcast::Reader { reader, is_closed } = self else {
            return Err(Fault::argument("this process writes the broadcast"));
        };
        let begin = Instant::now();
        loop {
            let left = patience.map_or(LOOK, |all| all.saturating_sub(begin.elapsed()).min(LOOK));
            // Threads take turns.
            let mut reader = reader.lock().unwrap_or_else(PoisonError::into_inner);
            if is_closed.load(Ordering::Relaxed) {
                let text = "the broadcast has been closed here";
                return Err(Fault::new(Code::Closed, text));
            }
            if let Some(message) = reader.recv(Some(left))? {
                return Ok(message);
            }
            if patience.is_some_and(|all| begin.elapsed() >= all) {
                return Err(Fault::timeout("waiting for a message"));
            }
        }
    }
}
