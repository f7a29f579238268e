//! Compositing by messages: members send each other pieces of their pictures, as the plan says.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::ops::Range;
use std::time::{Duration, Instant};

use mgn_fabric::endpoint::{Endpoint, Request, SendOptions, Wanted};

use super::agreed::Agreed;
use super::links::{Links, PULSE};
use super::{CompositeError, Own, Picture, PictureRef, Terms};
use crate::active::{self, Active, Span};
use crate::covered::{merge_covered, merged_background, Covered, Pixel, Rectangle, Sparse};
use crate::{
    merge, Channel, Delivery, Event, Layer, LayerMut, Member, Piece, Plan, Schedule, Share,
};

/// At most this many buffers are kept for the next frame.
const SPARE: usize = 64;

/// Bytes of the header before the pixels of each message: a mark, the frame, the properties that
/// all must agree on, and which part of the sender's picture is covered. Only covered pixels
/// follow: their colours, and then their depths. If a bitmap of their blocks lies between, only the
/// pixels of active blocks follow.
const HEADER: usize = 8 * (1 + Agreed::WORDS) + COVERED;

/// The last bytes of a header: columns and rows of the rectangle, the background, whether a bitmap
/// follows, and padding.
const COVERED: usize = 4 * 4 + 16 + 4 + 4;

/// A bitmap is sent if the message then needs at most this share of the bytes of all covered
/// pixels.
const WORTH: (usize, usize) = (7, 8);

/// Marks a header, in its first word. Memory for a header is zeroed first, so that a header that
/// has not come is not taken for another one.
const MARK: u32 = 0x4D67_6E70;

/// A frame that is merged by messages.
#[derive(Clone, Debug)]
pub(super) struct Merging<'t> {
    pub terms: &'t Terms,
    pub agreed: Agreed,
    pub schedule: Schedule,
    /// The ranks that have pictures, in order.
    pub order: Vec<usize>,
    /// Which of these pictures were merged from those of several members, and so have the pixel
    /// format of intermediate results.
    pub are_partial: Vec<bool>,
    /// How long it may take until the ranks have these pictures, as a multiple of the patience.
    pub merge_patience: u32,
}

impl Merging<'_> {
    /// Whether a rank sends or receives anything.
    pub fn takes_part(&self, rank: usize) -> bool {
        self.order.contains(&rank) || self.terms.to == Some(rank)
    }

    /// Whether a rank has the result already: the only picture is its own, and it is the receiver.
    pub fn has_result(&self, rank: usize) -> bool {
        self.order == [rank] && self.terms.to == Some(rank)
    }

    /// How many times the group's patience a rank waits for a piece that it needs in a round.
    fn waits(&self, round: usize) -> u32 {
        1 + self.merge_patience + round as u32
    }

    /// The same for the very last piece.
    pub fn waits_in_all(&self) -> u32 {
        self.waits(self.schedule.rounds(self.order.len()).len())
    }
}

/// The state that is kept from frame to frame.
#[derive(Debug, Default)]
pub(super) struct Messages {
    /// The picture that is drawn for the next frame.
    drawn: Picture,
    kept: Kept,
}

#[derive(Debug, Default)]
struct Kept {
    /// Buffers of earlier frames.
    spare: Vec<Vec<u8>>,
    /// The merged pixels of the last frame.
    merged: Pixels,
    plan: Option<(Planned, Plan)>,
    /// The terms of the last frame, and [`Merging::waits_in_all`].
    last: Option<(Agreed, u32)>,
}

/// The values that determine a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Planned {
    schedule: Schedule,
    members: usize,
    /// This member's place in the order; none for a rank without a picture, which gets the merged
    /// one.
    mine: Option<usize>,
    pixels: usize,
    delivery: Delivery,
}

