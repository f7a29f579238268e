//! Images of EGL as textures and renderbuffers.

use super::super::context;
use std::ffi::c_void;

/// What EGL has given out as an image is a number of ours.
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
