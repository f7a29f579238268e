//! Completes a wall's surfaces: every renderer's part of a surface goes to all the others.
//!
//! Commands that read a default framebuffer into something else, such as glCopyTexImage, need all
//! of it. So do commands with effects that other fragments see, such as shaders that write to
//! images. Before such commands, the client collects the parts from all renderers and sends them to
//! every renderer. From then on each renderer draws the whole surface, until the client finds that
//! this is not needed.

use crate::configs::Choice;
use crate::context::Api;
use crate::egl;
use crate::present::turn_over;
use crate::renderer::Renderer;
use crate::surface::{fault, SharedSurface};
use crate::tile::{common, minus, Rect};
use mgn_sys::copy::copy;
use mgn_wire::hello::plane::{BACK, DEPTH_STENCIL, FRONT};
use mgn_wire::hello::Color;
use mgn_wire::{gl::*, Data, Fault, Reply, Slice};
use std::cell::RefCell;
use std::rc::Rc;

/// The lossless transfer format of a plane: formats and type of a texture that holds the same
/// values, and its bytes per pixel.
#[derive(Clone, Copy)]
struct Format {
    internal: u32,
    format: u32,
    type_: u32,
    bytes: usize,
    /// The mask with which glBlitFramebuffer copies the plane.
    mask: u32,
    attachment: u32,
}

fn format_of(choice: &Choice, plane: u32) -> Option<Format> {
    let of = &choice.described;
    let (internal, format, type_, bytes) = if plane == DEPTH_STENCIL {
        match (of.depth, of.stencil) {
            (0, 8) => (GL_STENCIL_INDEX8, GL_STENCIL_INDEX, GL_UNSIGNED_BYTE, 1),
            (16, 0) => (
                GL_DEPTH_COMPONENT16,
                GL_DEPTH_COMPONENT,
                GL_UNSIGNED_SHORT,
                2,
            ),
            (24, 0) => (GL_DEPTH_COMPONENT24, GL_DEPTH_COMPONENT, GL_UNSIGNED_INT, 4),
            (32, 0) => (GL_DEPTH_COMPONENT32, GL_DEPTH_COMPONENT, GL_UNSIGNED_INT, 4),
            (24, 8) => (
                GL_DEPTH24_STENCIL8,
                GL_DEPTH_STENCIL,
                GL_UNSIGNED_INT_24_8,
                4,
            ),
            _ => return None,
        }
    } else {
        let (internal, format, type_) = match of.color {
            Color::Rgb8 => (GL_RGBA8, GL_RGBA, GL_UNSIGNED_BYTE),
            Color::Rgb10 => (GL_RGB10_A2, GL_RGBA, GL_UNSIGNED_INT_2_10_10_10_REV),
            Color::Rgb565 => (GL_RGB565, GL_RGB, GL_UNSIGNED_SHORT_5_6_5),
            Color::Rgb16F => (GL_RGBA16F, GL_RGBA, GL_HALF_FLOAT),
        };
        (internal, format, type_, of.color.stored_bytes())
    };
    let (mask, attachment) = match (plane == DEPTH_STENCIL, of.depth > 0, of.stencil > 0) {
        (false, ..) => (GL_COLOR_BUFFER_BIT, GL_COLOR_ATTACHMENT0),
        (_, true, true) => (
            GL_DEPTH_BUFFER_BIT | GL_STENCIL_BUFFER_BIT,
            GL_DEPTH_STENCIL_ATTACHMENT,
        ),
        (_, true, false) => (GL_DEPTH_BUFFER_BIT, GL_DEPTH_ATTACHMENT),
        _ => (GL_STENCIL_BUFFER_BIT, GL_STENCIL_ATTACHMENT),
    };
    Some(Format {
        internal,
        format,
        type_,
        bytes,
        mask,
        attachment,
    })
}

/// A part of a surface to be filled, in the coordinates of the surface's buffers.
struct Part {
    /// The offset of the part's first byte in the data.
    from: usize,
    all: Rect,
    /// The rectangles in it that are written.
    filled: Vec<Rect>,
}

/// Whether a surface's buffers hold all pixels of a part.
fn is_held(part: Rect, held: Rect) -> bool {
    let [.., w, h] = part;
    w >= 0 && h >= 0 && (w == 0 || h == 0 || common(part, held) == part)
}

