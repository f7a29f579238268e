//! Draws from buffer objects.

use super::elements::Span;
use crate::names::Class;
use crate::renderer::Renderer;
use mgn_wire::{gl::*, Fault, Slice};
use std::ffi::c_void;

/// Where a buffer holds the arguments of draws.
#[derive(Clone, Copy)]
struct Arguments {
    at: u64,
    /// Bytes of the arguments of one draw.
    each: i32,
    draws: i32,
    /// Bytes from the arguments of one draw to those of the next; 0 if there is no gap.
    stride: i32,
    /// The offset of the number of draws in the parameter buffer.
    count: Option<i64>,
}

/// Bytes of the arguments of one draw or computation.
const OF_ARRAYS: i32 = 16;
const OF_ELEMENTS: i32 = 20;
const OF_COMPUTING: i32 = 12;

impl Arguments {
    fn one(at: u64, each: i32) -> Arguments {
        Arguments {
            at,
            each,
            draws: 1,
            stride: 0,
            count: None,
        }
    }

    /// The error if the arguments do not lie in a buffer of `bytes` bytes, or the number of draws
    /// does not lie in one of `parameters` bytes. Mesa's own sums overflow.
    fn error(&self, bytes: i64, parameters: i64) -> Option<u32> {
        let unaligned = |place: i128| place % 4 != 0;
        let (at, count) = (i128::from(self.at), self.count.map(i128::from));
        if self.draws < 0
            || self.stride < 0
            || unaligned(at)
            || unaligned(self.stride.into())
            || count.is_some_and(unaligned)
        {
            return Some(GL_INVALID_VALUE);
        }
        let each = i128::from(self.each);
        let stride = match self.stride {
            0 => each,
            stride => stride.into(),
        };
        let end = match self.draws {
            0 => 0,
            draws => at + i128::from(draws - 1) * stride + each,
        };
        let is_counted = count.is_none_or(|at| at >= 0 && at + 4 <= i128::from(parameters));
        (end > i128::from(bytes) || !is_counted).then_some(GL_INVALID_OPERATION)
    }
}

/// The further data that a draw reads besides vertex arrays, which must lie in a buffer object.
#[derive(Clone, Copy, PartialEq)]
enum Reads {
    Nothing,
    Indices,
    Indirect,
    IndirectIndices,
    /// Indirect arguments, and the number of draws.
    IndirectCount,
    IndirectCountIndices,
}

impl Renderer {
    /// Runs `draw` if everything that it reads lies in buffer objects.
    fn draw_from_buffers(
        &mut self,
        reads: Reads,
        spans: &[Span],
        draw: impl FnOnce(&Renderer),
    ) -> Result<(), Fault> {
        self.needs_context()?;
        if self.is_in_primitive() {
            return Ok(());
        }
        let indices = matches!(
            reads,
            Reads::Indices | Reads::IndirectIndices | Reads::IndirectCountIndices
        );
        if indices && self.element_buffer() == 0 {
            return Err(Fault::refused(
                "a draw with indices at an address of the server's",
            ));
        }
        let counted = matches!(reads, Reads::IndirectCount | Reads::IndirectCountIndices);
        let indirect = counted || matches!(reads, Reads::Indirect | Reads::IndirectIndices);
        if indirect && self.driver_integer(GL_DRAW_INDIRECT_BUFFER_BINDING) == 0 {
            return Err(Fault::refused(
                "an indirect draw with its arguments at an address of the server's",
            ));
        }
        if counted && self.driver_integer(GL_PARAMETER_BUFFER_BINDING) == 0 {
            return Err(Fault::refused(
                "an indirect draw with its count at an address of the server's",
            ));
        }
        let hidden = self.hide_unbacked()?;
        if self.may_draw(spans, indices) {
            draw(self);
        }
        self.show_unbacked(hidden);
        Ok(())
    }

    /// Runs `draw` if its arguments lie in the buffers that are bound for them.
    fn draw_indirectly(
        &mut self,
        reads: Reads,
        arguments: Arguments,
        draw: impl FnOnce(&Renderer),
    ) -> Result<(), Fault> {
        self.needs_context()?;
        if self.is_in_primitive() {
            return Ok(());
        }
        // If no buffer is bound, the session ends below.
        if let Some(bytes) = self.bytes_at(GL_DRAW_INDIRECT_BUFFER) {
            let parameters = arguments
                .count
                .and_then(|_| self.bytes_at(GL_PARAMETER_BUFFER));
            let is_known = arguments.count.is_none() || parameters.is_some();
            let error = arguments.error(bytes, parameters.unwrap_or(0));
            if let Some(error) = error.filter(|_| is_known) {
                self.set_error(error);
                return Ok(());
            }
        }
        self.draw_from_buffers(reads, &[], draw)
    }

