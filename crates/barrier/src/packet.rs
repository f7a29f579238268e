//! Packets: a header that names the packet's group, sender, receiver and release, and a body.
//! Integers are little-endian.

use crate::view::{Roster, ViewId};
use crate::{Group, Id, Refused};

const MAGIC: [u8; 4] = *b"mgnB";

/// The version of the format. It increases with each change.
const RELEASE: u16 = 3;

/// The number of bytes before the body.
const HEADER: usize = 24;

/// This flag is added to the kind of a packet for all members of a view. The receiver in such a
/// packet is 0. Each number may be a member, so no receiver number can mean all members.
const FOR_ALL: u16 = 1 << 15;

/// The largest number of a view or epoch. Larger numbers are refused, so that later numbers never
/// overflow.
const NUMBER_MAX: u64 = 1 << 62;

/// The outcome of an epoch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Passed(u64),
    Lost(Vec<Id>),
}

/// A participant's answer to a proposer. The participant has promised to accept no earlier
/// proposal, and passes no epoch until it has a new view, so the report stays true.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Report {
    /// The proposal that this report answers.
    pub proposal: ViewId,
    /// The latest proposal for which the participant has promised to wait. If this is not
    /// `proposal`, the participant refuses `proposal`.
    pub promised: ViewId,
    pub view: ViewId,
    /// The participants of `view`. `None` if it is the view that the proposer has named.
    pub roster: Option<Roster>,
    /// The epoch that has no outcome yet.
    pub next: u64,
    /// The outcomes of epochs, beginning with the last epoch that passed.
    pub tail: Vec<(u64, Outcome)>,
    /// Participants of the view that are lost.
    pub lost: Vec<Id>,
    /// Processes that have asked to join.
    pub joining: Vec<Id>,
    pub is_leaving: bool,
}

/// A participant's request to a coordinator.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wish {
    /// Participants of the view that are lost.
    pub lost: Vec<Id>,
    /// Processes that have asked to join.
    pub joining: Vec<Id>,
    pub is_leaving: bool,
    /// Set if the sender or another participant needs a new view, because it will never get the
    /// present view, or because it waits for a proposer that is lost.
    pub is_stuck: bool,
}

/// A new view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Install {
    pub view: ViewId,
    pub roster: Roster,
    pub next: u64,
    pub tail: Vec<(u64, Outcome)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Body {
    Signal {
        view: ViewId,
        epoch: u64,
        /// The pattern, and the operation that combines numbers.
        terms: u32,
        round: u16,
        value: u64,
    },
    Wish {
        view: ViewId,
        wish: Wish,
    },
    /// A proposer asks for a report.
    Collect {
        /// The latest view that the proposer knows.
        view: ViewId,
        proposal: ViewId,
    },
    Report(Report),
    Install(Install),
    /// The sender no longer takes part.
    Gone {
        view: ViewId,
        /// The outcomes of epochs that the sender knows.
        tail: Vec<(u64, Outcome)>,
    },
    /// The sender goes on without the receiver.
    Excluded,
    /// On links that lose packets: a part of a packet that must not be lost, and the number of
    /// parts that have come from the receiver.
    Part {
        number: u32,
        received: u32,
        is_last: bool,
        bytes: Vec<u8>,
    },
    Received {
        received: u32,
    },
    /// The sender waits for the receiver, and asks whether the receiver no longer takes part.
    Probe,
}

/// The group that a packet names.
fn group_of(packet: &[u8]) -> Option<Group> {
    let bytes = packet.get(8..16).filter(|_| packet.starts_with(&MAGIC))?;
    Some(Group(u64::from_le_bytes(bytes.try_into().ok()?)))
}

/// The sender that a packet names.
pub fn sender_of(packet: &[u8]) -> Option<Id> {
    let bytes = packet.get(16..20).filter(|_| packet.starts_with(&MAGIC))?;
    Some(Id(u32::from_le_bytes(bytes.try_into().ok()?)))
}

/// Whether a packet says that it is for all members of a view.
pub(crate) fn is_for_all(packet: &[u8]) -> bool {
    packet
        .get(6..8)
        .is_some_and(|kind| u16::from_le_bytes([kind[0], kind[1]]) & FOR_ALL != 0)
}

