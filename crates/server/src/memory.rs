//! How much memory the sessions of a server may use together.

use rustix::system::sysinfo;
use std::fs;
use std::path::{Path, PathBuf};

/// What a session counts for at least: one that has just begun uses little, and soon uses more.
pub(crate) const RESERVE: u64 = 64 << 20;

/// What sessions may use together unless the options say otherwise: three quarters of the memory of
/// this machine, or of the control group of this process if that has less.
pub fn memory_total() -> u64 {
    let info = sysinfo();
    let machine = info.totalram as u64 * u64::from(info.mem_unit.max(1));
    let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let most = group_limit(Path::new("/sys/fs/cgroup"), &own).map_or(machine, |g| g.min(machine));
    most / 4 * 3
}

/// The lowest `memory.max` of a control group (of version 2) and of those that contain it. `own` is
/// the content of `/proc/self/cgroup`.
fn group_limit(root: &Path, own: &str) -> Option<u64> {
    let group = own.lines().find_map(|line| line.strip_prefix("0::/"))?;
    let group: PathBuf = root.join(group);
    let within = group
        .ancestors()
        .take_while(|folder| folder.starts_with(root));
    let limit = |folder: &Path| {
        let text = fs::read_to_string(folder.join("memory.max")).ok()?;
        text.trim().parse().ok()
    };
    within.filter_map(limit).min()
}

/// What a session that uses so much counts for.
pub(crate) fn counted(used: u64) -> u64 {
    used.max(RESERVE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_narrowest_group_counts() {
        let root = std::env::temp_dir().join(format!("mgn-groups-{}", std::process::id()));
        let inner = root.join("system.slice/mgn.service");
        fs::create_dir_all(&inner).unwrap();
        let own = "4:memory:/elsewhere\n0::/system.slice/mgn.service\n";
        assert_eq!(group_limit(&root, own), None);
        fs::write(inner.join("memory.max"), "max\n").unwrap();
        assert_eq!(group_limit(&root, own), None);
        fs::write(root.join("system.slice/memory.max"), "1000\n").unwrap();
        assert_eq!(group_limit(&root, own), Some(1000));
        fs::write(inner.join("memory.max"), "2000\n").unwrap();
        assert_eq!(group_limit(&root, own), Some(1000));
        fs::write(inner.join("memory.max"), "500\n").unwrap();
        assert_eq!(group_limit(&root, own), Some(500));
        assert_eq!(group_limit(&root, "4:memory:/elsewhere\n"), None);
        fs::remove_dir_all(&root).unwrap();
    }

    #[test]
    fn this_machine_has_memory() {
        assert!(memory_total() > RESERVE);
    }
}
