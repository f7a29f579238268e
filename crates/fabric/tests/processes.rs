//! Tests of two real processes. One is killed, is stopped, or misbehaves. The other process is this
//! test program again, which runs [`child`] in a role.

mod support;

use std::os::fd::AsFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::thread;
use std::time::{Duration, Instant};

use mgn_fabric::{connect, Address, Config, Connection, Error, Incoming, Listener, Transport};
use mgn_sys::passing;
use support::other::{ready, Apart, Other, Part};
use support::*;

/// Not a test, but the code of the other process. It prints a line when it is ready.
#[test]
fn child() {
    let Some(part) = Part::mine() else { return };
    let client = || {
        let (token, transport) = (part.kind.token(), part.kind.transport.clone());
        connect(&part.address, transport, token.as_ref(), b"", TIMEOUT)
    };
    let forever = || thread::sleep(Duration::from_secs(60));
    match part.role.as_str() {
        "silent server" | "echoing server" => {
            let listener = part.listen();
            ready(&listener.address().to_string());
            let connection = listener.accept().unwrap().accept(b"", &quick()).unwrap();
            if part.role == "silent server" {
                forever();
            }
            echo(connection);
        }
        "worker" => {
            let Address::Unix(path) = &part.address else {
                panic!("a worker's control socket")
            };
            let control = UnixStream::connect(path).unwrap();
            let (mut bytes, mut fds) = ([0; 256], Vec::new());
            let len = passing::recv(&control, &mut bytes, &mut fds, true).unwrap();
            let incoming = Incoming::from_handoff(fds.pop().unwrap(), &bytes[..len]).unwrap();
            echo(incoming.accept(b"from the worker", &quick()).unwrap());
        }
        "silent client" => {
            let _connection = client().unwrap();
            ready("");
            forever();
        }
        "forking client" => {
            let _connection = client().unwrap();
            // SAFETY: the child only sleeps and exits, which needs nothing that another thread
            // may have held at the fork.
            unsafe {
                if libc::fork() == 0 {
                    libc::sleep(3);
                    libc::_exit(0);
                }
            }
            ready("");
            forever();
        }
        "stranger" => {
            ready(&match client() {
                Err(Error::Auth(why)) => format!("refused: {why}"),
                other => format!("{other:?}"),
            });
        }
        other => panic!("no role {other}"),
    }
}

fn echo(connection: Connection) {
    let (sender, mut receiver) = connection.split();
    while let Ok(Some(message)) = receiver.recv(None) {
        if sender.send(&message.to_vec()).is_err() {
            return;
        }
    }
}

/// A TCP peer counts as dead after a second.
fn quick() -> Config {
    Config {
        silence: Duration::from_secs(1),
        ..small()
    }
}

fn server(role: &str, kind: &Kind) -> (Other, Connection, Folder) {
    let folder = Folder::new();
    let address = match kind.transport {
        Transport::Tcp => kind.address.parse().unwrap(),
        _ => Address::Unix(folder.path().join("socket")),
    };
    let (other, address) = Other::start(role, kind, &address, Apart::default());
    let address = address.parse().unwrap();
    let transport = kind.transport.clone();
    let connection = connect(&address, transport, kind.token().as_ref(), b"", TIMEOUT)
        .unwrap()
        .0;
    (other, connection, folder)
}

fn client(role: &str, kind: &Kind) -> (Other, Connection) {
    let (listener, _folder) = kind.listen();
    thread::scope(|scope| {
        let address = listener.address();
        let other = scope.spawn(move || Other::start(role, kind, address, Apart::default()).0);
        let connection = listener.accept().unwrap().accept(b"", &quick()).unwrap();
        (other.join().unwrap(), connection)
    })
}

/// Kills the other process, and requires that `blocked` notices it and does not hang.
fn kill(other: &Other, blocked: impl FnOnce() -> Error + Send) {
    thread::scope(|scope| {
        let blocked = scope.spawn(blocked);
        thread::sleep(Duration::from_millis(100));
        assert!(!blocked.is_finished());
        let start = Instant::now();
        other.signal(libc::SIGKILL);
        let error = blocked.join().unwrap();
        assert!(matches!(error, Error::Closed(_)), "{error}");
        assert!(
            start.elapsed() < Duration::from_secs(60),
            "{:?}",
            start.elapsed()
        );
    });
}

#[test]
fn a_killed_server_ends_a_waiting_receive() {
    for kind in [SHM, UNIX, TCP4] {
        let (other, connection, _folder) = server("silent server", &kind);
        let (_sender, mut receiver) = connection.split();
        kill(&other, move || receiver.recv(None).unwrap_err());
    }
}

#[test]
fn a_killed_server_ends_a_waiting_send() {
    for kind in [SHM, UNIX, TCP4] {
        let (other, connection, _folder) = server("silent server", &kind);
        let (sender, _receiver) = connection.split();
        kill(&other, move || loop {
            if let Err(error) = sender.send(&[0; 8192]) {
                break error;
            }
        });
    }
}

