//! Receiving: matching messages with receives, holding unexpected messages, and assembling parts.

use std::collections::VecDeque;
use std::ptr::NonNull;

use super::super::carrier::{Body, Carrier, FarEnd};
use super::super::head::{Head, Kind, ACTIVE, ANSWER, OFFER, SYNC};
use super::super::link_id::LinkId;
use super::super::memory::Memory;
use super::super::ops::{Ops, Request, State, Status};
use super::super::queue::Queues;
use super::super::remote_key::Key;
use super::super::unexpected::{Unexpected, What};
use super::super::wanted::Wanted;
use super::choice::Copies;
use super::fetching::{Fetch, SLICE};
use super::{alone, link_among, Engine, Link};
use crate::Error;

/// After this number of messages has left the queue, the peer is told at once that their envelopes
/// are free.
const CREDIT_BATCH: u32 = 16;

/// An offered message on its way in.
pub(super) struct Inbound {
    pub(super) id: u32,
    pub(super) len: usize,
    pub(super) got: usize,
    pub(super) target: Target,
    is_sync: bool,
    /// Set if the message answers our request with the same number.
    pub(super) is_answer: bool,
    /// The code of the refusal, or 0 if the request was not refused.
    code: u16,
    /// The message's address in the sender's memory, or 0.
    pub(super) address: u64,
    /// Set if the message is being read from this address. Then no parts of it come.
    pub(super) is_being_fetched: bool,
}

pub(super) enum Target {
    /// The message is not matched yet. Holds the parts that came early.
    Held(Vec<Body>),
    Receive(u32),
    Handler {
        handler: u16,
        tag: u64,
        bytes: Vec<u8>,
    },
    /// Memory that was offered under this key, or `None` if the received bytes are dropped.
    Put(Key, Option<Memory>),
}

impl Inbound {
    /// Data that a peer writes to offered memory.
    pub(super) fn put(id: u32, len: usize, target: Target, address: u64, code: u16) -> Inbound {
        Inbound {
            id,
            len,
            got: 0,
            target,
            is_sync: true,
            is_answer: false,
            code,
            address,
            is_being_fetched: false,
        }
    }

    /// Data that we read from a peer's memory.
    pub(super) fn answer(id: u32, len: usize, op: u32) -> Inbound {
        Inbound {
            target: Target::Receive(op),
            is_sync: false,
            is_answer: true,
            ..Inbound::put(id, len, Target::Receive(op), 0, 0)
        }
    }

    /// Whether this message has this number. Answers to our requests have the numbers of our
    /// requests.
    pub(super) fn is(&self, id: u32, is_answer: bool) -> bool {
        self.id == id && self.is_answer == is_answer
    }

    /// The message with this number.
    pub(super) fn find(all: &mut [Inbound], id: u32, is_answer: bool) -> Option<&mut Inbound> {
        all.iter_mut().find(|inbound| inbound.is(id, is_answer))
    }

    /// Whether a part with this head belongs to this message.
    fn takes(&self, head: &Head) -> bool {
        self.is(head.id, head.has(ANSWER))
    }
}

/// A message for a handler.
pub(crate) struct Active {
    pub(crate) from: LinkId,
    pub(crate) handler: u16,
    pub(crate) tag: u64,
    pub(crate) bytes: Bytes,
}

pub(crate) enum Bytes {
    Body(Body),
    Whole(Vec<u8>),
}

/// The result of [`Engine::catch`].
pub(crate) enum Caught {
    /// No message has arrived.
    Nothing,
    /// The wanted message, or the error of its receive.
    It(Result<Status, Error>),
    /// Another message has arrived, and has to be received in the ordinary way.
    Other,
}

