//! Vertex array objects, and separate formats and bindings (ARB_vertex_attrib_binding).

use super::entries::generic_slot;
use super::formats::{Asked, STRIDE_MAX};
use crate::context::Context;
use crate::current::context;
use crate::gl::buffers::{exists, make};
use mgn_wire::draws::{attr, Kind};
use mgn_wire::gl;

/// Mesa's GL_MAX_VERTEX_ATTRIB_RELATIVE_OFFSET.
const OFFSET_MAX: u32 = 2047;

pub unsafe extern "C" fn glBindVertexArray(name: u32) {
    // SAFETY: the only reference in use.
    unsafe {
        let cx = context();
        if cx.gl.in_begin() {
            return cx.illegal_in_begin();
        }
        if name != 0 && !cx.gl.own.vertex_arrays.is_taken(name) {
            return cx.set_error(gl::GL_INVALID_OPERATION);
        }
        cx.gl.arrays.bind_vertex_array(name);
        let before = cx.before_judged();
        let _ = cx.gl.state.gl_bind_vertex_array(name);
        cx.enc.gl_bind_vertex_array(name);
        cx.judged(before);
    }
}

/// The slot of a generic attribute or binding point, if the bound object has separate formats. The
/// default object has none in the core profile and in OpenGL ES.
fn separate_slot(cx: &mut Context, index: u32) -> Option<u8> {
    if !cx.gl.is_compat() && cx.gl.arrays.name() == 0 && !cx.gl.in_begin() {
        return cx.fail(gl::GL_INVALID_OPERATION);
    }
    generic_slot(cx, index)
}

/// The three glVertexAttrib*Format commands.
macro_rules! formats {
    ($($name:ident($($normalized:ident: u8)?) $kind:ident $encode:ident;)*) => {
        $(pub unsafe extern "C" fn $name(index: u32, size: i32, type_: u32, $($normalized: u8,)? offset: u32) {
            // SAFETY: the only reference in use.
            unsafe {
                let cx = context();
                let Some(slot) = separate_slot(cx, index) else { return };
                let _normalized = 0u8;
                $(let _normalized = $normalized;)?
                let kind = Kind::$kind;
                let asked = Asked {
                    slot,
                    size,
                    type_,
                    stride: 0,
                    integer: kind == Kind::Integer,
                    long: kind == Kind::Long,
                    normalized: _normalized != 0,
                };
                let beyond = (offset > OFFSET_MAX).then_some(gl::GL_INVALID_VALUE);
                if let Some(error) = asked.error(false).or(beyond) {
                    return cx.set_error(error);
                }
                let format = &mut cx.gl.arrays.bound.formats[usize::from(slot)];
                format.size = size as u32;
                format.type_ = type_;
                format.normalized = _normalized != 0;
                format.kind = kind;
                format.relative_offset = offset;
                cx.enc.$encode(index, size, type_, $($normalized,)? offset);
            }
        })*
    };
}

formats! {
    glVertexAttribFormat(normalized: u8) Float gl_vertex_attrib_format;
    glVertexAttribIFormat() Integer gl_vertex_attrib_i_format;
    glVertexAttribLFormat() Long gl_vertex_attrib_l_format;
}

pub unsafe extern "C" fn glVertexAttribBinding(index: u32, binding: u32) {
    // SAFETY: the only reference in use.
    unsafe {
        let cx = context();
        let Some(slot) = separate_slot(cx, index) else {
            return;
        };
        let Some(from) = generic_slot(cx, binding) else {
            return;
        };
        let array = &mut cx.gl.arrays.bound;
        array.formats[usize::from(slot)].binding = from;
        array.find_client_slots();
        cx.enc.gl_vertex_attrib_binding(index, binding);
    }
}

pub unsafe extern "C" fn glVertexBindingDivisor(binding: u32, divisor: u32) {
    // SAFETY: the only reference in use.
    unsafe {
        let cx = context();
        let Some(from) = separate_slot(cx, binding) else {
            return;
        };
        cx.gl.arrays.bound.bindings[usize::from(from)].divisor = divisor;
        cx.enc.gl_vertex_binding_divisor(binding, divisor);
    }
}

fn bind(cx: &mut Context, slot: u8, buffer: u32, offset: i64, stride: i32) {
    let released = cx.gl.shared.notes.releases();
    let array = &mut cx.gl.arrays.bound;
    array.since[usize::from(slot)] = released;
    let binding = &mut array.bindings[usize::from(slot)];
    binding.buffer = buffer;
    binding.offset = offset as usize;
    binding.stride = stride as usize;
    array.find_client_slots();
}

/// Whether OpenGL accepts this offset and stride for a buffer that may be bound.
fn is_range(cx: &Context, offset: i64, stride: i32) -> bool {
    // Version 4.4 introduced the limit for strides, first for these commands.
    let limited = cx.gl.is_desktop() && cx.gl.objects.limits.version < (4, 4);
    offset >= 0 && stride >= 0 && (limited || stride <= STRIDE_MAX)
}

pub unsafe extern "C" fn glBindVertexBuffer(binding: u32, buffer: u32, offset: i64, stride: i32) {
    // SAFETY: the only reference in use.
    unsafe {
        let cx = context();
        let Some(from) = separate_slot(cx, binding) else {
            return;
        };
        if !is_range(cx, offset, stride) {
            return cx.set_error(gl::GL_INVALID_VALUE);
        }
        if buffer != 0 && !make(cx, buffer) {
            return;
        }
        bind(cx, from, buffer, offset, stride);
        cx.enc
            .gl_bind_vertex_buffer(binding, buffer, offset, stride);
    }
}

pub unsafe extern "C" fn glBindVertexBuffers(
    first: u32,
    count: i32,
    buffers: *const u32,
    offsets: *const i64,
    strides: *const i32,
) {
    // SAFETY: the only reference in use; the program gives `count` values each, or no buffers.
    unsafe {
        let cx = context();
        if separate_slot(cx, 0).is_none() {
            return;
        }
        let n = usize::try_from(count).unwrap_or(0);
        let slots = u32::from(attr::COUNT - attr::GENERIC);
        // The sum is computed as in Mesa, where a negative count may pass.
        if first.wrapping_add(count as u32) > slots || first > slots && count > 0 {
            return cx.set_error(gl::GL_INVALID_OPERATION);
        }
        for i in 0..n {
            let slot = attr::GENERIC + first as u8 + i as u8;
            if buffers.is_null() {
                bind(cx, slot, 0, 0, 16);
                continue;
            }
            // For an invalid binding the server raises the error, and applies the others.
            let (buffer, offset, stride) = (*buffers.add(i), *offsets.add(i), *strides.add(i));
            let bound = cx.gl.arrays.bound.bindings[usize::from(slot)].buffer;
            if is_range(cx, offset, stride)
                && (buffer == bound || buffer == 0 || exists(cx, buffer))
            {
                bind(cx, slot, buffer, offset, stride);
            }
        }
        cx.enc
            .gl_bind_vertex_buffers(first, count, (buffers, n), (offsets, n), (strides, n));
    }
}
