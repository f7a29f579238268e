//! Images that are sent to the server, from the program's memory.

use super::formats::go_together;
use crate::context::Context;
use crate::gl::buffers::mapping::is_locked;
use crate::gl::pixels::{Extent, Layout};
use crate::gl::tracked::can_be_read;
use core::ffi::c_void;
use mgn_wire::encoder::Data;
use mgn_wire::{gl, LONG_MAX};

/// The largest extent whose pixels are read before the driver has found it valid. No driver has
/// larger images. If a driver refuses an image, the program's memory may be smaller than the image.
const EXTENT_MAX: i32 = 65_536;

/// The most bytes of data in a single command.
const COMMAND_MAX: usize = LONG_MAX - 256;

/// The source of a command's pixels.
pub(super) enum Pixels {
    /// No pixels, or none that may be read.
    Null,
    /// An offset into the pixel unpack buffer.
    Buffer(u64),
    /// Memory that holds the layout's image.
    Memory(Layout, *const u8),
}

impl Pixels {
    /// The image that a command's pointer refers to; `None` if the command has been refused and the
    /// error raised.
    ///
    /// # Safety
    /// Without a pixel unpack buffer, `pixels` is null or holds the image if OpenGL accepts it.
    pub unsafe fn of(
        cx: &mut Context,
        extent: Extent,
        format: u32,
        type_: u32,
        pixels: *const c_void,
    ) -> Option<Pixels> {
        if cx.unpack_buffer() != 0 {
            return Pixels::in_buffer(cx, pixels as u64);
        }
        if pixels.is_null() || !go_together(format, type_) || extent.is_beyond(EXTENT_MAX) {
            return Some(Pixels::Null);
        }
        Some(
            match Layout::new(&cx.gl.pixels.unpack, extent, format, type_) {
                Some(layout) => Pixels::in_memory(layout, pixels.cast()),
                None => Pixels::Null,
            },
        )
    }

    /// The same for a compressed image of `size` bytes, which may disagree with the program's block
    /// parameters.
    ///
    /// # Safety
    /// As `of`.
    pub unsafe fn of_blocks(
        cx: &mut Context,
        extent: Extent,
        size: i32,
        data: *const c_void,
    ) -> Option<Pixels> {
        if cx.unpack_buffer() != 0 {
            return Pixels::in_buffer(cx, data as u64);
        }
        let size = match usize::try_from(size) {
            Ok(size) if !data.is_null() && !extent.is_beyond(EXTENT_MAX) => size,
            _ => return Some(Pixels::Null),
        };
        match Layout::compressed(&cx.gl.pixels.unpack, extent, size) {
            Some(layout) => Some(Pixels::in_memory(layout, data.cast())),
            None => refuse(cx, gl::GL_INVALID_OPERATION),
        }
    }

    /// An image in memory, if the memory is mapped. A driver that refuses a command does not read
    /// from its pointer, so programs may pass an invalid one. Then nothing is read, and the server
    /// raises the error.
    fn in_memory(layout: Layout, memory: *const u8) -> Pixels {
        match is_there(&layout, memory) {
            true => Pixels::Memory(layout, memory),
            false => Pixels::Null,
        }
    }

    /// The server's buffers are never mapped, so a mapped buffer must be refused here.
    fn in_buffer(cx: &mut Context, offset: u64) -> Option<Pixels> {
        if is_locked(cx, gl::GL_PIXEL_UNPACK_BUFFER) {
            return refuse(cx, gl::GL_INVALID_OPERATION);
        }
        Some(Pixels::Buffer(offset))
    }

    /// The data of the command; `None` if it is longer than any command may be. The bytes stay in
    /// place until the next image.
    ///
    /// # Safety
    /// The memory holds the image.
    pub unsafe fn data(&self, cx: &mut Context) -> Option<Data> {
        Some(match *self {
            Pixels::Null => Data::Null,
            Pixels::Buffer(offset) => {
                cx.unpack_as_set();
                Data::Offset(offset)
            }
            Pixels::Memory(ref layout, _) if layout.tight_bytes() > COMMAND_MAX => {
                return refuse(cx, gl::GL_OUT_OF_MEMORY)
            }
            // SAFETY: the caller's promise; all of the image's rows.
            Pixels::Memory(ref layout, memory) => unsafe {
                rows(cx, layout, memory, 0, layout.total_rows())
            },
        })
    }
}

fn is_there(layout: &Layout, memory: *const u8) -> bool {
    let (row, rows) = (layout.tight_row_bytes(), layout.total_rows());
    if rows == 0 {
        return true;
    }
    let at = |row: usize| memory.wrapping_offset(layout.row_offset(row)) as usize;
    let ends = [at(0), at(rows - 1)];
    let (first, last) = (ends[0].min(ends[1]), ends[0].max(ends[1]));
    // Rows may lie far apart, and the memory between them may be unmapped.
    can_be_read(first, last.wrapping_sub(first).wrapping_add(row))
        || !layout.is_tight() && (0..rows).all(|n| mgn_sys::memory::is_mapped(at(n), row))
}

#[cold]
fn refuse<T>(cx: &mut Context, error: u32) -> Option<T> {
    cx.set_error(error);
    None
}

/// Some rows of an image in memory. Rows are counted across all layers.
///
/// # Safety
/// The memory holds the layout's image, and the rows are among its rows.
pub(super) unsafe fn rows(
    cx: &mut Context,
    layout: &Layout,
    memory: *const u8,
    first: usize,
    count: usize,
) -> Data {
    let row = layout.tight_row_bytes();
    if layout.is_tight() {
        let start = memory
            .wrapping_offset(layout.start())
            .wrapping_add(first * row);
        return Data::Bytes(start, count * row);
    }
    let room = cx.gl.pixels.room(count * row);
    // SAFETY: the caller's promise, and the room is as large as these rows.
    unsafe { layout.gather_rows(memory, first..first + count, room) };
    Data::Bytes(room, count * row)
}

/// One pixel, with which an image or buffer is cleared. The pixel store does not apply to it.
///
/// # Safety
/// `pixel` is null or holds a pixel if OpenGL accepts the format and type.
pub(super) unsafe fn one_pixel(format: u32, type_: u32, pixel: *const c_void) -> Data {
    match mgn_wire::sizes::image::pixel_bytes(format, type_) {
        Some(bytes) if !pixel.is_null() && go_together(format, type_) && type_ != gl::GL_BITMAP => {
            Data::Bytes(pixel.cast(), bytes)
        }
        _ => Data::Null,
    }
}
