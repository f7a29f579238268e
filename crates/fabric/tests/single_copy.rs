//! Tests of messages that are read directly from their sender's memory, and of the fallback if the
//! system forbids that.

mod support;

use std::thread;
use std::time::Duration;

use mgn_fabric::endpoint::{Endpoint, LinkId, SendOptions, Settings, Wanted};
use mgn_fabric::Error;
use support::links::*;
use support::other::{ready, Apart, Other, Part};

const FROM: usize = 20_000;

fn settings() -> Settings {
    Settings {
        single_copy_shm: FROM,
        single_copy_unix: FROM,
        eager_unix: 4096,
        ..Settings::default()
    }
}

const LENGTHS: [usize; 8] = [
    5,
    19_999,
    20_000,
    20_001,
    100_000,
    1 << 20,
    3_000_001,
    10 << 20,
];

#[test]
fn long_messages_are_read_from_where_they_are() {
    for kind in HOST {
        let ((one, here), (other, there)) = pair(&kind, settings(), settings());
        let run = |endpoint: &Endpoint, link: LinkId| {
            thread::scope(|scope| {
                scope.spawn(|| {
                    for (i, len) in LENGTHS.into_iter().enumerate() {
                        let sync = i % 2 == 0;
                        let how = SendOptions {
                            sync,
                            ..SendOptions::default()
                        };
                        endpoint
                            .send(link, i as u64, &pattern(len, i), how)
                            .unwrap();
                    }
                });
                for (i, len) in LENGTHS.into_iter().enumerate() {
                    let mut into = vec![0; len + 9];
                    let wanted = Wanted::new(link, i as u64);
                    assert_eq!(endpoint.recv(wanted, &mut into).unwrap().len, len);
                    assert!(into[..len] == pattern(len, i), "{kind} {len}");
                    assert_eq!(into[len..], [0; 9]);
                }
            });
            assert_eq!(endpoint.single_copies(link), 6, "{kind}");
        };
        thread::scope(|scope| {
            scope.spawn(|| run(&one, here));
            run(&other, there);
        });
    }
}

#[test]
fn links_through_shared_memory_try_both_ways() {
    const LEN: usize = 64 << 10;
    let ((one, here), (other, there)) = pair(&SHM, Settings::default(), Settings::default());
    // The link first measures two copies and then one copy, with 2 MiB each.
    let rounds = 400;
    thread::scope(|scope| {
        scope.spawn(|| {
            for round in 0..rounds {
                one.send(here, 1, &pattern(LEN, round), SendOptions::default())
                    .unwrap();
            }
        });
        let mut into = vec![0; LEN];
        for round in 0..rounds {
            other.recv(Wanted::new(there, 1), &mut into).unwrap();
            assert!(into == pattern(LEN, round), "{round}");
        }
    });
    let fetched = other.single_copies(there);
    assert!((16..rounds as u64 - 16).contains(&fetched), "{fetched}");
    assert_eq!(one.single_copies(here), 0, "nothing was sent to it");
}

/// Sends messages in one piece, messages in two pieces, and synchronous messages. Receives the
/// messages of the other end, some of them into memory that is too short.
fn send_and_receive(endpoint: &Endpoint, link: LinkId, count: usize, seed: usize) {
    const WINDOW: usize = 16;
    let len = |i: usize| 40_000 + i * 7919 % 60_000;
    for begin in (0..count).step_by(WINDOW) {
        let numbers = begin..(begin + WINDOW).min(count);
        let mut out: Vec<Vec<u8>> = numbers.clone().map(|i| pattern(len(i), i + seed)).collect();
        let mut into: Vec<Vec<u8>> = numbers
            .clone()
            .map(|i| vec![0; if i % 13 == 5 { 30_000 } else { len(i) }])
            .collect();
        // SAFETY: the test waits for all requests before it frees their memory.
        let receives: Vec<_> = into
            .iter_mut()
            .map(|into| unsafe {
                endpoint.irecv(Wanted::new(link, 1), &[(into.as_mut_ptr(), into.len())])
            })
            .collect();
        let sends: Vec<_> = numbers
            .clone()
            .zip(&mut out)
            .filter_map(|(i, out)| {
                let cut = if i % 7 == 3 { 1000 } else { out.len() };
                let (a, b) = out.split_at_mut(cut);
                let mut pieces = vec![(a.as_mut_ptr(), a.len())];
                pieces.extend((!b.is_empty()).then_some((b.as_mut_ptr(), b.len())));
                let how = SendOptions {
                    sync: i % 11 == 2,
                    ..SendOptions::default()
                };
                // SAFETY: as above.
                unsafe { endpoint.isend(link, 1, &pieces, how) }.unwrap()
            })
            .collect();
        for ((i, receive), into) in numbers.zip(receives).zip(&into) {
            let got = endpoint.wait(receive, LONG);
            match into.len() == len(i) {
                true => assert_eq!(got.unwrap().unwrap().len, len(i)),
                false => assert!(matches!(got, Err(Error::Truncated { .. })), "{i} {got:?}"),
            }
            let right = pattern(len(i), i + 1 - seed);
            assert!(into[..] == right[..into.len()], "message {i}");
        }
        for send in sends {
            endpoint.wait(send, LONG).unwrap().unwrap();
        }
    }
}

