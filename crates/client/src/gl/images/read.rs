//! Reads images from the server. OpenGL writes them to the program's memory, or to the buffer bound
//! to GL_PIXEL_PACK_BUFFER.

use crate::context::Context;
use crate::current::context;
use crate::gl::pixels::{Extent, Layout};
use crate::gl::room::fits;
use crate::link::tiles::{self, WholePurpose};
use crate::shadow::read_ahead::Region;
use core::ffi::c_void;
use mgn_state::PixelStore;
use mgn_wire::gl::*;
use mgn_wire::ops;

/// A larger image is read in bands of rows, so that answers have a limited size.
const BAND: usize = 32 << 20;

impl Region {
    /// Reads into the program's memory. `most` is the size of that memory, if the program has
    /// passed it.
    ///
    /// # Safety
    /// `pixels` has room for the image if OpenGL accepts the arguments.
    unsafe fn read(&self, cx: &mut Context, most: Option<i32>, pixels: *mut c_void) {
        let layout = Layout::new(
            &cx.gl.pixels.pack,
            Extent::flat(self.width, self.height),
            self.format,
            self.type_,
        );
        // Without a layout, the driver refuses the command and there is no answer.
        let layout = layout.unwrap_or(Layout::EMPTY);
        let fits = most.map(|most| fits(layout.end(), most));
        let can_be_answered = fits != Some(false) && !pixels.is_null();
        // SAFETY: the caller's promise; `pixels` is not null.
        if can_be_answered && unsafe { cx.read_ahead(self, &layout, pixels) } {
            return;
        }
        let rows = layout.total_rows();
        let band = (BAND / layout.tight_row_bytes().max(1)).max(1);
        let mut first = 0;
        loop {
            let count = band.min(rows - first);
            let height = if rows > band {
                count as i32
            } else {
                self.height
            };
            // SAFETY: the caller's promise; the rows are the layout's.
            if !unsafe { self.band(cx, &layout, first, count, height, fits, pixels) } {
                return;
            }
            first += count;
            if first >= rows {
                return cx.has_read();
            }
        }
    }

    /// Reads `count` rows from row `first` on. Returns whether it succeeded.
    ///
    /// # Safety
    /// As `read`; the layout has these rows.
    unsafe fn band(
        &self,
        cx: &mut Context,
        layout: &Layout,
        first: usize,
        count: usize,
        height: i32,
        fits: Option<bool>,
        pixels: *mut c_void,
    ) -> bool {
        let Region {
            x,
            y,
            width,
            format,
            type_,
            ..
        } = *self;
        let y = y.wrapping_add(first as i32);
        if fits != Some(false) {
            let rect = [x, y, width, height];
            if let Some(tiled) = tiled(cx, rect, format, type_, count * layout.tight_row_bytes()) {
                let Some(image) = tiled.filter(|_| !pixels.is_null()) else {
                    return false;
                };
                // SAFETY: the caller's promise; the image is as long as its rows.
                unsafe { layout.scatter_rows(image.as_ptr(), first..first + count, pixels.cast()) };
                return true;
            }
        }
        // SAFETY: the context's own encoder; the image has been checked to be as long as its rows.
        unsafe {
            let op = match fits {
                None => {
                    cx.enc.gl_read_pixels(x, y, width, height, format, type_);
                    ops::GL_READ_PIXELS
                }
                Some(fits) => {
                    cx.enc
                        .gl_readn_pixels(x, y, width, height, format, type_, fits.into());
                    ops::GL_READN_PIXELS
                }
            };
            let mut answer = cx.answer(op);
            let image = answer.next_array(1);
            if image.is_empty()
                || image.len() != count * layout.tight_row_bytes()
                || pixels.is_null()
            {
                return false;
            }
            layout.scatter_rows(image.as_ptr(), first..first + count, pixels.cast());
        }
        true
    }
}

