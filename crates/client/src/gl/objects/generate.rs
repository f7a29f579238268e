//! Generates and deletes names.

use super::names::{tell_group, with_names};
use crate::context::Context;
use crate::current::context;
use crate::gl::buffers;
use crate::gl::framebuffers::images_deleted;
use crate::gl::tracked::values;
use crate::shadow::objects::class::Class;
use mgn_wire::{gl::*, lens, ops};
use std::sync::atomic::Ordering;

/// Takes `n` names; none if the command has been refused or `n` is 0.
///
/// # Safety
/// There is room for `n` names.
unsafe fn take<'a>(cx: &mut Context, class: Class, n: i32, names: *mut u32) -> Option<&'a [u32]> {
    if cx.is_illegal_now() {
        return cx.illegal_in_begin();
    }
    if cx.gl.is_es1() && !class.is_in_es1() {
        return cx.fail(GL_INVALID_OPERATION);
    }
    if n < 0 {
        return cx.fail(GL_INVALID_VALUE);
    }
    if n == 0 || names.is_null() {
        return None;
    }
    let n = n as usize;
    with_names(cx, class, |free| {
        for i in 0..n {
            // SAFETY: the caller's promise.
            unsafe { names.add(i).write(free.take()) };
        }
    });
    // SAFETY: `n` names were just written.
    let names = unsafe { values(names, n) };
    let state = &mut cx.gl.state;
    match class {
        Class::Buffer => state.gl_gen_buffers(names),
        Class::Texture => state.gl_gen_textures(names),
        Class::Renderbuffer => state.gl_gen_renderbuffers(names),
        Class::Sampler => state.gl_gen_samplers(names),
        Class::Framebuffer => state.gl_gen_framebuffers(names),
        Class::VertexArray => state.gl_gen_vertex_arrays(names),
        Class::Query | Class::Assembly | Class::FragmentShader => {}
        Class::Pipeline => state.gl_gen_program_pipelines(names),
        Class::TransformFeedback => state.gl_gen_transform_feedbacks(names),
    }
    Some(names)
}

/// Whether the context certainly has the commands to create and delete objects of a class, so that
/// the only errors are those found here.
fn has_class(cx: &Context, class: Class) -> bool {
    match class {
        Class::Buffer | Class::Texture => true,
        Class::Framebuffer | Class::Renderbuffer => !cx.gl.is_es1(),
        // Deleting an active one is an error.
        Class::TransformFeedback => false,
        Class::Sampler | Class::VertexArray | Class::Query | Class::Pipeline => cx.gl.is_desktop(),
        Class::Assembly | Class::FragmentShader => cx.gl.is_compat(),
    }
}

/// Generates `n` names and tells the server, without waiting.
///
/// # Safety
/// There is room for `n` names.
unsafe fn generate(cx: &mut Context, class: Class, n: i32, names: *mut u32) {
    // SAFETY: the caller's promise.
    let Some(names) = (unsafe { take(cx, class, n, names) }) else {
        return;
    };
    let before = has_class(cx, class).then_some(cx.enc.doubt);
    let (enc, list) = (&mut cx.enc, (names.as_ptr(), names.len()));
    // SAFETY: the names that were taken; the context's own encoder.
    unsafe {
        match class {
            Class::Buffer => enc.gl_gen_buffers(list),
            Class::Texture => enc.gl_gen_textures(list),
            Class::Renderbuffer => enc.gl_gen_renderbuffers(list),
            Class::Sampler => enc.gl_gen_samplers(list),
            Class::Framebuffer => enc.gl_gen_framebuffers(list),
            Class::VertexArray => enc.gl_gen_vertex_arrays(list),
            Class::Query => enc.gl_gen_queries(list),
            Class::Pipeline => enc.gl_gen_program_pipelines(list),
            Class::TransformFeedback => enc.gl_gen_transform_feedbacks(list),
            Class::Assembly => enc.gl_gen_programs_arb(list),
            // These names are not generated with this command.
            Class::FragmentShader => {}
        }
    }
    if let Some(before) = before {
        cx.enc.doubt = before;
    }
    if class.is_shared() {
        tell_group(cx);
    }
}

