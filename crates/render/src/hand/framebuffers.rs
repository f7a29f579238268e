//! Framebuffer objects, and which buffers of the default framebuffer are drawn to and read.

use crate::names::Class;
use crate::renderer::Renderer;
use crate::surface::{is_both, is_front};
use mgn_wire::{gl::*, Fault, Reply, Slice};

impl Renderer {
    pub(crate) fn hand_gl_bind_framebuffer(
        &mut self,
        target: u32,
        framebuffer: u32,
    ) -> Result<(), Fault> {
        self.bind_framebuffer(target, framebuffer, self.gl.glBindFramebuffer)
    }

    pub(crate) fn hand_gl_bind_framebuffer_ext(
        &mut self,
        target: u32,
        framebuffer: u32,
    ) -> Result<(), Fault> {
        self.bind_framebuffer(target, framebuffer, self.gl.glBindFramebufferEXT)
    }

    fn bind_framebuffer(
        &mut self,
        target: u32,
        framebuffer: u32,
        bind: unsafe extern "C" fn(u32, u32),
    ) -> Result<(), Fault> {
        self.needs_context()?;
        let driver = self.name(Class::Framebuffer, framebuffer);
        // SAFETY: the context is current.
        unsafe { bind(target, driver) };
        if driver == crate::names::UNKNOWN {
            return Ok(());
        }
        if let Some(cx) = self.cx.as_deref_mut() {
            if matches!(target, GL_FRAMEBUFFER | GL_DRAW_FRAMEBUFFER) {
                cx.draw_framebuffer = framebuffer;
            }
            if matches!(target, GL_FRAMEBUFFER | GL_READ_FRAMEBUFFER) {
                cx.read_framebuffer = framebuffer;
            }
        }
        Ok(())
    }

    /// Deleting a bound framebuffer object binds the default framebuffer.
    pub(crate) fn framebuffers_deleted(&mut self, names: &[u32]) {
        let Some(cx) = self.cx.as_deref_mut() else {
            return;
        };
        for bound in [&mut cx.draw_framebuffer, &mut cx.read_framebuffer] {
            if names.contains(bound) {
                *bound = 0;
            }
        }
    }

    pub(crate) fn hand_gl_draw_buffer(&mut self, buf: u32) -> Result<(), Fault> {
        self.needs_context()?;
        // SAFETY: the context is current.
        let done = self.without_error(|r| unsafe { (r.gl.glDrawBuffer)(buf) });
        if done && self.takes_effect()? && self.cx()?.draw_framebuffer == 0 {
            self.draw_to(buf)?;
        }
        Ok(())
    }

    pub(crate) fn hand_gl_draw_buffers(
        &mut self,
        n: i32,
        bufs: Slice<'_, u32>,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        let buffers = bufs.to_vec();
        if usize::try_from(n).is_ok_and(|n| n > buffers.len()) {
            return Err(Fault::ShortArray);
        }
        // SAFETY: the array holds `n` buffers.
        let done = self.without_error(|r| unsafe { (r.gl.glDrawBuffers)(n, buffers.as_ptr()) });
        if done && self.takes_effect()? && self.cx()?.draw_framebuffer == 0 {
            self.draw_to(buffers.first().copied().unwrap_or(GL_NONE))?;
        }
        Ok(())
    }

    pub(crate) fn hand_gl_read_buffer(&mut self, src: u32) -> Result<(), Fault> {
        self.needs_context()?;
        // SAFETY: the context is current.
        let done = self.without_error(|r| unsafe { (r.gl.glReadBuffer)(src) });
        if done && self.takes_effect()? && self.cx()?.read_framebuffer == 0 {
            self.cx()?.read_buffer = src;
            self.need_fronts()?;
            self.bind()?;
        }
        Ok(())
    }

    /// Whether a command that chooses buffers is executed now, and not only when a list is called.
    fn takes_effect(&mut self) -> Result<bool, Fault> {
        let compiles = self.cx()?.only_compiles;
        self.names.shared.lists_switch_buffers |= compiles;
        Ok(!compiles)
    }

    /// Draws to another buffer of the default framebuffer from now on.
    fn draw_to(&mut self, buffer: u32) -> Result<(), Fault> {
        let cx = self.cx()?;
        let old = std::mem::replace(&mut cx.draw_buffer, buffer);
        let surface = cx.draw.clone();
        self.need_fronts()?;
        if let Some(surface) = surface {
            if is_both(old) && !is_both(buffer) {
                self.front_follows(&surface)?;
            }
            if is_front(old) != is_front(buffer) {
                self.move_depth(&surface, is_front(old))?;
            }
        }
        self.bind()
    }

