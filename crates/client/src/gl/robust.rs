//! Gets of GL_ARB_robustness and OpenGL 4.5 that are told how much room the program has.
//!
//! What they get is asked for as without a size: only the client knows how long it becomes in the
//! program's memory.

use super::hand;
use crate::context::Context;
use crate::generated::entries;
use mgn_wire::gl::GL_INVALID_OPERATION;

impl Context {
    /// Hands an answer over to a program that has room for `size` bytes, or refuses to.
    ///
    /// # Safety
    /// `to` is null or has that room.
    pub unsafe fn give_sized(&mut self, answer: &[u8], size: i32, to: *mut u8) {
        if !fits(answer.len(), size) {
            self.set_error(GL_INVALID_OPERATION);
        } else if !to.is_null() {
            // SAFETY: it fits, and the caller's promise.
            unsafe { to.copy_from_nonoverlapping(answer.as_ptr(), answer.len()) };
        }
    }
}

/// Whether so many bytes fit into memory of `size` bytes, as the program gives it. Mesa takes a
/// negative size of pixels for no limit.
pub fn fits(bytes: usize, size: i32) -> bool {
    usize::try_from(size).map_or(true, |size| bytes <= size)
}

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
    unsafe { hand::glGetnTexImage(target, level, format, type_, size, image) }
}

pub unsafe extern "C" fn glGetnCompressedTexImageARB(
    target: u32,
    level: i32,
    size: i32,
    image: *mut core::ffi::c_void,
) {
    // SAFETY: the same command.
    unsafe { hand::glGetnCompressedTexImage(target, level, size, image) }
}

pub unsafe extern "C" fn glGetnPolygonStippleARB(size: i32, pattern: *mut u8) {
    // SAFETY: the same command.
    unsafe { hand::glGetnPolygonStipple(size, pattern) }
}
