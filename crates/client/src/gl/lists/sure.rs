//! Calls of display lists that certainly raise no error.

use crate::context::Context;
use crate::shadow::claims::Claim;
use crate::shadow::lists::sure::Sure;
use mgn_wire::{gl, ops};
use std::sync::Arc;

/// Lists that are about to be called and can only fail for what the shadow sees when it carries
/// them out.
pub(super) struct Called {
    /// The doubts before them.
    before: u16,
    /// `Encoder::changes` before them.
    changes: u32,
    /// The claims of lists that draw, unless the draws are certain to succeed; none where such a
    /// claim cannot be made.
    claims: Option<Vec<Claim>>,
}

impl Context {
    /// Call this before lists are called. None if they may change state on which other commands'
    /// success depends, or if claims are not needed.
    pub(super) fn before_lists(&mut self, names: impl Iterator<Item = u32>) -> Option<Called> {
        if !self.gl.claims.are_wanted()
            || self.gl.in_begin()
            || self.gl.lists.is_open()
            || self.gl.debug.is_heard()
        {
            return None;
        }
        let lists = self.gl.shared.lists().sure_lists(names)?;
        // Their commands do not change the state on which this depends.
        let claims = match lists.iter().any(|list| list.draws || list.draws_pixels) {
            true if !self.draw_is_sure(gl::GL_TRIANGLES) => self.claims_of_lists(&lists),
            _ => Some(Vec::new()),
        };
        Some(Called {
            before: self.before_judged(),
            changes: self.enc.changes,
            claims,
        })
    }

    fn claims_of_lists(&self, lists: &[Arc<Sure>]) -> Option<Vec<Claim>> {
        // Pixels are not drawn where the raster position is invalid, so that nothing is learned
        // there.
        if lists.iter().any(|list| list.draws_pixels) {
            return None;
        }
        let drawing = lists.iter().filter(|list| list.draws);
        let what = |list: &Arc<Sure>| [ops::GL_CALL_LIST.into(), list.number];
        drawing.map(|list| self.draw_claim(what(list), 0)).collect()
    }

    /// The lists have been called, by the shadow too.
    pub(super) fn after_lists(&mut self, called: Called) {
        self.enc.changes = called.changes;
        let fails = self.gl.state.take_doubt();
        if let Some(claims) = called.claims.filter(|_| !fails) {
            self.all_claimed(called.before, claims);
        }
    }
}
