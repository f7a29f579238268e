//! Tests of multicast: one writer sends to several servers.

mod support;

use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use mgn_fabric::{
    connect, Config, Connection, Error, Listener, Member, Multicast, Receiver, Sender, Transport,
};
use support::other::{ready, Apart, Other, Part};
use support::*;

const MAX: usize = 8192;

/// The client's connection to a server. Dropping this value ends the connection.
struct Reached {
    sender: Sender,
    member: Option<Member>,
    _receiver: Receiver,
}

fn joined(multicast: &Multicast, connection: Connection) -> Reached {
    let (sender, receiver) = connection.split();
    Reached {
        member: multicast.join(&sender).unwrap(),
        sender,
        _receiver: receiver,
    }
}

/// Adds a server in this process, and returns its receiving end.
fn add(kind: &Kind, listener: &Listener, multicast: &Multicast) -> (Reached, Receiver, Sender) {
    thread::scope(|scope| {
        let server = scope.spawn(|| {
            let incoming = listener.accept_timeout(TIMEOUT).unwrap().unwrap();
            incoming.accept(b"", &config()).unwrap()
        });
        let transport = kind.transport.clone();
        let (connection, _) = connect(
            listener.address(),
            transport,
            kind.token().as_ref(),
            b"",
            TIMEOUT,
        )
        .unwrap();
        let (back, receiver) = server.join().unwrap().split();
        (joined(multicast, connection), receiver, back)
    })
}

fn config() -> Config {
    Config {
        message_max: MAX,
        recv_pool_bytes: 4 * MAX,
        ..small()
    }
}

/// Sends to all members. Returns the number of members that were reached.
fn send(multicast: &Multicast, to: &[&Reached], bytes: &[u8]) -> usize {
    send_and_go_on(multicast, to, bytes, false)
}

fn send_and_go_on(multicast: &Multicast, to: &[&Reached], bytes: &[u8], follows: bool) -> usize {
    let mut room = multicast.writer().reserve(bytes.len()).unwrap();
    room.write(0, bytes);
    let members: Vec<&Member> = to.iter().filter_map(|r| r.member.as_ref()).collect();
    let mut lost = 0;
    let failed = |_, error| {
        assert!(matches!(error, Error::Closed(_)), "{error}");
        lost += 1;
    };
    multicast
        .commit(&mut room, bytes.len(), &members, follows, failed)
        .unwrap();
    members.len() - lost
}

fn length(i: usize) -> usize {
    [0, 1, 100, 3000, MAX][i % 5]
}

fn expect(receiver: &mut Receiver, bytes: &[u8]) {
    let message = receiver.recv(Some(TIMEOUT)).unwrap().unwrap();
    assert!(message.to_vec() == bytes);
}

#[test]
fn every_server_gets_every_message() {
    let (listener, _folder) = SHM.listen();
    let multicast = &Multicast::new(MAX).unwrap();
    let (reached, servers): (Vec<_>, Vec<_>) = (0..4)
        .map(|_| add(&SHM, &listener, multicast))
        .map(|(reached, receiver, back)| (reached, (receiver, back)))
        .unzip();
    thread::scope(|scope| {
        for (at, (mut receiver, _back)) in servers.into_iter().enumerate() {
            scope.spawn(move || {
                let mut held = Vec::new();
                for i in 0..2000 {
                    let message = receiver.recv(Some(TIMEOUT)).unwrap().unwrap();
                    assert!(message.to_vec() == pattern(i, length(i)), "{at} {i}");
                    // One server is slow, and another server keeps some messages for a while.
                    if at == 1 && i % 200 == 0 {
                        thread::sleep(Duration::from_millis(5));
                    }
                    if at == 2 && i % 100 < 2 {
                        held.push(message);
                    } else if i % 100 == 50 {
                        held.clear();
                    }
                }
            });
        }
        let all: Vec<&Reached> = reached.iter().collect();
        for i in 0..2000 {
            assert_eq!(send(multicast, &all, &pattern(i, length(i))), 4);
        }
    });
}

#[test]
fn messages_of_its_own_come_in_between() {
    let (listener, _folder) = SHM.listen();
    let multicast = Multicast::new(MAX).unwrap();
    let (one, mut first, _back) = add(&SHM, &listener, &multicast);
    let (two, mut second, _back) = add(&SHM, &listener, &multicast);
    for i in 0..200 {
        send(&multicast, &[&one, &two], &pattern(i, 1000));
        two.sender.send(b"to the second").unwrap();
        send(&multicast, &[&one], b"to the first");
        expect(&mut first, &pattern(i, 1000));
        expect(&mut first, b"to the first");
        expect(&mut second, &pattern(i, 1000));
        expect(&mut second, b"to the second");
    }
}

#[test]
fn a_slow_server_slows_the_writer() {
    let (listener, _folder) = SHM.listen();
    let multicast = &Multicast::new(MAX).unwrap();
    let (one, mut quick, _back) = add(&SHM, &listener, multicast);
    let (two, mut slow, _back) = add(&SHM, &listener, multicast);
    thread::scope(|scope| {
        let writing = scope.spawn(move || {
            for i in 0..100 {
                send(multicast, &[&one, &two], &pattern(i, 8000));
            }
            (one, two)
        });
        // There are only sixteen chunks.
        for i in 0..16 {
            expect(&mut quick, &pattern(i, 8000));
        }
        let early = quick.recv(Some(Duration::from_millis(100))).unwrap();
        assert!(early.is_none() && !writing.is_finished());
        let late = scope.spawn(move || {
            (0..100).for_each(|i| expect(&mut slow, &pattern(i, 8000)));
            slow
        });
        (16..100).for_each(|i| expect(&mut quick, &pattern(i, 8000)));
        late.join().unwrap();
        writing.join().unwrap();
    });
}

