//! Framebuffer objects, and the draw and read buffers of the default framebuffer.

use crate::generated::driver::Gl;
use crate::names::Class;
use crate::renderer::Renderer;
use crate::surface::{is_both, is_front};
use mgn_wire::{gl::*, Fault, Reply, Slice};

impl Renderer {
    pub(crate) fn handwritten_gl_bind_framebuffer(
        &mut self,
        target: u32,
        framebuffer: u32,
    ) -> Result<(), Fault> {
        self.bind_framebuffer(target, framebuffer, self.gl.glBindFramebuffer)
    }

    pub(crate) fn handwritten_gl_bind_framebuffer_ext(
        &mut self,
        target: u32,
        framebuffer: u32,
    ) -> Result<(), Fault> {
        self.bind_framebuffer(target, framebuffer, self.gl.glBindFramebufferEXT)
    }

    pub(crate) fn handwritten_gl_bind_framebuffer_oes(
        &mut self,
        target: u32,
        framebuffer: u32,
    ) -> Result<(), Fault> {
        self.bind_framebuffer(target, framebuffer, self.gl.glBindFramebufferOES)
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
        let done = self.without_error(|_| unsafe { bind(target, driver) });
        if let Some(cx) = self.cx.as_deref_mut().filter(|_| done) {
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

    pub(crate) fn handwritten_gl_draw_buffer(&mut self, buf: u32) -> Result<(), Fault> {
        self.needs_context()?;
        // SAFETY: the context is current.
        let done = self.without_error(|r| unsafe { (r.gl.glDrawBuffer)(buf) });
        if done && self.takes_effect()? && self.cx()?.draw_framebuffer == 0 {
            self.draw_to(buf)?;
        }
        Ok(())
    }

    pub(crate) fn handwritten_gl_draw_buffers(
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
            self.draw_to(first(n, &buffers))?;
        }
        Ok(())
    }

    pub(crate) fn handwritten_gl_read_buffer(&mut self, src: u32) -> Result<(), Fault> {
        self.needs_context()?;
        // SAFETY: the context is current.
        let done = self.without_error(|r| unsafe { (r.gl.glReadBuffer)(src) });
        if done && self.takes_effect()? && self.cx()?.read_framebuffer == 0 {
            self.read_from(src)?;
        }
        Ok(())
    }

    /// Changes the read buffer of the default framebuffer.
    fn read_from(&mut self, buffer: u32) -> Result<(), Fault> {
        self.cx()?.read_buffer = buffer;
        self.need_fronts()?;
        self.bind_and_read()
    }

    /// Makes the present draw and read surfaces current, and chooses the read buffer.
    pub(crate) fn bind_and_read(&mut self) -> Result<(), Fault> {
        self.bind()?;
        self.choose_read_buffer();
        Ok(())
    }

    /// Tells the driver which buffer the context reads, unless the driver knows. Mesa stores the
    /// read buffer for each surface, but the draw buffer for the context. `false` if that is not
    /// possible now.
    pub(crate) fn choose_read_buffer(&mut self) -> bool {
        // The program's list must not contain this command, and inside a primitive it would be an
        // error.
        if self.compiles() || self.has_primitive() {
            return false;
        }
        let Some(cx) = self.cx.as_deref() else {
            return false;
        };
        let (buffer, is_default) = (cx.read_buffer, cx.read_framebuffer == 0);
        if !cx.api.is_desktop() {
            return true;
        }
        if !cx.was_current || !(is_default || cx.has_draw_framebuffers) {
            return false;
        }
        if is_default {
            let said = self.asked(GL_READ_BUFFER);
            if said.is_some_and(|said| said != buffer as i32) {
                // SAFETY: the context is current.
                unsafe { (self.gl.glReadBuffer)(buffer) };
            }
            return true;
        }
        let bound = self.driver_integer(GL_READ_FRAMEBUFFER_BINDING) as u32;
        // SAFETY: the context is current, and the name is the driver's own.
        unsafe {
            (self.gl.glBindFramebuffer)(GL_READ_FRAMEBUFFER, 0);
            (self.gl.glReadBuffer)(buffer);
            (self.gl.glBindFramebuffer)(GL_READ_FRAMEBUFFER, bound);
        }
        true
    }

    /// Whether a copy into a texture has no colours to copy; then raises the error. Mesa 22.3 would
    /// read in front of its array of buffers, and crash.
    pub(crate) fn refuses_to_copy(&mut self, internal_format: u32) -> bool {
        !self.compiles() && self.refuses_colors(internal_format)
    }

    /// Whether there are no colours to read; then raises the error. In OpenGL ES, Mesa 22.3 would
    /// crash.
    pub(super) fn refuses_to_read(&self, format: u32) -> bool {
        let is_es = self.cx.as_deref().is_some_and(|cx| !cx.api.is_desktop());
        is_es && self.refuses_colors(format)
    }

    /// Raises an error if pixels of this format are colours, and the program has chosen to read
    /// no buffer.
    fn refuses_colors(&self, format: u32) -> bool {
        let has_choice = self.cx.as_deref().is_some_and(|cx| cx.has_read_buffer);
        let reads_nothing = || self.asked(GL_READ_BUFFER) == Some(GL_NONE as i32);
        let refuses = has_choice && has_colors(format) && reads_nothing();
        if refuses {
            self.set_error(GL_INVALID_OPERATION);
        }
        refuses
    }

    /// Whether a command that chooses buffers takes effect now, and not only when a list is called.
    fn takes_effect(&mut self) -> Result<bool, Fault> {
        self.names.shared.lists_switch_buffers |= self.compiles();
        Ok(!self.cx()?.only_compiles)
    }

    /// Changes the draw buffer of the default framebuffer.
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
        self.bind_and_read()
    }

