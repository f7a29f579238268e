//! Commands that name a buffer object. The buffer is bound to `GL_COPY_WRITE_BUFFER` for a moment,
//! here and on the server, and the command for the bound buffer is used. So the server gets no
//! commands by name.

use super::bind::*;
use super::bindings::bound;
use super::data::*;
use super::mapping::*;
use super::parameters::*;
use crate::context::Context;
use crate::current::context;
use crate::gl::images::{glClearBufferData, glClearBufferSubData};
use core::ffi::c_void;
use mgn_wire::gl::*;
use std::ptr::null_mut;

/// Whether there is a buffer object of this name, and not only a generated name.
pub fn exists(cx: &Context, name: u32) -> bool {
    cx.gl.shared.buffers().exists(name)
}

/// Creates the buffer object of a name if it does not exist, as binding the name does. Returns
/// whether it exists now; if not, raises the error.
pub fn make(cx: &mut Context, name: u32) -> bool {
    if exists(cx, name) {
        return true;
    }
    let may = cx.gl.shared.names().buffers.is_taken(name) || !cx.gl.objects.limits.is_core();
    if name == 0 || !may {
        cx.set_error(GL_INVALID_OPERATION);
        return false;
    }
    let before = bound(cx, GL_COPY_WRITE_BUFFER).unwrap_or(0);
    bind(cx, GL_COPY_WRITE_BUFFER, name);
    bind(cx, GL_COPY_WRITE_BUFFER, before);
    true
}

/// Runs `work` with `buffer` bound to `target`. If the buffer does not exist, nothing is bound
/// there, so that the command finds its errors in the right order.
///
/// # Safety
/// Nothing refers to the thread's context.
unsafe fn with<R>(target: u32, buffer: u32, work: impl FnOnce() -> R) -> R {
    // SAFETY: references to the context follow each other.
    unsafe {
        let cx = context();
        let before = bound(cx, target).unwrap_or(0);
        let buffer = if exists(cx, buffer) { buffer } else { 0 };
        if cx.gl.in_begin() || buffer == before {
            return work();
        }
        bind(cx, target, buffer);
        let result = work();
        bind(context(), target, before);
        result
    }
}

/// Commands that name a buffer.
macro_rules! named {
    ($($name:ident($($arg:ident: $ty:ty),*) $([$none:expr] $ret:ty)? = $bound:ident;)*) => {$(
        pub unsafe extern "C" fn $name(buffer: u32, $($arg: $ty),*) $(-> $ret)? {
            // SAFETY: nothing refers to the thread's context; the program's arguments.
            unsafe { with(GL_COPY_WRITE_BUFFER, buffer, || $bound(GL_COPY_WRITE_BUFFER, $($arg),*)) }
        }
    )*};
}

named! {
    glNamedBufferData(size: i64, data: *const c_void, usage: u32) = glBufferData;
    glNamedBufferStorage(size: i64, data: *const c_void, flags: u32) = glBufferStorage;
    glNamedBufferSubData(offset: i64, size: i64, data: *const c_void) = glBufferSubData;
    glGetNamedBufferSubData(offset: i64, size: i64, data: *mut c_void) = glGetBufferSubData;
    glClearNamedBufferData(internal_format: u32, format: u32, type_: u32, data: *const c_void) = clear_all;
    glClearNamedBufferSubData(internal_format: u32, offset: i64, size: i64, format: u32, type_: u32, data: *const c_void) = clear;
    glMapNamedBuffer(access: u32) [null_mut()] *mut c_void = glMapBuffer;
    glMapNamedBufferRange(offset: i64, length: i64, access: u32) [null_mut()] *mut c_void = glMapBufferRange;
    glUnmapNamedBuffer() [0] u8 = glUnmapBuffer;
    glUnmapNamedBufferEXT() [0] u8 = glUnmapBuffer;
    glFlushMappedNamedBufferRange(offset: i64, length: i64) = glFlushMappedBufferRange;
    glGetNamedBufferParameteriv(pname: u32, params: *mut i32) = glGetBufferParameteriv;
    glGetNamedBufferParameteri64v(pname: u32, params: *mut i64) = glGetBufferParameteri64v;
    glGetNamedBufferPointerv(pname: u32, params: *mut *mut c_void) = glGetBufferPointerv;
}