/// Generates `n` names and creates an object for each.
///
/// # Safety
/// There is room for `n` names.
unsafe fn create(cx: &mut Context, class: Class, target: u32, n: i32, names: *mut u32) {
    // SAFETY: the caller's promise.
    let Some(names) = (unsafe { take(cx, class, n, names) }) else {
        return;
    };
    let (enc, list) = (&mut cx.enc, (names.as_ptr(), names.len()));
    // SAFETY: the names that were taken; the context's own encoder.
    unsafe {
        match class {
            Class::Buffer => enc.gl_create_buffers(list),
            Class::Texture => enc.gl_create_textures(target, list),
            Class::Renderbuffer => enc.gl_create_renderbuffers(list),
            Class::Sampler => enc.gl_create_samplers(list),
            Class::Framebuffer => enc.gl_create_framebuffers(list),
            Class::VertexArray => enc.gl_create_vertex_arrays(list),
            Class::Query => enc.gl_create_queries(target, list),
            Class::Pipeline => enc.gl_create_program_pipelines(list),
            Class::TransformFeedback => enc.gl_create_transform_feedbacks(list),
            // These objects are only created by their use.
            Class::Assembly | Class::FragmentShader => {}
        }
    }
    for &name in names {
        match class {
            Class::Buffer => {
                let released = cx.gl.shared.notes.releases();
                cx.gl.shared.buffers().adopt(name, released);
            }
            Class::Texture => cx.gl.state.texture_made(name, target),
            Class::VertexArray => cx.gl.arrays.create_vertex_array(name),
            _ => {}
        }
    }
    if class.is_shared() {
        tell_group(cx);
    }
}

pub unsafe extern "C" fn glCreateTextures(target: u32, n: i32, names: *mut u32) {
    // SAFETY: the program gives room for `n` names; the only reference in use, to the thread's own
    // context.
    unsafe {
        let cx = context();
        if !cx.gl.in_begin() && !cx.gl.state.has_texture_target(target) {
            return cx.set_error(GL_INVALID_ENUM);
        }
        create(cx, Class::Texture, target, n, names);
    }
}

pub unsafe extern "C" fn glCreateQueries(target: u32, n: i32, names: *mut u32) {
    // SAFETY: as above.
    unsafe {
        let cx = context();
        match target {
            GL_SAMPLES_PASSED
            | GL_ANY_SAMPLES_PASSED
            | GL_ANY_SAMPLES_PASSED_CONSERVATIVE
            | GL_TIME_ELAPSED
            | GL_TIMESTAMP
            | GL_PRIMITIVES_GENERATED
            | GL_TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN
            | GL_TRANSFORM_FEEDBACK_STREAM_OVERFLOW
            | GL_TRANSFORM_FEEDBACK_OVERFLOW => create(cx, Class::Query, target, n, names),
            GL_VERTICES_SUBMITTED..=GL_CLIPPING_OUTPUT_PRIMITIVES
            | GL_GEOMETRY_SHADER_INVOCATIONS => create_statistics(cx, target, n, names),
            _ if cx.gl.in_begin() => cx.illegal_in_begin(),
            _ => cx.set_error(GL_INVALID_ENUM),
        }
    }
}

/// Creates queries of pipeline statistics if the driver supports that. Before version 26, Mesa
/// refuses these targets, whatever `n` is, and `names` stays unwritten.
///
/// # Safety
/// There is room for `n` names.
unsafe fn create_statistics(cx: &mut Context, target: u32, n: i32, names: *mut u32) {
    if !cx.gl.in_begin() {
        let mut tried = 0;
        // SAFETY: there is room for one name, and then it is there.
        let is_made = unsafe {
            create(cx, Class::Query, target, 1, &mut tried);
            cx.enc.gl_is_query(tried);
            let is_made = cx.answer(ops::GL_IS_QUERY).value::<u8>() != 0;
            delete(cx, Class::Query, 1, &tried);
            is_made
        };
        if !is_made {
            return;
        }
    }
    // SAFETY: the caller's promise.
    unsafe { create(cx, Class::Query, target, n, names) }
}

