//! Queries of shaders and programs. Values that only linking changes are queried once.

use crate::context::Context;
use crate::current::context;
use crate::gl::tracked::values;
use crate::shadow::objects::programs::Variable;
use mgn_wire::encoder::c_string;
use mgn_wire::locations::recorded;
use mgn_wire::{gl::*, lens, ops};

/// Parameters that change only by linking.
const OF_LINKING: [u32; 7] = [
    GL_LINK_STATUS,
    GL_ACTIVE_UNIFORMS,
    GL_ACTIVE_UNIFORM_MAX_LENGTH,
    GL_ACTIVE_ATTRIBUTES,
    GL_ACTIVE_ATTRIBUTE_MAX_LENGTH,
    GL_ACTIVE_UNIFORM_BLOCKS,
    GL_ACTIVE_UNIFORM_BLOCK_MAX_NAME_LENGTH,
];

/// Writes the value that the program gets if no answer came and no error was raised: it reports
/// success.
///
/// # Safety
/// There is room for a value.
unsafe fn assume(cx: &Context, answered: usize, pname: u32, value: *mut i32) {
    if answered == 0 && !cx.gl.errors.is_reported() {
        let status = matches!(
            pname,
            GL_LINK_STATUS | GL_COMPILE_STATUS | GL_VALIDATE_STATUS | GL_COMPLETION_STATUS_ARB
        );
        // SAFETY: the caller's promise.
        unsafe { value.write(status.into()) };
    }
}

pub unsafe extern "C" fn glGetProgramiv(program: u32, pname: u32, params: *mut i32) {
    // SAFETY: the program gives room for the values; the only reference in use.
    unsafe {
        let cx = context();
        if cx.gl.in_begin() {
            return cx.illegal_in_begin();
        }
        if params.is_null() {
            return;
        }
        let known = cx.gl.shared.programs().parameter(program, pname);
        if let Some(value) = known {
            return params.write(value);
        }
        let links = cx.gl.shared.programs().links(program);
        cx.enc
            .gl_get_programiv(program, pname, lens::program_values(pname) as u32);
        let answered = cx
            .answer(ops::GL_GET_PROGRAMIV)
            .array(params, lens::program_values(pname));
        assume(cx, answered, pname, params);
        if OF_LINKING.contains(&pname) && !cx.gl.errors.is_reported() {
            cx.gl
                .shared
                .programs()
                .learn_parameter(program, links, pname, params.read());
        }
    }
}

/// One parameter of a program that exists.
pub(super) fn program_parameter(cx: &mut Context, program: u32, pname: u32) -> i32 {
    let mut value = 0;
    let links = cx.gl.shared.programs().links(program);
    // SAFETY: the context's own encoder; one value is asked for.
    unsafe {
        cx.enc.gl_get_programiv(program, pname, 1);
        let answered = cx.answer(ops::GL_GET_PROGRAMIV).array(&raw mut value, 1);
        assume(cx, answered, pname, &raw mut value);
    }
    cx.gl
        .shared
        .programs()
        .learn_parameter(program, links, pname, value);
    value
}

pub unsafe extern "C" fn glGetShaderiv(shader: u32, pname: u32, params: *mut i32) {
    // SAFETY: the program gives room for the values; the only reference in use.
    unsafe {
        let cx = context();
        if cx.gl.in_begin() {
            return cx.illegal_in_begin();
        }
        if params.is_null() {
            return;
        }
        cx.enc
            .gl_get_shaderiv(shader, pname, lens::values(pname) as u32);
        let answered = cx
            .answer(ops::GL_GET_SHADERIV)
            .array(params, lens::values(pname));
        assume(cx, answered, pname, params);
    }
}

pub unsafe extern "C" fn glGetObjectParameterivARB(object: u32, pname: u32, params: *mut i32) {
    // SAFETY: as above.
    unsafe {
        let cx = context();
        if cx.gl.in_begin() {
            return cx.illegal_in_begin();
        }
        if params.is_null() {
            return;
        }
        cx.enc
            .gl_get_object_parameteriv_arb(object, pname, lens::values(pname) as u32);
        let answered = cx
            .answer(ops::GL_GET_OBJECT_PARAMETERIV_ARB)
            .array(params, lens::values(pname));
        assume(cx, answered, pname, params);
    }
}

pub unsafe extern "C" fn glGetUniformLocation(program: u32, name: *const u8) -> i32 {
    // SAFETY: the program gives a string; the only reference in use.
    unsafe { location(context(), program, Variable::Uniform, name) }
}

pub unsafe extern "C" fn glGetAttribLocation(program: u32, name: *const u8) -> i32 {
    // SAFETY: the program gives a string; the only reference in use.
    unsafe { location(context(), program, Variable::Attribute, name) }
}

