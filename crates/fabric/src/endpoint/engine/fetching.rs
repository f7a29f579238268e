//! Copies long messages from their sender's memory or from shared memory. They are copied in
//! slices, so that other messages make progress between two slices.

use std::ptr::NonNull;

use super::super::carrier::{Body, Carrier};
use super::super::head::{Head, Kind, FETCHED, SHOW};
use super::super::link_id::LinkId;
use super::super::memory::Memory;
use super::super::ops::State;
use super::super::settings::{AUTO, NEVER};
use super::choice::{bit_of, Copies};
use super::receiving::{finish_received, Inbound, Target};
use super::remote::RmaFrame;
use super::{Engine, Link};
use crate::Error;

/// The number of bytes in a slice.
pub(super) const SLICE: usize = 1 << 20;

/// The maximum number of bytes that are fetched within a call that begins to receive. To copy them
/// takes 10 us, about as long as to wake a thread.
const FETCHED_AT_ONCE: usize = 128 << 10;

/// A message that is being copied to its destination.
pub(super) enum Fetch {
    /// The message is in the memory of a link's peer: its link, its number, and whether it answers
    /// a request of ours.
    Peers(LinkId, u32, bool),
    /// The message is here. `got` bytes of it have been copied for operation `op`.
    Here { op: u32, body: Body, got: usize },
}

impl<C: Carrier> Engine<C> {
    /// Begins the transfer of a matched message: fetches it, or accepts its offer so that the
    /// sender sends it.
    pub(super) fn ask(&mut self, index: usize, id: u32) {
        let link = self.links[index].link.as_mut().expect("the caller has it");
        let inbound = Inbound::find(&mut link.inbound, id, false);
        let inbound = inbound.expect("the caller has matched it");
        let len = inbound.len;
        let may_fetch = inbound.address != 0 && inbound.got == 0 && len > 0;
        if !may_fetch || (len < link.carrier.fetches_from() && !link.wants_shown(len)) {
            return link.answers.push_back(link.acceptance(id, len));
        }
        self.fetch(index, id, false);
    }

    /// Begins to fetch a message.
    pub(super) fn fetch(&mut self, index: usize, id: u32, is_answer: bool) {
        let link = self.links[index].link.as_mut().expect("the caller has it");
        let inbound = Inbound::find(&mut link.inbound, id, is_answer);
        inbound.expect("the caller has it").is_being_fetched = true;
        self.fetching
            .push_back(Fetch::Peers(link.id, id, is_answer));
    }

    /// Fetches short messages, so that no other thread has to be woken for them.
    #[inline]
    pub(crate) fn fetch_short(&mut self) {
        let mut left = FETCHED_AT_ONCE;
        while let Some(Fetch::Peers(from, id, is_answer)) = self.fetching.front() {
            let (from, id, is_answer) = (*from, *id, *is_answer);
            let len = self
                .link(from)
                .and_then(|link| Inbound::find(&mut link.inbound, id, is_answer))
                .map_or(0, |inbound| inbound.len);
            if len > left {
                return;
            }
            left -= len;
            self.fetch_some();
        }
    }

    /// Whether [`Engine::fetch_some`] has something to do.
    #[inline]
    pub(crate) fn is_fetching(&self) -> bool {
        !self.fetching.is_empty()
    }

    /// The number of a link's messages that were fetched so far.
    pub(crate) fn single_copies(&mut self, link: LinkId) -> u64 {
        self.link(link).map_or(0, |link| link.fetched)
    }

    /// Copies a slice of a message. Returns false if there was no message to copy.
    #[inline]
    pub(crate) fn fetch_some(&mut self) -> bool {
        let (from, id, is_answer) = match self.fetching.pop_front() {
            Some(Fetch::Peers(from, id, is_answer)) => (from, id, is_answer),
            Some(Fetch::Here { op, body, got }) => {
                self.copy_slice(op, body, got);
                return true;
            }
            None => return false,
        };
        if self.link(from).is_some() {
            if let Err(error) = self.fetch_slice(from, id, is_answer) {
                self.fail(from, error);
            }
        }
        true
    }

    fn copy_slice(&mut self, op: u32, body: Body, got: usize) {
        let len = (body.len() - got).min(SLICE);
        if let (State::Receive(receive), Some(bytes)) = (self.ops.state(op), body.as_ptr()) {
            // SAFETY: the body has `len` bytes after the first `got`.
            unsafe { receive.memory.scatter(got, bytes.add(got), len) };
        }
        match got + len < body.len() {
            true => self.fetching.push_back(Fetch::Here {
                op,
                body,
                got: got + len,
            }),
            // Return the message's memory to the sender before the operation ends.
            false => {
                drop(body);
                finish_received(&mut self.ops, op);
            }
        }
    }

