//! A group of processes that composite pictures: the members of a job, joined by its endpoints.

use std::collections::HashMap;
use std::ops::Range;
use std::time::{Duration, Instant};

use mgn_fabric::endpoint::{Endpoint, How, LinkId, Request, Wanted};
use mgn_fabric::job;

use crate::{
    merge, Channel, Event, Format, Layer, LayerMut, Member, MergeError, Misuse, Operation, Outlet,
    Piece, Plan, Schedule, Share,
};

/// The upper byte of the tags of all messages of groups. Below it are the group's number (16 bits),
/// the frame's (24) and the round's (16). A program may use the endpoint for messages of its own,
/// if it receives none with whatever tag.
const TAG: u64 = 0x47 << 56;

/// Instead of a round: the message by which members meet.
const MEETING: usize = 0xFFFF;

/// Buffers kept for the next frame, at most.
const SPARE: usize = 64;

/// How long the peers may take to answer after a composition has failed.
const PARTING: Duration = Duration::from_secs(1);

/// The processes that composite together. All of them call [`Group::composite`] for each frame.
#[derive(Debug)]
pub struct Group<'a> {
    endpoint: &'a Endpoint,
    /// The link to each rank; none for this one.
    links: Vec<Option<LinkId>>,
    rank: usize,
    number: u16,
    frame: u32,
    patience: Duration,
    /// Buffers of earlier frames.
    spare: Vec<Picture>,
    /// The merged pixels of the last frame.
    merged: Picture,
}

/// A picture in memory: rows of pixels, the colours apart from the depths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Picture {
    pub color: Vec<u8>,
    /// Empty where the format has no depth.
    pub depth: Vec<u8>,
}

/// A picture in the program's memory.
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

    /// All pixels, to be merged.
    pub fn layer(&self, channel: Channel) -> Layer<'_> {
        Layer {
            channel,
            color: &self.color,
            depth: &self.depth,
        }
    }

    /// Room for merged pixels.
    pub fn layer_mut(&mut self, channel: Channel) -> LayerMut<'_> {
        LayerMut {
            channel,
            color: &mut self.color,
            depth: &mut self.depth,
        }
    }
}

/// What all members have to agree about.
#[derive(Clone, Debug)]
pub struct Terms {
    /// Pixels in each picture.
    pub pixels: usize,
    pub format: Format,
    pub operation: Operation,
    pub schedule: Schedule,
    /// The ranks whose pictures are merged, front to back; if there is none, all ranks in the
    /// order of their numbers. Ranks left out have nothing to show, and pass an empty picture.
    pub order: Option<Vec<usize>>,
    /// The rank that gets the picture; none: each keeps its piece.
    pub to: Option<usize>,
}

/// Why there is no picture.
#[derive(Debug, thiserror::Error)]
pub enum CompositeError {
    #[error("rank {rank} cannot be reached: {source}")]
    Unreachable {
        rank: usize,
        source: mgn_fabric::Error,
    },
    #[error("rank {rank} was lost: {source}")]
    Lost {
        rank: usize,
        source: mgn_fabric::Error,
    },
    #[error("rank {rank} has sent nothing for {waited:?}: does it composite, too?")]
    Late { rank: usize, waited: Duration },
    #[error("rank {rank} has not taken its pixels for {waited:?}")]
    Stuck { rank: usize, waited: Duration },
    #[error("rank {rank} sent {got} bytes where {wanted} were expected: all ranks must composite pictures of the same size and format, with the same operation, order and schedule")]
    Different {
        rank: usize,
        got: usize,
        wanted: usize,
    },
    #[error("the order {order:?} names a rank twice, or one that the job of {size} does not have")]
    Order { order: Vec<usize>, size: usize },
    #[error("there is no rank {to} to send the picture to: the job has {size}")]
    To { to: usize, size: usize },
    #[error(transparent)]
    Merge(#[from] MergeError),
    #[error(transparent)]
    Misuse(#[from] Misuse),
}

impl<'a> Group<'a> {
    /// Opens a link to each other member of the job. All of them have to make their group, with the
    /// same number; groups that a job has one after the other need different ones. Waits up to
    /// `patience` for the others. A composition waits as long for each piece.
    ///
    /// # Errors
    /// [`CompositeError::Unreachable`], [`CompositeError::Late`], [`CompositeError::Lost`].
    pub fn new(
        job: &'a job::Member,
        number: u16,
        patience: Duration,
    ) -> Result<Group<'a>, CompositeError> {
        let deadline = Instant::now().checked_add(patience);
        let left = || {
            deadline.map_or(patience, |deadline| {
                deadline.saturating_duration_since(Instant::now())
            })
        };
        let rank = job.rank() as usize;
        let open = |other: u32| match other as usize == rank {
            true => Ok(None),
            false => {
                let opened = job.open(other, left()).map(Some);
                opened.map_err(|source| CompositeError::Unreachable {
                    rank: other as usize,
                    source,
                })
            }
        };
        let group = Group {
            endpoint: job.endpoint(),
            links: (0..job.size()).map(open).collect::<Result<_, _>>()?,
            rank,
            number,
            frame: 0,
            patience,
            spare: Vec::new(),
            merged: Picture::default(),
        };
        // The others have opened their links to this member, too: it may have nothing to do in any
        // frame, and leave before they come.
        let tag = group.tag(0, MEETING);
        for (rank, link) in group.others() {
            let sent = group.endpoint.send(link, tag, &[], How::default());
            sent.map_err(|source| CompositeError::Lost { rank, source })?;
        }
        for (rank, link) in group.others() {
            let met = group.endpoint.take(&Wanted::new(link, tag), Some(left()));
            let met = met.map_err(|source| CompositeError::Lost { rank, source })?;
            let waited = patience;
            met.ok_or(CompositeError::Late { rank, waited })?;
        }
        Ok(group)
    }

    fn others(&self) -> impl Iterator<Item = (usize, LinkId)> + '_ {
        let links = self.links.iter().enumerate();
        links.filter_map(|(rank, link)| Some((rank, (*link)?)))
    }