/// Deletes objects. Zeros and unused names are ignored.
///
/// # Safety
/// `names` is null or holds `n` names.
unsafe fn delete(cx: &mut Context, class: Class, n: i32, names: *const u32) {
    if cx.is_illegal_now() {
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
    let before = has_class(cx, class).then_some(cx.enc.doubt);
    let list = (names.as_ptr(), names.len());
    let (enc, state) = (&mut cx.enc, &mut cx.gl.state);
    // SAFETY: the vector's own names; the context's own encoder.
    unsafe {
        match class {
            Class::Buffer => {
                enc.gl_delete_buffers(list);
                state.gl_delete_buffers(&names);
                buffers::deleted(cx, &names);
            }
            Class::Texture => {
                enc.gl_delete_textures(list);
                state.gl_delete_textures(&names);
                images_deleted(cx, class, &names);
            }
            Class::Renderbuffer => {
                enc.gl_delete_renderbuffers(list);
                state.gl_delete_renderbuffers(&names);
                images_deleted(cx, class, &names);
            }
            Class::Sampler => {
                enc.gl_delete_samplers(list);
                state.gl_delete_samplers(&names);
            }
            Class::Framebuffer => {
                enc.gl_delete_framebuffers(list);
                state.gl_delete_framebuffers(&names);
                cx.gl.framebuffers.deleted(&names);
            }
            Class::VertexArray => {
                enc.gl_delete_vertex_arrays(list);
                state.gl_delete_vertex_arrays(&names);
                names
                    .iter()
                    .for_each(|name| cx.gl.arrays.delete_vertex_array(*name));
            }
            Class::Query => {
                enc.gl_delete_queries(list);
                cx.gl.objects.counts.deleted(&names);
                cx.follow_counts();
            }
            Class::Pipeline => {
                enc.gl_delete_program_pipelines(list);
                state.gl_delete_program_pipelines(&names);
                cx.gl.objects.pipelines_deleted(&names);
            }
            Class::TransformFeedback => {
                enc.gl_delete_transform_feedbacks(list);
                state.gl_delete_transform_feedbacks(&names);
            }
            Class::Assembly => enc.gl_delete_programs_arb(list),
            Class::FragmentShader => {}
        }
    }
    if let Some(before) = before {
        cx.enc.doubt = before;
    }
    if class.is_shared() {
        tell_group(cx);
    }
    with_names(cx, class, |all| {
        names.iter().for_each(|name| all.release(*name))
    });
    if class.is_shared() {
        cx.gl.shared.notes.released.fetch_add(1, Ordering::Release);
    }
}

macro_rules! names {
    ($($class:ident: $generate:ident, $delete:ident;)*) => {
        $(
            pub unsafe extern "C" fn $generate(n: i32, names: *mut u32) {
                // SAFETY: the program gives room for `n` names; the only reference in use, to the
                // thread's own context.
                unsafe { generate(context(), Class::$class, n, names) }
            }

            pub unsafe extern "C" fn $delete(n: i32, names: *const u32) {
                // SAFETY: the program gives `n` names; the only reference in use, to the thread's
                // own context.
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
    Assembly: glGenProgramsARB, glDeleteProgramsARB;
}

macro_rules! created {
    ($($class:ident: $create:ident;)*) => {
        $(
            pub unsafe extern "C" fn $create(n: i32, names: *mut u32) {
                // SAFETY: the program gives room for `n` names; the only reference in use, to the
                // thread's own context.
                unsafe { create(context(), Class::$class, 0, n, names) }
            }
        )*
    };
}

created! {
    Buffer: glCreateBuffers;
    Renderbuffer: glCreateRenderbuffers;
    Sampler: glCreateSamplers;
    Framebuffer: glCreateFramebuffers;
    VertexArray: glCreateVertexArrays;
    Pipeline: glCreateProgramPipelines;
    TransformFeedback: glCreateTransformFeedbacks;
}
