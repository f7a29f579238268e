//! The release of ParaView on this machine, if its IceT is one that the tests compare with.

use std::fs;
use std::path::PathBuf;

/// The file names of IceT's libraries in ParaView contain the release.
const RELEASES: [&str; 2] = ["5.11", "5.13"];

/// ParaView's IceT.
pub struct Release {
    pub name: &'static str,
    /// Where its libraries are.
    folder: PathBuf,
}

impl Release {
    pub fn find() -> Option<Release> {
        let folders = fs::read_dir("/usr/lib").ok()?.flatten();
        let folders: Vec<PathBuf> = folders.map(|entry| entry.path()).collect();
        RELEASES.into_iter().find_map(|name| {
            let mut releases = folders.iter().map(|folder| Release {
                name,
                folder: folder.clone(),
            });
            releases.find(|release| release.library("Core").is_file())
        })
    }

    /// The file name of IceT's library `kind`: `Core` or `MPI`.
    pub fn file(&self, kind: &str) -> String {
        format!("libvtkIceT{kind}-pv{}.so.1", self.name)
    }

    pub fn library(&self, kind: &str) -> PathBuf {
        self.folder.join(self.file(kind))
    }
}
