//! Conformance tests that run over each transport.

mod support;

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use mgn_fabric::{Config, Error, Reservation};
use support::*;

macro_rules! over_all {
    ($($test:ident),* $(,)?) => {
        mod shm { $(#[test] fn $test() { super::$test(&super::SHM) })* }
        mod abstract_shm { $(#[test] fn $test() { super::$test(&super::ABSTRACT) })* }
        mod unix { $(#[test] fn $test() { super::$test(&super::UNIX) })* }
        mod tcp4 { $(#[test] fn $test() { super::$test(&super::TCP4) })* }
        mod tls { $(#[test] fn $test() { super::$test(&super::TLS) })* }
        mod tcp6 { $(#[test] fn $test() { super::$test(&super::TCP6) })* }
    };
}

over_all!(
    every_size_arrives_in_order,
    the_default_sizes_carry_full_chunks,
    several_messages_share_a_reservation,
    releases_may_come_in_any_order_from_any_thread,
    threads_reserve_at_once_and_messages_stay_whole,
    a_sender_waits_for_credit_and_goes_on,
    long_messages_to_the_client,
    long_messages_to_the_server_are_refused,
    a_dropped_peer_is_noticed_while_receiving,
    a_dropped_peer_is_noticed_while_sending,
    what_was_sent_before_closing_arrives,
    receiving_times_out,
    halves_close_apart,
    misuse_is_refused,
);

fn every_size_arrives_in_order(kind: &Kind) {
    let (client, server) = kind.join(&small());
    let (to_server, mut from_server) = client.split();
    let (to_client, mut from_client) = server.split();
    let sizes: Vec<usize> = (0..70)
        .chain([100, 4095, 4096, 8000, 8191, 8192, 0, 8192])
        .collect();
    thread::scope(|scope| {
        scope.spawn(|| {
            for (number, size) in sizes.iter().enumerate() {
                to_server.send(&pattern(number, *size)).unwrap();
            }
        });
        scope.spawn(|| {
            for (number, size) in sizes.iter().enumerate() {
                to_client.send(&pattern(number + 1, *size)).unwrap();
            }
        });
        scope.spawn(|| {
            for (number, size) in sizes.iter().enumerate() {
                let message = from_server.recv(Some(TIMEOUT)).unwrap().unwrap();
                assert_eq!(message.as_ptr() as usize % 8, 0);
                assert_eq!(message.to_vec(), pattern(number + 1, *size));
                assert_eq!(message.segment().is_some(), kind.is_shm());
            }
        });
        for (number, size) in sizes.iter().enumerate() {
            let message = from_client.recv(Some(TIMEOUT)).unwrap().unwrap();
            assert_eq!(message.len(), *size);
            assert_eq!(message.to_vec(), pattern(number, *size));
        }
    });
}

fn the_default_sizes_carry_full_chunks(kind: &Kind) {
    let config = Config {
        message_max: (256 << 10) - 4,
        ..Config::default()
    };
    let (client, server) = kind.join(&config);
    let ((sender, _keep), (_keep_too, mut receiver)) = (client.split(), server.split());
    thread::scope(|scope| {
        scope.spawn(|| {
            for number in 0..200 {
                let mut reservation = sender.reserve(sender.message_max()).unwrap();
                let len = sender.message_max() - number % 3;
                reservation.write(0, &[number as u8; 100]);
                reservation.write(len - 4, &[number as u8; 4]);
                sender.commit(&mut reservation, len).unwrap();
            }
        });
        for number in 0..200 {
            let bytes = receiver.recv(Some(TIMEOUT)).unwrap().unwrap().to_vec();
            assert_eq!(bytes.len(), (256 << 10) - 4 - number % 3);
            assert!(bytes[..100].iter().all(|byte| *byte == number as u8));
            assert!(bytes[bytes.len() - 4..]
                .iter()
                .all(|byte| *byte == number as u8));
        }
    });
}

fn several_messages_share_a_reservation(kind: &Kind) {
    let (client, server) = kind.join(&small());
    let ((sender, _keep), (_keep_too, mut receiver)) = (client.split(), server.split());
    let mut reservation = sender.reserve(8192).unwrap();
    let first = reservation.ptr() as usize;
    for number in 0..10 {
        assert_eq!(reservation.ptr() as usize % 64, 0);
        assert!(reservation.capacity() >= 8192 - 10 * 128);
        reservation.write(0, &pattern(number, 100));
        sender.commit(&mut reservation, 100).unwrap();
    }
    if kind.is_shm() {
        assert_eq!(reservation.ptr() as usize, first + 10 * 128);
    }
    drop(reservation);
    for number in 0..10 {
        let message = receiver.recv(Some(TIMEOUT)).unwrap().unwrap();
        assert_eq!(message.to_vec(), pattern(number, 100));
    }
}

fn releases_may_come_in_any_order_from_any_thread(kind: &Kind) {
    let (client, server) = kind.join(&small());
    let ((sender, _keep), (_keep_too, mut receiver)) = (client.split(), server.split());
    thread::scope(|scope| {
        scope.spawn(|| {
            for number in 0..3000 {
                sender
                    .send(&pattern(number, 1 + number * 37 % 8192))
                    .unwrap();
            }
        });
        let mut held = VecDeque::new();
        for number in 0..3000 {
            let message = receiver.recv(Some(TIMEOUT)).unwrap().unwrap();
            held.push_back((number, message));
            // Two messages fit, even if each of them needs a whole chunk.
            if held.len() == 3 {
                let (number, message) = held.remove(number % 3).unwrap();
                scope.spawn(move || {
                    assert_eq!(message.to_vec(), pattern(number, 1 + number * 37 % 8192));
                });
            }
        }
    });
}

fn threads_reserve_at_once_and_messages_stay_whole(kind: &Kind) {
    const THREADS: usize = 4;
    let (client, server) = kind.join(&small());
    let ((sender, _keep), (_keep_too, mut receiver)) = (client.split(), server.split());
    let sender = &sender;
    thread::scope(|scope| {
        for thread in 0..THREADS {
            scope.spawn(move || {
                for number in 0..500usize {
                    let len = 8 + (thread * 977 + number * 131) % 3000;
                    let mut bytes = pattern(thread + number, len);
                    bytes[..8].copy_from_slice(&((thread * 1000 + number) as u64).to_le_bytes());
                    sender.send(&bytes).unwrap();
                }
            });
        }
        let mut next = [0; THREADS];
        for _ in 0..THREADS * 500 {
            let bytes = receiver.recv(Some(TIMEOUT)).unwrap().unwrap().to_vec();
            let id = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
            let (thread, number) = (id / 1000, id % 1000);
            assert_eq!(number, next[thread], "each thread's messages stay in order");
            next[thread] += 1;
            let len = 8 + (thread * 977 + number * 131) % 3000;
            assert_eq!(bytes[8..], pattern(thread + number, len)[8..]);
        }
    });
}

fn a_sender_waits_for_credit_and_goes_on(kind: &Kind) {
    let mut time = Duration::from_millis(150);
    // On a busy machine, the sender may start so late that it never waits. So the next attempt
    // gives it twice the time.
    while !has_waited_for_credit(kind, time) {
        time *= 2;
        assert!(time < TIMEOUT, "the sender has not waited");
    }
}

/// Whether a sender reports that it has waited, if the receiver does nothing for `time`.
fn has_waited_for_credit(kind: &Kind, time: Duration) -> bool {
    let (client, server) = kind.join(&small());
    let ((sender, _keep), (_keep_too, mut receiver)) = (client.split(), server.split());
    let done = AtomicBool::new(false);
    // This is more than the socket buffers and pools hold.
    let count = if kind.is_shm() { 50 } else { 4000 };
    thread::scope(|scope| {
        scope.spawn(|| {
            for number in 0..count {
                sender.send(&vec![number as u8; 8192]).unwrap();
            }
            done.store(true, Ordering::SeqCst);
        });
        thread::sleep(time);
        assert!(
            !done.load(Ordering::SeqCst),
            "the receiver has not received anything yet"
        );
        let mut held = VecDeque::new();
        for number in 0..count {
            held.push_back((number, receiver.recv(Some(TIMEOUT)).unwrap().unwrap()));
            if held.len() == 2 {
                let (number, message) = held.pop_front().unwrap();
                assert_eq!(message.to_vec(), vec![number as u8; 8192]);
            }
        }
    });
    sender.wait_time() > 50_000_000
}

fn long_messages_to_the_client(kind: &Kind) {
    let (client, server) = kind.join(&small());
    let ((_keep, mut receiver), (sender, _keep_too)) = (client.split(), server.split());
    assert_eq!(sender.message_max(), 8 << 20);
    thread::scope(|scope| {
        scope.spawn(|| {
            for number in 0..12 {
                sender.send(&pattern(number, 10)).unwrap();
                sender
                    .send(&pattern(number, (number * 777_777).min(8 << 20)))
                    .unwrap();
            }
        });
        for number in 0..12 {
            let short = receiver.recv(Some(TIMEOUT)).unwrap().unwrap();
            assert_eq!(short.to_vec(), pattern(number, 10));
            let long = receiver.recv(Some(TIMEOUT)).unwrap().unwrap();
            if let Some(segment) = long.segment() {
                assert!(segment.offset + long.len() <= segment.size);
            }
            assert!(long.to_vec() == pattern(number, (number * 777_777).min(8 << 20)));
        }
    });
    // A stream of pictures goes through the same few pieces of memory.
    let mut segments = std::collections::BTreeSet::new();
    thread::scope(|scope| {
        scope.spawn(|| (0..20).for_each(|number| sender.send(&vec![number; 3 << 20]).unwrap()));
        for number in 0..20 {
            let picture = receiver.recv(Some(TIMEOUT)).unwrap().unwrap();
            segments.extend(picture.segment().map(|segment| segment.id));
            assert!(picture.to_vec() == vec![number; 3 << 20]);
        }
    });
    assert!(segments.len() <= 6, "{segments:?}");
    let error = sender.reserve((8 << 20) + 1).unwrap_err();
    assert!(matches!(error, Error::TooLong { .. }), "{error}");
}

fn long_messages_to_the_server_are_refused(kind: &Kind) {
    let (client, _server) = kind.join(&small());
    let (sender, _receiver) = client.split();
    assert_eq!(sender.message_max(), 8192);
    assert!(matches!(
        sender.reserve(8193),
        Err(Error::TooLong {
            len: 8193,
            max: 8192
        })
    ));
}

fn a_dropped_peer_is_noticed_while_receiving(kind: &Kind) {
    for client_goes in [true, false] {
        let (client, server) = kind.join(&small());
        let (goes, stays) = if client_goes {
            (client, server)
        } else {
            (server, client)
        };
        let (_sender, mut receiver) = stays.split();
        thread::scope(|scope| {
            let waiting = scope.spawn(move || receiver.recv(Some(TIMEOUT)));
            thread::sleep(Duration::from_millis(30));
            let start = Instant::now();
            drop(goes);
            let error = waiting.join().unwrap().unwrap_err();
            assert!(matches!(error, Error::Closed(_)), "{error}");
            assert!(start.elapsed() < TIMEOUT);
        });
    }
}

fn a_dropped_peer_is_noticed_while_sending(kind: &Kind) {
    for client_goes in [true, false] {
        let (client, server) = kind.join(&small());
        let (goes, stays) = if client_goes {
            (client, server)
        } else {
            (server, client)
        };
        let (sender, _receiver) = stays.split();
        thread::scope(|scope| {
            let sending = scope.spawn(move || loop {
                if let Err(error) = sender.send(&[1; 8192]) {
                    break error;
                }
            });
            thread::sleep(Duration::from_millis(50));
            let start = Instant::now();
            drop(goes);
            let error = sending.join().unwrap();
            assert!(matches!(error, Error::Closed(_)), "{error}");
            assert!(start.elapsed() < TIMEOUT);
        });
    }
}

fn what_was_sent_before_closing_arrives(kind: &Kind) {
    let (client, server) = kind.join(&small());
    let (sender, receiver) = client.split();
    for number in 0..3 {
        sender.send(&pattern(number, 5000)).unwrap();
    }
    drop((sender, receiver));
    let (_keep, mut receiver) = server.split();
    for number in 0..3 {
        let message = receiver.recv(Some(TIMEOUT)).unwrap().unwrap();
        assert_eq!(message.to_vec(), pattern(number, 5000));
    }
    for _ in 0..2 {
        assert!(matches!(
            receiver.recv(Some(TIMEOUT)),
            Err(Error::Closed(_))
        ));
    }
}

fn receiving_times_out(kind: &Kind) {
    let (client, server) = kind.join(&small());
    let ((sender, _keep), (_keep_too, mut receiver)) = (client.split(), server.split());
    let start = Instant::now();
    assert!(receiver.recv(Some(Duration::ZERO)).unwrap().is_none());
    assert!(start.elapsed() < TIMEOUT);
    assert!(receiver
        .recv(Some(Duration::from_millis(40)))
        .unwrap()
        .is_none());
    assert!(start.elapsed() >= Duration::from_millis(40));
    assert!(start.elapsed() < TIMEOUT);
    sender.send(b"late").unwrap();
    assert_eq!(
        receiver.recv(Some(TIMEOUT)).unwrap().unwrap().to_vec(),
        b"late"
    );
}

fn halves_close_apart(kind: &Kind) {
    let (client, server) = kind.join(&small());
    let (sender, mut receiver) = client.split();
    let (to_client, mut from_client) = server.split();
    drop(sender);
    assert!(matches!(
        from_client.recv(Some(TIMEOUT)),
        Err(Error::Closed(_))
    ));
    to_client.send(b"still here").unwrap();
    assert_eq!(
        receiver.recv(Some(TIMEOUT)).unwrap().unwrap().to_vec(),
        b"still here"
    );
}

fn misuse_is_refused(kind: &Kind) {
    let (client, server) = kind.join(&small());
    let ((sender, _keep), (other, _keep_too)) = (client.split(), server.split());
    let mut reservation: Reservation = sender.reserve(100).unwrap();
    let used = reservation.capacity() + 1;
    assert!(matches!(
        sender.commit(&mut reservation, used),
        Err(Error::Misuse(_))
    ));
    assert!(matches!(
        other.commit(&mut reservation, 1),
        Err(Error::Misuse(_))
    ));
    sender.commit(&mut reservation, 100).unwrap();
}
