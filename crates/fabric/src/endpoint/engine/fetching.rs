//! Long messages that are copied from where they lie, a slice at a time, so that others go on
//! meanwhile.

use std::ptr::NonNull;

use super::super::carrier::{Body, Carrier};
use super::super::head::{Head, Kind, FETCHED};
use super::super::ops::State;
use super::super::LinkId;
use super::receiving::{finish_received, Inbound, Target};
use super::remote::Errand;
use super::Engine;
use crate::Error;

/// Bytes copied at once.
pub(super) const SLICE: usize = 1 << 20;

/// A message that is being copied to where it was wanted.
pub(super) enum Fetch {
    /// It is in the memory of a link's peer: its number, and whether it answers a request of ours.
    Peers(LinkId, u32, bool),
    /// It is here, for an operation that has so many bytes of it.
    Here { op: u32, body: Body, got: usize },
}

impl<C: Carrier> Engine<C> {
    /// Has a message that was matched come: fetches it, or asks its sender for it.
    pub(super) fn ask(&mut self, index: usize, id: u32) {
        let link = self.links[index].link.as_mut().expect("the caller has it");
        let is_it = |inbound: &&Inbound| inbound.id == id && !inbound.is_answer;
        let inbound = link.inbound.iter().find(is_it);
        let inbound = inbound.expect("the caller has matched it");
        let may_fetch = inbound.address != 0 && inbound.got == 0 && inbound.len > 0;
        match may_fetch && inbound.len >= link.carrier.fetches_from() {
            true => self.fetching.push_back(Fetch::Peers(link.id, id, false)),
            false => link.answers.push_back(Head::new(Kind::Accept, id, 0)),
        }
    }

    /// Whether [`Engine::fetch_some`] has something to do.
    #[inline]
    pub(crate) fn is_fetching(&self) -> bool {
        !self.fetching.is_empty()
    }

    /// Messages of a link that were fetched so far.
    pub(crate) fn single_copies(&mut self, link: LinkId) -> u64 {
        self.link(link).map_or(0, |link| link.fetched)
    }

    /// Reads a slice of a message. False when there was none to read.
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
            // SAFETY: the body has so many bytes more.
            unsafe { receive.memory.scatter(got, bytes.add(got), len) };
        }
        match got + len < body.len() {
            true => self.fetching.push_back(Fetch::Here {
                op,
                body,
                got: got + len,
            }),
            // Its memory is the sender's again before anybody is told of the end.
            false => {
                drop(body);
                finish_received(&mut self.ops, op);
            }
        }
    }

    fn fetch_slice(&mut self, from: LinkId, id: u32, is_answer: bool) -> Result<(), Error> {
        let index = from.index as usize;
        let link = self.links[index].link.as_mut().expect("the caller has it");
        let is_it = |inbound: &&mut Inbound| inbound.id == id && inbound.is_answer == is_answer;
        let inbound = link.inbound.iter_mut().find(is_it);
        let Some(inbound) = inbound else {
            return Ok(());
        };
        let len = (inbound.len - inbound.got).min(SLICE);
        let mut address = inbound.address.wrapping_add(inbound.got as u64);
        let mut is_read = true;
        let memory = match &inbound.target {
            Target::Receive(op) => match self.ops.state(*op) {
                State::Receive(receive) => Some(&receive.memory),
                _ => None,
            },
            Target::Put(_, memory) => memory.as_ref(),
            _ => None,
        };
        let carrier = &mut link.carrier;
        if let Some(memory) = memory {
            memory.pieces(inbound.got, len, |piece, part| {
                let piece = NonNull::new(piece).expect("it has bytes");
                // SAFETY: the piece belongs to what is under way here, and has so many bytes.
                is_read = is_read && unsafe { carrier.fetch(address, piece, part) };
                address = address.wrapping_add(part as u64);
            });
        }
        let mut say = |flags: u8| {
            let kind = if is_answer {
                Kind::Remote
            } else {
                Kind::Accept
            };
            let flagged = Head {
                flags,
                ..Head::new(kind, id, 0)
            };
            match is_answer {
                true => link.remote.push_back(Errand::Say(flagged)),
                false => link.answers.push_back(flagged),
            }
        };
        if !is_read {
            // All of it comes the other way.
            inbound.got = 0;
            say(0);
        } else {
            inbound.got += len;
            if inbound.got < inbound.len {
                self.fetching.push_back(Fetch::Peers(from, id, is_answer));
                return Ok(());
            }
            say(FETCHED);
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