fn pixels([.., w, h]: Rect) -> usize {
    let side = |side| usize::try_from(side).unwrap_or(0);
    side(w).saturating_mul(side(h))
}

fn rects(numbers: &[i32]) -> impl Iterator<Item = Rect> + '_ {
    numbers.chunks_exact(4).map(|p| [p[0], p[1], p[2], p[3]])
}

fn not_on_it() -> Fault {
    Fault::refused("a part of a surface that is not on the surface")
}

/// State of a program's context that is put aside while the context reads or writes depth; for the
/// reason see `Renderer::move_depth`.
struct Aside {
    integers: Vec<(u32, i32)>,
    floats: Vec<(u32, f32)>,
    is_clipped: bool,
}

impl Renderer {
    pub(crate) fn handwritten_mgn_whole(&mut self, surface: u32, whole: u32) -> Result<(), Fault> {
        self.beat();
        let surface = self.known_surface(surface)?;
        let wholes = &mut surface.borrow_mut().wholes;
        match whole {
            0 => wholes.remove(&self.seat),
            _ => wholes.insert(self.seat),
        };
        Ok(())
    }

    pub(crate) fn handwritten_mgn_lend(
        &mut self,
        surface: u32,
        x: i32,
        y: i32,
        width: i32,
        height: i32,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        let surface = self.known_surface(surface)?;
        let (id, choice, single, all) = {
            let s = surface.borrow();
            (s.id, s.choice, s.single, s.all())
        };
        let part = common([x, y, width, height], all);
        let is_all = part == [x, y, width, height];
        if !self.is_offset || !is_all && !self.is_shared() {
            return Err(Fault::refused("a part that a surface does not have"));
        }
        // Another program of the window has made it smaller meanwhile.
        if pixels(part) == 0 {
            return Ok(());
        }
        let lent = self.new_surface(id, choice, single, 1, 1)?;
        let lent = Rc::new(RefCell::new(lent));
        self.renew(&lent, part)?;
        let old = surface.borrow_mut().lent.insert(self.seat, lent);
        if let Some(old) = old {
            self.release(old);
        }
        self.bind()
    }

    /// To be called before a command that reads pixels: if there is a lent surface, the command
    /// reads that.
    #[inline]
    pub(crate) fn read_lent(&mut self) -> Result<(), Fault> {
        if !self.is_offset {
            return Ok(());
        }
        let seat = self.seat;
        let cx = self.cx()?;
        let Some(own) = cx.read.clone().filter(|_| cx.compiling.is_none()) else {
            return Ok(());
        };
        let Some(lent) = own.borrow_mut().lent.remove(&seat) else {
            return Ok(());
        };
        cx.lender = cx.read.replace(lent);
        self.need_fronts()?;
        self.bind()
    }

    /// To be called after a command that reads pixels.
    #[inline]
    pub(crate) fn return_lent(&mut self) -> Result<(), Fault> {
        let cx = self.cx()?;
        let Some(own) = cx.lender.take() else {
            return Ok(());
        };
        let lent = cx.read.replace(own);
        self.bind()?;
        lent.into_iter().for_each(|lent| self.release(lent));
        Ok(())
    }

