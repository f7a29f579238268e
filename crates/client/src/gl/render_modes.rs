//! Selection and feedback. The results stay in the server's memory until glRenderMode fetches them.

use crate::context::Context;
use crate::current::context;
use crate::shadow::render_modes::ResultBuffer;
use mgn_wire::gl::*;
use mgn_wire::ops;

pub unsafe extern "C" fn glSelectBuffer(size: i32, buffer: *mut u32) {
    // SAFETY: the only reference in use, to the thread's own context.
    unsafe {
        let cx = context();
        if cx.gl.in_begin() {
            return cx.illegal_in_begin();
        }
        if size < 0 {
            return cx.set_error(GL_INVALID_VALUE);
        }
        if cx.gl.render_modes.mode == GL_SELECT {
            return cx.set_error(GL_INVALID_OPERATION);
        }
        cx.gl.render_modes.selection = ResultBuffer {
            start: buffer,
            words: size,
        };
        cx.enc.gl_select_buffer(size);
    }
}

pub unsafe extern "C" fn glFeedbackBuffer(size: i32, type_: u32, buffer: *mut f32) {
    // SAFETY: as above.
    unsafe {
        let cx = context();
        if cx.gl.in_begin() {
            return cx.illegal_in_begin();
        }
        if cx.gl.render_modes.mode == GL_FEEDBACK {
            return cx.set_error(GL_INVALID_OPERATION);
        }
        if size < 0 {
            return cx.set_error(GL_INVALID_VALUE);
        }
        let modes = &mut cx.gl.render_modes;
        if buffer.is_null() && size > 0 {
            // Mesa drops the previous buffer.
            modes.feedback.words = 0;
            let type_ = modes.feedback_type;
            cx.enc.gl_feedback_buffer(0, type_);
            return cx.set_error(GL_INVALID_VALUE);
        }
        if !matches!(
            type_,
            GL_2D | GL_3D | GL_3D_COLOR | GL_3D_COLOR_TEXTURE | GL_4D_COLOR_TEXTURE
        ) {
            return cx.set_error(GL_INVALID_ENUM);
        }
        modes.feedback_type = type_;
        modes.feedback = ResultBuffer {
            start: buffer.cast(),
            words: size,
        };
        cx.enc.gl_feedback_buffer(size, type_);
    }
}

pub unsafe extern "C" fn glRenderMode(mode: u32) -> i32 {
    // SAFETY: as above; the program lends its buffers until the mode they are for ends.
    unsafe {
        let cx = context();
        if cx.gl.in_begin() {
            return cx.illegal_in_begin();
        }
        change_mode(cx, mode)
    }
}

/// # Safety
/// The program's memory for the mode that ends is still valid.
unsafe fn change_mode(cx: &mut Context, mode: u32) -> i32 {
    let place = cx.gl.render_modes.place();
    let words = if place.start.is_null() {
        0
    } else {
        place.words as u32
    };
    let mut result = [0, cx.gl.render_modes.mode as i32];
    // SAFETY: the context's own encoder; there is room for two integers, and the caller's promise.
    unsafe {
        cx.enc.gl_render_mode(mode, result.len() as u32, words);
        let mut answer = cx.answer(ops::GL_RENDER_MODE);
        answer.array(result.as_mut_ptr(), result.len());
        answer.array(place.start, words as usize);
    }
    cx.gl.render_modes.mode = result[1] as u32;
    let _ = cx.gl.state.gl_render_mode(mode);
    cx.gl.state.learn_integers(GL_RENDER_MODE, &result[1..]);
    result[0]
}
