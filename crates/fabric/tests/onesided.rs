//! Tests of one-sided access: writing to and reading from memory that a peer offers.

mod support;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use mgn_fabric::endpoint::{Endpoint, Key, LinkId, SendOptions, Settings, Wanted};
use mgn_fabric::Error;
use support::links::*;

/// Runs a test with and without single copies.
fn each(test: impl Fn(&Kind, Settings)) {
    for kind in ALL {
        test(&kind, Settings::default());
        let settings = Settings {
            single_copy_shm: 100_000,
            single_copy_unix: 100_000,
            ..Settings::default()
        };
        test(&kind, settings);
    }
}

fn put(endpoint: &Endpoint, to: LinkId, key: &Key, at: u64, bytes: &[u8]) -> Result<(), Error> {
    let piece = (bytes.as_ptr().cast_mut(), bytes.len());
    // SAFETY: the test waits for the request.
    let request = unsafe { endpoint.iput(to, key, at, &[piece]) }?;
    let status = endpoint.wait(request, LONG)?.expect("in time");
    assert_eq!((status.link, status.len), (to, bytes.len()));
    Ok(())
}

fn get(endpoint: &Endpoint, to: LinkId, key: &Key, at: u64, len: usize) -> Result<Vec<u8>, Error> {
    let mut into = vec![0; len];
    // SAFETY: the test waits for the request.
    let request = unsafe { endpoint.iget(to, key, at, &[(into.as_mut_ptr(), len)]) }?;
    let status = endpoint.wait(request, LONG)?.expect("in time");
    assert_eq!((status.link, status.len), (to, len));
    Ok(into)
}

const LENGTHS: [usize; 10] = [
    0, 1, 24, 25, 4000, 16_385, 65_537, 100_000, 1_500_000, 5_000_000,
];

#[test]
fn memory_is_written_and_read_without_its_program() {
    each(|kind, settings| {
        let ((one, here), (other, _there)) = pair(kind, settings.clone(), settings.clone());
        let size = 6_000_000;
        let mut memory = vec![0u8; size];
        // SAFETY: the memory outlives the offer, and is accessed only after its end.
        let offered = unsafe { other.offer((memory.as_mut_ptr(), size)) };
        assert_eq!(offered.len(), size);
        let key = offered.key();
        let mut expected = vec![0u8; size];
        for (i, len) in LENGTHS.into_iter().enumerate() {
            for at in [0, 77, size - len] {
                let bytes = pattern(len, i + at);
                put(&one, here, &key, at as u64, &bytes).unwrap();
                expected[at..at + len].copy_from_slice(&bytes);
                let back = get(&one, here, &key, at as u64, len).unwrap();
                assert!(back == bytes, "{kind} {len} at {at}");
            }
        }
        assert!(get(&one, here, &key, 0, size).unwrap() == expected);
        let fetches = kind.token().is_none() && settings.single_copy_shm == 100_000;
        assert_eq!(one.single_copies(here) > 0, fetches, "{kind}");
        drop(offered);
        assert!(memory == expected);
    });
}

#[test]
fn pieces_are_gathered_and_scattered() {
    each(|kind, settings| {
        let ((one, here), (other, _)) = pair(kind, settings.clone(), settings);
        let mut memory = vec![0u8; 1 << 20];
        // SAFETY: as above.
        let offered = unsafe { other.offer((memory.as_mut_ptr(), memory.len())) };
        for len in [100, 1 << 20] {
            let mut whole = pattern(len, 5);
            let (mut x, mut y) = (vec![0; len / 3], vec![0; len - len / 3]);
            let (a, b) = whole.split_at_mut(len / 2);
            // SAFETY: the test waits for both requests.
            unsafe {
                let pieces = [(a.as_mut_ptr(), a.len()), (b.as_mut_ptr(), b.len())];
                let request = one.iput(here, &offered.key(), 0, &pieces).unwrap();
                one.wait(request, LONG).unwrap().unwrap();
                let pieces = [(x.as_mut_ptr(), x.len()), (y.as_mut_ptr(), y.len())];
                let request = one.iget(here, &offered.key(), 0, &pieces).unwrap();
                one.wait(request, LONG).unwrap().unwrap();
            }
            assert!([x, y].concat() == whole, "{kind} {len}");
        }
    });
}

