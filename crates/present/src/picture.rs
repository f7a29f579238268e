//! A picture for a target.

use std::borrow::Cow;
use std::fmt;

use mgn_fabric::Segment;
use mgn_wire::Slice;

use crate::Error;

/// Bytes of a pixel: blue, green, red, and one unused.
pub const PIXEL: usize = 4;

/// A frame, as rows of BGRX pixels from the top down.
#[derive(Debug)]
pub struct Picture<'a> {
    /// The position of the picture's upper left corner in the window, in pixels.
    pub x: u32,
    pub y: u32,
    /// In pixels.
    pub width: u32,
    pub height: u32,
    /// Bytes from one row to the next; a multiple of a pixel's size, and no less than a row.
    pub stride: u32,
    pub pixels: &'a dyn Rows,
    /// The place of the first pixel in shared memory, if the pixels lie there. Segments that are
    /// shown on one [`XDisplay`](crate::XDisplay) must belong to one connection, because their
    /// numbers are only unique within a connection.
    pub segment: Option<Segment<'a>>,
    /// The surface's number, and the number of the frame on it, counted from 1.
    pub surface: u32,
    pub frame: u64,
}

/// Memory that holds a picture. It may be shared with another process, which may write to it at any
/// time, so it is copied and never borrowed.
pub trait Rows {
    /// In bytes.
    fn len(&self) -> usize;

    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Copies `into.len()` bytes from `offset` on. The caller has checked that they lie inside.
    fn read(&self, offset: usize, into: &mut [u8]);

    /// The bytes themselves, if no other process can write to them.
    fn private(&self) -> Option<&[u8]> {
        None
    }
}

impl Rows for &[u8] {
    fn len(&self) -> usize {
        <[u8]>::len(self)
    }

    fn read(&self, offset: usize, into: &mut [u8]) {
        into.copy_from_slice(&self[offset..offset + into.len()]);
    }

    fn private(&self) -> Option<&[u8]> {
        Some(self)
    }
}

impl Rows for Vec<u8> {
    fn len(&self) -> usize {
        self.as_slice().len()
    }

    fn read(&self, offset: usize, into: &mut [u8]) {
        into.copy_from_slice(&self[offset..offset + into.len()]);
    }

    fn private(&self) -> Option<&[u8]> {
        Some(self)
    }
}

/// A part of a message.
impl Rows for Slice<'_, u8> {
    fn len(&self) -> usize {
        Slice::len(self)
    }

    fn read(&self, offset: usize, into: &mut [u8]) {
        let part = self
            .part(offset, into.len())
            .expect("the caller has checked the sizes");
        into.copy_from_slice(&part.to_vec());
    }
}

impl fmt::Debug for dyn Rows + '_ {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.len())
    }
}

