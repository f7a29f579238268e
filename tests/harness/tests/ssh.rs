//! Programs are rendered on another host, or run on another host, by ssh. An sshd of the test on
//! loopback stands for the other host.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use mgn_tests::{camera, processes, Outcome, Running, Stage};
use rustix::process::{kill_process, Pid, Signal};

const RUN_TIMEOUT: Duration = Duration::from_secs(120);
/// The number of seconds after which a silent connection counts as lost in these tests.
const SILENCE: &str = "6";

/// The host that is reached by ssh. It is this host.
struct Host {
    stage: Stage,
    sshd: Child,
    folder: PathBuf,
    /// The folder for the directories of runs, at both ends.
    runtime: PathBuf,
    port: u16,
    /// The tests run one at a time, because two tests could choose the same free port.
    _alone: MutexGuard<'static, ()>,
}

static ONE: Mutex<()> = Mutex::new(());

impl Host {
    /// A host whose sshd has these lines first in its configuration. `None`, with a message, if
    /// there is no sshd. With `MGN_NEED_SSHD` set, this is an error instead.
    fn new(config: &str) -> Option<Host> {
        let sshd = match Sshd::find() {
            Ok(sshd) => sshd,
            Err(why) => {
                assert!(std::env::var_os("MGN_NEED_SSHD").is_none(), "{why}");
                eprintln!("SKIPPED: {why}");
                return None;
            }
        };
        let alone = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        let stage = Stage::new();
        let folder = stage.folder();
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).unwrap();
        // The path is short, because sockets are made in this folder.
        let runtime = PathBuf::from(format!("/tmp/mgn-t-{}", folder_name()));
        fs::create_dir(&runtime).unwrap();
        fs::set_permissions(&runtime, fs::Permissions::from_mode(0o700)).unwrap();
        for key in ["host", "user"] {
            let mut keygen = Command::new("ssh-keygen");
            keygen.args(["-q", "-t", "ed25519", "-N", "", "-f"]);
            assert!(keygen.arg(folder.join(key)).status().unwrap().success());
        }
        fs::copy(folder.join("user.pub"), folder.join("authorized")).unwrap();
        // The listener is closed at once. Otherwise it would accept the connection that checks
        // whether sshd listens.
        let port = {
            let free = TcpListener::bind("127.0.0.1:0").unwrap();
            free.local_addr().unwrap().port()
        };
        let mgn = mgn_tests::target();
        let shown = folder.display();
        let user = Command::new("id").arg("-un").output().unwrap().stdout;
        let user = String::from_utf8(user).unwrap();
        let parts = sshd.parts();
        let server = format!(
            "{config}{parts}Port {port}\nListenAddress 127.0.0.1\nHostKey {shown}/host\nPidFile none\nAuthorizedKeysFile {shown}/authorized\n\
             StrictModes no\nUsePAM no\nPasswordAuthentication no\nX11Forwarding yes\nLogLevel ERROR\nPermitRootLogin prohibit-password\n\
             SetEnv PATH={}:/usr/local/bin:/usr/bin:/bin LIBGL_ALWAYS_SOFTWARE=1 XDG_RUNTIME_DIR={} XDG_CONFIG_HOME=/nonexistent\n",
            mgn.display(),
            runtime.display(),
        );
        fs::write(folder.join("sshd_config"), server).unwrap();
        let client = format!(
            "Host there\nHostName 127.0.0.1\nPort {port}\nUser {}\nIdentityFile {shown}/user\nIdentitiesOnly yes\nBatchMode yes\n\
             UserKnownHostsFile {shown}/known\nGlobalKnownHostsFile /dev/null\nStrictHostKeyChecking no\nLogLevel ERROR\nControlPath none\n",
            user.trim(),
        );
        fs::write(folder.join("ssh_config"), client).unwrap();
        let sshd = sshd
            .command(&folder)
            .args(["-D", "-e", "-f"])
            .arg(folder.join("sshd_config"))
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        let host = Host {
            stage,
            sshd,
            folder,
            runtime,
            port,
            _alone: alone,
        };
        until("sshd listens", || {
            std::net::TcpStream::connect(("127.0.0.1", host.port)).ok()
        });
        Some(host)
    }

    /// A command that runs `mgn` with these arguments, and finds the host under the name `there`.
    fn mgn(&self, arguments: &[&str]) -> Command {
        let mut command = self.stage.mgn();
        let ssh = format!("ssh -F {}/ssh_config", self.folder.display());
        command
            .env("MGN_SSH", ssh)
            .env("MGN_SSH_SILENCE", SILENCE)
            .env("XDG_RUNTIME_DIR", &self.runtime)
            .args(arguments);
        command
    }

    /// Checks that everything that belongs to runs is removed at both ends, after some time.
    fn is_clean(&self) {
        let left = || {
            let runs = fs::read_dir(self.runtime.join("manganese"));
            let runs: Vec<_> = runs.into_iter().flatten().flatten().collect();
            let theirs = processes().filter(|pid| self.is_ours(*pid));
            let theirs: Vec<String> = theirs.map(words).collect();
            (runs.len(), theirs)
        };
        let start = Instant::now();
        while left() != (0, Vec::new()) {
            assert!(start.elapsed() < RUN_TIMEOUT, "{:?} are left", left());
            thread::sleep(Duration::from_millis(100));
        }
    }

    /// The same after a run that was killed. The next run removes the remains.
    fn is_clean_after_the_next_run(&self) {
        until("the end of all processes", || {
            (!processes().any(|pid| self.is_ours(pid))).then_some(())
        });
        let next = ["run", "--transport", "null", "--headless", "--", "true"];
        let outcome = Outcome::of(&mut self.mgn(&next), RUN_TIMEOUT);
        assert_eq!(outcome.status, Some(0), "{}", outcome.describe());
        self.is_clean();
    }

    /// Whether a process belongs to a run, at either end. All these processes have this host's
    /// folder for run directories in their environment.
    fn is_ours(&self, pid: u32) -> bool {
        let folder = self.runtime.display().to_string();
        // ssh overwrites its environment with its title.
        if words(pid).contains(&folder) {
            return true;
        }
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        let ours = format!("XDG_RUNTIME_DIR={folder}");
        environment
            .split(|byte| *byte == 0)
            .any(|word| word == ours.as_bytes())
    }

    /// Starts a run of glxgears. Returns when glxgears itself runs and has had time to draw. Other
    /// processes have its name among their arguments.
    fn gears(&self, arguments: &[&str]) -> Running {
        let mut running = Running::start(&mut self.mgn(&[arguments, &["--", "glxgears"]].concat()));
        let is_it = |pid: u32| self.is_ours(pid) && words(pid).starts_with("glxgears");
        let start = Instant::now();
        while !processes().any(is_it) {
            if running.has_ended() || start.elapsed() > RUN_TIMEOUT {
                let outcome = running.finish(Duration::from_secs(1));
                panic!("glxgears does not start: {}", outcome.describe());
            }
            thread::sleep(Duration::from_millis(20));
        }
        thread::sleep(Duration::from_secs(2));
        running
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = self.sshd.kill();
        let _ = self.sshd.wait();
        let _ = fs::remove_dir_all(&self.runtime);
    }
}

