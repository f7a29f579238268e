//! Clears textures and buffers to one pixel. The pixel store does not apply to the pixel, which
//! never lies in a buffer.

use super::source::one_pixel;
use crate::context::Context;
use crate::current::context;
use crate::gl::buffers::bindings::bound;
use crate::gl::buffers::data::contents_changed;
use crate::gl::buffers::mapping::is_locked;
use core::ffi::c_void;
use mgn_wire::gl::GL_INVALID_OPERATION;

/// Whether any of these bytes of the buffer bound to `target` is mapped.
fn is_locked_within(cx: &Context, target: u32, offset: i64, size: i64) -> bool {
    let Ok(name) = bound(cx, target) else {
        return false;
    };
    is_locked(cx, target)
        && cx
            .gl
            .shared
            .buffers()
            .get(name)
            .is_some_and(|o| o.is_locked_within(offset, size))
}

pub unsafe extern "C" fn glClearTexImage(
    texture: u32,
    level: i32,
    format: u32,
    type_: u32,
    data: *const c_void,
) {
    // SAFETY: the only reference in use, to the thread's own context, and the program's pixel.
    unsafe {
        let cx = context();
        if cx.gl.in_begin() {
            return cx.illegal_in_begin();
        }
        cx.enc.gl_clear_tex_image(
            texture,
            level,
            format,
            type_,
            one_pixel(format, type_, data),
        );
    }
}

pub unsafe extern "C" fn glClearTexSubImage(
    texture: u32,
    level: i32,
    x: i32,
    y: i32,
    z: i32,
    width: i32,
    height: i32,
    depth: i32,
    format: u32,
    type_: u32,
    data: *const c_void,
) {
    // SAFETY: as above.
    unsafe {
        let cx = context();
        if cx.gl.in_begin() {
            return cx.illegal_in_begin();
        }
        let data = one_pixel(format, type_, data);
        cx.enc.gl_clear_tex_sub_image(
            texture, level, x, y, z, width, height, depth, format, type_, data,
        );
    }
}

pub unsafe extern "C" fn glClearBufferData(
    target: u32,
    internal_format: u32,
    format: u32,
    type_: u32,
    data: *const c_void,
) {
    // SAFETY: as above.
    unsafe {
        let cx = context();
        if cx.gl.in_begin() {
            return cx.illegal_in_begin();
        }
        if is_locked(cx, target) {
            return cx.set_error(GL_INVALID_OPERATION);
        }
        cx.enc.gl_clear_buffer_data(
            target,
            internal_format,
            format,
            type_,
            one_pixel(format, type_, data),
        );
        contents_changed(cx, target);
    }
}

pub unsafe extern "C" fn glClearBufferSubData(
    target: u32,
    internal_format: u32,
    offset: i64,
    size: i64,
    format: u32,
    type_: u32,
    data: *const c_void,
) {
    // SAFETY: as above.
    unsafe {
        let cx = context();
        if cx.gl.in_begin() {
            return cx.illegal_in_begin();
        }
        if is_locked_within(cx, target, offset, size) {
            return cx.set_error(GL_INVALID_OPERATION);
        }
        let data = one_pixel(format, type_, data);
        cx.enc
            .gl_clear_buffer_sub_data(target, internal_format, offset, size, format, type_, data);
        contents_changed(cx, target);
    }
}
