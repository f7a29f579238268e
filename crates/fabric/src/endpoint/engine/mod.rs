//! The protocol of an endpoint and all its links. It never waits, and reads no clock.
//!
//! A message of up to [`Carrier::eager_max`] bytes is sent at once (eager), as long as the receiver
//! grants buffer space and envelopes. A longer message, or one without buffer space, is *offered*
//! (rendezvous): the sender sends an envelope and as many bytes as it may send early, and the rest
//! after the receiver has accepted. So the buffered bytes and envelopes of unexpected messages are
//! bounded per link. Parts of accepted messages always get buffer space, because the receiver frees
//! it at once. So these parts wait only for the receiver's processor.

mod choice;
mod fetching;
mod receiving;
mod remote;
mod sending;

use std::collections::{HashMap, VecDeque};

use super::carrier::{Body, Carrier, FarEnd};
use super::head::{Head, Kind};
use super::link_id::LinkId;
use super::ops::{Ops, Request, State};
use super::queue::Queues;
use super::remote_key::Key;
use super::settings::AUTO;
use crate::shm::SHORT;
use crate::Error;

use choice::Choice;
use fetching::{Fetch, Shown};
use receiving::{place, Inbound, Target};
pub(crate) use receiving::{Active, Bytes, Caught};
use remote::{Exposed, RmaFrame};
use sending::Outgoing;
pub use sending::SendOptions;

/// The maximum number of answers that wait to be sent. Without it, a peer that sends requests and
/// reads no answers would fill our memory.
const ANSWERS_MAX: usize = 1 << 18;

/// The maximum number of frames read from a link whose peer is gone. A link cannot hold so many
/// frames.
const LAST_FRAMES: usize = 1 << 14;

/// The number of frames read from one link before the next link has its turn. While many links
/// wait, the number is `FRAMES_PER_CROWDED_TURN`.
const FRAMES_PER_TURN: usize = 32;
const FRAMES_PER_CROWDED_TURN: usize = 4;

pub(crate) struct Engine<C> {
    links: Vec<Slot<C>>,
    pub(crate) ops: Ops,
    queues: Queues,
    /// Messages for handlers, in the order of their arrival.
    pub(crate) active: VecDeque<Active>,
    /// Long messages that are being copied from their sender's memory or from shared memory.
    fetching: VecDeque<Fetch>,
    exposed: HashMap<Key, Exposed>,
    /// Links on which we have returned credit. The peers may not have been told yet.
    untold: Vec<LinkId>,
    turn: usize,
    /// The number of times that the endpoint has lost its last peer.
    pub(crate) partings: u64,
    /// Set if peers have connected to us. More peers may then follow.
    pub(crate) is_open: bool,
    /// The number of peers that are expected and have not connected yet.
    awaited: usize,
    /// Links that have ended. The progress engine then stops watching their sockets.
    pub(crate) ended: Vec<LinkId>,
}

struct Slot<C> {
    generation: u32,
    link: Option<Link<C>>,
    /// The reason why the last link in this slot ended.
    end: Option<Error>,
}

pub(crate) struct Link<C> {
    pub(crate) carrier: C,
    id: LinkId,
    /// The messages that have to be sent or offered, in order.
    outbox: VecDeque<u32>,
    /// Offered messages that may be sent further.
    pushing: VecDeque<u32>,
    outgoing: Vec<Option<Outgoing>>,
    /// Free indices of `outgoing`.
    spare: Vec<u32>,
    answers: VecDeque<Head>,
    remote: VecDeque<RmaFrame>,
    /// The numbers of our requests in progress (`asked`), and of the peer's (`serving`).
    asked: u32,
    serving: u32,
    inbound: Vec<Inbound>,
    /// The receive that the carrier is writing into.
    placing: Option<u32>,
    /// Buffer space for parts that we have sent of offers that the receiver has not accepted.
    early: usize,
    /// Received bytes of offers that we have not accepted.
    held: usize,
    /// The number of this link's messages that wait here for a receive or a handler.
    queued: u32,
    /// Set if the link is in the engine's list of links whose peers have to be told about credit.
    is_listed: bool,
    /// The messages whose addresses the peer gets.
    shown: Shown,
    /// The choice between one copy and two copies for long messages, if the link measures both.
    choice: Option<Box<Choice>>,
    /// The number of messages that were read from the peer's memory.
    fetched: u64,
}

