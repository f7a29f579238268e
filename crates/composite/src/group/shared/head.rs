//! What a member says of a frame: what it believes to be composited, and where its picture is.

use std::ops::Range;

use super::control::HEAD_WORDS;
use super::memory::Place;
use crate::covered::{Covered, Pixel, Rectangle};
use crate::group::Terms;

/// Which member merges which pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::group) enum Mode {
    /// The members' messages, not memory.
    Messages,
    /// The receiver merges all.
    Gather,
    /// Each member merges its stripe.
    Stripes,
}

/// What all members have to say alike, in words that can be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Agreed([u64; 4]);

/// Names of what the words of [`Agreed`] hold.
const WHAT: [&str; 4] = [
    "pictures of another size",
    "pictures of another format, with another operation or schedule",
    "for another receiver",
    "pictures in another order",
];

impl Agreed {
    pub fn new(terms: &Terms, mode: Mode, order: &[usize]) -> Agreed {
        let size = (terms.width as u64) << 32 | terms.height as u64;
        let to = terms.to.map_or(u64::MAX, |to| to as u64);
        // FNV-1a, of whole ranks.
        let hash = |hash: u64, rank: &usize| (hash ^ *rank as u64).wrapping_mul(0x0100_0000_01b3);
        let order = order.iter().fold(0xcbf2_9ce4_8422_2325, hash);
        let depth = terms.format.depth.map_or(0, |depth| 1 + depth as u64);
        let kind = [
            terms.format.color as u64,
            depth,
            terms.operation as u64,
            mode as u64,
        ];
        let kind = kind.iter().fold(0, |kind, one| kind << 8 | one);
        Agreed([size, kind, to, order])
    }

    /// What is different, in words for whom it concerns.
    pub fn difference(&self, other: &Agreed) -> Option<&'static str> {
        let differs = self
            .0
            .iter()
            .zip(&other.0)
            .position(|(one, other)| one != other);
        differs.map(|at| WHAT[at])
    }
}

/// A member's words about a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub frame: u32,
    pub agreed: Agreed,
    pub place: Place,
    pub covered: Covered,
}

impl Head {
    pub fn to_words(&self) -> [u64; HEAD_WORDS] {
        let pair = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        let range = |range: &Range<usize>| pair(range.start as u32, range.end as u32);
        let Pixel { color, depth } = self.covered.background;
        let color = u128::from_le_bytes(color);
        let [a, b, c, d] = self.agreed.0;
        [
            pair(self.frame, u32::from_le_bytes(depth)),
            a,
            b,
            c,
            d,
            pair(self.place.memory, self.place.fd),
            self.place.size,
            self.place.color,
            self.place.depth,
            range(&self.covered.rectangle.columns),
            range(&self.covered.rectangle.rows),
            color as u64,
            (color >> 64) as u64,
            0,
            0,
            0,
        ]
    }

    pub fn from_words(words: [u64; HEAD_WORDS]) -> Head {
        let [low, high] = [0, 32].map(|shift| move |at: usize| (words[at] >> shift) as u32);
        let range = |at: usize| low(at) as usize..high(at) as usize;
        let color = u128::from(words[11]) | u128::from(words[12]) << 64;
        Head {
            frame: low(0),
            agreed: Agreed([words[1], words[2], words[3], words[4]]),
            place: Place {
                memory: low(5),
                fd: high(5),
                size: words[6],
                color: words[7],
                depth: words[8],
            },
            covered: Covered {
                rectangle: Rectangle {
                    columns: range(9),
                    rows: range(10),
                },
                background: Pixel {
                    color: color.to_le_bytes(),
                    depth: high(0).to_le_bytes(),
                },
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Color, Depth, Format, Operation};

    fn terms() -> Terms {
        Terms {
            width: 640,
            height: 480,
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
    fn heads_are_read_as_they_are_written() {
        let head = Head {
            frame: 77,
            agreed: Agreed::new(&terms(), Mode::Stripes, &[0, 2, 1]),
            place: Place {
                memory: 3,
                fd: 9,
                size: 1 << 40,
                color: 4096,
                depth: 1 << 33,
            },
            covered: Covered {
                rectangle: Rectangle {
                    columns: 5..600,
                    rows: 7..8,
                },
                background: Pixel {
                    color: std::array::from_fn(|at| at as u8),
                    depth: [1, 2, 3, 4],
                },
            },
        };
        assert_eq!(Head::from_words(head.to_words()), head);
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
        let mut spread = terms();
        spread.to = None;
        let others = [
            (Agreed::new(&wide, Mode::Gather, &order), WHAT[0]),
            (Agreed::new(&unorm, Mode::Gather, &order), WHAT[1]),
            (Agreed::new(&terms(), Mode::Stripes, &order), WHAT[1]),
            (Agreed::new(&spread, Mode::Gather, &order), WHAT[2]),
            (Agreed::new(&terms(), Mode::Gather, &[1, 0]), WHAT[3]),
            (Agreed::new(&terms(), Mode::Gather, &[0]), WHAT[3]),
        ];
        for (other, what) in others {
            assert_eq!(agreed.difference(&other), Some(what));
        }
    }
}
