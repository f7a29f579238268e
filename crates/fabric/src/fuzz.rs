//! Feeds the seeds in `fuzz-corpus`, cut short and mutated, to everything that reads bytes from
//! outside. Nothing may panic, hang, or take more memory than it was given bytes.

use std::fs;
use std::io::Write;
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::connection::ReceiveEnd;
use crate::file::Player;
use crate::peer::Peer;
use crate::stream::StreamReceiver;
use crate::testing::Random;
use crate::{shm, Address, Error, Incoming};

#[test]
fn handshake() {
    each_variant("handshake", 400, crate::handshake::tests::feed);
}

#[test]
fn stream() {
    each_variant("stream", 60, |bytes| {
        let (mut near, far) = UnixStream::pair().unwrap();
        near.write_all(bytes).unwrap();
        near.shutdown(Shutdown::Write).unwrap();
        let peer = Arc::new(Peer::unix(far.into(), "the seed".into(), false));
        let mut receiver = StreamReceiver::new(peer, 8192, 1 << 20, 4 * 8192);
        let mut received = 0;
        let end = loop {
            match receiver.recv(Some(Duration::from_secs(5))) {
                Ok(Some(message)) => received += message.to_vec().len() + 8,
                Ok(None) => panic!("nothing more comes, which must be noticed"),
                Err(error) => break error,
            }
        };
        assert!(received <= bytes.len());
        assert!(
            matches!(end, Error::Closed(_) | Error::PeerMisbehaved(_)),
            "{end}"
        );
    });
}

#[test]
fn recording() {
    each_variant("recording", 400, |bytes| {
        let Ok(mut player) = Player::new(bytes, Path::new("seed")) else {
            return;
        };
        let mut played = player.opening().len();
        while let Ok(Some(message)) = player.next_message() {
            played += message.to_vec().len() + 4;
        }
        assert!(played <= bytes.len());
    });
}

#[test]
fn announcement() {
    each_variant("announcement", 400, shm::feed_announcement);
}

#[test]
fn handoff() {
    let null: std::os::fd::OwnedFd = fs::File::open("/dev/null").unwrap().into();
    each_variant("handoff", 400, |bytes| {
        if let Ok(incoming) = Incoming::from_handoff(null.try_clone().unwrap(), bytes) {
            assert_eq!(incoming.into_handoff().1, bytes);
        }
    });
}

#[test]
fn address() {
    each_variant("address", 400, |bytes| {
        for line in String::from_utf8_lossy(bytes).lines() {
            if let Ok(address) = line.parse::<Address>() {
                assert_eq!(address.to_string().parse::<Address>().unwrap(), address);
            }
        }
    });
}

/// Calls `check` with each seed of a folder, every beginning of it, and mutations of it.
fn each_variant(folder: &str, mutations: usize, check: impl Fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fuzz-corpus")
        .join(folder);
    let mut random = Random::new(7);
    let mut seeds = 0;
    for seed in fs::read_dir(folder).unwrap() {
        let seed = fs::read(seed.unwrap().path()).unwrap();
        seeds += 1;
        for len in 0..=seed.len() {
            check(&seed[..len]);
        }
        for _ in 0..mutations {
            let mut bytes = seed.clone();
            for _ in 0..=random.below(4) {
                mutate(&mut bytes, &mut random);
            }
            check(&bytes);
        }
    }
    assert!(seeds > 0);
    for _ in 0..mutations {
        let noise: Vec<u8> = (0..random.below(300))
            .map(|_| random.next() as u8)
            .collect();
        check(&noise);
    }
}

fn mutate(bytes: &mut Vec<u8>, random: &mut Random) {
    let at = random.below(bytes.len() + 1);
    match random.below(5) {
        0 => bytes.truncate(at),
        1 => bytes.insert(at, random.next() as u8),
        2 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
        3 if at + 4 <= bytes.len() => {
            let odd = [
                0,
                1,
                7,
                8,
                0x7fff_ffff,
                0x8000_0000,
                u32::MAX,
                random.next() as u32,
            ];
            bytes[at..at + 4].copy_from_slice(&odd[random.below(8)].to_le_bytes());
        }
        _ => bytes.extend_from_within(..at.min(64)),
    }
}
