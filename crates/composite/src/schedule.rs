//! The schedules by name, and how each groups the members of a composition.

use std::fmt::{self, Display, Formatter};
use std::ops::Range;
use std::str::FromStr;

/// Which members merge their pixels with each other, round by round.
///
/// In each round, neighbouring blocks of members join into larger blocks, until one is left. Except
/// in trees, the members of a block share its pixels, so that all members work in every round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Schedule {
    /// One round: each member merges its stripe of all pictures.
    DirectSend,
    /// Two blocks join at a time.
    BinarySwap,
    /// Two or three blocks join at a time, so that no block is ever left alone.
    TwoThreeSwap,
    /// K blocks join at a time; K is at least 2.
    RadixK(usize),
    /// The first of K members receives all pixels of the others; K is at least 2. With K = 8, it is
    /// a cascade of nodes like those of hardware compositors.
    Tree(usize),
}

/// An unknown name of a schedule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no schedule {0:?}: use direct, binary-swap, 2-3-swap, radix-K or tree-K, where K is at least 2, as in radix-8")]
pub struct UnknownSchedule(String);

impl Schedule {
    /// The blocks after each round, for this number of members. After the last round, there is one
    /// block.
    pub(crate) fn rounds(self, members: usize) -> Vec<Vec<Range<usize>>> {
        let mut blocks: Vec<Range<usize>> = (0..members).map(|member| member..member + 1).collect();
        let mut rounds = Vec::new();
        while blocks.len() > 1 {
            let groups = match self {
                Schedule::DirectSend => 1,
                Schedule::BinarySwap => blocks.len().div_ceil(2),
                Schedule::TwoThreeSwap => (blocks.len() / 2).max(1),
                Schedule::RadixK(k) | Schedule::Tree(k) => blocks.len().div_ceil(k.max(2)),
            };
            let first = |group: usize| group * blocks.len() / groups;
            blocks = (0..groups)
                .map(|group| blocks[first(group)].start..blocks[first(group + 1) - 1].end)
                .collect();
            rounds.push(blocks.clone());
        }
        rounds
    }

    /// Whether the first member of a block gets all of its pixels.
    pub(crate) fn concentrates(self) -> bool {
        matches!(self, Schedule::Tree(_))
    }
}

impl Display for Schedule {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Schedule::DirectSend => f.write_str("direct"),
            Schedule::BinarySwap => f.write_str("binary-swap"),
            Schedule::TwoThreeSwap => f.write_str("2-3-swap"),
            Schedule::RadixK(k) => write!(f, "radix-{k}"),
            Schedule::Tree(k) => write!(f, "tree-{k}"),
        }
    }
}

impl FromStr for Schedule {
    type Err = UnknownSchedule;

    fn from_str(name: &str) -> Result<Schedule, UnknownSchedule> {
        let unknown = || UnknownSchedule(name.to_owned());
        let number = |text: &str| text.parse().ok().filter(|k| *k >= 2).ok_or_else(unknown);
        match name.rsplit_once('-') {
            Some(("radix", k)) => Ok(Schedule::RadixK(number(k)?)),
            Some(("tree", k)) => Ok(Schedule::Tree(number(k)?)),
            _ => match name {
                "direct" => Ok(Schedule::DirectSend),
                "binary-swap" => Ok(Schedule::BinarySwap),
                "2-3-swap" => Ok(Schedule::TwoThreeSwap),
                _ => Err(unknown()),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        for name in ["direct", "binary-swap", "2-3-swap", "radix-8", "tree-2"] {
            assert_eq!(name.parse::<Schedule>().unwrap().to_string(), name);
        }
        for name in ["", "radix", "radix-1", "tree-x", "binary", "3-2-swap"] {
            assert!(name.parse::<Schedule>().is_err(), "{name}");
        }
    }

    #[test]
    fn blocks_join_as_the_names_say() {
        let sizes = |schedule: Schedule, members| -> Vec<Vec<usize>> {
            let rounds = schedule.rounds(members);
            rounds
                .iter()
                .map(|blocks| blocks.iter().map(ExactSizeIterator::len).collect())
                .collect()
        };
        assert_eq!(sizes(Schedule::DirectSend, 7), [vec![7]]);
        assert_eq!(
            sizes(Schedule::BinarySwap, 8),
            [vec![2; 4], vec![4; 2], vec![8]]
        );
        assert_eq!(sizes(Schedule::TwoThreeSwap, 5), [vec![2, 3], vec![5]]);
        assert_eq!(sizes(Schedule::RadixK(8), 64), [vec![8; 8], vec![64]]);
        assert_eq!(sizes(Schedule::Tree(8), 512).len(), 3);
        assert!(sizes(Schedule::BinarySwap, 1).is_empty());
    }

    #[test]
    fn two_three_swap_leaves_no_block_alone() {
        for members in 2..100 {
            let mut before = members;
            for round in Schedule::TwoThreeSwap.rounds(members) {
                assert!((2 * round.len()..=3 * round.len()).contains(&before));
                before = round.len();
            }
            assert_eq!(before, 1);
        }
    }
}
