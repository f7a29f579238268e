//! Tests of endpoints over every transport.

mod support;

use std::sync::mpsc::channel;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use mgn_fabric::endpoint::{Endpoint, LinkId, SendOptions, Settings, Wanted};
use mgn_fabric::{Error, Listener};
use support::links::{self, *};
use support::Folder;

/// The number of messages, far more than any link can hold. If the receiver only checked twice a
/// second, the test would take too long.
const MANY: usize = 20_000;
const LEN: usize = 200;

const SYNC: SendOptions = SendOptions {
    sync: true,
    unordered: false,
};

fn pair(kind: &Kind) -> ((Endpoint, LinkId), (Endpoint, LinkId)) {
    links::pair(kind, Settings::default(), Settings::default())
}

fn each(test: impl Fn(&Kind)) {
    for kind in ALL {
        test(&kind);
    }
}

/// The lengths include the limits of messages in one, two and several slots of shared memory.
const LENGTHS: [usize; 22] = [
    0,
    1,
    8,
    24,
    25,
    64,
    80,
    81,
    256,
    304,
    305,
    1000,
    4096,
    16 << 10,
    16385,
    40_000,
    65_536,
    65_537,
    300_000,
    1 << 20,
    5_000_000,
    3,
];

#[test]
fn messages_of_all_lengths_both_ways_at_once() {
    each(|kind| {
        let ((one, here), (other, there)) = pair(kind);
        let run = |endpoint: &Endpoint, link: LinkId, seed: usize| {
            thread::scope(|scope| {
                scope.spawn(|| {
                    for (i, len) in LENGTHS.into_iter().enumerate() {
                        let how = if i % 3 == 0 {
                            SYNC
                        } else {
                            SendOptions::default()
                        };
                        endpoint
                            .send(link, i as u64, &pattern(len, i + seed), how)
                            .unwrap();
                    }
                });
                for (i, len) in LENGTHS.into_iter().enumerate() {
                    let mut into = vec![0; len + i];
                    let status = endpoint
                        .recv(Wanted::new(link, i as u64), &mut into)
                        .unwrap();
                    assert_eq!((status.len, status.tag, status.link), (len, i as u64, link));
                    // The other end uses the other seed.
                    assert!(into[..len] == pattern(len, i + 100 - seed), "{kind} {len}");
                    assert!(into[len..].iter().all(|byte| *byte == 0));
                }
            });
        };
        thread::scope(|scope| {
            scope.spawn(|| run(&one, here, 0));
            run(&other, there, 100);
        });
    });
}

#[test]
fn receives_may_come_late_and_in_another_order() {
    each(|kind| {
        let ((one, here), (other, there)) = pair(kind);
        let mut sent: Vec<Vec<u8>> = LENGTHS
            .iter()
            .enumerate()
            .map(|(i, len)| pattern(*len, i))
            .collect();
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut sends = Vec::new();
                for (i, bytes) in sent.iter_mut().enumerate() {
                    let piece = (bytes.as_mut_ptr(), bytes.len());
                    // SAFETY: the test waits for all requests.
                    sends.extend(
                        unsafe { one.isend(here, i as u64, &[piece], SendOptions::default()) }
                            .unwrap(),
                    );
                }
                for send in sends {
                    one.wait(send, LONG).unwrap().unwrap();
                }
            });
            for i in (0..LENGTHS.len()).rev() {
                let wanted = Wanted::new(there, i as u64);
                let found = other.peek(&wanted, LONG).unwrap().unwrap();
                assert_eq!(found.len, LENGTHS[i]);
                let received = other.take(&wanted, LONG).unwrap().unwrap();
                assert_eq!(received.to_vec(), pattern(LENGTHS[i], i), "{kind} {i}");
            }
        });
        assert!(other
            .peek(&Wanted::any(), Some(Duration::ZERO))
            .unwrap()
            .is_none());
    });
}

#[test]
fn messages_taken_where_they_lie_are_released_in_any_order() {
    each(|kind| {
        let ((one, here), (other, there)) = pair(kind);
        thread::scope(|scope| {
            scope.spawn(|| {
                for i in 0..2000 {
                    one.send(here, 7, &pattern(i * 7 % 5000, i), SendOptions::default())
                        .unwrap();
                }
            });
            let mut held = Vec::new();
            for i in 0..2000 {
                let received = other.take(&Wanted::new(there, 7), LONG).unwrap().unwrap();
                held.push((i, received));
                if held.len() > 9 {
                    let (i, received) = held.swap_remove(i * 5 % 9);
                    assert!(received.to_vec() == pattern(i * 7 % 5000, i), "{kind} {i}");
                }
            }
        });
    });
}

