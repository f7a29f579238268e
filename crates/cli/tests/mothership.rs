//! The mothership with real servers: registrations, matches, restarts and refusals.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{SocketAddr, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use mgn_fabric::{connect, Address, Token, Transport};
use mgn_mothership::protocol::{self, Request, Wanted};
use mgn_mothership::{ask, Error, Match, Status};
use rustix::process::{kill_process, test_kill_process, Pid, Signal};

#[path = "../../fabric/tests/support/networks.rs"]
mod networks;
use networks::Network;

/// The longest wait. Only an error makes a wait so long.
const WAIT_TIMEOUT: Duration = Duration::from_secs(120);

/// A separate folder and separate names for a test, and processes that end with the test.
struct Stage {
    folder: PathBuf,
    tag: String,
    children: Vec<Child>,
}

impl Stage {
    fn new(name: &str) -> Stage {
        let tag = format!("{name}-{}", std::process::id());
        let folder = std::env::temp_dir().join(format!("mgn-mothership-{tag}"));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        let children = Vec::new();
        Stage {
            folder,
            tag,
            children,
        }
    }

    fn mgn(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mgn"));
        command
            .env("XDG_STATE_HOME", &self.folder)
            .env("XDG_CONFIG_HOME", &self.folder)
            .env_remove("MGN_TOKEN_STORE")
            .env_remove("MGN_SERVER_KEY")
            .env_remove("MGN_TOKEN_FILE")
            .env_remove("MGN_MOTHERSHIP")
            .env_remove("MGN_LOG")
            .stdin(Stdio::null());
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.mgn().args(arguments).output().unwrap()
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.join(name);
        fs::write(&path, text).unwrap();
        path
    }

    fn address(&self, name: &str) -> Address {
        Address::Abstract(format!("mgn-{}-{name}", self.tag))
    }

    fn home(&self) -> Address {
        self.address("home")
    }

    /// Starts a process that prints its addresses. Returns the last one.
    fn serve(&mut self, mut command: Command, addresses: usize) -> (u32, Address) {
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = child.spawn().unwrap();
        let mut out = child.stdout.take().unwrap();
        let mut said = String::new();
        while said.lines().count() < addresses || !said.ends_with('\n') {
            let mut byte = [0];
            if out.read(&mut byte).unwrap() == 0 {
                let mut why = String::new();
                let _ = child.stderr.take().unwrap().read_to_string(&mut why);
                panic!("it has ended: {why}");
            }
            said.push(byte[0].into());
        }
        // Further output must not block the process.
        let mut err = child.stderr.take().unwrap();
        std::thread::spawn(move || std::io::copy(&mut err, &mut std::io::sink()));
        let pid = child.id();
        self.children.push(child);
        let last = said.lines().last().unwrap();
        (
            pid,
            last.trim_start_matches("listening on ").parse().unwrap(),
        )
    }

    fn mothership(&mut self, arguments: &[&str]) -> u32 {
        let home = self.home().to_string();
        let mut command = self.mgn();
        command
            .args(["mothership", "--listen", &home])
            .args(arguments);
        self.serve(command, 1).0
    }

    fn server_command(&self, name: &str) -> Command {
        let (home, listen) = (self.home().to_string(), self.address(name).to_string());
        let mut command = self.mgn();
        command.args([
            "server",
            "--mothership",
            &home,
            "--name",
            name,
            "--listen",
            &listen,
        ]);
        command
    }

    fn server(&mut self, name: &str) -> u32 {
        let command = self.server_command(name);
        self.serve(command, 1).0
    }

    fn status(&self) -> Status {
        mgn_mothership::status(&self.home(), None).unwrap()
    }

    /// Waits until the status meets a condition, and returns the status.
    #[track_caller]
    fn until(&self, what: impl Fn(&Status) -> bool) -> Status {
        let start = Instant::now();
        loop {
            let status = mgn_mothership::status(&self.home(), None);
            match status {
                Ok(status) if what(&status) => return status,
                last if start.elapsed() > WAIT_TIMEOUT => panic!("it stays so: {last:?}"),
                _ => std::thread::sleep(Duration::from_millis(50)),
            }
        }
    }