    /// Updates the notes about draw and read buffers, after a command that may have changed them
    /// without our notice.
    pub(crate) fn draw_buffers_restored(&mut self) -> Result<(), Fault> {
        // Between glBegin and glEnd, the driver has refused the command, and does not answer
        // queries.
        if self.has_primitive() {
            return Ok(());
        }
        let cx = self.cx()?;
        if !cx.api.is_desktop() {
            return Ok(());
        }
        let (old_draw, old_read) = (cx.draw_buffer, cx.read_buffer);
        let framebuffers = (cx.draw_framebuffer, cx.read_framebuffer);
        let said = |framebuffer, pname, old| match framebuffer {
            0 => self.driver_integer(pname) as u32,
            _ => old,
        };
        let draw = said(framebuffers.0, GL_DRAW_BUFFER, old_draw);
        let read = said(framebuffers.1, GL_READ_BUFFER, old_read);
        self.cx()?.read_buffer = read;
        match (draw != old_draw, read != old_read) {
            (true, _) => self.draw_to(draw),
            (false, true) => self.read_from(read),
            (false, false) => Ok(()),
        }
    }

    pub(crate) fn handwritten_gl_pop_attrib(&mut self) -> Result<(), Fault> {
        self.needs_context()?;
        // Mesa loses a current value that is set between an array draw and glPopAttrib, unless a
        // current value is queried in between. A program that uses immediate mode never notices
        // this. Here its primitives are drawn as arrays, so the query is needed.
        let mut color = [0.0f32; 4];
        // SAFETY: the context is current; the colour has room for its four values.
        unsafe {
            (self.gl.glGetFloatv)(GL_CURRENT_COLOR, color.as_mut_ptr());
            (self.gl.glPopAttrib)();
        }
        match self.takes_effect()? {
            true => self.draw_buffers_restored(),
            false => Ok(()),
        }
    }

    pub(crate) fn handwritten_gl_get_framebuffer_attachment_parameteriv(
        &mut self,
        target: u32,
        attachment: u32,
        pname: u32,
        params_count: u32,
        reply: &mut Reply,
    ) -> Result<(), Fault> {
        let get = self.gl.glGetFramebufferAttachmentParameteriv;
        self.attachment_parameter(pname, params_count, reply, |pname, to| {
            // SAFETY: one integer is written.
            unsafe { get(target, attachment, pname, to) };
        })
    }

