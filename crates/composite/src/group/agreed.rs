//! The properties of a frame that all members of a group must agree on. Each member sends them to
//! the members that get its pixels, which compare them with their own.

use super::Terms;
use crate::{Operation, Schedule};

/// How the pixels of a frame come together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// By messages.
    Messages(Schedule),
    /// In memory that all share: the receiver merges everything.
    Gather,
    /// In memory that all share: members merge stripes. If each keeps its piece, a member merges
    /// its own stripe, otherwise the stripes that it claims.
    Stripes,
    /// On each host in memory, and between hosts by messages.
    Hosts(Schedule),
}

impl Mode {
    /// A word that is different for each mode and schedule.
    fn to_word(self) -> u64 {
        let (kind, schedule) = match self {
            Mode::Gather => (0, None),
            Mode::Stripes => (1, None),
            Mode::Messages(schedule) => (2, Some(schedule)),
            Mode::Hosts(schedule) => (3, Some(schedule)),
        };
        let (name, k) = match schedule {
            None => (0, 0),
            Some(Schedule::DirectSend) => (1, 0),
            Some(Schedule::BinarySwap) => (2, 0),
            Some(Schedule::TwoThreeSwap) => (3, 0),
            Some(Schedule::RadixK(k)) => (4, k),
            Some(Schedule::Tree(k)) => (5, k),
        };
        kind | name << 4 | (k as u64) << 8
    }
}

/// The agreed properties, in words that can be compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Agreed(pub [u64; Agreed::WORDS]);

/// For error messages: what a member composites if its word of [`Agreed`] differs.
const WHAT: [&str; Agreed::WORDS] = [
    "pictures of another size",
    "pictures of another format, or with another operation",
    "by another schedule",
    "for another receiver",
    "pictures in another order",
    "another tile of the picture",
];

impl Agreed {
    pub const WORDS: usize = 6;

    pub fn new(terms: &Terms, mode: Mode, order: &[usize]) -> Agreed {
        let size = (terms.width as u64) << 32 | terms.height as u64;
        let to = terms.to.map_or(u64::MAX, |to| to as u64);
        // FNV-1a, over whole ranks instead of bytes.
        let hash = |hash: u64, rank: &usize| (hash ^ *rank as u64).wrapping_mul(0x0100_0000_01b3);
        let order = order.iter().fold(0xcbf2_9ce4_8422_2325, hash);
        let depth = terms.format.depth.map_or(0, |depth| 1 + depth as u64);
        let kind = [terms.format.color as u64, depth, terms.operation as u64];
        let kind = kind.iter().fold(0, |kind, one| kind << 8 | one);
        let [column, row] = terms.origin.map(|at| at as u64);
        let at = column << 32 | row & 0xFFFF_FFFF;
        Agreed([size, kind, mode.to_word(), to, order, at])
    }

    /// The first property in which another member differs, in words for an error message, and both
    /// values if they can be named.
    pub fn difference(&self, theirs: &Agreed) -> Option<String> {
        let at = (0..Agreed::WORDS).find(|at| self.0[*at] != theirs.0[*at])?;
        let values = [theirs, self].map(|agreed| value(at, agreed.0[at]));
        Some(match values {
            [Some(theirs), Some(ours)] => format!("{} ({theirs}; this rank: {ours})", WHAT[at]),
            _ => WHAT[at].to_owned(),
        })
    }
}

/// The value of a word of [`Agreed`], if it has a name. The word may come from another process.
fn value(at: usize, word: u64) -> Option<String> {
    match at {
        0 => Some(format!("{} by {} pixels", word >> 32, word as u32)),
        1 => {
            let [.., color, depth, operation] = word.to_be_bytes();
            let (_, operation) = Operation::NAMES.get(usize::from(operation))?;
            let color = ["RGBA8", "RGBA16F", "RGBA32F"].get(usize::from(color))?;
            let depth =
                ["", " with integer depths", " with float depths"].get(usize::from(depth))?;
            Some(format!("{operation}, {color}{depth}"))
        }
        3 if word == u64::MAX => Some("none: each rank keeps its piece".to_owned()),
        3 => Some(format!("rank {word}")),
        5 => Some(format!("at column {}, row {}", word >> 32, word as u32)),
        _ => None,
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::{Color, Depth, Format};

    pub fn terms() -> Terms {
        Terms {
            width: 640,
            height: 480,
            origin: [0, 0],
            format: Format {
                color: Color::Rgba8,
                depth: Some(Depth::Float),
            },
            operation: Operation::Nearest,
            schedule: None,
            order: None,
            to: Some(0),
        }
    }

    #[test]
    fn each_difference_is_named() {
        let order = [0, 1];
        let agreed = Agreed::new(&terms(), Mode::Gather, &order);
        assert_eq!(agreed.difference(&agreed), None);
        let mut wide = terms();
        (wide.width, wide.height) = (480, 640);
        let mut unorm = terms();
        unorm.format.depth = Some(Depth::Unorm);
        let mut half = terms();
        half.format.color = Color::Rgba16f;
        let mut spread = terms();
        spread.to = None;
        let mut other = terms();
        other.origin = [640, 0];
        let mut over = terms();
        over.operation = Operation::Over;
        over.format.depth = None;
        let new = |terms: &Terms| Agreed::new(terms, Mode::Gather, &order);
        let others = [
            (new(&wide), " (480 by 640 pixels; this rank: 640 by 480 pixels)"),
            (
                new(&unorm),
                " (nearest, RGBA8 with integer depths; this rank: nearest, RGBA8 with float depths)",
            ),
            (
                new(&half),
                " (nearest, RGBA16F with float depths; this rank: nearest, RGBA8 with float depths)",
            ),
            (
                new(&over),
                " (over, RGBA8; this rank: nearest, RGBA8 with float depths)",
            ),
            (Agreed::new(&terms(), Mode::Stripes, &order), ""),
            (
                new(&spread),
                " (none: each rank keeps its piece; this rank: rank 0)",
            ),
            (Agreed::new(&terms(), Mode::Gather, &[1, 0]), ""),
            (Agreed::new(&terms(), Mode::Gather, &[0]), ""),
            (
                new(&other),
                " (at column 640, row 0; this rank: at column 0, row 0)",
            ),
        ];
        for ((other, values), at) in others.into_iter().zip([0, 1, 1, 1, 2, 3, 4, 4, 5]) {
            let expected = format!("{}{values}", WHAT[at]);
            assert_eq!(agreed.difference(&other), Some(expected));
        }
        // Words that no release sends.
        for at in [1, 3, 5] {
            let mut odd = agreed;
            odd.0[at] = u64::MAX - 1;
            assert!(agreed.difference(&odd).unwrap().starts_with(WHAT[at]));
        }
    }

    #[test]
    fn each_mode_is_another() {
        let modes = [
            Mode::Gather,
            Mode::Stripes,
            Mode::Messages(Schedule::DirectSend),
            Mode::Messages(Schedule::BinarySwap),
            Mode::Messages(Schedule::TwoThreeSwap),
            Mode::Messages(Schedule::RadixK(4)),
            Mode::Messages(Schedule::RadixK(8)),
            Mode::Messages(Schedule::Tree(8)),
            Mode::Hosts(Schedule::DirectSend),
            Mode::Hosts(Schedule::RadixK(8)),
        ];
        for (at, mode) in modes.iter().enumerate() {
            for other in &modes[at + 1..] {
                assert_ne!(mode.to_word(), other.to_word());
            }
        }
    }
}
