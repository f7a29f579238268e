//! Finding the group of an open barrier: a process that wants to join asks a member for the group's
//! name. The group then admits the process; see [`crate::Member::join`].

use std::time::{Duration, Instant};

use super::links::{Links, Use};
use super::meeting::{random, RELEASE};
use super::{Kind, OpenError, Options};
use crate::{Combine, Group, Id};

/// The minimum of the time limit for the answer of each member that is asked.
const ANSWER_TIMEOUT_MIN: Duration = Duration::from_millis(100);

const NONCE: usize = 8;

/// An open group, as its members describe it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Open {
    pub name: Group,
    pub kind: Kind,
    pub combine: Combine,
}

impl Open {
    fn encode(self) -> Vec<u8> {
        let Open {
            name,
            kind,
            combine,
        } = self;
        let mut to = name.0.to_le_bytes().to_vec();
        to.extend(kind.code().to_le_bytes());
        to.push(combine as u8);
        to
    }

    fn decode(bytes: &[u8]) -> Option<Open> {
        let (name, rest) = bytes.split_first_chunk()?;
        let (kind, rest) = rest.split_first_chunk()?;
        let &[combine] = rest else {
            return None;
        };
        let same = |one: &Combine| *one as u8 == combine;
        Some(Open {
            name: Group(u64::from_le_bytes(*name)),
            kind: Kind::of_code(u32::from_le_bytes(*kind))?,
            combine: Combine::EACH.into_iter().find(same)?,
        })
    }

    /// Answers the processes that have asked.
    pub fn answer(self, links: &mut Links) {
        while let Ok(Some((from, asked))) = links.take(Use::Ask, Duration::ZERO) {
            let (nonce, release) = asked.split_at_checked(NONCE).unwrap_or_default();
            let told = match release == RELEASE.as_bytes() {
                true => self.encode(),
                false => Vec::new(),
            };
            // If the send fails, the process has ended and needs no answer.
            let _ = links.send(from, Use::Tell, &[nonce, &told].concat());
        }
    }
}

/// Asks the members one after the other, until one of them answers.
pub(super) fn ask(links: &mut Links, options: &Options, members: &[Id]) -> Result<Open, OpenError> {
    let since = Instant::now();
    let mut failed = None;
    for (asked, member) in members.iter().enumerate() {
        let left = options.patience.saturating_sub(since.elapsed());
        let share = left / (members.len() - asked) as u32;
        match ask_one(links, options.number, *member, share) {
            Ok(open) => return check(open, options, *member),
            Err(error) => failed = failed.or(Some(error)),
        }
    }
    Err(failed.expect("there are members to ask"))
}

/// Asks one member. The result is `None` if the member has another release.
fn ask_one(
    links: &mut Links,
    number: u16,
    member: Id,
    patience: Duration,
) -> Result<Option<Open>, OpenError> {
    let rank = member.0;
    let since = Instant::now();
    let patience = patience.max(ANSWER_TIMEOUT_MIN);
    let opened = links.open(member, patience);
    opened.map_err(|source| OpenError::Unreachable { rank, source })?;
    let lost = |source| OpenError::Lost { rank, source };
    let nonce: [u8; NONCE] = random()?;
    let asked = [&nonce[..], RELEASE.as_bytes()].concat();
    links.send(member, Use::Ask, &asked).map_err(lost)?;
    loop {
        let left = patience.saturating_sub(since.elapsed());
        let told = links.take_from(member, Use::Tell, left).map_err(lost)?;
        let Some(told) = told else {
            return Err(OpenError::Silent {
                rank,
                number,
                waited: Duration::from_millis((patience.as_secs_f64() * 1e3).round() as u64),
            });
        };
        // Other answers belong to earlier attempts of this process.
        if let Some(told) = told.strip_prefix(&nonce) {
            return Ok(Open::decode(told));
        }
    }
}

fn check(open: Option<Open>, options: &Options, member: Id) -> Result<Open, OpenError> {
    let (rank, number) = (member.0, options.number);
    let different = OpenError::Different { rank, number };
    let open = open.ok_or(OpenError::Different { rank, number })?;
    if !open.kind.admits() {
        return Err(OpenError::Closed { kind: open.kind });
    }
    let is_same = [Kind::Auto, open.kind].contains(&options.kind);
    match is_same && open.combine == options.combine {
        true => Ok(open),
        false => Err(different),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_described() {
        for kind in [Kind::Star, Kind::Tree(3), Kind::Dissemination, Kind::Udp] {
            for combine in Combine::EACH {
                let name = Group(0x0123_4567_89ab_cdef);
                let open = Open {
                    name,
                    kind,
                    combine,
                };
                let bytes = open.encode();
                assert_eq!(Open::decode(&bytes), Some(open));
                for len in 0..bytes.len() {
                    assert_eq!(Open::decode(&bytes[..len]), None);
                }
                assert_eq!(Open::decode(&[&bytes[..], &[0]].concat()), None);
            }
        }
        assert_eq!(Open::decode(&[0xff; 13]), None);
    }
}
