//! Programs before GLSL: in assembly language (ARB_vertex_program, ARB_fragment_program), and
//! ATI_fragment_shader.

use super::names::{adopt, tell_group, use_name, with_names};
use crate::context::Context;
use crate::current::context;
use crate::shadow::objects::class::Class;
use core::ffi::c_void;
use mgn_wire::{gl::*, lens, ops};

/// An upper limit for the bytes of a program's string.
const ALL: u32 = 1 << 24;

pub unsafe extern "C" fn glBindProgramARB(target: u32, program: u32) {
    // SAFETY: the only reference in use, to the thread's own context.
    unsafe {
        let cx = context();
        if cx.gl.in_begin() {
            return cx.illegal_in_begin();
        }
        if program != 0 && matches!(target, GL_VERTEX_PROGRAM_ARB | GL_FRAGMENT_PROGRAM_ARB) {
            adopt(cx, Class::Assembly, program);
        }
        cx.enc.gl_bind_program_arb(target, program);
    }
}

/// Commands that set or return the string of a program: the bound one or a named one.
macro_rules! strings {
    ($($set:ident = $set_wire:ident, $get:ident = $get_wire:ident, $get_op:ident ($($program:ident)?);)*) => {$(
        pub unsafe extern "C" fn $set($($program: u32,)? target: u32, format: u32, length: i32, string: *const c_void) {
            // SAFETY: the program gives `length` bytes; the only reference in use.
            unsafe {
                let cx = context();
                if cx.gl.in_begin() {
                    return cx.illegal_in_begin();
                }
                $(use_name(cx, Class::Assembly, $program, target);)?
                let bytes = lens::times(length.into(), 1);
                cx.enc.$set_wire($($program,)? target, format, (string.cast(), bytes));
                if !string.is_null() {
                    cx.heed_assembly(target, std::slice::from_raw_parts(string.cast(), bytes));
                }
            }
        }

        pub unsafe extern "C" fn $get($($program: u32,)? target: u32, pname: u32, string: *mut c_void) {
            // SAFETY: the program has room for the string, whose length it has asked for; the only
            // reference in use.
            unsafe {
                let cx = context();
                if cx.gl.in_begin() {
                    return cx.illegal_in_begin();
                }
                $(use_name(cx, Class::Assembly, $program, target);)?
                cx.enc.$get_wire($($program,)? target, pname, ALL);
                cx.answer(ops::$get_op)
                    .array(string.cast::<u8>(), ALL as usize);
            }
        }
    )*};
}

strings! {
    glProgramStringARB = gl_program_string_arb, glGetProgramStringARB = gl_get_program_string_arb, GL_GET_PROGRAM_STRING_ARB();
    glNamedProgramStringEXT = gl_named_program_string_ext,
        glGetNamedProgramStringEXT = gl_get_named_program_string_ext, GL_GET_NAMED_PROGRAM_STRING_EXT(program);
}

/// The current `GL_PROGRAM_ERROR_STRING_ARB`.
pub fn program_error(cx: &mut Context) -> Vec<u8> {
    cx.enc.mgn_get_program_error_string(ALL);
    let mut answer = cx.answer(ops::MGN_GET_PROGRAM_ERROR_STRING);
    answer.next_array(1).to_vec()
}

pub unsafe extern "C" fn glGenFragmentShadersATI(range: u32) -> u32 {
    // SAFETY: the only reference in use, to the thread's own context.
    unsafe {
        let cx = context();
        if cx.gl.in_begin() {
            return cx.illegal_in_begin();
        }
        if range == 0 {
            return cx.fail(GL_INVALID_VALUE);
        }
        if cx.gl.objects.fragment_shader_open {
            return cx.fail(GL_INVALID_OPERATION);
        }
        if range > MOST_FRAGMENT_SHADERS {
            return cx.fail(GL_OUT_OF_MEMORY);
        }
        let first = with_names(cx, Class::FragmentShader, |names| names.take_range(range));
        cx.enc.gl_gen_fragment_shaders_ati(first, range);
        tell_group(cx);
        first
    }
}

/// The most names at a time; the server accepts no more.
const MOST_FRAGMENT_SHADERS: u32 = 1 << 20;

pub unsafe extern "C" fn glBindFragmentShaderATI(id: u32) {
    // SAFETY: the only reference in use, to the thread's own context.
    unsafe {
        let cx = context();
        if cx.gl.in_begin() {
            return cx.illegal_in_begin();
        }
        if id != 0 && !cx.gl.objects.fragment_shader_open {
            adopt(cx, Class::FragmentShader, id);
        }
        cx.enc.gl_bind_fragment_shader_ati(id);
    }
}

pub unsafe extern "C" fn glDeleteFragmentShaderATI(id: u32) {
    // SAFETY: the only reference in use, to the thread's own context.
    unsafe {
        let cx = context();
        if cx.gl.in_begin() {
            return cx.illegal_in_begin();
        }
        cx.enc.gl_delete_fragment_shader_ati(id);
        if !cx.gl.objects.fragment_shader_open {
            tell_group(cx);
            with_names(cx, Class::FragmentShader, |names| names.release(id));
        }
    }
}

/// Begins or ends a fragment shader. If the command is only compiled into a list, no state changes.
unsafe fn open_fragment_shader(open: bool, send: unsafe fn(&mut mgn_wire::Encoder)) {
    // SAFETY: the only reference in use, to the thread's own context.
    unsafe {
        let cx = context();
        if cx.gl.in_begin() {
            return cx.illegal_in_begin();
        }
        if !(cx.gl.lists.is_open() && cx.gl.lists.only_compiles()) {
            cx.gl.objects.fragment_shader_open = open;
        }
        send(&mut cx.enc);
    }
}

pub unsafe extern "C" fn glBeginFragmentShaderATI() {
    // SAFETY: as above.
    unsafe { open_fragment_shader(true, mgn_wire::Encoder::gl_begin_fragment_shader_ati) }
}

pub unsafe extern "C" fn glEndFragmentShaderATI() {
    // SAFETY: as above.
    unsafe { open_fragment_shader(false, mgn_wire::Encoder::gl_end_fragment_shader_ati) }
}
