//! Objects that are bound by name.

use mgn_wire::gl::*;

use crate::compare::TARGETS;
use crate::egl::Api;
use crate::gl::{both, Pair};

const BUFFERS: &[u32] = &[
    GL_ARRAY_BUFFER,
    GL_ELEMENT_ARRAY_BUFFER,
    GL_PIXEL_PACK_BUFFER,
    GL_PIXEL_UNPACK_BUFFER,
    GL_COPY_READ_BUFFER,
    GL_COPY_WRITE_BUFFER,
    GL_DRAW_INDIRECT_BUFFER,
    GL_DISPATCH_INDIRECT_BUFFER,
    GL_PARAMETER_BUFFER,
    GL_QUERY_BUFFER,
    GL_UNIFORM_BUFFER,
    GL_SHADER_STORAGE_BUFFER,
    GL_ATOMIC_COUNTER_BUFFER,
    GL_TEXTURE_BUFFER,
];
const INDEXED: &[u32] = &[
    GL_UNIFORM_BUFFER,
    GL_SHADER_STORAGE_BUFFER,
    GL_ATOMIC_COUNTER_BUFFER,
];

pub fn step(p: &mut Pair) {
    match p.random.below(9) {
        0 => buffers(p),
        1 => textures(p),
        2 | 3 => crate::fixed_function::tex_parameters(p),
        4 => framebuffers(p),
        5 => vertex_arrays(p),
        6 => samplers(p),
        7 => names(p),
        _ => crate::fixed_function::active_texture(p, 12),
    }
}

/// Generates and deletes. The driver gives out the names here, and the shadow takes them.
fn names(p: &mut Pair) {
    let kind = p.random.below(7);
    let n = 1 + p.random.below(2) as i32;
    let generate = [
        "Buffers",
        "Textures",
        "Framebuffers",
        "Renderbuffers",
        "VertexArrays",
        "Samplers",
        "ProgramPipelines",
    ][kind as usize];
    if p.api == Api::Es1 && kind >= 2 {
        return;
    }
    if p.random.one_in(2) {
        let mut names = [0u32; 2];
        // SAFETY: the command takes a number and room for as many names.
        unsafe {
            let f: unsafe extern "C" fn(i32, *mut u32) =
                std::mem::transmute(p.context.proc(&format!("glGen{generate}")));
            f(n, names.as_mut_ptr());
        }
        let names = &names[..n as usize];
        match kind {
            0 => p.state.gl_gen_buffers(names),
            1 => p.state.gl_gen_textures(names),
            2 => p.state.gl_gen_framebuffers(names),
            3 => p.state.gl_gen_renderbuffers(names),
            4 => p.state.gl_gen_vertex_arrays(names),
            5 => p.state.gl_gen_samplers(names),
            _ => p.state.gl_gen_program_pipelines(names),
        }
        p.agree(format!("glGen{generate} {names:?}"), Ok(()));
        return;
    }
    // Drivers differ in how they treat an object that an attribute stack still holds.
    let depth = |p: &Pair, pname| p.state.get(pname).values().map(|v| v.int(0));
    let stacked = depth(p, GL_ATTRIB_STACK_DEPTH).unwrap_or(0) > 0
        || depth(p, GL_CLIENT_ATTRIB_STACK_DEPTH).unwrap_or(0) > 0;
    if stacked || !p.random.one_in(3) {
        return;
    }
    let names: Vec<u32> = (0..n).map(|_| p.random.below(6)).collect();
    // SAFETY: as above.
    unsafe {
        let f: unsafe extern "C" fn(i32, *const u32) =
            std::mem::transmute(p.context.proc(&format!("glDelete{generate}")));
        f(n, names.as_ptr());
    }
    match kind {
        0 => p.state.gl_delete_buffers(&names),
        1 => p.state.gl_delete_textures(&names),
        2 => p.state.gl_delete_framebuffers(&names),
        3 => p.state.gl_delete_renderbuffers(&names),
        4 => p.state.gl_delete_vertex_arrays(&names),
        5 => p.state.gl_delete_samplers(&names),
        _ => p.state.gl_delete_program_pipelines(&names),
    }
    p.agree(format!("glDelete{generate} {names:?}"), Ok(()));
}

