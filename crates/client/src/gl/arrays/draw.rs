//! Draws whose vertices lie in the program's memory: the vertices that they read are copied into
//! the stream.

use crate::context::Context;
use crate::gl::tracked::can_be_read;
use crate::shadow::arrays::Arrays;
use mgn_wire::draws::{Array, ARRAY_WORDS};
use mgn_wire::encoder::Data;
use mgn_wire::{gl, RECORD_MAX};

/// The elements of the arrays that a draw reads: `least..=greatest` for arrays with divisor 0. For
/// other arrays, the elements that the instances need.
#[derive(Clone, Copy)]
pub(super) struct Reads {
    pub least: i64,
    pub greatest: i64,
    pub instances: u32,
    pub base_instance: u32,
}

/// Descriptions of the enabled arrays, and the pieces of the program's memory that hold their
/// elements.
pub(super) struct Gathered {
    pub words: Vec<u32>,
    pub pieces: Vec<(*const u8, usize)>,
}

impl Gathered {
    pub fn data(&self) -> Data {
        Data::Parts(self.pieces.as_ptr(), self.pieces.len())
    }
}

/// An array's elements in the program's memory.
struct Range {
    from: usize,
    to: usize,
}

impl Arrays {
    /// Describes the enabled arrays. Arrays whose elements overlap, such as interleaved ones, share
    /// a piece. None if elements lie outside the program's memory: then the draw is an error or
    /// undefined.
    pub(super) fn gather(&self, reads: Reads) -> Option<Gathered> {
        let mut ranges: Vec<Range> = Vec::new();
        let mut arrays = Vec::new();
        for slot in self.bound.enabled_slots() {
            let format = &self.bound.formats[slot];
            let binding = self.bound.binding(slot);
            let at = binding.offset.wrapping_add(format.relative_offset as usize);
            if binding.buffer == 0 && at == 0 {
                // An enabled array without a pointer: the attribute keeps its current value.
                continue;
            }
            let (first, last) = match binding.divisor {
                0 => (reads.least, reads.greatest),
                d => (
                    0,
                    i64::from(reads.instances.saturating_sub(1) / d)
                        + i64::from(reads.base_instance),
                ),
            };
            let mut array = Array {
                attribute: slot as u8,
                kind: format.kind,
                size: format.size,
                type_: format.type_,
                normalized: format.normalized,
                divisor: binding.divisor,
                stride: binding.stride as u32,
                buffer: binding.buffer,
                offset: at as u64,
            };
            if binding.buffer == 0 {
                let skipped = i64::checked_mul(first, binding.stride as i64)?;
                let from = at.wrapping_add_signed(skipped as isize);
                let to = usize::try_from((last - first).max(0))
                    .ok()?
                    .checked_mul(binding.stride)?
                    .checked_add(format.element_bytes())?
                    .checked_add(from)?;
                array.offset = from as u64;
                ranges.push(Range { from, to });
            }
            arrays.push(array);
        }
        ranges.sort_by_key(|r| r.from);
        let mut merged: Vec<Range> = Vec::new();
        for range in ranges {
            match merged.last_mut() {
                Some(last) if range.from < last.to => last.to = last.to.max(range.to),
                _ => merged.push(range),
            }
        }
        if !merged.iter().all(|r| can_be_read(r.from, r.to - r.from)) {
            return None;
        }
        let mut starts = Vec::with_capacity(merged.len());
        let mut total = 0usize;
        for range in &merged {
            starts.push(total);
            total += (range.to - range.from).next_multiple_of(4);
        }
        let mut words = Vec::with_capacity(arrays.len() * ARRAY_WORDS);
        for mut array in arrays {
            if array.buffer == 0 {
                let i = merged.partition_point(|r| r.from as u64 <= array.offset) - 1;
                array.offset = starts[i] as u64 + array.offset - merged[i].from as u64;
            }
            words.extend(array.encode());
        }
        Some(Gathered {
            words,
            pieces: merged
                .iter()
                .map(|r| (r.from as *const u8, r.to - r.from))
                .collect(),
        })
    }

    /// Bytes that one more vertex adds to an inline draw.
    fn vertex_bytes(&self) -> usize {
        let slots = self
            .bound
            .enabled_slots()
            .map(|s| (self.bound.binding(s), self.bound.formats[s].element_bytes()));
        slots
            .filter(|(b, _)| b.buffer == 0 && b.divisor == 0)
            .map(|(b, n)| b.stride.max(n))
            .sum()
    }
}

/// The unit of vertices at which a draw may be cut, and how many vertices the next piece repeats;
/// none if a draw of this mode cannot be cut so.
fn steps(mode: u32) -> Option<(usize, usize)> {
    Some(match mode {
        gl::GL_POINTS => (1, 0),
        gl::GL_LINES => (2, 0),
        gl::GL_TRIANGLES => (3, 0),
        gl::GL_QUADS | gl::GL_LINES_ADJACENCY => (4, 0),
        gl::GL_TRIANGLES_ADJACENCY => (6, 0),
        gl::GL_LINE_STRIP => (1, 1),
        gl::GL_TRIANGLE_STRIP | gl::GL_QUAD_STRIP => (2, 2),
        _ => return None,
    })
}

impl Context {
    /// A draw of elements `first..first + count` in order, for the renderers of `tiles`. Long draws
    /// are sent in pieces if the primitives allow it, so that the server draws one piece while the
    /// next is written.
    pub(super) fn draw_client_arrays(
        &mut self,
        mode: u32,
        first: i32,
        count: i32,
        instances: i32,
        base_instance: u32,
        tiles: u64,
    ) {
        let per_vertex = self.gl.arrays.vertex_bytes().max(1);
        let piece =
            RECORD_MAX - 64 - 4 * (ARRAY_WORDS + 8) * usize::from(mgn_wire::draws::attr::COUNT);
        let most = piece / per_vertex;
        let whole = most >= count as usize || instances != 1 || self.must_keep_whole(mode);
        let Some((step, repeat)) = steps(mode).filter(|_| !whole) else {
            return self.draw_client_piece(mode, first, count, instances, base_instance, tiles);
        };
        let most = (most - repeat) / step * step + repeat;
        let mut at = 0usize;
        let count = count as usize;
        while at + repeat < count || at == 0 {
            let n = most.min(count - at);
            self.draw_client_piece(mode, first + at as i32, n as i32, 1, base_instance, tiles);
            at += n - repeat;
        }
    }

    fn draw_client_piece(
        &mut self,
        mode: u32,
        first: i32,
        count: i32,
        instances: i32,
        base_instance: u32,
        tiles: u64,
    ) {
        let least = i64::from(first);
        let reads = Reads {
            least,
            greatest: least + i64::from(count) - 1,
            instances: instances as u32,
            base_instance,
        };
        let Some(gathered) = self.gl.arrays.gather(reads) else {
            return self.check_only(mode);
        };
        let words = (gathered.words.as_ptr(), gathered.words.len());
        self.only(tiles, 32 + 4 * words.1 + gathered.data().extra_bytes());
        // SAFETY: the context's own encoder; the pieces are what the program's arrays hold.
        unsafe {
            self.enc.mgn_draw_arrays(
                mode,
                first,
                count,
                instances,
                base_instance,
                words,
                gathered.data(),
            )
        };
    }

    /// Whether a draw must not be cut because its primitives are counted, or because its line
    /// stipple runs through the whole draw.
    fn must_keep_whole(&mut self, mode: u32) -> bool {
        self.gl.objects.uses_ids() || mode == gl::GL_LINE_STRIP && self.stippled()
    }
}
