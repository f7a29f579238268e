//! Buffer objects: what is bound, what they hold, and how the program's bytes get there.
//!
//! The client knows the size and the mapping of every buffer, so it finds all errors of these
//! commands itself; a large upload is then sent in pieces, of which none can fail. A mapping is
//! memory of the client's that is sent when the program says that it is done.

mod bindings;
mod data;
mod images;
mod mapping;
mod named;
mod persistent;

pub use bindings::bound;
pub use data::{
    contents_changed, element_bytes, glBufferData, glBufferStorage, glBufferSubData,
    glCopyBufferSubData, glGetBufferSubData, glInvalidateBufferData, glInvalidateBufferSubData,
};
pub use images::*;
pub use mapping::{
    glFlushMappedBufferRange, glGetBufferPointerv, glMapBuffer, glMapBufferRange, glUnmapBuffer,
    is_locked,
};
pub use named::*;

use super::objects::{adopt, follow};
use crate::context::Context;
use crate::current::context;
use crate::gl::tracked::values;
use crate::shadow::buffers::bindings::{is_written_through, Place};
use crate::shadow::buffers::object::BufferObject;
use crate::shadow::objects::class::Class;
use bindings::required;
use mgn_wire::{gl::*, lens, ops};

pub unsafe extern "C" fn glBindBuffer(target: u32, buffer: u32) {
    // SAFETY: the only reference in use, to the thread's own context.
    let cx = unsafe { context() };
    if cx.gl.in_begin() {
        return cx.illegal_in_begin();
    }
    bind(cx, target, buffer);
}

/// Binds a buffer here and on the server.
#[inline]
pub fn bind(cx: &mut Context, target: u32, buffer: u32) {
    let known = buffer == 0
        || cx
            .gl
            .objects
            .known(Class::Buffer, &cx.gl.shared.notes, buffer);
    let before = cx.before_judged();
    match cx.gl.objects.bindings.place(target) {
        Some(Place::Slot(slot)) if known && !is_written_through(target) => {
            cx.gl.state.bind_known_buffer(target, buffer);
            cx.gl.objects.bindings.set(slot, buffer);
        }
        Some(Place::Elements) if known => {
            cx.gl.state.bind_known_buffer(target, buffer);
            let released = cx.gl.shared.notes.releases();
            cx.gl.arrays.set_element_buffer(buffer, released);
        }
        _ => {
            follow!(cx, gl_bind_buffer(target, buffer));
            now_bound(cx, target, buffer);
        }
    }
    // SAFETY: the context's own encoder.
    unsafe { cx.enc.gl_bind_buffer(target, buffer) };
    cx.judged(before);
}

/// Follows a binding that the server makes, too.
#[inline]
fn now_bound(cx: &mut Context, target: u32, buffer: u32) {
    let Some(place) = cx.gl.objects.bindings.place(target) else {
        return;
    };
    if buffer != 0
        && !cx
            .gl
            .objects
            .known(Class::Buffer, &cx.gl.shared.notes, buffer)
        && !first_bound(cx, buffer)
    {
        return;
    }
    match place {
        Place::Slot(slot) => cx.gl.objects.bindings.set(slot, buffer),
        Place::Elements => {
            let released = cx.gl.shared.notes.releases();
            cx.gl.arrays.set_element_buffer(buffer, released);
        }
    }
    if is_written_through(target) {
        written_unseen(cx, target, &[buffer]);
    }
}

/// A binding of a name that this context has not bound yet. Says whether OpenGL allows it.
#[cold]
fn first_bound(cx: &mut Context, buffer: u32) -> bool {
    if !adopt(cx, Class::Buffer, buffer) {
        return false;
    }
    let released = cx.gl.shared.notes.releases();
    cx.gl.shared.buffers().adopt(buffer, released);
    true
}

#[cold]
fn written_unseen(cx: &mut Context, target: u32, names: &[u32]) {
    if is_written_through(target) {
        let mut buffers = cx.gl.shared.buffers();
        names
            .iter()
            .for_each(|name| buffers.is_written_unseen(*name));
        drop(buffers);
        let by_shaders = matches!(target, GL_SHADER_STORAGE_BUFFER | GL_ATOMIC_COUNTER_BUFFER);
        if by_shaders && names.iter().any(|name| *name != 0) {
            cx.shaders_write();
        }
    }
}

pub unsafe extern "C" fn glBindBufferBase(target: u32, index: u32, buffer: u32) {
    // SAFETY: the only reference in use, to the thread's own context.
    unsafe {
        let cx = context();
        if cx.gl.in_begin() {
            return cx.illegal_in_begin();
        }
        follow!(cx, gl_bind_buffer_base(target, index, buffer));
        cx.enc.gl_bind_buffer_base(target, index, buffer);
        if cx.gl.objects.limits.has_index(target, index) {
            now_bound(cx, target, buffer);
        }
    }
}

pub unsafe extern "C" fn glBindBufferRange(
    target: u32,
    index: u32,
    buffer: u32,
    offset: i64,
    size: i64,
) {
    // SAFETY: as above.
    unsafe {
        let cx = context();
        if cx.gl.in_begin() {
            return cx.illegal_in_begin();
        }
        follow!(
            cx,
            gl_bind_buffer_range(target, index, buffer, offset, size)
        );
        cx.enc
            .gl_bind_buffer_range(target, index, buffer, offset, size);
        let alignment = cx.gl.objects.limits.alignment(target);
        let good = buffer == 0 || size > 0 && offset >= 0 && offset % alignment == 0;
        let whole_words = target != GL_TRANSFORM_FEEDBACK_BUFFER || size % 4 == 0;
        if cx.gl.objects.limits.has_index(target, index) && good && whole_words {
            now_bound(cx, target, buffer);
        }
    }
}

