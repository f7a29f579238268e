//! The two halves of a connection, whatever carries it.

use std::fmt;
use std::ptr;
use std::sync::Arc;
use std::time::Duration;

use mgn_sys::peer::Credentials;

use crate::block::Block;
use crate::shm::ShmSender;
use crate::{Error, Message};

/// An open connection. Split it to use it.
pub struct Connection {
    sender: Sender,
    receiver: Receiver,
    peer: Option<Credentials>,
}

impl Connection {
    pub(crate) fn new(
        sender: impl SendEnd + 'static,
        receiver: impl ReceiveEnd + 'static,
        peer: Option<Credentials>,
    ) -> Connection {
        Connection {
            sender: Sender::new(Arc::new(sender)),
            receiver: Receiver {
                end: Box::new(receiver),
            },
            peer,
        }
    }

    pub fn split(self) -> (Sender, Receiver) {
        (self.sender, self.receiver)
    }

    /// The process at the other end, where the kernel knows it (shm and unix).
    pub fn peer(&self) -> Option<Credentials> {
        self.peer
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Connection")
            .field("peer", &self.peer)
            .finish_non_exhaustive()
    }
}

/// The sending half, for use from any number of threads. Dropping it closes this direction: the
/// other end gets what was committed and then [`Error::Closed`].
pub struct Sender {
    end: Arc<dyn SendEnd>,
}

impl Sender {
    pub(crate) fn new(end: Arc<dyn SendEnd>) -> Sender {
        Sender { end }
    }

    /// Memory for a message of up to `len` bytes or more, see [`Reservation::capacity`]. Waits
    /// while the other end holds all there is.
    ///
    /// # Errors
    /// [`Error::TooLong`], [`Error::Closed`], [`Error::NoSpace`] after 10 s in which all memory was
    /// held by reservations of this process, and what the transport says.
    pub fn reserve(&self, len: usize) -> Result<Reservation, Error> {
        let max = self.end.max();
        if len > max {
            return Err(Error::TooLong { len, max });
        }
        let room = self.end.reserve(len)?;
        debug_assert!(room.capacity >= len);
        Ok(Reservation {
            end: self.end.clone(),
            room,
        })
    }

    /// Sends the first `used` bytes of the reservation as one message, after which the reservation
    /// stands for what is left behind them. Messages arrive in the order of their commits.
    ///
    /// # Errors
    /// [`Error::Closed`] and what the transport says; the message is then lost.
    pub fn commit(&self, reservation: &mut Reservation, used: usize) -> Result<(), Error> {
        self.place(reservation, used)?;
        self.end.commit(&mut reservation.room, used)
    }

    /// Where the first `used` bytes of a reservation of ours lie.
    pub(crate) fn place<'a>(
        &self,
        reservation: &'a Reservation,
        used: usize,
    ) -> Result<&'a Place, Error> {
        if !ptr::addr_eq(Arc::as_ptr(&self.end), Arc::as_ptr(&reservation.end)) {
            return Err(Error::Misuse(
                "a reservation was committed on another connection",
            ));
        }
        match used > reservation.room.capacity {
            true => Err(Error::Misuse("a commit is longer than its reservation")),
            false => Ok(&reservation.room.place),
        }
    }

    /// Copies `bytes` and sends them as one message.
    pub fn send(&self, bytes: &[u8]) -> Result<(), Error> {
        let mut reservation = self.reserve(bytes.len())?;
        reservation.write(0, bytes);
        self.commit(&mut reservation, bytes.len())
    }

    /// Ends the connection for both ends, in both directions. Threads that wait in `reserve` or
    /// `commit` get [`Error::Closed`] within a second.
    pub fn hang_up(&self) {
        self.end.hang_up();
    }

    pub(crate) fn end(&self) -> &Arc<dyn SendEnd> {
        &self.end
    }

    /// The longest message that this end may send.
    pub fn message_max(&self) -> usize {
        self.end.max()
    }

    /// Nanoseconds that threads have spent waiting in `reserve` and `commit` so far.
    pub fn wait_time(&self) -> u64 {
        self.end.waited()
    }
}

impl Drop for Sender {
    fn drop(&mut self) {
        self.end.close();
    }
}

impl fmt::Debug for Sender {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Sender")
            .field("message_max", &self.message_max())
            .finish()
    }
}

