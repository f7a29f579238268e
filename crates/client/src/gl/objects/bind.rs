//! Binds names that the program may have made up.

use super::names::{adopt, follow};
use crate::context::Context;
use crate::current::context;
use crate::shadow::objects::class::Class;

pub unsafe extern "C" fn glBindTexture(target: u32, texture: u32) {
    // SAFETY: the only reference in use, to the thread's own context.
    unsafe {
        let cx = context();
        if cx.gl.in_begin() {
            return cx.illegal_in_begin();
        }
        let before = cx.before_judged();
        follow!(cx, gl_bind_texture(target, texture));
        if texture != 0
            && !cx
                .gl
                .objects
                .known(Class::Texture, &cx.gl.shared.notes, texture)
        {
            adopt(cx, Class::Texture, texture);
        }
        cx.enc.gl_bind_texture(target, texture);
        cx.judged(before);
    }
}

/// Called before a framebuffer object, or the default framebuffer (0), is bound. Returns whether
/// the call may continue.
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
            .known(Class::Renderbuffer, &cx.gl.shared.notes, renderbuffer)
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
