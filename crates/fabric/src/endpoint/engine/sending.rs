//! Sending: announcing messages, and sending the parts of offered messages.

use std::ptr::NonNull;

use super::super::carrier::{Carrier, Sent};
use super::super::head::{Head, Kind, ACTIVE, ANSWER, FETCHED, OFFER, SHOW, SYNC};
use super::super::link_id::LinkId;
use super::super::memory::{Memory, Payload};
use super::super::ops::{Request, State, Status};
use super::super::remote_key::Key;
use super::{Engine, Link};
use crate::shm::Extent;
use crate::Error;

/// The options of a send.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SendOptions {
    /// The send ends when the receiver has matched the message. Without this option, the send ends
    /// when its memory may be used again.
    pub sync: bool,
    /// The message may overtake other messages on the same link.
    pub unordered: bool,
}

/// A place in offered memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct RemoteRange {
    pub(super) key: Key,
    pub(super) offset: u64,
}

/// A message that is being sent.
pub(super) struct Outgoing {
    pub(super) head: Head,
    pub(super) memory: Memory,
    /// The operation that ends with this message.
    pub(super) op: Option<u32>,
    pub(super) sent: usize,
    pub(super) phase: Phase,
    /// Set if the peer was told the message's address.
    pub(super) is_shown: bool,
    /// The offered memory of a request or its answer.
    pub(super) place: Option<RemoteRange>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Queued,
    Offered,
    Withdrawing,
    Accepted,
    /// All bytes are sent, and the receiver has to confirm the message.
    Sync,
}

impl<C: Carrier> Engine<C> {
    /// Sends a short message at once, if that is possible.
    #[inline]
    pub(crate) fn send_short(&mut self, to: LinkId, head: &Head, memory: &Memory) -> bool {
        let slot = self.links.get_mut(to.index as usize);
        let link = slot.and_then(|slot| slot.link.as_mut());
        link.is_some_and(|link| {
            link.id == to && link.outbox.is_empty() && link.carrier.send_short(head, memory)
        })
    }

    /// Begins a send. Returns `None` if the whole message was sent at once.
    ///
    /// # Errors
    /// [`Error::Misuse`] for a closed link, or the error that ended the link.
    #[inline]
    pub(crate) fn send(
        &mut self,
        to: LinkId,
        head: Head,
        memory: Memory,
        how: SendOptions,
    ) -> Result<Option<Request>, Error> {
        let Some(link) = self
            .links
            .get_mut(to.index as usize)
            .and_then(|slot| slot.link.as_mut())
            .filter(|link| link.id == to)
        else {
            return Err(self.why_gone(to));
        };
        let may_go = link.outbox.is_empty() || how.unordered;
        if may_go
            && !how.sync
            && (memory.len() <= link.carrier.eager_max() || link.carrier.hands_over(&memory))
        {
            let payload = Payload {
                memory: &memory,
                offset: 0,
                len: memory.len(),
            };
            match link.carrier.send(&head, payload) {
                Ok(Sent::Done) => return Ok(None),
                Ok(Sent::Busy | Sent::NoCredit) => {}
                Err(error) => {
                    self.fail(to, error.again());
                    return Err(error);
                }
            }
        }
        let mut head = head;
        if how.sync {
            head.flags |= SYNC;
        }
        let request = self.ops.begin(State::Send {
            link: to.index,
            number: None,
        });
        let outgoing = Outgoing {
            head,
            memory,
            op: Some(request.index),
            sent: 0,
            phase: Phase::Queued,
            is_shown: false,
            place: None,
        };
        let link = self.links[to.index as usize]
            .link
            .as_mut()
            .expect("found above");
        let number = link.number(outgoing);
        *self.ops.state(request.index) = State::Send {
            link: to.index,
            number: Some(number),
        };
        link.outbox.push_back(number);
        if let Err(error) = self.send_on(to.index as usize) {
            self.fail(to, error);
        }
        Ok(Some(request))
    }

    /// Reserves memory that is shared with the link's peer, for a message of `len` bytes. Returns
    /// `None` if the link has no such memory.
    pub(crate) fn reserve(&mut self, to: LinkId, len: usize) -> Result<Option<Extent>, Error> {
        match self.link(to) {
            Some(link) => Ok(link.carrier.reserve(len)),
            None => Err(self.why_gone(to)),
        }
    }

