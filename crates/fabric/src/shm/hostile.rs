//! Tests of both ends while another thread overwrites all the memory that they share.

use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use mgn_sys::{Mapping, Protection};

use super::lane::IN_REGION;
use super::*;
use crate::config::Config;
use crate::testing::Random;
use crate::{Receiver, Sender};

struct Joined {
    client: Connection,
    server: Connection,
    control: Mapping,
    socket: UnixStream,
}

fn join() -> Joined {
    let config = Config {
        message_max: 4096,
        send_pool_bytes: 4 * 4096,
        recv_pool_bytes: 4 * 4096,
        large_max: 1 << 20,
        ..Config::default()
    };
    let sizes = Sizes::new(&config).unwrap();
    let fds = create(&sizes, SLOTS).unwrap();
    let copies = fds.each_ref().map(|fd| fd.try_clone().unwrap());
    let control =
        Mapping::new(&fds[0], control_bytes(&sizes, SLOTS), Protection::ReadWrite).unwrap();
    let (near, far) = UnixStream::pair().unwrap();
    let socket = near.try_clone().unwrap();
    let peer = |socket: UnixStream| Arc::new(Peer::unix(socket.into(), "it".into(), false));
    let server = server(peer(near), None, &sizes, fds).unwrap();
    let client = client(peer(far), None, &sizes, copies.into()).unwrap();
    Joined {
        client,
        server,
        control,
        socket,
    }
}

/// Sends until a send fails or `stop` is set. Every write must lie inside the memory of this
/// process.
fn send(sender: Sender, lengths: usize, stop: &AtomicBool) {
    let mut random = Random::new(3);
    while !stop.load(Ordering::Relaxed) {
        let len = random.below(lengths);
        let Ok(mut reservation) = sender.reserve(len) else {
            return;
        };
        reservation.write(0, &vec![1; len]);
        if sender.commit(&mut reservation, len).is_err() {
            return;
        }
    }
}

/// Receives until a receive fails or `stop` is set. Every byte of every message must be readable.
fn receive(mut receiver: Receiver, stop: &AtomicBool) -> u64 {
    let (mut held, mut count) = (Vec::new(), 0);
    while !stop.load(Ordering::Relaxed) {
        match receiver.recv(Some(Duration::from_millis(2))) {
            Ok(Some(message)) => {
                std::hint::black_box(message.to_vec());
                count += 1;
                held.push(message);
                if held.len() > 2 {
                    held.swap_remove(0);
                }
            }
            Ok(None) => held.clear(),
            Err(_) => break,
        }
    }
    count
}

#[test]
fn nobody_reaches_outside_the_memory_or_hangs() {
    let start = Instant::now();
    let mut random = Random::new(1);
    let mut received = 0;
    while start.elapsed() < Duration::from_millis(1500) {
        let Joined {
            client,
            server,
            control,
            socket,
        } = join();
        let (stop, quiet) = (AtomicBool::new(false), random.below(200_000) as u32);
        let ((to_server, from_server), (to_client, from_client)) = (client.split(), server.split());
        received += thread::scope(|scope| {
            let (stop, control) = (&stop, &control);
            scope.spawn(|| send(to_server, 4097, stop));
            scope.spawn(|| send(to_client, 20_000, stop));
            let counts =
                [from_server, from_client].map(|from| scope.spawn(move || receive(from, stop)));
            let seed = random.next();
            scope.spawn(move || scribble(control, seed, quiet, stop));
            thread::sleep(Duration::from_millis(20));
            stop.store(true, Ordering::Relaxed);
            // A sender may wait for credit that never comes, because the words for it have been
            // overwritten. The wait must still end when the peer ends.
            socket.shutdown(Shutdown::Both).unwrap();
            counts
                .map(|count| count.join().unwrap())
                .into_iter()
                .sum::<u64>()
        });
    }
    assert!(received > 100, "{received}");
}

/// After a pause, writes plausible but wrong numbers to random shared words.
fn scribble(control: &Mapping, seed: u64, quiet: u32, stop: &AtomicBool) {
    for _ in 0..quiet {
        std::hint::spin_loop();
    }
    let mut random = Random::new(seed);
    while !stop.load(Ordering::Relaxed) {
        let word = random.below(control.len() / 8) * 8;
        let values = [
            0,
            1,
            2,
            64,
            4096,
            4097,
            IN_REGION,
            IN_REGION | 1,
            u32::MAX,
            random.next() as u32,
        ];
        let value = u64::from(values[random.below(values.len())]);
        match random.below(3) {
            // A plausible pair of words.
            0 => {
                let high = u64::from(values[random.below(values.len())]);
                control
                    .long(word)
                    .store(value | high << 32, Ordering::Relaxed);
            }
            1 => control.long(word).store(value, Ordering::Relaxed),
            _ => {
                let _ = control.word(word).fetch_add(1, Ordering::Relaxed);
            }
        }
    }
}

#[test]
fn lies_of_the_writer_are_told_apart() {
    let chunk = Descriptor {
        place: 0,
        offset: 0,
        len: 8,
    };
    for (lie, hint) in [
        (Descriptor { place: 4, ..chunk }, "does not exist"),
        (
            Descriptor {
                offset: 4160,
                ..chunk
            },
            "beyond its chunk",
        ),
        (
            Descriptor {
                offset: 4096,
                len: 1,
                ..chunk
            },
            "beyond its chunk",
        ),
        (
            Descriptor {
                offset: u32::MAX,
                len: 2,
                ..chunk
            },
            "beyond its chunk",
        ),
        (Descriptor { offset: 7, ..chunk }, "beyond its chunk"),
        (
            Descriptor {
                len: u32::MAX,
                ..chunk
            },
            "beyond its chunk",
        ),
        (
            Descriptor {
                place: IN_REGION,
                ..chunk
            },
            "never announced",
        ),
        (
            Descriptor {
                place: IN_REGION | 99,
                ..chunk
            },
            "an invalid number",
        ),
    ] {
        let Joined {
            client,
            server,
            control,
            socket: _socket,
        } = join();
        let sizes = Sizes::new(&Config {
            message_max: 4096,
            ..Config::default()
        })
        .unwrap();
        let base = Lane::bytes(4, SLOTS);
        let memory = super::lane::tests::memory_of(sizes.chunk as usize, 9);
        Lane::new(Arc::new(control), base, 4, SLOTS, memory, None).put(0, lie);
        let (_keep, mut receiver) = client.split();
        for _ in 0..2 {
            let error = receiver
                .recv(Some(Duration::from_secs(1)))
                .unwrap_err()
                .to_string();
            assert!(error.contains(hint), "{lie:?}: {error}");
        }
        drop(server);
    }
}

#[test]
fn a_client_takes_only_the_memory_that_was_agreed() {
    let sizes = Sizes::new(&Config::default()).unwrap();
    let other = Sizes::new(&Config {
        message_max: 4096,
        ..Config::default()
    })
    .unwrap();
    let open = |sizes: &Sizes, fds: Vec<OwnedFd>| {
        let (near, _far) = UnixStream::pair().unwrap();
        let peer = Arc::new(Peer::unix(near.into(), "it".into(), false));
        client(peer, None, sizes, fds).map(drop)
    };
    open(&sizes, create(&sizes, SLOTS).unwrap().into()).unwrap();
    assert!(open(&sizes, create(&other, SLOTS).unwrap().into()).is_err());
    assert!(open(&sizes, Vec::new()).is_err());
    let mut fds = Vec::from(create(&sizes, SLOTS).unwrap());
    fds[1] = std::fs::File::open("/dev/zero").unwrap().into();
    assert!(open(&sizes, fds).is_err());
}
