//! Calls of plain display lists. On a wall the client keeps the bounds of their draws, so that a
//! call is sent only to the renderers whose tiles it touches. The state that it sets is sent to
//! all.

use crate::context::Context;
use crate::shadow::arrays::tree::EVERYONE;
use crate::shadow::lists::plain::{kind, Plain};
use std::sync::Arc;

impl Context {
    /// Watches the list that was just begun.
    pub(super) fn watch_list(&mut self) {
        let sorts = self.may_sort();
        self.gl.lists.watch(sorts, self.enc.cursor());
    }

    /// Follows the written records of the list, before they are sent.
    pub fn follow_compiled(&mut self) {
        let to = self.enc.cursor() as usize;
        let Some(from) = self.gl.lists.written(to) else {
            return;
        };
        // SAFETY: those records lie there, in the message that is being written.
        let records = unsafe { std::slice::from_raw_parts(from as *const u8, to - from) };
        self.gl.lists.follow(records);
    }

    /// The plain lists, if they are called now and not compiled into another list. Empty if any of
    /// them is not plain.
    pub(super) fn plain_lists(&self, names: impl Iterator<Item = u32>) -> Vec<Arc<Plain>> {
        if !self.may_sort() || self.gl.in_begin() || self.gl.lists.is_open() {
            return Vec::new();
        }
        self.gl.shared.lists().plain(names).unwrap_or_default()
    }

    /// The tiles that a call of these lists touches.
    pub(super) fn tiles_of_lists(&mut self, lists: &[Arc<Plain>]) -> u64 {
        let draws = lists.iter().any(|plain| !plain.modes.is_empty());
        if !draws || self.gl.debug.is_heard() {
            return EVERYONE;
        }
        let mut tiles = 0;
        for plain in lists {
            for mode in &plain.modes {
                tiles |= self.tiles_within(*mode, plain.bounds);
            }
        }
        tiles
    }

    /// Sends all renderers the state that lists leave, because some renderers have not called the
    /// lists.
    pub(super) fn leave_behind(&mut self, lists: &[Arc<Plain>]) {
        let mut left: Vec<&[u8]> = Vec::new();
        for (_, record) in lists.iter().rev().flat_map(|list| list.leaves.iter().rev()) {
            let is_last = |kind| !left.iter().any(|later| later.starts_with(kind));
            if kind(record).is_some_and(is_last) {
                left.push(record);
            }
        }
        for record in left.into_iter().rev() {
            // SAFETY: the context's own encoder gives the room, and a record fits.
            unsafe {
                let to = self.enc.room(record.len());
                to.copy_from_nonoverlapping(record.as_ptr(), record.len());
            }
        }
    }
}
