//! GLX_EXT_texture_from_pixmap: uses the contents of an X pixmap as a texture's image.

use super::drawable;
use crate::current::has_current;
use crate::link::surface::Kind;
use crate::native_image::define;
use crate::x11::watch::Watch;
use crate::x11::xlib::{xlib, Display, Xid};
use mgn_wire::gl::{GL_TEXTURE_2D, GL_TEXTURE_RECTANGLE};
use std::ffi::c_int;
use x11rb::protocol::xproto::{ConnectionExt, ImageFormat};

const TEXTURE_2D: i32 = 0x20DC;
const TEXTURE_RECTANGLE: i32 = 0x20DD;
const FORMAT_RGBA: i32 = 0x20DA;

/// Copies the pixmap into the image of the bound texture, top row first.
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
    let Some(surface) = surface.filter(|_| has_current()) else {
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
    let target = match texture.target {
        TEXTURE_2D => GL_TEXTURE_2D,
        TEXTURE_RECTANGLE => GL_TEXTURE_RECTANGLE,
        _ => return,
    };
    let with_alpha = texture.format == FORMAT_RGBA;
    if let Some(pixels) = pixels(watch, *pixmap, width, height, with_alpha) {
        define(target, with_alpha, (width, height), &pixels);
    }
}

/// The texture keeps the image until another is bound.
pub unsafe extern "C" fn release_tex_image(_display: *mut Display, _drawable: Xid, _buffer: c_int) {
}

/// The pixmap's pixels: red, green, blue, and alpha if the program wants it.
fn pixels(watch: &Watch, pixmap: u32, w: u32, h: u32, with_alpha: bool) -> Option<Vec<u8>> {
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
    let pixel = |p: &[u8]| [p[2], p[1], p[0], p[3]];
    let components = if with_alpha { 4 } else { 3 };
    let data = image.data[..bytes].chunks_exact(4);
    Some(
        data.flat_map(|p| pixel(p).into_iter().take(components))
            .collect(),
    )
}
