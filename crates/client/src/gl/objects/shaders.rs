//! Creates shaders and programs.

use super::names::tell_group;
use super::use_program;
use crate::context::Context;
use crate::current::context;
use crate::gl::tracked::values;
use crate::shadow::objects::programs::{mentions_ids, Kind};
use core::ffi::c_void;
use mgn_wire::encoder::c_string;
use mgn_wire::{gl::*, lens, ops};
use std::sync::atomic::Ordering;

pub unsafe extern "C" fn glCreateShader(kind: u32) -> u32 {
    // SAFETY: the only reference in use, to the thread's own context.
    let cx = unsafe { context() };
    if cx.gl.in_begin() {
        return cx.illegal_in_begin();
    }
    if cx.gl.is_es1() {
        return cx.fail(GL_INVALID_OPERATION);
    }
    if !cx.gl.objects.limits.has_shaders_of(kind) {
        cx.set_error(GL_INVALID_ENUM);
        return 0;
    }
    let name = cx.gl.shared.names().programs.take();
    cx.gl.shared.programs().shader_created(name);
    cx.enc.gl_create_shader(kind, name);
    tell_group(cx);
    name
}

pub unsafe extern "C" fn glCreateProgram() -> u32 {
    // SAFETY: as above.
    let cx = unsafe { context() };
    if cx.gl.in_begin() {
        return cx.illegal_in_begin();
    }
    if cx.gl.is_es1() {
        return cx.fail(GL_INVALID_OPERATION);
    }
    let name = cx.gl.shared.names().programs.take();
    cx.gl.shared.programs().program_created(name);
    cx.enc.gl_create_program(name);
    tell_group(cx);
    name
}

pub unsafe extern "C" fn glCreateShaderProgramv(
    kind: u32,
    count: i32,
    strings: *const *const u8,
) -> u32 {
    // SAFETY: the program gives `count` strings; the only reference in use.
    unsafe {
        let cx = context();
        if cx.gl.in_begin() {
            return cx.illegal_in_begin();
        }
        if !cx.gl.objects.limits.has_shaders_of(kind) {
            cx.set_error(GL_INVALID_ENUM);
            return 0;
        }
        if count < 0 {
            cx.set_error(GL_INVALID_VALUE);
            return 0;
        }
        // Without a source, the program is created nevertheless, but not linked.
        let source = match strings.is_null() {
            true => {
                cx.set_error(GL_INVALID_VALUE);
                None
            }
            false => joined(values(strings, count as usize), &[]),
        };
        let name = cx.gl.shared.names().programs.take();
        let source = source.unwrap_or_default();
        cx.gl
            .shared
            .programs()
            .program_of_source(name, mentions_ids(&source));
        cx.enc.gl_create_shader_programv(
            kind,
            i32::from(!source.is_empty()),
            name,
            (source.as_ptr(), source.len()),
        );
        tell_group(cx);
        name
    }
}

pub unsafe extern "C" fn glCreateShaderProgramvEXT(
    kind: u32,
    count: i32,
    strings: *const *const u8,
) -> u32 {
    // SAFETY: the same command.
    unsafe { glCreateShaderProgramv(kind, count, strings) }
}

pub unsafe extern "C" fn glDeleteShader(shader: u32) {
    // SAFETY: as above.
    unsafe {
        let cx = context();
        if cx.gl.in_begin() {
            return cx.illegal_in_begin();
        }
        cx.enc.gl_delete_shader(shader);
        if kind(cx, shader) == Some(Kind::Shader) {
            cx.gl.shared.programs().delete(shader);
        }
    }
}

pub unsafe extern "C" fn glDeleteProgram(program: u32) {
    // SAFETY: as above.
    unsafe {
        let cx = context();
        if cx.gl.in_begin() {
            return cx.illegal_in_begin();
        }
        cx.enc.gl_delete_program(program);
        if kind(cx, program) == Some(Kind::Program) {
            cx.gl.shared.programs().delete(program);
            cx.gl.shared.notes.relinked.fetch_add(1, Ordering::Release);
        }
    }
}

