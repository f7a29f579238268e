//! Vertex array objects of the program's, and the buffers that its arrays lie in.
//!
//! A client can enable an array that lies nowhere: the driver would read the server's memory. So before a draw the renderer knows which arrays of the bound
//! object have a buffer, and hides the others from the driver for the draw. It asks the driver once after each change.

use crate::context::Api;
use crate::names::Class;
use crate::renderer::Renderer;
use mgn_wire::{gl::*, Fault, Slice};
use std::collections::HashMap;
use std::ffi::c_void;

/// What was seen in the vertex array objects of a context.
#[derive(Default)]
pub(crate) struct VertexArrays {
    /// By the client's name, what was seen when it was bound last. An object that is not bound does not change.
    seen: HashMap<u32, Seen>,
    /// Of the bound object; none after a change.
    current: Option<Seen>,
}

#[derive(Debug, Clone, Copy)]
struct Seen {
    /// Enabled arrays without a buffer.
    unbacked: u32,
    element_buffer: bool,
}

/// The most arrays that are looked at; drivers have 16, or 32.
const MOST: u32 = 32;

impl Renderer {
    /// The driver's name of the vertex array object that the program has bound.
    pub(crate) fn program_vertex_array(&self) -> u32 {
        match self.cx.as_deref() {
            Some(cx) if cx.vertex_array == 0 => cx.default_vertex_array,
            Some(cx) => self.names.find(Class::VertexArray, cx.vertex_array).unwrap_or(cx.default_vertex_array),
            None => 0,
        }
    }

    /// The bound vertex array object, or a buffer in it, has changed.
    pub(crate) fn vertex_array_changed(&mut self) {
        if let Some(cx) = self.cx.as_deref_mut() {
            cx.vertex_arrays.current = None;
        }
    }

    fn seen(&mut self) -> Result<Seen, Fault> {
        let cx = self.cx.as_deref().ok_or(Fault::NoContext)?;
        if let Some(seen) = cx.vertex_arrays.current {
            return Ok(seen);
        }
        let generic = cx.api != Api::Es1;
        let most = if generic { self.driver_integer(GL_MAX_VERTEX_ATTRIBS).clamp(0, MOST as i32) as u32 } else { 0 };
        let mut unbacked = 0;
        for index in 0..most {
            let get = |pname| {
                let mut values = [0; 4];
                // SAFETY: there is room for the four values of a current attribute, more than any other pname has.
                unsafe { (self.gl.glGetVertexAttribiv)(index, pname, values.as_mut_ptr()) };
                values[0]
            };
            if get(GL_VERTEX_ATTRIB_ARRAY_ENABLED) != 0 && get(GL_VERTEX_ATTRIB_ARRAY_BUFFER_BINDING) == 0 {
                unbacked |= 1 << index;
            }
        }
        let element_buffer = self.driver_integer(GL_ELEMENT_ARRAY_BUFFER_BINDING) != 0;
        let seen = Seen { unbacked, element_buffer };
        if let Some(cx) = self.cx.as_deref_mut() {
            cx.vertex_arrays.current = Some(seen);
        }
        Ok(seen)
    }

    pub(crate) fn has_element_buffer(&mut self) -> Result<bool, Fault> {
        Ok(self.seen()?.element_buffer)
    }

    /// Disables the arrays that lie nowhere, and says which those are.
    pub(crate) fn hide_unbacked(&mut self) -> Result<u32, Fault> {
        let unbacked = self.seen()?.unbacked;
        self.toggle(unbacked, false);
        Ok(unbacked)
    }

    /// Enables again what `hide_unbacked` disabled.
    pub(crate) fn show_unbacked(&mut self, hidden: u32) {
        self.toggle(hidden, true);
    }

    fn toggle(&self, mask: u32, on: bool) {
        for index in (0..MOST).filter(|i| mask & 1 << i != 0) {
            // SAFETY: the context is current; the commands take no pointers.
            unsafe {
                if on {
                    (self.gl.glEnableVertexAttribArray)(index);
                } else {
                    (self.gl.glDisableVertexAttribArray)(index);
                }
            }
        }
    }

    pub(crate) fn hand_gl_bind_vertex_array(&mut self, array: u32) -> Result<(), Fault> {
        self.needs_context()?;
        let driver = self.name(Class::VertexArray, array);
        let Some(cx) = self.cx.as_deref_mut() else { return Ok(()) };
        if driver == crate::names::UNKNOWN {
            self.set_error(GL_INVALID_OPERATION);
            return Ok(());
        }
        let arrays = &mut cx.vertex_arrays;
        match arrays.current {
            Some(seen) => arrays.seen.insert(cx.vertex_array, seen),
            None => arrays.seen.remove(&cx.vertex_array),
        };
        arrays.current = arrays.seen.get(&array).copied();
        cx.vertex_array = array;
        let driver = self.program_vertex_array();
        // SAFETY: the context is current.
        unsafe { (self.gl.glBindVertexArray)(driver) };
        Ok(())
    }

