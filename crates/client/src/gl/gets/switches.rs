//! glIsEnabled, and commands whose main effect is on the results of gets: the attribute stack, and
//! the draw and read buffers.

use crate::current::context;
use crate::gl::tracked::{values, Tracked};
use mgn_wire::gl::*;
use mgn_wire::ops;

pub unsafe extern "C" fn glIsEnabled(cap: u32) -> u8 {
    // SAFETY: the only reference in use, to the thread's own context.
    unsafe {
        let cx = context();
        if cx.is_illegal_now() {
            return cx.illegal_in_begin();
        }
        if let Some(on) = cx.gl.state.is_enabled(cap) {
            return on.into();
        }
        if let Some(on) = is_client_state(cap)
            .then(|| cx.gl.arrays.get(cap, cx.gl.is_es1()))
            .flatten()
            .filter(|_| cx.gl.has_fixed_function())
        {
            return u8::from(on != 0);
        }
        cx.enc.gl_is_enabled(cap);
        cx.answer(ops::GL_IS_ENABLED).value()
    }
}

/// Whether a capability is an array of the fixed function.
fn is_client_state(cap: u32) -> bool {
    matches!(
        cap,
        GL_VERTEX_ARRAY
            | GL_NORMAL_ARRAY
            | GL_COLOR_ARRAY
            | GL_INDEX_ARRAY
            | GL_TEXTURE_COORD_ARRAY
            | GL_EDGE_FLAG_ARRAY
            | GL_FOG_COORD_ARRAY
            | GL_SECONDARY_COLOR_ARRAY
            | GL_POINT_SIZE_ARRAY_OES
    )
}

pub unsafe extern "C" fn glPushAttrib(mask: u32) {
    // SAFETY: as above.
    unsafe {
        let cx = context();
        if cx.gl.in_begin() {
            return cx.illegal_in_begin();
        }
        let before = cx.before_judged();
        if let Some(error) = cx.gl.state.gl_push_attrib(mask).refusal() {
            if !cx.leaves_errors() {
                return cx.set_error(error);
            }
            cx.gl.state.doubt();
        }
        cx.enc.gl_push_attrib(mask);
        cx.judged(before);
    }
}

pub unsafe extern "C" fn glPopAttrib() {
    // SAFETY: as above.
    unsafe {
        let cx = context();
        if cx.gl.in_begin() {
            return cx.illegal_in_begin();
        }
        let before = cx.before_judged();
        if let Some(error) = cx.gl.state.gl_pop_attrib().refusal() {
            if !cx.leaves_errors() {
                return cx.set_error(error);
            }
            cx.gl.state.doubt();
        }
        cx.enc.gl_pop_attrib();
        cx.judged(before);
    }
}

pub unsafe extern "C" fn glDrawBuffer(buffer: u32) {
    // SAFETY: as above.
    unsafe {
        let cx = context();
        if cx.gl.in_begin() {
            return cx.illegal_in_begin();
        }
        let before = cx.before_judged();
        if let Some(error) = cx.gl.state.gl_draw_buffer(buffer).refusal() {
            if !cx.leaves_errors() {
                return cx.set_error(error);
            }
            cx.gl.state.doubt();
        }
        cx.enc.gl_draw_buffer(buffer);
        cx.judged(before);
    }
}

pub unsafe extern "C" fn glDrawBuffers(n: i32, buffers: *const u32) {
    // SAFETY: as above; the program gives `n` buffers.
    unsafe {
        let cx = context();
        if cx.gl.in_begin() {
            return cx.illegal_in_begin();
        }
        let buffers = values(buffers, mgn_wire::lens::times(n.into(), 1));
        let before = cx.before_judged();
        if let Some(error) = cx.gl.state.gl_draw_buffers(n, buffers).refusal() {
            if !cx.leaves_errors() {
                return cx.set_error(error);
            }
            cx.gl.state.doubt();
        }
        cx.enc.gl_draw_buffers(n, (buffers.as_ptr(), buffers.len()));
        cx.judged(before);
    }
}

pub unsafe extern "C" fn glReadBuffer(buffer: u32) {
    // SAFETY: as above.
    unsafe {
        let cx = context();
        if cx.gl.in_begin() {
            return cx.illegal_in_begin();
        }
        let before = cx.before_judged();
        if let Some(error) = cx.gl.state.gl_read_buffer(buffer).refusal() {
            if !cx.leaves_errors() {
                return cx.set_error(error);
            }
            cx.gl.state.doubt();
        }
        cx.enc.gl_read_buffer(buffer);
        cx.judged(before);
    }
}
