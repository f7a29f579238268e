//! Images on their way out: from the program's memory to the wire.

use super::formats::go_together;
use crate::context::Context;
use crate::gl::pixels::{Extent, Layout};
use core::ffi::c_void;
use mgn_wire::encoder::Data;
use mgn_wire::gl;

/// The largest extent whose pixels are read before the driver has found it valid. No driver has larger images, and where it refuses one, the program's
/// memory may not hold it.
const EXTENT_MAX: i32 = 65_536;

/// What a command takes its pixels from.
pub(super) enum Pixels {
    /// Nothing, or nothing that may be looked at.
    Null,
    /// An offset into the pixel unpack buffer.
    Buffer(u64),
    /// Memory that holds the layout's image.
    Memory(Layout, *const u8),
}

impl Pixels {
    /// The image that a command's pointer means.
    ///
    /// # Safety
    /// Without a pixel unpack buffer, `pixels` is null or holds the image if OpenGL accepts it.
    pub unsafe fn of(cx: &mut Context, extent: Extent, format: u32, type_: u32, pixels: *const c_void) -> Pixels {
        if cx.gl.unpack_buffer() != 0 {
            return Pixels::Buffer(pixels as u64);
        }
        if pixels.is_null() || !go_together(format, type_) || extent.is_beyond(EXTENT_MAX) {
            return Pixels::Null;
        }
        match Layout::new(&cx.gl.pixels.unpack, extent, format, type_) {
            Some(layout) => Pixels::Memory(layout, pixels.cast()),
            None => Pixels::Null,
        }
    }

    /// The same for a compressed image of `size` bytes; `None` if the program's block parameters contradict it.
    ///
    /// # Safety
    /// As `of`.
    pub unsafe fn of_blocks(cx: &mut Context, extent: Extent, size: i32, data: *const c_void) -> Option<Pixels> {
        if cx.gl.unpack_buffer() != 0 {
            return Some(Pixels::Buffer(data as u64));
        }
        let size = match usize::try_from(size) {
            Ok(size) if !data.is_null() && !extent.is_beyond(EXTENT_MAX) => size,
            _ => return Some(Pixels::Null),
        };
        let layout = Layout::compressed(&cx.gl.pixels.unpack, extent, size)?;
        Some(Pixels::Memory(layout, data.cast()))
    }

    /// What the command sends of it. The bytes stay where they are until the next image.
    ///
    /// # Safety
    /// The memory holds the image.
    pub unsafe fn data(&self, cx: &mut Context) -> Data {
        match *self {
            Pixels::Null => Data::Null,
            Pixels::Buffer(offset) => {
                cx.unpack_as_set();
                Data::Offset(offset)
            }
            // SAFETY: the caller's promise; all of the image's rows.
            Pixels::Memory(ref layout, memory) => unsafe { rows(cx, layout, memory, 0, layout.total_rows()) },
        }
    }
}

/// Some rows of an image in memory, counted over all layers.
///
/// # Safety
/// The memory holds the layout's image, and the rows are among its rows.
pub(super) unsafe fn rows(cx: &mut Context, layout: &Layout, memory: *const u8, first: usize, count: usize) -> Data {
    let row = layout.tight_row_bytes();
    if layout.is_tight() {
        let start = memory.wrapping_offset(layout.start()).wrapping_add(first * row);
        return Data::Bytes(start, count * row);
    }
    let room = cx.gl.pixels.room(count * row);
    // SAFETY: the caller's promise, and the room is as large as these rows.
    unsafe { layout.gather_rows(memory, first..first + count, room) };
    Data::Bytes(room, count * row)
}

/// One pixel, to which the pixel store does not apply: what images and buffers are cleared to.
///
/// # Safety
/// `pixel` is null or holds a pixel if OpenGL accepts the format and type.
pub(super) unsafe fn one_pixel(format: u32, type_: u32, pixel: *const c_void) -> Data {
    match mgn_wire::sizes::image::pixel_bytes(format, type_) {
        Some(bytes) if !pixel.is_null() && go_together(format, type_) && type_ != gl::GL_BITMAP => Data::Bytes(pixel.cast(), bytes),
        _ => Data::Null,
    }
}
