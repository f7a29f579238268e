//! EGL images, which are made from textures and renderbuffers of one context and used by others.

use crate::names::Class;
use crate::renderer::Renderer;
use mgn_wire::{Fault, Reply, Slice};
use std::ffi::c_void;

/// The most images of a session. Each holds memory that no other limit counts.
const MOST_IMAGES: usize = 1 << 16;

const GL_RENDERBUFFER: u32 = 0x30B9;
const GL_TEXTURE_LEVEL: i32 = 0x30BC;
const GL_TEXTURE_2D: u32 = 0x30B1;
const GL_CUBE_FACES: std::ops::RangeInclusive<u32> = 0x30B3..=0x30B8;
/// More levels than any texture has.
const MOST_LEVELS: i32 = 32;
const SUCCESS: u32 = 0x3000;
const BAD_PARAMETER: u32 = 0x300C;

impl Renderer {
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn handwritten_mgn_create_image(
        &mut self,
        image: u32,
        context: u32,
        target: u32,
        name: u32,
        level: i32,
        code_count: u32,
        reply: &mut Reply,
    ) -> Result<(), Fault> {
        self.beat();
        if image == 0 || self.images.contains_key(&image) {
            return Err(Fault::refused("an image was given a name that is in use"));
        }
        if self.images.len() >= MOST_IMAGES {
            return Err(Fault::refused("more images than a program may have"));
        }
        // After this, every context's names are in its own tables, where they are looked up.
        self.leave();
        let class = match target {
            GL_RENDERBUFFER => Class::Renderbuffer,
            _ => Class::Texture,
        };
        let sound = (class == Class::Renderbuffer
            || target == GL_TEXTURE_2D
            || GL_CUBE_FACES.contains(&target))
            && (0..MOST_LEVELS).contains(&level);
        let found = self.contexts.get(&context).and_then(|cx| {
            let group = self.groups.get(&cx.group)?;
            Some((cx.egl, group.shared.table(class).get(name)?))
        });
        let found = found.filter(|_| sound);
        let mut attributes = Vec::new();
        if class == Class::Texture {
            attributes.extend([GL_TEXTURE_LEVEL, level]);
        }
        let code = match found {
            None => BAD_PARAMETER,
            Some((egl, driver)) => match self.egl.create_image(egl, target, driver, &attributes) {
                Err(code) => code as u32,
                Ok(made) => {
                    self.images.insert(image, made);
                    SUCCESS
                }
            },
        };
        reply.array(&[code], code_count);
        Ok(())
    }

    pub(crate) fn handwritten_mgn_destroy_image(&mut self, image: u32) -> Result<(), Fault> {
        self.beat();
        match self.images.remove(&image) {
            Some(image) => self.egl.destroy_image(image),
            None => return Err(Fault::refused("an image that does not exist was ended")),
        }
        Ok(())
    }

    /// The driver's image of this name, or null, which the driver refuses.
    fn egl_image(&self, name: u32) -> *mut c_void {
        let found = self.images.get(&name);
        found.copied().unwrap_or(std::ptr::null_mut())
    }

    pub(crate) fn handwritten_gl_egl_image_target_texture2does(
        &mut self,
        target: u32,
        image: u32,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        // SAFETY: the context is current; the image is null or one of EGL's.
        unsafe { (self.gl.glEGLImageTargetTexture2DOES)(target, self.egl_image(image)) };
        Ok(())
    }

    pub(crate) fn handwritten_gl_egl_image_target_renderbuffer_storage_oes(
        &mut self,
        target: u32,
        image: u32,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        // SAFETY: as above.
        unsafe { (self.gl.glEGLImageTargetRenderbufferStorageOES)(target, self.egl_image(image)) };
        Ok(())
    }

    pub(crate) fn handwritten_gl_egl_image_target_tex_storage_ext(
        &mut self,
        target: u32,
        image: u32,
        attributes: Slice<'_, i32>,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        let list = ended(attributes);
        // SAFETY: as above; the list has an end.
        unsafe {
            (self.gl.glEGLImageTargetTexStorageEXT)(target, self.egl_image(image), list.as_ptr())
        };
        Ok(())
    }

    pub(crate) fn handwritten_gl_egl_image_target_texture_storage_ext(
        &mut self,
        texture: u32,
        image: u32,
        attributes: Slice<'_, i32>,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        let texture = self.object(Class::Texture, texture);
        let (image, list) = (self.egl_image(image), ended(attributes));
        // SAFETY: as above.
        unsafe { (self.gl.glEGLImageTargetTextureStorageEXT)(texture, image, list.as_ptr()) };
        Ok(())
    }
}

/// A list of attributes, with end marks wherever a driver may look for one.
fn ended(attributes: Slice<'_, i32>) -> Vec<i32> {
    let mut list = attributes.to_vec();
    list.extend([0; 2]);
    list
}
