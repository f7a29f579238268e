//! `tilesort`: which tiles of a wall each part of a run touches, so that renderers need not draw
//! what lies elsewhere.
//!
//! A run is taken in blocks of [`BLOCK`] vertices. Where they lie is known as long as the fixed
//! function places vertices; for all else, and for surfaces that are drawn whole, every renderer
//! draws the run.

use crate::context::Context;
use crate::session::Session;
use crate::shadow::objects::counts::Need;
use mgn_wall::{Area, Bounds, Sorter};
use mgn_wire::draws::{attr, run_overlap, RUN_BLOCK as BLOCK};
use mgn_wire::encoder::put;
use mgn_wire::gl::*;
use std::sync::Arc;

/// What has been sorted of the open run.
pub struct Sort {
    sorter: Option<(Key, Sorter)>,
    /// Tiles of the blocks that are complete.
    blocks: Vec<u64>,
    /// Bounds of the one that is not, and the vertex up to which they reach.
    open: Bounds,
    seen: usize,
}

/// What a sorter depends on.
#[derive(PartialEq)]
struct Key {
    transform: u32,
    viewport: [f32; 4],
    margin: f32,
    areas: Arc<[Area]>,
    height: u32,
}

/// Vertices as they lie in memory.
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

/// Bytes of masks that a run of so many bytes may need.
pub fn room(run_bytes: usize) -> usize {
    // A vertex has two components at least.
    8 * (run_bytes / (8 * BLOCK) + 2)
}

impl Sort {
    /// Another run begins.
    pub fn begin(&mut self) {
        self.blocks.clear();
        self.open = Bounds::NONE;
        self.seen = 0;
    }

    /// Looks at the first `count` vertices, but not at those that were looked at before. `overlap`
    /// vertices of a block belong to the next one, too; without a number all are one block.
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
                // SAFETY: the caller's promise. What lies behind the position has no meaning.
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

    /// Writes the tiles of each block of a run to `to`, and says how many bytes that took: none if
    /// every renderer draws all.
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

/// What the tiles draw of a surface that is `height` high.
pub(in crate::gl) fn drawn(areas: &[Area], height: u32) -> Vec<[i32; 4]> {
    let drawn = areas.iter().map(|area| area.drawn.upwards(height));
    drawn.collect()
}

impl Context {
    /// Whether anything can be sorted at all.
    #[inline]
    pub(in crate::gl) fn may_sort(&self) -> bool {
        self.session.is_some_and(Session::sorts)
    }

    /// Prepares for sorting the open run, drawn with `mode`. False if every renderer has to draw
    /// it.
    #[inline]
    pub(super) fn prepare_sort(&mut self, mode: u32) -> bool {
        let layout = &self.gl.immediate.layout;
        let places = layout.position() < 4 && layout.components[usize::from(attr::GENERIC)] == 0;
        places && self.may_sort() && self.sorter(mode).is_some()
    }

    /// What sorts vertices that the fixed function places and draws with `mode`; none if every
    /// renderer has to draw them.
    pub(in crate::gl) fn sorter(&mut self, mode: u32) -> Option<&Sorter> {
        // A fragment program places nothing, but a draw without the one that is enabled is an
        // error.
        let places = self.gl.objects.draws_without_programs()
            && [GL_VERTEX_PROGRAM_ARB, GL_FRAGMENT_PROGRAM_ARB]
                .iter()
                .all(|cap| self.gl.state.is_enabled(*cap) == Some(false));
        if !places {
            return None;
        }
        let (viewport, areas, height) = self.in_tiles()?;
        let margin = self.margin(mode)?;
        let key = Key {
            transform: self.gl.state.transform_changes(),
            viewport,
            margin,
            areas,
            height,
        };
        let sort = &mut self.gl.immediate.sort;
        if sort.sorter.as_ref().is_none_or(|(known, _)| *known != key) {
            let transform = self.gl.state.transform()?;
            let tiles = drawn(&key.areas, key.height);
            let sorter = Sorter::new(&transform, viewport, &tiles, margin);
            sort.sorter = Some((key, sorter));
        }
        sort.sorter.as_ref().map(|(_, sorter)| sorter)
    }

    /// The viewport, the areas of the tiles and the height of the surface that is drawn to; none if
    /// it is not drawn to in tiles.
    pub(in crate::gl) fn in_tiles(&self) -> Option<([f32; 4], Arc<[Area]>, u32)> {
        let surface = self.draw.as_ref().filter(|surface| !surface.is_whole())?;
        let draws = self.gl.state.draws_to_default()
            && !self.gl.render_modes.tells()
            && !self.gl.lists.is_open()
            && !self.gl.objects.counts.need(Need::Everything);
        let origin = self.gl.state.get(GL_CLIP_ORIGIN).values()?;
        if !draws || origin.int64(0) != i64::from(GL_LOWER_LEFT) {
            return None;
        }
        Some((
            self.gl.state.viewport()?,
            surface.areas()?,
            surface.size().1,
        ))
    }

    /// How many pixels beyond its vertices a primitive may be drawn; none if nobody knows.
    fn margin(&self, mode: u32) -> Option<f32> {
        let number = |pname| {
            let values = self.gl.state.get(pname).values()?;
            Some(values.float(0))
        };
        let outlined = mode > GL_LINE_STRIP && self.outlined();
        let mut width: f32 = 0.;
        // Stages beside the renderer may have polygons drawn as lines.
        if mode != GL_POINTS {
            width = number(GL_LINE_WIDTH)?;
        }
        if outlined || mode == GL_POINTS {
            let attenuation = self.gl.state.get(GL_POINT_DISTANCE_ATTENUATION).values()?;
            if (
                attenuation.float(0),
                attenuation.float(1),
                attenuation.float(2),
            ) != (1., 0., 0.)
            {
                return None;
            }
            width = width.max(number(GL_POINT_SIZE)?);
            width = width.max(number(GL_POINT_SIZE_MIN)?);
        }
        // Rounding, here and there.
        Some(width / 2. + 2.)
    }

    /// How the primitive of a run may be taken apart: by blocks that share some vertices; not at
    /// all where that would show.
    pub(in crate::gl) fn sort_overlap(&self, mode: u32) -> Option<usize> {
        let overlap = run_overlap(mode)?;
        let shows = mode == GL_LINE_STRIP && self.stippled();
        (!shows && self.draws_with_depth()).then_some(overlap)
    }
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