    pub(crate) fn handwritten_mgn_take_tiles(
        &mut self,
        surface: u32,
        plane: u32,
        parts: Slice<'_, i32>,
        _pixels_count: u32,
        reply: &mut Reply,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        let surface = self.known_surface(surface)?;
        let Some((format, buffer)) = self.plane(&surface, plane) else {
            reply.room(0);
            return Ok(());
        };
        let held = surface.borrow().pixels;
        let parts = parts.to_vec();
        let mine = parts
            .chunks_exact(5)
            .filter(|part| part[0] == self.tile_number());
        let mine: Vec<Rect> = mine.flat_map(|part| rects(&part[1..])).collect();
        if !mine.iter().all(|part| is_held(*part, held)) {
            // Another program may have made the window smaller.
            return match self.is_shared() {
                true => {
                    reply.room(0);
                    Ok(())
                }
                false => Err(not_on_it()),
            };
        }
        // The parts of a tile do not overlap.
        let total: usize = mine.iter().copied().map(pixels).sum();
        if total > pixels(held) {
            return Err(Fault::refused("more parts of a surface than it has pixels"));
        }
        let total = total * format.bytes;
        let to = reply.room(total).as_mut_ptr();
        let aside = if plane == DEPTH_STENCIL {
            self.at_depth(buffer)?
        } else {
            self.readable(&surface, buffer)?;
            None
        };
        let own = aside.is_none();
        let gl = &self.gl;
        let read = || {
            let mut at = 0;
            for part in &mine {
                // SAFETY: a context is current, the reply has room for every part, whose rows are
                // packed tightly, and no buffer is bound.
                unsafe {
                    let (x, y, w, h) = (part[0] - held[0], part[1] - held[1], part[2], part[3]);
                    let to = to.add(at).cast();
                    (gl.glReadPixels)(x, y, w, h, format.format, format.type_, to);
                    at += w as usize * h as usize * format.bytes;
                }
            }
        };
        if own {
            // SAFETY: the utility context is current.
            unsafe { (gl.glPixelStorei)(GL_PACK_ALIGNMENT, 1) };
            self.utility.upright(gl, read);
        } else {
            read();
        }
        self.leave_depth(aside)
    }

    pub(crate) fn handwritten_mgn_fill(
        &mut self,
        surface: u32,
        plane: u32,
        parts: Slice<'_, i32>,
        data: Data<'_>,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        let surface = self.known_surface(surface)?;
        let lent = surface.borrow().lent.get(&self.seat).cloned();
        let surface = lent.unwrap_or(surface);
        if self.is_offset && plane == FRONT {
            self.need_front(&surface)?;
        }
        let Some((format, buffer)) = self.plane(&surface, plane) else {
            return Ok(());
        };
        let (held, own) = {
            let s = surface.borrow();
            // Other programs may have drawn there since.
            (s.pixels, s.tile.filter(|_| self.is_shared()))
        };
        let mut filled = Vec::new();
        let mut total = 0usize;
        for part in rects(&parts.to_vec()) {
            let [x, y, width, height] = part;
            let bytes = pixels(part).saturating_mul(format.bytes);
            if is_held(part, held) {
                let all = [x - held[0], y - held[1], width, height];
                let kept = own.map_or([0; 4], |[x, y, w, h]| [x - held[0], y - held[1], w, h]);
                filled.push(Part {
                    from: total,
                    all,
                    filled: minus(all, kept),
                });
            } else if !self.is_shared() {
                return Err(not_on_it());
            }
            total = total.saturating_add(bytes);
        }
        let Data::Inline(data) = data else {
            return Err(Fault::refused("a surface is filled from a message only"));
        };
        if data.len() < total {
            return Err(Fault::ShortArray);
        }
        let aside = if plane == DEPTH_STENCIL {
            self.at_depth(buffer)?
        } else {
            self.make_current(self.utility.context, buffer, buffer)
                .map_err(fault)?;
            None
        };
        // SAFETY: a context is current that has framebuffer objects, whose state is the utility
        // context's or put aside; the data is as long as its parts.
        unsafe { self.upload(&format, &filled, data.as_ptr(), aside.is_none()) };
        self.leave_depth(aside)
    }

    fn plane(&self, surface: &SharedSurface, plane: u32) -> Option<(Format, egl::Surface)> {
        let surface = surface.borrow();
        let format = format_of(&surface.choice, plane)?;
        let buffer = match plane {
            BACK => surface.back,
            FRONT => surface.front?,
            // Depth and stencil belong to the buffer that is drawn to.
            DEPTH_STENCIL => {
                let cx = self.cx.as_deref()?;
                let drawn = cx
                    .draw
                    .as_ref()
                    .is_some_and(|s| s.borrow().id == surface.id);
                surface.target(if drawn { cx.draw_buffer } else { GL_BACK })
            }
            _ => return None,
        };
        Some((format, buffer))
    }

