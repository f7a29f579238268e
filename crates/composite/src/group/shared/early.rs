//! Merging early: a member that has drawn merges the pictures that are there already, while others
//! still draw. When the last picture comes, fewer are left to be merged with it.
//!
//! The positions in the order form blocks of two, four, eight and so on, each aligned to its size;
//! the last block may be smaller. A member that has drawn looks for the largest block around its
//! own position in which all members have drawn. It merges the pictures of this block in one pass,
//! into memory of its own. Members that merge later do not wait for this result: they read it if
//! it is there, and the pictures themselves if it is not. Chance decides between the two, and both
//! must give the same pixels. So only pictures with the nearest depth are merged early: blending
//! in several passes would round differently.

use std::ops::Range;

use super::control::{Counter, Which};
use super::frame::{covered_by, Frame, Input};
use super::head::Head;
use super::memory::{layer_mut, parts, sizes, OwnMemory, PictureLocation};
use super::{Shared, Taken};
use crate::covered::merge_covered;
use crate::group::agreed::Mode;
use crate::group::CompositeError;
use crate::Operation;

/// With fewer pictures, there is nothing to merge before the last one.
const PICTURES: usize = 3;

impl Frame<'_, '_> {
    /// Whether pictures may be merged early.
    fn may_merge_early(&self) -> bool {
        let is_exact = self.terms.operation == Operation::Nearest;
        let is_free = self.terms.schedule.is_none() && self.to.is_some();
        is_exact && is_free && self.mode == Mode::Stripes && self.order.len() >= PICTURES
    }
}

impl Shared {
    /// Merges pictures early and maps memory, if others still draw and this member has drawn long.
    pub(super) fn prepare(&mut self, frame: &Frame<'_, '_>) -> Result<(), CompositeError> {
        let is_in_time = frame.mode == Mode::Stripes
            && self.has_drawn_long(frame.terms, frame.order)
            && !self.have_all_drawn(frame);
        if is_in_time && frame.may_merge_early() {
            self.merge_early(frame)?;
        }
        if is_in_time {
            self.map_ahead();
        }
        Ok(())
    }

    /// Maps the memory that each member, this one included, has announced last, so that this need
    /// not be done when all have drawn. Mapping a picture takes longer than merging it, but each
    /// memory is mapped only once.
    fn map_ahead(&mut self) {
        const ALL: [(Which, Counter); 3] = [
            (Which::Picture, Counter::Drawn),
            (Which::Result, Counter::Ready),
            (Which::Early, Counter::MergedEarly),
        ];
        for peer in self.members.iter_mut().flatten() {
            for (which, counter) in ALL {
                let last = peer.control.value(counter).wrapping_sub(1);
                let head = Head::from_words(peer.control.read(which, last));
                if head.frame == last && head.place != PictureLocation::default() {
                    // A later use of the memory reports the error.
                    let _ = peer.map(which, head.place);
                }
            }
        }
    }

    /// Merges the largest block of pictures around this member's own that is there.
    fn merge_early(&mut self, frame: &Frame<'_, '_>) -> Result<(), CompositeError> {
        let Some(block) = frame.position().and_then(|at| self.drawn_block(frame, at)) else {
            return Ok(());
        };
        // If members may still read the last early result, this member merges nothing early.
        let Taken {
            frame: last,
            readers,
            ..
        } = &self.early_taken;
        let has_merged = |rank: &usize| {
            let control = &self.peer(*rank).control;
            control.has(Counter::Merged, last.wrapping_add(1))
        };
        if !readers.iter().all(has_merged) {
            return Ok(());
        }
        let heads = block.clone().map(|at| {
            let rank = frame.order[at];
            self.receive_head(frame, rank, Counter::Drawn, Which::Picture)
        });
        let heads: Vec<Head> = heads.collect::<Result<_, _>>()?;
        let covered = covered_by(frame.terms, &heads, frame.merged.channel)?;
        let inputs = self.inputs(frame, block.start, &heads);
        let sizes = sizes(frame.terms.pixels(), frame.merged);
        let own = match self.early.take().filter(|own| own.has_room_for(sizes)) {
            Some(own) => own,
            None => match self.create(frame.links, 1, sizes) {
                Ok(created) => created,
                // Pictures can be merged without this memory.
                Err(_) => return Ok(()),
            },
        };
        let merged = self.merge_block(frame, &inputs, &own);
        let place = own.place(0);
        self.early = Some(own);
        if merged? {
            let head = Head {
                positions: block,
                ..frame.head(place, covered)
            };
            self.early_taken = Taken {
                frame: frame.number,
                readers: frame.readers(),
                terms: None,
            };
            let own = self.own(frame.links);
            own.write(Which::Early, frame.number, &head.to_words());
            own.set(Counter::MergedEarly, frame.next());
        }
        Ok(())
    }