    /// Cancels a send that has not been matched. Returns false if it is too late, or if the peer
    /// has to decide.
    pub(super) fn cancel_send(&mut self, request: Request, link: usize, number: u32) -> bool {
        let Some(found) = self.links[link].link.as_mut() else {
            return false;
        };
        let Some(outgoing) = found.outgoing[number as usize].as_mut() else {
            return false;
        };
        match outgoing.phase {
            Phase::Queued => {
                found.outbox.retain(|queued| *queued != number);
                found.forget(number);
                self.ops.end(request.index, Err(Error::Cancelled));
                true
            }
            Phase::Offered if outgoing.sent < outgoing.memory.len() => {
                outgoing.phase = Phase::Withdrawing;
                found.pushing.retain(|pushed| *pushed != number);
                found.outbox.push_back(number);
                let id = found.id;
                if let Err(error) = self.send_on(link) {
                    self.fail(id, error);
                }
                false
            }
            _ => false,
        }
    }

    /// Handles the peer's acceptance of an offered message.
    pub(super) fn accepted(&mut self, index: usize, head: Head) -> Result<(), Error> {
        let link = self.links[index].link.as_mut().expect("the caller has it");
        let outgoing = link.outgoing(head.id)?;
        match outgoing.phase {
            Phase::Offered | Phase::Withdrawing => {}
            _ => {
                return Err(Error::PeerMisbehaved(
                    "it accepts a message that was not offered",
                ))
            }
        }
        if outgoing.head.has(ANSWER) {
            return Err(Error::PeerMisbehaved(
                "it accepts a message that was not offered",
            ));
        }
        if outgoing.place.is_some() && head.value != 0 {
            // The request is refused. The `Taken` that follows repeats the reason.
            outgoing.phase = Phase::Sync;
            return Ok(());
        }
        let was_withdrawn = outgoing.phase == Phase::Withdrawing;
        outgoing.phase = Phase::Accepted;
        let (len, is_shown) = (outgoing.memory.len(), outgoing.is_shown);
        link.show(len, head.has(SHOW));
        if head.has(FETCHED) {
            if !is_shown {
                return Err(Error::PeerMisbehaved(
                    "it fetched a message without having its address",
                ));
            }
            link.outgoing(head.id)?.sent = len;
            link.pushing.retain(|pushed| *pushed != head.id);
            link.outbox.retain(|queued| *queued != head.id);
            self.all_sent(index, head.id);
            return Ok(());
        }
        if is_shown {
            // Parts of later messages may be sent early.
            link.shown.failed();
        }
        let outgoing = link.outgoing(head.id)?;
        let (sent, whole) = (outgoing.sent, outgoing.sent == len);
        link.early = link.early.saturating_sub(link.carrier.early_room(sent));
        if was_withdrawn {
            link.outbox.retain(|queued| *queued != head.id);
        }
        match whole {
            true => self.all_sent(index, head.id),
            false if !link.pushing.contains(&head.id) => link.pushing.push_back(head.id),
            false => {}
        }
        Ok(())
    }

    /// Handles the peer's confirmation of a message.
    pub(super) fn taken(&mut self, index: usize, head: Head) -> Result<(), Error> {
        let link = self.links[index].link.as_mut().expect("the caller has it");
        let id = link.id;
        let outgoing = link.outgoing(head.id)?;
        if outgoing.phase != Phase::Sync || !outgoing.head.has(SYNC) {
            return Err(Error::PeerMisbehaved(
                "it confirms a message that was not sent",
            ));
        }
        let (op, status) = (outgoing.op, outgoing.status(id));
        // Only requests for memory can be refused.
        if outgoing.place.is_none() && head.value != 0 {
            return Err(Error::PeerMisbehaved(
                "it refuses a message that is not a request",
            ));
        }
        let refusal = outgoing.refusal(head.value as u16);
        link.asked -= u32::from(outgoing.place.is_some());
        link.forget(head.id);
        if let Some(op) = op {
            self.ops.end(op, refusal.map_or(Ok(status), Err));
        }
        Ok(())
    }

