//! Problems of new users: servers that do not exist, and servers for several kinds of clients.

use std::io::{BufRead, BufReader, Lines, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use mgn_tests::{Outcome, Stage};

const RUN_TIMEOUT: Duration = Duration::from_secs(60);

/// A file with a token that `mgn token new` made.
fn token(stage: &Stage) -> String {
    let token = stage.folder().join("token").display().to_string();
    let made = stage.mgn().args(["token", "new", &token]).output().unwrap();
    assert!(made.status.success());
    token
}

/// Runs programs that meet servers by GLX and by EGL. Checks that they print one line, which
/// contains these words. Their own messages about visuals and displays would mislead users.
#[track_caller]
fn ends_with_one_line(stage: &Stage, flags: &[&str], words: &[&str]) {
    for program in ["glxgears", "eglinfo"] {
        let mut mgn = stage.mgn();
        mgn.arg("run").args(flags).args(["--", program]);
        let outcome = Outcome::of(&mut mgn, RUN_TIMEOUT);
        assert_eq!(outcome.status, Some(125), "{}", outcome.describe());
        assert!(!outcome.stdout.contains("visual"), "{}", outcome.describe());
        let lines: Vec<&str> = outcome.stderr.lines().collect();
        assert_eq!(lines.len(), 1, "{}", outcome.describe());
        assert!(lines[0].starts_with("mgn: "), "{}", outcome.describe());
        for word in words {
            assert!(lines[0].contains(word), "{word}: {}", outcome.describe());
        }
    }
}

#[test]
fn a_program_whose_server_is_not_there_ends_with_one_line() {
    let stage = Stage::new();
    let token = token(&stage);
    let nobody = format!("unix:@mgn-nobody-{}", std::process::id());
    for (server, words) in [
        (&nobody[..], "nothing listens at"),
        ("tls:no-such-host.invalid", "spelling"),
    ] {
        let flags = ["--server", server, "--token-file", &token];
        ends_with_one_line(&stage, &flags, &[words, server]);
        let mut mgn = stage.mgn();
        mgn.arg("run").args(flags).args(["--on-loss", "continue"]);
        let goes_on = Outcome::of(mgn.args(["--", "glxgears"]), RUN_TIMEOUT);
        assert_eq!(goes_on.status, Some(1), "{}", goes_on.describe());
        assert!(goes_on.stdout.contains("visual"), "{}", goes_on.describe());
    }
}

struct Server {
    child: Child,
    /// The rest of the server's output.
    _said: Lines<BufReader<ChildStdout>>,
}

impl Server {
    /// Starts a server. Returns it with the addresses that it listens at.
    fn start(mgn: &mut Command) -> (Server, Vec<String>) {
        let listens = mgn.get_args().filter(|word| *word == "--listen").count();
        let mut child = mgn.stdout(Stdio::piped()).spawn().unwrap();
        let mut said = BufReader::new(child.stdout.take().unwrap()).lines();
        let addresses = said.by_ref().take(listens).map(|line| {
            let line = line.unwrap();
            let address = line.strip_prefix("listening on ");
            address.unwrap_or_else(|| panic!("{line}")).to_owned()
        });
        let addresses = addresses.collect();
        (Server { child, _said: said }, addresses)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_server_with_a_token_is_there_for_its_own_user_too() {
    let stage = Stage::new();
    let token = token(&stage);
    let near = format!("unix:@mgn-both-{}", std::process::id());
    let mut mgn = stage.mgn();
    mgn.args(["server", "--listen", &near, "--listen", "tls:127.0.0.1:0"]);
    mgn.args(["--token-file", &token]);
    let (_server, addresses) = Server::start(&mut mgn);
    assert_eq!(addresses[0], near);
    let far = addresses[1].clone();
    for flags in [
        &["--server", &near][..],
        &["--server", &near, "--transport", "unix"],
        &["--server", &far, "--token-file", &token],
    ] {
        let mut mgn = stage.mgn();
        mgn.args(["run", "--frames", "3"]).args(flags);
        let outcome = Outcome::of(mgn.args(["--", "glxgears"]), RUN_TIMEOUT);
        assert_eq!(outcome.status, Some(0), "{}", outcome.describe());
    }
}

/// Forwards bytes between clients of `door` and the server at `to`, as ssh does. `change` may
/// change the bytes to the server. Returns a counter of the bytes to the clients.
fn forward(door: &Path, to: &Path, change: fn(&mut [u8])) -> Arc<AtomicU64> {
    let listener = UnixListener::bind(door).unwrap();
    let (to, count) = (to.to_owned(), Arc::new(AtomicU64::new(0)));
    let counted = count.clone();
    thread::spawn(move || {
        for here in listener.incoming() {
            let (here, there) = (here.unwrap(), UnixStream::connect(&to).unwrap());
            let (mut from, mut into) = (here.try_clone().unwrap(), there.try_clone().unwrap());
            thread::spawn(move || {
                let mut bytes = vec![0; 64 << 10];
                while let Ok(got @ 1..) = from.read(&mut bytes) {
                    change(&mut bytes[..got]);
                    if into.write_all(&bytes[..got]).is_err() {
                        break;
                    }
                }
                let _ = into.shutdown(std::net::Shutdown::Both);
            });
            let (mut from, mut into, counted) = (there, here, counted.clone());
            thread::spawn(move || {
                let mut bytes = vec![0; 64 << 10];
                while let Ok(got @ 1..) = from.read(&mut bytes) {
                    counted.fetch_add(got as u64, Ordering::Relaxed);
                    if into.write_all(&bytes[..got]).is_err() {
                        break;
                    }
                }
                let _ = into.shutdown(std::net::Shutdown::Both);
            });
        }
    });
    count
}

/// A client needs no setting for a forwarded socket. Pictures are compressed if the server was told
/// to compress them.
#[test]
fn a_forwarded_socket_leads_to_a_server() {
    let stage = Stage::new();
    let folder = stage.folder();
    let mut counts = [0, 0];
    for (n, compresses) in [false, true].into_iter().enumerate() {
        let [server, door] = ["server", "door"].map(|name| folder.join(format!("{name}-{n}")));
        let mut mgn = stage.mgn();
        mgn.args(["server", "--listen", &format!("unix:{}", server.display())]);
        if compresses {
            mgn.env("MGN_COMPRESS", "1");
        }
        let _server = Server::start(&mut mgn);
        let count = forward(&door, &server, |_| ());
        let mut mgn = stage.mgn();
        mgn.args(["run", "--frames", "20", "--server"]);
        mgn.args([&format!("unix:{}", door.display()), "--", "glxgears"]);
        let outcome = Outcome::of(&mut mgn, RUN_TIMEOUT);
        assert_eq!(outcome.status, Some(0), "{}", outcome.describe());
        assert_eq!(outcome.stderr, "", "{}", outcome.describe());
        counts[n] = count.load(Ordering::Relaxed);
    }
    assert!(counts[0] > 20 * 300 * 300 * 4, "{counts:?}");
    assert!(counts[1] < counts[0] / 4, "{counts:?}");
}

/// The program has the token of another server, or a token that is no longer valid.
#[test]
fn a_program_whose_token_is_refused_ends_with_one_line() {
    let stage = Stage::new();
    let folder = stage.folder();
    let [store, ours, other] = ["store", "ours", "other"].map(|name| folder.join(name));
    let [store, ours, other] = [store, ours, other].map(|path| path.display().to_string());
    let tokens = |words: &[&str]| {
        let outcome = Outcome::of(stage.mgn().arg("token").args(words), RUN_TIMEOUT);
        assert_eq!(outcome.status, Some(0), "{}", outcome.describe());
    };
    tokens(&["new", "--store", &store, "--name", "ours", &ours]);
    let elsewhere = folder.join("elsewhere").display().to_string();
    tokens(&["new", "--store", &elsewhere, "--name", "other", &other]);
    let mut mgn = stage.mgn();
    mgn.args(["server", "--listen", "tls:127.0.0.1:0"]);
    let (_server, addresses) = Server::start(mgn.args(["--token-store", &store]));
    let far = &addresses[0][..];
    let flags = |token| ["--server", far, "--token-file", token];
    let welcome = |token| {
        let mut mgn = stage.mgn();
        mgn.args(["run", "--frames", "3"]).args(flags(token));
        Outcome::of(mgn.args(["--", "glxgears"]), RUN_TIMEOUT)
    };
    let outcome = welcome(&ours);
    assert_eq!(outcome.status, Some(0), "{}", outcome.describe());
    ends_with_one_line(&stage, &flags(&other), &["token", far]);
    tokens(&["revoke", "--store", &store, "ours"]);
    ends_with_one_line(&stage, &flags(&ours), &["token", far]);
}

/// The bytes are changed on the way, so that the client appears to have another table of commands.
#[test]
fn a_program_whose_server_is_of_another_release_ends_with_one_line() {
    fn with_other_table(bytes: &mut [u8]) {
        let mut hash = Vec::new();
        let mut rest = mgn_wire::ops::TABLE_HASH;
        // Numbers in postcard's format: seven bits per byte, and a bit that says whether more bytes
        // follow.
        while rest >= 0x80 {
            hash.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        hash.push(rest as u8);
        let mut places = bytes.windows(hash.len());
        if let Some(place) = places.position(|window| window == hash) {
            bytes[place] ^= 1;
        }
    }
    let stage = Stage::new();
    let folder = stage.folder();
    let [server, door] = ["server", "door"].map(|name| folder.join(name));
    let mut mgn = stage.mgn();
    mgn.args(["server", "--listen", &format!("unix:{}", server.display())]);
    let _server = Server::start(&mut mgn);
    forward(&door, &server, with_other_table);
    let door = format!("unix:{}", door.display());
    let words = ["table of commands", "same release on both ends", &door];
    ends_with_one_line(&stage, &["--server", &door], &words);
}

/// There is no driver at all, or there was a driver only when the server started.
#[test]
fn a_program_whose_server_has_no_driver_ends_with_one_line() {
    let stage = Stage::new();
    let folder = stage.folder();
    let library = folder.join("libEGL.so.1");
    let real = Command::new("cc")
        .arg("-print-file-name=libEGL.so.1")
        .output()
        .unwrap()
        .stdout;
    let real = String::from_utf8(real).unwrap();
    std::os::unix::fs::symlink(real.trim(), &library).unwrap();
    let address = format!("unix:{}", folder.join("server").display());
    let mut mgn = stage.mgn();
    mgn.env("LD_LIBRARY_PATH", &folder);
    let (_server, _) = Server::start(mgn.args(["server", "--listen", &address]));
    std::fs::remove_file(&library).unwrap();
    std::fs::write(&library, "no library").unwrap();
    // The server's first renderer was started before the library was replaced.
    let mut mgn = stage.mgn();
    mgn.args(["run", "--frames", "3", "--server", &address]);
    let outcome = Outcome::of(mgn.args(["--", "glxgears"]), RUN_TIMEOUT);
    assert_eq!(outcome.status, Some(0), "{}", outcome.describe());
    let words = ["libEGL.so.1 cannot be loaded", "install", &address];
    ends_with_one_line(&stage, &["--server", &address], &words);
}
