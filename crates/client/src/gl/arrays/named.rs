//! Commands that name a vertex array object. The object is bound for a moment, here and on the
//! server, and the command for the bound object is used. So the server gets no commands by name.

use super::{entries::*, gets::*, objects::*};
use crate::context::Context;
use crate::current::context;
use crate::gl::buffers::{bind, exists, glBindBuffer, make};
use crate::shadow::arrays::vertex_array::Binding;
use core::ffi::c_void;
use mgn_wire::draws::attr;
use mgn_wire::gl::*;

/// Which objects a command may name.
#[derive(Clone, Copy, PartialEq)]
enum Which {
    /// Objects that exist. 0 is the default object, if there is one.
    Existing,
    /// EXT_direct_state_access: generated names. The command creates the object.
    Generated,
}

/// Runs `work` while the object is bound. Raises an error if the command does not accept the name.
///
/// # Safety
/// Nothing refers to the thread's context.
unsafe fn with(name: u32, which: Which, work: impl FnOnce()) {
    // SAFETY: the only reference in use, which ends before others begin.
    let bound = unsafe {
        let cx = context();
        if cx.gl.in_begin() {
            return cx.illegal_in_begin();
        }
        let may = match which {
            Which::Existing if name == 0 => cx.gl.api != mgn_wire::hello::api::CORE,
            Which::Existing => cx.gl.arrays.exists(name),
            Which::Generated => cx.gl.own.vertex_arrays.is_taken(name),
        };
        if !may {
            return cx.set_error(GL_INVALID_OPERATION);
        }
        cx.gl.arrays.name()
    };
    // SAFETY: as above.
    unsafe {
        if bound == name {
            return work();
        }
        glBindVertexArray(name);
        work();
        glBindVertexArray(bound);
    }
}

/// Commands that become another command on the bound object.
macro_rules! named {
    ($($name:ident($($arg:ident: $ty:ty),*) = $which:ident $bound:ident;)*) => {$(
        pub unsafe extern "C" fn $name(object: u32, $($arg: $ty),*) {
            // SAFETY: nothing refers to the thread's context; the program's arguments.
            unsafe { with(object, Which::$which, || $bound($($arg),*)) }
        }
    )*};
}

named! {
    glEnableVertexArrayAttrib(index: u32) = Existing glEnableVertexAttribArray;
    glDisableVertexArrayAttrib(index: u32) = Existing glDisableVertexAttribArray;
    glVertexArrayElementBuffer(buffer: u32) = Existing element_buffer;
    glVertexArrayVertexBuffer(binding: u32, buffer: u32, offset: i64, stride: i32) = Existing glBindVertexBuffer;
    glVertexArrayVertexBuffers(first: u32, count: i32, buffers: *const u32, offsets: *const i64, strides: *const i32) = Existing glBindVertexBuffers;
    glVertexArrayAttribFormat(index: u32, size: i32, kind: u32, normalized: u8, offset: u32) = Existing glVertexAttribFormat;
    glVertexArrayAttribIFormat(index: u32, size: i32, kind: u32, offset: u32) = Existing glVertexAttribIFormat;
    glVertexArrayAttribLFormat(index: u32, size: i32, kind: u32, offset: u32) = Existing glVertexAttribLFormat;
    glVertexArrayAttribBinding(index: u32, binding: u32) = Existing glVertexAttribBinding;
    glVertexArrayBindingDivisor(binding: u32, divisor: u32) = Existing glVertexBindingDivisor;
    glEnableVertexArrayAttribEXT(index: u32) = Generated glEnableVertexAttribArray;
    glDisableVertexArrayAttribEXT(index: u32) = Generated glDisableVertexAttribArray;
    glEnableVertexArrayEXT(array: u32) = Generated enable;
    glDisableVertexArrayEXT(array: u32) = Generated disable;
    glVertexArrayBindVertexBufferEXT(binding: u32, buffer: u32, offset: i64, stride: i32) = Generated glBindVertexBuffer;
    glVertexArrayVertexAttribFormatEXT(index: u32, size: i32, kind: u32, normalized: u8, offset: u32) = Generated glVertexAttribFormat;
    glVertexArrayVertexAttribIFormatEXT(index: u32, size: i32, kind: u32, offset: u32) = Generated glVertexAttribIFormat;
    glVertexArrayVertexAttribLFormatEXT(index: u32, size: i32, kind: u32, offset: u32) = Generated glVertexAttribLFormat;
    glVertexArrayVertexAttribBindingEXT(index: u32, binding: u32) = Generated glVertexAttribBinding;
    glVertexArrayVertexBindingDivisorEXT(binding: u32, divisor: u32) = Generated glVertexBindingDivisor;
    glVertexArrayVertexAttribDivisorEXT(index: u32, divisor: u32) = Existing glVertexAttribDivisor;
    glGetVertexArrayiv(pname: u32, param: *mut i32) = Existing element_buffer_binding;
    glGetVertexArrayIndexediv(index: u32, pname: u32, param: *mut i32) = Existing indexed;
    glGetVertexArrayIndexed64iv(index: u32, pname: u32, param: *mut i64) = Existing binding_offset;
    glGetVertexArrayIntegervEXT(pname: u32, param: *mut i32) = Generated integer;
    glGetVertexArrayPointervEXT(pname: u32, param: *mut *mut c_void) = Generated fixed_pointer;
    glGetVertexArrayIntegeri_vEXT(index: u32, pname: u32, param: *mut i32) = Generated integer_of;
    glGetVertexArrayPointeri_vEXT(index: u32, pname: u32, param: *mut *mut c_void) = Generated pointer_of;
}

