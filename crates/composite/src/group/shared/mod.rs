//! Members on one host: each reads the others' pictures where they are.
//!
//! A member draws into memory of its own that the others have mapped, and announces where the
//! picture is. Members that merge wait for that, claim stripes of the picture, merge these pixels
//! of all pictures in one pass, write them to the receiver's memory, and count the frame. Nothing
//! is copied, and no member waits for more than it needs: one that merges nothing goes on to its
//! next frame at once, as long as it has a place to draw.

mod control;
mod early;
mod frame;
mod head;
mod memory;

use std::cell::Cell;
use std::io;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use mgn_fabric::Spinner;

use super::agreed::{Agreed, Mode};
use super::ended::Ended;
use super::links::{Links, PULSE};
use super::messages::Merging;
use super::{CompositeError, Terms};
use crate::covered::Covered;
use crate::{LayerMut, Schedule};
use control::{Control, Counter, Invitation, Which, FRAMES};
use head::Head;
use memory::{layer_mut, sizes, OwnMemory, PictureLocation, Seen, Stored};

/// The number of places that a member has for its pictures. It can be this many pictures ahead of
/// the members that read them.
const PLACES: usize = 3;

/// Pictures of more bytes have two places. Eight members with three would be slower, because the
/// pictures leave the processor's cache before they are read.
const LARGE: usize = 512 << 10;

/// If all pictures together have fewer pixels than this, the receiver merges them alone. The first
/// value is for hosts on which each member has a processor of its own: there, waking other members
/// takes longer than merging. The second is for crowded hosts, on which the others draw meanwhile.
/// Measured with eight renderers on two processors, where blending 1024x768 is as fast in both
/// ways.
const SMALL: [usize; 2] = [1 << 18, 1 << 22];

/// The approximate bytes of pictures that are merged per second on a crowded host.
const MERGED_A_SECOND: f64 = 2e9;

/// How often a member that waits until the receiver has used the picture looks at its counter.
const LOOK_INTERVAL: Duration = Duration::from_millis(1);

/// A member waits for that at most this long, or this many times as long as it has drawn itself,
/// whichever is longer. Members that take longer to draw may need this one meanwhile, for example
/// for messages of their own.
const SLEEP_MIN: Duration = Duration::from_secs(1);
const SLEEP_FACTOR: u32 = 4;

#[derive(Debug)]
pub(super) struct Shared {
    /// For each rank, the member on this host, this one included; none for ranks on other hosts.
    members: Vec<Option<Peer>>,
    /// The descriptor by which the others find this member's page.
    _page: OwnedFd,
    /// How many times this member has created memory.
    memories: u32,
    pictures: Option<Pictures>,
    /// For each place for heads, the ranks that read this member's last announcement there.
    told: [Taken; FRAMES],
    /// Where the merged picture is.
    result: Option<OwnMemory>,
    /// Where the result of this member's early merges is, and the ranks that read the last one.
    early: Option<OwnMemory>,
    early_taken: Taken,
    spinner: Spinner,
    /// One of [`SMALL`].
    small: usize,
    /// Whether this host has more members than processors.
    is_crowded: bool,
    /// When this member ended its last frame, and how long it has drawn since then.
    frame_ended: Cell<Instant>,
    has_drawn_for: Duration,
    /// How many times the group's patience a member may have been busy with messages in any frame
    /// so far.
    messages_patience: u32,
}

#[derive(Debug)]
struct Peer {
    control: Control,
    invitation: Invitation,
    memory: Seen,
    result: Seen,
    early: Seen,
}

/// Places for this member's pictures, which take turns.
#[derive(Debug)]
struct Pictures {
    own: OwnMemory,
    places: Vec<Taken>,
    /// Where the next picture is drawn.
    next: usize,
    /// Whether that place is free: this member has waited for its readers.
    is_free: bool,
}

/// The last use of a place for a picture or a head: the frame, and the other ranks that read it.
#[derive(Clone, Debug, Default)]
struct Taken {
    frame: u32,
    readers: Vec<usize>,
    /// The receiver, and the terms that it must assume too. None if there is no receiver, or for
    /// the head of a picture, because they are checked for the picture.
    terms: Option<(usize, Agreed)>,
}

