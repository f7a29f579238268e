//! The link of an endpoint to itself.

use std::collections::VecDeque;

use super::carrier::{Body, Carrier, FarEnd, Placer, Sent};
use super::head::{Head, Kind};
use super::memory::{Memory, Payload};
use crate::block::Block;
use crate::shm::SHORT;
use crate::{Error, Message};

/// The longest message that is copied when it is sent. Longer messages are offered, and copied when
/// they are received.
const EAGER: usize = 16 << 10;
const PART: usize = 256 << 10;

/// The maximum number of parts in progress.
const FRAMES: usize = 4;

pub(crate) struct OwnLink {
    frames: VecDeque<(Head, Body)>,
    answers: VecDeque<Head>,
    envelopes: u32,
    queued: u32,
    /// Eager bytes that wait to be received.
    bytes: usize,
}

impl OwnLink {
    /// A link with this number of envelopes.
    pub(crate) fn new(envelopes: u32) -> OwnLink {
        OwnLink {
            frames: VecDeque::new(),
            answers: VecDeque::new(),
            envelopes,
            queued: 0,
            bytes: 0,
        }
    }

    pub(crate) fn is_ready(&self) -> bool {
        !self.frames.is_empty() || !self.answers.is_empty()
    }
}

/// The maximum number of bytes of eager messages that wait.
const BYTES: usize = 1 << 20;

impl Carrier for OwnLink {
    fn send(&mut self, head: &Head, payload: Payload<'_>) -> Result<Sent, Error> {
        let len = payload.len;
        let held = if len > SHORT { len } else { 0 };
        let written = payload
            .memory
            .written()
            .filter(|_| head.kind == Kind::Eager);
        let handed = written.and_then(|written| written.to_message(len));
        match head.kind {
            Kind::Eager | Kind::Offer => {
                if self.queued >= self.envelopes
                    || (head.kind == Kind::Eager && handed.is_none() && self.bytes + held > BYTES)
                {
                    return Ok(Sent::NoCredit);
                }
                self.queued += 1;
                if head.kind == Kind::Eager {
                    self.bytes += held;
                }
            }
            _ if self.frames.len() >= FRAMES => return Ok(Sent::Busy),
            _ => {}
        }
        let body = match (len, handed) {
            (0..=SHORT, _) => {
                let mut short = [0; SHORT];
                // SAFETY: the array has room for `SHORT` bytes, and `len` is at most that.
                unsafe {
                    payload
                        .memory
                        .gather(payload.offset, short.as_mut_ptr(), len)
                };
                Body::short(&short[..len])
            }
            (_, Some(message)) => Body::Held(message),
            _ => {
                let block = Block::new(len)?;
                let start = block.range(0, len);
                // SAFETY: the block has `len` bytes.
                unsafe { payload.memory.gather(payload.offset, start, len) };
                Body::Held(Message::of_block(block, len))
            }
        };
        self.frames.push_back((*head, body));
        Ok(Sent::Done)
    }

    fn answer(&mut self, head: &Head) -> Result<Sent, Error> {
        self.answers.push_back(*head);
        Ok(Sent::Done)
    }

    fn recv(&mut self, _placer: Placer<'_>) -> Result<Option<(Head, Body)>, Error> {
        if let Some(head) = self.answers.pop_front() {
            return Ok(Some((head, Body::short(&[]))));
        }
        Ok(self.frames.pop_front())
    }

    fn matched(&mut self, eager_bytes: usize) {
        self.queued -= 1;
        self.bytes -= if eager_bytes > SHORT { eager_bytes } else { 0 };
    }

    fn far(&self) -> FarEnd {
        FarEnd::Own
    }

    fn envelopes(&self) -> u32 {
        self.envelopes
    }

    fn eager_max(&self) -> usize {
        EAGER
    }

    fn part_max(&self) -> usize {
        PART
    }

    fn early_max(&self) -> usize {
        0
    }

    fn hands_over(&self, memory: &Memory) -> bool {
        memory.written().is_some_and(|written| written.is_private())
    }

    fn flush(&mut self) -> Result<(), Error> {
        Ok(())
    }
}
