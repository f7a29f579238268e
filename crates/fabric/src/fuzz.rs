//! Feeds the seeds in `fuzz-corpus`, cut short and mutated, to everything that reads bytes from
//! outside. Nothing may panic, hang, or take more memory than it was given bytes. What only one file can read has its target there (`vary`); frames of
//! endpoints have theirs in `endpoint/hostile`.

use std::fs;
use std::io::{IoSlice, IoSliceMut, Write};
use std::net::Shutdown;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rustix::io::Errno;

use crate::connection::ReceiveEnd;
use crate::endpoint::{Endpoint, How, Wanted};
use crate::file::Player;
use crate::peer::Peer;
use crate::seal::Seal;
use crate::stream::StreamReceiver;
use crate::testing::Random;
use crate::tls::Negotiation;
use crate::{shm, Address, Error, Incoming, Transport};

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
            match receiver.recv(Some(Duration::from_secs(5)), &mut || ()) {
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

/// Recordings of links, received to the end.
#[test]
fn played() {
    let folder = crate::testing::Folder::new();
    let path = folder.path().join("recording");
    let endpoint = Endpoint::new().unwrap();
    let record = Transport::File(path.clone());
    let nowhere = "unix:@nobody".parse().unwrap();
    let link = endpoint.connect(&nowhere, &record, None, b"me", Duration::ZERO);
    for len in [0, 20, 300, 20_000] {
        endpoint
            .send(*link.as_ref().unwrap(), 1, &vec![5; len], How::default())
            .unwrap();
    }
    let seed = fs::read(&path).unwrap();
    vary(vec![seed[..500].to_vec(), seed], 40, |bytes| {
        fs::write(&path, bytes).unwrap();
        let Ok((link, _)) = endpoint.play(&path) else {
            return;
        };
        let mut received = 0;
        let any = Wanted {
            from: Some(link),
            ..Wanted::any()
        };
        while let Ok(Some(message)) = endpoint.take(&any, Some(Duration::from_secs(5))) {
            received += message.len();
        }
        assert!(received <= bytes.len() && !endpoint.is_open(link));
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

#[test]
fn relay() {
    vary(vec![crate::relay::opening("gpu-1")], 400, |bytes| {
        if let Some(server) = crate::relay::asked_for(bytes) {
            assert_eq!(crate::relay::opening(server), bytes);
        }
    });
}

/// What two ends say to agree on keys is new each time, so the seeds are, too.
#[test]
fn negotiation() {
    let said = crate::tls::tests::said();
    let key = crate::ServerKey::generate().unwrap();
    let config = crate::tls::server_config(&key).unwrap();
    for (is_server, seed) in [(true, &said[0]), (false, &said[1])] {
        vary(vec![seed.clone()], 100, |bytes| {
            let negotiation = match is_server {
                true => Negotiation::server(config.clone()),
                false => Negotiation::client(),
            };
            let (mut negotiation, mut rest) = (negotiation.unwrap(), bytes);
            while !rest.is_empty() && !negotiation.is_over() {
                let (now, after) = rest.split_at(negotiation.wants().min(rest.len()));
                rest = after;
                if negotiation.receive(now).is_err() {
                    break;
                }
            }
            // These keys are none that this negotiation could know.
            assert!(!negotiation.is_over());
        });
    }
}

#[test]
fn records() {
    let (near, _far) = crate::tls::tests::pair();
    let mut seed = Vec::new();
    let (one, mut other) = UnixStream::pair().unwrap();
    for len in [0, 5, 300] {
        let sent = near.send(one.as_fd(), &[IoSlice::new(&vec![3; len])]);
        assert_eq!(sent.unwrap(), len);
    }
    drop(one);
    std::io::Read::read_to_end(&mut other, &mut seed).unwrap();
    let keys = crate::tls::tests::pair();
    vary(vec![seed], 300, |bytes| {
        let (mut near, far) = UnixStream::pair().unwrap();
        near.write_all(bytes).unwrap();
        near.shutdown(Shutdown::Write).unwrap();
        // Another's keys.
        let seal = Seal::handed_over(keys.1.hand_over().as_slice().try_into().unwrap());
        let mut into = [0; 1000];
        let got = seal.recv(far.as_fd(), &mut [IoSliceMut::new(&mut into)]);
        assert!(matches!(got, Ok(0) | Err(Errno::BADMSG)), "{got:?}");
    });
}

/// Calls `check` with each seed of a folder, every beginning of it, and mutations of it.
fn each_variant(folder: &str, mutations: usize, check: impl Fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fuzz-corpus")
        .join(folder);
    let seeds = fs::read_dir(folder).unwrap();
    let seeds = seeds.map(|seed| fs::read(seed.unwrap().path()).unwrap());
    vary(seeds.collect(), mutations, check);
}

/// Likewise with these seeds.
pub(crate) fn vary(seeds: Vec<Vec<u8>>, mutations: usize, check: impl Fn(&[u8])) {
    assert!(!seeds.is_empty());
    let mut random = Random::new(7);
    for seed in seeds {
        let step = (seed.len() / 500).max(1);
        for len in (0..=seed.len()).step_by(step) {
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
