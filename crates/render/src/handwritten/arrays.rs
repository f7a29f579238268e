//! Draws whose vertices are in the stream. The driver reads the vertices where they lie, through
//! its vertex array object 0. Programs never use that object: another one stands for their object
//! 0.

use super::elements::{index_range, Span};
use crate::generated::driver::Gl;
use crate::names::Class;
use crate::renderer::Renderer;
use mgn_wire::draws::{self, attr, Array, Extent, Kind};
use mgn_wire::{gl::*, Data, Fault, Slice};
use std::ffi::c_void;

/// The state of the driver's vertex array object 0.
#[derive(Default)]
pub(crate) struct OwnArrays {
    /// Enabled arrays, one bit each, with the stream's numbers.
    enabled: u32,
    /// Attributes whose divisor is not 0.
    divided: u32,
    /// In a context with only one vertex array object, the program's arrays that lie in buffers and
    /// that the current draw replaces. They are set again after the draw.
    replaced: Vec<Source>,
}

impl OwnArrays {
    pub fn enabled(&self) -> u32 {
        self.enabled
    }
}

/// An array for the driver. All fields except buffer and pointer are as in the stream.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Source {
    pub attribute: u8,
    pub kind: Kind,
    pub size: i32,
    pub type_: u32,
    pub normalized: bool,
    pub divisor: u32,
    pub stride: i32,
    /// The driver's name of the buffer; 0 for memory.
    pub buffer: u32,
    pub pointer: *const c_void,
}

/// A draw, once its arrays are in place.
struct Draw {
    mode: u32,
    first: i32,
    count: i32,
    instances: i32,
    base_instance: u32,
    /// None for a draw without indices.
    indices: Option<Indices>,
}

struct Indices {
    type_: u32,
    pointer: *const c_void,
    min: u32,
    max: u32,
    base_vertex: i32,
}

impl Renderer {
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn handwritten_mgn_draw_arrays(
        &mut self,
        mode: u32,
        first: i32,
        count: i32,
        instances: i32,
        base_instance: u32,
        arrays: Slice<'_, u32>,
        vertices: Data<'_>,
    ) -> Result<(), Fault> {
        self.needs_own_arrays()?;
        if self.is_in_primitive() {
            return Ok(());
        }
        if first < 0 || count < 0 || instances < 0 {
            self.set_error(GL_INVALID_VALUE);
            return Ok(());
        }
        let last = i64::from(first) + i64::from(count) - 1;
        let elements = match u32::try_from(last) {
            Ok(last) if count > 0 => Some((first as u32, last)),
            _ => None,
        };
        let extent = Extent {
            elements,
            instances: instances.max(1) as u32,
            base_instance,
        };
        let arrays = draws::arrays(arrays, vertices, extent)?;
        let mut sources = self.sources(&arrays, vertices, i64::from(first));
        let zero = self.begin_buffered_zero(&mut sources, &arrays, vertices, first.into());
        let Some(zero) = zero else { return Ok(()) };
        let draw = Draw {
            mode,
            first,
            count,
            instances,
            base_instance,
            indices: None,
        };
        if self.may_draw_own(&sources, Span::Elements(first, count))
            && self.begin_own_checked(&sources)
        {
            // SAFETY: every array without a buffer has the elements that the draw reads, as
            // `draws::arrays` has checked. A draw of no elements reads none.
            unsafe { self.draw(&draw) };
        }
        self.end_buffered_zero(zero);
        self.end_own();
        Ok(())
    }

