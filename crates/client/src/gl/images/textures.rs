//! glTexImage, and the images of commands with generated entry points.

use super::source::Pixels;
use super::split::{in_pieces, is_certain};
use super::tex_image::{is_proxy, TexImage};
use crate::context::Context;
use crate::current::context;
use crate::gl::pixels::Extent;
use core::ffi::c_void;
use mgn_wire::encoder::Data;

/// The bytes for which a driver is assumed to have memory; it may lack memory for more.
const SURE_ROOM_BYTES: i64 = 32 << 20;

impl TexImage {
    /// Whether the driver is certain to accept the image, and to have memory for it.
    fn is_infallible(&self, cx: &Context) -> bool {
        const MOST_TEXEL_BYTES: i64 = 16;
        let sides = [self.width, self.height, self.depth].map(i64::from);
        is_certain(cx, self) && sides.iter().product::<i64>() * MOST_TEXEL_BYTES < SURE_ROOM_BYTES
    }

    /// # Safety
    /// Without a pixel unpack buffer, `pixels` is null or holds the image if OpenGL accepts it.
    unsafe fn define(&self, pixels: *const c_void) {
        // SAFETY: the only reference in use, to the thread's own context; the rest is the caller's
        // promise.
        unsafe {
            let cx = context();
            if cx.gl.in_begin() {
                return cx.illegal_in_begin();
            }
            // A proxy has no contents.
            if is_proxy(self.target) {
                return self.send(cx, Data::Null);
            }
            let extent = extent(self.dimensions, self.width, self.height, self.depth);
            let Some(pixels) = Pixels::of(cx, extent, self.format, self.type_, pixels) else {
                return;
            };
            let from_buffer = matches!(pixels, Pixels::Buffer(_));
            let is_infallible =
                cx.gl.known_success.is_wanted() && !from_buffer && self.is_infallible(cx);
            let before = cx.enc.doubt;
            let is_cut = match &pixels {
                Pixels::Memory(layout, memory) => in_pieces(cx, self, layout, *memory),
                _ => false,
            };
            if !is_cut {
                let Some(data) = pixels.data(cx) else { return };
                self.send(cx, data);
            }
            if is_infallible {
                cx.enc.doubt = before;
            }
        }
    }
}

/// The extent of a command with this number of dimensions.
pub(super) fn extent(dimensions: u32, width: i32, height: i32, depth: i32) -> Extent {
    match dimensions {
        1 => Extent::flat(width, 1),
        2 => Extent::flat(width, height),
        _ => Extent::volume(width, height, depth),
    }
}

/// The pixels of a command; none if the command has been refused.
///
/// # Safety
/// As `Pixels::of`.
pub(super) unsafe fn pixels<'a>(
    extent: Extent,
    format: u32,
    type_: u32,
    pixels: *const c_void,
) -> Option<(&'a mut Context, Data)> {
    // SAFETY: the only reference in use, to the thread's own context; the rest is the caller's
    // promise.
    unsafe {
        let cx = context();
        if cx.gl.in_begin() {
            cx.illegal_in_begin::<()>();
            return None;
        }
        let data = Pixels::of(cx, extent, format, type_, pixels)?.data(cx)?;
        Some((cx, data))
    }
}

/// The pixels of a command on a texture; none if the command has been refused. A proxy texture has
/// no pixels.
///
/// # Safety
/// As `Pixels::of`.
pub unsafe fn image(
    cx: &mut Context,
    target: u32,
    extent: Extent,
    format: u32,
    type_: u32,
    pixels: *const c_void,
) -> Option<Data> {
    if is_proxy(target) {
        return Some(Data::Null);
    }
    // SAFETY: the caller's promise.
    unsafe { Pixels::of(cx, extent, format, type_, pixels)?.data(cx) }
}

/// The same for compressed blocks of `size` bytes, in the layout of the program's block parameters.
///
/// # Safety
/// As `Pixels::of_blocks`.
pub unsafe fn blocks(
    cx: &mut Context,
    target: u32,
    extent: Extent,
    size: i32,
    data: *const c_void,
) -> Option<Data> {
    if is_proxy(target) {
        return Some(Data::Null);
    }
    // SAFETY: the caller's promise.
    unsafe { Pixels::of_blocks(cx, extent, size, data)?.data(cx) }
}

pub unsafe extern "C" fn glTexImage1D(
    target: u32,
    level: i32,
    internal_format: i32,
    width: i32,
    border: i32,
    format: u32,
    type_: u32,
    pixels: *const c_void,
) {
    let image = TexImage {
        dimensions: 1,
        target,
        level,
        internal_format,
        width,
        height: 1,
        depth: 1,
        border,
        format,
        type_,
    };
    // SAFETY: the program's pixels.
    unsafe { image.define(pixels) }
}

pub unsafe extern "C" fn glTexImage2D(
    target: u32,
    level: i32,
    internal_format: i32,
    width: i32,
    height: i32,
    border: i32,
    format: u32,
    type_: u32,
    pixels: *const c_void,
) {
    let image = TexImage {
        dimensions: 2,
        target,
        level,
        internal_format,
        width,
        height,
        depth: 1,
        border,
        format,
        type_,
    };
    // SAFETY: the program's pixels.
    unsafe { image.define(pixels) }
}

pub unsafe extern "C" fn glTexImage3D(
    target: u32,
    level: i32,
    internal_format: i32,
    width: i32,
    height: i32,
    depth: i32,
    border: i32,
    format: u32,
    type_: u32,
    pixels: *const c_void,
) {
    let image = TexImage {
        dimensions: 3,
        target,
        level,
        internal_format,
        width,
        height,
        depth,
        border,
        format,
        type_,
    };
    // SAFETY: the program's pixels.
    unsafe { image.define(pixels) }
}

/// The commands of old extensions and of OpenGL ES 2 declare the internal format as unsigned. To
/// the driver they are the same as OpenGL's own.
macro_rules! tex_image3d_of_extensions {
    ($($name:ident)*) => {$(
        pub unsafe extern "C" fn $name(
            target: u32,
            level: i32,
            internal_format: u32,
            width: i32,
            height: i32,
            depth: i32,
            border: i32,
            format: u32,
            type_: u32,
            pixels: *const c_void,
        ) {
            // SAFETY: the same arguments.
            unsafe { glTexImage3D(target, level, internal_format as i32, width, height, depth, border, format, type_, pixels) }
        }
    )*};
}

tex_image3d_of_extensions! { glTexImage3DEXT glTexImage3DOES }
