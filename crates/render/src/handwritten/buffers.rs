//! Buffer objects.

use super::vertex_arrays::pointer;
use crate::context::Api;
use crate::names::{Class, UNKNOWN};
use crate::renderer::Renderer;
use mgn_wire::{gl::*, sizes, Data, Fault, Reply, Slice};

impl Renderer {
    pub(crate) fn handwritten_gl_bind_buffer(
        &mut self,
        target: u32,
        buffer: u32,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        let buffer = self.name(Class::Buffer, buffer);
        // SAFETY: the context is current.
        unsafe { (self.gl.glBindBuffer)(target, buffer) };
        let cx = self.cx()?;
        // The driver is asked for the binding when it is needed.
        match target {
            GL_ARRAY_BUFFER => cx.array_buffer = None,
            GL_ELEMENT_ARRAY_BUFFER => cx.vertex_arrays.element_buffer_changed(),
            _ => {}
        }
        Ok(())
    }

    /// To be called before buffers are deleted. Notes the buffers that may then still be attached
    /// somewhere, and whether they have storage.
    pub(crate) fn before_buffers_deleted(&mut self, drivers: &[u32]) {
        let Some(cx) = self.cx.as_deref() else {
            return;
        };
        let is_alone = self.groups.get(&cx.group).is_some_and(|g| g.contexts == 1);
        if is_alone && !cx.vertex_arrays.are_several() {
            return;
        }
        // Whether there is storage matters only in selection and feedback, which other APIs lack.
        let asks = cx.api == Api::Compat;
        for driver in drivers {
            let has_storage = asks && self.bytes_of(*driver) > 0;
            let deleted = &mut self.names.shared.deleted_buffers;
            deleted.insert(*driver, has_storage);
        }
    }

    /// To be called after buffers were deleted, which has unbound them.
    pub(crate) fn buffers_deleted(&mut self, drivers: &[u32]) {
        let Some(cx) = self.cx.as_deref_mut() else {
            return;
        };
        cx.vertex_arrays.buffers_deleted();
        cx.array_buffer = None;
        self.parts_deleted(drivers);
    }

    pub(crate) fn handwritten_gl_bind_buffer_base(
        &mut self,
        target: u32,
        index: u32,
        buffer: u32,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        let buffer = self.name(Class::Buffer, buffer);
        self.bind_part((target, index), (buffer, 0, 0), |r| {
            // SAFETY: the context is current.
            unsafe { (r.gl.glBindBufferBase)(target, index, buffer) }
        })
    }

    pub(crate) fn handwritten_gl_bind_buffer_range(
        &mut self,
        target: u32,
        index: u32,
        buffer: u32,
        offset: i64,
        size: i64,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        let buffer = self.name(Class::Buffer, buffer);
        self.bind_part((target, index), (buffer, offset, size), |r| {
            // SAFETY: the context is current. If the buffer does not have the part, it is unbound
            // before the driver uses it.
            unsafe { (r.gl.glBindBufferRange)(target, index, buffer, offset, size) }
        })
    }

    pub(crate) fn handwritten_gl_bind_buffer_offset_ext(
        &mut self,
        target: u32,
        index: u32,
        buffer: u32,
        offset: i64,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        let buffer = self.name(Class::Buffer, buffer);
        // SAFETY: the context is current.
        unsafe { (self.gl.glBindBufferOffsetEXT)(target, index, buffer, offset) };
        Ok(())
    }

    pub(crate) fn handwritten_gl_bind_buffers_base(
        &mut self,
        target: u32,
        first: u32,
        count: i32,
        buffers: Slice<'_, u32>,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        let buffers = self.name_array(Class::Buffer, buffers);
        let parts = parts(count, &buffers, &None, &None);
        self.bind_parts(target, first, &parts, |r| {
            // SAFETY: the decoder has checked that the array holds `count` names, if it is present.
            unsafe { (r.gl.glBindBuffersBase)(target, first, count, pointer(&buffers)) }
        })
    }

