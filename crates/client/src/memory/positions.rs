//! Bounds of vertices in arrays and buffers, found block by block.

use super::bytes::Bytes;
use super::contents::Contents;
use mgn_wall::Bounds;
use mgn_wire::draws::RUN_BLOCK as BLOCK;
use mgn_wire::gl::*;
use std::ops::Range;

/// The layout of positions from an address or an offset on: 2 or 3 numbers each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Positions {
    pub at: usize,
    pub stride: usize,
    pub size: u32,
    pub type_: u32,
}

/// Indices in memory.
#[derive(Clone, Copy)]
pub struct Indices<'a> {
    pub at: Bytes<'a>,
    pub size: usize,
    pub base: i32,
    pub restart: Option<u32>,
}

/// The blocks of a draw of `count` vertices or indices. Each block shares `overlap` elements with
/// the next. If `overlap` is none, the draw is one block.
#[derive(Debug, Clone, Copy)]
pub struct Blocks {
    count: usize,
    overlap: Option<usize>,
    pub number: usize,
}

impl Blocks {
    pub fn new(count: usize, overlap: Option<usize>) -> Blocks {
        let number = overlap.map_or(1, |overlap| {
            1 + count.saturating_sub(BLOCK + overlap).div_ceil(BLOCK)
        });
        Blocks {
            count,
            overlap,
            number,
        }
    }

    /// The elements in a range of blocks.
    pub fn range(&self, blocks: Range<usize>) -> Range<usize> {
        let end = match blocks.end == self.number {
            true => self.count,
            false => blocks.end * BLOCK + self.overlap.unwrap_or(0),
        };
        blocks.start * BLOCK..end
    }

    pub fn each(self) -> impl Iterator<Item = Range<usize>> {
        (0..self.number).map(move |n| self.range(n..n + 1))
    }
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

    /// The same positions, but beginning with the first one that fits into a buffer, and the number
    /// of the original first position among them. None if the stride is 0.
    pub fn grid(self) -> Option<(Positions, usize)> {
        let first = self.at.checked_div(self.stride)?;
        let grid = Positions {
            at: self.at % self.stride,
            ..self
        };
        (self.stride >= self.bytes()).then_some((grid, first))
    }

    /// The number of positions of a grid that end at or before an offset, and the number of those
    /// that begin before it.
    pub fn before(&self, offset: usize) -> (usize, usize) {
        let end = (offset + self.stride).saturating_sub(self.at + self.bytes());
        let begin = offset.saturating_sub(self.at);
        (end / self.stride, begin.div_ceil(self.stride))
    }

    /// The address of position 0 in a buffer, if all of `elements` lie in the buffer.
    pub fn within(&self, contents: Contents<'_>, elements: Range<i64>) -> Option<*const u8> {
        let last = usize::try_from(elements.end - 1).ok()?;
        let at = self.at.checked_add(last.checked_mul(self.stride)?)?;
        let start = contents.at(0, at.checked_add(self.bytes())?)?;
        (elements.start >= 0).then(|| start.wrapping_add(self.at))
    }

    /// Bounds of the `vertices` among `count` vertices. Position 0 lies at `start`.
    ///
    /// # Safety
    /// The positions of these vertices, and all up to `count`, lie there.
    pub unsafe fn hull(&self, start: *const u8, vertices: Range<usize>, count: usize) -> Bounds {
        let place = |n: usize| start.wrapping_add(n * self.stride);
        if (self.type_, self.size) != (GL_FLOAT, 3) || self.stride < 4 {
            // SAFETY: the caller's promise.
            return hull(vertices, |n| Some(unsafe { self.read(place(n)) }));
        }
        let end = vertices.end.min(count.saturating_sub(1));
        let mut bounds = hull(vertices.start..end, |n| {
            // SAFETY: the caller's promise; after each position but the last, at least 16 bytes can
            // be read.
            Some(unsafe { place(n).cast::<[f32; 4]>().read_unaligned() })
        });
        for last in end.max(vertices.start)..vertices.end {
            // SAFETY: the caller's promise.
            bounds.add(unsafe { self.read(place(last)) });
        }
        bounds
    }

