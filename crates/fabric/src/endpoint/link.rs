//! A link with a carrier of any kind.

use std::ptr::NonNull;
use std::time::Duration;

use super::carrier::{Body, Carrier, FarEnd, Placer, Sent};
use super::head::Head;
use super::memory::{Memory, Payload};
use super::own::OwnLink;
use super::shm::ShmLink;
use super::silent::{PlayedLink, SilentLink};
use super::stream::StreamLink;
use crate::shm::Extent;
use crate::Error;

pub(crate) enum AnyLink {
    Shm(Box<ShmLink>),
    Stream(Box<StreamLink>),
    Own(OwnLink),
    Silent(SilentLink),
    Played(Box<PlayedLink>),
}

macro_rules! each {
    ($self:expr, $link:ident => $what:expr) => {
        match $self {
            AnyLink::Shm($link) => $what,
            AnyLink::Stream($link) => $what,
            AnyLink::Own($link) => $what,
            AnyLink::Silent($link) => $what,
            AnyLink::Played($link) => $what,
        }
    };
}

impl AnyLink {
    /// Whether a frame has arrived that causes no socket event.
    #[inline]
    pub(crate) fn has_own_news(&self) -> bool {
        match self {
            AnyLink::Own(link) => link.is_ready(),
            AnyLink::Silent(link) => link.is_ready(),
            AnyLink::Played(link) => link.is_ready(),
            AnyLink::Shm(_) | AnyLink::Stream(_) => false,
        }
    }
}

impl Carrier for AnyLink {
    #[inline]
    fn send(&mut self, head: &Head, payload: Payload<'_>) -> Result<Sent, Error> {
        each!(self, link => link.send(head, payload))
    }

    #[inline]
    fn send_short(&mut self, head: &Head, memory: &Memory) -> bool {
        each!(self, link => link.send_short(head, memory))
    }

    #[inline]
    fn recv_short<'a>(
        &mut self,
        wanted: impl FnOnce([u64; 2]) -> Option<&'a Memory>,
    ) -> Option<(u64, usize)> {
        each!(self, link => link.recv_short(wanted))
    }

    #[inline]
    fn answer(&mut self, head: &Head) -> Result<Sent, Error> {
        each!(self, link => link.answer(head))
    }

    #[inline]
    fn recv(&mut self, placer: Placer<'_>) -> Result<Option<(Head, Body)>, Error> {
        each!(self, link => link.recv(placer))
    }

    #[inline]
    fn matched(&mut self, eager_bytes: usize) {
        each!(self, link => link.matched(eager_bytes))
    }

    #[inline]
    fn envelopes(&self) -> u32 {
        each!(self, link => link.envelopes())
    }

    #[inline]
    fn eager_max(&self) -> usize {
        each!(self, link => link.eager_max())
    }

    fn far(&self) -> FarEnd {
        each!(self, link => link.far())
    }

    fn has_memory(&self) -> bool {
        each!(self, link => link.has_memory())
    }

    fn roomless_max(&self) -> usize {
        each!(self, link => link.roomless_max())
    }

    fn part_max(&self) -> usize {
        each!(self, link => link.part_max())
    }

    fn early_max(&self) -> usize {
        each!(self, link => link.early_max())
    }

    fn early_room(&self, len: usize) -> usize {
        each!(self, link => link.early_room(len))
    }

    fn reserve(&mut self, len: usize) -> Option<Extent> {
        each!(self, link => link.reserve(len))
    }

    fn hands_over(&self, memory: &Memory) -> bool {
        each!(self, link => link.hands_over(memory))
    }

    fn fetches_from(&self) -> usize {
        each!(self, link => link.fetches_from())
    }

    fn follows(&self) -> bool {
        each!(self, link => link.follows())
    }

    fn now(&self) -> Duration {
        each!(self, link => link.now())
    }

    fn fetched_from(&self) -> usize {
        each!(self, link => link.fetched_from())
    }

    unsafe fn fetch(&mut self, address: u64, into: NonNull<u8>, len: usize) -> bool {
        // SAFETY: the caller has promised this.
        each!(self, link => unsafe { link.fetch(address, into, len) })
    }

    #[inline]
    fn has_news(&self) -> bool {
        each!(self, link => link.has_news())
    }

    #[inline]
    fn is_drained(&self) -> bool {
        each!(self, link => link.is_drained())
    }

    #[inline]
    fn may_have_come(&self) -> bool {
        each!(self, link => link.may_have_come())
    }

    #[inline]
    fn is_quiet(&self) -> bool {
        each!(self, link => link.is_quiet())
    }

    #[inline]
    fn is_blocked(&self) -> bool {
        each!(self, link => link.is_blocked())
    }

    #[inline]
    fn flush(&mut self) -> Result<(), Error> {
        each!(self, link => link.flush())
    }
}
