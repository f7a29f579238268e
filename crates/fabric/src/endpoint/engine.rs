//! The protocol of an endpoint and all its links, without any waiting and any clock.
//!
//! A message of up to [`Carrier::eager_max`] bytes is sent at once, while the receiver grants room and envelopes. A longer one, or one for which there
//! is no room, is *offered* (rendezvous): an envelope, and as many bytes as may be sent early; the rest when the receiver has accepted. So what a
//! receiver holds of messages that its program does not take is bounded per link, and the envelopes, too. Parts of accepted messages always find
//! room, because the receiver gives it back at once: they wait for nothing but its processor.

use std::collections::VecDeque;
use std::ptr::NonNull;

use super::carrier::{Body, Carrier, Payload, Sent, ENVELOPES};
use super::head::{Head, Kind, ACTIVE, OFFER, SYNC};
use super::memory::Memory;
use super::ops::{Ops, Receive, Request, State, Status};
use super::queue::{Queues, Unexpected, Wanted, What};
use super::LinkId;
use crate::Error;

/// Frames taken from one link before the next one has its turn.
const TURN: usize = 32;

pub(crate) struct Engine<C> {
    links: Vec<Slot<C>>,
    pub(crate) ops: Ops,
    queues: Queues,
    /// Messages for handlers, in the order of their arrival.
    pub(crate) active: VecDeque<Active>,
}

struct Slot<C> {
    generation: u32,
    link: Option<Link<C>>,
    /// Why the last link here ended.
    end: Option<Error>,
}

pub(crate) struct Link<C> {
    pub(crate) carrier: C,
    id: LinkId,
    /// Messages to be announced, in order.
    outbox: VecDeque<u32>,
    /// Messages announced of which the rest may be sent.
    pushing: VecDeque<u32>,
    outgoing: Vec<Option<Outgoing>>,
    /// Places in `outgoing` that are free.
    spare: Vec<u32>,
    answers: VecDeque<Head>,
    inbound: Vec<Inbound>,
    /// The receive that the carrier is writing into.
    placing: Option<u32>,
    /// Bytes sent of offers that have not been accepted.
    early: usize,
    /// Messages of this link that wait here for a receive or a handler.
    queued: u32,
}

/// A message on its way out.
struct Outgoing {
    head: Head,
    memory: Memory,
    /// Who is told of its end.
    op: Option<u32>,
    sent: usize,
    phase: Phase,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Queued,
    Offered,
    Withdrawing,
    Accepted,
    /// All is sent, and the receiver is to say that it took it.
    Sync,
}

/// An offered message on its way in.
struct Inbound {
    id: u32,
    len: usize,
    got: usize,
    target: Target,
    is_sync: bool,
}

enum Target {
    /// Not matched yet: what came early.
    Held(Vec<Body>),
    Receive(u32),
    Handler {
        handler: u16,
        tag: u64,
        bytes: Vec<u8>,
    },
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

/// How a message is to be sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct How {
    /// The send ends when the receiver has matched the message, not when its memory may be used again.
    pub sync: bool,
    /// It may overtake others of the same link.
    pub unordered: bool,
}

impl<C: Carrier> Engine<C> {
    pub(crate) fn new() -> Engine<C> {
        Engine {
            links: Vec::new(),
            ops: Ops::default(),
            queues: Queues::default(),
            active: VecDeque::new(),
        }
    }

    pub(crate) fn add_link(&mut self, carrier: C) -> LinkId {
        let free = self.links.iter().position(|slot| slot.link.is_none());
        let index = free.unwrap_or_else(|| {
            self.links.push(Slot {
                generation: 0,
                link: None,
                end: None,
            });
            self.links.len() - 1
        });
        let slot = &mut self.links[index];
        slot.generation += 1;
        slot.end = None;
        let id = LinkId {
            index: index as u32,
            generation: slot.generation,
        };
        slot.link = Some(Link {
            carrier,
            id,
            outbox: VecDeque::new(),
            pushing: VecDeque::new(),
            outgoing: Vec::new(),
            spare: Vec::new(),
            answers: VecDeque::new(),
            inbound: Vec::new(),
            placing: None,
            early: 0,
            queued: 0,
        });
        id
    }

