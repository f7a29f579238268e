//! glPushClientAttrib and glPopClientAttrib: the state is saved and restored here, and the server
//! gets the changes.

use crate::context::Context;
use crate::current::context;
use crate::shadow::arrays::saved::{Saved, SavedArrays};
use crate::shadow::arrays::vertex_array::{VertexArray, SLOTS};
use crate::shadow::arrays::Arrays;
use mgn_wire::draws::{attr, Kind};
use mgn_wire::gl;

pub unsafe extern "C" fn glPushClientAttrib(mask: u32) {
    // SAFETY: the only reference in use.
    let cx = unsafe { context() };
    if cx.gl.in_begin() {
        return cx.illegal_in_begin();
    }
    if let Err(error) = cx.gl.state.gl_push_client_attrib(mask) {
        return cx.set_error(error.code());
    }
    let pixels = (mask & gl::GL_CLIENT_PIXEL_STORE_BIT != 0).then(|| cx.save_pixels());
    let array_buffer = cx.gl.objects.bindings.array_buffer();
    let arrays = &mut cx.gl.arrays;
    let saved = (mask & gl::GL_CLIENT_VERTEX_ARRAY_BIT != 0).then(|| SavedArrays {
        name: arrays.name(),
        array: (*arrays.bound).clone(),
        client_unit: arrays.client_unit,
        array_buffer,
    });
    arrays.saved.0.push(Saved {
        pixels,
        arrays: saved,
    });
}

pub unsafe extern "C" fn glPopClientAttrib() {
    // SAFETY: the only reference in use.
    let cx = unsafe { context() };
    if cx.gl.in_begin() {
        return cx.illegal_in_begin();
    }
    let before = RESTART.map(|pname| cx.integer(pname));
    if let Err(error) = cx.gl.state.gl_pop_client_attrib() {
        return cx.set_error(error.code());
    }
    let Some(saved) = cx.gl.arrays.saved.0.pop() else {
        return;
    };
    // State that was valid before is valid now.
    let doubt = cx.enc.doubt;
    cx.send_restart(before);
    if let Some(pixels) = saved.pixels {
        cx.restore_pixels(pixels);
    }
    if let Some(arrays) = saved.arrays {
        cx.restore_arrays(arrays);
    }
    if cx.gl.is_compat() {
        cx.enc.doubt = doubt;
    }
}

/// Primitive restart is restored with the arrays, as Mesa does.
const RESTART: [u32; 3] = [
    gl::GL_PRIMITIVE_RESTART,
    gl::GL_PRIMITIVE_RESTART_FIXED_INDEX,
    gl::GL_PRIMITIVE_RESTART_INDEX,
];

impl Context {
    fn integer(&self, pname: u32) -> Option<u32> {
        self.gl.state.get(pname).values().map(|v| v.int64(0) as u32)
    }

    /// Sends the server the state that the shadow has restored.
    fn send_restart(&mut self, before: [Option<u32>; 3]) {
        for (pname, old) in RESTART.into_iter().zip(before) {
            let Some(now) = self.integer(pname).filter(|now| Some(*now) != old) else {
                continue;
            };
            match pname {
                gl::GL_PRIMITIVE_RESTART_INDEX => self.enc.gl_primitive_restart_index(now),
                _ if now != 0 => self.enc.gl_enable(pname),
                _ => self.enc.gl_disable(pname),
            }
        }
    }

    /// Makes the saved arrays the current ones, and sends the server every array in a buffer object
    /// that differs.
    fn restore_arrays(&mut self, saved: SavedArrays) {
        // An object that was deleted in the meantime stays deleted.
        if saved.name != self.gl.arrays.name() {
            if saved.name != 0 && !self.gl.own.vertex_arrays.is_taken(saved.name) {
                return;
            }
            self.gl.arrays.bind_vertex_array(saved.name);
            self.enc.gl_bind_vertex_array(saved.name);
        }
        for slot in 0..SLOTS {
            self.restore_slot(slot, &saved.array);
        }
        let element_buffer = saved.array.element_buffer;
        *self.gl.arrays.bound = saved.array;
        self.gl.arrays.client_unit = saved.client_unit;
        self.gl
            .objects
            .bindings
            .set_array_buffer(saved.array_buffer);
        self.enc
            .gl_bind_buffer(gl::GL_ARRAY_BUFFER, saved.array_buffer);
        self.enc
            .gl_bind_buffer(gl::GL_ELEMENT_ARRAY_BUFFER, element_buffer);
        if self.gl.is_compat() {
            self.enc
                .gl_client_active_texture(gl::GL_TEXTURE0 + saved.client_unit);
        }
    }