impl<C: Carrier> Engine<C> {
    /// Receives the next message of a link without posting a receive, if the message is short and
    /// matches, and no other message or receive waits.
    #[inline]
    pub(crate) fn catch(&mut self, from: LinkId, wanted: &Wanted, memory: &Memory) -> Caught {
        if !self.queues.is_empty() {
            return Caught::Other;
        }
        let link = link_among(&mut self.links, from);
        let Some(link) = link.filter(|link| !link.has_to_send()) else {
            return Caught::Other;
        };
        let caught = link.carrier.recv_short(|head| {
            (Head::is_plain(head) && wanted.takes(from, head[1])).then_some(memory)
        });
        if let Some((tag, len)) = caught {
            link.carrier.matched(len);
            link.owes_credit(&mut self.untold);
            let status = Status {
                link: from,
                tag,
                len,
            };
            return Caught::It(status.fits(memory.len()));
        }
        if link.carrier.may_have_come() {
            return Caught::Other;
        }
        // The program waits anyway, so there is time to tell the peer about its credit.
        let _ = link.carrier.flush();
        Caught::Nothing
    }

    /// Begins a receive.
    #[inline]
    pub(crate) fn receive(&mut self, wanted: Wanted, memory: Memory) -> Request {
        self.settle(&wanted);
        if let Some(found) = self.queues.message_for(&wanted) {
            let request = self.ops.begin_receive(memory);
            self.take_queued(found, request.index);
            return request;
        }
        if let Some(error) = self.hopeless(&wanted) {
            return self.ops.ended(Err(error));
        }
        let request = self.ops.begin_receive(memory);
        self.queues.post(wanted, request.index);
        request
    }

    /// Whether all peers have gone, and no new ones can come.
    fn is_left(&self) -> bool {
        self.partings > 0 && !self.is_open && self.is_alone()
    }

    /// Delivers messages that the program has sent to itself, if no other message can still match
    /// the receive.
    #[inline]
    pub(crate) fn settle(&mut self, wanted: &Wanted) {
        if self.partings > 0 && wanted.from.is_none() && self.is_left() {
            self.go_on_alone();
        }
    }

    /// The reason why no message can ever match this receive. `None` if a message may still match.
    #[inline]
    pub(crate) fn hopeless(&self, wanted: &Wanted) -> Option<Error> {
        let full = Link::<C>::is_full;
        match wanted.from {
            Some(from) => {
                let slot = self.links.get(from.index as usize);
                match slot
                    .and_then(|slot| slot.link.as_ref())
                    .filter(|link| link.id == from)
                {
                    None => Some(self.why_gone(from)),
                    Some(link) if link.carrier.far() == FarEnd::Nobody => Some(Error::NoPeer),
                    Some(link) if link.is_full() => Some(Error::Starved(link.queued)),
                    Some(_) => None,
                }
            }
            None => {
                let mut links = self
                    .links
                    .iter()
                    .filter_map(|slot| slot.link.as_ref())
                    .filter(|link| link.carrier.far() != FarEnd::Nobody)
                    .peekable();
                if links.peek().is_none() {
                    return Some(Error::Closed("this end".into()));
                }
                if self.is_left() {
                    return Some(alone());
                }
                links.all(full).then(|| self.starved())
            }
        }
    }

    /// The source, tag and length of the message that a receive would take.
    pub(crate) fn peek(&self, wanted: &Wanted) -> Option<Status> {
        let found = self.queues.peek_message(wanted)?;
        Some(Status {
            link: found.from,
            tag: found.tag,
            len: found.len(),
        })
    }

    /// Takes a whole message out of the queue, without copying it. Returns `None` if there is no
    /// match, or if the message is still with its sender.
    pub(crate) fn take_in_place(&mut self, wanted: &Wanted) -> Option<(Status, Body)> {
        let found = self.queues.peek_message(wanted)?;
        if let What::Offer { .. } = found.what {
            return None;
        }
        let found = self.queues.message_for(wanted)?;
        let status = Status {
            link: found.from,
            tag: found.tag,
            len: found.len(),
        };
        let What::Whole { body, sync } = found.what else {
            unreachable!("looked at above");
        };
        if let Some(link) = link_among(&mut self.links, found.from) {
            link.leaves_queue(body.len(), &mut self.untold);
            link.answers
                .extend(sync.map(|id| Head::new(Kind::Taken, id, 0)));
            let id = link.id;
            if let Err(error) = self.send_on(id.index as usize) {
                self.fail(id, error);
            }
        }
        Some((status, body))
    }

