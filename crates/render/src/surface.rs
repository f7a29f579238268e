//! Default framebuffers. One or two EGL pbuffers stand for the buffers of a program's window or
//! pbuffer.
//!
//! A pbuffer has one colour buffer, which answers to GL_BACK and GL_FRONT alike. It is the back
//! buffer of a double-buffered surface and the only one of a single-buffered one. A double-buffered
//! surface gets a second pbuffer for its front as soon as a program draws to the front or reads it;
//! until then there is no visible difference.

use crate::configs::Choice;
use crate::context::Api;
use crate::egl::{self, ApiKind, EglError};
use crate::handwritten::accumulation::Accumulation;
use crate::renderer::Renderer;
use crate::tile::Rect;
use mgn_wire::{gl::*, hello, Fault};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::rc::Rc;

pub(crate) type SharedSurface = Rc<RefCell<Surface>>;

/// The largest width or height. No driver has larger viewports.
const SIDE_MAX: u32 = 32_768;
/// The same for surfaces whose buffers hold only a part of them.
const MOST_OFFSET: u32 = 1 << 20;
/// The most pixels of a surface: 16k x 8k.
const MOST_PIXELS: i64 = 1 << 27;

pub(crate) struct Surface {
    pub id: u32,
    pub choice: Choice,
    pub single: bool,
    pub width: u32,
    pub height: u32,
    /// The part of the surface that its buffers hold.
    pub pixels: Rect,
    pub back: egl::Surface,
    /// Exists once a program has used the front of a double-buffered surface.
    pub front: Option<egl::Surface>,
    /// The resolved samples of a multisampled surface, for its picture. Exists after the first
    /// picture.
    pub resolved: Option<egl::Surface>,
    /// Exists if the program was promised an accumulation buffer.
    pub accumulation: Option<Accumulation>,
    /// The part that this renderer draws, if several renderers draw one picture.
    pub tile: Option<Rect>,
    /// The tiles of all these renderers.
    pub tiles: Vec<i32>,
    /// Whether the buffers hold only the pixels of the tile.
    pub is_offset: bool,
    /// For each program of the window, a surface that holds a part of this one, from which the
    /// program's next command reads.
    pub lent: BTreeMap<u32, SharedSurface>,
    /// The programs that draw the whole surface here, and not only the tile.
    pub wholes: BTreeSet<u32>,
}

impl Surface {
    /// The whole surface.
    pub fn all(&self) -> Rect {
        [0, 0, self.width as i32, self.height as i32]
    }

    /// The pbuffer that `buffer`, a program's draw or read buffer, stands for. Commands that draw
    /// to both buffers draw to the back; the front is copied from it.
    pub fn target(&self, buffer: u32) -> egl::Surface {
        match self.front {
            Some(front) if is_front(buffer) => front,
            _ => self.back,
        }
    }

    /// Back and front, as source and destination of a copy, with their size; none if there is no
    /// front.
    fn both(&self, to_back: bool) -> Option<(egl::Surface, egl::Surface, i32, i32)> {
        let (front, back) = (self.front?, self.back);
        let (from, to) = if to_back {
            (front, back)
        } else {
            (back, front)
        };
        Some((from, to, self.pixels[2], self.pixels[3]))
    }

    /// Whether the surface has depths that can be read: one depth for each pixel.
    pub fn has_plain_depth(&self) -> bool {
        self.choice.described.depth > 0 && self.choice.described.samples == 0
    }

    /// The bits for `glBlitFramebuffer` of the surface's depth and stencil buffers.
    fn depth_stencil(&self) -> u32 {
        let depth = if self.choice.described.depth > 0 {
            GL_DEPTH_BUFFER_BIT
        } else {
            0
        };
        let stencil = if self.choice.described.stencil > 0 {
            GL_STENCIL_BUFFER_BIT
        } else {
            0
        };
        depth | stencil
    }
}

/// Whether a draw or read buffer is the front only.
pub(crate) fn is_front(buffer: u32) -> bool {
    matches!(buffer, GL_FRONT | GL_FRONT_LEFT)
}

/// Whether a draw buffer is the front and the back together.
pub(crate) fn is_both(buffer: u32) -> bool {
    matches!(buffer, GL_FRONT_AND_BACK | GL_LEFT)
}

impl Renderer {
    pub(crate) fn new_surface(
        &mut self,
        id: u32,
        choice: Choice,
        single: bool,
        width: u32,
        height: u32,
    ) -> Result<Surface, Fault> {
        let (width, height, pixels) = self.extent(width, height)?;
        let back = self.cleared_pbuffer(&choice, pixels)?;
        Ok(Surface {
            id,
            choice,
            single,
            width,
            height,
            pixels,
            back,
            front: None,
            resolved: None,
            accumulation: None,
            tile: None,
            tiles: Vec::new(),
            is_offset: self.is_offset,
            lent: BTreeMap::new(),
            wholes: BTreeSet::new(),
        })
    }