pub unsafe extern "C" fn glDeleteObjectARB(object: u32) {
    // SAFETY: the same commands.
    unsafe {
        let cx = context();
        match kind(cx, object) {
            Some(Kind::Shader) => glDeleteShader(object),
            Some(Kind::Program) => glDeleteProgram(object),
            None if cx.gl.in_begin() => cx.illegal_in_begin(),
            // It is deleted but in use, or no object: only the driver knows.
            None => cx.enc.gl_delete_object_arb(object),
        }
    }
}

fn kind(cx: &Context, name: u32) -> Option<Kind> {
    cx.gl.shared.programs().kind(name)
}

pub unsafe extern "C" fn glShaderSource(
    shader: u32,
    count: i32,
    strings: *const *const u8,
    lengths: *const i32,
) {
    // SAFETY: the program gives `count` strings, and a null pointer or as many lengths; the only
    // reference in use.
    unsafe {
        let cx = context();
        if cx.gl.in_begin() {
            return cx.illegal_in_begin();
        }
        match kind(cx, shader) {
            // It is deleted but in use, or no object: only the driver knows.
            None if cx.gl.shared.names().programs.is_taken(shader) => {}
            None => return cx.set_error(GL_INVALID_VALUE),
            Some(Kind::Program) => return cx.set_error(GL_INVALID_OPERATION),
            Some(Kind::Shader) => {}
        }
        if count < 0 || strings.is_null() {
            return cx.set_error(GL_INVALID_VALUE);
        }
        if count == 0 {
            // The shader keeps its old source.
            return;
        }
        let n = count as usize;
        let Some(source) = joined(values(strings, n), values(lengths, n)) else {
            return cx.set_error(GL_INVALID_OPERATION);
        };
        cx.gl
            .shared
            .programs()
            .source_given(shader, mentions_ids(&source));
        cx.enc
            .gl_shader_source(shader, (source.as_ptr(), source.len()));
    }
}

/// The concatenated strings. A string without a length, or with a negative one, ends with NUL.
/// `None` if a string is a null pointer.
unsafe fn joined(strings: &[*const u8], lengths: &[i32]) -> Option<Vec<u8>> {
    let mut source = Vec::new();
    for (i, &string) in strings.iter().enumerate() {
        if string.is_null() {
            return None;
        }
        // SAFETY: the program's string has the length that it says, or ends with NUL.
        source.extend_from_slice(unsafe {
            match lengths.get(i).map(|n| usize::try_from(*n)) {
                Some(Ok(n)) => values(string, n),
                _ => {
                    let (text, n) = c_string(string);
                    values(text, n)
                }
            }
        });
    }
    Some(source)
}

pub unsafe extern "C" fn glShaderBinary(
    count: i32,
    shaders: *const u32,
    format: u32,
    binary: *const c_void,
    length: i32,
) {
    // SAFETY: the program gives `count` names and `length` bytes; the only reference in use.
    unsafe {
        let cx = context();
        if cx.gl.in_begin() {
            return cx.illegal_in_begin();
        }
        cx.heed_binaries();
        let n = lens::times(count.into(), 1);
        for shader in values(shaders, n) {
            cx.gl.shared.programs().source_given(*shader, true);
        }
        let format = cx.shader_format(format);
        cx.enc.gl_shader_binary(
            count,
            (shaders, n),
            format,
            (binary.cast(), lens::times(length.into(), 1)),
            length,
        );
    }
}

pub unsafe extern "C" fn glAttachShader(program: u32, shader: u32) {
    // SAFETY: the only reference in use, to the thread's own context.
    unsafe {
        let cx = context();
        if cx.gl.in_begin() {
            return cx.illegal_in_begin();
        }
        cx.gl.shared.programs().attached(program, shader);
        cx.enc.gl_attach_shader(program, shader);
    }
}

pub unsafe extern "C" fn glDetachShader(program: u32, shader: u32) {
    // SAFETY: as above.
    unsafe {
        let cx = context();
        if cx.gl.in_begin() {
            return cx.illegal_in_begin();
        }
        cx.gl.shared.programs().detached(program, shader);
        cx.enc.gl_detach_shader(program, shader);
    }
}

