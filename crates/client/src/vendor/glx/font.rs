//! glXUseXFont: display lists of an X font's glyphs.

use crate::current::with_current;
use crate::x11::error::{raise, request, GlxError};
use crate::x11::watch::watch;
use crate::x11::watch::Watch;
use crate::x11::xlib::{xlib, Xid};
use std::ffi::{c_int, c_void};
use x11rb::connection::Connection;
use x11rb::errors::ReplyOrIdError;
use x11rb::protocol::xproto::{
    Char2b, Charinfo, ConnectionExt, CreateGCAux, ImageFormat, ImageOrder, QueryFontReply,
};

pub unsafe extern "C" fn use_x_font(font: Xid, first: c_int, count: c_int, list_base: c_int) {
    let Some(display) = with_current(|cx| cx.display()) else {
        return;
    };
    let Some(xlib) = xlib().filter(|_| !display.is_null()) else {
        return;
    };
    // SAFETY: the display that the context was made current with.
    let name = unsafe {
        (xlib.sync)(display, 0);
        xlib.name(display)
    };
    let Some(watch) = watch(&name) else {
        return;
    };
    match glyphs(&watch, font as u32, first, count) {
        Ok(glyphs) => compile(&glyphs, list_base),
        // SAFETY: as above.
        Err(_) => unsafe { raise(display, GlxError::Font, font as u32, request::USE_X_FONT) },
    }
}

/// A glyph in the format of glBitmap: rows of whole bytes from the bottom up, most significant bit
/// first.
#[derive(Debug, Default, PartialEq)]
struct Glyph {
    width: i32,
    height: i32,
    origin: (f32, f32),
    advance: f32,
    rows: Vec<u8>,
}

fn glyphs(
    watch: &Watch,
    font: u32,
    first: c_int,
    count: c_int,
) -> Result<Vec<Glyph>, ReplyOrIdError> {
    let x = watch.connection();
    let metrics = x.query_font(font)?.reply()?;
    let (max, min) = (&metrics.max_bounds, &metrics.min_bounds);
    let across = |v: i16| i32::from(v);
    let width = (across(max.right_side_bearing) - across(min.left_side_bearing)).clamp(1, 4096);
    let height = (across(max.ascent) + across(max.descent)).clamp(1, 4096);
    let root = x.setup().roots.first().map_or(0, |s| s.root);
    let pixmap = x.generate_id()?;
    x.create_pixmap(1, pixmap, root, width as u16, height as u16)?;
    let gc = x.generate_id()?;
    let options = CreateGCAux::new()
        .font(font)
        .foreground(1)
        .background(0)
        .graphics_exposures(0);
    x.create_gc(gc, pixmap, &options)?;
    let clear = x.generate_id()?;
    x.create_gc(clear, pixmap, &CreateGCAux::new().foreground(0))?;
    let mut glyphs = Vec::new();
    for code in first..first.saturating_add(count.max(0)) {
        let Some(info) = char_info(&metrics, code) else {
            glyphs.push(Glyph::default());
            continue;
        };
        let glyph_width = across(info.right_side_bearing) - across(info.left_side_bearing);
        let glyph_height = across(info.ascent) + across(info.descent);
        let mut glyph = Glyph {
            advance: info.character_width.into(),
            ..Glyph::default()
        };
        if glyph_width > 0 && glyph_height > 0 {
            let rectangle = x11rb::protocol::xproto::Rectangle {
                x: 0,
                y: 0,
                width: width as u16,
                height: height as u16,
            };
            x.poly_fill_rectangle(pixmap, clear, &[rectangle])?;
            let text = [Char2b {
                byte1: (code >> 8) as u8,
                byte2: code as u8,
            }];
            let left = 0i32.saturating_sub(across(info.left_side_bearing));
            x.image_text16(pixmap, gc, left as i16, info.ascent, &text)?;
            let (w, h) = (glyph_width as u16, glyph_height as u16);
            let image = x
                .get_image(ImageFormat::XY_PIXMAP, pixmap, 0, 0, w, h, 1)?
                .reply()?;
            glyph.width = glyph_width;
            glyph.height = glyph_height;
            // The specification's own formula, one above the baseline.
            glyph.origin = (left as f32, f32::from(info.descent) - 1.0);
            let setup = x.setup();
            let layout = Layout {
                pad: usize::from(setup.bitmap_format_scanline_pad) / 8,
                unit: usize::from(setup.bitmap_format_scanline_unit) / 8,
                bits_msb: setup.bitmap_format_bit_order == ImageOrder::MSB_FIRST,
                bytes_msb: setup.image_byte_order == ImageOrder::MSB_FIRST,
            };
            glyph.rows = layout.rows(&image.data, glyph_width as usize, glyph_height as usize);
        }
        glyphs.push(glyph);
    }
    x.free_gc(gc)?;
    x.free_gc(clear)?;
    x.free_pixmap(pixmap)?.check()?;
    Ok(glyphs)
}

/// How the X server lays out a bitmap.
struct Layout {
    /// Rows begin at multiples of this number of bytes.
    pad: usize,
    /// The size in bytes of the units in which bits are ordered.
    unit: usize,
    bits_msb: bool,
    bytes_msb: bool,
}

impl Layout {
    fn rows(&self, image: &[u8], width: usize, height: usize) -> Vec<u8> {
        let stride = width.div_ceil(8).next_multiple_of(self.pad.max(1));
        let mut rows = Vec::new();
        for y in (0..height).rev() {
            let row = image.get(y * stride..(y + 1) * stride).unwrap_or(&[]);
            let from = rows.len();
            rows.resize(from + width.div_ceil(8), 0u8);
            for x in 0..width {
                if self.bit(row, x) {
                    rows[from + x / 8] |= 0x80 >> (x % 8);
                }
            }
        }
        rows
    }

