//! Composites the pictures of several programs into one at each swap (sort-last).
//!
//! The programs are the ranks of a job, and composite in the order of their swaps: the n-th
//! pictures of all ranks become the n-th picture of rank 0, which shows it. Before each picture,
//! the other ranks send rank 0 its properties, so that pictures of different sizes are an error and
//! never mixed. A rank that leaves tells the others why.

use crate::link::job;
use crate::link::surface::{Kind, Surface};
use crate::options;
use mgn_composite::{
    Color, CompositeError, Depth, Format, Group, Operation, PictureRef, Recipe, Terms, TOLD, UNTOLD,
};
use mgn_fabric::endpoint::{LinkId, SendOptions, Wanted};
use mgn_fabric::job::Member;
use mgn_present::Rows;
use mgn_wire::frames::{want, Header};
use std::fmt::Display;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The suffix of the name of this job.
const OF_PICTURES: &str = ".pictures";
const PORTS_APART: u16 = 1024;

/// The upper byte of the tags of our messages, which differ from those of the group.
const TAG: u64 = 0x48 << 56;
/// Announces the picture that a rank composites next.
const HEAD: u64 = TAG | 1;
/// A rank leaves.
const FAREWELL: u64 = TAG | 2;

/// How long to wait for a farewell that explains what has happened.
const FAREWELL_TIMEOUT: Duration = Duration::from_millis(500);
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// This program as a rank that composites.
pub struct Composite {
    member: Member,
    recipe: Recipe,
    patience: Duration,
    /// Whether the launcher reports lost ranks, so that the other ranks need not.
    is_supervised: bool,
    /// The links to the other ranks, once there are any.
    links: Mutex<Vec<(usize, LinkId)>>,
    has_left: AtomicBool,
    compositing: Mutex<Compositing>,
}

impl Composite {
    /// Joins the job that the environment names.
    ///
    /// # Errors
    /// One sentence.
    pub fn join(options: &options::Composite) -> Result<&'static Composite, String> {
        let joined = job::join(OF_PICTURES, PORTS_APART);
        let member = joined.map_err(|error| format!("no pictures can be composited: {error}"))?;
        let recipe = options.recipe.clone();
        let checked = recipe.check(member.size() as usize);
        checked.map_err(|error| format!("--composite {recipe}: {error}"))?;
        Ok(Box::leak(Box::new(Composite {
            member,
            recipe,
            patience: options.patience,
            is_supervised: std::env::var_os("MGN_SUPERVISED").is_some(),
            links: Mutex::default(),
            has_left: AtomicBool::new(false),
            compositing: Mutex::default(),
        })))
    }

    /// How long the programs wait for each other.
    pub fn patience(&self) -> Duration {
        self.patience
    }

    /// The purposes for which pictures of `surface` are wanted, in bits of [`want`].
    pub fn wants(&self, surface: &Surface) -> u32 {
        let is_composited = match &surface.kind {
            Kind::Window { window, .. } => !window.is_gone(),
            Kind::Pbuffer => true,
            Kind::Pixmap { .. } => false,
        };
        match (is_composited, self.recipe.needs_depth()) {
            (false, _) => 0,
            (true, false) => want::COMPOSITE,
            (true, true) => want::COMPOSITE | want::DEPTH,
        }
    }

    /// Tells the others why no more pictures will come from this rank, and whether the user has
    /// been told. If not, the launcher may know a better reason.
    pub fn fail(&self, why: &str, is_told: bool) {
        let kind = if is_told { 1 } else { 2 };
        self.say_farewell(&[&[kind], why.as_bytes()].concat());
    }

    /// Tells the others that no more pictures come from this rank, and leaves the job.
    pub fn leave(&self) {
        // Others may still read the last picture, and dropping the group waits for them. If a
        // thread composites now, the group stays: that thread gets an error when the links close.
        if let Ok(mut compositing) = self.compositing.try_lock() {
            compositing.is_over = true;
            compositing.group = None;
        }
        self.say_farewell(&[0]);
        self.member.leave();
    }

    fn say_farewell(&self, farewell: &[u8]) {
        if self.has_left.swap(true, Ordering::AcqRel) {
            return;
        }
        for (_, link) in self.links() {
            // A rank that has ended needs no farewell.
            let _ = self
                .member
                .endpoint()
                .send(link, FAREWELL, farewell, SendOptions::default());
        }
        self.member.endpoint().flush(Some(FAREWELL_TIMEOUT));
    }

    pub fn compositing(&self) -> MutexGuard<'_, Compositing> {
        let compositing = self.compositing.lock();
        compositing.unwrap_or_else(PoisonError::into_inner)
    }

    fn links(&self) -> Vec<(usize, LinkId)> {
        let links = self.links.lock();
        links.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// A farewell of any rank, if one comes within `time`. Each farewell is returned only once.
    fn farewell(&self, time: Duration) -> Option<Farewell> {
        let deadline = Instant::now() + time;
        loop {
            for (rank, link) in self.links() {
                let wanted = Wanted::new(link, FAREWELL);
                let taken = self.member.endpoint().take(&wanted, Some(Duration::ZERO));
                if let Ok(Some(message)) = taken {
                    let bytes = message.to_vec();
                    let text = bytes.get(1..).unwrap_or_default();
                    let why = String::from_utf8_lossy(text).into_owned();
                    let why = matches!(bytes.first(), Some(1 | 2)).then_some(why);
                    let is_told = bytes.first() != Some(&2);
                    return Some(Farewell { rank, why, is_told });
                }
            }
            if Instant::now() >= deadline {
                return None;
            }
            std::thread::sleep(POLL_INTERVAL);
        }
    }
}

