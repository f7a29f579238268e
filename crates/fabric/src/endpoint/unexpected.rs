//! The queue of unexpected messages, which have arrived before their receives.
//!
//! Each message is in two lists, in the order of arrival: the list of all messages, and the list of
//! its sender. So a receive that names the sender does not have to pass over the messages of other
//! senders.

use super::carrier::Body;
use super::link_id::LinkId;
use super::wanted::Wanted;

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

    fn is_offer(&self, from: LinkId, offer: u32) -> bool {
        self.from == from && matches!(self.what, What::Offer { id, .. } if id == offer)
    }
}

#[derive(Debug, Default)]
pub(super) struct UnexpectedQueue {
    places: Vec<Place>,
    free: Vec<usize>,
    all: List,
    /// The lists of the senders, by the index of the link. Successive links may share an index.
    by_link: Vec<List>,
}

#[derive(Debug)]
struct Place {
    /// `None` in a free place.
    message: Option<Unexpected>,
    /// The neighbours in the list of all messages, and in the list of the sender.
    of_all: Neighbours,
    of_link: Neighbours,
}

#[derive(Clone, Copy, Debug, Default)]
struct Neighbours {
    before: Option<usize>,
    after: Option<usize>,
}

#[derive(Clone, Copy, Debug, Default)]
struct List {
    first: Option<usize>,
    last: Option<usize>,
}

impl UnexpectedQueue {
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.all.first.is_none()
    }

    pub(super) fn push(&mut self, message: Unexpected) {
        let index = message.from.index as usize;
        if self.by_link.len() <= index {
            self.by_link.resize(index + 1, List::default());
        }
        let behind = |list: List| Neighbours {
            before: list.last,
            after: None,
        };
        let place = Place {
            message: Some(message),
            of_all: behind(self.all),
            of_link: behind(self.by_link[index]),
        };
        let at = match self.free.pop() {
            Some(at) => {
                self.places[at] = place;
                at
            }
            None => {
                self.places.push(place);
                self.places.len() - 1
            }
        };
        self.all
            .append(at, &mut self.places, |place| &mut place.of_all);
        self.by_link[index].append(at, &mut self.places, |place| &mut place.of_link);
    }

    /// Removes and returns the oldest message that the receive takes.
    #[inline]
    pub(super) fn take(&mut self, wanted: &Wanted) -> Option<Unexpected> {
        let at = self.find(wanted)?;
        Some(self.remove(at))
    }

    pub(super) fn peek(&self, wanted: &Wanted) -> Option<&Unexpected> {
        self.places[self.find(wanted)?].message.as_ref()
    }

    /// Removes an offer. Returns false if it is not here.
    pub(super) fn forget_offer(&mut self, from: LinkId, offer: u32) -> bool {
        let at = self.find_from(from, |found| found.is_offer(from, offer));
        at.map(|at| self.remove(at)).is_some()
    }

    /// Replaces an offer, if it is here, by the whole message.
    pub(super) fn complete_offer(&mut self, from: LinkId, offer: u32, body: Body) {
        let at = self.find_from(from, |found| found.is_offer(from, offer));
        if let Some(found) = at.and_then(|at| self.places[at].message.as_mut()) {
            found.what = What::Whole { body, sync: None };
        }
    }

    /// Removes all offers of a link.
    pub(super) fn forget_offers(&mut self, from: LinkId) {
        let list = self.by_link.get(from.index as usize);
        let mut next = list.and_then(|list| list.first);
        while let Some(at) = next {
            let place = &self.places[at];
            next = place.of_link.after;
            let is_offer =
                |found: &Unexpected| found.from == from && matches!(found.what, What::Offer { .. });
            if place.message.as_ref().is_some_and(is_offer) {
                self.remove(at);
            }
        }
    }

    #[inline]
    fn find(&self, wanted: &Wanted) -> Option<usize> {
        let takes = |found: &Unexpected| wanted.takes(found.from, found.tag);
        match wanted.from {
            Some(from) => self.find_from(from, takes),
            None => self.search(self.all.first, |place| place.of_all.after, takes),
        }
    }

    #[inline]
    fn find_from(&self, from: LinkId, is_it: impl Fn(&Unexpected) -> bool) -> Option<usize> {
        let list = self.by_link.get(from.index as usize)?;
        self.search(list.first, |place| place.of_link.after, is_it)
    }

    #[inline]
    fn search(
        &self,
        first: Option<usize>,
        after: impl Fn(&Place) -> Option<usize>,
        is_it: impl Fn(&Unexpected) -> bool,
    ) -> Option<usize> {
        std::iter::successors(first, |at| after(&self.places[*at]))
            .find(|at| self.places[*at].message.as_ref().is_some_and(&is_it))
    }

    fn remove(&mut self, at: usize) -> Unexpected {
        let message = self.places[at].message.take();
        let message = message.expect("a list names only full places");
        self.free.push(at);
        let of_sender = &mut self.by_link[message.from.index as usize];
        self.all
            .remove(at, &mut self.places, |place| &mut place.of_all);
        of_sender.remove(at, &mut self.places, |place| &mut place.of_link);
        message
    }
}