    pub(crate) fn handwritten_gl_get_named_framebuffer_attachment_parameteriv(
        &mut self,
        framebuffer: u32,
        attachment: u32,
        pname: u32,
        params_count: u32,
        reply: &mut Reply,
    ) -> Result<(), Fault> {
        let framebuffer = self.object(Class::Framebuffer, framebuffer);
        let get = self.gl.glGetNamedFramebufferAttachmentParameteriv;
        self.attachment_parameter(pname, params_count, reply, |pname, to| {
            // SAFETY: one integer is written.
            unsafe { get(framebuffer, attachment, pname, to) };
        })
    }

    pub(crate) fn handwritten_gl_get_named_framebuffer_attachment_parameteriv_ext(
        &mut self,
        framebuffer: u32,
        attachment: u32,
        pname: u32,
        params_count: u32,
        reply: &mut Reply,
    ) -> Result<(), Fault> {
        let framebuffer = self.name(Class::Framebuffer, framebuffer);
        let get = self.gl.glGetNamedFramebufferAttachmentParameterivEXT;
        self.attachment_parameter(pname, params_count, reply, |pname, to| {
            // SAFETY: one integer is written.
            unsafe { get(framebuffer, attachment, pname, to) };
        })
    }

    pub(crate) fn handwritten_gl_get_framebuffer_parameteriv(
        &mut self,
        target: u32,
        pname: u32,
        params_count: u32,
        reply: &mut Reply,
    ) -> Result<(), Fault> {
        let cx = self.cx()?;
        let is_default = match target {
            GL_READ_FRAMEBUFFER => cx.read_framebuffer == 0,
            _ => cx.draw_framebuffer == 0,
        };
        let get = self.gl.glGetFramebufferParameteriv;
        self.framebuffer_parameter(is_default, pname, params_count, reply, |to| {
            // SAFETY: one integer is written.
            unsafe { get(target, pname, to) };
        })
    }

    pub(crate) fn handwritten_gl_get_named_framebuffer_parameteriv(
        &mut self,
        framebuffer: u32,
        pname: u32,
        param_count: u32,
        reply: &mut Reply,
    ) -> Result<(), Fault> {
        let driver = self.object(Class::Framebuffer, framebuffer);
        let get = self.gl.glGetNamedFramebufferParameteriv;
        self.framebuffer_parameter(framebuffer == 0, pname, param_count, reply, |to| {
            // SAFETY: one integer is written.
            unsafe { get(driver, pname, to) };
        })
    }

    pub(crate) fn handwritten_gl_get_named_framebuffer_parameteriv_ext(
        &mut self,
        framebuffer: u32,
        pname: u32,
        params_count: u32,
        reply: &mut Reply,
    ) -> Result<(), Fault> {
        let driver = self.name(Class::Framebuffer, framebuffer);
        let get = self.gl.glGetNamedFramebufferParameterivEXT;
        self.framebuffer_parameter(framebuffer == 0, pname, params_count, reply, |to| {
            // SAFETY: one integer is written.
            unsafe { get(driver, pname, to) };
        })
    }

    pub(crate) fn handwritten_gl_get_framebuffer_parameteriv_ext(
        &mut self,
        framebuffer: u32,
        pname: u32,
        params_count: u32,
        reply: &mut Reply,
    ) -> Result<(), Fault> {
        let driver = self.name(Class::Framebuffer, framebuffer);
        let get = self.gl.glGetFramebufferParameterivEXT;
        self.framebuffer_parameter(framebuffer == 0, pname, params_count, reply, |to| {
            // SAFETY: one integer is written.
            unsafe { get(driver, pname, to) };
        })
    }

    /// Answers with a parameter of a framebuffer. The default framebuffer's are answered as for a
    /// window. `get` writes one integer, and there is room for more.
    fn framebuffer_parameter(
        &mut self,
        is_default: bool,
        pname: u32,
        count: u32,
        reply: &mut Reply,
        get: impl Fn(*mut i32),
    ) -> Result<(), Fault> {
        self.needs_context()?;
        self.error();
        let mut values = [0; 4];
        get(values.as_mut_ptr());
        let failed = self.failed();
        if is_default {
            let cx = self.cx()?;
            match pname {
                GL_DOUBLEBUFFER => values[0] = i32::from(cx.is_double()),
                GL_DRAW_BUFFER if cx.was_current => values[0] = cx.draw_buffer as i32,
                GL_READ_BUFFER if cx.was_current => values[0] = cx.read_buffer as i32,
                _ => {}
            }
        }
        reply.array(&values[..1], if failed { 0 } else { count });
        Ok(())
    }