impl Messages {
    /// Memory for the next picture.
    pub fn draw(&mut self, terms: &Terms) -> LayerMut<'_> {
        let pixels = terms.pixels();
        let [color, depth] = terms.format.pixel_bytes();
        self.drawn.color.resize(pixels * color, 0);
        self.drawn.depth.resize(pixels * depth, 0);
        self.drawn.layer_mut(terms.format.color.channel())
    }

    /// Merges one picture of each member.
    pub fn composite(
        &mut self,
        links: &Links<'_>,
        frame: u32,
        own: Own<'_>,
        merging: &Merging<'_>,
    ) -> Result<(Range<usize>, PictureRef<'_>), CompositeError> {
        let terms = merging.terms;
        let size = (terms.width, terms.height);
        let find = |picture| Covered::find(picture, size, terms.format, terms.operation);
        let nothing = (PictureRef::default(), Covered::whole(0, 0));
        let (own, covered) = match own {
            _ if !merging.order.contains(&links.rank) => nothing,
            Own::Passed(picture) => (picture, find(picture)),
            Own::Drawn(Some(rectangle)) if rectangle.is_empty() => {
                (PictureRef::default(), Covered::by(rectangle, terms.format))
            }
            Own::Drawn(rectangle) => {
                let picture = self.drawn.borrowed();
                terms.check(picture).map_err(|_| CompositeError::NotDrawn)?;
                let covered = match rectangle {
                    Some(rectangle) => Covered::by(rectangle, terms.format),
                    None => find(picture),
                };
                if covered.is_nearly_all(terms.pixels()) {
                    let drawn = self.drawn.layer_mut(terms.format.color.channel());
                    covered.clear_outside(terms, drawn);
                    (self.drawn.borrowed(), covered.widened(size))
                } else {
                    (self.drawn.borrowed(), covered)
                }
            }
        };
        let own = Sparse {
            layer: Layer {
                channel: terms.format.color.channel(),
                color: own.color,
                depth: own.depth,
            },
            start: 0,
            kept: Rectangle::whole(terms.width, terms.height),
            covered,
        };
        self.kept.composite(links, frame, own, merging)
    }

    /// The same for a member whose picture is the merged one of its block.
    pub fn composite_merged(
        &mut self,
        links: &Links<'_>,
        frame: u32,
        own: Sparse<'_>,
        merging: &Merging<'_>,
    ) -> Result<(Range<usize>, PictureRef<'_>), CompositeError> {
        self.kept.composite(links, frame, own, merging)
    }
}

impl Kept {
    fn composite(
        &mut self,
        links: &Links<'_>,
        frame: u32,
        own: Sparse<'_>,
        merging: &Merging<'_>,
    ) -> Result<(Range<usize>, PictureRef<'_>), CompositeError> {
        links.check(frame)?;
        let terms = merging.terms;
        let mut spare = std::mem::take(&mut self.spare);
        spare.extend(worth_keeping(std::mem::take(&mut self.merged).bytes));
        let last = self.last.replace((merging.agreed, merging.waits_in_all()));
        // With the same terms, no rank is a frame ahead of one from which it receives.
        let last_waits = match last {
            Some((agreed, waits)) if agreed != merging.agreed => waits,
            _ => 0,
        };
        let mut run = Run {
            links,
            frame,
            header: header(frame, &merging.agreed),
            terms,
            merging,
            last_waits,
            own,
            merged: Vec::new(),
            arriving: HashMap::new(),
            sending: Vec::new(),
            leaving: Vec::new(),
            spare,
        };
        let result = run.go(&mut self.plan);
        run.give_up();
        let mut spare = std::mem::take(&mut run.spare);
        spare.extend(run.merged.drain(..).map(|pixels| pixels.bytes));
        spare.extend(run.arriving.drain().map(|(_, (_, pixels))| pixels.bytes));
        spare.extend(run.leaving.drain(..).filter_map(worth_keeping));
        // A frame can leave many small buffers, which are easily allocated again.
        spare.sort_unstable_by_key(|buffer| Reverse(buffer.capacity()));
        spare.truncate(SPARE);
        drop(run);
        self.spare = spare;
        self.merged = result?.unwrap_or_default();
        let picture = self.merged.view(terms).layer.into();
        Ok((self.merged.range.clone(), picture))
    }
}

