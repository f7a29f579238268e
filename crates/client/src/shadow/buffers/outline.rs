//! Bounds of the vertices in a buffer that is filled repeatedly. They are computed while the
//! vertices are sent, so that no copy is kept.

use crate::memory::bytes::Bytes;
use crate::memory::positions::{Indices, Positions};
use mgn_wall::Bounds;
use std::ops::Range;

/// The number of vertices that share bounds.
const CELL: usize = 48;

/// Bounds of the positions in a buffer.
#[derive(Debug)]
pub struct Outline {
    /// The layout of the positions, from the first one in the buffer on.
    grid: Positions,
    /// How many there are.
    vertices: usize,
    cells: Vec<Bounds>,
}

/// Bounds that are computed from bytes while these are sent to a buffer.
#[derive(Debug)]
pub struct OutlineScan<'a> {
    grid: Positions,
    data: Bytes<'a>,
    /// The offset of the data in the buffer.
    offset: usize,
    /// The positions that are written completely, and all that are at least written in part.
    whole: Range<usize>,
    touched: Range<usize>,
    /// The bounds of the positions up to `next`, by cell.
    cells: Vec<Bounds>,
    next: usize,
}

impl Outline {
    /// For a buffer of `size` bytes with undefined contents, which count as zeros.
    pub fn new(grid: Positions, size: usize) -> Outline {
        let vertices = grid.before(size).0;
        let mut zeros = Bounds::NONE;
        zeros.add([0.; 4]);
        Outline {
            grid,
            vertices,
            cells: vec![zeros; vertices.div_ceil(CELL)],
        }
    }

    pub fn look<'a>(&self, offset: usize, data: Bytes<'a>) -> OutlineScan<'a> {
        OutlineScan::new(self.grid, offset, data)
    }

    /// The examined bytes have been written.
    pub fn wrote(&mut self, look: OutlineScan<'_>) {
        if look.grid != self.grid || look.whole.end > self.vertices {
            // Another thread has given the buffer new storage in the meantime.
            self.cells.fill(Bounds::ALL);
            return;
        }
        if look.whole == (0..self.vertices) {
            self.cells = look.cells;
            return;
        }
        let end = |first: usize| (first / CELL + 1) * CELL;
        let mut first = look.whole.start;
        for bounds in look.cells {
            let cell = &mut self.cells[first / CELL];
            let is_all = first % CELL == 0 && look.whole.end >= end(first).min(self.vertices);
            match is_all {
                true => *cell = bounds,
                false => cell.join(&bounds),
            }
            first = end(first);
        }
        let parts = [
            look.touched.start..look.whole.start,
            look.whole.end..look.touched.end,
        ];
        for part in parts.into_iter().flatten().filter(|n| *n < self.vertices) {
            self.cells[part / CELL] = Bounds::ALL;
        }
    }

    /// The number of the first of these positions in the outline; none if their layout is not the
    /// expected one.
    pub fn first_of(&self, positions: Positions) -> Option<i64> {
        let (grid, first) = positions.grid()?;
        (grid == self.grid).then_some(first as i64)
    }

    /// Whether all of these positions exist.
    pub fn has(&self, positions: Range<i64>) -> bool {
        positions.start >= 0 && positions.end <= self.vertices as i64
    }

    /// A box around some of the existing positions. It may also include others.
    pub fn hull(&self, positions: Range<usize>) -> Bounds {
        let mut bounds = Bounds::NONE;
        if !positions.is_empty() {
            let cells = &self.cells[positions.start / CELL..positions.end.div_ceil(CELL)];
            cells.iter().for_each(|cell| bounds.join(cell));
        }
        bounds
    }

    /// The same for the positions that indices select, counted from `first`.
    pub fn hull_of(&self, first: i64, indices: &Indices<'_>, range: Range<usize>) -> Bounds {
        let (mut bounds, mut last) = (Bounds::NONE, usize::MAX);
        for index in indices.each(range) {
            let cell = (first + index) as usize / CELL;
            if cell != last {
                bounds.join(&self.cells[cell]);
                last = cell;
            }
        }
        bounds
    }
}

