//! Pixels of a framebuffer that were read in advance for later reads of the program.

/// The number of bytes to read in advance.
const AHEAD_BYTES: usize = 64 << 10;

/// The arguments of glReadPixels.
#[derive(Clone, Copy, Debug, Default)]
pub struct Region {
    pub x: i32,
    pub y: i32,
    pub width: i32,
    pub height: i32,
    pub format: u32,
    pub type_: u32,
}

/// The positions of the process's streams: the messages sent, and what this context has written
/// since.
#[derive(Clone, Copy, PartialEq)]
pub struct StreamPosition {
    pub messages: u64,
    pub written: usize,
}

/// The last read, if nothing has changed since.
#[derive(Default)]
pub struct Ahead {
    pub position: Option<StreamPosition>,
    /// The number of consecutive reads.
    pub reads: u32,
    /// The pixels of this region, tightly packed; empty if no more was read than the program asked
    /// for.
    pub image: Vec<u8>,
    pub region: Region,
}

impl Region {
    /// The region to read in place of a small one. It contains the small one and some of its
    /// surroundings, and is aligned so that such regions tile the framebuffer. None if the region
    /// is not small.
    pub fn with_surroundings(&self, pixel_bytes: usize) -> Option<Region> {
        const SIDE: i32 = 128;
        let rows = (AHEAD_BYTES / (SIDE as usize * pixel_bytes)).clamp(1, SIDE as usize) as i32;
        let start = |at: i32, length: i32, most: i32| {
            let cell = at.checked_sub(at.rem_euclid(most))?;
            // A region that crosses a border of these tiles begins its own.
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

    /// The offset of a region of the same pixels in this one, in columns and rows.
    pub fn holds(&self, other: &Region) -> Option<(usize, usize)> {
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
