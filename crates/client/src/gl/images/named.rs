//! Images of textures that a command selects by name or by unit.

use super::read::take_level;
use crate::context::Context;
use crate::current::context;
use crate::gl::objects::names::use_name;
use crate::gl::pixels::{Extent, Layout};
use crate::shadow::objects::class::Class;
use core::ffi::c_void;
use mgn_state::PixelStore;
use mgn_wire::encoder::Encoder;
use mgn_wire::ops;

/// Requests an image. The server writes it to the pixel pack buffer if one is bound.
///
/// # Safety
/// Without a pixel pack buffer, `pixels` is null or has room for the image. Nothing else refers to
/// the thread's context.
unsafe fn fetch(
    op: u16,
    ask: impl FnOnce(&mut Encoder, u64),
    layout: impl Fn(&PixelStore, Extent, usize) -> Option<Layout>,
    most: i32,
    pixels: *mut c_void,
) {
    // SAFETY: the caller's promise.
    unsafe {
        let cx = context();
        if cx.gl.in_begin() {
            return cx.illegal_in_begin();
        }
        if cx.packs_into_buffer() {
            if cx.pack(|enc| ask(enc, pixels as u64)) {
                cx.answer(op);
            }
            return;
        }
        ask(&mut cx.enc, 0);
        take_level(cx, op, layout, most, pixels);
    }
}

/// The target of a texture that a command selects by name only; 0 if there is no such texture. In
/// the compatibility profile, the driver does not tell it.
fn target_of(texture: u32) -> u32 {
    // SAFETY: the only reference in use.
    unsafe { context() }.gl.state.texture_target(texture)
}

/// Commands on one texture. After the semicolon are the arguments that these commands lack.
macro_rules! uncompressed {
    ($($name:ident($first:ident$(; $own:ident)?$(, $arg:ident: $ty:ty)*) $ask:ident $op:ident;)*) => {$(
        pub unsafe extern "C" fn $name($first: u32, $($arg: $ty,)* format: u32, type_: u32, most: i32, pixels: *mut c_void) {
            $(let $own = target_of($first);)?
            let layout = |store: &PixelStore, extent, _| Layout::new(store, extent, format, type_);
            // SAFETY: the program's memory; the context's own encoder.
            unsafe { fetch(ops::$op, |enc, to| enc.$ask($first, $($own,)? $($arg,)* format, type_, to, 4), layout, most, pixels) }
        }
    )*};
}

uncompressed! {
    glGetTextureImage(texture; target, level: i32)
        gl_get_texture_image GL_GET_TEXTURE_IMAGE;
    glGetTextureSubImage(texture; target, level: i32, x: i32, y: i32, z: i32, width: i32, height: i32, depth: i32)
        gl_get_texture_sub_image GL_GET_TEXTURE_SUB_IMAGE;
}

macro_rules! compressed {
    ($($name:ident($first:ident$(; $own:ident)?$(, $arg:ident: $ty:ty)*) $ask:ident $op:ident;)*) => {$(
        pub unsafe extern "C" fn $name($first: u32, $($arg: $ty,)* most: i32, pixels: *mut c_void) {
            $(let $own = target_of($first);)?
            // SAFETY: as above.
            unsafe { fetch(ops::$op, |enc, to| enc.$ask($first, $($own,)? $($arg,)* to, 4), Layout::compressed, most, pixels) }
        }
    )*};
}

compressed! {
    glGetCompressedTextureImage(texture; target, level: i32)
        gl_get_compressed_texture_image GL_GET_COMPRESSED_TEXTURE_IMAGE;
    glGetCompressedTextureSubImage(texture; target, level: i32, x: i32, y: i32, z: i32, width: i32, height: i32, depth: i32)
        gl_get_compressed_texture_sub_image GL_GET_COMPRESSED_TEXTURE_SUB_IMAGE;
}

/// The commands of the older extension, on a texture that is created if it does not exist, or on a
/// unit.
macro_rules! older {
    ($($image:ident $ask_image:ident $image_op:ident, $blocks:ident $ask_blocks:ident $blocks_op:ident: $first:ident, $prepare:expr;)*) => {$(
        pub unsafe extern "C" fn $image($first: u32, target: u32, level: i32, format: u32, type_: u32, pixels: *mut c_void) {
            let layout = |store: &PixelStore, extent, _| Layout::new(store, extent, format, type_);
            // SAFETY: as above; one reference to the context after the other.
            unsafe {
                $prepare(context(), $first, target);
                fetch(ops::$image_op, |enc, to| enc.$ask_image($first, target, level, format, type_, to, 4), layout, i32::MAX, pixels)
            }
        }

        pub unsafe extern "C" fn $blocks($first: u32, target: u32, level: i32, pixels: *mut c_void) {
            // SAFETY: as above.
            unsafe {
                $prepare(context(), $first, target);
                fetch(ops::$blocks_op, |enc, to| enc.$ask_blocks($first, target, level, to, 4), Layout::compressed, i32::MAX, pixels)
            }
        }
    )*};
}

older! {
    glGetTextureImageEXT gl_get_texture_image_ext GL_GET_TEXTURE_IMAGE_EXT,
        glGetCompressedTextureImageEXT gl_get_compressed_texture_image_ext GL_GET_COMPRESSED_TEXTURE_IMAGE_EXT: texture, prepare;
    glGetMultiTexImageEXT gl_get_multi_tex_image_ext GL_GET_MULTI_TEX_IMAGE_EXT,
        glGetCompressedMultiTexImageEXT gl_get_compressed_multi_tex_image_ext GL_GET_COMPRESSED_MULTI_TEX_IMAGE_EXT: texunit, |_, _, _| ();
}

fn prepare(cx: &mut Context, texture: u32, target: u32) {
    if !cx.gl.in_begin() {
        use_name(cx, Class::Texture, texture, target);
    }
}
