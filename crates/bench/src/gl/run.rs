//! Runs a program that prints its own results, in several modes, on a private X server. All runs
//! use the same servers. `drawing` instead counts the frames of any program.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{bail, Context, Result};
use mgn_launch::{RunDir, Xvfb};
use rustix::process::{kill_process, Pid, Signal};

use crate::child;
use crate::gl::program::{json_number, ResultKind};
use crate::gl::relay;

/// How a program's OpenGL is executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunMode {
    Direct,
    Null,
    Discard,
    Shm,
    /// Over shared memory, with a server that is started for this run.
    Own,
    /// The same, with a server whose workers run without a sandbox.
    Unconfined,
    /// Over shared memory, without showing the pictures.
    Unseen,
    Tcp,
    /// Over TCP through a relay: `Relayed` without a delay, `Far` with `DELAY` in each direction.
    Relayed,
    Far,
    /// A wall with this grid of renderers that discard commands, over shared memory, without
    /// showing the pictures.
    Wall(&'static str),
    /// The same, but every renderer gets all commands.
    Broadcast(&'static str),
    /// A wall with this grid of discarding servers, one for each tile. A mothership starts, matches
    /// and ends the servers. The result is the time for all of this in seconds, including the
    /// program.
    Crowd(u32, u32),
}

/// The delay in each direction.
const DELAY: Duration = Duration::from_millis(1);

const START_TIMEOUT: Duration = Duration::from_secs(20);

/// The time limit of a run.
const RUN_TIMEOUT: Duration = Duration::from_secs(120);

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

    /// Whether the program sends commands to a server, and may therefore wait to send.
    pub fn sends(self) -> bool {
        !matches!(self, RunMode::Direct | RunMode::Crowd(..))
    }
}

/// One run of a program.
#[derive(Debug, Clone)]
pub struct Sample {
    /// The results, as many as the program's [kind of result](crate::gl::program::ResultKind) has.
    pub values: Vec<f64>,
    /// CPU seconds of the program with its client library, and CPU seconds of the server's worker.
    pub program_cpu: f64,
    pub server_cpu: f64,
    /// The share of the run during which the program waited to send. `None` without a connection.
    pub send_wait: Option<f64>,
}

/// An X server, and render servers for all runs.
pub struct Servers {
    mgn: PathBuf,
    xvfb: Xvfb,
    token: PathBuf,
    rendering: Server,
    discarding: Server,
    /// The ports of the rendering server, and of the relays to it without and with a delay.
    ports: [u16; 3],
    run: RunDir,
}

/// A process that ends when this is dropped, or when this process ends.
struct Server(Child);

impl Servers {
    pub fn start(mgn: &Path) -> Result<Servers> {
        let run = RunDir::create()?;
        // `mgn token` locks the folder of a store, and the folder of a run is locked already.
        let keys = run.join("keys");
        fs::create_dir(&keys)?;
        let token = keys.join("token");
        let mut new = Command::new(mgn);
        new.args(["token", "new", "--store"])
            .arg(keys.join("tokens"))
            .arg(&token);
        child::output(&mut new, START_TIMEOUT)?.success("mgn token new")?;
        let xvfb = Xvfb::start(&run)?;
        let port = free_port()?;
        let address = |name| address(&run, name);
        let tcp = format!("tcp:127.0.0.1:{port}");
        let rendering = serve(mgn, &token, &[&address("render"), &tcp], &[])?;
        let discarding = serve(mgn, &token, &[&address("discard")], &["--discard"])?;
        let server = (Ipv4Addr::LOCALHOST, port).into();
        let relayed = relay::start(server, Duration::ZERO)?;
        let far = relay::start(server, DELAY)?;
        Ok(Servers {
            mgn: mgn.to_path_buf(),
            xvfb,
            token,
            rendering,
            discarding,
            ports: [port, relayed, far],
            run,
        })
    }

    fn address(&self, name: &str) -> String {
        address(&self.run, name)
    }

