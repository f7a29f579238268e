//! The interface of the transports that carry a link's frames: shared memory, sockets, or the
//! memory of the process itself.

use std::ptr::NonNull;
use std::time::Duration;

use super::head::{Head, OFFER};
use super::memory::{Memory, Payload, Words};
use super::settings::NEVER;
use crate::block::Block;
use crate::shm::{Extent, SHORT};
use crate::{Error, Message};

/// The result of an attempt to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sent {
    Done,
    /// The carrier is full. It empties when the peer reads.
    Busy,
    /// The link has no credit: the receiver's buffers are full until its program receives a
    /// message.
    NoCredit,
}

/// The payload of a received frame.
#[derive(Debug)]
pub(crate) enum Body {
    Short(Words, u8),
    /// A payload in the carrier's memory, which returns to the sender when this is dropped, or in
    /// private memory.
    Held(Message),
    /// The payload, of this length, was written to the address that the [`Placer`] returned.
    Placed(usize),
}

impl Body {
    /// A copy of at most [`SHORT`] bytes.
    pub(crate) fn short(bytes: &[u8]) -> Body {
        let mut words = [[0; 8]; SHORT / 8];
        words.as_flattened_mut()[..bytes.len()].copy_from_slice(bytes);
        Body::Short(words.map(u64::from_ne_bytes), bytes.len() as u8)
    }

    /// Joins the parts of one message, `len` bytes in all, in private memory.
    pub(crate) fn joined(parts: Vec<Body>, len: usize) -> Result<Body, Error> {
        let block = Block::new(len)?;
        let mut at = 0;
        for part in &parts {
            if let Some(bytes) = part.as_ptr() {
                // SAFETY: `range` checks that the block has `part.len()` bytes there. The part has
                // as many, and does not lie in the block.
                unsafe { bytes.copy_to_nonoverlapping(block.range(at, part.len()), part.len()) };
            }
            at += part.len();
        }
        Ok(Body::Held(Message::of_block(block, len)))
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Body::Short(_, len) => *len as usize,
            Body::Held(message) => message.len(),
            Body::Placed(len) => *len,
        }
    }

    /// The address of the bytes, if they were not placed already.
    pub(crate) fn as_ptr(&self) -> Option<*const u8> {
        match self {
            Body::Short(words, _) => Some(words.as_ptr().cast()),
            Body::Held(message) => Some(message.as_ptr()),
            Body::Placed(_) => None,
        }
    }
}

/// Returns the destination of a frame's payload of the given length. A carrier that has to copy the
/// payload anyway then copies it only once.
pub(crate) type Placer<'a> = &'a mut dyn FnMut(&Head, usize) -> Option<NonNull<u8>>;

/// The kind of the other end of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FarEnd {
    Peer,
    /// The endpoint itself.
    Own,
    /// No peer: everything is accepted, and nothing ever arrives.
    Nobody,
}