    /// Forgets deleted vertex array objects; the program's object 0 takes the place of a bound one.
    pub(crate) fn vertex_arrays_deleted(&mut self, names: &[u32]) {
        let Some(cx) = self.cx.as_deref_mut() else { return };
        let bound = cx.vertex_array;
        for name in names {
            cx.vertex_arrays.seen.remove(name);
        }
        if bound != 0 && names.contains(&bound) {
            cx.vertex_array = 0;
            cx.vertex_arrays.current = cx.vertex_arrays.seen.get(&0).copied();
            let driver = cx.default_vertex_array;
            // SAFETY: the context is current.
            unsafe { (self.gl.glBindVertexArray)(driver) };
        }
    }

    pub(crate) fn hand_gl_enable_vertex_attrib_array(&mut self, index: u32) -> Result<(), Fault> {
        self.needs_context()?;
        self.vertex_array_changed();
        // SAFETY: the context is current.
        unsafe { (self.gl.glEnableVertexAttribArray)(index) };
        Ok(())
    }

    pub(crate) fn hand_gl_disable_vertex_attrib_array(&mut self, index: u32) -> Result<(), Fault> {
        self.needs_context()?;
        self.vertex_array_changed();
        // SAFETY: the context is current.
        unsafe { (self.gl.glDisableVertexAttribArray)(index) };
        Ok(())
    }

    pub(crate) fn hand_gl_vertex_attrib_binding(&mut self, attribindex: u32, bindingindex: u32) -> Result<(), Fault> {
        self.needs_context()?;
        self.vertex_array_changed();
        // SAFETY: the context is current.
        unsafe { (self.gl.glVertexAttribBinding)(attribindex, bindingindex) };
        Ok(())
    }

    pub(crate) fn hand_gl_bind_vertex_buffer(&mut self, bindingindex: u32, buffer: u32, offset: i64, stride: i32) -> Result<(), Fault> {
        self.needs_context()?;
        let buffer = self.name(Class::Buffer, buffer);
        self.vertex_array_changed();
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
        self.vertex_array_changed();
        // SAFETY: the decoder has seen to it that each array that is there holds `count` elements; without `buffers` the others are not read.
        unsafe {
            (self.gl.glBindVertexBuffers)(first, count, pointer(&buffers), pointer(&offsets), pointer(&strides));
        }
        Ok(())
    }

    /// Fails if an array would lie at an address instead of in a buffer.
    fn needs_array_buffer(&mut self, offset: u64) -> Result<(), Fault> {
        let bound = self.cx()?.array_buffer != 0;
        if !bound && offset != 0 {
            return Err(Fault::refused("an array at an address of the server's"));
        }
        self.vertex_array_changed();
        Ok(())
    }
}

/// The address of an optional array for the driver.
pub(crate) fn pointer<T>(array: &Option<Vec<T>>) -> *const T {
    array.as_ref().map_or(std::ptr::null(), |v| v.as_ptr())
}

/// Pointer commands: their pointer is an offset into the bound buffer object.
macro_rules! pointers {
    ($($hand:ident = $gl:ident($($arg:ident: $ty:ty),*);)*) => {
        impl Renderer {
            $(pub(crate) fn $hand(&mut self, $($arg: $ty,)* pointer: u64) -> Result<(), Fault> {
                self.needs_array_buffer(pointer)?;
                // SAFETY: the pointer is an offset into a buffer object, or null, which hides the array from draws.
                unsafe { (self.gl.$gl)($($arg,)* (pointer as usize as *const c_void).cast()) };
                Ok(())
            })*
        }
    };
}

pointers! {
    hand_gl_vertex_pointer = glVertexPointer(size: i32, type_: u32, stride: i32);
    hand_gl_normal_pointer = glNormalPointer(type_: u32, stride: i32);
    hand_gl_color_pointer = glColorPointer(size: i32, type_: u32, stride: i32);
    hand_gl_secondary_color_pointer = glSecondaryColorPointer(size: i32, type_: u32, stride: i32);
    hand_gl_fog_coord_pointer = glFogCoordPointer(type_: u32, stride: i32);
    hand_gl_index_pointer = glIndexPointer(type_: u32, stride: i32);
    hand_gl_edge_flag_pointer = glEdgeFlagPointer(stride: i32);
    hand_gl_tex_coord_pointer = glTexCoordPointer(size: i32, type_: u32, stride: i32);
    hand_gl_vertex_pointer_ext = glVertexPointerEXT(size: i32, type_: u32, stride: i32, count: i32);
    hand_gl_normal_pointer_ext = glNormalPointerEXT(type_: u32, stride: i32, count: i32);
    hand_gl_color_pointer_ext = glColorPointerEXT(size: i32, type_: u32, stride: i32, count: i32);
    hand_gl_index_pointer_ext = glIndexPointerEXT(type_: u32, stride: i32, count: i32);
    hand_gl_edge_flag_pointer_ext = glEdgeFlagPointerEXT(stride: i32, count: i32);
    hand_gl_tex_coord_pointer_ext = glTexCoordPointerEXT(size: i32, type_: u32, stride: i32, count: i32);
    hand_gl_vertex_attrib_pointer = glVertexAttribPointer(index: u32, size: i32, type_: u32, normalized: u8, stride: i32);
    hand_gl_vertex_attrib_i_pointer = glVertexAttribIPointer(index: u32, size: i32, type_: u32, stride: i32);
    hand_gl_vertex_attrib_l_pointer = glVertexAttribLPointer(index: u32, size: i32, type_: u32, stride: i32);
}
