//! Members on several hosts: they send each other pieces of their pictures, as the plan says.

use std::collections::HashMap;
use std::ops::Range;
use std::time::{Duration, Instant};

use mgn_fabric::endpoint::{Endpoint, How, Request, Wanted};

use super::agreed::{Agreed, Mode};
use super::links::Links;
use super::{CompositeError, Own, Picture, PictureRef, Terms};
use crate::covered::Covered;
use crate::{merge, Channel, Event, Layer, LayerMut, Member, Outlet, Piece, Plan, Schedule, Share};

/// Buffers kept for the next frame, at most.
const SPARE: usize = 64;

/// Bytes before the pixels of each message: a mark, the frame, and what all have agreed about.
const HEADER: usize = 8 * (1 + Agreed::WORDS);

/// Begins a header. Memory for one is zeroed before, so that one that has not come is no other.
const MARK: u32 = 0x4D67_6E70;

/// How often a member that waits looks whether others have said that they composite no more.
const PULSE: Duration = Duration::from_millis(50);

/// What is kept from frame to frame.
#[derive(Debug, Default)]
pub(super) struct Messages {
    /// Buffers of earlier frames.
    spare: Vec<Picture>,
    /// The merged pixels of the last frame.
    merged: Picture,
    /// What is drawn for the next frame.
    drawn: Picture,
    plan: Option<(Planned, Plan)>,
}

/// What a plan follows from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Planned {
    schedule: Schedule,
    members: usize,
    /// None for one without a picture, who gets the merged one.
    mine: Option<usize>,
    pixels: usize,
    outlet: Outlet,
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
        terms: &Terms,
        order: &[usize],
    ) -> Result<(Range<usize>, PictureRef<'_>), CompositeError> {
        links.check(frame)?;
        let own = match own {
            Own::Passed(picture) => picture,
            Own::Drawn(_) if !order.contains(&links.rank) => PictureRef::default(),
            Own::Drawn(rectangle) => {
                let drawn = terms.check(self.drawn.borrowed());
                drawn.map_err(|_| CompositeError::NotDrawn)?;
                if let Some(rectangle) = rectangle {
                    let drawn = self.drawn.layer_mut(terms.format.color.channel());
                    Covered::by(rectangle, terms.format).clear_outside(terms.width, drawn);
                }
                self.drawn.borrowed()
            }
        };
        let mut spare = std::mem::take(&mut self.spare);
        spare.push(std::mem::take(&mut self.merged));
        let mode = Mode::Messages(terms.schedule(order));
        let mut run = Run {
            links,
            frame,
            header: Box::new(header(frame, &Agreed::new(terms, mode, order))),
            terms,
            order,
            own,
            merged: Vec::new(),
            arriving: HashMap::new(),
            sending: Vec::new(),
            spare,
        };
        let result = run.go(&mut self.plan);
        run.give_up();
        let mut spare = std::mem::take(&mut run.spare);
        spare.extend(run.merged.drain(..).map(|pixels| pixels.picture));
        spare.extend(run.arriving.drain().map(|(_, (_, pixels))| pixels.picture));
        spare.truncate(SPARE);
        drop(run);
        self.spare = spare;
        let (range, picture) = result?;
        self.merged = picture;
        Ok((range, self.merged.borrowed()))
    }
}

/// Pixels of one picture.
#[derive(Debug)]
struct Pixels {
    range: Range<usize>,
    channel: Channel,
    /// Bytes before the colours: those of a header, or none.
    lead: usize,
    picture: Picture,
}

impl Pixels {
    fn view(&self) -> View<'_> {
        View {
            start: self.range.start,
            channel: self.channel,
            picture: PictureRef {
                color: &self.picture.color[self.lead..],
                depth: &self.picture.depth,
            },
        }
    }

    fn layer_mut(&mut self, range: &Range<usize>) -> LayerMut<'_> {
        let [color, depth] = self.view().places(range);
        LayerMut {
            channel: self.channel,
            color: &mut self.picture.color[self.lead..][color],
            depth: &mut self.picture.depth[depth],
        }
    }
}

