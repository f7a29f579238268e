//! Bindings of names that the program may have made up.

use super::{adopt, follow, Class};
use crate::context::Context;
use crate::gl::context;
use crate::tiles::Whole;
use mgn_wire::gl::*;

pub unsafe extern "C" fn glBindTexture(target: u32, texture: u32) {
    // SAFETY: the only reference in use, to the thread's own context.
    unsafe {
        let cx = context();
        if cx.gl.in_begin() {
            return cx.illegal_in_begin();
        }
        let before = cx.before_judged();
        follow!(cx, gl_bind_texture(target, texture));
        if texture != 0 && !cx.gl.objects.known(Class::Texture, &cx.gl.shared, texture) {
            adopt(cx, Class::Texture, texture);
        }
        cx.enc.gl_bind_texture(target, texture);
        cx.judged(before);
    }
}

/// A framebuffer object, or with 0 the default framebuffer, is about to be bound. Says whether the call may go on.
fn begin_framebuffer(cx: &mut Context, framebuffer: u32) -> bool {
    if cx.gl.in_begin() {
        cx.illegal_in_begin::<()>();
        return false;
    }
    if framebuffer != 0 {
        adopt(cx, Class::Framebuffer, framebuffer);
    }
    true
}

pub unsafe extern "C" fn glBindFramebuffer(target: u32, framebuffer: u32) {
    // SAFETY: the only reference in use, to the thread's own context.
    unsafe {
        let cx = context();
        if begin_framebuffer(cx, framebuffer) {
            let before = cx.before_judged();
            follow!(cx, gl_bind_framebuffer(target, framebuffer));
            cx.enc.gl_bind_framebuffer(target, framebuffer);
            cx.judged(before);
        }
    }
}

pub unsafe extern "C" fn glBindFramebufferEXT(target: u32, framebuffer: u32) {
    // SAFETY: as above.
    unsafe {
        let cx = context();
        if begin_framebuffer(cx, framebuffer) {
            let before = cx.before_judged();
            follow!(cx, gl_bind_framebuffer_ext(target, framebuffer));
            cx.enc.gl_bind_framebuffer_ext(target, framebuffer);
            cx.judged(before);
        }
    }
}

pub unsafe extern "C" fn glBindFramebufferOES(target: u32, framebuffer: u32) {
    // SAFETY: the same command.
    unsafe { glBindFramebuffer(target, framebuffer) }
}

fn begin_renderbuffer(cx: &mut Context, renderbuffer: u32) -> bool {
    if cx.gl.in_begin() {
        cx.illegal_in_begin::<()>();
        return false;
    }
    if renderbuffer != 0
        && !cx
            .gl
            .objects
            .known(Class::Renderbuffer, &cx.gl.shared, renderbuffer)
    {
        adopt(cx, Class::Renderbuffer, renderbuffer);
    }
    true
}

pub unsafe extern "C" fn glBindRenderbuffer(target: u32, renderbuffer: u32) {
    // SAFETY: the only reference in use, to the thread's own context.
    unsafe {
        let cx = context();
        if begin_renderbuffer(cx, renderbuffer) {
            let before = cx.before_judged();
            follow!(cx, gl_bind_renderbuffer(target, renderbuffer));
            cx.enc.gl_bind_renderbuffer(target, renderbuffer);
            cx.judged(before);
        }
    }
}

pub unsafe extern "C" fn glBindRenderbufferEXT(target: u32, renderbuffer: u32) {
    // SAFETY: as above.
    unsafe {
        let cx = context();
        if begin_renderbuffer(cx, renderbuffer) {
            let before = cx.before_judged();
            follow!(cx, gl_bind_renderbuffer_ext(target, renderbuffer));
            cx.enc.gl_bind_renderbuffer_ext(target, renderbuffer);
            cx.judged(before);
        }
    }
}

pub unsafe extern "C" fn glBindRenderbufferOES(target: u32, renderbuffer: u32) {
    // SAFETY: the same command.
    unsafe { glBindRenderbuffer(target, renderbuffer) }
}

pub unsafe extern "C" fn glBindProgramPipeline(pipeline: u32) {
    // SAFETY: the only reference in use, to the thread's own context.
    unsafe {
        let cx = context();
        if cx.gl.in_begin() {
            return cx.illegal_in_begin();
        }
        follow!(cx, gl_bind_program_pipeline(pipeline));
        if pipeline == 0 || cx.gl.own.pipelines.is_taken(pipeline) {
            cx.gl.objects.pipeline = pipeline;
        }
        cx.enc.gl_bind_program_pipeline(pipeline);
    }
}

pub unsafe extern "C" fn glBindProgramPipelineEXT(pipeline: u32) {
    // SAFETY: the same command.
    unsafe { glBindProgramPipeline(pipeline) }
}

/// A query is about to begin. Says whether the call may go on.
fn begin_query(cx: &mut Context, id: u32) -> bool {
    if cx.gl.in_begin() {
        cx.illegal_in_begin::<()>();
        return false;
    }
    if cx.gl.objects.limits.is_compat() {
        cx.gl.own.queries.use_name(id);
    }
    true
}

/// Whether a query counts what a tile has only a part of.
fn counts(target: u32) -> bool {
    !matches!(target, GL_TIME_ELAPSED | GL_TIMESTAMP)
}

pub unsafe extern "C" fn glBeginQuery(target: u32, id: u32) {
    // SAFETY: the only reference in use, to the thread's own context.
    unsafe {
        let cx = context();
        if begin_query(cx, id) {
            if counts(target) {
                cx.make_whole(Whole::Drawing);
            }
            cx.enc.gl_begin_query(target, id);
        }
    }
}

pub unsafe extern "C" fn glBeginQueryEXT(target: u32, id: u32) {
    // SAFETY: the same command.
    unsafe { glBeginQuery(target, id) }
}

pub unsafe extern "C" fn glBeginQueryIndexed(target: u32, index: u32, id: u32) {
    // SAFETY: the only reference in use, to the thread's own context.
    unsafe {
        let cx = context();
        if begin_query(cx, id) {
            if counts(target) {
                cx.make_whole(Whole::Drawing);
            }
            cx.enc.gl_begin_query_indexed(target, index, id);
        }
    }
}

pub unsafe extern "C" fn glQueryCounter(id: u32, target: u32) {
    // SAFETY: as above.
    unsafe {
        let cx = context();
        if begin_query(cx, id) {
            cx.enc.gl_query_counter(id, target);
        }
    }
}

pub unsafe extern "C" fn glBeginTransformFeedback(primitive_mode: u32) {
    // SAFETY: as above.
    unsafe {
        let cx = context();
        if cx.gl.in_begin() {
            return cx.illegal_in_begin();
        }
        follow!(cx, gl_begin_transform_feedback(primitive_mode));
        cx.gl.objects.feeds_back = true;
        cx.enc.gl_begin_transform_feedback(primitive_mode);
    }
}

pub unsafe extern "C" fn glEndTransformFeedback() {
    // SAFETY: as above.
    unsafe {
        let cx = context();
        if cx.gl.in_begin() {
            return cx.illegal_in_begin();
        }
        follow!(cx, gl_end_transform_feedback());
        cx.gl.objects.feeds_back = false;
        cx.enc.gl_end_transform_feedback();
    }
}
