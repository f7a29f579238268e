//! Packets: a header that says which group, member and release they belong to, and a body.
//! Integers are little-endian.

use crate::view::ViewId;
use crate::{Group, Id, Refused};

const MAGIC: [u8; 4] = *b"mgnB";

/// Counts up with each change of the format.
const RELEASE: u16 = 1;

/// Bytes before the body.
const HEADER: usize = 20;

/// How an epoch ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Passed(u64),
    Lost(Vec<Id>),
}

/// What a member tells the coordinator of a change. It passes nothing until the change is made, so
/// that this stays true.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Report {
    pub view: ViewId,
    pub members: Vec<Id>,
    /// The epoch that has no outcome yet.
    pub next: u64,
    /// How epochs ended, from the last that passed on.
    pub tail: Vec<(u64, Outcome)>,
    pub lost: Vec<Id>,
    /// Those who have asked to join.
    pub joining: Vec<Id>,
    pub is_leaving: bool,
}

/// A new view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Install {
    pub view: ViewId,
    pub members: Vec<Id>,
    pub next: u64,
    pub tail: Vec<(u64, Outcome)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Body {
    Signal {
        view: ViewId,
        epoch: u64,
        /// What the pattern is, and how numbers are combined.
        terms: u32,
        round: u16,
        value: u64,
    },
    /// A coordinator wants reports.
    Collect {
        view: ViewId,
        lost: Vec<Id>,
        /// Those who have asked to join. All members know of each that a view admits.
        joining: Vec<Id>,
    },
    Report(Report),
    Install(Install),
    Join {
        member: Id,
        /// It has asked before, and one that may have admitted it is lost.
        is_again: bool,
    },
    Leave,
    /// The sender takes part no more.
    Gone {
        /// How epochs ended as far as it knows.
        tail: Vec<(u64, Outcome)>,
    },
    /// The sender goes on without the receiver.
    Excluded,
    /// Over links that lose packets: a part of a packet that must not be lost, and how many parts
    /// have come from the receiver.
    Part {
        number: u32,
        received: u32,
        is_last: bool,
        bytes: Vec<u8>,
    },
    Received {
        received: u32,
    },
}

/// The group of a packet, as it says itself.
pub fn group_of(packet: &[u8]) -> Option<Group> {
    let bytes = packet.get(8..16).filter(|_| packet.starts_with(&MAGIC))?;
    Some(Group(u64::from_le_bytes(bytes.try_into().ok()?)))
}

/// The sender of a packet, as it says itself.
pub fn sender_of(packet: &[u8]) -> Option<Id> {
    let bytes = packet.get(16..20).filter(|_| packet.starts_with(&MAGIC))?;
    Some(Id(u32::from_le_bytes(bytes.try_into().ok()?)))
}

