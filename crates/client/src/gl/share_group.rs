//! What the contexts of a share group have in common.

use super::buffers::Buffers;
use super::framebuffers::Images;
use super::lists::Known;
use super::names::SharedNames;
use super::objects::{Notes, Programs};
use std::sync::{Arc, Mutex, MutexGuard};

/// What the contexts of a share group have in common.
#[derive(Default)]
pub struct Shared {
    pub names: Mutex<SharedNames>,
    pub buffers: Mutex<Buffers>,
    pub programs: Mutex<Programs>,
    pub images: Mutex<Images>,
    pub notes: Notes,
    /// Held from when writes to persistent mappings are collected until what relies on them was
    /// sent.
    pub turn: Mutex<()>,
    /// What the shadows of their states have in common.
    pub state: Arc<mgn_state::Shared>,
    lists: Mutex<Known>,
}

impl Shared {
    /// What is known of the group's display lists, locked.
    pub fn lists(&self) -> MutexGuard<'_, Known> {
        self.lists.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// The group's names, locked.
    pub fn names(&self) -> MutexGuard<'_, SharedNames> {
        self.names.lock().unwrap_or_else(|e| e.into_inner())
    }
}
