//! The links of a group to its other members.

use std::time::{Duration, Instant};

use mgn_fabric::endpoint::{Endpoint, How, LinkId, Wanted};
use mgn_fabric::job;

use super::CompositeError;

/// The upper byte of the tags of all messages of groups. Below it are the group's number (16 bits),
/// the frame's (24) and the round's (16). A program may use the endpoint for messages of its own,
/// if it receives none with whatever tag.
const TAG: u64 = 0x47 << 56;

/// Instead of a round: the messages by which members meet.
const MEETING: u16 = 0xFFFF;

#[derive(Debug)]
pub(super) struct Links<'a> {
    pub endpoint: &'a Endpoint,
    /// The link to each rank; none for this one.
    links: Vec<Option<LinkId>>,
    pub rank: usize,
    number: u16,
    /// How long members wait for each other.
    pub patience: Duration,
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
        })
    }

    pub fn size(&self) -> usize {
        self.links.len()
    }

    /// # Panics
    /// If that is this member.
    pub fn to(&self, rank: usize) -> LinkId {
        self.links[rank].expect("a member has no link to itself")
    }

    /// Whether a rank is there, as far as is known.
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

    /// Sends every other member the same words, and gives those that each has sent. All of them
    /// have to do this.
    pub fn meet(&self, words: &[u8]) -> Result<Vec<(usize, Vec<u8>)>, CompositeError> {
        let deadline = Instant::now().checked_add(self.patience);
        let tag = self.tag(0, MEETING.into());
        for (rank, link) in self.others() {
            let sent = self.endpoint.send(link, tag, words, How::default());
            sent.map_err(|source| CompositeError::Lost { rank, source })?;
        }
        let from = |(rank, link)| {
            let left = left(deadline, self.patience);
            let met = self.endpoint.take(&Wanted::new(link, tag), Some(left));
            let met = met.map_err(|source| CompositeError::Lost { rank, source })?;
            let waited = self.patience;
            let message = met.ok_or(CompositeError::Late { rank, waited })?;
            Ok((rank, message.to_vec()))
        };
        self.others().map(from).collect()
    }
}

fn left(deadline: Option<Instant>, patience: Duration) -> Duration {
    deadline.map_or(patience, |deadline| {
        deadline.saturating_duration_since(Instant::now())
    })
}
