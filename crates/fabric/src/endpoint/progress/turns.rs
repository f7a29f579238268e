//! The order in which links are served: hot links are polled all the time, cold links ring the
//! doorbell, and due links have pending work for which no wake-up will come.

use std::os::fd::OwnedFd;

use rustix::event::epoll::Event;

use super::super::link::AnyLink;
use super::super::link_id::LinkId;
use super::{watch_room, State, DUE_LINKS_PER_LOOK, HOT_MAX, OF_PROCESS};
use crate::shm::Sleep;

impl State {
    #[inline]
    pub(super) fn has_own_news(&mut self, at: usize) -> bool {
        let link = self.engine.carrier(self.within[at]);
        link.is_some_and(|link| link.has_own_news())
    }

    /// Whether any of the events belong to cold links.
    pub(super) fn are_cold(&self, events: &[Event]) -> bool {
        let is_cold = |event: &Event| {
            let data = { event.data }.u64();
            !self.hot.contains(&LinkId::from_bits(data & !OF_PROCESS))
        };
        self.hot.len() < self.peers.len() && events.iter().any(is_cold)
    }

    /// Whether socket events report everything for which the link waits, so that the link needs no
    /// polling.
    fn has_turn_by_socket(&mut self, id: LinkId) -> bool {
        let is_stream =
            |link: &mut AnyLink| matches!(link, AnyLink::Stream(link) if !link.is_ready());
        self.engine.carrier(id).is_some_and(is_stream) && !self.engine.is_sending(id)
    }

    /// Makes progress on all hot links and the links within this process, and on some due links.
    /// Returns whether anything happened.
    #[inline]
    pub(super) fn go_on(&mut self, sockets: &OwnedFd) -> bool {
        let mut happened = false;
        for at in 0..self.within.len() {
            if self.has_own_news(at) {
                happened |= self.engine.progress(self.within[at]);
            }
        }
        if self.round == 0 {
            for at in 0..self.hot.len() {
                let id = self.hot[at];
                if !self.are_cold_busy || !self.has_turn_by_socket(id) {
                    happened |= self.engine.progress(id);
                }
            }
            self.round = self.due.len();
        }
        if !self.due.is_empty() {
            happened |= self.take_turns(sockets);
        }
        happened | self.engine.fetch_some()
    }

    /// Makes the link hot: it is polled from now on. If there are too many hot links, another link
    /// becomes cold.
    pub(super) fn heat(&mut self, sockets: &OwnedFd, id: LinkId) {
        if self.hot.contains(&id) || !self.peers.contains_key(&id) {
            return;
        }
        if self.hot.len() >= HOT_MAX {
            let idle = |hot: &LinkId| !self.engine.is_sending(*hot);
            let at = self.hot.iter().position(idle).unwrap_or(0);
            let cold = self.hot.remove(at);
            self.cool(sockets, cold);
        }
        self.hot.push(id);
    }

    /// Makes the link cold: its peer has to ring from now on. If the link already has pending work,
    /// or may have got space to send before the peer was asked to ring, the link becomes due.
    pub(super) fn cool(&mut self, sockets: &OwnedFd, id: LinkId) {
        let sending = self.engine.is_sending(id);
        let has_something = match self.engine.carrier(id) {
            Some(AnyLink::Shm(link)) => {
                link.is_ready() || link.watch(Sleep::Deep, sending) || sending
            }
            Some(AnyLink::Stream(link)) => {
                watch_room(sockets, id, link);
                link.is_ready()
            }
            _ => false,
        };
        if has_something && !self.due.contains(&id) {
            self.due.push_back(id);
        }
    }

    /// Makes progress on some of the due links. Returns whether anything happened.
    fn take_turns(&mut self, sockets: &OwnedFd) -> bool {
        let mut happened = false;
        for _ in 0..self.due.len().min(DUE_LINKS_PER_LOOK) {
            let Some(id) = self.due.pop_front() else {
                break;
            };
            self.round = self.round.saturating_sub(1);
            let went_on = self.engine.progress(id);
            happened |= went_on;
            if self.hot.contains(&id) {
                continue;
            }
            if went_on {
                self.cool(sockets, id);
            } else if let Some(AnyLink::Shm(link)) = self.engine.carrier(id) {
                // The peer has already been asked to ring when it frees space. `progress` found
                // nothing, but a message may have arrived since.
                if link.watch(Sleep::Deep, false) {
                    self.due.push_back(id);
                }
            }
        }
        happened
    }
}
