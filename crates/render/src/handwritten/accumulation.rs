//! Accumulation buffers. No EGL surface has one, so the renderer implements them. They hold the
//! same values as Mesa's, 16-bit signed integers, and use the same arithmetic.

use crate::context::Api;
use crate::egl;
use crate::handwritten::split_lists::Step;
use crate::renderer::Renderer;
use crate::srgb;
use crate::surface::{fault, SharedSurface, Surface};
use mgn_wire::{gl::*, Fault};
use std::rc::Rc;

/// Colours of a surface's pixels, from the lowest row up. Empty before the first write, when all
/// colours are zero.
#[derive(Default)]
pub(crate) struct Accumulation(Vec<[i16; 4]>);

/// The pixels that commands work on, in a surface of `stride` pixels a row.
#[derive(Clone, Copy)]
struct Area {
    x: usize,
    y: usize,
    width: usize,
    height: usize,
    stride: usize,
}

impl Area {
    /// The part of a surface's buffers inside a scissor box.
    fn new(surface: &Surface, clip: Option<[i32; 4]>) -> Area {
        let [.., w, h] = surface.pixels.map(i64::from);
        let [x, y, width, height] = clip.map_or([0, 0, w, h], |clip| clip.map(i64::from));
        let (left, right) = (x.clamp(0, w), (x + width).clamp(0, w));
        let (low, high) = (y.clamp(0, h), (y + height).clamp(0, h));
        Area {
            x: left as usize,
            y: low as usize,
            width: (right - left).max(0) as usize,
            height: (high - low).max(0) as usize,
            stride: w as usize,
        }
    }

    fn pixels(&self) -> usize {
        self.width * self.height
    }
}

impl Accumulation {
    /// Whether all colours are zero.
    pub fn is_clear(&self) -> bool {
        self.0.iter().all(|pixel| *pixel == [0; 4])
    }

    /// The rows of an area.
    fn rows(&mut self, area: Area, surface_pixels: usize) -> impl Iterator<Item = &mut [[i16; 4]]> {
        if self.0.is_empty() {
            self.0 = vec![[0; 4]; surface_pixels];
        }
        let first = area.y * area.stride;
        let last = first + area.height * area.stride;
        self.0[first..last]
            .chunks_exact_mut(area.stride)
            .map(move |row| &mut row[area.x..area.x + area.width])
    }
}

impl Surface {
    /// Calls `change` for each accumulated pixel of an area, with the pixel's index in the area.
    fn accumulate(&mut self, area: Area, mut change: impl FnMut(usize, &mut [i16; 4])) {
        let pixels = self.pixels[2] as usize * self.pixels[3] as usize;
        let Some(accumulation) = &mut self.accumulation else {
            return;
        };
        let rows = accumulation.rows(area, pixels);
        for (i, pixel) in rows.flatten().enumerate() {
            change(i, pixel);
        }
    }
}

/// Converts as C code does on the machines that Mesa runs on: truncates, and keeps the lowest bits
/// of values that are out of range.
fn short(value: f32) -> i16 {
    const LIMIT: f32 = 2_147_483_648.0;
    let whole = if (-LIMIT..LIMIT).contains(&value) {
        value as i32
    } else {
        i32::MIN
    };
    whole as i16
}

/// Converts a clear value from -1..=1, as Mesa does.
fn clear_short(value: f32) -> i16 {
    (((65535.0 * value) as i32 - 1) / 2) as i16
}

/// The nearest byte.
fn byte(value: f32) -> u8 {
    // Ties go to the even number, as they do when a float's lowest bits are rounded away.
    (value * 255.0).clamp(0.0, 255.0).round_ties_even() as u8
}

/// How a channel's bytes are converted to and from values. Alpha is always linear.
struct Channel {
    is_srgb: bool,
}

impl Channel {
    fn value(&self, byte: u8) -> f32 {
        if self.is_srgb {
            srgb::to_linear(byte)
        } else {
            f32::from(byte) * (1.0 / 255.0)
        }
    }

    fn byte(&self, value: f32) -> u8 {
        if self.is_srgb {
            srgb::from_linear(value)
        } else {
            byte(value)
        }
    }
}

