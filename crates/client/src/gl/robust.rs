//! Gets of GL_ARB_robustness and OpenGL 4.5 that take the size of the program's memory.
//!
//! Their results are requested without a size: only the client knows how much of the program's
//! memory they need.

use crate::generated::entries;
use crate::gl::images;

macro_rules! uniforms {
    ($($name:ident = $core:ident: $type:ty;)*) => {$(
        pub unsafe extern "C" fn $name(program: u32, location: i32, size: i32, params: *mut $type) {
            // SAFETY: the same command.
            unsafe { entries::$core(program, location, size, params) }
        }
    )*};
}

uniforms! {
    glGetnUniformdvARB = glGetnUniformdv: f64;
    glGetnUniformfvARB = glGetnUniformfv: f32;
    glGetnUniformivARB = glGetnUniformiv: i32;
    glGetnUniformuivARB = glGetnUniformuiv: u32;
}

pub unsafe extern "C" fn glGetUniformi64vNV(program: u32, location: i32, params: *mut i64) {
    // SAFETY: the same command.
    unsafe { entries::glGetUniformi64vARB(program, location, params) }
}

pub unsafe extern "C" fn glGetUniformui64vNV(program: u32, location: i32, params: *mut u64) {
    // SAFETY: the same command.
    unsafe { entries::glGetUniformui64vARB(program, location, params) }
}

pub unsafe extern "C" fn glGetnTexImageARB(
    target: u32,
    level: i32,
    format: u32,
    type_: u32,
    size: i32,
    image: *mut core::ffi::c_void,
) {
    // SAFETY: the same command.
    unsafe { images::glGetnTexImage(target, level, format, type_, size, image) }
}

pub unsafe extern "C" fn glGetnCompressedTexImageARB(
    target: u32,
    level: i32,
    size: i32,
    image: *mut core::ffi::c_void,
) {
    // SAFETY: the same command.
    unsafe { images::glGetnCompressedTexImage(target, level, size, image) }
}

pub unsafe extern "C" fn glGetnPolygonStippleARB(size: i32, pattern: *mut u8) {
    // SAFETY: the same command.
    unsafe { images::glGetnPolygonStipple(size, pattern) }
}
