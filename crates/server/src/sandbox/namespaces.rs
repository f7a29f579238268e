//! Namespaces of a worker: a network without interfaces or abstract sockets of others, memory and
//! message queues of System V that nobody else has, and a host name of its own.
//!
//! Landlock and seccomp close most of this already. Namespaces also hold where a kernel lacks these.
//! What namespaces of mounts and processes would hide, Landlock and seccomp keep a worker from.

use super::{Level, Profile};
use mgn_sys::process::enter_namespaces;
use rustix::process::{getegid, geteuid};
use rustix::thread::UnshareFlags as Kinds;
use std::{fs, io};

/// Moves this process, which must have one thread, into namespaces of its own. An ordinary user
/// may only do so together with a namespace of users, in which the user's number stays the same.
pub(super) fn enter(profile: &Profile) -> Result<&'static str, String> {
    if profile.level != Level::Full {
        return Err("the driver did not open in them".into());
    }
    let mut kinds = Kinds::NEWIPC | Kinds::NEWUTS;
    // Displays and viewers are in the server's network.
    kinds.set(Kinds::NEWNET, !profile.connects());
    let how = match profile.connects() {
        true => " but for the network",
        false => "",
    };
    let refused = |error: io::Error| format!("refused: {error}");
    if geteuid().is_root() {
        enter_namespaces(kinds).map_err(refused)?;
        return Ok(how);
    }
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    enter_namespaces(kinds | Kinds::NEWUSER).map_err(refused)?;
    let files = [
        ("setgroups", "deny".into()),
        ("uid_map", format!("{user} {user} 1")),
        ("gid_map", format!("{group} {group} 1")),
    ];
    for (file, text) in files {
        fs::write(format!("/proc/self/{file}"), text).map_err(refused)?;
    }
    Ok(how)
}