    #[track_caller]
    fn until_on_line(&self, names: &[&str]) -> Status {
        self.until(|status| {
            let on_line = status.servers.iter().filter(|server| server.on_line);
            on_line
                .map(|server| server.name.as_str())
                .eq(names.iter().copied())
        })
    }

    fn ask(&self, wanted: Wanted) -> Result<Match, Error> {
        let request = Request::new(wanted, "a test");
        ask(&self.home(), None, request, WAIT_TIMEOUT, |_| {})
    }

    /// Waits for a child to end.
    #[track_caller]
    fn ends(&mut self, pid: u32) -> bool {
        let child = self
            .children
            .iter_mut()
            .find(|child| child.id() == pid)
            .unwrap();
        let start = Instant::now();
        loop {
            if let Some(status) = child.try_wait().unwrap() {
                return status.success();
            }
            assert!(start.elapsed() < WAIT_TIMEOUT, "process {pid} does not end");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        for child in &mut self.children {
            let _ = child.kill();
            let _ = child.wait();
        }
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The process that listens at an abstract address, if there is one.
fn try_listener(address: &Address) -> Option<Pid> {
    let Address::Abstract(name) = address else {
        panic!("{address} has no such name");
    };
    let place = SocketAddr::from_abstract_name(name).unwrap();
    let socket = UnixStream::connect_addr(&place).ok()?;
    let peer = rustix::net::sockopt::socket_peercred(&socket);
    Some(peer.unwrap().pid)
}

#[track_caller]
fn listener(address: &Address) -> Pid {
    try_listener(address).expect("nothing listens there")
}

fn lives(pid: Pid) -> bool {
    test_kill_process(pid).is_ok()
}

#[track_caller]
fn gone(pid: Pid) {
    let start = Instant::now();
    while lives(pid) {
        assert!(start.elapsed() < WAIT_TIMEOUT, "{pid:?} does not end");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn programs_and_servers_find_each_other() {
    let mut stage = Stage::new("find");
    let mothership = stage.mothership(&[]);
    let server = stage.server("one");
    let status = stage.until_on_line(&["one"]);
    assert!(!status.servers[0].renderer.is_empty() && !status.servers[0].version.is_empty());

    let matched = stage.ask(Wanted::Grids(vec![(2, 1)])).unwrap();
    assert_eq!(matched.wall.tiles.len(), 2);
    for tile in &matched.tiles {
        assert_eq!(tile.server, "one");
        assert_eq!(tile.address, stage.address("one"));
        assert_eq!(tile.transport, Transport::Shm);
    }
    matched.report(3, 4);
    let output = stage.run(&[
        "status",
        "--json",
        "--mothership",
        &stage.home().to_string(),
    ]);
    let status: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(status["clients"][0]["program"], "a test");
    assert_eq!(status["clients"][0]["tiles"][1]["server"], "one");
    let shown = stage.run(&["status", "--mothership", &stage.home().to_string()]);
    assert!(
        text(&shown.stdout).contains("one by shm at "),
        "{}",
        text(&shown.stdout)
    );
    drop(matched);
    stage.until(|status| status.clients.is_empty());

    let home = stage.home().to_string();
    for (needs, lack) in [
        ("GL_MGN_nonsense", "one has no GL_MGN_nonsense"),
        ("gl=9.5", "and 9.5 is needed"),
        ("max_texture_size=1000000000", "and 1000000000 is needed"),
    ] {
        let wanted = ["run", "--mothership", &home, "--needs", needs, "--", "true"];
        let said = text(&stage.run(&wanted).stderr);
        assert!(said.contains(lack), "{said}");
    }
    let said = text(
        &stage
            .run(&["run", "--needs", "gl=4.5", "--", "true"])
            .stderr,
    );
    assert!(said.contains("give --mothership"), "{said}");

    let listen = stage.address("twin").to_string();
    let output = stage.run(&[
        "server",
        "--mothership",
        &home,
        "--name",
        "one",
        "--listen",
        &listen,
    ]);
    let said = text(&output.stderr);
    assert!(
        !output.status.success() && said.contains("another server called one"),
        "{said}"
    );

    let output = stage.run(&["stop", "--mothership", &home]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(stage.ends(mothership));
    // The mothership has not started this server, so the server continues.
    assert!(lives(Pid::from_raw(server as i32).unwrap()));
    let output = stage.run(&["status", "--mothership", &home]);
    assert!(
        text(&output.stderr).contains("mgn mothership"),
        "{}",
        text(&output.stderr)
    );
}

#[test]
fn a_restart_disturbs_nobody() {
    let mut stage = Stage::new("restart");
    let (a, b) = (stage.address("a"), stage.address("b"));
    let config = stage.file(
        "wall.toml",
        &format!(
            r#"
            [[server]]
            name = "a"
            listen = "{a}"
            [[server]]
            name = "b"
            listen = "{b}"
            discard = true
            [[wall]]
            name = "desk"
            grid = [2, 1]
            tile_size = [100, 100]
            servers = ["a", "b"]
            "#
        ),
    );
    let config = config.display().to_string();
    let first = stage.mothership(&[&config]);
    // There is no server yet, so the program waits.
    let matched = stage.ask(Wanted::Walls(vec!["desk".into()])).unwrap();
    assert_eq!(matched.tiles[1].address, b);
    let servers = [listener(&a), listener(&b)];
    for signal in [Signal::KILL, Signal::TERM] {
        let mothership = stage.children.last().unwrap().id();
        kill_process(Pid::from_raw(mothership as i32).unwrap(), signal).unwrap();
        stage.ends(mothership);
        stage.mothership(&[&config]);
        let status = stage.until(|status| {
            let on_line = status.servers.iter().all(|server| server.on_line);
            on_line && status.clients.len() == 1
        });
        assert!(status.clients[0]
            .tiles
            .iter()
            .all(|tile| tile.server_on_line));
        assert_eq!(status.clients[0].waits_for, None);
        assert_eq!([listener(&a), listener(&b)], servers);
    }
    assert!(!stage.ends(first));
    let last = stage.children.last().unwrap().id();
    kill_process(Pid::from_raw(last as i32).unwrap(), Signal::INT).unwrap();
    assert!(stage.ends(last));
    servers.into_iter().for_each(gone);
    drop(matched);
}

#[test]
fn a_started_server_that_dies_is_started_again() {
    let mut stage = Stage::new("again");
    let address = stage.address("a");
    let text = format!("[[server]]\nname = \"a\"\nlisten = \"{address}\"\n");
    let config = stage.file("wall.toml", &text).display().to_string();
    stage.mothership(&[&config]);
    stage.until_on_line(&["a"]);
    let first = listener(&address);
    kill_process(first, Signal::KILL).unwrap();
    stage.until(|status| {
        status.servers[0].on_line && try_listener(&address).is_some_and(|pid| pid != first)
    });
    let second = listener(&address);
    let output = stage.run(&["stop", "--mothership", &stage.home().to_string()]);
    assert!(output.status.success());
    gone(second);
}

#[test]
fn a_server_that_dies_is_reported_and_comes_back() {
    let mut stage = Stage::new("dies");
    stage.mothership(&[]);
    let server = stage.server("one");
    stage.until_on_line(&["one"]);
    let _matched = stage.ask(Wanted::Single(Some("one".into()))).unwrap();
    kill_process(Pid::from_raw(server as i32).unwrap(), Signal::KILL).unwrap();
    stage.until(|status| status.servers.is_empty() && !status.clients[0].tiles[0].server_on_line);
    stage.server("one");
    stage.until(|status| status.clients.len() == 1 && status.clients[0].tiles[0].server_on_line);
}

/// A replacement of ssh, which writes its arguments to a file.
const SSH: &str = r#"#!/bin/sh
printf '%s\n' "$@" >> "$SSH_CALLS"
[ "$1 $2 $3" = "-n -o BatchMode=yes" ] || exit 3
[ "$4" = wall@far ] || { echo "ssh: Could not resolve hostname $4" >&2; exit 255; }
eval "exec $5"
"#;

#[test]
fn servers_are_started_by_ssh() {
    let mut stage = Stage::new("ssh");
    let ssh = stage.file("ssh", SSH);
    fs::set_permissions(ssh, fs::Permissions::from_mode(0o755)).unwrap();
    let token = stage.folder.join("a token");
    Token::generate().write(&token).unwrap();
    let secret = Token::read(&token).unwrap().to_hex();
    let port = free_port();
    let far = stage.address("far");
    let config = stage.file(
        "wall.toml",
        &format!(
            r#"
            [mothership]
            listen = "tls:127.0.0.1:{port}"
            token_file = "a token"
            [[host]]
            name = "far"
            ssh = "wall@far"
            mgn = "{}"
            [[host]]
            name = "nowhere"
            ssh = "wall@nowhere"
            [[server]]
            name = "far"
            host = "far"
            listen = "{far}"
            [[server]]
            name = "lost"
            host = "nowhere"
            listen = "tls:127.0.0.1:1"
            [[wall]]
            name = "both"
            grid = [2, 1]
            tile_size = [100, 100]
            servers = ["far", "lost"]
            "#,
            env!("CARGO_BIN_EXE_mgn")
        ),
    );
    let calls = stage.folder.join("calls");
    let path = format!(
        "{}:{}",
        stage.folder.display(),
        std::env::var("PATH").unwrap()
    );
    let tls = format!("tls:127.0.0.1:{port}");
    let mut command = stage.mgn();
    command
        .args([
            "mothership",
            "--listen",
            &stage.home().to_string(),
            "--listen",
            &tls,
        ])
        .arg(&config)
        .env("PATH", path)
        .env("SSH_CALLS", &calls);
    let (mothership, _) = stage.serve(command, 2);
    let status = stage.until(|status| {
        status.servers.iter().any(|server| server.on_line)
            && status.servers.iter().any(|server| server.why.is_some())
    });
    assert!(status.servers[0].on_line && status.servers[0].name == "far");
    let why = status.servers[1].why.as_ref().unwrap();
    assert!(
        why.contains("Could not resolve hostname wall@nowhere"),
        "{why}"
    );
    let refused = stage
        .ask(Wanted::Walls(vec!["both".into()]))
        .unwrap_err()
        .to_string();
    assert!(
        refused.contains("the server lost of the tile 1,0 has failed"),
        "{refused}"
    );

    let server = listener(&far);
    let line = fs::read(format!("/proc/{}/cmdline", server.as_raw_nonzero())).unwrap();
    assert!(text(&line).contains("--token-file"), "{}", text(&line));
    assert!(!text(&line).contains(secret.as_str()));
    assert!(!fs::read_to_string(&calls)
        .unwrap()
        .contains(secret.as_str()));
    for log in fs::read_dir(stage.folder.join("manganese"))
        .unwrap()
        .flatten()
        .filter(|log| log.path().is_dir())
    {
        for log in fs::read_dir(log.path()).unwrap().flatten() {
            assert!(!fs::read_to_string(log.path())
                .unwrap()
                .contains(secret.as_str()));
        }
    }
    let output = stage.run(&["stop", "--mothership", &stage.home().to_string()]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(stage.ends(mothership));
    gone(server);
}

#[test]
fn a_server_that_never_starts_has_a_reason() {
    let mut stage = Stage::new("never");
    Token::generate()
        .write(&stage.folder.join("token"))
        .unwrap();
    let ssh = stage.file("ssh", "#!/bin/sh\neval \"exec $5\"\n");
    fs::set_permissions(ssh, fs::Permissions::from_mode(0o755)).unwrap();
    // The server finds no mothership at this address.
    let config = stage.file(
        "wall.toml",
        &format!(
            r#"
            [mothership]
            address = "tcp:127.0.0.1:1"
            token_file = "token"
            [[host]]
            name = "far"
            ssh = "far"
            mgn = "{}"
            [[server]]
            name = "lost"
            host = "far"
            listen = "{}"
            "#,
            env!("CARGO_BIN_EXE_mgn"),
            stage.address("lost")
        ),
    );
    let path = format!(
        "{}:{}",
        stage.folder.display(),
        std::env::var("PATH").unwrap()
    );
    let mut command = stage.mgn();
    command
        .args(["mothership", "--listen", &stage.home().to_string()])
        .arg(&config);
    command.env("PATH", path);
    let (mothership, _) = stage.serve(command, 1);
    let says = |server: &mgn_mothership::ServerStatus| {
        let why = server.why.clone().unwrap_or_default();
        why.contains("has not registered yet") && why.contains("nothing listens at tcp:127.0.0.1:1")
    };
    stage.until(|status| status.servers.iter().any(says));
    let output = stage.run(&["stop", "--mothership", &stage.home().to_string()]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(stage.ends(mothership));
}

/// `mgn` in a separate network, with the mothership at 10.9.0.1.
fn within(network: &Network, stage: &Stage, arguments: &[&str]) -> Command {
    let mut command = stage.mgn();
    let mgn = command.get_program().to_owned();
    let mut inner = Command::new("nsenter");
    inner
        .args(["-t", &network.pid().to_string(), "-n"])
        .arg(mgn)
        .args(arguments);
    inner.env_remove("DISPLAY").stdin(Stdio::null());
    for (name, value) in command
        .env("MGN_MOTHERSHIP", "tls:10.9.0.1:7400")
        .get_envs()
    {
        value.map(|value| inner.env(name, value));
    }
    inner.env("MGN_TOKEN_FILE", stage.folder.join("token"));
    inner.env("MGN_CLIENT_LIBRARY", env!("CARGO_BIN_EXE_mgn"));
    inner
}

#[test]
fn hosts_apart_are_joined_by_tcp() {
    if !networks::are_there() {
        return;
    }
    let mut stage = Stage::new("apart");
    Token::generate()
        .write(&stage.folder.join("token"))
        .unwrap();
    let (here, there) = (Network::new(), Network::new());
    networks::plug(
        "mgn0",
        [(here.pid(), "10.9.0.1/24"), (there.pid(), "10.9.0.2/24")],
    );
    let config = stage.file(
        "wall.toml",
        r#"
        [mothership]
        listen = "tls:0.0.0.0:7400"
        token_file = "token"
        [[host]]
        name = "there"
        address = "10.9.0.2"
        [[server]]
        name = "far"
        host = "there"
        [[wall]]
        name = "desk"
        grid = [1, 1]
        tile_size = [100, 100]
        servers = ["far"]
        "#,
    );
    let mothership = within(&here, &stage, &["mothership", config.to_str().unwrap()]);
    stage.serve(mothership, 1);
    let mut far = within(&there, &stage, &["server", "--name", "far"]);
    far.args(["--mothership", "tls:10.9.0.1:7400"]);
    far.args([
        "--listen",
        "unix:@mgn-apart",
        "--listen",
        "tls:0.0.0.0:7500",
    ]);
    stage.serve(far, 2);
    let program = ["run", "--wall", "desk", "--", "sleep", "600"];
    let program = within(&here, &stage, &program)
        .stderr(Stdio::null())
        .spawn();
    let program = program.unwrap();
    let pid = program.id();
    stage.children.push(program);
    let start = Instant::now();
    let tile = loop {
        let output = within(&here, &stage, &["status", "--json"])
            .output()
            .unwrap();
        let status: Status = serde_json::from_slice(&output.stdout).unwrap();
        let tile = status
            .clients
            .first()
            .and_then(|client| client.tiles.first().cloned());
        if let Some(tile) = tile {
            break tile;
        }
        assert!(start.elapsed() < WAIT_TIMEOUT, "it stays so: {status:?}");
        std::thread::sleep(Duration::from_millis(50));
    };
    assert_eq!(
        (tile.transport, tile.address.as_str()),
        (protocol::TransportKind::Tcp, "tls:10.9.0.2:7500")
    );
    // SIGTERM to `mgn run` also ends the program.
    kill_process(Pid::from_raw(pid as i32).unwrap(), Signal::TERM).unwrap();
    stage.ends(pid);
}

fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

#[test]
fn strangers_are_turned_away() {
    let mut stage = Stage::new("strangers");
    let token = |name: &str| -> PathBuf {
        let file = stage.folder.join(name);
        Token::generate().write(&file).unwrap();
        file
    };
    let (right, wrong) = (token("right"), token("wrong"));
    let mut command = stage.mgn();
    command
        .args(["mothership", "--listen", &stage.home().to_string()])
        .args(["--listen", "tcp:127.0.0.1:0", "--token-file"])
        .arg(&right);
    let (_, address) = stage.serve(command, 2);
    let place = address.to_string();
    let status = |token: &Path| {
        let token = token.display().to_string();
        stage.run(&["status", "--mothership", &place, "--token-file", &token])
    };
    assert!(status(&right).status.success());
    let output = status(&wrong);
    assert!(!output.status.success());
    assert!(
        text(&output.stderr).contains("token"),
        "{}",
        text(&output.stderr)
    );
    let output = stage.run(&["status", "--mothership", &place]);
    assert!(
        text(&output.stderr).contains("requires a token"),
        "{}",
        text(&output.stderr)
    );
    let output = stage.run(&[
        "stop",
        "--mothership",
        &place,
        "--token-file",
        &wrong.display().to_string(),
    ]);
    assert!(!output.status.success());

    // Garbage before the handshake, and after it.
    let Address::Tcp { host, port, .. } = &address else {
        panic!("{address} is no TCP address");
    };
    for _ in 0..3 {
        let mut socket = TcpStream::connect((host.as_str(), *port)).unwrap();
        socket.write_all(&[0xa5; 3000]).unwrap();
        let mut rest = Vec::new();
        let _ = socket.read_to_end(&mut rest);
    }
    let right = Token::read(&right).unwrap();
    let open = |opening: &[u8]| {
        mgn_fabric::connect(
            &address,
            Transport::Tcp,
            Some(&right),
            opening,
            WAIT_TIMEOUT,
        )
    };
    for opening in [&[][..], &[0xff; 100], &[99]] {
        let error = open(opening).unwrap_err();
        assert!(
            error
                .to_string()
                .contains("does not understand this client"),
            "{error}"
        );
    }
    let opening = protocol::encode(&protocol::Opening {
        version: protocol::VERSION,
    });
    for garbage in [&[0xff; 5000][..], &[0, 0xff, 0xff, 0xff], &[200]] {
        let (sender, mut receiver) = open(&opening).unwrap().0.split();
        sender.send(garbage).unwrap();
        // A heartbeat may arrive before the connection ends.
        while let Ok(message) = receiver.recv(Some(WAIT_TIMEOUT)) {
            assert!(message.is_some(), "it is not turned away");
        }
    }
    assert!(stage.status().clients.is_empty());
}

#[test]
fn patience_ends_with_the_reason() {
    let mut stage = Stage::new("patience");
    stage.mothership(&[]);
    let request = Request::new(Wanted::Single(Some("nobody".into())), "a test");
    let mut reasons = Vec::new();
    let patience = Duration::ZERO;
    let error = ask(&stage.home(), None, request, patience, |why| {
        reasons.push(why.to_owned())
    });
    let error = error.unwrap_err().to_string();
    assert_eq!(reasons, ["no server called nobody is registered"]);
    assert!(
        error.ends_with("no server called nobody is registered"),
        "{error}"
    );
}

/// A relay that asks the mothership for the addresses of servers connects clients to registered
/// servers, and continues without the mothership.
#[test]
fn a_relay_finds_servers_by_asking() {
    let mut stage = Stage::new("relay");
    let token = stage.folder.join("token");
    let token_file = token.to_str().unwrap().to_owned();
    assert!(stage.run(&["token", "new", &token_file]).status.success());
    let home = stage.home().to_string();
    let mothership = stage.mothership(&[]);
    let at = ["--token-file", &token_file, "--listen", "tls:127.0.0.1:0"];
    let mut relay = stage.mgn();
    relay.args(["relay", "--mothership", &home]).args(at);
    let (_, relay) = stage.serve(relay, 1);
    let token = Token::read(&token).unwrap();
    // The server answers that it does not understand, so it has been reached.
    let refused = |name: &str| {
        let address: Address = format!("{relay}/{name}").parse().unwrap();
        let opened = connect(&address, Transport::Tcp, Some(&token), b"?", WAIT_TIMEOUT);
        match opened.map(drop) {
            Err(mgn_fabric::Error::Refused(why)) => why,
            other => panic!("{other:?}"),
        }
    };
    let why = refused("a");
    assert!(why.contains("the server a is not registered"), "{why}");
    let mut server = stage.mgn();
    server
        .args(["server", "--mothership", &home, "--name", "a"])
        .args(at);
    stage.serve(server, 1);
    stage.until_on_line(&["a"]);
    assert!(refused("a").contains("does not understand"));
    let pid = Pid::from_raw(mothership as i32).unwrap();
    kill_process(pid, Signal::TERM).unwrap();
    assert!(stage.ends(mothership));
    assert!(refused("a").contains("does not understand"));
    assert!(refused("b").contains("there is no mothership"));
}

/// Servers that the mothership starts with tokens of their own. The holder of one token can use
/// that server only.
#[test]
fn a_servers_token_opens_no_other() {
    let mut stage = Stage::new("tokens");
    for name in ["wall.token", "left.token", "right.token"] {
        let token = stage.folder.join(name);
        let made = stage.run(&["token", "new", token.to_str().unwrap()]);
        assert!(made.status.success(), "{}", text(&made.stderr));
    }
    let ports = [free_port(), free_port(), free_port()];
    let mut config = format!(
        "[mothership]\nlisten = \"tls:127.0.0.1:{}\"\ntoken_file = \"wall.token\"\n",
        ports[0]
    );
    for (name, port) in ["left", "right"].into_iter().zip(&ports[1..]) {
        config += &format!(
            "[[server]]\nname = \"{name}\"\nlisten = \"tls:127.0.0.1:{port}\"\ntoken_file = \"{name}.token\"\n"
        );
    }
    config += "[[wall]]\nname = \"desk\"\ngrid = [2, 1]\ntile_size = [9, 9]\nservers = [\"left\", \"right\"]\n";
    let config = stage.file("wall.toml", &config);
    let home = stage.home().to_string();
    let tls = format!("tls:127.0.0.1:{}", ports[0]);
    let mut command = stage.mgn();
    command.args(["mothership", "--listen", &home, "--listen", &tls]);
    command.arg(&config);
    let (mothership, _) = stage.serve(command, 2);
    stage.until_on_line(&["left", "right"]);
    let wall_token = stage.folder.join("wall.token");
    let wanted = Request::new(Wanted::Walls(vec!["desk".into()]), "a test");
    let tls: Address = tls.parse().unwrap();
    let found = ask(&tls, Some(&wall_token), wanted, WAIT_TIMEOUT, |_| {}).unwrap();
    for (tile, other) in found.tiles.iter().zip(["right.token", "left.token"]) {
        let own = tile.token_file.clone().unwrap();
        assert_eq!(own, stage.folder.join(format!("{}.token", tile.server)));
        let refused = |file: &Path| {
            let token = Token::read(file).unwrap();
            let opened = connect(
                &tile.address,
                Transport::Tcp,
                Some(&token),
                b"?",
                WAIT_TIMEOUT,
            );
            opened.map(drop).unwrap_err().to_string()
        };
        // This answer shows that the server has been reached.
        assert!(refused(&own).contains("does not understand"));
        for file in [&stage.folder.join(other), &wall_token] {
            let why = refused(file);
            assert!(why.contains("token"), "{why}");
        }
    }
    drop(found);
    let output = stage.run(&[
        "stop",
        "--mothership",
        &home,
        "--token-file",
        wall_token.to_str().unwrap(),
    ]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(stage.ends(mothership));
}
