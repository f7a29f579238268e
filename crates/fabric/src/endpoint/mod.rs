//! Endpoints: messages with tags between any number of processes.
//!
//! An [`Endpoint`] has a [link](LinkId) to each of its peers, over shared memory, unix sockets or
//! TCP. Messages of any length are sent with a tag and matched with receives in the order in which
//! they were sent. Sends and posted receives also make progress while the program computes.

mod carrier;
mod direct;
mod engine;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod fuzzing;
mod handled;
mod head;
#[cfg(test)]
mod hostile;
mod joining;
mod link;
mod link_id;
mod lock;
mod memory;
mod ops;
#[cfg(test)]
mod overtaking;
mod own;
mod progress;
mod queue;
mod remote;
mod remote_key;
mod reserving;
mod settings;
mod shm;
mod silent;
#[cfg(test)]
mod simulated;
mod stream;
mod terms;
mod unexpected;
mod wanted;
mod written;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

pub use engine::SendOptions;
pub use handled::Active;
pub(crate) use joining::name_of;
pub use joining::Joined;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) use joining::{feed as feed_joining, seeds as joining_seeds};
pub use link_id::LinkId;
pub use ops::{Request, Status};
pub use remote::Offered;
pub use remote_key::Key;
pub use reserving::Reservation;
pub use settings::{Settings, AUTO, NEVER};
pub use wanted::Wanted;

use carrier::Body;
use handled::copy_of;
use head::{Head, Kind, ACTIVE};
use memory::Memory;
use progress::Shared;

use crate::block::Block;
use crate::wait::Deadline;
use crate::{Error, Message};

/// A piece of the program's memory: the start, and the length in bytes.
pub type Piece = (*mut u8, usize);

/// One process's access to the fabric. All methods may be called from any thread.
pub struct Endpoint {
    shared: Arc<Shared>,
}

/// The result of [`Endpoint::wait_any`].
#[derive(Debug)]
pub struct Ended {
    /// The index of the ended operation in `requests`.
    pub at: usize,
    pub result: Result<Status, Error>,
}

/// A message that was received without copying it to the program's memory.
pub struct Received {
    pub status: Status,
    body: Body,
}

/// A message that [`Endpoint::take`] has found.
enum Taken {
    Whole(Body),
    /// It is being transferred into the block.
    Begun(Request, Block),
}

impl Endpoint {
    /// Creates an endpoint with the settings of [`Settings::load`]. At first, its only link is its
    /// link to itself.
    ///
    /// # Errors
    /// [`Error::Settings`]; [`Error::Io`] if the system has no descriptors or threads left.
    pub fn new() -> Result<Endpoint, Error> {
        Endpoint::with(Settings::load()?)
    }

    /// Creates an endpoint with these settings.
    ///
    /// # Errors
    /// As for [`Endpoint::new`].
    pub fn with(settings: Settings) -> Result<Endpoint, Error> {
        settings.check()?;
        Ok(Endpoint {
            shared: Shared::start(settings)?,
        })
    }

    /// The endpoint's link to itself.
    pub fn own(&self) -> LinkId {
        self.shared.own
    }

    /// Begins to send the pieces as one message, in their order. Returns `None` if the send has
    /// ended already, so that the memory may be used again.
    ///
    /// # Errors
    /// [`Error::Misuse`] for a closed link.
    ///
    /// # Safety
    /// The memory stays valid and unchanged until the request has ended.
    #[inline]
    pub unsafe fn isend(
        &self,
        to: LinkId,
        tag: u64,
        pieces: &[Piece],
        how: SendOptions,
    ) -> Result<Option<Request>, Error> {
        let head = Head::new(Kind::Eager, 0, tag);
        self.shared.send(to, head, memory_of(pieces), how)
    }

    /// Begins to receive a message into the pieces.
    ///
    /// # Safety
    /// The memory stays valid and is not otherwise accessed until the request has ended.
    #[inline]
    pub unsafe fn irecv(&self, wanted: Wanted, pieces: &[Piece]) -> Request {
        self.shared.receive(wanted, memory_of(pieces))
    }

    /// Begins to send a message to a handler of the peer.
    ///
    /// # Errors
    /// As for [`Endpoint::isend`].
    ///
    /// # Safety
    /// As for [`Endpoint::isend`].
    pub unsafe fn isend_active(
        &self,
        to: LinkId,
        handler: u16,
        tag: u64,
        pieces: &[Piece],
        how: SendOptions,
    ) -> Result<Option<Request>, Error> {
        let head = Head {
            flags: ACTIVE,
            handler,
            ..Head::new(Kind::Eager, 0, tag)
        };
        self.shared.send(to, head, memory_of(pieces), how)
    }

