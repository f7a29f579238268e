//! The state of this process between `mgn_init` and `mgn_finalize`.

use std::any::Any;
use std::collections::hash_map::{Entry, HashMap};
use std::io::IsTerminal;
use std::sync::atomic::{AtomicPtr, AtomicU16, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Once};

use mgn_fabric::endpoint::{Endpoint, Offered, Reservation};
use mgn_fabric::job::{Job, Member};
use mgn_outlet::Outlet;

use crate::broadcast_end::BroadcastEnd;
use crate::compositor::Compositor;
use crate::fault::{Code, Fault};
use crate::open_barrier::OpenBarrier;
use crate::sync::lock;

/// The job that this process is a member of, and the objects whose numbers the program has.
pub(crate) struct Library {
    pub(crate) member: Member,
    /// Messages that the program reads in place: for each, the object that owns its bytes.
    taken: Mutex<HashMap<u64, Box<dyn Any + Send>>>,
    /// Memory into which the program writes messages.
    reserved: Mutex<HashMap<u64, Reservation>>,
    offered: Mutex<HashMap<[u8; 16], Offered>>,
    broadcasts: Mutex<HashMap<u64, Arc<BroadcastEnd>>>,
    compositors: Mutex<HashMap<u64, Arc<Compositor>>>,
    outlets: Mutex<HashMap<u64, Arc<Mutex<Outlet>>>>,
    barriers: Mutex<HashMap<u64, Arc<OpenBarrier>>>,
    /// The number of groups that were made. All processes make them in the same order.
    groups: AtomicU16,
    next: AtomicU64,
}

/// Null before `mgn_init` and after `mgn_finalize`. The target is never freed, because another
/// thread may be in a call.
static CURRENT: AtomicPtr<Library> = AtomicPtr::new(std::ptr::null_mut());

/// Held while `CURRENT` changes. Refers to the earlier libraries, so that leak checkers do not
/// report them.
static PAST: Mutex<Vec<&'static Library>> = Mutex::new(Vec::new());

impl Library {
    /// Joins the job that `find` finds.
    pub(crate) fn begin(
        find: impl FnOnce() -> Result<Job, mgn_fabric::Error>,
    ) -> Result<(), Fault> {
        static ONCE: Once = Once::new();
        ONCE.call_once(prepare_process);
        let past = lock(&PAST);
        if !CURRENT.load(Ordering::Acquire).is_null() {
            return Err(Fault::new(Code::State, "mgn_init has been called before"));
        }
        let library = Box::new(Library {
            member: find()?.join()?,
            taken: Mutex::default(),
            reserved: Mutex::default(),
            offered: Mutex::default(),
            broadcasts: Mutex::default(),
            compositors: Mutex::default(),
            outlets: Mutex::default(),
            barriers: Mutex::default(),
            groups: AtomicU16::new(0),
            next: AtomicU64::new(1),
        });
        CURRENT.store(Box::into_raw(library), Ordering::Release);
        drop(past);
        Ok(())
    }

    pub(crate) fn end() -> Result<(), Fault> {
        let mut past = lock(&PAST);
        let library = Library::current()?;
        CURRENT.store(std::ptr::null_mut(), Ordering::Release);
        for (_, broadcast) in lock(&library.broadcasts).drain() {
            broadcast.close();
        }
        // Barriers are closed before this process leaves the job, because the other members are
        // told through the connections.
        for (_, barrier) in lock(&library.barriers).drain() {
            barrier.close();
        }
        library.member.leave();
        lock(&library.compositors).clear();
        lock(&library.outlets).clear();
        lock(&library.offered).clear();
        past.push(library);
        Ok(())
    }

