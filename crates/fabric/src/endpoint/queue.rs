//! Matching: receives that wait for messages, and messages that wait for receives.

use std::collections::VecDeque;

use super::carrier::Body;
use super::link_id::LinkId;

/// Which messages a receive takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The link, or `None` for any link. A receive from any link ends with [`crate::Error::Closed`]
    /// when the last peer goes. A receive that begins later ends at once, unless this endpoint has
    /// accepted peers, because more peers may then come.
    pub from: Option<LinkId>,
    pub tag: u64,
    /// The bits of the tag that are not compared.
    pub ignore: u64,
}

impl Wanted {
    /// Messages with this tag from this link.
    pub fn new(from: LinkId, tag: u64) -> Wanted {
        Wanted {
            from: Some(from),
            tag,
            ignore: 0,
        }
    }

    /// Any message.
    pub fn any() -> Wanted {
        Wanted {
            from: None,
            tag: 0,
            ignore: u64::MAX,
        }
    }

    #[inline]
    pub(crate) fn takes(&self, from: LinkId, tag: u64) -> bool {
        (self.tag ^ tag) & !self.ignore == 0 && self.from.is_none_or(|wanted| wanted == from)
    }
}

/// A receive that waits for its message.
#[derive(Debug)]
pub(crate) struct Posted {
    pub(crate) wanted: Wanted,
    pub(crate) op: u32,
}

/// A message that waits for its receive.
#[derive(Debug)]
pub(crate) struct Unexpected {
    pub(crate) from: LinkId,
    pub(crate) tag: u64,
    pub(crate) what: What,
}

#[derive(Debug)]
pub(crate) enum What {
    /// The whole message is here. `sync` is the sender's number of a synchronous message.
    Whole { body: Body, sync: Option<u32> },
    /// The message is offered. Its link holds the bytes that came early.
    Offer { id: u32, len: usize },
}

impl Unexpected {
    pub(crate) fn len(&self) -> usize {
        match &self.what {
            What::Whole { body, .. } => body.len(),
            What::Offer { len, .. } => *len,
        }
    }
}

/// The queues of posted receives and unexpected messages. The oldest match comes first, so messages
/// of one sender with one tag are received in the order in which they were sent.
#[derive(Debug, Default)]
pub(crate) struct Queues {
    posted: VecDeque<Posted>,
    unexpected: VecDeque<Unexpected>,
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
        let at = self
            .unexpected
            .iter()
            .position(|found| wanted.takes(found.from, found.tag))?;
        self.unexpected.remove(at)
    }

    pub(crate) fn peek_message(&self, wanted: &Wanted) -> Option<&Unexpected> {
        self.unexpected
            .iter()
            .find(|found| wanted.takes(found.from, found.tag))
    }

    pub(crate) fn post(&mut self, wanted: Wanted, op: u32) {
        self.posted.push_back(Posted { wanted, op });
    }

    pub(crate) fn hold(&mut self, message: Unexpected) {
        self.unexpected.push_back(message);
    }

    /// Removes a posted receive. Returns false if it has been matched already.
    pub(crate) fn unpost(&mut self, op: u32) -> bool {
        let at = self.posted.iter().position(|posted| posted.op == op);
        at.is_some_and(|at| self.posted.remove(at).is_some())
    }

    /// Removes an offer that its sender withdraws. Returns false if it has been matched already.
    pub(crate) fn forget_offer(&mut self, from: LinkId, offer: u32) -> bool {
        let is_it = |found: &Unexpected| {
            found.from == from && matches!(found.what, What::Offer { id, .. } if id == offer)
        };
        let at = self.unexpected.iter().position(is_it);
        at.is_some_and(|at| self.unexpected.remove(at).is_some())
    }

    /// Replaces an offer by the whole message, which has arrived.
    pub(crate) fn complete_offer(&mut self, from: LinkId, offer: u32, body: Body) {
        let is_it = |found: &&mut Unexpected| {
            found.from == from && matches!(found.what, What::Offer { id, .. } if id == offer)
        };
        if let Some(found) = self.unexpected.iter_mut().find(is_it) {
            found.what = What::Whole { body, sync: None };
        }
    }

    /// Handles the end of a link: removes its offers, which can no longer be fulfilled, and keeps
    /// its whole messages. Returns the receives that wait for the link.
    pub(crate) fn cut(&mut self, link: LinkId) -> Vec<u32> {
        self.unexpected
            .retain(|found| found.from != link || matches!(found.what, What::Whole { .. }));
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
