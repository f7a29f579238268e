//! EGL images as textures and renderbuffers.

use crate::current::context;
use crate::gl::objects::names::follow;
use mgn_wire::gl::GL_NONE;
use std::ffi::c_void;

/// The number of an EGL image. Its handle is a number that we have chosen.
fn number(image: *mut c_void) -> u32 {
    u32::try_from(image as usize).unwrap_or(0)
}

pub unsafe extern "C" fn glEGLImageTargetTexture2DOES(target: u32, image: *mut c_void) {
    // SAFETY: the only reference in use, to the thread's own context.
    unsafe {
        let cx = context();
        if cx.gl.in_begin() {
            return cx.illegal_in_begin();
        }
        cx.enc
            .gl_egl_image_target_texture2does(target, number(image));
    }
}

pub unsafe extern "C" fn glEGLImageTargetRenderbufferStorageOES(target: u32, image: *mut c_void) {
    // SAFETY: as above.
    unsafe {
        let cx = context();
        if cx.gl.in_begin() {
            return cx.illegal_in_begin();
        }
        cx.enc
            .gl_egl_image_target_renderbuffer_storage_oes(target, number(image));
    }
}

/// A list of names and values, without its terminator.
///
/// # Safety
/// The list has a terminator, or is null.
unsafe fn pairs(list: *const i32) -> (*const i32, usize) {
    let mut count = 0;
    // SAFETY: the caller's promise.
    while !list.is_null() && unsafe { *list.add(count) } as u32 != GL_NONE {
        count += 2;
    }
    (list, count)
}

pub unsafe extern "C" fn glEGLImageTargetTexStorageEXT(
    target: u32,
    image: *mut c_void,
    attributes: *const i32,
) {
    // SAFETY: as above, and the program's list.
    unsafe {
        let cx = context();
        if cx.gl.in_begin() {
            return cx.illegal_in_begin();
        }
        cx.gl.state.gl_egl_image_target_tex_storage_ext(target);
        let (image, attributes) = (number(image), pairs(attributes));
        cx.enc
            .gl_egl_image_target_tex_storage_ext(target, image, attributes);
    }
}

pub unsafe extern "C" fn glEGLImageTargetTextureStorageEXT(
    texture: u32,
    image: *mut c_void,
    attributes: *const i32,
) {
    // SAFETY: as above.
    unsafe {
        let cx = context();
        if cx.gl.in_begin() {
            return cx.illegal_in_begin();
        }
        follow!(cx, gl_egl_image_target_texture_storage_ext(texture));
        let (image, attributes) = (number(image), pairs(attributes));
        cx.enc
            .gl_egl_image_target_texture_storage_ext(texture, image, attributes);
    }
}
