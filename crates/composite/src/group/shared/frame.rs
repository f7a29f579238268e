//! One frame of a group on one host.

use std::ops::Range;
use std::sync::atomic::{fence, Ordering};

use mgn_sys::memory;

use super::control::{Counter, Which, STRIPES_MAX};
use super::head::Head;
use super::memory::{layer, layer_mut, sizes, PictureLocation, Stored};
use super::{Shared, Taken};
use crate::covered::{merge_covered, merged_background, Covered, Pixel, Rectangle, Sparse};
use crate::group::agreed::{Agreed, Mode};
use crate::group::ended::Ended;
use crate::group::hosts::Block;
use crate::group::links::Links;
use crate::group::messages::Merging;
use crate::group::{CompositeError, Own, PictureRef, Terms};
use crate::merge::background;
use crate::plan::stripe;
use crate::{Channel, Layer, LayerMut};

/// How long a member that helps to merge waits until the receiver has finished its last frame, as a
/// multiple of the group's patience: longer than the receiver waits for other members in that
/// frame.
const HELPED_PATIENCE: u32 = 4;

/// The inputs of a frame.
pub(super) struct Frame<'f, 'a> {
    pub links: &'f Links<'a>,
    pub number: u32,
    pub terms: &'f Terms,
    /// The ranks on this host whose pictures are merged, in order.
    pub order: &'f [usize],
    /// The rank that gets the merged pixels; none: each keeps its piece.
    pub to: Option<usize>,
    pub agreed: Agreed,
    pub mode: Mode,
    /// How the merged pixels are stored.
    pub merged: Stored,
    /// The pixel that the merged picture gets where no picture shows anything, if this member is
    /// the receiver.
    background: Option<Pixel>,
}

impl Frame<'_, '_> {
    pub fn next(&self) -> u32 {
        self.number.wrapping_add(1)
    }

    /// The stripes in which the pixels are merged. Without a receiver, each member has its own;
    /// otherwise members claim them.
    pub fn stripes(&self) -> usize {
        match (self.mode, self.to) {
            (Mode::Gather, _) => 1,
            (_, None) => self.order.len(),
            (_, Some(_)) => self.order.len().clamp(1, STRIPES_MAX),
        }
    }

    pub fn stripe(&self, at: usize) -> Range<usize> {
        stripe(self.terms.pixels(), at, self.stripes())
    }

    /// Where this member is in the order.
    pub fn position(&self) -> Option<usize> {
        let mut order = self.order.iter();
        order.position(|rank| *rank == self.links.rank)
    }

    /// The other ranks that may read this member's picture.
    pub fn readers(&self) -> Vec<usize> {
        let others = match self.mode {
            Mode::Gather => &[],
            _ => self.order,
        };
        let to = self.to.filter(|to| !others.contains(to));
        let all = others.iter().copied().chain(to);
        all.filter(|rank| *rank != self.links.rank).collect()
    }

    /// The use of a place for this member's picture.
    fn taken(&self) -> Taken {
        Taken {
            frame: self.number,
            readers: self.readers(),
            terms: self.to.map(|to| (to, self.agreed)),
        }
    }

    /// All pixels.
    pub fn whole(&self) -> Rectangle {
        Rectangle::whole(self.terms.width, self.terms.height)
    }

    /// Whether this member keeps merged pixels: as the receiver, or because there is no receiver.
    fn keeps(&self) -> bool {
        self.to.is_none_or(|to| to == self.links.rank)
    }

    /// This member's announcement of a picture, or of the memory for the merged one.
    pub fn head(&self, place: PictureLocation, covered: Covered) -> Head {
        Head {
            frame: self.number,
            agreed: self.agreed,
            place,
            covered,
            background: None,
            positions: 0..0,
        }
    }
}

/// A picture to be merged, or the result of an early merge.
#[derive(Clone, Debug)]
pub(super) struct Input {
    /// The rank in whose memory it is.
    pub rank: usize,
    /// [`Which::Picture`] or [`Which::Early`].
    pub which: Which,
    pub head: Head,
}