    /// Why there is no such link.
    fn why_gone(&self, id: LinkId) -> Error {
        let slot = self.links.get(id.index as usize);
        let end = slot
            .filter(|slot| slot.generation == id.generation)
            .and_then(|slot| slot.end.as_ref());
        end.map_or(Error::Misuse("the link has been closed"), Error::again)
    }

    pub(crate) fn links(&mut self) -> impl Iterator<Item = (LinkId, &mut C)> {
        self.links
            .iter_mut()
            .filter_map(|slot| slot.link.as_mut())
            .map(|link| (link.id, &mut link.carrier))
    }

    pub(crate) fn carrier(&mut self, id: LinkId) -> Option<&mut C> {
        self.link(id).map(|link| &mut link.carrier)
    }

    fn link(&mut self, id: LinkId) -> Option<&mut Link<C>> {
        let slot = self.links.get_mut(id.index as usize)?;
        slot.link.as_mut().filter(|link| link.id == id)
    }

    /// Whether the link has work of its own that the peer's reading lets go on.
    pub(crate) fn is_sending(&self, id: LinkId) -> bool {
        let link = self
            .links
            .get(id.index as usize)
            .and_then(|slot| slot.link.as_ref());
        link.is_some_and(|link| {
            !link.outbox.is_empty()
                || !link.pushing.is_empty()
                || !link.answers.is_empty()
                || link.carrier.is_blocked()
        })
    }

