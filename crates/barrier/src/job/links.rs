//! The job's links to the other members. A link is made when it is first needed.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use mgn_fabric::endpoint::{LinkId, Received, SendOptions, Wanted};
use mgn_fabric::Error;

use super::Joined;
use crate::Id;

/// The upper byte of the tags of all messages of barriers. The lower bits are the barrier's number
/// (16 bits) and the [`Use`] of the message. A program may use the endpoint for its own messages if
/// it never receives with a wildcard tag.
const TAG: u64 = 0x42 << 56;

/// The time limit for a process to accept a link while barriers are in use.
const OPENING: Duration = Duration::from_secs(10);

/// The time limit for a process to accept a link over which this member reports that it closes its
/// barrier.
const PARTING: Duration = Duration::from_millis(100);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// A message to the first member, when the barrier is opened.
    Hello = 0,
    /// The first member's answer.
    Welcome = 1,
    /// A packet of the state machine.
    Packet = 2,
    /// A message from a process that wants to join an open barrier.
    Ask = 3,
    /// A member's answer to this process.
    Tell = 4,
}

const USES: [Use; 5] = [Use::Hello, Use::Welcome, Use::Packet, Use::Ask, Use::Tell];

pub(super) struct Links {
    job: Box<dyn Joined>,
    number: u16,
    links: BTreeMap<Id, LinkId>,
    /// Members whose links have closed.
    closed: BTreeSet<Id>,
    /// Links that other links have replaced.
    old: Vec<(LinkId, Id)>,
    /// Messages of links whose ranks the job does not know yet.
    unknown: Vec<(LinkId, Use, Vec<u8>)>,
    /// The time limit for a member to accept a link from this member.
    patience: Duration,
}

impl std::fmt::Debug for Links {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut links = f.debug_struct("Links");
        links.field("number", &self.number);
        links.field("links", &self.links).finish_non_exhaustive()
    }
}

fn tag(number: u16, usage: Use) -> u64 {
    TAG | u64::from(number) << 40 | usage as u64
}

impl Links {
    pub fn new(job: Box<dyn Joined>, number: u16) -> Links {
        Links {
            job,
            number,
            links: BTreeMap::new(),
            closed: BTreeSet::new(),
            old: Vec::new(),
            unknown: Vec::new(),
            patience: OPENING,
        }
    }

    pub fn job(&self) -> &dyn Joined {
        &*self.job
    }

    pub fn has(&self, rank: Id) -> bool {
        self.links.contains_key(&rank)
    }

    /// Prepares for the end: from now on, this member only reports that it leaves, and waits only
    /// briefly for other members.
    pub fn part(&mut self) {
        self.patience = PARTING;
    }

    pub fn open(&mut self, rank: Id, patience: Duration) -> Result<LinkId, Error> {
        if let Some(link) = self.links.get(&rank).copied() {
            // A use of a closed link fails, so the link need not be checked here.
            return Ok(self.replaced(rank, link).unwrap_or(link));
        }
        let link = self.job.open(rank.0, patience)?;
        self.links.insert(rank, link);
        Ok(link)
    }

    /// Does the same as `open`, for a member that has met this member before. If that member does
    /// not listen, it has ended.
    fn reopen(&mut self, rank: Id) -> Result<LinkId, Error> {
        match self.has(rank) {
            true => self.open(rank, self.patience),
            false => {
                let link = self.job.open_joined(rank.0, self.patience)?;
                self.links.insert(rank, link);
                Ok(link)
            }
        }
    }

    /// Whether a member can be reached.
    pub fn reach(&mut self, rank: Id) -> bool {
        !self.closed.contains(&rank) && self.reopen(rank).is_ok()
    }

    /// Sends a message. Does not wait for the receiver.
    pub fn send(&mut self, to: Id, usage: Use, bytes: &[u8]) -> Result<(), Error> {
        if self.closed.contains(&to) {
            return Err(Error::NoPeer);
        }
        let link = self.reopen(to)?;
        let endpoint = self.job.endpoint();
        let mut message = endpoint.reserve(link, bytes.len())?;
        message.write(0, bytes);
        let sent = message.commit(bytes.len(), tag(self.number, usage), SendOptions::default())?;
        sent.map_or(Ok(()), |request| endpoint.detach(request))
    }

