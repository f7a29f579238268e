//! Endpoints with different settings understand each other.

mod support;

use std::thread;

use mgn_fabric::endpoint::{Endpoint, LinkId, SendOptions, Settings, Wanted};
use mgn_fabric::Error;
use support::links::*;

/// The smallest permitted settings, and settings above the defaults.
fn extremes() -> [Settings; 2] {
    let small = Settings {
        chunk: 4096,
        chunks: 4,
        eager_shm: 64,
        eager_unix: 64,
        eager_tcp: 64,
        part_unix: 4096,
        part_tcp: 4096,
        envelopes: 8,
        held: 64 << 10,
        single_copy_shm: 4096,
        single_copy_unix: 4096,
        spin_us: 0,
        reserved: 0,
        silence_ms: 2000,
    };
    let large = Settings {
        chunk: 1 << 20,
        chunks: 8,
        eager_shm: 1 << 20,
        eager_unix: 1 << 20,
        eager_tcp: 1 << 20,
        part_unix: 4 << 20,
        part_tcp: 4 << 20,
        envelopes: 1000,
        held: 16 << 20,
        ..Settings::default()
    };
    [small, large]
}

#[test]
fn ends_with_different_settings_understand_each_other() {
    let all = [&extremes()[..], &[Settings::default()]].concat();
    for kind in ALL {
        for (at, one) in all.iter().enumerate() {
            let second = all[(at + 1) % all.len()].clone();
            let ((one, here), (other, there)) = pair(&kind, one.clone(), second);
            let run = |endpoint: &Endpoint, link: LinkId| {
                let lengths = [0, 10, 64, 65, 5000, 16 << 10, 20_000, 300_000, 2_000_000];
                thread::scope(|scope| {
                    scope.spawn(move || {
                        for round in 0..3 {
                            for len in lengths {
                                let bytes = pattern(len, round);
                                endpoint
                                    .send(link, 1, &bytes, SendOptions::default())
                                    .unwrap();
                            }
                        }
                    });
                    for round in 0..3 {
                        for len in lengths {
                            let mut into = vec![0; len];
                            let wanted = Wanted::new(link, 1);
                            assert_eq!(endpoint.recv(wanted, &mut into).unwrap().len, len);
                            assert!(into == pattern(len, round), "{kind} {at} {len}");
                        }
                    }
                });
            };
            thread::scope(|scope| {
                scope.spawn(|| run(&one, here));
                run(&other, there);
            });
        }
    }
}

/// The receiver limits the number of a peer's waiting messages. The sender chooses the longest
/// eager message, up to the receiver's limit.
#[test]
fn each_end_keeps_to_what_the_other_permits() {
    let [small, large] = extremes();
    for kind in ALL {
        let ((one, here), (other, there)) = pair(&kind, large.clone(), small.clone());
        let mut byte = 7u8;
        let sends: Vec<_> = (0..40)
            .map(|_| {
                // SAFETY: the request is waited for below.
                unsafe { one.isend(here, 1, &[(&raw mut byte, 1)], SendOptions::default()) }
                    .unwrap()
            })
            .collect();
        let waiting = sends.iter().flatten().count();
        assert_eq!(waiting, 32, "{kind}: 8 may wait at the receiver");
        assert!(matches!(
            other.recv(Wanted::new(there, 2), &mut [0]),
            Err(Error::Starved(8))
        ));
        for _ in 0..40 {
            other.recv(Wanted::new(there, 1), &mut [0]).unwrap();
        }
        for send in sends.into_iter().flatten() {
            one.wait(send, LONG).unwrap().unwrap();
        }
        // One message is longer than the receiver accepts as eager, but both are shorter than the
        // sender's own limit.
        for (len, ends) in [(4096, true), (20_000, false)] {
            let mut bytes = pattern(len, 1);
            // SAFETY: the request is waited for below.
            let send = unsafe {
                one.isend(
                    here,
                    1,
                    &[(bytes.as_mut_ptr(), len)],
                    SendOptions::default(),
                )
            };
            let send = send.unwrap();
            assert_eq!(send.is_none(), ends, "{kind} {len}");
            other
                .recv(Wanted::new(there, 1), &mut vec![0; len])
                .unwrap();
            if let Some(send) = send {
                one.wait(send, LONG).unwrap().unwrap();
            }
        }
        // In the other direction, each message of more than 64 bytes is offered.
        let mut bytes = pattern(100, 1);
        // SAFETY: as above.
        let send = unsafe {
            other.isend(
                there,
                1,
                &[(bytes.as_mut_ptr(), 100)],
                SendOptions::default(),
            )
        };
        let send = send.unwrap().expect("not sent at once");
        one.recv(Wanted::new(here, 1), &mut [0; 100]).unwrap();
        other.wait(send, LONG).unwrap().unwrap();
    }
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    let settings = Settings {
        chunk: 1,
        ..Settings::default()
    };
    let error = Endpoint::with(settings).unwrap_err();
    assert!(matches!(&error, Error::Settings(_)));
    assert_eq!(
        error.to_string(),
        "chunk = 1 is not between 4096 and 4194304"
    );
}