    fn restore_slot(&mut self, slot: usize, saved: &VertexArray) {
        let now: &Arrays = &self.gl.arrays;
        let (format, binding) = (saved.formats[slot], *saved.binding(slot));
        let moved = format != now.bound.formats[slot] || binding != *now.bound.binding(slot);
        let enabled = saved.enabled >> slot & 1 != 0;
        let toggled = enabled != (now.bound.enabled >> slot & 1 != 0);
        let size = format.size as i32;
        let offset = binding.offset.wrapping_add(format.relative_offset as usize) as u64;
        let enc = &mut self.enc;
        let slot = slot as u8;
        let index = u32::from(slot.wrapping_sub(attr::GENERIC));
        if (attr::TEXCOORD..attr::GENERIC).contains(&slot) && (moved || toggled) {
            enc.gl_client_active_texture(gl::GL_TEXTURE0 + u32::from(slot - attr::TEXCOORD));
        }
        if moved && binding.buffer != 0 {
            enc.gl_bind_buffer(gl::GL_ARRAY_BUFFER, binding.buffer);
            let stride = if format.given_stride == 0 {
                0
            } else {
                binding.stride as i32
            };
            match slot {
                attr::POSITION => enc.gl_vertex_pointer(size, format.type_, stride, offset),
                attr::NORMAL => enc.gl_normal_pointer(format.type_, stride, offset),
                attr::COLOR => enc.gl_color_pointer(size, format.type_, stride, offset),
                attr::SECONDARY => {
                    enc.gl_secondary_color_pointer(size, format.type_, stride, offset)
                }
                attr::FOG => enc.gl_fog_coord_pointer(format.type_, stride, offset),
                attr::INDEX => enc.gl_index_pointer(format.type_, stride, offset),
                attr::EDGE_FLAG => enc.gl_edge_flag_pointer(stride, offset),
                s if s < attr::GENERIC => {
                    enc.gl_tex_coord_pointer(size, format.type_, stride, offset)
                }
                _ if format.kind == Kind::Integer => {
                    enc.gl_vertex_attrib_i_pointer(index, size, format.type_, stride, offset)
                }
                _ if format.kind == Kind::Long => {
                    enc.gl_vertex_attrib_l_pointer(index, size, format.type_, stride, offset)
                }
                _ => enc.gl_vertex_attrib_pointer(
                    index,
                    size,
                    format.type_,
                    format.normalized.into(),
                    stride,
                    offset,
                ),
            }
        }
        if moved && slot >= attr::GENERIC {
            enc.gl_vertex_attrib_divisor(index, binding.divisor);
        }
        if toggled {
            let array = match slot {
                attr::POSITION => gl::GL_VERTEX_ARRAY,
                attr::NORMAL => gl::GL_NORMAL_ARRAY,
                attr::COLOR => gl::GL_COLOR_ARRAY,
                attr::SECONDARY => gl::GL_SECONDARY_COLOR_ARRAY,
                attr::FOG => gl::GL_FOG_COORD_ARRAY,
                attr::INDEX => gl::GL_INDEX_ARRAY,
                attr::EDGE_FLAG => gl::GL_EDGE_FLAG_ARRAY,
                _ => gl::GL_TEXTURE_COORD_ARRAY,
            };
            match (slot >= attr::GENERIC, enabled) {
                (true, true) => enc.gl_enable_vertex_attrib_array(index),
                (true, false) => enc.gl_disable_vertex_attrib_array(index),
                (false, true) => enc.gl_enable_client_state(array),
                (false, false) => enc.gl_disable_client_state(array),
            }
        }
    }
}
