//! Another host, reached over ssh: one shared connection, the processes that `mgn` runs there while
//! this process lives, and forwarded sockets.
//!
//! The connection is made once, in the foreground, where ssh may ask for a password. It then stays
//! in the background (`ControlMaster`), and everything that follows goes through it. The processes
//! that `mgn` runs at the other end stop when its standard input closes, and also when nothing
//! arrives there for a while. So none is left when this process, its host, or the network fails.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use std::os::unix::process::CommandExt;

use rustix::fs::{flock, FlockOperation};

use crate::helper::Helper;
use crate::{Error, RunDir};

/// The beginning of the line with which `mgn ssh-hold` reports that it is ready. Its run directory
/// follows.
pub const HOLDS: &str = "mgn-holds ";

/// How long the other end may send nothing before it counts as gone. `MGN_SSH_SILENCE` sets another
/// number of seconds.
pub const SILENCE_TIMEOUT: Duration = Duration::from_secs(30);

/// How long the background connection stays open without a process that shares it.
const PERSIST_SECONDS: u32 = 5;

/// Starting a driver on a loaded machine takes a while.
const START_TIMEOUT: Duration = Duration::from_secs(60);

/// The maximum number of lines that a shell's start files may print before ours.
const LINES_MAX: usize = 200;

/// How long the processes that are held on the other host may take to end.
const END_TIMEOUT: Duration = Duration::from_secs(5);

/// The host to connect to, and how.
#[derive(Clone, Debug)]
pub struct SshOptions {
    /// The ssh command, with further arguments for it.
    pub command: Vec<String>,
    pub host: String,
    /// The `mgn` command on that host.
    pub mgn: String,
    /// Whether a render server runs on that host.
    pub serves: bool,
    /// See [`SILENCE_TIMEOUT`].
    pub silence: Duration,
}

/// The processes at the other end. They stop when this is dropped, or when this process ends.
#[derive(Debug)]
pub struct Remote {
    ssh: Ssh,
    folder: String,
    holder: Option<Helper>,
    beat: Option<(Sender<()>, JoinHandle<()>)>,
    /// Contains the connection's socket. Dropped last.
    run: RunDir,
}

/// A connection that several processes share.
#[derive(Debug)]
struct Ssh {
    options: SshOptions,
    control: PathBuf,
}

impl Remote {
    /// Connects, and starts `mgn` on the other host, which holds the processes that the options ask
    /// for.
    ///
    /// # Errors
    /// [`Error::Ssh`], with what happened, on which host, and what to do.
    pub fn begin(options: SshOptions) -> Result<Remote, Error> {
        if options.host.is_empty() || options.host.starts_with('-') {
            return Err(Error::Ssh(format!(
                "{:?} is not the name of a host; write HOST or USER@HOST",
                options.host
            )));
        }
        let run = RunDir::create()?;
        let ssh = Ssh {
            control: run.join("ssh"),
            options,
        };
        let mut remote = Remote {
            ssh,
            folder: String::new(),
            holder: None,
            beat: None,
            run,
        };
        remote.ssh.connect()?;
        remote.hold()?;
        Ok(remote)
    }

    /// The run directory on the other host. It is removed and its lock is released when the
    /// processes there end.
    pub fn folder(&self) -> &str {
        &self.folder
    }

    /// Returns a socket on this host that leads to the server on the other host.
    ///
    /// # Errors
    /// [`Error::Ssh`].
    pub fn server_from_here(&self) -> Result<PathBuf, Error> {
        let here = self.run.join(SERVER);
        self.forward("-L", format!("{}:{}/{SERVER}", here.display(), self.folder))?;
        Ok(here)
    }

    /// Returns a socket on the other host that leads to the server at the socket `here`.
    ///
    /// # Errors
    /// [`Error::Ssh`].
    pub fn server_from_there(&self, here: &Path) -> Result<PathBuf, Error> {
        let there = Path::new(&self.folder).join(RENDERER);
        self.forward("-R", format!("{}:{}", there.display(), here.display()))?;
        Ok(there)
    }

    /// A command that runs `mgn` with the arguments `words` on the other host, over the shared
    /// connection. `flags` are arguments for ssh.
    pub fn command(&self, flags: &[&str], words: &[&OsStr]) -> Command {
        let mut command = self.ssh.shared();
        command.args(flags).arg("--").arg(&self.ssh.options.host);
        command.arg(there(&self.ssh.options.mgn, words));
        command
    }

