//! The processes of this machine, and their parents.

use std::fs;

/// The ids of all processes.
///
/// # Panics
/// If there is no `/proc`.
pub fn processes() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").expect("a Linux").flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

pub fn parent(of: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{of}/stat")).ok()?;
    let (_, after) = stat.rsplit_once(')')?;
    after.split_ascii_whitespace().nth(1)?.parse().ok()
}

pub fn children(of: u32) -> Vec<u32> {
    processes().filter(|pid| parent(*pid) == Some(of)).collect()
}