/// One end of a link. No method waits.
///
/// Frames arrive in the order in which they were sent. Answers ([`Carrier::answer`]) keep their
/// order among themselves, and data does not delay them.
pub(crate) trait Carrier {
    /// Sends a frame. A frame that starts a message takes an envelope, and an eager frame also
    /// takes buffer space at the receiver.
    fn send(&mut self, head: &Head, payload: Payload<'_>) -> Result<Sent, Error>;

    /// Sends a whole message, if it is short and shared memory has space for it. If this returns
    /// false, use [`Carrier::send`].
    #[inline]
    fn send_short(&mut self, _head: &Head, _memory: &Memory) -> bool {
        false
    }

    /// Sends a head that answers a head of the peer.
    fn answer(&mut self, head: &Head) -> Result<Sent, Error>;

    /// The next frame, if there is one.
    fn recv(&mut self, placer: Placer<'_>) -> Result<Option<(Head, Body)>, Error>;

    /// Receives the next frame, if it is short and `wanted` returns memory for its head. Copies as
    /// much of the payload to that memory as fits. Returns the frame's value and the length of its
    /// payload. Use [`Carrier::recv`] for other frames.
    #[inline]
    fn recv_short<'a>(
        &mut self,
        _wanted: impl FnOnce([u64; 2]) -> Option<&'a Memory>,
    ) -> Option<(u64, usize)> {
        None
    }

    /// A message of the peer has left the queue, so its envelope may be used again. Its [`Body`]
    /// has been dropped before.
    fn matched(&mut self, eager_bytes: usize);

    /// The number of the peer's messages that may wait here unmatched (its envelopes).
    fn envelopes(&self) -> u32;

    /// The longest message that is sent eagerly.
    fn eager_max(&self) -> usize;

    /// The longest message that, like an offer, needs an envelope of the receiver but no buffer
    /// space.
    fn roomless_max(&self) -> usize {
        OFFER
    }

    /// The longest part, in bytes.
    fn part_max(&self) -> usize;

    /// The receiver's buffer space for parts that are sent before their offer is accepted. If a
    /// part takes more space than its bytes, this is a multiple of that space.
    fn early_max(&self) -> usize;

    /// The part of [`Carrier::early_max`] that the first `len` bytes of an offered message take, if
    /// they are sent in parts of [`Carrier::part_max`] bytes and a shorter last one.
    fn early_room(&self, len: usize) -> usize {
        len
    }

    /// Whether a frame has certainly arrived. Makes no system call.
    fn has_news(&self) -> bool {
        false
    }

    /// Whether the last read found so little data that another read at once would waste a system
    /// call.
    fn is_drained(&self) -> bool {
        false
    }

    /// Whether a frame may have arrived.
    fn may_have_come(&self) -> bool {
        true
    }

    /// Whether the other end may offer memory for one-sided access.
    fn has_memory(&self) -> bool {
        true
    }

    fn far(&self) -> FarEnd {
        FarEnd::Peer
    }

    /// Whether certainly nothing has arrived and no credit has to be returned. Makes no system
    /// call.
    fn is_quiet(&self) -> bool {
        false
    }

    /// Reserves memory that is shared with the peer, for a message of this length. Returns `None`
    /// if there is no such memory, or if the message is too short for it.
    fn reserve(&mut self, _len: usize) -> Option<Extent> {
        None
    }

    /// Whether this memory is sent without copying. It is then sent as an eager message of any
    /// length, which needs an envelope but no buffer space.
    fn hands_over(&self, _memory: &Memory) -> bool {
        false
    }

    /// Messages of at least this length are fetched from their sender's memory with
    /// [`Carrier::fetch`], if the sender gives their address. With [`AUTO`](super::settings::AUTO),
    /// they are fetched if measurements show that this is faster.
    fn fetches_from(&self) -> usize {
        NEVER
    }

    /// Whether the peer chooses for both ends between one copy and two. At most one end follows.
    fn follows(&self) -> bool {
        false
    }

    /// The time since an arbitrary moment. Only differences matter.
    fn now(&self) -> Duration {
        Duration::ZERO
    }

    /// The peer fetches our messages of at least this length from our memory.
    /// [`AUTO`](super::settings::AUTO) has the same meaning as for [`Carrier::fetches_from`].
    fn fetched_from(&self) -> usize {
        NEVER
    }

    /// Copies bytes from the peer's memory. Returns false on failure. After a failure, all later
    /// calls on this link fail, too.
    ///
    /// # Safety
    /// `into` is valid for `len` bytes, which are not otherwise used during the call.
    unsafe fn fetch(&mut self, _address: u64, _into: NonNull<u8>, _len: usize) -> bool {
        false
    }

    /// Whether the carrier holds frames that it has accepted and not yet written.
    fn is_blocked(&self) -> bool {
        false
    }

    /// Writes accepted frames as far as possible, and returns credit to the peer.
    fn flush(&mut self) -> Result<(), Error>;
}