pub(crate) fn encode(group: Group, from: Id, body: &Body) -> Vec<u8> {
    let mut to = Writer(Vec::with_capacity(HEADER + 40));
    to.0.extend(MAGIC);
    to.0.extend(RELEASE.to_le_bytes());
    to.0.extend(kind(body).to_le_bytes());
    to.long(group.0);
    to.word(from.0);
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
        Body::Collect {
            view,
            lost,
            joining,
        } => {
            to.view(*view);
            to.ids(lost);
            to.ids(joining);
        }
        Body::Report(report) => {
            to.view(report.view);
            to.ids(&report.members);
            to.long(report.next);
            to.tail(&report.tail);
            to.ids(&report.lost);
            to.ids(&report.joining);
            to.word(report.is_leaving.into());
        }
        Body::Install(install) => {
            to.view(install.view);
            to.ids(&install.members);
            to.long(install.next);
            to.tail(&install.tail);
        }
        Body::Join { member, is_again } => {
            to.word(member.0);
            to.word((*is_again).into());
        }
        Body::Gone { tail } => to.tail(tail),
        Body::Leave | Body::Excluded => {}
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

/// Any bytes at all can be passed. Allocates no more than a small multiple of their number.
pub(crate) fn decode(packet: &[u8], group: Group) -> Result<(Id, Body), Refused> {
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
    let body = body(kind, Reader(&packet[HEADER..])).ok_or(Refused::Malformed)?;
    Ok((from, body))
}

fn kind(body: &Body) -> u16 {
    match body {
        Body::Signal { .. } => 0,
        Body::Collect { .. } => 1,
        Body::Report(_) => 2,
        Body::Install(_) => 3,
        Body::Join { .. } => 4,
        Body::Leave => 5,
        Body::Gone { .. } => 6,
        Body::Excluded => 7,
        Body::Part { .. } => 8,
        Body::Received { .. } => 9,
    }
}

fn body(kind: u16, mut from: Reader<'_>) -> Option<Body> {
    let body = match kind {
        0 => Body::Signal {
            view: from.view()?,
            epoch: from.long()?,
            terms: from.word()?,
            round: from.word()?.try_into().ok()?,
            value: from.long()?,
        },
        1 => Body::Collect {
            view: from.view()?,
            lost: from.ids()?,
            joining: from.ids()?,
        },
        2 => Body::Report(Report {
            view: from.view()?,
            members: from.ids()?,
            next: from.long()?,
            tail: from.tail()?,
            lost: from.ids()?,
            joining: from.ids()?,
            is_leaving: from.flag()?,
        }),
        3 => Body::Install(Install {
            view: from.view()?,
            members: from.ids()?,
            next: from.long()?,
            tail: from.tail()?,
        }),
        4 => Body::Join {
            member: Id(from.word()?),
            is_again: from.flag()?,
        },
        5 => Body::Leave,
        6 => Body::Gone { tail: from.tail()? },
        7 => Body::Excluded,
        8 => Body::Part {
            number: from.word()?,
            received: from.word()?,
            is_last: from.flag()?,
            bytes: std::mem::take(&mut from.0).to_vec(),
        },
        9 => Body::Received {
            received: from.word()?,
        },
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

    fn view(&mut self) -> Option<ViewId> {
        Some(ViewId {
            number: self.long()?,
            by: Id(self.word()?),
        })
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
        // Each takes at least 16 bytes.
        if count > self.0.len() / 16 {
            return None;
        }
        let mut tail = Vec::with_capacity(count);
        for _ in 0..count {
            let epoch = self.long()?;
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
    use mgn_fuzzing::Random;

    const GROUP: Group = Group(77);

    fn each() -> Vec<Body> {
        let view = ViewId {
            number: 3,
            by: Id(2),
        };
        let tail = vec![
            (4, Outcome::Passed(9)),
            (5, Outcome::Lost(vec![Id(7), Id(8)])),
        ];
        vec![
            Body::Signal {
                view,
                epoch: 5,
                terms: 6,
                round: 7,
                value: u64::MAX,
            },
            Body::Collect {
                view,
                lost: vec![Id(1)],
                joining: vec![Id(6)],
            },
            Body::Report(Report {
                view,
                members: vec![Id(4), Id(1)],
                next: 6,
                tail: tail.clone(),
                lost: vec![Id(9)],
                joining: vec![Id(11)],
                is_leaving: true,
            }),
            Body::Install(Install {
                view,
                members: Vec::new(),
                next: 6,
                tail: tail.clone(),
            }),
            Body::Join {
                member: Id(3),
                is_again: true,
            },
            Body::Leave,
            Body::Gone { tail: tail.clone() },
            Body::Excluded,
            Body::Part {
                number: 1,
                received: 2,
                is_last: true,
                bytes: b"part".to_vec(),
            },
            Body::Received { received: 12 },
        ]
    }

    #[test]
    fn packets_are_read_as_they_are_written() {
        for body in each() {
            let packet = encode(GROUP, Id(5), &body);
            assert_eq!(decode(&packet, GROUP), Ok((Id(5), body)));
            assert_eq!(group_of(&packet), Some(GROUP));
            assert_eq!(sender_of(&packet), Some(Id(5)));
            let other = decode(&packet, Group(78));
            assert!(matches!(other, Err(Refused::Group { .. })));
            let mut later = packet.clone();
            later[4] += 1;
            let later = decode(&later, GROUP);
            assert!(matches!(later, Err(Refused::Release { theirs: 2, .. })));
        }
    }

    #[test]
    fn damaged_packets_are_refused_or_read_but_never_panic() {
        let mut random = Random::new(3);
        for body in each() {
            let packet = encode(GROUP, Id(5), &body);
            for len in 0..packet.len() {
                let is_part = matches!(body, Body::Part { .. });
                assert!(decode(&packet[..len], GROUP).is_err() || is_part);
            }
            let longer = [&packet[..], &[0]].concat();
            assert!(decode(&longer, GROUP).is_err() || matches!(body, Body::Part { .. }));
            for _ in 0..2000 {
                let mut bytes = packet.clone();
                for _ in 0..=random.below(4) {
                    let at = random.below(bytes.len());
                    bytes[at] = random.next() as u8;
                }
                let _ = decode(&bytes, GROUP);
            }
        }
    }
}
