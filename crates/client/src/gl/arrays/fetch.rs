//! glArrayElement: reads elements of arrays in the program's memory. Mesa does not support BGRA
//! arrays there.

use crate::context::Context;
use crate::current::context;
use crate::gl::buffers;
use crate::gl::immediate::entries::{
    glPrimitiveRestartNV, glVertexAttribI4i, glVertexAttribI4ui, glVertexAttribL4d, Normally,
    Plainly,
};
use crate::shadow::arrays::vertex_array::Format;
use mgn_wire::draws::{attr, bytes_taken, taken_for, Kind};
use mgn_wire::gl::*;

/// The values of an element. Those that the array lacks come from (0, 0, 0, 1).
#[derive(Clone, Copy)]
enum Element {
    Floats([f32; 4]),
    Signed([i32; 4]),
    Unsigned([u32; 4]),
    Doubles([f64; 4]),
}

fn components(format: &Format) -> usize {
    match format.size {
        GL_BGRA => 4,
        n => n as usize,
    }
}

impl Element {
    /// # Safety
    /// The bytes that `bytes_taken` counts lie at `at`.
    unsafe fn read(format: &Format, at: *const u8) -> Element {
        let (n, type_) = (components(format), taken_for(format.type_));
        // SAFETY: the caller's promise.
        unsafe {
            match (format.kind, type_) {
                (Kind::Long, _) => Element::Doubles(values(at, n, |v: f64| v)),
                (Kind::Integer, GL_BYTE) => Element::Signed(values(at, n, |v: i8| v.into())),
                (Kind::Integer, GL_SHORT) => Element::Signed(values(at, n, |v: i16| v.into())),
                (Kind::Integer, GL_INT) => Element::Signed(values(at, n, |v: i32| v)),
                (Kind::Integer, GL_UNSIGNED_BYTE) => {
                    Element::Unsigned(values(at, n, |v: u8| v.into()))
                }
                (Kind::Integer, GL_UNSIGNED_SHORT) => {
                    Element::Unsigned(values(at, n, |v: u16| v.into()))
                }
                (Kind::Integer, GL_UNSIGNED_INT) => Element::Unsigned(values(at, n, |v: u32| v)),
                _ => Element::Floats(match (type_, format.normalized) {
                    (GL_BYTE, false) => values(at, n, i8::plainly),
                    (GL_BYTE, true) => values(at, n, i8::normally),
                    (GL_UNSIGNED_BYTE, false) => values(at, n, u8::plainly),
                    (GL_UNSIGNED_BYTE, true) => values(at, n, u8::normally),
                    (GL_SHORT, false) => values(at, n, i16::plainly),
                    (GL_SHORT, true) => values(at, n, i16::normally),
                    (GL_UNSIGNED_SHORT, false) => values(at, n, u16::plainly),
                    (GL_UNSIGNED_SHORT, true) => values(at, n, u16::normally),
                    (GL_INT, false) => values(at, n, i32::plainly),
                    (GL_INT, true) => values(at, n, i32::normally),
                    (GL_UNSIGNED_INT, false) => values(at, n, u32::plainly),
                    (GL_UNSIGNED_INT, true) => values(at, n, u32::normally),
                    (GL_FLOAT, _) => values(at, n, f32::plainly),
                    _ => values(at, n, f64::plainly),
                }),
            }
        }
    }
}

/// `n` values, followed by the rest of (0, 0, 0, 1).
///
/// # Safety
/// They lie at `at`.
unsafe fn values<T: Copy, U: Default + Copy + From<u8>>(
    at: *const u8,
    n: usize,
    turn: impl Fn(T) -> U,
) -> [U; 4] {
    let mut values = [U::default(), U::default(), U::default(), U::from(1)];
    for (i, value) in values.iter_mut().take(n).enumerate() {
        // SAFETY: the caller's promise.
        *value = turn(unsafe { at.cast::<T>().add(i).read_unaligned() });
    }
    values
}