    /// Receives the next short messages as long as each matches a posted receive. Returns their
    /// number.
    #[inline]
    pub(super) fn take_short(&mut self, index: usize, max: usize) -> usize {
        let Some(link) = self.links[index].link.as_mut() else {
            return 0;
        };
        let from = link.id;
        for taken in 0..max {
            let mut receive = None;
            let (queues, ops) = (&mut self.queues, &mut self.ops);
            let found = link.carrier.recv_short(|head| {
                let op = Head::is_plain(head)
                    .then(|| queues.receive_for(from, head[1]))
                    .flatten()?;
                let State::Receive(posted) = ops.state(op) else {
                    unreachable!("every posted operation is a receive");
                };
                receive = Some((op, posted.memory.len()));
                Some(&posted.memory)
            });
            let (Some((tag, len)), Some((op, room))) = (found, receive) else {
                return taken;
            };
            let status = Status {
                link: from,
                tag,
                len,
            };
            self.ops.end(op, status.fits(room));
            link.carrier.matched(len);
        }
        max
    }

    /// Handles the arrival of a whole message.
    #[inline(always)]
    pub(super) fn arrived(&mut self, index: usize, head: Head, body: Body) -> Result<(), Error> {
        let link = self.links[index].link.as_mut().expect("the caller has it");
        let sync = head.has(SYNC).then_some(head.id);
        let from = link.id;
        if head.has(ACTIVE) {
            link.joins_queue()?;
            self.active.push_back(Active {
                from,
                handler: head.handler,
                tag: head.value,
                bytes: Bytes::Body(body),
            });
            link.answers
                .extend(sync.map(|id| Head::new(Kind::Taken, id, 0)));
            return Ok(());
        }
        let placed = link.placing.take();
        let Some(op) = placed.or_else(|| self.queues.receive_for(from, head.value)) else {
            link.joins_queue()?;
            let is_full = link.is_full();
            self.queues.hold(Unexpected {
                from,
                tag: head.value,
                what: What::Whole { body, sync },
            });
            if is_full {
                self.starve();
            }
            return Ok(());
        };
        link.answers
            .extend(sync.map(|id| Head::new(Kind::Taken, id, 0)));
        let len = finish_whole(
            &mut self.ops,
            &mut self.fetching,
            op,
            (from, head.value),
            body,
        );
        link.carrier.matched(len);
        Ok(())
    }

    pub(super) fn offered(&mut self, index: usize, head: Head, body: Body) -> Result<(), Error> {
        let link = self.links[index].link.as_mut().expect("the caller has it");
        let wrong = Error::PeerMisbehaved("an offer is invalid");
        let Body::Short([len_sent, address, _], size) = body else {
            return Err(wrong);
        };
        let mut inbound = link.inbound.iter();
        let is_double = inbound.any(|inbound| inbound.is(head.id, false));
        if size as usize != OFFER || is_double {
            return Err(wrong);
        }
        let len = usize::try_from(u64::from_le(len_sent))
            .ok()
            .filter(|len| *len <= isize::MAX as usize);
        let len = len.ok_or(wrong)?;
        let from = link.id;
        let mut inbound = Inbound {
            id: head.id,
            len,
            got: 0,
            target: Target::Held(Vec::new()),
            is_sync: head.has(SYNC),
            is_answer: false,
            code: 0,
            address: u64::from_le(address),
            is_being_fetched: false,
        };
        if head.has(ACTIVE) {
            link.joins_queue()?;
            inbound.target = Target::Handler {
                handler: head.handler,
                tag: head.value,
                bytes: Vec::new(),
            };
            let acceptance = link.acceptance(head.id, len);
            link.answers.push_back(acceptance);
            link.inbound.push(inbound);
            return self.came_in(index, head.id, false);
        }
        match self.queues.receive_for(from, head.value) {
            Some(op) => {
                matched(&mut self.ops, op, from, head.value, len);
                inbound.target = Target::Receive(op);
                link.carrier.matched(0);
                link.inbound.push(inbound);
                self.ask(index, head.id);
                self.came_in(index, head.id, false)
            }
            None => {
                link.joins_queue()?;
                let is_full = link.is_full();
                link.inbound.push(inbound);
                self.queues.hold(Unexpected {
                    from,
                    tag: head.value,
                    what: What::Offer { id: head.id, len },
                });
                if is_full {
                    self.starve();
                }
                Ok(())
            }
        }
    }

