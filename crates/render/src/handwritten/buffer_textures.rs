//! Buffer textures that show a part of a buffer.
//!
//! The buffer may become too small for the part when it gets other storage. Mesa does not check
//! this when shaders load from such a texture as an image or store to it: it subtracts the offset
//! from the size without a sign. So the driver's texture has no buffer while its part begins at or
//! behind the end of the buffer.

use crate::names::Class;
use crate::renderer::Renderer;
use mgn_wire::{gl::*, Fault};

/// The range of a buffer that a texture shows, if it does not begin at the buffer's start.
#[derive(Debug, Clone, Copy)]
pub struct Shown {
    format: u32,
    /// The driver's name.
    buffer: u32,
    offset: i64,
    size: i64,
    /// How many bytes of the range the driver shows; 0 if the driver's texture has no buffer.
    given: i64,
    /// Whether the buffer's name has been deleted.
    is_nameless: bool,
}

impl Renderer {
    /// Calls `attach` to attach a part of a buffer to a texture, or a whole buffer with offset 0,
    /// and notes it.
    fn attach(
        &mut self,
        texture: u32,
        (format, buffer, offset, size): (u32, u32, i64, i64),
        attach: impl FnOnce(&Renderer),
    ) -> Result<(), Fault> {
        if offset <= 0 && self.names.shared.shown.is_empty() {
            attach(self);
            return Ok(());
        }
        if self.is_in_primitive() {
            return Ok(());
        }
        self.error();
        attach(self);
        // Unnamed textures have no images, and for sampling the driver checks the bounds.
        if self.failed() || texture == 0 {
            return Ok(());
        }
        let shared = &mut self.names.shared;
        if buffer == 0 || offset <= 0 {
            shared.shown.remove(&texture);
            return Ok(());
        }
        let shown = Shown {
            format,
            buffer,
            offset,
            size,
            given: size,
            is_nameless: false,
        };
        shared.shown.insert(texture, shown);
        shared.has_parts = true;
        Ok(())
    }

    /// The driver's name of the bound buffer texture; none if there is none. If another context has
    /// deleted the texture, its name may now belong to another one, and it could not be identified
    /// later. So then the texture that has the name is bound instead.
    fn bound_texture(&mut self) -> Option<u32> {
        let texture = self.driver_integer(GL_TEXTURE_BINDING_BUFFER) as u32;
        if !self.names.shared.deleted_textures.contains(&texture) {
            return Some(texture);
        }
        self.error();
        // SAFETY: the context is current.
        let is_there = unsafe { (self.gl.glIsTexture)(texture) } != 0;
        // In a list, the command would be compiled.
        if !is_there || self.compiles() {
            self.set_error(GL_INVALID_OPERATION);
            return None;
        }
        // SAFETY: as above.
        unsafe { (self.gl.glBindTexture)(GL_TEXTURE_BUFFER, texture) };
        (!self.failed()).then_some(texture)
    }

    /// To be called when buffers that have or had this name have new sizes in bytes, as for
    /// `Parts::sized`.
    pub(super) fn shown_sized(
        &mut self,
        buffer: u32,
        named: i64,
        nameless: i64,
    ) -> Result<(), Fault> {
        let shown = self.names.shared.shown.iter();
        let of_it: Vec<(u32, Shown)> = shown
            .filter(|(_, shown)| shown.buffer == buffer)
            .map(|(texture, shown)| (*texture, *shown))
            .collect();
        for (texture, mut shown) in of_it {
            let bytes = match shown.is_nameless {
                true => nameless,
                false => named,
            };
            let left = bytes.saturating_sub(shown.offset).clamp(0, shown.size);
            // If some of the range is left, the driver checks the bounds itself.
            if left == 0 && shown.given > 0 {
                self.detach(texture, &shown)?;
                shown.given = 0;
            } else if left > shown.given && !shown.is_nameless {
                let part = (shown.buffer, shown.offset, left);
                if self.give_part(texture, shown.format, part) {
                    shown.given = left;
                }
            }
            self.names.shared.shown.insert(texture, shown);
        }
        Ok(())
    }