/// # Safety
/// `name` is null or ends with NUL.
unsafe fn location(cx: &mut Context, program: u32, variable: Variable, name: *const u8) -> i32 {
    if cx.gl.in_begin() {
        cx.set_error(GL_INVALID_OPERATION);
        return -1;
    }
    // SAFETY: the caller's promise.
    let (text, len) = unsafe { c_string(name) };
    // SAFETY: as `c_string` says.
    let bytes = unsafe { values(text, len) };
    let (known, links) = {
        let programs = cx.gl.shared.programs();
        (
            programs.location(program, variable, bytes),
            programs.links(program),
        )
    };
    if let Some(location) = known {
        return location;
    }
    let mut location = -1;
    // SAFETY: the string's bytes; one value is asked for.
    unsafe {
        match variable {
            Variable::Uniform => {
                cx.enc.gl_get_uniform_location(program, (text, len), 1);
                let answered = cx
                    .answer(ops::GL_GET_UNIFORM_LOCATION)
                    .array(&raw mut location, 1);
                if answered == 0 {
                    location = recorded(cx.id, cx.gl.objects.next_question());
                }
            }
            Variable::Attribute => {
                cx.enc.gl_get_attrib_location(program, (text, len), 1);
                cx.answer(ops::GL_GET_ATTRIB_LOCATION)
                    .array(&raw mut location, 1);
            }
        }
    }
    if !name.is_null() && !cx.gl.errors.is_reported() {
        cx.gl
            .shared
            .programs()
            .learn_location(program, links, variable, bytes, location);
    }
    location
}

pub unsafe extern "C" fn glGetActiveUniformBlockiv(
    program: u32,
    block: u32,
    pname: u32,
    params: *mut i32,
) {
    let list = (
        GL_UNIFORM_BLOCK_ACTIVE_UNIFORM_INDICES,
        GL_UNIFORM_BLOCK_ACTIVE_UNIFORMS,
    );
    // SAFETY: the program gives room for the values; the only reference in use.
    unsafe {
        member_values(context(), pname, list, params, |cx, pname, to, room| {
            cx.enc
                .gl_get_active_uniform_blockiv(program, block, pname, room as u32);
            cx.answer(ops::GL_GET_ACTIVE_UNIFORM_BLOCKIV)
                .array(to, room);
        })
    }
}

pub unsafe extern "C" fn glGetActiveAtomicCounterBufferiv(
    program: u32,
    index: u32,
    pname: u32,
    params: *mut i32,
) {
    let list = (
        GL_ATOMIC_COUNTER_BUFFER_ACTIVE_ATOMIC_COUNTER_INDICES,
        GL_ATOMIC_COUNTER_BUFFER_ACTIVE_ATOMIC_COUNTERS,
    );
    // SAFETY: as above.
    unsafe {
        member_values(context(), pname, list, params, |cx, pname, to, room| {
            cx.enc
                .gl_get_active_atomic_counter_bufferiv(program, index, pname, room as u32);
            cx.answer(ops::GL_GET_ACTIVE_ATOMIC_COUNTER_BUFFERIV)
                .array(to, room);
        })
    }
}

pub unsafe extern "C" fn glGetActiveSubroutineUniformiv(
    program: u32,
    stage: u32,
    index: u32,
    pname: u32,
    values: *mut i32,
) {
    let list = (GL_COMPATIBLE_SUBROUTINES, GL_NUM_COMPATIBLE_SUBROUTINES);
    // SAFETY: as above.
    unsafe {
        member_values(context(), pname, list, values, |cx, pname, to, room| {
            cx.enc
                .gl_get_active_subroutine_uniformiv(program, stage, index, pname, room as u32);
            cx.answer(ops::GL_GET_ACTIVE_SUBROUTINE_UNIFORMIV)
                .array(to, room);
        })
    }
}

/// The answer of `ask(pname, to, room)`: one value, or the list of members. The program has queried
/// the length of the list and made room for it.
///
/// # Safety
/// `to` is null or has room for the values.
unsafe fn member_values(
    cx: &mut Context,
    pname: u32,
    (list, counted_by): (u32, u32),
    to: *mut i32,
    ask: impl Fn(&mut Context, u32, *mut i32, usize),
) {
    if cx.gl.in_begin() {
        return cx.illegal_in_begin();
    }
    let mut room = usize::from(!to.is_null());
    if pname == list && room > 0 {
        let mut members = 0;
        ask(cx, counted_by, &raw mut members, 1);
        room = lens::times(members.into(), 1);
    }
    ask(cx, pname, to, room);
}

pub unsafe extern "C" fn glGetAttachedShaders(
    program: u32,
    max_count: i32,
    count: *mut i32,
    shaders: *mut u32,
) {
    // SAFETY: the program gives room for `max_count` names; the only reference in use.
    unsafe {
        let cx = context();
        if cx.gl.in_begin() {
            return cx.illegal_in_begin();
        }
        let room = if shaders.is_null() {
            0
        } else {
            lens::times(max_count.into(), 1) as u32
        };
        cx.enc.gl_get_attached_shaders(program, max_count, room);
        let n = cx
            .answer(ops::GL_GET_ATTACHED_SHADERS)
            .array(shaders, room as usize);
        if !count.is_null() && !cx.gl.errors.is_reported() {
            count.write(n as i32);
        }
    }
}

pub unsafe extern "C" fn glGetAttachedObjectsARB(
    container: u32,
    max_count: i32,
    count: *mut i32,
    objects: *mut u32,
) {
    // SAFETY: the same command.
    unsafe { glGetAttachedShaders(container, max_count, count, objects) }
}
