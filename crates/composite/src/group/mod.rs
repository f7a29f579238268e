//! A group of processes that composite pictures: the members of a job, joined by its endpoints.
//!
//! Members on one host read each other's pictures in memory that they share ([`shared`]). In a
//! group on several hosts, neighbours in the order that share a host merge their pictures in memory
//! first ([`hosts`]), if the group chooses the schedule and one rank gets the picture. In all other
//! cases members send each other pieces of their pictures ([`messages`]), as the schedule says.

mod agreed;
mod choice;
mod ended;
mod hosts;
mod links;
mod messages;
mod shared;
mod tiles;

use std::ops::Range;
use std::time::Duration;

use mgn_fabric::job;
use mgn_sys::fork;

use crate::{
    Channel, Delivery, Format, Layer, LayerMut, MergeError, Misuse, Operation, Pixel, Rectangle,
    Schedule,
};
use agreed::{Agreed, Mode};
use choice::Choice;
use hosts::Block;
use links::Links;
pub use links::{release_name, RELEASE};
use messages::{Merging, Messages};
use shared::Shared;
pub use tiles::Tile;

/// The processes that composite together. All of them call [`Group::composite`] for each frame.
#[derive(Debug)]
pub struct Group<'a> {
    links: Links<'a>,
    frame: u32,
    /// A number for each rank, which is the same for ranks that share memory.
    hosts: Vec<usize>,
    /// The memory that this member shares with others on its host.
    shared: Option<Shared>,
    messages: Messages,
    /// Chooses schedules of messages.
    choice: Choice,
    /// The picture that this member has drawn in the group's memory for the next frame.
    drawn: Option<Drawn>,
    /// The pixel that merged pictures get where no picture shows anything.
    background: Option<Pixel>,
    /// An earlier frame has failed.
    has_failed: bool,
    /// The fork generation of the process that made the group. In a forked child, dropping the
    /// group must not end the parent's part in it.
    owner: u32,
}

/// The terms of a drawn picture: it can only be composited on these terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Drawn {
    width: usize,
    height: usize,
    format: Format,
    /// Whether the picture is in memory that others read, or in this member's own.
    is_shared: bool,
}

/// A picture in memory: rows of pixels, the colours apart from the depths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Picture {
    pub color: Vec<u8>,
    /// Empty where the format has no depth.
    pub depth: Vec<u8>,
}

/// A picture in memory of the program or the group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PictureRef<'p> {
    pub color: &'p [u8],
    pub depth: &'p [u8],
}

impl<'p> From<Layer<'p>> for PictureRef<'p> {
    fn from(layer: Layer<'p>) -> PictureRef<'p> {
        PictureRef {
            color: layer.color,
            depth: layer.depth,
        }
    }
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

impl PictureRef<'_> {
    pub fn to_picture(self) -> Picture {
        Picture {
            color: self.color.to_vec(),
            depth: self.depth.to_vec(),
        }
    }
}

/// How a frame is composited.
#[derive(Clone, Debug)]
enum CompositeMethod {
    /// In memory that all members share.
    Memory(Mode),
    /// By messages between all members.
    Messages,
    /// In memory on each host, and then by messages between the leaders of these blocks.
    Hosts(Vec<Block>),
}

/// This member's picture.
#[derive(Clone, Debug)]
enum Own<'p> {
    /// In the program's memory.
    Passed(PictureRef<'p>),
    /// In the group's memory. With a rectangle, only the rectangle was drawn, and the rest of the
    /// memory has undefined contents.
    Drawn(Option<Rectangle>),
}

/// The terms that all members must agree on.
#[derive(Clone, Debug)]
pub struct Terms {
    /// Pixels in each row, and rows.
    pub width: usize,
    pub height: usize,
    /// Column and row of a larger picture where this one begins, if it is a part of one.
    pub origin: [usize; 2],
    pub format: Format,
    pub operation: Operation,
    /// None: the group chooses the schedule with the least expected time.
    pub schedule: Option<Schedule>,
    /// The ranks whose pictures are merged, front to back; if there is none, all ranks in the
    /// order of their numbers. Ranks left out have nothing to show, and pass an empty picture.
    pub order: Option<Vec<usize>>,
    /// The rank that gets the picture; none: each keeps its piece.
    pub to: Option<usize>,
}