unsafe fn element_buffer(buffer: u32) {
    // SAFETY: the only reference in use.
    let cx = unsafe { context() };
    if buffer != 0 && !exists(cx, buffer) {
        return cx.set_error(GL_INVALID_OPERATION);
    }
    bind(cx, GL_ELEMENT_ARRAY_BUFFER, buffer);
}

unsafe fn element_buffer_binding(pname: u32, param: *mut i32) {
    // SAFETY: the only reference in use; the program gives room for the value.
    unsafe {
        let cx = context();
        if pname != GL_ELEMENT_ARRAY_BUFFER_BINDING {
            return cx.set_error(GL_INVALID_ENUM);
        }
        param.write(cx.gl.arrays.element_buffer() as i32);
    }
}

/// The binding point of generic attributes, or GL_INVALID_VALUE.
fn binding_point(cx: &mut Context, index: u32) -> Option<Binding> {
    let slot = generic_slot(cx, index)?;
    Some(cx.gl.arrays.bound.bindings[usize::from(slot)])
}

unsafe fn indexed(index: u32, pname: u32, param: *mut i32) {
    // SAFETY: the only reference in use; the program gives room for the value.
    unsafe {
        let cx = context();
        let of_binding = |binding: Binding| match pname {
            GL_VERTEX_BINDING_OFFSET => binding.offset as i32,
            GL_VERTEX_BINDING_STRIDE => binding.stride as i32,
            GL_VERTEX_BINDING_DIVISOR => binding.divisor as i32,
            _ => binding.buffer as i32,
        };
        match pname {
            GL_VERTEX_BINDING_OFFSET
            | GL_VERTEX_BINDING_STRIDE
            | GL_VERTEX_BINDING_DIVISOR
            | GL_VERTEX_BINDING_BUFFER => {
                if let Some(binding) = binding_point(cx, index) {
                    param.write(of_binding(binding));
                }
            }
            _ => param.write(attribute(cx, index, pname)),
        }
    }
}

/// A parameter of a generic attribute; 0 with an error, as in Mesa.
fn attribute(cx: &mut Context, index: u32, pname: u32) -> i32 {
    if pname == GL_CURRENT_VERTEX_ATTRIB {
        let error = match generic_slot(cx, index) {
            Some(_) => GL_INVALID_ENUM,
            None => return 0,
        };
        return cx.fail(error);
    }
    parameter(cx, index, pname).map_or(0, |value| value as i32)
}

unsafe fn binding_offset(index: u32, pname: u32, param: *mut i64) {
    // SAFETY: the only reference in use; the program gives room for the value.
    unsafe {
        let cx = context();
        if pname != GL_VERTEX_BINDING_OFFSET {
            return cx.set_error(GL_INVALID_ENUM);
        }
        if let Some(binding) = binding_point(cx, index) {
            param.write(binding.offset as i64);
        }
    }
}