    fn bit(&self, row: &[u8], x: usize) -> bool {
        let unit = self.unit.max(1);
        let mut byte = x / 8;
        // If bits and bytes are ordered differently, bytes are swapped within a unit.
        if self.bits_msb != self.bytes_msb {
            byte = byte / unit * unit + (unit - 1 - byte % unit);
        }
        let mask = if self.bits_msb {
            0x80 >> (x % 8)
        } else {
            1 << (x % 8)
        };
        row.get(byte).is_some_and(|b| b & mask != 0)
    }
}

/// The metrics of a character that exists in the font.
fn char_info(font: &QueryFontReply, code: c_int) -> Option<Charinfo> {
    let code = u16::try_from(code).ok()?;
    let (row, column) = (code >> 8, code & 0xff);
    let (first, last) = (font.min_char_or_byte2, font.max_char_or_byte2);
    let rows = u16::from(font.min_byte1)..=u16::from(font.max_byte1);
    let linear = font.min_byte1 == 0 && font.max_byte1 == 0;
    let index = if linear {
        (first..=last)
            .contains(&code)
            .then(|| usize::from(code - first))?
    } else {
        if !rows.contains(&row) || !(first..=last).contains(&column) {
            return None;
        }
        let across = usize::from(last - first) + 1;
        usize::from(row - u16::from(font.min_byte1)) * across + usize::from(column - first)
    };
    if font.char_infos.is_empty() {
        return Some(font.max_bounds);
    }
    font.char_infos.get(index).copied()
}

/// Compiles one list per glyph through the program's entry points. The program's pixel store state
/// is restored.
fn compile(glyphs: &[Glyph], list_base: c_int) {
    const COMPILE: u32 = 0x1300;
    const PIXEL_STORE_BIT: u32 = 1;
    const UNPACK: [(u32, i32); 6] = [
        (0x0CF0, 0), // GL_UNPACK_SWAP_BYTES
        (0x0CF1, 0), // GL_UNPACK_LSB_FIRST
        (0x0CF2, 0), // GL_UNPACK_ROW_LENGTH
        (0x0CF3, 0), // GL_UNPACK_SKIP_ROWS
        (0x0CF4, 0), // GL_UNPACK_SKIP_PIXELS
        (0x0CF5, 1), // GL_UNPACK_ALIGNMENT
    ];
    type Bitmap = unsafe extern "C" fn(i32, i32, f32, f32, f32, f32, *const u8);
    // SAFETY: each type is that of the named function, and a context is current.
    unsafe {
        let functions = (
            entry::<unsafe extern "C" fn(u32, u32)>(b"glNewList"),
            entry::<unsafe extern "C" fn()>(b"glEndList"),
            entry::<Bitmap>(b"glBitmap"),
            entry::<unsafe extern "C" fn(u32)>(b"glPushClientAttrib"),
            entry::<unsafe extern "C" fn()>(b"glPopClientAttrib"),
            entry::<unsafe extern "C" fn(u32, i32)>(b"glPixelStorei"),
        );
        let (Some(new), Some(end), Some(bitmap), Some(push), Some(pop), Some(store)) = functions
        else {
            return;
        };
        push(PIXEL_STORE_BIT);
        for (name, value) in UNPACK {
            store(name, value);
        }
        for (list, glyph) in (list_base as u32..).zip(glyphs) {
            new(list, COMPILE);
            let (x, y) = glyph.origin;
            bitmap(
                glyph.width,
                glyph.height,
                x,
                y,
                glyph.advance,
                0.0,
                glyph.rows.as_ptr(),
            );
            end();
        }
        pop();
    }
}

/// # Safety
/// `F` is the function pointer type of the entry point `name`.
unsafe fn entry<F: Copy>(name: &[u8]) -> Option<F> {
    const { assert!(size_of::<F>() == size_of::<*const c_void>()) };
    let address = crate::entry_points::lookup(name)?;
    // SAFETY: both are one pointer wide, and the caller vouches for the type.
    Some(unsafe { std::mem::transmute_copy::<*const c_void, F>(&address) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bitmaps_become_rows_from_the_bottom_up() {
        // Ten pixels wide. In the first row the leftmost and the rightmost pixel are set, in the
        // second all.
        let x86 = Layout {
            pad: 4,
            unit: 4,
            bits_msb: false,
            bytes_msb: false,
        };
        let image = [0x01, 0x02, 0, 0, 0xff, 0x03, 0, 0];
        assert_eq!(x86.rows(&image, 10, 2), [0xff, 0xc0, 0x80, 0x40]);
        let big = Layout {
            pad: 4,
            unit: 4,
            bits_msb: true,
            bytes_msb: true,
        };
        let image = [0x80, 0x40, 0, 0, 0xff, 0xc0, 0, 0];
        assert_eq!(big.rows(&image, 10, 2), [0xff, 0xc0, 0x80, 0x40]);
        assert_eq!(big.rows(&[], 8, 1), [0], "a short image reads as empty");
    }

    #[test]
    fn characters_are_found_by_code() {
        let info = |width| Charinfo {
            character_width: width,
            ..Charinfo::default()
        };
        let linear = QueryFontReply {
            min_char_or_byte2: 32,
            max_char_or_byte2: 33,
            char_infos: vec![info(5), info(6)],
            ..QueryFontReply::default()
        };
        assert_eq!(char_info(&linear, 33).unwrap().character_width, 6);
        assert!(char_info(&linear, 34).is_none() && char_info(&linear, -1).is_none());
        let square = QueryFontReply {
            min_byte1: 1,
            max_byte1: 2,
            ..linear
        };
        assert!(char_info(&square, 0x0120).is_some() && char_info(&square, 0x20).is_none());
    }
}