pub unsafe extern "C" fn glLinkProgram(program: u32) {
    // SAFETY: as above.
    unsafe {
        let cx = context();
        if cx.gl.in_begin() {
            return cx.illegal_in_begin();
        }
        cx.enc.gl_link_program(program);
        cx.gl.shared.programs().linked(program);
        relinked(cx, program);
    }
}

pub unsafe extern "C" fn glProgramBinary(
    program: u32,
    format: u32,
    binary: *const c_void,
    length: i32,
) {
    // SAFETY: the program gives `length` bytes; the only reference in use.
    unsafe {
        let cx = context();
        if cx.gl.in_begin() {
            return cx.illegal_in_begin();
        }
        let format = cx.program_format(format);
        cx.enc.gl_program_binary(
            program,
            format,
            (binary.cast(), lens::times(length.into(), 1)),
            length,
        );
        cx.gl.shared.programs().made_of_binary(program);
        relinked(cx, program);
    }
}

fn relinked(cx: &mut Context, program: u32) {
    cx.gl.shared.notes.relinked.fetch_add(1, Ordering::Release);
    use_program::relinked(cx, program);
}

pub unsafe extern "C" fn glTransformFeedbackVaryings(
    program: u32,
    count: i32,
    varyings: *const *const u8,
    buffer_mode: u32,
) {
    // SAFETY: the program gives `count` strings; the only reference in use.
    unsafe {
        let cx = context();
        if cx.gl.in_begin() {
            return cx.illegal_in_begin();
        }
        // The names are examined only if all this is valid.
        let most = cx.gl.objects.limits.feedback_buffers();
        match buffer_mode {
            GL_INTERLEAVED_ATTRIBS if count >= 0 => {}
            GL_SEPARATE_ATTRIBS if u32::try_from(count).is_ok_and(|n| n <= most) => {}
            GL_INTERLEAVED_ATTRIBS | GL_SEPARATE_ATTRIBS => return cx.set_error(GL_INVALID_VALUE),
            _ => return cx.set_error(GL_INVALID_ENUM),
        }
        let names = terminated(values(varyings, count as usize));
        cx.enc.gl_transform_feedback_varyings(
            program,
            count,
            (names.as_ptr(), names.len()),
            buffer_mode,
        );
    }
}

pub unsafe extern "C" fn glGetUniformIndices(
    program: u32,
    count: i32,
    names: *const *const u8,
    indices: *mut u32,
) {
    // SAFETY: the program gives `count` strings and room for as many indices; the only reference in
    // use.
    unsafe {
        let cx = context();
        if cx.gl.in_begin() {
            return cx.illegal_in_begin();
        }
        let n = lens::times(count.into(), 1);
        let names = terminated(values(names, n));
        cx.enc
            .gl_get_uniform_indices(program, count, (names.as_ptr(), names.len()), n as u32);
        cx.answer(ops::GL_GET_UNIFORM_INDICES).array(indices, n);
    }
}

/// The concatenated strings, each with its NUL.
unsafe fn terminated(strings: &[*const u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for string in strings {
        // SAFETY: the program's strings end with NUL; a null pointer reads as an empty one.
        let (text, n) = unsafe { c_string(*string) };
        // SAFETY: as `c_string` says.
        bytes.extend_from_slice(unsafe { values(text, n) });
        bytes.push(0);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_joined() {
        let strings = [c"abc".as_ptr().cast(), c"defgh".as_ptr().cast()];
        // SAFETY: the strings end with NUL and are as long as the lengths say.
        unsafe {
            assert_eq!(joined(&strings, &[]).unwrap(), b"abcdefgh");
            assert_eq!(joined(&strings, &[2, -1]).unwrap(), b"abdefgh");
            assert_eq!(joined(&strings, &[0, 3]).unwrap(), b"def");
            assert_eq!(joined(&[], &[]).unwrap(), b"");
            assert_eq!(joined(&[std::ptr::null()], &[0]), None);
            assert_eq!(terminated(&strings), b"abc\0defgh\0");
        }
    }
}