/// Encodes a packet. Without a receiver, the packet is for all members of a view.
pub(crate) fn encode(group: Group, from: Id, receiver: Option<Id>, body: &Body) -> Vec<u8> {
    let mut to = Writer(Vec::with_capacity(HEADER + 40));
    to.0.extend(MAGIC);
    to.0.extend(RELEASE.to_le_bytes());
    let for_all = if receiver.is_none() { FOR_ALL } else { 0 };
    to.0.extend((kind(body) | for_all).to_le_bytes());
    to.long(group.0);
    to.word(from.0);
    to.word(receiver.map_or(0, |id| id.0));
    match body {
        Body::Signal {
            view,
            epoch,
            terms,
            round,
            value,
        } => {
            to.view(*view);
            to.long(*epoch);
            to.word(*terms);
            to.word((*round).into());
            to.long(*value);
        }
        Body::Wish { view, wish } => {
            to.view(*view);
            to.ids(&wish.lost);
            to.ids(&wish.joining);
            to.word(wish.is_leaving.into());
            to.word(wish.is_stuck.into());
        }
        Body::Collect { view, proposal } => {
            to.view(*view);
            to.view(*proposal);
        }
        Body::Report(report) => {
            to.view(report.proposal);
            to.view(report.promised);
            to.view(report.view);
            to.word(report.roster.is_some().into());
            if let Some(roster) = &report.roster {
                to.roster(roster);
            }
            to.long(report.next);
            to.tail(&report.tail);
            to.ids(&report.lost);
            to.ids(&report.joining);
            to.word(report.is_leaving.into());
        }
        Body::Install(install) => {
            to.view(install.view);
            to.roster(&install.roster);
            to.long(install.next);
            to.tail(&install.tail);
        }
        Body::Gone { view, tail } => {
            to.view(*view);
            to.tail(tail);
        }
        Body::Excluded | Body::Probe => {}
        Body::Part {
            number,
            received,
            is_last,
            bytes,
        } => {
            to.word(*number);
            to.word(*received);
            to.word((*is_last).into());
            to.0.extend(bytes);
        }
        Body::Received { received } => to.word(*received),
    }
    to.0
}

/// Decodes a packet that has come to member `me`. The bytes may be arbitrary. Allocates at most a
/// small multiple of their number.
pub(crate) fn decode(packet: &[u8], group: Group, me: Id) -> Result<(Id, Body), Refused> {
    let (theirs, from) = group_of(packet)
        .zip(sender_of(packet))
        .ok_or(Refused::Malformed)?;
    let release = u16::from_le_bytes([packet[4], packet[5]]);
    if release != RELEASE {
        return Err(Refused::Release {
            theirs: release,
            ours: RELEASE,
        });
    }
    if theirs != group {
        return Err(Refused::Group {
            theirs,
            ours: group,
        });
    }
    let kind = u16::from_le_bytes([packet[6], packet[7]]);
    let mut rest = Reader(packet.get(20..).ok_or(Refused::Malformed)?);
    let to = rest.word().ok_or(Refused::Malformed)?;
    let body = body(kind & !FOR_ALL, rest).ok_or(Refused::Malformed)?;
    match is_for_all(packet) {
        true if to == 0 && matches!(body, Body::Signal { .. }) => Ok((from, body)),
        true => Err(Refused::Malformed),
        false if to == me.0 => Ok((from, body)),
        false => Err(Refused::Receiver { told: Id(to), me }),
    }
}

fn kind(body: &Body) -> u16 {
    match body {
        Body::Signal { .. } => 0,
        Body::Wish { .. } => 1,
        Body::Collect { .. } => 2,
        Body::Report(_) => 3,
        Body::Install(_) => 4,
        Body::Gone { .. } => 5,
        Body::Excluded => 6,
        Body::Part { .. } => 7,
        Body::Received { .. } => 8,
        Body::Probe => 9,
    }
}

fn body(kind: u16, mut from: Reader<'_>) -> Option<Body> {
    let body = match kind {
        0 => Body::Signal {
            view: from.view()?,
            epoch: from.number()?,
            terms: from.word()?,
            round: from.word()?.try_into().ok()?,
            value: from.long()?,
        },
        1 => Body::Wish {
            view: from.view()?,
            wish: Wish {
                lost: from.ids()?,
                joining: from.ids()?,
                is_leaving: from.flag()?,
                is_stuck: from.flag()?,
            },
        },
        2 => Body::Collect {
            view: from.view()?,
            proposal: from.view()?,
        },
        3 => Body::Report(Report {
            proposal: from.view()?,
            promised: from.view()?,
            view: from.view()?,
            roster: match from.flag()? {
                true => Some(from.roster()?),
                false => None,
            },
            next: from.number()?,
            tail: from.tail()?,
            lost: from.ids()?,
            joining: from.ids()?,
            is_leaving: from.flag()?,
        }),
        4 => Body::Install(Install {
            view: from.view()?,
            roster: from.roster()?,
            next: from.number()?,
            tail: from.tail()?,
        }),
        5 => Body::Gone {
            view: from.view()?,
            tail: from.tail()?,
        },
        6 => Body::Excluded,
        7 => Body::Part {
            number: from.word()?,
            received: from.word()?,
            is_last: from.flag()?,
            bytes: std::mem::take(&mut from.0).to_vec(),
        },
        8 => Body::Received {
            received: from.word()?,
        },
        9 => Body::Probe,
        _ => return None,
    };
    from.0.is_empty().then_some(body)
}

struct Writer(Vec<u8>);

impl Writer {
    fn word(&mut self, word: u32) {
        self.0.extend(word.to_le_bytes());
    }

    fn long(&mut self, long: u64) {
        self.0.extend(long.to_le_bytes());
    }

    fn view(&mut self, view: ViewId) {
        self.long(view.number);
        self.word(view.by.0);
    }

    fn roster(&mut self, roster: &Roster) {
        self.ids(roster.members.members());
        self.ids(&roster.joining);
        self.ids(&roster.leaving);
    }

