//! A group of processes that composite pictures: the members of a job, joined by its endpoints.

use std::collections::HashMap;
use std::ops::Range;
use std::time::Duration;

use mgn_fabric::endpoint::{Endpoint, How, LinkId, Request, Wanted};
use mgn_fabric::job;

use crate::{
    merge, Channel, Event, Format, Layer, LayerMut, Member, MergeError, Misuse, Operation, Outlet,
    Piece, Plan, Schedule,
};

/// Set in the tags of all messages of groups, so that a program may use the endpoint for others.
const TAG: u64 = 0x4347 << 48;

/// The tag of the message by which members meet.
const MEETING: u64 = TAG | 0xFFFF;

/// Memory that is kept for the next frame: pieces and merged pixels.
const SPARE: usize = 64;

/// The processes that composite together. All of them call [`Group::composite`] for each frame.
#[derive(Debug)]
pub struct Group<'a> {
    endpoint: &'a Endpoint,
    /// That of each rank; none for this one.
    links: Vec<Option<LinkId>>,
    rank: usize,
    frame: u32,
    patience: Duration,
    /// Memory of earlier frames.
    spare: Vec<Picture>,
    /// The last frame's.
    merged: Picture,
}

/// A picture in memory: rows of pixels, the colours apart from the depths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Picture {
    pub color: Vec<u8>,
    /// Empty where the format has no depth.
    pub depth: Vec<u8>,
}

/// Likewise, in the program's memory.
#[derive(Clone, Copy, Debug, Default)]
pub struct PictureRef<'p> {
    pub color: &'p [u8],
    pub depth: &'p [u8],
}

impl Picture {
    pub fn borrowed(&self) -> PictureRef<'_> {
        PictureRef {
            color: &self.color,
            depth: &self.depth,
        }
    }
}

/// What all members have to agree about.
#[derive(Clone, Debug)]
pub struct Terms {
    /// Those of each picture.
    pub pixels: usize,
    pub format: Format,
    pub operation: Operation,
    pub schedule: Schedule,
    /// The ranks whose pictures are merged, front to back; all, by their numbers, if it is empty.
    /// Those that it leaves out have nothing to show, and give an empty picture.
    pub order: Vec<usize>,
    /// The rank that gets the picture; none: each keeps its piece.
    pub to: Option<usize>,
}