    fn tag(&self, frame: u32, round: usize) -> u64 {
        let frame = u64::from(frame & 0x00FF_FFFF);
        TAG | u64::from(self.number) << 40 | frame << 16 | round as u64
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
    /// [`CompositeError`]. The other members wait in vain then, and get errors of their own. Links
    /// by which something is still under way after a second are closed: the members at their
    /// other ends count as lost. Sizes tell which members composite something else; that their
    /// operations, orders or schedules are the same is not checked otherwise.
    pub fn composite(
        &mut self,
        picture: PictureRef<'_>,
        terms: &Terms,
    ) -> Result<(Range<usize>, &Picture), CompositeError> {
        let frame = self.frame;
        self.frame = frame.wrapping_add(1);
        let size = self.size();
        let order = match &terms.order {
            None => (0..size).collect(),
            Some(order) => order.clone(),
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
        run.give_up();
        let mut spare = std::mem::take(&mut run.spare);
        spare.extend(run.merged.drain(..).map(|pixels| pixels.picture));
        spare.extend(run.arriving.drain().map(|(_, (_, pixels))| pixels.picture));
        spare.truncate(SPARE);
        drop(run);
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
        let is_here = self.terms.to == Some(self.group.rank);
        let outlet = match self.terms.to {
            None => Outlet::Spread,
            Some(to) => place(to).map_or(Outlet::Watcher, Outlet::Member),
        };
        let (schedule, members) = (self.terms.schedule, self.order.len());
        match place(self.group.rank) {
            Some(mine) => {
                self.check()?;
                let plan = Plan::new(schedule, members, mine, self.terms.pixels, outlet);
                self.take_part(mine, plan)
            }
            None if is_here && members > 0 => {
                let plan = Plan::watcher(schedule, members, self.terms.pixels);
                self.take_part(members, plan)
            }
            // Nobody has anything to show.
            None if is_here => {
                let mut clear = self.memory(0..self.terms.pixels, self.channels().0);
                let (operation, format) = (self.terms.operation, self.terms.format);
                let out = clear.picture.layer_mut(clear.channel);
                merge(operation, format, &[], out)?;
                Ok((clear.range, clear.picture))
            }
            None => Ok((0..0, Picture::default())),
        }
    }

    /// The rank with this number in the plan: a member's place in the order, or the watcher.
    fn rank_of(&self, place: usize) -> usize {
        let rank = self.order.get(place).copied().or(self.terms.to);
        rank.unwrap_or(self.group.rank)
    }

    /// Whether this member's picture is what has been agreed.
    fn check(&self) -> Result<(), MergeError> {
        let (format, wanted) = (self.terms.format, self.terms.pixels);
        let parts = [
            (self.own.color, format.color.channel().pixel_bytes()),
            (self.own.depth, format.depth_bytes()),
        ];
        for (part, pixel) in parts {
            let len = part.len();
            if wanted.checked_mul(pixel) != Some(len) {
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

    /// Memory for pixels, with anything in it: the smallest spare buffer that is large enough, or
    /// else the largest.
    fn memory(&mut self, range: Range<usize>, channel: Channel) -> Pixels {
        let color = range.len() * channel.pixel_bytes();
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
                let mut alone = self.memory(merged, own);
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
        let link = self.group.links[self.rank_of(from)].expect("a member sends nothing to itself");
        let mut pixels = self.memory(range.clone(), channel);
        let piece = Piece {
            round,
            other: from,
            pixels: range.clone(),
        };
        let Picture { color, depth } = &mut pixels.picture;
        let memory = [color, depth].map(|part| (part.as_mut_ptr(), part.len()));
        let wanted = Wanted::new(link, self.group.tag(self.frame, round));
        // SAFETY: the vectors are kept in `arriving`, where nobody touches them, until the request
        // has ended: `next` takes it then, and `give_up` ends all others, also on unwinding.
        let request = unsafe { self.group.endpoint.irecv(wanted, not_empty(&memory)) };
        self.arriving.insert(piece, (Some(request), pixels));
    }

    /// Begins to send pixels of what this member has now.
    fn send(&mut self, piece: &Piece) -> Result<(), CompositeError> {
        let rank = self.rank_of(piece.other);
        let link = self.group.links[rank].expect("a member sends nothing to itself");
        let layer = self.held().layer(&piece.pixels);
        let memory = [layer.color, layer.depth].map(|part| (part.as_ptr().cast_mut(), part.len()));
        let (endpoint, tag) = (self.group.endpoint, self.group.tag(self.frame, piece.round));
        // SAFETY: the own picture is borrowed, and what was merged is kept in `merged`, unchanged,
        // until the request has ended: `end_sends` waits for that, and `give_up` ends those
        // of a frame that has failed, also on unwinding.
        let sent = unsafe { endpoint.isend(link, tag, not_empty(&memory), How::default()) };
        let sent = sent.map_err(|source| CompositeError::Lost { rank, source })?;
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
        // The members that see nothing come late are the first to say so.
        let is_watcher = !self.order.contains(&self.group.rank);
        let waited = self
            .group
            .patience
            .saturating_mul(1 + u32::from(is_watcher));
        let first = pieces.iter().min_by_key(|piece| (piece.round, piece.other));
        let late = first.map_or(self.group.rank, |piece| self.rank_of(piece.other));
        let ended = self.group.endpoint.wait_any(&requests, Some(waited));
        let ended = ended.map_err(|source| CompositeError::Lost { rank: late, source })?;
        let ended = ended.ok_or(CompositeError::Late { rank: late, waited })?;
        let piece = pieces[ended.at].clone();
        let rank = self.rank_of(piece.other);
        let (request, pixels) = self.arriving.get_mut(&piece).expect("it was there above");
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
        merges: &[Share],
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
                    let waited = self.group.patience;
                    return Err(CompositeError::Stuck { rank, waited });
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
        let arriving = self.arriving.iter_mut();
        let arriving =
            arriving.filter_map(|(piece, (request, _))| Some((piece.other, request.take()?)));
        let arriving: Vec<(usize, Request)> = arriving.collect();
        let arriving = arriving
            .iter()
            .map(|(place, request)| (self.rank_of(*place), *request));
        let mut open: Vec<(usize, Request)> = arriving.collect();
        open.append(&mut self.sending);
        let (endpoint, links) = (self.group.endpoint, &self.group.links);
        for (_, request) in &open {
            let _ = endpoint.cancel(*request);
        }
        let deadline = Instant::now() + PARTING;
        for (rank, request) in open {
            let left = deadline.saturating_duration_since(Instant::now());
            if let (Ok(None), Some(link)) = (endpoint.wait(request, Some(left)), links[rank]) {
                endpoint.close(link);
                let _ = endpoint.wait(request, None);
            }
        }
    }
}

impl Drop for Run<'_, '_> {
    fn drop(&mut self) {
        self.give_up();
    }
}

/// Messages of one piece of memory go faster than those of several.
fn not_empty(memory: &[(*mut u8, usize); 2]) -> &[(*mut u8, usize)] {
    let [_, (_, depth)] = memory;
    match depth {
        0 => &memory[..1],
        _ => memory,
    }
}
