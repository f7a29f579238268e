//! Generating and deleting names.

use super::{tell_group, with_names, Class};
use crate::context::Context;
use crate::gl::{buffers, context, values};
use mgn_wire::{gl::*, lens};
use std::sync::atomic::Ordering;

/// Generates `n` names and tells the server. Nobody waits.
///
/// # Safety
/// There is room for `n` names.
unsafe fn generate(cx: &mut Context, class: Class, n: i32, names: *mut u32) {
    if cx.gl.in_begin() {
        return cx.illegal_in_begin();
    }
    if n < 0 {
        return cx.set_error(GL_INVALID_VALUE);
    }
    if n == 0 || names.is_null() {
        return;
    }
    let n = n as usize;
    // SAFETY: the caller's promise.
    with_names(cx, class, |free| (0..n).for_each(|i| unsafe { names.add(i).write(free.take()) }));
    let list = (names.cast_const(), n);
    // SAFETY: `n` names were just written; the context's own encoder.
    unsafe {
        match class {
            Class::Buffer => cx.enc.gl_gen_buffers(list),
            Class::Texture => cx.enc.gl_gen_textures(list),
            Class::Renderbuffer => cx.enc.gl_gen_renderbuffers(list),
            Class::Sampler => cx.enc.gl_gen_samplers(list),
            Class::Framebuffer => cx.enc.gl_gen_framebuffers(list),
            Class::VertexArray => cx.enc.gl_gen_vertex_arrays(list),
            Class::Query => cx.enc.gl_gen_queries(list),
            Class::Pipeline => cx.enc.gl_gen_program_pipelines(list),
            Class::TransformFeedback => cx.enc.gl_gen_transform_feedbacks(list),
        }
    }
    if class.is_shared() {
        tell_group(cx);
    }
}

/// Deletes objects. Zeros and names of nothing are ignored.
///
/// # Safety
/// `names` is null or holds `n` names.
unsafe fn delete(cx: &mut Context, class: Class, n: i32, names: *const u32) {
    if cx.gl.in_begin() {
        return cx.illegal_in_begin();
    }
    if n < 0 {
        return cx.set_error(GL_INVALID_VALUE);
    }
    // SAFETY: the caller's promise.
    let names = unsafe { values(names, lens::times(n.into(), 1)) };
    let names: Vec<u32> = names.iter().copied().filter(|name| *name != 0).collect();
    if names.is_empty() {
        return;
    }
    let list = (names.as_ptr(), names.len());
    // SAFETY: the vector's own names; the context's own encoder.
    unsafe {
        match class {
            Class::Buffer => cx.enc.gl_delete_buffers(list),
            Class::Texture => cx.enc.gl_delete_textures(list),
            Class::Renderbuffer => cx.enc.gl_delete_renderbuffers(list),
            Class::Sampler => cx.enc.gl_delete_samplers(list),
            Class::Framebuffer => cx.enc.gl_delete_framebuffers(list),
            Class::VertexArray => cx.enc.gl_delete_vertex_arrays(list),
            Class::Query => cx.enc.gl_delete_queries(list),
            Class::Pipeline => cx.enc.gl_delete_program_pipelines(list),
            Class::TransformFeedback => cx.enc.gl_delete_transform_feedbacks(list),
        }
    }
    unbind(cx, class, &names);
    if class.is_shared() {
        tell_group(cx);
    }
    with_names(cx, class, |all| names.iter().for_each(|name| all.release(*name)));
    if class.is_shared() {
        cx.gl.shared.notes.released.fetch_add(1, Ordering::Release);
    }
}

/// What OpenGL unbinds when objects are deleted.
fn unbind(cx: &mut Context, class: Class, names: &[u32]) {
    match class {
        Class::Buffer => buffers::deleted(cx, names),
        Class::VertexArray => names.iter().for_each(|name| cx.gl.arrays.delete_vertex_array(*name)),
        _ => {}
    }
}

macro_rules! names {
    ($($class:ident: $generate:ident, $delete:ident;)*) => {
        $(
            pub unsafe extern "C" fn $generate(n: i32, names: *mut u32) {
                // SAFETY: the program gives room for `n` names; the only reference in use, to the thread's own context.
                unsafe { generate(context(), Class::$class, n, names) }
            }

            pub unsafe extern "C" fn $delete(n: i32, names: *const u32) {
                // SAFETY: the program gives `n` names; the only reference in use, to the thread's own context.
                unsafe { delete(context(), Class::$class, n, names) }
            }
        )*
    };
}

names! {
    Buffer: glGenBuffers, glDeleteBuffers;
    Texture: glGenTextures, glDeleteTextures;
    Texture: glGenTexturesEXT, glDeleteTexturesEXT;
    Renderbuffer: glGenRenderbuffers, glDeleteRenderbuffers;
    Renderbuffer: glGenRenderbuffersOES, glDeleteRenderbuffersOES;
    Sampler: glGenSamplers, glDeleteSamplers;
    Framebuffer: glGenFramebuffers, glDeleteFramebuffers;
    Framebuffer: glGenFramebuffersOES, glDeleteFramebuffersOES;
    VertexArray: glGenVertexArrays, glDeleteVertexArrays;
    Query: glGenQueries, glDeleteQueries;
    Query: glGenQueriesEXT, glDeleteQueriesEXT;
    Pipeline: glGenProgramPipelines, glDeleteProgramPipelines;
    Pipeline: glGenProgramPipelinesEXT, glDeleteProgramPipelinesEXT;
    TransformFeedback: glGenTransformFeedbacks, glDeleteTransformFeedbacks;
}