#[test]
fn messages_may_be_longer_than_four_gibibytes() {
    let ((one, here), (other, there)) = pair(&SHM);
    let mut piece = pattern(8 << 20, 3);
    let mut into = vec![0; 8 << 20];
    let (count, last) = (513, 77);
    let len = (count << 23) + last;
    let pieces = |start: *mut u8| {
        let mut pieces = vec![(start, 8 << 20); count];
        pieces.push((start, last));
        pieces
    };
    // SAFETY: all of it is waited for here.
    unsafe {
        let receive = other.irecv(Wanted::new(there, 1), &pieces(into.as_mut_ptr()));
        let send = one
            .isend(here, 1, &pieces(piece.as_mut_ptr()), SendOptions::default())
            .unwrap()
            .unwrap();
        assert_eq!(
            other
                .wait(receive, Some(Duration::from_secs(200)))
                .unwrap()
                .unwrap()
                .len,
            len
        );
        one.wait(send, LONG).unwrap().unwrap();
    }
    assert!(len > u32::MAX as usize && into == piece);
}

#[test]
fn a_synchronous_send_ends_when_the_message_is_received() {
    each(|kind| {
        let ((one, here), (other, there)) = pair(kind);
        for len in [5, 5000, 500_000] {
            let mut bytes = pattern(len, 0);
            // SAFETY: the request is waited for below.
            let send = unsafe { one.isend(here, 1, &[(bytes.as_mut_ptr(), len)], SYNC) }
                .unwrap()
                .unwrap();
            assert!(one
                .wait(send, Some(Duration::from_millis(30)))
                .unwrap()
                .is_none());
            other.peek(&Wanted::new(there, 1), LONG).unwrap().unwrap();
            assert!(one
                .wait(send, Some(Duration::from_millis(30)))
                .unwrap()
                .is_none());
            other
                .recv(Wanted::new(there, 1), &mut vec![0; len])
                .unwrap();
            assert_eq!(one.wait(send, LONG).unwrap().unwrap().len, len);
            assert!(
                matches!(one.test(send), Err(Error::Misuse(_))),
                "asked twice"
            );
        }
    });
}

#[test]
fn both_may_send_first_though_neither_receives() {
    // Each end sends synchronously before it receives, with more messages in flight than the other
    // end can hold.
    each(|kind| {
        let ((one, here), (other, there)) = pair(kind);
        let run = |endpoint: &Endpoint, link: LinkId| {
            let mut bytes = pattern(3_000_000, 1);
            let piece = (bytes.as_mut_ptr(), bytes.len());
            let sends: Vec<_> = (0..5)
                .map(|_| {
                    // SAFETY: the test waits for all requests.
                    unsafe { endpoint.isend(link, 1, &[piece], SYNC) }
                        .unwrap()
                        .unwrap()
                })
                .collect();
            for _ in 0..5 {
                let mut into = vec![0; 3_000_000];
                endpoint.recv(Wanted::new(link, 1), &mut into).unwrap();
                assert!(into == pattern(3_000_000, 1));
            }
            for send in sends {
                endpoint.wait(send, LONG).unwrap().unwrap();
            }
        };
        thread::scope(|scope| {
            scope.spawn(|| run(&one, here));
            run(&other, there);
        });
    });
}

#[test]
fn messages_that_are_not_received_yet_stop_none_that_is() {
    // Over shared memory, each short message takes a whole chunk, though it fills only half of it.
    each(|kind| {
        let ((one, here), (other, there)) = pair(kind);
        let mut long = pattern(2_000_000, 1);
        let mut short = pattern(17_000, 2);
        let pieces = |bytes: &mut [u8]| [(bytes.as_mut_ptr(), bytes.len())];
        let (long_piece, short_piece) = (pieces(&mut long), pieces(&mut short));
        let mut sends: Vec<_> = (0..200)
            .filter_map(|_| {
                // SAFETY: the test waits for all requests.
                unsafe { one.isend(here, 2, &short_piece, SendOptions::default()) }.unwrap()
            })
            .collect();
        // SAFETY: as above.
        sends.extend(unsafe { one.isend(here, 1, &long_piece, SendOptions::default()) }.unwrap());
        let received = other.take(&Wanted::new(there, 1), LONG).unwrap();
        let received = received.unwrap_or_else(|| panic!("{kind}: it does not come"));
        assert!(received.to_vec() == pattern(2_000_000, 1), "{kind}");
        for _ in 0..200 {
            let received = other.take(&Wanted::new(there, 2), LONG).unwrap().unwrap();
            assert!(received.to_vec() == pattern(17_000, 2), "{kind}");
        }
        for send in sends {
            one.wait(send, LONG).unwrap().unwrap();
        }
    });
}

