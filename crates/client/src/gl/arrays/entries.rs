//! Entry points of vertex arrays: pointers, and enabling.

use super::formats::{interleaved, Asked};
use crate::context::Context;
use crate::current::context;
use crate::shadow::arrays::vertex_array::{Binding, Format};
use core::ffi::c_void;
use mgn_wire::draws::{attr, Kind};
use mgn_wire::encoder::Encoder;
use mgn_wire::gl;

type Pointer = *const c_void;

/// Stores an array, and returns whether the server has to know it. It need not know an array in the
/// program's memory.
fn point(cx: &mut Context, asked: Asked, pointer: Pointer) -> bool {
    if cx.is_illegal_now() {
        cx.illegal_in_begin::<()>();
        return false;
    }
    if let Some(error) = asked.error(cx.gl.is_es1()) {
        cx.set_error(error);
        return false;
    }
    let buffer = cx.gl.objects.bindings.array_buffer();
    let released = cx.gl.shared.notes.releases();
    let arrays = &mut cx.gl.arrays;
    let only_buffers = arrays.name() != 0 || cx.gl.api == mgn_wire::hello::api::CORE;
    if buffer == 0 && !pointer.is_null() && only_buffers {
        // Vertex array objects cannot hold pointers to client memory.
        cx.set_error(gl::GL_INVALID_OPERATION);
        return false;
    }
    let slot = usize::from(asked.slot);
    let array = &mut arrays.bound;
    array.formats[slot] = Format {
        size: asked.size as u32,
        type_: asked.type_,
        normalized: asked.normalized,
        kind: if asked.integer {
            Kind::Integer
        } else if asked.long {
            Kind::Long
        } else {
            Kind::Float
        },
        given_stride: asked.stride,
        relative_offset: 0,
        binding: asked.slot,
        pointer: pointer as usize,
    };
    let tight = array.formats[slot].element_bytes();
    let stride = if asked.stride == 0 {
        tight
    } else {
        asked.stride as usize
    };
    let divisor = array.bindings[slot].divisor;
    array.bindings[slot] = Binding {
        buffer,
        offset: pointer as usize,
        stride,
        divisor,
    };
    array.since[slot] = released;
    if asked.slot >= attr::GENERIC {
        // Other generic attributes may use the same binding.
        array.find_client_slots();
    } else if buffer == 0 {
        array.client |= 1 << slot;
    } else {
        array.client &= !(1 << slot);
    }
    // Even without a buffer here, the binding point may get one later.
    buffer != 0 || only_buffers
}

fn fixed(slot: u8, size: i32, type_: u32, stride: i32) -> Asked {
    Asked {
        slot,
        size,
        type_,
        stride,
        integer: false,
        long: false,
        normalized: slot == attr::COLOR || slot == attr::SECONDARY || slot == attr::NORMAL,
    }
}

/// Pointer commands of the fixed function: the name, the slot, and the encoder's function.
macro_rules! pointers {
    ($($name:ident($($argument:ident: $type:ty),*) [$slot:expr, $size:expr, $kind:expr, $stride:expr] $encode:ident;)*) => {
        $(pub unsafe extern "C" fn $name($($argument: $type,)* pointer: Pointer) {
            // SAFETY: the only reference in use; the pointer is not followed before a draw.
            unsafe {
                let cx = context();
                let slot: u8 = ($slot)(&*cx);
                if point(cx, fixed(slot, $size, $kind, $stride), pointer) {
                    send_checked(cx, |enc| enc.$encode($($argument,)* pointer as u64));
                }
            }
        })*
    };
}

/// Sends a valid command that changes arrays. It certainly succeeds if the bound vertex array
/// object can have arrays.
fn send_checked(cx: &mut Context, send: impl FnOnce(&mut Encoder)) {
    let core = cx.gl.api == mgn_wire::hello::api::CORE;
    if cx.gl.is_compat() || core && cx.gl.arrays.name() != 0 {
        cx.send_infallible(send);
    } else {
        send(&mut cx.enc);
    }
}

