//! Results of queries, written to the program's memory or to the query buffer.

use crate::context::Context;
use crate::current::context;
use crate::gl::buffers::bound;
use mgn_wire::encoder::Encoder;
use mgn_wire::{gl::*, lens, ops, Plain};

/// Types of results, as the stream names them.
const INT64: u32 = GL_INT64_ARB;
const UNSIGNED_INT64: u32 = GL_UNSIGNED_INT64_ARB;

pub unsafe extern "C" fn glGetQueryObjectiv(id: u32, pname: u32, params: *mut i32) {
    // SAFETY: the program gives room for the value, or its offset.
    unsafe {
        result(
            id,
            pname,
            params,
            GL_INT,
            ops::GL_GET_QUERY_OBJECTIV,
            Encoder::gl_get_query_objectiv,
        )
    }
}

pub unsafe extern "C" fn glGetQueryObjectuiv(id: u32, pname: u32, params: *mut u32) {
    // SAFETY: as above.
    unsafe {
        result(
            id,
            pname,
            params,
            GL_UNSIGNED_INT,
            ops::GL_GET_QUERY_OBJECTUIV,
            Encoder::gl_get_query_objectuiv,
        )
    }
}

pub unsafe extern "C" fn glGetQueryObjecti64v(id: u32, pname: u32, params: *mut i64) {
    // SAFETY: as above.
    unsafe {
        result(
            id,
            pname,
            params,
            INT64,
            ops::GL_GET_QUERY_OBJECTI64V,
            Encoder::gl_get_query_objecti64v,
        )
    }
}

pub unsafe extern "C" fn glGetQueryObjectui64v(id: u32, pname: u32, params: *mut u64) {
    // SAFETY: as above.
    unsafe {
        result(
            id,
            pname,
            params,
            UNSIGNED_INT64,
            ops::GL_GET_QUERY_OBJECTUI64V,
            Encoder::gl_get_query_objectui64v,
        )
    }
}

pub unsafe extern "C" fn glGetQueryObjectuivEXT(id: u32, pname: u32, params: *mut u32) {
    // SAFETY: the same command.
    unsafe { glGetQueryObjectuiv(id, pname, params) }
}

/// Whether the result for `pname` must be combined from all renderers of a wall.
fn is_count(pname: u32) -> bool {
    matches!(
        pname,
        GL_QUERY_RESULT | GL_QUERY_RESULT_NO_WAIT | GL_QUERY_RESULT_AVAILABLE
    )
}

/// A result, clamped to the range of its type.
fn fitting(value: u64, kind: u32) -> u64 {
    value.min(match kind {
        GL_INT => i32::MAX as u64,
        GL_UNSIGNED_INT => u32::MAX.into(),
        INT64 => i64::MAX as u64,
        _ => u64::MAX,
    })
}

impl Context {
    /// The query to send for a result that each renderer of a wall writes to its own buffer: it
    /// waits, so that all write the same value.
    fn alike(&self, pname: u32) -> impl Iterator<Item = u32> {
        let is_on_wall = self.session.is_some_and(|s| s.wall().is_some());
        let (first, then) = match pname {
            GL_QUERY_RESULT_NO_WAIT if is_on_wall => (GL_QUERY_RESULT, None),
            GL_QUERY_RESULT_AVAILABLE if is_on_wall => (GL_QUERY_RESULT, Some(pname)),
            _ => (pname, None),
        };
        [Some(first), then].into_iter().flatten()
    }

    /// Writes the sum of all renderers' counts to a buffer at each renderer. Without a name, this
    /// is the bound query buffer.
    ///
    /// # Safety
    /// The encoder can be written to.
    unsafe fn count_to(&mut self, id: u32, pname: u32, kind: u32, buffer: u32, offset: u64) {
        let value = self.counted(id, pname, false).unwrap_or(0);
        let value = fitting(value, kind);
        self.enc
            .mgn_count_to(id, pname, kind, buffer, offset, value);
    }
}

/// Commands that write results to a buffer by its name.
macro_rules! to_buffers {
    ($($name:ident $send:ident $kind:ident;)*) => {$(
        pub unsafe extern "C" fn $name(id: u32, buffer: u32, pname: u32, offset: i64) {
            // SAFETY: the only reference in use, to the thread's own context.
            unsafe {
                let cx = context();
                if cx.gl.in_begin() {
                    return cx.illegal_in_begin();
                }
                if buffer != 0 && cx.gl.objects.counts.is_shared(id) && is_count(pname) {
                    cx.count_to(id, pname, $kind, buffer, offset as u64);
                } else {
                    for pname in cx.alike(pname) {
                        cx.enc.$send(id, buffer, pname, offset);
                    }
                }
                cx.gl.shared.buffers().is_written_unseen(buffer);
            }
        }
    )*};
}

to_buffers! {
    glGetQueryBufferObjectiv gl_get_query_buffer_objectiv GL_INT;
    glGetQueryBufferObjectuiv gl_get_query_buffer_objectuiv GL_UNSIGNED_INT;
    glGetQueryBufferObjecti64v gl_get_query_buffer_objecti64v INT64;
    glGetQueryBufferObjectui64v gl_get_query_buffer_objectui64v UNSIGNED_INT64;
}

/// # Safety
/// `params` is room for a value, or an offset if a buffer is bound for results. Nothing else refers
/// to the thread's context.
unsafe fn result<T: Plain>(
    id: u32,
    pname: u32,
    params: *mut T,
    kind: u32,
    op: u16,
    ask: unsafe fn(&mut Encoder, u32, u32, u32),
) {
    // SAFETY: the caller's promise.
    unsafe {
        let cx: &mut Context = context();
        if cx.gl.in_begin() {
            return cx.illegal_in_begin();
        }
        let is_summed = cx.gl.objects.counts.is_shared(id) && is_count(pname);
        if bound(cx, GL_QUERY_BUFFER).is_ok_and(|buffer| buffer != 0) {
            if is_summed {
                return cx.count_to(id, pname, kind, 0, params as u64);
            }
            for pname in cx.alike(pname) {
                cx.enc.mgn_query_result_to(id, pname, kind, params as u64);
            }
            return;
        }
        if params.is_null() {
            return;
        }
        if is_summed {
            if let Some(value) = cx.counted(id, pname, true) {
                let value = fitting(value, kind).to_le_bytes();
                let room = std::slice::from_raw_parts_mut(params.cast(), size_of::<T>());
                room.copy_from_slice(&value[..size_of::<T>()]);
            }
        } else {
            let n = lens::values(pname);
            ask(&mut cx.enc, id, pname, n as u32);
            cx.answer(op).array(params, n);
        }
        if cx.is_deserted() && pname == GL_QUERY_RESULT_AVAILABLE {
            params.write(T::default());
            params.cast::<u8>().write(1);
        }
    }
}
