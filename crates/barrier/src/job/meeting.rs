//! How the members of a barrier meet when they open it: each says to the first one what it
//! believes to be opened, and the first one answers all.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use super::links::{Links, Use};
use super::{Joined, Kind, OpenError, Options};
use crate::{Combine, Id, View};

/// What members say to each other differs from release to release.
const RELEASE: &str = concat!("Manganese barrier ", env!("CARGO_PKG_VERSION"));

/// Numbers the hosts of the members.
fn hosts(job: &dyn Joined, view: &View) -> Result<BTreeMap<Id, u32>, OpenError> {
    let mut numbers = BTreeMap::new();
    let mut hosts = BTreeMap::new();
    for member in view.members() {
        let host = job.host(member.0).map_err(OpenError::Job)?;
        let next = numbers.len() as u32;
        hosts.insert(*member, *numbers.entry(host).or_insert(next));
    }
    Ok(hosts)
}

/// The group that is to be opened.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub me: Id,
    pub view: View,
    pub kind: Kind,
    /// The same number for members of one host.
    pub hosts: BTreeMap<Id, u32>,
    pub combine: Combine,
    pub number: u16,
    /// The same in all members that mean the same group.
    pub name: crate::Group,
    pub patience: Duration,
}

impl Group {
    pub fn of(job: &dyn Joined, options: &Options) -> Result<Group, OpenError> {
        let me = Id(job.rank());
        let all = || (0..job.size()).collect();
        let ranks: Vec<u32> = options.ranks.clone().unwrap_or_else(all);
        if let Some(rank) = ranks.iter().find(|rank| **rank >= job.size()) {
            let (rank, size) = (*rank, job.size());
            return Err(OpenError::Rank { rank, size });
        }
        let view = View::new(ranks.into_iter().map(Id))?;
        if !view.contains(me) {
            return Err(crate::ViewError::Outside { member: me }.into());
        }
        let hosts = hosts(job, &view)?;
        let count = hosts.values().collect::<BTreeSet<_>>().len();
        let kind = match options.kind {
            Kind::Auto if count == 1 && view.len() <= crate::SHARED_MAX => Kind::Shared,
            Kind::Auto if count == 1 || count == view.len() => Kind::Dissemination,
            Kind::Auto => Kind::Hierarchical,
            Kind::Shared if count > 1 => {
                let one = view.members()[0];
                let mut others = view.members().iter();
                let other = others.find(|other| hosts[other] != hosts[&one]);
                let other = other.expect("there are several hosts").0;
                return Err(OpenError::Hosts { one: one.0, other });
            }
            other => other,
        };
        let mut hasher = blake3::Hasher::new();
        hasher.update(RELEASE.as_bytes()).update(&[0]);
        hasher.update(&kind.code().to_le_bytes());
        hasher.update(&[options.combine as u8]);
        hasher.update(&options.number.to_le_bytes());
        for id in view.members() {
            hasher.update(&id.0.to_le_bytes());
        }
        let mut name = [0; 8];
        hasher.finalize_xof().fill(&mut name);
        Ok(Group {
            me,
            view,
            kind,
            hosts,
            combine: options.combine,
            number: options.number,
            name: crate::Group(u64::from_le_bytes(name)),
            patience: options.patience,
        })
    }

    fn first(&self) -> Id {
        self.view.members()[0]
    }

    pub fn is_first(&self) -> bool {
        self.first() == self.me
    }

    /// All members meet. The first one makes of the others' words what it answers to all.
    pub fn meet(
        &self,
        links: &mut Links,
        words: &[u8],
        answer: impl FnOnce(Vec<(Id, Vec<u8>)>) -> Result<Vec<u8>, OpenError>,
    ) -> Result<Vec<u8>, OpenError> {
        match self.is_first() {
            true => self.welcome(links, words, answer),
            false => self.greet(links, words),
        }
    }

    fn left(&self, since: Instant) -> Duration {
        self.patience.saturating_sub(since.elapsed())
    }

