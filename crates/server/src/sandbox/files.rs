//! Which files a worker may open, and where it may connect to: Landlock's part of the sandbox.

use super::identity::NewUser;
use super::Profile;
use landlock::{
    path_beneath_rules, Access, AccessFs, AccessNet, BitFlags, NetPort, PathFd, Ruleset,
    RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetError, RulesetStatus, Scope, ABI,
};
use rustix::fs::chown;
use std::env;
use std::fs::{self, DirBuilder};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

/// The newest version of Landlock whose rules are tested. On an older kernel, all rules that it
/// supports are used. Seccomp refuses connections to sockets with paths.
const VERSION: ABI = ABI::V6;

/// Where drivers, their libraries and their settings are. Files here are not secret, or not
/// readable by everybody.
const READ: &[&str] = &[
    "/usr",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/opt",
    "/nix/store",
    "/gnu/store",
    "/run/opengl-driver",
    "/run/opengl-driver-32",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/ld.so.preload",
    "/etc/alternatives",
    "/etc/drirc",
    "/etc/egl",
    "/etc/glvnd",
    "/etc/gbm",
    "/etc/vulkan",
    "/etc/OpenCL",
    "/etc/nvidia",
    "/etc/amd",
    "/etc/nsswitch.conf",
    "/etc/passwd",
    "/etc/group",
    "/etc/localtime",
    "/etc/locale.alias",
    "/sys/bus",
    "/sys/class",
    "/sys/dev",
    "/sys/devices",
    "/sys/fs/cgroup",
    "/sys/module",
    "/proc/self",
    "/proc/cpuinfo",
    "/proc/devices",
    "/proc/driver",
    "/proc/filesystems",
    "/proc/loadavg",
    "/proc/meminfo",
    "/proc/modules",
    "/proc/stat",
    "/proc/sys/kernel",
    "/proc/sys/vm",
    "/proc/version",
];

/// Further files that looking up a host's name needs.
const READ_FOR_NAMES: &[&str] = &[
    "/etc/gai.conf",
    "/etc/host.conf",
    "/etc/hostname",
    "/etc/hosts",
    "/etc/resolv.conf",
    "/etc/services",
    "/run/systemd/resolve",
];

const DEVICES: &[&str] = &[
    "/dev/full",
    "/dev/null",
    "/dev/random",
    "/dev/urandom",
    "/dev/zero",
];

/// The beginnings of the names, under `/dev`, of devices that graphics drivers open.
const GPU_DEVICES: &[&str] = &[
    "accel", "dma_heap", "dri", "dxg", "galcore", "kfd", "kgsl", "mali", "nvgpu", "nvhost",
    "nvidia", "nvmap", "pvr", "udmabuf",
];

/// Variables that name folders of drivers and of their settings.
const FOLDERS_OF_DRIVERS: &[&str] = &[
    "DRIRC_CONFIGDIR",
    "GBM_BACKENDS_PATH",
    "LD_LIBRARY_PATH",
    "LIBGL_DRIVERS_PATH",
    "VK_DRIVER_FILES",
    "VK_ICD_FILENAMES",
    "__EGL_EXTERNAL_PLATFORM_CONFIG_DIRS",
    "__EGL_VENDOR_LIBRARY_DIRS",
    "__EGL_VENDOR_LIBRARY_FILENAMES",
];

/// Where workers of a root server keep compiled shaders. They could not access root's home.
const ROOTS_CACHE: &str = "/var/cache/manganese";

/// The graphics devices of this machine, and folders of such devices.
pub(super) fn gpu_devices() -> Vec<PathBuf> {
    let all = fs::read_dir("/dev").into_iter().flatten().flatten();
    let is_gpu = |name: &str| GPU_DEVICES.iter().any(|start| name.starts_with(start));
    let all = all.filter(|entry| entry.file_name().to_str().is_some_and(is_gpu));
    let mut found: Vec<PathBuf> = all.map(|entry| entry.path()).collect();
    let nodes = fs::read_dir("/dev/dri").into_iter().flatten().flatten();
    found.extend(nodes.map(|entry| entry.path()));
    found
}

/// Whether environment variables name folders of drivers.
pub(super) fn names_drivers() -> bool {
    FOLDERS_OF_DRIVERS
        .iter()
        .any(|name| env::var_os(name).is_some_and(|value| !value.is_empty()))
}

fn home() -> Option<PathBuf> {
    env::var_os("HOME").map(PathBuf::from)
}