/// Pixels of one picture, as they are sent.
#[derive(Debug)]
struct Pixels {
    range: Range<usize>,
    channel: Channel,
    /// Pixels of the range that are within it are in memory. All others are background.
    kept: Rectangle,
    background: Pixel,
    /// Bytes before the colours: a header, perhaps with a bitmap, or none.
    lead: usize,
    /// The colours, and behind them the depths.
    bytes: Vec<u8>,
}

impl Default for Pixels {
    fn default() -> Pixels {
        Pixels {
            range: 0..0,
            channel: Channel::U8,
            kept: Rectangle::empty(),
            background: Pixel::default(),
            lead: 0,
            bytes: Vec::new(),
        }
    }
}

impl Pixels {
    /// How many pixels are in memory.
    fn count(&self, width: usize) -> usize {
        self.kept.before(self.range.end, width) - self.kept.before(self.range.start, width)
    }

    /// Where the colours are, and the depths.
    fn parts(&self, terms: &Terms) -> [Range<usize>; 2] {
        self.parts_of(self.count(terms.width), terms)
    }

    /// The same if only this number of pixels is there.
    fn parts_of(&self, count: usize, terms: &Terms) -> [Range<usize>; 2] {
        let depths = self.lead + count * self.channel.pixel_bytes();
        let end = depths + count * terms.format.depth_bytes();
        [self.lead..depths, depths..end]
    }

    fn view(&self, terms: &Terms) -> Sparse<'_> {
        let [color, depth] = self.parts(terms);
        Sparse {
            layer: Layer {
                channel: self.channel,
                color: &self.bytes[color],
                depth: &self.bytes[depth],
            },
            start: self.range.start,
            kept: self.kept.clone(),
            covered: Covered {
                rectangle: self.kept.clone(),
                background: self.background,
            },
        }
    }

    fn layer_mut(&mut self, terms: &Terms) -> LayerMut<'_> {
        let [color, depth] = self.parts(terms);
        let (colors, depths) = self.bytes[..depth.end].split_at_mut(depth.start);
        LayerMut {
            channel: self.channel,
            color: &mut colors[color],
            depth: depths,
        }
    }
}

/// One composition.
struct Run<'g, 'a> {
    links: &'g Links<'a>,
    frame: u32,
    terms: &'g Terms,
    merging: &'g Merging<'g>,
    /// How many times the group's patience the others may still wait in the last frame.
    last_waits: u32,
    /// The beginning of all messages of this member, before the covered area.
    header: [u8; HEADER - COVERED],
    /// This member's picture, and what it held after each round. Transfers to others may still read
    /// all of these.
    own: Sparse<'g>,
    merged: Vec<Pixels>,
    /// Pieces that are coming, with their requests, or have come, without.
    arriving: HashMap<Piece, (Option<Request>, Pixels)>,
    /// Pieces that are being sent: the rank that gets them, and the request.
    sending: Vec<(usize, Request)>,
    /// Headers that are being sent, and pixels that had to be copied together for their messages.
    leaving: Vec<Vec<u8>>,
    spare: Vec<Vec<u8>>,
}

impl Run<'_, '_> {
    /// Composites, and returns the merged pixels that this member keeps.
    fn go(
        &mut self,
        known: &mut Option<(Planned, Plan)>,
    ) -> Result<Option<Pixels>, CompositeError> {
        let order = &self.merging.order;
        let place = |rank: usize| order.iter().position(|other| *other == rank);
        let is_here = self.terms.to == Some(self.links.rank);
        let members = order.len();
        let planned = Planned {
            schedule: self.merging.schedule,
            members,
            mine: place(self.links.rank),
            pixels: self.terms.pixels(),
            delivery: self.terms.delivery(order),
        };
        let make = || {
            let Planned {
                schedule, pixels, ..
            } = planned;
            match planned.mine {
                Some(mine) => Plan::new(schedule, members, mine, pixels, planned.delivery),
                None => Plan::watcher(schedule, members, pixels),
            }
        };
        match planned.mine {
            None if !is_here => Ok(None),
            // No rank has anything to show.
            None if members == 0 => {
                let mut clear = self.whole(0..self.terms.pixels());
                let (operation, format) = (self.terms.operation, self.terms.format);
                merge(operation, format, &[], clear.layer_mut(self.terms))?;
                Ok(Some(clear))
            }
            mine => {
                let plan = match known {
                    Some((known, plan)) if *known == planned => plan.clone(),
                    _ => known.insert((planned, make())).1.clone(),
                };
                self.take_part(mine.unwrap_or(members), plan)
            }
        }
    }

