//! Messages that their sender writes straight to where a receive waits for them.
//!
//! One receive of each link is shown to its peer, the oldest: which message is for it can then be said without asking. It is not, while one from anybody
//! waits that is older. As long as it is shown no frame of the link is taken; when one has come, it is no longer shown, and goes the usual way.

use super::super::carrier::Carrier;
use super::super::memory::Memory;
use super::super::ops::{State, Status};
use super::super::LinkId;
use super::fetching::SLICE;
use super::{Engine, Link};
use crate::shm::Berthed;
use crate::Error;

/// Where a link stands with its berth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stand {
    /// There is none: frames can be taken.
    Clear,
    /// It is shown, and no frame has come.
    Waiting,
    /// A message came that way.
    Filled,
}

impl<C: Carrier> Engine<C> {
    /// Shows the peer of a link where its oldest receive waits, if that has room for enough.
    pub(super) fn open_berth(&mut self, index: usize) {
        let Some(link) = self.links[index].link.as_mut() else {
            return;
        };
        if link.berth.is_some() {
            return;
        }
        link.had_berth = false;
        let Some((wanted, op)) = self.queues.oldest_of(link.id) else {
            return;
        };
        let State::Receive(receive) = self.ops.state(op) else {
            return;
        };
        let (memory, carrier) = (&receive.memory, &mut link.carrier);
        let is_long = memory.len() >= carrier.berths_from();
        if let Some(start) = memory.contiguous().filter(|_| is_long) {
            carrier.open_berth(wanted, start, memory.len());
            link.berth = Some(op);
            link.had_berth = true;
        }
    }

    /// Looks what has become of a link's berth.
    pub(super) fn settle_berth(&mut self, index: usize) -> Result<Stand, Error> {
        let link = self.links[index].link.as_mut().expect("the caller has it");
        let Some(op) = link.berth else {
            return Ok(Stand::Clear);
        };
        loop {
            match link.carrier.berthed() {
                Berthed::Open if !link.carrier.has_news() => return Ok(Stand::Waiting),
                // Whoever has entered before the frame was put has filled it before, too.
                Berthed::Open if !link.carrier.close_berth() => {}
                Berthed::Open | Berthed::Closed => {
                    link.berth = None;
                    return Ok(Stand::Clear);
                }
                Berthed::Entered => return Ok(Stand::Waiting),
                Berthed::Full { tag, len } => {
                    link.berth = None;
                    let State::Receive(receive) = self.ops.state(op) else {
                        unreachable!("what is posted is a receive");
                    };
                    let len = usize::try_from(len).unwrap_or(usize::MAX);
                    let wanted = self.queues.wanted(op).expect("it is posted");
                    if len > receive.memory.len() || !wanted.takes(link.id, tag) {
                        return Err(Error::PeerMisbehaved(
                            "it fills a berth with what it is not for",
                        ));
                    }
                    link.fetched += 1;
                    let link = link.id;
                    self.queues.unpost(op);
                    self.ops.end(op, Ok(Status { link, tag, len }));
                    return Ok(Stand::Filled);
                }
            }
        }
    }

    /// Takes a receive back from the peer's sight. False: it writes there, or has written.
    pub(super) fn hide(&mut self, op: u32) -> bool {
        let mut links = self.links.iter_mut().filter_map(|slot| slot.link.as_mut());
        let Some(link) = links.find(|link| link.berth == Some(op)) else {
            return true;
        };
        let is_hidden = link.carrier.close_berth();
        if is_hidden {
            link.berth = None;
        }
        is_hidden
    }

    /// Before a link ends: what comes by its berth comes now or never.
    pub(super) fn end_berth(&mut self, id: LinkId) {
        let Some(link) = self.link(id).filter(|link| link.berth.is_some()) else {
            return;
        };
        link.carrier.end_berth();
        // That what it brought makes no sense is of no interest any more.
        let _ = self.settle_berth(id.index as usize);
        if let Some(link) = self.link(id) {
            link.berth = None;
        }
    }

    /// Writes a message to where the peer waits for it. False: it goes another way.
    #[inline]
    pub(super) fn fill_berth(link: &mut Link<C>, tag: u64, memory: &Memory) -> bool {
        let is_fit = memory.len() >= link.carrier.berths_from() && memory.len() <= SLICE;
        is_fit && !link.carrier.hands_over(memory) && link.carrier.fill_berth(tag, memory)
    }
}
