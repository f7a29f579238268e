//! Indirect draws, whose arguments lie in a buffer object.

use super::elements::{
    drawing_unlisted, glDrawArraysInstancedBaseInstance,
    glDrawElementsInstancedBaseVertexBaseInstance,
};
use crate::context::Context;
use crate::gl::buffers;
use core::ffi::c_void;
use mgn_wire::gl;
use mgn_wire::sizes::image::draw_index_bytes;

type Pointer = *const c_void;

/// The arguments of an indirect draw that matter for its errors.
struct Indirect {
    mode: u32,
    /// The type of the indices, if the draw has any.
    type_: Option<u32>,
    indirect: Pointer,
    /// The offset of the number of draws in the parameter buffer.
    count: Option<i64>,
}

impl Indirect {
    /// Raises the error of a draw that lacks a buffer object or whose commands are mapped, which
    /// the driver does not know. Returns whether there is an error.
    fn lacks_buffers(&self, cx: &mut Context) -> bool {
        // Checked in the driver's order.
        if let Some(error) = self.error_of_arrays(cx) {
            cx.set_error(error);
            return true;
        }
        let Some(error) = self.error_of_commands(cx) else {
            return false;
        };
        // The mode and the state that it needs are checked in between.
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
        // For OpenGL ES, the server binds another object than the default one, and hides arrays
        // without memory.
        let is_default = !cx.gl.is_compat() && arrays.name() == 0;
        let lies_nowhere = !cx.gl.is_desktop() && arrays.needs_client_memory();
        (is_default || lies_nowhere).then_some(gl::GL_INVALID_OPERATION)
    }