    /// Replaces a surface's buffers by buffers of another size. Their contents are lost, as they
    /// are when a window is resized that the driver draws itself.
    pub(crate) fn resize(
        &mut self,
        surface: &SharedSurface,
        width: u32,
        height: u32,
    ) -> Result<(), Fault> {
        let (width, height, pixels) = self.extent(width, height)?;
        {
            let mut s = surface.borrow_mut();
            if (s.width, s.height) == (width, height) {
                return Ok(());
            }
            (s.width, s.height) = (width, height);
            // The client sends the tiles for the new size next.
            s.tiles.clear();
        }
        self.renew(surface, pixels)
    }

    /// Replaces a surface's buffers by ones that hold the part `pixels` of it.
    pub(crate) fn renew(&mut self, surface: &SharedSurface, pixels: Rect) -> Result<(), Fault> {
        let (choice, had_front, held) = {
            let s = surface.borrow();
            (s.choice, s.front.is_some(), s.pixels)
        };
        if held == pixels {
            return Ok(());
        }
        fits(pixels)?;
        let back = self.cleared_pbuffer(&choice, pixels)?;
        let front = if had_front {
            Some(self.cleared_pbuffer(&choice, pixels)?)
        } else {
            None
        };
        let old = {
            let mut s = surface.borrow_mut();
            let old = [
                Some(std::mem::replace(&mut s.back, back)),
                std::mem::replace(&mut s.front, front),
                s.resolved.take(),
            ];
            s.pixels = pixels;
            s.accumulation = s.accumulation.take().map(|_| Accumulation::default());
            old
        };
        self.bind_and_read()?;
        for old in old.into_iter().flatten() {
            self.destroy(old);
        }
        Ok(())
    }

    /// This program does not have the surface any more. Other programs may still have it.
    pub(crate) fn disown(&mut self, surface: SharedSurface) {
        let lent = {
            let mut s = surface.borrow_mut();
            s.wholes.remove(&self.seat);
            s.lent.remove(&self.seat)
        };
        lent.into_iter().for_each(|lent| self.release(lent));
        self.release(surface);
    }

    /// Releases a reference to a surface; the last one destroys its buffers.
    pub(crate) fn release(&mut self, surface: SharedSurface) {
        if let Some(surface) = Rc::into_inner(surface) {
            let surface = surface.into_inner();
            for buffer in [Some(surface.back), surface.front, surface.resolved]
                .into_iter()
                .flatten()
            {
                self.destroy(buffer);
            }
        }
    }

    fn destroy(&mut self, buffer: egl::Surface) {
        self.egl.destroy_surface(buffer);
        self.forget(buffer);
    }

    /// Gives a double-buffered surface a separate front, a copy of the back. The copy shows what
    /// was last swapped, unless the program has drawn to the back before it asks for the front.
    pub(crate) fn need_front(&mut self, surface: &SharedSurface) -> Result<(), Fault> {
        let (choice, pixels) = {
            let s = surface.borrow();
            if s.single || s.front.is_some() {
                return Ok(());
            }
            (s.choice, s.pixels)
        };
        let front = self.cleared_pbuffer(&choice, pixels)?;
        surface.borrow_mut().front = Some(front);
        self.copy(surface, false, GL_COLOR_BUFFER_BIT)
    }

    /// Copies colours from the back to the front.
    pub(crate) fn front_follows(&mut self, surface: &SharedSurface) -> Result<(), Fault> {
        self.copy(surface, false, GL_COLOR_BUFFER_BIT)
    }

    /// The same for a part of the surface.
    pub(crate) fn front_follows_in(
        &mut self,
        surface: &SharedSurface,
        part: Rect,
    ) -> Result<(), Fault> {
        let [x, y, w, h] = surface.borrow().inside(part);
        let Some((from, to, ..)) = surface.borrow().both(false) else {
            return Ok(());
        };
        self.make_current(self.utility.context, to, from)
            .map_err(fault)?;
        // SAFETY: the utility context is current with both buffers; the command takes no pointers.
        unsafe {
            let (right, top) = (x + w, y + h);
            let (bit, filter) = (GL_COLOR_BUFFER_BIT, GL_NEAREST);
            (self.gl.glBlitFramebuffer)(x, y, right, top, x, y, right, top, bit, filter);
        }
        Ok(())
    }

