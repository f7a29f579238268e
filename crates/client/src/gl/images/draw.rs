//! glDrawPixels, glBitmap and glPolygonStipple.

use super::textures::pixels;
use crate::current::context;
use crate::gl::pixels::Extent;
use crate::link::tiles::WholePurpose;
use core::ffi::c_void;
use mgn_wire::encoder::Data;
use mgn_wire::gl::{GL_BITMAP, GL_COLOR_INDEX, GL_POINTS};
use mgn_wire::ops;

/// Whether the pixels come from the program's memory, so that no buffer can be too small.
fn is_own(data: Data) -> bool {
    !matches!(data, Data::Offset(_))
}

pub unsafe extern "C" fn glDrawPixels(
    width: i32,
    height: i32,
    format: u32,
    type_: u32,
    image: *const c_void,
) {
    // SAFETY: the program's pixels; the reference to the thread's context is not kept.
    unsafe {
        // Mesa fails when it clips these pixels to a box.
        if format == GL_COLOR_INDEX {
            context().make_whole(WholePurpose::Drawing);
        }
        if let Some((cx, data)) = pixels(Extent::flat(width, height), format, type_, image) {
            let checked = width >= 0 && height >= 0 && format != GL_COLOR_INDEX;
            let success_key = match checked && is_own(data) && cx.gl.known_success.is_wanted() {
                true => cx.draw_success_key([ops::GL_DRAW_PIXELS.into(), format], type_),
                false => None,
            };
            let before = cx.enc.doubt;
            cx.enc.gl_draw_pixels(width, height, format, type_, data);
            cx.record_sent(before, success_key);
        }
    }
}

pub unsafe extern "C" fn glBitmap(
    width: i32,
    height: i32,
    x_origin: f32,
    y_origin: f32,
    x_move: f32,
    y_move: f32,
    bitmap: *const u8,
) {
    // SAFETY: the program's bitmap.
    unsafe {
        if let Some((cx, data)) = pixels(
            Extent::flat(width, height),
            GL_COLOR_INDEX,
            GL_BITMAP,
            bitmap.cast(),
        ) {
            // With an invalid raster position, nothing is drawn and the success proves nothing.
            let is_infallible = width >= 0
                && height >= 0
                && is_own(data)
                && cx.gl.known_success.is_wanted()
                && cx.draw_cannot_fail(GL_POINTS);
            let before = cx.enc.doubt;
            cx.enc
                .gl_bitmap(width, height, x_origin, y_origin, x_move, y_move, data);
            if is_infallible {
                cx.enc.doubt = before;
            }
        }
    }
}

pub unsafe extern "C" fn glPolygonStipple(mask: *const u8) {
    // SAFETY: the program's pattern.
    unsafe {
        if let Some((cx, data)) =
            pixels(Extent::flat(32, 32), GL_COLOR_INDEX, GL_BITMAP, mask.cast())
        {
            cx.enc.gl_polygon_stipple(data);
        }
    }
}