    /// Makes the program's context current with the buffer whose depth is meant, for reading and
    /// drawing, and puts its state aside. The utility context takes its place if the program's is
    /// one of OpenGL ES, which cannot read depth, or if it is compiling a display list or has begun
    /// a primitive, so that its state cannot be put aside. Then the result is none.
    fn at_depth(&mut self, buffer: egl::Surface) -> Result<Option<Aside>, Fault> {
        let cx = self.cx()?;
        let (context, api, has_buffers) = (cx.egl, cx.api, cx.has_pixel_buffers);
        let mut is_own = api.is_desktop() && !self.compiles();
        if is_own {
            // The context may not be current, and everything below concerns its state.
            self.make_current(context, buffer, buffer).map_err(fault)?;
            is_own = !self.has_primitive();
        }
        if !is_own {
            self.make_current(self.utility.context, buffer, buffer)
                .map_err(fault)?;
            return Ok(None);
        }
        self.error();
        self.restore_boxes();
        self.lift_condition();
        self.pack(true)?;
        self.unpack(true)?;
        let mut bindings = vec![
            GL_DRAW_FRAMEBUFFER_BINDING,
            GL_READ_FRAMEBUFFER_BINDING,
            GL_TEXTURE_BINDING_2D,
        ];
        if has_buffers {
            bindings.extend([GL_PIXEL_PACK_BUFFER_BINDING, GL_PIXEL_UNPACK_BUFFER_BINDING]);
        }
        let mut neutral = Vec::new();
        if api == Api::Compat {
            bindings.extend([GL_INDEX_SHIFT, GL_INDEX_OFFSET, GL_MAP_STENCIL]);
            neutral = vec![(GL_DEPTH_SCALE, 1.0), (GL_DEPTH_BIAS, 0.0)];
        }
        let integers = bindings
            .into_iter()
            .map(|name| (name, self.driver_integer(name)));
        let integers: Vec<_> = integers.collect();
        let mut floats = Vec::new();
        for (name, value) in neutral {
            let mut now = value;
            // SAFETY: the context is current; one number is written, and the parameters are those
            // of pixel transfers.
            unsafe {
                (self.gl.glGetFloatv)(name, &mut now);
                (self.gl.glPixelTransferf)(name, value);
            }
            floats.push((name, now));
        }
        for (name, _) in &integers {
            self.put(*name, 0);
        }
        // SAFETY: the context is current.
        let is_clipped = unsafe {
            let on = (self.gl.glIsEnabled)(GL_SCISSOR_TEST) != 0;
            (self.gl.glDisable)(GL_SCISSOR_TEST);
            on
        };
        Ok(Some(Aside {
            integers,
            floats,
            is_clipped,
        }))
    }

    /// Reads the depths of a part of a buffer as whole numbers of 32 bits, from the top down.
    ///
    /// # Safety
    /// There is room for `width * height * 4` bytes at `to`.
    pub(crate) unsafe fn read_depth(
        &mut self,
        buffer: egl::Surface,
        [x, y, width, height]: Rect,
        to: *mut u8,
    ) -> Result<(), Fault> {
        let aside = match self.cx {
            Some(_) => self.at_depth(buffer)?,
            None => {
                self.make_current(self.utility.context, buffer, buffer)
                    .map_err(fault)?;
                None
            }
        };
        let gl = &self.gl;
        // SAFETY: a context is current that packs four-byte pixels tightly, no buffer is bound, and
        // the caller promises the room.
        let read = || unsafe {
            let (format, type_) = (GL_DEPTH_COMPONENT, GL_UNSIGNED_INT);
            (gl.glReadPixels)(x, y, width, height, format, type_, to.cast());
        };
        match aside.is_some() {
            true => self.utility.inverted(gl, read),
            // The utility context reads from the top down if the driver can.
            false => read(),
        }
        if !self.utility.inverts {
            // SAFETY: that number of rows was written there.
            unsafe { turn_over(to, width as usize * 4, height as usize) };
        }
        self.leave_depth(aside)
    }