#[test]
fn a_killed_client_is_noticed_even_if_its_child_lives() {
    for role in ["silent client", "forking client"] {
        for kind in [SHM, UNIX] {
            let (other, connection) = client(role, &kind);
            let (_sender, mut receiver) = connection.split();
            kill(&other, move || receiver.recv(None).unwrap_err());
        }
    }
    let (other, connection) = client("silent client", &TCP6);
    let (sender, _receiver) = connection.split();
    kill(&other, move || loop {
        if let Err(error) = sender.send(&[0; 8192]) {
            break error;
        }
    });
}

#[test]
fn a_killed_client_is_noticed_by_polling() {
    for kind in [SHM, UNIX, TCP4] {
        let role = if kind.transport == Transport::Tcp {
            "silent client"
        } else {
            "forking client"
        };
        let (other, connection) = client(role, &kind);
        let (_sender, mut receiver) = connection.split();
        kill(&other, move || loop {
            match receiver.recv(Some(Duration::ZERO)) {
                Ok(None) => thread::sleep(Duration::from_millis(1)),
                Ok(Some(_)) => panic!("the client sent a message"),
                Err(error) => break error,
            }
        });
    }
}

#[test]
fn a_stopped_server_is_not_a_dead_one() {
    thread::scope(|scope| {
        for kind in [SHM, UNIX, TCP4] {
            scope.spawn(move || {
                let (other, connection, _folder) = server("echoing server", &kind);
                let (sender, mut receiver) = connection.split();
                other.signal(libc::SIGSTOP);
                thread::sleep(Duration::from_millis(50));
                scope.spawn(move || {
                    for number in 0..2000 {
                        sender.send(&[number as u8; 8192]).unwrap();
                    }
                    // Keep the connection until all answers have arrived.
                    thread::sleep(Duration::from_millis(500));
                });
                // The timeout is three times the time after which a dead machine is detected.
                assert!(receiver
                    .recv(Some(Duration::from_secs(3)))
                    .unwrap()
                    .is_none());
                other.signal(libc::SIGCONT);
                for number in 0..2000 {
                    let message = receiver.recv(Some(TIMEOUT)).unwrap().unwrap();
                    assert_eq!(message.to_vec(), [number as u8; 8192]);
                }
            });
        }
    });
}

#[test]
fn a_worker_process_takes_a_client_over() {
    for kind in [SHM, UNIX, TCP4, TLS] {
        let (listener, folder) = kind.listen();
        let path = folder.path().join("control");
        let control = UnixListener::bind(&path).unwrap();
        let worker = Other::spawn("worker", &kind, &Address::Unix(path), Apart::default());
        thread::scope(|scope| {
            scope.spawn(|| {
                let (control, _) = control.accept().unwrap();
                let (socket, meta) = listener.accept().unwrap().into_handoff();
                passing::send(&control, &meta, &[socket.as_fd()], true).unwrap();
            });
            let token = kind.token();
            let transport = kind.transport.clone();
            let connected = connect(listener.address(), transport, token.as_ref(), b"", TIMEOUT);
            let (connection, welcome) = connected.unwrap();
            assert_eq!(welcome, b"from the worker");
            let (sender, mut receiver) = connection.split();
            sender.send(b"ping").unwrap();
            assert_eq!(
                receiver.recv(Some(TIMEOUT)).unwrap().unwrap().to_vec(),
                b"ping"
            );
            kill(&worker, move || receiver.recv(None).unwrap_err());
        });
    }
}

#[test]
fn a_killed_server_leaves_nothing_in_the_way() {
    let (mut other, connection, folder) = server("silent server", &SHM);
    let address = Address::Unix(folder.path().join("socket"));
    assert!(matches!(
        Listener::bind(&address, None),
        Err(Error::InUse(_))
    ));
    other.signal(libc::SIGKILL);
    other.child.wait().unwrap();
    drop(connection);
    Listener::bind(&address, None).unwrap();
}

/// Requires root, because only root can start a process as another user.
#[test]
fn another_user_is_turned_away() {
    if mgn_sys::peer::own_uid() != 0 {
        eprintln!("SKIPPED: only root can use several users");
        return;
    }
    let nobody = Apart {
        user: Some(65534),
        ..Apart::default()
    };
    let address: Address = format!("unix:@mgn-{}-user", std::process::id())
        .parse()
        .unwrap();
    let listener = Listener::bind(&address, None).unwrap();
    thread::scope(|scope| {
        let client = scope.spawn(|| Other::start("stranger", &SHM, &address, nobody));
        lets_nobody_in(&listener, &client);
        let (_, said) = client.join().unwrap();
        assert!(
            said.contains("refused") && said.contains("belongs to uid 0"),
            "{said}"
        );
    });

    // In the other direction, a client does not trust a server of the user nobody.
    let address: Address = format!("unix:@mgn-{}-trap", std::process::id())
        .parse()
        .unwrap();
    let (_other, _) = Other::start("silent server", &SHM, &address, nobody);
    let error = connect(&address, Transport::Shm, None, b"", TIMEOUT).unwrap_err();
    assert!(
        matches!(&error, Error::Auth(why) if why.contains("another user")),
        "{error}"
    );
}