impl Shared {
    /// How a frame is composited in memory; none if it is composited by messages.
    pub fn mode(&self, terms: &Terms, order: &[usize]) -> Option<Mode> {
        match terms.schedule {
            None => Some(self.usual(terms, order)),
            Some(Schedule::Tree(k)) if k >= order.len() && terms.to.is_some() => Some(Mode::Gather),
            Some(Schedule::DirectSend) => Some(Mode::Stripes),
            Some(_) => None,
        }
    }

    /// The faster mode. All members must choose the same one before they know which parts of the
    /// others' pictures are covered, so whole pictures count.
    fn usual(&self, terms: &Terms, order: &[usize]) -> Mode {
        let is_small = terms.pixels().saturating_mul(order.len()) < self.small;
        match is_small && terms.to.is_some() {
            true => Mode::Gather,
            false => Mode::Stripes,
        }
    }

    /// How many members merge along with the receiver. They are those that draw last; the others go
    /// on to their next frame.
    ///
    /// All members merge if each has a processor of its own, if the program names a schedule, or if
    /// drawing takes about as long as merging: then pictures are merged before they leave the
    /// caches. Otherwise, one member for each processor merges, the receiver included. More would
    /// wait for each other to be scheduled, because the members that have gone on use the
    /// processors, too.
    fn helpers(&self, terms: &Terms, order: &[usize]) -> usize {
        match self.is_crowded && self.has_drawn_long(terms, order) && terms.schedule.is_none() {
            true => mgn_sys::cpu::cores() - 1,
            false => usize::MAX,
        }
    }

    /// Whether this member has drawn for at least twice as long as merging takes.
    fn has_drawn_long(&self, terms: &Terms, order: &[usize]) -> bool {
        self.has_drawn_for.as_secs_f64() > 2.0 * self.merge_seconds(terms, order)
    }

    /// The approximate duration of merging on a crowded host, in seconds. All pixels count at least
    /// once, because they are written.
    fn merge_seconds(&self, terms: &Terms, order: &[usize]) -> f64 {
        let [color, depth] = terms.format.pixel_bytes();
        let covered = order.iter().map(|rank| self.covers(*rank, terms));
        let pixels = covered.fold(0, usize::saturating_add).max(terms.pixels());
        pixels.saturating_mul(color + depth) as f64 / MERGED_A_SECOND
    }

    /// How many pixels a member's picture covers, as far as is known: as many as in the last frame
    /// that it has announced, which is this one if it has drawn already.
    fn covers(&self, rank: usize, terms: &Terms) -> usize {
        let control = &self.peer(rank).control;
        let last = control.value(Counter::Drawn).wrapping_sub(1);
        let head = Head::from_words(control.read(Which::Picture, last));
        // A member that keeps its picture announces none. A head that was never written is zero,
        // and a faulty member can write anything.
        let rectangle = &head.covered.rectangle;
        let is_known = head.frame == last
            && head.agreed != Agreed::default()
            && rectangle.is_within(terms.width, terms.height);
        match is_known {
            true => rectangle.pixels(),
            false => terms.pixels(),
        }
    }

