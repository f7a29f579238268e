//! Draws that certainly raise no error, so that a glGetError after them need not ask the server.

use crate::context::Context;
use crate::gl::known_success::Dependency;
use crate::shadow::known_success::SuccessKey;
use mgn_wire::gl;
use std::sync::atomic::Ordering;

impl Context {
    /// Sends a draw of `mode`. `checked` says whether its other arguments are valid. `what` is the
    /// kind of draw.
    #[inline]
    pub fn send_draw(
        &mut self,
        what: [u32; 2],
        mode: u32,
        checked: bool,
        send: impl FnOnce(&mut Context),
    ) {
        // A program that never asks for errors need not pay for this.
        if !checked || !self.gl.known_success.is_wanted() {
            return send(self);
        }
        let before = self.enc.doubt;
        let is_infallible = self.draw_cannot_fail(mode);
        let success_key = match is_infallible {
            true => None,
            false => self.draw_success_key(what, mode),
        };
        send(self);
        match is_infallible {
            true => self.enc.doubt = before,
            false => self.record_sent(before, success_key),
        }
    }

    /// Called when a primitive of `mode` begins.
    pub fn drawing_begins(&mut self, mode: u32, op: u16) {
        let before = std::mem::replace(&mut self.enc.doubt, op);
        if !self.gl.known_success.is_wanted() {
            return;
        }
        if self.draw_cannot_fail(mode) {
            self.enc.doubt = before;
        } else {
            let success_key = self.draw_success_key([op.into(), 0], mode);
            self.record_sent(before, success_key);
        }
    }

    /// Whether a draw of `mode` is certain to succeed: it uses the fixed function, draws into a
    /// window or pbuffer, and no other state can make it fail.
    pub fn draw_cannot_fail(&self, mode: u32) -> bool {
        let objects = &self.gl.objects;
        let off = |cap| self.gl.state.is_enabled(cap) == Some(false);
        self.gl.is_compat()
            && mode <= gl::GL_POLYGON
            && objects.draws_without_programs()
            && self.draw.is_some()
            && self.gl.state.draws_to_default()
            && self.gl.shared.notes.mapped.load(Ordering::Relaxed) == 0
            && !self.gl.lists.is_open()
            && self.gl.state.blends_plainly()
            && off(gl::GL_VERTEX_PROGRAM_ARB)
            && off(gl::GL_FRAGMENT_PROGRAM_ARB)
    }

    /// The key for the success of a draw. It depends on the program, the texture units of its
    /// samplers, the draw framebuffer, and little else. None if the rest of the state is unusual.
    pub fn draw_success_key(&self, what: [u32; 2], mode: u32) -> Option<SuccessKey> {
        let (objects, state, arrays) = (&self.gl.objects, &self.gl.state, &self.gl.arrays);
        if objects.draws_specially()
            || self.gl.shared.notes.mapped.load(Ordering::Relaxed) != 0
            || !state.blends_plainly()
        {
            return None;
        }
        let enabled = |cap| match self.gl.is_compat() {
            true => state.is_enabled(cap).map(u32::from),
            false => Some(0),
        };
        let arguments = [
            what[1],
            mode,
            arrays.needs_client_memory().into(),
            (arrays.name() == 0).into(),
            (arrays.element_buffer() == 0).into(),
            enabled(gl::GL_VERTEX_PROGRAM_ARB)?,
            enabled(gl::GL_FRAGMENT_PROGRAM_ARB)?,
            match self.gl.is_desktop() {
                true => 0,
                // OpenGL ES may refuse to blend floating-point framebuffers.
                false => state.is_enabled(gl::GL_BLEND)?.into(),
            },
        ];
        let mut success_key = self.circumstances(
            what[0] as u16,
            &arguments,
            &[Dependency::Program, Dependency::Drawing],
        )?;
        match objects.program_in_use()? {
            0 => {}
            program => self
                .gl
                .shared
                .programs()
                .put_integers(program, &mut success_key)?,
        }
        Some(success_key)
    }
}