struct Farewell {
    rank: usize,
    /// None if the program has ended.
    why: Option<String>,
    /// Whether the user has been told the reason.
    is_told: bool,
}

/// A picture of this program.
pub struct Layer<'p> {
    pub header: &'p Header,
    pub rows: &'p dyn Rows,
    pub surface: &'p Surface,
}

/// The outcome of a frame.
pub enum Outcome<'c> {
    /// The picture is to be shown here.
    Here(PictureRef<'c>),
    Elsewhere,
    /// Rank 0 has ended, and with it the job.
    Over,
    /// The message for the user, unless another rank prints it, and the program's exit status.
    Failed(Option<String>, u8),
}

/// The group and its state.
#[derive(Default)]
pub struct Compositing {
    group: Option<Group<'static>>,
    frames: u32,
    /// No more pictures come from this rank.
    is_over: bool,
}

/// Why there is no picture.
enum Failure {
    Group(CompositeError),
    Late(usize),
    Lost(usize, mgn_fabric::Error),
    /// This rank has found the error, so it tells the others.
    Own(String),
}

impl From<CompositeError> for Failure {
    fn from(error: CompositeError) -> Failure {
        match error {
            CompositeError::Late { rank, .. } | CompositeError::Stuck { rank, .. } => {
                Failure::Late(rank)
            }
            CompositeError::Unreachable {
                rank,
                source: mgn_fabric::Error::TimedOut(_),
            } => Failure::Late(rank),
            CompositeError::Lost { rank, source } => Failure::Lost(rank, source),
            other => Failure::Group(other),
        }
    }
}

impl Compositing {
    /// Composites this program's next picture with those of the others. Waits for them.
    pub fn composite(&mut self, of: &'static Composite, layer: &Layer<'_>) -> Outcome<'_> {
        if self.is_over {
            return Outcome::Elsewhere;
        }
        let frames = self.frames;
        // Reset when the picture has been composited.
        self.is_over = true;
        let (group, is_over) = (&mut self.group, &mut self.is_over);
        match try_to(of, group, &mut self.frames, layer) {
            Ok(merged) => {
                *is_over = false;
                merged.map_or(Outcome::Elsewhere, Outcome::Here)
            }
            Err(failure) => explain(of, frames, failure),
        }
    }
}

fn try_to<'g>(
    of: &'static Composite,
    group: &'g mut Option<Group<'static>>,
    frames: &mut u32,
    layer: &Layer<'_>,
) -> Result<Option<PictureRef<'g>>, Failure> {
    let group = match group {
        Some(group) => group,
        None => group.insert(of.meet()?),
    };
    let terms = of.terms(layer)?;
    let head = Head::of(*frames, layer);
    match of.member.rank() {
        0 => of.check_heads(&head)?,
        _ => of.send_head(&head)?,
    }
    // Copied to memory that the server does not write to, and that the others read.
    let drawn = group.draw(&terms)?;
    layer.copy(0, drawn.color);
    if of.recipe.needs_depth() {
        layer.copy(1, drawn.depth);
    }
    let (_, merged) = group.composite_drawn(&terms, None)?;
    *frames = frames.wrapping_add(1);
    Ok((of.member.rank() == 0).then_some(merged))
}