impl<C: Carrier> Engine<C> {
    pub(crate) fn new() -> Engine<C> {
        Engine {
            links: Vec::new(),
            ops: Ops::default(),
            queues: Queues::default(),
            active: VecDeque::new(),
            fetching: VecDeque::new(),
            exposed: HashMap::new(),
            untold: Vec::new(),
            turn: FRAMES_PER_TURN,
            partings: 0,
            is_open: false,
            awaited: 0,
            ended: Vec::new(),
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
            shown: Shown::new(carrier.fetched_from()),
            choice: (carrier.fetches_from() == AUTO).then(|| Choice::new(carrier.follows())),
            fetched: 0,
            carrier,
            id,
            outbox: VecDeque::new(),
            pushing: VecDeque::new(),
            outgoing: Vec::new(),
            spare: Vec::new(),
            answers: VecDeque::new(),
            remote: VecDeque::new(),
            asked: 0,
            serving: 0,
            inbound: Vec::new(),
            placing: None,
            early: 0,
            held: 0,
            queued: 0,
            is_listed: false,
        });
        id
    }

    /// Sets whether this process shares the processors with its peers.
    pub(crate) fn share_processors(&mut self, shares_processors: bool) {
        for link in self.links.iter_mut().filter_map(|slot| slot.link.as_mut()) {
            if let Some(choice) = &mut link.choice {
                choice.share_processors(shares_processors);
            }
        }
    }

    /// Sets whether many links wait for their turn.
    pub(crate) fn set_crowded(&mut self, is_crowded: bool) {
        self.turn = if is_crowded {
            FRAMES_PER_CROWDED_TURN
        } else {
            FRAMES_PER_TURN
        };
    }

    /// The reason why the link does not exist.
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

    /// Whether there is no peer, and no peer is expected.
    pub(crate) fn is_alone(&self) -> bool {
        let mut links = self.links.iter().filter_map(|slot| slot.link.as_ref());
        self.awaited == 0 && links.all(|link| link.carrier.far() != FarEnd::Peer)
    }

    /// Sets the number of peers that are expected and have not connected yet. Receives from any
    /// link wait for these peers, too.
    pub(crate) fn expect(&mut self, peers: usize) {
        let was_awaited = std::mem::replace(&mut self.awaited, peers) > 0;
        if was_awaited && self.is_alone() {
            self.be_left();
            self.end_waiting_for_anybody();
        }
    }

    /// Handles the loss of the endpoint's last peer.
    fn be_left(&mut self) {
        self.partings += 1;
        // Messages that the program has sent to itself are still delivered.
        self.go_on_alone();
    }

    fn end_waiting_for_anybody(&mut self) {
        for op in self.queues.unpost_where(|wanted| wanted.from.is_none()) {
            self.ops.end(op, Err(alone()));
        }
    }

    /// Receives everything that has arrived on the links within this process. No other links are
    /// left.
    fn go_on_alone(&mut self) {
        let within: Vec<LinkId> = self.links().map(|(id, _)| id).collect();
        for id in within {
            while self.progress(id) {}
        }
    }

    fn link(&mut self, id: LinkId) -> Option<&mut Link<C>> {
        link_among(&mut self.links, id)
    }

    /// Whether the link has data to send, which may be waiting for the peer to read.
    pub(crate) fn is_sending(&self, id: LinkId) -> bool {
        let link = self
            .links
            .get(id.index as usize)
            .and_then(|slot| slot.link.as_ref());
        link.is_some_and(|link| link.has_to_send() || link.carrier.is_blocked())
    }

    /// Whether any link has data to send.
    pub(crate) fn is_any_sending(&self) -> bool {
        let mut links = self.links.iter().filter_map(|slot| slot.link.as_ref());
        links.any(|link| self.is_sending(link.id))
    }

    /// Cancels an operation that has not been matched. Returns false if it is too late, or if the
    /// peer has to decide. The operation then ends in the usual way, perhaps as cancelled.
    pub(crate) fn cancel(&mut self, request: Request) -> Result<bool, Error> {
        match self.ops.running(request)? {
            Some(State::Receive(_)) => {
                let taken = self.queues.unpost(request.index);
                if taken {
                    self.ops.end(request.index, Err(Error::Cancelled));
                }
                Ok(taken)
            }
            Some(State::Send {
                link,
                number: Some(number),
            }) => {
                let (link, number) = (*link as usize, *number);
                Ok(self.cancel_send(request, link, number))
            }
            _ => Ok(false),
        }
    }

    /// Receives what has arrived and sends what can be sent, on one link. Returns whether anything
    /// happened.
    #[inline]
    pub(crate) fn progress(&mut self, id: LinkId) -> bool {
        let slot = self.links.get(id.index as usize);
        if slot
            .and_then(|slot| slot.link.as_ref())
            .is_none_or(Link::is_quiet)
        {
            return false;
        }
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
        let taken = self.take_short(index, self.turn);
        let mut happened = taken > 0;
        for _ in taken..self.turn {
            let Some((head, body)) = self.next_frame(id)? else {
                break;
            };
            happened = true;
            let is_short = body.len() <= SHORT && head.kind != Kind::Offer;
            self.handle(index, head, body)?;
            // Send our own answers and parts between the peer's frames, so that they do not wait
            // for many frames of the peer.
            if !is_short && self.is_sending(id) {
                self.send_on(index)?;
            }
            if self.link(id).is_some_and(|link| link.carrier.is_drained()) {
                break;
            }
        }
        if self.is_sending(id) {
            happened |= self.send_on(index)?;
        }
        if let Some(link) = self.link(id) {
            if link.answers.len() > ANSWERS_MAX {
                return Err(Error::PeerMisbehaved("it reads no answers"));
            }
            link.carrier.flush()?;
        }
        Ok(happened)
    }

    /// Tells all peers about the credit that we have returned to them. This is cheap if there is no
    /// such credit.
    #[inline]
    pub(crate) fn return_credits(&mut self) {
        for id in self.untold.drain(..) {
            if let Some(link) = link_among(&mut self.links, id) {
                link.is_listed = false;
                // An error means that the peer is gone. The next read from the link detects that.
                let _ = link.carrier.flush();
            }
        }
    }

    #[inline(always)]
    fn next_frame(&mut self, id: LinkId) -> Result<Option<(Head, Body)>, Error> {
        let Some(link) = link_among(&mut self.links, id) else {
            return Ok(None);
        };
        let (queues, ops) = (&mut self.queues, &mut self.ops);
        let (inbound, placing) = (&mut link.inbound, &mut link.placing);
        let mut placer =
            |head: &Head, len: usize| place(head, len, id, queues, ops, inbound, placing);
        link.carrier.recv(&mut placer)
    }

    #[inline(always)]
    fn handle(&mut self, index: usize, head: Head, body: Body) -> Result<(), Error> {
        match head.kind {
            Kind::Eager => self.arrived(index, head, body),
            Kind::Offer => self.offered(index, head, body),
            Kind::Part => self.part(index, head, body),
            Kind::Withdraw => self.withdraw(index, head),
            Kind::Accept => self.accepted(index, head),
            Kind::Taken => self.taken(index, head),
            Kind::Remote => self.remote(index, head, body),
            Kind::Withdrawn => self.withdrawn(index, head),
            Kind::Credit | Kind::Window => Err(Error::PeerMisbehaved(
                "it sends credit on a link that counts none",
            )),
        }
    }

    /// Ends a link that has failed: every operation that waits for it ends with the error. Messages
    /// that the peer sent before are still received, because a send may fail before these messages
    /// are read.
    pub(crate) fn fail(&mut self, id: LinkId, error: Error) {
        if !matches!(error, Error::PeerMisbehaved(_)) {
            for _ in 0..LAST_FRAMES {
                let Ok(Some((head, body))) = self.next_frame(id) else {
                    break;
                };
                // Answers fail, because the peer is gone.
                let _ = self.handle(id.index as usize, head, body);
            }
        }
        self.cut(id, error);
    }

    /// Does the same as `fail`, but discards frames that have arrived and were not read.
    pub(crate) fn cut(&mut self, id: LinkId, error: Error) {
        if self.link(id).is_none() {
            return;
        }
        let Some(mut link) = self.links[id.index as usize].link.take() else {
            return;
        };
        // The early bytes of an offered message may be the whole message.
        for inbound in &mut link.inbound {
            if let Target::Held(parts) = &mut inbound.target {
                if inbound.got == inbound.len {
                    // If there is no memory for the message, it is lost with its link.
                    if let Ok(body) = Body::joined(std::mem::take(parts), inbound.len) {
                        self.queues.complete_offer(id, inbound.id, body);
                    }
                }
            }
        }
        self.links[id.index as usize].end = Some(error.again());
        self.ended.push(id);
        self.untold.retain(|untold| *untold != id);
        let was_peer = link.carrier.far() == FarEnd::Peer;
        let is_alone = was_peer && self.is_alone();
        if is_alone {
            self.be_left();
        }
        let is_last = is_alone || self.links.iter().all(|slot| slot.link.is_none());
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
        ended.extend(self.queues.cut(id));
        ended.sort_unstable();
        ended.dedup();
        for op in ended {
            self.ops.end(op, Err(error.again()));
        }
        if is_last {
            self.end_waiting_for_anybody();
        }
    }
}

#[inline]
fn link_among<C>(links: &mut [Slot<C>], id: LinkId) -> Option<&mut Link<C>> {
    let slot = links.get_mut(id.index as usize)?;
    slot.link.as_mut().filter(|link| link.id == id)
}

/// The error that ends receives from any link when no peer is left.
pub(crate) fn alone() -> Error {
    Error::Closed("every other end".into())
}

impl<C: Carrier> Link<C> {
    /// Whether nothing has arrived and nothing is to be sent.
    #[inline]
    fn is_quiet(&self) -> bool {
        self.carrier.is_quiet() && !self.has_to_send()
    }

    #[inline]
    fn has_to_send(&self) -> bool {
        !self.outbox.is_empty()
            || !self.pushing.is_empty()
            || !self.answers.is_empty()
            || !self.remote.is_empty()
    }
}
