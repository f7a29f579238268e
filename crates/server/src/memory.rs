//! How much memory the sessions of a server may use together.

use mgn_fabric::admission::Source;
use mgn_sys::control_group::ControlGroup;
use rustix::system::sysinfo;

/// The least that a session counts for: one that has just begun uses little, and soon uses more.
pub(crate) const RESERVE: u64 = 64 << 20;

/// The memory that all sessions may use together by default: three quarters of the memory of this
/// machine, or of the control group of this process if that has less.
pub fn memory_total() -> u64 {
    let info = sysinfo();
    let machine = info.totalram as u64 * u64::from(info.mem_unit.max(1));
    let group = ControlGroup::own();
    let limits = group.texts("memory.max");
    let most = narrowest(limits).map_or(machine, |limit| limit.min(machine));
    most / 4 * 3
}

/// The lowest of the limits. Some groups have none (`max`).
fn narrowest(limits: impl Iterator<Item = String>) -> Option<u64> {
    limits.filter_map(|text| text.trim().parse().ok()).min()
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
        let limits = |texts: &[&str]| narrowest(texts.iter().map(|text| text.to_string()));
        assert_eq!(limits(&[]), None);
        assert_eq!(limits(&["max\n"]), None);
        assert_eq!(limits(&["max\n", "1000\n"]), Some(1000));
        assert_eq!(limits(&["2000\n", "1000\n"]), Some(1000));
        assert_eq!(limits(&["500\n", "1000\n"]), Some(500));
    }

    #[test]
    fn this_machine_has_memory() {
        assert!(memory_total() > RESERVE);
    }
}
