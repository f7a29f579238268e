//! What one member of a composition sends, receives and merges, in each round. Plain data: all of
//! it follows from the arguments of [`Plan::new`].

use std::ops::Range;

use crate::Schedule;

/// Pieces of a picture begin at multiples of this number of pixels, so that no two members write to
/// the same cache line.
const ALIGN: usize = 16;

/// Where the merged picture goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// All of it to one member.
    Member(usize),
    /// All of it goes to a rank that has no picture: a [watcher](Plan::watcher).
    Watcher,
    /// Each member keeps what it has merged.
    Spread,
}

/// One member's part of a composition. Members are numbered in the order of their pictures, front
/// to back; pixels row by row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    pub rounds: Vec<Round>,
    /// The part of the merged picture that the member holds after the last round, and the part that
    /// it sends to the receiver.
    pub merged: Range<usize>,
    pub deliver: Option<Outbound>,
    /// The parts of the merged picture that the member gets from others.
    pub collect: Vec<Inbound>,
}

/// The member sends parts of the pixels that it holds, and merges the rest with what it receives. A
/// member without anything to do has empty lists, and keeps its pixels.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Round {
    pub sends: Vec<Outbound>,
    pub receives: Vec<Inbound>,
    /// Together, these are the pixels that the member holds afterwards.
    pub merges: Vec<Share>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outbound {
    pub to: usize,
    pub pixels: Range<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inbound {
    pub from: usize,
    pub pixels: Range<usize>,
    /// Whether the sender has merged them, so that they are not of its own picture.
    pub is_merged: bool,
}

/// Pixels, and the members whose layers they are merged from, in order. This member's own layer is
/// what it holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Share {
    pub pixels: Range<usize>,
    pub layers: Vec<usize>,
}

impl Plan {
    /// The plan of `member`, one of `members`, for a picture of this number of pixels.
    ///
    /// # Panics
    /// If `member`, or the member that the delivery names, is not less than `members`.
    pub fn new(
        schedule: Schedule,
        members: usize,
        member: usize,
        pixels: usize,
        delivery: Delivery,
    ) -> Plan {
        assert!(member < members, "member {member} of {members}");
        let steps = steps(schedule, members, pixels);
        let rounds = steps.iter().map(|step| step.round(member)).collect();
        let held = last(&steps, members, pixels);
        let merged = held[member].clone();
        let deliver = |to| {
            (!merged.is_empty()).then(|| Outbound {
                to,
                pixels: merged.clone(),
            })
        };
        let (deliver, collect) = match delivery {
            Delivery::Spread => (None, Vec::new()),
            Delivery::Watcher => (deliver(members), Vec::new()),
            Delivery::Member(to) => {
                assert!(to < members, "member {to} of {members}");
                match to == member {
                    true => (None, collect(&held, Some(member))),
                    false => (deliver(to), Vec::new()),
                }
            }
        };
        Plan {
            rounds,
            merged,
            deliver,
            collect,
        }
    }

    /// The plan of a rank that has no picture, and gets the merged one. In the members' plans, its
    /// number is that of the last member plus 1.
    pub fn watcher(schedule: Schedule, members: usize, pixels: usize) -> Plan {
        let steps = steps(schedule, members, pixels);
        Plan {
            rounds: vec![Round::default(); steps.len()],
            merged: 0..0,
            deliver: None,
            collect: collect(&last(&steps, members, pixels), None),
        }
    }
}

/// One round.
struct Step {
    /// The blocks before the round, and after it.
    blocks: Vec<Range<usize>>,
    joined: Vec<Range<usize>>,
    /// The part that each member holds before the round, and after it.
    held: Vec<Range<usize>>,
    next: Vec<Range<usize>>,
}

impl Step {
    fn round(&self, member: usize) -> Round {
        let mine = self.joined.iter().find(|block| block.contains(&member));
        let is_mine = |part: &&Range<usize>| mine.is_some_and(|mine| mine.contains(&part.start));
        let parts: Vec<&Range<usize>> = self.blocks.iter().filter(is_mine).collect();
        match parts.len() {
            0 | 1 => Round::default(),
            _ => round(member, &parts, &self.held, &self.next),
        }
    }
}

fn steps(schedule: Schedule, members: usize, pixels: usize) -> Vec<Step> {
    let mut held = vec![0..pixels; members];
    let mut blocks: Vec<Range<usize>> = (0..members).map(|member| member..member + 1).collect();
    let mut steps = Vec::new();
    for joined in schedule.rounds(members) {
        let mut next = held.clone();
        for block in &joined {
            // A block that joins no other block in this round stays as it is.
            if !blocks.contains(block) {
                match schedule.concentrates() {
                    true => concentrate(block, pixels, &mut next),
                    false => share(block, pixels, &held, &mut next),
                }
            }
        }
        steps.push(Step {
            blocks: std::mem::replace(&mut blocks, joined.clone()),
            joined,
            held: std::mem::replace(&mut held, next.clone()),
            next,
        });
    }
    steps
}