    /// The rank with this number in the plan: a member's place in the order, or the watcher.
    fn rank_of(&self, place: usize) -> usize {
        let rank = self.merging.order.get(place).copied().or(self.terms.to);
        rank.unwrap_or(self.links.rank)
    }

    /// The pixels that this member holds now.
    fn held(&self) -> Sparse<'_> {
        match self.merged.last() {
            Some(pixels) => pixels.view(self.terms),
            None => self.own.clone(),
        }
    }

    /// A buffer of this length with undefined contents: the smallest spare one that is large
    /// enough, or else the largest.
    fn memory(&mut self, bytes: usize) -> Vec<u8> {
        let spare = self.spare.iter().enumerate();
        let fit = spare.min_by_key(|(_, spare)| match spare.capacity() {
            room if room >= bytes => (false, room),
            room => (true, usize::MAX - room),
        });
        let at = fit.map(|(at, _)| at);
        let mut memory = at.map_or_else(Vec::new, |at| self.spare.swap_remove(at));
        memory.resize(bytes, 0);
        memory
    }

    /// Memory for those pixels of `range` that are within `kept`.
    fn pixels(
        &mut self,
        range: Range<usize>,
        kept: Rectangle,
        channel: Channel,
        lead: usize,
    ) -> Pixels {
        let mut pixels = Pixels {
            range,
            channel,
            kept,
            lead,
            ..Pixels::default()
        };
        let [_, depth] = pixels.parts(self.terms);
        pixels.bytes = self.memory(depth.end);
        pixels
    }

    /// Memory for all pixels of `range`, with the channels of pictures.
    fn whole(&mut self, range: Range<usize>) -> Pixels {
        let all = Rectangle::whole(self.terms.width, self.terms.height);
        self.pixels(range, all, self.channels().0, 0)
    }

    fn take_part(&mut self, mine: usize, plan: Plan) -> Result<Option<Pixels>, CompositeError> {
        let (own, partial) = self.channels();
        let (rounds, collects) = (plan.rounds.len(), !plan.collect.is_empty());
        // The program gets the result of the last merge, so all its pixels must be in memory.
        let is_result = !collects && plan.deliver.is_none();
        for (round, list) in plan.rounds.iter().enumerate() {
            for receive in &list.receives {
                let is_partial = receive.is_merged || self.merging.are_partial[receive.from];
                let channel = if is_partial { partial } else { own };
                self.expect(round, receive.from, &receive.pixels, channel);
            }
        }
        for receive in &plan.collect {
            self.expect(rounds, receive.from, &receive.pixels, own);
        }
        let mut member = Member::new(plan);
        let mut has_delivered = false;
        let merged = loop {
            match member.poll() {
                Some(Event::Send(piece)) => self.send(&piece)?,
                Some(Event::Deliver(piece)) => {
                    has_delivered = true;
                    self.send(&piece)?;
                }
                Some(Event::Merge {
                    round,
                    is_last,
                    merges,
                }) => {
                    let channel = if is_last { own } else { partial };
                    self.merge(mine, round, &merges, channel, is_last && is_result)?;
                }
                Some(Event::Done(range)) => break range,
                None => {
                    let piece = self.next()?;
                    member.received(&piece)?;
                }
            }
        };
        if collects {
            self.join(&merged, rounds);
        }
        self.end_sends()?;
        if has_delivered || (merged.is_empty() && !collects) {
            return Ok(None);
        }
        let result = self.merged.pop();
        Ok(Some(result.unwrap_or_else(|| {
            // There is no other member, so nothing was merged.
            let mut alone = self.whole(merged.clone());
            let out = alone.layer_mut(self.terms);
            self.own.spread(self.terms, &merged, out);
            alone
        })))
    }

    fn channels(&self) -> (Channel, Channel) {
        let color = self.terms.format.color;
        (color.channel(), color.partial(self.terms.operation))
    }

    /// Begins to receive a piece from the member at a place in the order.
    fn expect(&mut self, round: usize, from: usize, range: &Range<usize>, channel: Channel) {
        let link = self.links.to(self.rank_of(from));
        // The memory has room for all pixels, because only the header says how many come.
        let all = Rectangle::whole(self.terms.width, self.terms.height);
        let mut pixels = self.pixels(range.clone(), all, channel, HEADER);
        pixels.bytes[..HEADER].fill(0);
        let piece = Piece {
            round,
            other: from,
            pixels: range.clone(),
        };
        let memory = [(pixels.bytes.as_mut_ptr(), pixels.bytes.len())];
        let wanted = Wanted::new(link, self.links.tag(self.frame, round));
        // SAFETY: the vector is kept in `arriving`, where nothing accesses it, until the request
        // has ended: `next` takes it then, and `give_up` ends all others, also on unwinding.
        let request = unsafe { self.links.endpoint.irecv(wanted, &memory) };
        self.arriving.insert(piece, (Some(request), pixels));
    }

    /// Begins to send pixels of what this member holds now.
    fn send(&mut self, piece: &Piece) -> Result<(), CompositeError> {
        let rank = self.rank_of(piece.other);
        let link = self.links.to(rank);
        let held = self.held();
        let pixel = held.layer.channel.pixel_bytes() + self.terms.format.depth_bytes();
        let bytes = |runs: &[Range<usize>]| pixel * runs.iter().map(Range::len).sum::<usize>();
        let mut runs = held.runs(&piece.pixels, self.terms.width);
        let active = Active::find(&held, &piece.pixels, self.terms.width);
        let encoded = active.bitmap.len() + bytes(&active.runs);
        let mut bitmap = Vec::new();
        if encoded * WORTH.1 <= bytes(&runs) * WORTH.0 {
            Active { bitmap, runs } = active;
        }
        let covered = covered_bytes(&held.covered, !bitmap.is_empty());
        let lead = HEADER + bitmap.len();
        // Several runs are copied into one buffer: sending many pieces of memory is slow.
        let mut head = match runs.len() {
            0 | 1 => Vec::with_capacity(lead),
            _ => self.memory(lead + bytes(&runs)),
        };
        head.clear();
        head.extend(self.header);
        head.extend(covered);
        head.extend(bitmap);
        let held = self.held();
        let layer = match &runs[..] {
            [run] => held.layer.part(run),
            runs => {
                let parts = runs.iter().map(|run| held.layer.part(run));
                parts.clone().for_each(|part| head.extend(part.color));
                parts.for_each(|part| head.extend(part.depth));
                held.layer.part(&(0..0))
            }
        };
        let memory = [&head[..], layer.color, layer.depth]
            .map(|part| (part.as_ptr().cast_mut(), part.len()));
        let memory: Vec<_> = memory.into_iter().filter(|(_, len)| *len > 0).collect();
        let (endpoint, tag) = (self.links.endpoint, self.links.tag(self.frame, piece.round));
        self.leaving.push(head);
        // SAFETY: the own picture is borrowed, and the header and what was merged are kept in
        // `leaving` and `merged`, unchanged, until the request has ended: `end_sends` waits for
        // that, and `give_up` ends those of a frame that has failed, also on unwinding.
        let sent = unsafe { endpoint.isend(link, tag, &memory, SendOptions::default()) };
        let sent = sent.map_err(|source| self.lost(rank, source))?;
        self.sending.extend(sent.map(|request| (rank, request)));
        Ok(())
    }

    /// Waits for the next piece.
    fn next(&mut self) -> Result<Piece, CompositeError> {
        let waiting = self.arriving.iter();
        let waiting = waiting.filter_map(|(piece, (request, _))| Some((piece, (*request)?)));
        let (pieces, requests): (Vec<Piece>, Vec<Request>) = waiting
            .map(|(piece, request)| (piece.clone(), request))
            .unzip();
        let first = pieces.iter().min_by_key(|piece| (piece.round, piece.other));
        let late = first.map_or(self.links.rank, |piece| self.rank_of(piece.other));
        // The members that wait directly for the late one are the first to report it.
        let rounds = first.map_or(0, |piece| piece.round);
        let times = self.last_waits + self.merging.waits(rounds);
        let waited = self.links.patience.saturating_mul(times);
        let ended = self.wait(waited, |endpoint, left| {
            endpoint.wait_any(&requests, Some(left))
        });
        let ended = ended.map_err(|source| self.lost(late, source))?;
        let ended = ended.ok_or(()).or_else(|()| {
            self.links.check(self.frame)?;
            Err(CompositeError::Late { rank: late, waited })
        })?;
        let piece = pieces[ended.at].clone();
        let rank = self.rank_of(piece.other);
        let (request, pixels) = self.arriving.get_mut(&piece).expect("it was there above");
        *request = None;
        let (header, covered) = pixels.bytes[..HEADER].split_at(HEADER - COVERED);
        let came = differs(header, &self.header);
        let (covered, has_bitmap) = covered_of(covered);
        let Terms { width, height, .. } = *self.terms;
        let is_within = covered.rectangle.is_within(width, height);
        if is_within && came.is_none() {
            pixels.kept = covered.rectangle;
            pixels.background = covered.background;
        }
        let spans = has_bitmap.then(|| {
            pixels.lead += active::bitmap_len(&pixels.kept, &pixels.range, width);
            let bitmap = pixels.bytes.get(HEADER..pixels.lead).unwrap_or_default();
            active::spans(bitmap, &pixels.kept, &pixels.range, width)
        });
        let count = match &spans {
            Some(spans) => active::count(spans),
            None => pixels.count(width),
        };
        let [_, Range { end: wanted, .. }] = pixels.parts_of(count, self.terms);
        let is_ours = pixels.bytes[..8] == self.header[..8];
        let different = |got: usize| CompositeError::Different {
            rank,
            what: match &came {
                Some(what) => what.clone(),
                None if !is_within => "a rectangle that is not within the picture".to_owned(),
                None => format!("pieces of {got} bytes, where {wanted} were expected"),
            },
        };
        match ended.result {
            Ok(status) if status.len == wanted && is_within && is_ours && came.is_none() => {
                if let Some(spans) = spans {
                    self.expand(&piece, &spans);
                }
                Ok(piece)
            }
            Ok(status) => Err(different(status.len)),
            Err(mgn_fabric::Error::Truncated { len, .. }) => Err(different(len)),
            Err(source) => Err(self.lost(rank, source)),
        }
    }

    /// Gives a piece that came with a bitmap all its pixels.
    fn expand(&mut self, piece: &Piece, spans: &[Span]) {
        let (_, came) = self.arriving.remove(piece).expect("it has come");
        let mut whole = self.pixels(came.range.clone(), came.kept.clone(), came.channel, 0);
        whole.background = came.background;
        let [color, depth] = came.parts_of(active::count(spans), self.terms);
        let active = Layer {
            channel: came.channel,
            color: &came.bytes[color],
            depth: &came.bytes[depth],
        };
        active::expand(spans, active, &came.background, whole.layer_mut(self.terms));
        self.arriving.insert(piece.clone(), (None, whole));
        self.spare.push(came.bytes);
    }

    /// Waits until `once` gives a result, until a member has told that it stopped compositing, or
    /// until `most` has passed.
    fn wait<T>(
        &self,
        most: Duration,
        once: impl Fn(&Endpoint, Duration) -> Result<Option<T>, mgn_fabric::Error>,
    ) -> Result<Option<T>, mgn_fabric::Error> {
        let deadline = Instant::now().checked_add(most);
        loop {
            let left = deadline.map(|end| end.saturating_duration_since(Instant::now()));
            let left = left.unwrap_or(PULSE).min(PULSE);
            let ended = once(self.links.endpoint, left)?;
            if ended.is_some() || left.is_zero() || self.links.check(self.frame).is_err() {
                return Ok(ended);
            }
        }
    }

    /// The error for a rank that cannot be reached any more: what a member has told, if one has.
    fn lost(&self, rank: usize, source: mgn_fabric::Error) -> CompositeError {
        let said = self.links.check(self.frame);
        said.err().unwrap_or(CompositeError::Lost { rank, source })
    }

    /// Merges what has come for a round with what this member holds. If `is_result`, the program
    /// gets the merged pixels, so all of them must be in memory, background included.
    fn merge(
        &mut self,
        mine: usize,
        round: usize,
        merges: &[Share],
        channel: Channel,
        is_result: bool,
    ) -> Result<(), CompositeError> {
        let (Some(first), Some(last)) = (merges.first(), merges.last()) else {
            return Ok(());
        };
        let range = first.pixels.start..last.pixels.end;
        let terms = self.terms;
        let (kept, background) = {
            let came = self.came(round);
            let whole = Rectangle::whole(terms.width, terms.height);
            let mut kept = Rectangle::empty();
            let mut background = None;
            for one in merges {
                let layers = self.layers(mine, &came, one);
                for layer in &layers {
                    kept = kept.hull(&layer.covered.rectangle);
                }
                let backgrounds = layers.iter().map(Sparse::background);
                let its = merged_background(terms, backgrounds, channel)?;
                // All pixels that are not in memory have one background. If the shares have
                // different ones, all pixels must be in memory.
                if is_result || background.is_some_and(|background| background != its) {
                    kept = whole.clone();
                }
                background = Some(its);
            }
            (kept, background.unwrap_or_default())
        };
        let mut merged = self.pixels(range.clone(), kept.clone(), channel, 0);
        merged.background = background;
        let came = self.came(round);
        let before = kept.before(range.start, terms.width);
        for one in merges {
            let layers = self.layers(mine, &came, one);
            let places = [one.pixels.start, one.pixels.end];
            let [start, end] = places.map(|pixel| kept.before(pixel, terms.width) - before);
            let mut out = merged.layer_mut(terms);
            merge_covered(terms, &one.pixels, &layers, &kept, out.part(&(start..end)))?;
        }
        self.merged.push(merged);
        Ok(())
    }

    /// The pixels that have come for a round, by their sender's place in the order.
    fn came(&self, round: usize) -> HashMap<usize, &Pixels> {
        let pieces = self.arriving.iter();
        let pieces = pieces.filter(|(piece, _)| piece.round == round);
        pieces
            .map(|(piece, (_, pixels))| (piece.other, pixels))
            .collect()
    }

    /// The layers of a share, in order.
    fn layers<'s>(
        &'s self,
        mine: usize,
        came: &HashMap<usize, &'s Pixels>,
        share: &Share,
    ) -> Vec<Sparse<'s>> {
        let layer = |from: &usize| match *from == mine {
            true => self.held(),
            false => came[from].view(self.terms),
        };
        share.layers.iter().map(layer).collect()
    }

    /// Puts this member's piece of the merged picture together with those of the others.
    fn join(&mut self, mine: &Range<usize>, rounds: usize) {
        let terms = self.terms;
        let mut whole = self.whole(0..terms.pixels());
        let mut out = whole.layer_mut(terms);
        if !mine.is_empty() {
            self.held().spread(terms, mine, out.part(mine));
        }
        for (piece, (_, pixels)) in &self.arriving {
            if piece.round == rounds {
                let pixels = pixels.view(terms);
                pixels.spread(terms, &piece.pixels, out.part(&piece.pixels));
            }
        }
        self.merged.push(whole);
    }

    /// Waits until all that was sent has left.
    fn end_sends(&mut self) -> Result<(), CompositeError> {
        while let Some((rank, request)) = self.sending.last().copied() {
            // The receiver may itself wait for another rank, still in the last frame. It gives up
            // first, and knows which rank is late.
            let waited = self
                .links
                .patience
                .saturating_mul(self.merging.waits_in_all());
            match self.wait(waited, |endpoint, left| endpoint.wait(request, Some(left))) {
                Ok(Some(_)) => drop(self.sending.pop()),
                Ok(None) => {
                    self.links.check(self.frame)?;
                    return Err(CompositeError::Stuck { rank, waited });
                }
                Err(source) => {
                    self.sending.pop();
                    return Err(self.lost(rank, source));
                }
            }
        }
        Ok(())
    }

    /// Ends the transfers under way, so that none reads or writes this frame's memory any more.
    fn give_up(&mut self) {
        let arriving = self.arriving.iter_mut();
        let arriving =
            arriving.filter_map(|(piece, (request, _))| Some((piece.other, request.take()?)));
        let arriving: Vec<(usize, Request)> = arriving.collect();
        let arriving = arriving
            .iter()
            .map(|(place, request)| (self.rank_of(*place), *request));
        let mut open: Vec<(usize, Request)> = arriving.collect();
        open.append(&mut self.sending);
        self.links.give_up(open);
    }
}