    /// Makes the members of each host map each other's pages. Returns a number for each rank, which
    /// is the same for ranks that share memory, and the memory that this member shares, if it does.
    /// If a member cannot map the pages of its host, all members of this host count as if each was
    /// on a host of its own.
    pub fn join(
        links: &Links<'_>,
        host: &str,
    ) -> Result<(Vec<usize>, Option<Shared>), CompositeError> {
        let created = match links.size() {
            1 => None,
            _ => Control::create().ok(),
        };
        let own = created.as_ref().map(|(_, _, invitation)| invitation);
        let words = own.map(|own| [&own.to_bytes()[..], host.as_bytes()].concat());
        let words = words.unwrap_or_default();
        let mut said = links.meet(&words)?;
        said.insert(links.rank, (links.rank, words));
        let hosts = hosts(&said);
        let is_near = |rank: &usize| hosts[*rank] == hosts[links.rank];
        let near: Vec<usize> = (0..links.size()).filter(is_near).collect();
        let join = |rank: &usize| {
            let (invitation, _) = said[*rank].1.split_at_checked(Invitation::BYTES)?;
            let invitation = Invitation::from_bytes(invitation)?;
            let control = Control::map(&invitation).ok()?;
            Some((*rank, Peer::new(control, invitation)))
        };
        let others = near.iter().filter(|rank| **rank != links.rank);
        let joined: Option<Vec<(usize, Peer)>> = others.map(join).collect();
        let can_share = created.is_some() && joined.is_some();
        // All members of a host must choose the same mode, so they agree on whether it is crowded.
        let is_crowded = near.len() > mgn_sys::cpu::cores();
        let flags = vec![u8::from(can_share), u8::from(is_crowded)];
        let mut flagged = links.meet(&flags)?;
        flagged.insert(links.rank, (links.rank, flags));
        let says = |rank: usize, at: usize| flagged[rank].1.get(at) == Some(&1);
        let all = 0..links.size();
        let is_shared = |host: usize| {
            let mut members = all.clone().filter(|rank| hosts[*rank] == host);
            members.all(|rank| says(rank, 0))
        };
        let hosts: Vec<usize> = (all.clone().zip(&hosts))
            .map(|(rank, host)| if is_shared(*host) { *host } else { rank })
            .collect();
        let (Some((control, page, invitation)), Some(joined)) = (created, joined) else {
            return Ok((hosts, None));
        };
        if near.len() == 1 || !near.iter().all(|rank| says(*rank, 0)) {
            return Ok((hosts, None));
        }
        let is_crowded = near.iter().any(|rank| says(*rank, 1));
        let mut members: Vec<Option<Peer>> = all.map(|_| None).collect();
        members[links.rank] = Some(Peer::new(control, invitation));
        for (rank, peer) in joined {
            members[rank] = Some(peer);
        }
        let shared = Shared {
            members,
            _page: page,
            memories: 0,
            pictures: None,
            told: Default::default(),
            result: None,
            early: None,
            early_taken: Taken::default(),
            // No yielding: with more members than processors, yielding would take time from members
            // that draw.
            spinner: Spinner::default(),
            small: SMALL[usize::from(is_crowded)],
            is_crowded,
            frame_ended: Cell::new(Instant::now()),
            has_drawn_for: Duration::ZERO,
            messages_patience: 0,
        };
        Ok((hosts, Some(shared)))
    }

    /// Counts a frame that is not composited in this memory, and tells the ranks that expect it to
    /// be.
    ///
    /// # Errors
    /// [`CompositeError::Late`], [`CompositeError::Lost`]: others have not read an earlier
    /// announcement.
    pub fn pass(
        &mut self,
        links: &Links<'_>,
        number: u32,
        merging: &Merging<'_>,
    ) -> Result<(), CompositeError> {
        self.allow_for_messages(merging);
        let Terms { width, height, .. } = *merging.terms;
        let head = Head {
            frame: number,
            agreed: merging.agreed,
            place: PictureLocation::default(),
            covered: Covered::whole(width, height),
            background: None,
            positions: 0..0,
        };
        self.own(links)
            .write(Which::Result, number, &head.to_words());
        let nobody = Taken {
            frame: number,
            ..Taken::default()
        };
        let told = self.announce(links, &head, nobody);
        told.inspect_err(|error| self.fail(links, error))?;
        for counter in [Counter::Ready, Counter::Drawn, Counter::Merged] {
            self.own(links).set(counter, number.wrapping_add(1));
        }
        Ok(())
    }

    /// From now on, waits longer for members that may be busy with these messages.
    fn allow_for_messages(&mut self, merging: &Merging<'_>) {
        self.messages_patience = self.messages_patience.max(merging.waits_in_all());
    }

    /// Ends a frame for the members on this host: counts it as finished, or tells why this member
    /// has stopped compositing.
    pub fn end_frame<T>(&self, links: &Links<'_>, number: u32, result: &Result<T, CompositeError>) {
        self.frame_ended.set(Instant::now());
        match result {
            Ok(_) => {
                let next = number.wrapping_add(1);
                self.own(links).set(Counter::Finished, next);
            }
            Err(error) if error.is_of_call() => {}
            Err(error) => self.fail(links, error),
        }
    }

    /// Tells the members in [`Shared::wait_until_used`] that this member, the receiver, has used
    /// the merged pictures of all frames before `next`.
    pub fn used(&self, links: &Links<'_>, next: u32) {
        self.own(links).set(Counter::Used, next);
    }