    /// Answers with a parameter of an attachment. `get` writes one integer, and there is room for
    /// more.
    fn attachment_parameter(
        &mut self,
        pname: u32,
        count: u32,
        reply: &mut Reply,
        get: impl Fn(u32, *mut i32),
    ) -> Result<(), Fault> {
        self.needs_context()?;
        let get = |pname| {
            let mut values = [0i32; 4];
            get(pname, values.as_mut_ptr());
            values[0]
        };
        self.error();
        let mut value = get(pname);
        let failed = self.failed();
        if pname == GL_FRAMEBUFFER_ATTACHMENT_OBJECT_NAME && value != 0 {
            let class = match get(GL_FRAMEBUFFER_ATTACHMENT_OBJECT_TYPE) as u32 {
                GL_TEXTURE => Class::Texture,
                _ => Class::Renderbuffer,
            };
            value = self.names.table(class).shown(value as u32).unwrap_or(0) as i32;
        }
        reply.array(&[value], if failed { 0 } else { count });
        Ok(())
    }

    /// Clears one buffer. With Mesa's pbuffers, these commands find no buffer if the draw buffer is
    /// `GL_BACK`, but do if it is `GL_BACK_LEFT`.
    fn clear_buffer(&mut self, is_default: bool, clear: impl FnOnce(&Gl)) -> Result<(), Fault> {
        let cx = self.cx()?;
        let back = is_default && cx.draw_buffer == GL_BACK && cx.api.is_desktop();
        // SAFETY: the context is current. Commands that name a framebuffer are not compiled into
        // lists.
        let draw_to = |buffer| unsafe { (self.gl.glNamedFramebufferDrawBuffer)(0, buffer) };
        if back {
            draw_to(GL_BACK_LEFT);
        }
        clear(&self.gl);
        if back {
            draw_to(GL_BACK);
        }
        Ok(())
    }