    /// The local process that stands for the processes on the other host.
    pub fn pid(&self) -> Option<u32> {
        self.holder.as_ref().map(Helper::pid)
    }

    fn hold(&mut self) -> Result<(), Error> {
        let options = &self.ssh.options;
        let silence = options.silence.as_secs().max(1).to_string();
        let mut words = vec!["ssh-hold", "--silence", &silence];
        if options.serves {
            words.push("--serve");
        }
        let words: Vec<&OsStr> = words.iter().map(OsStr::new).collect();
        let mut command = self.command(&["-T"], &words);
        // An interrupt from the terminal is for the program, which may need its server a little
        // longer.
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .process_group(0);
        let mut holder = Helper::start(&mut command)?;
        let input = holder.take_stdin();
        let host = &options.host;
        let mut folder = None;
        for _ in 0..LINES_MAX {
            let line = holder
                .first_line(START_TIMEOUT)
                .map_err(|why| Error::Ssh(format!("mgn did not start on {host}: {why}")))?;
            folder = line.strip_prefix(HOLDS).map(str::to_owned);
            if folder.is_some() {
                break;
            }
        }
        self.folder = folder
            .filter(|folder| folder.starts_with('/') && !folder.contains([':', '\0']))
            .ok_or_else(|| {
                Error::Ssh(format!(
                    "mgn on {host} did not report its run directory; is it the same release?"
                ))
            })?;
        if let Some(input) = input {
            let (stop, stopped) = mpsc::channel();
            let pause = options.silence / 3;
            let beat = move || {
                let mut input = input;
                while stopped.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
                    if input.write_all(b"\n").and_then(|()| input.flush()).is_err() {
                        break;
                    }
                }
            };
            let thread = thread::Builder::new().name("ssh".into()).spawn(beat);
            let thread = thread.map_err(Error::system("starting a thread"))?;
            self.beat = Some((stop, thread));
        }
        self.holder = Some(holder);
        Ok(())
    }

    fn forward(&self, direction: &str, what: String) -> Result<(), Error> {
        let host = &self.ssh.options.host;
        let mut command = self.ssh.shared();
        command.args(["-O", "forward", direction, &what, "--", host]);
        let output = quiet(&mut command)?;
        match output.status.success() {
            true => Ok(()),
            false => Err(Error::Ssh(format!(
                "{host} does not forward sockets ({}); its sshd_config needs AllowStreamLocalForwarding yes",
                last_line(&output)
            ))),
        }
    }
}

/// The name of a server's socket in the run directory on its host, and of the local socket that
/// leads to it.
pub const SERVER: &str = "server";
/// The name of the socket on the other host that leads to the server on this host.
const RENDERER: &str = "renderer";

impl Ssh {
    /// Makes the connection, which then stays in the background, and checks which `mgn` the other
    /// host has.
    fn connect(&self) -> Result<(), Error> {
        let SshOptions {
            host, mgn, silence, ..
        } = &self.options;
        let alive = (silence.as_secs() / 3).max(1);
        let mut command = self.command();
        command
            .args(["-T", "-o", "ControlMaster=yes", "-o"])
            .arg(format!("ControlPersist={PERSIST_SECONDS}"))
            .args(["-o", &format!("ServerAliveInterval={alive}")])
            .args(["-o", "ServerAliveCountMax=3"])
            // The user's own forwardings are not needed here, and their ports may be in use.
            .args(["-o", "ClearAllForwardings=yes"])
            .args(["--", host])
            .arg(there(mgn, &[OsStr::new("--version")]))
            .stdin(Stdio::null())
            .stdout(Stdio::piped());
        let output = command
            .spawn()
            .and_then(|child| child.wait_with_output())
            .map_err(|source| Error::Spawn {
                program: command.get_program().into(),
                source,
            })?;
        let said = String::from_utf8_lossy(&output.stdout);
        let version = said.lines().find_map(|line| line.strip_prefix("mgn "));
        let own = env!("CARGO_PKG_VERSION");
        let why = match (output.status.code(), version) {
            (Some(0), Some(version)) if version.trim() == own => return Ok(()),
            (Some(0), Some(version)) => format!(
                "{host} has mgn {}, and this host has {own}; install the same release on both",
                version.trim()
            ),
            (Some(255), _) => format!("ssh could not connect to {host}; see what it says above"),
            (Some(126 | 127), _) => format!("there is no {mgn} on {host}; install Manganese there, or give its path with --ssh-mgn PATH"),
            (Some(status), _) => format!("{mgn} --version ended with status {status} on {host}; give the path of mgn there with --ssh-mgn PATH"),
            (None, _) => format!("ssh to {host} was ended by a signal"),
        };
        Err(Error::Ssh(why))
    }