    /// Sends a message, and waits until its memory may be used again, or with
    /// [`SendOptions::sync`], until the receiver has matched it.
    ///
    /// # Errors
    /// [`Error::Closed`], and errors of the transport.
    #[inline]
    pub fn send(&self, to: LinkId, tag: u64, bytes: &[u8], how: SendOptions) -> Result<(), Error> {
        let piece = (bytes.as_ptr().cast_mut(), bytes.len());
        // SAFETY: the slice is borrowed until the request has ended, because `finish` returns no
        // earlier.
        let request = unsafe { self.isend(to, tag, &[piece], how) }?;
        match request {
            Some(request) => self.finish(request).map(drop),
            None => Ok(()),
        }
    }

    /// Receives a message, and waits for it. Returns its link, tag and length.
    ///
    /// # Errors
    /// [`Error::Closed`], [`Error::Truncated`], [`Error::Starved`], and errors of the transport.
    #[inline]
    pub fn recv(&self, wanted: Wanted, into: &mut [u8]) -> Result<Status, Error> {
        let memory = Memory::one(into.as_mut_ptr(), into.len());
        // The slice is borrowed until the operation has ended.
        match self.shared.receive_now(wanted, memory) {
            Ok(result) => result,
            Err(request) => self.finish(request),
        }
    }

    /// Waits for an operation without a timeout.
    fn finish(&self, request: Request) -> Result<Status, Error> {
        let forever = Deadline::after(None);
        let ended = self
            .shared
            .wait_long(&forever, |state| state.ended(request))?;
        ended.expect("without a timeout it ends")
    }

    /// Waits until an operation has ended, and forgets it. Returns `None` if `timeout` passes
    /// first.
    ///
    /// # Errors
    /// The operation's own error; [`Error::Misuse`] if its result has been fetched before.
    #[inline]
    pub fn wait(
        &self,
        request: Request,
        timeout: Option<Duration>,
    ) -> Result<Option<Status>, Error> {
        self.shared.wait_for(request, timeout)
    }

    /// Returns the status of an operation that has ended, and forgets the operation. Returns `None`
    /// while the operation is in progress. Also makes progress on other operations.
    ///
    /// # Errors
    /// As for [`Endpoint::wait`].
    pub fn test(&self, request: Request) -> Result<Option<Status>, Error> {
        self.wait(request, Some(Duration::ZERO))
    }

    /// Waits until one of several operations has ended, and returns its index and result. Returns
    /// `None` if `timeout` passes first.
    ///
    /// # Errors
    /// As for [`Endpoint::wait`].
    pub fn wait_any(
        &self,
        requests: &[Request],
        timeout: Option<Duration>,
    ) -> Result<Option<Ended>, Error> {
        let deadline = Deadline::after(timeout);
        self.shared
            .wait(&deadline, |state| {
                for (at, request) in requests.iter().enumerate() {
                    match state.engine.ops.take(*request) {
                        Ok(None) => {}
                        Ok(Some(result)) => return Some(Ok(Ended { at, result })),
                        Err(error) => return Some(Err(error)),
                    }
                }
                None
            })?
            .transpose()
    }

    /// Cancels an operation that has not been matched. If this returns true, the operation has
    /// ended with [`Error::Cancelled`]. Otherwise it is too late, or the peer has to decide: wait
    /// for the operation, which may still end with this error.
    ///
    /// # Errors
    /// [`Error::Misuse`] if the operation's result has been fetched before.
    pub fn cancel(&self, request: Request) -> Result<bool, Error> {
        self.shared.cancel(request)
    }

    /// Detaches an operation: its result is dropped when the operation ends.
    ///
    /// # Errors
    /// [`Error::Misuse`] if the operation's result has been fetched before.
    pub fn detach(&self, request: Request) -> Result<(), Error> {
        self.shared.state().engine.ops.detach(request)
    }

    /// The link, tag and length of the message that a receive would get. Waits for a message for up
    /// to `timeout`, and then returns `None`.
    ///
    /// # Errors
    /// [`Error::Misuse`] for a closed link.
    pub fn peek(
        &self,
        wanted: &Wanted,
        timeout: Option<Duration>,
    ) -> Result<Option<Status>, Error> {
        let deadline = Deadline::after(timeout);
        self.shared
            .wait_for_message(wanted, &deadline, |state| state.engine.peek(wanted).map(Ok))?
            .transpose()
    }