    pub(super) fn part(&mut self, index: usize, head: Head, body: Body) -> Result<(), Error> {
        let link = self.links[index].link.as_mut().expect("the caller has it");
        link.placing = None;
        let inbound = link.inbound.iter_mut().find(|inbound| inbound.takes(&head));
        let Some(inbound) = inbound else {
            return Err(Error::PeerMisbehaved("a part belongs to no message"));
        };
        let len = body.len();
        let fits = head.value == inbound.got as u64 && len <= inbound.len - inbound.got && len > 0;
        if !fits || inbound.is_being_fetched {
            return Err(Error::PeerMisbehaved("a part does not fit its message"));
        }
        match &mut inbound.target {
            Target::Held(parts) => {
                link.held += len;
                if link.held > link.carrier.early_max() {
                    return Err(Error::PeerMisbehaved(
                        "it sends more early bytes than it may",
                    ));
                }
                parts.push(body);
            }
            Target::Receive(op) => {
                if let (Some(bytes), State::Receive(receive)) = (body.as_ptr(), self.ops.state(*op))
                {
                    // SAFETY: the body has `len` bytes.
                    unsafe { receive.memory.scatter(inbound.got, bytes, len) };
                }
            }
            Target::Handler { bytes, .. } => {
                // Allocate for the bytes that have arrived, not for the announced length.
                if bytes.try_reserve(len).is_err() {
                    return Err(Error::PeerMisbehaved(
                        "a message for a handler does not fit into memory",
                    ));
                }
                match &body {
                    Body::Held(message) => message.copy_range(0, len, bytes),
                    Body::Short(words, _) => {
                        bytes.extend_from_slice(&words.map(u64::to_ne_bytes).as_flattened()[..len])
                    }
                    Body::Placed(_) => unreachable!("no place is given for handlers"),
                }
            }
            Target::Put(_, Some(memory)) => {
                if let Some(bytes) = body.as_ptr() {
                    // SAFETY: the body has `len` bytes.
                    unsafe { memory.scatter(inbound.got, bytes, len) };
                }
            }
            Target::Put(_, None) => {}
        }
        inbound.got += len;
        let (whole, is_last) = (inbound.len, inbound.got == inbound.len);
        // Messages for handlers are never fetched.
        if !head.has(ANSWER) && !matches!(inbound.target, Target::Handler { .. }) {
            link.came(whole, Copies::Two, (len, is_last));
        }
        self.came_in(index, head.id, head.has(ANSWER))
    }

    /// Ends an offered message when all its bytes have arrived.
    pub(super) fn came_in(&mut self, index: usize, id: u32, is_answer: bool) -> Result<(), Error> {
        let link = self.links[index].link.as_mut().expect("the caller has it");
        let is_it = |inbound: &Inbound| inbound.is(id, is_answer);
        let Some(at) = link.inbound.iter().position(is_it) else {
            return Ok(());
        };
        let inbound = &link.inbound[at];
        if inbound.got < inbound.len || matches!(inbound.target, Target::Held(_)) {
            return Ok(());
        }
        let inbound = link.inbound.swap_remove(at);
        if inbound.is_sync {
            link.answers
                .push_back(Head::new(Kind::Taken, id, inbound.code.into()));
        }
        if is_answer {
            link.asked -= 1;
            link.forget(id);
        }
        match inbound.target {
            Target::Held(_) => {}
            Target::Put(..) => link.serving -= 1,
            Target::Receive(op) => finish_received(&mut self.ops, op),
            Target::Handler {
                handler,
                tag,
                bytes,
            } => self.active.push_back(Active {
                from: link.id,
                handler,
                tag,
                bytes: Bytes::Whole(bytes),
            }),
        }
        Ok(())
    }

