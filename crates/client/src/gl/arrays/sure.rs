//! Which draws raise no error for certain, so that glGetError after them need not ask.

use crate::context::Context;
use mgn_wire::gl;
use std::sync::atomic::Ordering;

impl Context {
    /// Sends a draw of `mode`, whose other arguments are right if `checked`.
    #[inline]
    pub(super) fn send_draw(&mut self, mode: u32, checked: bool, send: impl FnOnce(&mut Context)) {
        let before = self.enc.doubt;
        send(self);
        // Who never asks for errors need not pay for knowing.
        if before == 0 && checked && self.draw_is_sure(mode) {
            self.enc.doubt = 0;
        }
    }

    /// Whether a draw of `mode` is certain to succeed: by the fixed function, into a window or pbuffer, with nothing about that could forbid it. What a
    /// program forbids, samplers and geometry shaders among others, only the server knows.
    pub(in crate::gl) fn draw_is_sure(&self, mode: u32) -> bool {
        let objects = &self.gl.objects;
        let off = |cap| self.gl.state.is_enabled(cap) == Some(false);
        self.gl.is_compat()
            && mode <= gl::GL_POLYGON
            && objects.draws_without_programs()
            && self.draw.is_some()
            && self.gl.state.draws_to_default()
            && self.gl.shared.notes.mapped.load(Ordering::Relaxed) == 0
            && !self.gl.lists.is_open()
            && off(gl::GL_VERTEX_PROGRAM_ARB)
            && off(gl::GL_FRAGMENT_PROGRAM_ARB)
    }
}
