//! Runs of a program in several modes, on a private X server.

use crate::child;
use crate::gl::program::{json_number, Program};
use crate::gl::relay;
use anyhow::{bail, Context, Result};
use rustix::process::{kill_process, Pid, Signal};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io::{BufRead, BufReader};
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How a program's OpenGL is executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunMode {
    Direct,
    Null,
    Discard,
    Shm,
    /// Over shared memory, with a server that is started for the run.
    Own,
    /// The same, with a server whose workers are not confined.
    Unconfined,
    /// Over shared memory, without showing the pictures.
    Unseen,
    Tcp,
    /// Over TCP through a relay, without a delay, or with `DELAY` in each direction.
    Relayed,
    Far,
    /// A wall with this grid of renderers that discard, over shared memory, without showing the
    /// pictures.
    Wall(&'static str),
    /// The same, but every renderer gets every command.
    Broadcast(&'static str),
    /// A wall with this grid of discarding servers, one for each tile. A mothership starts, matches
    /// and ends them. The value is the seconds that all of this takes, including the program.
    Crowd(u32, u32),
}

/// The delay in each direction.
const DELAY: Duration = Duration::from_millis(1);

impl RunMode {
    pub fn name(self) -> String {
        let name = match self {
            RunMode::Direct => "direct",
            RunMode::Null => "null",
            RunMode::Discard => "discard, shm",
            RunMode::Shm => "shm",
            RunMode::Own => "own server",
            RunMode::Unconfined => "no sandbox",
            RunMode::Unseen => "shm, unseen",
            RunMode::Tcp => "tcp",
            RunMode::Relayed => "tcp, relay",
            RunMode::Far => "tcp, 1 ms",
            RunMode::Wall(wall) => wall,
            RunMode::Broadcast(wall) => return format!("{wall}, broadcast"),
            RunMode::Crowd(columns, rows) => return format!("{} servers", columns * rows),
        };
        name.into()
    }
}

/// One run of a program.
#[derive(Debug, Clone)]
pub struct Sample {
    pub value: f64,
    /// CPU seconds of the program with its client library, and of the server's worker.
    pub program_cpu: f64,
    pub server_cpu: f64,
    /// The share of the time that the program waited to send.
    pub send_wait: f64,
}

/// An X server, render servers, and the paths of the programs.
pub struct Servers {
    target: PathBuf,
    mgn: PathBuf,
    display: String,
    scratch: PathBuf,
    token: PathBuf,
    /// The processes of the X server, the rendering server and the discarding server.
    children: Vec<Child>,
}

const RENDERING: usize = 1;
const DISCARDING: usize = 2;
const PORT: u16 = 47_613;
const RELAYED_PORT: u16 = PORT + 1;
const FAR_PORT: u16 = PORT + 2;

impl Servers {
    pub fn start(target: &Path, profile: &str) -> Result<Servers> {
        let mgn = target.join(profile).join("mgn");
        let scratch = std::env::temp_dir().join(format!("mgn-bench-{}", std::process::id()));
        fs::create_dir_all(&scratch)?;
        let token = scratch.join("token");
        let made = Command::new(&mgn)
            .args(["token", "new", "--store"])
            .arg(scratch.join("tokens"))
            .arg(&token)
            .stdout(Stdio::null())
            .status();
        if !made
            .with_context(|| format!("cannot run {}: make build first", mgn.display()))?
            .success()
        {
            bail!("mgn token new failed");
        }
        let clock = mgn.with_file_name(mgn_launch::FIXED_CLOCK_FILE);
        if !clock.exists() {
            bail!("{} is not there: make build first", clock.display());
        }
        let mut servers = Servers {
            target: target.to_path_buf(),
            mgn,
            display: String::new(),
            scratch,
            token,
            children: Vec::new(),
        };
        let mut x = Command::new("Xvfb")
            .args([
                "-displayfd",
                "1",
                "-noreset",
                "-screen",
                "0",
                "1280x1024x24",
                "-nolisten",
                "tcp",
            ])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .context("cannot run Xvfb")?;
        let mut number = String::new();
        BufReader::new(x.stdout.take().context("no output of Xvfb")?).read_line(&mut number)?;
        servers.display = format!(":{}", number.trim());
        servers.children.push(x);
        servers.serve(
            &[&servers.address("render"), &format!("tcp:127.0.0.1:{PORT}")],
            &[],
        )?;
        servers.serve(&[&servers.address("discard")], &["--discard"])?;
        let server = (Ipv4Addr::LOCALHOST, PORT).into();
        relay::start(RELAYED_PORT, server, Duration::ZERO)?;
        relay::start(FAR_PORT, server, DELAY)?;
        Ok(servers)
    }

    fn address(&self, name: &str) -> String {
        format!("unix:{}", self.scratch.join(name).display())
    }

    fn serve(&mut self, listen: &[&str], flags: &[&str]) -> Result<()> {
        let mut command = Command::new(&self.mgn);
        command
            .arg("server")
            .args(flags)
            .arg("--token-file")
            .arg(&self.token)
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        for address in listen {
            command.args(["--listen", address]);
        }
        self.children
            .push(command.spawn().context("cannot start mgn server")?);
        wait_for(listen[0])
    }

    /// Runs `program` and reads its result.
    pub fn run(&self, mode: RunMode, program: &Program) -> Result<Sample> {
        self.run_with(mode, program, None)
    }

    /// The same with empty caches, for the processes that the run itself starts.
    pub fn run_cold(&self, mode: RunMode, program: &Program) -> Result<Sample> {
        let cache = self.scratch.join("cold");
        let _ = fs::remove_dir_all(&cache);
        fs::create_dir_all(&cache)?;
        self.run_with(mode, program, Some(&cache))
    }

    fn run_with(&self, mode: RunMode, program: &Program, cache: Option<&Path>) -> Result<Sample> {
        let words = program.words(&self.target, &self.mgn);
        if let RunMode::Crowd(columns, rows) = mode {
            return self.crowd([columns, rows], &words);
        }
        let stats = self.scratch.join("stats.json");
        let _ = fs::remove_file(&stats);
        let mut command = match mode {
            RunMode::Direct => Command::new("env"),
            _ => Command::new(&self.mgn),
        };
        if mode == RunMode::Direct {
            command.args(["LIBGL_ALWAYS_SOFTWARE=1", "vblank_mode=0"]);
        } else {
            command.arg("run").arg("--stats-json").arg(&stats);
            let tcp = |port: u16| Some(format!("tcp:127.0.0.1:{port}"));
            let (server, transport) = match mode {
                RunMode::Null | RunMode::Direct | RunMode::Crowd(..) => (None, "null"),
                RunMode::Discard | RunMode::Wall(_) | RunMode::Broadcast(_) => {
                    (Some(self.address("discard")), "shm")
                }
                RunMode::Shm | RunMode::Unseen => (Some(self.address("render")), "shm"),
                RunMode::Own | RunMode::Unconfined => (Some("own".to_string()), "shm"),
                RunMode::Tcp => (tcp(PORT), "tcp"),
                RunMode::Relayed => (tcp(RELAYED_PORT), "tcp"),
                RunMode::Far => (tcp(FAR_PORT), "tcp"),
            };
            if let RunMode::Wall(wall) | RunMode::Broadcast(wall) = mode {
                // Welding would begin when the machine is busy.
                command.args(["--wall", wall, "--weld", "never"]);
            }
            if matches!(mode, RunMode::Broadcast(_)) {
                command.args(["--client-spu", "broadcast"]);
            }
            if matches!(
                mode,
                RunMode::Unseen | RunMode::Wall(_) | RunMode::Broadcast(_)
            ) {
                command.args(["--present", "none"]);
            }
            if let Some(server) = server {
                command.args(["--server", &server]);
            }
            command
                .args(["--transport", transport])
                .arg("--token-file")
                .arg(&self.token)
                .arg("--");
        }
        command
            .args(&words)
            .env("DISPLAY", &self.display)
            .env("vblank_mode", "0")
            .env("HOME", &self.scratch)
            .env("SDL_AUDIODRIVER", "dummy")
            .stderr(Stdio::null());
        if mode == RunMode::Unconfined {
            command.env("MGN_NO_SANDBOX", "1");
        }
        if let Some(cache) = cache {
            command.env("XDG_CACHE_HOME", cache);
        }
        let (servers, children) = (self.server_cpu(), child::cpu_of_ended());
        let start = Instant::now();
        let output = command
            .output()
            .with_context(|| format!("cannot run {words:?}"))?;
        let took = start.elapsed();
        if program.result_kind.ends_well() && !output.status.success() {
            bail!("{words:?} ({}) ended with {}", mode.name(), output.status);
        }
        // A worker's time counts when the server has waited for it.
        std::thread::sleep(Duration::from_millis(150));
        let text = String::from_utf8_lossy(&output.stdout);
        let value = program
            .result_kind
            .read(&text, took)
            .with_context(|| format!("{words:?} ({}) printed no result: {text}", mode.name()))?;
        let waited = fs::read_to_string(&stats)
            .ok()
            .and_then(|text| json_number(&text, "send_wait_share"));
        Ok(Sample {
            value,
            program_cpu: child::cpu_of_ended() - children,
            server_cpu: self.server_cpu() - servers,
            send_wait: waited.unwrap_or(0.0),
        })
    }

    /// Draws a hundred frames with servers that are started for this run alone. Fails if anything
    /// is left of them.
    fn crowd(&self, [columns, rows]: [u32; 2], words: &[OsString]) -> Result<Sample> {
        let folder = self.scratch.join("crowd");
        fs::create_dir_all(&folder)?;
        let names: Vec<String> = (0..columns * rows).map(|n| n.to_string()).collect();
        let mut config = String::new();
        for name in &names {
            let address = self.address(&format!("crowd/{name}"));
            config +=
                &format!("[[server]]\nname = \"{name}\"\nlisten = \"{address}\"\ndiscard = true\n");
        }
        config += &format!("[[wall]]\nname = \"crowd\"\nservers = {names:?}\n");
        config += &format!("grid = [{columns}, {rows}]\ntile_size = [80, 80]\n");
        let file = self.scratch.join("crowd.toml");
        fs::write(&file, config)?;
        let home = self.address("crowd/mothership");
        let shared = shared_memory();
        let children = child::cpu_of_ended();
        let start = Instant::now();
        let mut mothership = Command::new(&self.mgn)
            .arg("mothership")
            .arg(&file)
            .args(["--listen", &home])
            .env("XDG_STATE_HOME", &self.scratch)
            .env(FOLDER_VARIABLE, &folder)
            .env("TMPDIR", &folder)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .context("cannot start mgn mothership")?;
        let mgn = |arguments: &[&str], words: &[OsString]| -> Result<()> {
            let mut command = Command::new(&self.mgn);
            command
                .args(arguments)
                .args(words)
                .env("DISPLAY", &self.display)
                .env("MGN_MOTHERSHIP", &home)
                .env(FOLDER_VARIABLE, &folder)
                .env("TMPDIR", &folder)
                .stdout(Stdio::null());
            let ended = command.status().context("cannot run mgn")?;
            match ended.success() {
                true => Ok(()),
                false => bail!("mgn {} ended with {ended}", arguments.join(" ")),
            }
        };
        let run = ["run", "--wall", "crowd", "--present", "none"];
        let outcome = wait_for(&home).and_then(|()| {
            let drawn = mgn(&[&run[..], &["--frames", "100", "--"]].concat(), words);
            mgn(&["stop"], &[])?;
            drawn
        });
        if outcome.is_err() {
            let _ = kill_process(Pid::from_child(&mothership), Signal::TERM);
        }
        mothership.wait()?;
        outcome?;
        let sample = Sample {
            value: start.elapsed().as_secs_f64(),
            program_cpu: child::cpu_of_ended() - children,
            server_cpu: 0.0,
            send_wait: 0.0,
        };
        let mut left = processes_of(&folder);
        left.extend(names_in(&folder).map(|file| folder.join(file).display().to_string()));
        left.extend(shared_memory().difference(&shared).cloned());
        match left.is_empty() {
            true => Ok(sample),
            false => bail!("a crowd has left {}", left.join(", ")),
        }
    }

    fn server_cpu(&self) -> f64 {
        [RENDERING, DISCARDING]
            .iter()
            .map(|&i| child::cpu(self.children[i].id()))
            .sum()
    }
}

impl Drop for Servers {
    fn drop(&mut self) {
        for child in self.children.iter_mut().rev() {
            let _ = kill_process(Pid::from_child(child), Signal::TERM);
            let _ = child.wait();
        }
        let _ = fs::remove_dir_all(&self.scratch);
    }
}

/// The variable with the folder for sockets. It also identifies the processes of a crowd.
const FOLDER_VARIABLE: &str = "XDG_RUNTIME_DIR";

/// Running processes that have this folder in their environment.
fn processes_of(folder: &Path) -> Vec<String> {
    let mark = format!("{FOLDER_VARIABLE}={}", folder.display());
    let is_ours = |pid: &String| {
        let variables = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        variables.split(|b| *b == 0).any(|v| v == mark.as_bytes())
    };
    let ours = names_in(Path::new("/proc")).filter(is_ours);
    ours.map(|pid| format!("process {pid}")).collect()
}

/// The named files of Manganese in shared memory.
fn shared_memory() -> BTreeSet<String> {
    let folder = Path::new("/dev/shm");
    let is_ours = |name: &String| name.contains("mgn") || name.contains("manganese");
    let ours = names_in(folder).filter(is_ours);
    ours.map(|name| folder.join(name).display().to_string())
        .collect()
}

fn names_in(folder: &Path) -> impl Iterator<Item = String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned())
}

/// Waits until the socket of a `unix:` address exists.
fn wait_for(address: &str) -> Result<()> {
    let socket = Path::new(address.trim_start_matches("unix:"));
    for _ in 0..500 {
        if socket.exists() {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    bail!("mgn did not come up at {address}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_that_were_left_are_found() {
        let folder = std::env::temp_dir().join(format!("mgn-crowd-{}", std::process::id()));
        let mut sleep = Command::new("sleep");
        let mut left = sleep
            .arg("600")
            .env(FOLDER_VARIABLE, &folder)
            .spawn()
            .unwrap();
        // The process may not have its environment yet.
        let begun = Instant::now();
        let mut found = Vec::new();
        while found.is_empty() && begun.elapsed() < Duration::from_secs(20) {
            found = processes_of(&folder);
        }
        left.kill().unwrap();
        left.wait().unwrap();
        assert_eq!(found, [format!("process {}", left.id())]);
        assert!(processes_of(&folder).is_empty());
    }
}
