//! Draws from the program's arrays in a display list, decoded from the stream to find the positions
//! of their vertices. Mesa assumes that such draws do not change current values.

use mgn_wire::draws::{self, attr, Extent, Kind};
use mgn_wire::{again, gl, Commands, Data, Fault, Slice};

/// A draw that brings its vertices along.
pub struct Drawn {
    pub mode: u32,
    pub positions: Vec<[f32; 4]>,
}

impl Drawn {
    /// Decodes `mgnDrawArrays` or `mgnDrawElements`. None for a draw without vertices, of several
    /// instances, from buffers, or with positions that are not two or three floats.
    pub fn read(op: u16, record: &[u8]) -> Option<Drawn> {
        let mut reader = Reader(None);
        again(op, record.get(4..)?, &mut reader).ok()?;
        reader.0
    }

    fn of(
        mode: u32,
        extent: Extent,
        arrays: Slice<'_, u32>,
        vertices: Data<'_>,
    ) -> Result<Option<Drawn>, Fault> {
        let arrays = draws::arrays(arrays, vertices, extent)?;
        let is_other = |array: &draws::Array| {
            array.buffer != 0 || array.divisor != 0 || array.attribute >= attr::GENERIC
        };
        let mut positions = arrays.iter().filter(|a| a.attribute == attr::POSITION);
        let (Some(array), Data::Inline(bytes), Some((least, most))) =
            (positions.next_back(), vertices, extent.elements)
        else {
            return Ok(None);
        };
        let is_plain =
            array.type_ == gl::GL_FLOAT && array.kind == Kind::Float && matches!(array.size, 2 | 3);
        if !is_plain || extent.instances != 1 || arrays.iter().any(is_other) {
            return Ok(None);
        }
        let bytes = bytes.to_vec();
        let position = |n: u32| {
            let from = array.offset as usize + n as usize * array.stride as usize;
            let numbers = bytes[from..].chunks_exact(4).take(array.size as usize);
            let mut at = [0.; 4];
            for (number, bytes) in at.iter_mut().zip(numbers) {
                *number = f32::from_le_bytes(std::array::from_fn(|n| bytes[n]));
            }
            at
        };
        let positions = (0..=most - least).map(position).collect();
        Ok(Some(Drawn { mode, positions }))
    }
}

struct Reader(Option<Drawn>);

impl Commands for Reader {
    fn next(&mut self) -> &mut dyn Commands {
        unreachable!("nothing but draws from arrays is read")
    }

    fn mgn_draw_arrays(
        &mut self,
        mode: u32,
        first: i32,
        count: i32,
        instances: i32,
        base_instance: u32,
        arrays: Slice<'_, u32>,
        vertices: Data<'_>,
    ) -> Result<(), Fault> {
        let ends = u32::try_from(first).ok().zip(u32::try_from(count).ok());
        let elements = ends.filter(|(_, count)| *count > 0);
        let elements = elements.map(|(first, count)| (first, first + (count - 1)));
        let extent = Extent {
            elements,
            instances: instances as u32,
            base_instance,
        };
        self.0 = Drawn::of(mode, extent, arrays, vertices)?;
        Ok(())
    }

    fn mgn_draw_elements(
        &mut self,
        mode: u32,
        _count: i32,
        _type: u32,
        min: u32,
        max: u32,
        instances: i32,
        _base_vertex: i32,
        base_instance: u32,
        arrays: Slice<'_, u32>,
        _indices: Data<'_>,
        vertices: Data<'_>,
    ) -> Result<(), Fault> {
        let extent = Extent {
            elements: (min <= max).then_some((min, max)),
            instances: instances as u32,
            base_instance,
        };
        self.0 = Drawn::of(mode, extent, arrays, vertices)?;
        Ok(())
    }
}