/// The part that is covered in a picture that is merged from others.
pub(super) fn covered_by(
    terms: &Terms,
    heads: &[Head],
    merged: Channel,
) -> Result<Covered, CompositeError> {
    let nothing = Rectangle::empty();
    let rectangles = heads.iter().map(|head| &head.covered.rectangle);
    let rectangle = rectangles.fold(nothing, |all, one| all.hull(one));
    let channel = terms.format.color.channel();
    let backgrounds = heads.iter().map(|head| (&head.covered.background, channel));
    let background = merged_background(terms, backgrounds, merged)?;
    let covered = Covered {
        rectangle,
        background,
    };
    Ok(match covered.is_nearly_all(terms.pixels()) {
        true => covered.widened((terms.width, terms.height)),
        false => covered,
    })
}

/// How the merged pixels of a block are stored.
fn block_stored(merging: &Merging<'_>) -> Stored {
    match merging.order.len() {
        1 => Stored::drawn(merging.terms.format),
        _ => Stored::partial(merging.terms.format, merging.terms.operation),
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
        background: Option<Pixel>,
    ) -> Result<(Range<usize>, PictureRef<'_>), CompositeError> {
        let frame = Frame {
            links,
            number,
            terms,
            order,
            to: terms.to,
            agreed: Agreed::new(terms, mode, order),
            mode,
            merged: Stored::drawn(terms.format),
            background,
        };
        let run = self.run(&frame, own);
        self.end_frame(links, number, &run);
        let (merged, _) = run?;

        let result = self.result(frame.merged, &merged);
        let picture = result.map_or(PictureRef::default(), PictureRef::from);
        Ok((merged, picture))
    }

    /// Merges the pictures of a block in the memory of its leader. Returns which part of the result
    /// is covered. This is right only for the leader; no other member needs it.
    pub fn composite_block(
        &mut self,
        links: &Links<'_>,
        number: u32,
        own: &Own<'_>,
        merging: &Merging<'_>,
        block: &Block,
    ) -> Result<Covered, CompositeError> {
        let terms = merging.terms;
        let mode = self.usual(terms, &block.order);
        self.allow_for_messages(merging);
        let frame = Frame {
            links,
            number,
            terms,
            order: &block.order,
            to: Some(block.leader),
            agreed: merging.agreed,
            mode,
            merged: block_stored(merging),
            background: None,
        };
        let (_, heads) = self.run(&frame, own.clone())?;
        covered_by(terms, &heads, frame.merged.channel)
    }

    /// The merged picture of the block that this member leads. A receiver that leads no block has
    /// no picture of its own, and does not use what this returns.
    pub fn merged(&self, merging: &Merging<'_>, covered: Covered) -> Sparse<'_> {
        let terms = merging.terms;
        let stored = block_stored(merging);
        let layer = self.result(stored, &(0..terms.pixels()));
        Sparse {
            layer: layer.unwrap_or(Layer {
                channel: stored.channel,
                color: &[],
                depth: &[],
            }),
            start: 0,
            kept: Rectangle::whole(terms.width, terms.height),
            covered,
        }
    }

    /// The merged picture of the last frame in which this member was the receiver and the picture
    /// was merged in this memory, if that is of the size and format of these terms.
    pub fn merged_mut(&mut self, terms: &Terms) -> Option<LayerMut<'_>> {
        let own = self.result.as_mut()?;
        let (stored, pixels) = (Stored::drawn(terms.format), 0..terms.pixels());
        // SAFETY: as for `result`.
        unsafe { layer_mut(own.mapping(), own.place(0), stored, &pixels) }
    }

    /// The merged pixels of the present frame that this member holds.
    fn result(&self, stored: Stored, merged: &Range<usize>) -> Option<Layer<'_>> {
        let own = self.result.as_ref().filter(|_| !merged.is_empty())?;
        // SAFETY: every rank that writes to this memory has counted its last frame as merged. None
        // writes again until this member counts the memory as ready for another frame. That needs
        // `&mut self`, which the borrow of this result excludes.
        unsafe { layer(own.mapping(), own.place(0), stored, merged) }
    }

    /// Returns the range of merged pixels that are in this member's memory, and the heads of all
    /// pictures in the order; no heads if this member has not read them.
    fn run(
        &mut self,
        frame: &Frame<'_, '_>,
        own: Own<'_>,
    ) -> Result<(Range<usize>, Vec<Head>), CompositeError> {
        let (links, terms, next) = (frame.links, frame.terms, frame.next());
        let rank = links.rank;
        self.has_drawn_for = self.frame_ended.get().elapsed();
        let is_receiver = frame.to == Some(rank);
        // If no other member reads this picture, it can stay where it is.
        let stays = match &own {
            Own::Passed(picture) if frame.readers().is_empty() => Some(*picture),
            _ => None,
        };
        let mut head = None;
        if frame.order.contains(&rank) && stays.is_none() {
            let covered = self.put(frame, own)?;
            head = match covered.rectangle.is_empty() {
                true => Some(frame.head(PictureLocation::default(), covered)),
                false => self
                    .take_place(frame)
                    .map(|place| frame.head(place, covered)),
            };
        }
        let position = frame.position();
        if frame.keeps() && (is_receiver || position.is_some()) {
            let sizes = sizes(terms.pixels(), frame.merged);
            let result = match self.result.take().filter(|own| own.has_room_for(sizes)) {
                Some(own) => own,
                None => self.create(links, 1, sizes)?,
            };
            let nothing = Covered::whole(terms.width, terms.height);
            let head = Head {
                background: frame.background,
                ..frame.head(result.place(0), nothing)
            };
            self.own(links)
                .write(Which::Result, frame.number, &head.to_words());
            self.result = Some(result);
        }
        if is_receiver {
            self.own(links).open(frame.number, frame.stripes());
        }
        self.own(links).set(Counter::Ready, next);
        if let Some(head) = head {
            let told = match head.covered.rectangle.is_empty() {
                // No place is taken, so the receiver's terms are checked along with this head.
                true => frame.taken(),
                false => Taken {
                    terms: None,
                    ..frame.taken()
                },
            };
            self.announce(links, &head, told)?;
        }
        self.own(links).set(Counter::Drawn, next);
        self.prepare(frame)?;
        let mut heads = Vec::new();
        let mut kept = 0..0;
        match (frame.to, position) {
            (Some(to), _) if is_receiver => {
                heads = self.heads(frame, stays)?;
                self.merge_claimed(frame, &heads, stays, to)?;
                kept = 0..terms.pixels();
            }
            (Some(to), Some(_)) if frame.mode == Mode::Stripes && self.helps(frame) => {
                self.help(frame, to)?;
            }
            (None, Some(at)) => {
                kept = frame.stripe(at);
                if !kept.is_empty() {
                    heads = self.heads(frame, stays)?;
                    let inputs = self.inputs(frame, 0, &heads);
                    self.merge(frame, &inputs, stays, kept.clone())?;
                }
            }
            _ => {}
        }
        self.own(links).set(Counter::Merged, next);
        if is_receiver {
            for at in 0..frame.stripes() {
                // This member has claimed all stripes that no other member had claimed.
                let claimer = self.own(links).claimer(frame.number, at);
                if let Some(other) = claimer.filter(|other| *other != rank) {
                    if !frame.order.contains(&other) {
                        return Err(CompositeError::Lost {
                            rank: other,
                            source: mgn_fabric::Error::PeerMisbehaved(
                                "a part of the picture is claimed for it, but it is not in the group",
                            ),
                        });
                    }
                    self.wait(links, other, Counter::Merged, next, 2)?;
                }
            }
        }
        Ok((kept, heads))
    }

    /// Whether this member, which has drawn, merges along with the receiver.
    fn helps(&self, frame: &Frame<'_, '_>) -> bool {
        let has_to_draw = |rank: &&usize| {
            let control = &self.peer(**rank).control;
            Some(**rank) != frame.to && !control.has(Counter::Drawn, frame.next())
        };
        let helpers = self.helpers(frame.terms, frame.order);
        frame.order.iter().filter(has_to_draw).count() < helpers
    }

    /// Merges along with the receiver, if anything is left to merge.
    fn help(&mut self, frame: &Frame<'_, '_>, to: usize) -> Result<(), CompositeError> {
        // The receiver may still wait for a member that has claimed a stripe of the last frame. The
        // receiver gives up first, and knows which member is late.
        let times = HELPED_PATIENCE.max(1 + self.messages_patience);
        self.wait(frame.links, to, Counter::Finished, frame.number, times)?;
        // Once the receiver is ready, stripes can be claimed.
        self.wait(frame.links, to, Counter::Ready, frame.next(), 1)?;
        self.check_receiver(to, frame.number, frame.agreed)?;
        let is_left = |shared: &Shared| {
            let keeper = &shared.peer(to).control;
            (0..frame.stripes()).any(|at| keeper.is_free(frame.number, at))
        };
        if !is_left(self) {
            return Ok(());
        }
        match self.heads(frame, None) {
            Ok(heads) => self.merge_claimed(frame, &heads, None, to),
            // The others have merged everything in the meantime, and may have ended.
            Err(_) if !is_left(self) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Checks that the receiver of a frame assumes the same terms. A member that merges nothing has
    /// no other way to learn this.
    ///
    /// # Errors
    /// [`CompositeError::Different`].
    pub(super) fn check_receiver(
        &self,
        to: usize,
        number: u32,
        agreed: Agreed,
    ) -> Result<(), CompositeError> {
        let control = &self.peer(to).control;
        let head = Head::from_words(control.read(Which::Result, number));
        fence(Ordering::Acquire);
        let newest = Head::from_words(control.read(Which::Result, number)).frame;
        // A receiver that does not need this member's pictures may be many frames ahead.
        if newest.wrapping_sub(number) as i32 > 0 {
            return Ok(());
        }
        match head.difference(number, agreed) {
            Some(what) => Err(CompositeError::Different { rank: to, what }),
            None => Ok(()),
        }
    }

    /// Merges stripes that no other member has claimed, until there are none. Each member begins at
    /// a different stripe.
    fn merge_claimed(
        &mut self,
        frame: &Frame<'_, '_>,
        heads: &[Head],
        own: Option<PictureRef<'_>>,
        to: usize,
    ) -> Result<(), CompositeError> {
        let inputs = self.inputs(frame, 0, heads);
        let stripes = frame.stripes();
        let first = frame.position().unwrap_or(0);
        for at in (first..first + stripes).map(|at| at % stripes) {
            let keeper = &self.peer(to).control;
            let stripe = frame.stripe(at);
            if keeper.claim(frame.number, at, frame.links.rank) && !stripe.is_empty() {
                self.merge(frame, &inputs, own, stripe)?;
            }
        }
        Ok(())
    }

    /// The heads of all members' pictures. `own` is this member's picture if it stays where it is.
    fn heads(
        &mut self,
        frame: &Frame<'_, '_>,
        own: Option<PictureRef<'_>>,
    ) -> Result<Vec<Head>, CompositeError> {
        let (terms, rank) = (frame.terms, frame.links.rank);
        let head = |other: &usize| match (*other == rank, own) {
            (true, Some(picture)) => {
                let size = (terms.width, terms.height);
                let covered = Covered::find(picture, size, terms.format, terms.operation);
                Ok(frame.head(PictureLocation::default(), covered))
            }
            _ => self.receive_head(frame, *other, Counter::Drawn, Which::Picture),
        };
        frame.order.iter().map(head).collect()
    }

    /// Puts this member's picture where others can read it, without its background. A picture that
    /// shows nothing needs no memory.
    fn put(&mut self, frame: &Frame<'_, '_>, own: Own<'_>) -> Result<Covered, CompositeError> {
        let terms = frame.terms;
        let size = (terms.width, terms.height);
        let picture = match own {
            Own::Passed(picture) => picture,
            Own::Drawn(Some(rectangle)) if rectangle.is_empty() => {
                return Ok(Covered::by(rectangle, terms.format));
            }
            Own::Drawn(covered) => {
                let is_drawn = |pictures: &super::Pictures| pictures.is_free;
                if !self.pictures.as_ref().is_some_and(is_drawn) {
                    return Err(CompositeError::NotDrawn);
                }
                let drawn = self.place_mut(terms)?;
                if let Some(rectangle) = covered {
                    return Ok(Covered::by(rectangle, terms.format));
                }
                // The picture has just been drawn, so this member reads its background faster than
                // another one would merge it.
                let picture = PictureRef {
                    color: drawn.color,
                    depth: drawn.depth,
                };
                return Ok(Covered::find(picture, size, terms.format, terms.operation));
            }
        };
        let covered = Covered::find(picture, size, terms.format, terms.operation);
        if covered.rectangle.is_empty() {
            return Ok(covered);
        }
        self.find_place(frame.links, terms)?;
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

    /// Leaves the place of this member's picture to its readers.
    fn take_place(&mut self, frame: &Frame<'_, '_>) -> Option<PictureLocation> {
        let pictures = self.pictures.as_mut()?;
        let at = pictures.next;
        pictures.places[at] = frame.taken();
        pictures.next = (at + 1) % pictures.places.len();
        pictures.is_free = false;
        Some(pictures.own.place(at))
    }

    /// Merges a stripe of all pictures into the receiver's memory.
    fn merge(
        &mut self,
        frame: &Frame<'_, '_>,
        inputs: &[Input],
        own: Option<PictureRef<'_>>,
        stripe: Range<usize>,
    ) -> Result<(), CompositeError> {
        let terms = frame.terms;
        let keeper = frame.to.unwrap_or(frame.links.rank);
        let result = self.receive_head(frame, keeper, Counter::Ready, Which::Result)?;
        let layers = self.layers(frame, inputs, own, &stripe)?;
        let mapping = self.peer(keeper).result.find(result.place);
        // SAFETY: the receiver has counted its memory as ready, and every member writes only to
        // stripes of its own, or to those that it alone has claimed.
        let out =
            mapping.and_then(|it| unsafe { layer_mut(it, result.place, frame.merged, &stripe) });
        let mut out = out.ok_or_else(|| CompositeError::closed(keeper))?;
        let merged = out.part(&(0..stripe.len()));
        merge_covered(terms, &stripe, &layers, &frame.whole(), merged)?;
        if let Some(background) = result.background {
            background::fill(terms.operation, terms.format, &background, out);
        }
        Ok(())
    }

    /// A stripe of the inputs. `own` is this member's picture if it stays where it is.
    pub(super) fn layers<'s>(
        &'s self,
        frame: &Frame<'_, '_>,
        inputs: &[Input],
        own: Option<PictureRef<'s>>,
        stripe: &Range<usize>,
    ) -> Result<Vec<Sparse<'s>>, CompositeError> {
        let drawn = Stored::drawn(frame.terms.format);
        let layer = |input: &Input| {
            let Input { rank, which, head } = input;
            let layer = match (which, own) {
                (Which::Picture, Some(picture)) if *rank == frame.links.rank => Some(
                    Layer {
                        channel: drawn.channel,
                        color: picture.color,
                        depth: picture.depth,
                    }
                    .part(stripe),
                ),
                (Which::Picture, _) if head.covered.rectangle.is_empty() => Some(Layer {
                    channel: drawn.channel,
                    color: &[],
                    depth: &[],
                }),
                _ => {
                    let mapping = self.peer(*rank).seen(*which).find(head.place);
                    let stored = match which {
                        Which::Early => frame.merged,
                        _ => drawn,
                    };
                    // SAFETY: the other member has counted its picture as drawn, or its early
                    // merge as done, and does not change it until this member has counted the frame
                    // as merged.
                    mapping.and_then(|it| unsafe { layer(it, head.place, stored, stripe) })
                }
            };
            Ok(Sparse {
                layer: layer.ok_or_else(|| CompositeError::closed(*rank))?,
                start: stripe.start,
                kept: frame.whole(),
                covered: head.covered.clone(),
            })
        };
        inputs.iter().map(layer).collect()
    }

    /// Waits for a member's announcement of this frame, and reads it.
    pub(super) fn receive_head(
        &mut self,
        frame: &Frame<'_, '_>,
        rank: usize,
        counter: Counter,
        which: Which,
    ) -> Result<Head, CompositeError> {
        if rank != frame.links.rank {
            self.wait_until_finished(frame.links, rank, frame.number)?;
            self.wait(frame.links, rank, counter, frame.next(), 1)?;
        }
        self.read_head(frame, rank, which)
    }

    /// Reads a member's announcement of this frame, which must be there, and maps the memory that
    /// it names.
    pub(super) fn read_head(
        &mut self,
        frame: &Frame<'_, '_>,
        rank: usize,
        which: Which,
    ) -> Result<Head, CompositeError> {
        let peer = self.peer_mut(rank);
        let head = Head::from_words(peer.control.read(which, frame.number));
        let different = head.difference(frame.number, frame.agreed);
        let is_within = head
            .covered
            .rectangle
            .is_within(frame.terms.width, frame.terms.height);
        let different =
            different.or((!is_within).then(|| "a rectangle that is not within the picture".into()));
        if let Some(what) = different {
            return Err(CompositeError::Different { rank, what });
        }
        if which == Which::Picture && head.covered.rectangle.is_empty() {
            return Ok(head);
        }
        if let Err(source) = peer.map(which, head.place) {
            // This member itself has no memory or no descriptors left.
            if memory::is_exhausted(&source) {
                return Err(CompositeError::Memory(source));
            }
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
