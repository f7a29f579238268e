//! Calls of display lists that certainly raise no error.

use crate::context::Context;
use crate::shadow::known_success::SuccessKey;
use crate::shadow::lists::predictable::PredictableList;
use mgn_wire::{gl, ops};
use std::sync::Arc;

/// Lists that are about to be called. They can only fail in ways that the shadow sees when it
/// executes them.
pub(super) struct Called {
    /// The doubt before the call.
    before: u16,
    /// `Encoder::changes` before the call.
    changes: u32,
    /// The keys of the lists that draw; empty if the draws are certain to succeed. None if there is
    /// no such key.
    success_keys: Option<Vec<SuccessKey>>,
}

impl Context {
    /// Call this before lists are called. None if the lists may change state that affects the
    /// success of other commands, or if nobody needs to know.
    pub(super) fn before_lists(&mut self, names: impl Iterator<Item = u32>) -> Option<Called> {
        if !self.gl.known_success.is_wanted()
            || self.gl.in_begin()
            || self.gl.lists.is_open()
            || self.gl.debug.is_heard()
        {
            return None;
        }
        let lists = self.gl.shared.lists().predictable_lists(names)?;
        // The lists' own commands do not change the state on which this depends.
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
        // With an invalid raster position no pixels are drawn, so that their success proves
        // nothing.
        if lists.iter().any(|list| list.draws_pixels) {
            return None;
        }
        let drawing = lists.iter().filter(|list| list.draws);
        let what = |list: &Arc<PredictableList>| [ops::GL_CALL_LIST.into(), list.number];
        drawing
            .map(|list| self.draw_success_key(what(list), 0))
            .collect()
    }

    /// Call this after the lists have been called, and executed by the shadow.
    pub(super) fn after_lists(&mut self, called: Called) {
        self.enc.changes = called.changes;
        let fails = self.gl.state.take_doubt();
        if let Some(success_keys) = called.success_keys.filter(|_| !fails) {
            self.record_all_sent(called.before, success_keys);
        }
    }
}
