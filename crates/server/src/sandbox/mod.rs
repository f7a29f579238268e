//! The sandbox of a worker process: once it serves a client, it can do nothing that rendering does
//! not need.
//!
//! A client that takes over the driver's process can use the client's commands, the descriptors
//! that the worker holds, and the system calls that are left. So a worker confines itself in steps.
//!
//! The first comes before the driver is opened. Most parts of a sandbox apply to a thread and those
//! that it starts, not to a process: capabilities, Landlock, and for the kernel also users. Mesa
//! starts threads as it opens, and code that runs in one thread can take over the others of its
//! process. While the worker has one thread, one call is enough. The driver's needs while it opens
//! are known: to read libraries, and to open devices.
//!
//! The second comes when the client is known and before its first command is read. In all threads,
//! it reduces the system calls to those that this driver needs once it is open. Only seccomp can
//! change all threads on the kernels that are in use. A session whose tile is shown in a window
//! connects to the display after that and before the first command; then it can no longer connect
//! to anything. If several programs draw into the window, the worker can still connect, because
//! others come later.
//!
//! Landlock's rules can never be extended. So a session that needs more from the system than
//! rendering gets a worker that is started for it (`Profile`), and not one that is already open.
//!
//! Parts that the kernel lacks, or a container refuses, are left out, and the server's log says so.
//! No part is necessary for rendering.

mod calls;
mod files;
mod identity;
mod namespaces;

use crate::tile::folder_of;
use mgn_wall::Target;
use mgn_wire::hello::Shown;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::PathBuf;

/// The access that a worker's sandbox must leave open for its session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Profile {
    pub level: Level,
    /// Whether the worker must not go on unless its files and system calls are confined.
    pub is_required: bool,
    /// Folders that the server's stages write to.
    pub stages: Vec<PathBuf>,
    /// Folders that pictures of the session's tile are saved in.
    pub pictures: Vec<PathBuf>,
    /// Whether the tile has windows on X displays, and the TCP ports at which these are. Viewers
    /// need nothing here: the server connects to them.
    pub has_windows: bool,
    pub ports: Vec<u16>,
}

/// Ordered from the least to the most.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Level {
    /// No sandbox at all.
    Open,
    /// Like `Reduced`, but the driver opens every file that its user may.
    SystemCalls,
    /// All but a user and namespaces of its own.
    Reduced,
    #[default]
    Full,
}

impl Profile {
    /// The same profile, and access to the displays on which a tile is shown.
    pub fn showing<'a>(&self, shown: &Shown, targets: impl Iterator<Item = &'a Target>) -> Profile {
        let mut profile = self.clone();
        let names = shown.wall.tiles.iter().map(|tile| &tile.name);
        let name = names.into_iter().next();
        for target in targets {
            match target {
                Target::Program | Target::Viewer(_) => {}
                Target::Window { display, .. } => {
                    profile.has_windows = true;
                    profile.ports.extend(port_of(display));
                }
                Target::Files(folder) => {
                    let folder = name.and_then(|name| folder_of(folder, name));
                    profile.pictures.extend(folder);
                }
            }
        }
        profile
    }

    /// Whether the worker writes files that belong to the server's user.
    fn writes(&self) -> bool {
        !(self.stages.is_empty() && self.pictures.is_empty())
    }
}

/// The TCP port at which an X display may be reached, for any host.
fn port_of(display: &str) -> Option<u16> {
    let (_, number) = display.rsplit_once(':')?;
    let number = number.split('.').next()?;
    number.parse::<u16>().ok()?.checked_add(6000)
}

/// Why a part is left out below [`Level::Full`].
const NOT_FULL: &str = "the driver did not open with it";

/// The parts that `--require-sandbox` demands.
const FILES: &str = "files and TCP by Landlock";
const CALLS: &str = "system calls by seccomp";

/// The parts of a sandbox, in words.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confined {
    pub parts: Vec<String>,
    /// The parts that are not in force, and why.
    pub missing: Vec<String>,
}

impl Confined {
    /// Whether files and system calls are confined.
    pub fn holds(&self) -> bool {
        let has = |name| self.parts.iter().any(|part| part.starts_with(name));
        has(FILES) && has(CALLS)
    }

    fn note(&mut self, part: &str, done: Result<impl fmt::Display, impl fmt::Display>) {
        match done {
            Ok(how) => self.parts.push(format!("{part}{how}")),
            Err(why) => self.missing.push(format!("{part} ({why})")),
        }
    }
}

