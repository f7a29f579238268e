//! How much memory the sessions of a server may use together.

use mgn_fabric::admission::Source;
use rustix::system::sysinfo;
use std::fs;
use std::path::{Path, PathBuf};

/// The least that a session counts for: one that has just begun uses little, and soon uses more.
pub(crate) const RESERVE: u64 = 64 << 20;

/// The memory that all sessions may use together by default: three quarters of the memory of this
/// machine, or of the control group of this process if that has less.
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

/// The memory that a session counts for if it uses `used`.
pub(crate) fn counted(used: u64) -> u64 {
    used.max(RESERVE)
}

/// A session's memory, and its owner.
#[derive(Debug, Clone)]
pub(crate) struct Share {
    /// The client's name, which is the same in later sessions.
    pub client: String,
    pub source: Source,
    pub memory: u64,
}

/// Which session must end so that the others have room: one of the client that uses the most in
/// all. Many people may share a token. So among its sessions it is one from the source that uses
/// the most, and among these the largest; the last one if several are equal.
pub(crate) fn too_much(shares: &[Share]) -> Option<usize> {
    let sum = |is_counted: &dyn Fn(&Share) -> bool| -> u64 {
        let counted = shares.iter().filter(|share| is_counted(share));
        counted.map(|share| share.memory).sum()
    };
    let weight = |share: &Share| {
        let of_client = sum(&|other| other.client == share.client);
        let from_there = sum(&|other| other.client == share.client && other.source == share.source);
        (of_client, from_there, share.memory)
    };
    let all = shares.iter().enumerate();
    all.max_by_key(|(_, share)| weight(share)).map(|(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{IpAddr, Ipv4Addr};

    fn shares<const N: usize>(all: [(&str, u8, u64); N]) -> Option<usize> {
        let share = |(client, host, memory): (&str, u8, u64)| Share {
            client: client.into(),
            source: IpAddr::from(Ipv4Addr::new(10, 0, 0, host)).into(),
            memory,
        };
        too_much(&all.map(share))
    }

    #[test]
    fn who_has_the_most_loses_the_largest() {
        assert_eq!(shares([]), None);
        // A client gains nothing by having many small sessions, even from several places.
        let one_and_many = [
            ("alice", 1, 50),
            ("bob", 2, 20),
            ("bob", 3, 25),
            ("bob", 4, 20),
        ];
        assert_eq!(shares(one_and_many), Some(2));
        // The same holds for clients that share a token.
        let shared = [
            ("all", 1, 50),
            ("all", 2, 30),
            ("all", 2, 35),
            ("bob", 2, 1),
        ];
        assert_eq!(shares(shared), Some(2));
        // If they are equal, the last session ends, because it has just come.
        assert_eq!(shares([("a", 1, 10), ("b", 2, 10)]), Some(1));
        assert_eq!(shares([("a", 1, 11), ("b", 2, 10)]), Some(0));
    }

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