/// Commands of EXT_direct_state_access, which create the buffer if it does not exist. The value in
/// brackets is returned if they cannot.
macro_rules! older {
    ($($name:ident($($arg:ident: $ty:ty),*) $([$none:expr] $ret:ty)? = $newer:ident;)*) => {$(
        pub unsafe extern "C" fn $name(buffer: u32, $($arg: $ty),*) $(-> $ret)? {
            // SAFETY: as above.
            unsafe {
                if !context().gl.in_begin() && !make(context(), buffer) {
                    return $($none)?;
                }
                $newer(buffer, $($arg),*)
            }
        }
    )*};
}

older! {
    glNamedBufferDataEXT(size: i64, data: *const c_void, usage: u32) = glNamedBufferData;
    glNamedBufferStorageEXT(size: i64, data: *const c_void, flags: u32) = glNamedBufferStorage;
    glNamedBufferSubDataEXT(offset: i64, size: i64, data: *const c_void) = glNamedBufferSubData;
    glGetNamedBufferSubDataEXT(offset: i64, size: i64, data: *mut c_void) = glGetNamedBufferSubData;
    glClearNamedBufferDataEXT(internal_format: u32, format: u32, type_: u32, data: *const c_void) = glClearNamedBufferData;
    glClearNamedBufferSubDataEXT(internal_format: u32, offset: i64, size: i64, format: u32, type_: u32, data: *const c_void) = glClearNamedBufferSubData;
    glMapNamedBufferEXT(access: u32) [null_mut()] *mut c_void = glMapNamedBuffer;
    glMapNamedBufferRangeEXT(offset: i64, length: i64, access: u32) [null_mut()] *mut c_void = glMapNamedBufferRange;
    glFlushMappedNamedBufferRangeEXT(offset: i64, length: i64) = glFlushMappedNamedBufferRange;
    glGetNamedBufferParameterivEXT(pname: u32, params: *mut i32) = glGetNamedBufferParameteriv;
    glGetNamedBufferPointervEXT(pname: u32, params: *mut *mut c_void) = glGetNamedBufferPointerv;
}

/// The error for clearing differs: one if no buffer is bound, another if no buffer has the name.
unsafe fn clear_all(
    target: u32,
    internal_format: u32,
    format: u32,
    type_: u32,
    data: *const c_void,
) {
    // SAFETY: the only reference in use; the program's arguments.
    unsafe {
        if bound(context(), target) == Ok(0) {
            return context().set_error(GL_INVALID_OPERATION);
        }
        glClearBufferData(target, internal_format, format, type_, data);
    }
}

unsafe fn clear(
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
        if bound(context(), target) == Ok(0) {
            return context().set_error(GL_INVALID_OPERATION);
        }
        glClearBufferSubData(target, internal_format, offset, size, format, type_, data);
    }
}

pub unsafe extern "C" fn glCopyNamedBufferSubData(
    from: u32,
    to: u32,
    from_offset: i64,
    to_offset: i64,
    size: i64,
) {
    let (read, write) = (GL_COPY_READ_BUFFER, GL_COPY_WRITE_BUFFER);
    // SAFETY: nothing refers to the thread's context.
    unsafe {
        with(read, from, || {
            with(write, to, || {
                glCopyBufferSubData(read, write, from_offset, to_offset, size)
            })
        })
    }
}

pub unsafe extern "C" fn glNamedCopyBufferSubDataEXT(
    from: u32,
    to: u32,
    from_offset: i64,
    to_offset: i64,
    size: i64,
) {
    // SAFETY: as above.
    unsafe {
        if context().gl.in_begin() || make(context(), from) && make(context(), to) {
            glCopyNamedBufferSubData(from, to, from_offset, to_offset, size);
        }
    }
}