    pub(crate) fn handwritten_gl_multi_draw_arrays(
        &mut self,
        mode: u32,
        first: Slice<'_, i32>,
        count: Slice<'_, i32>,
    ) -> Result<(), Fault> {
        let (first, count) = (first.to_vec(), count.to_vec());
        if first.len() != count.len() {
            return Err(Fault::ShortArray);
        }
        let spans = first.iter().zip(&count);
        let spans: Vec<Span> = spans.map(|(f, c)| Span::Elements(*f, *c)).collect();
        self.draw_from_buffers(Reads::Nothing, &spans, |r| {
            // SAFETY: both arrays hold as many elements as there are draws.
            unsafe {
                (r.gl.glMultiDrawArrays)(mode, first.as_ptr(), count.as_ptr(), first.len() as i32)
            };
        })
    }

    pub(crate) fn handwritten_gl_multi_draw_elements(
        &mut self,
        mode: u32,
        count: Slice<'_, i32>,
        type_: u32,
        offsets: Slice<'_, u64>,
    ) -> Result<(), Fault> {
        let (count, offsets) = (count.to_vec(), offsets.to_vec());
        if count.len() != offsets.len() {
            return Err(Fault::ShortArray);
        }
        let spans = offsets.iter().zip(&count);
        let span = |(offset, count): (&u64, &i32)| Span::Indices(type_, *offset, *count, 0);
        let spans: Vec<Span> = spans.map(span).collect();
        self.draw_from_buffers(Reads::Indices, &spans, |r| {
            // SAFETY: both arrays hold as many elements as there are draws, and an offset has a
            // pointer's size.
            unsafe {
                (r.gl.glMultiDrawElements)(
                    mode,
                    count.as_ptr(),
                    type_,
                    offsets.as_ptr().cast(),
                    count.len() as i32,
                )
            };
        })
    }

    pub(crate) fn handwritten_gl_multi_draw_elements_base_vertex(
        &mut self,
        mode: u32,
        count: Slice<'_, i32>,
        type_: u32,
        offsets: Slice<'_, u64>,
        base: Slice<'_, i32>,
    ) -> Result<(), Fault> {
        let (count, offsets, base) = (count.to_vec(), offsets.to_vec(), base.to_vec());
        if count.len() != offsets.len() || count.len() != base.len() {
            return Err(Fault::ShortArray);
        }
        let spans = offsets.iter().zip(&count).zip(&base);
        let span = |((offset, count), base): ((&u64, &i32), &i32)| {
            Span::Indices(type_, *offset, *count, *base)
        };
        let spans: Vec<Span> = spans.map(span).collect();
        self.draw_from_buffers(Reads::Indices, &spans, |r| {
            // SAFETY: all arrays hold as many elements as there are draws, and an offset has a
            // pointer's size.
            unsafe {
                (r.gl.glMultiDrawElementsBaseVertex)(
                    mode,
                    count.as_ptr(),
                    type_,
                    offsets.as_ptr().cast(),
                    count.len() as i32,
                    base.as_ptr(),
                );
            }
        })
    }

    pub(crate) fn handwritten_gl_dispatch_compute_indirect(
        &mut self,
        indirect: i64,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        if let Some(bytes) = self.bytes_at(GL_DISPATCH_INDIRECT_BUFFER) {
            let error = match u64::try_from(indirect) {
                Ok(at) => Arguments::one(at, OF_COMPUTING).error(bytes, 0),
                Err(_) => Some(GL_INVALID_VALUE),
            };
            if let Some(error) = error {
                self.set_error(error);
                return Ok(());
            }
        }
        // SAFETY: the driver never takes the argument for an address: without a bound buffer it
        // refuses the command.
        unsafe { (self.gl.glDispatchComputeIndirect)(indirect) };
        Ok(())
    }
}

