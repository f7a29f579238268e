//! `tilesort` of draws from arrays and buffers: a draw is cut where the tiles change that it touches, and each piece is sent to those who need it.
//!
//! Where the fixed function places vertices, the tiles are found by bounds of blocks of vertices or indices. What buffers hold is known as far as there are
//! copies of it (`buffers`), and bounds are found once for the same contents.

use super::elements::Indexed;
use crate::context::Context;
use crate::gl::buffers::{Buffers, Contents};
use mgn_wall::Bounds;
use mgn_wire::draws::{attr, RUN_BLOCK as BLOCK};
use mgn_wire::gl::*;
use mgn_wire::sizes::image::draw_index_bytes;
use mgn_wire::RECORD_MAX;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// The tiles of what everyone draws.
pub(super) const EVERYONE: u64 = u64::MAX;
/// Bounds of so many blocks are remembered.
const BLOCKS_MAX: usize = 1 << 18;

/// A part of a draw.
#[derive(Debug, PartialEq)]
pub(super) struct Piece {
    /// The first of its vertices, or indices, counted from the draw's first.
    pub first: usize,
    pub count: usize,
    /// Those that it touches.
    pub tiles: u64,
}

/// Bounds of blocks of draws from buffers.
#[derive(Default)]
pub struct Known {
    bounds: HashMap<Key, Arc<[Bounds]>>,
    blocks: usize,
}

/// What bounds depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Key {
    positions: (u64, Positions),
    /// The number of the contents and the offset of indices, their type, and what is added to them.
    indices: Option<(u64, usize, u32, i32)>,
    restart: Option<u32>,
    first: usize,
    count: usize,
    overlap: Option<usize>,
}

/// How positions lie, from an address or an offset on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Positions {
    at: usize,
    stride: usize,
    size: u32,
    type_: u32,
}

impl Positions {
    fn bytes(&self) -> usize {
        let number = match self.type_ {
            GL_SHORT => 2,
            GL_DOUBLE => 8,
            _ => 4,
        };
        number * self.size as usize
    }

    /// Where position 0 lies in a buffer, if all of `elements` lie there.
    fn within(&self, contents: Contents<'_>, elements: Range<i64>) -> Option<*const u8> {
        let last = usize::try_from(elements.end - 1).ok()?;
        let at = self.at.checked_add(last.checked_mul(self.stride)?)?;
        let start = contents.at(0, at.checked_add(self.bytes())?)?;
        (elements.start >= 0).then(|| start.wrapping_add(self.at))
    }

    /// Bounds of each block of `count` vertices, where `place` finds those that count.
    ///
    /// # Safety
    /// Positions lie at those places.
    unsafe fn hulls(
        &self,
        count: usize,
        overlap: Option<usize>,
        place: impl Fn(usize) -> Option<*const u8>,
    ) -> Vec<Bounds> {
        if (self.type_, self.size) == (GL_FLOAT, 3) {
            return hulls(count, overlap, |n| {
                let at = place(n)?.cast::<[f32; 3]>();
                // SAFETY: the caller's promise.
                let [x, y, z] = unsafe { at.read_unaligned() };
                Some([x, y, z, 0.])
            });
        }
        // SAFETY: likewise.
        hulls(count, overlap, |n| Some(unsafe { self.read(place(n)?) }))
    }

    /// The position at an address.
    ///
    /// # Safety
    /// It lies there.
    #[inline(always)]
    unsafe fn read(&self, at: *const u8) -> [f32; 4] {
        // SAFETY: the caller's promise: `size` numbers, 2 or 3, of the type.
        unsafe {
            macro_rules! read {
                ($type:ty) => {{
                    let number = |n| at.cast::<$type>().add(n).read_unaligned() as f32;
                    let z = if self.size > 2 { number(2) } else { 0. };
                    [number(0), number(1), z, 0.]
                }};
            }
            match self.type_ {
                GL_FLOAT => read!(f32),
                GL_DOUBLE => read!(f64),
                GL_SHORT => read!(i16),
                _ => read!(i32),
            }
        }
    }
}

/// Indices as they lie in memory.
#[derive(Clone, Copy)]
struct Indices {
    at: *const u8,
    size: usize,
    base: i32,
    restart: Option<u32>,
}

