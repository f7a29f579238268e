//! Vertex array objects of the program's, and the buffers that its arrays lie in.
//!
//! Programs enable arrays that lie nowhere, which is legal while nothing uses them, and a client may do it to have the driver read the server's memory. So
//! the renderer follows which arrays of an object are enabled and have a buffer, and hides the others from the driver during draws.

use super::arrays::{bits, enable, Source};
use crate::context::Api;
use crate::names::{Class, UNKNOWN};
use crate::renderer::Renderer;
use mgn_wire::draws::{attr, Kind};
use mgn_wire::{gl::*, Fault, Slice};
use std::collections::HashMap;
use std::ffi::c_void;

const ATTRIBUTES: usize = attr::COUNT as usize;

/// What is remembered of a vertex array object. Attributes and binding points are numbered as the stream numbers attributes.
#[derive(Clone)]
struct Shadow {
    enabled: u32,
    /// The binding point of each attribute; its own, until a program says otherwise.
    binding: [u8; ATTRIBUTES],
    /// The driver's name of the buffer at each binding point.
    buffer: [u32; ATTRIBUTES],
    element_buffer: u32,
    /// Enabled attributes without a buffer; none after a change.
    unbacked: Option<u32>,
    /// The pointers of the fixed function, for contexts with but one vertex array object, where they have to be set again.
    fixed: [Option<Source>; attr::GENERIC as usize],
}

impl Default for Shadow {
    fn default() -> Shadow {
        Shadow {
            enabled: 0,
            binding: std::array::from_fn(|i| i as u8),
            buffer: [0; ATTRIBUTES],
            element_buffer: 0,
            unbacked: Some(0),
            fixed: [None; attr::GENERIC as usize],
        }
    }
}

impl Shadow {
    fn set_enabled(&mut self, attribute: u8, on: bool) {
        let bit = 1u32.checked_shl(attribute.into()).unwrap_or(0);
        if on {
            self.enabled |= bit;
        } else {
            self.enabled &= !bit;
        }
        self.unbacked = None;
    }

    /// A pointer command: it binds the attribute to its own binding point, and the current buffer there.
    fn point(&mut self, source: Source) {
        let at = usize::from(source.attribute);
        if at < ATTRIBUTES {
            self.binding[at] = source.attribute;
            self.buffer[at] = source.buffer;
            self.unbacked = None;
        }
        if let Some(fixed) = self.fixed.get_mut(at) {
            *fixed = Some(source);
        }
    }

    fn unbacked(&mut self) -> u32 {
        let (enabled, binding, buffer) = (self.enabled, &self.binding, &self.buffer);
        *self.unbacked.get_or_insert_with(|| {
            let lies_nowhere = |a: &u8| buffer[usize::from(binding[usize::from(*a)])] == 0;
            bits(enabled)
                .filter(lies_nowhere)
                .fold(0, |mask, a| mask | 1 << a)
        })
    }
}

/// The vertex array objects of a context, by the client's names.
#[derive(Default)]
pub(crate) struct VertexArrays {
    current: Box<Shadow>,
    others: HashMap<u32, Box<Shadow>>,
    /// The texture unit whose coordinates the fixed function's commands mean.
    pub unit: u32,
}

impl VertexArrays {
    fn bind(&mut self, old: u32, new: u32) {
        let next = self.others.remove(&new).unwrap_or_default();
        let last = std::mem::replace(&mut self.current, next);
        self.others.insert(old, last);
    }

    /// Deleting a buffer takes it out of the bound object, and only of that.
    pub fn buffers_deleted(&mut self, drivers: &[u32]) {
        let current = &mut *self.current;
        for buffer in current
            .buffer
            .iter_mut()
            .chain([&mut current.element_buffer])
        {
            if drivers.contains(buffer) {
                *buffer = 0;
            }
        }
        current.unbacked = None;
    }

    pub fn set_element_buffer(&mut self, driver: u32) {
        self.current.element_buffer = driver;
    }

    pub fn element_buffer(&self) -> u32 {
        self.current.element_buffer
    }

    /// Whether a draw would read buffers.
    pub fn reads_buffers(&self) -> bool {
        let current = &*self.current;
        let buffer = |a: u8| current.buffer[usize::from(current.binding[usize::from(a)])];
        current.element_buffer != 0 || bits(current.enabled).any(|a| buffer(a) != 0)
    }

