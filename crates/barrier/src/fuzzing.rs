//! The fuzz target of this crate: the packets that a member gets from the other members of its
//! group.

use std::time::Duration;

use mgn_fuzzing::Target;

use crate::member::Member;
use crate::packet::{decode, encode, Body, Install, Outcome, Report, Wish};
use crate::view::{Roster, ViewId};
use crate::{Barrier, Combine, Group, Id, Recipient, Star, View};

pub const TARGETS: &[Target] = &[Target {
    name: "barrier",
    feed,
    seeds,
    runs: 3000,
}];

pub(crate) const GROUP: Group = Group(77);
/// The member that receives.
const ME: Id = Id(1);
/// The bytes before each packet: the step, and the length of the packet.
const HEADER: usize = 2;

/// The greatest number of a view that other members may name. Beyond the largest number, the member
/// could not name the next view. This is no weakness: a process that may send to the member can
/// prevent changes of the group in other ways, too.
const VIEWS_MAX: u64 = 1 << 60;

/// The greatest number of a view in a packet.
fn newest_view(body: &Body) -> u64 {
    match body {
        Body::Signal { view, .. } | Body::Wish { view, .. } | Body::Gone { view, .. } => {
            view.number
        }
        Body::Collect { view, proposal } => view.number.max(proposal.number),
        Body::Report(report) => {
            let views = [report.proposal, report.promised, report.view];
            views.map(|view| view.number).into_iter().max().unwrap_or(0)
        }
        Body::Install(install) => install.view.number,
        Body::Excluded | Body::Part { .. } | Body::Received { .. } | Body::Probe => 0,
    }
}

/// Runs one member of a group of three. The input is a list of steps: packets from the other two
/// members, arrivals of this member, the loss of another member, and time that passes. Checks that
/// after each step, the member sends only a few packets, and that the others can decode them.
fn feed(bytes: &[u8]) {
    let view = View::new([0, 1, 2].map(Id)).expect("these are members");
    let member = Member::new(GROUP, ME, &view, Star::default(), Combine::Max);
    let mut member = member.expect("it is one of them");
    let mut now = Duration::ZERO;
    let mut has_parts = false;
    let mut rest = bytes;
    while let Some((&[step, len], after)) = rest.split_first_chunk::<HEADER>() {
        let (packet, after) = after.split_at(after.len().min(len.into()));
        rest = after;
        let from = Id(u32::from(step & 1) * 2);
        match step >> 1 & 3 {
            0 | 1 => {
                if let Ok((sender, body)) = decode(packet, GROUP, ME) {
                    if newest_view(&body) > VIEWS_MAX {
                        continue;
                    }
                    // Several parts become one packet, which is not visible here.
                    has_parts |= matches!(body, Body::Part { .. });
                    let again = encode(GROUP, sender, Some(ME), &body);
                    assert_eq!(decode(&again, GROUP, ME), Ok((sender, body)));
                }
                // Refused packets do no harm.
                let _ = member.receive(now, from, packet);
            }
            2 if step & 8 != 0 => member.lost(now, from),
            2 => {
                let _ = member.arrive(now, len.into());
            }
            _ => {
                now += Duration::from_millis(len.into());
                member.timeout(now);
            }
        }
        for number in 0.. {
            assert!(number < 100, "the member does not stop sending");
            let Some(sent) = member.poll_transmit() else {
                break;
            };
            let to = match sent.to {
                Recipient::Member(to) => to,
                _ => Id(0),
            };
            let read = decode(&sent.packet, GROUP, to);
            assert!(
                has_parts || read.is_ok(),
                "others cannot read {:?}",
                sent.packet
            );
        }
        for number in 0.. {
            assert!(number < 100, "the member does not stop reporting events");
            if member.poll_event().is_none() {
                break;
            }
        }
    }
}

fn seeds() -> Vec<Vec<u8>> {
    let packet = |body: &Body, from: u8| {
        let packet = encode(GROUP, Id(from.into()), Some(ME), body);
        let len = u8::try_from(packet.len()).expect("these are short");
        [&[from / 2, len][..], &packet].concat()
    };
    let of_each = bodies();
    let each = of_each.iter().map(|body| packet(body, 0));
    // Two arrivals, between which this member arrives, and the release.
    let view = ViewId::FIRST;
    let signal = |round| Body::Signal {
        view,
        epoch: 0,
        terms: 1,
        round,
        value: 5,
    };
    let round = [
        packet(&signal(0), 2),
        vec![4, 9],
        packet(&signal(1), 0),
        vec![6, 200],
        vec![12, 0],
    ];
    let change = [
        packet(
            &Body::Collect {
                view,
                proposal: ViewId {
                    number: 2,
                    by: Id(0),
                },
            },
            0,
        ),
        packet(&of_each[5], 0),
    ];
    let lists = [round.concat(), change.concat()];
    each.chain(lists).collect()
}

/// A packet body of each kind.
pub(crate) fn bodies() -> Vec<Body> {
    let view = ViewId {
        number: 3,
        by: Id(2),
    };
    let tail = vec![
        (4, Outcome::Passed(9)),
        (5, Outcome::Lost(vec![Id(7), Id(8)])),
    ];
    let roster = Roster::new(vec![Id(4), Id(1)], vec![Id(11)], vec![Id(9)]).unwrap();
    let report = Report {
        proposal: view,
        promised: view,
        view,
        roster: Some(roster.clone()),
        next: 6,
        tail: tail.clone(),
        lost: vec![Id(9)],
        joining: vec![Id(11)],
        is_leaving: true,
    };
    let wish = Wish {
        lost: vec![Id(1)],
        joining: vec![Id(6)],
        is_leaving: true,
        is_stuck: false,
    };
    vec![
        Body::Signal {
            view,
            epoch: 5,
            terms: 6,
            round: 7,
            value: u64::MAX,
        },
        Body::Wish { view, wish },
        Body::Collect {
            view,
            proposal: view,
        },
        Body::Report(Report {
            roster: None,
            ..report.clone()
        }),
        Body::Report(report),
        Body::Install(Install {
            view,
            roster,
            next: 6,
            tail: tail.clone(),
        }),
        Body::Gone { view, tail },
        Body::Excluded,
        Body::Part {
            number: 1,
            received: 2,
            is_last: true,
            bytes: b"part".to_vec(),
        },
        Body::Received { received: 12 },
        Body::Probe,
    ]
}

#[cfg(test)]
mod tests {
    #[test]
    fn targets_keep_their_promises() {
        super::TARGETS.iter().for_each(mgn_fuzzing::replay);
    }
}