    /// An error of these commands that the driver would not find. The driver may find it too, if
    /// the code is the same.
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

/// Raises the error of `draws` draws whose arguments lie `stride` bytes apart. Returns whether
/// there is an error.
fn wrong_layout(cx: &mut Context, draws: i32, stride: i32) -> bool {
    let wrong = draws < 0 || stride % 4 != 0;
    if wrong {
        cx.set_error(gl::GL_INVALID_VALUE);
    }
    wrong
}

/// One draw of arrays, from its arguments in memory.
unsafe fn draw_arrays(mode: u32, [count, instances, first, base]: [u32; 4]) {
    // SAFETY: nothing refers to the thread's context.
    unsafe {
        glDrawArraysInstancedBaseInstance(mode, first as i32, count as i32, instances as i32, base);
    }
}

/// One draw of elements, with indices in the bound buffer.
unsafe fn draw_elements(
    mode: u32,
    type_: u32,
    [count, instances, first, vertex, instance]: [u32; 5],
) {
    let offset = first as usize * draw_index_bytes(type_).unwrap_or(0);
    // SAFETY: nothing refers to the thread's context.
    unsafe {
        glDrawElementsInstancedBaseVertexBaseInstance(
            mode,
            count as i32,
            type_,
            offset as Pointer,
            instances as i32,
            vertex as i32,
            instance,
        );
    }
}

/// Draws whose arguments lie in a buffer object and whose arrays lie in the program's memory. Only
/// a compatibility context allows that. The arguments are fetched, and the draws are sent one by
/// one. Returns whether they were sent: invalid draws are left to the driver.
///
/// # Safety
/// The program's arrays have the elements that are drawn. Nothing but `cx` refers to the thread's
/// context, and the caller does not use it after this has returned true.
unsafe fn draw_fetched(cx: &mut Context, draw: &Indirect, draws: i32, stride: i32) -> bool {
    if !cx.gl.arrays.needs_client_memory() || !cx.gl.is_compat() || draw.mode > gl::GL_PATCHES {
        return false;
    }
    if draw.type_.is_some_and(|t| draw_index_bytes(t).is_none()) {
        return false;
    }
    let Some(arguments) = fetch_arguments(cx, draw, draws, stride) else {
        return false;
    };
    for [a, b, c, d, e] in arguments {
        // SAFETY: the caller's promise; `cx` is not used any more.
        unsafe {
            match draw.type_ {
                Some(type_) => draw_elements(draw.mode, type_, [a, b, c, d, e]),
                None => draw_arrays(draw.mode, [a, b, c, d]),
            }
        }
    }
    true
}

/// The arguments of each draw; the fifth one is 0 for a draw without indices. None if the buffers
/// do not contain all of them.
fn fetch_arguments(
    cx: &mut Context,
    draw: &Indirect,
    draws: i32,
    stride: i32,
) -> Option<Vec<[u32; 5]>> {
    let word = |bytes: &[u8]| bytes.try_into().map_or(0, u32::from_ne_bytes);
    let mut draws = usize::try_from(draws).ok()?;
    if let Some(at) = draw.count {
        let buffer = buffers::bound(cx, gl::GL_PARAMETER_BUFFER).ok()?;
        let count = word(&cx.buffer_bytes(buffer, at, 4)?);
        draws = draws.min(count as usize);
    }
    let one = if draw.type_.is_some() { 20 } else { 16 };
    let stride = match usize::try_from(stride).ok()? {
        0 => one,
        stride => stride,
    };
    let offset = i64::try_from(draw.indirect as usize).ok()?;
    if draws == 0 || offset % 4 != 0 {
        return (offset % 4 == 0).then(Vec::new);
    }
    let bytes = (draws - 1).checked_mul(stride)?.checked_add(one)?;
    let buffer = buffers::bound(cx, gl::GL_DRAW_INDIRECT_BUFFER).ok()?;
    let bytes = cx.buffer_bytes(buffer, offset, bytes)?;
    let arguments = |draw: usize| {
        let words = &bytes[draw * stride..][..one];
        let mut words = words.chunks_exact(4).map(word);
        std::array::from_fn(|_| words.next().unwrap_or(0))
    };
    Some((0..draws).map(arguments).collect())
}

/// In a compatibility context the arguments are read from the program's memory if no buffer object
/// is bound.
fn indirect_in_memory(cx: &Context) -> bool {
    cx.gl.is_compat() && buffers::bound(cx, gl::GL_DRAW_INDIRECT_BUFFER) == Ok(0)
}

pub unsafe extern "C" fn glDrawArraysIndirect(mode: u32, indirect: Pointer) {
    let Some(cx) = drawing_unlisted() else { return };
    // SAFETY: in memory, the program gives four words.
    unsafe {
        if indirect_in_memory(cx) {
            return draw_arrays(mode, indirect.cast::<[u32; 4]>().read_unaligned());
        }
        let draw = Indirect {
            mode,
            type_: None,
            indirect,
            count: None,
        };
        if !draw.lacks_buffers(cx) && !draw_fetched(cx, &draw, 1, 0) {
            cx.enc.gl_draw_arrays_indirect(mode, indirect as u64);
        }
    }
}

pub unsafe extern "C" fn glDrawElementsIndirect(mode: u32, type_: u32, indirect: Pointer) {
    let Some(cx) = drawing_unlisted() else { return };
    // SAFETY: in memory, the program gives five words.
    unsafe {
        if indirect_in_memory(cx) {
            if cx.gl.arrays.bound.element_buffer == 0 {
                return cx.set_error(gl::GL_INVALID_OPERATION);
            }
            let arguments = indirect.cast::<[u32; 5]>().read_unaligned();
            return draw_elements(mode, type_, arguments);
        }
        let draw = Indirect {
            mode,
            type_: Some(type_),
            indirect,
            count: None,
        };
        if !draw.lacks_buffers(cx) && !draw_fetched(cx, &draw, 1, 0) {
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
    let Some(cx) = drawing_unlisted() else { return };
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
        if !draw.lacks_buffers(cx) && !draw_fetched(cx, &draw, draws, stride) {
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
    let Some(cx) = drawing_unlisted() else { return };
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
        if !draw.lacks_buffers(cx) && !draw_fetched(cx, &draw, draws, stride) {
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
    let Some(cx) = drawing_unlisted() else { return };
    let draw = Indirect {
        mode,
        type_: None,
        indirect,
        count: Some(count),
    };
    if wrong_layout(cx, most, stride) || draw.lacks_buffers(cx) {
        return;
    }
    // SAFETY: the program's arrays; the context's own encoder.
    unsafe {
        if draw_fetched(cx, &draw, most, stride) {
            return;
        }
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
    let Some(cx) = drawing_unlisted() else { return };
    let draw = Indirect {
        mode,
        type_: Some(type_),
        indirect,
        count: Some(count),
    };
    if wrong_layout(cx, most, stride) || draw.lacks_buffers(cx) {
        return;
    }
    // SAFETY: the program's arrays; the context's own encoder.
    unsafe {
        if draw_fetched(cx, &draw, most, stride) {
            return;
        }
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
