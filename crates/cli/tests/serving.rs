//! `mgn server` as a service: its audit file, and the sockets that a service manager passes.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::{chown, PermissionsExt};
use std::os::unix::net::{UnixDatagram, UnixListener};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use mgn_fabric::{connect, Address, Connection, Transport};
use mgn_wire::hello::{Hello, Role, VERSION};

const WAIT_TIMEOUT: Duration = Duration::from_secs(60);

/// A separate folder for a test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("mgn-serving-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A server, which is killed at the end.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Server {
    /// Starts a server and waits until it listens. Returns its address.
    fn start(command: &mut Command) -> (Server, Address) {
        let command = command.stdout(Stdio::piped());
        let mut server = Server(command.spawn().unwrap());
        let lines = BufReader::new(server.0.stdout.take().unwrap()).lines();
        let mut lines = lines.map_while(Result::ok);
        let line = lines.find_map(|line| Some(line.strip_prefix("listening on ")?.to_owned()));
        (server, line.expect("an address").parse().unwrap())
    }
}

fn clean(command: &mut Command, folder: &Folder) {
    command
        .env("XDG_CONFIG_HOME", &folder.0)
        .env("XDG_STATE_HOME", &folder.0)
        .env_remove("MGN_TOKEN_FILE")
        .env_remove("MGN_LOG")
        .stdin(Stdio::null());
}

fn begin(server: &Address) -> Connection {
    let hello = Hello {
        version: VERSION,
        table_hash: mgn_wire::ops::TABLE_HASH,
        role: Role::Session {
            program: "a \"program\"\n".into(),
            pid: 7,
            tile: None,
            shown: None,
            window: None,
        },
    };
    let opening = postcard::to_allocvec(&hello).unwrap();
    let connected = connect(server, Transport::Unix, None, &opening, WAIT_TIMEOUT);
    connected.unwrap().0
}

