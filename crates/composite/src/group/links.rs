//! The links of a group to its other members.

use std::cell::Cell;
use std::time::{Duration, Instant};

use mgn_fabric::endpoint::{Endpoint, LinkId, Request, SendOptions, Wanted};
use mgn_fabric::job;

use super::ended::Ended;
use super::CompositeError;

/// The name of this release. The messages by which members meet begin with it. The format of all
/// later messages, and of shared memory, differs from release to release.
pub const RELEASE: &str = concat!("Manganese ", env!("CARGO_PKG_VERSION"));

/// Bytes of a release's name, at most.
const RELEASE_MAX: usize = 64;

/// How long the peers may take to answer after a composition has failed.
pub(super) const PARTING: Duration = Duration::from_secs(1);

/// How often a waiting member checks whether others have told it that they stopped compositing.
pub(super) const PULSE: Duration = Duration::from_millis(50);

/// The upper byte of the tags of all messages of groups. Below it are the group's number (16 bits),
/// the frame's (24) and the round's (16). A program may use the endpoint for messages of its own,
/// if it never receives with a wildcard tag.
const TAG: u64 = 0x47 << 56;

/// Stands in tags in place of a round, like the next three: the messages by which members meet.
const MEETING: u16 = 0xFFFF;

/// The messages by which a member tells the others that it has stopped compositing.
const FAREWELL: u16 = 0xFFFE;

/// The messages by which costs are measured while a group opens.
pub(super) const MEASURING: u16 = 0xFFFD;

/// The message with these costs.
pub(super) const MEASURED: u16 = 0xFFFC;

#[derive(Debug)]
pub(super) struct Links<'a> {
    pub endpoint: &'a Endpoint,
    /// The link to each rank; none for this one.
    links: Vec<Option<LinkId>>,
    pub rank: usize,
    number: u16,
    /// How long members wait for each other.
    pub patience: Duration,
    /// Of the farewells that have come, the one with the earliest frame.
    farewell: Cell<Option<Farewell>>,
}

#[derive(Clone, Copy, Debug)]
struct Farewell {
    teller: usize,
    /// The first frame that the teller has not composited.
    frame: u32,
    why: Ended,
}