impl Drop for Run<'_, '_> {
    fn drop(&mut self) {
        self.give_up();
    }
}

fn header(frame: u32, agreed: &Agreed) -> [u8; HEADER - COVERED] {
    let mut header = [0; HEADER - COVERED];
    let first = u64::from(frame) | u64::from(MARK) << 32;
    let words = [first].into_iter().chain(agreed.0);
    for (to, word) in header.chunks_exact_mut(8).zip(words) {
        to.copy_from_slice(&word.to_le_bytes());
    }
    header
}

/// What differs in a header that has arrived, if anything does.
fn differs(came: &[u8], own: &[u8; HEADER - COVERED]) -> Option<String> {
    let read = |header: &[u8]| -> [u64; 1 + Agreed::WORDS] {
        std::array::from_fn(|at| {
            let word = header[8 * at..8 * at + 8].try_into();
            u64::from_le_bytes(word.expect("eight bytes"))
        })
    };
    let ([came_first, came @ ..], [own_first, own @ ..]) = (read(came), read(own));
    match came_first == own_first {
        true => Agreed(own).difference(&Agreed(came)),
        false if came_first >> 32 == u64::from(MARK) => Some("another frame".to_owned()),
        false => None,
    }
}

/// The buffer, if it is worth keeping for another frame: if it has room for more than a header.
fn worth_keeping(buffer: Vec<u8>) -> Option<Vec<u8>> {
    (buffer.capacity() > HEADER).then_some(buffer)
}