impl Terms {
    /// Pixels in each picture.
    pub fn pixels(&self) -> usize {
        self.width * self.height
    }

    /// The bytes of a picture's colours, and of its depths.
    ///
    /// # Errors
    /// [`CompositeError::Size`].
    pub fn bytes(&self) -> Result<[usize; 2], CompositeError> {
        let (width, height) = (self.width, self.height);
        let pixels = width.checked_mul(height).filter(|pixels| {
            // Heads have 32 bits for columns and rows.
            *pixels <= PIXELS_MAX && width.max(height) <= PIXELS_MAX
        });
        let pixels = pixels.ok_or(CompositeError::Size { width, height })?;
        Ok(self.format.pixel_bytes().map(|pixel| pixels * pixel))
    }

    /// Where the merged picture goes. `order` lists the ranks that have pictures.
    fn delivery(&self, order: &[usize]) -> Delivery {
        let position = |to: usize| order.iter().position(|rank| *rank == to);
        self.to.map_or(Delivery::Spread, |to| {
            position(to).map_or(Delivery::Watcher, Delivery::Member)
        })
    }

    /// Whether a picture has the size and format of these terms.
    fn check(&self, picture: PictureRef<'_>) -> Result<(), MergeError> {
        let wanted = self.pixels();
        let parts = [picture.color, picture.depth];
        for (part, pixel) in parts.into_iter().zip(self.format.pixel_bytes()) {
            let len = part.len();
            if wanted.checked_mul(pixel) != Some(len) {
                return Err(MergeError::Length { len, pixel, wanted });
            }
        }
        Ok(())
    }
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
    #[error("rank {rank} has not arrived within {waited:?}; check that it composites too")]
    Late { rank: usize, waited: Duration },
    #[error("rank {rank} has not taken its pixels for {waited:?}")]
    Stuck { rank: usize, waited: Duration },
    #[error(
        "rank {rank} runs {theirs}, and this rank {}: all ranks must run the same release",
        RELEASE
    )]
    Release { rank: usize, theirs: String },
    #[error("rank {rank} composites {what}: all ranks must composite the same tile or picture, with the same size, format, operation, order, schedule and receiver")]
    Different { rank: usize, what: String },
    #[error("the order {order:?} names a rank twice, or a rank that does not exist: the size of the job is {size}")]
    Order { order: Vec<usize>, size: usize },
    #[error("there is no rank {to} to send the picture to: the size of the job is {size}")]
    To { to: usize, size: usize },
    #[error("{rectangle:?} is not within the picture")]
    Outside { rectangle: Rectangle },
    #[error("a picture of {width} by {height} pixels is too large")]
    Size { width: usize, height: usize },
    #[error("no memory for pictures: {0}")]
    Memory(std::io::Error),
    #[error("nothing was drawn for this composition: first request memory for a picture of the same size and format, and draw into it")]
    NotDrawn,
    #[error("an earlier frame of this group has failed: make a new group")]
    Failed,
    #[error(transparent)]
    Merge(#[from] MergeError),
    #[error(transparent)]
    Misuse(#[from] Misuse),
}

impl CompositeError {
    /// A rank has closed its links, or its memory is gone.
    fn closed(rank: usize) -> CompositeError {
        CompositeError::Lost {
            rank,
            source: mgn_fabric::Error::Closed(format!("rank {rank}")),
        }
    }

    /// Whether only this member's own call was wrong. The other members have not noticed the error,
    /// so this member may try again.
    fn is_of_call(&self) -> bool {
        matches!(
            self,
            CompositeError::Order { .. }
                | CompositeError::To { .. }
                | CompositeError::Size { .. }
                | CompositeError::Outside { .. }
                | CompositeError::NotDrawn
                | CompositeError::Merge(_)
        )
    }
}

impl<'a> Group<'a> {
    /// Opens a link to each other member of the job. All members must make their group, with the
    /// same number. Successive groups of a job need different numbers. Waits up to `patience` for
    /// the others. A composition waits as long for each piece. For a piece that others have to
    /// merge first, it waits this time once per round that they need, so that the members that wait
    /// directly for a late one report it first. If hosts merge first, a member waits two times
    /// `patience` longer for each piece, because merging on the hosts may take that long.
    ///
    /// # Errors
    /// [`CompositeError::Unreachable`], [`CompositeError::Late`], [`CompositeError::Lost`],
    /// [`CompositeError::Release`].
    pub fn new(
        job: &'a job::Member,
        number: u16,
        patience: Duration,
    ) -> Result<Group<'a>, CompositeError> {
        Group::open(job, number, patience, None)
    }

    /// A group for tests and measurements: on one host, members share memory only with those that
    /// pass the same `host`, and behave towards all others as if those were on other hosts.
    ///
    /// # Errors
    /// As for [`Group::new`].
    pub fn on_simulated_host(
        job: &'a job::Member,
        number: u16,
        patience: Duration,
        host: u32,
    ) -> Result<Group<'a>, CompositeError> {
        Group::open(job, number, patience, Some(host))
    }

    fn open(
        job: &'a job::Member,
        number: u16,
        patience: Duration,
        simulated_host: Option<u32>,
    ) -> Result<Group<'a>, CompositeError> {
        let links = Links::open(job, number, patience)?;
        let mut host = mgn_sys::host::identity().unwrap_or_default();
        if let Some(number) = simulated_host {
            host.push_str(&format!(" {number}"));
        }
        // The members always meet: a member that has nothing to do in any frame must not leave
        // before others have opened their links to it.
        let joined = Shared::join(&links, &host);
        let (hosts, shared) = joined.map_err(|error| links.explain(error))?;
        let choice = Choice::measure(&links, &hosts).map_err(|error| links.explain(error))?;
        Ok(Group {
            links,
            frame: 0,
            hosts,
            shared,
            messages: Messages::default(),
            choice,
            drawn: None,
            background: None,
            has_failed: false,
            owner: fork::generation(),
        })
    }

    pub fn rank(&self) -> usize {
        self.links.rank
    }

    pub fn size(&self) -> usize {
        self.links.size()
    }

    /// How many memory-sharing sets the members form: the number of hosts, if all members of each
    /// host can share memory. If a member of a host cannot, each member of this host counts as a
    /// host of its own.
    pub fn hosts(&self) -> usize {
        let hosts = self.hosts.iter().enumerate();
        // The number of a host is its lowest rank.
        hosts.filter(|(rank, host)| rank == *host).count()
    }

    /// Memory for this member's next picture on these terms, with undefined contents. A picture
    /// that is drawn here and passed by [`Group::composite_drawn`] on the same terms is not copied
    /// on its host. Waits until the others have read an earlier picture in this memory.
    ///
    /// # Errors
    /// [`CompositeError::Memory`], and those of [`Group::composite`].
    pub fn draw(&mut self, terms: &Terms) -> Result<LayerMut<'_>, CompositeError> {
        let order = self.check(terms)?;
        let is_shared = self.way(terms, &order).is_in_memory(self.links.rank);
        self.drawn = Some(Drawn::on(terms, is_shared));
        match &mut self.shared {
            Some(shared) if is_shared => {
                let drawn = shared.draw(&self.links, terms);
                drawn.inspect_err(|error| {
                    self.has_failed = true;
                    self.links.fail(self.frame, error);
                })
            }
            _ => Ok(self.messages.draw(terms)),
        }
    }

    /// Merges one picture of each member, as [`Group::composite`] does. This member's picture is
    /// what it has drawn into the memory from [`Group::draw`]. If it has drawn only a rectangle,
    /// the picture shows nothing outside of the rectangle, whatever the memory holds there: those
    /// pixels count as transparent black, with the largest depth, and cost nothing. If the
    /// rectangle is empty, the member need not have requested memory. Without a rectangle, all
    /// pixels count, and a background of equal pixels is looked for, as in [`Group::composite`].
    ///
    /// # Errors
    /// [`CompositeError::NotDrawn`], [`CompositeError::Outside`], and those of
    /// [`Group::composite`].
    pub fn composite_drawn(
        &mut self,
        terms: &Terms,
        covered: Option<Rectangle>,
    ) -> Result<(Range<usize>, PictureRef<'_>), CompositeError> {
        match covered {
            Some(rectangle) if !rectangle.is_within(terms.width, terms.height) => {
                Err(CompositeError::Outside { rectangle })
            }
            covered => self.merge(Own::Drawn(covered), terms),
        }
    }

    /// Merges one picture of each member. Returns the merged pixels for this member, and their
    /// range, counted row by row: all of them, a piece, or none.
    ///
    /// # Errors
    /// [`CompositeError`]. After an error that is about other members, the group can composite no
    /// more: this member has told the others, which get errors of their own. A link with a transfer
    /// that is still under way after a second is closed, and the member at its other end counts as
    /// lost.
    pub fn composite(
        &mut self,
        picture: PictureRef<'_>,
        terms: &Terms,
    ) -> Result<(Range<usize>, PictureRef<'_>), CompositeError> {
        self.merge(Own::Passed(picture), terms)
    }

    /// Whether this member is the receiver, and the picture is merged in its shared memory. This is
    /// so if the job has several members, all share the memory of one host, and the terms name no
    /// schedule, direct send, or a tree with at least as many children as pictures.
    pub fn merges_in_place(&self, terms: &Terms) -> bool {
        let is_in_memory = |order: Vec<usize>| {
            let way = self.way(terms, &order);
            matches!(way, CompositeMethod::Memory(_))
        };
        terms.to == Some(self.links.rank) && self.check(terms).is_ok_and(is_in_memory)
    }

    /// Sets the background that this member's merged pictures get where no picture shows anything,
    /// from the next frame on. With [`Operation::Nearest`], pixels with the largest depth (a float
    /// that is not less than 1) get the background's colour and depth. With [`Operation::Over`],
    /// pixels whose alpha is 0 get only its colour. Other operations ignore it. It applies only to
    /// frames for which [`Group::merges_in_place`] returns true. `None` is the default: these
    /// pixels keep their merged values.
    pub fn set_background(&mut self, background: Option<Pixel>) {
        self.background = background;
    }

    /// Returns the merged picture of the last frame, in the memory where it was merged. It stays
    /// there until the next frame. `terms` must be the terms of the last frame, which the group
    /// does not check. Returns `None` if [`Group::merges_in_place`] is false for them.
    pub fn merged_mut(&mut self, terms: &Terms) -> Option<LayerMut<'_>> {
        if self.has_failed || !self.merges_in_place(terms) {
            return None;
        }
        self.shared.as_mut()?.merged_mut(terms)
    }

    /// Tells the members that sleep in [`Group::wait_until_used`] that this member, the receiver,
    /// has used the picture of its last frame.
    pub fn used(&self) {
        if let Some(shared) = &self.shared {
            shared.used(&self.links, self.frame);
        }
    }

    /// Sleeps until the rank `to`, the receiver, has used the picture of this member's last frame
    /// ([`Group::used`]), if this host has more members than processors. This is for programs that
    /// wait for the receiver by polling, as those over MPI do: while they poll, they take time from
    /// the receiver. Other programs need no such sleep: they draw their next picture meanwhile.
    /// Sleeps for at most one second or four times as long as this member has drawn, whichever is
    /// longer.
    pub fn wait_until_used(&self, to: usize) {
        if let Some(shared) = &self.shared {
            if to != self.links.rank {
                shared.wait_until_used(&self.links, to, self.frame);
            }
        }
    }

    fn merge(
        &mut self,
        own: Own<'_>,
        terms: &Terms,
    ) -> Result<(Range<usize>, PictureRef<'_>), CompositeError> {
        let order = self.check(terms)?;
        let way = self.way(terms, &order);
        if order.contains(&self.links.rank) {
            let is_shared = way.is_in_memory(self.links.rank);
            match &own {
                Own::Passed(picture) => terms.check(*picture)?,
                Own::Drawn(Some(rectangle)) if rectangle.is_empty() => {}
                Own::Drawn(_) if self.drawn == Some(Drawn::on(terms, is_shared)) => {}
                Own::Drawn(_) => return Err(CompositeError::NotDrawn),
            }
        }
        let frame = self.frame;
        let next = frame.wrapping_add(1);
        let (links, messages, choice) = (&self.links, &mut self.messages, &mut self.choice);
        let result = match (way, &mut self.shared) {
            (CompositeMethod::Memory(mode), Some(shared)) => {
                let is_receiver = terms.to == Some(links.rank);
                let background = self.background.filter(|_| is_receiver);
                shared.composite(links, frame, own, terms, (mode, &order), background)
            }
            (CompositeMethod::Hosts(blocks), shared) => {
                let leaders: Vec<usize> = blocks.iter().map(|block| block.leader).collect();
                let schedule = choice.schedule(terms, &leaders, blocks.len() > 1);
                let merging = hosts::merging(terms, schedule, &blocks, leaders);
                hosts::composite(links, frame, own, &blocks, &merging, (shared, messages))
            }
            (_, shared) => {
                let schedule = choice.schedule(terms, &order, false);
                let merging = Merging {
                    terms,
                    agreed: Agreed::new(terms, Mode::Messages(schedule), &order),
                    schedule,
                    are_partial: vec![false; order.len()],
                    order,
                    merge_patience: 0,
                };
                let passed = shared
                    .as_mut()
                    .map_or(Ok(()), |shared| shared.pass(links, frame, &merging));
                let merged = passed.and_then(|()| messages.composite(links, frame, own, &merging));
                if let Some(shared) = shared {
                    shared.end_frame(links, frame, &merged);
                }
                merged
            }
        };
        match result {
            Ok(merged) => {
                self.frame = next;
                self.drawn = None;
                Ok(merged)
            }
            Err(error) => {
                if !error.is_of_call() {
                    self.has_failed = true;
                    self.links.fail(frame, &error);
                }
                Err(error)
            }
        }
    }

    /// How a frame is composited. All members derive the same way from the same terms.
    fn way(&self, terms: &Terms, order: &[usize]) -> CompositeMethod {
        match (&self.shared, self.hosts()) {
            (Some(shared), 1) => shared
                .mode(terms, order)
                .map_or(CompositeMethod::Messages, CompositeMethod::Memory),
            _ => match (terms.schedule, terms.to) {
                // If the program names a schedule, it applies to all members.
                (None, Some(to)) => hosts::blocks(&self.hosts, order, to)
                    .map_or(CompositeMethod::Messages, CompositeMethod::Hosts),
                _ => CompositeMethod::Messages,
            },
        }
    }

    /// The ranks whose pictures are merged, if the terms are valid.
    fn check(&self, terms: &Terms) -> Result<Vec<usize>, CompositeError> {
        if self.has_failed {
            return Err(CompositeError::Failed);
        }
        let size = self.size();
        let order = match &terms.order {
            None => (0..size).collect(),
            Some(order) => order.clone(),
        };
        let mut is_named = vec![false; size];
        for rank in &order {
            match is_named.get_mut(*rank) {
                Some(named) if !*named => *named = true,
                _ => return Err(CompositeError::Order { order, size }),
            }
        }
        if let Some(to) = terms.to.filter(|to| *to >= size) {
            return Err(CompositeError::To { to, size });
        }
        terms.bytes()?;
        if terms.operation == Operation::Nearest && terms.format.depth.is_none() {
            return Err(MergeError::NoDepth.into());
        }
        Ok(order)
    }
}

impl CompositeMethod {
    /// Whether a rank's picture is merged in the memory of its host.
    fn is_in_memory(&self, rank: usize) -> bool {
        match self {
            CompositeMethod::Memory(_) => true,
            CompositeMethod::Messages => false,
            CompositeMethod::Hosts(blocks) => {
                let mine = blocks.iter().find(|block| block.order.contains(&rank));
                mine.is_some_and(Block::uses_memory)
            }
        }
    }
}

impl Drawn {
    fn on(terms: &Terms, is_shared: bool) -> Drawn {
        Drawn {
            width: terms.width,
            height: terms.height,
            format: terms.format,
            is_shared,
        }
    }
}

/// The most pixels of a picture: about as many as in 128 pictures in 8K.
const PIXELS_MAX: usize = u32::MAX as usize;

impl Drop for Group<'_> {
    fn drop(&mut self) {
        if self.owner != fork::generation() {
            return;
        }
        if let Some(shared) = &mut self.shared {
            shared.leave(&self.links);
        }
        // Receives the last messages of the others, because no other code does.
        self.links.listen();
    }
}