    #[allow(clippy::too_many_arguments)]
    pub(crate) fn handwritten_mgn_draw_elements(
        &mut self,
        mode: u32,
        count: i32,
        type_: u32,
        min: u32,
        max: u32,
        instances: i32,
        base_vertex: i32,
        base_instance: u32,
        arrays: Slice<'_, u32>,
        indices: Data<'_>,
        vertices: Data<'_>,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        if self.is_in_primitive() {
            return Ok(());
        }
        if count < 0 || instances < 0 {
            self.set_error(GL_INVALID_VALUE);
            return Ok(());
        }
        let number = count as u32;
        // The copy must outlive the draw.
        let mut copy = Vec::new();
        let pointer = match indices {
            Data::Inline(bytes) => {
                copy = match draws::indices(bytes, type_, number, min, max, None) {
                    Ok(copy) => copy,
                    Err(_) => {
                        draws::indices(bytes, type_, number, min, max, self.restart_index(type_))?
                    }
                };
                copy.as_ptr().cast()
            }
            Data::Offset(offset) => offset as usize as *const c_void,
            Data::Null if number == 0 => std::ptr::null(),
            Data::Null => return Err(Fault::refused("an indexed draw without indices")),
        };
        let indices_here = matches!(indices, Data::Inline(_));
        let index = Indices {
            type_,
            pointer,
            min,
            max,
            base_vertex,
        };
        let draw = Draw {
            mode,
            first: 0,
            count,
            instances,
            base_instance,
            indices: Some(index),
        };
        if arrays.is_null() {
            let indices_here = indices_here.then_some(&copy[..]);
            return self.draw_bound(&draw, indices_here, number);
        }
        self.needs_own_arrays()?;
        let least = i64::from(min) + i64::from(base_vertex);
        let most = i64::from(max) + i64::from(base_vertex);
        let elements = match (u32::try_from(least), u32::try_from(most)) {
            (Ok(least), Ok(most)) if number > 0 && least <= most => Some((least, most)),
            _ if number == 0 => None,
            _ => return Err(Fault::refused("a draw of elements out of range")),
        };
        let extent = Extent {
            elements,
            instances: instances.max(1) as u32,
            base_instance,
        };
        let arrays = draws::arrays(arrays, vertices, extent)?;
        if !indices_here && arrays.iter().any(|a| a.buffer == 0) {
            return Err(Fault::refused(
                "a draw of unchecked indices from the client's memory",
            ));
        }
        let element_buffer = if indices_here || number == 0 {
            0
        } else {
            self.bound_element_buffer()?
        };
        // In a context with only one vertex array object, that object has the program's element
        // buffer.
        let bound_buffer = match self.cx()?.default_vertex_array {
            0 => self.element_buffer(),
            _ => 0,
        };
        let mut sources = self.sources(&arrays, vertices, least);
        let zero = self.begin_buffered_zero(&mut sources, &arrays, vertices, least);
        let Some(zero) = zero else { return Ok(()) };
        let span = match draw.indices.as_ref() {
            Some(i) if !indices_here => {
                Span::Indices(type_, i.pointer as u64, count, i.base_vertex)
            }
            _ => Span::Between(least, most),
        };
        if self.may_draw_own(&sources, span) && self.begin_own_checked(&sources) {
            // SAFETY: inline indices lie in `copy` and within min..=max, for which `draws::arrays`
            // found all elements there; other indices lie in a buffer object, and then
            // so do all arrays, where the driver keeps within the buffers.
            unsafe {
                if element_buffer != bound_buffer {
                    (self.gl.glBindBuffer)(GL_ELEMENT_ARRAY_BUFFER, element_buffer);
                }
                self.draw(&draw);
                if element_buffer != bound_buffer {
                    (self.gl.glBindBuffer)(GL_ELEMENT_ARRAY_BUFFER, bound_buffer);
                }
            }
        }
        self.end_buffered_zero(zero);
        self.end_own();
        Ok(())
    }

    /// An indexed draw from the bound vertex array object, with indices from the stream or from its
    /// element buffer.
    fn draw_bound(
        &mut self,
        draw: &Draw,
        indices_here: Option<&[u8]>,
        number: u32,
    ) -> Result<(), Fault> {
        let has_buffer = self.element_buffer() != 0;
        if has_buffer == indices_here.is_some() && number > 0 {
            return Err(Fault::refused("a draw whose indices are not where it says"));
        }
        let hidden = self.hide_unbacked()?;
        // What the draw reads matters only in lists.
        let indices = draw.indices.as_ref();
        let listed = indices.filter(|_| number > 0 && self.compiles());
        let span = listed.map(|i| match indices_here {
            Some(indices) => {
                let (least, most) = index_range(i.type_, indices, self.restart_index(i.type_));
                let base = i64::from(i.base_vertex);
                Span::Between(least.saturating_add(base), most.saturating_add(base))
            }
            None => Span::Indices(i.type_, i.pointer as u64, draw.count, i.base_vertex),
        });
        if self.may_draw(span.as_slice(), has_buffer) {
            // SAFETY: the arrays lie in buffer objects, where the driver keeps within the buffers;
            // indices lie in one too, or in a private copy.
            unsafe { self.draw(draw) };
        }
        self.show_unbacked(hidden);
        Ok(())
    }

    /// The driver's name of the element buffer of the program's vertex array object.
    fn bound_element_buffer(&mut self) -> Result<u32, Fault> {
        match self.element_buffer() {
            0 => Err(Fault::refused("a draw whose indices are not where it says")),
            buffer => Ok(buffer),
        }
    }

    /// The index that restarts primitives in draws, if restart is enabled.
    pub(super) fn restart_index(&self, type_: u32) -> Option<u32> {
        let cx = self.cx.as_deref()?;
        let (fixed, free) = (cx.has_fixed_restart, cx.has_restart);
        // SAFETY: the context is current and knows the capabilities that are asked for.
        unsafe {
            if fixed && (self.gl.glIsEnabled)(GL_PRIMITIVE_RESTART_FIXED_INDEX) != 0 {
                return match type_ {
                    GL_UNSIGNED_BYTE => Some(u8::MAX.into()),
                    GL_UNSIGNED_SHORT => Some(u16::MAX.into()),
                    _ => Some(u32::MAX),
                };
            }
            (free && (self.gl.glIsEnabled)(GL_PRIMITIVE_RESTART) != 0)
                .then(|| self.driver_integer(GL_PRIMITIVE_RESTART_INDEX) as u32)
        }
    }

    pub(crate) fn needs_own_arrays(&mut self) -> Result<(), Fault> {
        if self.cx()?.api.has_client_arrays() {
            Ok(())
        } else {
            Err(Fault::refused(
                "a draw from client memory in a core profile",
            ))
        }
    }

    /// Where the driver finds the arrays. The first element in the stream's memory is the array's
    /// element `first`.
    fn sources(&mut self, arrays: &[Array], vertices: Data<'_>, first: i64) -> Vec<Source> {
        let base = match vertices {
            Data::Inline(bytes) => bytes.as_ptr(),
            _ => std::ptr::null(),
        };
        let mut sources = Vec::with_capacity(arrays.len());
        for a in arrays {
            let (buffer, address) = if a.buffer == 0 {
                let skipped = if a.divisor == 0 {
                    first.wrapping_mul(i64::from(a.stride))
                } else {
                    0
                };
                (
                    0,
                    (base as usize)
                        .wrapping_add(a.offset as usize)
                        .wrapping_sub(skipped as usize),
                )
            } else {
                (self.name(Class::Buffer, a.buffer), a.offset as usize)
            };
            sources.push(Source {
                attribute: a.attribute,
                kind: a.kind,
                size: a.size as i32,
                type_: a.type_,
                normalized: a.normalized,
                divisor: a.divisor,
                stride: a.stride as i32,
                buffer,
                pointer: address as *const c_void,
            });
        }
        sources
    }

    /// The same as `begin_own`, for arrays that the client chooses. False if the driver has refused
    /// an array: its pointer is then an old one, and nothing may be drawn.
    fn begin_own_checked(&mut self, sources: &[Source]) -> bool {
        self.error();
        self.begin_own(sources);
        !self.failed()
    }

    /// Binds the driver's object 0 and lets exactly these arrays be enabled in it.
    pub(crate) fn begin_own(&mut self, sources: &[Source]) {
        let array_buffer = self.array_buffer();
        let enabled_before = match &self.cx {
            // The program's arrays are in the same object.
            Some(cx) if cx.default_vertex_array == 0 => Some(self.enabled_arrays()),
            _ => None,
        };
        let replaced = enabled_before.map(|_| self.arrays_in_buffers(sources));
        let Some(cx) = self.cx.as_deref_mut() else {
            return;
        };
        let gl = &self.gl;
        let legacy = cx.api == crate::context::Api::Compat || cx.api == crate::context::Api::Es1;
        let unit = cx.vertex_arrays.unit;
        if let Some(enabled) = enabled_before {
            cx.arrays.enabled = enabled;
        }
        let mut wanted = 0u32;
        let mut divided = 0u32;
        let mut bound = array_buffer;
        // SAFETY: the context is current. Pointers are only stored. The caller has checked what the
        // next draw reads, and every other draw that uses this object sets all its arrays first.
        unsafe {
            if cx.default_vertex_array != 0 {
                (gl.glBindVertexArray)(0);
            }
            for s in sources {
                wanted |= 1 << s.attribute;
                if bound != s.buffer {
                    (gl.glBindBuffer)(GL_ARRAY_BUFFER, s.buffer);
                    bound = s.buffer;
                }
                point(gl, s, legacy, unit);
                if s.divisor != 0 && s.attribute >= attr::GENERIC {
                    (gl.glVertexAttribDivisor)(u32::from(s.attribute - attr::GENERIC), s.divisor);
                    divided |= 1 << s.attribute;
                }
            }
            for attribute in bits(cx.arrays.divided & !divided) {
                (gl.glVertexAttribDivisor)(u32::from(attribute - attr::GENERIC), 0);
            }
            for attribute in bits(cx.arrays.enabled & !wanted) {
                enable(gl, attribute, false, unit);
            }
            for attribute in bits(wanted & !cx.arrays.enabled) {
                enable(gl, attribute, true, unit);
            }
            if bound != array_buffer {
                (gl.glBindBuffer)(GL_ARRAY_BUFFER, array_buffer);
            }
        }
        cx.arrays = OwnArrays {
            enabled: wanted,
            divided,
            replaced: replaced.unwrap_or_default(),
        };
    }

    /// Binds the program's vertex array object again.
    pub(crate) fn end_own(&mut self) {
        let program = self.program_vertex_array();
        if program != 0 {
            // SAFETY: the context is current.
            unsafe { (self.gl.glBindVertexArray)(program) };
        } else if let Some(cx) = self.cx.as_deref_mut() {
            let replaced = std::mem::take(&mut cx.arrays.replaced);
            let used = cx.arrays.enabled;
            self.restore_only_arrays(used, &replaced);
        }
    }

    /// # Safety
    /// The memory or buffers of the enabled arrays hold all elements that the draw reads, and the
    /// indices.
    unsafe fn draw(&self, d: &Draw) {
        let gl = &self.gl;
        let has_range = self.cx.as_ref().is_some_and(|cx| cx.has_draw_range);
        // SAFETY: the caller's promise.
        unsafe {
            let Some(i) = &d.indices else {
                return match (d.instances, d.base_instance) {
                    (1, 0) => (gl.glDrawArrays)(d.mode, d.first, d.count),
                    (_, 0) => (gl.glDrawArraysInstanced)(d.mode, d.first, d.count, d.instances),
                    _ => (gl.glDrawArraysInstancedBaseInstance)(
                        d.mode,
                        d.first,
                        d.count,
                        d.instances,
                        d.base_instance,
                    ),
                };
            };
            match (d.instances, i.base_vertex, d.base_instance) {
                (1, 0, 0) if has_range && i.min <= i.max => {
                    (gl.glDrawRangeElements)(d.mode, i.min, i.max, d.count, i.type_, i.pointer);
                }
                (1, 0, 0) => (gl.glDrawElements)(d.mode, d.count, i.type_, i.pointer),
                (1, base, 0) => {
                    (gl.glDrawElementsBaseVertex)(d.mode, d.count, i.type_, i.pointer, base)
                }
                (_, 0, 0) => {
                    (gl.glDrawElementsInstanced)(d.mode, d.count, i.type_, i.pointer, d.instances)
                }
                (_, base, 0) => {
                    (gl.glDrawElementsInstancedBaseVertex)(
                        d.mode,
                        d.count,
                        i.type_,
                        i.pointer,
                        d.instances,
                        base,
                    );
                }
                (_, base, base_instance) => (gl.glDrawElementsInstancedBaseVertexBaseInstance)(
                    d.mode,
                    d.count,
                    i.type_,
                    i.pointer,
                    d.instances,
                    base,
                    base_instance,
                ),
            }
        }
    }
}

