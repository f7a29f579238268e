//! Texture images from the window system instead of the program.

use crate::current::with_current;
use crate::generated::entries::glCopyTexImage2D;
use crate::gl::handwritten::{
    glBindBuffer, glBindFramebuffer, glGetIntegerv, glPixelStorei, glTexImage2D,
};
use crate::link::surface::Surface;
use mgn_wire::gl::*;
use std::sync::Arc;

/// The parameters of OpenGL ES 2 come first, then those of version 3.
const UNPACK: [u32; 8] = [
    GL_UNPACK_ALIGNMENT,
    GL_UNPACK_ROW_LENGTH,
    GL_UNPACK_SKIP_ROWS,
    GL_UNPACK_SKIP_PIXELS,
    GL_UNPACK_IMAGE_HEIGHT,
    GL_UNPACK_SKIP_IMAGES,
    GL_UNPACK_SWAP_BYTES,
    GL_UNPACK_LSB_FIRST,
];

/// Defines the image of the texture that is bound to `target`: rows of red, green, blue and perhaps
/// alpha, without gaps. The program's unpack state is restored. Does nothing without a context.
///
/// # Panics
/// If `pixels` has another length.
pub fn define(target: u32, with_alpha: bool, (width, height): (u32, u32), pixels: &[u8]) {
    let (format, components) = format(with_alpha);
    assert_eq!(pixels.len(), width as usize * height as usize * components);
    // The entry points below create references to the context, so none is kept.
    let Some((is_es, major)) = with_current(|cx| (!cx.gl.is_desktop(), cx.request.major)) else {
        return;
    };
    let tight = |name| i32::from(name == GL_UNPACK_ALIGNMENT);
    let (state, has_buffers) = match major {
        ..3 if is_es => (&UNPACK[..1], false),
        _ if is_es => (&UNPACK[..6], true),
        _ => (&UNPACK[..], true),
    };
    let before: Vec<_> = state.iter().map(|name| (*name, integer(*name))).collect();
    let buffer = match has_buffers {
        true => integer(GL_PIXEL_UNPACK_BUFFER_BINDING) as u32,
        false => 0,
    };
    let changed = || before.iter().filter(|(name, v)| *v != tight(*name));
    // SAFETY: our own entry points, in a thread with a context that nothing refers to; the image
    // holds as many pixels as is said.
    unsafe {
        changed().for_each(|(name, _)| glPixelStorei(*name, tight(*name)));
        if buffer != 0 {
            glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
        }
        glTexImage2D(
            target,
            0,
            format as i32,
            width as i32,
            height as i32,
            0,
            format,
            GL_UNSIGNED_BYTE,
            pixels.as_ptr().cast(),
        );
        if buffer != 0 {
            glBindBuffer(GL_PIXEL_UNPACK_BUFFER, buffer);
        }
        changed().for_each(|(name, value)| glPixelStorei(*name, *value));
    }
}

/// Defines the image of the bound two-dimensional texture as a copy of `surface`. Does nothing
/// without a context.
pub fn copy(surface: &Arc<Surface>, with_alpha: bool) {
    let bound = with_current(|cx| {
        let (draw, read) = (cx.draw.clone(), cx.read.clone());
        cx.bind(draw.clone(), Some(surface.clone()));
        let separate = cx.gl.is_desktop() || cx.request.major >= 3;
        (draw, read, separate)
    });
    let Some((draw, read, separate)) = bound else {
        return;
    };
    let target = match separate {
        true => GL_READ_FRAMEBUFFER,
        false => GL_FRAMEBUFFER,
    };
    let (width, height) = surface.size();
    // SAFETY: our own entry points, in the context's thread; nothing refers to the context.
    unsafe {
        let bound = match separate {
            true => integer(GL_READ_FRAMEBUFFER_BINDING),
            false => integer(GL_FRAMEBUFFER_BINDING),
        };
        if bound != 0 {
            glBindFramebuffer(target, 0);
        }
        let (format, _) = format(with_alpha);
        let (width, height) = (width as i32, height as i32);
        glCopyTexImage2D(GL_TEXTURE_2D, 0, format, 0, 0, width, height, 0);
        if bound != 0 {
            glBindFramebuffer(target, bound as u32);
        }
    }
    with_current(|cx| cx.bind(draw, read));
}

fn format(with_alpha: bool) -> (u32, usize) {
    match with_alpha {
        true => (GL_RGBA, 4),
        false => (GL_RGB, 3),
    }
}

/// The client's value of an integer, which costs no round trip; 0 if the context has no such state.
fn integer(name: u32) -> i32 {
    let mut value = 0;
    // SAFETY: our own entry point; one integer is written.
    unsafe { glGetIntegerv(name, &mut value) };
    value
}
