//! What carries a link's frames: shared memory, a socket, or the process itself.

use std::ptr::NonNull;
use std::time::Duration;

use super::head::{Head, OFFER};
use super::memory::{Memory, Payload, Words};
use super::settings::NEVER;
use crate::block::Block;
use crate::shm::{Extent, SHORT};
use crate::{Error, Message};

/// What became of an attempt to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sent {
    Done,
    /// The carrier is full; it empties as the peer reads.
    Busy,
    /// The receiver holds all that it is willing to hold until its program takes something.
    NoCredit,
}

/// The bytes of a frame that came.
#[derive(Debug)]
pub(crate) enum Body {
    Short(Words, u8),
    /// In the carrier's memory, which is the sender's again when this is dropped, or in our own.
    Held(Message),
    /// As many bytes were written to the place that was asked for.
    Placed(usize),
}

impl Body {
    /// At most [`SHORT`] bytes.
    pub(crate) fn short(bytes: &[u8]) -> Body {
        let mut words = [[0; 8]; SHORT / 8];
        words.as_flattened_mut()[..bytes.len()].copy_from_slice(bytes);
        Body::Short(words.map(u64::from_ne_bytes), bytes.len() as u8)
    }

    /// The parts of one message, `len` bytes in all, in memory of our own.
    pub(crate) fn joined(parts: Vec<Body>, len: usize) -> Result<Body, Error> {
        let block = Block::new(len)?;
        let mut at = 0;
        for part in &parts {
            if let Some(bytes) = part.as_ptr() {
                // SAFETY: `range` makes sure that the block has so many bytes there; the part has
                // them, and is not in the block.
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

    /// Where the bytes are, if they weren't placed already.
    pub(crate) fn as_ptr(&self) -> Option<*const u8> {
        match self {
            Body::Short(words, _) => Some(words.as_ptr().cast()),
            Body::Held(message) => Some(message.as_ptr()),
            Body::Placed(_) => None,
        }
    }
}

/// Asked where a frame's payload of so many bytes belongs: a carrier that has to copy it anyway
/// then copies it just once.
pub(crate) type Placer<'a> = &'a mut dyn FnMut(&Head, usize) -> Option<NonNull<u8>>;

/// Who is at the other end of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Far {
    Peer,
    /// The endpoint itself.
    Own,
    /// What takes everything and never says anything.
    Nobody,
}

/// One end of a link, without any waiting.
///
/// Frames arrive in the order they were sent; answers ([`Carrier::answer`]) among themselves, and
/// are delayed by no data.
pub(crate) trait Carrier {
    /// Sends a frame. Those that start a message take an envelope, and the eager ones room at the
    /// receiver.
    fn send(&mut self, head: &Head, payload: Payload<'_>) -> Result<Sent, Error>;

    /// Sends a whole message, if it is short and there is room in memory. False: it has to go by
    /// [`Carrier::send`].
    #[inline]
    fn send_short(&mut self, _head: &Head, _memory: &Memory) -> bool {
        false
    }

    /// Sends a head that answers one of the peer's.
    fn answer(&mut self, head: &Head) -> Result<Sent, Error>;

    /// The next frame, if there is one.
    fn recv(&mut self, placer: Placer<'_>) -> Result<Option<(Head, Body)>, Error>;

    /// Takes the next frame, if it is short and `wanted` has a place for one with such a head, and
    /// copies as much of its payload there as fits. Gives the frame's value and the length of its
    /// payload. Other frames come by [`Carrier::recv`].
    #[inline]
    fn recv_short<'a>(
        &mut self,
        _wanted: impl FnOnce([u64; 2]) -> Option<&'a Memory>,
    ) -> Option<(u64, usize)> {
        None
    }

    /// A message that the peer sent has left the queue: its envelope may be used again. What was
    /// held of it has been dropped before.
    fn matched(&mut self, eager_bytes: usize);

    /// Messages of the peer's that may wait here unmatched: its envelopes.
    fn envelopes(&self) -> u32;

    /// The longest message that is sent at once.
    fn eager_max(&self) -> usize;

    /// The longest message that needs an envelope of the receiver's and no other room, as an offer
    /// does.
    fn roomless_max(&self) -> usize {
        OFFER
    }

    /// The most bytes in one part.
    fn part_max(&self) -> usize;

    /// Room at the receiver for parts of offered messages that are sent before it asks for them.
    /// Where a part takes more than its bytes, this is a multiple of what it takes.
    fn early_max(&self) -> usize;

    /// What the first `len` bytes of an offered message take of [`Carrier::early_max`] when they
    /// are sent in parts of [`Carrier::part_max`] bytes and a shorter last one.
    fn early_room(&self, len: usize) -> usize {
        len
    }

    /// Whether it is certain, without a system call, that something has come.
    fn has_news(&self) -> bool {
        false
    }

    /// Whether the last look found so little that another one at once is not worth its system call.
    fn is_drained(&self) -> bool {
        false
    }

    /// Whether something may have come.
    fn may_have_come(&self) -> bool {
        true
    }

    /// Whether there may be memory at the other end that can be written to and read.
    fn has_memory(&self) -> bool {
        true
    }

    fn far(&self) -> Far {
        Far::Peer
    }

    /// Whether it is certain, without a system call, that nothing has come and nothing has to be
    /// told.
    fn is_quiet(&self) -> bool {
        false
    }

    /// Memory that the peer reads, too, for a message of so many bytes. None where there is none,
    /// or it is not worth it.
    fn reserve(&mut self, _len: usize) -> Option<Extent> {
        None
    }

    /// Whether all of this memory is sent at once where it lies, however long it is: as an eager
    /// message that wants an envelope and no room.
    fn hands_over(&self, _memory: &Memory) -> bool {
        false
    }

    /// Messages at least this long are fetched from their sender's memory with [`Carrier::fetch`],
    /// if it can tell where they are. [`AUTO`](super::settings::AUTO): where that is found to be
    /// quicker.
    fn fetches_from(&self) -> usize {
        NEVER
    }

    /// Whether the peer decides for both ends how long messages go. At most one end follows.
    fn follows(&self) -> bool {
        false
    }

    /// The time since some moment. Only its differences matter.
    fn now(&self) -> Duration {
        Duration::ZERO
    }

    /// Messages at least this long the peer fetches from our memory; AUTO as above.
    fn fetched_from(&self) -> usize {
        NEVER
    }

    /// Copies bytes from the peer's memory. False when that fails, and always will.
    ///
    /// # Safety
    /// `into` is valid for `len` bytes, which nobody else uses meanwhile.
    unsafe fn fetch(&mut self, _address: u64, _into: NonNull<u8>, _len: usize) -> bool {
        false
    }

    /// Whether something was taken for sent and has not gone yet.
    fn is_blocked(&self) -> bool {
        false
    }

    /// Pushes on what was taken for sent and has not gone yet.
    fn flush(&mut self) -> Result<(), Error>;
}
