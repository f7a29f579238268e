//! Runs of immediate mode, which are sent as interleaved arrays of floats.

use super::arrays::Source;
use crate::context::Api;
use crate::renderer::Renderer;
use mgn_wire::draws::{attr, Kind, Run};
use mgn_wire::{gl::*, Data, Fault, Slice};

impl Renderer {
    pub(crate) fn handwritten_mgn_run(
        &mut self,
        mode: u32,
        flags: u32,
        layout: Slice<'_, u8>,
        vertices: Data<'_>,
        indices: Slice<'_, u16>,
        tiles: Slice<'_, u32>,
    ) -> Result<(), Fault> {
        self.needs_immediate_mode()?;
        if self.is_in_primitive() {
            return Ok(());
        }
        let run = Run::parse(mode, flags, layout, vertices, indices, tiles)?;
        if run
            .layout
            .iter()
            .any(|&(attribute, components, _)| !is_possible(attribute, components))
        {
            return Err(Fault::refused("a run with a bad layout"));
        }
        if run.open {
            self.begin_and_feed(mode, &run);
            return Ok(());
        }
        if run.count > 0 {
            self.draw_run(mode, &run);
        }
        if let Some(last) = run.last {
            self.set_current(&run.layout[..run.layout.len() - 1], last);
        }
        Ok(())
    }

    /// This renderer draws everything, even draws that only some tiles need.
    pub(crate) fn handwritten_mgn_only(&mut self, _low: u32, _high: u32) -> Result<(), Fault> {
        Ok(())
    }

    /// Current attributes, always 4 floats each.
    pub(crate) fn handwritten_mgn_current(
        &mut self,
        layout: Slice<'_, u8>,
        values: Slice<'_, f32>,
    ) -> Result<(), Fault> {
        self.needs_immediate_mode()?;
        let bytes = layout.to_vec();
        let values = values.to_vec();
        if bytes.len() % 2 != 0 || values.len() < bytes.len() / 2 * 4 {
            return Err(Fault::refused("current attributes with a bad layout"));
        }
        let mut entries = Vec::with_capacity(bytes.len() / 2);
        for (i, pair) in bytes.chunks_exact(2).enumerate() {
            if pair[0] >= attr::COUNT || !is_possible(pair[0], pair[1]) {
                return Err(Fault::refused("current attributes with a bad layout"));
            }
            entries.push((pair[0], pair[1], i as u32 * 16));
        }
        self.set_current(&entries, values.as_ptr().cast());
        Ok(())
    }

    fn needs_immediate_mode(&mut self) -> Result<(), Fault> {
        match self.cx()?.api {
            Api::Compat => Ok(()),
            _ => Err(Fault::refused("immediate mode in a context that has none")),
        }
    }

    fn draw_run(&mut self, mode: u32, run: &Run) {
        let stretches = match run.tiles.is_empty() {
            true => vec![(0, run.count as i32)],
            false => run.stretches(mode, self.tile_number() as u32),
        };
        if stretches.is_empty() {
            return;
        }
        // The driver expects edge flags as bytes, which must outlive the draw.
        let mut edge_flags = Vec::new();
        let mut sources = [const { None }; attr::COUNT as usize];
        // Inside a primitive, generic attribute 0 is the position, which the run has as well. As an
        // array it would replace the position's.
        let layout = run.layout.iter().filter(|&&(a, ..)| a != attr::GENERIC);
        for (source, &(attribute, components, offset)) in sources.iter_mut().zip(layout) {
            let mut s = Source {
                attribute,
                kind: Kind::Float,
                size: i32::from(components),
                type_: GL_FLOAT,
                normalized: false,
                divisor: 0,
                stride: run.stride as i32,
                buffer: 0,
                pointer: run.vertices.wrapping_add(offset as usize).cast(),
            };
            if attribute == attr::EDGE_FLAG {
                edge_flags = edge_flag_bytes(run, offset);
                (s.stride, s.pointer) = (1, edge_flags.as_ptr().cast());
            }
            *source = Some(s);
        }
        let sources: Vec<Source> = sources.into_iter().flatten().collect();
        self.begin_own(&sources);
        if run.indices.is_empty() {
            for (first, count) in stretches {
                // SAFETY: the arrays hold `run.count` vertices, which `Run::parse` counted by what
                // is there, and stretches end there.
                unsafe { (self.gl.glDrawArrays)(mode, first, count) };
            }
        } else {
            let (number, pointer) = (run.indices.len() as i32, run.indices.as_ptr().cast());
            // SAFETY: as above, and `Run::parse` has seen that every index is below `run.count`. No
            // index buffer is bound to the own arrays.
            unsafe {
                (self.gl.glDrawRangeElements)(
                    mode,
                    0,
                    run.count - 1,
                    number,
                    GL_UNSIGNED_SHORT,
                    pointer,
                );
            }
        }
        self.end_own();
        drop(edge_flags);
    }