    /// Handles the peer's withdrawal of an offer.
    pub(super) fn withdraw(&mut self, index: usize, head: Head) -> Result<(), Error> {
        let link = self.links[index].link.as_mut().expect("the caller has it");
        let at = link.inbound.iter().position(|inbound| inbound.takes(&head));
        let Some(at) = at else {
            return Err(Error::PeerMisbehaved(
                "it withdraws a message that it did not offer",
            ));
        };
        // A message that has been matched is accepted already. The withdrawal does not change that.
        if matches!(link.inbound[at].target, Target::Held(_)) {
            let id = link.id;
            link.held -= link.inbound.swap_remove(at).got;
            if !self.queues.forget_offer(id, head.id) {
                return Err(Error::PeerMisbehaved(
                    "it withdraws a message that it did not offer",
                ));
            }
            link.leaves_queue(0, &mut self.untold);
            link.answers
                .push_back(Head::new(Kind::Withdrawn, head.id, 0));
        }
        Ok(())
    }

    /// Delivers a message from the queue to a receive.
    fn take_queued(&mut self, found: Unexpected, op: u32) {
        let from = found.from;
        match found.what {
            What::Whole { body, sync } => {
                let len = finish_whole(
                    &mut self.ops,
                    &mut self.fetching,
                    op,
                    (from, found.tag),
                    body,
                );
                if let Some(link) = link_among(&mut self.links, from) {
                    link.leaves_queue(len, &mut self.untold);
                    link.answers
                        .extend(sync.map(|id| Head::new(Kind::Taken, id, 0)));
                }
            }
            What::Offer { id, len } => {
                matched(&mut self.ops, op, from, found.tag, len);
                let link = self.links[from.index as usize].link.as_mut();
                let link = link.expect("offers go with their link");
                link.leaves_queue(0, &mut self.untold);
                let inbound = link
                    .inbound
                    .iter_mut()
                    .find(|inbound| inbound.id == id && !inbound.is_answer);
                let inbound = inbound.expect("offers in the queue are on their way in");
                link.held -= inbound.got;
                let held = std::mem::replace(&mut inbound.target, Target::Receive(op));
                if let (Target::Held(parts), State::Receive(receive)) = (held, self.ops.state(op)) {
                    let mut offset = 0;
                    for part in parts {
                        if let Some(bytes) = part.as_ptr() {
                            // SAFETY: the part has `part.len()` bytes.
                            unsafe { receive.memory.scatter(offset, bytes, part.len()) };
                        }
                        offset += part.len();
                    }
                }
                self.ask(from.index as usize, id);
                // This cannot fail for a message that was valid so far.
                let _ = self.came_in(from.index as usize, id, false);
            }
        }
        if self.link(from).is_some() {
            if let Err(error) = self.send_on(from.index as usize) {
                self.fail(from, error);
            }
        }
    }

    /// A handler has returned, so its message's envelope may be used again.
    pub(crate) fn handled(&mut self, from: LinkId, eager_bytes: usize) {
        if let Some(link) = link_among(&mut self.links, from) {
            link.leaves_queue(eager_bytes, &mut self.untold);
        }
    }

    /// The error of a receive that cannot match, because unexpected messages hold all envelopes.
    fn starved(&self) -> Error {
        let links = self.links.iter().filter_map(|slot| slot.link.as_ref());
        Error::Starved(links.map(|link| link.queued).sum())
    }

    /// Ends the receives that no message can match any more.
    fn starve(&mut self) {
        let links: Vec<(LinkId, bool)> = self
            .links
            .iter()
            .filter_map(|slot| slot.link.as_ref())
            .filter(|link| link.carrier.far() != FarEnd::Nobody)
            .map(|link| (link.id, link.is_full()))
            .collect();
        let all_full = links.iter().all(|(_, full)| *full);
        let starved = self.queues.unpost_where(|wanted| match wanted.from {
            Some(from) => links.iter().any(|(id, full)| *id == from && *full),
            None => all_full,
        });
        for op in starved {
            let error = self.starved();
            self.ops.end(op, Err(error));
        }
    }
}

impl<C: Carrier> Link<C> {
    /// Whether this link's unexpected messages hold all its envelopes.
    fn is_full(&self) -> bool {
        self.queued >= self.carrier.envelopes()
    }

