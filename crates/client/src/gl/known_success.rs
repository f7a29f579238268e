//! Commands that are known to succeed, because they have succeeded before.
//!
//! The key of a command consists of the command and all state on which its success depends, as
//! numbers. When an answer shows that every command up to it succeeded, the keys recorded so far
//! are known. Then the same command succeeds again in the same state, and the same question has the
//! same answer. State that is not tracked in detail is covered by `Encoder::changes`, which counts
//! the commands that may change it.

use crate::context::Context;
use crate::shadow::framebuffers::Change;
use crate::shadow::known_success::{SuccessKey, INFALLIBLE};
use crate::shadow::objects::class::Class;
use mgn_wire::gl::{self, GL_COLOR_BUFFER_BIT, GL_DEPTH_BUFFER_BIT, GL_STENCIL_BUFFER_BIT};
use mgn_wire::ops;
use std::sync::atomic::Ordering;
use std::sync::Arc;

/// The state that a command depends on.
#[derive(Clone, Copy, Debug)]
pub enum Dependency {
    /// The program in use.
    Program,
    /// The draw framebuffer.
    Drawing,
    /// The read framebuffer.
    Reading,
    /// The framebuffer bound to a target.
    Target(u32),
    /// The texture bound to a target. Also that its image comes from the program's memory.
    Texture(u32),
    /// The bound renderbuffer.
    Renderbuffer,
    /// An attached image.
    Image(Class, u32),
    /// The program that the command names.
    Named(u32),
    /// The sampler object that the command names. All are treated alike.
    Sampler(u32),
    /// State that is not tracked. Only commands that certainly succeed are known not to change it.
    Unfollowed,
}

impl Context {
    /// A round trip has shown whether all commands so far succeeded.
    pub fn settle_known_success(&mut self, error: u32) {
        if error == 0 {
            return self.gl.known_success.confirm_pending();
        }
        // It is not known which command failed, nor whether the tracked state is right.
        self.gl.known_success.forget();
        self.enc.changes = self.enc.changes.wrapping_add(1);
    }

    /// The key of a command; none if there is no key, or if it is not needed.
    #[inline]
    pub fn success_key(&self, op: u16, arguments: &[u32], on: &[Dependency]) -> Option<SuccessKey> {
        match self.gl.known_success.is_wanted() {
            true if self.is_infallible(op, arguments) => Some(INFALLIBLE),
            true => self.circumstances(op, arguments, on),
            false => None,
        }
    }

    /// Whether a command certainly succeeds, whatever has succeeded before.
    fn is_infallible(&self, op: u16, arguments: &[u32]) -> bool {
        const PLANES: u32 = GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT | GL_STENCIL_BUFFER_BIT;
        if self.gl.in_begin() || self.gl.lists.is_open() {
            return false;
        }
        match op {
            // Default framebuffers are complete if there is a surface.
            ops::GL_CLEAR => {
                arguments.iter().all(|mask| mask & !PLANES == 0)
                    && self.draw.is_some()
                    && self.gl.state.draws_to_default()
            }
            // Ignored outside of selection mode.
            ops::GL_LOAD_NAME | ops::GL_PUSH_NAME | ops::GL_POP_NAME => {
                self.gl.is_compat() && !self.gl.render_modes.tells()
            }
            _ => false,
        }
    }

    /// The command with this key has been sent. The doubt from `before` remains.
    #[inline]
    pub fn record_sent(&mut self, before: u16, key: Option<SuccessKey>) {
        let Some(key) = key else { return };
        if self.gl.known_success.contains(&key) {
            self.enc.doubt = before;
        } else {
            self.gl.known_success.add_pending(key);
        }
    }

    /// The same for a command that succeeds if all keys are known.
    pub fn record_all_sent(&mut self, before: u16, keys: Vec<SuccessKey>) {
        if self.gl.known_success.add_all_pending(keys) {
            self.enc.doubt = before;
        }
    }

    /// The answer of a question, if it was asked before.
    pub fn known_answer(&self, question: &Option<SuccessKey>) -> Option<u32> {
        self.gl.known_success.answer(question.as_ref()?)
    }

    /// Stores the server's answer.
    pub fn learn_answer(&mut self, question: Option<SuccessKey>, answer: u32) {
        if let Some(question) = question.filter(|_| !self.gl.errors.is_reported()) {
            self.gl.known_success.learn_answer(question, answer);
        }
    }

