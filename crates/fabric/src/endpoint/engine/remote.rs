//! One-sided access: writing to and reading from memory that a peer has offered. The peer's program
//! takes no part.
//!
//! Requests and their answers, like parts, need no envelopes: the other side handles them at once,
//! and each end has at most [`ASKED`] requests in progress.

use super::super::carrier::{Body, Carrier, Sent};
use super::super::head::{Head, Kind, ANSWER, FETCHED, FOLLOWS, GET, PUT, REMOTE, SYNC};
use super::super::link_id::LinkId;
use super::super::memory::Memory;
use super::super::ops::{Request, State};
use super::super::remote_key::{Key, KEY};
use super::receiving::{matched, Inbound, Target};
use super::sending::{nothing, Outgoing, Phase, RemoteRange};
use super::{Engine, Link};
use crate::Error;

/// The maximum number of requests of one end that are in progress.
const ASKED: u32 = 256;

/// The code of a refusal in messages. 0 means that the request is not refused.
const NOT_OFFERED: u16 = 1;
const OUT_OF_RANGE: u16 = 2;

/// A frame about a request that waits to be sent. These frames keep their order.
pub(super) enum RmaFrame {
    /// The number of our request to send.
    Ask(u32),
    Say(Head),
}

/// Offered memory.
pub(super) struct Exposed(Memory);

impl<C: Carrier> Engine<C> {
    pub(crate) fn expose(&mut self, key: Key, memory: Memory) {
        self.exposed.insert(key, Exposed(memory));
    }

    pub(crate) fn is_exposing(&self) -> bool {
        !self.exposed.is_empty()
    }

    /// Withdraws offered memory. Accesses in progress continue; see [`Engine::is_used`].
    pub(crate) fn withdraw_exposed(&mut self, key: &Key) {
        self.exposed.remove(key);
    }

    /// Whether peers are writing to or reading from the memory that was offered under this key.
    pub(crate) fn is_used(&self, key: &Key) -> bool {
        let mut links = self.links.iter().filter_map(|slot| slot.link.as_ref());
        links.any(|link| {
            let mut inbound = link.inbound.iter();
            inbound.any(|inbound| matches!(&inbound.target, Target::Put(place, _) if place == key))
                || link.outgoing.iter().flatten().any(|outgoing| {
                    outgoing.head.has(ANSWER)
                        && outgoing.place.is_some_and(|place| place.key == *key)
                })
        })
    }

    /// A link whose peer may offer memory.
    fn link_to_memory(&mut self, to: LinkId) -> Result<&mut Link<C>, Error> {
        if self.link(to).is_none() {
            return Err(self.why_gone(to));
        }
        let link = self.link(to).filter(|link| link.carrier.has_memory());
        link.ok_or(Error::NotOffered)
    }

    /// Begins to write the bytes of `memory` to memory that the peer offers.
    pub(crate) fn put(
        &mut self,
        to: LinkId,
        key: Key,
        offset: u64,
        memory: Memory,
    ) -> Result<Request, Error> {
        let link = self.link_to_memory(to)?;
        let follows = if memory.len() <= link.carrier.eager_max() {
            FOLLOWS
        } else {
            0
        };
        let request = self.ops.begin(State::Send {
            link: to.index,
            number: None,
        });
        self.ask_remote(
            to,
            PUT | SYNC | follows,
            RemoteRange { key, offset },
            memory,
            request,
        );
        Ok(request)
    }

    /// Begins to read from memory that the peer offers, as many bytes as `memory` holds.
    pub(crate) fn get(
        &mut self,
        to: LinkId,
        key: Key,
        offset: u64,
        memory: Memory,
    ) -> Result<Request, Error> {
        let link = self.link_to_memory(to)?;
        let len = memory.len();
        let fetches = if len > 0 && len >= link.carrier.fetches_from() {
            FETCHED
        } else {
            0
        };
        let request = self.ops.begin_receive(memory.clone());
        matched(&mut self.ops, request.index, to, 0, len);
        self.ask_remote(
            to,
            GET | fetches,
            RemoteRange { key, offset },
            memory,
            request,
        );
        Ok(request)
    }

    fn ask_remote(
        &mut self,
        to: LinkId,
        flags: u8,
        place: RemoteRange,
        memory: Memory,
        op: Request,
    ) {
        let link = self.links[to.index as usize].link.as_mut();
        let link = link.expect("the caller has it");
        let len = memory.len();
        let number = link.number(Outgoing {
            head: Head {
                flags,
                ..Head::new(Kind::Remote, 0, 0)
            },
            memory,
            op: Some(op.index),
            sent: 0,
            phase: Phase::Queued,
            is_shown: false,
            place: Some(place),
        });
        if flags & GET != 0 {
            link.inbound.push(Inbound::answer(number, len, op.index));
        }
        link.remote.push_back(RmaFrame::Ask(number));
        if let Err(error) = self.send_on(to.index as usize) {
            self.fail(to, error);
        }
    }

