//! The description of this machine in a record.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use mgn_launch::inspect::in_path;

use crate::child;
use crate::gl::virgl;
use crate::net::peers::MpiLibrary;
use crate::net::{congestion, endpoint, netpipe};
use crate::plan::ByDistance;
use crate::record::Machine;

/// Describes this machine. The path `mgn` is run to find the version of Mesa.
pub fn describe(mgn: &Path) -> Machine {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let uname = rustix::system::uname();
    let cpuinfo = read("/proc/cpuinfo");
    let kib: f64 = field(&read("/proc/meminfo"), "MemTotal")
        .and_then(|text| text.split_whitespace().next()?.parse().ok())
        .unwrap_or(0.0);
    let system = read("/etc/os-release")
        .lines()
        .find_map(|line| line.strip_prefix("PRETTY_NAME="))
        .map_or(String::new(), |name| name.trim_matches('"').to_string());
    let build = match cfg!(debug_assertions) {
        true => "debug",
        false => "release",
    };
    Machine {
        host: uname.nodename().to_string_lossy().into_owned(),
        processor: field(&cpuinfo, "model name")
            .unwrap_or_else(|| uname.machine().to_string_lossy().into_owned()),
        processors: processors(),
        memory_gib: (kib / 1024.0 / 1024.0 * 10.0).round() / 10.0,
        kernel: format!(
            "{} {}",
            uname.sysname().to_string_lossy(),
            uname.release().to_string_lossy()
        ),
        system,
        hypervisor: cpuinfo
            .lines()
            .any(|line| line.starts_with("flags") && line.contains(" hypervisor")),
        congestion_control: congestion::control(),
        versions: versions(mgn),
        build: build.to_string(),
        settings: settings(),
    }
}

/// The number of processors that this process may use.
pub fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// What is sorted into near and far if the processes are not pinned. If this process may use
/// exactly two processors, the distance between them applies to all processes of a measurement.
pub fn by_distance_if_unpinned() -> ByDistance {
    match processors() {
        2 => ByDistance::Round,
        _ => ByDistance::No,
    }
}

/// The value of the first line `name : value`.
fn field(text: &str, name: &str) -> Option<String> {
    let line = text.lines().find(|line| line.starts_with(name))?;
    Some(line.split_once(':')?.1.trim().to_string())
}

/// The settings of endpoints. Empty if they cannot be read. In that case endpoints report the error
/// themselves.
fn settings() -> Vec<(String, String)> {
    let named = endpoint::settings().map_or(Vec::new(), |settings| settings.named());
    let named = named.into_iter();
    named
        .map(|(name, value)| (name.to_string(), value))
        .collect()
}

/// The versions of installed programs: the first word of each program's output that contains a
/// digit and a dot.
fn versions(mgn: &Path) -> Vec<(String, String)> {
    let output_of = |program: &Path, argument: &str| {
        let limit = Duration::from_secs(10);
        let finished = child::output(Command::new(program).arg(argument), limit);
        finished.map_or(String::new(), |finished| finished.stdout)
    };
    let number = |name: &str, text: &str| {
        let is_number = |word: &&str| {
            let word = word.trim_start_matches('v');
            word.starts_with(|c: char| c.is_ascii_digit()) && word.contains('.')
        };
        let version = text.split_whitespace().find(is_number)?;
        let version = version.split([',', ')', '"']).next()?;
        Some((name.to_string(), version.to_string()))
    };
    let ours = (
        "Manganese".to_string(),
        env!("CARGO_PKG_VERSION").to_string(),
    );
    let ask =
        |name: &str, program: &str, argument| number(name, &output_of(program.as_ref(), argument));
    // The list contains the OpenGL version, such as "4.5 (Compatibility Profile) Mesa 22.3.6".
    let drawing = output_of(mgn, "gl-list");
    let mesa = drawing.split_once("Mesa ");
    let is_there = |name: &str, program: &str| {
        in_path(program.as_ref()).map(|_| (name.to_string(), "installed".to_string()))
    };
    let others = [
        mesa.and_then(|(_, after)| number("Mesa", after)),
        ask("Open MPI", "mpirun.openmpi", "--version"),
        ask("MPICH", "mpichversion", "--version"),
        ask("UCX", "ucx_info", "-v"),
        is_there(
            "NetPIPE for Open MPI",
            netpipe::program(MpiLibrary::OpenMpi),
        ),
        is_there("NetPIPE for MPICH", netpipe::program(MpiLibrary::Mpich)),
        is_there("virgl's test server", virgl::PROGRAM),
    ];
    [Some(ours)].into_iter().chain(others).flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_description_is_complete() {
        let folder = tempfile::tempdir().unwrap();
        let mgn = folder.path().join("mgn");
        fs::write(
            &mgn,
            "#!/bin/sh\n[ $1 = gl-list ] && echo '[{\"version\":\"4.5 (Core Profile) Mesa 22.3.6\",\"glsl\":\"4.50\"}]'\n",
        )
        .unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(&mgn, mode).unwrap();
        let machine = describe(&mgn);
        let mesa = ("Mesa".to_string(), "22.3.6".to_string());
        assert!(machine.versions.contains(&mesa), "{:?}", machine.versions);
        assert_eq!(machine.versions[0].0, "Manganese");
        let names: Vec<&str> = machine.settings.iter().map(|(name, _)| &name[..]).collect();
        assert!(
            names.contains(&"eager_shm") && names.contains(&"single_copy_shm"),
            "{names:?}"
        );
        assert_eq!(machine.build, "debug", "tests are");
        let without = describe(Path::new("/no/such/mgn"));
        assert!(without.versions.iter().all(|(name, _)| name != "Mesa"));
    }
}
