//! Framebuffers and renderbuffers: their bindings, and the draw and read buffers.

use mgn_wire::gl::*;

use crate::limits::Api;
use crate::slots::{at, DRAW_BUFFERS, UNKNOWN};
use crate::{Answer, Class, GlError, State};

pub(crate) type DrawBuffers = [f64; DRAW_BUFFERS];

/// The state of a framebuffer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Framebuffer {
    draw: DrawBuffers,
    read: f64,
}

impl Framebuffer {
    fn user() -> Framebuffer {
        Framebuffer::of(GL_COLOR_ATTACHMENT0)
    }

    pub fn forget(&mut self) {
        self.draw = [UNKNOWN; DRAW_BUFFERS];
        self.read = UNKNOWN;
    }

    /// A default framebuffer that is drawn to and read from `buffer`.
    pub fn of(buffer: u32) -> Framebuffer {
        let mut draw = [0.; DRAW_BUFFERS];
        draw[0] = buffer.into();
        Framebuffer {
            draw,
            read: buffer.into(),
        }
    }
}

/// Names that show the bound framebuffers' buffers.
pub(crate) fn names() -> impl Iterator<Item = u32> {
    let numbered = GL_DRAW_BUFFER0..GL_DRAW_BUFFER0 + DRAW_BUFFERS as u32;
    [GL_DRAW_BUFFER, GL_READ_BUFFER].into_iter().chain(numbered)
}

/// Names whose values follow from the attachments of the bound framebuffers. They are remembered
/// for default framebuffers only, which do not change.
pub(crate) const DERIVED: &[u32] = &[
    GL_RED_BITS,
    GL_GREEN_BITS,
    GL_BLUE_BITS,
    GL_ALPHA_BITS,
    GL_DEPTH_BITS,
    GL_STENCIL_BITS,
    GL_INDEX_BITS,
    GL_ACCUM_RED_BITS,
    GL_ACCUM_GREEN_BITS,
    GL_ACCUM_BLUE_BITS,
    GL_ACCUM_ALPHA_BITS,
    GL_SAMPLES,
    GL_SAMPLE_BUFFERS,
    GL_DOUBLEBUFFER,
    GL_STEREO,
    GL_RGBA_MODE,
    GL_INDEX_MODE,
    GL_RGBA_FLOAT_MODE_ARB,
    GL_RGBA_INTEGER_MODE_EXT,
    GL_FRAMEBUFFER_SRGB_CAPABLE_EXT,
    GL_IMPLEMENTATION_COLOR_READ_FORMAT,
    GL_IMPLEMENTATION_COLOR_READ_TYPE,
];

impl State {
    pub fn gl_gen_framebuffers(&mut self, names: &[u32]) {
        for &name in names {
            self.framebuffers.insert(name, Framebuffer::user());
        }
    }

    /// A command by name makes a framebuffer, unless there is one.
    pub fn use_framebuffer(&mut self, name: u32) {
        self.framebuffers
            .entry(name)
            .or_insert_with(Framebuffer::user);
    }

    pub fn gl_delete_framebuffers(&mut self, names: &[u32]) {
        for name in names.iter().filter(|&&name| name != 0) {
            self.framebuffers.remove(name);
            for at in [
                at!(GL_DRAW_FRAMEBUFFER_BINDING),
                at!(GL_READ_FRAMEBUFFER_BINDING),
            ] {
                if self.int(at) == *name {
                    self.set(at, 0u8);
                }
            }
        }
    }

    pub fn gl_bind_framebuffer(&mut self, target: u32, framebuffer: u32) -> Result<(), GlError> {
        self.bind_framebuffer(target, framebuffer)
    }

    pub fn gl_bind_framebuffer_ext(&mut self, target: u32, name: u32) -> Result<(), GlError> {
        self.bind_framebuffer(target, name)
    }

    pub fn gl_bind_framebuffer_oes(&mut self, target: u32, name: u32) -> Result<(), GlError> {
        self.bind_framebuffer(target, name)
    }

