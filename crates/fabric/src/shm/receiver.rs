//! The reading end of a lane.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::lane::{Descriptor, Lane, IN_GROUP, IN_REGION};
use super::multicast;
use super::region::Known;
use crate::connection::ReceiveEnd;
use crate::message::Owner;
use crate::peer::Peer;
use crate::wait::{Deadline, Spinner, PULSE};
use crate::{Error, Message};

pub(crate) struct ShmReceiver {
    lane: Arc<Lane>,
    peer: Arc<Peer>,
    message_max: u32,
    /// Memory that is not the lane's own: regions at the client, which accepts messages longer than
    /// a chunk, and the memory of a group at the server.
    known: Known,
    /// The longest message in a region, or `None` if there are no regions.
    large_max: Option<u32>,
    /// The number of the next message, counted by this end.
    next: u64,
    spinner: Spinner,
    /// The time of the last check whether the peer is alive. Several short waits together also lead
    /// to a check.
    last_look: Instant,
    broken: Option<&'static str>,
}

impl ShmReceiver {
    pub(crate) fn new(
        lane: Arc<Lane>,
        peer: Arc<Peer>,
        message_max: u32,
        large_max: Option<u32>,
    ) -> ShmReceiver {
        ShmReceiver {
            lane,
            peer,
            message_max,
            known: large_max.map_or_else(|| multicast::known(message_max), Known::new),
            large_max,
            next: 0,
            spinner: Spinner::default(),
            last_look: Instant::now(),
            broken: None,
        }
    }

    fn take(&mut self) -> Result<Option<Message>, Error> {
        if let Some(what) = self.broken {
            return Err(Error::PeerMisbehaved(what));
        }
        let Some(found) = self.lane.take(self.next) else {
            return Ok(None);
        };
        self.next += 1;
        let message = match found.place & (IN_REGION | IN_GROUP) {
            0 => self.lane.message(found, self.message_max as usize),
            IN_GROUP => self.in_group(found),
            _ => self.in_region(found),
        };
        if let Err(Error::PeerMisbehaved(what)) = message {
            self.broken = Some(what);
        }
        message.map(Some)
    }

    /// Whether the peer is gone. Checks at most once per [`PULSE`].
    fn has_died(&mut self) -> bool {
        if self.last_look.elapsed() < PULSE {
            return false;
        }
        self.last_look = Instant::now();
        self.peer.gone()
    }

    fn in_group(&mut self, found: Descriptor) -> Result<Message, Error> {
        if self.large_max.is_some() {
            return Err(Error::PeerMisbehaved(
                "only the client sends messages to a group",
            ));
        }
        let memory = multicast::find(&mut self.known, &self.peer)?.clone();
        let place = found.place & !IN_GROUP;
        let found = Descriptor { place, ..found };
        self.lane
            .group_message(found, self.message_max as usize, &memory)
    }

    fn in_region(&mut self, found: Descriptor) -> Result<Message, Error> {
        let Descriptor {
            place,
            offset: id,
            len,
        } = found;
        let slot = place & !IN_REGION;
        let Some(large_max) = self.large_max else {
            return Err(Error::PeerMisbehaved(
                "only the server sends messages in regions",
            ));
        };
        let memory = self.known.find(slot, id, &self.peer)?.clone();
        if len as usize > memory.map.len() || len > large_max {
            return Err(Error::PeerMisbehaved("a message reaches beyond its region"));
        }
        let pointer = memory.map.as_ptr();
        let owner = Owner::Shared {
            lane: self.lane.clone(),
            counter: self.lane.region_counter(slot as usize),
            region: Some(memory),
            offset: 0,
        };
        Ok(Message::new(pointer, len as usize, owner))
    }
}

impl ReceiveEnd for ShmReceiver {
    fn recv(
        &mut self,
        timeout: Option<Duration>,
        idle: &mut dyn FnMut(),
    ) -> Result<Option<Message>, Error> {
        if let Some(message) = self.take()? {
            return Ok(Some(message));
        }
        let deadline = Deadline::after(timeout);
        let (lane, next) = (self.lane.clone(), self.next);
        let ready = || lane.is_there(next) || lane.writer_closed();
        loop {
            // Check first for the peer's end, and then for messages, so that messages sent before
            // the end are found.
            let closed = lane.writer_closed() || self.has_died();
            if let Some(message) = self.take()? {
                return Ok(Some(message));
            }
            if closed {
                return Err(self.peer.closed());
            }
            if deadline.passed() {
                return Ok(None);
            }
            if !self.spinner.spin(ready) {
                idle();
                self.spinner.sleeping();
                lane.reader_sleep(deadline.left(PULSE), ready);
                self.spinner.woke();
            }
        }
    }

    fn never_spin(&mut self) {
        self.spinner = Spinner::lasting(Duration::ZERO);
    }

    fn close(&mut self) {
        if self.peer.ours() {
            self.lane.close_reader();
        }
    }
}
