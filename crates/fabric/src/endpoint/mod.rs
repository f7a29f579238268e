//! Endpoints: messages with tags between any number of processes.
//!
//! An [`Endpoint`] has a [link](LinkId) to each of its peers, whatever carries it: shared memory,
//! unix sockets, or TCP. Messages of any length are sent with a tag and matched with receives in
//! the order in which they were sent. What is sent goes on, and what was posted is received, also
//! while the program computes.

mod carrier;
mod direct;
mod engine;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod fuzzing;
mod head;
#[cfg(test)]
mod hostile;
mod joining;
mod link;
mod lock;
mod memory;
mod ops;
#[cfg(test)]
mod overtaking;
mod own;
mod progress;
mod queue;
mod remote;
mod reserving;
mod settings;
mod shm;
mod silent;
#[cfg(test)]
mod simulated;
mod stream;
mod terms;
mod written;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

pub use engine::How;
pub(crate) use joining::name_of;
pub use joining::Joined;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) use joining::{feed as feed_joining, seeds as joining_seeds};
pub use ops::{Request, Status};
pub use queue::Wanted;
pub use remote::{Key, Offered};
pub use reserving::Reservation;
pub use settings::{Settings, AUTO, NEVER};

use carrier::Body;
use head::{Head, Kind, ACTIVE};
use memory::Memory;
use progress::Shared;

use crate::wait::Deadline;
use crate::{Error, Message};

/// One of an endpoint's links. It is not used again for another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LinkId {
    pub(crate) index: u32,
    pub(crate) generation: u32,
}

impl LinkId {
    /// The link as a number, for languages that know no others. It is never 0.
    pub fn to_bits(self) -> u64 {
        u64::from(self.generation) << 32 | u64::from(self.index)
    }

    /// The opposite. A number that no link ever had makes every operation on it an
    /// [`Error::Misuse`].
    pub fn from_bits(bits: u64) -> LinkId {
        LinkId {
            index: bits as u32,
            generation: (bits >> 32) as u32,
        }
    }
}

/// Some memory of the program's: where it starts, and its length in bytes.
pub type Piece = (*mut u8, usize);

/// One process's part in a fabric. All methods may be called from any thread.
pub struct Endpoint {
    shared: Arc<Shared>,
}

/// One of several operations that has ended.
#[derive(Debug)]
pub struct Ended {
    /// Its place among those that were waited for.
    pub at: usize,
    pub result: Result<Status, Error>,
}

/// A message that was received where it lies.
pub struct Received {
    pub status: Status,
    body: Body,
}

impl Endpoint {
    /// An endpoint with a link to itself only, and the settings of [`Settings::load`].
    ///
    /// # Errors
    /// [`Error::Settings`]; [`Error::Io`] where the system has no descriptors or threads left.
    pub fn new() -> Result<Endpoint, Error> {
        Endpoint::with(Settings::load()?)
    }

    /// Likewise with these settings.
    ///
    /// # Errors
    /// As for [`Endpoint::new`].
    pub fn with(settings: Settings) -> Result<Endpoint, Error> {
        settings.check()?;
        Ok(Endpoint {
            shared: Shared::start(settings)?,
        })
    }

    /// The link to itself.
    pub fn own(&self) -> LinkId {
        self.shared.own
    }

    /// Begins to send the pieces, one behind the other, as one message. None: it has ended already,
    /// and the memory may be used again.
    ///
    /// # Errors
    /// [`Error::Misuse`] for a link that was closed.
    ///
    /// # Safety
    /// The memory stays valid and unchanged until the request has ended.
    #[inline]
    pub unsafe fn isend(
        &self,
        to: LinkId,
        tag: u64,
        pieces: &[Piece],
        how: How,
    ) -> Result<Option<Request>, Error> {
        let head = Head::new(Kind::Eager, 0, tag);
        self.shared.send(to, head, memory_of(pieces), how)
    }

