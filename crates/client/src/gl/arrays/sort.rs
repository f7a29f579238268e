//! `tilesort` of draws from arrays and buffers. A draw is cut where the tiles that it touches
//! change, and each piece is sent to the renderers that need it.
//!
//! Where the fixed function transforms vertices, the tiles are found from bounds of blocks of
//! vertices or indices. The contents of buffers are known if there are copies of them (`buffers`).
//! Bounds are computed once for the same contents.

use super::indexed::{bounds as index_bounds, Indexed};
use crate::context::Context;
use crate::memory::bytes::Bytes;
use crate::memory::contents::Contents;
use crate::memory::positions::{Blocks, Indices, Positions};
use crate::shadow::arrays::known_bounds::Key;
use crate::shadow::arrays::tree::{touched, Piece, Tree, EVERYONE};
use crate::shadow::buffers::outline::Outline;
use crate::shadow::buffers::table::Buffers;
use mgn_wall::Bounds;
use mgn_wire::draws::{attr, RUN_BLOCK as BLOCK};
use mgn_wire::gl::*;
use mgn_wire::sizes::image::draw_index_bytes;
use mgn_wire::RECORD_MAX;
use std::ops::Range;
use std::sync::Arc;

/// The number of blocks of the program's memory that are examined before they are sent, so that
/// they are still in the processor's cache then.
const STRETCH: usize = 64;

/// Where the positions of a draw lie: in the program's memory, or in a buffer. For a buffer, the
/// number of its contents is known, and either the contents or an outline of them. The last field
/// of an outline is the number of the draw's first position in it.
enum Source<'a> {
    Memory,
    Copy(Contents<'a>, u64),
    Outline(&'a Outline, u64, i64),
}

impl Source<'_> {
    /// The number of the buffer's contents.
    fn number(&self) -> Option<u64> {
        match self {
            Source::Memory => None,
            Source::Copy(_, number) | Source::Outline(_, number, _) => Some(*number),
        }
    }
}

impl Context {
    /// Cuts a draw of the elements `first..first + count` and sends the pieces. Returns false if
    /// every renderer must draw it as it is.
    #[inline]
    pub(super) fn sort_arrays(
        &mut self,
        mode: u32,
        first: i32,
        count: i32,
        send: impl FnMut(&mut Context, &Piece),
    ) -> bool {
        self.may_sort() && self.cut_arrays(mode, first, count, send).is_some()
    }

    fn cut_arrays(
        &mut self,
        mode: u32,
        first: i32,
        count: i32,
        mut send: impl FnMut(&mut Context, &Piece),
    ) -> Option<()> {
        let overlap = self.sort_by(mode)?;
        let shared = self.gl.shared.clone();
        let mut buffers = shared.buffers();
        let (positions, buffer) = self.positions()?;
        buffers.is_drawn(buffer, positions);
        let source = self.source(&buffers, positions, buffer)?;
        let (first, count) = (usize::try_from(first).ok()?, usize::try_from(count).ok()?);
        let Some(number) = source.number() else {
            drop(buffers);
            let start = (positions.at as *const u8).wrapping_add(first * positions.stride);
            let all = Blocks::new(count, overlap);
            let mut blocks = all.each();
            loop {
                let some: Vec<_> = blocks.by_ref().take(STRETCH).collect();
                let Some(next) = some.first().map(|block| block.start) else {
                    return Some(());
                };
                // SAFETY: the program's arrays hold the elements.
                let hull = |block| unsafe { positions.hull(start, block, count) };
                let from = next / BLOCK;
                let tree = Tree::new(some.into_iter().map(hull).collect());
                let pieces = match self.sort_blocks(mode, &tree, all, from) {
                    Some(pieces) => pieces,
                    None if next == 0 => return None,
                    // Another thread has just made the surface whole.
                    None => vec![Piece {
                        first: next,
                        count: count - next,
                        tiles: EVERYONE,
                    }],
                };
                pieces.iter().for_each(|piece| send(self, piece));
                if pieces
                    .last()
                    .is_some_and(|last| last.first + last.count == count)
                {
                    return Some(());
                }
            }
        };
        let elements = first as i64..(first + count) as i64;
        let key = Key {
            positions: (number, positions),
            indices: None,
            restart: None,
            first,
            count,
            overlap,
        };
        let blocks = Blocks::new(count, overlap);
        let bounds = self.gl.arrays.known.bounds(key, || match source {
            Source::Memory => None,
            Source::Copy(contents, _) => {
                let start = positions.within(contents, elements)?;
                let start = start.wrapping_add(first * positions.stride);
                // SAFETY: the buffer holds the elements, as was checked.
                let hull = |block| unsafe { positions.hull(start, block, count) };
                Some(Tree::new(blocks.each().map(hull).collect()))
            }
            Source::Outline(outline, _, before) => {
                let all = elements.start + before..elements.end + before;
                let first = usize::try_from(all.start).ok()?;
                let hull =
                    |block: Range<usize>| outline.hull(first + block.start..first + block.end);
                let hulls = blocks.each().map(hull);
                outline.has(all).then(|| Tree::new(hulls.collect()))
            }
        })?;
        drop(buffers);
        let pieces = self.sort_blocks(mode, &bounds, blocks, 0)?;
        pieces.iter().for_each(|piece| send(self, piece));
        Some(())
    }