    pub(crate) fn handwritten_gl_bind_buffers_range(
        &mut self,
        target: u32,
        first: u32,
        count: i32,
        buffers: Slice<'_, u32>,
        offsets: Slice<'_, i64>,
        sizes: Slice<'_, i64>,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        let buffers = self.name_array(Class::Buffer, buffers);
        let (offsets, sizes) = (offsets.copied(), sizes.copied());
        if buffers.is_some() && (offsets.is_none() || sizes.is_none()) {
            return Err(Fault::ShortArray);
        }
        let parts = parts(count, &buffers, &offsets, &sizes);
        self.bind_parts(target, first, &parts, |r| {
            // SAFETY: the decoder has checked that each array that is present holds `count`
            // elements; without `buffers` the others are not read.
            unsafe {
                (r.gl.glBindBuffersRange)(
                    target,
                    first,
                    count,
                    pointer(&buffers),
                    pointer(&offsets),
                    pointer(&sizes),
                )
            }
        })
    }

    pub(crate) fn handwritten_gl_buffer_data(
        &mut self,
        target: u32,
        size: i64,
        data: Data<'_>,
        usage: u32,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        let data = inline(data, usize::try_from(size).unwrap_or(0))?;
        let _refusing = self.storage.make_buffer(size);
        self.storing(target, |r| {
            // SAFETY: `data` is null or holds `size` bytes; a negative size is refused by the
            // driver.
            unsafe { (r.gl.glBufferData)(target, size, data.cast(), usage) }
        })
    }

    pub(crate) fn handwritten_gl_buffer_storage(
        &mut self,
        target: u32,
        size: i64,
        data: Data<'_>,
        _flags: u32,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        let data = inline(data, usize::try_from(size).unwrap_or(0))?;
        // The client enforces the access rights that the program has asked for. The renderer needs
        // read and write access itself.
        let flags = GL_MAP_READ_BIT | GL_MAP_WRITE_BIT | GL_DYNAMIC_STORAGE_BIT;
        let _refusing = self.storage.make_buffer(size);
        self.storing(target, |r| {
            // SAFETY: `data` is null or holds `size` bytes; the driver refuses what is not
            // positive.
            unsafe {
                (r.gl.glBufferStorage)(target, size, data.cast(), flags);
                if data.is_null() {
                    // A client that maps the buffer assumes zeros, and sends only what differs.
                    r.clear_storage(target, size);
                }
            }
        })
    }

    /// Fills the storage of the buffer bound to `target` with zeros.
    unsafe fn clear_storage(&mut self, target: u32, size: i64) {
        // SAFETY: the context is current; OpenGL ES has no other way than a mapping, which holds
        // `size` bytes if it succeeds.
        unsafe {
            let to = (self.gl.glMapBufferRange)(target, 0, size, GL_MAP_WRITE_BIT);
            if !to.is_null() {
                to.cast::<u8>().write_bytes(0, size as usize);
                (self.gl.glUnmapBuffer)(target);
            }
        }
    }

    pub(crate) fn handwritten_mgn_buffer_write(
        &mut self,
        buffer: u32,
        offset: i64,
        data: Slice<'_, u8>,
    ) -> Result<(), Fault> {
        let size = data.len() as i64;
        self.at_copy_target(buffer, |r| {
            let data = data.as_ptr().cast();
            // SAFETY: that number of bytes lies there, and the driver may copy any values; it
            // checks the range.
            unsafe { (r.gl.glBufferSubData)(GL_COPY_WRITE_BUFFER, offset, size, data) };
            Ok(())
        })
    }

    pub(crate) fn handwritten_mgn_buffer_read(
        &mut self,
        buffer: u32,
        offset: i64,
        data_count: u32,
        reply: &mut Reply,
    ) -> Result<(), Fault> {
        reply.empty();
        self.at_copy_target(buffer, |r| {
            let size = i64::from(data_count);
            r.handwritten_gl_get_buffer_sub_data(
                GL_COPY_WRITE_BUFFER,
                offset,
                size,
                data_count,
                reply,
            )
        })
    }

    /// Runs work on a buffer that is bound to `GL_COPY_WRITE_BUFFER` for it.
    pub(crate) fn at_copy_target(
        &mut self,
        buffer: u32,
        work: impl FnOnce(&mut Renderer) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        let buffer = self.name(Class::Buffer, buffer);
        if buffer == UNKNOWN {
            // Another context has deleted the buffer.
            return Ok(());
        }
        let bound = self.driver_integer(GL_COPY_WRITE_BUFFER_BINDING) as u32;
        // SAFETY: the context is current; names that do not exist are refused by the driver.
        unsafe { (self.gl.glBindBuffer)(GL_COPY_WRITE_BUFFER, buffer) };
        let done = work(self);
        // SAFETY: as above.
        unsafe { (self.gl.glBindBuffer)(GL_COPY_WRITE_BUFFER, bound) };
        done
    }

