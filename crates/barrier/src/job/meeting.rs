//! The meeting of a barrier's members when they open it: each member sends its view of the barrier
//! to the first member, which answers all members.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use super::links::{Links, Use};
use super::{Joined, Kind, OpenError, Options};
use crate::{Combine, Id, View};

/// The release of the members. The messages between members differ from release to release.
pub(super) const RELEASE: &str = concat!("Manganese barrier ", env!("CARGO_PKG_VERSION"));

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

/// The group to open.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub me: Id,
    pub view: View,
    pub kind: Kind,
    /// The hosts of the members. Members on one host have the same number.
    pub hosts: BTreeMap<Id, u32>,
    pub combine: Combine,
    pub number: u16,
    /// The name of the group. It is the same for all members that open the same group.
    pub name: crate::Group,
    /// The name before the members have met.
    unmet: crate::Group,
    pub patience: Duration,
}

impl Group {
    pub fn of(job: &dyn Joined, options: &Options) -> Result<Group, OpenError> {
        let me = Id(job.rank());
        let all = || (0..job.size()).collect();
        let mut ranks: Vec<u32> = options.ranks.clone().unwrap_or_else(all);
        // Members may list the ranks in different orders.
        ranks.sort_unstable();
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
        let name = named(&hasher);
        Ok(Group {
            me,
            view,
            kind,
            hosts,
            combine: options.combine,
            number: options.number,
            name,
            unmet: name,
            patience: options.patience,
        })
    }

    fn first(&self) -> Id {
        self.view.members()[0]
    }

    pub fn is_first(&self) -> bool {
        self.first() == self.me
    }