#[test]
fn servers_that_sleep_are_woken_for_several_messages() {
    let (listener, _folder) = SHM.listen();
    let multicast = &Multicast::new(MAX).unwrap();
    let (one, mut receiver, _back) = add(&SHM, &listener, multicast);
    let (heard, hearing) = channel();
    let server = thread::spawn(move || {
        while !receiver.recv(Some(TIMEOUT)).unwrap().unwrap().is_empty() {
            heard.send(()).unwrap();
        }
    });
    let send = |follows| send_and_go_on(multicast, &[&one], b"so", follows);
    let sleeps_until_the_fourth = || {
        thread::sleep(Duration::from_millis(5));
        for _ in 0..3 {
            send(true);
        }
        let early = hearing.recv_timeout(Duration::from_millis(20)).is_ok();
        send(true);
        for _ in usize::from(early)..4 {
            hearing.recv_timeout(TIMEOUT).unwrap();
        }
        !early
    };
    // The receiver may also wake for another reason, so try several times.
    assert!((0..20).any(|_| sleeps_until_the_fourth()));
    send_and_go_on(multicast, &[&one], b"", false);
    server.join().unwrap();
}

#[test]
fn servers_come_and_go() {
    let (listener, _folder) = SHM.listen();
    let multicast = Multicast::new(MAX).unwrap();
    assert_eq!(send(&multicast, &[], b"to nobody"), 0);
    let (one, mut first, _back) = add(&SHM, &listener, &multicast);
    for round in 0..40 {
        let (two, mut second, _back) = add(&SHM, &listener, &multicast);
        assert_eq!(send(&multicast, &[&one, &two], &pattern(round, 5000)), 2);
        expect(&mut first, &pattern(round, 5000));
        // The server leaves without having read this, and then holds no chunks.
        if round % 2 == 0 {
            drop(two);
            continue;
        }
        expect(&mut second, &pattern(round, 5000));
        drop(second);
        assert_eq!(send(&multicast, &[&one, &two], b"one is closed"), 1);
        expect(&mut first, b"one is closed");
    }
}

#[test]
fn others_are_no_members() {
    let multicast = Multicast::new(MAX).unwrap();
    let (listener, _folder) = UNIX.listen();
    assert!(add(&UNIX, &listener, &multicast).0.member.is_none());
    // This listener accepts only shorter messages.
    let (listener, _folder) = SHM.listen();
    let long = Multicast::new(MAX + 1).unwrap();
    assert!(add(&SHM, &listener, &long).0.member.is_none());
    let mut strange = long.writer().reserve(10).unwrap();
    let sent = multicast.commit(&mut strange, 10, &[], false, |_, _| {});
    assert!(matches!(sent, Err(Error::Misuse(_))));
}

/// Not a test, but a server that reads nothing until it is killed.
#[test]
fn child() {
    let Some(part) = Part::mine() else { return };
    let listener = part.listen();
    ready("");
    let incoming = listener.accept_timeout(TIMEOUT).unwrap().unwrap();
    let server = incoming.accept(b"", &config()).unwrap();
    thread::sleep(Duration::from_secs(60));
    drop(server);
}

#[test]
fn a_server_that_dies_is_left_out_and_the_others_go_on() {
    let (listener, _folder) = ABSTRACT.listen();
    let multicast = Multicast::new(MAX).unwrap();
    let (one, mut receiver, _back) = add(&ABSTRACT, &listener, &multicast);
    let address = ABSTRACT.listen().0.address().clone();
    let (dying, _) = Other::start("server", &ABSTRACT, &address, Apart::default());
    let connected = connect(&address, Transport::Shm, None, b"", TIMEOUT).unwrap();
    let two = joined(&multicast, connected.0);
    thread::scope(|scope| {
        let reading = scope.spawn(move || {
            (0..100).for_each(|i| expect(&mut receiver, &pattern(i, 8000)));
        });
        let killing = scope.spawn(move || {
            thread::sleep(Duration::from_millis(100));
            drop(dying);
        });
        for i in 0..100 {
            send(&multicast, &[&one, &two], &pattern(i, 8000));
        }
        killing.join().unwrap();
        reading.join().unwrap();
    });
}

#[test]
fn servers_share_one_copy() {
    let (listener, _folder) = SHM.listen();
    let multicast = Multicast::new(MAX).unwrap();
    let servers: Vec<_> = (0..16).map(|_| add(&SHM, &listener, &multicast)).collect();
    let all: Vec<&Reached> = servers.iter().map(|(reached, ..)| reached).collect();
    send(&multicast, &all, &pattern(0, 8000));
    let mut servers: Vec<_> = servers
        .into_iter()
        .map(|(r, receiver, b)| (receiver, r, b))
        .collect();
    for (receiver, ..) in &mut servers {
        expect(receiver, &pattern(0, 8000));
    }
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let mine: Vec<Vec<&str>> = maps
        .lines()
        .filter(|line| line.contains("memfd:mgn-multicast"))
        .map(|line| line.split_whitespace().collect())
        .collect();
    // Other tests in this process also have writers. The memory of this writer is identified by its
    // seventeen mappings.
    let same = |inode: &str| mine.iter().filter(|map| map[4] == inode).count();
    let of_ours = mine.iter().filter(|map| same(map[4]) == 17);
    let writable = of_ours.filter(|map| map[1].contains('w'));
    assert_eq!(writable.count(), 1, "only the writer writes: {mine:?}");
}