impl Renderer {
    /// Draws as many vertices as transform feedback has captured. The context is current, and
    /// arrays without a buffer are hidden.
    ///
    /// In a list, the draw would use the vertices captured and the arrays bound when the list is
    /// called. These cannot be checked now, so such a draw is not compiled into lists.
    fn draw_captured(&mut self, draw: impl FnOnce(&Renderer)) -> Result<(), Fault> {
        if self.compiles() {
            self.set_error(GL_INVALID_OPERATION);
            return Ok(());
        }
        self.draw_from_buffers(Reads::Nothing, &[], draw)
    }

    pub(crate) fn handwritten_gl_draw_transform_feedback(
        &mut self,
        mode: u32,
        id: u32,
    ) -> Result<(), Fault> {
        let id = self.name(Class::TransformFeedback, id);
        // SAFETY: as `draw_captured` promises.
        self.draw_captured(|r| unsafe { (r.gl.glDrawTransformFeedback)(mode, id) })
    }

    pub(crate) fn handwritten_gl_draw_transform_feedback_instanced(
        &mut self,
        mode: u32,
        id: u32,
        instances: i32,
    ) -> Result<(), Fault> {
        let id = self.name(Class::TransformFeedback, id);
        // SAFETY: as `draw_captured` promises.
        self.draw_captured(|r| unsafe {
            (r.gl.glDrawTransformFeedbackInstanced)(mode, id, instances)
        })
    }

    pub(crate) fn handwritten_gl_draw_transform_feedback_stream(
        &mut self,
        mode: u32,
        id: u32,
        stream: u32,
    ) -> Result<(), Fault> {
        let id = self.name(Class::TransformFeedback, id);
        // SAFETY: as `draw_captured` promises.
        self.draw_captured(|r| unsafe { (r.gl.glDrawTransformFeedbackStream)(mode, id, stream) })
    }

    pub(crate) fn handwritten_gl_draw_transform_feedback_stream_instanced(
        &mut self,
        mode: u32,
        id: u32,
        stream: u32,
        instances: i32,
    ) -> Result<(), Fault> {
        let id = self.name(Class::TransformFeedback, id);
        // SAFETY: as `draw_captured` promises.
        self.draw_captured(|r| unsafe {
            (r.gl.glDrawTransformFeedbackStreamInstanced)(mode, id, stream, instances)
        })
    }
}

/// Draws whose arguments are passed on unchanged, except that an offset becomes the pointer that C
/// declares.
macro_rules! draws {
    ($($hand:ident = $gl:ident[$reads:ident $($span:expr)?]($($arg:ident: $ty:ty),*)($($value:expr),*);)*) => {
        impl Renderer {
            $(#[allow(clippy::too_many_arguments)]
            pub(crate) fn $hand(&mut self, $($arg: $ty),*) -> Result<(), Fault> {
                // SAFETY: `draw_from_buffers` has checked that offsets refer to buffer objects, and
                // the driver checks their bounds.
                self.draw_from_buffers(Reads::$reads, &[$($span)?], |r| unsafe { (r.gl.$gl)($($value),*) })
            })*
        }
    };
}

fn at(offset: u64) -> *const c_void {
    offset as usize as *const c_void
}