#[test]
fn transfers_go_on_while_the_program_computes() {
    each(|kind| {
        let ((one, here), (other, there)) = pair(kind);
        for len in [8, 32 << 10, 20 << 20] {
            let mut bytes = pattern(len, 1);
            let mut time = Duration::from_millis(400);
            // On a busy machine, the message may take longer. `test` itself makes progress, so a
            // message that was tested too early is sent again.
            loop {
                let mut into = vec![0; len];
                // SAFETY: the test waits for all requests.
                let is_done = unsafe {
                    let receive = other.irecv(Wanted::new(there, 1), &[(into.as_mut_ptr(), len)]);
                    let send = one
                        .isend(here, 1, &[(bytes.as_mut_ptr(), len)], SYNC)
                        .unwrap()
                        .unwrap();
                    // The program makes no calls for these links.
                    thread::sleep(time);
                    has_ended(&other, receive) & has_ended(&one, send)
                };
                assert!(into == bytes);
                if is_done {
                    break;
                }
                time *= 2;
                assert!(time < TIMEOUT, "{kind} {len}");
            }
        }
    });
}

#[test]
fn more_than_there_is_room_for_goes_on_while_the_program_computes() {
    each(|kind| {
        let ((one, here), (other, there)) = pair(kind);
        let mut into = vec![0; MANY * LEN];
        // SAFETY: the test waits for all requests.
        let receives: Vec<_> = into
            .chunks_mut(LEN)
            .map(|into| unsafe { other.irecv(Wanted::new(there, 1), &[(into.as_mut_ptr(), LEN)]) })
            .collect();
        // The receiving side makes no calls, and the sending side does not wait for it.
        thread::scope(|scope| {
            let (sent, all_sent) = channel();
            let one = &one;
            scope.spawn(move || {
                for at in 0..MANY {
                    one.send(here, 1, &pattern(LEN, at), SendOptions::default())
                        .unwrap();
                }
                sent.send(()).unwrap();
            });
            let all_sent = all_sent.recv_timeout(LONG.unwrap());
            assert!(all_sent.is_ok(), "{kind}: the sender waits");
        });
        for receive in receives {
            assert!(other.wait(receive, LONG).unwrap().is_some(), "{kind}");
        }
        for (at, into) in into.chunks(LEN).enumerate() {
            assert!(into == pattern(LEN, at), "{kind} {at}");
        }
    });
}

#[test]
fn handlers_are_called_without_anybody_asking() {
    each(|kind| {
        let ((one, here), (other, _)) = pair(kind);
        let (sender, receiver) = channel();
        other.set_handler(3, move |message| {
            sender.send((message.tag, message.to_vec())).unwrap()
        });
        for (i, len) in LENGTHS.into_iter().enumerate() {
            let mut bytes = pattern(len, i);
            // SAFETY: the test waits for the request.
            let send = unsafe {
                one.isend_active(
                    here,
                    3,
                    i as u64,
                    &[(bytes.as_mut_ptr(), len)],
                    SendOptions::default(),
                )
            };
            if let Some(send) = send.unwrap() {
                one.wait(send, LONG).unwrap().unwrap();
            }
        }
        let mut seen: Vec<_> = LENGTHS
            .iter()
            .map(|_| receiver.recv_timeout(Duration::from_secs(10)).unwrap())
            .collect();
        seen.sort_by_key(|(tag, _)| *tag);
        for (i, (tag, bytes)) in seen.into_iter().enumerate() {
            assert!(
                tag == i as u64 && bytes == pattern(LENGTHS[i], i),
                "{kind} {i}"
            );
        }
    });
}

#[test]
fn handlers_are_called_during_waits() {
    each(|kind| {
        let ((one, here), (other, there)) = pair(kind);
        let (sender, receiver) = channel();
        other.set_handler(3, move |message| sender.send(message.tag).unwrap());
        let start = Instant::now();
        thread::scope(|scope| {
            let (one, how) = (&one, SendOptions::default());
            scope.spawn(move || {
                for round in 0..500 {
                    // SAFETY: it has no bytes.
                    unsafe { one.isend_active(here, 3, round, &[], how) }.unwrap();
                    assert_eq!(receiver.recv(), Ok(round));
                    one.send(here, 1, &[], how).unwrap();
                }
            });
            for _ in 0..500 {
                // SAFETY: as above.
                let request = unsafe { other.irecv(Wanted::new(there, 1), &[]) };
                other.wait(request, LONG).unwrap().unwrap();
            }
        });
        // If a message is missed, it waits for up to half a second.
        assert!(start.elapsed() < Duration::from_secs(10), "{kind}");
    });
}

