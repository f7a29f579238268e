//! The limits of this process's control group (version 2), as services and containers set them.

use std::fs;
use std::path::{Path, PathBuf};

/// A control group, and the groups that contain it. The limits of all of them apply.
pub struct ControlGroup {
    folders: Vec<PathBuf>,
}

impl ControlGroup {
    /// The group of this process.
    pub fn own() -> ControlGroup {
        let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        ControlGroup::within(Path::new("/sys/fs/cgroup"), &own)
    }

    /// The group below `root` that `own`, the content of `/proc/self/cgroup`, names.
    pub fn within(root: &Path, own: &str) -> ControlGroup {
        let group = own.lines().find_map(|line| line.strip_prefix("0::/"));
        let folders = group.map_or_else(Vec::new, |group| {
            let group = root.join(group);
            let all = group.ancestors().map(Path::to_owned);
            all.take_while(|folder| folder.starts_with(root)).collect()
        });
        ControlGroup { folders }
    }

    /// The contents of the files with this name, for example `memory.max`, from the group itself to
    /// the outermost one. Groups without such a file are left out.
    pub fn texts<'a>(&'a self, file: &'a str) -> impl Iterator<Item = String> + 'a {
        let read = move |folder: &PathBuf| fs::read_to_string(folder.join(file)).ok();
        self.folders.iter().filter_map(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_from_the_inside_out() {
        let root = std::env::temp_dir().join(format!("mgn-groups-{}", std::process::id()));
        let inner = root.join("system.slice/mgn.service");
        fs::create_dir_all(&inner).unwrap();
        let texts = |own: &str| {
            let group = ControlGroup::within(&root, own);
            group.texts("memory.max").collect::<Vec<_>>()
        };
        let own = "4:memory:/elsewhere\n0::/system.slice/mgn.service\n";
        assert!(texts(own).is_empty());
        fs::write(root.join("system.slice/memory.max"), "1000\n").unwrap();
        assert_eq!(texts(own), ["1000\n"]);
        fs::write(inner.join("memory.max"), "max\n").unwrap();
        fs::write(root.join("memory.max"), "9\n").unwrap();
        assert_eq!(texts(own), ["max\n", "1000\n", "9\n"]);
        assert_eq!(texts("0::/\n"), ["9\n"]);
        assert!(texts("4:memory:/elsewhere\n").is_empty());
        fs::remove_dir_all(&root).unwrap();
    }
}
