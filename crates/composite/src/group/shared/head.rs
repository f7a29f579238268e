//! A member's announcement of a frame: the terms that it assumes, and where its picture is.

use std::ops::Range;

use super::control::HEAD_WORDS;
use super::memory::PictureLocation;
use crate::covered::{Covered, Pixel, Rectangle};
use crate::group::agreed::Agreed;

/// A member's announcement of a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub frame: u32,
    pub agreed: Agreed,
    pub place: PictureLocation,
    pub covered: Covered,
    /// In a receiver's announcement: the pixel that the merged picture gets where no picture shows
    /// anything.
    pub background: Option<Pixel>,
    /// In the announcement of an early merge: the positions in the order of the merged pictures.
    /// Empty in all others.
    pub positions: Range<usize>,
}

impl Head {
    pub fn to_words(&self) -> [u64; HEAD_WORDS] {
        let pixel = self.background.unwrap_or(self.covered.background);
        let pair = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        let range = |range: &Range<usize>| pair(range.start as u32, range.end as u32);
        let Pixel { color, depth } = pixel;
        let color = u128::from_le_bytes(color);
        let [a, b, c, d, e, f] = self.agreed.0;
        [
            pair(self.frame, u32::from_le_bytes(depth)),
            a,
            b,
            c,
            d,
            e,
            pair(self.place.memory, self.place.fd),
            self.place.size,
            self.place.color,
            self.place.depth,
            range(&self.covered.rectangle.columns),
            range(&self.covered.rectangle.rows),
            color as u64,
            (color >> 64) as u64,
            f,
            u64::from(self.background.is_some()),
            range(&self.positions),
        ]
    }

    /// The difference, in words, if this head is about another frame than `number`, or other terms.
    pub fn difference(&self, number: u32, agreed: Agreed) -> Option<String> {
        match self.frame == number {
            true => agreed.difference(&self.agreed),
            false => Some("in another order or for another receiver".to_owned()),
        }
    }

    pub fn from_words(words: [u64; HEAD_WORDS]) -> Head {
        let [low, high] = [0, 32].map(|shift| move |at: usize| (words[at] >> shift) as u32);
        let range = |at: usize| low(at) as usize..high(at) as usize;
        let color = u128::from(words[12]) | u128::from(words[13]) << 64;
        let pixel = Pixel {
            color: color.to_le_bytes(),
            depth: high(0).to_le_bytes(),
        };
        let has_background = words[15] != 0;
        Head {
            frame: low(0),
            agreed: Agreed([words[1], words[2], words[3], words[4], words[5], words[14]]),
            place: PictureLocation {
                memory: low(6),
                fd: high(6),
                size: words[7],
                color: words[8],
                depth: words[9],
            },
            covered: Covered {
                rectangle: Rectangle {
                    columns: range(10),
                    rows: range(11),
                },
                background: if has_background {
                    Pixel::default()
                } else {
                    pixel
                },
            },
            background: has_background.then_some(pixel),
            positions: range(16),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_read_as_they_are_written() {
        let head = Head {
            frame: 77,
            agreed: Agreed([1, 2, 3, 4, 5, u64::MAX]),
            place: PictureLocation {
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
            background: None,
            positions: 3..4,
        };
        assert_eq!(Head::from_words(head.to_words()), head);
        let of_result = Head {
            covered: Covered::whole(9, 9),
            background: Some(head.covered.background),
            ..head
        };
        assert_eq!(Head::from_words(of_result.to_words()), of_result);
    }
}