/// Memory in which a message is being written. Dropping it gives back what was not committed.
///
/// The memory may be visible to the other process from the start. It starts out with whatever
/// earlier messages of this connection left there.
pub struct Reservation {
    end: Arc<dyn SendEnd>,
    room: Room,
}

impl Reservation {
    /// Where to write: [`Reservation::capacity`] bytes, 64-byte aligned, valid until the next
    /// commit or drop.
    pub fn ptr(&self) -> *mut u8 {
        self.room.ptr
    }

    /// At least what was asked for; after a commit what is left, possibly nothing.
    pub fn capacity(&self) -> usize {
        self.room.capacity
    }

    /// Copies `bytes` to `offset`. Panics where they do not fit.
    pub fn write(&mut self, offset: usize, bytes: &[u8]) {
        let room = self.room.capacity;
        assert!(
            offset <= room && bytes.len() <= room - offset,
            "write beyond the reservation"
        );
        // SAFETY: the target lies inside the reservation, which nobody else on this side writes to
        // while `self` is borrowed exclusively; `bytes` cannot overlap it, being an ordinary slice.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), self.room.ptr.add(offset), bytes.len()) }
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let place = std::mem::replace(&mut self.room.place, Place::Spent);
        self.end.cancel(place);
    }
}

impl fmt::Debug for Reservation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Reservation")
            .field("capacity", &self.capacity())
            .finish()
    }
}

// SAFETY: a reservation owns its range of memory, which belongs to no thread; the pointer is only
// handed out raw.
unsafe impl Send for Reservation {}
// SAFETY: through a shared reference only the raw pointer and the capacity can be read.
unsafe impl Sync for Reservation {}

/// The receiving half. Dropping it closes this direction: the other end's sends fail.
pub struct Receiver {
    end: Box<dyn ReceiveEnd>,
}

impl Receiver {
    /// The next message, where it lies. None when `timeout` passes first; without one, waits until
    /// a message comes or the other end is gone. What was sent before the other end closed is still
    /// received.
    ///
    /// # Errors
    /// [`Error::Closed`], [`Error::PeerMisbehaved`] (every later call too), [`Error::NoPeer`].
    pub fn recv(&mut self, timeout: Option<Duration>) -> Result<Option<Message>, Error> {
        self.recv_or(timeout, || ())
    }

    /// The same, and does `idle` before it goes to sleep.
    ///
    /// # Errors
    /// As above.
    pub fn recv_or(
        &mut self,
        timeout: Option<Duration>,
        mut idle: impl FnMut(),
    ) -> Result<Option<Message>, Error> {
        self.end.recv(timeout, &mut idle)
    }

    /// From now on goes to sleep at once where there is no message: for what comes rarely, or much
    /// at a time.
    pub fn never_spin(&mut self) {
        self.end.never_spin();
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.end.close();
    }
}

impl fmt::Debug for Receiver {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Receiver").finish_non_exhaustive()
    }
}

/// What a transport does to send. `reserve` is never asked for more than `max`, `commit` never for
/// more than the room's capacity.
pub(crate) trait SendEnd: Send + Sync {
    fn reserve(&self, len: usize) -> Result<Room, Error>;
    fn commit(&self, room: &mut Room, used: usize) -> Result<(), Error>;
    fn cancel(&self, place: Place);
    fn close(&self);
    fn max(&self) -> usize;
    fn waited(&self) -> u64;

    /// Nothing to do for what leads to no other process.
    fn hang_up(&self) {}

    /// The sender by shared memory that this is, if it is one.
    fn shm(self: Arc<Self>) -> Option<Arc<ShmSender>> {
        None
    }
}

/// What a transport does to receive.
pub(crate) trait ReceiveEnd: Send {
    /// `idle` is called before each sleep.
    fn recv(
        &mut self,
        timeout: Option<Duration>,
        idle: &mut dyn FnMut(),
    ) -> Result<Option<Message>, Error>;
    fn never_spin(&mut self);
    fn close(&mut self);
}

/// A reservation as the transport sees it.
pub(crate) struct Room {
    pub(crate) ptr: *mut u8,
    pub(crate) capacity: usize,
    pub(crate) place: Place,
}

/// Where a reservation's memory comes from.
pub(crate) enum Place {
    /// The rest of a chunk of the shared pool, from `offset` on.
    Chunk {
        chunk: u32,
        offset: u32,
    },
    /// A shared region made for one long message.
    Region {
        slot: usize,
    },
    Heap(Block),
    /// Nothing is left to give back.
    Spent,
}