    /// Begins to receive a message into the pieces.
    ///
    /// # Safety
    /// The memory stays valid, and nobody else touches it, until the request has ended.
    #[inline]
    pub unsafe fn irecv(&self, wanted: Wanted, pieces: &[Piece]) -> Request {
        self.shared.receive(wanted, memory_of(pieces))
    }

    /// Sends a message to a handler of the peer's.
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
        how: How,
    ) -> Result<Option<Request>, Error> {
        let head = Head {
            flags: ACTIVE,
            handler,
            ..Head::new(Kind::Eager, 0, tag)
        };
        self.shared.send(to, head, memory_of(pieces), how)
    }

    /// Sends a message and waits until its memory may be used again, or with [`How::sync`] until
    /// the receiver has it.
    ///
    /// # Errors
    /// [`Error::Closed`] and what the transport says.
    #[inline]
    pub fn send(&self, to: LinkId, tag: u64, bytes: &[u8], how: How) -> Result<(), Error> {
        let piece = (bytes.as_ptr().cast_mut(), bytes.len());
        // SAFETY: the slice is borrowed until the request has ended: `wait` without a timeout
        // returns no earlier.
        let request = unsafe { self.isend(to, tag, &[piece], how) }?;
        match request {
            Some(request) => self.finish(request).map(drop),
            None => Ok(()),
        }
    }

    /// Receives a message and waits for it. Gives where it came from, its tag and length.
    ///
    /// # Errors
    /// [`Error::Closed`], [`Error::Truncated`], [`Error::Starved`], and what the transport says.
    #[inline]
    pub fn recv(&self, wanted: Wanted, into: &mut [u8]) -> Result<Status, Error> {
        let memory = Memory::one(into.as_mut_ptr(), into.len());
        // The slice is borrowed until the operation has ended.
        match self.shared.receive_now(wanted, memory) {
            Ok(result) => result,
            Err(request) => self.finish(request),
        }
    }

    /// Waits for an operation that has not ended yet.
    fn finish(&self, request: Request) -> Result<Status, Error> {
        let forever = Deadline::after(None);
        let ended = self
            .shared
            .wait_long(&forever, |state| state.ended(request))?;
        ended.expect("without a timeout it ends")
    }

    /// Waits until an operation has ended, and forgets it. None when `timeout` passes first.
    ///
    /// # Errors
    /// How the operation ended; [`Error::Misuse`] where its end was asked for before.
    #[inline]
    pub fn wait(
        &self,
        request: Request,
        timeout: Option<Duration>,
    ) -> Result<Option<Status>, Error> {
        self.shared.wait_for(request, timeout)
    }

    /// Whether an operation has ended; then it is forgotten. Lets others go on.
    ///
    /// # Errors
    /// As for [`Endpoint::wait`].
    pub fn test(&self, request: Request) -> Result<Option<Status>, Error> {
        self.wait(request, Some(Duration::ZERO))
    }

    /// Waits until one of several operations has ended, and gives its place among them.
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

    /// Gives an operation up that has not been matched. True: it has ended with
    /// [`Error::Cancelled`]. False: it ends as it ends, perhaps so too.
    ///
    /// # Errors
    /// [`Error::Misuse`] where its end was asked for before.
    pub fn cancel(&self, request: Request) -> Result<bool, Error> {
        self.shared.cancel(request)
    }

    /// Nobody will ask for the operation's end.
    ///
    /// # Errors
    /// [`Error::Misuse`] where its end was asked for before.
    pub fn detach(&self, request: Request) -> Result<(), Error> {
        self.shared.state().engine.ops.detach(request)
    }

    /// The message that a receive would get now: where from, which tag, how long. Waits for one for
    /// up to `timeout`.
    ///
    /// # Errors
    /// [`Error::Misuse`] for a link that was closed.
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

    /// The next message, where it lies if its sender could put it there. Its memory is the sender's
    /// again when it is dropped.
    ///
    /// # Errors
    /// As for [`Endpoint::recv`]; [`Error::NoMemory`] for a message longer than this process can
    /// hold, which stays to be received otherwise.
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
                match state.engine.take_in_place(wanted) {
                    Some((status, body)) => Some(Ok((status, Some(body)))),
                    None => Some(Ok((found, None))),
                }
            })?
            .transpose()?;
        let Some((status, body)) = found else {
            return Ok(None);
        };
        if let Some(body) = body {
            return Ok(Some(Received { status, body }));
        }
        // Too long to lie anywhere: it is fetched.
        let block = crate::block::Block::new(status.len)?;
        let start = block.range(0, status.len);
        let exactly = Wanted::new(status.link, status.tag);
        // SAFETY: the block lives until the request has ended.
        let request = unsafe { self.irecv(exactly, &[(start, status.len)]) };
        let status = self
            .wait(request, None)?
            .expect("without a timeout it ends");
        let body = Body::Held(Message::of_block(block, status.len));
        Ok(Some(Received { status, body }))
    }

    /// Sets what is called for messages to this handler. It is called from whatever thread finds
    /// the message, one at a time, and may send. A panic in it ends its message only.
    pub fn set_handler(&self, handler: u16, call: impl FnMut(Active<'_>) + Send + 'static) {
        self.shared.set_handler(handler, Box::new(call));
    }

    /// Messages that were read straight from the memory of a link's peer so far.
    pub fn single_copies(&self, link: LinkId) -> u64 {
        self.shared.state().engine.single_copies(link)
    }

    /// How long the machine of a peer by TCP may be silent.
    pub(crate) fn silence(&self) -> Duration {
        self.shared.settings.silence()
    }

    /// So many peers have never been here and are still to come. Whatever waits for anybody does
    /// not end while there are any.
    pub(crate) fn expect(&self, peers: usize) {
        self.shared.state().engine.expect(peers);
    }

    /// Closes a link. What waits for it ends with [`Error::Closed`].
    pub fn close(&self, link: LinkId) {
        self.shared.close(link);
    }

    /// Whether a link is there: neither end has closed it, and the peer lives as far as is known.
    pub fn is_open(&self, link: LinkId) -> bool {
        self.shared.state().engine.carrier(link).is_some()
    }

    /// Waits until what was sent has left this process. False when `timeout` passes first.
    pub fn flush(&self, timeout: Option<Duration>) -> bool {
        let deadline = Deadline::after(timeout);
        let done = |state: &mut progress::State| (!state.engine.is_any_sending()).then_some(());
        matches!(self.shared.wait(&deadline, done), Ok(Some(())))
    }

    /// Closes all links, also the own one, once their peers have read what was sent, or a while has
    /// passed. What waits ends with [`Error::Closed`], and nothing is begun any more.
    pub fn stop(&self) {
        self.shared.part();
        self.shared.stop();
    }
}

/// A message for a handler.
#[derive(Clone, Copy, Debug)]
pub struct Active<'a> {
    pub from: LinkId,
    pub tag: u64,
    start: *const u8,
    len: usize,
    life: std::marker::PhantomData<&'a u8>,
}

impl Active<'_> {
    /// The first byte; valid during the call. Over shared memory the sender can go on changing it.
    pub fn as_ptr(&self) -> *const u8 {
        self.start
    }

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// A private copy.
    pub fn to_vec(&self) -> Vec<u8> {
        copy_of(self.start, self.len)
    }
}

impl Received {
    /// The first byte; valid while the value is where it is and not dropped. Over shared memory the
    /// sender can go on changing it.
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

fn copy_of(start: *const u8, len: usize) -> Vec<u8> {
    let mut copy = vec![0; len];
    // SAFETY: whoever calls has so many bytes there.
    unsafe { std::ptr::copy_nonoverlapping(start, copy.as_mut_ptr(), len) };
    copy
}
