//! Where this process runs.

use std::fs;

use crate::protocol::Whereabouts;

impl Whereabouts {
    /// The whereabouts of this process.
    pub fn here() -> Whereabouts {
        let host_name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        Whereabouts {
            host: mgn_sys::host::identity().unwrap_or_default(),
            uid: mgn_sys::peer::own_uid(),
            host_name: host_name.trim().into(),
        }
    }
}

/// Free memory of this machine, in MiB.
pub fn free_memory() -> u64 {
    let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    number
        .and_then(|number| number.parse::<u64>().ok())
        .map_or(0, |kib| kib >> 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_process_is_in_one_place() {
        let here = Whereabouts::here();
        assert_eq!(here, Whereabouts::here());
        assert!(
            here.host.len() > 40 && here.host.contains("net:["),
            "{here:?}"
        );
        assert!(free_memory() > 0);
    }
}