fn buffers(p: &mut Pair) {
    let name = p.random.below(8);
    let index = p.random.below(5);
    let target = p.random.of(INDEXED);
    match p.random.below(5) {
        0..=2 => {
            let target = p.random.of(BUFFERS);
            both!(p, "glBindBuffer", gl_bind_buffer, (target: u32, name: u32))
        }
        _ if p.api == Api::Es1 => {}
        3 => both!(
            p,
            "glBindBufferBase",
            gl_bind_buffer_base,
            (target: u32, index: u32, name: u32)
        ),
        _ => {
            let (offset, size) = (
                p.random.int(0, 3) as i64 * 256,
                p.random.int(-1, 9) as i64 * 4,
            );
            both!(
                p,
                "glBindBufferRange",
                gl_bind_buffer_range,
                (target: u32, index: u32, name: u32, offset: i64, size: i64)
            )
        }
    }
}

fn textures(p: &mut Pair) {
    let (target, name) = (p.random.of(TARGETS), p.random.below(9));
    match p.random.below(4) {
        0 if p.api == Api::Core || p.api == Api::Compat => {
            let (first, count) = (p.random.below(6), 2i32);
            let textures: [u32; 2] = std::array::from_fn(|_| p.random.below(5));
            both!(
                p,
                "glBindTextures",
                gl_bind_textures,
                (first: u32, count: i32),
                [textures: u32]
            )
        }
        _ => both!(p, "glBindTexture", gl_bind_texture, (target: u32, name: u32)),
    }
}

fn framebuffers(p: &mut Pair) {
    if p.api == Api::Es1 {
        return;
    }
    let name = p.random.below(4);
    let target = p
        .random
        .of(&[GL_FRAMEBUFFER, GL_DRAW_FRAMEBUFFER, GL_READ_FRAMEBUFFER]);
    let buffer = p
        .random
        .of(&[GL_NONE, GL_COLOR_ATTACHMENT0, GL_COLOR_ATTACHMENT0 + 3]);
    let drawn = p
        .state
        .get(GL_DRAW_FRAMEBUFFER_BINDING)
        .values()
        .map(|v| v.int(0));
    let read = p
        .state
        .get(GL_READ_FRAMEBUFFER_BINDING)
        .values()
        .map(|v| v.int(0));
    match p.random.below(6) {
        0 | 1 => both!(p, "glBindFramebuffer", gl_bind_framebuffer, (target: u32, name: u32)),
        2 => {
            let target = p.random.of(&[GL_RENDERBUFFER]);
            both!(p, "glBindRenderbuffer", gl_bind_renderbuffer, (target: u32, name: u32))
        }
        3 if drawn != Some(0) && p.api != Api::Es3 => {
            both!(p, "glDrawBuffer", gl_draw_buffer, (buffer: u32))
        }
        4 if drawn != Some(0) => {
            let n = p.random.int(-1, 4);
            let buffers: [u32; 4] = std::array::from_fn(|i| match p.random.below(3) {
                0 => GL_NONE,
                1 => GL_COLOR_ATTACHMENT0 + i as u32,
                _ => buffer,
            });
            both!(p, "glDrawBuffers", gl_draw_buffers, (n: i32), [buffers: u32])
        }
        5 if read != Some(0) => both!(p, "glReadBuffer", gl_read_buffer, (buffer: u32)),
        _ => {}
    }
}

fn vertex_arrays(p: &mut Pair) {
    if p.api == Api::Es1 {
        return;
    }
    let name = p.random.below(4);
    match p.random.below(3) {
        0 => both!(p, "glBindProgramPipeline", gl_bind_program_pipeline, (name: u32)),
        _ => both!(p, "glBindVertexArray", gl_bind_vertex_array, (name: u32)),
    }
}

fn samplers(p: &mut Pair) {
    if p.api == Api::Es1 {
        return;
    }
    let (unit, name) = (p.random.below(12), p.random.below(4));
    both!(p, "glBindSampler", gl_bind_sampler, (unit: u32, name: u32))
}
