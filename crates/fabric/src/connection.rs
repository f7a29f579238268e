//! The two halves of a connection over any transport.

use std::any::Any;
use std::fmt;
use std::ptr;
use std::sync::Arc;
use std::time::Duration;

use mgn_sys::peer::Credentials;
use mgn_sys::Writable;

use crate::block::{MemorySource, Room};
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

    /// The process at the other end, if the kernel knows it (shm and unix).
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
/// other end receives all committed messages, and then [`Error::Closed`].
pub struct Sender {
    end: Arc<dyn SendEnd>,
}

impl Sender {
    pub(crate) fn new(end: Arc<dyn SendEnd>) -> Sender {
        Sender { end }
    }

    /// Reserves memory for a message of `len` bytes, or more; see [`Reservation::capacity`]. Waits
    /// while the other end holds all memory.
    ///
    /// # Errors
    /// [`Error::TooLong`], [`Error::Closed`], [`Error::NoSpace`] if reservations of this process
    /// have held all memory for 10 s, and errors of the transport.
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

    /// Sends the first `used` bytes of the reservation as one message. The reservation then has the
    /// memory after them. Messages arrive in the order of their commits.
    ///
    /// # Errors
    /// [`Error::Closed`], and errors of the transport. The message is then lost.
    pub fn commit(&self, reservation: &mut Reservation, used: usize) -> Result<(), Error> {
        self.place(reservation, used)?;
        self.end.commit(&mut reservation.room, used)
    }

    /// The place of the first `used` bytes of a reservation on this connection.
    pub(crate) fn place<'a>(
        &self,
        reservation: &'a Reservation,
        used: usize,
    ) -> Result<&'a MemorySource, Error> {
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

    /// The sum of the times that threads have waited in `reserve` and `commit`, in nanoseconds.
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

/// Memory in which the program writes a message. Dropping the reservation frees the memory that was
/// not committed.
///
/// The memory may be visible to the other process from the start. It is not cleared, and may hold
/// bytes of earlier messages of this connection.
pub struct Reservation {
    end: Arc<dyn SendEnd>,
    room: Room,
}

impl Reservation {
    /// The start of the memory: [`Reservation::capacity`] bytes, 64-byte aligned, valid until the
    /// next commit or drop.
    pub fn ptr(&self) -> *mut u8 {
        self.room.ptr
    }

    /// The number of bytes. At first this is at least the requested length. After a commit, it is
    /// the number of bytes that are left, which may be 0.
    pub fn capacity(&self) -> usize {
        self.room.capacity
    }

    /// Copies `bytes` to `offset`. Panics if they do not fit.
    pub fn write(&mut self, offset: usize, bytes: &[u8]) {
        let room = self.room.capacity;
        assert!(
            offset <= room && bytes.len() <= room - offset,
            "write beyond the reservation"
        );
        // SAFETY: the target lies inside the reservation. No other thread of this process writes to
        // it, because `self` is borrowed exclusively. `bytes` is an ordinary slice and cannot
        // overlap it.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), self.room.ptr.add(offset), bytes.len()) }
    }
}

// SAFETY: the memory is reserved until the value is dropped, or changed by a commit.
unsafe impl Writable for Reservation {
    fn ptr(&mut self) -> *mut u8 {
        self.room.ptr
    }

    fn capacity(&self) -> usize {
        self.room.capacity
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let place = std::mem::replace(&mut self.room.place, MemorySource::Spent);
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

// SAFETY: a reservation owns its range of memory, which belongs to no thread. Callers get only a
// raw pointer.
unsafe impl Send for Reservation {}
// SAFETY: through a shared reference only the raw pointer and the capacity can be read.
unsafe impl Sync for Reservation {}

/// The receiving half. Dropping it closes this direction: the other end's sends fail.
pub struct Receiver {
    end: Box<dyn ReceiveEnd>,
}

impl Receiver {
    /// Receives the next message in place. Returns `None` if `timeout` passes first. Without a
    /// timeout, waits until a message comes or the other end is gone. Messages that were sent
    /// before the other end closed are still received.
    ///
    /// # Errors
    /// [`Error::Closed`], [`Error::PeerMisbehaved`] (every later call too), [`Error::NoPeer`].
    pub fn recv(&mut self, timeout: Option<Duration>) -> Result<Option<Message>, Error> {
        self.recv_or(timeout, || ())
    }

    /// Does the same as [`Receiver::recv`], and calls `idle` before it sleeps.
    ///
    /// # Errors
    /// As for [`Receiver::recv`].
    pub fn recv_or(
        &mut self,
        timeout: Option<Duration>,
        mut idle: impl FnMut(),
    ) -> Result<Option<Message>, Error> {
        self.end.recv(timeout, &mut idle)
    }

    /// From now on, `recv` sleeps at once if there is no message. Use this if messages come rarely,
    /// or in bursts.
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

/// The sending end of a transport. `reserve` is never called with more than `max`, and `commit`
/// never with more than the room's capacity.
pub(crate) trait SendEnd: Send + Sync {
    fn reserve(&self, len: usize) -> Result<Room, Error>;
    fn commit(&self, room: &mut Room, used: usize) -> Result<(), Error>;
    fn cancel(&self, place: MemorySource);
    fn close(&self);
    fn max(&self) -> usize;
    fn waited(&self) -> u64;

    /// Does nothing for transports without a peer.
    fn hang_up(&self) {}

    /// This end, for code that knows its type.
    fn into_any(self: Arc<Self>) -> Option<Arc<dyn Any + Send + Sync>> {
        None
    }
}

/// The receiving end of a transport.
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
