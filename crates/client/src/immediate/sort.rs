//! Finds the tiles of a wall that each part of a run touches. A run is divided into blocks of
//! [`BLOCK`] vertices.

use mgn_wall::{Area, Bounds, Sorter};
use mgn_wire::draws::RUN_BLOCK as BLOCK;
use mgn_wire::encoder::put;
use std::sync::Arc;

/// The sorted part of the open run.
pub struct Sort {
    pub sorter: Option<(Key, Sorter)>,
    /// The tiles of each complete block.
    blocks: Vec<u64>,
    /// The bounds of the incomplete block, and the end of the vertices that they include.
    open: Bounds,
    seen: usize,
}

/// The state that a sorter was made for.
#[derive(PartialEq)]
pub struct Key {
    pub transform: u32,
    pub viewport: [f32; 4],
    pub margin: f32,
    pub areas: Arc<[Area]>,
    pub height: u32,
}

/// Vertices in memory.
#[derive(Clone, Copy)]
pub struct Positions {
    pub first: *const u8,
    pub stride: usize,
    pub components: u8,
}

impl Default for Sort {
    fn default() -> Sort {
        Sort {
            sorter: None,
            blocks: Vec::new(),
            open: Bounds::NONE,
            seen: 0,
        }
    }
}

/// The most bytes of masks that a run of `run_bytes` bytes may need.
pub fn room(run_bytes: usize) -> usize {
    // A vertex has at least two components.
    8 * (run_bytes / (8 * BLOCK) + 2)
}

impl Sort {
    /// Another run begins.
    pub fn begin(&mut self) {
        self.blocks.clear();
        self.open = Bounds::NONE;
        self.seen = 0;
    }

    /// Adds the first `count` vertices to the bounds, without those that were added before.
    /// `overlap` vertices of a block belong to the next one, too. If it is none, all vertices are
    /// one block.
    ///
    /// # Safety
    /// The vertices lie there, and behind the last one two more numbers can be read.
    unsafe fn look(&mut self, at: Positions, count: usize, overlap: Option<usize>) {
        let Some((_, sorter)) = &self.sorter else {
            return;
        };
        loop {
            let first = self.blocks.len() * BLOCK;
            let end = overlap.map_or(usize::MAX, |overlap| first + BLOCK + overlap);
            let read = |n: usize| {
                let vertex = at.first.wrapping_add(n * at.stride).cast::<[f32; 4]>();
                // SAFETY: the caller's promise. The bytes after the position are ignored.
                let [x, y, z, w] = unsafe { vertex.read_unaligned() };
                [x, y, if at.components == 2 { 0. } else { z }, w]
            };
            let (mut open, mut n, until) = (self.open, self.seen, count.min(end));
            while n + 4 <= until {
                open.add_four([n, n + 1, n + 2, n + 3].map(read));
                n += 4;
            }
            (n..until).for_each(|n| open.add(read(n)));
            self.open = open;
            self.seen = until;
            if count <= end {
                return;
            }
            self.blocks.push(sorter.tiles(&self.open));
            self.open = Bounds::NONE;
            self.seen = first + BLOCK;
        }
    }

    /// Writes the tiles of each block of a run to `to`, and returns the number of bytes: 0 if every
    /// renderer draws the whole run.
    ///
    /// # Safety
    /// The vertices lie there, behind the last one two more numbers can be read, and `to` has room
    /// for their masks.
    pub unsafe fn write(
        &mut self,
        at: Positions,
        count: usize,
        overlap: Option<usize>,
        to: *mut u8,
    ) -> usize {
        // SAFETY: the caller's promise.
        unsafe { self.look(at, count, overlap) };
        let Some((_, sorter)) = &self.sorter else {
            return 0;
        };
        let last = sorter.tiles(&self.open);
        for (n, tiles) in self.blocks.iter().chain([&last]).enumerate() {
            // SAFETY: the caller's promise.
            unsafe { put(to, 8 * n, *tiles) };
        }
        8 * (self.blocks.len() + 1)
    }
}

/// The rectangles of the tiles in a surface that is `height` high.
pub fn drawn(areas: &[Area], height: u32) -> Vec<[i32; 4]> {
    let drawn = areas.iter().map(|area| area.drawn.upwards(height));
    drawn.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const IDENTITY: [f32; 16] = [
        1., 0., 0., 0., 0., 1., 0., 0., 0., 0., 1., 0., 0., 0., 0., 1.,
    ];

    fn sort() -> Sort {
        let tiles = [[0, 0, 50, 100], [50, 0, 50, 100]];
        let key = Key {
            transform: 0,
            viewport: [0.; 4],
            margin: 1.,
            areas: Arc::new([]),
            height: 100,
        };
        let sorter = Sorter::new(&IDENTITY, [0., 0., 100., 100.], &tiles, 1.);
        Sort {
            sorter: Some((key, sorter)),
            ..Sort::default()
        }
    }

    fn masks(sort: &mut Sort, xs: &[f32], overlap: Option<usize>) -> Vec<u64> {
        let mut vertices: Vec<[f32; 2]> = xs.iter().map(|x| [*x, 0.]).collect();
        vertices.push([9.; 2]);
        let at = Positions {
            first: vertices.as_ptr().cast(),
            stride: 8,
            components: 2,
        };
        let mut masks = vec![0u64; room(8 * xs.len()) / 8];
        // SAFETY: the vertices are there, and so is the room.
        let bytes = unsafe { sort.write(at, xs.len(), overlap, masks.as_mut_ptr().cast()) };
        masks.truncate(bytes / 8);
        masks
    }

    #[test]
    fn blocks_have_their_tiles() {
        let mut xs = vec![-0.5; 2 * BLOCK];
        xs.extend([0.5; 7]);
        assert_eq!(masks(&mut sort(), &xs, Some(0)), [1, 1, 2]);
        assert_eq!(masks(&mut sort(), &xs, None), [3]);
        // The second block has the first vertices of the third.
        assert_eq!(masks(&mut sort(), &xs, Some(2)), [1, 3, 2]);
        assert_eq!(masks(&mut sort(), &xs[..BLOCK], Some(0)), [1]);
    }

    #[test]
    fn a_run_that_goes_on_is_the_same_as_one() {
        let xs: Vec<f32> = (0..500).map(|n| if n < 250 { -0.5 } else { 0.5 }).collect();
        for overlap in [Some(0), Some(1), Some(2), None] {
            let whole = masks(&mut sort(), &xs, overlap);
            let mut parts = sort();
            for end in [1, 3, BLOCK - 1, BLOCK, BLOCK + 1, BLOCK + 2, 3 * BLOCK, 500] {
                masks(&mut parts, &xs[..end], overlap);
            }
            assert_eq!(masks(&mut parts, &xs, overlap), whole, "{overlap:?}");
        }
    }
}