    /// Runs a driver command. Returns whether it raised no error; an error is kept. Between glBegin
    /// and glEnd the driver refuses such commands, but reports that only after glEnd.
    pub(super) fn without_error(&mut self, command: impl FnOnce(&Renderer)) -> bool {
        if self.has_primitive() {
            command(self);
            return false;
        }
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

/// Commands for the buffers of a named framebuffer. Those of the default framebuffer are chosen by
/// the renderer.
macro_rules! named_buffers {
    ($($find:ident: $draw:ident $gl_draw:ident, $draw_many:ident $gl_draw_many:ident, $read:ident $gl_read:ident;)*) => {
        impl Renderer {
            $(pub(crate) fn $draw(&mut self, framebuffer: u32, buffer: u32) -> Result<(), Fault> {
                self.needs_context()?;
                let driver = self.$find(Class::Framebuffer, framebuffer);
                // SAFETY: the context is current.
                let done = self.without_error(|r| unsafe { (r.gl.$gl_draw)(driver, buffer) });
                if done && framebuffer == 0 {
                    self.draw_to(buffer)?;
                }
                Ok(())
            }

            pub(crate) fn $draw_many(&mut self, framebuffer: u32, n: i32, buffers: Slice<'_, u32>) -> Result<(), Fault> {
                self.needs_context()?;
                let driver = self.$find(Class::Framebuffer, framebuffer);
                let buffers = buffers.to_vec();
                if usize::try_from(n).is_ok_and(|n| n > buffers.len()) {
                    return Err(Fault::ShortArray);
                }
                // SAFETY: the array holds `n` buffers.
                let done = self.without_error(|r| unsafe { (r.gl.$gl_draw_many)(driver, n, buffers.as_ptr()) });
                if done && framebuffer == 0 {
                    self.draw_to(first(n, &buffers))?;
                }
                Ok(())
            }

            pub(crate) fn $read(&mut self, framebuffer: u32, buffer: u32) -> Result<(), Fault> {
                self.needs_context()?;
                let driver = self.$find(Class::Framebuffer, framebuffer);
                // SAFETY: the context is current.
                let done = self.without_error(|r| unsafe { (r.gl.$gl_read)(driver, buffer) });
                if done && framebuffer == 0 {
                    self.read_from(buffer)?;
                }
                Ok(())
            })*
        }
    };
}

named_buffers! {
    object: handwritten_gl_named_framebuffer_draw_buffer glNamedFramebufferDrawBuffer,
        handwritten_gl_named_framebuffer_draw_buffers glNamedFramebufferDrawBuffers,
        handwritten_gl_named_framebuffer_read_buffer glNamedFramebufferReadBuffer;
    name: handwritten_gl_framebuffer_draw_buffer_ext glFramebufferDrawBufferEXT,
        handwritten_gl_framebuffer_draw_buffers_ext glFramebufferDrawBuffersEXT,
        handwritten_gl_framebuffer_read_buffer_ext glFramebufferReadBufferEXT;
}

/// Clears of one buffer, of the bound framebuffer or of a named one.
macro_rules! clears {
    ($($hand:ident $gl:ident, $hand_named:ident $gl_named:ident: $ty:ty;)*) => {
        impl Renderer {
            $(pub(crate) fn $hand(&mut self, buffer: u32, drawbuffer: i32, value: Slice<'_, $ty>) -> Result<(), Fault> {
                self.needs_context()?;
                let value = four(value);
                let is_default = self.cx()?.draw_framebuffer == 0;
                // SAFETY: at most four values are read.
                self.clear_buffer(is_default, |gl| unsafe { (gl.$gl)(buffer, drawbuffer, value.as_ptr()) })
            }

            pub(crate) fn $hand_named(
                &mut self, framebuffer: u32, buffer: u32, drawbuffer: i32, value: Slice<'_, $ty>,
            ) -> Result<(), Fault> {
                self.needs_context()?;
                let driver = self.object(Class::Framebuffer, framebuffer);
                let value = four(value);
                // SAFETY: at most four values are read.
                self.clear_buffer(framebuffer == 0, |gl| unsafe { (gl.$gl_named)(driver, buffer, drawbuffer, value.as_ptr()) })
            })*
        }
    };
}

clears! {
    handwritten_gl_clear_bufferfv glClearBufferfv, handwritten_gl_clear_named_framebufferfv glClearNamedFramebufferfv: f32;
    handwritten_gl_clear_bufferiv glClearBufferiv, handwritten_gl_clear_named_framebufferiv glClearNamedFramebufferiv: i32;
    handwritten_gl_clear_bufferuiv glClearBufferuiv, handwritten_gl_clear_named_framebufferuiv glClearNamedFramebufferuiv: u32;
}

/// Whether pixels of this format, or internal format, are colours.
fn has_colors(format: u32) -> bool {
    !matches!(
        format,
        GL_DEPTH_COMPONENT
            | GL_DEPTH_COMPONENT16
            | GL_DEPTH_COMPONENT24
            | GL_DEPTH_COMPONENT32
            | GL_DEPTH_COMPONENT32F
            | GL_DEPTH_STENCIL
            | GL_DEPTH24_STENCIL8
            | GL_DEPTH32F_STENCIL8
            | GL_STENCIL_INDEX
            | GL_STENCIL_INDEX1
            | GL_STENCIL_INDEX4
            | GL_STENCIL_INDEX8
            | GL_STENCIL_INDEX16
    )
}

/// The first of `n` buffers.
fn first(n: i32, buffers: &[u32]) -> u32 {
    let first = buffers.first().filter(|_| n > 0);
    first.copied().unwrap_or(GL_NONE)
}

/// The first four values, with zeros for missing ones.
fn four<T: mgn_wire::Plain>(value: Slice<'_, T>) -> [T; 4] {
    let mut four = [T::default(); 4];
    for (to, from) in four.iter_mut().zip(value.to_vec()) {
        *to = from;
    }
    four
}
