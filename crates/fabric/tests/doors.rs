//! Tests of connecting and accepting, and of the ways in which both fail.

mod support;

use std::io::Write;
use std::net::TcpListener;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::thread;
use std::time::{Duration, Instant};

use mgn_fabric::{
    connect, connect_for_another, take_over, Address, Config, Error, Incoming, Listener, Token,
    Transport,
};
use rustix::event::{poll, PollFd, PollFlags, Timespec};
use support::*;

const SHORT: Duration = Duration::from_millis(200);

/// Connects in a separate thread while `serve` runs.
fn try_connect(
    listener: &Listener,
    transport: Transport,
    token: Option<&Token>,
    serve: impl FnOnce(&Listener),
) -> Result<Vec<u8>, Error> {
    let address = listener.address().clone();
    thread::scope(|scope| {
        let client = scope.spawn(move || connect(&address, transport, token, b"", TIMEOUT));
        serve(listener);
        client.join().unwrap().map(|(_, welcome)| welcome)
    })
}

#[test]
fn a_refusal_gives_its_reason() {
    for kind in [SHM, UNIX, TCP4, TCP6, TLS] {
        let (listener, _folder) = kind.listen();
        let token = kind.token();
        let error = try_connect(&listener, kind.transport, token.as_ref(), |listener| {
            listener
                .accept()
                .unwrap()
                .refuse("there are too many sessions");
        });
        match error.unwrap_err() {
            Error::Refused(why) => assert_eq!(why, "there are too many sessions"),
            other => panic!("{other}"),
        }
    }
}

/// Data that the server sends before the other process has the connection is not lost.
#[test]
fn a_connection_may_be_made_for_another_process() {
    for kind in [UNIX, TCP4, TCP6, TLS] {
        for pause in [0, 20] {
            let (listener, _folder) = kind.listen();
            let address = listener.address().clone();
            thread::scope(|scope| {
                let server = scope.spawn(|| {
                    let incoming = listener.accept().unwrap();
                    assert_eq!(incoming.opening(), b"hello");
                    let connection = incoming.accept(b"welcome", &small()).unwrap();
                    let (sender, mut receiver) = connection.split();
                    for number in 0..20 {
                        sender.send(&pattern(number, 1000)).unwrap();
                    }
                    let message = receiver.recv(Some(TIMEOUT)).unwrap().unwrap();
                    assert_eq!(message.to_vec(), b"thanks");
                    // Keep the connection until the other end has read everything.
                    let _ = receiver.recv(Some(TIMEOUT));
                });
                let token = kind.token();
                let (socket, bytes) =
                    connect_for_another(&address, token.as_ref(), b"hello", TIMEOUT).unwrap();
                thread::sleep(Duration::from_millis(pause));
                for wrong in [&bytes[..1], &bytes[..20], &[9; 100]] {
                    let copy = socket.try_clone().unwrap();
                    assert!(take_over(copy, wrong, &address).is_err());
                }
                let (sender, mut receiver) = take_over(socket, &bytes, &address).unwrap().split();
                for number in 0..20 {
                    let message = receiver.recv(Some(TIMEOUT)).unwrap().unwrap();
                    assert_eq!(message.to_vec(), pattern(number, 1000));
                }
                sender.send(b"thanks").unwrap();
                drop((sender, receiver));
                server.join().unwrap();
            });
        }
    }
}

#[test]
fn a_wrong_token_opens_nothing() {
    for address in ["tcp:127.0.0.1:0", "tls:127.0.0.1:0"] {
        let address: Address = address.parse().unwrap();
        let listener = Listener::bind(&address, Some(Token::generate())).unwrap();
        let (address, wrong) = (listener.address(), Token::generate());
        let error = thread::scope(|scope| {
            let transport = address.transport();
            let connect = || connect(address, transport, Some(&wrong), b"", TIMEOUT);
            let client = scope.spawn(connect);
            lets_nobody_in(&listener, &client);
            client.join().unwrap().unwrap_err()
        });
        assert!(matches!(error, Error::Auth(_)), "{error}");
    }
}