fn texture_slot(cx: &Context) -> u8 {
    attr::TEXCOORD + (cx.gl.arrays.client_unit & 7) as u8
}

pointers! {
    glVertexPointer(size: i32, kind: u32, stride: i32) [|_| attr::POSITION, size, kind, stride] gl_vertex_pointer;
    glNormalPointer(kind: u32, stride: i32) [|_| attr::NORMAL, 3, kind, stride] gl_normal_pointer;
    glColorPointer(size: i32, kind: u32, stride: i32) [|_| attr::COLOR, size, kind, stride] gl_color_pointer;
    glSecondaryColorPointer(size: i32, kind: u32, stride: i32) [|_| attr::SECONDARY, size, kind, stride] gl_secondary_color_pointer;
    glFogCoordPointer(kind: u32, stride: i32) [|_| attr::FOG, 1, kind, stride] gl_fog_coord_pointer;
    glIndexPointer(kind: u32, stride: i32) [|_| attr::INDEX, 1, kind, stride] gl_index_pointer;
    glEdgeFlagPointer(stride: i32) [|_| attr::EDGE_FLAG, 1, gl::GL_UNSIGNED_BYTE, stride] gl_edge_flag_pointer;
    glTexCoordPointer(size: i32, kind: u32, stride: i32) [texture_slot, size, kind, stride] gl_tex_coord_pointer;
    glPointSizePointerOES(kind: u32, stride: i32) [|_| attr::POINT_SIZE, 1, kind, stride] gl_point_size_pointer_oes;
}

/// EXT_vertex_array: the count is a hint that is not needed.
macro_rules! ext_pointers {
    ($($name:ident($($argument:ident: $type:ty),*) = $core:ident;)*) => {
        $(pub unsafe extern "C" fn $name($($argument: $type,)* _count: i32, pointer: Pointer) {
            // SAFETY: as the other.
            unsafe { $core($($argument,)* pointer) }
        })*
    };
}

ext_pointers! {
    glVertexPointerEXT(size: i32, kind: u32, stride: i32) = glVertexPointer;
    glNormalPointerEXT(kind: u32, stride: i32) = glNormalPointer;
    glColorPointerEXT(size: i32, kind: u32, stride: i32) = glColorPointer;
    glIndexPointerEXT(kind: u32, stride: i32) = glIndexPointer;
    glTexCoordPointerEXT(size: i32, kind: u32, stride: i32) = glTexCoordPointer;
}

pub unsafe extern "C" fn glEdgeFlagPointerEXT(stride: i32, _count: i32, pointer: *const u8) {
    // SAFETY: as the other.
    unsafe { glEdgeFlagPointer(stride, pointer.cast()) }
}

/// The slot of generic attribute `index`, or GL_INVALID_VALUE.
pub(super) fn generic_slot(cx: &mut Context, index: u32) -> Option<u8> {
    if cx.gl.in_begin() {
        return cx.illegal_in_begin();
    }
    if index < u32::from(attr::COUNT - attr::GENERIC) {
        return Some(attr::GENERIC + index as u8);
    }
    cx.set_error(gl::GL_INVALID_VALUE);
    None
}

pub unsafe extern "C" fn glVertexAttribPointer(
    index: u32,
    size: i32,
    kind: u32,
    normalized: u8,
    stride: i32,
    pointer: Pointer,
) {
    // SAFETY: the only reference in use; the pointer is not followed before a draw.
    unsafe {
        let cx = context();
        let Some(slot) = generic_slot(cx, index) else {
            return;
        };
        let asked = Asked {
            slot,
            size,
            type_: kind,
            stride,
            integer: false,
            long: false,
            normalized: normalized != 0,
        };
        if point(cx, asked, pointer) {
            send_checked(cx, |enc| {
                enc.gl_vertex_attrib_pointer(index, size, kind, normalized, stride, pointer as u64)
            });
        }
    }
}

