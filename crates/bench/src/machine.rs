//! What it is measured on.

use std::fs;
use std::process::Command;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::child;

/// Each network has its own.
pub const CONGESTION_CONTROL: &str = "/proc/sys/net/ipv4/tcp_congestion_control";

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    pub host: String,
    pub processor: String,
    /// Those that this process may use.
    pub processors: usize,
    pub memory_gib: f64,
    pub kernel: String,
    pub system: String,
    pub hypervisor: bool,
    /// Of TCP, unless a link says otherwise.
    pub congestion_control: String,
    /// Of Manganese and of what it is compared with: "Open MPI", "4.1.4".
    pub versions: Vec<(String, String)>,
}

impl Machine {
    pub fn here() -> Machine {
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
        Machine {
            host: uname.nodename().to_string_lossy().into_owned(),
            processor: field(&cpuinfo, "model name")
                .unwrap_or_else(|| uname.machine().to_string_lossy().into_owned()),
            processors: std::thread::available_parallelism().map_or(1, usize::from),
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
            congestion_control: congestion_control(),
            versions: versions(),
        }
    }
}

/// What decides how much TCP has under way, in this process's network.
pub fn congestion_control() -> String {
    let name = fs::read_to_string(CONGESTION_CONTROL).unwrap_or_default();
    name.trim().to_string()
}

/// The value of the first line `name : value`.
fn field(text: &str, name: &str) -> Option<String> {
    let line = text.lines().find(|line| line.starts_with(name))?;
    Some(line.split_once(':')?.1.trim().to_string())
}

/// What programs say of their versions, where they are installed: the first word with a digit and a dot in it.
fn versions() -> Vec<(String, String)> {
    let ask = |name: &str, program: &str, argument: &str| {
        let limit = Duration::from_secs(10);
        let done = child::output(Command::new(program).arg(argument), limit).ok()?;
        let is_number = |word: &&str| {
            let word = word.trim_start_matches('v');
            word.starts_with(|c: char| c.is_ascii_digit()) && word.contains('.')
        };
        let version = done.stdout.split_whitespace().find(is_number)?;
        let version = version.trim_end_matches([',', ')']);
        Some((name.to_string(), version.to_string()))
    };
    let ours = (
        "Manganese".to_string(),
        env!("CARGO_PKG_VERSION").to_string(),
    );
    let others = [
        ask("Open MPI", "mpirun.openmpi", "--version"),
        ask("MPICH", "mpichversion", "--version"),
        ask("UCX", "ucx_info", "-v"),
    ];
    [Some(ours)].into_iter().chain(others).flatten().collect()
}