    /// Begins a primitive that continues call by call, and feeds the vertices so far to the driver.
    fn begin_and_feed(&mut self, mode: u32, run: &Run) {
        let Some(((_, components, position), attributes)) = run.layout.split_last() else {
            return;
        };
        self.begins();
        // SAFETY: as the calls of a program: the values are copied out of the vertex, which holds
        // the layout's components.
        unsafe {
            (self.gl.glBegin)(mode);
            for i in 0..run.count as usize {
                let vertex = run.vertices.wrapping_add(i * run.stride as usize);
                self.set_current(attributes, vertex);
                let v = vertex.wrapping_add(*position as usize).cast();
                match components {
                    2 => (self.gl.glVertex2fv)(v),
                    3 => (self.gl.glVertex3fv)(v),
                    _ => (self.gl.glVertex4fv)(v),
                }
            }
            if let Some(last) = run.last {
                self.set_current(attributes, last);
            }
        }
    }

    /// Sets current attributes from a vertex that has these attributes at these offsets.
    fn set_current(&self, attributes: &[(u8, u8, u32)], vertex: *const u8) {
        let gl = &self.gl;
        for &(attribute, components, offset) in attributes {
            let v: *const f32 = vertex.wrapping_add(offset as usize).cast();
            // SAFETY: the vertex holds the layout's components, and `is_possible` has seen that
            // each function reads no more than those.
            unsafe {
                match (attribute, components) {
                    (attr::NORMAL, _) => (gl.glNormal3fv)(v),
                    (attr::COLOR, 3) => (gl.glColor3fv)(v),
                    (attr::COLOR, _) => (gl.glColor4fv)(v),
                    (attr::SECONDARY, _) => (gl.glSecondaryColor3fv)(v),
                    (attr::FOG, _) => (gl.glFogCoordfv)(v),
                    (attr::INDEX, _) => (gl.glIndexfv)(v),
                    (attr::EDGE_FLAG, _) => (gl.glEdgeFlag)(u8::from(v.read_unaligned() != 0.0)),
                    (unit @ attr::TEXCOORD..attr::GENERIC, n) => {
                        let unit = GL_TEXTURE0 + u32::from(unit - attr::TEXCOORD);
                        match n {
                            1 => (gl.glMultiTexCoord1fv)(unit, v),
                            2 => (gl.glMultiTexCoord2fv)(unit, v),
                            3 => (gl.glMultiTexCoord3fv)(unit, v),
                            _ => (gl.glMultiTexCoord4fv)(unit, v),
                        }
                    }
                    (generic @ attr::GENERIC.., n) => {
                        let index = u32::from(generic - attr::GENERIC);
                        match n {
                            1 => (gl.glVertexAttrib1fv)(index, v),
                            2 => (gl.glVertexAttrib2fv)(index, v),
                            3 => (gl.glVertexAttrib3fv)(index, v),
                            _ => (gl.glVertexAttrib4fv)(index, v),
                        }
                    }
                    _ => {}
                }
            }
        }
    }
}

/// Whether the attribute exists with this number of components.
fn is_possible(attribute: u8, components: u8) -> bool {
    match attribute {
        attr::POSITION => (2..=4).contains(&components),
        attr::NORMAL | attr::SECONDARY => components == 3,
        attr::COLOR => components == 3 || components == 4,
        attr::FOG | attr::INDEX | attr::EDGE_FLAG => components == 1,
        attr::TEXCOORD.. => (1..=4).contains(&components),
        _ => false,
    }
}

fn edge_flag_bytes(run: &Run, offset: u32) -> Vec<u8> {
    let flag = |i: usize| {
        let at: *const f32 = run
            .vertices
            .wrapping_add(i * run.stride as usize + offset as usize)
            .cast();
        // SAFETY: the vertices lie there, each with its edge flag at `offset`.
        u8::from(unsafe { at.read_unaligned() } != 0.0)
    };
    (0..run.count as usize).map(flag).collect()
}
