//! Results of queries: into the program's memory, or into the buffer that is bound for them.

use crate::context::Context;
use crate::gl::buffers::bound;
use crate::gl::context;
use mgn_wire::encoder::Encoder;
use mgn_wire::{gl::*, lens, ops, Plain};

/// Types of results, as the stream calls them.
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

/// # Safety
/// `params` is room for a value, or an offset if a buffer is bound for results. Nothing else refers to the thread's context.
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
        if bound(cx, GL_QUERY_BUFFER).is_ok_and(|buffer| buffer != 0) {
            return cx.enc.mgn_query_result_to(id, pname, kind, params as u64);
        }
        if params.is_null() {
            return;
        }
        let n = lens::values(pname);
        ask(&mut cx.enc, id, pname, n as u32);
        cx.answer(op).array(params, n);
        if cx.is_deserted() && pname == GL_QUERY_RESULT_AVAILABLE {
            params.write(T::default());
            params.cast::<u8>().write(1);
        }
    }
}