    /// Restores the state of a program's context, and makes it current with the program's surfaces.
    fn leave_depth(&mut self, aside: Option<Aside>) -> Result<(), Fault> {
        if let Some(aside) = aside {
            for (name, value) in aside.integers {
                self.put(name, value);
            }
            for (name, value) in aside.floats {
                // SAFETY: the context is current.
                unsafe { (self.gl.glPixelTransferf)(name, value) };
            }
            // SAFETY: the context is current; errors here are not reported to the program.
            unsafe {
                if aside.is_clipped {
                    (self.gl.glEnable)(GL_SCISSOR_TEST);
                }
                self.impose_condition();
                let error = (self.gl.glGetError)();
                if error != GL_NO_ERROR {
                    tracing::warn!("depth was not copied among tiles: error {error:#x}");
                }
            }
        }
        self.bind()
    }

    /// Sets the binding or parameter that is queried by `name`.
    fn put(&self, name: u32, value: i32) {
        let gl = &self.gl;
        let object = value as u32;
        // SAFETY: the context is current, and has given the values itself.
        unsafe {
            match name {
                GL_DRAW_FRAMEBUFFER_BINDING => {
                    (gl.glBindFramebuffer)(GL_DRAW_FRAMEBUFFER, object);
                }
                GL_READ_FRAMEBUFFER_BINDING => {
                    (gl.glBindFramebuffer)(GL_READ_FRAMEBUFFER, object);
                }
                GL_TEXTURE_BINDING_2D => (gl.glBindTexture)(GL_TEXTURE_2D, object),
                GL_PIXEL_PACK_BUFFER_BINDING => (gl.glBindBuffer)(GL_PIXEL_PACK_BUFFER, object),
                GL_PIXEL_UNPACK_BUFFER_BINDING => {
                    (gl.glBindBuffer)(GL_PIXEL_UNPACK_BUFFER, object);
                }
                _ => (gl.glPixelTransferi)(name, value),
            }
        }
    }

    /// Copies parts, one after the other in memory, to the current surface.
    ///
    /// # Safety
    /// The pixels lie at `from`. The context's bindings may change.
    unsafe fn upload(&self, format: &Format, parts: &[Part], from: *const u8, own: bool) {
        let gl = &self.gl;
        let (mut texture, mut framebuffer) = (0, 0);
        // SAFETY: the caller's promise; the objects are made and deleted here.
        unsafe {
            (gl.glGenTextures)(1, &mut texture);
            (gl.glGenFramebuffers)(1, &mut framebuffer);
            (gl.glBindTexture)(GL_TEXTURE_2D, texture);
            (gl.glTexParameteri)(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST as i32);
            (gl.glBindFramebuffer)(GL_READ_FRAMEBUFFER, framebuffer);
            if own {
                (gl.glPixelStorei)(GL_UNPACK_ALIGNMENT, 1);
            }
            for part in parts {
                let [x, y, w, h] = part.all;
                if part.filled.is_empty() || w == 0 || h == 0 {
                    continue;
                }
                let internal = format.internal as i32;
                let (kind, type_) = (format.format, format.type_);
                let (row, pixels) = (w as usize * format.bytes, from.add(part.from));
                let mut reversed = vec![0u8; row * h as usize];
                // Copied by pointer, because the bytes of a message may change meanwhile.
                for (n, to) in reversed.rchunks_exact_mut(row).enumerate() {
                    copy(pixels.add(n * row), to.as_mut_ptr(), row);
                }
                let pixels = reversed.as_ptr().cast();
                (gl.glTexImage2D)(GL_TEXTURE_2D, 0, internal, w, h, 0, kind, type_, pixels);
                (gl.glFramebufferTexture2D)(
                    GL_READ_FRAMEBUFFER,
                    format.attachment,
                    GL_TEXTURE_2D,
                    texture,
                    0,
                );
                // The blit turns the picture over. Mesa stores surfaces upside down, so this blit
                // is a plain copy. Other blits convert to floats, which changes depths.
                for [left, low, width, height] in part.filled.iter().copied() {
                    let (right, high) = (left + width, low + height);
                    let (from, to) = (y + h - high, y + h - low);
                    #[rustfmt::skip]
                    (gl.glBlitFramebuffer)(
                        left - x, from, right - x, to, left, high, right, low, format.mask, GL_NEAREST,
                    );
                }
            }
            (gl.glBindFramebuffer)(GL_READ_FRAMEBUFFER, 0);
            (gl.glDeleteFramebuffers)(1, &framebuffer);
            (gl.glDeleteTextures)(1, &texture);
        }
    }
}