/// Sets one array's pointer in the bound vertex array object.
///
/// # Safety
/// A context is current and the array's buffer is bound.
pub(crate) unsafe fn point(gl: &Gl, s: &Source, legacy: bool, program_unit: u32) {
    let Source {
        size,
        type_,
        stride,
        pointer,
        ..
    } = *s;
    // SAFETY: pointers are remembered, not read.
    unsafe {
        match s.attribute {
            attr::POSITION if legacy => (gl.glVertexPointer)(size, type_, stride, pointer),
            attr::NORMAL if legacy => (gl.glNormalPointer)(type_, stride, pointer),
            attr::COLOR if legacy => (gl.glColorPointer)(size, type_, stride, pointer),
            attr::SECONDARY if legacy => (gl.glSecondaryColorPointer)(size, type_, stride, pointer),
            attr::FOG if legacy => (gl.glFogCoordPointer)(type_, stride, pointer),
            attr::INDEX if legacy => (gl.glIndexPointer)(type_, stride, pointer),
            attr::EDGE_FLAG if legacy => (gl.glEdgeFlagPointer)(stride, pointer),
            attr::POINT_SIZE if legacy => (gl.glPointSizePointerOES)(type_, stride, pointer),
            unit @ attr::TEXCOORD..attr::GENERIC if legacy => {
                let unit = u32::from(unit - attr::TEXCOORD);
                in_unit(gl, unit, program_unit, || {
                    (gl.glTexCoordPointer)(size, type_, stride, pointer)
                });
            }
            generic => {
                let index = u32::from(generic.wrapping_sub(attr::GENERIC));
                match s.kind {
                    Kind::Float => {
                        (gl.glVertexAttribPointer)(
                            index,
                            size,
                            type_,
                            s.normalized.into(),
                            stride,
                            pointer,
                        );
                    }
                    Kind::Integer => {
                        (gl.glVertexAttribIPointer)(index, size, type_, stride, pointer)
                    }
                    Kind::Long => (gl.glVertexAttribLPointer)(index, size, type_, stride, pointer),
                }
            }
        }
    }
}