pub unsafe extern "C" fn glBindBufferOffsetEXT(target: u32, index: u32, buffer: u32, offset: i64) {
    // SAFETY: as above.
    unsafe {
        let cx = context();
        if cx.gl.in_begin() {
            return cx.illegal_in_begin();
        }
        follow!(cx, gl_bind_buffer_offset_ext(target, index, buffer, offset));
        cx.enc
            .gl_bind_buffer_offset_ext(target, index, buffer, offset);
        let good = target == GL_TRANSFORM_FEEDBACK_BUFFER && offset % 4 == 0;
        if good && cx.gl.objects.limits.has_index(target, index) {
            now_bound(cx, target, buffer);
        }
    }
}

pub unsafe extern "C" fn glBindBuffersBase(
    target: u32,
    first: u32,
    count: i32,
    buffers: *const u32,
) {
    // SAFETY: the program gives `count` names or a null pointer; the only reference in use.
    unsafe {
        let cx = context();
        if cx.gl.in_begin() {
            return cx.illegal_in_begin();
        }
        let n = lens::times(count.into(), 1);
        follow!(
            cx,
            gl_bind_buffers_base(target, first, count, values(buffers, n))
        );
        cx.enc
            .gl_bind_buffers_base(target, first, count, (buffers, n));
        written_unseen(cx, target, values(buffers, n));
    }
}

pub unsafe extern "C" fn glBindBuffersRange(
    target: u32,
    first: u32,
    count: i32,
    buffers: *const u32,
    offsets: *const i64,
    sizes: *const i64,
) {
    // SAFETY: the program gives `count` names, offsets and sizes, or null pointers; the only
    // reference in use.
    unsafe {
        let cx = context();
        if cx.gl.in_begin() {
            return cx.illegal_in_begin();
        }
        let n = lens::times(count.into(), 1);
        follow!(
            cx,
            gl_bind_buffers_range(
                target,
                first,
                count,
                values(buffers, n),
                values(offsets, n),
                values(sizes, n)
            )
        );
        cx.enc
            .gl_bind_buffers_range(target, first, count, (buffers, n), (offsets, n), (sizes, n));
        written_unseen(cx, target, values(buffers, n));
    }
}

/// Names were deleted: they are unbound from this context, and unmapped.
pub(super) fn deleted(cx: &mut Context, names: &[u32]) {
    for &name in names {
        cx.gl.objects.bindings.forget(name);
        cx.gl.arrays.buffer_deleted(name);
        let ended = cx.gl.shared.buffers().delete(name);
        if let Some(mapping) = ended {
            cx.gl.shared.notes.mapping_ended(mapping.is_persistent());
        }
    }
}

pub unsafe extern "C" fn glGetBufferParameteriv(target: u32, pname: u32, params: *mut i32) {
    // SAFETY: the program gives room for the value; the only reference in use.
    unsafe {
        let cx = context();
        let Some(value) = local_parameter(cx, target, pname) else {
            return;
        };
        if let Some(value) = value {
            if !params.is_null() {
                params.write(value as i32);
            }
            return;
        }
        cx.enc
            .gl_get_buffer_parameteriv(target, pname, u32::from(!params.is_null()));
        cx.answer(ops::GL_GET_BUFFER_PARAMETERIV).array(params, 1);
    }
}

pub unsafe extern "C" fn glGetBufferParameteri64v(target: u32, pname: u32, params: *mut i64) {
    // SAFETY: as above.
    unsafe {
        let cx = context();
        let Some(value) = local_parameter(cx, target, pname) else {
            return;
        };
        if let Some(value) = value {
            if !params.is_null() {
                params.write(value);
            }
            return;
        }
        cx.enc
            .gl_get_buffer_parameteri64v(target, pname, u32::from(!params.is_null()));
        cx.answer(ops::GL_GET_BUFFER_PARAMETERI64V).array(params, 1);
    }
}

/// A parameter of the buffer bound to `target`, if the client knows it. `None` after an error was
/// raised.
fn local_parameter(cx: &mut Context, target: u32, pname: u32) -> Option<Option<i64>> {
    if cx.gl.in_begin() {
        return cx.illegal_in_begin();
    }
    let buffer = required(cx, target)?;
    let is_es = cx.gl.objects.limits.is_es();
    let value = cx
        .gl
        .shared
        .buffers()
        .get(buffer)
        .and_then(|object| parameter(object, pname, is_es));
    Some(value)
}

fn parameter(object: &BufferObject, pname: u32, is_es: bool) -> Option<i64> {
    let mapping = object.mapping.as_ref();
    Some(match pname {
        GL_BUFFER_SIZE => object.size,
        GL_BUFFER_USAGE => object.usage.into(),
        GL_BUFFER_IMMUTABLE_STORAGE => object.storage.is_some().into(),
        GL_BUFFER_STORAGE_FLAGS => object.storage?.into(),
        GL_BUFFER_ACCESS => object.access(is_es).into(),
        GL_BUFFER_ACCESS_FLAGS => mapping.map_or(0, |m| m.access).into(),
        GL_BUFFER_MAPPED => mapping.is_some().into(),
        GL_BUFFER_MAP_OFFSET => mapping.map_or(0, |m| m.offset),
        GL_BUFFER_MAP_LENGTH => mapping.map_or(0, |m| m.length),
        _ => return None,
    })
}