#[test]
fn what_makes_no_sense_is_refused_and_the_link_goes_on() {
    each(|kind, settings| {
        let ((one, here), (other, there)) = pair(kind, settings.clone(), settings);
        let mut memory = vec![1u8; 300_000];
        // SAFETY: as above.
        let offered = unsafe { other.offer((memory.as_mut_ptr(), memory.len())) };
        let key = offered.key();
        for len in [10, 5000, 300_000] {
            let unknown = Key([3; 16]);
            let bytes = pattern(len, 1);
            let refused = put(&one, here, &unknown, 0, &bytes).unwrap_err();
            assert!(matches!(refused, Error::NotOffered), "{refused}");
            let refused = get(&one, here, &unknown, 0, len).unwrap_err();
            assert!(matches!(refused, Error::NotOffered), "{refused}");
            for at in [
                300_001 - len as u64,
                300_001,
                u64::MAX,
                u64::MAX - len as u64 + 1,
            ] {
                let is_it = |error: Error| matches!(error, Error::OutOfRange { offset, len: l } if offset == at && l == len);
                assert!(
                    is_it(put(&one, here, &key, at, &bytes).unwrap_err()),
                    "{kind}"
                );
                assert!(is_it(get(&one, here, &key, at, len).unwrap_err()), "{kind}");
            }
        }
        put(&one, here, &key, 299_999, &[9]).unwrap();
        one.send(here, 1, b"still here", SendOptions::default())
            .unwrap();
        other.recv(Wanted::new(there, 1), &mut [0; 10]).unwrap();
        drop(offered);
        let gone = put(&one, here, &key, 0, &[1]).unwrap_err();
        assert!(matches!(gone, Error::NotOffered));
        assert!(memory[..299_999].iter().all(|byte| *byte == 1) && memory[299_999] == 9);
    });
}

#[test]
fn many_are_under_way_both_ways_and_messages_too() {
    each(|kind, settings| {
        let ((one, here), (other, there)) = pair(kind, settings.clone(), settings);
        let both_done = Barrier::new(2);
        let run = |endpoint: &Endpoint, link: LinkId, seed: usize| {
            let mut memory = vec![0u8; 2_000_000];
            // SAFETY: the offer ends in this block.
            let offered = unsafe { endpoint.offer((memory.as_mut_ptr(), memory.len())) };
            endpoint
                .send(link, 1, &offered.key().0, SendOptions::default())
                .unwrap();
            let mut key = Key([0; 16]);
            endpoint.recv(Wanted::new(link, 1), &mut key.0).unwrap();
            let length = |i: usize| [40, 3000, 1900, 5][i % 4];
            let mut out: Vec<_> = (0..1000).map(|i| pattern(length(i), i + seed)).collect();
            let mut long = pattern(500_000, seed);
            let (mut puts, mut sends) = (Vec::new(), Vec::new());
            // SAFETY: the test waits for all requests.
            unsafe {
                let pieces = [(long.as_mut_ptr(), long.len())];
                puts.push(endpoint.iput(link, &key, 1_500_000, &pieces).unwrap());
                for (i, bytes) in out.iter_mut().enumerate() {
                    let pieces = [(bytes.as_mut_ptr(), bytes.len())];
                    puts.push(
                        endpoint
                            .iput(link, &key, i as u64 * 1500, &pieces[..])
                            .unwrap(),
                    );
                    if i % 100 == 0 {
                        // Send more messages than may wait at the receiver, which receives none of
                        // them yet.
                        for _ in 0..40 {
                            sends.extend(
                                endpoint
                                    .isend(link, 2, &pieces, SendOptions::default())
                                    .unwrap(),
                            );
                        }
                    }
                }
            }
            for request in puts {
                endpoint.wait(request, LONG).unwrap().expect("in time");
            }
            for _ in 0..400 {
                endpoint.recv(Wanted::new(link, 2), &mut [0; 40]).unwrap();
            }
            for request in sends {
                endpoint.wait(request, LONG).unwrap().expect("in time");
            }
            let mut backs: Vec<_> = (0..1000).map(|i| vec![0; length(i).min(1500)]).collect();
            let gets: Vec<_> = backs
                .iter_mut()
                .enumerate()
                // SAFETY: the test waits for all requests.
                .map(|(i, back)| unsafe {
                    let piece = (back.as_mut_ptr(), back.len());
                    endpoint
                        .iget(link, &key, i as u64 * 1500, &[piece])
                        .unwrap()
                })
                .collect();
            for get in gets {
                endpoint.wait(get, LONG).unwrap().expect("in time");
            }
            for (i, back) in backs.iter().enumerate() {
                // The next write overlaps the bytes after the first 1500.
                assert!(back[..] == out[i][..back.len()], "{kind} {i}");
            }
            assert!(get(endpoint, link, &key, 1_500_000, 500_000).unwrap() == long);
            both_done.wait();
            drop(offered);
        };
        thread::scope(|scope| {
            scope.spawn(|| run(&one, here, 0));
            run(&other, there, 50);
        });
    });
}