/// Why there is no picture.
#[derive(Debug, thiserror::Error)]
pub enum CompositeError {
    #[error("rank {rank} was lost during a composition: {source}")]
    Lost {
        rank: usize,
        source: mgn_fabric::Error,
    },
    #[error(
        "rank {rank} has not sent its pixels for {seconds} s: does it composite this frame, too?"
    )]
    Late { rank: usize, seconds: u64 },
    #[error("rank {rank} sent {got} bytes where {wanted} were expected: all ranks must composite pictures of the same size and format, with the same operation, order and schedule")]
    Different {
        rank: usize,
        got: usize,
        wanted: usize,
    },
    #[error("the order {order:?} does not name each of its ranks once, or names one that is not among {size}")]
    Order { order: Vec<usize>, size: usize },
    #[error("the picture is to go to rank {to}, which is not among {size}")]
    To { to: usize, size: usize },
    #[error(transparent)]
    Merge(#[from] MergeError),
    #[error(transparent)]
    Misuse(#[from] Misuse),
    #[error("rank {rank} cannot be reached: {source}")]
    Unreachable {
        rank: usize,
        source: mgn_fabric::Error,
    },
}

impl<'a> Group<'a> {
    /// Opens a link to each other member of the job. All of them have to make their group, which
    /// may take up to `patience`; so long may a member also make the others wait during a
    /// composition.
    ///
    /// # Errors
    /// [`CompositeError::Unreachable`].
    pub fn new(job: &'a job::Member, patience: Duration) -> Result<Group<'a>, CompositeError> {
        let rank = job.rank() as usize;
        let open =
            |other: u32| match other as usize == rank {
                true => Ok(None),
                false => job.open(other, patience).map(Some).map_err(|source| {
                    CompositeError::Unreachable {
                        rank: other as usize,
                        source,
                    }
                }),
            };
        let group = Group {
            endpoint: job.endpoint(),
            links: (0..job.size()).map(open).collect::<Result<_, _>>()?,
            rank,
            frame: 0,
            patience,
            spare: Vec::new(),
            merged: Picture::default(),
        };
        group.meet()?;
        Ok(group)
    }

    /// Waits until all others have opened their links to this member, too: it may have nothing to
    /// do in any frame, and leave before they come.
    fn meet(&self) -> Result<(), CompositeError> {
        let all = || self.links.iter().enumerate();
        let links = || all().filter_map(|(rank, link)| Some((rank, (*link)?)));
        for (rank, link) in links() {
            let sent = self.endpoint.send(link, MEETING, &[], How::default());
            sent.map_err(|source| CompositeError::Lost { rank, source })?;
        }
        for (rank, link) in links() {
            let wanted = Wanted::new(link, MEETING);
            match self.endpoint.take(&wanted, Some(self.patience)) {
                Ok(Some(_)) => {}
                Ok(None) => {
                    return Err(CompositeError::Late {
                        rank,
                        seconds: self.patience.as_secs(),
                    })
                }
                Err(source) => return Err(CompositeError::Lost { rank, source }),
            }
        }
        Ok(())
    }

    pub fn rank(&self) -> usize {
        self.rank
    }

    pub fn size(&self) -> usize {
        self.links.len()
    }

    /// Merges one picture of each member. Gives the merged pixels that are to be here, and which
    /// they are: all of them, a piece, or none.
    ///
    /// # Errors
    /// [`CompositeError`]. Links by which something was still under way are closed then: the
    /// members at their other ends count as lost.
    pub fn composite(
        &mut self,
        picture: PictureRef<'_>,
        terms: &Terms,
    ) -> Result<(Range<usize>, &Picture), CompositeError> {
        let frame = self.frame;
        self.frame = frame.wrapping_add(1);
        let size = self.size();
        let order = match terms.order.is_empty() {
            true => (0..size).collect(),
            false => terms.order.clone(),
        };
        let is_once = |rank: &usize| order.iter().filter(|other| *other == rank).count() == 1;
        if !order.iter().all(|rank| *rank < size && is_once(rank)) {
            return Err(CompositeError::Order { order, size });
        }
        if let Some(to) = terms.to.filter(|to| *to >= size) {
            return Err(CompositeError::To { to, size });
        }
        if terms.operation == Operation::Nearest && terms.format.depth.is_none() {
            return Err(MergeError::NoDepth.into());
        }
        let mut spare = std::mem::take(&mut self.spare);
        spare.push(std::mem::take(&mut self.merged));
        let mut run = Run {
            group: self,
            frame,
            terms,
            order,
            own: picture,
            merged: Vec::new(),
            arriving: HashMap::new(),
            sending: Vec::new(),
            spare,
        };
        let result = run.go();
        if result.is_err() {
            run.give_up();
        }
        let Run {
            mut spare,
            merged,
            arriving,
            ..
        } = run;
        spare.extend(merged.into_iter().map(|pixels| pixels.picture));
        spare.extend(arriving.into_values().map(|(_, pixels)| pixels.picture));
        spare.truncate(SPARE);
        self.spare = spare;
        let (range, picture) = result?;
        self.merged = picture;
        Ok((range, &self.merged))
    }
}

/// Pixels of one picture.
#[derive(Debug)]
struct Pixels {
    range: Range<usize>,
    channel: Channel,
    picture: Picture,
}

impl Pixels {
    fn view(&self) -> View<'_> {
        View {
            start: self.range.start,
            channel: self.channel,
            picture: self.picture.borrowed(),
        }
    }

    fn layer_mut(&mut self, range: &Range<usize>) -> LayerMut<'_> {
        let [color, depth] = self.view().places(range);
        LayerMut {
            channel: self.channel,
            color: &mut self.picture.color[color],
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
        let pixels = [4 * self.channel.bytes(), depth];
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
    group: &'g Group<'a>,
    frame: u32,
    terms: &'g Terms,
    order: Vec<usize>,
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
    fn go(&mut self) -> Result<(Range<usize>, Picture), CompositeError> {
        let place = |rank: usize| self.order.iter().position(|other| *other == rank);
        // A rank that has nothing to show may be the one that sees the picture: then the first one
        // in order collects it, and sends it there.
        let (outlet, beyond) = match self.terms.to {
            None => (Outlet::Spread, None),
            Some(to) => match place(to) {
                Some(at) => (Outlet::Member(at), None),
                None => (Outlet::Member(0), Some(to)),
            },
        };
        let plan = |member| {
            let (schedule, members) = (self.terms.schedule, self.order.len());
            Plan::new(schedule, members, member, self.terms.pixels, outlet)
        };
        match place(self.group.rank) {
            Some(mine) => {
                self.check()?;
                let plan = plan(mine);
                self.take_part(mine, plan, beyond.filter(|_| mine == 0))
            }
            None if beyond == Some(self.group.rank) && !self.order.is_empty() => {
                self.watch(plan(0).rounds.len() + 1)
            }
            None => Ok((0..0, Picture::default())),
        }
    }

    /// Whether this member's picture is what has been agreed.
    fn check(&self) -> Result<(), MergeError> {
        let (format, wanted) = (self.terms.format, self.terms.pixels);
        let depth = format.depth.map_or(0, |_| 4);
        let parts = [
            (self.own.color, 4 * format.color.channel().bytes()),
            (self.own.depth, depth),
        ];
        for (part, pixel) in parts {
            let len = part.len();
            if len != wanted * pixel {
                return Err(MergeError::Length { len, pixel, wanted });
            }
        }
        Ok(())
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

    /// Memory for pixels, with anything in it.
    fn memory(&mut self, range: Range<usize>, channel: Channel) -> Pixels {
        let mut picture = self.spare.pop().unwrap_or_default();
        let depth = self.terms.format.depth.map_or(0, |_| 4);
        picture.color.resize(range.len() * 4 * channel.bytes(), 0);
        picture.depth.resize(range.len() * depth, 0);
        Pixels {
            range,
            channel,
            picture,
        }
    }

    fn take_part(
        &mut self,
        mine: usize,
        plan: Plan,
        beyond: Option<usize>,
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
        if let Some(to) = beyond {
            self.send_to(to, rounds + 1, &(0..self.terms.pixels))?;
            has_delivered = true;
        }
        self.end_sends()?;
        if has_delivered || (merged.is_empty() && !collects) {
            return Ok((0..0, Picture::default()));
        }
        match self.merged.pop() {
            Some(pixels) => Ok((pixels.range, pixels.picture)),
            // There is nobody else.
            None => {
                let mut alone = self.memory(merged, own);
                alone.picture.color.copy_from_slice(self.own.color);
                alone.picture.depth.copy_from_slice(self.own.depth);
                Ok((alone.range, alone.picture))
            }
        }
    }

    /// This rank has nothing to show, and sees the picture.
    fn watch(&mut self, round: usize) -> Result<(Range<usize>, Picture), CompositeError> {
        let all = 0..self.terms.pixels;
        self.expect(round, 0, &all, self.channels().0);
        let piece = self.next()?;
        let came = self.arriving.remove(&piece);
        let picture = came.map(|(_, pixels)| pixels.picture);
        Ok((all, picture.unwrap_or_default()))
    }

    fn channels(&self) -> (Channel, Channel) {
        let color = self.terms.format.color;
        (color.channel(), color.partial(self.terms.operation))
    }

    fn tag(&self, round: usize) -> u64 {
        TAG | u64::from(self.frame) << 16 | round as u64
    }

    /// Begins to receive a piece from a place in the order.
    fn expect(&mut self, round: usize, from: usize, range: &Range<usize>, channel: Channel) {
        let Some(link) = self.group.links[self.order[from]] else {
            return;
        };
        let mut pixels = self.memory(range.clone(), channel);
        let piece = Piece {
            round,
            other: from,
            pixels: range.clone(),
        };
        let Picture { color, depth } = &mut pixels.picture;
        let memory = [
            (color.as_mut_ptr(), color.len()),
            (depth.as_mut_ptr(), depth.len()),
        ];
        let wanted = Wanted::new(link, self.tag(piece.round));
        // SAFETY: the vectors are kept in `arriving`, where nobody touches them, until the request
        // has ended: `next` takes it then, and `give_up` ends all others.
        let request = unsafe { self.group.endpoint.irecv(wanted, &memory) };
        self.arriving.insert(piece, (Some(request), pixels));
    }

    fn send(&mut self, piece: &Piece) -> Result<(), CompositeError> {
        self.send_to(self.order[piece.other], piece.round, &piece.pixels)
    }

    /// Begins to send pixels of what this member has now.
    fn send_to(
        &mut self,
        to: usize,
        round: usize,
        pixels: &Range<usize>,
    ) -> Result<(), CompositeError> {
        let Some(link) = self.group.links[to] else {
            return Ok(());
        };
        let layer = self.held().layer(pixels);
        let memory = [layer.color, layer.depth].map(|part| (part.as_ptr().cast_mut(), part.len()));
        let (endpoint, tag) = (self.group.endpoint, self.tag(round));
        // SAFETY: the own picture is borrowed, and what was merged is kept in `merged`, unchanged,
        // until the request has ended: `end_sends` waits for that, and `give_up` ends those
        // of a frame that has failed.
        let sent = unsafe { endpoint.isend(link, tag, &memory, How::default()) };
        let sent = sent.map_err(|source| CompositeError::Lost { rank: to, source })?;
        self.sending.extend(sent.map(|request| (to, request)));
        Ok(())
    }

    /// Waits for the next piece.
    fn next(&mut self) -> Result<Piece, CompositeError> {
        let waiting = self
            .arriving
            .iter()
            .filter_map(|(piece, (request, _))| Some((piece, (*request)?)));
        let (pieces, requests): (Vec<Piece>, Vec<Request>) = waiting
            .map(|(piece, request)| (piece.clone(), request))
            .unzip();
        let ended = self
            .group
            .endpoint
            .wait_any(&requests, Some(self.group.patience));
        let late = || CompositeError::Late {
            rank: pieces.first().map_or(0, |piece| self.order[piece.other]),
            seconds: self.group.patience.as_secs(),
        };
        let ended = match ended {
            Ok(Some(ended)) => ended,
            Ok(None) => return Err(late()),
            Err(source) => {
                return Err(CompositeError::Lost {
                    rank: self.group.rank,
                    source,
                })
            }
        };
        let piece = pieces[ended.at].clone();
        let rank = self.order[piece.other];
        let Some((request, pixels)) = self.arriving.get_mut(&piece) else {
            return Err(late());
        };
        *request = None;
        let wanted = pixels.picture.color.len() + pixels.picture.depth.len();
        let different = |got| CompositeError::Different { rank, got, wanted };
        match ended.result {
            Ok(status) if status.len == wanted => Ok(piece),
            Ok(status) => Err(different(status.len)),
            Err(mgn_fabric::Error::Truncated { len, .. }) => Err(different(len)),
            Err(source) => Err(CompositeError::Lost { rank, source }),
        }
    }

    fn merge(
        &mut self,
        mine: usize,
        round: usize,
        merges: &[crate::plan::Merge],
        channel: Channel,
    ) -> Result<(), CompositeError> {
        let (Some(first), Some(last)) = (merges.first(), merges.last()) else {
            return Ok(());
        };
        let range = first.pixels.start..last.pixels.end;
        let mut merged = self.memory(range, channel);
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
                .filter_map(|from| match *from == mine {
                    true => Some(held.layer(&one.pixels)),
                    false => came
                        .get(from)
                        .map(|pixels| pixels.view().layer(&one.pixels)),
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
        let mut whole = self.memory(0..self.terms.pixels, own);
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
            let ended = self.group.endpoint.wait(request, Some(self.group.patience));
            match ended {
                Ok(Some(_)) => drop(self.sending.pop()),
                Ok(None) => {
                    return Err(CompositeError::Late {
                        rank,
                        seconds: self.group.patience.as_secs(),
                    })
                }
                Err(source) => {
                    self.sending.pop();
                    return Err(CompositeError::Lost { rank, source });
                }
            }
        }
        Ok(())
    }

    /// Ends what is under way, so that nobody writes to this frame's memory, or reads it, any more.
    fn give_up(&mut self) {
        let (endpoint, links) = (self.group.endpoint, &self.group.links);
        let end = |rank: usize, request: Request| {
            let _ = endpoint.cancel(request);
            if let (Ok(None), Some(link)) = (endpoint.test(request), links[rank]) {
                endpoint.close(link);
                let _ = endpoint.wait(request, None);
            }
        };
        for (rank, request) in self.sending.drain(..) {
            end(rank, request);
        }
        for (piece, (request, _)) in &mut self.arriving {
            if let Some(request) = request.take() {
                end(self.order[piece.other], request);
            }
        }
    }
}