    /// The buffer and the offset of the part that the driver shows in a texture; none if no part is
    /// noted. For tests.
    pub(crate) fn part_shown_by(&self, texture: u32) -> Option<(u32, i64)> {
        let shown = self.names.shared.shown.get(&texture);
        let shown = shown.filter(|shown| shown.given > 0);
        shown.map(|shown| (shown.buffer, shown.offset))
    }

    fn detach(&mut self, texture: u32, shown: &Shown) -> Result<(), Fault> {
        // A format of another context may not exist in this one.
        match [shown.format, GL_R8]
            .iter()
            .any(|format| self.give_part(texture, *format, (0, 0, 0)))
        {
            true => Ok(()),
            // The driver would go on using the stray part.
            false => Err(Fault::refused(
                "a buffer without what a texture shows of it",
            )),
        }
    }

    /// Makes the driver's texture show a part of a buffer, or nothing. Returns whether it does.
    fn give_part(
        &mut self,
        texture: u32,
        format: u32,
        (buffer, offset, size): (u32, i64, i64),
    ) -> bool {
        let is_desktop = self.cx.as_deref().is_some_and(|cx| cx.api.is_desktop());
        self.unheard(|r| {
            r.error();
            // SAFETY: the context is current, and the buffer has the part.
            unsafe {
                if is_desktop {
                    match buffer {
                        0 => (r.gl.glTextureBuffer)(texture, format, 0),
                        _ => (r.gl.glTextureBufferRange)(texture, format, buffer, offset, size),
                    }
                    return (r.gl.glGetError)() == GL_NO_ERROR;
                }
                let target = GL_TEXTURE_BUFFER;
                let bound = r.driver_integer(GL_TEXTURE_BINDING_BUFFER) as u32;
                (r.gl.glBindTexture)(target, texture);
                let is_bound = (r.gl.glGetError)() == GL_NO_ERROR;
                if is_bound {
                    match buffer {
                        0 => (r.gl.glTexBuffer)(target, format, 0),
                        _ => (r.gl.glTexBufferRange)(target, format, buffer, offset, size),
                    }
                }
                let is_done = is_bound && (r.gl.glGetError)() == GL_NO_ERROR;
                let is_named = (r.gl.glIsTexture)(bound) != 0;
                (r.gl.glBindTexture)(target, if is_named { bound } else { 0 });
                is_done
            }
        })
    }

    /// To be called after buffers were deleted. Textures keep their buffers.
    pub(super) fn shown_deleted(&mut self, buffers: &[u32]) {
        self.names.shared.shown.retain(|_, shown| {
            let is_deleted = buffers.contains(&shown.buffer);
            shown.is_nameless |= is_deleted;
            !is_deleted || shown.given > 0
        });
    }

    /// To be called before textures are deleted. They may stay bound in another context, where
    /// their buffers could not be detached any more.
    pub(super) fn before_textures_deleted(&mut self, textures: &[u32]) -> Result<(), Fault> {
        for texture in textures {
            let shown = self.names.shared.shown.remove(texture);
            if let Some(shown) = shown.filter(|shown| shown.given > 0) {
                self.detach(*texture, &shown)?;
            }
        }
        let group = self.cx.as_deref().map(|cx| cx.group);
        let group = group.and_then(|group| self.groups.get(&group));
        if group.is_some_and(|group| group.contexts > 1) {
            self.names.shared.deleted_textures.extend(textures);
        }
        Ok(())
    }

    pub(crate) fn handwritten_gl_tex_buffer(
        &mut self,
        target: u32,
        format: u32,
        buffer: u32,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        let buffer = self.object(Class::Buffer, buffer);
        let texture = match self.names.shared.shown.is_empty() {
            true => 0,
            false => self.driver_integer(GL_TEXTURE_BINDING_BUFFER) as u32,
        };
        self.attach(texture, (format, buffer, 0, 0), |r| {
            // SAFETY: the context is current.
            unsafe { (r.gl.glTexBuffer)(target, format, buffer) }
        })
    }