impl Indices {
    /// Index `n`, unless it restarts the primitive.
    ///
    /// # Safety
    /// There are so many.
    #[inline(always)]
    unsafe fn read(&self, n: usize) -> Option<i64> {
        // SAFETY: the caller's promise.
        let index = unsafe {
            let at = self.at.add(n * self.size);
            match self.size {
                1 => u32::from(at.read()),
                2 => u32::from(at.cast::<u16>().read_unaligned()),
                _ => at.cast::<u32>().read_unaligned(),
            }
        };
        (Some(index) != self.restart).then_some(i64::from(index) + i64::from(self.base))
    }
}

/// The blocks of `count` vertices of which each has `overlap` in common with the next; all are one block without a number.
fn blocks(count: usize, overlap: Option<usize>) -> impl Iterator<Item = Range<usize>> {
    let number = overlap.map_or(1, |overlap| {
        1 + count.saturating_sub(BLOCK + overlap).div_ceil(BLOCK)
    });
    (0..number).map(move |n| {
        let end = (n + 1) * BLOCK + overlap.unwrap_or(0);
        let is_last = n + 1 == number;
        n * BLOCK..if is_last { count } else { end }
    })
}

/// Bounds of each block, whose vertices `vertex` finds.
#[inline(always)]
fn hulls(
    count: usize,
    overlap: Option<usize>,
    vertex: impl Fn(usize) -> Option<[f32; 4]>,
) -> Vec<Bounds> {
    let hull = |block: Range<usize>| {
        let mut bounds = Bounds::NONE;
        block.filter_map(&vertex).for_each(|v| bounds.add(v));
        bounds
    };
    blocks(count, overlap).map(hull).collect()
}

/// Blocks that follow each other and touch the same tiles are one piece, and what touches none is left out.
fn pieces(tiles: impl Iterator<Item = u64>, count: usize, overlap: Option<usize>) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    for (block, tiles) in blocks(count, overlap).zip(tiles) {
        match pieces.last_mut() {
            Some(last) if last.tiles == tiles => last.count = block.end - last.first,
            _ => pieces.push(Piece {
                first: block.start,
                count: block.len(),
                tiles,
            }),
        }
    }
    pieces.retain(|piece| piece.tiles != 0);
    pieces
}

/// Where what a draw reads lies.
struct Source<'a> {
    positions: Positions,
    /// The buffer that holds them and the number of its contents, or the program's memory.
    buffer: Option<(Contents<'a>, u64)>,
}

impl Context {
    /// How a draw of the elements `first..first + count` is cut. None if everyone draws it, as it is.
    #[inline]
    pub(super) fn sort_arrays(&mut self, mode: u32, first: i32, count: i32) -> Option<Vec<Piece>> {
        match self.may_sort() {
            true => self.cut_arrays(mode, first, count),
            false => None,
        }
    }

    fn cut_arrays(&mut self, mode: u32, first: i32, count: i32) -> Option<Vec<Piece>> {
        let overlap = self.sort_by(mode)?;
        let shared = self.gl.shared.clone();
        let buffers = shared.buffers();
        let source = self.source(&buffers)?;
        let (first, count) = (usize::try_from(first).ok()?, usize::try_from(count).ok()?);
        let elements = first as i64..(first + count) as i64;
        let positions = source.positions;
        let start = match source.buffer {
            Some((contents, _)) => positions.within(contents, elements)?,
            None => positions.at as *const u8,
        };
        let start = start.wrapping_add(first * positions.stride);
        let find = || {
            // SAFETY: the program's arrays hold the elements, or the buffer does, as was checked.
            unsafe {
                positions.hulls(count, overlap, |n| {
                    Some(start.wrapping_add(n * positions.stride))
                })
            }
        };
        let key = source.buffer.map(|(_, number)| Key {
            positions: (number, positions),
            indices: None,
            restart: None,
            first,
            count,
            overlap,
        });
        self.sort_blocks(mode, count, overlap, key, find)
    }