impl fmt::Display for Confined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.parts.is_empty() {
            true => f.write_str("nothing")?,
            false => f.write_str(&self.parts.join(", "))?,
        }
        match self.missing.is_empty() {
            true => Ok(()),
            false => write!(f, "; not in force: {}", self.missing.join(", ")),
        }
    }
}

/// Confines this process, which must have one thread, as far as it can be before the driver is
/// open.
///
/// # Errors
/// If the process is in a state in which it must not go on.
pub(crate) fn confine(profile: &Profile) -> Result<Confined, String> {
    let mut confined = Confined::default();
    if profile.level == Level::Open {
        return Ok(confined);
    }
    // The page size is stored now for the watchdog, because a process that others may not inspect
    // cannot read the file with it later.
    rustix::param::page_size();
    identity::limit();
    let (user, cache) = match identity::new_user(profile) {
        Err(why) => (Err(why), files::make_cache(None)),
        Ok(user) => match files::make_cache(Some(&user)) {
            Some(cache) => (Ok(user), Some(cache)),
            None => (
                Err("its shader cache cannot be made".into()),
                files::make_cache(None),
            ),
        },
    };
    for folder in &profile.pictures {
        // A rule needs a folder that exists. If the folder cannot be created, the code that opens
        // it reports that.
        let _ = std::fs::create_dir_all(folder);
    }
    // This comes before the process becomes another user, who does not see all the files that get
    // rules.
    let rules = match profile.level >= Level::Reduced {
        true => files::rules(profile, cache.as_deref()),
        false => Err(NOT_FULL.into()),
    };
    confined.note("namespaces of its own", namespaces::enter(profile)?);
    confined.note("a user of its own", user.and_then(identity::become_user));
    confined.note("no capabilities", identity::drop_capabilities(profile));
    confined.note("no new privileges", identity::forbid_privileges());
    let files = rules.and_then(files::enforce);
    let calls = calls::before_driver(profile);
    confined.note(FILES, files);
    confined.note(CALLS, calls);
    if profile.is_required && !confined.holds() {
        return Err(format!("this worker is confined by {confined}"));
    }
    // The driver and the renderer look here.
    if let Some(cache) = cache {
        std::env::set_var("XDG_CACHE_HOME", cache);
    }
    Ok(confined)
}

/// Confines all threads of this process to what it needs to serve a session with the driver that it
/// has opened. A file, in memory or not, may be as long as the session's memory limit. Unless this
/// step `is_last`, [`tighten_once_shown`] is to follow.
///
/// # Errors
/// If the process must not go on.
pub(crate) fn tighten(
    profile: &Profile,
    is_software: bool,
    memory_limit: u64,
    is_last: bool,
) -> Result<(), String> {
    if profile.level == Level::Open {
        return Ok(());
    }
    // Recordings that a server's stages write may be longer.
    if profile.stages.is_empty() {
        if let Err(error) = mgn_sys::process::limit_file_lengths(memory_limit) {
            tracing::debug!("lengths of files are not limited: {error}");
        }
    }
    // If the kernel does not support this, the first step has reported it.
    if let Err(error) = calls::after_driver(profile, is_software, is_last) {
        let why = format!("cannot restrict system calls further: {error}");
        if profile.is_required {
            return Err(why);
        }
        tracing::debug!("{why}");
    }
    Ok(())
}

/// The third step, if the session's tile has windows. They are open now, so the worker may no
/// longer connect to anything.
pub(crate) fn tighten_once_shown(profile: &Profile, is_software: bool) {
    if profile.level == Level::Open {
        return;
    }
    let rest = Profile {
        has_windows: false,
        ..profile.clone()
    };
    if let Err(error) = calls::after_driver(&rest, is_software, true) {
        tracing::warn!("the session's process can still connect to anything: {error}");
    }
}

/// The parts that a worker's sandbox can have on this machine, for a process that is not a worker.
/// For tests.
pub fn sandbox_parts() -> Result<String, String> {
    match (files::landlock_version(), calls::is_available()) {
        (Some(version), true) => Ok(format!("Landlock {version}, seccomp")),
        (None, true) => Err("seccomp only; the kernel has no Landlock".into()),
        (Some(version), false) => Err(format!("Landlock {version} only; seccomp is refused")),
        (None, false) => Err("the kernel has neither Landlock nor seccomp".into()),
    }
}

#[cfg(test)]
mod tests;