/// Makes the folder that workers keep compiled shaders in. The user's other programs have another
/// folder, because they would run, outside any sandbox, what a worker has put there.
pub(super) fn make_cache(user: Option<&NewUser>) -> Option<PathBuf> {
    let set = env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let own = || {
        let set = set.filter(|path| path.is_absolute());
        Some(
            set.or_else(|| Some(home()?.join(".cache")))?
                .join("manganese"),
        )
    };
    let parent = match user {
        Some(_) => PathBuf::from(ROOTS_CACHE),
        None => own()?,
    };
    let folder = parent.join("workers");
    let made = fs::create_dir_all(&parent).and_then(|()| {
        let mut builder = DirBuilder::new();
        builder.recursive(true).mode(0o700).create(&folder)?;
        let Some(user) = user else { return Ok(()) };
        if fs::symlink_metadata(&folder)?.uid() != user.uid.as_raw() {
            chown(&folder, Some(user.uid), Some(user.gid))?;
        }
        Ok(())
    });
    if let Err(error) = made {
        tracing::debug!("{} cannot be used: {error}", folder.display());
        return None;
    }
    Some(folder)
}

/// The rules for the files that exist now and that a worker may open.
pub(super) fn rules(profile: &Profile, cache: Option<&Path>) -> Result<RulesetCreated, String> {
    build(profile, cache).map_err(|error| error.to_string())
}

fn build(profile: &Profile, cache: Option<&Path>) -> Result<RulesetCreated, RulesetError> {
    let mut ruleset = Ruleset::default()
        .handle_access(AccessFs::from_all(VERSION))?
        .handle_access(AccessNet::from_all(VERSION))?
        .scope(Scope::Signal)?;
    if !profile.has_windows {
        ruleset = ruleset.scope(Scope::AbstractUnixSocket)?;
    }
    let read = AccessFs::ReadFile | AccessFs::ReadDir;
    let device = read | AccessFs::WriteFile | AccessFs::IoctlDev;
    let write = read
        | AccessFs::WriteFile
        | AccessFs::Truncate
        | AccessFs::MakeReg
        | AccessFs::MakeDir
        | AccessFs::RemoveFile;
    let cached = write | AccessFs::RemoveDir | AccessFs::Refer;
    let mut created = ruleset.create()?;
    // Files that do not exist get no rule.
    let mut allow = |paths: Vec<PathBuf>, access: BitFlags<AccessFs>| {
        let rules = path_beneath_rules(paths, access);
        (&mut created).add_rules(rules).map(drop)
    };
    let paths = |all: &[&str]| all.iter().map(PathBuf::from).collect::<Vec<_>>();
    allow(paths(READ), read)?;
    allow(read_elsewhere(profile), read)?;
    allow(paths(DEVICES), device)?;
    allow(gpu_devices(), device)?;
    allow(cache.map(PathBuf::from).into_iter().collect(), cached)?;
    allow(profile.stages.clone(), write)?;
    allow(profile.pictures.clone(), write)?;
    let mut ports = profile.ports.clone();
    if profile.has_windows {
        allow(paths(READ_FOR_NAMES), read)?;
        // Name servers send long answers over TCP.
        ports.push(53);
    }
    for port in ports {
        created = created.add_rule(NetPort::new(port, AccessNet::ConnectTcp))?;
    }
    Ok(created)
}

/// Further files to read that environment variables name.
fn read_elsewhere(profile: &Profile) -> Vec<PathBuf> {
    let in_home = |name: &str| home().map(|home| home.join(name));
    let mut paths: Vec<PathBuf> = in_home(".drirc").into_iter().collect();
    for name in FOLDERS_OF_DRIVERS {
        paths.extend(env::split_paths(&env::var_os(name).unwrap_or_default()));
    }
    if profile.has_windows {
        let named = env::var_os("XAUTHORITY").map(PathBuf::from);
        paths.extend(named.or_else(|| in_home(".Xauthority")));
    }
    paths.retain(|path| path.is_absolute());
    paths
}

/// Enforces the rules.
pub(super) fn enforce(rules: RulesetCreated) -> Result<String, String> {
    // The kernel forgets a file of /proc that no process has open, and the rule for the file with
    // it. So these files stay open.
    let in_proc = READ.iter().filter(|path| path.starts_with("/proc/"));
    in_proc
        .filter_map(|path| PathFd::new(path).ok())
        .for_each(std::mem::forget);
    let status = rules.restrict_self().map_err(|error| error.to_string())?;
    match status.ruleset {
        RulesetStatus::NotEnforced => Err("the kernel does not support it".into()),
        _ => Ok(landlock_version().map_or(String::new(), |version| format!(" {version}"))),
    }
}

/// The version of Landlock that is in force here.
pub(super) fn landlock_version() -> Option<i32> {
    mgn_sys::process::landlock_version()
}
