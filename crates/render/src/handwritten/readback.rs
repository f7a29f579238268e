//! Images that are sent to the client in answers, or written to pixel buffer objects.

use super::pixel_store::has_short_rows;
use crate::names::Class;
use crate::renderer::Renderer;
use crate::surface::is_front;
use mgn_wire::sizes::image::{pixel_bytes, tight_image_bytes};
use mgn_wire::{gl::*, Fault, Reply, LONG_MAX};
use std::ffi::c_void;

impl Renderer {
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn handwritten_gl_read_pixels(
        &mut self,
        x: i32,
        y: i32,
        width: i32,
        height: i32,
        format: u32,
        type_: u32,
        reply: &mut Reply,
    ) -> Result<(), Fault> {
        let refuses = self.refuses_to_read(format);
        self.read_lent()?;
        if refuses {
            nothing(reply, false);
            return self.return_lent();
        }
        let (x, y) = self.where_read(x, y);
        let bytes = tight_image_bytes(width, height, 1, format, type_);
        self.answer_image(bytes, reply, |r, to| {
            r.with_depth_in_place(format, |r| {
                // SAFETY: there is room for that number of bytes.
                unsafe { r.read_into([x, y, width, height], format, type_, bytes, to) };
            })
        })?;
        self.return_lent()
    }

    /// Reads an image of `bytes` bytes without padding; the driver has been prepared. Drivers are
    /// told how much room there is, if they have a command for that.
    ///
    /// # Safety
    /// There is room for the image.
    unsafe fn read_into(
        &self,
        [x, y, width, height]: [i32; 4],
        format: u32,
        type_: u32,
        bytes: Option<usize>,
        to: *mut c_void,
    ) {
        let bounded = self.cx.as_deref().is_some_and(|cx| cx.has_bounded_reads);
        let bytes = bytes.and_then(|bytes| i32::try_from(bytes).ok());
        // SAFETY: the caller's promise, and the driver packs tightly.
        unsafe {
            match bytes.filter(|_| bounded) {
                Some(room) => {
                    (self.gl.glReadnPixels)(x, y, width, height, format, type_, room, to);
                }
                None => (self.gl.glReadPixels)(x, y, width, height, format, type_, to),
            }
        }
    }