/// An sshd, and the folder in which it is unpacked if it is not installed.
struct Sshd {
    program: PathBuf,
    unpacked: Option<PathBuf>,
}

impl Sshd {
    /// Finds an sshd. The error says what is missing.
    fn find() -> Result<Sshd, String> {
        let installed = ["/usr/sbin/sshd", "/usr/local/sbin/sshd", "/sbin/sshd"];
        let mut installed = installed.into_iter().map(PathBuf::from);
        if let Some(program) = installed.find(|path| path.exists()) {
            let unpacked = None;
            return Ok(Sshd { program, unpacked });
        }
        let folder = mgn_tests::root().join("target/sshd");
        let program = folder.join("usr/sbin/sshd");
        if !program.exists() {
            return Err("there is no sshd; scripts/deps.sh test unpacks one".into());
        }
        let sshd = Sshd {
            program,
            unpacked: Some(folder),
        };
        // As root, sshd needs a user of its own. The test adds this user in a mount namespace only.
        if sshd.lacks_user() && !is_success(Command::new("unshare").args(["--mount", "true"])) {
            return Err("there is no user sshd, and no namespace to have one in".into());
        }
        Ok(sshd)
    }

    /// The command for this sshd, which finds its libraries and its other programs in its folder.
    fn command(&self, folder: &Path) -> Command {
        let mut command = if self.lacks_user() {
            let users = folder.join("passwd");
            let ours = "sshd:x:65533:65534::/run/sshd:/usr/sbin/nologin\n";
            let all = fs::read_to_string("/etc/passwd").unwrap() + ours;
            fs::write(&users, all).unwrap();
            let script = "mount --bind \"$1\" /etc/passwd && shift && exec \"$@\"";
            let mut command = Command::new("unshare");
            command
                .args(["--mount", "--propagation", "private"])
                .args(["sh", "-c", script, "sh"])
                .arg(users)
                .arg(&self.program);
            command
        } else {
            Command::new(&self.program)
        };
        if rustix::process::geteuid().is_root() {
            let _ = fs::create_dir("/run/sshd");
        }
        if let Some(folder) = &self.unpacked {
            command.env("LD_LIBRARY_PATH", libraries(folder));
        }
        command
    }