#[test]
fn a_receiver_that_does_not_read_stops_its_sender_and_nobody_else() {
    each(|kind| {
        let (listener, _folder) = kind.listen();
        let hub = Endpoint::new().unwrap();
        let (lazy, eager) = (Endpoint::new().unwrap(), Endpoint::new().unwrap());
        let (to_lazy, at_lazy, to_eager, at_eager) = thread::scope(|scope| {
            let links = scope.spawn(|| (accept(&hub, &listener), accept(&hub, &listener)));
            let first = connect(&lazy, &listener, kind, b"");
            let second = connect(&eager, &listener, kind, b"");
            let (a, b) = links.join().unwrap();
            (a, first, b, second)
        });
        let mut bytes = pattern(10_000, 0);
        let start = bytes.as_mut_ptr();
        // The messages lie in one slot, in several slots, and in chunks.
        let len = |i: usize| [10_000, 304, 8, 200, 10_000][i % 5];
        let sends: Vec<_> = (0..2000)
            .filter_map(|i| {
                let piece = (start, len(i));
                // SAFETY: the test waits for all requests, or their endpoint ends before the
                // memory.
                unsafe { hub.isend(to_lazy, 1, &[piece], SendOptions::default()) }.unwrap()
            })
            .collect();
        assert!(
            sends.len() > 1000,
            "{kind}: somewhere 2000 messages are held"
        );
        for _ in 0..200 {
            hub.send(to_eager, 1, &bytes, SendOptions::default())
                .unwrap();
            eager
                .recv(Wanted::new(at_eager, 1), &mut [0; 10_000])
                .unwrap();
        }
        for i in 0..2000 {
            let mut into = [0; 10_000];
            let status = lazy.recv(Wanted::new(at_lazy, 1), &mut into).unwrap();
            assert!(
                status.len == len(i) && into[..len(i)] == bytes[..len(i)],
                "{kind} {i}"
            );
        }
        for send in sends {
            hub.wait(send, LONG).unwrap().unwrap();
        }
    });
}

#[test]
fn an_end_that_goes_is_an_error_for_all_that_waits() {
    each(|kind| {
        let ((one, here), (other, there)) = pair(kind);
        let mut bytes = pattern(10_000_000, 0);
        let mut into = vec![0; 100];
        other
            .send(there, 9, b"left behind", SendOptions::default())
            .unwrap();
        // Over shared memory, even a long message has arrived when its send has ended, although it
        // was not received.
        let long = pattern(100_000, 4);
        if kind.is_shm() {
            other
                .send(there, 10, &long, SendOptions::default())
                .unwrap();
        }
        // SAFETY: all requests end before the memory is freed.
        unsafe {
            let send = one
                .isend(
                    here,
                    1,
                    &[(bytes.as_mut_ptr(), bytes.len())],
                    SendOptions::default(),
                )
                .unwrap()
                .unwrap();
            let receive = one.irecv(Wanted::new(here, 1), &[(into.as_mut_ptr(), into.len())]);
            thread::sleep(Duration::from_millis(20));
            drop(other);
            assert!(
                matches!(one.wait(send, LONG), Err(Error::Closed(_))),
                "{kind}"
            );
            assert!(
                matches!(one.wait(receive, LONG), Err(Error::Closed(_))),
                "{kind}"
            );
        }
        // Messages that had arrived are still there, and then the link is closed.
        let status = one.recv(Wanted::new(here, 9), &mut into).unwrap();
        assert_eq!(&into[..status.len], b"left behind");
        if kind.is_shm() {
            let mut all = vec![0; long.len()];
            one.recv(Wanted::new(here, 10), &mut all).unwrap();
            assert!(all == long);
        }
        assert!(matches!(
            one.recv(Wanted::new(here, 9), &mut into),
            Err(Error::Closed(_))
        ));
        assert!(matches!(
            one.send(here, 1, b"x", SendOptions::default()),
            Err(Error::Closed(_))
        ));
        assert!(matches!(
            one.peek(&Wanted::new(here, 1), LONG),
            Err(Error::Closed(_))
        ));
    });
}

