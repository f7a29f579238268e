//! glGetString and glGetStringi.

use super::objects;
use crate::context::Context;
use crate::current::context;
use mgn_wire::{gl, ops};
use std::ffi::{CStr, CString};

pub unsafe extern "C" fn glGetString(name: u32) -> *const u8 {
    // SAFETY: the only reference in use, to the thread's own context.
    let cx = unsafe { context() };
    if cx.is_illegal_now() {
        cx.set_error(gl::GL_INVALID_OPERATION);
        return std::ptr::null();
    }
    if cx.gl.strings.are_empty() {
        // No context.
        return std::ptr::null();
    }
    if name == gl::GL_PROGRAM_ERROR_STRING_ARB && cx.gl.strings.has_program_error() {
        let said = objects::program_error(cx);
        let said = CString::new(said).unwrap_or_default();
        cx.gl.strings.learn_program_error(said);
    }
    let found = cx.gl.strings.string(name).map(CStr::as_ptr);
    if found.is_none() {
        cx.set_error(gl::GL_INVALID_ENUM);
    }
    found.map_or(std::ptr::null(), |text| text.cast())
}

pub unsafe extern "C" fn glGetStringi(name: u32, index: u32) -> *const u8 {
    // SAFETY: as above.
    let cx = unsafe { context() };
    let error = if cx.gl.in_begin() || cx.gl.is_es1() {
        gl::GL_INVALID_OPERATION
    } else if matches!(
        name,
        gl::GL_SPIR_V_EXTENSIONS | gl::GL_SHADING_LANGUAGE_VERSION
    ) {
        return indexed(cx, name, index);
    } else if name != gl::GL_EXTENSIONS {
        gl::GL_INVALID_ENUM
    } else if let Some(extension) = cx.gl.strings.extension(index) {
        return extension.as_ptr().cast();
    } else {
        gl::GL_INVALID_VALUE
    };
    cx.set_error(error);
    std::ptr::null()
}

/// A string of the driver; null if the driver raises an error.
fn indexed(cx: &mut Context, name: u32, index: u32) -> *const u8 {
    if let Some(known) = cx.gl.strings.indexed(name, index) {
        return known.as_ptr().cast();
    }
    cx.enc.mgn_get_stringi(name, index, 1 << 16);
    let said = cx.answer(ops::MGN_GET_STRINGI).next_array(1).to_vec();
    // The answer ends with NUL. After an error it is empty.
    match CString::from_vec_with_nul(said) {
        Ok(text) => {
            let known = cx.gl.strings.learn_indexed(name, index, text);
            known.as_ptr().cast()
        }
        Err(_) => std::ptr::null(),
    }
}