    /// A message from one member.
    pub fn take_from(
        &mut self,
        from: Id,
        usage: Use,
        timeout: Duration,
    ) -> Result<Option<Vec<u8>>, Error> {
        let link = self.open(from, timeout)?;
        let wanted = Wanted::new(link, tag(self.number, usage));
        let taken = self.job.endpoint().take(&wanted, Some(timeout))?;
        Ok(taken.as_ref().map(Received::to_vec))
    }

    /// A message from any rank.
    pub fn take(&mut self, usage: Use, timeout: Duration) -> Result<Option<(Id, Vec<u8>)>, Error> {
        let known = self
            .unknown
            .iter()
            .position(|(link, used, _)| *used == usage && self.rank_of(*link).is_some());
        if let Some(at) = known {
            let (link, _, message) = self.unknown.remove(at);
            return Ok(self.of(link, usage, message));
        }
        let wanted = Wanted {
            from: None,
            ..Wanted::new(self.job.endpoint().own(), tag(self.number, usage))
        };
        let mut timeout = timeout;
        loop {
            let Some(taken) = self.job.endpoint().take(&wanted, Some(timeout))? else {
                return Ok(None);
            };
            let (link, message) = (taken.status.link, taken.to_vec());
            drop(taken);
            let known = self.of(link, usage, message);
            if known.is_some() {
                return Ok(known);
            }
            // This message has to wait until the job has recorded the rank. Other messages can be
            // taken meanwhile.
            timeout = Duration::ZERO;
        }
    }

    fn of(&mut self, link: LinkId, usage: Use, message: Vec<u8>) -> Option<(Id, Vec<u8>)> {
        match self.rank_of(link) {
            Some(from) => {
                self.links.entry(from).or_insert(link);
                Some((from, message))
            }
            // The link is so new that the job has not recorded its rank.
            None => {
                self.unknown.push((link, usage, message));
                None
            }
        }
    }

    fn rank_of(&self, link: LinkId) -> Option<Id> {
        let known = self.links.iter().find(|(_, known)| **known == link);
        let old = self.old.iter().find(|(known, _)| *known == link);
        let known = known.map(|(id, _)| *id).or(old.map(|(_, id)| *id));
        known.or_else(|| self.job.rank_of(link).map(Id))
    }

    /// The members to which there are links.
    pub fn open_ones(&self) -> Vec<Id> {
        self.links.keys().copied().collect()
    }

    /// Whether there is an open link to a member. If both ends have made a link, one of the two
    /// links is closed.
    pub fn is_open(&mut self, rank: Id) -> bool {
        let link = self.links.get(&rank).copied();
        link.is_some_and(|link| {
            self.job.endpoint().is_open(link) || self.replaced(rank, link).is_some()
        })
    }

    /// The link that has replaced a closed link.
    fn replaced(&mut self, rank: Id, link: LinkId) -> Option<LinkId> {
        if self.job.endpoint().is_open(link) {
            return None;
        }
        let other = self.job.link(rank.0)?;
        self.links.insert(rank, other);
        self.old.push((link, rank));
        Some(other)
    }

    /// Forgets the link to a member. The link has closed, and all its packets have been taken.
    pub fn forget(&mut self, rank: Id) {
        self.links.remove(&rank);
        self.closed.insert(rank);
    }
}

/// Removes the messages of a barrier that this process has closed. If they stayed, they would fill
/// the links.
pub(super) fn clear(job: &dyn Joined, number: u16) {
    let endpoint = job.endpoint();
    for usage in USES {
        let wanted = Wanted {
            from: None,
            ..Wanted::new(endpoint.own(), tag(number, usage))
        };
        while let Ok(Some(_)) = endpoint.take(&wanted, Some(Duration::ZERO)) {}
    }
}