impl<'a> Picture<'a> {
    /// Checks that the sizes are consistent and fit the memory.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let row = u64::from(self.width) * PIXEL as u64;
        let stride = u64::from(self.stride);
        let inside = match self.height {
            0 => true,
            rows => (stride * u64::from(rows - 1)).saturating_add(row) <= self.pixels.len() as u64,
        };
        if stride < row || self.stride as usize % PIXEL != 0 || !inside {
            return Err(Error::BadPicture {
                width: self.width,
                height: self.height,
                stride: self.stride,
                bytes: self.pixels.len(),
            });
        }
        Ok(())
    }

    /// Copies the rectangle `[x, y, width, height]` of the window to `into`, without gaps between
    /// rows, if the picture contains all of it. Returns whether it does.
    ///
    /// # Errors
    /// [`Error::BadPicture`] if the picture's sizes do not fit its memory.
    pub fn copy_part(
        &self,
        [x, y, width, height]: [u32; 4],
        into: &mut Vec<u8>,
    ) -> Result<bool, Error> {
        self.check()?;
        let inside = |start: u32, length: u32, from: u32, total: u32| {
            let (end, last) = (start.checked_add(length)?, from.checked_add(total)?);
            (start >= from && end <= last).then(|| (start - from) as usize)
        };
        let (Some(left), Some(top)) = (
            inside(x, width, self.x, self.width),
            inside(y, height, self.y, self.height),
        ) else {
            return Ok(false);
        };
        let (row, stride) = (width as usize * PIXEL, self.stride as usize);
        into.resize(row * height as usize, 0);
        if row == stride {
            self.pixels.read(top * stride, into);
            return Ok(true);
        }
        for (n, into) in into.chunks_exact_mut(row.max(1)).enumerate() {
            self.pixels.read((top + n) * stride + left * PIXEL, into);
        }
        Ok(true)
    }

    pub(crate) fn row_bytes(&self) -> usize {
        self.width as usize * PIXEL
    }

    /// Rows `first..first + count` without gaps between them. They are borrowed if they have no
    /// gaps already, and otherwise copied to `scratch`.
    pub(crate) fn packed<'s>(
        &'s self,
        first: usize,
        count: usize,
        scratch: &'s mut Vec<u8>,
    ) -> Cow<'s, [u8]> {
        let (row, stride) = (self.row_bytes(), self.stride as usize);
        if stride == row {
            if let Some(bytes) = self.pixels.private() {
                return Cow::Borrowed(&bytes[first * row..(first + count) * row]);
            }
        }
        scratch.resize(count * row, 0);
        if stride == row {
            self.pixels.read(first * row, scratch);
        } else {
            for (n, into) in scratch.chunks_exact_mut(row.max(1)).enumerate() {
                self.pixels.read((first + n) * stride, into);
            }
        }
        Cow::Borrowed(scratch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(width: u32, height: u32, stride: u32, pixels: &Vec<u8>) -> Picture<'_> {
        Picture {
            x: 0,
            y: 0,
            width,
            height,
            stride,
            pixels,
            segment: None,
            surface: 1,
            frame: 1,
        }
    }

    #[test]
    fn sizes_are_checked() {
        let pixels = vec![0; 40];
        assert!(picture(3, 3, 12, &pixels).check().is_ok());
        assert!(
            picture(2, 3, 16, &pixels).check().is_ok(),
            "the last row needs no gap behind it"
        );
        assert!(picture(0, 0, 0, &pixels).check().is_ok());
        assert!(picture(4, 3, 12, &pixels).check().is_err());
        assert!(picture(3, 4, 12, &pixels).check().is_err());
        assert!(picture(2, 3, 14, &pixels).check().is_err());
        assert!(picture(u32::MAX, u32::MAX, u32::MAX, &pixels)
            .check()
            .is_err());
    }

    #[test]
    fn rows_are_packed() {
        let pixels: Vec<u8> = (0..40).collect();
        let mut scratch = Vec::new();
        let gaps = picture(2, 3, 16, &pixels);
        let expected: Vec<u8> = (16..24).chain(32..40).collect();
        assert_eq!(*gaps.packed(1, 2, &mut scratch), expected);
        let tight = picture(2, 3, 8, &pixels);
        assert_eq!(*tight.packed(1, 2, &mut scratch), pixels[8..24]);
    }

    #[test]
    fn parts_are_copied() {
        let pixels: Vec<u8> = (0..40).collect();
        let mut gaps = picture(2, 3, 16, &pixels);
        let mut copy = vec![7; 3];
        assert!(gaps.copy_part([0, 0, 2, 3], &mut copy).unwrap());
        let expected = [&pixels[..8], &pixels[16..24], &pixels[32..40]].concat();
        assert_eq!(copy, expected);
        (gaps.x, gaps.y) = (10, 20);
        assert!(gaps.copy_part([11, 21, 1, 2], &mut copy).unwrap());
        assert_eq!(copy, [&pixels[20..24], &pixels[36..40]].concat());
        for outside in [
            [9, 20, 2, 3],
            [10, 19, 2, 3],
            [10, 20, 3, 3],
            [10, 20, 2, 4],
            [u32::MAX, 20, 2, 3],
            [0, 0, 2, 3],
        ] {
            assert!(!gaps.copy_part(outside, &mut copy).unwrap(), "{outside:?}");
        }
        let tight = picture(2, 3, 8, &pixels);
        assert!(tight.copy_part([0, 1, 2, 2], &mut copy).unwrap());
        assert_eq!(copy, pixels[8..24]);
        let bad = picture(4, 3, 12, &pixels);
        assert!(bad.copy_part([0, 0, 1, 1], &mut copy).is_err());
    }
}