    fn welcome(
        &self,
        links: &mut Links,
        words: &[u8],
        answer: impl FnOnce(Vec<(Id, Vec<u8>)>) -> Result<Vec<u8>, OpenError>,
    ) -> Result<Vec<u8>, OpenError> {
        let since = Instant::now();
        let mut heard = vec![(self.me, words.to_vec())];
        let mut failed = None;
        for other in &self.view.members()[1..] {
            let said = self.hear(links, *other, Use::Hello, since);
            match said.and_then(|said| self.check(*other, &said)) {
                Ok(words) => heard.push((*other, words)),
                Err(error) => {
                    failed = Some((*other, error));
                    break;
                }
            }
        }
        let answer = match failed {
            None => answer(heard).map_err(|error| (self.me, error)),
            Some(failed) => Err(failed),
        };
        let message = match &answer {
            Ok(words) => [&[0], &words[..]].concat(),
            Err((whose, OpenError::Different { .. })) => {
                [&[1], &whose.0.to_le_bytes()[..]].concat()
            }
            Err((whose, _)) => [&[2], &whose.0.to_le_bytes()[..]].concat(),
        };
        for other in &self.view.members()[1..] {
            // A lost member is noticed when the barrier is used.
            let _ = links.send(*other, Use::Welcome, &message);
        }
        answer.map_err(|(_, error)| error)
    }

    fn hear(
        &self,
        links: &mut Links,
        other: Id,
        usage: Use,
        since: Instant,
    ) -> Result<Vec<u8>, OpenError> {
        let rank = other.0;
        let opened = links.open(other, self.left(since));
        opened.map_err(|source| OpenError::Unreachable { rank, source })?;
        let taken = links.take_from(other, usage, self.left(since));
        let taken = taken.map_err(|source| OpenError::Lost { rank, source })?;
        taken.ok_or(OpenError::Late {
            rank,
            number: self.number,
            waited: self.patience,
        })
    }

    fn check(&self, other: Id, said: &[u8]) -> Result<Vec<u8>, OpenError> {
        match said.strip_prefix(&self.name.0.to_le_bytes()[..]) {
            Some(words) => Ok(words.to_vec()),
            None => Err(OpenError::Different {
                rank: other.0,
                number: self.number,
            }),
        }
    }

    fn greet(&self, links: &mut Links, words: &[u8]) -> Result<Vec<u8>, OpenError> {
        let since = Instant::now();
        let first = self.first();
        let rank = first.0;
        let opened = links.open(first, self.left(since));
        opened.map_err(|source| OpenError::Unreachable { rank, source })?;
        let hello = [&self.name.0.to_le_bytes(), words].concat();
        let sent = links.send(first, Use::Hello, &hello);
        sent.map_err(|source| OpenError::Lost { rank, source })?;
        // The first one waits for others, too, and says so when that was in vain.
        let answer = loop {
            match self.hear(links, first, Use::Welcome, since) {
                Err(OpenError::Late { .. }) if since.elapsed() < 2 * self.patience => {
                    let taken = links.take_from(first, Use::Welcome, self.patience);
                    let taken = taken.map_err(|source| OpenError::Lost { rank, source })?;
                    if let Some(answer) = taken {
                        break answer;
                    }
                }
                answer => break answer?,
            }
        };
        let whose = |bytes: &[u8]| bytes.try_into().map_or(rank, u32::from_le_bytes);
        match answer.split_first() {
            Some((0, words)) => Ok(words.to_vec()),
            Some((2, words)) if whose(words) != self.me.0 => {
                Err(OpenError::Gone { rank: whose(words) })
            }
            Some((_, words)) => {
                // If it is this member that differs, the first one does.
                let rank = Some(whose(words)).filter(|other| *other != self.me.0);
                Err(OpenError::Different {
                    rank: rank.unwrap_or(first.0),
                    number: self.number,
                })
            }
            None => Err(OpenError::Different {
                rank,
                number: self.number,
            }),
        }
    }
}
