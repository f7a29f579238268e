//! Images for the driver that do not belong to textures.

use crate::names::Class;
use crate::renderer::Renderer;
use mgn_wire::gl::{GL_OUT_OF_MEMORY, GL_RENDERBUFFER};
use mgn_wire::sizes::image::{tight_bitmap_bytes, tight_image_bytes};
use mgn_wire::{Data, Fault};

/// The greatest side of a bitmap.
const HIGHEST_BITMAP: i32 = u16::MAX as i32;

macro_rules! copy_images {
    ($($name:ident = $gl:ident;)*) => {$(
        #[allow(clippy::too_many_arguments)]
        pub(crate) fn $name(
            &mut self,
            source: u32,
            source_target: u32,
            source_level: i32,
            source_x: i32,
            source_y: i32,
            source_z: i32,
            to: u32,
            to_target: u32,
            to_level: i32,
            to_x: i32,
            to_y: i32,
            to_z: i32,
            width: i32,
            height: i32,
            depth: i32,
        ) -> Result<(), Fault> {
            self.needs_context()?;
            let [source, to] = [(source_target, source), (to_target, to)].map(|(target, name)| {
                let class = match target {
                    GL_RENDERBUFFER => Class::Renderbuffer,
                    _ => Class::Texture,
                };
                self.object(class, name)
            });
            // SAFETY: the context is current.
            unsafe {
                (self.gl.$gl)(
                    source, source_target, source_level, source_x, source_y, source_z, to, to_target, to_level, to_x, to_y, to_z, width, height,
                    depth,
                )
            };
            Ok(())
        }
    )*};
}

impl Renderer {
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn handwritten_gl_texture_view(
        &mut self,
        texture: u32,
        target: u32,
        origin: u32,
        format: u32,
        level: u32,
        levels: u32,
        layer: u32,
        layers: u32,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        let driver = self.object(Class::Texture, texture);
        let of = self.object(Class::Texture, origin);
        // SAFETY: the context is current.
        let done = self.without_error(|r| unsafe {
            (r.gl.glTextureView)(driver, target, of, format, level, levels, layer, layers)
        });
        if done {
            // No driver reports which texture a view was made from.
            self.names.shared.views.insert(texture, of);
        }
        Ok(())
    }

    copy_images! {
        handwritten_gl_copy_image_sub_data = glCopyImageSubData;
        handwritten_gl_copy_image_sub_data_nv = glCopyImageSubDataNV;
    }

    pub(crate) fn handwritten_gl_draw_pixels(
        &mut self,
        width: i32,
        height: i32,
        format: u32,
        type_: u32,
        pixels: Data<'_>,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        let pixels = self.image(pixels, tight_image_bytes(width, height, 1, format, type_))?;
        // SAFETY: `pixels` is null, an offset into the bound buffer, or holds the image.
        unsafe { (self.gl.glDrawPixels)(width, height, format, type_, pixels.cast()) };
        Ok(())
    }

    #[allow(clippy::too_many_arguments)]
    pub(crate) fn handwritten_gl_bitmap(
        &mut self,
        width: i32,
        height: i32,
        xorig: f32,
        yorig: f32,
        xmove: f32,
        ymove: f32,
        bitmap: Data<'_>,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        if width < 0 || height < 0 {
            // Mesa's lists make a texture of the bitmap. glLineWidth raises the same error at the
            // same time: if a list is being compiled, when the list is called.
            // SAFETY: the context is current.
            unsafe { (self.gl.glLineWidth)(-1.0) };
            return Ok(());
        }
        if width.max(height) > HIGHEST_BITMAP {
            // Mesa would make a bitmap of less height, and fill more than that.
            self.set_error(GL_OUT_OF_MEMORY);
            return Ok(());
        }
        let bytes = tight_bitmap_bytes(width, height);
        if let Some(bitmap) = self.bitmap_image(bitmap, [width, height], bytes)? {
            // SAFETY: `bitmap` is null, which only moves the raster position, or holds the image,
            // or is an offset into the bound buffer, and no list is compiled.
            unsafe { (self.gl.glBitmap)(width, height, xorig, yorig, xmove, ymove, bitmap.cast()) };
            if let Some(cx) = self.cx.as_deref_mut() {
                cx.may_keep_bitmaps = true;
            }
        }
        Ok(())
    }

    pub(crate) fn handwritten_gl_polygon_stipple(&mut self, mask: Data<'_>) -> Result<(), Fault> {
        self.needs_context()?;
        let nothing = matches!(mask, Data::Null);
        let mask = self.image(mask, tight_bitmap_bytes(32, 32))?;
        if !nothing {
            // SAFETY: `mask` is an offset into the bound buffer, or holds the pattern.
            unsafe { (self.gl.glPolygonStipple)(mask) };
        }
        Ok(())
    }
}