#[test]
fn a_missing_token_is_explained() {
    let address: Address = "tcp:127.0.0.1:0".parse().unwrap();
    let error = Listener::bind(&address, None).unwrap_err();
    assert!(matches!(error, Error::Auth(_)), "{error}");
    assert!(error.to_string().contains("mgn token new"), "{error}");
    let address: Address = "tcp:127.0.0.1:1".parse().unwrap();
    let error = connect(&address, Transport::Tcp, None, b"", SHORT).unwrap_err();
    assert!(matches!(error, Error::Auth(_)), "{error}");
}

/// The system identifies the user of the process at the other end of a unix socket. So a token, a
/// missing token, or another server's token makes no difference.
#[test]
fn clients_of_the_same_user_need_no_token_at_a_unix_socket() {
    let address: Address = format!("unix:@mgn-{}-same-user", std::process::id())
        .parse()
        .unwrap();
    let listener = Listener::bind(&address, Some(Token::generate())).unwrap();
    let others = Token::generate();
    for (transport, token) in [
        (Transport::Shm, None),
        (Transport::Unix, None),
        (Transport::Unix, Some(&others)),
    ] {
        let welcome = try_connect(&listener, transport, token, |listener| {
            let incoming = listener.accept().unwrap();
            incoming.accept(b"come in", &Config::default()).unwrap();
        });
        assert_eq!(welcome.unwrap(), b"come in");
    }
}

#[test]
fn a_wrong_name_of_a_host_is_called_that() {
    let address: Address = "tls:no-such-host.invalid:7500".parse().unwrap();
    let token = Token::generate();
    let error = connect(&address, Transport::Tcp, Some(&token), b"", SHORT).unwrap_err();
    assert!(matches!(error, Error::UnknownHost { .. }), "{error}");
    let error = Listener::bind(&address, Some(token)).unwrap_err();
    assert!(matches!(error, Error::UnknownHost { .. }), "{error}");
    let said = error.to_string();
    assert!(
        said.contains("no-such-host.invalid") && said.contains("spelling"),
        "{said}"
    );
}

/// A socket is forwarded in the way of ssh: bytes pass, but descriptors do not.
#[test]
fn forwarded_sockets_are_recognised() {
    let folder = Folder::new();
    let address = Address::Unix(folder.path().join("server"));
    let listener = Listener::bind(&address, None).unwrap();
    let door = folder.path().join("forwarded");
    let forwarder = UnixListener::bind(&door).unwrap();
    let to = folder.path().join("server");
    thread::spawn(move || {
        for here in forwarder.incoming() {
            let here = here.unwrap();
            // The server may have ended.
            let Ok(there) = UnixStream::connect(&to) else {
                continue;
            };
            let (mut a, mut b) = (here.try_clone().unwrap(), there.try_clone().unwrap());
            thread::spawn(move || std::io::copy(&mut a, &mut b));
            let (mut a, mut b) = (there, here);
            thread::spawn(move || std::io::copy(&mut a, &mut b));
        }
    });
    let forwarded = Address::Unix(door);
    let come_in = |listener: &Listener| {
        let incoming = listener.accept().unwrap();
        let _ = incoming.accept(b"hello", &Config::default());
    };
    let connect = |transport| connect(&forwarded, transport, None, b"", TIMEOUT);
    let error = thread::scope(|scope| {
        scope.spawn(|| come_in(&listener));
        connect(Transport::Shm).unwrap_err()
    });
    assert!(matches!(error, Error::Forwarded(_)), "{error}");
    assert!(error.to_string().contains("--transport unix"), "{error}");
    let (_, welcome) = thread::scope(|scope| {
        scope.spawn(|| come_in(&listener));
        connect(Transport::Unix).unwrap()
    });
    assert_eq!(welcome, b"hello");
    drop(listener);
    let error = connect(Transport::Shm).unwrap_err();
    assert!(matches!(error, Error::Mute(_)), "{error}");
    assert!(error.to_string().contains("ssh"), "{error}");
}

