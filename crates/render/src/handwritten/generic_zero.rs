//! Generic array 0 in the client's memory, which the fixed function may use as positions.
//!
//! Mesa 25.0 crashes in such draws, for any program: `_mesa_get_derived_vao_masks` forgets that
//! the array lies in memory where the fixed function hides generic arrays, and then reads from a
//! missing buffer. With a buffer, Mesa draws it correctly, so the array is put into one.

use super::arrays::Source;
use crate::context::Api;
use crate::renderer::Renderer;
use mgn_wire::draws::{attr, Array};
use mgn_wire::{gl::*, Data};

impl Renderer {
    /// Puts generic array 0 into a buffer if it lies in memory and the fixed function may read it.
    /// `sources` are the driver's counterparts of `arrays`, whose first element in memory is
    /// element `first` of each array. Returns the buffer, which ends with `end_buffered_zero`,
    /// and 0 if none is needed; none if there is no memory for it, which is an error of the draw.
    pub(super) fn begin_buffered_zero(
        &mut self,
        sources: &mut [Source],
        arrays: &[Array],
        vertices: Data<'_>,
        first: i64,
    ) -> Option<u32> {
        let zero = sources
            .iter_mut()
            .zip(arrays)
            .find(|(source, _)| source.attribute == attr::GENERIC && source.buffer == 0);
        let (Some((source, array)), Data::Inline(bytes)) = (zero, vertices) else {
            return Some(0);
        };
        if self.cx.as_deref().is_none_or(|cx| cx.api != Api::Compat) || self.program_has_inputs() {
            return Some(0);
        }
        let before = bytes.len().min(array.offset as usize);
        let (data, length) = (
            bytes.as_ptr().wrapping_add(before),
            (bytes.len() - before) as i64,
        );
        let skipped = match array.divisor {
            0 => first.checked_mul(i64::from(array.stride)),
            _ => Some(0),
        };
        let size = skipped.and_then(|skipped| skipped.checked_add(length));
        let (Some(skipped), Some(size)) = (skipped, size) else {
            self.set_error(GL_OUT_OF_MEMORY);
            return None;
        };
        let array_buffer = self.array_buffer();
        let mut buffer = 0;
        let gl = &self.gl;
        self.error();
        // SAFETY: the context is current, one name is written, and `bytes` holds what is copied.
        // The bytes before it in the buffer belong to elements that the draw does not read.
        unsafe {
            (gl.glGenBuffers)(1, &mut buffer);
            (gl.glBindBuffer)(GL_ARRAY_BUFFER, buffer);
            {
                let _refusing = self.storage.make_buffer(size);
                (gl.glBufferData)(GL_ARRAY_BUFFER, size, std::ptr::null(), GL_STREAM_DRAW);
            }
            (gl.glBufferSubData)(GL_ARRAY_BUFFER, skipped, length, data.cast());
            (gl.glBindBuffer)(GL_ARRAY_BUFFER, array_buffer);
        }
        if self.failed() {
            self.end_buffered_zero(buffer);
            return None;
        }
        (source.buffer, source.pointer) = (buffer, std::ptr::null());
        Some(buffer)
    }

    /// Deletes the buffer. The array that lay in it must not be drawn any more.
    pub(super) fn end_buffered_zero(&mut self, buffer: u32) {
        if buffer != 0 {
            // SAFETY: the context is current, and one name is read.
            unsafe { (self.gl.glDeleteBuffers)(1, &buffer) };
        }
    }

    /// Whether a program has a vertex shader that reads attributes, instead of the fixed function.
    fn program_has_inputs(&mut self) -> bool {
        let program = self.driver_integer(GL_CURRENT_PROGRAM) as u32;
        let mut inputs = 0;
        if program != 0 {
            // SAFETY: the context is current, and one number is written.
            unsafe { (self.gl.glGetProgramiv)(program, GL_ACTIVE_ATTRIBUTES, &mut inputs) };
        }
        inputs != 0
    }
}