impl Layer<'_> {
    /// Copies the colours (plane 0) or the depths (plane 1).
    fn copy(&self, plane: usize, into: &mut [u8]) {
        let row = self.header.width as usize * 4;
        let stride = self.header.stride as usize;
        let first = plane * stride * self.header.height as usize;
        if stride == row {
            return self.rows.read(first, into);
        }
        for (y, into) in into.chunks_exact_mut(row.max(1)).enumerate() {
            self.rows.read(first + y * stride, into);
        }
    }
}

impl Composite {
    /// Waits until all other ranks have joined.
    fn meet(&'static self) -> Result<Group<'static>, Failure> {
        let group = Group::new(&self.member, 0, self.patience)?;
        let own = self.member.rank();
        let others = (0..self.member.size()).filter(|other| *other != own);
        let open = |other: u32| {
            let lost = |error| Failure::Lost(other as usize, error);
            let link = self.member.open(other, self.patience).map_err(lost)?;
            Ok((other as usize, link))
        };
        let links = others.map(open).collect::<Result<_, Failure>>()?;
        *self.links.lock().unwrap_or_else(PoisonError::into_inner) = links;
        Ok(group)
    }

    /// The terms that all ranks must agree on, if such pictures can be composited.
    fn terms(&self, layer: &Layer<'_>) -> Result<Terms, Failure> {
        let Layer {
            header, surface, ..
        } = layer;
        let recipe = &self.recipe;
        let own = |why: String| Err(Failure::Own(why));
        let what = match surface.is_window() {
            true => "window",
            false => "pbuffer",
        };
        if recipe.needs_depth() && !header.has_depth {
            return own(match surface.format.samples {
                0 => format!("its {what} has no depth buffer, which --composite {recipe} needs"),
                _ => format!("its {what} is multisampled, and has several depths for each pixel: turn multisampling off for --composite {recipe}"),
            });
        }
        if recipe.operation == Operation::Over && surface.format.alpha == 0 {
            return own(format!("its {what} has no alpha, which --composite {recipe} needs: the program must request it, for example with GLX_ALPHA_SIZE"));
        }
        Ok(Terms {
            width: header.width as usize,
            height: header.height as usize,
            origin: [0, 0],
            format: Format {
                color: Color::Rgba8,
                depth: recipe.needs_depth().then_some(Depth::Unorm),
            },
            operation: recipe.operation,
            schedule: recipe.schedule,
            order: recipe.order.clone(),
            to: Some(0),
        })
    }

    /// Sends rank 0 the properties of this rank's picture.
    fn send_head(&self, head: &Head) -> Result<(), Failure> {
        for (_, link) in self.links().iter().filter(|(rank, _)| *rank == 0) {
            let endpoint = self.member.endpoint();
            let sent = endpoint.send(*link, HEAD, &head.encode(), SendOptions::default());
            sent.map_err(|error| Failure::Lost(0, error))?;
        }
        Ok(())
    }

    /// Receives the properties of the other ranks' pictures, which must be the same as those of
    /// this rank's.
    fn check_heads(&self, own: &Head) -> Result<(), Failure> {
        let deadline = Instant::now() + self.patience;
        for (rank, link) in self.links() {
            let left = deadline.saturating_duration_since(Instant::now());
            let wanted = Wanted::new(link, HEAD);
            let taken = self.member.endpoint().take(&wanted, Some(left));
            let taken = taken.map_err(|error| Failure::Lost(rank, error))?;
            let message = taken.ok_or(Failure::Late(rank))?;
            match Head::decode(&message.to_vec()) {
                Some(head) if head == *own => {}
                Some(head) => return Err(Failure::Own(own.differs(rank, &head))),
                None => {
                    let why = format!(
                        "rank {rank} sent an invalid message: all ranks must run the same release"
                    );
                    return Err(Failure::Own(why));
                }
            }
        }
        Ok(())
    }
}

/// The properties of a frame that must be the same at all ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Head {
    /// Counted from 0.
    frame: u32,
    /// The part of the window, and the whole window's size.
    part: [u32; 4],
    size: [u32; 2],
}

impl Head {
    fn of(frame: u32, layer: &Layer<'_>) -> Head {
        let header = layer.header;
        let (width, height) = layer.surface.size();
        Head {
            frame,
            part: [header.x, header.y, header.width, header.height],
            size: [width, height],
        }
    }

