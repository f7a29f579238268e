//! Hosts with several members each: the members of a host merge their pictures in memory first, and
//! one of them exchanges the result with the other hosts. The traffic on the network grows with the
//! number of hosts, not with that of members.

use std::ops::Range;

use super::agreed::{Agreed, Mode};
use super::links::Links;
use super::messages::{Merging, Messages};
use super::shared::Shared;
use super::{CompositeError, Own, PictureRef, Terms};
use crate::covered::Covered;
use crate::Schedule;

/// How long a block may take to merge, as a multiple of the group's patience: once until its
/// members have drawn, and once until they have merged. By then, members of its host have named the
/// one that is late.
const MERGE_PATIENCE: u32 = 2;

/// Neighbours in the order whose pictures are merged in the memory of their host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Block {
    /// The ranks that have pictures, in order.
    pub order: Vec<usize>,
    /// The rank on their host that has the merged picture afterwards.
    pub leader: usize,
}

impl Block {
    pub fn contains(&self, rank: usize) -> bool {
        self.leader == rank || self.order.contains(&rank)
    }

    /// Whether memory is needed: to merge several pictures, or to hand the only one to the leader.
    pub fn uses_memory(&self) -> bool {
        self.order != [self.leader]
    }
}

/// The blocks of an order. `hosts` has the same number for ranks that share memory, and `to` is the
/// rank that gets the picture. None if no block has anything to merge.
///
/// Only neighbours in the order are merged first: in general, the result depends on the order.
pub(super) fn blocks(hosts: &[usize], order: &[usize], to: usize) -> Option<Vec<Block>> {
    let neighbours = order.chunk_by(|one, other| hosts[*one] == hosts[*other]);
    let mut blocks: Vec<Block> = neighbours
        .map(|ranks| Block {
            order: ranks.to_vec(),
            leader: ranks.iter().copied().min().unwrap_or_default(),
        })
        .collect();
    // Each of several blocks is led by its lowest rank. The receiver and the order within the block
    // make no difference here, so ranks that disagree about these two mostly exchange pieces, and
    // notice. If they have chosen other schedules, they notice when a piece does not come.
    if let [only] = &mut blocks[..] {
        if hosts[only.leader] == hosts[to] {
            only.leader = to;
        }
    }
    blocks.iter().any(Block::uses_memory).then_some(blocks)
}

/// The order and its blocks, as words that members compare.
fn words(blocks: &[Block]) -> Vec<usize> {
    let word = |block: &Block| [&block.order[..], &[usize::MAX, block.leader]].concat();
    blocks.iter().flat_map(word).collect()
}

/// How the leaders merge their pictures, by messages.
pub(super) fn merging<'t>(
    terms: &'t Terms,
    schedule: Schedule,
    blocks: &[Block],
    leaders: Vec<usize>,
) -> Merging<'t> {
    let is_partial = |block: &Block| block.uses_memory() && blocks.len() > 1;
    Merging {
        terms,
        agreed: Agreed::new(terms, Mode::Hosts(schedule), &words(blocks)),
        schedule,
        are_partial: blocks.iter().map(is_partial).collect(),
        order: leaders,
        merge_patience: MERGE_PATIENCE,
    }
}

/// Merges one picture of each member, first those of each block.
pub(super) fn composite<'g>(
    links: &Links<'_>,
    frame: u32,
    own: Own<'_>,
    blocks: &[Block],
    merging: &Merging<'_>,
    (shared, messages): (&'g mut Option<Shared>, &'g mut Messages),
) -> Result<(Range<usize>, PictureRef<'g>), CompositeError> {
    let mut merged = blocks.iter().filter(|block| block.uses_memory());
    let mine = merged.find(|block| block.contains(links.rank));
    let covered = match (shared.as_mut(), mine) {
        (Some(shared), Some(block)) => shared.composite_block(links, frame, &own, merging, block),
        (Some(shared), None) => {
            let passed = shared.pass(links, frame, merging);
            passed.map(|()| Covered::whole(0, 0))
        }
        (None, _) => Ok(Covered::whole(0, 0)),
    };
    let shared = shared.as_ref();
    let go_on = |covered| {
        if !merging.takes_part(links.rank) {
            return Ok((0..0, PictureRef::default()));
        }
        let (Some(shared), Some(_)) = (shared, mine) else {
            return messages.composite(links, frame, own, merging);
        };
        let merged = shared.merged(merging, covered);
        match merging.has_result(links.rank) {
            false => messages.composite_merged(links, frame, merged, merging),
            true => Ok((0..merging.terms.pixels(), merged.layer.into())),
        }
    };
    let result = covered.and_then(go_on);
    if let Some(shared) = shared {
        shared.end_frame(links, frame, &result);
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(order: &[usize], leader: usize) -> Block {
        Block {
            order: order.to_vec(),
            leader,
        }
    }

    #[test]
    fn neighbours_on_a_host_are_a_block() {
        let hosts = [0, 0, 0, 3, 3, 5];
        let all = [0, 1, 2, 3, 4, 5];
        let found = blocks(&hosts, &all, 1).unwrap();
        let wanted = [block(&[0, 1, 2], 0), block(&[3, 4], 3), block(&[5], 5)];
        assert_eq!(found, wanted);
        assert!(found[0].uses_memory() && !found[2].uses_memory());
        // In another order, members of one host are in several blocks.
        let found = blocks(&hosts, &[4, 0, 1, 3], 5).unwrap();
        assert_eq!(found, [block(&[4], 4), block(&[0, 1], 0), block(&[3], 3)]);
    }

    #[test]
    fn a_receiver_leads_where_all_pictures_are_on_its_host() {
        let hosts = [0, 1, 1, 1];
        let found = blocks(&hosts, &[2, 3], 3).unwrap();
        assert_eq!(found, [block(&[2, 3], 3)]);
        // The receiver needs no picture itself. A single picture is handed over in memory, too.
        let found = blocks(&hosts, &[3], 1).unwrap();
        assert_eq!(found, [block(&[3], 1)]);
        assert!(found[0].uses_memory() && found[0].contains(1) && !found[0].contains(2));
        let found = blocks(&hosts, &[2, 3], 0).unwrap();
        assert_eq!(found, [block(&[2, 3], 2)]);
    }

    #[test]
    fn there_are_no_blocks_where_nothing_is_merged() {
        assert_eq!(blocks(&[0, 1, 2], &[0, 1, 2], 0), None);
        assert_eq!(blocks(&[0, 1, 0, 1], &[0, 1, 2, 3], 0), None);
        assert_eq!(blocks(&[0, 0], &[], 0), None);
    }
}