    pub(crate) fn handwritten_gl_tex_buffer_range(
        &mut self,
        target: u32,
        format: u32,
        buffer: u32,
        offset: i64,
        size: i64,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        if self.is_in_primitive() {
            return Ok(());
        }
        let buffer = self.object(Class::Buffer, buffer);
        let Some(texture) = self.bound_texture() else {
            return Ok(());
        };
        self.attach(texture, (format, buffer, offset, size), |r| {
            // SAFETY: the context is current; the driver refuses what the buffer does not have.
            unsafe { (r.gl.glTexBufferRange)(target, format, buffer, offset, size) }
        })
    }

    pub(crate) fn handwritten_gl_multi_tex_buffer_ext(
        &mut self,
        unit: u32,
        target: u32,
        format: u32,
        buffer: u32,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        let buffer = self.object(Class::Buffer, buffer);
        let texture = match self.names.shared.shown.is_empty() {
            true => 0,
            false => self.unheard(|r| {
                r.error();
                let mut bound = [0; 16];
                let index = unit.wrapping_sub(GL_TEXTURE0);
                // SAFETY: the context is current; one number is written. The error is no
                // program's.
                unsafe {
                    let pname = GL_TEXTURE_BINDING_BUFFER;
                    (r.gl.glGetIntegeri_v)(pname, index, bound.as_mut_ptr());
                    (r.gl.glGetError)();
                }
                bound[0] as u32
            }),
        };
        self.attach(texture, (format, buffer, 0, 0), |r| {
            // SAFETY: the context is current.
            unsafe { (r.gl.glMultiTexBufferEXT)(unit, target, format, buffer) }
        })
    }

    pub(crate) fn handwritten_gl_texture_buffer(
        &mut self,
        texture: u32,
        format: u32,
        buffer: u32,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        let texture = self.object(Class::Texture, texture);
        let buffer = self.object(Class::Buffer, buffer);
        self.attach(texture, (format, buffer, 0, 0), |r| {
            // SAFETY: the context is current.
            unsafe { (r.gl.glTextureBuffer)(texture, format, buffer) }
        })
    }

    pub(crate) fn handwritten_gl_texture_buffer_ext(
        &mut self,
        texture: u32,
        target: u32,
        format: u32,
        buffer: u32,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        let texture = self.name(Class::Texture, texture);
        let buffer = self.object(Class::Buffer, buffer);
        self.attach(texture, (format, buffer, 0, 0), |r| {
            // SAFETY: the context is current.
            unsafe { (r.gl.glTextureBufferEXT)(texture, target, format, buffer) }
        })
    }

    pub(crate) fn handwritten_gl_texture_buffer_range(
        &mut self,
        texture: u32,
        format: u32,
        buffer: u32,
        offset: i64,
        size: i64,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        let texture = self.object(Class::Texture, texture);
        let buffer = self.object(Class::Buffer, buffer);
        self.attach(texture, (format, buffer, offset, size), |r| {
            // SAFETY: the context is current; the driver refuses what the buffer does not have.
            unsafe { (r.gl.glTextureBufferRange)(texture, format, buffer, offset, size) }
        })
    }

    pub(crate) fn handwritten_gl_texture_buffer_range_ext(
        &mut self,
        texture: u32,
        target: u32,
        format: u32,
        buffer: u32,
        offset: i64,
        size: i64,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        let texture = self.name(Class::Texture, texture);
        let buffer = self.object(Class::Buffer, buffer);
        self.attach(texture, (format, buffer, offset, size), |r| {
            // SAFETY: as above.
            unsafe {
                (r.gl.glTextureBufferRangeEXT)(texture, target, format, buffer, offset, size);
            }
        })
    }
}
