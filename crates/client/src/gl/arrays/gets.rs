//! Queries of vertex arrays, which are answered here.

use super::entries::generic_slot;
use crate::context::Context;
use crate::current::context;
use crate::shadow::arrays::gets::exists;
use core::ffi::c_void;
use mgn_wire::draws::{attr, Kind};
use mgn_wire::{gl, ops};

pub unsafe extern "C" fn glGetPointerv(pname: u32, params: *mut *mut c_void) {
    // SAFETY: the only reference in use; the program gives room for a pointer.
    unsafe {
        let cx = context();
        if cx.gl.in_begin() {
            return cx.illegal_in_begin();
        }
        let slot = match pname {
            gl::GL_VERTEX_ARRAY_POINTER => attr::POSITION,
            gl::GL_NORMAL_ARRAY_POINTER => attr::NORMAL,
            gl::GL_COLOR_ARRAY_POINTER => attr::COLOR,
            gl::GL_SECONDARY_COLOR_ARRAY_POINTER => attr::SECONDARY,
            gl::GL_FOG_COORD_ARRAY_POINTER => attr::FOG,
            gl::GL_INDEX_ARRAY_POINTER => attr::INDEX,
            gl::GL_EDGE_FLAG_ARRAY_POINTER => attr::EDGE_FLAG,
            gl::GL_POINT_SIZE_ARRAY_POINTER_OES => attr::POINT_SIZE,
            gl::GL_TEXTURE_COORD_ARRAY_POINTER => {
                attr::TEXCOORD + (cx.gl.arrays.client_unit & 7) as u8
            }
            gl::GL_FEEDBACK_BUFFER_POINTER | gl::GL_SELECTION_BUFFER_POINTER if !cx.gl.is_es1() => {
                params.write(cx.gl.render_modes.pointer(pname));
                return;
            }
            gl::GL_DEBUG_CALLBACK_FUNCTION | gl::GL_DEBUG_CALLBACK_USER_PARAM => {
                params.write(cx.gl.debug.pointer(pname));
                return;
            }
            _ => return cx.set_error(gl::GL_INVALID_ENUM),
        };
        if !exists(slot, cx.gl.is_es1()) {
            return cx.set_error(gl::GL_INVALID_ENUM);
        }
        params.write(cx.gl.arrays.pointer(slot));
    }
}

pub unsafe extern "C" fn glGetVertexAttribPointerv(
    index: u32,
    pname: u32,
    pointer: *mut *mut c_void,
) {
    // SAFETY: as above.
    unsafe {
        let cx = context();
        let Some(slot) = generic_slot(cx, index) else {
            return;
        };
        if pname != gl::GL_VERTEX_ATTRIB_ARRAY_POINTER {
            return cx.set_error(gl::GL_INVALID_ENUM);
        }
        pointer.write(cx.gl.arrays.pointer(slot));
    }
}

/// A parameter of a generic attribute; none for its current value, and for names that are no
/// parameter.
pub(super) fn parameter(cx: &mut Context, index: u32, pname: u32) -> Option<i64> {
    let slot = generic_slot(cx, index)?;
    let slot = usize::from(slot);
    let array = &cx.gl.arrays.bound;
    let format = &array.formats[slot];
    Some(match pname {
        gl::GL_VERTEX_ATTRIB_ARRAY_ENABLED => i64::from(array.enabled >> slot & 1),
        gl::GL_VERTEX_ATTRIB_ARRAY_SIZE => format.size.into(),
        gl::GL_VERTEX_ATTRIB_ARRAY_STRIDE => format.given_stride.into(),
        gl::GL_VERTEX_ATTRIB_ARRAY_TYPE => format.type_.into(),
        gl::GL_VERTEX_ATTRIB_ARRAY_NORMALIZED => format.normalized.into(),
        gl::GL_VERTEX_ATTRIB_ARRAY_INTEGER => i64::from(format.kind == Kind::Integer),
        gl::GL_VERTEX_ATTRIB_ARRAY_LONG => i64::from(format.kind == Kind::Long),
        gl::GL_VERTEX_ATTRIB_ARRAY_DIVISOR => array.binding(slot).divisor.into(),
        gl::GL_VERTEX_ATTRIB_ARRAY_BUFFER_BINDING => array.binding(slot).buffer.into(),
        gl::GL_VERTEX_ATTRIB_BINDING => i64::from(format.binding - attr::GENERIC),
        gl::GL_VERTEX_ATTRIB_RELATIVE_OFFSET => format.relative_offset.into(),
        gl::GL_CURRENT_VERTEX_ATTRIB => return None,
        _ => {
            cx.set_error(gl::GL_INVALID_ENUM);
            return None;
        }
    })
}

/// glGetVertexAttrib*: parameters are known here, but the server may have to be asked for a current
/// value.
macro_rules! gets {
    ($($name:ident: $type:ty, $encode:ident, $op:ident;)*) => {
        $(pub unsafe extern "C" fn $name(index: u32, pname: u32, params: *mut $type) {
            // SAFETY: the only reference in use; the program gives room for the values.
            unsafe {
                let cx = context();
                if cx.gl.in_begin() {
                    return cx.illegal_in_begin();
                }
                if let Some(value) = parameter(cx, index, pname) {
                    params.write(value as $type);
                } else if pname == gl::GL_CURRENT_VERTEX_ATTRIB && index < 16 {
                    cx.enc.$encode(index, pname, 4);
                    cx.answer(ops::$op).array(params, 4);
                }
            }
        })*
    };
}

gets! {
    glGetVertexAttribfv: f32, gl_get_vertex_attribfv, GL_GET_VERTEX_ATTRIBFV;
    glGetVertexAttribdv: f64, gl_get_vertex_attribdv, GL_GET_VERTEX_ATTRIBDV;
    glGetVertexAttribiv: i32, gl_get_vertex_attribiv, GL_GET_VERTEX_ATTRIBIV;
    glGetVertexAttribIiv: i32, gl_get_vertex_attrib_iiv, GL_GET_VERTEX_ATTRIB_IIV;
    glGetVertexAttribLdv: f64, gl_get_vertex_attrib_ldv, GL_GET_VERTEX_ATTRIB_LDV;
    glGetVertexAttribIuiv: u32, gl_get_vertex_attrib_iuiv, GL_GET_VERTEX_ATTRIB_IUIV;
}