    /// On a crowded host, sleeps until the receiver has used the merged pictures of all frames
    /// before `next`. Sleeps for at most one second or four times as long as this member has drawn,
    /// whichever is longer. If the receiver is late or has failed, the next frame reports it.
    pub fn wait_until_used(&self, links: &Links<'_>, to: usize, next: u32) {
        let Some(receiver) = self.members[to].as_ref().filter(|_| self.is_crowded) else {
            return;
        };
        let start = Instant::now();
        let most = SLEEP_MIN.max(self.has_drawn_for * SLEEP_FACTOR);
        let control = &receiver.control;
        while !control.has(Counter::Used, next)
            && control.ended() == 0
            && links.is_open(to)
            && start.elapsed() < most
        {
            // This member looks from time to time, and is not woken: if the receiver woke it, it
            // would run in the receiver's place before the receiver can return to its program.
            std::thread::sleep(LOOK_INTERVAL);
        }
        self.frame_ended.set(Instant::now());
    }

    /// Announces where this member's picture is, once all ranks have read the last announcement in
    /// the same place. A member that shows nothing in a frame does not wait. Announcements of
    /// merged pixels need no wait, because the member that keeps them has waited for those that
    /// write them.
    fn announce(
        &mut self,
        links: &Links<'_>,
        head: &Head,
        told: Taken,
    ) -> Result<(), CompositeError> {
        let frame = head.frame;
        let at = frame as usize % FRAMES;
        let before = std::mem::replace(&mut self.told[at], told);
        self.wait_for(links, &before)?;
        self.own(links)
            .write(Which::Picture, frame, &head.to_words());
        Ok(())
    }

    /// Waits until others have read this member's pictures, and then tells them that it stops
    /// compositing.
    pub fn leave(&mut self, links: &Links<'_>) {
        if self.own(links).ended() == 0 {
            let _ = self.wait_for_readers(links);
            self.own(links).end(Ended::Left.code());
        }
    }

    fn own(&self, links: &Links<'_>) -> &Control {
        &self.peer(links.rank).control
    }

    /// A member on this host.
    fn peer(&self, rank: usize) -> &Peer {
        self.members[rank].as_ref().expect("it is on this host")
    }

    fn peer_mut(&mut self, rank: usize) -> &mut Peer {
        self.members[rank].as_mut().expect("it is on this host")
    }