    fn bind_framebuffer(&mut self, target: u32, name: u32) -> Result<(), GlError> {
        let (draw, read) = match target {
            GL_FRAMEBUFFER => (true, true),
            GL_DRAW_FRAMEBUFFER => (true, false),
            GL_READ_FRAMEBUFFER => (false, true),
            _ => return Err(GlError::InvalidEnum),
        };
        if target != GL_FRAMEBUFFER && !self.has(GL_READ_FRAMEBUFFER_BINDING) {
            return self.unsure();
        }
        if name != 0 && !self.framebuffers.contains_key(&name) {
            if self.limits.api == Api::Core {
                return Err(GlError::InvalidOperation);
            }
            self.framebuffers.insert(name, Framebuffer::user());
        }
        if draw {
            self.set(at!(GL_DRAW_FRAMEBUFFER_BINDING), name);
        }
        if read {
            self.set(at!(GL_READ_FRAMEBUFFER_BINDING), name);
        }
        Ok(())
    }

    pub fn gl_gen_renderbuffers(&mut self, names: &[u32]) {
        self.shared.lock().renderbuffers.extend(names);
    }

    /// A command by name makes a renderbuffer, unless there is one.
    pub fn use_renderbuffer(&mut self, name: u32) {
        self.shared.lock().renderbuffers.insert(name);
    }

    pub fn gl_delete_renderbuffers(&mut self, names: &[u32]) {
        let mut objects = self.shared.lock();
        names.iter().for_each(|name| {
            objects.renderbuffers.remove(name);
        });
        drop(objects);
        let bound = self.int(at!(GL_RENDERBUFFER_BINDING));
        if bound != 0 && names.contains(&bound) {
            self.set(at!(GL_RENDERBUFFER_BINDING), 0u8);
        }
    }

    pub fn gl_bind_renderbuffer(&mut self, target: u32, name: u32) -> Result<(), GlError> {
        self.bind_renderbuffer(target, name)
    }

    pub fn gl_bind_renderbuffer_ext(&mut self, target: u32, name: u32) -> Result<(), GlError> {
        self.bind_renderbuffer(target, name)
    }

    pub fn gl_bind_renderbuffer_oes(&mut self, target: u32, name: u32) -> Result<(), GlError> {
        self.bind_renderbuffer(target, name)
    }

    fn bind_renderbuffer(&mut self, target: u32, name: u32) -> Result<(), GlError> {
        if target != GL_RENDERBUFFER {
            return Err(GlError::InvalidEnum);
        }
        let mut objects = self.shared.lock();
        if name != 0 && !objects.renderbuffers.contains(&name) {
            if self.limits.api == Api::Core {
                return Err(GlError::InvalidOperation);
            }
            objects.renderbuffers.insert(name);
        }
        drop(objects);
        self.set(at!(GL_RENDERBUFFER_BINDING), name);
        Ok(())
    }

    pub fn gl_draw_buffer(&mut self, buffer: u32) -> Result<(), GlError> {
        listed!(self, gl_draw_buffer(buffer));
        let name = self.int(at!(GL_DRAW_FRAMEBUFFER_BINDING));
        if self.is_only_buffer(name, buffer) {
            self.set_draw_buffers([UNKNOWN; DRAW_BUFFERS]);
            return self.unsure();
        }
        self.check_buffer(name, buffer)?;
        let mut draw = [0.; DRAW_BUFFERS];
        draw[0] = buffer.into();
        self.set_draw_buffers(draw);
        Ok(())
    }

    pub fn gl_draw_buffers(&mut self, n: i32, buffers: &[u32]) -> Result<(), GlError> {
        let owned = buffers.to_vec();
        listed!(self, gl_draw_buffers(n, &owned));
        let limit = self.limits.draw_buffers;
        let n = usize::try_from(n).map_err(|_| GlError::InvalidValue)?;
        if n > limit {
            return Err(GlError::InvalidValue);
        }
        let user = self.int(at!(GL_DRAW_FRAMEBUFFER_BINDING)) != 0;
        let mut draw = [0.; DRAW_BUFFERS];
        for i in 0..n {
            let buffer = buffers.get(i).copied().unwrap_or(GL_NONE);
            draw[i] = buffer.into();
            let attachment = buffer.wrapping_sub(GL_COLOR_ATTACHMENT0);
            let sure = match buffer {
                GL_NONE => true,
                _ if attachment < self.limits.color_attachments => {
                    let repeated = draw[..i].contains(&draw[i]);
                    let in_place = self.limits.desktop() || attachment == i as u32;
                    user && !repeated && in_place
                }
                GL_BACK => !user && n == 1,
                _ => false,
            };
            if !sure {
                self.set_draw_buffers([UNKNOWN; DRAW_BUFFERS]);
                return self.unsure();
            }
        }
        if n == 0 && !self.limits.desktop() {
            self.set_draw_buffers([UNKNOWN; DRAW_BUFFERS]);
            return self.unsure();
        }
        self.set_draw_buffers(draw);
        Ok(())
    }