#[test]
fn an_endpoint_sends_to_itself() {
    let endpoint = Endpoint::new().unwrap();
    let own = endpoint.own();
    for len in LENGTHS {
        let mut bytes = pattern(len, 5);
        let mut into = vec![0; len];
        // SAFETY: the test waits for both requests.
        unsafe {
            let send = endpoint
                .isend(own, 1, &[(bytes.as_mut_ptr(), len)], SYNC)
                .unwrap()
                .unwrap();
            let receive = endpoint.irecv(Wanted::any(), &[(into.as_mut_ptr(), len)]);
            endpoint.wait(receive, LONG).unwrap().unwrap();
            endpoint.wait(send, LONG).unwrap().unwrap();
        }
        assert!(into == bytes);
    }
}

#[test]
fn many_send_to_one_and_all_to_all() {
    each(|kind| {
        const N: usize = 8;
        let (listeners, _folders): (Vec<Listener>, Vec<Folder>) =
            (0..N).map(|_| kind.listen()).unzip();
        let all: Vec<Endpoint> = (0..N).map(|_| Endpoint::new().unwrap()).collect();
        thread::scope(|scope| {
            for (rank, endpoint) in all.iter().enumerate() {
                let listeners = &listeners;
                scope.spawn(move || {
                    let mut links = [endpoint.own(); N];
                    thread::scope(|scope| {
                        let later = scope.spawn(|| -> Vec<_> {
                            (rank + 1..N)
                                .map(|_| accept_named(endpoint, &listeners[rank]))
                                .collect()
                        });
                        for peer in 0..rank {
                            links[peer] = connect(endpoint, &listeners[peer], kind, &[rank as u8]);
                        }
                        for (link, name) in later.join().unwrap() {
                            links[name[0] as usize] = link;
                        }
                    });
                    let len = |from: usize, to: usize, round: usize| {
                        [40, 3000, 200_000][(from + to + round) % 3]
                    };
                    for round in 0..20 {
                        let mut into: Vec<Vec<u8>> =
                            (0..N).map(|from| vec![0; len(from, rank, round)]).collect();
                        let mut out: Vec<Vec<u8>> = (0..N)
                            .map(|to| pattern(len(rank, to, round), rank * N + to))
                            .collect();
                        let mut requests = Vec::new();
                        for peer in 0..N {
                            // SAFETY: the test waits for all requests.
                            unsafe {
                                let piece = (into[peer].as_mut_ptr(), into[peer].len());
                                requests.push(
                                    endpoint
                                        .irecv(Wanted::new(links[peer], round as u64), &[piece]),
                                );
                                let piece = (out[peer].as_mut_ptr(), out[peer].len());
                                requests.extend(
                                    endpoint
                                        .isend(
                                            links[peer],
                                            round as u64,
                                            &[piece],
                                            SendOptions::default(),
                                        )
                                        .unwrap(),
                                );
                            }
                        }
                        for request in requests {
                            endpoint.wait(request, LONG).unwrap().expect("in time");
                        }
                        for (from, into) in into.iter().enumerate() {
                            assert!(
                                *into == pattern(len(from, rank, round), from * N + rank),
                                "{kind}"
                            );
                        }
                    }
                });
            }
        });
    });
}

#[test]
fn several_threads_use_one_endpoint() {
    each(|kind| {
        let ((one, here), (other, there)) = pair(kind);
        let (one, other) = (Arc::new(one), Arc::new(other));
        thread::scope(|scope| {
            for tag in 0..4u64 {
                let (one, other) = (one.clone(), other.clone());
                scope.spawn(move || {
                    for i in 0..300 {
                        one.send(
                            here,
                            tag,
                            &pattern(i * 37 % 9000, i),
                            SendOptions::default(),
                        )
                        .unwrap();
                        let mut back = [0; 8];
                        one.recv(Wanted::new(here, tag), &mut back).unwrap();
                        assert_eq!(back, (i as u64).to_le_bytes());
                    }
                });
                scope.spawn(move || {
                    for i in 0..300 {
                        let mut into = vec![0; 9000];
                        let status = other.recv(Wanted::new(there, tag), &mut into).unwrap();
                        assert!(into[..status.len] == pattern(i * 37 % 9000, i));
                        other
                            .send(
                                there,
                                tag,
                                &(i as u64).to_le_bytes(),
                                SendOptions::default(),
                            )
                            .unwrap();
                    }
                });
            }
        });
    });
}

