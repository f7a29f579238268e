//! The identity of a worker, and its rights in the kernel: its user, its capabilities, its limits.

use super::{Level, Profile, NOT_FULL};
use rustix::fs::{Gid, Uid};
use rustix::process::{geteuid, getrlimit, setrlimit, Resource, Rlimit};
use rustix::thread::{
    capabilities, clear_ambient_capability_set, remove_capability_from_bounding_set,
    set_capabilities, set_no_new_privs, set_thread_groups, set_thread_res_gid, set_thread_res_uid,
    CapabilitySet, CapabilitySets,
};
use std::fs;
use std::os::unix::fs::MetadataExt;

/// The user and the group of workers whose server is root. Linux distributions, systemd and
/// containers give out no numbers between 1879048192 and 2147483647. All workers have the same one,
/// so that they share a shader cache; the other parts of the sandbox keep them from reaching each
/// other.
const WORKER: u32 = 1_900_000_000;

/// The maximum number of open files. Sessions have sockets and memory; drivers have devices and
/// buffers.
const FILES_MOST: u64 = 4096;
/// How much higher than its server's a worker's OOM score is. The kernel ends processes with a
/// higher score first.
const OOM_STEP: i32 = 200;

/// The user that a worker becomes.
pub(super) struct NewUser {
    pub uid: Uid,
    pub gid: Gid,
    /// The groups of devices that the driver may open.
    groups: Vec<Gid>,
}

/// The user that this process shall become, or why it keeps its user.
pub(super) fn new_user(profile: &Profile) -> Result<NewUser, String> {
    if !geteuid().is_root() {
        return Err("the server is not root".into());
    }
    if profile.level != Level::Full {
        return Err(NOT_FULL.into());
    }
    if profile.writes() || profile.has_windows {
        return Err("the session has files or windows of the server's user".into());
    }
    // Without KILL, the server could not end a worker of another user.
    let needed = CapabilitySet::SETUID | CapabilitySet::SETGID | CapabilitySet::KILL;
    let has_all = capabilities(None).is_ok_and(|has| has.effective.contains(needed));
    if !has_all {
        return Err("the server may not change users".into());
    }
    // Such a folder may be in root's home, for example, which other users cannot access.
    if super::files::names_drivers() {
        return Err("the environment names folders of drivers".into());
    }
    let mut groups = Vec::new();
    for device in super::files::gpu_devices() {
        let Ok(meta) = fs::metadata(&device) else {
            continue;
        };
        let mode = meta.mode();
        if meta.is_dir() || mode & 0o006 == 0o006 {
            continue;
        }
        if mode & 0o060 != 0o060 || meta.gid() == 0 {
            return Err(format!("only root may use {}", device.display()));
        }
        let gid = Gid::from_raw(meta.gid());
        if !groups.contains(&gid) {
            groups.push(gid);
        }
    }
    Ok(NewUser {
        uid: Uid::from_raw(WORKER),
        gid: Gid::from_raw(WORKER),
        groups,
    })
}

pub(super) fn become_user(user: NewUser) -> Result<String, String> {
    let refused = |error| format!("refused: {error}");
    // This fails in a container that lacks these numbers or does not let groups change. The worker
    // then stays root, with root's files.
    set_thread_groups(&user.groups).map_err(refused)?;
    set_thread_res_gid(user.gid, user.gid, user.gid).map_err(refused)?;
    set_thread_res_uid(user.uid, user.uid, user.uid).map_err(refused)?;
    Ok(format!(" ({})", user.uid.as_raw()))
}

/// Gives up all capabilities permanently.
pub(super) fn drop_capabilities(profile: &Profile) -> Result<String, rustix::io::Errno> {
    // Folders and displays that root is told to use may belong to other users, and DAC_OVERRIDE
    // gives access to them. Landlock limits this to the files that the profile names. Without
    // Landlock, the worker does not get the capability.
    let has_rules = profile.level >= Level::Reduced;
    let uses_others = has_rules && (profile.writes() || profile.has_windows);
    let keep = match geteuid().is_root() && uses_others {
        true => CapabilitySet::DAC_OVERRIDE,
        false => CapabilitySet::empty(),
    };
    let has = capabilities(None)?;
    if has.permitted.contains(CapabilitySet::SETPCAP) {
        for number in 0..u64::BITS {
            let one = CapabilitySet::from_bits_retain(1 << number);
            // Fails at the first number that this kernel does not have.
            if remove_capability_from_bounding_set(one).is_err() {
                break;
            }
        }
    }
    // Kernels without ambient capabilities have none to clear.
    let _ = clear_ambient_capability_set();
    let keep = keep & has.permitted;
    let sets = CapabilitySets {
        effective: keep,
        permitted: keep,
        inheritable: CapabilitySet::empty(),
    };
    set_capabilities(None, sets)?;
    Ok(match keep.is_empty() {
        true => "",
        false => " but for files of others",
    }
    .into())
}

/// Ensures that programs that this process starts never gain privileges, and that other processes
/// of the same user can neither look into this one nor get its memory when it crashes.
pub(super) fn forbid_privileges() -> std::io::Result<&'static str> {
    set_no_new_privs(true)?;
    mgn_sys::process::hide_memory()?;
    Ok("")
}

/// Limits how much of the machine a session may use. A limit that is already lower stays.
pub(super) fn limit() {
    let lower = |resource, most: u64| {
        let limit = getrlimit(resource);
        let lower = |limit: Option<u64>| Some(limit.map_or(most, |limit| limit.min(most)));
        let lowered = Rlimit {
            current: lower(limit.current),
            maximum: lower(limit.maximum),
        };
        if let Err(error) = setrlimit(resource, lowered) {
            tracing::debug!("a limit stays: {error}");
        }
    };
    // Processes are not limited, because the kernel counts them per user. The length of files is
    // limited later, when the session is known.
    lower(Resource::Nofile, FILES_MOST);
    let file = "/proc/self/oom_score_adj";
    let own = fs::read_to_string(file).ok();
    let own = own.and_then(|text| text.trim().parse::<i32>().ok());
    let Some(own) = own else { return };
    if let Err(error) = fs::write(file, (own + OOM_STEP).min(1000).to_string()) {
        tracing::debug!("{file} cannot be written: {error}");
    }
}