    pub fn enabled(&self) -> u32 {
        self.current.enabled
    }

    /// The pointer that the program has set for an attribute of the fixed function, if it lies in a buffer.
    pub fn fixed(&self, attribute: u8) -> Option<Source> {
        let source = self.current.fixed.get(usize::from(attribute))?.as_ref()?;
        (source.buffer != 0).then_some(*source)
    }
}

impl Renderer {
    /// The driver's name of the vertex array object that the program has bound.
    pub(crate) fn program_vertex_array(&self) -> u32 {
        match self.cx.as_deref() {
            Some(cx) if cx.vertex_array == 0 => cx.default_vertex_array,
            Some(cx) => self
                .names
                .find(Class::VertexArray, cx.vertex_array)
                .unwrap_or(cx.default_vertex_array),
            None => 0,
        }
    }

    pub(crate) fn has_element_buffer(&self) -> bool {
        self.cx
            .as_ref()
            .is_some_and(|cx| cx.vertex_arrays.element_buffer() != 0)
    }

    /// Disables the arrays that lie nowhere, and says which those are.
    pub(crate) fn hide_unbacked(&mut self) -> u32 {
        let Some(cx) = self.cx.as_deref_mut() else {
            return 0;
        };
        let unbacked = cx.vertex_arrays.current.unbacked();
        self.toggle(unbacked, false);
        unbacked
    }

    /// Enables again what `hide_unbacked` disabled.
    pub(crate) fn show_unbacked(&mut self, hidden: u32) {
        self.toggle(hidden, true);
    }

    fn toggle(&self, mask: u32, on: bool) {
        let Some(cx) = self.cx.as_deref() else { return };
        for attribute in bits(mask) {
            // SAFETY: the context is current.
            unsafe { enable(&self.gl, attribute, on, cx.vertex_arrays.unit) };
        }
    }

    pub(crate) fn hand_gl_bind_vertex_array(&mut self, array: u32) -> Result<(), Fault> {
        self.needs_context()?;
        if self.names.find(Class::VertexArray, array).is_none() {
            self.set_error(GL_INVALID_OPERATION);
            return Ok(());
        }
        let cx = self.cx()?;
        if cx.vertex_array != array {
            cx.vertex_arrays.bind(cx.vertex_array, array);
            cx.vertex_array = array;
        }
        let driver = self.program_vertex_array();
        // SAFETY: the context is current.
        unsafe { (self.gl.glBindVertexArray)(driver) };
        Ok(())
    }

    /// Forgets deleted vertex array objects; the program's object 0 takes the place of a bound one.
    pub(crate) fn vertex_arrays_deleted(&mut self, names: &[u32]) {
        let Some(cx) = self.cx.as_deref_mut() else {
            return;
        };
        let bound = cx.vertex_array;
        if bound != 0 && names.contains(&bound) {
            cx.vertex_arrays.bind(bound, 0);
            cx.vertex_array = 0;
            let driver = cx.default_vertex_array;
            // SAFETY: the context is current.
            unsafe { (self.gl.glBindVertexArray)(driver) };
        }
        for name in names {
            cx.vertex_arrays.others.remove(name);
        }
    }

    pub(crate) fn hand_gl_enable_vertex_attrib_array(&mut self, index: u32) -> Result<(), Fault> {
        self.shadow()?.set_enabled(generic(index), true);
        // SAFETY: the context is current.
        unsafe { (self.gl.glEnableVertexAttribArray)(index) };
        Ok(())
    }

    pub(crate) fn hand_gl_disable_vertex_attrib_array(&mut self, index: u32) -> Result<(), Fault> {
        self.shadow()?.set_enabled(generic(index), false);
        // SAFETY: the context is current.
        unsafe { (self.gl.glDisableVertexAttribArray)(index) };
        Ok(())
    }

    pub(crate) fn hand_gl_enable_client_state(&mut self, array: u32) -> Result<(), Fault> {
        self.client_state(array, true)?;
        // SAFETY: the context is current.
        unsafe { (self.gl.glEnableClientState)(array) };
        Ok(())
    }

    pub(crate) fn hand_gl_disable_client_state(&mut self, array: u32) -> Result<(), Fault> {
        self.client_state(array, false)?;
        // SAFETY: the context is current.
        unsafe { (self.gl.glDisableClientState)(array) };
        Ok(())
    }