    pub fn gl_draw_buffers_nv(&mut self, n: i32, buffers: &[u32]) -> Result<(), GlError> {
        self.gl_draw_buffers(n, buffers)
    }

    pub fn gl_read_buffer(&mut self, buffer: u32) -> Result<(), GlError> {
        listed!(self, gl_read_buffer(buffer));
        let name = self.int(at!(GL_READ_FRAMEBUFFER_BINDING));
        let attachment = buffer.wrapping_sub(GL_COLOR_ATTACHMENT0);
        if self.limits.es3() && !matches!(buffer, GL_NONE | GL_BACK) && attachment >= 32 {
            return Err(GlError::InvalidEnum);
        }
        if buffer == GL_FRONT_AND_BACK {
            // Two buffers cannot be read at once, but some drivers use the front.
            self.set_read_buffer(UNKNOWN);
            return self.unsure();
        }
        if self.is_only_buffer(name, buffer) {
            self.set_read_buffer(UNKNOWN);
            return self.unsure();
        }
        self.check_buffer(name, buffer)?;
        self.set_read_buffer(buffer.into());
        Ok(())
    }

    /// Whether a name means the back of a framebuffer that has but one buffer, which drivers may
    /// take it for.
    fn is_only_buffer(&self, framebuffer: u32, buffer: u32) -> bool {
        let is_back = matches!(buffer, GL_BACK | GL_BACK_LEFT);
        framebuffer == 0 && is_back && !self.double_buffered && self.limits.desktop()
    }

    pub fn gl_read_buffer_nv(&mut self, buffer: u32) -> Result<(), GlError> {
        self.gl_read_buffer(buffer)
    }

    /// Whether the front of the default framebuffer is, or may be, drawn to.
    pub fn draws_front(&self) -> bool {
        let front = |&buffer: &f64| {
            crate::slots::is_unknown(buffer)
                || matches!(
                    buffer as u32,
                    GL_FRONT | GL_FRONT_LEFT | GL_LEFT | GL_FRONT_AND_BACK
                )
        };
        self.framebuffer(0).draw.iter().any(front)
    }

    /// The framebuffer of a binding, if that is known; contexts without a binding for reading use
    /// that for drawing.
    pub fn framebuffer_bound(&self, binding: u32) -> Option<u32> {
        let at = match binding == GL_READ_FRAMEBUFFER_BINDING && self.has(binding) {
            true => at!(GL_READ_FRAMEBUFFER_BINDING),
            false => at!(GL_DRAW_FRAMEBUFFER_BINDING),
        };
        self.known(at).map(|name| name as u32)
    }

    /// The renderbuffer that is bound, if that is known.
    pub fn renderbuffer_bound(&self) -> Option<u32> {
        self.known(at!(GL_RENDERBUFFER_BINDING))
            .map(|name| name as u32)
    }

    /// The draw buffers and the read buffer of a framebuffer, if all are known.
    pub fn buffers_of(&self, name: u32) -> Option<Vec<u32>> {
        let Framebuffer { draw, read } = self.framebuffers.get(&name)?;
        let all = draw.iter().chain([read]);
        all.map(|&b| (!crate::slots::is_unknown(b)).then_some(b as u32))
            .collect()
    }

    /// Whether it is certainly the default framebuffer that is drawn to.
    pub fn draws_to_default(&self) -> bool {
        self.known(at!(GL_DRAW_FRAMEBUFFER_BINDING)) == Some(0.)
    }