impl Renderer {
    pub(crate) fn handwritten_gl_accum(&mut self, op: u32, value: f32) -> Result<(), Fault> {
        self.needs_context()?;
        if self.splits_for_accumulation() {
            return self.split(Step::Accum(op, value));
        }
        let known = matches!(op, GL_ACCUM | GL_LOAD | GL_ADD | GL_MULT | GL_RETURN);
        let Some(surface) = self.accumulates(true).filter(|_| known) else {
            // The driver raises the right error.
            // SAFETY: the context is current.
            unsafe { (self.gl.glAccum)(op, value) };
            return Ok(());
        };
        if !self.draws_now()? {
            return Ok(());
        }
        let area = self.drawn_area(&surface);
        match op {
            GL_ADD => {
                let more = short(value * 32767.0);
                surface.borrow_mut().accumulate(area, |_, pixel| {
                    *pixel = pixel.map(|c| c.wrapping_add(more));
                });
                Ok(())
            }
            GL_MULT => {
                surface.borrow_mut().accumulate(area, |_, pixel| {
                    *pixel = pixel.map(|c| short(f32::from(c) * value));
                });
                Ok(())
            }
            GL_RETURN => self.return_accumulated(&surface, area, value),
            _ => self.take_colors(&surface, area, value, op == GL_LOAD),
        }
    }

    pub(crate) fn handwritten_gl_clear(&mut self, mask: u32) -> Result<(), Fault> {
        self.needs_context()?;
        if mask & GL_ACCUM_BUFFER_BIT == 0 {
            // SAFETY: the context is current.
            unsafe { (self.gl.glClear)(mask) };
            return Ok(());
        }
        if self.splits_for_accumulation() {
            return self.split(Step::Clear(mask));
        }
        self.error();
        // SAFETY: as above.
        unsafe { (self.gl.glClear)(mask) };
        let failed = self.failed();
        let Some(surface) = self.accumulates(false).filter(|_| !failed) else {
            return Ok(());
        };
        if !self.draws_now()? {
            return Ok(());
        }
        let area = self.drawn_area(&surface);
        let mut color = [0.0; 4];
        // SAFETY: there is room for the four values.
        unsafe { (self.gl.glGetFloatv)(GL_ACCUM_CLEAR_VALUE, color.as_mut_ptr()) };
        let color = color.map(clear_short);
        surface
            .borrow_mut()
            .accumulate(area, |_, pixel| *pixel = color);
        Ok(())
    }

    /// The surface whose accumulation buffer a command uses, if there is one.
    fn accumulates(&self, reads: bool) -> Option<SharedSurface> {
        let cx = self.cx.as_deref()?;
        let surface = cx.draw.clone()?;
        let same = cx.read.as_ref().is_some_and(|r| Rc::ptr_eq(r, &surface));
        let is_default = cx.draw_framebuffer == 0 && (!reads || same && cx.read_framebuffer == 0);
        let has = cx.api == Api::Compat && surface.borrow().accumulation.is_some();
        (has && is_default).then_some(surface)
    }

    /// Whether pixels are written now. Between glBegin and glEnd, both the command and this query
    /// are errors.
    fn draws_now(&mut self) -> Result<bool, Fault> {
        let discards = self.cx()?.has_discard
            // SAFETY: the context is current and knows the capability.
            && unsafe { (self.gl.glIsEnabled)(GL_RASTERIZER_DISCARD) } != 0;
        Ok(self.driver_integer(GL_RENDER_MODE) as u32 == GL_RENDER && !discards)
    }

    fn drawn_area(&self, surface: &SharedSurface) -> Area {
        let mut clip = [0; 4];
        // SAFETY: the context is current; there is room for the four values.
        let clipped = unsafe {
            (self.gl.glGetIntegerv)(GL_SCISSOR_BOX, clip.as_mut_ptr());
            (self.gl.glIsEnabled)(GL_SCISSOR_TEST) != 0
        };
        Area::new(&surface.borrow(), clipped.then_some(clip))
    }

    /// Adds the colours of the read buffer to the accumulated ones, or replaces these.
    fn take_colors(
        &mut self,
        surface: &SharedSurface,
        area: Area,
        value: f32,
        load: bool,
    ) -> Result<(), Fault> {
        let buffer = self.cx()?.read_buffer;
        if buffer == GL_NONE || area.pixels() == 0 || (value == 0.0 && !load) {
            return Ok(());
        }
        let from = surface.borrow().target(buffer);
        let channels = self.channels();
        let colors = self.colors(from, area)?;
        let scale = value * 32767.0;
        surface.borrow_mut().accumulate(area, |i, pixel| {
            for ((to, byte), channel) in pixel.iter_mut().zip(colors[i]).zip(&channels) {
                let color = short(channel.value(byte) * scale);
                *to = if load { color } else { to.wrapping_add(color) };
            }
        });
        self.bind()
    }