    /// How an indexed draw is cut. `indices` are those that it brings along, `restart` restarts primitives. None if everyone draws it, as it is.
    #[inline]
    pub(super) fn sort_elements(
        &mut self,
        draw: &Indexed,
        indices: Option<*const u8>,
    ) -> Option<Vec<Piece>> {
        match self.may_sort() && draw.draws() && draw.instances == 1 {
            true => self.cut_elements(draw, indices),
            false => None,
        }
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
        let buffers = shared.buffers();
        let source = self.source(&buffers)?;
        let size = draw_index_bytes(draw.type_)?;
        let count = usize::try_from(draw.count).ok()?;
        let offset = draw.indices as usize;
        let bound = &self.gl.arrays.bound;
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
        let indices = Indices {
            at,
            size,
            base: draw.base_vertex,
            restart,
        };
        let key = match (source.buffer, number) {
            (Some((_, positions)), Some(number)) => Some(Key {
                positions: (positions, source.positions),
                indices: Some((number, offset, draw.type_, draw.base_vertex)),
                restart,
                first: 0,
                count,
                overlap,
            }),
            _ => None,
        };
        let positions = source.positions;
        if let Some(bounds) = key.and_then(|key| self.gl.arrays.known.bounds.get(&key).cloned()) {
            return self.sort_blocks(draw.mode, count, overlap, key, || bounds.to_vec());
        }
        let start = match source.buffer {
            Some((contents, _)) => {
                // SAFETY: so many indices lie there.
                let (least, greatest) =
                    unsafe { super::elements::bounds(at, count, size, restart) }?;
                let base = i64::from(draw.base_vertex);
                let elements = i64::from(least) + base..i64::from(greatest) + base + 1;
                positions.within(contents, elements)?
            }
            None => positions.at as *const u8,
        };
        let find = || {
            // SAFETY: so many indices lie there; the program's arrays hold the elements, or the buffer does, as was checked.
            unsafe {
                positions.hulls(count, overlap, |n| {
                    let element = indices.read(n)?;
                    Some(start.wrapping_offset(element as isize * positions.stride as isize))
                })
            }
        };
        self.sort_blocks(draw.mode, count, overlap, key, find)
    }

    /// Whether draws of `mode` are placed by the fixed function and raise no error for certain, so that it does not matter who sees them; and how they may be
    /// cut.
    fn sort_by(&mut self, mode: u32) -> Option<Option<usize>> {
        let generic = self.gl.arrays.bound.enabled >> attr::GENERIC;
        let sorts = generic == 0 && self.draw_is_sure(mode) && self.sorter(mode).is_some();
        sorts.then(|| self.sort_overlap(mode))
    }

    /// Who draws what is drawn with `mode`, of which the program may have said where it will lie. What errors the draw would raise, everyone is told.
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
        let surface = self.in_tiles()?;
        let tiles = self.gl.debug.groups.tiles(surface)?;
        self.check_only(mode);
        Some(tiles)
    }

    /// Whether it is better to have many draws one by one.
    pub(super) fn sorts_each(&mut self, mode: u32) -> bool {
        self.may_sort() && self.sort_by(mode).is_some()
    }

    /// Where the positions lie; none if they are not known.
    fn source<'a>(&self, buffers: &'a Buffers) -> Option<Source<'a>> {
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
        let buffer = match (is_plain, binding.buffer) {
            (false, _) => return None,
            (true, 0) if positions.at == 0 => return None,
            (true, 0) => None,
            (true, name) => {
                let object = buffers.get(name)?;
                let since = array.since[usize::from(format.binding)];
                Some(object.is_bound_since(since).then(|| object.contents())??)
            }
        };
        Some(Source { positions, buffer })
    }

    /// Sorts blocks, whose bounds are remembered or found.
    fn sort_blocks(
        &mut self,
        mode: u32,
        count: usize,
        overlap: Option<usize>,
        key: Option<Key>,
        find: impl Fn() -> Vec<Bounds>,
    ) -> Option<Vec<Piece>> {
        let bounds = match key {
            Some(key) => self.gl.arrays.known.bounds(key, find),
            None => find().into(),
        };
        let all = 1u64.checked_shl(self.draw.as_ref()?.areas()?.len() as u32);
        let all = all.map_or(EVERYONE, |bit| bit - 1);
        let sorter = self.sorter(mode)?;
        let tiles = bounds.iter().map(|bounds| sorter.tiles(bounds));
        let pieces = pieces(tiles, count, overlap);
        let is_whole = matches!(&pieces[..], [piece] if piece.tiles == all && piece.count == count);
        (!is_whole).then_some(pieces)
    }

    /// Says that the draw that is written next, of at most `bytes` bytes, is for `tiles` only.
    pub(super) fn only(&mut self, tiles: u64, bytes: usize) {
        let room = bytes + 12;
        if tiles == EVERYONE || room > RECORD_MAX {
            return;
        }
        // SAFETY: the context's own encoder. The room is only looked for, and given back, so that both come to lie in one message.
        unsafe { self.enc.cur = self.enc.room(room) };
        if self.enc.end.is_null() {
            return;
        }
        // SAFETY: as above.
        unsafe { self.enc.mgn_only(tiles as u32, (tiles >> 32) as u32) };
        self.message_is_sorted();
    }
}

