//! Indirect draws, whose arguments lie in a buffer object.

use super::elements::{
    drawing, glDrawArraysInstancedBaseInstance, glDrawElementsInstancedBaseVertexBaseInstance,
};
use crate::context::Context;
use crate::gl::buffers;
use core::ffi::c_void;
use mgn_wire::gl;
use mgn_wire::sizes::image::draw_index_bytes;

type Pointer = *const c_void;

/// An indirect draw as far as its errors go.
struct Indirect {
    mode: u32,
    /// Of its indices, if it has any.
    type_: Option<u32>,
    indirect: Pointer,
    /// Where the number of draws lies in the parameter buffer.
    count: Option<i64>,
}

impl Indirect {
    /// Raises the error of a draw that lacks a buffer object, or whose commands are mapped, of which the driver does not know. Says whether there is
    /// one.
    fn lacks_buffers(&self, cx: &mut Context) -> bool {
        // In the driver's order.
        if let Some(error) = self.error_of_arrays(cx) {
            cx.set_error(error);
            return true;
        }
        let Some(error) = self.error_of_commands(cx) else {
            return false;
        };
        // The mode, and what it needs, comes between.
        cx.check_only(self.mode);
        cx.set_error(error);
        true
    }

    fn error_of_arrays(&self, cx: &Context) -> Option<u32> {
        let arrays = &cx.gl.arrays;
        if let Some(type_) = self.type_ {
            if draw_index_bytes(type_).is_none() {
                return Some(gl::GL_INVALID_ENUM);
            }
            if arrays.bound.element_buffer == 0 {
                return Some(gl::GL_INVALID_OPERATION);
            }
        }
        // The server draws OpenGL ES from another object than the default one, and hides arrays that lie nowhere.
        let is_default = !cx.gl.is_compat() && arrays.name() == 0;
        let lies_nowhere = !cx.gl.is_desktop() && arrays.needs_client_memory();
        (is_default || lies_nowhere).then_some(gl::GL_INVALID_OPERATION)
    }

    /// What the driver finds itself is none of this, unless the error is the same.
    fn error_of_commands(&self, cx: &Context) -> Option<u32> {
        let lacks = |target| buffers::bound(cx, target) == Ok(0) || buffers::is_locked(cx, target);
        let wrong = |crooked: bool| match crooked {
            true => gl::GL_INVALID_VALUE,
            false => gl::GL_INVALID_OPERATION,
        };
        let is_crooked = self.indirect as usize % 4 != 0;
        if lacks(gl::GL_DRAW_INDIRECT_BUFFER) {
            return Some(wrong(is_crooked));
        }
        let count = self.count.filter(|_| lacks(gl::GL_PARAMETER_BUFFER))?;
        Some(wrong(is_crooked || count % 4 != 0))
    }
}

/// Raises the error of so many draws whose arguments lie so far apart, and says whether there is one.
fn wrong_layout(cx: &mut Context, draws: i32, stride: i32) -> bool {
    let wrong = draws < 0 || stride % 4 != 0;
    if wrong {
        cx.set_error(gl::GL_INVALID_VALUE);
    }
    wrong
}

/// In a compatibility context the arguments are read from the program's memory if no buffer object is bound.
fn indirect_in_memory(cx: &Context) -> bool {
    cx.gl.is_compat() && buffers::bound(cx, gl::GL_DRAW_INDIRECT_BUFFER) == Ok(0)
}

pub unsafe extern "C" fn glDrawArraysIndirect(mode: u32, indirect: Pointer) {
    let Some(cx) = drawing() else { return };
    // SAFETY: in memory, the program gives four words.
    unsafe {
        if indirect_in_memory(cx) {
            let [count, instances, first, base] = indirect.cast::<[u32; 4]>().read_unaligned();
            return glDrawArraysInstancedBaseInstance(
                mode,
                first as i32,
                count as i32,
                instances as i32,
                base,
            );
        }
        let draw = Indirect {
            mode,
            type_: None,
            indirect,
            count: None,
        };
        if !draw.lacks_buffers(cx) {
            cx.enc.gl_draw_arrays_indirect(mode, indirect as u64);
        }
    }
}