/// Enables or disables one array of the bound vertex array object.
///
/// # Safety
/// A context is current.
pub(crate) unsafe fn enable(gl: &Gl, attribute: u8, on: bool, program_unit: u32) {
    let array = match attribute {
        attr::POSITION => GL_VERTEX_ARRAY,
        attr::NORMAL => GL_NORMAL_ARRAY,
        attr::COLOR => GL_COLOR_ARRAY,
        attr::SECONDARY => GL_SECONDARY_COLOR_ARRAY,
        attr::FOG => GL_FOG_COORD_ARRAY,
        attr::INDEX => GL_INDEX_ARRAY,
        attr::EDGE_FLAG => GL_EDGE_FLAG_ARRAY,
        attr::POINT_SIZE => GL_POINT_SIZE_ARRAY_OES,
        _ => GL_TEXTURE_COORD_ARRAY,
    };
    // SAFETY: the commands take no pointers.
    unsafe {
        if attribute >= attr::GENERIC {
            let index = u32::from(attribute - attr::GENERIC);
            let call = if on {
                gl.glEnableVertexAttribArray
            } else {
                gl.glDisableVertexAttribArray
            };
            return call(index);
        }
        let call = if on {
            gl.glEnableClientState
        } else {
            gl.glDisableClientState
        };
        if attribute >= attr::TEXCOORD {
            in_unit(
                gl,
                u32::from(attribute - attr::TEXCOORD),
                program_unit,
                || call(array),
            );
        } else {
            call(array);
        }
    }
}

/// Runs a command that is meant for the texture coordinates of `unit`, and leaves the program's
/// unit selected.
///
/// # Safety
/// A context is current.
pub(crate) unsafe fn in_unit<R>(
    gl: &Gl,
    unit: u32,
    program_unit: u32,
    command: impl FnOnce() -> R,
) -> R {
    if unit == program_unit {
        return command();
    }
    // SAFETY: the command takes no pointer.
    unsafe {
        (gl.glClientActiveTexture)(GL_TEXTURE0 + unit);
        let result = command();
        (gl.glClientActiveTexture)(GL_TEXTURE0 + program_unit);
        result
    }
}

/// The numbers of the bits that are set.
pub(crate) fn bits(mut mask: u32) -> impl Iterator<Item = u8> {
    std::iter::from_fn(move || {
        let bit = mask.trailing_zeros();
        (bit < 32).then(|| {
            mask &= mask - 1;
            bit as u8
        })
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn bits_are_listed() {
        assert_eq!(super::bits(0).count(), 0);
        assert_eq!(super::bits(0x8000_0005).collect::<Vec<_>>(), [0, 2, 31]);
    }
}