    /// Begins to send. Where all goes at once, the operation has ended when this returns.
    ///
    /// # Errors
    /// [`Error::Misuse`] for a link that is not there any more.
    #[inline]
    pub(crate) fn send(
        &mut self,
        to: LinkId,
        head: Head,
        memory: Memory,
        how: How,
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
        if may_go && !how.sync && memory.len() <= link.carrier.eager_max() {
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

    /// Begins to receive.
    pub(crate) fn receive(&mut self, wanted: Wanted, memory: Memory) -> Request {
        if let Some(found) = self.queues.message_for(&wanted) {
            let request = self.ops.begin(State::Receive(Receive {
                memory,
                status: None,
            }));
            self.take_queued(found, request.index);
            return request;
        }
        if let Some(error) = self.hopeless(&wanted) {
            return self.ops.ended(Err(error));
        }
        let request = self.ops.begin(State::Receive(Receive {
            memory,
            status: None,
        }));
        self.queues.post(wanted, request.index);
        request
    }

    /// Why no message can ever come for this receive, or none.
    pub(crate) fn hopeless(&self, wanted: &Wanted) -> Option<Error> {
        let full = |link: &Link<C>| link.queued >= ENVELOPES;
        match wanted.from {
            Some(from) => {
                let slot = self.links.get(from.index as usize);
                match slot
                    .and_then(|slot| slot.link.as_ref())
                    .filter(|link| link.id == from)
                {
                    None => Some(self.why_gone(from)),
                    Some(link) if full(link) => Some(Error::Starved(link.queued)),
                    Some(_) => None,
                }
            }
            None => {
                let mut links = self
                    .links
                    .iter()
                    .filter_map(|slot| slot.link.as_ref())
                    .peekable();
                links.peek()?;
                links.all(full).then_some(Error::Starved(ENVELOPES))
            }
        }
    }

    /// The message that a receive would take: where from, which tag, how long.
    pub(crate) fn peek(&self, wanted: &Wanted) -> Option<Status> {
        let found = self.queues.peek_message(wanted)?;
        Some(Status {
            link: found.from,
            tag: found.tag,
            len: found.len(),
        })
    }

    /// Takes a whole message out of the queue, where it lies. None where there is none, or where it is still with its sender.
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
        if let Some(link) = self.link(found.from) {
            link.leaves_queue(body.len());
            link.answers
                .extend(sync.map(|id| Head::new(Kind::Taken, id, 0)));
            let id = link.id;
            if let Err(error) = self.send_on(id.index as usize) {
                self.fail(id, error);
            }
        }
        Some((status, body))
    }

    /// Gives up an operation that has not been matched. False when it is too late, or not known yet: then it ends as it ends.
    pub(crate) fn cancel(&mut self, request: Request) -> Result<bool, Error> {
        let (link, number) = match self.ops.running(request)? {
            None => return Ok(false),
            Some(State::Receive(_)) => {
                let taken = self.queues.unpost(request.index);
                if taken {
                    self.ops.end(request.index, Err(Error::Cancelled));
                }
                return Ok(taken);
            }
            Some(State::Send {
                link,
                number: Some(number),
            }) => (*link, *number),
            Some(_) => return Ok(false),
        };
        let Some(found) = self.links[link as usize].link.as_mut() else {
            return Ok(false);
        };
        let Some(outgoing) = found.outgoing[number as usize].as_mut() else {
            return Ok(false);
        };
        match outgoing.phase {
            Phase::Queued => {
                found.outbox.retain(|queued| *queued != number);
                found.forget(number);
                self.ops.end(request.index, Err(Error::Cancelled));
                Ok(true)
            }
            Phase::Offered if outgoing.sent < outgoing.memory.len() => {
                outgoing.phase = Phase::Withdrawing;
                found.pushing.retain(|pushed| *pushed != number);
                found.outbox.push_back(number);
                let id = found.id;
                if let Err(error) = self.send_on(link as usize) {
                    self.fail(id, error);
                }
                Ok(false)
            }
            _ => Ok(false),
        }
    }

    /// Takes what has come and sends what can go, on one link. True when anything happened.
    pub(crate) fn progress(&mut self, id: LinkId) -> bool {
        match self.try_progress(id) {
            Ok(happened) => happened,
            Err(error) => {
                self.fail(id, error);
                true
            }
        }
    }

    fn try_progress(&mut self, id: LinkId) -> Result<bool, Error> {
        let index = id.index as usize;
        let mut happened = false;
        for _ in 0..TURN {
            let Some(slot) = self.links.get_mut(index) else {
                break;
            };
            let Some(link) = slot.link.as_mut().filter(|link| link.id == id) else {
                break;
            };
            let (queues, ops) = (&mut self.queues, &mut self.ops);
            let (inbound, placing) = (&mut link.inbound, &mut link.placing);
            let mut placer =
                |head: &Head, len: usize| place(head, len, id, queues, ops, inbound, placing);
            let Some((head, body)) = link.carrier.recv(&mut placer)? else {
                break;
            };
            happened = true;
            self.handle(index, head, body)?;
        }
        if self.is_sending(id) {
            happened |= self.send_on(index)?;
        }
        if let Some(link) = self.link(id) {
            link.carrier.flush()?;
        }
        Ok(happened)
    }

    fn handle(&mut self, index: usize, head: Head, body: Body) -> Result<(), Error> {
        let link = self.links[index].link.as_mut().expect("the caller has it");
        match head.kind {
            Kind::Eager => self.arrived(index, head, body),
            Kind::Offer => self.offered(index, head, body),
            Kind::Part => self.part(index, head, body),
            Kind::Accept => {
                let outgoing = link.outgoing(head.id)?;
                match outgoing.phase {
                    Phase::Offered | Phase::Withdrawing => {}
                    _ => return Err(Error::PeerMisbehaved("it accepts what was not offered")),
                }
                let was_withdrawn = outgoing.phase == Phase::Withdrawing;
                outgoing.phase = Phase::Accepted;
                let (sent, whole) = (outgoing.sent, outgoing.sent == outgoing.memory.len());
                link.early = link.early.saturating_sub(sent);
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
            Kind::Taken => {
                let id = link.id;
                let outgoing = link.outgoing(head.id)?;
                if outgoing.phase != Phase::Sync {
                    return Err(Error::PeerMisbehaved("it takes what was not sent"));
                }
                let (op, status) = (outgoing.op, outgoing.status(id));
                link.forget(head.id);
                if let Some(op) = op {
                    self.ops.end(op, Ok(status));
                }
                Ok(())
            }
            Kind::Withdraw => {
                let at = link
                    .inbound
                    .iter()
                    .position(|inbound| inbound.id == head.id);
                let Some(at) = at else {
                    return Err(Error::PeerMisbehaved("it withdraws what it did not offer"));
                };
                // A message that has been matched is accepted already, and stays so.
                if matches!(link.inbound[at].target, Target::Held(_)) {
                    let id = link.id;
                    link.inbound.swap_remove(at);
                    if !self.queues.forget_offer(id, head.id) {
                        return Err(Error::PeerMisbehaved("it withdraws what it did not offer"));
                    }
                    link.leaves_queue(0);
                    link.answers
                        .push_back(Head::new(Kind::Withdrawn, head.id, 0));
                }
                Ok(())
            }
            Kind::Withdrawn => {
                let outgoing = link.outgoing(head.id)?;
                if outgoing.phase != Phase::Withdrawing {
                    return Err(Error::PeerMisbehaved("it forgets what was not withdrawn"));
                }
                let (op, sent) = (outgoing.op, outgoing.sent);
                link.forget(head.id);
                link.early = link.early.saturating_sub(sent);
                if let Some(op) = op {
                    self.ops.end(op, Err(Error::Cancelled));
                }
                Ok(())
            }
            Kind::Credit => Err(Error::PeerMisbehaved(
                "credit comes where it is not counted",
            )),
        }
    }

    /// A whole message has come.
    #[inline]
    fn arrived(&mut self, index: usize, head: Head, body: Body) -> Result<(), Error> {
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
            let is_full = link.queued >= ENVELOPES;
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
        let len = finish_whole(&mut self.ops, op, from, head.value, body);
        link.carrier.matched(len);
        Ok(())
    }

    fn offered(&mut self, index: usize, head: Head, body: Body) -> Result<(), Error> {
        let link = self.links[index].link.as_mut().expect("the caller has it");
        let wrong = Error::PeerMisbehaved("an offer makes no sense");
        let Body::Short(bytes, len) = body else {
            return Err(wrong);
        };
        if len as usize != OFFER || link.inbound.iter().any(|inbound| inbound.id == head.id) {
            return Err(wrong);
        }
        let long = u64::from_le_bytes(std::array::from_fn(|i| bytes[i]));
        let len = usize::try_from(long)
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
        };
        if head.has(ACTIVE) {
            link.joins_queue()?;
            let mut bytes = Vec::new();
            // Memory that cannot be had is the peer's error here: nobody but it asked for so much.
            if bytes.try_reserve_exact(len).is_err() {
                return Err(Error::PeerMisbehaved(
                    "a message for a handler is longer than memory",
                ));
            }
            inbound.target = Target::Handler {
                handler: head.handler,
                tag: head.value,
                bytes,
            };
            link.answers.push_back(Head::new(Kind::Accept, head.id, 0));
            link.inbound.push(inbound);
            return self.came_in(index, head.id);
        }
        match self.queues.receive_for(from, head.value) {
            Some(op) => {
                matched(&mut self.ops, op, from, head.value, len);
                inbound.target = Target::Receive(op);
                link.carrier.matched(0);
                link.answers.push_back(Head::new(Kind::Accept, head.id, 0));
                link.inbound.push(inbound);
                self.came_in(index, head.id)
            }
            None => {
                link.joins_queue()?;
                let is_full = link.queued >= ENVELOPES;
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

    fn part(&mut self, index: usize, head: Head, body: Body) -> Result<(), Error> {
        let link = self.links[index].link.as_mut().expect("the caller has it");
        link.placing = None;
        let inbound = link
            .inbound
            .iter_mut()
            .find(|inbound| inbound.id == head.id);
        let Some(inbound) = inbound else {
            return Err(Error::PeerMisbehaved("a part belongs to no message"));
        };
        let len = body.len();
        if head.value != inbound.got as u64 || len > inbound.len - inbound.got || len == 0 {
            return Err(Error::PeerMisbehaved("a part does not fit its message"));
        }
        match &mut inbound.target {
            Target::Held(held) => held.push(body),
            Target::Receive(op) => {
                if let (Some(bytes), State::Receive(receive)) = (body.as_ptr(), self.ops.state(*op))
                {
                    // SAFETY: the body has that many bytes.
                    unsafe { receive.memory.scatter(inbound.got, bytes, len) };
                }
            }
            Target::Handler { bytes, .. } => match &body {
                Body::Held(message) => message.copy_range(0, len, bytes),
                Body::Short(short, _) => bytes.extend_from_slice(&short[..len]),
                Body::Placed(_) => unreachable!("no place is given for handlers"),
            },
        }
        inbound.got += len;
        self.came_in(index, head.id)
    }

    /// Ends an offered message when all of it has come.
    fn came_in(&mut self, index: usize, id: u32) -> Result<(), Error> {
        let link = self.links[index].link.as_mut().expect("the caller has it");
        let at = link.inbound.iter().position(|inbound| inbound.id == id);
        let Some(at) = at else {
            return Ok(());
        };
        let inbound = &link.inbound[at];
        if inbound.got < inbound.len || matches!(inbound.target, Target::Held(_)) {
            return Ok(());
        }
        let inbound = link.inbound.swap_remove(at);
        if inbound.is_sync {
            link.answers.push_back(Head::new(Kind::Taken, id, 0));
        }
        match inbound.target {
            Target::Held(_) => {}
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

    /// Gives a message from the queue to a receive.
    fn take_queued(&mut self, found: Unexpected, op: u32) {
        let from = found.from;
        match found.what {
            What::Whole { body, sync } => {
                let len = finish_whole(&mut self.ops, op, from, found.tag, body);
                if let Some(link) = self.link(from) {
                    link.leaves_queue(len);
                    link.answers
                        .extend(sync.map(|id| Head::new(Kind::Taken, id, 0)));
                }
            }
            What::Offer { id, len } => {
                matched(&mut self.ops, op, from, found.tag, len);
                let link = self.links[from.index as usize].link.as_mut();
                let link = link.expect("offers go with their link");
                link.leaves_queue(0);
                link.answers.push_back(Head::new(Kind::Accept, id, 0));
                let inbound = link.inbound.iter_mut().find(|inbound| inbound.id == id);
                let inbound = inbound.expect("offers in the queue are on their way in");
                let held = std::mem::replace(&mut inbound.target, Target::Receive(op));
                if let (Target::Held(parts), State::Receive(receive)) = (held, self.ops.state(op)) {
                    let mut offset = 0;
                    for part in parts {
                        if let Some(bytes) = part.as_ptr() {
                            // SAFETY: the part has that many bytes.
                            unsafe { receive.memory.scatter(offset, bytes, part.len()) };
                        }
                        offset += part.len();
                    }
                }
                // Nothing in there fails for a message that was good so far.
                let _ = self.came_in(from.index as usize, id);
            }
        }
        if self.link(from).is_some() {
            if let Err(error) = self.send_on(from.index as usize) {
                self.fail(from, error);
            }
        }
    }

    /// A handler has run: its message's envelope may be used again.
    pub(crate) fn handled(&mut self, from: LinkId, eager_bytes: usize) {
        if let Some(link) = self.link(from) {
            link.leaves_queue(eager_bytes);
        }
    }

    /// Ends the receives for which no message can come any more.
    fn starve(&mut self) {
        let links: Vec<(LinkId, bool)> = self
            .links
            .iter()
            .filter_map(|slot| slot.link.as_ref())
            .map(|link| (link.id, link.queued >= ENVELOPES))
            .collect();
        let all_full = links.iter().all(|(_, full)| *full);
        let starved = self.queues.unpost_where(|wanted| match wanted.from {
            Some(from) => links.iter().any(|(id, full)| *id == from && *full),
            None => all_full,
        });
        for op in starved {
            self.ops.end(op, Err(Error::Starved(ENVELOPES)));
        }
    }

    /// Sends what can go. True when anything went.
    fn send_on(&mut self, index: usize) -> Result<bool, Error> {
        let mut happened = false;
        let link = self.links[index].link.as_mut().expect("the caller has it");
        while let Some(answer) = link.answers.front() {
            if link.carrier.answer(answer)? != Sent::Done {
                break;
            }
            link.answers.pop_front();
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
        }
        Ok(happened)
    }

    /// Sends the first message of the outbox, or offers it. False where neither is possible now.
    fn announce(&mut self, index: usize, number: u32) -> Result<bool, Error> {
        let link = self.links[index].link.as_mut().expect("the caller has it");
        let carrier = &mut link.carrier;
        let outgoing = link.outgoing[number as usize]
            .as_mut()
            .expect("it is in the outbox");
        let len = outgoing.memory.len();
        let mut head = Head {
            id: number,
            ..outgoing.head
        };
        if outgoing.phase == Phase::Withdrawing {
            let withdraw = Head::new(Kind::Withdraw, number, 0);
            let sent = carrier.send(&withdraw, NOTHING.payload())?;
            if sent == Sent::Done {
                link.outbox.pop_front();
            }
            return Ok(sent == Sent::Done);
        }
        if len <= carrier.eager_max() {
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
                // Nothing is offered that is as short as an offer.
                Sent::NoCredit if len <= OFFER => return Ok(false),
                Sent::NoCredit => {}
            }
        }
        head.kind = Kind::Offer;
        let mut offer = [0; OFFER];
        offer[..8].copy_from_slice(&(len as u64).to_le_bytes());
        let address = outgoing.memory.contiguous().map_or(0, |start| start as u64);
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
        link.outbox.pop_front();
        link.pushing.push_back(number);
        Ok(true)
    }

    /// Sends one more part of a message that was offered.
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
                // The rest goes when it is accepted.
                link.pushing.pop_front();
                return Ok(Pushed::Some);
            }
        }
        if rest > 0 {
            let head = Head::new(Kind::Part, number, outgoing.sent as u64);
            let payload = Payload {
                memory: &outgoing.memory,
                offset: outgoing.sent,
                len,
            };
            if link.carrier.send(&head, payload)? != Sent::Done {
                return Ok(Pushed::No);
            }
            outgoing.sent += len;
            link.early += if is_early { len } else { 0 };
        }
        link.pushing.pop_front();
        if outgoing.sent == outgoing.memory.len() {
            self.all_sent(index, number);
        } else {
            // One part of each in turn.
            link.pushing.push_back(number);
        }
        Ok(Pushed::Some)
    }

    /// All bytes of a message have been handed over.
    fn all_sent(&mut self, index: usize, number: u32) {
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
        // An offer is answered even when all of it has been sent.
        if outgoing.phase != Phase::Offered {
            link.forget(number);
        }
    }

    /// The link is of no use any more: everything that waits for it ends with the error.
    pub(crate) fn fail(&mut self, id: LinkId, error: Error) {
        if self.link(id).is_none() {
            return;
        }
        let Some(link) = self.links[id.index as usize].link.take() else {
            return;
        };
        self.links[id.index as usize].end = Some(error.again());
        let is_last = self.links.iter().all(|slot| slot.link.is_none());
        let mut ended: Vec<u32> = link
            .outgoing
            .into_iter()
            .flatten()
            .filter_map(|outgoing| outgoing.op)
            .collect();
        ended.extend(link.placing);
        ended.extend(
            link.inbound
                .iter()
                .filter_map(|inbound| match inbound.target {
                    Target::Receive(op) => Some(op),
                    _ => None,
                }),
        );
        ended.extend(self.queues.cut(id, is_last));
        ended.sort_unstable();
        ended.dedup();
        for op in ended {
            self.ops.end(op, Err(error.again()));
        }
    }
}

enum Pushed {
    No,
    Some,
}

/// A payload of no bytes.
struct Nothing(Memory);

impl Nothing {
    fn payload(&self) -> Payload<'_> {
        Payload {
            memory: &self.0,
            offset: 0,
            len: 0,
        }
    }
}

// SAFETY: it has no bytes.
unsafe impl Sync for Nothing {}

static NOTHING: Nothing = Nothing(Memory::One(NonNull::<u8>::dangling().as_ptr(), 0));

impl<C: Carrier> Link<C> {
    fn number(&mut self, outgoing: Outgoing) -> u32 {
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

    /// A message on its way out has ended.
    fn forget(&mut self, number: u32) {
        self.outgoing[number as usize] = None;
        self.spare.push(number);
    }

    fn outgoing(&mut self, number: u32) -> Result<&mut Outgoing, Error> {
        self.outgoing
            .get_mut(number as usize)
            .and_then(Option::as_mut)
            .ok_or(Error::PeerMisbehaved("it answers what was not sent"))
    }

    fn joins_queue(&mut self) -> Result<(), Error> {
        if self.queued >= ENVELOPES {
            return Err(Error::PeerMisbehaved("it sends without credit"));
        }
        self.queued += 1;
        Ok(())
    }

    fn leaves_queue(&mut self, eager_bytes: usize) {
        self.queued -= 1;
        self.carrier.matched(eager_bytes);
        // A peer that is gone is found out by the next look at what it sent.
        let _ = self.carrier.flush();
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

/// Where the carrier may write a payload straight to.
fn place(
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
            let found = inbound.iter().find(|inbound| inbound.id == head.id)?;
            let fits = head.value == found.got as u64 && len <= found.len - found.got;
            match found.target {
                Target::Receive(op) if fits => (op, found.got),
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
    // SAFETY: inside the receive's memory, as was just looked at.
    NonNull::new(unsafe { start.add(offset) })
}

/// A receive has found a message that is still coming.
fn matched(ops: &mut Ops, op: u32, link: LinkId, tag: u64, len: usize) {
    if let State::Receive(receive) = ops.state(op) {
        receive.status = Some(Status { link, tag, len });
    }
}

/// A receive has all of its message.
fn finish_received(ops: &mut Ops, op: u32) {
    let State::Receive(receive) = ops.state(op) else {
        return;
    };
    let room = receive.memory.len();
    let status = receive.status.expect("matched before anything came");
    let result = match status.len > room {
        true => Err(Error::Truncated {
            len: status.len,
            room,
        }),
        false => Ok(status),
    };
    ops.end(op, result);
}

/// A receive has found a message that is here. Gives its length.
#[inline]
fn finish_whole(ops: &mut Ops, op: u32, link: LinkId, tag: u64, body: Body) -> usize {
    let len = body.len();
    let State::Receive(receive) = ops.state(op) else {
        return len;
    };
    receive.status = Some(Status { link, tag, len });
    if let Some(bytes) = body.as_ptr() {
        // SAFETY: the body has that many bytes.
        unsafe { receive.memory.scatter(0, bytes, len) };
    }
    finish_received(ops, op);
    len
}