#[test]
fn all_messages_arrive_while_both_ways_are_tried() {
    let ((one, here), (other, there)) = pair(&SHM, Settings::default(), Settings::default());
    thread::scope(|scope| {
        scope.spawn(|| send_and_receive(&one, here, 2000, 0));
        send_and_receive(&other, there, 2000, 1);
    });
    for fetched in [one.single_copies(here), other.single_copies(there)] {
        assert!((16..1984).contains(&fetched), "{fetched}");
    }
}

#[test]
fn whoever_wants_it_reads_and_whoever_does_not_is_sent() {
    for kind in HOST {
        let ((one, here), (other, there)) = pair(&kind, settings(), Settings::default());
        let bytes = pattern(500_000, 1);
        thread::scope(|scope| {
            scope.spawn(|| one.send(here, 1, &bytes, SendOptions::default()).unwrap());
            let mut into = vec![0; bytes.len()];
            other.recv(Wanted::new(there, 1), &mut into).unwrap();
            assert!(into == bytes);
            scope.spawn(|| {
                other
                    .send(there, 2, &bytes, SendOptions::default())
                    .unwrap()
            });
            into.fill(0);
            one.recv(Wanted::new(here, 2), &mut into).unwrap();
            assert!(into == bytes);
        });
        assert_eq!(
            (one.single_copies(here), other.single_copies(there)),
            (1, 0)
        );
    }
}

#[test]
fn pieces_are_sent_and_may_be_read_into() {
    for kind in HOST {
        let ((one, here), (other, there)) = pair(&kind, settings(), settings());
        let mut whole = pattern(900_000, 2);
        let (mut x, mut y) = (vec![0; 250_001], vec![0; 649_999]);
        for (cut, fetched) in [(900_000, 1), (7, 1)] {
            let (a, b) = whole.split_at_mut(cut);
            let mut pieces = vec![(a.as_mut_ptr(), a.len())];
            pieces.extend((!b.is_empty()).then_some((b.as_mut_ptr(), b.len())));
            // SAFETY: the test waits for both requests.
            unsafe {
                let into = [(x.as_mut_ptr(), x.len()), (y.as_mut_ptr(), y.len())];
                let receive = other.irecv(Wanted::new(there, 1), &into);
                let send = one
                    .isend(here, 1, &pieces, SendOptions::default())
                    .unwrap()
                    .unwrap();
                other.wait(receive, LONG).unwrap().unwrap();
                one.wait(send, LONG).unwrap().unwrap();
            }
            assert!([&x[..], &y].concat() == whole);
            x.fill(0);
            y.fill(0);
            assert_eq!(other.single_copies(there), fetched, "{kind}");
        }
    }
}

#[test]
fn a_message_that_does_not_fit_is_cut() {
    for kind in HOST {
        let ((one, here), (other, there)) = pair(&kind, settings(), settings());
        let bytes = pattern(2_500_000, 3);
        thread::scope(|scope| {
            scope.spawn(|| one.send(here, 1, &bytes, SendOptions::default()).unwrap());
            let mut into = vec![0; 1_200_000];
            let error = other.recv(Wanted::new(there, 1), &mut into).unwrap_err();
            assert!(matches!(
                error,
                Error::Truncated {
                    len: 2_500_000,
                    room: 1_200_000
                }
            ));
            assert!(into == bytes[..1_200_000]);
        });
    }
}

#[test]
fn it_goes_on_while_the_program_computes() {
    for kind in HOST {
        let ((one, here), (other, there)) = pair(&kind, settings(), settings());
        let mut copies = 0;
        for late in [false, true] {
            let mut time = Duration::from_millis(500);
            // On a busy machine, the message may take longer. `test` itself makes progress, so a
            // message that has not arrived is not an error yet. The next attempt gives it twice the
            // time.
            while !goes_on((&one, here), (&other, there), late, time) {
                (copies, time) = (copies + 1, 2 * time);
                assert!(time < TIMEOUT, "{kind} {late}");
            }
            copies += 1;
        }
        assert_eq!(other.single_copies(there), copies);
    }
}