    /// How an indexed draw is cut. A draw of several instances is not cut, but may be sent to some
    /// tiles only. `indices` are set if the draw brings them along. None if every renderer must
    /// draw it as it is.
    #[inline]
    pub(super) fn sort_elements(
        &mut self,
        draw: &Indexed,
        indices: Option<*const u8>,
    ) -> Option<Vec<Piece>> {
        if !self.may_sort() || !draw.draws() {
            return None;
        }
        let pieces = self.cut_elements(draw, indices)?;
        // An instance must be complete before the next one begins, so the draw is not cut.
        if draw.instances == 1 || pieces.is_empty() {
            return Some(pieces);
        }
        Some(vec![Piece {
            first: 0,
            count: draw.count as usize,
            tiles: touched(&pieces),
        }])
    }

    fn cut_elements(&mut self, draw: &Indexed, given: Option<*const u8>) -> Option<Vec<Piece>> {
        let overlap = self.sort_by(draw.mode)?;
        let is_known = |cap| self.gl.state.is_enabled(cap).is_some();
        if !is_known(GL_PRIMITIVE_RESTART) || !is_known(GL_PRIMITIVE_RESTART_FIXED_INDEX) {
            return None;
        }
        let restart = self.restart_index(draw.type_);
        let overlap = overlap.filter(|_| restart.is_none());
        let shared = self.gl.shared.clone();
        let mut buffers = shared.buffers();
        let (positions, buffer) = self.positions()?;
        buffers.is_drawn(buffer, positions);
        let bound = &self.gl.arrays.bound;
        if given.is_none() {
            buffers.is_read(bound.element_buffer);
        }
        let source = self.source(&buffers, positions, buffer)?;
        let size = draw_index_bytes(draw.type_)?;
        let count = usize::try_from(draw.count).ok()?;
        let offset = draw.indices as usize;
        let (at, number) = match given {
            Some(at) => (at, None),
            None => {
                let object = buffers.get(bound.element_buffer)?;
                let (contents, number) = object
                    .is_bound_since(bound.elements_since)
                    .then(|| object.contents())??;
                (contents.at(offset, count.checked_mul(size)?)?, Some(number))
            }
        };
        let blocks = Blocks::new(count, overlap);
        let find = || {
            let indices = Indices {
                // SAFETY: that number of indices lies there.
                at: unsafe { Bytes::new(at, count * size) },
                size,
                base: draw.base_vertex,
                restart,
            };
            let elements = |before: i64| {
                // SAFETY: that number of indices lies there.
                let (least, greatest) = unsafe { index_bounds(at, count, size, restart) }?;
                let base = i64::from(draw.base_vertex) + before;
                Some(i64::from(least) + base..i64::from(greatest) + base + 1)
            };
            let start = match source {
                Source::Memory => positions.at as *const u8,
                Source::Copy(contents, _) => positions.within(contents, elements(0)?)?,
                Source::Outline(outline, _, first) => {
                    let hull = |block| outline.hull_of(first, &indices, block);
                    let has = outline.has(elements(first)?);
                    return has.then(|| Tree::new(blocks.each().map(hull).collect()));
                }
            };
            // SAFETY: that number of indices lies there; the program's arrays hold the elements, or
            // the buffer does, as was checked.
            let hull = |block| unsafe { positions.hull_of(start, &indices, block) };
            Some(Tree::new(blocks.each().map(hull).collect()))
        };
        let bounds = match (source.number(), number) {
            (Some(contents), Some(number)) => {
                let key = Key {
                    positions: (contents, positions),
                    indices: Some((number, offset, draw.type_, draw.base_vertex)),
                    restart,
                    first: 0,
                    count,
                    overlap,
                };
                self.gl.arrays.known.bounds(key, find)?
            }
            _ => Arc::new(find()?),
        };
        drop(buffers);
        self.sort_blocks(draw.mode, &bounds, blocks, 0)
    }

    /// How draws of `mode` may be cut. None unless the fixed function places them and they
    /// certainly raise no error, so that it does not matter which renderers get them.
    fn sort_by(&mut self, mode: u32) -> Option<Option<usize>> {
        let generic = self.gl.arrays.bound.enabled >> attr::GENERIC;
        if generic != 0 || !self.draw_cannot_fail(mode) {
            return None;
        }
        self.begin_a_frame();
        self.sorter(mode)?;
        Some(self.sort_overlap(mode))
    }

