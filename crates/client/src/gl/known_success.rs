//! Commands that succeed because they have succeeded before.
//!
//! The key of a command is the command with all that its success depends on, as numbers. Once an
//! answer has shown that every command up to it succeeded, the keys noted until then are known: the
//! same command in the same circumstances succeeds again, and the same question has the same
//! answer. Circumstances that are not followed one by one are covered by `Encoder::changes`, which
//! counts the commands that may change them.

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
    /// The framebuffer that is drawn to.
    Drawing,
    /// The framebuffer that is read from.
    Reading,
    /// The framebuffer that is bound to a target.
    Target(u32),
    /// The texture that is bound to a target, and that its image comes from the program's memory.
    Texture(u32),
    /// The renderbuffer that is bound.
    Renderbuffer,
    /// An image that is attached.
    Image(Class, u32),
    /// The program that is named.
    Named(u32),
    /// The sampler object that is named: all alike.
    Sampler(u32),
    /// State that is not followed: only commands that certainly succeed are known to leave it
    /// alone.
    Unfollowed,
}

impl Context {
    /// A round trip has shown whether all commands so far succeeded.
    pub fn settle_known_success(&mut self, error: u32) {
        if error == 0 {
            return self.gl.known_success.confirm_pending();
        }
        // It is not known which one failed, nor whether the followed state is right.
        self.gl.known_success.forget();
        self.enc.changes = self.enc.changes.wrapping_add(1);
    }

    /// The key under which a command's success is noted; none if there is none, or it is not
    /// needed.
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
            // Default framebuffers are complete where there is a surface.
            ops::GL_CLEAR => {
                arguments.iter().all(|mask| mask & !PLANES == 0)
                    && self.draw.is_some()
                    && self.gl.state.draws_to_default()
            }
            // Ignored unless the program selects.
            ops::GL_LOAD_NAME | ops::GL_PUSH_NAME | ops::GL_POP_NAME => {
                self.gl.is_compat() && !self.gl.render_modes.tells()
            }
            _ => false,
        }
    }

    /// The command with this key has been sent; the doubts there were `before` remain.
    #[inline]
    pub fn record_sent(&mut self, before: u16, key: Option<SuccessKey>) {
        let Some(key) = key else { return };
        if self.gl.known_success.contains(&key) {
            self.enc.doubt = before;
        } else {
            self.gl.known_success.add_pending(key);
        }
    }

    /// The same of a command that succeeds if all of these hold.
    pub fn record_all_sent(&mut self, before: u16, keys: Vec<SuccessKey>) {
        if self.gl.known_success.add_all_pending(keys) {
            self.enc.doubt = before;
        }
    }

    /// The answer of a question, if it was asked before.
    pub fn known_answer(&self, question: &Option<SuccessKey>) -> Option<u32> {
        self.gl.known_success.answer(question.as_ref()?)
    }

    /// The server has answered.
    pub fn learn_answer(&mut self, question: Option<SuccessKey>, answer: u32) {
        if let Some(question) = question.filter(|_| !self.gl.errors.is_reported()) {
            self.gl.known_success.learn_answer(question, answer);
        }
    }

    /// A command and its circumstances; none if these are not all known.
    pub fn circumstances(
        &self,
        op: u16,
        arguments: &[u32],
        on: &[Dependency],
    ) -> Option<SuccessKey> {
        // A program that listens to messages wants each of them.
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
                // One that is deleted may end at any time.
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
        // How many there are, so that lists of several lengths follow each other without doubt.
        key[start] = (key.len() - start) as u32;
        Some(())
    }

    /// An image changes by a command that is written but not sent. Until it is, other contexts of
    /// the group may take for known what holds no more then, so that the change counts once more.
    pub fn image_changes(&mut self, change: Change) {
        self.gl.shared.images().apply(change);
        if self.has_company() {
            self.gl.known_success.unpublished_images.push(change);
        }
    }

    /// The same of uniforms of a program, where other contexts use it.
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

    /// Whether other contexts use the same objects.
    pub fn has_company(&self) -> bool {
        Arc::strong_count(&self.gl.shared) > 1
    }

    /// The written commands are on their way: what other contexts know from earlier no longer
    /// holds.
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