#[test]
fn an_offer_ends_after_what_is_under_way() {
    each(|kind, settings| {
        let ((one, here), (other, _)) = pair(kind, settings.clone(), settings);
        let len = 64 << 20;
        let mut memory = vec![0u8; len];
        // SAFETY: the memory is accessed only after the offer has ended.
        let offered = unsafe { other.offer((memory.as_mut_ptr(), len)) };
        let key = offered.key();
        let bytes = pattern(len, 1);
        let is_done = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                let result = put(&one, here, &key, 0, &bytes);
                is_done.store(true, Ordering::SeqCst);
                match result {
                    Ok(()) => {}
                    Err(error) => assert!(matches!(error, Error::NotOffered), "{error}"),
                }
            });
            thread::sleep(Duration::from_millis(5));
            drop(offered);
            // No peer writes there any more. Either all bytes were written, or the write was
            // refused.
            let written = memory.iter().filter(|byte| **byte != 0).count();
            assert!(written == 0 || memory == bytes, "{kind}: {written}");
        });
        assert!(is_done.load(Ordering::SeqCst));
    });
}

#[test]
fn a_peer_that_goes_ends_what_is_under_way() {
    each(|kind, settings| {
        let ((one, here), (other, there)) = pair(kind, settings.clone(), settings);
        let mut memory = vec![0u8; 1000];
        // SAFETY: the offer ends before the memory.
        let offered = unsafe { one.offer((memory.as_mut_ptr(), memory.len())) };
        let key = offered.key();
        put(&other, there, &key, 0, &[1; 1000]).unwrap();
        drop(other);
        drop(offered);
        let gone = put(&one, here, &key, 0, &[1]).unwrap_err();
        assert!(matches!(gone, Error::Closed(_)), "{kind} {gone}");
    });
}

#[test]
fn an_endpoint_offers_memory_to_itself() {
    let endpoint = Endpoint::with(Settings::default()).unwrap();
    let mut memory = vec![0u8; 1_000_000];
    // SAFETY: the offer ends before the memory.
    let offered = unsafe { endpoint.offer((memory.as_mut_ptr(), memory.len())) };
    for len in [0, 5, 1000, 999_000] {
        put(
            &endpoint,
            endpoint.own(),
            &offered.key(),
            1000,
            &pattern(len, 1),
        )
        .unwrap();
        let back = get(&endpoint, endpoint.own(), &offered.key(), 1000, len).unwrap();
        assert!(back == pattern(len, 1));
    }
}