/// Pixels of one picture, from `start` on.
#[derive(Clone, Copy)]
struct View<'p> {
    start: usize,
    channel: Channel,
    picture: PictureRef<'p>,
}

impl<'p> View<'p> {
    /// Where a part lies in the colours, and in the depths.
    fn places(&self, range: &Range<usize>) -> [Range<usize>; 2] {
        let from = range.start - self.start;
        let depth = if self.picture.depth.is_empty() { 0 } else { 4 };
        let pixels = [self.channel.pixel_bytes(), depth];
        pixels.map(|pixel| from * pixel..(from + range.len()) * pixel)
    }

    fn layer(&self, range: &Range<usize>) -> Layer<'p> {
        let [color, depth] = self.places(range);
        Layer {
            channel: self.channel,
            color: &self.picture.color[color],
            depth: &self.picture.depth[depth],
        }
    }
}

/// One composition.
struct Run<'g, 'a> {
    links: &'g Links<'a>,
    frame: u32,
    terms: &'g Terms,
    order: &'g [usize],
    /// What all messages of this member begin with.
    header: Box<[u8; HEADER]>,
    /// This member's picture, and what it had after each round. All of it may be on its way to
    /// others.
    own: PictureRef<'g>,
    merged: Vec<Pixels>,
    /// Pieces that are coming, or have come: their requests until then.
    arriving: HashMap<Piece, (Option<Request>, Pixels)>,
    /// To which rank, and the request.
    sending: Vec<(usize, Request)>,
    spare: Vec<Picture>,
}