    /// The key of a command in its current state; none if that state is not fully known.
    pub fn circumstances(
        &self,
        op: u16,
        arguments: &[u32],
        on: &[Dependency],
    ) -> Option<SuccessKey> {
        // A program that receives debug messages wants the message of each failure.
        if self.gl.in_begin()
            || self.gl.lists.is_open()
            || self.gl.debug.is_heard()
            || self.session.is_none()
            || self.is_lost()
        {
            return None;
        }
        let group = self.gl.shared.notes.changed.load(Ordering::Acquire);
        let mut key = vec![op.into(), self.enc.changes, group];
        key.extend(arguments);
        for on in on {
            self.put_circumstance(*on, &mut key)?;
        }
        Some(key)
    }

    fn put_circumstance(&self, on: Dependency, key: &mut SuccessKey) -> Option<()> {
        let state = &self.gl.state;
        let start = key.len();
        key.push(0);
        match on {
            Dependency::Program => {
                let relinked = &self.gl.shared.notes.relinked;
                key.extend([
                    self.gl.objects.program_in_use()?,
                    relinked.load(Ordering::Acquire),
                ]);
            }
            Dependency::Named(program) => {
                // A deleted program may be destroyed at any time.
                let relinked = self.gl.shared.notes.relinked.load(Ordering::Acquire);
                let lives = self.gl.shared.programs().has_program(program);
                key.extend(lives.then_some([program, relinked])?);
            }
            Dependency::Sampler(name) => {
                let names = self.gl.shared.names();
                names.samplers.is_taken(name).then_some(())?;
            }
            Dependency::Unfollowed => return None,
            Dependency::Drawing => self.put_framebuffer(gl::GL_DRAW_FRAMEBUFFER, key)?,
            Dependency::Reading => self.put_framebuffer(gl::GL_READ_FRAMEBUFFER, key)?,
            Dependency::Target(target) => self.put_framebuffer(target, key)?,
            Dependency::Texture(target) => {
                if self.unpack_buffer() != 0 {
                    return None;
                }
                let name = state.texture_bound_for(target)?;
                key.push(name);
                key.extend(self.gl.shared.images().texture(name));
            }
            Dependency::Image(Class::Renderbuffer, name) => {
                key.extend(self.gl.shared.images().renderbuffer(name))
            }
            Dependency::Image(_, name) => key.extend(self.gl.shared.images().texture(name)),
            Dependency::Renderbuffer => {
                let name = state.renderbuffer_bound()?;
                key.push(name);
                key.extend(self.gl.shared.images().renderbuffer(name));
            }
        }
        // The length comes first, so that keys with several lists are unambiguous.
        key[start] = (key.len() - start) as u32;
        Some(())
    }

    /// A command that changes an image has been written but not sent. Until it is sent, other
    /// contexts of the share group may rely on outdated knowledge, so the change is counted again
    /// then.
    pub fn image_changes(&mut self, change: Change) {
        self.gl.shared.images().apply(change);
        if self.has_company() {
            self.gl.known_success.unpublished_images.push(change);
        }
    }

    /// The same for the uniforms of a program that other contexts use.
    pub fn integers_change(&mut self, program: u32) {
        self.gl.shared.programs().integers_told(program);
        if !self
            .gl
            .known_success
            .unpublished_programs
            .contains(&program)
        {
            self.gl.known_success.unpublished_programs.push(program);
        }
    }

    /// Whether other contexts share this context's objects.
    pub fn has_company(&self) -> bool {
        Arc::strong_count(&self.gl.shared) > 1
    }

    /// The written commands have been sent: earlier knowledge of other contexts is no longer valid.
    pub fn publish_changes(&mut self) {
        if self.gl.known_success.published_changes != self.enc.changes {
            self.gl.known_success.published_changes = self.enc.changes;
            if self.has_company() {
                self.gl.shared.notes.changed.fetch_add(1, Ordering::Release);
            }
        }
        if !self.gl.known_success.unpublished_images.is_empty() {
            let mut images = self.gl.shared.images();
            (self.gl.known_success.unpublished_images.drain(..))
                .for_each(|change| images.apply(change));
        }
        if !self.gl.known_success.unpublished_programs.is_empty() {
            let mut programs = self.gl.shared.programs();
            (self.gl.known_success.unpublished_programs.drain(..))
                .for_each(|it| programs.integers_told(it));
        }
    }
}
