//! The job's links to the other members. A link is made when it is first needed.

use std::collections::BTreeMap;
use std::time::Duration;

use mgn_fabric::endpoint::{How, LinkId, Received, Wanted};
use mgn_fabric::Error;

use super::Joined;
use crate::Id;

/// The upper byte of the tags of all messages of barriers. Below it are the barrier's number (16
/// bits) and the [`Use`] of the message. A program may use the endpoint for messages of its own, if
/// it receives none with any tag.
const TAG: u64 = 0x42 << 56;

/// How long a process may take to let another one in while barriers are under way.
const OPENING: Duration = Duration::from_secs(10);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// To the first member, when the barrier is opened.
    Hello = 0,
    /// Back from it.
    Welcome = 1,
    /// A packet of the state machine.
    Packet = 2,
}

pub(super) struct Links {
    job: Box<dyn Joined>,
    number: u16,
    links: BTreeMap<Id, LinkId>,
}

impl std::fmt::Debug for Links {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut links = f.debug_struct("Links");
        links.field("number", &self.number);
        links.field("links", &self.links).finish_non_exhaustive()
    }
}

impl Links {
    pub fn new(job: Box<dyn Joined>, number: u16) -> Links {
        Links {
            job,
            number,
            links: BTreeMap::new(),
        }
    }

    pub fn job(&self) -> &dyn Joined {
        &*self.job
    }

    fn tag(&self, usage: Use) -> u64 {
        TAG | u64::from(self.number) << 40 | usage as u64
    }

    pub fn has(&self, rank: Id) -> bool {
        self.links.contains_key(&rank)
    }

    pub fn open(&mut self, rank: Id, patience: Duration) -> Result<LinkId, Error> {
        if let Some(link) = self.links.get(&rank) {
            return Ok(*link);
        }
        let link = self.job.open(rank.0, patience)?;
        self.links.insert(rank, link);
        Ok(link)
    }

    pub fn send(&mut self, to: Id, usage: Use, bytes: &[u8]) -> Result<(), Error> {
        let link = self.open(to, OPENING)?;
        let tag = self.tag(usage);
        self.job.endpoint().send(link, tag, bytes, How::default())
    }

    /// A message from one member.
    pub fn take_from(
        &mut self,
        from: Id,
        usage: Use,
        timeout: Duration,
    ) -> Result<Option<Vec<u8>>, Error> {
        let link = self.open(from, timeout)?;
        let wanted = Wanted::new(link, self.tag(usage));
        let taken = self.job.endpoint().take(&wanted, Some(timeout))?;
        Ok(taken.as_ref().map(Received::to_vec))
    }

    /// A packet from any member.
    pub fn take(&mut self, timeout: Duration) -> Result<Option<(Id, Vec<u8>)>, Error> {
        let endpoint = self.job.endpoint();
        let wanted = Wanted {
            from: None,
            ..Wanted::new(endpoint.own(), self.tag(Use::Packet))
        };
        let Some(taken) = endpoint.take(&wanted, Some(timeout))? else {
            return Ok(None);
        };
        let link = taken.status.link;
        let known = self.links.iter().find(|(_, known)| **known == link);
        let from = match known {
            Some((id, _)) => Some(*id),
            None => self.job.rank_of(link).map(Id),
        };
        let packet = taken.to_vec();
        drop(taken);
        Ok(from.map(|from| {
            self.links.insert(from, link);
            (from, packet)
        }))
    }

    /// The members whose links have closed. Each is given once.
    pub fn closed(&mut self) -> Vec<Id> {
        let endpoint = self.job.endpoint();
        let links = self.links.iter();
        let closed = links.filter(|(_, link)| !endpoint.is_open(**link));
        let closed: Vec<Id> = closed.map(|(id, _)| *id).collect();
        for id in &closed {
            self.links.remove(id);
        }
        closed
    }
}