    /// At its first command, a frame may find that the window has another size. So this is checked
    /// before tiles are looked for.
    fn begin_a_frame(&mut self) {
        self.enc.ensure(4);
    }

    /// The tiles that a draw with `mode` may touch, if the program has given its bounds. Before
    /// that, an empty draw goes to all renderers, because the draw may raise errors.
    #[inline]
    pub(super) fn hinted(&mut self, mode: u32) -> u64 {
        match self.gl.debug.groups.say() && self.may_sort() {
            true => self.hinted_tiles(mode).unwrap_or(EVERYONE),
            false => EVERYONE,
        }
    }

    fn hinted_tiles(&mut self, mode: u32) -> Option<u64> {
        if self.gl.debug.is_heard()
            || self.gl.objects.feeds_back()
            || self.gl.shared.notes.are_locked()
        {
            return None;
        }
        self.begin_a_frame();
        let surface = self.in_tiles()?;
        let tiles = self.gl.debug.groups.tiles(surface)?;
        self.check_only(mode);
        Some(tiles)
    }

    /// Whether many draws should be sent one by one, so that each can be sorted.
    pub(super) fn sorts_each(&mut self, mode: u32) -> bool {
        self.may_sort() && self.sort_by(mode).is_some()
    }

    /// The layout of the positions, and their buffer; none if draws cannot be sorted by them.
    fn positions(&self) -> Option<(Positions, u32)> {
        let slot = usize::from(attr::POSITION);
        let array = &self.gl.arrays.bound;
        let (format, binding) = (&array.formats[slot], array.binding(slot));
        let positions = Positions {
            at: binding.offset.wrapping_add(format.relative_offset as usize),
            stride: binding.stride,
            size: format.size,
            type_: format.type_,
        };
        let is_plain = array.enabled & 1 << slot != 0
            && matches!(format.size, 2 | 3)
            && matches!(format.type_, GL_FLOAT | GL_DOUBLE | GL_SHORT | GL_INT)
            && binding.divisor == 0;
        let is_there = binding.buffer != 0 || positions.at != 0;
        (is_plain && is_there).then_some((positions, binding.buffer))
    }

