//! Matching of messages and receives: the queues of receives that wait for messages, and of
//! messages that wait for receives.

use std::collections::VecDeque;

use super::carrier::Body;
use super::link_id::LinkId;
use super::unexpected::{Unexpected, UnexpectedQueue};
use super::wanted::Wanted;

/// A receive that waits for its message.
#[derive(Debug)]
pub(crate) struct Posted {
    pub(crate) wanted: Wanted,
    pub(crate) op: u32,
}

/// The queues of posted receives and unexpected messages. The oldest match comes first, so messages
/// of one sender with one tag are received in the order in which they were sent.
#[derive(Debug, Default)]
pub(crate) struct Queues {
    posted: VecDeque<Posted>,
    unexpected: UnexpectedQueue,
}

impl Queues {
    /// Whether no receives and no messages wait.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.posted.is_empty() && self.unexpected.is_empty()
    }

    /// Removes and returns the receive that matches a message.
    #[inline]
    pub(crate) fn receive_for(&mut self, from: LinkId, tag: u64) -> Option<u32> {
        let at = self
            .posted
            .iter()
            .position(|posted| posted.wanted.takes(from, tag))?;
        let posted = match at {
            0 => self.posted.pop_front(),
            _ => self.posted.remove(at),
        };
        posted.map(|posted| posted.op)
    }

    /// Returns the receive that matches a message, without removing it.
    pub(crate) fn peek_receive(&self, from: LinkId, tag: u64) -> Option<u32> {
        let found = self
            .posted
            .iter()
            .find(|posted| posted.wanted.takes(from, tag))?;
        Some(found.op)
    }

    /// Removes and returns the message that matches a receive.
    #[inline]
    pub(crate) fn message_for(&mut self, wanted: &Wanted) -> Option<Unexpected> {
        self.unexpected.take(wanted)
    }

    pub(crate) fn peek_message(&self, wanted: &Wanted) -> Option<&Unexpected> {
        self.unexpected.peek(wanted)
    }

    pub(crate) fn post(&mut self, wanted: Wanted, op: u32) {
        self.posted.push_back(Posted { wanted, op });
    }

    pub(crate) fn hold(&mut self, message: Unexpected) {
        self.unexpected.push(message);
    }

    /// Removes a posted receive. Returns false if it has been matched already.
    pub(crate) fn unpost(&mut self, op: u32) -> bool {
        let at = self.posted.iter().position(|posted| posted.op == op);
        at.is_some_and(|at| self.posted.remove(at).is_some())
    }

    /// Removes an offer that its sender withdraws. Returns false if it has been matched already.
    pub(crate) fn forget_offer(&mut self, from: LinkId, offer: u32) -> bool {
        self.unexpected.forget_offer(from, offer)
    }

    /// Replaces an offer by the whole message, which has arrived.
    pub(crate) fn complete_offer(&mut self, from: LinkId, offer: u32, body: Body) {
        self.unexpected.complete_offer(from, offer, body);
    }

    /// Handles the end of a link: removes its offers, which can no longer be fulfilled, and keeps
    /// its whole messages. Returns the receives that wait for the link.
    pub(crate) fn cut(&mut self, link: LinkId) -> Vec<u32> {
        self.unexpected.forget_offers(link);
        self.unpost_where(|wanted| wanted.from == Some(link))
    }

    /// Removes and returns all receives for which `gone` is true.
    pub(crate) fn unpost_where(&mut self, mut gone: impl FnMut(&Wanted) -> bool) -> Vec<u32> {
        let mut taken = Vec::new();
        self.posted.retain(|posted| {
            let goes = gone(&posted.wanted);
            if goes {
                taken.push(posted.op);
            }
            !goes
        });
        taken
    }
}