/// The part that each member holds after the last round.
fn last(steps: &[Step], members: usize, pixels: usize) -> Vec<Range<usize>> {
    let last = steps.last().map(|step| step.next.clone());
    last.unwrap_or_else(|| vec![0..pixels; members])
}

/// The parts that all members except `but` have merged.
fn collect(held: &[Range<usize>], but: Option<usize>) -> Vec<Inbound> {
    let others = held
        .iter()
        .enumerate()
        .filter(|(from, _)| Some(*from) != but);
    others
        .filter(|(_, pixels)| !pixels.is_empty())
        .map(|(from, pixels)| Inbound {
            from,
            pixels: pixels.clone(),
            is_merged: held.len() > 1,
        })
        .collect()
}

/// All pixels of the block go to its first member.
fn concentrate(block: &Range<usize>, pixels: usize, held: &mut [Range<usize>]) {
    for member in block.clone() {
        held[member] = match member == block.start {
            true => 0..pixels,
            false => 0..0,
        };
    }
}

/// The members of the block get pieces of the same size, up to alignment. Members that held
/// neighbouring pieces get neighbouring pieces, so that they keep most of their pixels.
fn share(block: &Range<usize>, pixels: usize, held: &[Range<usize>], next: &mut [Range<usize>]) {
    let mut members: Vec<usize> = block.clone().collect();
    members.sort_by_key(|member| (held[*member].start, *member));
    let count = members.len();
    for (piece, member) in members.into_iter().enumerate() {
        next[member] = stripe(pixels, piece, count);
    }
}

/// The pixels of one of `count` pieces.
pub(crate) fn stripe(pixels: usize, piece: usize, count: usize) -> Range<usize> {
    let cut = |piece: usize| match piece == count {
        true => pixels,
        false => (pixels as u64 * piece as u64 / count as u64) as usize / ALIGN * ALIGN,
    };
    cut(piece)..cut(piece + 1)
}

/// The work of `member` while the blocks `parts` are joined.
fn round(
    member: usize,
    parts: &[&Range<usize>],
    held: &[Range<usize>],
    next: &[Range<usize>],
) -> Round {
    let everybody = || parts.iter().flat_map(|part| (*part).clone());
    let others = || everybody().filter(|other| *other != member);
    let sends = others()
        .map(|to| Outbound {
            to,
            pixels: overlap(&held[member], &next[to]),
        })
        .filter(|send| !send.pixels.is_empty())
        .collect();
    let receives = others()
        .map(|from| Inbound {
            from,
            pixels: overlap(&held[from], &next[member]),
            is_merged: !parts.contains(&&(from..from + 1)),
        })
        .filter(|receive| !receive.pixels.is_empty())
        .collect();
    // Between two cuts, each block contributes one layer.
    let mut cuts: Vec<usize> = everybody()
        .map(|from| overlap(&held[from], &next[member]))
        .filter(|pixels| !pixels.is_empty())
        .flat_map(|pixels| [pixels.start, pixels.end])
        .collect();
    cuts.sort_unstable();
    cuts.dedup();
    let merges = cuts
        .windows(2)
        .map(|cut| Share {
            pixels: cut[0]..cut[1],
            layers: everybody()
                .filter(|from| held[*from].contains(&cut[0]))
                .collect(),
        })
        .collect();
    Round {
        sends,
        receives,
        merges,
    }
}

fn overlap(one: &Range<usize>, other: &Range<usize>) -> Range<usize> {
    let start = one.start.max(other.start);
    start..one.end.min(other.end).max(start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn binary_swap_halves_what_each_has() {
        let plan = Plan::new(Schedule::BinarySwap, 4, 1, 1024, Delivery::Spread);
        let send = |to, pixels| vec![Outbound { to, pixels }];
        assert_eq!(plan.rounds[0].sends, send(0, 0..512));
        assert_eq!(plan.rounds[1].sends, send(3, 768..1024));
        assert_eq!(plan.merged, 512..768);
        assert_eq!(plan.rounds[0].merges[0].layers, [0, 1]);
        assert_eq!(plan.rounds[1].merges[0].layers, [1, 3]);
    }

    #[test]
    fn trees_leave_all_to_the_first() {
        let plan = Plan::new(Schedule::Tree(8), 64, 0, 100, Delivery::Member(3));
        assert_eq!(plan.rounds.len(), 2);
        assert_eq!(
            plan.rounds[1].merges[0].layers,
            [0, 8, 16, 24, 32, 40, 48, 56]
        );
        let deliver = plan.deliver.map(|send| (send.to, send.pixels));
        assert_eq!(deliver, Some((3, 0..100)));
        let other = Plan::new(Schedule::Tree(8), 64, 9, 100, Delivery::Member(3));
        assert_eq!((other.merged.len(), other.deliver), (0, None));
    }

    #[test]
    fn more_members_than_pixels_is_no_trouble() {
        for member in 0..40 {
            let plan = Plan::new(Schedule::DirectSend, 40, member, 33, Delivery::Member(0));
            let sent: usize = plan.rounds[0]
                .sends
                .iter()
                .map(|send| send.pixels.len())
                .sum();
            assert_eq!(sent + plan.merged.len(), 33);
        }
    }
}
