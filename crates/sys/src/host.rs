//! The identity of the host of this process.

use std::fs;
use std::io;

/// Identifies the running system, by its boot, and the network namespace. Processes with the same
/// identity can connect to each other's abstract sockets.
pub fn identity() -> io::Result<String> {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id")?;
    let network = fs::read_link("/proc/self/ns/net")?;
    Ok(format!("{} {}", boot.trim(), network.display()))
}
