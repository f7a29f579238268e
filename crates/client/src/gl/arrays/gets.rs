//! What a program may ask about vertex arrays, answered here.

use super::entries::generic_slot;
use super::Arrays;
use crate::context::Context;
use crate::current::context;
use core::ffi::c_void;
use mgn_wire::draws::{attr, Kind};
use mgn_wire::{gl, ops};

/// What is asked of an array.
enum Of {
    Enabled,
    Size,
    Type,
    Stride,
    Buffer,
}

impl Arrays {
    /// The value of a glGetIntegerv name about vertex arrays, in OpenGL or in OpenGL ES 1.
    pub fn get(&self, pname: u32, es1: bool) -> Option<i64> {
        use gl::*;
        let texture = attr::TEXCOORD + (self.client_unit & 7) as u8;
        let (slot, of) = match pname {
            GL_VERTEX_ARRAY_BINDING => return Some(self.name().into()),
            GL_ELEMENT_ARRAY_BUFFER_BINDING => return Some(self.element_buffer().into()),
            GL_CLIENT_ACTIVE_TEXTURE => return Some((GL_TEXTURE0 + self.client_unit).into()),
            GL_VERTEX_ARRAY => (attr::POSITION, Of::Enabled),
            GL_VERTEX_ARRAY_SIZE => (attr::POSITION, Of::Size),
            GL_VERTEX_ARRAY_TYPE => (attr::POSITION, Of::Type),
            GL_VERTEX_ARRAY_STRIDE => (attr::POSITION, Of::Stride),
            GL_VERTEX_ARRAY_BUFFER_BINDING => (attr::POSITION, Of::Buffer),
            GL_NORMAL_ARRAY => (attr::NORMAL, Of::Enabled),
            GL_NORMAL_ARRAY_TYPE => (attr::NORMAL, Of::Type),
            GL_NORMAL_ARRAY_STRIDE => (attr::NORMAL, Of::Stride),
            GL_NORMAL_ARRAY_BUFFER_BINDING => (attr::NORMAL, Of::Buffer),
            GL_COLOR_ARRAY => (attr::COLOR, Of::Enabled),
            GL_COLOR_ARRAY_SIZE => (attr::COLOR, Of::Size),
            GL_COLOR_ARRAY_TYPE => (attr::COLOR, Of::Type),
            GL_COLOR_ARRAY_STRIDE => (attr::COLOR, Of::Stride),
            GL_COLOR_ARRAY_BUFFER_BINDING => (attr::COLOR, Of::Buffer),
            GL_SECONDARY_COLOR_ARRAY => (attr::SECONDARY, Of::Enabled),
            GL_SECONDARY_COLOR_ARRAY_SIZE => (attr::SECONDARY, Of::Size),
            GL_SECONDARY_COLOR_ARRAY_TYPE => (attr::SECONDARY, Of::Type),
            GL_SECONDARY_COLOR_ARRAY_STRIDE => (attr::SECONDARY, Of::Stride),
            GL_SECONDARY_COLOR_ARRAY_BUFFER_BINDING => (attr::SECONDARY, Of::Buffer),
            GL_FOG_COORD_ARRAY => (attr::FOG, Of::Enabled),
            GL_FOG_COORD_ARRAY_TYPE => (attr::FOG, Of::Type),
            GL_FOG_COORD_ARRAY_STRIDE => (attr::FOG, Of::Stride),
            GL_FOG_COORD_ARRAY_BUFFER_BINDING => (attr::FOG, Of::Buffer),
            GL_INDEX_ARRAY => (attr::INDEX, Of::Enabled),
            GL_INDEX_ARRAY_TYPE => (attr::INDEX, Of::Type),
            GL_INDEX_ARRAY_STRIDE => (attr::INDEX, Of::Stride),
            GL_INDEX_ARRAY_BUFFER_BINDING => (attr::INDEX, Of::Buffer),
            GL_EDGE_FLAG_ARRAY => (attr::EDGE_FLAG, Of::Enabled),
            GL_EDGE_FLAG_ARRAY_STRIDE => (attr::EDGE_FLAG, Of::Stride),
            GL_EDGE_FLAG_ARRAY_BUFFER_BINDING => (attr::EDGE_FLAG, Of::Buffer),
            GL_POINT_SIZE_ARRAY_OES => (attr::POINT_SIZE, Of::Enabled),
            GL_POINT_SIZE_ARRAY_TYPE_OES => (attr::POINT_SIZE, Of::Type),
            GL_POINT_SIZE_ARRAY_STRIDE_OES => (attr::POINT_SIZE, Of::Stride),
            GL_POINT_SIZE_ARRAY_BUFFER_BINDING_OES => (attr::POINT_SIZE, Of::Buffer),
            GL_TEXTURE_COORD_ARRAY => (texture, Of::Enabled),
            GL_TEXTURE_COORD_ARRAY_SIZE => (texture, Of::Size),
            GL_TEXTURE_COORD_ARRAY_TYPE => (texture, Of::Type),
            GL_TEXTURE_COORD_ARRAY_STRIDE => (texture, Of::Stride),
            GL_TEXTURE_COORD_ARRAY_BUFFER_BINDING => (texture, Of::Buffer),
            _ => return None,
        };
        exists(slot, es1).then(|| self.of(usize::from(slot), of))
    }

    fn of(&self, slot: usize, of: Of) -> i64 {
        let format = &self.bound.formats[slot];
        match of {
            Of::Enabled => i64::from(self.bound.enabled >> slot & 1),
            Of::Size => format.size.into(),
            Of::Type => format.type_.into(),
            Of::Stride => format.given_stride.into(),
            Of::Buffer => self.bound.binding(slot).buffer.into(),
        }
    }

    fn pointer(&self, slot: u8) -> *mut c_void {
        self.bound.formats[usize::from(slot)].pointer as *mut c_void
    }
}

/// Whether there is such an array of the fixed functions in OpenGL, or in OpenGL ES 1.
pub(super) fn exists(slot: u8, es1: bool) -> bool {
    match slot {
        attr::POINT_SIZE => es1,
        attr::SECONDARY | attr::FOG | attr::INDEX | attr::EDGE_FLAG => !es1,
        _ => true,
    }
}

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

/// A parameter of a generic attribute; none for its current value, and for what isn't a parameter.
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

/// glGetVertexAttrib*: parameters are known; a current value may have to be asked for.
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