    /// Whether a framebuffer has a buffer.
    fn check_buffer(&self, framebuffer: u32, buffer: u32) -> Result<(), GlError> {
        let attachment = buffer.wrapping_sub(GL_COLOR_ATTACHMENT0);
        let default = match buffer {
            GL_NONE => return Ok(()),
            GL_FRONT | GL_FRONT_LEFT | GL_LEFT | GL_FRONT_AND_BACK => self.limits.desktop(),
            GL_BACK => self.double_buffered || !self.limits.desktop(),
            GL_BACK_LEFT => self.double_buffered && self.limits.desktop(),
            GL_FRONT_RIGHT | GL_BACK_RIGHT | GL_RIGHT => false,
            GL_AUX0..=GL_AUX3 if self.limits.desktop() => false,
            _ if attachment < 32 => false,
            _ => return Err(GlError::InvalidEnum),
        };
        let user = attachment < self.limits.color_attachments;
        match if framebuffer == 0 { default } else { user } {
            true => Ok(()),
            false => Err(GlError::InvalidOperation),
        }
    }

    fn framebuffer(&self, name: u32) -> Framebuffer {
        let framebuffer = self.framebuffers.get(&name);
        framebuffer.copied().unwrap_or(Framebuffer {
            draw: [UNKNOWN; DRAW_BUFFERS],
            read: UNKNOWN,
        })
    }

    pub(crate) fn draw_buffers(&self) -> DrawBuffers {
        self.framebuffer(self.int(at!(GL_DRAW_FRAMEBUFFER_BINDING)))
            .draw
    }

    fn set_draw_buffers(&mut self, draw: DrawBuffers) {
        let name = self.int(at!(GL_DRAW_FRAMEBUFFER_BINDING));
        if let Some(framebuffer) = self.framebuffers.get_mut(&name) {
            framebuffer.draw = draw;
        }
    }

    /// If the saved draw buffers differ, the result depends on the driver and on the framebuffers
    /// that were bound meanwhile.
    pub(crate) fn pop_draw_buffers(&mut self, draw: DrawBuffers) {
        if draw.map(f64::to_bits) != self.draw_buffers().map(f64::to_bits) {
            self.set_draw_buffers([UNKNOWN; DRAW_BUFFERS]);
            self.doubt = true;
        }
    }

    pub(crate) fn read_buffer(&self) -> f64 {
        self.framebuffer(self.int(at!(GL_READ_FRAMEBUFFER_BINDING)))
            .read
    }

    fn set_read_buffer(&mut self, read: f64) {
        let name = self.int(at!(GL_READ_FRAMEBUFFER_BINDING));
        if let Some(framebuffer) = self.framebuffers.get_mut(&name) {
            framebuffer.read = read;
        }
    }

    /// See [`State::pop_draw_buffers`].
    pub(crate) fn pop_read_buffer(&mut self, read: f64) {
        if read.to_bits() != self.read_buffer().to_bits() {
            self.set_read_buffer(UNKNOWN);
        }
        // Refused where the framebuffer has no such buffer.
        self.doubt = true;
    }

    pub(crate) fn framebuffer_answer(&self, pname: u32) -> Answer<'_> {
        let value = match pname {
            GL_READ_BUFFER => self.read_buffer(),
            GL_DRAW_BUFFER => self.draw_buffers()[0],
            _ => {
                let i = pname.wrapping_sub(GL_DRAW_BUFFER0) as usize;
                match i < self.limits.draw_buffers {
                    true => self.draw_buffers()[i],
                    false => UNKNOWN,
                }
            }
        };
        Answer::one(Class::Int, value)
    }

    /// The driver's answer about a buffer of a bound framebuffer.
    pub(crate) fn learn_buffer(&mut self, pname: u32, value: f64) {
        if pname == GL_READ_BUFFER {
            return self.set_read_buffer(value);
        }
        let mut draw = self.draw_buffers();
        let i = match pname {
            GL_DRAW_BUFFER => 0,
            _ => (pname - GL_DRAW_BUFFER0) as usize,
        };
        draw[i] = value;
        self.set_draw_buffers(draw);
    }

    /// Whether both framebuffers are default ones.
    pub(crate) fn default_framebuffers(&self) -> bool {
        self.int(at!(GL_DRAW_FRAMEBUFFER_BINDING)) == 0
            && self.int(at!(GL_READ_FRAMEBUFFER_BINDING)) == 0
    }
}
