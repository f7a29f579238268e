//! Fences. The pointer that the program gets is the fence's name.

use super::names::tell_group;
use crate::current::context;
use core::ffi::c_void;
use mgn_wire::gl::*;
use std::ptr::null_mut;

pub unsafe extern "C" fn glFenceSync(condition: u32, flags: u32) -> *mut c_void {
    // SAFETY: the only reference in use, to the thread's own context.
    let cx = unsafe { context() };
    let error = if cx.gl.in_begin() {
        GL_INVALID_OPERATION
    } else if condition != GL_SYNC_GPU_COMMANDS_COMPLETE {
        GL_INVALID_ENUM
    } else if flags != 0 {
        GL_INVALID_VALUE
    } else {
        let name = cx.gl.shared.names().syncs.take();
        cx.send_infallible(|enc| enc.gl_fence_sync(condition, flags, name));
        tell_group(cx);
        return name as usize as *mut c_void;
    };
    cx.set_error(error);
    null_mut()
}

/// A fence's name; the name of no fence if the pointer is not valid.
pub fn sync_name(sync: *mut c_void) -> u32 {
    u32::try_from(sync as usize).unwrap_or(u32::MAX)
}

pub unsafe extern "C" fn glDeleteSync(sync: *mut c_void) {
    // SAFETY: as above.
    let cx = unsafe { context() };
    if cx.gl.in_begin() {
        return cx.illegal_in_begin();
    }
    if sync.is_null() {
        return;
    }
    let name = sync_name(sync);
    if !cx.gl.shared.names().syncs.is_taken(name) {
        return cx.set_error(GL_INVALID_VALUE);
    }
    cx.send_infallible(|enc| enc.gl_delete_sync(name));
    tell_group(cx);
    cx.gl.shared.names().syncs.release(name);
}
