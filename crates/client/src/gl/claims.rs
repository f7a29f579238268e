//! Commands that succeed because they have succeeded before.
//!
//! A claim is a command with all that its success depends on, as numbers. Once an answer has shown
//! that every command up to it succeeded, the claims made until then hold: the same command in the
//! same circumstances succeeds again, and the same question has the same answer. Circumstances that
//! are not followed one by one are covered by `Encoder::changes`, which counts the commands that
//! may change them.

use crate::context::Context;
use crate::shadow::claims::{Claim, SURE};
use crate::shadow::framebuffers::Change;
use crate::shadow::objects::class::Class;
use mgn_wire::gl::{self, GL_COLOR_BUFFER_BIT, GL_DEPTH_BUFFER_BIT, GL_STENCIL_BUFFER_BIT};
use mgn_wire::ops;
use std::sync::atomic::Ordering;
use std::sync::Arc;

/// The state that a command depends on.
#[derive(Clone, Copy, Debug)]
pub enum On {
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
    pub fn settle_claims(&mut self, error: u32) {
        if error == 0 {
            return self.gl.claims.prove();
        }
        // It is not known which one failed, nor whether the followed state is right.
        self.gl.claims.forget();
        self.enc.changes = self.enc.changes.wrapping_add(1);
    }

    /// The claim that a command succeeds; none if that cannot be said, or is not needed.
    #[inline]
    pub fn claim(&self, op: u16, arguments: &[u32], on: &[On]) -> Option<Claim> {
        match self.gl.claims.are_wanted() {
            true if self.is_sure(op, arguments) => Some(SURE),
            true => self.circumstances(op, arguments, on),
            false => None,
        }
    }

    /// Whether a command certainly succeeds, whatever has succeeded before.
    fn is_sure(&self, op: u16, arguments: &[u32]) -> bool {
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

    /// The command of a claim has been sent; the doubts there were `before` remain.
    #[inline]
    pub fn claimed(&mut self, before: u16, claim: Option<Claim>) {
        let Some(claim) = claim else { return };
        if self.gl.claims.hold(&claim) {
            self.enc.doubt = before;
        } else {
            self.gl.claims.make(claim);
        }
    }

    /// The same of a command that succeeds if all of these hold.
    pub fn all_claimed(&mut self, before: u16, claims: Vec<Claim>) {
        if self.gl.claims.make_all(claims) {
            self.enc.doubt = before;
        }
    }

    /// The answer of a question, if it was asked before.
    pub fn known_answer(&self, question: &Option<Claim>) -> Option<u32> {
        self.gl.claims.answer(question.as_ref()?)
    }

    /// The server has answered.
    pub fn learn_answer(&mut self, question: Option<Claim>, answer: u32) {
        if let Some(question) = question.filter(|_| !self.gl.errors.is_reported()) {
            self.gl.claims.learn_answer(question, answer);
        }
    }

    /// A command and its circumstances; none if these are not all known.
    pub fn circumstances(&self, op: u16, arguments: &[u32], on: &[On]) -> Option<Claim> {
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
        let mut claim = vec![op.into(), self.enc.changes, group];
        claim.extend(arguments);
        for on in on {
            self.put_circumstance(*on, &mut claim)?;
        }
        Some(claim)
    }

    fn put_circumstance(&self, on: On, claim: &mut Claim) -> Option<()> {
        let state = &self.gl.state;
        let start = claim.len();
        claim.push(0);
        match on {
            On::Program => {
                let relinked = &self.gl.shared.notes.relinked;
                claim.extend([
                    self.gl.objects.program_in_use()?,
                    relinked.load(Ordering::Acquire),
                ]);
            }
            On::Named(program) => {
                // One that is deleted may end at any time.
                let relinked = self.gl.shared.notes.relinked.load(Ordering::Acquire);
                let lives = self.gl.shared.programs().has_program(program);
                claim.extend(lives.then_some([program, relinked])?);
            }
            On::Sampler(name) => {
                let names = self.gl.shared.names();
                names.samplers.is_taken(name).then_some(())?;
            }
            On::Unfollowed => return None,
            On::Drawing => self.put_framebuffer(gl::GL_DRAW_FRAMEBUFFER, claim)?,
            On::Reading => self.put_framebuffer(gl::GL_READ_FRAMEBUFFER, claim)?,
            On::Target(target) => self.put_framebuffer(target, claim)?,
            On::Texture(target) => {
                if self.unpack_buffer() != 0 {
                    return None;
                }
                let name = state.texture_bound_for(target)?;
                claim.push(name);
                claim.extend(self.gl.shared.images().texture(name));
            }
            On::Image(Class::Renderbuffer, name) => {
                claim.extend(self.gl.shared.images().renderbuffer(name))
            }
            On::Image(_, name) => claim.extend(self.gl.shared.images().texture(name)),
            On::Renderbuffer => {
                let name = state.renderbuffer_bound()?;
                claim.push(name);
                claim.extend(self.gl.shared.images().renderbuffer(name));
            }
        }
        // How many there are, so that lists of several lengths follow each other without doubt.
        claim[start] = (claim.len() - start) as u32;
        Some(())
    }

    /// An image changes by a command that is written but not sent. Until it is, other contexts of
    /// the group may claim what holds no more then, so that the change counts once more.
    pub fn image_changes(&mut self, change: Change) {
        self.gl.shared.images().apply(change);
        if self.has_company() {
            self.gl.claims.to_tell.push(change);
        }
    }

    /// The same of uniforms of a program, where other contexts use it.
    pub fn integers_change(&mut self, program: u32) {
        self.gl.shared.programs().integers_told(program);
        if !self.gl.claims.programs_to_tell.contains(&program) {
            self.gl.claims.programs_to_tell.push(program);
        }
    }

    /// Whether other contexts use the same objects.
    pub fn has_company(&self) -> bool {
        Arc::strong_count(&self.gl.shared) > 1
    }

    /// The written commands are on their way: earlier claims of other contexts no longer hold.
    pub fn tell_changes(&mut self) {
        if self.gl.claims.changes_told != self.enc.changes {
            self.gl.claims.changes_told = self.enc.changes;
            if self.has_company() {
                self.gl.shared.notes.changed.fetch_add(1, Ordering::Release);
            }
        }
        if !self.gl.claims.to_tell.is_empty() {
            let mut images = self.gl.shared.images();
            (self.gl.claims.to_tell.drain(..)).for_each(|change| images.apply(change));
        }
        if !self.gl.claims.programs_to_tell.is_empty() {
            let mut programs = self.gl.shared.programs();
            (self.gl.claims.programs_to_tell.drain(..)).for_each(|it| programs.integers_told(it));
        }
    }
}