    pub(super) fn joins_queue(&mut self) -> Result<(), Error> {
        if self.is_full() {
            return Err(Error::PeerMisbehaved("it sends without credit"));
        }
        self.queued += 1;
        Ok(())
    }

    /// One of this link's messages has left the queue, so its envelope is free. The program often
    /// takes many messages in a row, and to wake the peer takes as long as to take many messages.
    /// So the peer is told at once only after each [`CREDIT_BATCH`] envelopes (or a quarter of the
    /// envelopes, if that is less), and when the queue has none of the peer's messages left.
    fn leaves_queue(&mut self, eager_bytes: usize, untold: &mut Vec<LinkId>) {
        self.queued -= 1;
        self.carrier.matched(eager_bytes);
        let batch = (self.carrier.envelopes() / 4).clamp(1, CREDIT_BATCH);
        if self.queued % batch == 0 {
            // An error means that the peer is gone. The next read from the link detects that.
            let _ = self.carrier.flush();
        } else {
            self.owes_credit(untold);
        }
    }

    /// Adds the link to the list of the links whose peers have to be told about credit.
    #[inline]
    fn owes_credit(&mut self, untold: &mut Vec<LinkId>) {
        if !std::mem::replace(&mut self.is_listed, true) {
            untold.push(self.id);
        }
    }
}

/// The address to which the carrier may write a payload directly, without a buffer.
pub(super) fn place(
    head: &Head,
    len: usize,
    from: LinkId,
    queues: &mut Queues,
    ops: &mut Ops,
    inbound: &mut [Inbound],
    placing: &mut Option<u32>,
) -> Option<NonNull<u8>> {
    let (op, offset) = match head.kind {
        Kind::Eager if !head.has(ACTIVE) => (queues.peek_receive(from, head.value)?, 0),
        Kind::Part => {
            let found = inbound.iter().find(|inbound| inbound.takes(head))?;
            let fits = head.value == found.got as u64 && len <= found.len - found.got;
            match &found.target {
                Target::Receive(op) if fits => (*op, found.got),
                Target::Put(_, Some(memory)) if fits => {
                    let place = memory.part(found.got as u64, len)?;
                    return NonNull::new(place.contiguous()?);
                }
                _ => return None,
            }
        }
        _ => return None,
    };
    let State::Receive(receive) = ops.state(op) else {
        return None;
    };
    let start = receive.memory.contiguous()?;
    if offset.checked_add(len)? > receive.memory.len() {
        return None;
    }
    if head.kind == Kind::Eager {
        queues.receive_for(from, head.value);
        *placing = Some(op);
    }
    // SAFETY: inside the receive's memory, as checked above.
    NonNull::new(unsafe { start.add(offset) })
}

/// Records that a receive matches a message whose bytes are still to come.
pub(super) fn matched(ops: &mut Ops, op: u32, link: LinkId, tag: u64, len: usize) {
    if let State::Receive(receive) = ops.state(op) {
        receive.status = Some(Box::new(Status { link, tag, len }));
    }
}

/// Ends a receive whose message is complete.
#[inline]
pub(super) fn finish_received(ops: &mut Ops, op: u32) {
    let State::Receive(receive) = ops.state(op) else {
        return;
    };
    let room = receive.memory.len();
    let status = receive.status.take().expect("matched before anything came");
    ops.end(op, status.fits(room));
}

/// Completes a receive with a message that is already here. Returns the message's length.
#[inline(always)]
fn finish_whole(
    ops: &mut Ops,
    fetching: &mut VecDeque<Fetch>,
    op: u32,
    (link, tag): (LinkId, u64),
    body: Body,
) -> usize {
    let len = body.len();
    let State::Receive(receive) = ops.state(op) else {
        return len;
    };
    if let Some(bytes) = body.as_ptr() {
        if len > SLICE {
            receive.status = Some(Box::new(Status { link, tag, len }));
            fetching.push_back(Fetch::Here { op, body, got: 0 });
            return len;
        }
        // SAFETY: the body has `len` bytes.
        unsafe { receive.memory.scatter(0, bytes, len) };
    }
    let result = Status { link, tag, len }.fits(receive.memory.len());
    ops.end(op, result);
    len
}
