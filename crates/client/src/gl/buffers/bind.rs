//! Bindings of buffer objects.

use crate::context::Context;
use crate::current::context;
use crate::gl::objects::names::{adopt, follow};
use crate::gl::tracked::values;
use crate::shadow::buffers::bindings::{is_written_through, BindingLocation};
use crate::shadow::objects::class::Class;
use mgn_wire::{gl::*, lens};

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
        Some(BindingLocation::Slot(slot)) if known && !is_written_through(target) => {
            cx.gl.state.bind_known_buffer(target, buffer);
            cx.gl.objects.bindings.set(slot, buffer);
        }
        Some(BindingLocation::Elements) if known => {
            cx.gl.state.bind_known_buffer(target, buffer);
            let released = cx.gl.shared.notes.releases();
            cx.gl.arrays.set_element_buffer(buffer, released);
        }
        _ => {
            follow!(cx, gl_bind_buffer(target, buffer));
            now_bound(cx, target, buffer);
        }
    }
    cx.enc.gl_bind_buffer(target, buffer);
    cx.judged(before);
}

/// Tracks a binding that the server makes, too.
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
        BindingLocation::Slot(slot) => cx.gl.objects.bindings.set(slot, buffer),
        BindingLocation::Elements => {
            let released = cx.gl.shared.notes.releases();
            cx.gl.arrays.set_element_buffer(buffer, released);
        }
    }
    if is_written_through(target) {
        written_unseen(cx, target, &[buffer]);
    }
}

/// Binds a name that this context has not bound yet. Returns whether OpenGL allows it.
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

/// Called when names were deleted: their buffers are unbound from this context, and unmapped.
pub fn deleted(cx: &mut Context, names: &[u32]) {
    for &name in names {
        cx.gl.objects.bindings.forget(name);
        cx.gl.arrays.buffer_deleted(name);
        let ended = cx.gl.shared.buffers().delete(name);
        if let Some(mapping) = ended {
            cx.gl.shared.notes.mapping_ended(mapping.is_persistent());
        }
    }
}