pub unsafe extern "C" fn glVertexAttribIPointer(
    index: u32,
    size: i32,
    kind: u32,
    stride: i32,
    pointer: Pointer,
) {
    // SAFETY: as above.
    unsafe {
        let cx = context();
        let Some(slot) = generic_slot(cx, index) else {
            return;
        };
        let asked = Asked {
            slot,
            size,
            type_: kind,
            stride,
            integer: true,
            long: false,
            normalized: false,
        };
        if point(cx, asked, pointer) {
            cx.enc
                .gl_vertex_attrib_i_pointer(index, size, kind, stride, pointer as u64);
        }
    }
}

pub unsafe extern "C" fn glVertexAttribLPointer(
    index: u32,
    size: i32,
    kind: u32,
    stride: i32,
    pointer: Pointer,
) {
    // SAFETY: as above.
    unsafe {
        let cx = context();
        let Some(slot) = generic_slot(cx, index) else {
            return;
        };
        let asked = Asked {
            slot,
            size,
            type_: kind,
            stride,
            integer: false,
            long: true,
            normalized: false,
        };
        if point(cx, asked, pointer) {
            cx.enc
                .gl_vertex_attrib_l_pointer(index, size, kind, stride, pointer as u64);
        }
    }
}

pub unsafe extern "C" fn glClientActiveTexture(texture: u32) {
    // SAFETY: the only reference in use.
    let cx = unsafe { context() };
    let unit = texture.wrapping_sub(gl::GL_TEXTURE0);
    if unit >= 8 {
        return cx.set_error(gl::GL_INVALID_ENUM);
    }
    cx.gl.arrays.client_unit = unit;
    send_checked(cx, |enc| enc.gl_client_active_texture(texture));
}

/// Applies changes by display lists, which enable and disable arrays by glEnable and glDisable.
pub fn follow_array_switches(cx: &mut Context) {
    for (array, on) in cx.gl.state.take_array_switches() {
        enable_client(array, on);
    }
}

fn enable_client(array: u32, on: bool) {
    // SAFETY: the only reference in use.
    let cx = unsafe { context() };
    let slot = match array {
        gl::GL_VERTEX_ARRAY => attr::POSITION,
        gl::GL_NORMAL_ARRAY => attr::NORMAL,
        gl::GL_COLOR_ARRAY => attr::COLOR,
        gl::GL_TEXTURE_COORD_ARRAY => texture_slot(cx),
        gl::GL_POINT_SIZE_ARRAY_OES if cx.gl.is_es1() => attr::POINT_SIZE,
        gl::GL_PRIMITIVE_RESTART_NV if cx.gl.is_compat() => return restart(cx, on),
        gl::GL_INDEX_ARRAY => attr::INDEX,
        gl::GL_EDGE_FLAG_ARRAY => attr::EDGE_FLAG,
        gl::GL_FOG_COORD_ARRAY => attr::FOG,
        gl::GL_SECONDARY_COLOR_ARRAY => attr::SECONDARY,
        _ => return cx.set_error(gl::GL_INVALID_ENUM),
    };
    if cx.is_illegal_now() {
        return cx.illegal_in_begin();
    }
    set_enabled(cx, slot, on);
    send_client_state(cx, array, on);
}

fn send_client_state(cx: &mut Context, array: u32, on: bool) {
    send_checked(cx, |enc| {
        if on {
            enc.gl_enable_client_state(array);
        } else {
            enc.gl_disable_client_state(array);
        }
    });
}

/// NV_primitive_restart is enabled as a client state, like an array.
fn restart(cx: &mut Context, on: bool) {
    if cx.gl.in_begin() {
        return cx.illegal_in_begin();
    }
    cx.gl.state.client_restart(on);
    send_client_state(cx, gl::GL_PRIMITIVE_RESTART_NV, on);
}