    /// Handles the peer's confirmation of a withdrawal.
    pub(super) fn withdrawn(&mut self, index: usize, head: Head) -> Result<(), Error> {
        let link = self.links[index].link.as_mut().expect("the caller has it");
        let outgoing = link.outgoing(head.id)?;
        if outgoing.phase != Phase::Withdrawing {
            return Err(Error::PeerMisbehaved(
                "it forgets an offer that was not withdrawn",
            ));
        }
        let (op, sent) = (outgoing.op, outgoing.sent);
        link.forget(head.id);
        link.early = link.early.saturating_sub(link.carrier.early_room(sent));
        if let Some(op) = op {
            self.ops.end(op, Err(Error::Cancelled));
        }
        Ok(())
    }

    /// Sends what can be sent. Returns whether anything was sent.
    pub(super) fn send_on(&mut self, index: usize) -> Result<bool, Error> {
        let mut happened = false;
        let link = self.links[index].link.as_mut().expect("the caller has it");
        while let Some(answer) = link.answers.front() {
            if link.carrier.answer(answer)? != Sent::Done {
                break;
            }
            link.answers.pop_front();
            happened = true;
        }
        while self.send_rma(index)? {
            happened = true;
        }
        loop {
            let link = self.links[index].link.as_mut().expect("the caller has it");
            let Some(number) = link.outbox.front().copied() else {
                break;
            };
            if !self.announce(index, number)? {
                break;
            }
            happened = true;
        }
        loop {
            let link = self.links[index].link.as_mut().expect("the caller has it");
            let Some(number) = link.pushing.front().copied() else {
                break;
            };
            match self.push(index, number)? {
                Pushed::No => break,
                Pushed::Some => {}
            }
            happened = true;
            // To send a part takes long. Messages may have arrived in this time, and the peer may
            // wait for the answers.
            let link = self.links[index].link.as_ref();
            if link.is_some_and(|link| link.carrier.has_news()) {
                break;
            }
        }
        Ok(happened)
    }

    /// Sends or offers the first message of the outbox. Returns false if neither is possible now.
    fn announce(&mut self, index: usize, number: u32) -> Result<bool, Error> {
        let link = self.links[index].link.as_mut().expect("the caller has it");
        let carrier = &mut link.carrier;
        let outgoing = link.outgoing[number as usize]
            .as_mut()
            .expect("it is in the outbox");
        let len = outgoing.memory.len();
        // A message for a handler has no destination to which it could be fetched.
        let may_show = !outgoing.head.has(ACTIVE) && link.shown.has(len);
        let mut head = Head {
            id: number,
            ..outgoing.head
        };
        if outgoing.phase == Phase::Withdrawing {
            let withdraw = Head::new(Kind::Withdraw, number, 0);
            let sent = carrier.send(&withdraw, nothing())?;
            if sent == Sent::Done {
                link.outbox.pop_front();
            }
            return Ok(sent == Sent::Done);
        }
        let is_handed = carrier.hands_over(&outgoing.memory);
        if is_handed || len <= carrier.eager_max() {
            let payload = Payload {
                memory: &outgoing.memory,
                offset: 0,
                len,
            };
            match carrier.send(&head, payload)? {
                Sent::Done => {
                    outgoing.sent = len;
                    link.outbox.pop_front();
                    self.all_sent(index, number);
                    return Ok(true);
                }
                Sent::Busy => return Ok(false),
                // An offer needs an envelope, too.
                Sent::NoCredit if is_handed || len <= carrier.roomless_max() => return Ok(false),
                Sent::NoCredit => {}
            }
        }
        head.kind = Kind::Offer;
        let mut offer = [0; OFFER];
        offer[..8].copy_from_slice(&(len as u64).to_le_bytes());
        let start = outgoing.memory.contiguous();
        let shown = start.filter(|_| may_show);
        let address = shown.map_or(0, |start| start as u64);
        offer[8..].copy_from_slice(&address.to_le_bytes());
        let memory = Memory::one(offer.as_mut_ptr(), OFFER);
        let payload = Payload {
            memory: &memory,
            offset: 0,
            len: OFFER,
        };
        if carrier.send(&head, payload)? != Sent::Done {
            return Ok(false);
        }
        outgoing.phase = Phase::Offered;
        outgoing.is_shown = shown.is_some();
        link.outbox.pop_front();
        // The peer fetches the message, so no part has to be sent early.
        if shown.is_none() {
            link.pushing.push_back(number);
        }
        Ok(true)
    }

