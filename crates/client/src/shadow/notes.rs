//! Counters and flags that the contexts of a share group share without a lock.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// Counters and flags that the contexts of a share group share without a lock.
#[derive(Default)]
pub struct Notes {
    /// Counts releases of shared names.
    pub released: AtomicU32,
    /// Counts programs that were linked or deleted.
    pub relinked: AtomicU32,
    /// Counts announced changes on which the known successes of other contexts may depend.
    pub changed: AtomicU32,
    /// The number of mapped buffers.
    pub mapped: AtomicU32,
    /// The number of mappings that persist while the server uses the buffer.
    pub persistent: AtomicU32,
    /// A display list contains the use of a program.
    pub listed_programs: AtomicBool,
    /// A display list contains the use of a program that reads `gl_VertexID`, `gl_PrimitiveID` or
    /// `gl_DrawID`.
    pub listed_ids: AtomicBool,
}

impl Notes {
    /// How often names have been released.
    pub fn releases(&self) -> u32 {
        self.released.load(Ordering::Acquire)
    }

    /// Whether any buffer is mapped so that draws from it are errors.
    pub fn are_locked(&self) -> bool {
        let load = |count: &AtomicU32| count.load(Ordering::Relaxed);
        load(&self.mapped) != load(&self.persistent)
    }

    /// A mapping begins.
    pub fn mapping_begins(&self, is_persistent: bool) {
        self.mapped.fetch_add(1, Ordering::Relaxed);
        self.persistent
            .fetch_add(is_persistent.into(), Ordering::Relaxed);
    }

    /// A mapping ended.
    pub fn mapping_ended(&self, is_persistent: bool) {
        self.mapped.fetch_sub(1, Ordering::Relaxed);
        self.persistent
            .fetch_sub(is_persistent.into(), Ordering::Relaxed);
    }
}