pub(super) fn set_enabled(cx: &mut Context, slot: u8, on: bool) {
    let array = &mut cx.gl.arrays.bound;
    if on {
        array.enabled |= 1 << slot;
    } else {
        array.enabled &= !(1 << slot);
    }
}

pub unsafe extern "C" fn glEnableClientState(array: u32) {
    enable_client(array, true);
}

pub unsafe extern "C" fn glDisableClientState(array: u32) {
    enable_client(array, false);
}

pub unsafe extern "C" fn glEnableVertexAttribArray(index: u32) {
    // SAFETY: the only reference in use.
    unsafe {
        let cx = context();
        let Some(slot) = generic_slot(cx, index) else {
            return;
        };
        set_enabled(cx, slot, true);
        send_checked(cx, |enc| enc.gl_enable_vertex_attrib_array(index));
    }
}

pub unsafe extern "C" fn glDisableVertexAttribArray(index: u32) {
    // SAFETY: the only reference in use.
    unsafe {
        let cx = context();
        let Some(slot) = generic_slot(cx, index) else {
            return;
        };
        set_enabled(cx, slot, false);
        send_checked(cx, |enc| enc.gl_disable_vertex_attrib_array(index));
    }
}

pub unsafe extern "C" fn glVertexAttribDivisor(index: u32, divisor: u32) {
    // SAFETY: the only reference in use.
    unsafe {
        let cx = context();
        let Some(slot) = generic_slot(cx, index) else {
            return;
        };
        let array = &mut cx.gl.arrays.bound;
        array.formats[usize::from(slot)].binding = slot;
        array.bindings[usize::from(slot)].divisor = divisor;
        array.find_client_slots();
        cx.enc.gl_vertex_attrib_divisor(index, divisor);
    }
}

pub unsafe extern "C" fn glInterleavedArrays(format: u32, stride: i32, pointer: Pointer) {
    // SAFETY: the only reference in use at a time; pointers are not followed before a draw.
    unsafe {
        let cx = context();
        if stride < 0 {
            return cx.set_error(gl::GL_INVALID_VALUE);
        }
        let Some(f) = interleaved(format) else {
            return cx.set_error(gl::GL_INVALID_ENUM);
        };
        let stride = if stride == 0 { f.stride } else { stride };
        let at = |offset: usize| pointer.wrapping_byte_add(offset);
        let set = |array: u32, on: bool| enable_client(array, on);
        glDisableClientState(gl::GL_EDGE_FLAG_ARRAY);
        glDisableClientState(gl::GL_INDEX_ARRAY);
        glDisableClientState(gl::GL_SECONDARY_COLOR_ARRAY);
        glDisableClientState(gl::GL_FOG_COORD_ARRAY);
        set(gl::GL_TEXTURE_COORD_ARRAY, f.texture > 0);
        if f.texture > 0 {
            glTexCoordPointer(f.texture, gl::GL_FLOAT, stride, pointer);
        }
        set(gl::GL_COLOR_ARRAY, f.color > 0);
        if f.color > 0 {
            glColorPointer(f.color, f.color_type, stride, at(f.color_offset));
        }
        set(gl::GL_NORMAL_ARRAY, f.normal);
        if f.normal {
            glNormalPointer(gl::GL_FLOAT, stride, at(f.normal_offset));
        }
        set(gl::GL_VERTEX_ARRAY, true);
        glVertexPointer(f.position, gl::GL_FLOAT, stride, at(f.position_offset));
    }
}

/// EXT_compiled_vertex_array promises that arrays do not change for a while. The promise is not
/// used.
pub unsafe extern "C" fn glLockArraysEXT(first: i32, count: i32) {
    if first < 0 || count <= 0 {
        // SAFETY: the only reference in use.
        unsafe { context() }.set_error(gl::GL_INVALID_VALUE);
    }
}

pub unsafe extern "C" fn glUnlockArraysEXT() {}