impl<'a> OutlineScan<'a> {
    /// Scans bytes that are written to `offset`.
    pub fn new(grid: Positions, offset: usize, data: Bytes<'a>) -> OutlineScan<'a> {
        let end = offset + data.len();
        let (ends_before, begins_before) = (grid.before(offset), grid.before(end));
        let whole = ends_before.1..begins_before.0.max(ends_before.1);
        OutlineScan {
            grid,
            data,
            offset,
            touched: ends_before.0..begins_before.1,
            cells: Vec::with_capacity(whole.len() / CELL + 2),
            next: whole.start,
            whole,
        }
    }

    /// Scans the first `bytes` bytes, except for those that were scanned before.
    pub fn up_to(&mut self, bytes: usize) {
        let until = self.grid.before(self.offset + bytes).1.min(self.whole.end);
        while self.next < until {
            let end = ((self.next / CELL + 1) * CELL).min(self.whole.end);
            let (data, offset, count) = (self.data, self.offset, self.whole.end);
            let bounds = self.grid.hull_in(data, offset, self.next..end, count);
            self.cells.push(bounds);
            self.next = end;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mgn_wire::gl::*;

    /// Positions in a buffer of `bytes`, 20 apart from byte 8 on.
    const GRID: Positions = Positions {
        at: 8,
        stride: 20,
        size: 3,
        type_: GL_FLOAT,
    };

    fn vertices(number: usize, x: impl Fn(usize) -> f32) -> Vec<u8> {
        let mut bytes = vec![0u8; 20 * number];
        for (n, vertex) in bytes.chunks_exact_mut(20).enumerate() {
            vertex[8..12].copy_from_slice(&x(n).to_le_bytes());
        }
        bytes
    }

    /// The values of x within the bounds, among those from -0.95 to 0.95 in steps of 0.1.
    fn xs(bounds: Bounds) -> Vec<f32> {
        let identity = std::array::from_fn(|n| if n % 5 == 0 { 1. } else { 0. });
        let columns: Vec<_> = (0..20).map(|n| [10 * n, 0, 10, 100]).collect();
        let sorter = mgn_wall::Sorter::new(&identity, [0., 0., 200., 100.], &columns, 0.);
        let tiles = sorter.tiles(&bounds);
        let tiles = (0..20).filter(|n| tiles >> n & 1 != 0);
        tiles.map(|n| (n as f32 - 9.5) / 10.).collect()
    }

    fn write(outline: &mut Outline, offset: usize, data: &[u8], pieces: usize) {
        let mut look = outline.look(offset, data.into());
        for piece in data.chunks(pieces).scan(0, |at, piece| {
            *at += piece.len();
            Some(*at)
        }) {
            look.up_to(piece);
        }
        outline.wrote(look);
    }

    #[test]
    fn an_outline_follows_what_is_written() {
        for pieces in [1, 19, 20, 640, 777, if cfg!(miri) { 999 } else { 100_000 }] {
            let mut outline = Outline::new(GRID, 20 * 200);
            assert!(outline.has(0..200) && !outline.has(-1..3) && !outline.has(3..201));
            write(&mut outline, 0, &vertices(200, |_| 0.35), pieces);
            assert_eq!(xs(outline.hull(0..200)), [0.35]);
            // Writes one whole cell, and a part of another.
            write(
                &mut outline,
                CELL * 20,
                &vertices(CELL + 9, |_| 0.55),
                pieces,
            );
            assert_eq!(xs(outline.hull(3..CELL)), [0.35]);
            assert_eq!(xs(outline.hull(CELL..2 * CELL)), [0.55]);
            assert_eq!(xs(outline.hull(140..141)), [0.35, 0.45, 0.55]);
            assert_eq!(xs(outline.hull(150..200)), [0.35]);
            // Writes the bytes between two positions, and a part of one position.
            write(&mut outline, 40, &[0; 8], pieces);
            assert_eq!(xs(outline.hull(0..1)), [0.35]);
            write(&mut outline, 40, &[0; 9], pieces);
            assert_eq!(xs(outline.hull(0..1)).len(), 20);
            assert_eq!(xs(outline.hull(CELL..CELL + 1)), [0.55]);
            write(&mut outline, 199 * 20 + 10, &[0; 2], pieces);
            assert_eq!(xs(outline.hull(198..199)).len(), 20);
        }
    }

    #[test]
    fn what_was_meant_for_other_storage_may_lie_anywhere() {
        let bytes = vertices(200, |_| 0.35);
        let long = Outline::new(GRID, 20 * 200);
        for other in [
            Outline::new(GRID, 20 * 100),
            Outline::new(Positions { size: 2, ..GRID }, 20 * 200),
        ] {
            let mut other = other;
            other.wrote(long.look(20, bytes[..20 * 150].into()));
            assert_eq!(xs(other.hull(0..1)).len(), 20);
        }
    }

    #[test]
    fn indices_name_cells() {
        let mut outline = Outline::new(GRID, 20 * 200);
        let bytes = vertices(200, |n| n as f32 / 100. - 0.95);
        write(&mut outline, 0, &bytes, 4000);
        let indices = Indices {
            at: Bytes::from(&[3, 70, 90, 5][..]),
            size: 1,
            base: 10,
            restart: Some(5),
        };
        let at = Positions { at: 68, ..GRID };
        let first = outline.first_of(at).unwrap();
        assert_eq!(first, 3);
        let hull = outline.hull_of(first, &indices, 1..4);
        assert_eq!(hull, outline.hull(64..128));
        for other in [
            Positions { at: 64, ..GRID },
            Positions { stride: 40, ..GRID },
            Positions { size: 2, ..GRID },
            Positions { stride: 8, ..GRID },
        ] {
            assert_eq!(outline.first_of(other), None);
        }
    }
}