    fn command(&self) -> Command {
        let mut words = self.options.command.iter();
        let mut command = Command::new(words.next().map_or("ssh", String::as_str));
        command
            .args(words)
            .arg("-o")
            .arg(format!("ControlPath={}", self.control.display()));
        command
    }

    /// A command that uses the existing connection, and never makes its own.
    fn shared(&self) -> Command {
        let mut command = self.command();
        command.args(["-o", "ControlMaster=no", "-o", "BatchMode=yes"]);
        command.args(["-o", "ProxyCommand=false"]);
        command
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        if let Some((stop, thread)) = self.beat.take() {
            drop(stop);
            let _ = thread.join();
        }
        // The holder's input is closed by now, so it ends.
        if let Some(mut holder) = self.holder.take() {
            holder.ends_within(END_TIMEOUT);
        }
        let mut command = self.ssh.shared();
        command.args(["-O", "exit", "--", &self.ssh.options.host]);
        if let Err(error) = quiet(&mut command) {
            tracing::debug!(%error, "the connection by ssh ends by itself");
        }
    }
}

/// Whether the run directory still belongs to a live process.
pub fn is_held(folder: &Path) -> bool {
    match File::open(folder) {
        Ok(file) => flock(&file, FlockOperation::NonBlockingLockShared).is_err(),
        Err(_) => false,
    }
}

fn quiet(command: &mut Command) -> Result<Output, Error> {
    command
        .stdin(Stdio::null())
        .output()
        .map_err(|source| Error::Spawn {
            program: command.get_program().into(),
            source,
        })
}

fn last_line(output: &Output) -> String {
    let said = String::from_utf8_lossy(&output.stderr);
    let line = said.lines().map(str::trim).rfind(|line| !line.is_empty());
    line.unwrap_or("it does not say why").to_owned()
}

/// `mgn` and its arguments in the form that the remote shell reads.
fn there(mgn: &str, words: &[&OsStr]) -> std::ffi::OsString {
    // The remote shell knows the home directory.
    let mut line = match mgn.strip_prefix("~/") {
        Some(rest) => {
            let mut line = std::ffi::OsString::from("~/");
            line.push(quoted(OsStr::new(rest)));
            line
        }
        None => quoted(OsStr::new(mgn)),
    };
    for word in words {
        line.push(" ");
        line.push(quoted(word));
    }
    line
}

/// A word in a form that a shell takes literally.
fn quoted(word: &OsStr) -> std::ffi::OsString {
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-./:=,+@%".contains(byte);
    let bytes = word.as_bytes();
    if !bytes.is_empty() && bytes.iter().all(is_plain) {
        return word.to_owned();
    }
    let mut quoted = vec![b'\''];
    for &byte in bytes {
        match byte {
            b'\'' => quoted.extend(b"'\\''"),
            byte => quoted.push(byte),
        }
    }
    quoted.push(b'\'');
    std::ffi::OsString::from_vec(quoted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_reach_the_program_as_they_are() {
        let words = [
            "plain",
            "",
            "two words",
            "it's",
            "$HOME;`x`\"\\",
            "*",
            "a\nb",
        ];
        let words = words.map(OsStr::new);
        let line = there("printf", &[&[OsStr::new("[%s]")], &words[..]].concat());
        let output = Command::new("sh").arg("-c").arg(line).output().unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        assert_eq!(said, "[plain][][two words][it's][$HOME;`x`\"\\][*][a\nb]");
        let home = there("~/a b/mgn", &[]);
        assert_eq!(home, "~/'a b/mgn'");
    }

    #[test]
    fn a_run_directory_is_held_as_long_as_its_run() {
        let run = RunDir::create().unwrap();
        let folder = run.path().to_owned();
        assert!(is_held(&folder));
        drop(run);
        assert!(!is_held(&folder));
    }

    #[test]
    fn a_flag_is_no_host() {
        let options = SshOptions {
            command: vec!["false".into()],
            host: "-oProxyCommand=true".into(),
            mgn: "mgn".into(),
            serves: true,
            silence: SILENCE_TIMEOUT,
        };
        let error = Remote::begin(options).unwrap_err().to_string();
        assert!(error.contains("HOST or USER@HOST"), "{error}");
    }
}
