//! What one process has between `mgn_init` and `mgn_finalize`.

use std::collections::HashMap;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

use mgn_fabric::endpoint::{Endpoint, Received, Reservation};
use mgn_fabric::job::{Job, Member};

use crate::fault::{Code, Fault};

/// A job that this process is a member of, and what the program holds of it.
pub(crate) struct Library {
    pub(crate) member: Member,
    /// Messages that were taken where they lie. Boxed: the program knows where their bytes are.
    taken: Mutex<HashMap<u64, Box<Received>>>,
    /// Messages that are being written where they are sent from.
    reserved: Mutex<HashMap<u64, Reservation>>,
    next: AtomicU64,
}

/// Null outside of `mgn_init` and `mgn_finalize`. What it points to is never freed: another thread may be in a call.
static CURRENT: AtomicPtr<Library> = AtomicPtr::new(std::ptr::null_mut());

/// Held while `CURRENT` changes. The libraries of the past, so that they don't look lost.
static PAST: Mutex<Vec<&'static Library>> = Mutex::new(Vec::new());

impl Library {
    /// Joins the job that `find` finds.
    pub(crate) fn begin(
        find: impl FnOnce() -> Result<Job, mgn_fabric::Error>,
    ) -> Result<(), Fault> {
        static ONCE: Once = Once::new();
        ONCE.call_once(prepare);
        let past = past();
        if !CURRENT.load(Ordering::Acquire).is_null() {
            return Err(Fault::new(Code::State, "mgn_init has been called before"));
        }
        let library = Box::new(Library {
            member: find()?.join()?,
            taken: Mutex::default(),
            reserved: Mutex::default(),
            next: AtomicU64::new(1),
        });
        CURRENT.store(Box::into_raw(library), Ordering::Release);
        drop(past);
        Ok(())
    }

    pub(crate) fn end() -> Result<(), Fault> {
        let mut past = past();
        let library = Library::current()?;
        CURRENT.store(std::ptr::null_mut(), Ordering::Release);
        library.member.leave();
        past.push(library);
        Ok(())
    }

    #[inline]
    pub(crate) fn current() -> Result<&'static Library, Fault> {
        // SAFETY: null, or a library that is never freed.
        unsafe { CURRENT.load(Ordering::Acquire).as_ref() }.ok_or_else(|| {
            Fault::new(
                Code::State,
                "mgn_init has not been called, or mgn_finalize has",
            )
        })
    }

    #[inline]
    pub(crate) fn endpoint(&self) -> &Endpoint {
        self.member.endpoint()
    }

    /// Keeps a message, and gives its number and where its bytes are.
    pub(crate) fn keep(&self, received: Received) -> (u64, *const u8) {
        let received = Box::new(received);
        let start = received.as_ptr();
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        self.taken().insert(number, received);
        (number, start)
    }

    pub(crate) fn release(&self, number: u64) -> Result<(), Fault> {
        let found = self.taken().remove(&number);
        found.map(drop).ok_or_else(|| {
            Fault::new(
                Code::Handle,
                format!("there is no message {number}, or it has been released"),
            )
        })
    }

    /// Keeps memory that the program writes a message into, and gives its number and where it is.
    pub(crate) fn keep_reserved(&self, mut reservation: Reservation) -> (u64, *mut u8) {
        let start = reservation.as_mut_ptr();
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        self.reserved().insert(number, reservation);
        (number, start)
    }

    /// Takes a reservation out, of which `used` bytes are to be sent. It stays where it has fewer.
    pub(crate) fn unreserve(&self, number: u64, used: usize) -> Result<Reservation, Fault> {
        let mut reserved = self.reserved();
        let none = || {
            Fault::new(
                Code::Handle,
                format!("there is no reservation {number}, or it has been committed or discarded"),
            )
        };
        let room = reserved.get(&number).ok_or_else(none)?.len();
        if used > room {
            return Err(Fault::argument(format!(
                "length is {used}, and {room} bytes are reserved"
            )));
        }
        reserved.remove(&number).ok_or_else(none)
    }

    fn reserved(&self) -> MutexGuard<'_, HashMap<u64, Reservation>> {
        self.reserved.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn taken(&self) -> MutexGuard<'_, HashMap<u64, Box<Received>>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn past() -> MutexGuard<'static, Vec<&'static Library>> {
    PAST.lock().unwrap_or_else(PoisonError::into_inner)
}

fn prepare() {
    // A program that has a subscriber of its own keeps it.
    if std::env::var_os("MGN_LOG").is_some() {
        let filter = tracing_subscriber::EnvFilter::from_env("MGN_LOG");
        let _ = tracing_subscriber::fmt()
            .with_env_filter(filter)
            .with_writer(std::io::stderr)
            .try_init();
    }
    // SAFETY: the handler only stores a null pointer.
    unsafe { libc::pthread_atfork(None, None, Some(forget)) };
}

/// A forked child has none of the threads, and its parent's connections are not its own: it is as before `mgn_init`.
extern "C" fn forget() {
    CURRENT.store(std::ptr::null_mut(), Ordering::Release);
}