/// An image of a default framebuffer that is divided among the renderers of a wall, tightly packed
/// in `bytes` bytes. The outer option is none if the framebuffer is not divided, the inner one if
/// it could not be read.
fn tiled(
    cx: &mut Context,
    rect: [i32; 4],
    format: u32,
    type_: u32,
    bytes: usize,
) -> Option<Option<Vec<u8>>> {
    let surface = cx.read.as_ref()?;
    let areas = surface.areas()?;
    if cx.gl.state.framebuffer_bound(GL_READ_FRAMEBUFFER_BINDING)? != 0 {
        return None;
    }
    let [x, y, width, height] = rect;
    let pixels = usize::try_from(width).ok()? * usize::try_from(height).ok()?;
    if pixels > 0 && bytes % pixels != 0 {
        // Bitmaps of several renderers cannot be joined at byte boundaries.
        cx.make_whole(WholePurpose::Reading(rect));
        return None;
    }
    let pixel_bytes = bytes.checked_div(pixels).unwrap_or(0);
    let parts = tiles::parts(&areas, rect, surface.size().1);
    let asked = tiles::asked(&parts);
    // SAFETY: the context's own encoder.
    unsafe {
        cx.enc
            .mgn_read_tiles(format, type_, (asked.as_ptr(), asked.len()), bytes as u32);
    }
    let mut image = vec![0; bytes];
    let row_bytes = pixel_bytes * width as usize;
    let answers = cx.answers(ops::MGN_READ_TILES);
    if answers.is_empty() {
        return Some(None);
    }
    for (tile, answer) in answers.into_iter().enumerate() {
        // The part of a lost renderer is black.
        let Some(mut answer) = answer else { continue };
        let mut rest = answer.next_array(1);
        for part in parts.iter().filter(|part| part.tile == tile) {
            let [left, bottom, columns, rows] = part.rect;
            let part_bytes = pixel_bytes * columns as usize;
            let at = (bottom - y) as usize * row_bytes + (left - x) as usize * pixel_bytes;
            for row in 0..rows as usize {
                let Some((pixels, after)) = rest.split_at_checked(part_bytes) else {
                    return Some(None);
                };
                let to = at + row * row_bytes;
                image[to..to + part_bytes].copy_from_slice(pixels);
                rest = after;
            }
        }
        if !rest.is_empty() {
            return Some(None);
        }
    }
    Some((bytes > 0).then_some(image))
}

/// # Safety
/// As `Region::read`.
unsafe fn read_pixels(region: Region, most: Option<i32>, pixels: *mut c_void) {
    // SAFETY: the only reference in use, to the thread's own context; the rest is the caller's
    // promise.
    unsafe {
        let cx = context();
        if cx.gl.in_begin() {
            return cx.illegal_in_begin();
        }
        if !cx.packs_into_buffer() {
            return region.read(cx, most, pixels);
        }
        // The size that the program passes is that of its memory, but the image goes to a buffer.
        let Region {
            x,
            y,
            width,
            height,
            format,
            type_,
        } = region;
        cx.make_whole(WholePurpose::Reading([x, y, width, height]));
        cx.pack(|enc| enc.mgn_read_pixels_to(x, y, width, height, format, type_, pixels as u64));
    }
}

pub unsafe extern "C" fn glReadPixels(
    x: i32,
    y: i32,
    width: i32,
    height: i32,
    format: u32,
    type_: u32,
    pixels: *mut c_void,
) {
    // SAFETY: the program's memory.
    unsafe {
        read_pixels(
            Region {
                x,
                y,
                width,
                height,
                format,
                type_,
            },
            None,
            pixels,
        )
    }
}

pub unsafe extern "C" fn glReadnPixels(
    x: i32,
    y: i32,
    width: i32,
    height: i32,
    format: u32,
    type_: u32,
    size: i32,
    pixels: *mut c_void,
) {
    // SAFETY: the program's memory.
    unsafe {
        read_pixels(
            Region {
                x,
                y,
                width,
                height,
                format,
                type_,
            },
            Some(size),
            pixels,
        )
    }
}