    /// The source of the positions; none if it is not known.
    fn source<'a>(
        &self,
        buffers: &'a Buffers,
        positions: Positions,
        buffer: u32,
    ) -> Option<Source<'a>> {
        if buffer == 0 {
            return Some(Source::Memory);
        }
        let array = &self.gl.arrays.bound;
        let format = &array.formats[usize::from(attr::POSITION)];
        let since = array.since[usize::from(format.binding)];
        let object = buffers.get(buffer).filter(|o| o.is_bound_since(since))?;
        if let Some((contents, number)) = object.contents() {
            return Some(Source::Copy(contents, number));
        }
        let (outline, number) = object.outline()?;
        let first = outline.first_of(positions)?;
        Some(Source::Outline(outline, number, first))
    }

    /// The tiles for a draw with `mode` that lies within `bounds`.
    pub fn tiles_within(&mut self, mode: u32, bounds: Bounds) -> u64 {
        if !self.draw_cannot_fail(mode) {
            return EVERYONE;
        }
        self.begin_a_frame();
        let sorter = self.sorter(mode);
        sorter.map_or(EVERYONE, |sorter| sorter.tiles(&bounds))
    }

    /// Sorts the blocks of a draw from number `from` on by their bounds; none if every renderer
    /// must draw them.
    fn sort_blocks(
        &mut self,
        mode: u32,
        bounds: &Tree,
        blocks: Blocks,
        from: usize,
    ) -> Option<Vec<Piece>> {
        Some(bounds.cut(self.sorter(mode)?, blocks, from))
    }

    /// Marks the next draw, of at most `bytes` bytes, as one for `tiles` only.
    pub fn only(&mut self, tiles: u64, bytes: usize) {
        let room = bytes + 12;
        if tiles == EVERYONE || room > RECORD_MAX {
            return;
        }
        // The mark and the draw must lie in one message.
        if !self.enc.ensure(room) {
            return;
        }
        self.enc.mgn_only(tiles as u32, (tiles >> 32) as u32);
        self.message_is_sorted();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mgn_fuzzing::Random;
    use mgn_wall::Sorter;

    /// A random number from -1 to 1.
    fn number(random: &mut Random) -> f32 {
        random.below(1u32 << 24) as f32 / (1u32 << 23) as f32 - 1.
    }

    fn product(a: &[f32; 16], b: &[f32; 16]) -> [f32; 16] {
        std::array::from_fn(|i| (0..4).map(|k| a[4 * k + i % 4] * b[i / 4 * 4 + k]).sum())
    }

    /// A perspective from a random point of view.
    fn transform(random: &mut Random) -> [f32; 16] {
        let mut perspective = [0.; 16];
        (perspective[0], perspective[5], perspective[10]) = (1.5, 1.5, -1.2);
        (perspective[11], perspective[14]) = (-1., -0.5);
        let mut model: [f32; 16] = std::array::from_fn(|_| number(random));
        (model[3], model[7], model[11], model[15]) = (0., 0., 0., 1.);
        model[14] -= 2.;
        product(&perspective, &model)
    }

    const TILES: [[i32; 4]; 4] = [
        [0, 0, 60, 50],
        [60, 0, 40, 50],
        [0, 50, 60, 50],
        [60, 50, 40, 50],
    ];

    /// The tiles that contain points of a triangle, of the part in front of the viewer.
    fn touched(transform: &[f32; 16], triangle: [[f32; 4]; 3]) -> u64 {
        let mut tiles = 0;
        for (i, j) in (0..=8).flat_map(|i| (0..=8 - i).map(move |j| (i, j))) {
            let weights = [i as f32 / 8., j as f32 / 8., (8 - i - j) as f32 / 8.];
            let mut at: [f32; 4] =
                std::array::from_fn(|n| (0..3).map(|v| weights[v] * triangle[v][n]).sum());
            at[3] = 1.;
            let clip: [f32; 4] =
                std::array::from_fn(|n| (0..4).map(|k| transform[4 * k + n] * at[k]).sum());
            if clip[3] <= 0. {
                continue;
            }
            let pixel = [0, 1].map(|n| (50. * (clip[n] / clip[3] + 1.)).floor());
            for (n, [x, y, width, height]) in TILES.iter().enumerate() {
                let within = |p: f32, from: &i32, length: &i32| {
                    p >= *from as f32 && p < (from + length) as f32
                };
                if within(pixel[0], x, width) && within(pixel[1], y, height) {
                    tiles |= 1 << n;
                }
            }
        }
        tiles
    }

    #[test]
    #[cfg_attr(miri, ignore = "takes too long")]
    fn no_triangle_is_lost() {
        let mut random = Random::new(7);
        for _ in 0..50 {
            let transform = transform(&mut random);
            let sorter = Sorter::new(&transform, [0., 0., 100., 100.], &TILES, 1.);
            let vertices: Vec<[f32; 3]> = (0..900)
                .map(|n| {
                    std::array::from_fn(|i| number(&mut random) * 0.1 + (n / 90 + i) as f32 / 9.)
                })
                .collect();
            let indices: Vec<u16> = (0..2000)
                .map(|n| (n / 3 + (number(&mut random) * 20.) as i32).clamp(0, 899) as u16)
                .collect();
            let positions = Positions {
                at: 0,
                stride: 12,
                size: 3,
                type_: GL_FLOAT,
            };
            let read = Indices {
                // SAFETY: the vector's own indices.
                at: unsafe { Bytes::new(indices.as_ptr().cast(), 2 * indices.len()) },
                size: 2,
                base: 0,
                restart: None,
            };
            // SAFETY: the vector's own vertices.
            let at = |n: usize| unsafe { positions.read(vertices[n].as_ptr().cast()) };
            for (indexed, overlap) in [
                (false, Some(0)),
                (true, Some(0)),
                (true, Some(2)),
                (true, None),
            ] {
                let vertex = |n: usize| match indexed {
                    // SAFETY: the vector's own indices.
                    true => at(unsafe { read.read(n) }.unwrap() as usize),
                    false => at(n),
                };
                let count = if indexed { 2000 } else { 900 };
                let start = vertices.as_ptr().cast();
                // SAFETY: the vectors' own vertices and indices.
                let hull = |block: Range<usize>| unsafe {
                    match indexed {
                        true => positions.hull_of(start, &read, block),
                        false => positions.hull(start, block, count),
                    }
                };
                let blocks = Blocks::new(count, overlap);
                let tree = Tree::new(blocks.each().map(hull).collect());
                let pieces = tree.cut(&sorter, blocks, 0);
                let step = if overlap == Some(0) { 3 } else { 1 };
                for first in (0..count - 2).step_by(step) {
                    let drawn = pieces
                        .iter()
                        .filter(|p| p.first <= first && first + 3 <= p.first + p.count)
                        .fold(0, |tiles, p| tiles | p.tiles);
                    let needed = touched(&transform, [0, 1, 2].map(|n| vertex(first + n)));
                    assert_eq!(needed & !drawn, 0, "{first} of {count}, {overlap:?}");
                }
            }
        }
    }
}