    /// Sends the first frame about a request. Returns false if that is not possible now.
    pub(super) fn send_rma(&mut self, index: usize) -> Result<bool, Error> {
        let link = self.links[index].link.as_mut().expect("the caller has it");
        let number = match link.remote.front() {
            None => return Ok(false),
            Some(RmaFrame::Say(head)) => {
                let sent = link.carrier.send(head, nothing())?;
                if sent == Sent::Done {
                    link.remote.pop_front();
                }
                return Ok(sent == Sent::Done);
            }
            Some(RmaFrame::Ask(number)) => *number,
        };
        if link.asked >= ASKED {
            // Answers overtake our requests, because the peer waits for the answers.
            let Some(at) = link
                .remote
                .iter()
                .position(|frame| matches!(frame, RmaFrame::Say(_)))
            else {
                return Ok(false);
            };
            let answer = link.remote.remove(at).expect("it was just there");
            link.remote.push_front(answer);
            return Ok(true);
        }
        let outgoing = link.outgoing[number as usize].as_mut();
        let outgoing = outgoing.expect("it waits to be asked");
        let head = Head {
            id: number,
            ..outgoing.head
        };
        let place = outgoing.place.expect("requests have a place");
        let len = outgoing.memory.len();
        let follows = head.has(FOLLOWS);
        let start = outgoing.memory.contiguous();
        let shown = start.filter(|_| head.has(PUT) && !follows && link.shown.has(len));
        let mut bytes = [0; REMOTE];
        bytes[..KEY].copy_from_slice(&place.key.0);
        bytes[KEY..KEY + 8].copy_from_slice(&place.offset.to_le_bytes());
        bytes[KEY + 8..KEY + 16].copy_from_slice(&(len as u64).to_le_bytes());
        let address = shown.map_or(0, |start| start as u64);
        bytes[KEY + 16..].copy_from_slice(&address.to_le_bytes());
        let memory = Memory::one(bytes.as_mut_ptr(), REMOTE);
        if link.carrier.send(&head, memory.payload())? != Sent::Done {
            return Ok(false);
        }
        link.remote.pop_front();
        link.asked += 1;
        outgoing.is_shown = shown.is_some();
        outgoing.phase = match (head.has(PUT), follows) {
            (false, _) => Phase::Sync,
            (true, false) => Phase::Offered,
            (true, true) => Phase::Accepted,
        };
        if follows {
            match len {
                0 => self.all_sent(index, number),
                _ => link.pushing.push_back(number),
            }
        }
        Ok(true)
    }

    /// Handles a frame about a request: a request of the peer, or the peer's answer to our request.
    pub(super) fn remote(&mut self, index: usize, head: Head, body: Body) -> Result<(), Error> {
        match (head.has(PUT), head.has(GET), head.has(ANSWER)) {
            (true, false, false) => self.asked_to_put(index, head, body),
            (false, true, false) => self.asked_to_get(index, head, body),
            (false, false, true) => self.answered(index, head),
            (false, false, false) => self.go_ahead(index, head),
            _ => Err(Error::PeerMisbehaved("a request is invalid")),
        }
    }

