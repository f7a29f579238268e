//! GL_ARB_shading_language_include: strings that shaders include by name.

use crate::context::Context;
use crate::current::context;
use crate::gl::tracked::values;
use mgn_wire::encoder::c_string;
use mgn_wire::gl::*;
use mgn_wire::{lens, ops};

/// A string of the program. A negative length means that the string ends with NUL. Raises the error
/// of a null pointer.
///
/// # Safety
/// `text` is null or has that length.
unsafe fn string<'a>(cx: &mut Context, text: *const u8, length: i32) -> Option<&'a [u8]> {
    if text.is_null() {
        cx.set_error(GL_INVALID_VALUE);
        return None;
    }
    // SAFETY: the caller's promise.
    unsafe {
        let length = usize::try_from(length).unwrap_or_else(|_| c_string(text).1);
        Some(values(text, length))
    }
}

pub unsafe extern "C" fn glNamedStringARB(
    type_: u32,
    name_length: i32,
    name: *const u8,
    length: i32,
    text: *const u8,
) {
    // SAFETY: the program gives both strings; the only reference in use.
    unsafe {
        let cx = context();
        if cx.gl.in_begin() {
            return cx.illegal_in_begin();
        }
        let Some(name) = string(cx, name, name_length) else {
            return;
        };
        if let Some(text) = string(cx, text, length) {
            cx.enc.gl_named_string_arb(
                type_,
                (name.as_ptr(), name.len()),
                (text.as_ptr(), text.len()),
            );
        }
    }
}

pub unsafe extern "C" fn glDeleteNamedStringARB(length: i32, name: *const u8) {
    // SAFETY: as above.
    unsafe {
        let cx = context();
        if cx.gl.in_begin() {
            return cx.illegal_in_begin();
        }
        if let Some(name) = string(cx, name, length) {
            cx.enc
                .gl_delete_named_string_arb((name.as_ptr(), name.len()));
        }
    }
}

pub unsafe extern "C" fn glIsNamedStringARB(length: i32, name: *const u8) -> u8 {
    // SAFETY: as above.
    unsafe {
        let cx = context();
        if cx.gl.in_begin() {
            return cx.illegal_in_begin();
        }
        if name.is_null() {
            return 0;
        }
        let Some(name) = string(cx, name, length) else {
            return 0;
        };
        let mut is = 0;
        cx.enc
            .gl_is_named_string_arb((name.as_ptr(), name.len()), 1);
        cx.answer(ops::GL_IS_NAMED_STRING_ARB).array(&raw mut is, 1);
        is
    }
}

pub unsafe extern "C" fn glGetNamedStringARB(
    name_length: i32,
    name: *const u8,
    size: i32,
    length: *mut i32,
    text: *mut u8,
) {
    // SAFETY: as above; the program has room for `size` bytes.
    unsafe {
        let cx = context();
        if cx.gl.in_begin() {
            return cx.illegal_in_begin();
        }
        if let Some(name) = string(cx, name, name_length) {
            let room = match text.is_null() {
                true => 0,
                false => lens::times(size.into(), 1),
            };
            let name = (name.as_ptr(), name.len());
            cx.enc
                .gl_get_named_string_arb(name, size, u32::from(!length.is_null()), room as u32);
            let mut answer = cx.answer(ops::GL_GET_NAMED_STRING_ARB);
            answer.array(length, 1);
            answer.array(text, room);
        }
    }
}

pub unsafe extern "C" fn glGetNamedStringivARB(
    length: i32,
    name: *const u8,
    pname: u32,
    params: *mut i32,
) {
    // SAFETY: as above; the program has room for a value.
    unsafe {
        let cx = context();
        if cx.gl.in_begin() {
            return cx.illegal_in_begin();
        }
        if let Some(name) = string(cx, name, length) {
            let room = u32::from(!params.is_null());
            cx.enc
                .gl_get_named_stringiv_arb((name.as_ptr(), name.len()), pname, room);
            cx.answer(ops::GL_GET_NAMED_STRINGIV_ARB).array(params, 1);
        }
    }
}

pub unsafe extern "C" fn glCompileShaderIncludeARB(
    shader: u32,
    count: i32,
    paths: *const *const u8,
    lengths: *const i32,
) {
    // SAFETY: the program gives `count` strings, and a null pointer or as many lengths; the only
    // reference in use.
    unsafe {
        let cx = context();
        if cx.gl.in_begin() {
            return cx.illegal_in_begin();
        }
        let n = lens::times(count.into(), 1);
        if n > 0 && paths.is_null() {
            return cx.set_error(GL_INVALID_VALUE);
        }
        let (paths, lengths) = (values(paths, n), values(lengths, n));
        let mut joined = Vec::new();
        for (i, &path) in paths.iter().enumerate() {
            let length = lengths.get(i).copied().unwrap_or(-1);
            let Some(path) = string(cx, path, length) else {
                return;
            };
            joined.extend_from_slice(path.split(|b| *b == 0).next().unwrap_or_default());
            joined.push(0);
        }
        cx.enc
            .gl_compile_shader_include_arb(shader, n as i32, (joined.as_ptr(), joined.len()));
    }
}