impl List {
    /// Appends a place to the list. The place already names its neighbours.
    fn append(
        &mut self,
        at: usize,
        places: &mut [Place],
        of: impl Fn(&mut Place) -> &mut Neighbours,
    ) {
        match self.last {
            Some(last) => of(&mut places[last]).after = Some(at),
            None => self.first = Some(at),
        }
        self.last = Some(at);
    }

    /// Joins the neighbours of a place that leaves the list.
    fn remove(
        &mut self,
        at: usize,
        places: &mut [Place],
        of: impl Fn(&mut Place) -> &mut Neighbours,
    ) {
        let Neighbours { before, after } = *of(&mut places[at]);
        match before {
            Some(before) => of(&mut places[before]).after = after,
            None => self.first = after,
        }
        match after {
            Some(after) => of(&mut places[after]).before = before,
            None => self.last = before,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Random;

    fn link(index: u32, generation: u32) -> LinkId {
        LinkId { index, generation }
    }

    fn offer(from: LinkId, tag: u64, id: u32) -> Unexpected {
        let what = What::Offer { id, len: 0 };
        Unexpected { from, tag, what }
    }

    fn id(found: &Unexpected) -> u32 {
        match found.what {
            What::Offer { id, .. } => id,
            What::Whole { .. } => unreachable!("the test only offers"),
        }
    }

    /// Random operations have the same results as on a plain list.
    #[test]
    fn the_oldest_match_comes_first() {
        let mut random = Random::new(7);
        let (mut queue, mut plain) = (UnexpectedQueue::default(), Vec::<(LinkId, u64, u32)>::new());
        // Two generations share each index.
        let links: Vec<LinkId> = (0..6).map(|at| link(at / 2, at % 2)).collect();
        for next in 0..20_000 {
            let from = links[random.below(links.len() as u64) as usize];
            let tag = random.below(3);
            match random.below(100) {
                0 => {
                    queue.forget_offers(from);
                    plain.retain(|(whose, ..)| *whose != from);
                }
                1..50 => {
                    queue.push(offer(from, tag, next));
                    plain.push((from, tag, next));
                }
                50..60 if !plain.is_empty() => {
                    let (from, _, id) = plain.remove(random.below(plain.len() as u64) as usize);
                    assert!(queue.forget_offer(from, id));
                    assert!(!queue.forget_offer(from, id));
                }
                _ => {
                    let wanted = Wanted {
                        from: (random.below(2) == 0).then_some(from),
                        tag,
                        ignore: random.below(4),
                    };
                    let at = plain
                        .iter()
                        .position(|(from, tag, _)| wanted.takes(*from, *tag));
                    let expected = at.map(|at| plain.remove(at).2);
                    assert_eq!(queue.peek(&wanted).map(id), expected);
                    assert_eq!(queue.take(&wanted).as_ref().map(id), expected);
                }
            }
            assert_eq!(queue.is_empty(), plain.is_empty());
        }
        while let Some(found) = queue.take(&Wanted::any()) {
            assert_eq!(id(&found), plain.remove(0).2);
        }
        assert!(plain.is_empty());
    }

    #[test]
    fn places_are_used_again() {
        let mut queue = UnexpectedQueue::default();
        for id in 0..100 {
            queue.push(offer(link(id % 3, 0), 0, id));
            queue.push(offer(link(id % 3, 0), 0, id));
            queue.take(&Wanted::any()).unwrap();
            queue.take(&Wanted::any()).unwrap();
        }
        assert_eq!(queue.places.len(), 2);
    }
}