unsafe fn integer(pname: u32, param: *mut i32) {
    // SAFETY: as above.
    unsafe {
        let cx = context();
        if is_fixed_pointer(pname) {
            // The part of the pointer that fits.
            let mut pointer = std::ptr::null_mut();
            glGetPointerv(pname, &raw mut pointer);
            return param.write(pointer as usize as i32);
        }
        match cx.gl.arrays.get(pname, false) {
            Some(value) if pname != GL_VERTEX_ARRAY_BINDING => param.write(value as i32),
            _ => cx.set_error(GL_INVALID_ENUM),
        }
    }
}

/// Whether a name is that of a pointer of the fixed function.
fn is_fixed_pointer(pname: u32) -> bool {
    matches!(
        pname,
        GL_VERTEX_ARRAY_POINTER
            | GL_NORMAL_ARRAY_POINTER
            | GL_COLOR_ARRAY_POINTER
            | GL_SECONDARY_COLOR_ARRAY_POINTER
            | GL_FOG_COORD_ARRAY_POINTER
            | GL_INDEX_ARRAY_POINTER
            | GL_EDGE_FLAG_ARRAY_POINTER
            | GL_TEXTURE_COORD_ARRAY_POINTER
    )
}

unsafe fn fixed_pointer(pname: u32, param: *mut *mut c_void) {
    // SAFETY: as above.
    unsafe {
        match pname {
            GL_FEEDBACK_BUFFER_POINTER | GL_SELECTION_BUFFER_POINTER => {
                context().set_error(GL_INVALID_ENUM)
            }
            _ => glGetPointerv(pname, param),
        }
    }
}

/// Runs `work` while texture unit `index` is the active client unit. Raises GL_INVALID_VALUE if
/// there is no such unit.
///
/// # Safety
/// Nothing refers to the thread's context.
unsafe fn with_unit(index: u32, work: impl FnOnce()) {
    // SAFETY: the only reference in use, which ends before others begin.
    let unit = unsafe {
        let cx = context();
        if index >= u32::from(attr::GENERIC - attr::TEXCOORD) {
            return cx.set_error(GL_INVALID_VALUE);
        }
        cx.gl.arrays.client_unit
    };
    // SAFETY: as above.
    unsafe {
        glClientActiveTexture(GL_TEXTURE0 + index);
        work();
        glClientActiveTexture(GL_TEXTURE0 + unit);
    }
}

unsafe fn integer_of(index: u32, pname: u32, param: *mut i32) {
    // SAFETY: as above.
    unsafe {
        match pname {
            GL_TEXTURE_COORD_ARRAY
            | GL_TEXTURE_COORD_ARRAY_SIZE
            | GL_TEXTURE_COORD_ARRAY_TYPE
            | GL_TEXTURE_COORD_ARRAY_STRIDE
            | GL_TEXTURE_COORD_ARRAY_BUFFER_BINDING => {
                with_unit(index, || integer(pname, param));
            }
            _ => param.write(attribute(context(), index, pname)),
        }
    }
}

unsafe fn pointer_of(index: u32, pname: u32, param: *mut *mut c_void) {
    // SAFETY: as above.
    unsafe {
        match pname {
            GL_TEXTURE_COORD_ARRAY_POINTER => with_unit(index, || glGetPointerv(pname, param)),
            _ => glGetVertexAttribPointerv(index, pname, param),
        }
    }
}

unsafe fn enable(array: u32) {
    // SAFETY: nothing refers to the thread's context.
    unsafe { switch(array, true) }
}

unsafe fn disable(array: u32) {
    // SAFETY: as above.
    unsafe { switch(array, false) }
}

/// # Safety
/// Nothing refers to the thread's context.
unsafe fn switch(array: u32, on: bool) {
    let switch = if on {
        glEnableClientState
    } else {
        glDisableClientState
    };
    let unit = array.wrapping_sub(GL_TEXTURE0);
    // SAFETY: the caller's promise.
    unsafe {
        match unit < u32::from(attr::GENERIC - attr::TEXCOORD) {
            true => with_unit(unit, || switch(GL_TEXTURE_COORD_ARRAY)),
            false => switch(array),
        }
    }
}

/// Commands on the texture coordinate array of a unit.
macro_rules! of_unit {
    ($($name:ident = $switch:ident;)*) => {$(
        pub unsafe extern "C" fn $name(array: u32, index: u32) {
            // SAFETY: nothing refers to the thread's context.
            unsafe {
                if context().gl.in_begin() {
                    return context().illegal_in_begin();
                }
                match array {
                    GL_TEXTURE_COORD_ARRAY => with_unit(index, || $switch(array)),
                    _ => context().set_error(GL_INVALID_ENUM),
                }
            }
        }
    )*};
}

