//! Uniforms of one integer each, which may be samplers: two of different types may not sample the same unit, or draws fail.

use crate::context::Context;
use crate::gl::claims::On;
use crate::gl::{context, values};
use mgn_wire::{lens, ops};

pub unsafe extern "C" fn glUniform1i(location: i32, v0: i32) {
    // SAFETY: the only reference in use, to the thread's own context.
    unsafe {
        let cx = context();
        let claim = cx.claim(
            ops::GL_UNIFORM1I,
            &[location as u32, v0 as u32],
            &[On::Program],
        );
        let before = cx.enc.doubt;
        cx.enc.gl_uniform1i(location, v0);
        cx.claimed(before, claim);
        current_set(cx, location, &[v0]);
    }
}

pub unsafe extern "C" fn glUniform1iv(location: i32, count: i32, value: *const i32) {
    // SAFETY: the program gives `count` values; the only reference in use.
    unsafe {
        let cx = context();
        let n = lens::times(count.into(), 1);
        let list = values(value, n);
        let mut arguments = vec![location as u32, count as u32];
        arguments.extend(list.iter().map(|v| *v as u32));
        let claim = cx.claim(ops::GL_UNIFORM1IV, &arguments, &[On::Program]);
        let before = cx.enc.doubt;
        cx.enc.gl_uniform1iv(location, count, (value, n));
        cx.claimed(before, claim);
        current_set(cx, location, list);
    }
}

pub unsafe extern "C" fn glProgramUniform1i(program: u32, location: i32, v0: i32) {
    // SAFETY: the only reference in use.
    unsafe {
        let cx = context();
        cx.enc.gl_program_uniform1i(program, location, v0);
        set(cx, program, location, &[v0]);
    }
}

pub unsafe extern "C" fn glProgramUniform1iv(
    program: u32,
    location: i32,
    count: i32,
    value: *const i32,
) {
    // SAFETY: as glUniform1iv.
    unsafe {
        let cx = context();
        let n = lens::times(count.into(), 1);
        cx.enc
            .gl_program_uniform1iv(program, location, count, (value, n));
        set(cx, program, location, values(value, n));
    }
}

/// The same for the program in use; where that is not known, no draw is claimed to succeed.
fn current_set(cx: &mut Context, location: i32, list: &[i32]) {
    if let Some(program) = cx.gl.objects.program_in_use() {
        set(cx, program, location, list);
    } else {
        // Of which program it is only the server knows.
        cx.enc.changes = cx.enc.changes.wrapping_add(1);
    }
}

fn set(cx: &mut Context, program: u32, location: i32, list: &[i32]) {
    if cx.gl.lists.is_open() {
        return;
    }
    let since = (cx.id, cx.enc.changes);
    let changed = cx
        .gl
        .shared
        .programs()
        .integers_set(program, location, list, since);
    if changed && cx.has_company() {
        // Other contexts may hold claims of it.
        cx.enc.changes = cx.enc.changes.wrapping_add(1);
    }
}
