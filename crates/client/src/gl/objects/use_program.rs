//! Tracks which program is in use.

use crate::context::Context;
use crate::current::context;
use crate::shadow::objects::programs::Kind;
use mgn_wire::{gl::*, ops};
use std::sync::atomic::Ordering;

pub unsafe extern "C" fn glUseProgram(program: u32) {
    // SAFETY: the only reference in use, to the thread's own context.
    unsafe {
        let cx = context();
        if cx.gl.in_begin() {
            return cx.illegal_in_begin();
        }
        let before = cx.enc.doubt;
        cx.enc.gl_use_program(program);
        let epoch = cx.gl.shared.notes.relinked.load(Ordering::Acquire);
        let objects = &mut cx.gl.objects;
        if objects.usable.has(epoch, program) && !objects.feeds_back && !cx.gl.lists.is_open() {
            objects.program = Some(program);
            objects.uses_ids = objects.numbering.has(epoch, program);
            // This cannot fail.
            let _ = cx.gl.state.gl_use_program(program);
            cx.enc.doubt = before;
        } else {
            used_first(cx, epoch, program);
        }
    }
}

/// Uses a program that is not known to be linked, or that may not be used now.
#[cold]
fn used_first(cx: &mut Context, epoch: u32, program: u32) {
    let uses_ids = cx.gl.shared.programs().uses_ids(program);
    if cx.gl.lists.is_open() {
        let notes = &cx.gl.shared.notes;
        notes.listed_ids.fetch_or(uses_ids, Ordering::Relaxed);
        notes.listed_programs.store(true, Ordering::Release);
        if cx.gl.lists.only_compiles() {
            let _ = cx.gl.state.gl_use_program(program);
            return;
        }
    }
    let usable = if cx.gl.objects.feeds_back {
        // The driver refuses the use while transform feedback is active and not paused.
        current_program(cx) == program
    } else {
        program == 0 || is_linked(cx, program)
    };
    if !usable {
        return;
    }
    let _ = cx.gl.state.gl_use_program(program);
    let objects = &mut cx.gl.objects;
    objects.program = Some(program);
    objects.uses_ids = uses_ids;
    objects.usable.add(epoch, program);
    if uses_ids {
        objects.numbering.add(epoch, program);
    }
}

/// Whether `program` can be used. Costs a round trip if the program has not queried the link status
/// since the last link. Raises no error.
fn is_linked(cx: &mut Context, program: u32) -> bool {
    let known = {
        let programs = cx.gl.shared.programs();
        match programs.kind(program) {
            Some(Kind::Program) => programs.parameter(program, GL_LINK_STATUS),
            Some(Kind::Shader) => Some(0),
            None => None,
        }
    };
    if let Some(status) = known {
        return status != 0;
    }
    if cx.gl.shared.programs().kind(program).is_none() {
        // It was never created, or it was deleted and may be in use elsewhere.
        cx.enc.gl_is_program(program);
        let lives = cx.answer(ops::GL_IS_PROGRAM).value::<u8>();
        if lives == 0 {
            return false;
        }
    }
    super::program_queries::program_parameter(cx, program, GL_LINK_STATUS) != 0
}

/// The current program was linked again: the new shaders are in use at once.
pub(super) fn relinked(cx: &mut Context, program: u32) {
    if cx.gl.objects.program == Some(program) && cx.gl.shared.programs().uses_ids(program) {
        cx.gl.objects.uses_ids = true;
    }
}

/// The current program, as the server knows it.
fn current_program(cx: &mut Context) -> u32 {
    let mut program = 0i32;
    // SAFETY: the context's own encoder; one value is asked for.
    unsafe {
        cx.enc.gl_get_integerv(GL_CURRENT_PROGRAM, 1);
        cx.answer(ops::GL_GET_INTEGERV).array(&raw mut program, 1);
    }
    program as u32
}

pub unsafe extern "C" fn glGetHandleARB(pname: u32) -> u32 {
    // SAFETY: the only reference in use, to the thread's own context.
    let cx = unsafe { context() };
    if cx.gl.in_begin() {
        return cx.illegal_in_begin();
    }
    if pname != GL_PROGRAM_OBJECT_ARB {
        cx.set_error(GL_INVALID_ENUM);
        return 0;
    }
    match cx.gl.objects.program {
        Some(program) => program,
        None => {
            let program = current_program(cx);
            cx.gl.objects.program = Some(program);
            program
        }
    }
}
