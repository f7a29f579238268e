//! Namespaces of a worker: a network without interfaces or abstract sockets of others, private
//! memory and message queues of System V, and a host name of its own.
//!
//! Landlock and seccomp stop most of this already; namespaces also help where the kernel lacks
//! them. There are no namespaces of mounts and processes: Landlock and seccomp keep a worker away
//! from files and from other processes.

use super::{Level, Profile, NOT_FULL};
use mgn_sys::process::enter_namespaces;
use rustix::process::{getegid, geteuid};
use rustix::thread::UnshareFlags as Kinds;
use std::fs;

/// Moves this process, which must have one thread, into namespaces of its own. An ordinary user may
/// only do so together with a user namespace, in which the user's number stays the same and all
/// others are unknown.
///
/// # Errors
/// If the system lets the process into them but does not let it keep its user's number there, as
/// some systems do with AppArmor. It is then the user nobody, so it must not continue.
pub(super) fn enter(profile: &Profile) -> Result<Result<&'static str, String>, String> {
    if profile.level != Level::Full {
        return Ok(Err(NOT_FULL.into()));
    }
    // An X server is reached in the server's network namespace, and identifies a local client by
    // its user.
    if profile.has_windows {
        return Ok(Err("the session has windows".into()));
    }
    let kinds = Kinds::NEWIPC | Kinds::NEWUTS | Kinds::NEWNET;
    let is_root = geteuid().is_root();
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    let entered = enter_namespaces(match is_root {
        true => kinds,
        false => kinds | Kinds::NEWUSER,
    });
    if let Err(error) = entered {
        return Ok(Err(format!("refused: {error}")));
    }
    if is_root {
        return Ok(Ok(""));
    }
    for (file, text) in [
        ("setgroups", "deny".into()),
        ("uid_map", format!("{user} {user} 1")),
        ("gid_map", format!("{group} {group} 1")),
    ] {
        fs::write(format!("/proc/self/{file}"), text)
            .map_err(|error| format!("/proc/self/{file} of a namespace of users: {error}"))?;
    }
    Ok(Ok(""))
}