    /// Bounds of the positions `vertices` of a buffer. `data` holds the buffer's bytes, beginning
    /// at `offset`. The result is [`Bounds::ALL`] if these positions, or later ones before position
    /// `count`, do not all lie in `data`.
    pub fn hull_in(
        &self,
        data: Bytes<'_>,
        offset: usize,
        vertices: Range<usize>,
        count: usize,
    ) -> Bounds {
        if vertices.is_empty() {
            return Bounds::NONE;
        }
        let place = |n: usize| n.checked_mul(self.stride)?.checked_add(self.at);
        let lie_there = || {
            let first = place(vertices.start)?.checked_sub(offset)?;
            let end = place(count.checked_sub(1)?)?.checked_add(self.bytes())?;
            let end = end.checked_sub(offset)?;
            let is_within = vertices.end <= count && first <= end && end <= data.len();
            (is_within && matches!(self.size, 2 | 3)).then_some(())
        };
        if lie_there().is_none() {
            return Bounds::ALL;
        }
        let start = data.start().wrapping_sub(offset).wrapping_add(self.at);
        // SAFETY: as was checked.
        unsafe { self.hull(start, vertices, count) }
    }

    /// Bounds of the vertices that the indices in `range` select.
    ///
    /// # Safety
    /// The indices exist, and so do the positions that they select; position 0 lies at `start`.
    pub unsafe fn hull_of(
        &self,
        start: *const u8,
        indices: &Indices<'_>,
        range: Range<usize>,
    ) -> Bounds {
        let place = |n: usize| {
            // SAFETY: the caller's promise.
            let element = unsafe { indices.read(n) }?;
            Some(start.wrapping_offset(element as isize * self.stride as isize))
        };
        if (self.type_, self.size) == (GL_FLOAT, 3) {
            return hull(range, |n| {
                let at = place(n)?.cast::<[f32; 3]>();
                // SAFETY: as above.
                let [x, y, z] = unsafe { at.read_unaligned() };
                Some([x, y, z, 0.])
            });
        }
        // SAFETY: as above.
        hull(range, |n| Some(unsafe { self.read(place(n)?) }))
    }

    /// The position at an address.
    ///
    /// # Safety
    /// It lies there.
    #[inline(always)]
    pub unsafe fn read(&self, at: *const u8) -> [f32; 4] {
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

impl Indices<'_> {
    /// The indices in a range without those that restart the primitive, as far as the range exists.
    pub fn each(&self, range: Range<usize>) -> impl Iterator<Item = i64> + '_ {
        let count = match self.size {
            size @ (1 | 2 | 4) => self.at.len() / size,
            _ => 0,
        };
        let there = range.start..range.end.min(count);
        // SAFETY: the index exists.
        there.filter_map(|n| unsafe { self.read(n) })
    }

    /// Index `n`, unless it restarts the primitive.
    ///
    /// # Safety
    /// There are more than `n` indices.
    #[inline(always)]
    pub unsafe fn read(&self, n: usize) -> Option<i64> {
        // SAFETY: the caller's promise.
        let index = unsafe {
            let at = self.at.start().add(n * self.size);
            match self.size {
                1 => u32::from(at.read()),
                2 => u32::from(at.cast::<u16>().read_unaligned()),
                _ => at.cast::<u32>().read_unaligned(),
            }
        };
        (Some(index) != self.restart).then_some(i64::from(index) + i64::from(self.base))
    }
}