    fn ids(&mut self, ids: &[Id]) {
        self.word(ids.len() as u32);
        for id in ids {
            self.word(id.0);
        }
    }

    fn tail(&mut self, tail: &[(u64, Outcome)]) {
        self.word(tail.len() as u32);
        for (epoch, outcome) in tail {
            self.long(*epoch);
            match outcome {
                Outcome::Passed(value) => {
                    self.word(0);
                    self.long(*value);
                }
                Outcome::Lost(members) => {
                    self.word(1);
                    self.ids(members);
                }
            }
        }
    }
}

struct Reader<'p>(&'p [u8]);

impl Reader<'_> {
    fn word(&mut self) -> Option<u32> {
        let (word, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u32::from_le_bytes(*word))
    }

    fn long(&mut self) -> Option<u64> {
        let (long, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u64::from_le_bytes(*long))
    }

    fn flag(&mut self) -> Option<bool> {
        match self.word()? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }

    /// The number of a view or of an epoch.
    fn number(&mut self) -> Option<u64> {
        self.long().filter(|number| *number <= NUMBER_MAX)
    }

    fn view(&mut self) -> Option<ViewId> {
        Some(ViewId {
            number: self.number()?,
            by: Id(self.word()?),
        })
    }

    fn roster(&mut self) -> Option<Roster> {
        Roster::new(self.ids()?, self.ids()?, self.ids()?)
    }

    fn ids(&mut self) -> Option<Vec<Id>> {
        let count = self.word()? as usize;
        if count > self.0.len() / 4 {
            return None;
        }
        (0..count).map(|_| self.word().map(Id)).collect()
    }

    fn tail(&mut self) -> Option<Vec<(u64, Outcome)>> {
        let count = self.word()? as usize;
        // Each outcome takes at least 16 bytes.
        if count > self.0.len() / 16 {
            return None;
        }
        let mut tail = Vec::with_capacity(count);
        for _ in 0..count {
            let epoch = self.number()?;
            let outcome = match self.word()? {
                0 => Outcome::Passed(self.long()?),
                1 => Outcome::Lost(self.ids()?),
                _ => return None,
            };
            tail.push((epoch, outcome));
        }
        Some(tail)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzzing::{bodies, GROUP};
    use mgn_fuzzing::Random;

    #[test]
    fn packets_are_read_as_they_are_written() {
        let from = Id(5);
        for (body, to) in bodies()
            .into_iter()
            .zip([8, 0, u32::MAX].map(Id).into_iter().cycle())
        {
            let packet = encode(GROUP, from, Some(to), &body);
            assert!(!is_for_all(&packet));
            assert_eq!(decode(&packet, GROUP, to), Ok((from, body.clone())));
            assert_eq!(group_of(&packet), Some(GROUP));
            assert_eq!(sender_of(&packet), Some(from));
            let other = decode(&packet, Group(78), to);
            assert!(matches!(other, Err(Refused::Group { .. })));
            let (told, me) = (to, Id(9));
            let elsewhere = decode(&packet, GROUP, me);
            assert_eq!(elsewhere, Err(Refused::Receiver { told, me }));
            let all = encode(GROUP, from, None, &body);
            assert!(is_for_all(&all));
            let all = decode(&all, GROUP, me);
            assert_eq!(all.is_ok(), matches!(body, Body::Signal { .. }));
            let mut later = packet.clone();
            later[4] += 1;
            let later = decode(&later, GROUP, to);
            let (theirs, ours) = (RELEASE + 1, RELEASE);
            assert_eq!(later, Err(Refused::Release { theirs, ours }));
        }
    }

    #[test]
    fn numbers_that_would_overflow_and_processes_named_twice_are_refused() {
        let view = ViewId {
            number: NUMBER_MAX + 1,
            by: Id(0),
        };
        let proposal = ViewId::FIRST;
        let packet = encode(GROUP, Id(5), Some(Id(8)), &Body::Collect { view, proposal });
        assert_eq!(decode(&packet, GROUP, Id(8)), Err(Refused::Malformed));
        assert_eq!(Roster::new(vec![Id(1)], vec![Id(2)], vec![Id(1)]), None);
        assert_eq!(Roster::new(vec![Id(1), Id(1)], vec![], vec![]), None);
    }

    #[test]
    fn damaged_packets_are_refused_or_read_but_never_panic() {
        let (from, to) = (Id(5), Id(8));
        let mut random = Random::new(3);
        for body in bodies() {
            let packet = encode(GROUP, from, Some(to), &body);
            for len in 0..packet.len() {
                let is_part = matches!(body, Body::Part { .. });
                assert!(decode(&packet[..len], GROUP, to).is_err() || is_part);
            }
            let longer = [&packet[..], &[0]].concat();
            assert!(decode(&longer, GROUP, to).is_err() || matches!(body, Body::Part { .. }));
            for _ in 0..2000 {
                let mut bytes = packet.clone();
                for _ in 0..=random.below(4) {
                    let at = random.below(bytes.len());
                    bytes[at] = random.next() as u8;
                }
                let _ = decode(&bytes, GROUP, to);
            }
        }
    }
}