    pub(super) fn client_state(&mut self, array: u32, on: bool) -> Result<(), Fault> {
        let attribute = match array {
            GL_VERTEX_ARRAY => attr::POSITION,
            GL_NORMAL_ARRAY => attr::NORMAL,
            GL_COLOR_ARRAY => attr::COLOR,
            GL_SECONDARY_COLOR_ARRAY => attr::SECONDARY,
            GL_FOG_COORD_ARRAY => attr::FOG,
            GL_INDEX_ARRAY => attr::INDEX,
            GL_EDGE_FLAG_ARRAY => attr::EDGE_FLAG,
            GL_POINT_SIZE_ARRAY_OES => attr::POINT_SIZE,
            GL_TEXTURE_COORD_ARRAY => self.texture_coordinates()?,
            _ => return self.needs_context(),
        };
        self.shadow()?.set_enabled(attribute, on);
        Ok(())
    }

    pub(crate) fn hand_gl_client_active_texture(&mut self, texture: u32) -> Result<(), Fault> {
        let unit = texture.wrapping_sub(GL_TEXTURE0);
        if unit < u32::from(attr::GENERIC - attr::TEXCOORD) {
            self.cx()?.vertex_arrays.unit = unit;
        }
        self.needs_context()?;
        // SAFETY: the context is current.
        unsafe { (self.gl.glClientActiveTexture)(texture) };
        Ok(())
    }

    pub(crate) fn hand_gl_vertex_attrib_binding(
        &mut self,
        attribindex: u32,
        bindingindex: u32,
    ) -> Result<(), Fault> {
        let (attribute, point) = (generic(attribindex), generic(bindingindex));
        let shadow = self.shadow()?;
        if usize::from(attribute) < ATTRIBUTES && usize::from(point) < ATTRIBUTES {
            shadow.binding[usize::from(attribute)] = point;
            shadow.unbacked = None;
        }
        // SAFETY: the context is current.
        unsafe { (self.gl.glVertexAttribBinding)(attribindex, bindingindex) };
        Ok(())
    }

    pub(crate) fn hand_gl_vertex_attrib_divisor(
        &mut self,
        index: u32,
        divisor: u32,
    ) -> Result<(), Fault> {
        let attribute = generic(index);
        let shadow = self.shadow()?;
        if usize::from(attribute) < ATTRIBUTES {
            shadow.binding[usize::from(attribute)] = attribute;
            shadow.unbacked = None;
        }
        // SAFETY: the context is current.
        unsafe { (self.gl.glVertexAttribDivisor)(index, divisor) };
        Ok(())
    }

    pub(crate) fn hand_gl_bind_vertex_buffer(
        &mut self,
        bindingindex: u32,
        buffer: u32,
        offset: i64,
        stride: i32,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        let buffer = self.name(Class::Buffer, buffer);
        self.bound_vertex_buffer(bindingindex, buffer)?;
        // SAFETY: the context is current. Without a buffer, the array is hidden from draws.
        unsafe { (self.gl.glBindVertexBuffer)(bindingindex, buffer, offset, stride) };
        Ok(())
    }

    pub(crate) fn hand_gl_bind_vertex_buffers(
        &mut self,
        first: u32,
        count: i32,
        buffers: Slice<'_, u32>,
        offsets: Slice<'_, i64>,
        strides: Slice<'_, i32>,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        let buffers = self.name_array(Class::Buffer, buffers);
        let (offsets, strides) = (offsets.copied(), strides.copied());
        if buffers.is_some() && (offsets.is_none() || strides.is_none()) {
            return Err(Fault::ShortArray);
        }
        for i in 0..u32::try_from(count).unwrap_or(0).min(ATTRIBUTES as u32) {
            let buffer = buffers
                .as_ref()
                .map_or(0, |b| b.get(i as usize).copied().unwrap_or(0));
            self.bound_vertex_buffer(first.wrapping_add(i), buffer)?;
        }
        // SAFETY: the decoder has seen to it that each array that is there holds `count` elements; without `buffers` the others are not read.
        unsafe {
            (self.gl.glBindVertexBuffers)(
                first,
                count,
                pointer(&buffers),
                pointer(&offsets),
                pointer(&strides),
            );
        }
        Ok(())
    }