draws! {
    handwritten_gl_draw_arrays = glDrawArrays[Nothing Span::Elements(first, count)](mode: u32, first: i32, count: i32)(mode, first, count);
    handwritten_gl_draw_arrays_instanced = glDrawArraysInstanced[Nothing Span::Elements(first, count)](mode: u32, first: i32, count: i32, instances: i32)(mode, first, count, instances);
    handwritten_gl_draw_arrays_instanced_base_instance = glDrawArraysInstancedBaseInstance[Nothing Span::Elements(first, count)]
        (mode: u32, first: i32, count: i32, instances: i32, base: u32)(mode, first, count, instances, base);
    handwritten_gl_draw_elements = glDrawElements[Indices Span::Indices(type_, indices, count, 0)](mode: u32, count: i32, type_: u32, indices: u64)(mode, count, type_, at(indices));
    handwritten_gl_draw_elements_base_vertex = glDrawElementsBaseVertex[Indices Span::Indices(type_, indices, count, base)]
        (mode: u32, count: i32, type_: u32, indices: u64, base: i32)(mode, count, type_, at(indices), base);
    handwritten_gl_draw_range_elements = glDrawRangeElements[Indices Span::Indices(type_, indices, count, 0)]
        (mode: u32, start: u32, end: u32, count: i32, type_: u32, indices: u64)(mode, start, end, count, type_, at(indices));
    handwritten_gl_draw_range_elements_base_vertex = glDrawRangeElementsBaseVertex[Indices Span::Indices(type_, indices, count, base)]
        (mode: u32, start: u32, end: u32, count: i32, type_: u32, indices: u64, base: i32)(mode, start, end, count, type_, at(indices), base);
    handwritten_gl_draw_elements_instanced = glDrawElementsInstanced[Indices Span::Indices(type_, indices, count, 0)]
        (mode: u32, count: i32, type_: u32, indices: u64, instances: i32)(mode, count, type_, at(indices), instances);
    handwritten_gl_draw_elements_instanced_base_vertex = glDrawElementsInstancedBaseVertex[Indices Span::Indices(type_, indices, count, base)]
        (mode: u32, count: i32, type_: u32, indices: u64, instances: i32, base: i32)(mode, count, type_, at(indices), instances, base);
    handwritten_gl_draw_elements_instanced_base_instance = glDrawElementsInstancedBaseInstance[Indices Span::Indices(type_, indices, count, 0)]
        (mode: u32, count: i32, type_: u32, indices: u64, instances: i32, base: u32)(mode, count, type_, at(indices), instances, base);
    handwritten_gl_draw_elements_instanced_base_vertex_base_instance = glDrawElementsInstancedBaseVertexBaseInstance[Indices Span::Indices(type_, indices, count, vertex)]
        (mode: u32, count: i32, type_: u32, indices: u64, instances: i32, vertex: i32, base: u32)
        (mode, count, type_, at(indices), instances, vertex, base);
}

/// Draws whose arguments lie in a buffer. The data that they read and its location are in brackets.
macro_rules! indirect_draws {
    ($($hand:ident = $gl:ident[$reads:ident $arguments:expr]($($arg:ident: $ty:ty),*)($($value:expr),*);)*) => {
        impl Renderer {
            $(pub(crate) fn $hand(&mut self, $($arg: $ty),*) -> Result<(), Fault> {
                // SAFETY: the command is executed only if all arguments lie in the buffers that are
                // bound for them.
                self.draw_indirectly(Reads::$reads, $arguments, |r| unsafe { (r.gl.$gl)($($value),*) })
            })*
        }
    };
}

indirect_draws! {
    handwritten_gl_draw_arrays_indirect = glDrawArraysIndirect[Indirect Arguments::one(indirect, OF_ARRAYS)]
        (mode: u32, indirect: u64)(mode, at(indirect));
    handwritten_gl_draw_elements_indirect = glDrawElementsIndirect[IndirectIndices Arguments::one(indirect, OF_ELEMENTS)]
        (mode: u32, type_: u32, indirect: u64)(mode, type_, at(indirect));
    handwritten_gl_multi_draw_arrays_indirect = glMultiDrawArraysIndirect
        [Indirect Arguments { at: indirect, each: OF_ARRAYS, draws, stride, count: None }]
        (mode: u32, indirect: u64, draws: i32, stride: i32)(mode, at(indirect), draws, stride);
    handwritten_gl_multi_draw_elements_indirect = glMultiDrawElementsIndirect
        [IndirectIndices Arguments { at: indirect, each: OF_ELEMENTS, draws, stride, count: None }]
        (mode: u32, type_: u32, indirect: u64, draws: i32, stride: i32)(mode, type_, at(indirect), draws, stride);
    handwritten_gl_multi_draw_arrays_indirect_count = glMultiDrawArraysIndirectCount
        [IndirectCount Arguments { at: indirect, each: OF_ARRAYS, draws: most, stride, count: Some(draws) }]
        (mode: u32, indirect: u64, draws: i64, most: i32, stride: i32)(mode, at(indirect), draws, most, stride);
    handwritten_gl_multi_draw_elements_indirect_count = glMultiDrawElementsIndirectCount
        [IndirectCountIndices Arguments { at: indirect, each: OF_ELEMENTS, draws: most, stride, count: Some(draws) }]
        (mode: u32, type_: u32, indirect: u64, draws: i64, most: i32, stride: i32)(mode, type_, at(indirect), draws, most, stride);
}