    /// Makes the utility context current so that a picture of `pixels`, one of the surface's
    /// buffers, can be read. A multisampled buffer is resolved first, because reading it would give
    /// one sample of each pixel.
    pub(crate) fn readable(
        &mut self,
        surface: &SharedSurface,
        pixels: egl::Surface,
    ) -> Result<(), Fault> {
        let (choice, extent, resolved) = {
            let s = surface.borrow();
            (s.choice, s.pixels, s.resolved)
        };
        let of = choice.described;
        let plain = |c: &&Choice| {
            let colors = |d: &hello::Config| (d.color, d.alpha);
            of.samples > 0 && c.described.samples == 0 && colors(&c.described) == colors(&of)
        };
        let smallest = |c: &&Choice| c.described.depth + c.described.stencil;
        let Some(plain) = self
            .configs
            .iter()
            .filter(plain)
            .min_by_key(smallest)
            .copied()
        else {
            return self
                .make_current(self.utility.context, pixels, pixels)
                .map_err(fault);
        };
        let plain = Choice {
            srgb: choice.srgb,
            ..plain
        };
        let resolved = match resolved {
            Some(resolved) => resolved,
            None => self.cleared_pbuffer(&plain, extent)?,
        };
        surface.borrow_mut().resolved = Some(resolved);
        self.make_current(self.utility.context, resolved, pixels)
            .map_err(fault)?;
        let [.., w, h] = extent;
        // SAFETY: the utility context is current with both buffers; the command takes no pointers.
        unsafe {
            (self.gl.glBlitFramebuffer)(0, 0, w, h, 0, 0, w, h, GL_COLOR_BUFFER_BIT, GL_NEAREST)
        };
        self.make_current(self.utility.context, resolved, resolved)
            .map_err(fault)
    }

    /// Copies depth and stencil to the buffer that is drawn to next: programs see only one depth
    /// and stencil buffer. This happens in the program's own context, because in some releases of
    /// Mesa each context has its own depth buffer of a surface.
    pub(crate) fn move_depth(
        &mut self,
        surface: &SharedSurface,
        to_back: bool,
    ) -> Result<(), Fault> {
        let mask = surface.borrow().depth_stencil();
        let cx = self.cx()?;
        let (context, api) = (cx.egl, cx.api);
        if mask == 0 {
            return Ok(());
        }
        // OpenGL ES 1 has no blits.
        if api == Api::Es1 {
            return self.copy(surface, to_back, mask);
        }
        let Some((from, to, w, h)) = surface.borrow().both(to_back) else {
            return Ok(());
        };
        self.make_current(context, to, from).map_err(fault)?;
        let (mut draw, mut read) = (0, 0);
        let gl = &self.gl;
        // SAFETY: the context is current with both buffers; each query writes one integer. State
        // that affects a blit is restored.
        unsafe {
            (gl.glGetIntegerv)(GL_DRAW_FRAMEBUFFER_BINDING, &mut draw);
            (gl.glGetIntegerv)(GL_READ_FRAMEBUFFER_BINDING, &mut read);
            let clipped = (gl.glIsEnabled)(GL_SCISSOR_TEST) != 0;
            (gl.glBindFramebuffer)(GL_DRAW_FRAMEBUFFER, 0);
            (gl.glBindFramebuffer)(GL_READ_FRAMEBUFFER, 0);
            (gl.glDisable)(GL_SCISSOR_TEST);
            (gl.glBlitFramebuffer)(0, 0, w, h, 0, 0, w, h, mask, GL_NEAREST);
            if clipped {
                (gl.glEnable)(GL_SCISSOR_TEST);
            }
            (gl.glBindFramebuffer)(GL_DRAW_FRAMEBUFFER, draw as u32);
            (gl.glBindFramebuffer)(GL_READ_FRAMEBUFFER, read as u32);
        }
        Ok(())
    }

    /// Copies between the two pbuffers of a surface, and leaves the utility context current.
    fn copy(&mut self, surface: &SharedSurface, to_back: bool, mask: u32) -> Result<(), Fault> {
        let Some((from, to, w, h)) = surface.borrow().both(to_back) else {
            return Ok(());
        };
        self.make_current(self.utility.context, to, from)
            .map_err(fault)?;
        // SAFETY: the utility context is current with both buffers; the command takes no pointers.
        unsafe { (self.gl.glBlitFramebuffer)(0, 0, w, h, 0, 0, w, h, mask, GL_NEAREST) };
        Ok(())
    }