impl<'a> Links<'a> {
    pub fn open(
        job: &'a job::Member,
        number: u16,
        patience: Duration,
    ) -> Result<Links<'a>, CompositeError> {
        let deadline = Instant::now().checked_add(patience);
        let rank = job.rank() as usize;
        let open = |other: u32| match other as usize == rank {
            true => Ok(None),
            false => {
                let opened = job.open(other, left(deadline, patience)).map(Some);
                opened.map_err(|source| CompositeError::Unreachable {
                    rank: other as usize,
                    source,
                })
            }
        };
        Ok(Links {
            endpoint: job.endpoint(),
            links: (0..job.size()).map(open).collect::<Result<_, _>>()?,
            rank,
            number,
            patience,
            farewell: Cell::new(None),
        })
    }

    pub fn size(&self) -> usize {
        self.links.len()
    }

    /// # Panics
    /// If `rank` is this member.
    pub fn to(&self, rank: usize) -> LinkId {
        self.links[rank].expect("a member has no link to itself")
    }

    /// Whether the link to a rank is open, as far as is known.
    pub fn is_open(&self, rank: usize) -> bool {
        self.links[rank].is_none_or(|link| self.endpoint.is_open(link))
    }

    pub fn others(&self) -> impl Iterator<Item = (usize, LinkId)> + '_ {
        let links = self.links.iter().enumerate();
        links.filter_map(|(rank, link)| Some((rank, (*link)?)))
    }

    pub fn tag(&self, frame: u32, round: usize) -> u64 {
        let frame = u64::from(frame & 0x00FF_FFFF);
        TAG | u64::from(self.number) << 40 | frame << 16 | round as u64
    }

    /// Sends the same words to every other member, and returns the words that each has sent. All
    /// members must call this.
    ///
    /// # Errors
    /// [`CompositeError::Release`], [`CompositeError::Late`], [`CompositeError::Lost`].
    pub fn meet(&self, words: &[u8]) -> Result<Vec<(usize, Vec<u8>)>, CompositeError> {
        let deadline = Instant::now().checked_add(self.patience);
        let tag = self.tag(0, MEETING.into());
        let words = [RELEASE.as_bytes(), &[0], words].concat();
        for (rank, link) in self.others() {
            let sent = self
                .endpoint
                .send(link, tag, &words, SendOptions::default());
            sent.map_err(|source| CompositeError::Lost { rank, source })?;
        }
        let from = |(rank, link)| {
            let left = left(deadline, self.patience);
            let met = self.endpoint.take(&Wanted::new(link, tag), Some(left));
            let met = met.map_err(|source| CompositeError::Lost { rank, source })?;
            let waited = self.patience;
            let message = met.ok_or(CompositeError::Late { rank, waited })?;
            let (theirs, words) = release(message.to_vec());
            match theirs.as_deref() {
                Some(RELEASE) => Ok((rank, words)),
                theirs => Err(CompositeError::Release {
                    rank,
                    theirs: theirs.unwrap_or("another release").to_owned(),
                }),
            }
        };
        self.others().map(from).collect()
    }

    /// Returns why members could not meet. If a member was lost, but another one has told why it
    /// gave up, this is what it has told. Otherwise it is `error`, and this member tells the
    /// others.
    pub fn explain(&self, error: CompositeError) -> CompositeError {
        match (&error, self.check(0)) {
            (CompositeError::Lost { .. }, Err(said)) => return said,
            _ => self.fail(0, &error),
        }
        error
    }

    /// Receives the messages in which others have told why they stopped compositing.
    pub fn listen(&self) {
        let wanted = Wanted {
            from: None,
            ..Wanted::new(self.endpoint.own(), self.tag(0, FAREWELL.into()))
        };
        while let Ok(Some(message)) = self.endpoint.take(&wanted, Some(Duration::ZERO)) {
            let mut others = self.others();
            let teller = others.find(|(_, link)| *link == message.status.link);
            let words = <[u8; 8]>::try_from(message.to_vec()).map(u64::from_le_bytes);
            let (Some((teller, _)), Ok(words)) = (teller, words) else {
                continue;
            };
            let frame = words as u32;
            let before = self.farewell.get();
            // The member that has stopped at the earliest frame is missed first.
            if before.is_none_or(|before| (frame.wrapping_sub(before.frame) as i32) < 0) {
                self.farewell.set(Some(Farewell {
                    teller,
                    frame,
                    why: Ended::from_code((words >> 32) as u32),
                }));
            }
        }
    }

    /// Whether this frame can still be composited, as far as others have told.
    ///
    /// # Errors
    /// The one that another member has told.
    pub fn check(&self, frame: u32) -> Result<(), CompositeError> {
        self.listen();
        match self.farewell.get() {
            // The teller has sent all that others need for earlier frames.
            Some(said) if frame.wrapping_sub(said.frame) as i32 >= 0 => {
                Err(said.why.error(said.teller, self))
            }
            _ => Ok(()),
        }
    }

    /// Tells the other members that this one has stopped compositing, and which rank caused it.
    /// Does nothing if another member has already told this one that it has stopped.
    pub fn fail(&self, frame: u32, error: &CompositeError) {
        if self.check(frame).is_err() {
            return;
        }
        let why = Ended::because(error, self.rank).code();
        let words = (u64::from(frame) | u64::from(why) << 32).to_le_bytes();
        let memory = [(words.as_ptr().cast_mut(), words.len())];
        let tag = self.tag(0, FAREWELL.into());
        let mut sent = Vec::new();
        for (rank, link) in self.others() {
            // SAFETY: the words stay until the request has ended. It ends below, at the latest when
            // its link is closed.
            let request = unsafe {
                self.endpoint
                    .isend(link, tag, &memory, SendOptions::default())
            };
            // A member that has ended needs no farewell.
            sent.extend(request.ok().flatten().map(|request| (rank, request)));
        }
        let deadline = Instant::now() + PARTING;
        sent.retain(|(_, request)| {
            let left = deadline.saturating_duration_since(Instant::now());
            matches!(self.endpoint.wait(*request, Some(left)), Ok(None))
        });
        self.give_up(sent);
    }

    /// Ends the transfers to and from these ranks. Afterwards, no transfer reads or writes its
    /// memory.
    pub fn give_up(&self, open: Vec<(usize, Request)>) {
        for (_, request) in &open {
            let _ = self.endpoint.cancel(*request);
        }
        let deadline = Instant::now() + PARTING;
        for (rank, request) in open {
            let left = deadline.saturating_duration_since(Instant::now());
            if let Ok(None) = self.endpoint.wait(request, Some(left)) {
                self.endpoint.close(self.to(rank));
                let _ = self.endpoint.wait(request, None);
            }
        }
    }
}

/// The name of its release that a process has sent, if it can be shown to users.
pub fn release_name(text: &str) -> Option<&str> {
    let is_name = text.starts_with("Manganese ") && !text.contains(char::is_control);
    is_name.then_some(text)
}

/// The name of a release with which a message begins, if it does, and what follows.
fn release(message: Vec<u8>) -> (Option<String>, Vec<u8>) {
    let end = message.iter().take(RELEASE_MAX).position(|byte| *byte == 0);
    let name = end.and_then(|end| std::str::from_utf8(&message[..end]).ok());
    match name.and_then(release_name) {
        Some(name) => (Some(name.to_owned()), message[name.len() + 1..].to_vec()),
        None => (None, message),
    }
}

fn left(deadline: Option<Instant>, patience: Duration) -> Duration {
    deadline.map_or(patience, |deadline| {
        deadline.saturating_duration_since(Instant::now())
    })
}