    /// The lines of the configuration with the paths of the programs that sshd has consisted of
    /// since OpenSSH 9.8.
    fn parts(&self) -> String {
        let Some(folder) = &self.unpacked else {
            return String::new();
        };
        let parts = [("SshdSessionPath", "session"), ("SshdAuthPath", "auth")];
        let lines = parts.into_iter().filter_map(|(keyword, name)| {
            let path = folder.join(format!("usr/lib/openssh/sshd-{name}"));
            path.exists()
                .then(|| format!("{keyword} {}\n", path.display()))
        });
        lines.collect()
    }

    fn lacks_user(&self) -> bool {
        let mut user = Command::new("id");
        let is_unpacked = self.unpacked.is_some();
        is_unpacked && rustix::process::geteuid().is_root() && !is_success(user.arg("sshd"))
    }
}

/// The folders below `folder` that contain libraries, in the format of LD_LIBRARY_PATH.
fn libraries(folder: &Path) -> String {
    let above = ["lib", "usr/lib"].map(|name| folder.join(name));
    let here = above.iter().filter_map(|path| fs::read_dir(path).ok());
    let names = here.flatten().flatten().map(|entry| entry.path());
    // Only folders that are named after an architecture.
    let names = names.map(|path| path.display().to_string());
    let all: Vec<String> = names.filter(|name| name.ends_with("-gnu")).collect();
    all.join(":")
}

fn is_success(command: &mut Command) -> bool {
    let output = command.output();
    output.is_ok_and(|output| output.status.success())
}

fn folder_name() -> String {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!(
        "{}-{}",
        std::process::id(),
        NEXT.fetch_add(1, Ordering::Relaxed)
    )
}

fn words(pid: u32) -> String {
    let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&line).replace('\0', " ")
}

#[track_caller]
fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(start.elapsed() < RUN_TIMEOUT, "{what} does not happen");
        thread::sleep(Duration::from_millis(20));
    }
}

fn ours(outcome: &Outcome) -> Vec<&str> {
    let lines = outcome.stderr.lines();
    lines.filter(|line| line.starts_with("mgn")).collect()
}

fn frames(folder: &Path) -> usize {
    fs::read_dir(folder).map_or(0, Iterator::count)
}

/// A program draws the same through a server on another host as directly, and its exit status is
/// passed on.
#[test]
fn a_program_is_rendered_over_there() {
    let Some(host) = Host::new("") else { return };
    // Makes the library that fixes clocks.
    camera();
    let mut verify = host.mgn(&[
        "verify", "--ssh", "there", "--frames", "5", "--", "glxgears",
    ]);
    let outcome = Outcome::of(&mut verify, RUN_TIMEOUT);
    assert_eq!(outcome.status, Some(0), "{}", outcome.describe());
    host.is_clean();
    let script = [
        "run",
        "--ssh",
        "there",
        "--headless",
        "--",
        "sh",
        "-c",
        "exit 9",
    ];
    let outcome = Outcome::of(&mut host.mgn(&script), RUN_TIMEOUT);
    assert_eq!(outcome.status, Some(9), "{}", outcome.describe());
    host.is_clean();
}

/// The program runs on the other host, in the environment of that host. Its window is on the
/// display here, with the picture that is drawn here.
#[test]
fn a_program_over_there_is_shown_here() {
    let Some(host) = Host::new("") else { return };
    let folder = host.stage.folder();
    let save = folder.join("there").display().to_string();
    let script = "echo $SSH_CONNECTION; echo $DISPLAY; exec \"$@\"";
    let mut arguments = vec!["ssh", "there", "--frames", "3", "--save", &save, "--"];
    arguments.extend(["sh", "-c", script, "it's", "glxgears"]);
    let outcome = Outcome::of(&mut host.mgn(&arguments), RUN_TIMEOUT);
    assert_eq!(outcome.status, Some(0), "{}", outcome.describe());
    let mut lines = outcome.stdout.lines();
    assert!(
        lines.next().unwrap_or_default().starts_with("127.0.0.1 "),
        "{}",
        outcome.describe()
    );
    let display = lines.next().unwrap_or_default();
    assert!(display.starts_with("localhost:"), "{}", outcome.describe());
    assert_eq!(frames(Path::new(&save)), 3, "{}", outcome.describe());
    host.is_clean();
    let fails = ["ssh", "there", "--headless", "--", "sh", "-c", "exit 9"];
    let outcome = Outcome::of(&mut host.mgn(&fails), RUN_TIMEOUT);
    assert_eq!(outcome.status, Some(9), "{}", outcome.describe());
    host.is_clean();
}

