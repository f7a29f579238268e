//! GLX_EXT_texture_from_pixmap: what X has drawn into a pixmap, as a texture's image.

use super::drawable;
use crate::gl::lookup;
use crate::idle::current;
use crate::surface::{Kind, Texture};
use crate::x11::watch::Watch;
use crate::x11::xlib::{xlib, Display, Xid};
use mgn_wire::gl::*;
use std::ffi::{c_int, c_void};
use x11rb::protocol::xproto::{ConnectionExt, ImageFormat};

const TEXTURE_2D: i32 = 0x20DC;
const TEXTURE_RECTANGLE: i32 = 0x20DD;
const FORMAT_RGBA: i32 = 0x20DA;

/// Copies the pixmap into the image of the texture that is bound, upper row first.
pub unsafe extern "C" fn bind_tex_image(
    display: *mut Display,
    xid: Xid,
    _buffer: c_int,
    _list: *const c_int,
) {
    // SAFETY: the program's display, passed on by libGLX.
    let surface = unsafe {
        if let Some(xlib) = xlib() {
            (xlib.sync)(display, 0);
        }
        drawable::known(display, xid as u32)
    };
    let Some(surface) = surface.filter(|_| current().is_some()) else {
        return;
    };
    let Kind::Pixmap {
        watch,
        pixmap,
        texture,
    } = &surface.kind
    else {
        return;
    };
    let (width, height) = surface.size();
    if let Some(pixels) = pixels(watch, *pixmap, width, height, texture) {
        define(texture, width, height, &pixels);
    }
}

/// The texture keeps the image until another is bound.
pub unsafe extern "C" fn release_tex_image(_display: *mut Display, _drawable: Xid, _buffer: c_int) {
}

/// The pixmap's pixels: red, green, blue, and alpha where the program wants it.
fn pixels(watch: &Watch, pixmap: u32, w: u32, h: u32, texture: &Texture) -> Option<Vec<u8>> {
    let (width, height) = (u16::try_from(w).ok()?, u16::try_from(h).ok()?);
    let asked =
        watch
            .connection()
            .get_image(ImageFormat::Z_PIXMAP, pixmap, 0, 0, width, height, !0);
    let image = asked.ok()?.reply().ok()?;
    let bytes = w as usize * h as usize * 4;
    if !matches!(image.depth, 24 | 32) || image.data.len() < bytes {
        return None;
    }
    let with_alpha = texture.format == FORMAT_RGBA;
    let pixel = |p: &[u8]| [p[2], p[1], p[0], p[3]];
    let components = if with_alpha { 4 } else { 3 };
    let data = image.data[..bytes].chunks_exact(4);
    Some(
        data.flat_map(|p| pixel(p).into_iter().take(components))
            .collect(),
    )
}

/// Defines the image as the program would, and leaves its unpack state as it was.
fn define(texture: &Texture, width: u32, height: u32, pixels: &[u8]) {
    const STATE: [u32; 8] = [
        GL_UNPACK_SWAP_BYTES,
        GL_UNPACK_LSB_FIRST,
        GL_UNPACK_ROW_LENGTH,
        GL_UNPACK_SKIP_ROWS,
        GL_UNPACK_SKIP_PIXELS,
        GL_UNPACK_IMAGE_HEIGHT,
        GL_UNPACK_SKIP_IMAGES,
        GL_UNPACK_ALIGNMENT,
    ];
    type Get = unsafe extern "C" fn(u32, *mut i32);
    type Store = unsafe extern "C" fn(u32, i32);
    type Bind = unsafe extern "C" fn(u32, u32);
    type Image = unsafe extern "C" fn(u32, i32, i32, i32, i32, i32, u32, u32, *const c_void);
    let target = match texture.target {
        TEXTURE_2D => GL_TEXTURE_2D,
        TEXTURE_RECTANGLE => GL_TEXTURE_RECTANGLE,
        _ => return,
    };
    let format = match texture.format {
        FORMAT_RGBA => GL_RGBA,
        _ => GL_RGB,
    };
    let functions = (
        lookup(b"glGetIntegerv"),
        lookup(b"glPixelStorei"),
        lookup(b"glBindBuffer"),
        lookup(b"glTexImage2D"),
    );
    let (Some(get), Some(store), Some(bind), Some(image)) = functions else {
        return;
    };
    // SAFETY: our own entry points, of the types that OpenGL gives them; each get writes one integer, and the image holds as many pixels as is said.
    unsafe {
        let get = std::mem::transmute::<*const c_void, Get>(get);
        let store = std::mem::transmute::<*const c_void, Store>(store);
        let bind = std::mem::transmute::<*const c_void, Bind>(bind);
        let image = std::mem::transmute::<*const c_void, Image>(image);
        let value = |name| {
            let mut value = 0;
            get(name, &mut value);
            value
        };
        let before = STATE.map(|name| (name, value(name)));
        let buffer = value(GL_PIXEL_UNPACK_BUFFER_BINDING) as u32;
        let changed = || before.iter().filter(|(name, v)| *v != tight(*name));
        changed().for_each(|(name, _)| store(*name, tight(*name)));
        if buffer != 0 {
            bind(GL_PIXEL_UNPACK_BUFFER, 0);
        }
        let (width, height) = (width as i32, height as i32);
        let data = pixels.as_ptr().cast();
        image(
            target,
            0,
            format as i32,
            width,
            height,
            0,
            format,
            GL_UNSIGNED_BYTE,
            data,
        );
        if buffer != 0 {
            bind(GL_PIXEL_UNPACK_BUFFER, buffer);
        }
        changed().for_each(|(name, value)| store(*name, *value));
    }
}

/// The value of unpack state for rows without gaps.
fn tight(name: u32) -> i32 {
    (name == GL_UNPACK_ALIGNMENT).into()
}