    /// Runs a program, and reads its results. `words` is its command line. If `is_cold`, the
    /// processes that are started for this run have empty caches.
    pub fn run(
        &self,
        mode: RunMode,
        kind: &ResultKind,
        words: &[OsString],
        is_cold: bool,
    ) -> Result<Sample> {
        if let RunMode::Crowd(columns, rows) = mode {
            return self.crowd([columns, rows], words);
        }
        let stats = self.run.join("stats.json");
        let _ = fs::remove_file(&stats);
        let mut command = match mode {
            RunMode::Direct => Command::new("env"),
            _ => Command::new(&self.mgn),
        };
        if mode == RunMode::Direct {
            command.args(["LIBGL_ALWAYS_SOFTWARE=1", "vblank_mode=0"]);
        } else {
            command.arg("run").arg("--stats-json").arg(&stats);
            let tcp = |at: usize| Some(format!("tcp:127.0.0.1:{}", self.ports[at]));
            let (server, transport) = match mode {
                RunMode::Null | RunMode::Direct | RunMode::Crowd(..) => (None, "null"),
                RunMode::Discard | RunMode::Wall(_) | RunMode::Broadcast(_) => {
                    (Some(self.address("discard")), "shm")
                }
                RunMode::Shm | RunMode::Unseen => (Some(self.address("render")), "shm"),
                RunMode::Own | RunMode::Unconfined => (Some("own".to_string()), "shm"),
                RunMode::Tcp => (tcp(0), "tcp"),
                RunMode::Relayed => (tcp(1), "tcp"),
                RunMode::Far => (tcp(2), "tcp"),
            };
            if let RunMode::Wall(wall) | RunMode::Broadcast(wall) = mode {
                // Otherwise, welding would begin whenever the machine is busy.
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
            .args(words)
            .env("vblank_mode", "0")
            .env("HOME", self.run.path())
            .env("SDL_AUDIODRIVER", "dummy");
        self.show(&mut command);
        if mode == RunMode::Unconfined {
            command.env("MGN_NO_SANDBOX", "1");
        }
        if is_cold {
            let cache = self.run.join("cold");
            let _ = fs::remove_dir_all(&cache);
            fs::create_dir_all(&cache)?;
            command.env("XDG_CACHE_HOME", cache);
        }
        let name = words[0].to_string_lossy();
        let servers = self.server_cpu();
        let start = Instant::now();
        let mut finished = child::output(&mut command, RUN_TIMEOUT)?;
        let took = start.elapsed();
        if kind.ends_well() {
            finished = finished.success(&name)?;
        }
        // The CPU time of a worker counts only after the server has waited for its end.
        thread::sleep(Duration::from_millis(150));
        let values = kind.read(&finished.stdout, took);
        let values = values.with_context(|| format!("{name} printed no result"))?;
        let waited = fs::read_to_string(&stats).ok();
        Ok(Sample {
            values,
            program_cpu: finished.cpu,
            server_cpu: self.server_cpu() - servers,
            send_wait: waited.and_then(|text| json_number(&text, "send_wait_share")),
        })
    }

    /// Makes a program use the private X server.
    fn show(&self, command: &mut Command) {
        command
            .env("DISPLAY", self.xvfb.display())
            .env("XAUTHORITY", self.xvfb.authority())
            .env_remove("WAYLAND_DISPLAY");
    }

    /// Draws a hundred frames with servers that are started for this run only. Fails if any process
    /// or file of these servers is left.
    fn crowd(&self, [columns, rows]: [u32; 2], words: &[OsString]) -> Result<Sample> {
        let folder = self.run.join("crowd");
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
        let file = self.run.join("crowd.toml");
        fs::write(&file, config)?;
        let home = self.address("crowd/mothership");
        let shared = shared_memory();
        let children = child::cpu_of_ended();
        let start = Instant::now();
        let mgn = |arguments: &[&str]| {
            let mut command = Command::new(&self.mgn);
            command
                .args(arguments)
                .env(FOLDER_VARIABLE, &folder)
                .env("TMPDIR", &folder)
                .env("XDG_STATE_HOME", self.run.path())
                .env("MGN_MOTHERSHIP", &home)
                .stdout(Stdio::null())
                .stderr(Stdio::null());
            self.show(&mut command);
            command
        };
        let mut mothership = mgn(&["mothership", &file.to_string_lossy(), "--listen", &home]);
        let _rest = Rest(folder.clone());
        let mothership = Server(child::start(&mut mothership)?);
        let flags = [
            "run",
            "--wall",
            "crowd",
            "--present",
            "none",
            "--frames",
            "100",
            "--",
        ];
        wait_for(&home)?;
        let drawn = child::output(mgn(&flags).args(words), RUN_TIMEOUT)
            .and_then(|drawn| drawn.success("mgn run"));
        child::output(&mut mgn(&["stop"]), RUN_TIMEOUT)?.success("mgn stop")?;
        drawn?;
        mothership.end(RUN_TIMEOUT)?;
        let sample = Sample {
            values: vec![start.elapsed().as_secs_f64()],
            program_cpu: child::cpu_of_ended() - children,
            server_cpu: 0.0,
            send_wait: None,
        };
        let processes = processes_of(&folder).into_iter();
        let mut left: Vec<String> = processes
            .map(|process| format!("process {}", process.as_raw_nonzero()))
            .collect();
        left.extend(names_in(&folder).map(|file| folder.join(file).display().to_string()));
        left.extend(shared_memory().difference(&shared).cloned());
        match left.is_empty() {
            true => Ok(sample),
            false => bail!("the crowd has left behind {}", left.join(", ")),
        }
    }

    fn server_cpu(&self) -> f64 {
        child::cpu(self.rendering.0.id()) + child::cpu(self.discarding.0.id())
    }
}

impl Server {
    /// Waits until the server ends by itself.
    fn end(mut self, limit: Duration) -> Result<()> {
        let deadline = Instant::now() + limit;
        while self.0.try_wait()?.is_none() {
            if Instant::now() >= deadline || child::is_interrupted() {
                bail!("a server does not end");
            }
            thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Ok(None) = self.0.try_wait() {
            let _ = kill_process(Pid::from_child(&self.0), Signal::TERM);
            let _ = self.0.wait();
        }
    }
}

fn address(run: &RunDir, name: &str) -> String {
    format!("unix:{}", run.join(name).display())
}

/// A port that is free now.
fn free_port() -> Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("there is no free port")?;
    Ok(listener.local_addr()?.port())
}

/// Starts a server that listens at these addresses, and waits until it listens at the first one.
fn serve(mgn: &Path, token: &Path, listen: &[&str], flags: &[&str]) -> Result<Server> {
    let mut command = Command::new(mgn);
    command
        .arg("server")
        .args(flags)
        .arg("--token-file")
        .arg(token);
    for address in listen {
        command.args(["--listen", address]);
    }
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let server = Server(child::start(&mut command)?);
    wait_for(listen[0])?;
    Ok(server)
}

/// The environment variable with the folder for sockets. It also identifies the processes of a
/// crowd.
const FOLDER_VARIABLE: &str = "XDG_RUNTIME_DIR";

/// When this is dropped, for example after an interruption, it ends the remaining processes of a
/// crowd.
struct Rest(PathBuf);

impl Drop for Rest {
    fn drop(&mut self) {
        for process in processes_of(&self.0) {
            let _ = kill_process(process, Signal::TERM);
        }
    }
}

/// Running processes whose environment contains this folder.
fn processes_of(folder: &Path) -> Vec<Pid> {
    let mark = format!("{FOLDER_VARIABLE}={}", folder.display());
    let is_ours = |pid: &String| {
        let variables = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        variables.split(|b| *b == 0).any(|v| v == mark.as_bytes())
    };
    let ours = names_in(Path::new("/proc")).filter(is_ours);
    ours.filter_map(|pid| Pid::from_raw(pid.parse().ok()?))
        .collect()
}

/// The files of Manganese in `/dev/shm`.
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
    let deadline = Instant::now() + START_TIMEOUT;
    while Instant::now() < deadline && !child::is_interrupted() {
        if socket.exists() {
            return Ok(());
        }
        thread::sleep(Duration::from_millis(5));
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
        // The new process may not have its environment yet.
        let begun = Instant::now();
        let mut found = Vec::new();
        while found.is_empty() && begun.elapsed() < Duration::from_secs(20) {
            found = processes_of(&folder);
        }
        left.kill().unwrap();
        left.wait().unwrap();
        assert_eq!(found, [Pid::from_child(&left)]);
        assert!(processes_of(&folder).is_empty());
    }
}