    /// Memory for this member's next picture.
    pub fn draw(
        &mut self,
        links: &Links<'_>,
        terms: &Terms,
    ) -> Result<LayerMut<'_>, CompositeError> {
        let found = self.find_place(links, terms);
        found.inspect_err(|error| self.fail(links, error))?;
        self.place_mut(terms)
    }

    /// The place for the next picture.
    fn place_mut(&mut self, terms: &Terms) -> Result<LayerMut<'_>, CompositeError> {
        let pictures = self.pictures.as_mut().ok_or(CompositeError::NotDrawn)?;
        let (place, pixels) = (pictures.own.place(pictures.next), 0..terms.pixels());
        // SAFETY: no other member accesses the place: all that read an earlier picture there have
        // counted its frame, and none reads the next one before this member has counted that.
        let picture = unsafe {
            let stored = Stored::drawn(terms.format);
            layer_mut(pictures.own.mapping(), place, stored, &pixels)
        };
        picture.ok_or(CompositeError::NotDrawn)
    }

    /// Makes a place for the next picture if there is none, and waits until it is free.
    fn find_place(&mut self, links: &Links<'_>, terms: &Terms) -> Result<(), CompositeError> {
        let sizes = sizes(terms.pixels(), Stored::drawn(terms.format));
        let has_room = |pictures: &Pictures| pictures.own.has_room_for(sizes);
        if !self.pictures.as_ref().is_some_and(has_room) {
            // The memory stays until the others have read it.
            self.wait_for_readers(links)?;
            let is_large = sizes[0] + sizes[1] > LARGE;
            let count = if is_large { 2 } else { PLACES };
            self.pictures = Some(Pictures {
                own: self.create(links, count, sizes)?,
                places: vec![Taken::default(); count],
                next: 0,
                is_free: true,
            });
        }
        let taken = match &self.pictures {
            Some(pictures) if !pictures.is_free => pictures.places[pictures.next].clone(),
            _ => return Ok(()),
        };
        self.wait_for(links, &taken)?;
        if let Some(pictures) = &mut self.pictures {
            pictures.is_free = true;
        }
        Ok(())
    }

    fn create(
        &mut self,
        links: &Links<'_>,
        count: usize,
        sizes: [usize; 2],
    ) -> Result<OwnMemory, CompositeError> {
        self.memories += 1;
        let nonce = self.peer(links.rank).invitation.nonce;
        OwnMemory::create(count, sizes, self.memories, nonce).map_err(CompositeError::Memory)
    }

    /// Waits until no other member has to read a picture of this one.
    fn wait_for_readers(&mut self, links: &Links<'_>) -> Result<(), CompositeError> {
        let places = self.pictures.iter().flat_map(|pictures| &pictures.places);
        let places: Vec<Taken> = places.cloned().collect();
        places
            .iter()
            .try_for_each(|taken| self.wait_for(links, taken))
    }

    /// Waits until the others have read what is there, and checks that the receiver has assumed the
    /// same terms.
    fn wait_for(&mut self, links: &Links<'_>, taken: &Taken) -> Result<(), CompositeError> {
        let next = taken.frame.wrapping_add(1);
        for rank in &taken.readers {
            self.wait_until_finished(links, *rank, taken.frame)?;
            self.wait(links, *rank, Counter::Merged, next, 2)?;
        }
        match taken.terms {
            Some((to, agreed)) if to != links.rank => self.check_receiver(to, taken.frame, agreed),
            _ => Ok(()),
        }
    }

    /// Waits until a member has finished all frames before this one. A member that waits for
    /// another host is not late itself, so this allows for the time that messages take: the members
    /// that wait for messages give up first, and name the rank that is late.
    fn wait_until_finished(
        &mut self,
        links: &Links<'_>,
        rank: usize,
        frame: u32,
    ) -> Result<(), CompositeError> {
        match self.messages_patience {
            0 => Ok(()),
            times => self.wait(links, rank, Counter::Finished, frame, 1 + times),
        }
    }

    /// Waits until a member's counter has reached `target`, for at most `times` the group's
    /// patience.
    fn wait(
        &mut self,
        links: &Links<'_>,
        rank: usize,
        counter: Counter,
        target: u32,
        times: u32,
    ) -> Result<(), CompositeError> {
        let peer = self.members[rank].as_ref();
        let control = &peer.expect("it is on this host").control;
        let is_there = || control.has(counter, target);
        if self.spinner.spin(|| is_there() || control.ended() != 0) && is_there() {
            return Ok(());
        }
        // The members that wait for a picture are the first to report that it does not come.
        let waited = links.patience.saturating_mul(times);
        let deadline = Instant::now().checked_add(waited);
        loop {
            // A member may have counted before it ended or its link was closed, so the counter is
            // read last.
            let (ended, is_open) = (control.ended(), links.is_open(rank));
            if is_there() {
                return Ok(());
            }
            if ended != 0 {
                return Err(Ended::from_code(ended).error(rank, links));
            }
            if !is_open {
                return Err(Ended::Left.error(rank, links));
            }
            // This rank may be waiting for one on another host that others have given up already.
            links.check(target.wrapping_sub(1))?;
            let left = deadline.map(|end| end.saturating_duration_since(Instant::now()));
            let left = left.unwrap_or(PULSE).min(PULSE);
            if left.is_zero() {
                return Err(CompositeError::Late { rank, waited });
            }
            self.spinner.sleeping();
            control.sleep(counter, target, left);
            self.spinner.woke();
        }
    }

    /// Tells the others that this member stops compositing, and which rank is the cause.
    pub fn fail(&self, links: &Links<'_>, error: &CompositeError) {
        self.own(links)
            .end(Ended::because(error, links.rank).code());
    }
}

/// For each rank, the lowest rank on its host, from the messages of all: an invitation, and the
/// name of a host. A rank that sends no invitation shares no memory.
fn hosts(said: &[(usize, Vec<u8>)]) -> Vec<usize> {
    let host = |rank: usize| said[rank].1.get(Invitation::BYTES..);
    let first = |rank: usize| {
        let first = host(rank).and_then(|mine| (0..rank).find(|other| host(*other) == Some(mine)));
        first.unwrap_or(rank)
    };
    (0..said.len()).map(first).collect()
}