of_unit! {
    glEnableClientStateiEXT = glEnableClientState;
    glDisableClientStateiEXT = glDisableClientState;
}

pub unsafe extern "C" fn glGetPointeri_vEXT(pname: u32, index: u32, params: *mut *mut c_void) {
    // SAFETY: nothing refers to the thread's context; the program gives room for a pointer.
    unsafe {
        if context().gl.in_begin() {
            return context().illegal_in_begin();
        }
        match pname {
            GL_TEXTURE_COORD_ARRAY_POINTER => with_unit(index, || glGetPointerv(pname, params)),
            _ => context().set_error(GL_INVALID_ENUM),
        }
    }
}

pub unsafe extern "C" fn glMultiTexCoordPointerEXT(
    unit: u32,
    size: i32,
    kind: u32,
    stride: i32,
    pointer: *const c_void,
) {
    // SAFETY: nothing refers to the thread's context; the pointer is not followed before a draw.
    unsafe {
        if context().gl.in_begin() {
            return context().illegal_in_begin();
        }
        with_unit(unit.wrapping_sub(GL_TEXTURE0), || {
            glTexCoordPointer(size, kind, stride, pointer)
        });
    }
}

/// Runs `work` with the object bound, and `buffer` as the array buffer. The buffer is created if it
/// does not exist.
///
/// # Safety
/// Nothing refers to the thread's context.
unsafe fn with_buffer(object: u32, buffer: u32, offset: i64, point: impl FnOnce(*const c_void)) {
    // SAFETY: references to the context follow each other.
    unsafe {
        with(object, Which::Generated, || {
            let cx = context();
            if buffer != 0 && !make(cx, buffer) {
                return;
            }
            if buffer != 0 && offset < 0 {
                return cx.set_error(GL_INVALID_VALUE);
            }
            let bound = cx.gl.objects.bindings.array_buffer();
            glBindBuffer(GL_ARRAY_BUFFER, buffer);
            point(offset as usize as *const c_void);
            glBindBuffer(GL_ARRAY_BUFFER, bound);
        })
    }
}

/// Pointer commands that name an object and a buffer.
macro_rules! offsets {
    ($($name:ident($($arg:ident: $ty:ty),*) = $bound:ident;)*) => {$(
        pub unsafe extern "C" fn $name(object: u32, buffer: u32, $($arg: $ty,)* offset: i64) {
            // SAFETY: nothing refers to the thread's context; the pointer is not followed before a
            // draw.
            unsafe { with_buffer(object, buffer, offset, |pointer| $bound($($arg,)* pointer)) }
        }
    )*};
}

offsets! {
    glVertexArrayVertexOffsetEXT(size: i32, kind: u32, stride: i32) = glVertexPointer;
    glVertexArrayColorOffsetEXT(size: i32, kind: u32, stride: i32) = glColorPointer;
    glVertexArrayEdgeFlagOffsetEXT(stride: i32) = glEdgeFlagPointer;
    glVertexArrayIndexOffsetEXT(kind: u32, stride: i32) = glIndexPointer;
    glVertexArrayNormalOffsetEXT(kind: u32, stride: i32) = glNormalPointer;
    glVertexArrayTexCoordOffsetEXT(size: i32, kind: u32, stride: i32) = glTexCoordPointer;
    glVertexArrayMultiTexCoordOffsetEXT(unit: u32, size: i32, kind: u32, stride: i32) = glMultiTexCoordPointerEXT;
    glVertexArrayFogCoordOffsetEXT(kind: u32, stride: i32) = glFogCoordPointer;
    glVertexArraySecondaryColorOffsetEXT(size: i32, kind: u32, stride: i32) = glSecondaryColorPointer;
    glVertexArrayVertexAttribOffsetEXT(index: u32, size: i32, kind: u32, normalized: u8, stride: i32) = glVertexAttribPointer;
    glVertexArrayVertexAttribIOffsetEXT(index: u32, size: i32, kind: u32, stride: i32) = glVertexAttribIPointer;
    glVertexArrayVertexAttribLOffsetEXT(index: u32, size: i32, kind: u32, stride: i32) = glVertexAttribLPointer;
}
