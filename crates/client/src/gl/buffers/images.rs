//! Buffers that shaders write to through images of textures on them.

use crate::gl::context;
use mgn_wire::lens;

pub unsafe extern "C" fn glTexBuffer(target: u32, internal_format: u32, buffer: u32) {
    // SAFETY: the only reference in use, to the thread's own context.
    unsafe {
        let cx = context();
        cx.enc.gl_tex_buffer(target, internal_format, buffer);
        cx.gl.shared.buffers().is_textured(buffer);
    }
}

pub unsafe extern "C" fn glTexBufferRange(
    target: u32,
    internal_format: u32,
    buffer: u32,
    offset: i64,
    size: i64,
) {
    // SAFETY: as above.
    unsafe {
        let cx = context();
        cx.enc
            .gl_tex_buffer_range(target, internal_format, buffer, offset, size);
        cx.gl.shared.buffers().is_textured(buffer);
    }
}

pub unsafe extern "C" fn glBindImageTexture(
    unit: u32,
    texture: u32,
    level: i32,
    layered: u8,
    layer: i32,
    access: u32,
    format: u32,
) {
    // SAFETY: as above.
    unsafe {
        let cx = context();
        cx.enc
            .gl_bind_image_texture(unit, texture, level, layered, layer, access, format);
        cx.gl.shared.buffers().images_bound();
    }
}

pub unsafe extern "C" fn glBindImageTextures(first: u32, count: i32, textures: *const u32) {
    // SAFETY: the program gives `count` names or a null pointer; the only reference in use.
    unsafe {
        let cx = context();
        let n = lens::times(count.into(), 1);
        cx.enc.gl_bind_image_textures(first, count, (textures, n));
        cx.gl.shared.buffers().images_bound();
    }
}
