//! Bounds of draws from buffers, which are computed once for the same contents.

use super::tree::Tree;
use crate::memory::positions::Positions;
use std::collections::HashMap;
use std::sync::Arc;

/// The bounds of at least this number of blocks are kept, and of at most twice as many.
const BLOCKS_KEPT: usize = 1 << 17;

/// Bounds of blocks of draws from buffers.
#[derive(Default)]
pub struct Known {
    bounds: HashMap<Key, Arc<Tree>>,
    blocks: usize,
    /// The previous generation of bounds. Bounds that are not used again, such as those of changed
    /// contents, are dropped with it.
    before: HashMap<Key, Arc<Tree>>,
}

/// The values that bounds depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Key {
    pub positions: (u64, Positions),
    /// The number of the contents, the offset of the indices, their type, and the base vertex.
    pub indices: Option<(u64, usize, u32, i32)>,
    pub restart: Option<u32>,
    pub first: usize,
    pub count: usize,
    pub overlap: Option<usize>,
}

impl Known {
    /// The remembered bounds; otherwise computes them with `find`.
    pub fn bounds(&mut self, key: Key, find: impl FnOnce() -> Option<Tree>) -> Option<Arc<Tree>> {
        if let Some(bounds) = self.bounds.get(&key) {
            return Some(bounds.clone());
        }
        let bounds = match self.before.remove(&key) {
            Some(bounds) => bounds,
            None => Arc::new(find()?),
        };
        if self.blocks + bounds.len() > BLOCKS_KEPT {
            self.before = std::mem::take(&mut self.bounds);
            self.blocks = 0;
        }
        self.blocks += bounds.len();
        self.bounds.insert(key, bounds.clone());
        Some(bounds)
    }
}