    #[inline]
    pub(crate) fn current() -> Result<&'static Library, Fault> {
        // SAFETY: null, or a library that is never freed.
        unsafe { CURRENT.load(Ordering::Acquire).as_ref() }.ok_or_else(|| {
            Fault::new(
                Code::State,
                "mgn_init has not been called, or mgn_finalize has been called",
            )
        })
    }

    #[inline]
    pub(crate) fn endpoint(&self) -> &Endpoint {
        self.member.endpoint()
    }

    /// Keeps the owner of a message's bytes. Returns the number of the message.
    pub(crate) fn add_message(&self, holder: Box<dyn Any + Send>) -> u64 {
        let number = self.number();
        lock(&self.taken).insert(number, holder);
        number
    }

    pub(crate) fn release(&self, number: u64) -> Result<(), Fault> {
        let found = lock(&self.taken).remove(&number);
        found
            .map(drop)
            .ok_or_else(|| Fault::no_such("message", number))
    }

    /// Keeps memory for a message. Returns the number of the reservation.
    pub(crate) fn add_reservation(&self, reservation: Reservation) -> u64 {
        let number = self.number();
        lock(&self.reserved).insert(number, reservation);
        number
    }

    /// Removes a reservation whose first `used` bytes will be sent. If the reservation is shorter,
    /// it stays.
    pub(crate) fn remove_reservation(
        &self,
        number: u64,
        used: usize,
    ) -> Result<Reservation, Fault> {
        let mut reserved = lock(&self.reserved);
        let Entry::Occupied(entry) = reserved.entry(number) else {
            return Err(Fault::no_such("reservation", number));
        };
        match entry.get().len() {
            room if used <= room => Ok(entry.remove()),
            room => Err(Fault::argument(format!(
                "length is {used}, but only {room} bytes are reserved"
            ))),
        }
    }

    /// Keeps an offer. Returns its key.
    pub(crate) fn offer(&self, offered: Offered) -> [u8; 16] {
        let key = offered.key().0;
        lock(&self.offered).insert(key, offered);
        key
    }

    pub(crate) fn withdraw(&self, key: &[u8; 16]) -> Result<(), Fault> {
        let found = lock(&self.offered).remove(key);
        // Dropping it waits for accesses that have begun. No lock is held meanwhile.
        found
            .map(drop)
            .ok_or_else(|| Fault::new(Code::Handle, "no memory is offered by this key"))
    }

    /// Keeps an end of a broadcast connection. Returns it with its number.
    pub(crate) fn add_broadcast(
        &self,
        end: BroadcastEnd,
    ) -> Result<(u64, Arc<BroadcastEnd>), Fault> {
        let (number, end) = (self.number(), Arc::new(end));
        let mut broadcasts = lock(&self.broadcasts);
        // If this succeeds, `end` has not closed the broadcasts yet, and will close this one.
        Library::current()?;
        broadcasts.insert(number, end.clone());
        Ok((number, end))
    }

    pub(crate) fn broadcast(&self, number: u64) -> Result<Arc<BroadcastEnd>, Fault> {
        let found = lock(&self.broadcasts).get(&number).cloned();
        found.ok_or_else(|| Fault::no_such("broadcast", number))
    }

    pub(crate) fn remove_broadcast(&self, number: u64) -> Result<Arc<BroadcastEnd>, Fault> {
        let found = lock(&self.broadcasts).remove(&number);
        found.ok_or_else(|| Fault::no_such("broadcast", number))
    }

    pub(crate) fn group_number(&self) -> u16 {
        self.groups.fetch_add(1, Ordering::Relaxed)
    }

    pub(crate) fn add_compositor(&self, compositor: Compositor) -> u64 {
        let number = self.number();
        lock(&self.compositors).insert(number, Arc::new(compositor));
        number
    }

    pub(crate) fn compositor(&self, number: u64) -> Result<Arc<Compositor>, Fault> {
        let found = lock(&self.compositors).get(&number).cloned();
        found.ok_or_else(|| Fault::no_such("compositor", number))
    }

    pub(crate) fn remove_compositor(&self, number: u64) -> Result<(), Fault> {
        // A draw or show function must not close the compositor that is calling it.
        self.compositor(number)?.check_caller()?;
        let found = lock(&self.compositors).remove(&number);
        found
            .map(drop)
            .ok_or_else(|| Fault::no_such("compositor", number))
    }

    pub(crate) fn add_outlet(&self, outlet: Outlet) -> u64 {
        let number = self.number();
        lock(&self.outlets).insert(number, Arc::new(Mutex::new(outlet)));
        number
    }

    pub(crate) fn outlet(&self, number: u64) -> Result<Arc<Mutex<Outlet>>, Fault> {
        let found = lock(&self.outlets).get(&number).cloned();
        found.ok_or_else(|| Fault::no_such("outlet", number))
    }

    pub(crate) fn remove_outlet(&self, number: u64) -> Result<(), Fault> {
        let found = lock(&self.outlets).remove(&number);
        found
            .map(drop)
            .ok_or_else(|| Fault::no_such("outlet", number))
    }

    pub(crate) fn add_barrier(&self, barrier: OpenBarrier) -> Result<u64, Fault> {
        let number = self.number();
        let mut barriers = lock(&self.barriers);
        // If this succeeds, `end` has not closed the barriers yet, and will close this one.
        Library::current()?;
        barriers.insert(number, Arc::new(barrier));
        Ok(number)
    }

    pub(crate) fn barrier(&self, number: u64) -> Result<Arc<OpenBarrier>, Fault> {
        let found = lock(&self.barriers).get(&number).cloned();
        found.ok_or_else(|| Fault::no_such("barrier", number))
    }

    pub(crate) fn remove_barrier(&self, number: u64) -> Result<(), Fault> {
        let found = lock(&self.barriers).remove(&number);
        let barrier = found.ok_or_else(|| Fault::no_such("barrier", number))?;
        barrier.close();
        Ok(())
    }

    fn number(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }
}

fn prepare_process() {
    // This does nothing if the program has installed a subscriber itself.
    if std::env::var_os("MGN_LOG").is_some() {
        let filter = tracing_subscriber::EnvFilter::from_env("MGN_LOG");
        let _ = tracing_subscriber::fmt()
            .with_env_filter(filter)
            .with_writer(std::io::stderr)
            .with_ansi(std::io::stderr().is_terminal())
            .without_time()
            .with_target(false)
            .try_init();
    }
    // SAFETY: the handler only stores a null pointer.
    unsafe { libc::pthread_atfork(None, None, Some(forget_library)) };
}

/// A forked child has none of the library's threads, and the connections belong to its parent.
/// Therefore, the child is in the state before `mgn_init`.
extern "C" fn forget_library() {
    CURRENT.store(std::ptr::null_mut(), Ordering::Release);
}