impl Context {
    /// Called before a primitive. If some arrays lie in memory and others in buffers,
    /// glArrayElement will need the contents of the buffers.
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
            if let Some(bytes) = self.buffer_bytes(buffer, 0, size) {
                self.gl.arrays.fetched.push((buffer, bytes));
            }
        }
    }

    /// Whether element `index` restarts the primitive.
    fn restarts_at(&self, index: i32) -> bool {
        let state = &self.gl.state;
        let on = state.is_enabled(GL_PRIMITIVE_RESTART) == Some(true);
        let restart = || state.get(GL_PRIMITIVE_RESTART_INDEX).values();
        on && restart().is_some_and(|v| v.int64(0) as u32 == index as u32)
    }

    /// Bytes of any buffer object; none if the buffer does not contain all of them.
    pub(super) fn buffer_bytes(&mut self, buffer: u32, offset: i64, len: usize) -> Option<Vec<u8>> {
        let elements = self.gl.arrays.element_buffer();
        // The element array binding is used to read the contents.
        self.enc.gl_bind_buffer(GL_ELEMENT_ARRAY_BUFFER, buffer);
        let bytes = buffers::element_bytes(self, buffer, offset, len);
        self.enc.gl_bind_buffer(GL_ELEMENT_ARRAY_BUFFER, elements);
        bytes
    }
}

pub unsafe extern "C" fn glArrayElement(index: i32) {
    // SAFETY: the only reference in use; the program's enabled arrays have that element.
    unsafe {
        let cx = context();
        if cx.gl.arrays.needs_client_memory() && cx.restarts_at(index) {
            return glPrimitiveRestartNV();
        }
        if !cx.gl.arrays.needs_client_memory() {
            cx.go_verbatim();
            cx.gl.state.current.forget_all();
            cx.enc.gl_array_element(index);
            return;
        }
        element(cx, index);
    }
}

/// Sets the element of every enabled array as an attribute. The position (or generic attribute 0)
/// comes last and makes the vertex.
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
        match unsafe { find(cx, slot, index) } {
            Some(Element::Floats(value)) => cx.set_attribute(slot as u8, value),
            // SAFETY: `cx` is not used meanwhile.
            Some(other) => unsafe { set_generic(slot as u8 - attr::GENERIC, other) },
            None => {}
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
        match unsafe { find(cx, position, index) } {
            Some(Element::Floats(value)) => cx.make_vertex(
                components(&cx.gl.arrays.bound.formats[position]).clamp(2, 4) as u8,
                value,
            ),
            // SAFETY: `cx` is not used any more.
            Some(other) => unsafe { set_generic(0, other) },
            None => {}
        }
    }
}

/// Sets a generic attribute to integers or doubles, without conversion to floats.
///
/// # Safety
/// No other code refers to the thread's context meanwhile.
unsafe fn set_generic(attribute: u8, element: Element) {
    let index = u32::from(attribute);
    // SAFETY: the caller's promise.
    unsafe {
        match element {
            Element::Floats(_) => {}
            Element::Signed([x, y, z, w]) => glVertexAttribI4i(index, x, y, z, w),
            Element::Unsigned([x, y, z, w]) => glVertexAttribI4ui(index, x, y, z, w),
            Element::Doubles([x, y, z, w]) => glVertexAttribL4d(index, x, y, z, w),
        }
    }
}

/// Element `index` of an array, in memory or in a buffer; none if the array does not have it.
unsafe fn find(cx: &mut Context, slot: usize, index: i32) -> Option<Element> {
    let array = &cx.gl.arrays.bound;
    let (binding, format) = (*array.binding(slot), array.formats[slot]);
    let start = binding.offset.wrapping_add(format.relative_offset as usize);
    let at = start.wrapping_add_signed(index as isize * binding.stride as isize);
    if binding.buffer != 0 {
        if !cx.gl.in_begin() {
            cx.fetch_mixed_arrays();
        }
        let fetched = &cx.gl.arrays.fetched;
        let (_, bytes) = fetched.iter().find(|f| f.0 == binding.buffer)?;
        let read = bytes_taken(format.type_, format.size as i32)?;
        let bytes = bytes.get(at..at.checked_add(read)?)?;
        // SAFETY: as many bytes as are read.
        return Some(unsafe { Element::read(&format, bytes.as_ptr()) });
    }
    // SAFETY: the caller's promise.
    (start != 0).then(|| unsafe { Element::read(&format, at as *const u8) })
}