    /// Reads parts one after the other. Each part is five numbers; the last four are a rectangle.
    pub(crate) fn read_parts<'a>(
        &mut self,
        format: u32,
        type_: u32,
        parts: impl Iterator<Item = &'a [i32]>,
        reply: &mut Reply,
    ) -> Result<(), Fault> {
        if self.refuses_to_read(format) {
            nothing(reply, false);
            return Ok(());
        }
        let mut sized = Vec::new();
        let mut total = Some(0usize);
        for part in parts {
            let bytes = tight_image_bytes(part[3], part[4], 1, format, type_);
            sized.push((part, bytes.unwrap_or(0)));
            total = total
                .zip(bytes)
                .and_then(|(sum, more)| sum.checked_add(more));
        }
        if sized.is_empty() {
            // If the arguments are wrong, they are wrong for all parts.
            sized.push((&[0; 5], 0));
            total = tight_image_bytes(0, 0, 1, format, type_);
        }
        self.answer_image(total, reply, |r, to| {
            r.with_depth_in_place(format, |r| {
                let mut at = 0;
                for (part, bytes) in sized {
                    let [_, x, y, width, height] = *part else {
                        continue;
                    };
                    let (x, y) = r.where_read(x, y);
                    // SAFETY: there is room for all the tight images.
                    unsafe {
                        let to = to.byte_add(at);
                        r.read_into([x, y, width, height], format, type_, Some(bytes), to);
                    }
                    at += bytes;
                }
            })
        })
    }

    #[allow(clippy::too_many_arguments)]
    pub(crate) fn handwritten_gl_readn_pixels(
        &mut self,
        x: i32,
        y: i32,
        width: i32,
        height: i32,
        format: u32,
        type_: u32,
        fits: u8,
        reply: &mut Reply,
    ) -> Result<(), Fault> {
        if fits == 0 {
            self.needs_context()?;
            self.set_error(GL_INVALID_OPERATION);
            reply.room(0);
            return Ok(());
        }
        self.handwritten_gl_read_pixels(x, y, width, height, format, type_, reply)
    }

    #[allow(clippy::too_many_arguments)]
    pub(crate) fn handwritten_mgn_read_pixels_to(
        &mut self,
        x: i32,
        y: i32,
        width: i32,
        height: i32,
        format: u32,
        type_: u32,
        offset: u64,
    ) -> Result<(), Fault> {
        let to = self.pack_target(offset)?;
        has_short_rows(width.into())?;
        let sides = [width.into(), height.into(), 1];
        let refuses =
            self.refuses_to_read(format) || !self.may_pack_upwards(offset, sides, (format, type_));
        self.read_lent()?;
        if refuses {
            return self.return_lent();
        }
        let (x, y) = self.where_read(x, y);
        self.with_depth_in_place(format, |r| {
            // SAFETY: the address is an offset into the bound pack buffer, within which the driver
            // keeps.
            unsafe { (r.gl.glReadPixels)(x, y, width, height, format, type_, to) };
        })?;
        self.return_lent()
    }

    pub(crate) fn handwritten_gl_get_polygon_stipple(
        &mut self,
        mask_count: u32,
        reply: &mut Reply,
    ) -> Result<(), Fault> {
        let mut mask = [0u8; 128];
        self.needs_context()?;
        if self.is_in_primitive() {
            reply.array(&mask, 0);
            return Ok(());
        }
        if self.pixel_buffer(GL_PIXEL_PACK_BUFFER_BINDING) {
            return Err(Fault::refused(
                "an answer was requested for a pattern that goes to a buffer",
            ));
        }
        self.pack(true)?;
        self.error();
        // SAFETY: there is room for the tight pattern, and the driver packs tightly.
        unsafe { (self.gl.glGetPolygonStipple)(mask.as_mut_ptr()) };
        let failed = self.failed();
        reply.array(&mask, if failed { 0 } else { mask_count.min(128) });
        Ok(())
    }

    pub(crate) fn handwritten_mgn_get_polygon_stipple_to(
        &mut self,
        offset: u64,
    ) -> Result<(), Fault> {
        let to = self.pack_target(offset)?;
        if self.refuses_upwards() {
            return Ok(());
        }
        // SAFETY: as above.
        unsafe { (self.gl.glGetPolygonStipple)(to.cast()) };
        Ok(())
    }

    pub(crate) fn handwritten_mgn_get_pixel_map_to(
        &mut self,
        map: u32,
        type_: u32,
        offset: u64,
    ) -> Result<(), Fault> {
        let to = self.pack_target(offset)?;
        if self.refuses_upwards() {
            return Ok(());
        }
        // SAFETY: as above.
        unsafe {
            match type_ {
                GL_FLOAT => (self.gl.glGetPixelMapfv)(map, to.cast()),
                GL_UNSIGNED_INT => (self.gl.glGetPixelMapuiv)(map, to.cast()),
                GL_UNSIGNED_SHORT => (self.gl.glGetPixelMapusv)(map, to.cast()),
                _ => return Err(Fault::refused("a pixel map of a type that does not exist")),
            }
        }
        Ok(())
    }

    pub(crate) fn handwritten_gl_get_buffer_sub_data(
        &mut self,
        target: u32,
        offset: i64,
        size: i64,
        data_count: u32,
        reply: &mut Reply,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        let bytes = usize::try_from(size)
            .ok()
            .filter(|bytes| *bytes <= data_count as usize);
        let Some(bytes) = bytes else {
            self.set_error(GL_INVALID_VALUE);
            reply.room(0);
            return Ok(());
        };
        self.error();
        let to = reply.room(bytes).as_mut_ptr();
        if self.cx.as_ref().is_some_and(|cx| cx.api.is_desktop()) {
            // SAFETY: there is room for `size` bytes.
            unsafe { (self.gl.glGetBufferSubData)(target, offset, size, to.cast()) };
        } else {
            // SAFETY: as above. OpenGL ES reads by mapping; a mapping that succeeds has `size`
            // bytes.
            unsafe {
                let from = (self.gl.glMapBufferRange)(target, offset, size, GL_MAP_READ_BIT);
                if !from.is_null() {
                    to.copy_from_nonoverlapping(from.cast(), bytes);
                    (self.gl.glUnmapBuffer)(target);
                }
            }
        }
        // SAFETY: no arguments.
        let error = unsafe { (self.gl.glGetError)() };
        if error != GL_NO_ERROR {
            self.keep_error(error);
            nothing(reply, false);
        }
        Ok(())
    }

    /// Answers with an image of `bytes` bytes. Answers with nothing after an error, or if the size
    /// is unknown.
    fn answer_image(
        &mut self,
        bytes: Option<usize>,
        reply: &mut Reply,
        fetch: impl FnOnce(&mut Renderer, *mut c_void) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        if self.is_in_primitive() {
            nothing(reply, false);
            return Ok(());
        }
        if self.pixel_buffer(GL_PIXEL_PACK_BUFFER_BINDING) {
            return Err(Fault::refused(
                "an answer was requested for an image that goes to a buffer",
            ));
        }
        self.error();
        let refusal = match bytes {
            None => GL_INVALID_ENUM,
            Some(bytes) if bytes > LONG_MAX => GL_OUT_OF_MEMORY,
            Some(_) => GL_NO_ERROR,
        };
        if refusal != GL_NO_ERROR {
            self.set_error(refusal);
        }
        let problem = match bytes.filter(|_| refusal == GL_NO_ERROR) {
            None => refusal,
            Some(bytes) => {
                self.pack(true)?;
                let to = reply.room(bytes).as_mut_ptr();
                fetch(self, to.cast())?;
                // SAFETY: no arguments.
                unsafe { (self.gl.glGetError)() }
            }
        };
        if problem != GL_NO_ERROR {
            self.keep_error(problem);
            nothing(reply, false);
        }
        Ok(())
    }

    /// If rows go from bottom to top, checks whether an image in the pack buffer lies inside it;
    /// raises an error if not. The image begins at `offset` and is `sides` wide, high and deep. In
    /// this case Mesa only checks where the first row begins and where the last one ends.
    pub(super) fn may_pack_upwards(
        &mut self,
        offset: u64,
        sides: [i128; 3],
        (format, type_): (u32, u32),
    ) -> bool {
        if !self.packs_upwards() {
            return true;
        }
        let bytes = self.bytes_at(GL_PIXEL_PACK_BUFFER);
        let Some(cx) = self.cx.as_deref() else {
            return false;
        };
        let number = |pname| cx.pixel_store.number(pname);
        let [width, height, depth] = sides;
        let or = |pname, side| match number(pname) {
            0 => side,
            length => length,
        };
        let is_within = |pixel: usize, bytes: i64| {
            let pixel = pixel as i128;
            let alignment = number(GL_PACK_ALIGNMENT).max(1);
            let row =
                (or(GL_PACK_ROW_LENGTH, width) * pixel + alignment - 1) / alignment * alignment;
            let image = or(GL_PACK_IMAGE_HEIGHT, height) * row;
            let start = i128::from(offset)
                + number(GL_PACK_SKIP_IMAGES) * image
                + number(GL_PACK_SKIP_PIXELS) * pixel
                - number(GL_PACK_SKIP_ROWS) * row;
            let end =
                start + (depth - 1).max(0) * image + (height - 1).max(0) * row + width * pixel;
            start >= 0 && end <= i128::from(bytes)
        };
        let pixel = pixel_bytes(format, type_).zip(bytes);
        let may = pixel.is_some_and(|(pixel, bytes)| is_within(pixel, bytes));
        if !may {
            self.set_error(GL_INVALID_OPERATION);
        }
        may
    }

    /// Raises an error if rows go from bottom to top, for commands with which the driver may then
    /// write anywhere.
    fn refuses_upwards(&mut self) -> bool {
        let refuses = self.packs_upwards();
        if refuses {
            self.set_error(GL_INVALID_OPERATION);
        }
        refuses
    }

    /// Prepares the driver for writing to the bound pack buffer, and gives the offset as the
    /// pointer that C declares.
    pub(super) fn pack_target(&mut self, offset: u64) -> Result<*mut c_void, Fault> {
        self.needs_context()?;
        if !self.pixel_buffer(GL_PIXEL_PACK_BUFFER_BINDING) {
            return Err(Fault::refused("an image for a buffer while none is bound"));
        }
        self.pack(false)?;
        Ok(offset as usize as *mut c_void)
    }

    pub(crate) fn handwritten_mgn_query_result_to(
        &mut self,
        id: u32,
        pname: u32,
        type_: u32,
        offset: u64,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        if self.driver_integer(GL_QUERY_BUFFER_BINDING) == 0 {
            return Err(Fault::refused(
                "a query's result for a buffer while none is bound",
            ));
        }
        let (id, to) = (
            self.object(Class::Query, id),
            offset as usize as *mut c_void,
        );
        // SAFETY: a buffer is bound, so the driver takes the address as an offset, which it checks.
        unsafe {
            match type_ {
                GL_INT => (self.gl.glGetQueryObjectiv)(id, pname, to.cast()),
                GL_UNSIGNED_INT => (self.gl.glGetQueryObjectuiv)(id, pname, to.cast()),
                GL_INT64_ARB => (self.gl.glGetQueryObjecti64v)(id, pname, to.cast()),
                GL_UNSIGNED_INT64_ARB => (self.gl.glGetQueryObjectui64v)(id, pname, to.cast()),
                _ => return Err(Fault::refused("a result of a type that does not exist")),
            }
        }
        Ok(())
    }

    /// Runs `read` so that depth and stencil come from the buffer that is drawn to: they belong to
    /// the surface, not to its read buffer.
    fn with_depth_in_place(
        &mut self,
        format: u32,
        read: impl FnOnce(&mut Renderer),
    ) -> Result<(), Fault> {
        let depth = matches!(
            format,
            GL_DEPTH_COMPONENT | GL_STENCIL_INDEX | GL_DEPTH_STENCIL
        );
        let Some(cx) = self.cx.as_deref_mut() else {
            return Ok(());
        };
        let (buffer, draw) = (cx.read_buffer, cx.draw_buffer);
        if !depth || is_front(buffer) == is_front(draw) {
            read(self);
            return Ok(());
        }
        cx.read_buffer = draw;
        self.bind()?;
        read(self);
        if let Some(cx) = self.cx.as_deref_mut() {
            cx.read_buffer = buffer;
        }
        self.bind()
    }
}

/// The answer after an error: one empty array, or two if the first would hold an extent.
pub(super) fn nothing(reply: &mut Reply, extent: bool) {
    reply.clear();
    if extent {
        reply.room(0);
    }
    reply.room(0);
}