#[test]
fn addresses_and_transports_must_fit() {
    let unix: Address = "unix:@nobody-listens-here".parse().unwrap();
    let tcp: Address = "tcp:localhost:1".parse().unwrap();
    let token = Token::generate();
    for (address, transport) in [
        (&unix, Transport::Tcp),
        (&tcp, Transport::Shm),
        (&tcp, Transport::Unix),
    ] {
        let error = connect(address, transport, Some(&token), b"", TIMEOUT).unwrap_err();
        assert!(matches!(error, Error::Address { .. }), "{error}");
    }
    for (address, transport) in [(&unix, Transport::Shm), (&tcp, Transport::Tcp)] {
        let error = connect(address, transport, Some(&token), b"", TIMEOUT).unwrap_err();
        assert!(matches!(error, Error::Unreachable { .. }), "{error}");
        assert!(error.to_string().contains(&address.to_string()), "{error}");
    }
    let nowhere: Address = "unix:/no/such/socket".parse().unwrap();
    let error = connect(&nowhere, Transport::Shm, None, b"", TIMEOUT).unwrap_err();
    assert!(matches!(error, Error::Unreachable { .. }), "{error}");
}

#[test]
fn a_server_that_says_nothing_is_given_up() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let address: Address = format!("tcp:{}", silent.local_addr().unwrap())
        .parse()
        .unwrap();
    let start = Instant::now();
    let token = Token::generate();
    let error = connect(&address, Transport::Tcp, Some(&token), b"", SHORT).unwrap_err();
    assert!(matches!(error, Error::TimedOut(_)), "{error}");

    let folder = Folder::new();
    let path = folder.path().join("silent");
    let silent = UnixListener::bind(&path).unwrap();
    let address = Address::Unix(path.clone());
    let error = connect(&address, Transport::Shm, None, b"", SHORT).unwrap_err();
    assert!(matches!(error, Error::TimedOut(_)), "{error}");
    // The server accepts no clients, so its queue becomes full.
    let mut queue = Vec::new();
    for _ in 0..200 {
        match connect(
            &address,
            Transport::Shm,
            None,
            b"",
            Duration::from_millis(1),
        ) {
            Err(Error::TimedOut(_)) => queue.push(UnixStream::connect(&path)),
            other => panic!("{other:?}"),
        }
        if start.elapsed() > Duration::from_secs(2) || queue.len() > 60 {
            break;
        }
    }
    drop(silent);
    assert!(start.elapsed() < Duration::from_secs(60));
}

#[test]
fn strangers_are_told_apart() {
    let stranger = TcpListener::bind("127.0.0.1:0").unwrap();
    let address: Address = format!("tcp:{}", stranger.local_addr().unwrap())
        .parse()
        .unwrap();
    let token = Token::generate();
    let answers = [
        b"HTTP/1.1 400 Bad Request\r\n\r\n".as_slice(),
        b"\x93MGN",
        b"",
    ];
    for answer in answers {
        thread::scope(|scope| {
            scope.spawn(|| {
                let (mut socket, _) = stranger.accept().unwrap();
                socket.write_all(answer).unwrap();
            });
            let error = connect(&address, Transport::Tcp, Some(&token), b"", TIMEOUT).unwrap_err();
            match answer.first() {
                Some(b'H') => assert!(matches!(error, Error::NotManganese(_)), "{error}"),
                _ => assert!(matches!(error, Error::Closed(_)), "{error}"),
            }
        });
    }
}