    /// Whether the driver's multisampled pbuffers, if it has any, can be drawn to and keep their
    /// contents when another surface becomes current. With some releases of Mesa they do not.
    pub(crate) fn keeps_samples(&mut self) -> bool {
        let sampled = |c: &&Choice| c.described.samples > 0;
        let choice = self.configs.iter().find(sampled).copied();
        choice.is_none_or(|choice| self.keeps_samples_of(choice).unwrap_or(false))
    }

    /// Leaves out multisampled configurations.
    pub(crate) fn drop_samples(&mut self) {
        tracing::info!("the driver's multisampled pbuffers do not work, so there are none");
        self.configs.retain(|c| c.described.samples == 0);
    }

    fn keeps_samples_of(&mut self, choice: Choice) -> Result<bool, Fault> {
        let context = self
            .egl
            .create_context(ApiKind::OpenGl, choice.egl, egl::NO_CONTEXT, &[])
            .map_err(fault)?;
        let surface = self.new_surface(0, choice, true, 4, 4)?;
        let back = surface.back;
        let surface = Rc::new(RefCell::new(surface));
        let mut pixel = [0u8; 4];
        self.make_current(context, back, back).map_err(fault)?;
        // SAFETY: the context is current; the commands take no pointers.
        unsafe {
            (self.gl.glClearColor)(1.0, 1.0, 1.0, 1.0);
            (self.gl.glClear)(GL_COLOR_BUFFER_BIT);
        }
        self.readable(&surface, back)?;
        self.make_current(context, back, back).map_err(fault)?;
        self.readable(&surface, back)?;
        // SAFETY: the utility context is current; one pixel of four bytes is written.
        unsafe {
            let to = pixel.as_mut_ptr().cast();
            (self.gl.glReadPixels)(1, 1, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, to);
        }
        let nothing = (egl::NO_CONTEXT, egl::NO_SURFACE);
        self.make_current(nothing.0, nothing.1, nothing.1)
            .map_err(fault)?;
        self.release(surface);
        self.egl.destroy_context(context);
        Ok(pixel[..3] == [255; 3])
    }

    /// A pbuffer that is cleared to zeros: drivers may hand out memory with old contents. Leaves
    /// the utility context current.
    fn cleared_pbuffer(
        &mut self,
        choice: &Choice,
        [.., width, height]: Rect,
    ) -> Result<egl::Surface, Fault> {
        let (width, height) = (width as u32, height as u32);
        let surface = self
            .egl
            .create_pbuffer(choice.egl, choice.srgb, width, height)
            .map_err(|e| {
                Fault::driver(format!(
                    "cannot create a framebuffer of {width} x {height}: {e}"
                ))
            })?;
        self.make_current(self.utility.context, surface, surface)
            .map_err(fault)?;
        // SAFETY: the utility context is current; the commands take no pointers.
        unsafe {
            (self.gl.glClearColor)(0.0, 0.0, 0.0, 0.0);
            (self.gl.glClearDepth)(0.0);
            (self.gl.glClear)(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT | GL_STENCIL_BUFFER_BIT);
        }
        Ok(surface)
    }

    /// Width and height of a surface, and the part that its buffers hold before the tile is known.
    fn extent(&self, width: u32, height: u32) -> Result<(u32, u32, Rect), Fault> {
        let (width, height) = (width.max(1), height.max(1));
        let (most, pixels) = match self.is_offset {
            true => (MOST_OFFSET, [0, 0, 1, 1]),
            false => (
                SIDE_MAX,
                [
                    0,
                    0,
                    width.min(SIDE_MAX) as i32,
                    height.min(SIDE_MAX) as i32,
                ],
            ),
        };
        if width > most || height > most {
            return Err(too_large(width, height));
        }
        fits(pixels)?;
        Ok((width, height, pixels))
    }
}

fn fits([.., width, height]: Rect) -> Result<(), Fault> {
    match i64::from(width) * i64::from(height) > MOST_PIXELS {
        true => Err(too_large(width, height)),
        false => Ok(()),
    }
}

fn too_large(width: impl Display, height: impl Display) -> Fault {
    Fault::refused(format!("a framebuffer of {width} x {height} is too large"))
}

pub(crate) fn fault(error: EglError) -> Fault {
    Fault::driver(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use mgn_wire::Blame;

    #[test]
    fn what_egl_refuses_is_the_drivers_fault_and_what_is_too_large_the_clients() {
        let refused = EglError::Call {
            doing: "make a context current",
            code: "EGL_BAD_MATCH",
        };
        assert_eq!(fault(refused).blame(), Blame::Driver);
        let large = fits([0, 0, i32::MAX, i32::MAX]).unwrap_err();
        assert_eq!(large.blame(), Blame::Client);
    }
}