/// The last bytes of a header.
fn covered_bytes(covered: &Covered, has_bitmap: bool) -> [u8; COVERED] {
    let Covered {
        rectangle: Rectangle { columns, rows },
        background,
    } = covered;
    let mut bytes = [0; COVERED];
    let edges = [columns.start, columns.end, rows.start, rows.end];
    for (to, edge) in bytes.chunks_exact_mut(4).zip(edges) {
        to.copy_from_slice(&(edge as u32).to_le_bytes());
    }
    bytes[16..32].copy_from_slice(&background.color);
    bytes[32..36].copy_from_slice(&background.depth);
    bytes[36] = has_bitmap.into();
    bytes
}

/// The inverse of [`covered_bytes`].
fn covered_of(bytes: &[u8]) -> (Covered, bool) {
    let edge = |at: usize| u32::from_le_bytes(bytes[4 * at..][..4].try_into().expect("four bytes"));
    let range = |at: usize| edge(at) as usize..edge(at + 1) as usize;
    let covered = Covered {
        rectangle: Rectangle {
            columns: range(0),
            rows: range(2),
        },
        background: Pixel {
            color: bytes[16..32].try_into().expect("16 bytes"),
            depth: bytes[32..36].try_into().expect("four bytes"),
        },
    };
    (covered, bytes[36] != 0)
}

#[cfg(test)]
mod tests;