    fn encode(&self) -> Vec<u8> {
        let [x, y, w, h] = self.part;
        let [width, height] = self.size;
        let words = [self.frame, x, y, w, h, width, height];
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    fn decode(bytes: &[u8]) -> Option<Head> {
        let words: Vec<u32> = bytes
            .chunks_exact(4)
            .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
            .collect();
        let [frame, x, y, w, h, width, height] = words[..] else {
            return None;
        };
        (bytes.len() % 4 == 0).then_some(Head {
            frame,
            part: [x, y, w, h],
            size: [width, height],
        })
    }

    /// How another rank's head differs from this one.
    fn differs(&self, rank: usize, other: &Head) -> String {
        let size = |[w, h]: [u32; 2]| format!("{w} x {h}");
        let part = |[x, y, w, h]: [u32; 4]| format!("{w} x {h} at {x}, {y}");
        match () {
            _ if self.size != other.size => format!(
                "the window of rank {rank} is {} and that of rank 0 {}: all ranks must draw pictures of the same size",
                size(other.size),
                size(self.size)
            ),
            _ if self.part != other.part => format!(
                "rank {rank} shows a part of its window, {}, and rank 0 another, {}: all ranks must swap the same part",
                part(other.part),
                part(self.part)
            ),
            _ => format!(
                "rank {rank} composites its frame {} and rank 0 its frame {}",
                other.frame, self.frame
            ),
        }
    }
}

/// The message for the user and for the other ranks.
fn explain(of: &Composite, frames: u32, failure: Failure) -> Outcome<'static> {
    let rank = of.member.rank();
    let failed = |why: &dyn Display| {
        let why = format!("rank {rank} cannot composite its pictures: {why}");
        // Rank 0 may have found the same error, and reports it for all.
        let is_told = of.is_supervised && rank > 0 && of.farewell(FAREWELL_TIMEOUT).is_some();
        of.fail(&why, true);
        Outcome::Failed((!is_told).then_some(why), TOLD)
    };
    let (who, why) = match failure {
        Failure::Own(why) => return failed(&why),
        Failure::Group(error @ CompositeError::Different { rank, .. }) => {
            (rank, Some(error.to_string()))
        }
        // Between frames, or within one.
        Failure::Lost(who, error)
        | Failure::Group(CompositeError::Lost {
            rank: who,
            source: error,
        }) => (
            who,
            Some(format!(
                "rank {who} was lost after {frames} frames: {error}"
            )),
        ),
        Failure::Group(error) => return failed(&error),
        Failure::Late(who) => (who, None),
    };
    // A lost rank may have said why, and a late one may have done so by now.
    let farewell = of.farewell(match why {
        Some(_) => FAREWELL_TIMEOUT,
        None => Duration::ZERO,
    });
    // One rank reports for all that have found the same.
    let speaks = |who: usize| !of.is_supervised || rank == u32::from(who == 0);
    let (why, is_told, status) = match (farewell, why) {
        (
            Some(Farewell {
                rank: 0, why: None, ..
            }),
            _,
        ) => return Outcome::Over,
        (
            Some(Farewell {
                rank: who,
                why: None,
                ..
            }),
            _,
        ) => {
            let why = format!("rank {who} has ended after {frames} frames, and rank {rank} draws more: all ranks must swap equally often");
            (why, speaks(who), TOLD)
        }
        (
            Some(Farewell {
                why: Some(why),
                is_told,
                ..
            }),
            _,
        ) => (why, !of.is_supervised, if is_told { TOLD } else { UNTOLD }),
        (None, Some(why)) => (why, !of.is_supervised, UNTOLD),
        (None, None) => {
            let (frame, waited) = (frames + 1, of.patience);
            let why = format!("rank {who} has drawn no frame {frame} for {waited:?}: all ranks must swap equally often; --composite-timeout allows them more time");
            (why, speaks(who), TOLD)
        }
    };
    of.fail(&why, is_told || status == TOLD);
    Outcome::Failed(is_told.then_some(why), status)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_survive_and_say_how_they_differ() {
        let own = Head {
            frame: 3,
            part: [0, 0, 300, 200],
            size: [300, 200],
        };
        assert_eq!(Head::decode(&own.encode()), Some(own));
        assert_eq!(Head::decode(&own.encode()[..27]), None);
        assert_eq!(Head::decode(&[0; 32]), None);
        let larger = Head {
            size: [400, 200],
            ..own
        };
        assert!(own
            .differs(1, &larger)
            .contains("400 x 200 and that of rank 0 300 x 200"));
        let part = Head {
            part: [0, 0, 30, 20],
            ..own
        };
        assert!(own.differs(2, &part).contains("30 x 20 at 0, 0"));
        let later = Head { frame: 4, ..own };
        assert!(own.differs(2, &later).contains("frame 4"));
    }
}