#[test]
fn slow_and_hostile_clients_hold_up_nobody() {
    let (listener, folder) = SHM.listen();
    let path = folder.path().join("socket");
    let mut idle: Vec<_> = (0..100)
        .map(|_| UnixStream::connect(&path).unwrap())
        .collect();
    for (number, socket) in idle.iter_mut().enumerate() {
        match number % 4 {
            0 => drop(socket.write_all(b"\x93MGNFAB\n half a hello")),
            1 => drop(socket.write_all(&[0xff; 4000])),
            2 => drop(socket.shutdown(std::net::Shutdown::Both)),
            _ => {}
        }
    }
    let start = Instant::now();
    let welcome = try_connect(&listener, Transport::Shm, None, |listener| {
        listener.accept().unwrap().accept(b"hi", &small()).unwrap();
    });
    assert_eq!(welcome.unwrap(), b"hi");
    assert!(start.elapsed() < Duration::from_secs(20));

    // After invalid bytes, the connection is closed without an answer.
    let mut garbage = UnixStream::connect(&path).unwrap();
    garbage.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    garbage.set_nonblocking(true).unwrap();
    let rest = told_until_closed(&listener, garbage);
    assert!(rest.is_ok_and(|rest| rest.is_empty()));
}

#[test]
fn clients_that_say_nothing_are_dropped_in_time() {
    let (listener, folder) = SHM.listen();
    let start = Instant::now();
    let idle = UnixStream::connect(folder.path().join("socket")).unwrap();
    idle.set_nonblocking(true).unwrap();
    assert!(told_until_closed(&listener, idle).unwrap().is_empty());
    assert!(start.elapsed() >= Duration::from_millis(4900));
}

#[test]
fn a_socket_file_is_private_and_goes_with_its_server() {
    let folder = Folder::new();
    let path = folder.path().join("socket");
    let address = Address::Unix(path.clone());
    let listener = Listener::bind(&address, None).unwrap();
    let about = std::fs::metadata(&path).unwrap();
    assert!(about.file_type().is_socket());
    assert_eq!(about.mode() & 0o777, 0o600);
    assert!(matches!(
        Listener::bind(&address, None),
        Err(Error::InUse(_))
    ));
    drop(listener);
    assert!(!path.exists());

    // The socket of a dead server is replaced. Other files are not replaced.
    drop(UnixListener::bind(&path).unwrap());
    assert!(path.exists());
    let listener = Listener::bind(&address, None).unwrap();
    std::fs::remove_file(&path).unwrap();
    std::fs::write(&path, "precious").unwrap();
    drop(listener);
    assert_eq!(std::fs::read(&path).unwrap(), b"precious");
    let error = Listener::bind(&address, None).unwrap_err().to_string();
    assert!(error.contains("not a socket"), "{error}");
    let nowhere = Address::Unix("/no/such/folder/socket".into());
    assert!(matches!(
        Listener::bind(&nowhere, None),
        Err(Error::Io { .. })
    ));
}

#[test]
fn a_port_in_use_is_said_to_be() {
    let (listener, _folder) = TCP4.listen();
    assert!(!listener.address().to_string().ends_with(":0"));
    let again = Listener::bind(listener.address(), TCP4.token());
    assert!(matches!(again, Err(Error::InUse(_))), "{again:?}");
    let name = format!("unix:@mgn-{}-in-use", std::process::id())
        .parse()
        .unwrap();
    let _first = Listener::bind(&name, None).unwrap();
    assert!(matches!(Listener::bind(&name, None), Err(Error::InUse(_))));
}

#[test]
fn a_name_with_two_addresses_is_served_at_both() {
    let token = Token::generate();
    let address = "tcp:localhost:0".parse().unwrap();
    let listener = Listener::bind(&address, Some(token.clone())).unwrap();
    let welcome = try_connect(&listener, Transport::Tcp, Some(&token), |listener| {
        listener.accept().unwrap().accept(b"hi", &small()).unwrap();
    });
    assert_eq!(welcome.unwrap(), b"hi");
}

#[test]
fn a_client_can_be_handed_on() {
    for kind in [SHM, UNIX, TCP4, TLS] {
        let (listener, _folder) = kind.listen();
        let token = kind.token();
        let welcome = try_connect(
            &listener,
            kind.transport.clone(),
            token.as_ref(),
            |listener| {
                let (socket, meta) = listener.accept().unwrap().into_handoff();
                let incoming = Incoming::from_handoff(socket, &meta).unwrap();
                assert_eq!(incoming.transport(), &kind.transport);
                incoming.accept(&[5; 100_000], &small()).unwrap();
            },
        );
        assert_eq!(welcome.unwrap(), vec![5; 100_000]);
    }
}

