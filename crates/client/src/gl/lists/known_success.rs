//! Calls of display lists that certainly raise no error.

use crate::context::Context;
use crate::shadow::known_success::SuccessKey;
use crate::shadow::lists::predictable::PredictableList;
use mgn_wire::{gl, ops};
use std::sync::Arc;

/// Lists that are about to be called and can only fail for what the shadow sees when it carries
/// them out.
pub(super) struct Called {
    /// The doubts before them.
    before: u16,
    /// `Encoder::changes` before them.
    changes: u32,
    /// The keys of lists that draw, unless the draws are certain to succeed; none where there is no
    /// such key.
    success_keys: Option<Vec<SuccessKey>>,
}

impl Context {
    /// Call this before lists are called. None if they may change state on which other commands'
    /// success depends, or if that need not be known.
    pub(super) fn before_lists(&mut self, names: impl Iterator<Item = u32>) -> Option<Called> {
        if !self.gl.known_success.is_wanted()
            || self.gl.in_begin()
            || self.gl.lists.is_open()
            || self.gl.debug.is_heard()
        {
            return None;
        }
        let lists = self.gl.shared.lists().predictable_lists(names)?;
        // Their commands do not change the state on which this depends.
        let success_keys = match lists.iter().any(|list| list.draws || list.draws_pixels) {
            true if !self.draw_cannot_fail(gl::GL_TRIANGLES) => self.success_keys_of_lists(&lists),
            _ => Some(Vec::new()),
        };
        Some(Called {
            before: self.before_judged(),
            changes: self.enc.changes,
            success_keys,
        })
    }

    fn success_keys_of_lists(&self, lists: &[Arc<PredictableList>]) -> Option<Vec<SuccessKey>> {
        // Pixels are not drawn where the raster position is invalid, so that nothing is learned
        // there.
        if lists.iter().any(|list| list.draws_pixels) {
            return None;
        }
        let drawing = lists.iter().filter(|list| list.draws);
        let what = |list: &Arc<PredictableList>| [ops::GL_CALL_LIST.into(), list.number];
        drawing
            .map(|list| self.draw_success_key(what(list), 0))
            .collect()
    }

    /// The lists have been called, by the shadow too.
    pub(super) fn after_lists(&mut self, called: Called) {
        self.enc.changes = called.changes;
        let fails = self.gl.state.take_doubt();
        if let Some(success_keys) = called.success_keys.filter(|_| !fails) {
            self.record_all_sent(called.before, success_keys);
        }
    }
}
