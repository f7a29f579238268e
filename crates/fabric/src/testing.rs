//! Helpers for unit tests.

use std::path::{Path, PathBuf};

pub(crate) use mgn_fuzzing::Random;

/// A private folder that is removed when dropped.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Folder {
        let mut name = [0; 8];
        crate::token::random(&mut name);
        let path = std::env::temp_dir().join(format!("mgn-test-{:x}", u64::from_ne_bytes(name)));
        std::fs::create_dir(&path).unwrap();
        Folder(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The number of repetitions: `many`, or `few` under Miri, which takes a thousand times as long.
pub(crate) fn times(many: u64, few: u64) -> u64 {
    if cfg!(miri) {
        few
    } else {
        many
    }
}
