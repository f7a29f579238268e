//! Small reads that follow each other: the server is asked for more than the program wants, and the
//! next reads are answered from that.
//!
//! Each read is a round trip, and one of a few pixels takes hardly longer than one of some
//! thousand. What was read holds for as long as nobody of this process has told the server
//! anything: then nothing can have been drawn, bound or chosen meanwhile.

use super::read::Region;
use crate::context::Context;
use crate::gl::pixels::Layout;
use crate::stats::Word;
use core::ffi::c_void;
use mgn_wire::ops;

/// As much is read for later reads.
const AHEAD_BYTES: usize = 64 << 10;
/// So many reads with nothing between them let more be expected.
const IN_A_ROW: u32 = 2;

/// Where the streams of this process stand: messages that were sent, and what of this context's is
/// written since.
#[derive(Clone, Copy, PartialEq)]
struct Stand {
    messages: u64,
    written: usize,
}

/// What was read last, if nothing has happened since.
#[derive(Default)]
pub struct Ahead {
    stand: Option<Stand>,
    /// Reads in a row.
    reads: u32,
    /// The pixels of this region, tight; none if no more were read than the program wanted.
    image: Vec<u8>,
    region: Region,
}

impl Region {
    /// What to read in place of a small region: one that holds it and, side by side with others
    /// like it, what lies around it. None if it is not small.
    fn with_surroundings(&self, pixel_bytes: usize) -> Option<Region> {
        const SIDE: i32 = 128;
        let rows = (AHEAD_BYTES / (SIDE as usize * pixel_bytes)).clamp(1, SIDE as usize) as i32;
        let start = |at: i32, length: i32, most: i32| {
            let cell = at.checked_sub(at.rem_euclid(most))?;
            // A region across the border of two begins one of its own.
            let begin = if at - cell + length > most { at } else { cell };
            begin.checked_add(most)?;
            (length <= most).then_some(begin)
        };
        Some(Region {
            x: start(self.x, self.width, SIDE)?,
            y: start(self.y, self.height, rows)?,
            width: SIDE,
            height: rows,
            ..*self
        })
    }

    /// Where a region of the same pixels lies in this one: columns and rows from its corner.
    fn holds(&self, other: &Region) -> Option<(usize, usize)> {
        let within = |at: i32, length: i32, from: i32, most: i32| {
            let offset = i64::from(at) - i64::from(from);
            let fits = offset >= 0 && offset + i64::from(length) <= i64::from(most);
            fits.then_some(offset as usize)
        };
        if (self.format, self.type_) != (other.format, other.type_) {
            return None;
        }
        Some((
            within(other.x, other.width, self.x, self.width)?,
            within(other.y, other.height, self.y, self.height)?,
        ))
    }
}

impl Context {
    /// Where the streams stand; none where that says too little: stages have messages of their own,
    /// and the pixels of walls and of pixmaps come from several.
    fn stand(&self) -> Option<Stand> {
        let session = self.session?;
        let is_apart = session.wall().is_some() || session.options.chain.has_stages();
        let of_x = self
            .read
            .as_ref()
            .is_some_and(|surface| surface.is_pixmap());
        (!is_apart && !of_x).then(|| Stand {
            messages: session.stats.value(Word::Messages),
            written: self.enc.cur as usize,
        })
    }

    /// A read was answered, and nothing but reads may follow.
    pub(super) fn has_read(&mut self) {
        let stand = self.stand();
        let ahead = &mut self.gl.pixels.ahead;
        ahead.stand = stand;
        ahead.reads = ahead.reads.saturating_add(1);
        ahead.image = Vec::new();
    }

    /// Reads a small region if that can be answered from what was read before, or is likely to be
    /// one of many. Says whether it was read.
    ///
    /// # Safety
    /// `pixels` has room for the image of the layout.
    pub(super) unsafe fn read_ahead(
        &mut self,
        region: &Region,
        layout: &Layout,
        pixels: *mut c_void,
    ) -> bool {
        let stand = self.stand();
        let ahead = &mut self.gl.pixels.ahead;
        if stand.is_none() || ahead.stand != stand {
            ahead.reads = 0;
            ahead.image = Vec::new();
            return false;
        }
        let Some(pixel_bytes) = layout.pixel_bytes(region.width) else {
            return false;
        };
        let holds = |ahead: &Ahead| match ahead.image.is_empty() {
            true => None,
            false => ahead.region.holds(region),
        };
        if holds(&*ahead).is_none() {
            if ahead.reads < IN_A_ROW {
                return false;
            }
            let Some(wanted) = region.with_surroundings(pixel_bytes) else {
                return false;
            };
            // SAFETY: the context's own encoder.
            unsafe {
                self.enc.gl_read_pixels(
                    wanted.x,
                    wanted.y,
                    wanted.width,
                    wanted.height,
                    wanted.format,
                    wanted.type_,
                )
            };
            let mut answer = self.answer(ops::GL_READ_PIXELS);
            let image = answer.next_array(1);
            let bytes = wanted.width as usize * wanted.height as usize * pixel_bytes;
            if image.len() != bytes {
                // It cannot be read at all, which the program's own question shall say.
                self.gl.pixels.ahead = Ahead::default();
                return false;
            }
            let image = image.to_vec();
            let stand = self.stand();
            let ahead = &mut self.gl.pixels.ahead;
            (ahead.stand, ahead.region, ahead.image) = (stand, wanted, image);
        }
        let ahead = &self.gl.pixels.ahead;
        let Some((column, row)) = holds(ahead) else {
            return false;
        };
        let row_bytes = ahead.region.width as usize * pixel_bytes;
        for i in 0..layout.total_rows() {
            let from = &ahead.image[(row + i) * row_bytes + column * pixel_bytes..];
            let from = &from[..layout.tight_row_bytes()];
            // SAFETY: the caller's promise, and a row of the layout's.
            unsafe { layout.scatter_rows(from.as_ptr(), i..i + 1, pixels.cast()) };
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn region(x: i32, y: i32, width: i32, height: i32) -> Region {
        Region {
            x,
            y,
            width,
            height,
            format: 1,
            type_: 2,
        }
    }

    #[test]
    fn surroundings_hold_what_they_surround() {
        for (x, y) in [
            (0, 0),
            (5, 7),
            (127, 127),
            (-3, -130),
            (1000, 3),
            (i32::MIN, 0),
        ] {
            for (width, height) in [(1, 1), (16, 4), (128, 128)] {
                for bytes in [1, 4, 8, 16] {
                    let small = region(x, y, width, height);
                    let Some(all) = small.with_surroundings(bytes) else {
                        assert!(bytes > 4 && height == 128, "{small:?} {bytes}");
                        continue;
                    };
                    assert!(all.holds(&small).is_some(), "{small:?} {all:?}");
                    assert!((all.width * all.height) as usize * bytes <= AHEAD_BYTES);
                }
            }
        }
        assert!(region(0, 0, 129, 1).with_surroundings(4).is_none());
        assert!(region(i32::MAX - 3, 0, 2, 2).with_surroundings(4).is_none());
    }

    #[test]
    fn neighbours_are_read_together() {
        let all = region(3, 3, 2, 2).with_surroundings(4).unwrap();
        assert_eq!(all.holds(&region(100, 64, 16, 16)), Some((100, 64)));
        assert_eq!(all.holds(&region(120, 64, 16, 16)), None);
        let other = Region {
            type_: 3,
            ..region(3, 3, 2, 2)
        };
        assert_eq!(all.holds(&other), None);
    }
}
