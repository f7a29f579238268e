//! Queries of buffer objects.

use super::bindings::required;
use crate::context::Context;
use crate::current::context;
use crate::shadow::buffers::object::BufferObject;
use mgn_wire::{gl::*, ops};

pub unsafe extern "C" fn glGetBufferParameteriv(target: u32, pname: u32, params: *mut i32) {
    // SAFETY: the program gives room for the value; the only reference in use.
    unsafe {
        let cx = context();
        let Some(value) = local_parameter(cx, target, pname) else {
            return;
        };
        if let Some(value) = value {
            if !params.is_null() {
                params.write(value as i32);
            }
            return;
        }
        cx.enc
            .gl_get_buffer_parameteriv(target, pname, u32::from(!params.is_null()));
        cx.answer(ops::GL_GET_BUFFER_PARAMETERIV).array(params, 1);
    }
}

pub unsafe extern "C" fn glGetBufferParameteri64v(target: u32, pname: u32, params: *mut i64) {
    // SAFETY: as above.
    unsafe {
        let cx = context();
        let Some(value) = local_parameter(cx, target, pname) else {
            return;
        };
        if let Some(value) = value {
            if !params.is_null() {
                params.write(value);
            }
            return;
        }
        cx.enc
            .gl_get_buffer_parameteri64v(target, pname, u32::from(!params.is_null()));
        cx.answer(ops::GL_GET_BUFFER_PARAMETERI64V).array(params, 1);
    }
}

/// A parameter of the buffer bound to `target`; the inner option is none if the client does not
/// know it. Returns `None` if it raised an error.
fn local_parameter(cx: &mut Context, target: u32, pname: u32) -> Option<Option<i64>> {
    if cx.gl.in_begin() {
        return cx.illegal_in_begin();
    }
    let buffer = required(cx, target)?;
    let is_es = cx.gl.objects.limits.is_es();
    let value = cx
        .gl
        .shared
        .buffers()
        .get(buffer)
        .and_then(|object| parameter(object, pname, is_es));
    Some(value)
}

fn parameter(object: &BufferObject, pname: u32, is_es: bool) -> Option<i64> {
    let mapping = object.mapping.as_ref();
    Some(match pname {
        GL_BUFFER_SIZE => object.size,
        GL_BUFFER_USAGE => object.usage.into(),
        GL_BUFFER_IMMUTABLE_STORAGE => object.storage.is_some().into(),
        GL_BUFFER_STORAGE_FLAGS => object.storage?.into(),
        GL_BUFFER_ACCESS => object.access(is_es).into(),
        GL_BUFFER_ACCESS_FLAGS => mapping.map_or(0, |m| m.access).into(),
        GL_BUFFER_MAPPED => mapping.is_some().into(),
        GL_BUFFER_MAP_OFFSET => mapping.map_or(0, |m| m.offset),
        GL_BUFFER_MAP_LENGTH => mapping.map_or(0, |m| m.length),
        _ => return None,
    })
}
