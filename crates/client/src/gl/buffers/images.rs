//! Buffers to which the server may write without the client's knowledge: shaders write through
//! images of buffer textures, and transform feedback writes directly.

use crate::current::context;
use crate::gl::objects::names::use_name;
use crate::shadow::objects::class::Class;
use mgn_wire::gl::GL_TEXTURE_BUFFER;
use mgn_wire::lens;

/// Commands after which the server may write to `buffer` without the client's knowledge. `then` is
/// what the table of buffers records. Commands of EXT_direct_state_access create the texture if it
/// does not exist.
macro_rules! writers {
    ($($name:ident($($arg:ident: $ty:ty),*) $send:ident $buffer:ident $then:ident $($texture:ident)?;)*) => {$(
        pub unsafe extern "C" fn $name($($arg: $ty),*) {
            // SAFETY: the only reference in use, to the thread's own context.
            unsafe {
                let cx = context();
                if cx.gl.in_begin() {
                    return cx.illegal_in_begin();
                }
                $(use_name(cx, Class::Texture, $texture, GL_TEXTURE_BUFFER);)?
                cx.enc.$send($($arg),*);
                cx.gl.shared.buffers().$then($buffer);
            }
        }
    )*};
}

writers! {
    glTexBuffer(target: u32, format: u32, buffer: u32) gl_tex_buffer buffer is_textured;
    glTexBufferRange(target: u32, format: u32, buffer: u32, offset: i64, size: i64) gl_tex_buffer_range buffer is_textured;
    glTextureBuffer(texture: u32, format: u32, buffer: u32) gl_texture_buffer buffer is_textured;
    glTextureBufferRange(texture: u32, format: u32, buffer: u32, offset: i64, size: i64) gl_texture_buffer_range buffer is_textured;
    glTextureBufferEXT(texture: u32, target: u32, format: u32, buffer: u32) gl_texture_buffer_ext buffer is_textured texture;
    glTextureBufferRangeEXT(texture: u32, target: u32, format: u32, buffer: u32, offset: i64, size: i64)
        gl_texture_buffer_range_ext buffer is_textured texture;
    glMultiTexBufferEXT(unit: u32, target: u32, format: u32, buffer: u32) gl_multi_tex_buffer_ext buffer is_textured;
    glTransformFeedbackBufferBase(feedback: u32, index: u32, buffer: u32) gl_transform_feedback_buffer_base buffer is_written_unseen;
    glTransformFeedbackBufferRange(feedback: u32, index: u32, buffer: u32, offset: i64, size: i64)
        gl_transform_feedback_buffer_range buffer is_written_unseen;
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
        cx.shaders_write();
    }
}

pub unsafe extern "C" fn glBindImageTextures(first: u32, count: i32, textures: *const u32) {
    // SAFETY: the program gives `count` names or a null pointer; the only reference in use.
    unsafe {
        let cx = context();
        let n = lens::times(count.into(), 1);
        cx.enc.gl_bind_image_textures(first, count, (textures, n));
        cx.gl.shared.buffers().images_bound();
        cx.shaders_write();
    }
}