impl Run<'_, '_> {
    fn go(
        &mut self,
        known: &mut Option<(Planned, Plan)>,
    ) -> Result<(Range<usize>, Picture), CompositeError> {
        let place = |rank: usize| self.order.iter().position(|other| *other == rank);
        let is_here = self.terms.to == Some(self.links.rank);
        let members = self.order.len();
        let planned = Planned {
            schedule: self.terms.schedule(self.order),
            members,
            mine: place(self.links.rank),
            pixels: self.terms.pixels(),
            outlet: match self.terms.to {
                None => Outlet::Spread,
                Some(to) => place(to).map_or(Outlet::Watcher, Outlet::Member),
            },
        };
        let make = || {
            let Planned {
                schedule, pixels, ..
            } = planned;
            match planned.mine {
                Some(mine) => Plan::new(schedule, members, mine, pixels, planned.outlet),
                None => Plan::watcher(schedule, members, pixels),
            }
        };
        match planned.mine {
            None if !is_here => Ok((0..0, Picture::default())),
            // Nobody has anything to show.
            None if members == 0 => {
                let mut clear = self.memory(0..self.terms.pixels(), self.channels().0, 0);
                let (operation, format) = (self.terms.operation, self.terms.format);
                let out = clear.picture.layer_mut(clear.channel);
                merge(operation, format, &[], out)?;
                Ok((clear.range, clear.picture))
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
        let rank = self.order.get(place).copied().or(self.terms.to);
        rank.unwrap_or(self.links.rank)
    }

    /// What this member has now.
    fn held(&self) -> View<'_> {
        match self.merged.last() {
            Some(pixels) => pixels.view(),
            None => View {
                start: 0,
                channel: self.terms.format.color.channel(),
                picture: self.own,
            },
        }
    }

    /// Memory for pixels, with anything in it: the smallest spare buffer that is large enough, or
    /// else the largest.
    fn memory(&mut self, range: Range<usize>, channel: Channel, lead: usize) -> Pixels {
        let color = lead + range.len() * channel.pixel_bytes();
        let spare = self.spare.iter().enumerate();
        let fit = spare.min_by_key(|(_, picture)| {
            let room = picture.color.capacity();
            match room >= color {
                true => (false, room),
                false => (true, usize::MAX - room),
            }
        });
        let at = fit.map(|(at, _)| at);
        let mut picture = at.map_or_else(Picture::default, |at| self.spare.swap_remove(at));
        picture.color.resize(color, 0);
        let depth = range.len() * self.terms.format.depth_bytes();
        picture.depth.resize(depth, 0);
        Pixels {
            range,
            channel,
            lead,
            picture,
        }
    }

    fn take_part(
        &mut self,
        mine: usize,
        plan: Plan,
    ) -> Result<(Range<usize>, Picture), CompositeError> {
        let (own, partial) = self.channels();
        let (rounds, collects) = (plan.rounds.len(), !plan.collect.is_empty());
        for (round, list) in plan.rounds.iter().enumerate() {
            for receive in &list.receives {
                let channel = if receive.is_merged { partial } else { own };
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
                    self.merge(mine, round, &merges, channel)?;
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
            return Ok((0..0, Picture::default()));
        }
        match self.merged.pop() {
            Some(pixels) => Ok((pixels.range, pixels.picture)),
            // There is nobody else.
            None => {
                let mut alone = self.memory(merged, own, 0);
                alone.picture.color.copy_from_slice(self.own.color);
                alone.picture.depth.copy_from_slice(self.own.depth);
                Ok((alone.range, alone.picture))
            }
        }
    }

    fn channels(&self) -> (Channel, Channel) {
        let color = self.terms.format.color;
        (color.channel(), color.partial(self.terms.operation))
    }

    /// Begins to receive a piece from a place in the order.
    fn expect(&mut self, round: usize, from: usize, range: &Range<usize>, channel: Channel) {
        let link = self.links.to(self.rank_of(from));
        let mut pixels = self.memory(range.clone(), channel, HEADER);
        pixels.picture.color[..HEADER].fill(0);
        let piece = Piece {
            round,
            other: from,
            pixels: range.clone(),
        };
        let Picture { color, depth } = &mut pixels.picture;
        let memory = [color, depth].map(|part| (part.as_mut_ptr(), part.len()));
        let wanted = Wanted::new(link, self.links.tag(self.frame, round));
        // SAFETY: the vectors are kept in `arriving`, where nobody touches them, until the request
        // has ended: `next` takes it then, and `give_up` ends all others, also on unwinding.
        let request = unsafe { self.links.endpoint.irecv(wanted, not_empty(&memory)) };
        self.arriving.insert(piece, (Some(request), pixels));
    }

    /// Begins to send pixels of what this member has now.
    fn send(&mut self, piece: &Piece) -> Result<(), CompositeError> {
        let rank = self.rank_of(piece.other);
        let link = self.links.to(rank);
        let layer = self.held().layer(&piece.pixels);
        let memory = [&self.header[..], layer.color, layer.depth]
            .map(|part| (part.as_ptr().cast_mut(), part.len()));
        let (endpoint, tag) = (self.links.endpoint, self.links.tag(self.frame, piece.round));
        // SAFETY: the own picture is borrowed, and the header and what was merged are kept in
        // `header` and `merged`, unchanged, until the request has ended: `end_sends` waits for
        // that, and `give_up` ends those of a frame that has failed, also on unwinding.
        let sent = unsafe { endpoint.isend(link, tag, not_empty(&memory), How::default()) };
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
        // The members that see nothing come late are the first to say so.
        let rounds = first.map_or(0, |piece| piece.round);
        let waited = self.links.patience.saturating_mul(1 + rounds as u32);
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
        let Picture { color, depth } = &pixels.picture;
        let wanted = color.len() + depth.len();
        let came = differs(&color[..HEADER], &self.header);
        let different = |got: usize| CompositeError::Different {
            rank,
            what: match came {
                Some(what) => what.to_owned(),
                None => format!("pieces of {got} bytes, where {wanted} were expected"),
            },
        };
        match ended.result {
            Ok(status) if status.len == wanted && came.is_none() => Ok(piece),
            Ok(status) => Err(different(status.len)),
            Err(mgn_fabric::Error::Truncated { len, .. }) => Err(different(len)),
            Err(source) => Err(self.lost(rank, source)),
        }
    }

    /// Waits until something has come, for a member that composites no more to say so, or until
    /// time is up.
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

    /// A rank cannot be reached any more. It may have said why.
    fn lost(&self, rank: usize, source: mgn_fabric::Error) -> CompositeError {
        let said = self.links.check(self.frame);
        said.err().unwrap_or(CompositeError::Lost { rank, source })
    }

    fn merge(
        &mut self,
        mine: usize,
        round: usize,
        merges: &[Share],
        channel: Channel,
    ) -> Result<(), CompositeError> {
        let (Some(first), Some(last)) = (merges.first(), merges.last()) else {
            return Ok(());
        };
        let range = first.pixels.start..last.pixels.end;
        let mut merged = self.memory(range, channel, 0);
        let held = self.held();
        let came: HashMap<usize, &Pixels> = self
            .arriving
            .iter()
            .filter(|(piece, _)| piece.round == round)
            .map(|(piece, (_, pixels))| (piece.other, pixels))
            .collect();
        for one in merges {
            let layers: Vec<Layer<'_>> = one
                .layers
                .iter()
                .map(|from| match *from == mine {
                    true => held.layer(&one.pixels),
                    false => came[from].view().layer(&one.pixels),
                })
                .collect();
            let out = merged.layer_mut(&one.pixels);
            merge(self.terms.operation, self.terms.format, &layers, out)?;
        }
        self.merged.push(merged);
        Ok(())
    }

    /// Puts this member's piece of the merged picture together with those of the others.
    fn join(&mut self, mine: &Range<usize>, rounds: usize) {
        let (own, _) = self.channels();
        let mut whole = self.memory(0..self.terms.pixels(), own, 0);
        let mut put = |from: View<'_>, range: &Range<usize>| {
            let (layer, out) = (from.layer(range), whole.layer_mut(range));
            out.color.copy_from_slice(layer.color);
            out.depth.copy_from_slice(layer.depth);
        };
        if !mine.is_empty() {
            put(self.held(), mine);
        }
        for (piece, (_, pixels)) in &self.arriving {
            if piece.round == rounds {
                put(pixels.view(), &piece.pixels);
            }
        }
        self.merged.push(whole);
    }

    /// Waits until all that was sent has left.
    fn end_sends(&mut self) -> Result<(), CompositeError> {
        while let Some((rank, request)) = self.sending.last().copied() {
            let waited = self.links.patience;
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

    /// Ends what is under way, so that nobody writes to this frame's memory, or reads it, any more.
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

/// Messages of one piece of memory go faster than those of several.
fn not_empty(memory: &[(*mut u8, usize)]) -> &[(*mut u8, usize)] {
    match memory {
        [before @ .., (_, 0)] => before,
        all => all,
    }
}

fn header(frame: u32, agreed: &Agreed) -> [u8; HEADER] {
    let mut header = [0; HEADER];
    let first = u64::from(frame) | u64::from(MARK) << 32;
    let words = [first].into_iter().chain(agreed.0);
    for (to, word) in header.chunks_exact_mut(8).zip(words) {
        to.copy_from_slice(&word.to_le_bytes());
    }
    header
}

/// What a header that has come says differently, if it has come.
fn differs(came: &[u8], own: &[u8; HEADER]) -> Option<&'static str> {
    let read = |header: &[u8]| -> [u64; 1 + Agreed::WORDS] {
        std::array::from_fn(|at| {
            let word = header[8 * at..8 * at + 8].try_into();
            u64::from_le_bytes(word.expect("eight bytes"))
        })
    };
    let ([came_first, came @ ..], [own_first, own @ ..]) = (read(came), read(own));
    match came_first == own_first {
        true => Agreed(own).difference(&Agreed(came)),
        false if came_first >> 32 == u64::from(MARK) => Some("another frame"),
        false => None,
    }
}