    /// Looks at what the driver draws to and reads now, after a command that may have changed it behind our back.
    pub(crate) fn draw_buffers_restored(&mut self) -> Result<(), Fault> {
        let cx = self.cx()?;
        if !cx.api.is_desktop() || (cx.draw_framebuffer, cx.read_framebuffer) != (0, 0) {
            return Ok(());
        }
        let (old_draw, old_read) = (cx.draw_buffer, cx.read_buffer);
        let draw = self.driver_integer(GL_DRAW_BUFFER) as u32;
        let read = self.driver_integer(GL_READ_BUFFER) as u32;
        if read != old_read {
            self.cx()?.read_buffer = read;
        }
        if (draw, read) != (old_draw, old_read) {
            self.draw_to(draw)?;
        }
        Ok(())
    }

    pub(crate) fn hand_gl_pop_attrib(&mut self) -> Result<(), Fault> {
        self.needs_context()?;
        // Mesa loses a current value that is set between an array draw and glPopAttrib unless it is asked for one. A program that used immediate mode
        // does not get to see that, so neither may it here, where its primitives are drawn as arrays.
        let mut color = [0.0f32; 4];
        // SAFETY: the context is current; the colour has room for its four values.
        unsafe {
            (self.gl.glGetFloatv)(GL_CURRENT_COLOR, color.as_mut_ptr());
            (self.gl.glPopAttrib)();
        }
        self.draw_buffers_restored()
    }

    pub(crate) fn hand_gl_get_framebuffer_attachment_parameteriv(
        &mut self,
        target: u32,
        attachment: u32,
        pname: u32,
        params_count: u32,
        reply: &mut Reply,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        let get = |r: &Renderer, pname| {
            let mut values = [0i32; 4];
            // SAFETY: one integer is written; there is room for more.
            unsafe {
                (r.gl.glGetFramebufferAttachmentParameteriv)(
                    target,
                    attachment,
                    pname,
                    values.as_mut_ptr(),
                )
            };
            values[0]
        };
        let mut value = get(self, pname);
        if pname == GL_FRAMEBUFFER_ATTACHMENT_OBJECT_NAME && value != 0 {
            let class = match get(self, GL_FRAMEBUFFER_ATTACHMENT_OBJECT_TYPE) as u32 {
                GL_TEXTURE => Class::Texture,
                _ => Class::Renderbuffer,
            };
            value = self.names.table(class).client(value as u32).unwrap_or(0) as i32;
        }
        reply.array(&[value], params_count);
        Ok(())
    }

    /// The driver writes to the array what it has clamped, so it gets a copy.
    pub(crate) fn hand_gl_viewport_arrayv(
        &mut self,
        first: u32,
        count: i32,
        v: Slice<'_, f32>,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        let mut values = v.to_vec();
        // SAFETY: `count` times four values, as decoded.
        unsafe { (self.gl.glViewportArrayv)(first, count, values.as_mut_ptr()) };
        Ok(())
    }

    pub(crate) fn hand_gl_clear_bufferfv(
        &mut self,
        buffer: u32,
        drawbuffer: i32,
        value: Slice<'_, f32>,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        let value = four(value);
        // SAFETY: at most four values are read.
        unsafe { (self.gl.glClearBufferfv)(buffer, drawbuffer, value.as_ptr()) };
        Ok(())
    }

    pub(crate) fn hand_gl_clear_bufferiv(
        &mut self,
        buffer: u32,
        drawbuffer: i32,
        value: Slice<'_, i32>,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        let value = four(value);
        // SAFETY: at most four values are read.
        unsafe { (self.gl.glClearBufferiv)(buffer, drawbuffer, value.as_ptr()) };
        Ok(())
    }

    pub(crate) fn hand_gl_clear_bufferuiv(
        &mut self,
        buffer: u32,
        drawbuffer: i32,
        value: Slice<'_, u32>,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        let value = four(value);
        // SAFETY: at most four values are read.
        unsafe { (self.gl.glClearBufferuiv)(buffer, drawbuffer, value.as_ptr()) };
        Ok(())
    }

    /// Runs a command of the driver's; says whether it raised no error. The error, if any, is kept.
    fn without_error(&mut self, command: impl FnOnce(&Renderer)) -> bool {
        self.error();
        command(self);
        // SAFETY: no arguments.
        let error = unsafe { (self.gl.glGetError)() };
        if error != GL_NO_ERROR {
            self.keep_error(error);
        }
        error == GL_NO_ERROR
    }
}

/// The values, with zeros for those that are missing.
fn four<T: mgn_wire::Plain>(value: Slice<'_, T>) -> [T; 4] {
    let mut four = [T::default(); 4];
    for (to, from) in four.iter_mut().zip(value.to_vec()) {
        *to = from;
    }
    four
}