    /// Merges a block. `false` if it has stopped, because all members have drawn by then and this
    /// member is needed to merge all pictures.
    fn merge_block(
        &self,
        frame: &Frame<'_, '_>,
        inputs: &[Input],
        own: &OwnMemory,
    ) -> Result<bool, CompositeError> {
        let whole = frame.whole();
        for at in 0..frame.stripes() {
            if self.have_all_drawn(frame) {
                return Ok(false);
            }
            let stripe = frame.stripe(at);
            let layers = self.layers(frame, inputs, None, &stripe)?;
            // SAFETY: no member reads this memory: all have merged the last frame, and none reads a
            // block of this one before it is announced.
            let out = unsafe { layer_mut(own.mapping(), own.place(0), frame.merged, &stripe) };
            let out = out.ok_or_else(|| CompositeError::closed(frame.links.rank))?;
            merge_covered(frame.terms, &stripe, &layers, &whole, out)?;
        }
        Ok(true)
    }

    /// The largest block around a position in which all members have drawn. The block is never the
    /// whole order. None if it is only this position.
    fn drawn_block(&self, frame: &Frame<'_, '_>, at: usize) -> Option<Range<usize>> {
        let members = frame.order.len();
        let blocks = (1..usize::BITS).map(|bits| {
            let start = at >> bits << bits;
            start..(start + (1 << bits)).min(members)
        });
        let has_drawn = |block: &Range<usize>| {
            let mut ranks = frame.order[block.clone()].iter();
            ranks.all(|rank| self.has_drawn(frame, *rank))
        };
        let drawn = blocks.take_while(|block| block.len() < members && has_drawn(block));
        drawn.last().filter(|block| block.len() > 1)
    }

    fn have_all_drawn(&self, frame: &Frame<'_, '_>) -> bool {
        frame.order.iter().all(|rank| self.has_drawn(frame, *rank))
    }

    fn has_drawn(&self, frame: &Frame<'_, '_>, rank: usize) -> bool {
        let control = &self.peer(rank).control;
        control.has(Counter::Drawn, frame.next())
    }

    /// Returns the inputs to merge for the positions from `start` on: results of early merges where
    /// they are there, else single pictures. `heads` are those of the pictures.
    pub(super) fn inputs(
        &mut self,
        frame: &Frame<'_, '_>,
        start: usize,
        heads: &[Head],
    ) -> Vec<Input> {
        let all = start..start + heads.len();
        let blocks = match frame.may_merge_early() {
            true => self.merged_early(frame, &all),
            false => Vec::new(),
        };
        let mut inputs = Vec::with_capacity(heads.len());
        let mut at = all.start;
        while at < all.end {
            let here = blocks
                .iter()
                .filter(|block| block.head.positions.start == at);
            let largest = here.max_by_key(|block| block.head.positions.len());
            let input = largest.cloned().unwrap_or_else(|| Input {
                rank: frame.order[at],
                which: Which::Picture,
                head: heads[at - start].clone(),
            });
            at = match input.which {
                Which::Early => input.head.positions.end,
                _ => at + 1,
            };
            inputs.push(input);
        }
        inputs
    }