/// Bounds of a block. `vertex` returns its vertices.
#[inline(always)]
fn hull(block: Range<usize>, vertex: impl Fn(usize) -> Option<[f32; 4]>) -> Bounds {
    let (mut bounds, mut n) = (Bounds::NONE, block.start);
    while n + 4 <= block.end {
        // NaNs are ignored.
        let found = [n, n + 1, n + 2, n + 3].map(|n| vertex(n).unwrap_or([f32::NAN; 4]));
        bounds.add_four(found);
        n += 4;
    }
    (n..block.end)
        .filter_map(vertex)
        .for_each(|v| bounds.add(v));
    bounds
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bounds of vertices, computed one by one.
    fn around(vertices: impl Iterator<Item = [f32; 4]>) -> Bounds {
        let mut bounds = Bounds::NONE;
        vertices.for_each(|[x, y, z, _]| bounds.add([x, y, z, 0.]));
        bounds
    }

    /// Whether both bounds touch the same tiles.
    fn agree(a: Bounds, b: Bounds) -> bool {
        let transform = std::array::from_fn(|n| if n % 5 == 0 { 0.01 } else { 0. });
        let columns: Vec<[i32; 4]> = (0..60).map(|n| [10 * n, 0, 10, 600]).collect();
        let rows: Vec<[i32; 4]> = columns
            .iter()
            .map(|[x, y, w, h]| [*y, *x, *h, *w])
            .collect();
        [columns, rows].iter().all(|tiles| {
            let sorter = mgn_wall::Sorter::new(&transform, [0., 0., 600., 600.], tiles, 0.);
            sorter.tiles(&a) == sorter.tiles(&b)
        })
    }

    #[test]
    fn positions_that_are_not_there_may_be_anywhere() {
        let positions = Positions {
            at: 4,
            stride: 16,
            size: 3,
            type_: GL_FLOAT,
        };
        // Positions 2 to 4 of a buffer.
        let data: Vec<u8> = (0..10u8).flat_map(|n| f32::from(n).to_le_bytes()).collect();
        let hull = |len: usize, vertices: Range<usize>, count| {
            positions.hull_in(data[..len].into(), 36, vertices, count)
        };
        let mut bounds = Bounds::NONE;
        bounds.add([0., 1., 2., 0.]);
        bounds.add([4., 5., 6., 0.]);
        assert!(agree(hull(28, 2..4, 4), bounds));
        assert_eq!(hull(28, 3..3, 4), Bounds::NONE);
        for (len, vertices, count) in [(27, 2..4, 4), (40, 1..4, 4), (40, 2..4, 3), (40, 2..3, 9)] {
            assert_eq!(
                hull(len, vertices.clone(), count),
                Bounds::ALL,
                "{vertices:?}"
            );
        }
    }

    #[test]
    fn bounds_are_those_of_all_vertices_and_of_no_other() {
        let value = |n: usize| ((n * 7919) % 1009) as f32 / 1009. - 0.5;
        for (stride, size, type_) in [
            (12, 3, GL_FLOAT),
            (24, 3, GL_FLOAT),
            (0, 3, GL_FLOAT),
            (8, 2, GL_FLOAT),
            (16, 2, GL_DOUBLE),
            (4, 2, GL_SHORT),
        ] {
            let positions = Positions {
                at: 0,
                stride,
                size,
                type_,
            };
            // Under Miri this takes a thousand times as long.
            let counts: &[usize] = match cfg!(miri) {
                true => &[0, 1, 5],
                false => &[0, 1, 2, 3, 4, 5, 8, 9, 96, 98],
            };
            for &count in counts {
                let mut bytes = vec![0u8; stride * count + positions.bytes()];
                for (n, word) in bytes.chunks_exact_mut(4).enumerate() {
                    let number = match type_ {
                        _ if n == 7 => f32::NAN,
                        GL_DOUBLE => value(n) * 1e-3,
                        _ => value(n),
                    };
                    word.copy_from_slice(&number.to_le_bytes());
                }
                // The memory ends where the last position ends.
                bytes.truncate(stride * count.saturating_sub(1) + positions.bytes());
                let start = bytes.as_ptr();
                // SAFETY: the vector's own positions.
                let vertex = |n: usize| unsafe { positions.read(start.wrapping_add(n * stride)) };
                // SAFETY: as above.
                let hull = unsafe { positions.hull(start, 0..count, count) };
                let case = format!("{count} of {size} {type_:#x}, {stride} apart");
                assert!(agree(hull, around((0..count).map(vertex))), "{case}");
                if count == 0 {
                    continue;
                }
                let indices: Vec<u16> = (0..50u16).map(|n| n * 7 % count as u16).collect();
                let read = Indices {
                    // SAFETY: the vector's own bytes.
                    at: unsafe { Bytes::new(indices.as_ptr().cast(), 100) },
                    size: 2,
                    base: 0,
                    restart: Some(0),
                };
                // SAFETY: as above, and the indices lie in the vector.
                let hull = unsafe { positions.hull_of(start, &read, 3..50) };
                let named = indices[3..].iter().filter(|n| **n != 0);
                let named = around(named.map(|n| vertex(usize::from(*n))));
                assert!(agree(hull, named), "indices: {case}");
            }
        }
    }
}