#[test]
fn what_one_thread_sends_to_its_own_endpoint_wakes_another() {
    let endpoint = Endpoint::new().unwrap();
    let own = endpoint.own();
    thread::scope(|scope| {
        let receiver = scope.spawn(|| {
            let mut turns = 0;
            let start = std::time::Instant::now();
            while turns < 200 {
                endpoint.recv(Wanted::new(own, turns), &mut [0; 8]).unwrap();
                turns += 1;
                endpoint
                    .send(own, 1000 + turns, &[1; 8], SendOptions::default())
                    .unwrap();
            }
            start.elapsed()
        });
        for turn in 0..200 {
            thread::sleep(Duration::from_micros(300));
            endpoint
                .send(own, turn, &[2; 8], SendOptions::default())
                .unwrap();
            endpoint
                .recv(Wanted::new(own, 1001 + turn), &mut [0; 8])
                .unwrap();
        }
        // A sleeping thread polls by itself only after half a second. That would take 100 s in
        // total.
        assert!(receiver.join().unwrap() < Duration::from_secs(60));
    });
}

/// Sends a reserved message.
fn send_written(endpoint: &Endpoint, link: LinkId, tag: u64, bytes: &[u8], how: SendOptions) {
    // Reserve more than is used.
    let mut room = endpoint.reserve(link, bytes.len() + 77).unwrap();
    assert_eq!(room.len(), bytes.len() + 77);
    assert_eq!(room.as_mut_ptr() as usize % 64, 0);
    room.write(0, bytes);
    if let Some(request) = room.commit(bytes.len(), tag, how).unwrap() {
        endpoint.wait(request, LONG).unwrap().unwrap();
    }
}

#[test]
fn what_is_written_in_reserved_memory_arrives_whichever_way_it_is_received() {
    each(|transport| {
        let ((one, here), (other, there)) = pair(transport);
        let (sender, receiver) = channel();
        other.set_handler(3, move |message| sender.send(message.to_vec()).unwrap());
        let run = |from: &Endpoint, to: LinkId, at: &Endpoint, link: LinkId| {
            thread::scope(|scope| {
                scope.spawn(|| {
                    for (i, len) in LENGTHS.into_iter().enumerate() {
                        for (tag, how) in [
                            (1, SendOptions::default()),
                            (2, SYNC),
                            (3, SendOptions::default()),
                        ] {
                            send_written(from, to, tag, &pattern(len, i), how);
                        }
                    }
                });
                for (i, len) in LENGTHS.into_iter().enumerate() {
                    // The receive is posted before or after the message arrives.
                    let mut into = vec![0; len + 9];
                    let status = at.recv(Wanted::new(link, 1), &mut into).unwrap();
                    assert_eq!(status.len, len);
                    assert!(into[..len] == pattern(len, i), "{transport} {len}");
                    assert_eq!(into[len..], [0; 9]);
                    at.peek(&Wanted::new(link, 2), LONG).unwrap().unwrap();
                    let end = at.recv(Wanted::new(link, 2), &mut into[..len / 2]);
                    match (end, len / 2 == len) {
                        (Ok(_), true) => {}
                        (Err(Error::Truncated { len: all, room }), false) => {
                            assert_eq!((all, room), (len, len / 2))
                        }
                        (end, _) => panic!("{transport} {len}: {end:?}"),
                    }
                    assert!(into[..len / 2] == pattern(len, i)[..len / 2]);
                    let taken = at.take(&Wanted::new(link, 3), LONG).unwrap().unwrap();
                    assert!(taken.to_vec() == pattern(len, i), "{transport} {len}");
                }
            });
        };
        run(&one, here, &other, there);
        run(&other, there, &one, here);
        run(&one, one.own(), &one, one.own());
        for (i, len) in LENGTHS.into_iter().enumerate() {
            let mut room = one.reserve(here, len).unwrap();
            room.write(0, &pattern(len, i));
            let request = room
                .commit_active(len, 3, 0, SendOptions::default())
                .unwrap();
            let got = receiver.recv_timeout(Duration::from_secs(10)).unwrap();
            assert!(got == pattern(len, i), "{transport} {len}");
            if let Some(request) = request {
                one.wait(request, LONG).unwrap().unwrap();
            }
        }
    });
}

/// A handler that panics is called again for the next message. This holds for every thread that may
/// call it.
#[test]
fn a_handler_that_panics_ends_its_message_only() {
    each(|kind| {
        let ((one, here), (other, _there)) = pair(kind);
        let (sender, called) = channel();
        other.set_handler(3, move |message| {
            sender.send(message.tag).unwrap();
            assert!(message.tag % 2 == 0, "deliberate panic");
        });
        for tag in 0..20 {
            let message = pattern(100 * tag, 1);
            let piece = (message.as_ptr().cast_mut(), message.len());
            // SAFETY: the request is synchronous, and the test waits for it.
            let sent = unsafe { one.isend_active(here, 3, tag as u64, &[piece], SYNC) };
            one.wait(sent.unwrap().unwrap(), LONG).unwrap().unwrap();
            // For half of the messages, the program's own thread makes progress.
            if tag % 4 < 2 {
                let _ = other.peek(&Wanted::any(), Some(Duration::from_millis(1)));
            }
            assert_eq!(called.recv_timeout(TIMEOUT), Ok(tag as u64), "{kind}");
        }
    });
}

