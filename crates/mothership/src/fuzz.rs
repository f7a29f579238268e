//! Feeds messages, cut short and mutated, to everything that reads what others say. Nothing may panic, or become more than it was given bytes.

use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::Serialize;

use crate::core::{Conn, Core};
use crate::protocol::*;
use crate::report::Status;

/// A message of each kind. They follow the types, so there is no folder of them that could fall behind.
fn seeds() -> (Vec<Vec<u8>>, Vec<Vec<u8>>) {
    let whereabouts = Whereabouts {
        host: "boot net".into(),
        uid: 1000,
        host_name: "one".into(),
    };
    let offer = Offer {
        renderer: "pipe".into(),
        version: "4.5".into(),
        profiles: vec![Profile {
            api: Api::Compat,
            version: (4, 5),
            extensions: vec!["GL_A".into(), "GL_B".into()],
        }],
        limits: [("max_texture_size".to_owned(), 16384)].into(),
        memory: 1000,
    };
    let hello = Hello {
        name: "a".into(),
        instance: u64::MAX,
        whereabouts: whereabouts.clone(),
        addresses: vec!["unix:@a".into(), "tls:0.0.0.0:7500".into()],
        offer,
        sessions: 4,
        is_ours: true,
        token: Some("a.token".into()),
        key: Some(format!("ed25519:{}", "a".repeat(64))),
    };
    let wall = mgn_wall::Wall::grid(2, 1).unwrap();
    let end = End {
        server: "a".into(),
        address: "unix:@a".into(),
        way: Way::Shm,
        token: None,
        key: None,
    };
    let matched = Matched {
        ends: vec![end.clone(), end.clone()],
        wall,
        client_chain: vec!["wireframe".into()],
        renderer: "pipe".into(),
        version: "4.5".into(),
    };
    let request = |held: Option<Box<Matched>>, wanted| Request {
        wanted,
        needs: Needs::default(),
        whereabouts: whereabouts.clone(),
        way: Some(Way::Tcp),
        program: "gears".into(),
        pid: 7,
        held,
    };
    let drawn = Some(Drawn {
        frames: 3,
        bytes: u64::MAX,
    });
    let to = [
        ToMothership::Server(Box::new(hello)),
        ToMothership::Client(Box::new(request(None, Wanted::Grids(vec![(2, 2)])))),
        ToMothership::Client(Box::new(request(
            Some(Box::new(matched.clone())),
            Wanted::Walls(vec!["w".into()]),
        ))),
        ToMothership::Sessions(vec![Session {
            id: 1,
            program: "gears".into(),
            drawn,
        }]),
        ToMothership::Where(Box::new(Where {
            server: "a".into(),
            encrypted: true,
            whereabouts,
        })),
        ToMothership::Holes(0b11),
        ToMothership::Unfit {
            tile: 1,
            address: "unix:@b".into(),
        },
        ToMothership::Stop,
    ];
    let from = [
        FromMothership::Matched(Box::new(matched)),
        FromMothership::Waiting("for the server b".into()),
        FromMothership::Gone {
            server: "a".into(),
            why: "it ended".into(),
        },
        FromMothership::Instead { tile: 1, end },
        FromMothership::At("tls:h:1".into()),
        FromMothership::Status(Box::new(Status {
            listening: vec!["unix:@m".into()],
            ..Status::default()
        })),
    ];
    (
        to.iter().map(encode).collect(),
        from.iter().map(encode).collect(),
    )
}

#[test]
fn what_the_mothership_hears() {
    let (seeds, _) = seeds();
    let mut core = Core::new(&Default::default());
    let mut conn = 0;
    vary(seeds, |bytes| {
        decoded::<Opening>(bytes);
        let Some(message) = decoded::<ToMothership>(bytes) else {
            return;
        };
        let now = Duration::from_millis(conn * 10);
        conn += 1;
        let conn = Conn(conn);
        core.comes(conn, now);
        core.hears(conn, message.clone(), now);
        let shown = core.status(now).describe();
        assert!(!shown.contains(|c: char| c.is_control() && c != '\n'));
        core.hears(conn, message, now);
        core.handle_timeout(now);
        while core.poll_output().is_some() {}
    });
}

#[test]
fn what_the_mothership_says() {
    let (_, seeds) = seeds();
    vary(seeds, |bytes| {
        decoded::<FromMothership>(bytes);
    });
}

#[test]
fn long_messages_are_none() {
    assert!(decode::<String>(&encode(&"x".repeat(MESSAGE_MAX - 10))).is_some());
    assert!(decode::<String>(&encode(&"x".repeat(MESSAGE_MAX))).is_none());
    let mut trailing = encode(&ToMothership::Alive);
    trailing.push(0);
    assert!(decode::<ToMothership>(&trailing).is_none());
}

fn decoded<T: Serialize + DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    let message = decode(bytes)?;
    assert!(encode(&message).len() <= bytes.len());
    Some(message)
}

/// Calls `check` with each seed, every beginning of it, and mutations of it.
fn vary(seeds: Vec<Vec<u8>>, mut check: impl FnMut(&[u8])) {
    let mut state = 7u64;
    let mut below = |n: usize| {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 33) as usize % n
    };
    for seed in seeds {
        for len in 0..=seed.len() {
            check(&seed[..len]);
        }
        for _ in 0..3000 {
            let mut bytes = seed.clone();
            for _ in 0..=below(4) {
                let at = below(bytes.len() + 1);
                match below(5) {
                    0 => bytes.truncate(at),
                    1 => bytes.insert(at, below(256) as u8),
                    2 if at < bytes.len() => bytes[at] ^= 1 << below(8),
                    3 if at < bytes.len() => bytes[at] = [0, 1, 0x7f, 0x80, 0xff][below(5)],
                    _ => bytes.extend_from_within(..at.min(64)),
                }
            }
            check(&bytes);
        }
    }
}