    /// All members meet. The first member makes an answer from the words of all members, and sends
    /// the answer to all members. If a member prevents the barrier from being opened, the answer
    /// names this member.
    pub fn meet(
        &mut self,
        links: &mut Links,
        words: &[u8],
        answer: impl FnOnce(&[(Id, Vec<u8>)]) -> Result<Vec<u8>, (Id, OpenError)>,
    ) -> Result<Vec<u8>, OpenError> {
        let answer = match self.is_first() {
            true => self.welcome(links, words, answer),
            false => self.greet(links, words),
        }?;
        // With the nonce, an earlier barrier with the same number is another group, so its packets
        // are refused.
        let (nonce, words) = answer.split_at_checked(8).unwrap_or_default();
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.name.0.to_le_bytes()).update(nonce);
        self.name = named(&hasher);
        Ok(words.to_vec())
    }

    /// All members meet once more. The barrier is opened only if each member is ready.
    pub fn agree(&mut self, links: &mut Links, is_ready: bool) -> Result<(), OpenError> {
        let met = self.meet(links, &[is_ready.into()], |all| {
            match all.iter().find(|(_, words)| words[..] != [1]) {
                Some((rank, _)) => Err((*rank, OpenError::Gone { rank: rank.0 })),
                None => Ok(Vec::new()),
            }
        });
        met.map(drop)
    }

    fn left(&self, since: Instant) -> Duration {
        self.patience.saturating_sub(since.elapsed())
    }

    fn welcome(
        &self,
        links: &mut Links,
        words: &[u8],
        answer: impl FnOnce(&[(Id, Vec<u8>)]) -> Result<Vec<u8>, (Id, OpenError)>,
    ) -> Result<Vec<u8>, OpenError> {
        let since = Instant::now();
        let mut heard = vec![(self.me, words.to_vec())];
        let mut nonces = Vec::new();
        let mut failed = None;
        for other in &self.view.members()[1..] {
            let mut said = self.receive(links, *other, Use::Hello, since);
            // Earlier messages belong to attempts that the member has given up, so use only the
            // last one.
            while let (Ok(_), Ok(Some(later))) =
                (&said, links.take_from(*other, Use::Hello, Duration::ZERO))
            {
                said = Ok(later);
            }
            match said.and_then(|said| self.check(*other, &said)) {
                Ok((nonce, words)) => {
                    nonces.push((*other, nonce));
                    heard.push((*other, words));
                }
                Err(error) => {
                    failed = Some((*other, error));
                    break;
                }
            }
        }
        let answer = match failed {
            None => answer(&heard),
            Some(failed) => Err(failed),
        };
        let (status, body) = match &answer {
            Ok(words) => (0, [&random::<8>()?, &words[..]].concat()),
            Err((whose, OpenError::Different { .. })) => (1, whose.0.to_le_bytes().to_vec()),
            Err((whose, _)) => (2, whose.0.to_le_bytes().to_vec()),
        };
        for other in &self.view.members()[1..] {
            let known = nonces.iter().find(|(known, _)| known == other);
            let nonce = known.map_or([0; 8], |(_, nonce)| *nonce);
            let message = [&[status], &nonce[..], &body[..]].concat();
            // A lost member is noticed when the barrier is used.
            let _ = links.send(*other, Use::Welcome, &message);
        }
        answer.map(|_| body).map_err(|(_, error)| error)
    }

    fn receive(
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

    fn different(&self, rank: u32) -> OpenError {
        let number = self.number;
        OpenError::Different { rank, number }
    }

    /// The nonce and the words of a member that opens the same barrier.
    fn check(&self, other: Id, said: &[u8]) -> Result<([u8; 8], Vec<u8>), OpenError> {
        let rest = said.strip_prefix(&self.name.0.to_le_bytes()[..]);
        if rest.is_none() && said.starts_with(&self.unmet.0.to_le_bytes()) {
            // The member has given up this attempt, and has begun another attempt.
            return Err(OpenError::Gone { rank: other.0 });
        }
        let parts = rest.and_then(<[u8]>::split_first_chunk);
        let (nonce, words) = parts.ok_or_else(|| self.different(other.0))?;
        Ok((*nonce, words.to_vec()))
    }

    fn greet(&self, links: &mut Links, words: &[u8]) -> Result<Vec<u8>, OpenError> {
        let since = Instant::now();
        let first = self.first();
        let rank = first.0;
        let opened = links.open(first, self.left(since));
        opened.map_err(|source| OpenError::Unreachable { rank, source })?;
        let nonce: [u8; 8] = random()?;
        let hello = [&self.name.0.to_le_bytes(), &nonce[..], words].concat();
        let sent = links.send(first, Use::Hello, &hello);
        sent.map_err(|source| OpenError::Lost { rank, source })?;
        // The first member may wait for another member for `patience`, and then report that it does
        // not come. So wait longer than that.
        let deadline = 2 * self.patience;
        loop {
            let left = deadline.saturating_sub(since.elapsed());
            let taken = links.take_from(first, Use::Welcome, left);
            let taken = taken.map_err(|source| OpenError::Lost { rank, source })?;
            let Some(answer) = taken else {
                return Err(OpenError::Late {
                    rank,
                    number: self.number,
                    waited: since.elapsed(),
                });
            };
            let Some((status, rest)) = answer.split_first() else {
                return Err(self.different(rank));
            };
            let (echo, body) = rest.split_at_checked(8).unwrap_or_default();
            let is_unheard = *status != 0 && echo == [0; 8];
            if echo != nonce && !is_unheard {
                // The message answers an earlier attempt of this process.
                continue;
            }
            let whose = body.try_into().map_or(rank, u32::from_le_bytes);
            return match status {
                0 => Ok(body.to_vec()),
                2 if whose != self.me.0 => Err(OpenError::Gone { rank: whose }),
                2 => Err(OpenError::TooLate {
                    number: self.number,
                }),
                // If the answer names this member, its difference is with the first member.
                _ if whose == self.me.0 => Err(self.different(rank)),
                _ => Err(self.different(whose)),
            };
        }
    }
}

/// The group whose name is this hash.
fn named(hasher: &blake3::Hasher) -> crate::Group {
    let mut name = [0; 8];
    hasher.finalize_xof().fill(&mut name);
    crate::Group(u64::from_le_bytes(name))
}

pub(super) fn random<const N: usize>() -> Result<[u8; N], OpenError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| OpenError::System {
        what: "no random numbers".to_owned(),
        source: std::io::Error::other(error.to_string()),
    })?;
    Ok(bytes)
}