    fn return_accumulated(
        &mut self,
        surface: &SharedSurface,
        area: Area,
        value: f32,
    ) -> Result<(), Fault> {
        let buffer = self.cx()?.draw_buffer;
        if buffer == GL_NONE || area.pixels() == 0 {
            return Ok(());
        }
        let mut mask = [0u8; 4];
        // SAFETY: the context is current; there is room for the four values.
        unsafe { (self.gl.glGetBooleanv)(GL_COLOR_WRITEMASK, mask.as_mut_ptr()) };
        let to = surface.borrow().target(buffer);
        let channels = self.channels();
        let mut colors = if mask.contains(&0) {
            self.colors(to, area)?
        } else {
            vec![[0; 4]; area.pixels()]
        };
        let scale = value / 32767.0;
        surface.borrow_mut().accumulate(area, |i, pixel| {
            for c in (0..4).filter(|&c| mask[c] != 0) {
                colors[i][c] = channels[c].byte(f32::from(pixel[c]) * scale);
            }
        });
        self.put_colors(to, area, &colors)?;
        self.bind()
    }

    /// How the current context converts the bytes of its surfaces.
    fn channels(&self) -> [Channel; 4] {
        // Mesa converts if the surface is sRGB-capable, even if the program has not enabled
        // GL_FRAMEBUFFER_SRGB.
        let is_srgb = self.driver_integer(GL_FRAMEBUFFER_SRGB_CAPABLE_EXT) != 0;
        [is_srgb, is_srgb, is_srgb, false].map(|is_srgb| Channel { is_srgb })
    }

    /// Reads colours of a buffer. Leaves the utility context current.
    fn colors(&mut self, from: egl::Surface, area: Area) -> Result<Vec<[u8; 4]>, Fault> {
        self.make_current(self.utility.context, from, from)
            .map_err(fault)?;
        let mut colors = vec![[0; 4]; area.pixels()];
        let (x, y) = (area.x as i32, area.y as i32);
        let (w, h) = (area.width as i32, area.height as i32);
        let to = colors.as_mut_ptr().cast();
        self.utility.upright(&self.gl, || {
            // SAFETY: the utility context is current; there is room for rows of 4-byte pixels.
            unsafe { (self.gl.glReadPixels)(x, y, w, h, GL_RGBA, GL_UNSIGNED_BYTE, to) };
        });
        Ok(colors)
    }

    /// Writes colours to a buffer, in the utility context, where no state changes them.
    fn put_colors(
        &mut self,
        to: egl::Surface,
        area: Area,
        colors: &[[u8; 4]],
    ) -> Result<(), Fault> {
        self.make_current(self.utility.context, to, to)
            .map_err(fault)?;
        let (w, h) = (area.width as i32, area.height as i32);
        let (left, low) = (area.x as i32, area.y as i32);
        let (right, high) = (left + w, low + h);
        let (mut texture, mut framebuffer) = (0, 0);
        let gl = &self.gl;
        // SAFETY: the utility context is current; the image has this number of pixels of 4 bytes;
        // both objects are created and deleted here.
        unsafe {
            (gl.glGenTextures)(1, &mut texture);
            (gl.glBindTexture)(GL_TEXTURE_2D, texture);
            (gl.glTexParameteri)(GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, 0);
            let (format, kind) = (GL_RGBA, GL_UNSIGNED_BYTE);
            let image = colors.as_ptr().cast();
            (gl.glTexImage2D)(
                GL_TEXTURE_2D,
                0,
                GL_RGBA8 as i32,
                w,
                h,
                0,
                format,
                kind,
                image,
            );
            (gl.glGenFramebuffers)(1, &mut framebuffer);
            (gl.glBindFramebuffer)(GL_READ_FRAMEBUFFER, framebuffer);
            (gl.glFramebufferTexture2D)(
                GL_READ_FRAMEBUFFER,
                GL_COLOR_ATTACHMENT0,
                GL_TEXTURE_2D,
                texture,
                0,
            );
            let mask = GL_COLOR_BUFFER_BIT;
            (gl.glBlitFramebuffer)(0, 0, w, h, left, low, right, high, mask, GL_NEAREST);
            (gl.glBindFramebuffer)(GL_READ_FRAMEBUFFER, 0);
            (gl.glDeleteFramebuffers)(1, &framebuffer);
            (gl.glDeleteTextures)(1, &texture);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_rounded_as_mesa_does() {
        assert_eq!(
            [1.0, 0.0, -1.0, 0.5].map(clear_short),
            [32767, 0, -32768, 16383]
        );
        assert_eq!([1.9, -1.9, 32768.0, 3e9].map(short), [1, -1, -32768, 0]);
        assert_eq!([-1.0, 0.0, 0.5, 1.0, 7.0].map(byte), [0, 0, 128, 255, 255]);
    }
}