    /// Decodes a request, and finds its memory, or the code of its refusal.
    fn find(&self, body: &Body) -> Result<(RemoteRange, usize, u64, Result<Memory, u16>), Error> {
        let wrong = || Error::PeerMisbehaved("a request is invalid");
        let start = body
            .as_ptr()
            .filter(|_| body.len() == REMOTE)
            .ok_or_else(wrong)?;
        let mut bytes = [0; REMOTE];
        // SAFETY: the body has `REMOTE` bytes. They are copied before they are checked.
        unsafe { std::ptr::copy_nonoverlapping(start, bytes.as_mut_ptr(), REMOTE) };
        let long = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| bytes[at + i]));
        let place = RemoteRange {
            key: Key(std::array::from_fn(|i| bytes[i])),
            offset: long(KEY),
        };
        let len = usize::try_from(long(KEY + 8)).ok();
        let len = len
            .filter(|len| *len <= isize::MAX as usize)
            .ok_or_else(wrong)?;
        let memory = match self.exposed.get(&place.key) {
            None => Err(NOT_OFFERED),
            Some(Exposed(memory)) => memory.part(place.offset, len).ok_or(OUT_OF_RANGE),
        };
        Ok((place, len, long(KEY + 16), memory))
    }

    fn asked_to_put(&mut self, index: usize, head: Head, body: Body) -> Result<(), Error> {
        let (place, len, address, memory) = self.find(&body)?;
        let link = self.links[index].link.as_mut().expect("the caller has it");
        link.begins_serving(head.id)?;
        let code = memory.as_ref().err().copied().unwrap_or(0);
        if code != 0 && !head.has(FOLLOWS) {
            link.serving -= 1;
            for kind in [Kind::Accept, Kind::Taken] {
                link.answers
                    .push_back(Head::new(kind, head.id, code.into()));
            }
            return Ok(());
        }
        let target = Target::Put(place.key, memory.ok());
        link.inbound
            .push(Inbound::put(head.id, len, target, address, code));
        if !head.has(FOLLOWS) {
            self.ask(index, head.id);
        }
        self.came_in(index, head.id, false)
    }

    fn asked_to_get(&mut self, index: usize, head: Head, body: Body) -> Result<(), Error> {
        let (place, len, _, memory) = self.find(&body)?;
        let link = self.links[index].link.as_mut().expect("the caller has it");
        link.begins_serving(head.id)?;
        let say = Head {
            flags: ANSWER,
            ..Head::new(Kind::Remote, head.id, 0)
        };
        let memory = match memory {
            Ok(memory) if len > 0 => memory,
            other => {
                link.serving -= 1;
                let handler = other.err().unwrap_or(0);
                link.remote
                    .push_back(RmaFrame::Say(Head { handler, ..say }));
                return Ok(());
            }
        };
        let may_show = head.has(FETCHED) && link.shown.is_any();
        let start = memory.contiguous().filter(|_| may_show);
        let number = link.number(Outgoing {
            head: Head {
                flags: ANSWER,
                ..Head::new(Kind::Part, head.id, 0)
            },
            memory,
            op: None,
            sent: 0,
            phase: Phase::Accepted,
            is_shown: false,
            place: Some(place),
        });
        match start {
            Some(start) => {
                let value = start as u64;
                link.remote.push_back(RmaFrame::Say(Head { value, ..say }));
                link.outgoing(number)?.phase = Phase::Offered;
            }
            None => link.pushing.push_back(number),
        }
        Ok(())
    }

    /// Handles the answer to our read request: a refusal, or the address of the memory.
    fn answered(&mut self, index: usize, head: Head) -> Result<(), Error> {
        let link = self.links[index].link.as_mut().expect("the caller has it");
        let asked = link.outgoing(head.id)?;
        if !asked.head.has(GET) || asked.phase != Phase::Sync {
            return Err(Error::PeerMisbehaved(
                "it answers a request that was not sent",
            ));
        }
        let (op, error) = (asked.op, asked.refusal(head.handler));
        let may_fetch = asked.head.has(FETCHED);
        let is_it = |inbound: &Inbound| inbound.is_answer && inbound.id == head.id;
        let at = link
            .inbound
            .iter()
            .position(is_it)
            .expect("as long as it is asked");
        if let Some(error) = error {
            link.inbound.swap_remove(at);
            link.forget(head.id);
            link.asked -= 1;
            self.ops.end(op.expect("a request has one"), Err(error));
            return Ok(());
        }
        let inbound = &mut link.inbound[at];
        match head.value {
            0 if inbound.len == 0 => self.came_in(index, head.id, true),
            0 => Err(Error::PeerMisbehaved(
                "its answer to a read request has no address",
            )),
            _ if !may_fetch || inbound.address != 0 || inbound.got > 0 => Err(
                Error::PeerMisbehaved("it sends an address that was not asked for"),
            ),
            address => {
                inbound.address = address;
                self.fetch(index, head.id, true);
                Ok(())
            }
        }
    }

    /// Handles the peer's report on memory whose address it got. Either the peer has read the
    /// memory, or it could not read it, and we have to send the bytes.
    fn go_ahead(&mut self, index: usize, head: Head) -> Result<(), Error> {
        let link = self.links[index].link.as_mut().expect("the caller has it");
        let is_it = |outgoing: &Option<Outgoing>| {
            outgoing.as_ref().is_some_and(|outgoing| {
                outgoing.head.has(ANSWER)
                    && outgoing.head.id == head.id
                    && outgoing.phase == Phase::Offered
            })
        };
        let at = link.outgoing.iter().position(is_it);
        let at = at.ok_or(Error::PeerMisbehaved(
            "it reports reading memory without having its address",
        ))?;
        match head.has(FETCHED) {
            true => {
                link.forget(at as u32);
                link.serving -= 1;
            }
            false => {
                link.outgoing(at as u32)?.phase = Phase::Accepted;
                link.pushing.push_back(at as u32);
            }
        }
        Ok(())
    }
}

impl<C: Carrier> Link<C> {
    /// Counts a request of the peer. No other request with the same number may be in progress.
    fn begins_serving(&mut self, id: u32) -> Result<(), Error> {
        let mut inbound = self.inbound.iter();
        let is_double = inbound.any(|inbound| !inbound.is_answer && inbound.id == id)
            || self
                .outgoing
                .iter()
                .flatten()
                .any(|outgoing| outgoing.head.has(ANSWER) && outgoing.head.id == id);
        if is_double || self.serving >= ASKED {
            return Err(Error::PeerMisbehaved("it asks for too much at once"));
        }
        self.serving += 1;
        Ok(())
    }
}

impl Outgoing {
    /// The error for a refusal code of this request.
    pub(super) fn refusal(&self, code: u16) -> Option<Error> {
        match code {
            0 => None,
            OUT_OF_RANGE => Some(Error::OutOfRange {
                offset: self.place.map_or(0, |place| place.offset),
                len: self.memory.len(),
            }),
            _ => Some(Error::NotOffered),
        }
    }
}