/// The listener ignores data for a client that another process serves.
#[test]
fn a_client_that_was_handed_on_is_not_watched_any_more() {
    for kind in [UNIX, TCP4, TLS] {
        let (listener, _folder) = kind.listen();
        let address = listener.address().clone();
        let token = kind.token();
        thread::scope(|scope| {
            let client = scope.spawn(|| {
                let (transport, token) = (kind.transport.clone(), token.as_ref());
                let (connection, _) = connect(&address, transport, token, b"", TIMEOUT).unwrap();
                let (sender, receiver) = connection.split();
                sender.send(&[1; 100]).unwrap();
                (sender, receiver)
            });
            let (socket, meta) = listener.accept().unwrap().into_handoff();
            let elsewhere = socket.try_clone().unwrap();
            let incoming = Incoming::from_handoff(socket, &meta).unwrap();
            let _served = incoming.accept(b"", &small()).unwrap();
            let _client = client.join().unwrap();
            let mut waiting = [PollFd::new(&elsewhere, PollFlags::IN)];
            let soon = Timespec {
                tv_sec: 5,
                tv_nsec: 0,
            };
            assert_eq!(poll(&mut waiting, Some(&soon)).unwrap(), 1);
            let mut watched = [PollFd::new(&listener, PollFlags::IN)];
            let now = Timespec::default();
            assert_eq!(poll(&mut watched, Some(&now)).unwrap(), 0);
        });
    }
}

#[test]
fn a_client_that_left_is_noticed() {
    let mut stay = SHORT;
    while !is_seen_to_leave(stay) {
        stay *= 2;
        assert!(stay < TIMEOUT, "it always leaves before it is accepted");
    }
}

/// Whether a client that stays for the time `stay` is accepted before it leaves.
fn is_seen_to_leave(stay: Duration) -> bool {
    let (listener, _folder) = UNIX.listen();
    thread::scope(|scope| {
        let client = scope.spawn(|| {
            let error = connect(listener.address(), Transport::Unix, None, b"", stay).unwrap_err();
            assert!(matches!(error, Error::TimedOut(_)), "{error}");
        });
        let incoming = listener.accept_timeout(stay).unwrap();
        let Some(incoming) = incoming.filter(|client| !client.is_gone()) else {
            return false;
        };
        client.join().unwrap();
        assert!(incoming.is_gone());
        match incoming.accept(b"too late", &Config::default()) {
            Err(Error::Closed(_)) => true,
            other => panic!("{other:?}"),
        }
    })
}

#[test]
fn null_and_file_need_no_server() {
    let nowhere = "unix:@nowhere".parse().unwrap();
    let folder = Folder::new();
    let path = folder.path().join("recording");
    for transport in [Transport::Null, Transport::File(path.clone())] {
        let (connection, welcome) = connect(&nowhere, transport, None, b"me", SHORT).unwrap();
        assert!(welcome.is_empty());
        let (sender, mut receiver) = connection.split();
        let mut reservation = sender.reserve(10).unwrap();
        assert!(reservation.capacity() >= 256 << 10);
        reservation.write(0, b"0123456789");
        sender.commit(&mut reservation, 10).unwrap();
        assert!(reservation.capacity() >= 256 << 10, "the whole chunk again");
        assert!(receiver
            .recv(Some(Duration::from_millis(1)))
            .unwrap()
            .is_none());
        assert!(matches!(receiver.recv(None), Err(Error::NoPeer)));
    }
    let mut player = mgn_fabric::file::Player::open(&path).unwrap();
    assert_eq!(player.opening(), b"me");
    assert_eq!(
        player.next_message().unwrap().unwrap().to_vec(),
        b"0123456789"
    );
    assert!(player.next_message().unwrap().is_none());
}