    fn bound_vertex_buffer(&mut self, index: u32, buffer: u32) -> Result<(), Fault> {
        let point = usize::from(generic(index));
        let shadow = self.shadow()?;
        if point < ATTRIBUTES && buffer != UNKNOWN {
            shadow.buffer[point] = buffer;
            shadow.unbacked = None;
        }
        Ok(())
    }

    fn shadow(&mut self) -> Result<&mut Shadow, Fault> {
        Ok(&mut self.cx()?.vertex_arrays.current)
    }

    fn texture_coordinates(&mut self) -> Result<u8, Fault> {
        Ok(attr::TEXCOORD + self.cx()?.vertex_arrays.unit as u8)
    }

    /// Notes a pointer command. Fails if the array would lie at an address instead of in a buffer.
    fn pointed(
        &mut self,
        attribute: u8,
        size: i32,
        type_: u32,
        stride: i32,
        offset: u64,
    ) -> Result<(), Fault> {
        let buffer = self.cx()?.array_buffer;
        if buffer == 0 && offset != 0 {
            return Err(Fault::refused("an array at an address of the server's"));
        }
        let pointer = offset as usize as *const c_void;
        let kind = Kind::Float;
        self.shadow()?.point(Source {
            attribute,
            kind,
            size,
            type_,
            normalized: false,
            divisor: 0,
            stride,
            buffer,
            pointer,
        });
        Ok(())
    }
}

/// The stream's number of a generic attribute or binding point; one beyond all that are followed if the driver has none such.
fn generic(index: u32) -> u8 {
    match u8::try_from(index) {
        Ok(index) if index < attr::COUNT - attr::GENERIC => attr::GENERIC + index,
        _ => attr::COUNT,
    }
}

/// The address of an optional array for the driver.
pub(crate) fn pointer<T>(array: &Option<Vec<T>>) -> *const T {
    array.as_ref().map_or(std::ptr::null(), |v| v.as_ptr())
}

/// Pointer commands: their pointer is an offset into the bound buffer object. In brackets: the attribute, its size, type and stride.
macro_rules! pointers {
    ($($hand:ident = $gl:ident($($arg:ident: $ty:ty),*) [$attribute:expr, $size:expr, $type:expr, $stride:expr];)*) => {
        impl Renderer {
            $(pub(crate) fn $hand(&mut self, $($arg: $ty,)* pointer: u64) -> Result<(), Fault> {
                let attribute: u8 = ($attribute)(&mut *self)?;
                self.pointed(attribute, $size, $type, $stride, pointer)?;
                // SAFETY: the pointer is an offset into a buffer object, or null, which hides the array from draws.
                unsafe { (self.gl.$gl)($($arg,)* (pointer as usize as *const c_void).cast()) };
                Ok(())
            })*
        }
    };
}

/// For the attributes that have a number of their own.
fn always(attribute: u8) -> impl Fn(&mut Renderer) -> Result<u8, Fault> {
    move |_| Ok(attribute)
}