    pub(crate) fn handwritten_gl_clear_buffer_data(
        &mut self,
        target: u32,
        internalformat: u32,
        format: u32,
        type_: u32,
        data: Data<'_>,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        let data = inline(data, pixel(format, type_))?;
        // SAFETY: `data` is null or holds one pixel; the driver refuses formats without a size.
        unsafe { (self.gl.glClearBufferData)(target, internalformat, format, type_, data.cast()) };
        Ok(())
    }

    #[allow(clippy::too_many_arguments)]
    pub(crate) fn handwritten_gl_clear_buffer_sub_data(
        &mut self,
        target: u32,
        internalformat: u32,
        offset: i64,
        size: i64,
        format: u32,
        type_: u32,
        data: Data<'_>,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        let data = inline(data, pixel(format, type_))?;
        // SAFETY: as for glClearBufferData.
        unsafe {
            (self.gl.glClearBufferSubData)(
                target,
                internalformat,
                offset,
                size,
                format,
                type_,
                data.cast(),
            )
        };
        Ok(())
    }

    pub(crate) fn handwritten_gl_clear_tex_image(
        &mut self,
        texture: u32,
        level: i32,
        format: u32,
        type_: u32,
        data: Data<'_>,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        let texture = self.object(Class::Texture, texture);
        let data = inline(data, pixel(format, type_))?;
        // SAFETY: as for glClearBufferData.
        unsafe { (self.gl.glClearTexImage)(texture, level, format, type_, data.cast()) };
        Ok(())
    }

    #[allow(clippy::too_many_arguments)]
    pub(crate) fn handwritten_gl_clear_tex_sub_image(
        &mut self,
        texture: u32,
        level: i32,
        xoffset: i32,
        yoffset: i32,
        zoffset: i32,
        width: i32,
        height: i32,
        depth: i32,
        format: u32,
        type_: u32,
        data: Data<'_>,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        let texture = self.object(Class::Texture, texture);
        let data = inline(data, pixel(format, type_))?;
        // SAFETY: as for glClearBufferData.
        unsafe {
            (self.gl.glClearTexSubImage)(
                texture,
                level,
                xoffset,
                yoffset,
                zoffset,
                width,
                height,
                depth,
                format,
                type_,
                data.cast(),
            );
        }
        Ok(())
    }
}

/// Each buffer with the offset and size of its part. Without `buffers`, every buffer is 0.
fn parts(
    count: i32,
    buffers: &Option<Vec<u32>>,
    offsets: &Option<Vec<i64>>,
    sizes: &Option<Vec<i64>>,
) -> Vec<(u32, i64, i64)> {
    /// More points than any driver has.
    const BINDING_POINTS_MAX: usize = 1 << 10;
    let count = usize::try_from(count).unwrap_or(0).min(BINDING_POINTS_MAX);
    let at = |values: &Option<Vec<i64>>, n| values.as_ref().and_then(|v| v.get(n).copied());
    let part = |n: usize| match buffers.as_ref().and_then(|names| names.get(n)) {
        Some(buffer) => (
            *buffer,
            at(offsets, n).unwrap_or(0),
            at(sizes, n).unwrap_or(0),
        ),
        None => (0, 0, 0),
    };
    (0..count).map(part).collect()
}

/// Bytes of one pixel. If the format is unknown, enough for any.
fn pixel(format: u32, type_: u32) -> usize {
    const PIXEL_BYTES_MAX: usize = 32;
    sizes::image::pixel_bytes(format, type_).unwrap_or(PIXEL_BYTES_MAX)
}

/// The address of inline data of at least `bytes` bytes, or null if there is none.
pub(crate) fn inline(data: Data<'_>, bytes: usize) -> Result<*const u8, Fault> {
    match data {
        Data::Null => Ok(std::ptr::null()),
        Data::Inline(data) if data.len() >= bytes => Ok(data.as_ptr()),
        Data::Inline(_) => Err(Fault::ShortArray),
        Data::Offset(_) => Err(Fault::refused("an offset where only data can be")),
    }
}