/// Waits until an audit file has at least `many` events, and returns them.
fn events(file: &Path, many: usize) -> Vec<serde_json::Value> {
    let deadline = Instant::now() + WAIT_TIMEOUT;
    loop {
        let text = fs::read_to_string(file).unwrap_or_default();
        let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
        let events: Vec<_> = lines.collect();
        if events.len() >= many {
            return events;
        }
        assert!(Instant::now() < deadline, "{text}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The fields of the kernel's file `status` of a process.
fn status(process: u32) -> BTreeMap<String, String> {
    let text = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let lines = text.lines().filter_map(|line| line.split_once(':'));
    lines
        .map(|(name, value)| (name.to_owned(), value.trim().to_owned()))
        .collect()
}

/// A worker drops privileges before it has a client, and drops more when it has one.
#[test]
fn workers_are_confined() {
    let folder = Folder::new("confined");
    let mut command = Command::new(env!("CARGO_BIN_EXE_mgn"));
    clean(&mut command, &folder);
    let listen = format!("unix:{}/socket", folder.0.display());
    command.args(["server", "--listen", &listen]);
    // Cargo sets this variable. If it is set, the worker of root's server remains root.
    command.env_remove("LD_LIBRARY_PATH");
    let (server, address) = Server::start(&mut command);
    let server = server.0.id();
    let workers = children(server);
    assert_eq!(workers.len(), 1);
    let before = status(workers[0]);
    let _session = begin(&address);
    let after = status(workers[0]);
    for status in [&before, &after] {
        assert_eq!(status["NoNewPrivs"], "1");
        for set in ["CapInh", "CapPrm", "CapEff", "CapAmb"] {
            assert_eq!(status[set], "0000000000000000", "{set}");
        }
        assert_eq!(status["Seccomp"], "2");
        let users: Vec<&str> = status["Uid"].split_whitespace().collect();
        assert!(users.iter().all(|user| *user != "0"), "{users:?}");
    }
    let filters = |of: &BTreeMap<String, String>| of["Seccomp_filters"].parse::<u32>().unwrap();
    assert!(filters(&after) > filters(&before));
    let is_limited = |process: u32, limit: &str, most: &str| {
        let limits = fs::read_to_string(format!("/proc/{process}/limits")).unwrap();
        let line = limits.lines().find(|line| line.starts_with(limit)).unwrap();
        let values = line[limit.len()..].split_whitespace();
        assert!(values.take(2).all(|value| value == most), "{line}");
    };
    is_limited(workers[0], "Max open files", "4096");
    is_limited(workers[0], "Max core file size", "0");
    let adjusted = |of: u32| {
        let text = fs::read_to_string(format!("/proc/{of}/oom_score_adj")).unwrap();
        text.trim().parse::<i32>().unwrap()
    };
    assert_eq!(adjusted(workers[0]), (adjusted(server) + 200).min(1000));
    // The server writes no core dump either, because its memory contains tokens.
    is_limited(server, "Max core file size", "0");
}

/// Workers of root's server and of an ordinary user's server have separate namespaces. The latter
/// also need a user namespace.
#[test]
fn workers_have_namespaces_of_their_own() {
    if mgn_sys::peer::own_uid() != 0 {
        return println!("SKIPPED: only root may look at workers");
    }
    const NOBODY: u32 = 65534;
    for (user, kinds) in [
        (None, &["net", "ipc", "uts"][..]),
        (Some(NOBODY), &["net", "ipc", "uts", "user"]),
    ] {
        if !may_have_namespaces(user) {
            println!("SKIPPED: the user {user:?} may not make namespaces");
            continue;
        }
        let folder = Folder::new("namespaces");
        let program = folder.0.join("mgn");
        fs::copy(env!("CARGO_BIN_EXE_mgn"), &program).unwrap();
        let mut command = Command::new(program);
        clean(&mut command, &folder);
        let listen = format!("unix:{}/socket", folder.0.display());
        command.args(["server", "--listen", &listen]);
        command.env("XDG_CACHE_HOME", &folder.0);
        if let Some(user) = user {
            chown(&folder.0, Some(user), Some(user)).unwrap();
            command.uid(user).gid(user);
        }
        let (server, _) = Server::start(&mut command);
        // The server does not listen until the first worker is confined and waits for a session.
        let workers = children(server.0.id());
        assert!(!workers.is_empty());
        for worker in workers {
            for kind in kinds {
                let of = |process: &str| fs::read_link(format!("/proc/{process}/ns/{kind}"));
                let theirs = of(&worker.to_string()).unwrap();
                assert_ne!(theirs, of("self").unwrap(), "{kind}, as {user:?}");
            }
            let map = fs::read_to_string(format!("/proc/{worker}/uid_map")).unwrap();
            let map: Vec<&str> = map.split_whitespace().collect();
            match user {
                Some(_) => assert_eq!(map, ["65534", "65534", "1"]),
                None => assert_eq!(map[..2], ["0", "0"]),
            }
        }
    }
}

/// Whether this user may create namespaces. Root needs no user namespace.
fn may_have_namespaces(user: Option<u32>) -> bool {
    let mut unshare = Command::new("unshare");
    unshare.args(["--net", "--ipc", "--uts"]);
    if let Some(user) = user {
        unshare.arg("--user").uid(user).gid(user);
    }
    unshare.arg("true");
    let output = unshare.output();
    output.is_ok_and(|output| output.status.success())
}

fn children(of: u32) -> Vec<u32> {
    let parent = |pid: u32| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name of the process precedes this, and may contain any characters.
        let (_, rest) = stat.rsplit_once(") ")?;
        rest.split(' ').nth(1)?.parse::<u32>().ok()
    };
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let pids = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|pid| parent(*pid) == Some(of)).collect()
}

/// The audit file contains all sessions at any log level, even if the file is renamed meanwhile.
#[test]
fn sessions_are_in_the_audit_file() {
    let folder = Folder::new("audit");
    fs::create_dir(folder.0.join("manganese")).unwrap();
    let config = folder.0.join("manganese/config.toml");
    fs::write(config, "audit = \"../lines.json\"\nidle_timeout = 600\n").unwrap();
    let file = folder.0.join("lines.json");
    let mut command = Command::new(env!("CARGO_BIN_EXE_mgn"));
    clean(&mut command, &folder);
    let listen = format!("unix:{}/socket", folder.0.display());
    command.args(["server", "--listen", &listen]);
    let (_server, address) = Server::start(command.env("MGN_LOG", "off"));
    let session = begin(&address);
    let begun = &events(&file, 1)[0];
    assert_eq!(begun["event"], "session-begin");
    assert_eq!(begun["uid"], mgn_sys::peer::own_uid());
    assert_eq!(begun["claimed_program"], "a \"program\"?");
    assert_eq!(begun["claimed_pid"], 7);
    assert!(begun["timestamp"].is_string(), "{begun}");
    let mode = fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    fs::rename(&file, folder.0.join("old.json")).unwrap();
    drop(session);
    let ended = &events(&file, 1)[0];
    assert_eq!(ended["event"], "session-end");
    assert_eq!(ended["reason"], "client-left");
    assert!(ended["seconds"].is_number() && ended["bytes"].is_number());
    let refused = connect(&address, Transport::Unix, None, b"nonsense", WAIT_TIMEOUT);
    assert!(refused.is_err());
    let refused = &events(&file, 2)[1];
    assert_eq!(refused["event"], "refused");
    assert_eq!(refused["reason"], "not-understood");
}

#[test]
fn an_unwritable_audit_file_is_reported() {
    let folder = Folder::new("no-audit");
    let mut command = Command::new(env!("CARGO_BIN_EXE_mgn"));
    clean(&mut command, &folder);
    let output = command
        .args(["server", "--audit", "/nonexistent/lines"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        said.contains("/nonexistent/lines") && said.lines().count() == 1,
        "{said}"
    );
}

/// A shell that passes its standard input on as the first of `count` sockets.
fn activated(folder: &Folder, socket: UnixListener, count: u32) -> Command {
    let mut command = Command::new("sh");
    clean(&mut command, folder);
    let script = "exec 3<&0 </dev/null; export LISTEN_PID=$$; exec \"$0\" server";
    command
        .args(["-c", script, env!("CARGO_BIN_EXE_mgn")])
        .env("LISTEN_FDS", count.to_string())
        .env("LISTEN_FDNAMES", "first:second")
        .stdin(Stdio::from(std::os::fd::OwnedFd::from(socket)));
    command
}

#[test]
fn a_passed_socket_is_served_and_readiness_is_told() {
    let folder = Folder::new("socket");
    let path = folder.0.join("socket");
    let socket = UnixListener::bind(&path).unwrap();
    let notified = UnixDatagram::bind(folder.0.join("notify")).unwrap();
    notified.set_read_timeout(Some(WAIT_TIMEOUT)).unwrap();
    let mut command = activated(&folder, socket, 1);
    command.env("NOTIFY_SOCKET", folder.0.join("notify"));
    let (server, address) = Server::start(&mut command);
    assert_eq!(address, Address::Unix(path.clone()));
    let mut state = [0; 64];
    let length = notified.recv(&mut state).unwrap();
    assert_eq!(&state[..length], b"READY=1");
    drop(begin(&address));
    drop(server);
    assert!(path.exists(), "the socket belongs to the service manager");
}

#[test]
fn a_missing_socket_is_reported() {
    let folder = Folder::new("missing");
    let socket = UnixListener::bind(folder.0.join("socket")).unwrap();
    let mut command = activated(&folder, socket, 2);
    let mut server = Server(command.stderr(Stdio::piped()).spawn().unwrap());
    assert_eq!(server.0.wait().unwrap().code(), Some(1));
    let mut said = String::new();
    let mut stderr = server.0.stderr.take().unwrap();
    stderr.read_to_string(&mut said).unwrap();
    assert!(said.contains("the sockets that were passed"), "{said}");
}

/// The server that `mgn run` starts itself, on a machine whose EGL library cannot be loaded.
#[test]
fn run_says_why_its_own_server_cannot_start_and_runs_nothing() {
    let folder = Folder::new("no-driver");
    fs::write(folder.0.join("libEGL.so.1"), "no library").unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_mgn"));
    clean(&mut command, &folder);
    let output = command
        .args(["run", "--headless", "--", "echo", "it ran"])
        .env_remove("MGN_SERVER")
        .env("LD_LIBRARY_PATH", &folder.0)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(125), "{said}");
    assert!(output.stdout.is_empty(), "{output:?}");
    assert!(
        said.contains("libEGL.so.1 cannot be loaded") && said.contains("install"),
        "{said}"
    );
    assert!(said.contains("the render server did not start"), "{said}");
}
