//! One frame of a group on one host.

use std::ops::Range;

use super::control::{Counter, Which};
use super::head::Head;
use super::memory::{layer, layer_mut, sizes, Place};
use super::{Shared, Taken};
use crate::covered::{merge_covered, Covered, Rectangle, Sparse};
use crate::group::agreed::{Agreed, Mode};
use crate::group::ended::Ended;
use crate::group::links::Links;
use crate::group::{CompositeError, Own, PictureRef, Terms};
use crate::plan::stripe;
use crate::Layer;

/// What a frame is about.
struct Frame<'f, 'a> {
    links: &'f Links<'a>,
    number: u32,
    terms: &'f Terms,
    order: &'f [usize],
    agreed: Agreed,
    /// The ranks that merge, each its stripe.
    mergers: Vec<usize>,
}

impl Frame<'_, '_> {
    fn next(&self) -> u32 {
        self.number.wrapping_add(1)
    }

    /// The pixels that this member merges.
    fn stripe(&self) -> Option<Range<usize>> {
        let mut mergers = self.mergers.iter();
        let at = mergers.position(|rank| *rank == self.links.rank)?;
        Some(stripe(self.terms.pixels(), at, self.mergers.len()))
    }

    /// Who else reads this member's picture.
    fn readers(&self) -> Vec<usize> {
        let mergers = self.mergers.iter().copied();
        mergers.filter(|rank| *rank != self.links.rank).collect()
    }

    /// Whether this member keeps merged pixels: as the receiver, or because there is none.
    fn keeps(&self) -> bool {
        self.terms.to.is_none_or(|to| to == self.links.rank)
    }

    /// This member's words about a picture, or about the memory for the merged one.
    fn head(&self, place: Place, covered: Covered) -> Head {
        Head {
            frame: self.number,
            agreed: self.agreed,
            place,
            covered,
        }
    }
}

impl Shared {
    /// Merges one picture of each member.
    pub fn composite(
        &mut self,
        links: &Links<'_>,
        number: u32,
        own: Own<'_>,
        terms: &Terms,
        (mode, order): (Mode, &[usize]),
    ) -> Result<(Range<usize>, PictureRef<'_>), CompositeError> {
        let frame = Frame {
            links,
            number,
            terms,
            order,
            agreed: Agreed::new(terms, mode, order),
            mergers: match (mode, terms.to) {
                (Mode::Stripes, _) if !order.is_empty() => order.to_vec(),
                (_, to) => to.into_iter().collect(),
            },
        };
        let merged = self.run(&frame, own).inspect_err(|error| {
            if !error.is_of_call() {
                self.fail(links, error);
            }
        })?;
        let result = self.result.as_ref().filter(|_| !merged.is_empty());
        let result = result.and_then(|own| {
            // SAFETY: all mergers have counted the frame, so they write no more until this member
            // counts the memory as ready again, for which it must be borrowed anew.
            unsafe { layer(own.mapping(), own.place(0), terms.format, &merged) }
        });
        let picture = result.map_or(PictureRef::default(), |layer| PictureRef {
            color: layer.color,
            depth: layer.depth,
        });
        Ok((merged, picture))
    }

    /// Gives the pixels that this member has in the memory for merged ones.
    fn run(&mut self, frame: &Frame<'_, '_>, own: Own<'_>) -> Result<Range<usize>, CompositeError> {
        let (links, terms, next) = (frame.links, frame.terms, frame.next());
        let rank = links.rank;
        let is_receiver = terms.to == Some(rank);
        // If this member alone reads its picture, the picture can stay where it is.
        let stays = match &own {
            Own::Passed(picture) if frame.mergers == [rank] => Some(*picture),
            _ => None,
        };
        let mut head = None;
        if frame.order.contains(&rank) && stays.is_none() {
            let covered = self.put(frame, own)?;
            head = self
                .take_place(frame)
                .map(|place| frame.head(place, covered));
        }
        let stripe = frame.stripe();
        if is_receiver || (stripe.is_some() && frame.keeps()) {
            let sizes = sizes(terms.pixels(), terms.format);
            let result = match self.result.take().filter(|own| own.has_room_for(sizes)) {
                Some(own) => own,
                None => self.create(links, 1, sizes)?,
            };
            let nothing = Covered::whole(terms.width, terms.height);
            let words = frame.head(result.place(0), nothing).to_words();
            self.own(links).write(Which::Result, frame.number, &words);
            self.result = Some(result);
        }
        self.own(links).set(Counter::Ready, next);
        if let Some(head) = head {
            self.tell(links, &head, frame.readers())?;
        }
        self.own(links).set(Counter::Drawn, next);
        if let Some(stripe) = stripe.clone().filter(|stripe| !stripe.is_empty()) {
            self.merge(frame, stays, stripe)?;
        }
        self.own(links).set(Counter::Merged, next);
        if is_receiver {
            let mut others = frame.mergers.iter().filter(|other| **other != rank);
            others.try_for_each(|other| self.wait(links, *other, Counter::Merged, next))?;
            return Ok(0..terms.pixels());
        }
        Ok(stripe.filter(|_| frame.keeps()).unwrap_or(0..0))
    }

