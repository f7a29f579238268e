//! What newcomers meet first: servers that are not there, and servers that are there for more than
//! one kind of client.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use mgn_tests::{Outcome, Stage};

const LIMIT: Duration = Duration::from_secs(60);

/// A token's file, which `mgn token new` makes.
fn token(stage: &Stage) -> String {
    let token = stage.folder().join("token").display().to_string();
    let made = stage.mgn().args(["token", "new", &token]).output().unwrap();
    assert!(made.status.success());
    token
}

/// What the program would say itself, of visuals and displays, would mislead.
#[test]
fn a_program_whose_server_is_not_there_ends_with_one_line() {
    let stage = Stage::new();
    let token = token(&stage);
    let nobody = format!("unix:@mgn-nobody-{}", std::process::id());
    for (server, words) in [
        (&nobody[..], "nothing listens at"),
        ("tls:no-such-host.invalid", "spelling"),
    ] {
        let run = |flags: &[&str], program: &str| {
            let mut mgn = stage.mgn();
            mgn.args(["run", "--server", server, "--token-file", &token]);
            Outcome::of(mgn.args(flags).args(["--", program]), LIMIT)
        };
        for program in ["glxgears", "eglinfo"] {
            let outcome = run(&[], program);
            assert_eq!(outcome.status, Some(125), "{}", outcome.describe());
            let lines: Vec<&str> = outcome.stderr.lines().collect();
            assert_eq!(lines.len(), 1, "{}", outcome.describe());
            let line = lines[0];
            assert!(line.starts_with("mgn: ") && line.contains(words), "{line}");
            assert!(line.contains(server), "{line}");
        }
        let goes_on = run(&["--on-loss", "continue"], "glxgears");
        assert_eq!(goes_on.status, Some(1), "{}", goes_on.describe());
        assert!(goes_on.stdout.contains("visual"), "{}", goes_on.describe());
    }
}

struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_server_with_a_token_is_there_for_its_own_user_too() {
    let stage = Stage::new();
    let token = token(&stage);
    let near = format!("unix:@mgn-both-{}", std::process::id());
    let mut mgn = stage.mgn();
    mgn.args(["server", "--listen", &near, "--listen", "tls:127.0.0.1:0"]);
    mgn.args(["--token-file", &token]).stdout(Stdio::piped());
    let mut server = Server(mgn.spawn().unwrap());
    let mut lines = BufReader::new(server.0.stdout.take().unwrap()).lines();
    let mut next = || lines.next().unwrap().unwrap().replace("listening on ", "");
    assert_eq!(next(), near);
    let far = next();
    for flags in [
        &["--server", &near][..],
        &["--server", &near, "--transport", "unix"],
        &["--server", &far, "--token-file", &token],
    ] {
        let mut mgn = stage.mgn();
        mgn.args(["run", "--frames", "3"]).args(flags);
        let outcome = Outcome::of(mgn.args(["--", "glxgears"]), LIMIT);
        assert_eq!(outcome.status, Some(0), "{}", outcome.describe());
    }
}

/// Carries bytes between clients of `door` and the server at `to`, as ssh does, and counts those to
/// the clients.
fn forward(door: &Path, to: &Path) -> Arc<AtomicU64> {
    let listener = UnixListener::bind(door).unwrap();
    let (to, count) = (to.to_owned(), Arc::new(AtomicU64::new(0)));
    let counted = count.clone();
    thread::spawn(move || {
        for here in listener.incoming() {
            let (here, there) = (here.unwrap(), UnixStream::connect(&to).unwrap());
            let (mut from, mut into) = (here.try_clone().unwrap(), there.try_clone().unwrap());
            thread::spawn(move || {
                let _ = std::io::copy(&mut from, &mut into);
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

/// Nobody has to say that a socket is forwarded, and pictures are compressed where the server was
/// told to.
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
        let mut running = Server(mgn.stdout(Stdio::piped()).spawn().unwrap());
        let mut line = String::new();
        let mut said = BufReader::new(running.0.stdout.take().unwrap());
        said.read_line(&mut line).unwrap();
        let count = forward(&door, &server);
        let mut mgn = stage.mgn();
        mgn.args(["run", "--frames", "20", "--server"]);
        mgn.args([&format!("unix:{}", door.display()), "--", "glxgears"]);
        let outcome = Outcome::of(&mut mgn, LIMIT);
        assert_eq!(outcome.status, Some(0), "{}", outcome.describe());
        assert_eq!(outcome.stderr, "", "{}", outcome.describe());
        counts[n] = count.load(Ordering::Relaxed);
    }
    assert!(counts[0] > 20 * 300 * 300 * 4, "{counts:?}");
    assert!(counts[1] < counts[0] / 4, "{counts:?}");
}