    /// The results of early merges of pictures within `positions`. Those that cannot be used are
    /// left out.
    fn merged_early(&mut self, frame: &Frame<'_, '_>, positions: &Range<usize>) -> Vec<Input> {
        let mut found = Vec::new();
        for at in positions.clone() {
            let rank = frame.order[at];
            let control = &self.peer(rank).control;
            if !control.is_at(Counter::MergedEarly, frame.next()) {
                continue;
            }
            let Ok(head) = self.read_head(frame, rank, Which::Early) else {
                continue;
            };
            let Range { start, end } = head.positions;
            let all = 0..frame.terms.pixels();
            let has_all = |mapping| parts(mapping, head.place, frame.merged, &all).is_some();
            let mapping = self.peer(rank).seen(Which::Early).find(head.place);
            let is_usable = (positions.start..=at).contains(&start)
                && (at + 1..=positions.end).contains(&end)
                && mapping.is_some_and(has_all);
            if is_usable {
                found.push(Input {
                    rank,
                    which: Which::Early,
                    head,
                });
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::covered::Covered;
    use crate::group::agreed::{tests::terms as other_terms, Agreed};
    use crate::group::shared::tests::in_groups;
    use crate::{Group, PictureRef, Pixel, Terms};
    use mgn_fuzzing::Random;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;
    use std::time::Duration;

    fn terms(side: usize, order: Vec<usize>, to: usize) -> Terms {
        Terms {
            width: side,
            height: side,
            order: Some(order),
            to: Some(to),
            ..other_terms()
        }
    }

    /// A depth with one of six values: in most places, several pictures have the same depth.
    fn depth(frame: usize, rank: usize, at: usize) -> f32 {
        ((at * 7 + frame * 13 + rank * 29) % 11 / 2) as f32 / 4.0
    }

    /// Members draw in random turns. In some frames, the receiver and others have no picture. The
    /// receiver gets what one pass over all pictures gives, and the background where all depths
    /// are at least 1. In some frames, a member announces an early merge that cannot be right: it
    /// is not used.
    #[test]
    fn early_merges_change_nothing() {
        const SIZE: usize = 7;
        const FRAMES: usize = 48;
        const BACKGROUND: Pixel = Pixel {
            color: [77; 16],
            depth: 1.0_f32.to_ne_bytes(),
        };
        let merges = AtomicUsize::new(0);
        in_groups("early", SIZE, |group| {
            group.shared.as_mut().unwrap().small = 0;
            let rank = group.rank();
            for frame in 0..FRAMES {
                let mut random = Random::new(frame as u64);
                let mut shuffled = || {
                    let mut ranks: Vec<usize> = (0..SIZE).collect();
                    (1..SIZE).for_each(|at| ranks.swap(at, random.below(at + 1)));
                    ranks
                };
                let (mut order, turns) = (shuffled(), shuffled());
                order.truncate(SIZE - frame % 3);
                let side = 40 + frame / 8;
                let terms = terms(side, order.clone(), frame % SIZE);
                group.set_background(Some(BACKGROUND));
                if order.contains(&rank) {
                    thread::sleep(Duration::from_millis(2 * turns[rank] as u64));
                    let room = group.draw(&terms).unwrap();
                    room.color.fill(rank as u8);
                    for (at, pixel) in room.depth.chunks_exact_mut(4).enumerate() {
                        pixel.copy_from_slice(&depth(frame, rank, at).to_ne_bytes());
                    }
                    if frame % 4 == 3 && turns[rank] == 0 {
                        announce_wrong(group, frame, &terms);
                    }
                    group.composite_drawn(&terms, None).unwrap();
                } else {
                    group.composite(PictureRef::default(), &terms).unwrap();
                }
                let shared = group.shared.as_ref().unwrap();
                let own = shared.own(&group.links);
                let has_merged = own.is_at(Counter::MergedEarly, frame as u32 + 1);
                merges.fetch_add(usize::from(has_merged), Ordering::Relaxed);
                let Some(merged) = group.merged_mut(&terms) else {
                    continue;
                };
                for (at, pixel) in merged.color.chunks_exact(4).enumerate() {
                    let depth = |rank: &usize| depth(frame, *rank, at);
                    // Of several, `min_by` returns the first.
                    let nearest = order
                        .iter()
                        .copied()
                        .min_by(|one, other| depth(one).total_cmp(&depth(other)));
                    let nearest = nearest.filter(|rank| depth(rank) < 1.0);
                    let wanted = nearest.map_or(77, |rank| rank as u8);
                    assert_eq!(pixel, [wanted; 4], "frame {frame}, pixel {at}");
                }
            }
        });
        assert!(merges.load(Ordering::Relaxed) > FRAMES, "{merges:?}");
    }

    /// Announces an early merge of other pictures, or outside of all memory, as a faulty member
    /// might.
    fn announce_wrong(group: &Group<'_>, frame: usize, terms: &Terms) {
        let shared = group.shared.as_ref().unwrap();
        let own = shared.own(&group.links);
        let order = terms.order.as_ref().unwrap();
        let at = order
            .iter()
            .position(|rank| *rank == group.links.rank)
            .unwrap();
        let place = shared.pictures.as_ref().unwrap().own.place(0);
        let right = Head {
            frame: frame as u32,
            agreed: Agreed::new(terms, Mode::Stripes, order),
            place,
            covered: Covered::whole(terms.width, terms.height),
            background: None,
            positions: at..at + 1,
        };
        let (outside, huge) = (u64::MAX - 3, usize::MAX >> 32);
        let wrong = match frame / 4 % 4 {
            0 => Head {
                positions: at + 1..at + 3,
                ..right
            },
            1 => Head {
                positions: 0..huge,
                ..right
            },
            2 => Head {
                place: PictureLocation {
                    color: outside,
                    ..place
                },
                ..right
            },
            _ => Head {
                place: PictureLocation {
                    size: outside,
                    ..place
                },
                ..right
            },
        };
        own.write(Which::Early, frame as u32, &wrong.to_words());
        own.set(Counter::MergedEarly, frame as u32 + 1);
    }
}