/// Whether a message arrives within `time` while neither side calls anything.
fn goes_on(
    (one, here): (&Endpoint, LinkId),
    (other, there): (&Endpoint, LinkId),
    late: bool,
    time: Duration,
) -> bool {
    let mut bytes = pattern(30 << 20, 1);
    let mut into = vec![0; bytes.len()];
    // SAFETY: the test waits for both requests.
    let is_done = unsafe {
        let into = [(into.as_mut_ptr(), into.len())];
        let receive = |_| other.irecv(Wanted::new(there, 1), &into);
        let early = (!late).then(|| receive(()));
        let piece = (bytes.as_mut_ptr(), bytes.len());
        let send = one
            .isend(here, 1, &[piece], SendOptions::default())
            .unwrap()
            .unwrap();
        if late {
            other.peek(&Wanted::new(there, 1), LONG).unwrap().unwrap();
        }
        let receive = early.unwrap_or_else(|| receive(()));
        thread::sleep(time);
        has_ended(other, receive) & has_ended(one, send)
    };
    assert!(into == bytes);
    is_done
}

#[test]
fn a_sender_that_goes_meanwhile_is_an_error() {
    for kind in HOST {
        let ((one, here), (other, there)) = pair(&kind, settings(), settings());
        let mut bytes = pattern(1 << 20, 1);
        // SAFETY: the endpoint ends before the memory.
        unsafe {
            one.isend(
                here,
                1,
                &[(bytes.as_mut_ptr(), 1 << 20)],
                SendOptions::default(),
            )
        }
        .unwrap();
        other.peek(&Wanted::new(there, 1), LONG).unwrap().unwrap();
        drop(one);
        let mut into = vec![0; 1 << 20];
        match other.recv(Wanted::new(there, 1), &mut into) {
            // The message was read before the end was noticed.
            Ok(status) => assert!(status.len == 1 << 20 && into == bytes),
            Err(error) => assert!(matches!(error, Error::Closed(_)), "{error}"),
        }
    }
}

/// Not a test, but the code of two unprivileged processes. The sender permits or forbids access to
/// its memory.
#[test]
fn child() {
    let Some(part) = Part::mine() else { return };
    // SAFETY: these are plain system calls. A process that has changed its user is not dumpable
    // until it sets this flag.
    unsafe {
        if libc::geteuid() == 0 {
            assert_eq!(libc::setuid(65534), 0);
        }
        assert_eq!(
            libc::prctl(
                libc::PR_SET_DUMPABLE,
                i32::from(part.role != "secretive"),
                0,
                0,
                0
            ),
            0
        );
    }
    let endpoint = Endpoint::with(settings()).unwrap();
    let bytes = pattern(3_000_000, 4);
    if part.role == "receiver" {
        let listener = part.listen();
        ready("");
        let link = accept(&endpoint, &listener);
        for _ in 0..3 {
            let mut into = vec![0; bytes.len()];
            endpoint.recv(Wanted::new(link, 1), &mut into).unwrap();
            assert!(into == bytes);
        }
        ready(&endpoint.single_copies(link).to_string());
        return;
    }
    let link = endpoint
        .connect(&part.address, &part.kind.transport, None, b"", TIMEOUT)
        .unwrap();
    for _ in 0..3 {
        let how = SendOptions {
            sync: true,
            ..SendOptions::default()
        };
        endpoint.send(link, 1, &bytes, how).unwrap();
    }
    // Wait until the receiver has reported its result.
    let _ = endpoint.recv(Wanted::new(link, 2), &mut [0]);
}

#[test]
fn where_it_is_forbidden_messages_go_the_other_way() {
    for kind in HOST {
        for (sender, fetched) in [("open", 3), ("secretive", 0)] {
            let name = format!("unix:@mgn-forbidden-{}-{sender}", std::process::id());
            let address = name.parse().unwrap();
            let start = |role| Other::spawn(role, &kind, &address, Apart::default());
            let mut receiver = start("receiver");
            receiver.news().expect("it does not listen");
            let mut sent = start(sender);
            assert_eq!(receiver.news().unwrap(), fetched.to_string(), "{kind}");
            for other in [&mut receiver, &mut sent] {
                let status = other.child.wait().unwrap();
                assert!(status.success(), "{kind} {sender}: {status}");
            }
        }
    }
}
