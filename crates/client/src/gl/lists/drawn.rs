//! Draws from the program's arrays in a display list, read from the stream: where their vertices lie. Mesa takes what is current to be the same after them.

use mgn_wire::draws::{attr, Array, Kind, ARRAY_WORDS};
use mgn_wire::{gl, ops};

/// A draw whose vertices travel with it.
pub(super) struct Drawn<'a> {
    pub mode: u32,
    /// The first position, and what follows; every `stride` bytes there is another one.
    vertices: &'a [u8],
    stride: usize,
    /// Numbers of a position.
    size: usize,
    count: usize,
}

impl<'a> Drawn<'a> {
    /// Reads `mgnDrawArrays` or `mgnDrawElements`. None for one of no vertices, of several instances, from buffers, or with positions of other types than
    /// two or three floats.
    pub fn read(op: u16, record: &'a [u8]) -> Option<Drawn<'a>> {
        let mut words = Words(record.get(4..)?);
        let mode = words.next()?;
        let (instances, arrays, count);
        if op == ops::MGN_DRAW_ARRAYS {
            let _first = words.next()?;
            count = words.next()? as usize;
            instances = words.next()?;
            let _base_instance = words.next()?;
            arrays = words.array()?;
        } else {
            let _indices = (words.next()?, words.next()?);
            let (least, most) = (words.next()?, words.next()?);
            count = most.checked_sub(least)? as usize + 1;
            instances = words.next()?;
            let _bases = (words.next()?, words.next()?);
            arrays = words.array()?;
            words.array()?;
        }
        let vertices = words.array()?;
        let mut positions = None;
        let mut described = Words(arrays);
        while !described.0.is_empty() {
            let mut array = [0; ARRAY_WORDS];
            for word in &mut array {
                *word = described.next()?;
            }
            let array = Array::decode(&array).ok()?;
            if array.buffer != 0 || array.divisor != 0 || array.attribute >= attr::GENERIC {
                return None;
            }
            if array.attribute == attr::POSITION {
                positions = Some(array);
            }
        }
        let array = positions?;
        let is_plain =
            array.type_ == gl::GL_FLOAT && array.kind == Kind::Float && matches!(array.size, 2 | 3);
        (is_plain && instances == 1 && count > 0).then_some(Drawn {
            mode,
            vertices: vertices.get(usize::try_from(array.offset).ok()?..)?,
            stride: array.stride as usize,
            size: array.size as usize,
            count,
        })
    }

    pub fn positions(&self) -> impl Iterator<Item = [f32; 4]> + '_ {
        (0..self.count).map(|n| {
            let mut at = [0.; 4];
            let mut words = Words(self.vertices.get(n * self.stride..).unwrap_or_default());
            for number in &mut at[..self.size] {
                *number = f32::from_bits(words.next().unwrap_or_default());
            }
            at
        })
    }
}

/// What is left of a record.
struct Words<'a>(&'a [u8]);

impl<'a> Words<'a> {
    fn next(&mut self) -> Option<u32> {
        let (word, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u32::from_le_bytes(*word))
    }

    fn array(&mut self) -> Option<&'a [u8]> {
        let bytes = self.next()? as usize;
        let array = self.0.get(..bytes)?;
        self.0 = self.0.get(bytes.next_multiple_of(4)..)?;
        Some(array)
    }
}