/// Reads the answer of a texture read: the level's extent and target, then the image. `most` is the
/// size of the program's memory.
///
/// # Safety
/// `pixels` is null or has room for the image as `layout` places it, or for `most` bytes.
pub(super) unsafe fn take_level(
    cx: &mut Context,
    op: u16,
    layout: impl Fn(&PixelStore, Extent, usize) -> Option<Layout>,
    most: i32,
    pixels: *mut c_void,
) {
    let mut answer = cx.answer(op);
    let mut level = [0; 4];
    for (to, from) in level.iter_mut().zip(answer.next_array(4).chunks_exact(4)) {
        *to = i32::from_le_bytes([from[0], from[1], from[2], from[3]]);
    }
    let image = answer.next_array(1);
    let [width, height, depth, target] = level;
    let mut store = cx.gl.pixels.pack;
    let extent = match target as u32 {
        GL_TEXTURE_3D | GL_TEXTURE_2D_ARRAY | GL_TEXTURE_CUBE_MAP_ARRAY => {
            Extent::volume(width, height, depth)
        }
        // All faces, and arrays of lines: the images follow each other, but are no volume.
        GL_TEXTURE_CUBE_MAP => {
            store.skip_images = 0;
            Extent::volume(width, height, depth)
        }
        GL_TEXTURE_1D_ARRAY => {
            store.skip_images = 0;
            Extent::volume(width, 1, height)
        }
        _ => Extent::flat(width, height),
    };
    let Some(layout) = layout(&store, extent, image.len()) else {
        return;
    };
    if layout.tight_bytes() != image.len() {
        return;
    }
    if !image.is_empty() && !fits(layout.end(), most) {
        return cx.set_error(GL_INVALID_OPERATION);
    }
    if !pixels.is_null() {
        // SAFETY: the image is as long as the layout says, and the caller's promise.
        unsafe { layout.scatter(image.as_ptr(), pixels.cast()) };
    }
}

pub unsafe extern "C" fn glGetTexImage(
    target: u32,
    level: i32,
    format: u32,
    type_: u32,
    pixels: *mut c_void,
) {
    // SAFETY: the same command, and the program has room for the image.
    unsafe { glGetnTexImage(target, level, format, type_, i32::MAX, pixels) }
}

pub unsafe extern "C" fn glGetnTexImage(
    target: u32,
    level: i32,
    format: u32,
    type_: u32,
    size: i32,
    pixels: *mut c_void,
) {
    // SAFETY: the only reference in use, to the thread's own context, and the program's memory.
    unsafe {
        let cx = context();
        if cx.gl.in_begin() {
            return cx.illegal_in_begin();
        }
        if cx.packs_into_buffer() {
            cx.pack(|enc| enc.mgn_get_tex_image_to(target, level, format, type_, pixels as u64));
            return;
        }
        cx.enc.gl_get_tex_image(target, level, format, type_, 4);
        let layout = |store: &_, extent, _| Layout::new(store, extent, format, type_);
        take_level(cx, ops::GL_GET_TEX_IMAGE, layout, size, pixels);
    }
}

pub unsafe extern "C" fn glGetCompressedTexImage(target: u32, level: i32, pixels: *mut c_void) {
    // SAFETY: the same command, and the program has room for the image.
    unsafe { glGetnCompressedTexImage(target, level, i32::MAX, pixels) }
}

pub unsafe extern "C" fn glGetnCompressedTexImage(
    target: u32,
    level: i32,
    size: i32,
    pixels: *mut c_void,
) {
    // SAFETY: as above.
    unsafe {
        let cx = context();
        if cx.gl.in_begin() {
            return cx.illegal_in_begin();
        }
        if cx.packs_into_buffer() {
            cx.pack(|enc| enc.mgn_get_compressed_tex_image_to(target, level, pixels as u64));
            return;
        }
        cx.enc.gl_get_compressed_tex_image(target, level, 4);
        take_level(
            cx,
            ops::GL_GET_COMPRESSED_TEX_IMAGE,
            Layout::compressed,
            size,
            pixels,
        );
    }
}

pub unsafe extern "C" fn glGetPolygonStipple(mask: *mut u8) {
    // SAFETY: the same command, and the program has room for the pattern.
    unsafe { glGetnPolygonStipple(i32::MAX, mask) }
}

pub unsafe extern "C" fn glGetnPolygonStipple(size: i32, mask: *mut u8) {
    // SAFETY: as above.
    unsafe {
        let cx = context();
        if cx.gl.in_begin() {
            return cx.illegal_in_begin();
        }
        if cx.packs_into_buffer() {
            cx.pack(|enc| enc.mgn_get_polygon_stipple_to(mask as u64));
            return;
        }
        cx.enc.gl_get_polygon_stipple(128);
        let mut answer = cx.answer(ops::GL_GET_POLYGON_STIPPLE);
        let image = answer.next_array(1);
        let layout = Layout::new(
            &cx.gl.pixels.pack,
            Extent::flat(32, 32),
            GL_COLOR_INDEX,
            GL_BITMAP,
        );
        let Some(layout) = layout.filter(|l| l.tight_bytes() == image.len()) else {
            return;
        };
        if !fits(layout.end(), size) {
            cx.set_error(GL_INVALID_OPERATION);
        } else if !mask.is_null() {
            layout.scatter(image.as_ptr(), mask);
        }
    }
}