impl Peer {
    fn new(control: Control, invitation: Invitation) -> Peer {
        Peer {
            control,
            invitation,
            memory: Seen::default(),
            result: Seen::default(),
            early: Seen::default(),
        }
    }

    /// The memory of pictures, results or early merges.
    fn seen(&self, which: Which) -> &Seen {
        match which {
            Which::Picture => &self.memory,
            Which::Result => &self.result,
            Which::Early => &self.early,
        }
    }

    /// Maps this memory, unless that has been done.
    fn map(&mut self, which: Which, place: PictureLocation) -> io::Result<()> {
        let seen = match which {
            Which::Picture => &mut self.memory,
            Which::Result => &mut self.result,
            Which::Early => &mut self.early,
        };
        seen.map(place, self.invitation.pid, self.invitation.nonce)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::group::agreed::{tests::terms, Agreed};
    use crate::{Group, PictureRef, Rectangle};
    use mgn_fabric::job::Job;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::Barrier;
    use std::thread;

    /// Runs `each` as every rank of a job, with a group of all ranks.
    pub fn in_groups(name: &str, size: usize, each: impl Fn(&mut Group<'_>) + Sync) {
        let name = &format!("composite-{name}-{}", std::process::id());
        let rank = &|rank: usize| {
            let hosts = vec!["localhost".to_owned(); size];
            let job = Job::new(name, rank as u32, hosts).unwrap();
            let member = job.join().unwrap();
            let mut group = Group::new(&member, 1, Duration::from_secs(60)).unwrap();
            each(&mut group);
            drop(group);
            // The receiver may end before a member that comes too late to merge.
            member.leave();
        };
        thread::scope(|scope| {
            for number in 0..size {
                scope.spawn(move || rank(number));
            }
        });
    }

    /// With more members than processors, only those that draw last merge, and they merge what the
    /// others would have. Some frames are drawn fast, so that all merge.
    #[test]
    fn members_that_draw_last_merge_for_all() {
        const SIZE: usize = 5;
        const FRAMES: usize = 60;
        in_groups("crowded", SIZE, |group| {
            let shared = group.shared.as_mut().unwrap();
            (shared.is_crowded, shared.small) = (true, 0);
            let rank = group.rank();
            for frame in 0..FRAMES {
                let mut terms = terms();
                // One of the receivers has no picture.
                let to = [0, 3, 4][frame / 20];
                (terms.to, terms.order) = (Some(to), Some((0..SIZE - 1).collect()));
                if rank < SIZE - 1 {
                    let shared = group.shared.as_ref().unwrap();
                    let merging = shared.merge_seconds(&terms, &[0, 1, 2, 3]);
                    if frame % 3 > 0 {
                        let late = 2.0 + ((frame + rank) % 4) as f64 / 4.0;
                        thread::sleep(Duration::from_secs_f64(merging * late));
                    }
                    let depth = |rank: usize, at: usize| ((at / 640 + frame + rank) % 4) as f32;
                    let room = group.draw(&terms).unwrap();
                    room.color.fill(rank as u8 + 1);
                    for (at, pixel) in room.depth.chunks_exact_mut(4).enumerate() {
                        pixel.copy_from_slice(&depth(rank, at).to_ne_bytes());
                    }
                }
                let (_, picture) = match rank < SIZE - 1 {
                    true => group.composite_drawn(&terms, None).unwrap(),
                    false => group.composite(PictureRef::default(), &terms).unwrap(),
                };
                if rank == to {
                    // Of four depths from 0 to 3, the rank with 0 is seen.
                    let seen = |at: usize| (4 - (at / 640 + frame) % 4) % 4 + 1;
                    let mut pixels = picture.color.chunks_exact(4).enumerate();
                    assert!(pixels.all(|(at, pixel)| usize::from(pixel[0]) == seen(at)));
                }
            }
        });
    }

    /// A picture that was drawn in place is announced without its background, so that the others
    /// do not read it there, also if the program states no rectangle.
    #[test]
    fn the_background_of_drawn_pictures_is_left_out() {
        in_groups("drawn", 2, |group| {
            let terms = terms();
            let shown = 3 * terms.width + 5 + 100 * group.rank();
            let drawn = group.draw(&terms).unwrap();
            drawn.color.fill(9);
            drawn.depth.fill(0x7f);
            drawn.color[4 * shown..][..8].fill(1);
            drawn.depth[4 * shown..][..8].fill(0);
            let (pixels, picture) = group.composite_drawn(&terms, None).unwrap();
            let seen = pixels.zip(picture.color.chunks_exact(4));
            for (at, pixel) in seen {
                let is_shown = [5, 6, 105, 106].contains(&at.wrapping_sub(3 * terms.width));
                assert_eq!(pixel, [if is_shown { 1 } else { 9 }; 4], "{at}");
            }
            let shared = group.shared.as_mut().unwrap();
            let head = Head::from_words(shared.own(&group.links).read(Which::Picture, 0));
            let column = shown % terms.width;
            let rectangle = Rectangle {
                columns: column..column + 2,
                rows: 3..4,
            };
            assert_eq!(head.covered.rectangle, rectangle);
        });
    }

    /// Members that show nothing need no memory for pictures, whether they have drawn or pass a
    /// picture. They learn that a receiver has other terms as all others do.
    #[test]
    fn a_picture_that_shows_nothing_needs_no_memory() {
        let told = AtomicUsize::new(0);
        in_groups("nothing", 3, |group| {
            let rank = group.rank();
            for frame in 0..20 {
                let mut terms = terms();
                terms.schedule = (frame % 2 == 0).then_some(Schedule::DirectSend);
                let nothing = Rectangle::empty();
                let far = f32::INFINITY.to_ne_bytes().repeat(terms.pixels());
                let clear = vec![0; far.len()];
                let passed = PictureRef {
                    color: &clear,
                    depth: &far,
                };
                let merged = match rank {
                    1 => {
                        let place = group.draw(&terms).unwrap();
                        place.color.fill(7);
                        place.depth.fill(0);
                        group.composite_drawn(&terms, None)
                    }
                    2 if frame % 4 < 2 => group.composite(passed, &terms),
                    _ => group.composite_drawn(&terms, Some(nothing)),
                };
                let (pixels, picture) = merged.unwrap();
                assert_eq!(pixels.is_empty(), rank > 0);
                assert!(picture.color.iter().all(|byte| *byte == 7));
                let has_memory = group.shared.as_ref().unwrap().pictures.is_some();
                assert_eq!(has_memory, rank == 1, "rank {rank}, frame {frame}");
            }
            let mut terms = terms();
            if rank == 0 {
                // It does not read the others' pictures.
                terms.order = Some(vec![0]);
                group
                    .composite_drawn(&terms, Some(Rectangle::empty()))
                    .unwrap();
                while told.load(Ordering::Acquire) < 2 {
                    thread::sleep(Duration::from_millis(5));
                }
                return;
            }
            let mut composite = || {
                let ended = group.composite_drawn(&terms, Some(Rectangle::empty()));
                ended.map(drop)
            };
            let ended = (0..2 * FRAMES).try_for_each(|_| composite());
            told.fetch_add(1, Ordering::AcqRel);
            let is_right = matches!(ended, Err(CompositeError::Different { rank: 0, .. }));
            assert!(is_right, "rank {rank}: {ended:?}");
        });
    }

    /// The duration of merging follows from what the pictures cover, not from their size.
    #[test]
    fn sparse_pictures_are_expected_to_merge_soon() {
        const SIZE: usize = 4;
        let order = [0, 1, 2, 3];
        let all = Barrier::new(SIZE);
        in_groups("sparse", SIZE, |group| {
            group.shared.as_mut().unwrap().is_crowded = true;
            let terms = terms();
            let seconds = |pictures: f64| pictures * (terms.pixels() * 8) as f64 / MERGED_A_SECOND;
            let mut results = Vec::new();
            for (rows, pictures) in [(60, 1.0), (240, 2.0), (480, 4.0)] {
                let place = group.draw(&terms).unwrap();
                place.color.fill(1);
                place.depth.fill(0);
                let covered = Rectangle {
                    columns: 0..terms.width,
                    rows: 0..rows,
                };
                let merged = group.composite_drawn(&terms, Some(covered)).map(drop);
                merged.unwrap();
                // All have drawn, and none has announced its next picture.
                all.wait();
                let shared = group.shared.as_mut().unwrap();
                let found = shared.merge_seconds(&terms, &order);
                let helpers = [1.1, 0.9].map(|share| {
                    let drawn = 2.0 * share * seconds(pictures);
                    shared.has_drawn_for = Duration::from_secs_f64(drawn);
                    shared.helpers(&terms, &order)
                });
                all.wait();
                results.push((rows, found / seconds(pictures), helpers));
            }
            // Here, because the other members wait for one that panics in the loop.
            for (rows, ratio, helpers) in results {
                assert!((ratio - 1.0).abs() < 0.01, "{rows}: {ratio}");
                assert_eq!(helpers, [mgn_sys::cpu::cores() - 1, usize::MAX], "{rows}");
            }
        });
    }

    /// On a crowded host, the others return when the receiver has used the picture, however long
    /// that takes. They also return if the receiver ends without telling them.
    #[test]
    fn members_sleep_until_the_picture_is_used() {
        let used = AtomicUsize::new(0);
        in_groups("used", 4, |group| {
            group.shared.as_mut().unwrap().is_crowded = true;
            let terms = terms();
            let to = terms.to.unwrap();
            for frame in 1..=10 {
                group.draw(&terms).unwrap().color.fill(1);
                group.composite_drawn(&terms, None).unwrap();
                if group.rank() != to {
                    group.wait_until_used(to);
                    assert!(used.load(Ordering::Acquire) >= frame);
                    continue;
                }
                thread::sleep(Duration::from_millis(5));
                used.store(frame, Ordering::Release);
                if frame < 10 {
                    group.used();
                }
            }
        });
    }

    /// The others are about to write to the receiver's memory when it ends or stops.
    #[test]
    fn a_receiver_may_end_or_stop_when_its_memory_is_ready() {
        for ends in [true, false] {
            let name = format!("composite-ready-{}-{ends}", std::process::id());
            let done = AtomicUsize::new(0);
            let (name, done) = (&name, &done);
            let terms = Terms {
                schedule: Some(Schedule::DirectSend),
                ..terms()
            };
            let rank = |rank: u32| -> Option<CompositeError> {
                let job = Job::new(name, rank, vec!["localhost".to_owned(); 3]).unwrap();
                let member = job.join().unwrap();
                let patience = Duration::from_millis(if ends { 60_000 } else { 1500 });
                let mut group = Group::new(&member, 1, patience).unwrap();
                if rank > 0 {
                    let place = group.draw(&terms).unwrap();
                    place.color.fill(1);
                    let error = group.composite_drawn(&terms, None).map(drop).err();
                    done.fetch_add(1, Ordering::AcqRel);
                    return error;
                }
                let (links, shared) = (&group.links, group.shared.as_mut().unwrap());
                let sizes = sizes(terms.pixels(), Stored::drawn(terms.format));
                let result = shared.create(links, 1, sizes).unwrap();
                let head = Head {
                    frame: 0,
                    agreed: Agreed::new(&terms, Mode::Stripes, &[0, 1, 2]),
                    place: result.place(0),
                    covered: Covered::whole(terms.width, terms.height),
                    background: None,
                    positions: 0..0,
                };
                shared.own(links).write(Which::Result, 0, &head.to_words());
                shared.result = Some(result);
                shared.own(links).set(Counter::Ready, 1);
                if ends {
                    member.endpoint().stop();
                }
                while done.load(Ordering::Acquire) < 2 {
                    thread::sleep(Duration::from_millis(5));
                }
                None
            };
            let rank = &rank;
            let errors = thread::scope(|scope| {
                let ranks = [0, 1, 2].map(|number| scope.spawn(move || rank(number)));
                ranks.map(|rank| rank.join().unwrap())
            });
            for error in &errors[1..] {
                let is_right = match error {
                    Some(CompositeError::Lost { rank: 0, .. }) => ends,
                    Some(CompositeError::Late { rank: 0, .. }) => !ends,
                    _ => false,
                };
                assert!(is_right, "ends: {ends}: {error:?}");
            }
        }
    }
}