#[test]
fn reserved_messages_and_others_keep_their_order() {
    each(|transport| {
        let ((one, here), (other, there)) = pair(transport);
        thread::scope(|scope| {
            scope.spawn(|| {
                for i in 0..1500 {
                    let bytes = pattern(i * 997 % 90_000, i);
                    match i % 3 {
                        0 => one.send(here, 7, &bytes, SendOptions::default()).unwrap(),
                        _ => send_written(&one, here, 7, &bytes, SendOptions::default()),
                    }
                }
            });
            let mut into = vec![0; 90_000];
            for i in 0..1500 {
                let len = i * 997 % 90_000;
                match i % 2 {
                    0 => {
                        let found = other.recv(Wanted::new(there, 7), &mut into).unwrap();
                        assert_eq!(found.len, len, "{transport} {i}");
                        assert!(into[..len] == pattern(len, i), "{transport} {i}");
                    }
                    _ => {
                        let found = other.take(&Wanted::new(there, 7), LONG).unwrap().unwrap();
                        assert!(found.to_vec() == pattern(len, i), "{transport} {i}");
                    }
                }
            }
        });
    });
}

#[test]
fn reserved_memory_that_is_held_blocks_nothing_and_is_released_in_any_order() {
    each(|transport| {
        let ((one, here), (other, there)) = pair(transport);
        // Reserve more memory than the link shares. Most of it is never sent.
        let mut rooms: Vec<_> = (0..30)
            .map(|_| one.reserve(here, 5 << 20).unwrap())
            .collect();
        let mut held: Vec<_> = (0..90)
            .map(|i| {
                let (len, at) = ([30, 3000, 300_000][i % 3], i * 7 % (30 - i / 6));
                let bytes = pattern(len, i);
                let mut room = match i % 6 {
                    0 => rooms.swap_remove(at),
                    _ => one.reserve(here, len).unwrap(),
                };
                room.write(0, &bytes);
                let request = room.commit(len, 7, SendOptions::default()).unwrap();
                let taken = other.take(&Wanted::new(there, 7), LONG).unwrap().unwrap();
                if let Some(request) = request {
                    one.wait(request, LONG).unwrap().unwrap();
                }
                (i, len, taken)
            })
            .collect();
        while !held.is_empty() {
            let (i, len, taken) = held.swap_remove(held.len() * 5 / 7);
            assert!(taken.to_vec() == pattern(len, i), "{transport} {i}");
            // This works although messages are held or were never sent.
            send_written(&one, here, 8, &pattern(15_000, i), SendOptions::default());
            let mut into = vec![0; 15_000];
            other.recv(Wanted::new(there, 8), &mut into).unwrap();
            assert!(into == pattern(15_000, i));
        }
    });
}

#[test]
fn a_reservation_ends_with_its_link_and_its_length() {
    each(|transport| {
        let ((one, here), (other, there)) = pair(transport);
        let room = one.reserve(here, 1000).unwrap();
        let error = room.commit(1001, 1, SendOptions::default()).unwrap_err();
        assert!(matches!(error, Error::Misuse(_)), "{error}");
        let error = one.reserve(here, usize::MAX).unwrap_err();
        assert!(matches!(error, Error::NoMemory(_)), "{error}");
        let mut room = one.reserve(here, 100_000).unwrap();
        room.write(99_999, &[5]);
        // The message is held after the end of its link.
        let taken = thread::scope(|scope| {
            let bytes = pattern(100_000, 1);
            let one = &one;
            scope.spawn(move || send_written(one, here, 1, &bytes, SendOptions::default()));
            other.take(&Wanted::new(there, 1), LONG).unwrap().unwrap()
        });
        one.close(here);
        let error = room.commit(100_000, 1, SendOptions::default()).unwrap_err();
        assert!(matches!(error, Error::Closed(_)), "{error}");
        assert!(one.reserve(here, 10).is_err());
        other.recv(Wanted::new(there, 1), &mut []).unwrap_err();
        drop(one);
        assert!(taken.to_vec() == pattern(100_000, 1), "{transport}");
        drop(other);
        assert!(taken.to_vec() == pattern(100_000, 1), "{transport}");
    });
}

