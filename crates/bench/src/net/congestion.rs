//! The congestion control of TCP.

use std::fs;

/// The file with the congestion control of TCP. Each network namespace has its own value.
pub const FILE: &str = "/proc/sys/net/ipv4/tcp_congestion_control";

/// The congestion control of the network in which this process runs.
pub fn control() -> String {
    let name = fs::read_to_string(FILE).unwrap_or_default();
    name.trim().to_string()
}
