//! Messages that are read straight from their sender's memory, and what happens where that is forbidden.

#[path = "support/links.rs"]
mod links;

use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use links::*;
use mgn_fabric::endpoint::{Endpoint, How, Joined, LinkId, Settings, Wanted};
use mgn_fabric::{Error, Listener, Transport};

const FROM: usize = 20_000;

fn settings() -> Settings {
    Settings {
        single_copy_shm: FROM,
        single_copy_unix: FROM,
        eager_unix: 4096,
        ..Settings::default()
    }
}

const HOST: [Transport; 2] = [Transport::Shm, Transport::Unix];

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
    for transport in HOST {
        let ((one, here), (other, there)) = pair(&transport, settings(), settings());
        let run = |endpoint: &Endpoint, link: LinkId| {
            thread::scope(|scope| {
                scope.spawn(|| {
                    for (i, len) in LENGTHS.into_iter().enumerate() {
                        let sync = i % 2 == 0;
                        let how = How {
                            sync,
                            ..How::default()
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
                    assert!(into[..len] == pattern(len, i), "{transport} {len}");
                    assert_eq!(into[len..], [0; 9]);
                }
            });
            assert_eq!(endpoint.single_copies(link), 6, "{transport}");
        };
        thread::scope(|scope| {
            scope.spawn(|| run(&one, here));
            run(&other, there);
        });
    }
}

#[test]
fn whoever_wants_it_reads_and_whoever_does_not_is_sent() {
    for transport in HOST {
        let ((one, here), (other, there)) = pair(&transport, settings(), Settings::default());
        let bytes = pattern(500_000, 1);
        thread::scope(|scope| {
            scope.spawn(|| one.send(here, 1, &bytes, How::default()).unwrap());
            let mut into = vec![0; bytes.len()];
            other.recv(Wanted::new(there, 1), &mut into).unwrap();
            assert!(into == bytes);
            scope.spawn(|| other.send(there, 2, &bytes, How::default()).unwrap());
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
    for transport in HOST {
        let ((one, here), (other, there)) = pair(&transport, settings(), settings());
        let mut whole = pattern(900_000, 2);
        let (mut x, mut y) = (vec![0; 250_001], vec![0; 649_999]);
        for (cut, fetched) in [(900_000, 1), (7, 1)] {
            let (a, b) = whole.split_at_mut(cut);
            let mut pieces = vec![(a.as_mut_ptr(), a.len())];
            pieces.extend((!b.is_empty()).then_some((b.as_mut_ptr(), b.len())));
            // SAFETY: both are waited for.
            unsafe {
                let into = [(x.as_mut_ptr(), x.len()), (y.as_mut_ptr(), y.len())];
                let receive = other.irecv(Wanted::new(there, 1), &into);
                let send = one
                    .isend(here, 1, &pieces, How::default())
                    .unwrap()
                    .unwrap();
                other.wait(receive, LONG).unwrap().unwrap();
                one.wait(send, LONG).unwrap().unwrap();
            }
            assert!([&x[..], &y].concat() == whole);
            x.fill(0);
            y.fill(0);
            assert_eq!(other.single_copies(there), fetched, "{transport}");
        }
    }
}

#[test]
fn a_message_that_does_not_fit_is_cut() {
    for transport in HOST {
        let ((one, here), (other, there)) = pair(&transport, settings(), settings());
        let bytes = pattern(2_500_000, 3);
        thread::scope(|scope| {
            scope.spawn(|| one.send(here, 1, &bytes, How::default()).unwrap());
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
    for transport in HOST {
        let ((one, here), (other, there)) = pair(&transport, settings(), settings());
        for late in [false, true] {
            let mut bytes = pattern(30 << 20, 1);
            let mut into = vec![0; bytes.len()];
            // SAFETY: both are waited for.
            unsafe {
                let into = [(into.as_mut_ptr(), into.len())];
                let receive = |_| other.irecv(Wanted::new(there, 1), &into);
                let early = (!late).then(|| receive(()));
                let piece = (bytes.as_mut_ptr(), bytes.len());
                let send = one
                    .isend(here, 1, &[piece], How::default())
                    .unwrap()
                    .unwrap();
                if late {
                    other.peek(&Wanted::new(there, 1), LONG).unwrap().unwrap();
                }
                let receive = early.unwrap_or_else(|| receive(()));
                thread::sleep(Duration::from_millis(500));
                assert!(other.test(receive).unwrap().is_some(), "{transport} {late}");
                assert!(one.test(send).unwrap().is_some(), "{transport} {late}");
            }
            assert!(into == bytes);
        }
        assert_eq!(other.single_copies(there), 2);
    }
}

#[test]
fn a_sender_that_goes_meanwhile_is_an_error() {
    for transport in HOST {
        let ((one, here), (other, there)) = pair(&transport, settings(), settings());
        let mut bytes = pattern(1 << 20, 1);
        // SAFETY: the endpoint ends before the memory.
        unsafe { one.isend(here, 1, &[(bytes.as_mut_ptr(), 1 << 20)], How::default()) }.unwrap();
        other.peek(&Wanted::new(there, 1), LONG).unwrap().unwrap();
        drop(one);
        let mut into = vec![0; 1 << 20];
        match other.recv(Wanted::new(there, 1), &mut into) {
            // It was quicker to read than to notice.
            Ok(status) => assert!(status.len == 1 << 20 && into == bytes),
            Err(error) => assert!(matches!(error, Error::Closed(_)), "{error}"),
        }
    }
}

const ROLE: &str = "MGN_TEST_ROLE";
const ADDRESS: &str = "MGN_TEST_ADDRESS";
const TRANSPORT: &str = "MGN_TEST_TRANSPORT";

/// Not a test: two processes without privileges, of which the sender lets nobody look at its memory, or does.
#[test]
fn child() {
    let Ok(role) = std::env::var(ROLE) else {
        return;
    };
    let transport: Transport = std::env::var(TRANSPORT).unwrap().parse().unwrap();
    let address = std::env::var(ADDRESS).unwrap().parse().unwrap();
    // SAFETY: plain system calls. Who changes its user is not dumpable until it says so.
    unsafe {
        if libc::geteuid() == 0 {
            assert_eq!(libc::setuid(65534), 0);
        }
        assert_eq!(
            libc::prctl(
                libc::PR_SET_DUMPABLE,
                i32::from(role != "secretive"),
                0,
                0,
                0
            ),
            0
        );
    }
    let endpoint = Endpoint::with(settings()).unwrap();
    let bytes = pattern(3_000_000, 4);
    if role == "receiver" {
        let listener = Listener::bind(&address, None).unwrap();
        println!("READY");
        let link = loop {
            if let Joined::Link(link, _) = endpoint.accept(listener.accept().unwrap()).unwrap() {
                break link;
            }
        };
        for _ in 0..3 {
            let mut into = vec![0; bytes.len()];
            endpoint.recv(Wanted::new(link, 1), &mut into).unwrap();
            assert!(into == bytes);
        }
        println!("FETCHED {}", endpoint.single_copies(link));
        return;
    }
    let link = endpoint
        .connect(&address, &transport, None, b"", Duration::from_secs(10))
        .unwrap();
    for _ in 0..3 {
        let how = How {
            sync: true,
            ..How::default()
        };
        endpoint.send(link, 1, &bytes, how).unwrap();
    }
    // Until the receiver has said what it has to say.
    let _ = endpoint.recv(Wanted::new(link, 2), &mut [0]);
}

#[test]
fn where_it_is_forbidden_messages_go_the_other_way() {
    for transport in HOST {
        for (sender, fetched) in [("open", 3), ("secretive", 0)] {
            let address = format!(
                "unix:@mgn-forbidden-{}-{transport}-{sender}",
                std::process::id()
            );
            let start = |role: &str| {
                Command::new(std::env::current_exe().unwrap())
                    .args(["child", "--exact", "--nocapture"])
                    .env(ROLE, role)
                    .env(ADDRESS, &address)
                    .env(TRANSPORT, transport.to_string())
                    .stdout(Stdio::piped())
                    .spawn()
                    .unwrap()
            };
            let mut receiver = start("receiver");
            let mut said = std::io::BufReader::new(receiver.stdout.take().unwrap());
            let mut line = String::new();
            while !line.contains("READY") {
                line.clear();
                assert!(std::io::BufRead::read_line(&mut said, &mut line).unwrap() > 0);
            }
            let sent = start(sender).wait_with_output().unwrap();
            let mut rest = String::new();
            std::io::Read::read_to_string(&mut said, &mut rest).unwrap();
            assert!(receiver.wait().unwrap().success() && sent.status.success());
            assert!(
                rest.contains(&format!("FETCHED {fetched}")),
                "{transport} {sender}: {rest}"
            );
        }
    }
}
