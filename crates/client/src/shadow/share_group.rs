//! The state that the contexts of a share group share.

use super::buffers::table::Buffers;
use super::framebuffers::Images;
use super::lists::Known;
use super::names::SharedNames;
use super::notes::Notes;
use super::objects::programs::Programs;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard};

/// The state that the contexts of a share group share.
#[derive(Default)]
pub struct Shared {
    names: Mutex<SharedNames>,
    buffers: Mutex<Buffers>,
    programs: Mutex<Programs>,
    images: Mutex<Images>,
    pub notes: Notes,
    /// Locked from the collection of writes to persistent mappings until the messages that rely on
    /// them have been sent.
    pub turn: Mutex<()>,
    /// The state that their shadows share.
    pub state: Arc<mgn_state::Shared>,
    lists: Mutex<Known>,
}

impl Shared {
    /// The known state of the group's display lists, locked.
    pub fn lists(&self) -> MutexGuard<'_, Known> {
        self.lists.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// The group's names, locked.
    pub fn names(&self) -> MutexGuard<'_, SharedNames> {
        self.names.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// The group's programs, locked. Not held while something is sent or awaited.
    pub fn programs(&self) -> MutexGuard<'_, Programs> {
        self.programs.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// The known state of the group's images, locked.
    pub fn images(&self) -> MutexGuard<'_, Images> {
        self.images.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// The group's buffer objects, locked. Not held while something is sent or awaited.
    pub fn buffers(&self) -> MutexGuard<'_, Buffers> {
        self.buffers.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Whether buffers have mappings that persist while the server uses them.
    pub fn has_persistent(&self) -> bool {
        self.notes.persistent.load(Ordering::Relaxed) != 0
    }
}
