//! Reserved messages: the program writes a message into the memory from which it is sent.
//!
//! Over shared memory, the receiver reads the same memory. If the sender reserves the message and
//! the receiver takes it with [`Endpoint::take`], neither end copies it. If there is no such
//! memory, or all of it is in use, the reservation is in private memory of this process. Over
//! sockets, the message is sent from this private memory. On the endpoint's link to itself, the
//! memory is handed over.

use std::fmt;
use std::sync::Arc;

use mgn_sys::copy::copy;

use super::engine::SendOptions;
use super::head::{Head, Kind, ACTIVE};
use super::memory::Memory;
use super::progress::Shared;
use super::written::Written;
use super::{Endpoint, LinkId, Request};
use crate::Error;

/// Memory for a message that the program writes. Dropping the reservation cancels it.
///
/// Over shared memory, the other process may see and change the memory from the start. The memory
/// is not cleared, and holds bytes of earlier messages.
pub struct Reservation {
    shared: Arc<Shared>,
    link: LinkId,
    written: Arc<Written>,
}

impl Endpoint {
    /// Reserves memory for a message of up to `len` bytes to a link's peer. Never waits: if all
    /// shared memory is in use, the reservation is in private memory.
    ///
    /// # Errors
    /// [`Error::Misuse`] for a link that was closed; [`Error::NoMemory`].
    pub fn reserve(&self, to: LinkId, len: usize) -> Result<Reservation, Error> {
        let extent = self.shared.state().engine.reserve(to, len)?;
        let written = match extent {
            Some(extent) => Written::shared(extent, len),
            None => Written::private(len)?,
        };
        Ok(Reservation {
            shared: self.shared.clone(),
            link: to,
            written: Arc::new(written),
        })
    }
}

impl Reservation {
    /// The first byte, 64-byte aligned. Valid until the reservation is committed or dropped.
    pub fn as_mut_ptr(&mut self) -> *mut u8 {
        self.written.start()
    }

    pub fn len(&self) -> usize {
        self.written.len()
    }

    pub fn is_empty(&self) -> bool {
        self.written.len() == 0
    }

    /// Copies `bytes` to `offset`. Panics if they do not fit.
    pub fn write(&mut self, offset: usize, bytes: &[u8]) {
        let len = self.written.len();
        assert!(
            offset <= len && bytes.len() <= len - offset,
            "write beyond the reservation"
        );
        // SAFETY: the target lies inside the reservation. No other thread of this process writes to
        // it, because `self` is borrowed exclusively. `bytes` is an ordinary slice and cannot
        // overlap it.
        unsafe {
            copy(
                bytes.as_ptr(),
                self.written.start().add(offset),
                bytes.len(),
            )
        }
    }

    /// Begins to send the first `used` bytes as one message. The memory is kept until they are
    /// sent, so the program need not wait for the request and may detach it. Returns `None` if the
    /// send has ended already.
    ///
    /// # Errors
    /// [`Error::Misuse`] for more bytes than were reserved, or for a closed link; errors of the
    /// transport. The message is then lost.
    pub fn commit(self, used: usize, tag: u64, how: SendOptions) -> Result<Option<Request>, Error> {
        self.send(Head::new(Kind::Eager, 0, tag), used, how)
    }

    /// Begins to send the first `used` bytes as a message to a handler of the peer.
    ///
    /// # Errors
    /// As for [`Reservation::commit`].
    pub fn commit_active(
        self,
        used: usize,
        handler: u16,
        tag: u64,
        how: SendOptions,
    ) -> Result<Option<Request>, Error> {
        let head = Head {
            flags: ACTIVE,
            handler,
            ..Head::new(Kind::Eager, 0, tag)
        };
        self.send(head, used, how)
    }

    fn send(self, head: Head, used: usize, how: SendOptions) -> Result<Option<Request>, Error> {
        if used > self.written.len() {
            return Err(Error::Misuse("a commit is longer than its reservation"));
        }
        let memory = Memory::Written(self.written, used);
        self.shared.send(self.link, head, memory, how)
    }
}

impl fmt::Debug for Reservation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Reservation")
            .field("link", &self.link)
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}