#[test]
fn a_reserved_message_that_waits_for_an_envelope_can_be_cancelled() {
    each(|transport| {
        let ((one, here), (other, there)) = pair(transport);
        let sends: Vec<_> = (0..400)
            .map(|i| {
                let mut room = one.reserve(here, 1000).unwrap();
                room.write(0, &pattern(1000, i));
                room.commit(1000, 1, SendOptions::default()).unwrap()
            })
            .collect();
        let last = sends[399].expect("the other end cannot hold as many messages");
        assert!(one.cancel(last).unwrap());
        assert!(matches!(one.test(last), Err(Error::Cancelled)));
        for i in 0..399 {
            let taken = other.take(&Wanted::new(there, 1), LONG).unwrap().unwrap();
            assert!(taken.to_vec() == pattern(1000, i), "{transport} {i}");
        }
        for send in sends[..399].iter().copied().flatten() {
            one.wait(send, LONG).unwrap().unwrap();
        }
        let none = other.take(&Wanted::new(there, 1), Some(Duration::from_millis(30)));
        assert!(none.unwrap().is_none());
    });
}

/// Receives from any link end when the last peer goes.
#[test]
fn when_every_peer_has_gone_nobody_is_waited_for() {
    each(|kind| {
        let mut soon = Duration::from_millis(100);
        while !ends_with_its_peers(kind, soon) {
            soon *= 2;
            assert!(soon < TIMEOUT, "{kind}");
        }
    });
}

/// Returns false if the thread that calls `take` started only after all peers had gone. The call
/// then waits for new peers. The thread has the time `soon` to start.
fn ends_with_its_peers(kind: &Kind, soon: Duration) -> bool {
    let (listener, _folder) = kind.listen();
    let [hub, first, second] = [(); 3].map(|()| Endpoint::new().unwrap());
    let (there, here) = thread::scope(|scope| {
        let links = scope.spawn(|| (accept(&hub, &listener), accept(&hub, &listener)));
        let here = connect(&first, &listener, kind, b"");
        connect(&second, &listener, kind, b"");
        (links.join().unwrap(), here)
    });
    let mut into = [0; 8];
    // SAFETY: the test waits for the request.
    let pending = unsafe { hub.irecv(Wanted::any(), &[(into.as_mut_ptr(), 8)]) };
    let (begins, begun) = channel();
    let in_time = thread::scope(|scope| {
        let taking = scope.spawn(|| {
            begins.send(()).unwrap();
            hub.take(&Wanted::any(), LONG).map(|found| found.is_some())
        });
        begun.recv().unwrap();
        drop(second);
        assert!(
            hub.wait(pending, Some(soon)).unwrap().is_none(),
            "{kind}: one is left"
        );
        // The other side has only this peer.
        let waiting = scope.spawn(|| first.recv(Wanted::any(), &mut [0; 8]));
        thread::sleep(Duration::from_millis(20));
        hub.close(there.0);
        hub.close(there.1);
        let pending = hub.wait(pending, LONG).map(drop);
        let taken = taking.join().unwrap();
        let waited = waiting.join().unwrap().map(drop);
        if let Ok(false) = taken {
            return false;
        }
        for end in [pending, taken.map(drop), waited] {
            assert!(matches!(end, Err(Error::Closed(_))), "{kind}: {end:?}");
        }
        true
    });
    if !in_time {
        return false;
    }
    // An endpoint that has only connected to others does not wait for new peers. It can still
    // receive from itself.
    let later = first.recv(Wanted::any(), &mut into);
    assert!(matches!(later, Err(Error::Closed(_))), "{kind}: {later:?}");
    assert!(!first.is_open(here));
    first
        .send(first.own(), 1, b"to self", SendOptions::default())
        .unwrap();
    first.recv(Wanted::any(), &mut into).unwrap();
    // An endpoint that has accepted peers may get more peers, so it waits. SAFETY: waited for.
    let later = unsafe { hub.irecv(Wanted::any(), &[(into.as_mut_ptr(), 8)]) };
    let third = Endpoint::new().unwrap();
    thread::scope(|scope| {
        scope.spawn(|| accept(&hub, &listener));
        let link = connect(&third, &listener, kind, b"");
        third
            .send(link, 5, b"hello", SendOptions::default())
            .unwrap();
    });
    assert_eq!(hub.wait(later, LONG).unwrap().unwrap().tag, 5, "{kind}");
    true
}