    /// Puts this member's picture where others can read it, as far as it is not background.
    fn put(&mut self, frame: &Frame<'_, '_>, own: Own<'_>) -> Result<Covered, CompositeError> {
        let terms = frame.terms;
        let size = (terms.width, terms.height);
        let picture = match own {
            Own::Passed(picture) => picture,
            Own::Drawn(covered) => {
                let is_drawn = |pictures: &super::Pictures| pictures.is_free;
                if !self.pictures.as_ref().is_some_and(is_drawn) || self.place_mut(terms).is_err() {
                    return Err(CompositeError::NotDrawn);
                }
                // To find what is background takes as long as to merge it, where nothing is copied.
                return Ok(match covered {
                    Some(rectangle) => Covered::by(rectangle, terms.format),
                    None => Covered::whole(size.0, size.1),
                });
            }
        };
        self.find_place(frame.links, terms)?;
        let covered = Covered::find(picture, size, terms.format, terms.operation);
        let out = self.place_mut(terms)?;
        let [color, depth] = terms.format.pixel_bytes();
        let parts = [
            (picture.color, out.color, color),
            (picture.depth, out.depth, depth),
        ];
        let Rectangle { columns, rows } = &covered.rectangle;
        for (from, to, pixel) in parts {
            if covered.rectangle == Rectangle::whole(terms.width, terms.height) {
                to.copy_from_slice(from);
                continue;
            }
            for row in rows.clone() {
                let [start, end] =
                    [columns.start, columns.end].map(|column| (row * terms.width + column) * pixel);
                to[start..end].copy_from_slice(&from[start..end]);
            }
        }
        Ok(covered)
    }

    /// Leaves the place in which this member's picture is to those that read it.
    fn take_place(&mut self, frame: &Frame<'_, '_>) -> Option<Place> {
        let pictures = self.pictures.as_mut()?;
        let at = pictures.next;
        pictures.places[at] = Taken {
            frame: frame.number,
            readers: frame.readers(),
        };
        pictures.next = (at + 1) % pictures.places.len();
        pictures.is_free = false;
        Some(pictures.own.place(at))
    }

    /// Merges a stripe of all pictures into the receiver's memory.
    fn merge(
        &mut self,
        frame: &Frame<'_, '_>,
        own: Option<PictureRef<'_>>,
        stripe: Range<usize>,
    ) -> Result<(), CompositeError> {
        let (terms, format) = (frame.terms, frame.terms.format);
        let rank = frame.links.rank;
        let mut heads = Vec::with_capacity(frame.order.len());
        for other in frame.order {
            heads.push(match (*other == rank, own) {
                (true, Some(picture)) => {
                    let size = (terms.width, terms.height);
                    let covered = Covered::find(picture, size, format, terms.operation);
                    frame.head(Place::default(), covered)
                }
                _ => self.hear(frame, *other, Counter::Drawn, Which::Picture)?,
            });
        }
        let keeper = terms.to.unwrap_or(rank);
        let result = self.hear(frame, keeper, Counter::Ready, Which::Result)?;
        let lost = |rank: usize| CompositeError::Lost {
            rank,
            source: mgn_fabric::Error::Closed(format!("rank {rank}")),
        };
        let whole = Rectangle::whole(terms.width, terms.height);
        let mut layers = Vec::with_capacity(heads.len());
        for (other, head) in frame.order.iter().zip(&heads) {
            let layer = match (*other == rank, own) {
                (true, Some(picture)) => Some(
                    Layer {
                        channel: format.color.channel(),
                        color: picture.color,
                        depth: picture.depth,
                    }
                    .part(&stripe),
                ),
                _ => {
                    let mapping = self.members[*other].memory.find(head.place);
                    // SAFETY: the other has counted its picture as drawn, and leaves it as it is
                    // until this member has counted the frame as merged.
                    mapping.and_then(|it| unsafe { layer(it, head.place, format, &stripe) })
                }
            };
            layers.push(Sparse {
                layer: layer.ok_or_else(|| lost(*other))?,
                start: stripe.start,
                kept: whole.clone(),
                covered: head.covered.clone(),
            });
        }
        let mapping = self.members[keeper].result.find(result.place);
        // SAFETY: the receiver has counted its memory as ready, and every merger writes to its own
        // stripe only.
        let out = mapping.and_then(|it| unsafe { layer_mut(it, result.place, format, &stripe) });
        let out = out.ok_or_else(|| lost(keeper))?;
        merge_covered(terms, &stripe, &layers, &whole, out)?;
        Ok(())
    }

    /// Waits for what a member has to say of this frame, and maps the memory that it speaks of.
    fn hear(
        &mut self,
        frame: &Frame<'_, '_>,
        rank: usize,
        counter: Counter,
        which: Which,
    ) -> Result<Head, CompositeError> {
        if rank != frame.links.rank {
            self.wait(frame.links, rank, counter, frame.next())?;
        }
        let peer = &mut self.members[rank];
        let head = Head::from_words(peer.control.read(which, frame.number));
        let different = match head.frame == frame.number {
            true => frame.agreed.difference(&head.agreed),
            false => Some("in another order or for another receiver"),
        };
        let is_within = head
            .covered
            .rectangle
            .is_within(frame.terms.width, frame.terms.height);
        let different =
            different.or((!is_within).then_some("a rectangle that is not within the picture"));
        if let Some(what) = different {
            let what = what.to_owned();
            return Err(CompositeError::Different { rank, what });
        }
        let seen = match which {
            Which::Picture => &mut peer.memory,
            Which::Result => &mut peer.result,
        };
        let mapped = seen.map(head.place, peer.invitation.pid, peer.invitation.nonce);
        if let Err(source) = mapped {
            // A member that has failed has told why.
            return Err(match peer.control.ended() {
                0 => CompositeError::Lost {
                    rank,
                    source: mgn_fabric::Error::Io {
                        doing: "cannot map its pictures".to_owned(),
                        source,
                    },
                },
                why => Ended::from_code(why).error(rank, frame.links),
            });
        }
        Ok(head)
    }
}