impl Known {
    fn bounds(&mut self, key: Key, find: impl Fn() -> Vec<Bounds>) -> Arc<[Bounds]> {
        if let Some(bounds) = self.bounds.get(&key) {
            return bounds.clone();
        }
        let bounds: Arc<[Bounds]> = find().into();
        if self.blocks + bounds.len() > BLOCKS_MAX {
            *self = Known::default();
        }
        self.blocks += bounds.len();
        self.bounds.insert(key, bounds.clone());
        bounds
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mgn_wall::Sorter;

    /// Numbers from -1 to 1, the same in each run.
    struct Random(u64);

    impl Random {
        fn next(&mut self) -> f32 {
            self.0 = self
                .0
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (self.0 >> 40) as f32 / (1u64 << 23) as f32 - 1.
        }
    }

    fn product(a: &[f32; 16], b: &[f32; 16]) -> [f32; 16] {
        std::array::from_fn(|i| (0..4).map(|k| a[4 * k + i % 4] * b[i / 4 * 4 + k]).sum())
    }

    /// A perspective, seen from anywhere.
    fn transform(random: &mut Random) -> [f32; 16] {
        let mut perspective = [0.; 16];
        (perspective[0], perspective[5], perspective[10]) = (1.5, 1.5, -1.2);
        (perspective[11], perspective[14]) = (-1., -0.5);
        let mut model: [f32; 16] = std::array::from_fn(|_| random.next());
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

    /// The tiles in which points of a triangle lie that is before the eye.
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
    fn no_triangle_is_lost() {
        let mut random = Random(7);
        for _ in 0..50 {
            let transform = transform(&mut random);
            let sorter = Sorter::new(&transform, [0., 0., 100., 100.], &TILES, 1.);
            let vertices: Vec<[f32; 3]> = (0..900)
                .map(|n| std::array::from_fn(|i| random.next() * 0.1 + (n / 90 + i) as f32 / 9.))
                .collect();
            let indices: Vec<u16> = (0..2000)
                .map(|n| (n / 3 + (random.next() * 20.) as i32).clamp(0, 899) as u16)
                .collect();
            let positions = Positions {
                at: 0,
                stride: 12,
                size: 3,
                type_: GL_FLOAT,
            };
            let read = Indices {
                at: indices.as_ptr().cast(),
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
                let bounds = hulls(count, overlap, |n| Some(vertex(n)));
                let tiles = bounds.iter().map(|bounds| sorter.tiles(bounds));
                let pieces = pieces(tiles, count, overlap);
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

    #[test]
    fn pieces_draw_each_primitive_once() {
        for (overlap, count) in [(0, 3000), (1, 1000), (2, 1000), (2, BLOCK + 2), (0, 3)] {
            let mut random = Random(3);
            let tiles: Vec<u64> = blocks(count, Some(overlap))
                .map(|_| 1 + u64::from(random.next() > 0.))
                .collect();
            let pieces = pieces(tiles.iter().copied(), count, Some(overlap));
            let mut at = 0;
            for piece in &pieces {
                assert_eq!(piece.first, at);
                at = piece.first + piece.count - overlap;
            }
            assert_eq!(at + overlap, count);
        }
        let one = pieces([4].into_iter(), 500, None);
        assert_eq!(
            one,
            [Piece {
                first: 0,
                count: 500,
                tiles: 4
            }]
        );
        assert!(pieces([0, 0].into_iter(), 150, Some(0)).is_empty());
    }
}