    /// Receives the next message. A message in shared memory is not copied, and its memory returns
    /// to the sender when the value is dropped.
    ///
    /// # Errors
    /// As for [`Endpoint::recv`]; [`Error::NoMemory`] for a message that is longer than this
    /// process can hold. The message stays in the queue, and can be received in another way.
    pub fn take(
        &self,
        wanted: &Wanted,
        timeout: Option<Duration>,
    ) -> Result<Option<Received>, Error> {
        let deadline = Deadline::after(timeout);
        let found = self
            .shared
            .wait_for_message(wanted, &deadline, |state| {
                let found = state.engine.peek(wanted)?;
                if let Some((status, body)) = state.engine.take_in_place(wanted) {
                    return Some(Ok((status, Taken::Whole(body))));
                }
                // The message is only offered, so it has to be transferred. The receive is posted
                // before the lock is released: another thread could take the message otherwise.
                let block = match Block::new(found.len) {
                    Ok(block) => block,
                    Err(error) => return Some(Err(error)),
                };
                let exactly = Wanted::new(found.link, found.tag);
                let memory = Memory::one(block.range(0, found.len), found.len);
                let request = state.engine.receive(exactly, memory);
                state.engine.fetch_short();
                Some(Ok((found, Taken::Begun(request, block))))
            })?
            .transpose()?;
        let Some((status, taken)) = found else {
            return Ok(None);
        };
        let (request, block) = match taken {
            Taken::Whole(body) => return Ok(Some(Received { status, body })),
            Taken::Begun(request, block) => (request, block),
        };
        // The block lives until the request has ended, here.
        let status = self
            .wait(request, None)?
            .expect("without a timeout it ends");
        let body = Body::Held(Message::of_block(block, status.len));
        Ok(Some(Received { status, body }))
    }

    /// Sets the function that is called for messages to this handler. Any thread that makes
    /// progress may call this function. There is one call at a time, and the function may send
    /// messages. A panic in the function affects only the message of that call.
    pub fn set_handler(&self, handler: u16, call: impl FnMut(Active<'_>) + Send + 'static) {
        self.shared.set_handler(handler, Box::new(call));
    }

    /// The number of messages that were read directly from the memory of a link's peer so far.
    pub fn single_copies(&self, link: LinkId) -> u64 {
        self.shared.state().engine.single_copies(link)
    }

    /// The time for which the machine of a TCP peer may be silent.
    pub(crate) fn silence(&self) -> Duration {
        self.shared.settings.silence()
    }

    /// Sets the number of peers that are expected and have not connected yet. While peers are
    /// expected, receives from any link do not end with [`Error::Closed`].
    pub(crate) fn expect(&self, peers: usize) {
        self.shared.state().engine.expect(peers);
    }

    /// Closes a link. Operations that wait for it end with [`Error::Closed`].
    pub fn close(&self, link: LinkId) {
        self.shared.close(link);
    }

    /// Whether a link is open: neither end has closed it, and the peer is not known to be dead.
    pub fn is_open(&self, link: LinkId) -> bool {
        self.shared.state().engine.carrier(link).is_some()
    }

    /// Waits until all sent messages have left this process. Returns false if `timeout` passes
    /// first.
    pub fn flush(&self, timeout: Option<Duration>) -> bool {
        let deadline = Deadline::after(timeout);
        let done = |state: &mut progress::State| (!state.engine.is_any_sending()).then_some(());
        matches!(self.shared.wait(&deadline, done), Ok(Some(())))
    }

    /// Closes all links, including the endpoint's link to itself, when their peers have read all
    /// sent messages, or after two seconds. Waiting operations end with [`Error::Closed`], and no
    /// new operations can begin.
    pub fn stop(&self) {
        self.shared.part();
        self.shared.stop();
    }
}

impl Received {
    /// The first byte, valid until the value is moved or dropped. Over shared memory, the sender
    /// can still change the bytes.
    pub fn as_ptr(&self) -> *const u8 {
        self.body.as_ptr().expect("it was not placed elsewhere")
    }

    pub fn len(&self) -> usize {
        self.status.len
    }

    pub fn is_empty(&self) -> bool {
        self.status.len == 0
    }

    /// A private copy.
    pub fn to_vec(&self) -> Vec<u8> {
        copy_of(self.as_ptr(), self.len())
    }
}

impl fmt::Debug for Received {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Received")
            .field("status", &self.status)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Endpoint").finish_non_exhaustive()
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        self.shared.stop();
    }
}

#[inline]
fn memory_of(pieces: &[Piece]) -> Memory {
    match pieces {
        [(start, len)] => Memory::one(*start, *len),
        _ => Memory::many(pieces.iter().copied()),
    }
}
