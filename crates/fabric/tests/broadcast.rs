//! Tests of broadcasts: one writer and many readers.

mod support;

use std::thread;
use std::time::Duration;

use mgn_fabric::{connect, Broadcast, Config, Connection, Error, Listener};
use support::other::{ready, Apart, Other, Part};
use support::*;

fn join(kind: &Kind, listener: &Listener) -> Connection {
    let token = kind.token();
    let transport = kind.transport.clone();
    let (connection, welcome) =
        connect(listener.address(), transport, token.as_ref(), b"", TIMEOUT).unwrap();
    assert_eq!(welcome, b"welcome");
    connection
}

/// A writer and its readers.
fn gather(kind: &Kind, config: &Config, count: usize) -> (Broadcast, Vec<Connection>) {
    let (listener, _folder) = kind.listen();
    let mut writer = Broadcast::new(config).unwrap();
    let readers = (0..count)
        .map(|_| add(kind, &listener, &mut writer))
        .collect();
    assert_eq!(writer.readers(), count);
    (writer, readers)
}

fn add(kind: &Kind, listener: &Listener, writer: &mut Broadcast) -> Connection {
    thread::scope(|scope| {
        let reader = scope.spawn(|| join(kind, listener));
        let incoming = listener.accept_timeout(TIMEOUT).unwrap().unwrap();
        writer.accept(incoming, b"welcome").unwrap();
        reader.join().unwrap()
    })
}

fn length(i: usize) -> usize {
    [0, 1, 100, 3000, 8192][i % 5]
}

#[test]
fn every_reader_gets_every_message() {
    for kind in [SHM, UNIX, TCP4] {
        for count in [1, 4, 16] {
            let kind = &kind;
            let (mut writer, readers) = gather(kind, &small(), count);
            thread::scope(|scope| {
                for (at, reader) in readers.into_iter().enumerate() {
                    scope.spawn(move || {
                        let (_sender, mut receiver) = reader.split();
                        let mut held = Vec::new();
                        for i in 0..2000 {
                            let which = format!("{kind}: message {i} to reader {at} of {count}");
                            let message = receiver.recv(Some(TIMEOUT)).unwrap();
                            let message = message.unwrap_or_else(|| panic!("{which} is late"));
                            assert!(message.to_vec() == pattern(i, length(i)), "{which}");
                            // One reader is slow, and another reader keeps a message for a while.
                            // That reader has space for two buffers. Two messages might hold both
                            // buffers.
                            if at == 1 && i % 200 == 0 {
                                thread::sleep(Duration::from_millis(5));
                            }
                            if at == 2 && i % 100 == 0 {
                                held.push(message);
                            } else if i % 100 == 50 {
                                held.clear();
                            }
                        }
                        drop(held);
                        assert!(matches!(
                            receiver.recv(Some(TIMEOUT)),
                            Err(Error::Closed(_))
                        ));
                    });
                }
                for i in 0..2000 {
                    writer.send(&pattern(i, length(i))).unwrap();
                }
                assert_eq!(writer.readers(), count);
                drop(writer);
            });
        }
    }
}

#[test]
fn a_slow_reader_slows_the_writer() {
    let (mut writer, mut readers) = gather(&SHM, &small(), 2);
    let slow = readers.pop().unwrap();
    let (_sender, mut receiver) = readers.pop().unwrap().split();
    thread::scope(|scope| {
        let writing = scope.spawn(|| {
            for i in 0..50 {
                writer.send(&pattern(i, 8000)).unwrap();
            }
        });
        // There are only four chunks.
        for i in 0..4 {
            let message = receiver.recv(Some(TIMEOUT)).unwrap().unwrap();
            assert!(message.to_vec() == pattern(i, 8000));
        }
        assert!(receiver
            .recv(Some(Duration::from_millis(100)))
            .unwrap()
            .is_none());
        assert!(!writing.is_finished());
        let (_sender, mut late) = slow.split();
        scope.spawn(move || {
            for i in 0..50 {
                let message = late.recv(Some(TIMEOUT)).unwrap().unwrap();
                assert!(message.to_vec() == pattern(i, 8000));
            }
        });
        for i in 4..50 {
            let message = receiver.recv(Some(TIMEOUT)).unwrap().unwrap();
            assert!(message.to_vec() == pattern(i, 8000));
        }
    });
}