pub unsafe extern "C" fn glDrawElementsIndirect(mode: u32, type_: u32, indirect: Pointer) {
    let Some(cx) = drawing() else { return };
    // SAFETY: in memory, the program gives five words.
    unsafe {
        if indirect_in_memory(cx) {
            if cx.gl.arrays.bound.element_buffer == 0 {
                return cx.set_error(gl::GL_INVALID_OPERATION);
            }
            let [count, instances, first, vertex, instance] =
                indirect.cast::<[u32; 5]>().read_unaligned();
            let offset = first as usize * draw_index_bytes(type_).unwrap_or(0);
            return glDrawElementsInstancedBaseVertexBaseInstance(
                mode,
                count as i32,
                type_,
                offset as Pointer,
                instances as i32,
                vertex as i32,
                instance,
            );
        }
        let draw = Indirect {
            mode,
            type_: Some(type_),
            indirect,
            count: None,
        };
        if !draw.lacks_buffers(cx) {
            cx.enc
                .gl_draw_elements_indirect(mode, type_, indirect as u64);
        }
    }
}

pub unsafe extern "C" fn glMultiDrawArraysIndirect(
    mode: u32,
    indirect: Pointer,
    draws: i32,
    stride: i32,
) {
    let Some(cx) = drawing() else { return };
    // SAFETY: in memory, the program gives four words for each draw.
    unsafe {
        if wrong_layout(cx, draws, stride) {
            return;
        }
        if indirect_in_memory(cx) {
            let stride = if stride == 0 { 16 } else { stride as usize };
            for i in 0..usize::try_from(draws).unwrap_or(0) {
                glDrawArraysIndirect(mode, indirect.wrapping_byte_add(i * stride));
            }
            return;
        }
        let draw = Indirect {
            mode,
            type_: None,
            indirect,
            count: None,
        };
        if !draw.lacks_buffers(cx) {
            cx.enc
                .gl_multi_draw_arrays_indirect(mode, indirect as u64, draws, stride);
        }
    }
}

pub unsafe extern "C" fn glMultiDrawElementsIndirect(
    mode: u32,
    type_: u32,
    indirect: Pointer,
    draws: i32,
    stride: i32,
) {
    let Some(cx) = drawing() else { return };
    // SAFETY: in memory, the program gives five words for each draw.
    unsafe {
        if wrong_layout(cx, draws, stride) {
            return;
        }
        if indirect_in_memory(cx) {
            let stride = if stride == 0 { 20 } else { stride as usize };
            for i in 0..usize::try_from(draws).unwrap_or(0) {
                glDrawElementsIndirect(mode, type_, indirect.wrapping_byte_add(i * stride));
            }
            return;
        }
        let draw = Indirect {
            mode,
            type_: Some(type_),
            indirect,
            count: None,
        };
        if !draw.lacks_buffers(cx) {
            cx.enc
                .gl_multi_draw_elements_indirect(mode, type_, indirect as u64, draws, stride);
        }
    }
}

pub unsafe extern "C" fn glMultiDrawArraysIndirectCount(
    mode: u32,
    indirect: Pointer,
    count: i64,
    most: i32,
    stride: i32,
) {
    let Some(cx) = drawing() else { return };
    let draw = Indirect {
        mode,
        type_: None,
        indirect,
        count: Some(count),
    };
    if wrong_layout(cx, most, stride) || draw.lacks_buffers(cx) {
        return;
    }
    // SAFETY: the context's own encoder.
    unsafe {
        cx.enc
            .gl_multi_draw_arrays_indirect_count(mode, indirect as u64, count, most, stride)
    };
}

pub unsafe extern "C" fn glMultiDrawElementsIndirectCount(
    mode: u32,
    type_: u32,
    indirect: Pointer,
    count: i64,
    most: i32,
    stride: i32,
) {
    let Some(cx) = drawing() else { return };
    let draw = Indirect {
        mode,
        type_: Some(type_),
        indirect,
        count: Some(count),
    };
    if wrong_layout(cx, most, stride) || draw.lacks_buffers(cx) {
        return;
    }
    // SAFETY: the context's own encoder.
    unsafe {
        cx.enc.gl_multi_draw_elements_indirect_count(
            mode,
            type_,
            indirect as u64,
            count,
            most,
            stride,
        )
    };
}