pointers! {
    hand_gl_vertex_pointer = glVertexPointer(size: i32, type_: u32, stride: i32) [always(attr::POSITION), size, type_, stride];
    hand_gl_normal_pointer = glNormalPointer(type_: u32, stride: i32) [always(attr::NORMAL), 3, type_, stride];
    hand_gl_color_pointer = glColorPointer(size: i32, type_: u32, stride: i32) [always(attr::COLOR), size, type_, stride];
    hand_gl_secondary_color_pointer = glSecondaryColorPointer(size: i32, type_: u32, stride: i32) [always(attr::SECONDARY), size, type_, stride];
    hand_gl_fog_coord_pointer = glFogCoordPointer(type_: u32, stride: i32) [always(attr::FOG), 1, type_, stride];
    hand_gl_index_pointer = glIndexPointer(type_: u32, stride: i32) [always(attr::INDEX), 1, type_, stride];
    hand_gl_edge_flag_pointer = glEdgeFlagPointer(stride: i32) [always(attr::EDGE_FLAG), 1, GL_UNSIGNED_BYTE, stride];
    hand_gl_point_size_pointer_oes = glPointSizePointerOES(type_: u32, stride: i32) [always(attr::POINT_SIZE), 1, type_, stride];
    hand_gl_tex_coord_pointer = glTexCoordPointer(size: i32, type_: u32, stride: i32) [Renderer::texture_coordinates, size, type_, stride];
    hand_gl_vertex_pointer_ext = glVertexPointerEXT(size: i32, type_: u32, stride: i32, count: i32) [always(attr::POSITION), size, type_, stride];
    hand_gl_normal_pointer_ext = glNormalPointerEXT(type_: u32, stride: i32, count: i32) [always(attr::NORMAL), 3, type_, stride];
    hand_gl_color_pointer_ext = glColorPointerEXT(size: i32, type_: u32, stride: i32, count: i32) [always(attr::COLOR), size, type_, stride];
    hand_gl_index_pointer_ext = glIndexPointerEXT(type_: u32, stride: i32, count: i32) [always(attr::INDEX), 1, type_, stride];
    hand_gl_edge_flag_pointer_ext = glEdgeFlagPointerEXT(stride: i32, count: i32) [always(attr::EDGE_FLAG), 1, GL_UNSIGNED_BYTE, stride];
    hand_gl_tex_coord_pointer_ext = glTexCoordPointerEXT(size: i32, type_: u32, stride: i32, count: i32)
        [Renderer::texture_coordinates, size, type_, stride];
    hand_gl_vertex_attrib_pointer = glVertexAttribPointer(index: u32, size: i32, type_: u32, normalized: u8, stride: i32)
        [always(generic(index)), size, type_, stride];
    hand_gl_vertex_attrib_i_pointer = glVertexAttribIPointer(index: u32, size: i32, type_: u32, stride: i32) [always(generic(index)), size, type_, stride];
    hand_gl_vertex_attrib_l_pointer = glVertexAttribLPointer(index: u32, size: i32, type_: u32, stride: i32) [always(generic(index)), size, type_, stride];
}

impl Renderer {
    /// In a context with but one vertex array object, sets the program's arrays again after a draw that has used others.
    pub(crate) fn restore_only_arrays(&mut self, used: u32) {
        let Some(cx) = self.cx.as_deref().filter(|cx| cx.api == Api::Es1) else {
            return;
        };
        let gl = &self.gl;
        let unit = cx.vertex_arrays.unit;
        let wanted = cx.vertex_arrays.enabled();
        // SAFETY: the context is current; pointers are offsets into the buffers that they are set with.
        unsafe {
            for attribute in bits(used) {
                if let Some(source) = cx.vertex_arrays.fixed(attribute) {
                    (gl.glBindBuffer)(GL_ARRAY_BUFFER, source.buffer);
                    super::arrays::point(gl, &source, true, unit);
                }
            }
            (gl.glBindBuffer)(GL_ARRAY_BUFFER, cx.array_buffer);
            for attribute in bits(used ^ wanted) {
                enable(gl, attribute, wanted & 1 << attribute != 0, unit);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(attribute: u8, buffer: u32) -> Source {
        let pointer = std::ptr::null();
        Source {
            attribute,
            kind: Kind::Float,
            size: 4,
            type_: GL_FLOAT,
            normalized: false,
            divisor: 0,
            stride: 0,
            buffer,
            pointer,
        }
    }

    #[test]
    fn arrays_without_a_buffer_are_known() {
        let mut arrays = VertexArrays::default();
        arrays.current.set_enabled(attr::GENERIC + 2, true);
        arrays.current.set_enabled(attr::NORMAL, true);
        assert_eq!(
            arrays.current.unbacked(),
            1 << (attr::GENERIC + 2) | 1 << attr::NORMAL
        );
        arrays.current.point(source(attr::GENERIC + 2, 7));
        arrays.current.point(source(attr::NORMAL, 8));
        assert_eq!(arrays.current.unbacked(), 0);
        arrays.current.binding[usize::from(attr::GENERIC + 2)] = attr::GENERIC + 5;
        arrays.current.unbacked = None;
        assert_eq!(arrays.current.unbacked(), 1 << (attr::GENERIC + 2));
        arrays.bind(0, 3);
        assert_eq!(arrays.current.unbacked(), 0);
        arrays.bind(3, 0);
        arrays.buffers_deleted(&[8]);
        assert_eq!(
            arrays.current.unbacked(),
            1 << (attr::GENERIC + 2) | 1 << attr::NORMAL
        );
        assert_eq!(generic(99), attr::COUNT);
        arrays.current.set_enabled(generic(99), true);
    }
}
