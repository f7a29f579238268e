//! Converts a program's picture to one for `mgn-present`.

use mgn_composite::Color;
use mgn_present::PIXEL;

use crate::OutletError;

/// The largest width and height: that of JPEG.
const SIDE_MAX: u32 = 65_500;

/// Which row of a picture is first in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Direction {
    /// The uppermost.
    #[default]
    TopDown,
    /// The lowest, as glReadPixels gives them.
    BottomUp,
}

/// A picture to be shown: rows of pixels without gaps.
#[derive(Clone, Copy, Debug)]
pub struct Shot<'p> {
    /// In pixels.
    pub width: usize,
    pub height: usize,
    /// [`Color::Rgba8`]. Alpha is ignored, so that premultiplied colours are seen over black.
    pub color: Color,
    pub direction: Direction,
    pub pixels: &'p [u8],
}

impl Shot<'_> {
    /// Whether a picture of this size can be shown.
    pub fn can_have(width: usize, height: usize) -> bool {
        let sides = 1..=SIDE_MAX as usize;
        sides.contains(&width) && sides.contains(&height)
    }

    /// The width and height of a picture that can be shown.
    ///
    /// # Errors
    /// [`OutletError::Format`], [`OutletError::Size`], [`OutletError::Length`].
    pub(crate) fn check(&self) -> Result<[u32; 2], OutletError> {
        let (width, height) = (self.width, self.height);
        match self.color {
            Color::Rgba8 => {}
            color => return Err(OutletError::Format(color)),
        }
        if !Shot::can_have(width, height) {
            let max = SIDE_MAX;
            return Err(OutletError::Size { width, height, max });
        }
        let (wanted, len) = (width * height * PIXEL, self.pixels.len());
        match len == wanted {
            true => Ok([width as u32, height as u32]),
            false => Err(OutletError::Length {
                width,
                height,
                wanted,
                len,
            }),
        }
    }

    /// Makes `into` the picture as rows of BGRX from the top down. It has passed `check`.
    pub(crate) fn convert(&self, into: &mut Vec<u8>) {
        into.resize(self.pixels.len(), 0);
        let row = self.width * PIXEL;
        let rows = into.chunks_exact_mut(row).enumerate();
        for (y, into) in rows {
            let from = match self.direction {
                Direction::TopDown => y,
                Direction::BottomUp => self.height - 1 - y,
            };
            let from = &self.pixels[from * row..][..row];
            for (to, from) in into.chunks_exact_mut(PIXEL).zip(from.chunks_exact(PIXEL)) {
                to.copy_from_slice(&[from[2], from[1], from[0], 0xff]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shot(pixels: &[u8]) -> Shot<'_> {
        Shot {
            width: 2,
            height: 2,
            color: Color::Rgba8,
            direction: Direction::TopDown,
            pixels,
        }
    }

    #[test]
    fn channels_are_swapped_and_rows_turned_over() {
        let pixels: Vec<u8> = (1..=16).collect();
        let (upper, lower) = (
            [3, 2, 1, 255, 7, 6, 5, 255],
            [11, 10, 9, 255, 15, 14, 13, 255],
        );
        let mut into = vec![9; 40];
        shot(&pixels).convert(&mut into);
        assert_eq!(into, [upper, lower].concat());
        let turned = Shot {
            direction: Direction::BottomUp,
            ..shot(&pixels)
        };
        turned.convert(&mut into);
        assert_eq!(into, [lower, upper].concat());
    }

    #[test]
    fn pictures_that_cannot_be_shown_are_refused() {
        let pixels = [0; 16];
        let shot = shot(&pixels);
        assert_eq!(shot.check().unwrap(), [2, 2]);
        for (width, height) in [(0, 2), (2, 0), (65_501, 1), (usize::MAX, usize::MAX)] {
            let other = Shot {
                width,
                height,
                ..shot
            };
            assert!(matches!(other.check(), Err(OutletError::Size { .. })));
        }
        for len in [0, 15] {
            let other = Shot {
                pixels: &pixels[..len],
                ..shot
            };
            assert!(matches!(other.check(), Err(OutletError::Length { .. })));
        }
        let floats = Shot {
            color: Color::Rgba16f,
            ..shot
        };
        assert!(matches!(floats.check(), Err(OutletError::Format(_))));
    }
}