    /// Sends the next part of an offered message.
    fn push(&mut self, index: usize, number: u32) -> Result<Pushed, Error> {
        let link = self.links[index].link.as_mut().expect("the caller has it");
        let outgoing = link.outgoing[number as usize]
            .as_mut()
            .expect("it is being pushed");
        let rest = outgoing.memory.len() - outgoing.sent;
        let mut len = rest.min(link.carrier.part_max());
        let is_early = outgoing.phase == Phase::Offered;
        if is_early {
            len = len.min(link.carrier.early_max().saturating_sub(link.early));
            if len == 0 && rest > 0 {
                // The rest is sent after the acceptance.
                link.pushing.pop_front();
                return Ok(Pushed::Some);
            }
        }
        if rest > 0 {
            let mut head = Head::new(Kind::Part, number, outgoing.sent as u64);
            if outgoing.head.has(ANSWER) {
                (head.flags, head.id) = (ANSWER, outgoing.head.id);
            }
            let payload = Payload {
                memory: &outgoing.memory,
                offset: outgoing.sent,
                len,
            };
            if link.carrier.send(&head, payload)? != Sent::Done {
                return Ok(Pushed::No);
            }
            outgoing.sent += len;
            if is_early {
                link.early += link.carrier.early_room(len);
            }
        }
        link.pushing.pop_front();
        if outgoing.sent == outgoing.memory.len() {
            self.all_sent(index, number);
        } else {
            // Send one part of each message in turn.
            link.pushing.push_back(number);
        }
        Ok(Pushed::Some)
    }

    /// Ends a message whose bytes have all been sent, if it needs no confirmation.
    pub(super) fn all_sent(&mut self, index: usize, number: u32) {
        let link = self.links[index].link.as_mut().expect("the caller has it");
        let outgoing = link.outgoing[number as usize]
            .as_mut()
            .expect("it was sent");
        let status = outgoing.status(link.id);
        if outgoing.head.has(SYNC) {
            if outgoing.phase != Phase::Offered {
                outgoing.phase = Phase::Sync;
            }
            return;
        }
        if let Some(op) = outgoing.op.take() {
            self.ops.end(op, Ok(status));
        }
        // The peer answers an offer even if all its bytes have been sent early.
        if outgoing.phase != Phase::Offered {
            link.serving -= u32::from(outgoing.head.has(ANSWER));
            link.forget(number);
        }
    }
}

enum Pushed {
    No,
    Some,
}

/// A payload of no bytes.
pub(super) fn nothing() -> Payload<'static> {
    NOTHING.0.payload()
}

struct Nothing(Memory);

// SAFETY: it has no bytes.
unsafe impl Sync for Nothing {}

static NOTHING: Nothing = Nothing(Memory::One(NonNull::<u8>::dangling().as_ptr(), 0));

impl<C: Carrier> Link<C> {
    pub(super) fn number(&mut self, outgoing: Outgoing) -> u32 {
        match self.spare.pop() {
            Some(free) => {
                self.outgoing[free as usize] = Some(outgoing);
                free
            }
            None => {
                self.outgoing.push(Some(outgoing));
                self.outgoing.len() as u32 - 1
            }
        }
    }

    /// Frees the number of an outgoing message that has ended.
    pub(super) fn forget(&mut self, number: u32) {
        self.outgoing[number as usize] = None;
        self.spare.push(number);
    }

    pub(super) fn outgoing(&mut self, number: u32) -> Result<&mut Outgoing, Error> {
        self.outgoing
            .get_mut(number as usize)
            .and_then(Option::as_mut)
            .ok_or(Error::PeerMisbehaved(
                "it answers a message that was not sent",
            ))
    }
}

impl Outgoing {
    fn status(&self, link: LinkId) -> Status {
        Status {
            link,
            tag: self.head.value,
            len: self.memory.len(),
        }
    }
}