/// After a run is interrupted or killed, or loses its connection, nothing is left at either end.
#[test]
fn nothing_is_left_behind() {
    let Some(host) = Host::new("") else { return };
    let there = ["ssh", "there"];
    let here = ["run", "--ssh", "there"];
    for (arguments, signal, status) in [
        (&here[..], Signal::TERM, Some(128 + 15)),
        (&here, Signal::INT, Some(128 + 2)),
        (&there, Signal::TERM, Some(128 + 15)),
        (&here, Signal::KILL, Some(128 + 9)),
        (&there, Signal::KILL, Some(128 + 9)),
    ] {
        let running = host.gears(arguments);
        running.signal(signal);
        let outcome = running.finish(RUN_TIMEOUT);
        assert_eq!(outcome.status, status, "{}", outcome.describe());
        match signal {
            Signal::KILL => host.is_clean_after_the_next_run(),
            _ => host.is_clean(),
        }
    }
}

/// The connection stalls, as after a cable is pulled. Both ends notice.
#[test]
fn a_silent_connection_counts_as_lost() {
    let Some(host) = Host::new("") else { return };
    for arguments in [&["run", "--ssh", "there"][..], &["ssh", "there"]] {
        let running = host.gears(arguments);
        let control = until("the connection", || {
            processes().find(|pid| {
                let words = words(*pid);
                host.is_ours(*pid) && words.starts_with("ssh: ") && words.contains("[mux]")
            })
        });
        let control = Pid::from_raw(control as i32).unwrap();
        kill_process(control, Signal::STOP).unwrap();
        // The processes at the other end stop without a message from here.
        until("the end over there", || {
            let holds = |pid: &u32| host.is_ours(*pid) && words(*pid).starts_with("mgn ssh-hold");
            processes().find(holds).is_none().then_some(())
        });
        kill_process(control, Signal::KILL).unwrap();
        let outcome = running.finish(RUN_TIMEOUT);
        assert_ne!(outcome.status, Some(0), "{}", outcome.describe());
        host.is_clean_after_the_next_run();
    }
}

#[test]
fn what_is_missing_over_there_is_said() {
    let Some(host) = Host::new("AllowStreamLocalForwarding no\n") else {
        return;
    };
    let cases = [
        (
            &[
                "run",
                "--ssh",
                "there",
                "--ssh-mgn",
                "/no/mgn",
                "--",
                "true",
            ][..],
            &["no /no/mgn on there", "--ssh-mgn"][..],
        ),
        (
            &["ssh", "there", "--ssh-mgn", "true", "--", "true"],
            &["--version", "--ssh-mgn"],
        ),
        (
            &["ssh", "there", "--", "true"],
            &["AllowStreamLocalForwarding"],
        ),
        (
            &["run", "--ssh", "nobody.invalid", "--", "true"],
            &["could not connect to nobody.invalid"],
        ),
    ];
    for (arguments, words) in cases {
        let outcome = Outcome::of(&mut host.mgn(arguments), RUN_TIMEOUT);
        assert_eq!(outcome.status, Some(125), "{}", outcome.describe());
        let said = ours(&outcome);
        assert_eq!(said.len(), 1, "{}", outcome.describe());
        for word in words {
            assert!(said[0].contains(word), "{}", outcome.describe());
        }
        host.is_clean();
    }
    // A program that cannot reach its server reports this, and prints no other message.
    let outcome = Outcome::of(
        &mut host.mgn(&["run", "--ssh", "there", "--", "glxgears"]),
        RUN_TIMEOUT,
    );
    assert_eq!(outcome.status, Some(125), "{}", outcome.describe());
    assert!(outcome.stderr.contains("ssh"), "{}", outcome.describe());
    host.is_clean();
}

#[test]
fn a_host_without_x_forwarding_is_told_so() {
    let Some(host) = Host::new("X11Forwarding no\n") else {
        return;
    };
    let outcome = Outcome::of(&mut host.mgn(&["ssh", "there", "--", "true"]), RUN_TIMEOUT);
    assert_eq!(outcome.status, Some(125), "{}", outcome.describe());
    let said = ours(&outcome);
    assert_eq!(said.len(), 1, "{}", outcome.describe());
    assert!(said[0].contains("X11Forwarding"), "{}", outcome.describe());
    let gears = [
        "ssh",
        "there",
        "--headless",
        "--frames",
        "3",
        "--",
        "glxgears",
    ];
    let outcome = Outcome::of(&mut host.mgn(&gears), RUN_TIMEOUT);
    assert_eq!(outcome.status, Some(0), "{}", outcome.describe());
    host.is_clean();
}