    fn fetch_slice(&mut self, from: LinkId, id: u32, is_answer: bool) -> Result<(), Error> {
        let index = from.index as usize;
        let link = self.links[index].link.as_mut().expect("the caller has it");
        let Some(inbound) = Inbound::find(&mut link.inbound, id, is_answer) else {
            return Ok(());
        };
        let whole = inbound.len;
        let mut address = inbound.address.wrapping_add(inbound.got as u64);
        let mut is_read = true;
        let memory = match &inbound.target {
            Target::Receive(op) => match self.ops.state(*op) {
                State::Receive(receive) => Some(&receive.memory),
                _ => None,
            },
            Target::Put(_, memory) => memory.as_ref(),
            Target::Held(_) | Target::Handler { .. } => return Ok(()),
        };
        // If the memory is shorter than the message, the rest of the message is not read.
        let room = memory.map_or(0, Memory::len).min(whole);
        let len = room.saturating_sub(inbound.got).min(SLICE);
        let carrier = &mut link.carrier;
        if let Some(memory) = memory {
            memory.pieces(inbound.got, len, |piece, part| {
                let piece = NonNull::new(piece).expect("it has bytes");
                // SAFETY: the piece belongs to the operation's memory, which is ours until it ends,
                // and has `part` bytes.
                is_read = is_read && unsafe { carrier.fetch(address, piece, part) };
                address = address.wrapping_add(part as u64);
            });
        }
        inbound.got = match is_read {
            true if inbound.got + len >= room => whole,
            true => inbound.got + len,
            // The sender sends the whole message instead.
            false => 0,
        };
        inbound.is_being_fetched = is_read;
        let is_last = inbound.got == whole;
        match is_read {
            true if !is_answer => link.came(whole, Copies::One, (len, is_last)),
            true => {}
            false => link.choice = None,
        }
        if is_read && !is_last {
            self.fetching.push_back(Fetch::Peers(from, id, is_answer));
            return Ok(());
        }
        let flags = if is_read { FETCHED } else { 0 };
        match is_answer {
            true => link.remote.push_back(RmaFrame::Say(Head {
                flags,
                ..Head::new(Kind::Remote, id, 0)
            })),
            false => {
                let mut head = link.acceptance(id, whole);
                head.flags |= flags;
                link.answers.push_back(head);
            }
        }
        if is_read {
            link.fetched += 1;
            self.came_in(index, id, is_answer)?;
        }
        self.send_on(index)?;
        self.links[index]
            .link
            .as_mut()
            .map_or(Ok(()), |link| link.carrier.flush())
    }
}

impl<C: Carrier> Link<C> {
    /// Whether the measurements say that messages of this length are to be fetched at present.
    fn wants_shown(&self, len: usize) -> bool {
        let choice = self.choice.as_ref();
        choice.is_some_and(|choice| choice.wanted(len) == Copies::One)
    }

    /// The acceptance of an offered message.
    pub(super) fn acceptance(&self, id: u32, len: usize) -> Head {
        Head {
            flags: if self.wants_shown(len) { SHOW } else { 0 },
            ..Head::new(Kind::Accept, id, 0)
        }
    }

    /// Counts received bytes of a message of this length, perhaps its last ones.
    pub(super) fn came(&mut self, len: usize, copies: Copies, bytes: (usize, bool)) {
        if let Some(choice) = &mut self.choice {
            choice.came(len, copies, bytes, || self.carrier.now());
        }
    }

    /// Records a wish in the peer's acceptance: whether to give the peer the addresses of messages
    /// of this length from now on.
    pub(super) fn show(&mut self, len: usize, is_wanted: bool) {
        self.shown.set(len, is_wanted);
        if let Some(choice) = &mut self.choice {
            let wanted = if is_wanted { Copies::One } else { Copies::Two };
            choice.led(len, wanted);
        }
    }
}

/// The messages whose addresses the peer gets, so that it can fetch them.
pub(super) struct Shown {
    /// The length of the shortest such message. With [`AUTO`], the peer chooses for each class of
    /// lengths. With [`NEVER`], there are no such messages.
    from: usize,
    /// A bit for each class of lengths for which the peer wants addresses.
    classes: u32,
}

impl Shown {
    pub(super) fn new(from: usize) -> Shown {
        Shown { from, classes: 0 }
    }

    /// Whether the peer may read our memory at all.
    pub(super) fn is_any(&self) -> bool {
        self.from != NEVER
    }

    pub(super) fn has(&self, len: usize) -> bool {
        len >= self.from || self.classes & bit_of(len) != 0
    }

    fn set(&mut self, len: usize, is_wanted: bool) {
        // Only a peer that may read our memory gets addresses in it.
        match is_wanted && self.from == AUTO {
            true => self.classes |= bit_of(len),
            false => self.classes &= !bit_of(len),
        }
    }

    /// The peer cannot fetch a message whose address it got. Unless the peer chooses for each class
    /// of lengths, it gets no more addresses.
    pub(super) fn failed(&mut self) {
        if self.from != AUTO {
            self.from = NEVER;
        }
    }
}
