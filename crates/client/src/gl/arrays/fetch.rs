//! Reading elements of arrays in the program's memory: glArrayElement.

use super::Arrays;
use crate::context::Context;
use crate::gl::{buffers, context};
use mgn_wire::draws::attr;
use mgn_wire::gl::*;

impl Arrays {
    /// An element of a slot's format as floats.
    ///
    /// # Safety
    /// It lies at `at`.
    unsafe fn element(&self, slot: usize, at: *const u8) -> [f32; 4] {
        let format = &self.bound.formats[slot];
        let normal = format.normalized;
        let mut value = [0.0, 0.0, 0.0, 1.0];
        let bgra = format.size == GL_BGRA;
        let n = if bgra { 4 } else { format.size as usize };
        // SAFETY: the element has n values of the type.
        unsafe {
            for (i, v) in value.iter_mut().take(n).enumerate() {
                macro_rules! read {
                    ($type:ty) => {
                        at.cast::<$type>().add(i).read_unaligned()
                    };
                }
                *v = match format.type_ {
                    GL_FLOAT => read!(f32),
                    GL_DOUBLE => read!(f64) as f32,
                    GL_UNSIGNED_BYTE if normal => f32::from(read!(u8)) / 255.0,
                    GL_UNSIGNED_BYTE => f32::from(read!(u8)),
                    GL_BYTE if normal => (2.0 * f32::from(read!(i8)) + 1.0) / 255.0,
                    GL_BYTE => f32::from(read!(i8)),
                    GL_UNSIGNED_SHORT if normal => f32::from(read!(u16)) / 65535.0,
                    GL_UNSIGNED_SHORT => f32::from(read!(u16)),
                    GL_SHORT if normal => (2.0 * f32::from(read!(i16)) + 1.0) / 65535.0,
                    GL_SHORT => f32::from(read!(i16)),
                    GL_UNSIGNED_INT if normal => (f64::from(read!(u32)) / 4_294_967_295.0) as f32,
                    GL_UNSIGNED_INT => read!(u32) as f32,
                    GL_INT if normal => {
                        ((2.0 * f64::from(read!(i32)) + 1.0) / 4_294_967_294.0) as f32
                    }
                    GL_INT => read!(i32) as f32,
                    _ => return value,
                };
            }
        }
        if bgra {
            value.swap(0, 2);
        }
        value
    }
}

impl Context {
    /// Before a primitive: if some arrays lie in memory and others in buffers, glArrayElement will need what the buffers hold.
    pub fn fetch_mixed_arrays(&mut self) {
        self.gl.arrays.fetched.clear();
        if !self.gl.arrays.needs_client_memory() {
            return;
        }
        let slots: Vec<usize> = self.gl.arrays.bound.enabled_slots().collect();
        for slot in slots {
            let buffer = self.gl.arrays.bound.binding(slot).buffer;
            if buffer == 0 || self.gl.arrays.fetched.iter().any(|f| f.0 == buffer) {
                continue;
            }
            let size = self
                .gl
                .shared
                .buffers()
                .get(buffer)
                .map_or(0, |object| object.size as usize);
            let elements = self.gl.arrays.element_buffer();
            // Contents are read through the binding of indices.
            // SAFETY: the context's own encoder.
            unsafe { self.enc.gl_bind_buffer(GL_ELEMENT_ARRAY_BUFFER, buffer) };
            let bytes = buffers::element_bytes(self, buffer, 0, size);
            // SAFETY: as above.
            unsafe { self.enc.gl_bind_buffer(GL_ELEMENT_ARRAY_BUFFER, elements) };
            if let Some(bytes) = bytes {
                self.gl.arrays.fetched.push((buffer, bytes));
            }
        }
    }
}

pub unsafe extern "C" fn glArrayElement(index: i32) {
    // SAFETY: the only reference in use; the program's enabled arrays have that element.
    unsafe {
        let cx = context();
        if !cx.gl.arrays.needs_client_memory() {
            cx.go_verbatim();
            cx.gl.state.current.forget_all();
            cx.enc.gl_array_element(index);
            return;
        }
        element(cx, index);
    }
}

/// Every enabled array's element as an attribute; the position (or generic attribute 0) comes last and makes the vertex.
unsafe fn element(cx: &mut Context, index: i32) {
    let zero = usize::from(attr::GENERIC);
    let slots: Vec<usize> = cx
        .gl
        .arrays
        .bound
        .enabled_slots()
        .filter(|&s| s != usize::from(attr::POSITION) && s != zero)
        .collect();
    for slot in slots {
        // SAFETY: the caller's promise.
        if let Some(value) = unsafe { find(cx, slot, index) } {
            cx.set_attribute(slot as u8, value);
        }
    }
    let enabled = cx.gl.arrays.bound.enabled;
    let position = if enabled & 1 << zero != 0 {
        zero
    } else {
        usize::from(attr::POSITION)
    };
    if enabled & 1 << position != 0 {
        // SAFETY: the caller's promise.
        if let Some(value) = unsafe { find(cx, position, index) } {
            cx.make_vertex(
                cx.gl.arrays.bound.formats[position].size.clamp(2, 4) as u8,
                value,
            );
        }
    }
}

/// Element `index` of an array, wherever it lies; none if it has none.
unsafe fn find(cx: &mut Context, slot: usize, index: i32) -> Option<[f32; 4]> {
    let array = &cx.gl.arrays.bound;
    let binding = *array.binding(slot);
    let start = binding
        .offset
        .wrapping_add(array.formats[slot].relative_offset as usize);
    let at = start.wrapping_add_signed(index as isize * binding.stride as isize);
    if binding.buffer != 0 {
        if !cx.gl.in_begin() {
            cx.fetch_mixed_arrays();
        }
        let fetched = cx
            .gl
            .arrays
            .fetched
            .iter()
            .find(|f| f.0 == binding.buffer)?;
        let bytes = fetched
            .1
            .get(at..at.checked_add(cx.gl.arrays.bound.formats[slot].element_bytes())?)?;
        // SAFETY: an element's bytes.
        return Some(unsafe { cx.gl.arrays.element(slot, bytes.as_ptr()) });
    }
    // SAFETY: the caller's promise.
    (start != 0).then(|| unsafe { cx.gl.arrays.element(slot, at as *const u8) })
}