#[test]
fn readers_come_and_go() {
    for kind in [SHM, UNIX, TCP4] {
        let (listener, _folder) = kind.listen();
        let mut writer = Broadcast::new(&small()).unwrap();
        writer.send(b"to nobody").unwrap();
        let (first_sender, mut first) = add(&kind, &listener, &mut writer).split();
        writer.send(b"to the first").unwrap();
        let (_sender, mut second) = add(&kind, &listener, &mut writer).split();
        for i in 0..40 {
            writer.send(&pattern(i, 100)).unwrap();
        }
        let first_message = first.recv(Some(TIMEOUT)).unwrap().unwrap();
        assert_eq!(first_message.to_vec(), b"to the first");
        drop((first_message, first, first_sender));
        thread::scope(|scope| {
            scope.spawn(move || {
                for i in (0..40).chain(0..200) {
                    let message = second.recv(Some(TIMEOUT)).unwrap().unwrap();
                    let len = if message.len() == 100 { 100 } else { 8000 };
                    assert!(message.to_vec() == pattern(i, len));
                }
            });
            for i in 0..200 {
                writer.send(&pattern(i, 8000)).unwrap();
            }
        });
        assert!(writer.readers() <= 1, "{kind:?}: the first has gone");
        let long = writer.send(&[0; 8193]).unwrap_err();
        assert!(matches!(
            long,
            Error::TooLong {
                len: 8193,
                max: 8192
            }
        ));
    }
}

/// Not a test, but a reader that reads nothing until it is killed.
#[test]
fn child() {
    let Some(part) = Part::mine() else { return };
    let joined = connect(&part.address, part.kind.transport, None, b"", TIMEOUT).unwrap();
    ready("");
    thread::sleep(Duration::from_secs(60));
    drop(joined);
}

#[test]
fn a_reader_that_dies_is_dropped_and_the_others_go_on() {
    let (listener, _folder) = ABSTRACT.listen();
    let mut writer = Broadcast::new(&small()).unwrap();
    let (_sender, mut receiver) = add(&ABSTRACT, &listener, &mut writer).split();
    let dying = Other::spawn("reader", &ABSTRACT, listener.address(), Apart::default());
    let incoming = listener.accept_timeout(TIMEOUT).unwrap().unwrap();
    writer.accept(incoming, b"").unwrap();
    dying.news().expect("it has joined");
    thread::scope(|scope| {
        let reading = scope.spawn(move || {
            for i in 0..100 {
                let message = receiver.recv(Some(TIMEOUT)).unwrap().unwrap();
                assert!(message.to_vec() == pattern(i, 8000));
            }
        });
        let killing = scope.spawn(move || {
            thread::sleep(Duration::from_millis(100));
            drop(dying);
        });
        for i in 0..100 {
            writer.send(&pattern(i, 8000)).unwrap();
        }
        killing.join().unwrap();
        reading.join().unwrap();
    });
    assert_eq!(writer.readers(), 1);
}

#[test]
fn readers_share_one_copy() {
    let (mut writer, readers) = gather(&SHM, &small(), 16);
    writer.send(&pattern(0, 8000)).unwrap();
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let mine: Vec<Vec<&str>> = maps
        .lines()
        .filter(|line| line.contains("memfd:mgn-broadcast"))
        .map(|line| line.split_whitespace().collect())
        .collect();
    // Other tests in this process also have writers. The memory of this writer is identified by its
    // seventeen mappings.
    let mut counts = std::collections::HashMap::new();
    for map in &mine {
        *counts.entry(map[4]).or_insert(0) += 1;
    }
    assert!(counts.values().any(|count| *count == 17), "{counts:?}");
    let inode = counts.iter().find(|(_, count)| **count == 17).unwrap().0;
    let writable = mine
        .iter()
        .filter(|map| map[4] == *inode && map[1].contains('w'));
    assert_eq!(writable.count(), 1, "only the writer writes");
    drop(readers);
}
