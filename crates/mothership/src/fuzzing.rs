//! The fuzz targets of this crate: messages to the mothership, its answers, and the files of walls.

use std::path::Path;
use std::time::Duration;

use mgn_fuzzing::Target;
use mgn_wire::failover::DisplayPhase;
use serde::de::DeserializeOwned;
use serde::Serialize;

use crate::config::{Config, Units};
use crate::core::{Conn, Core};
use crate::protocol::*;
use crate::report::Status;

pub const TARGETS: &[Target] = &[
    Target {
        name: "to-mothership",
        feed: to_mothership,
        seeds: conversations,
        runs: 10_000,
    },
    Target {
        name: "from-mothership",
        feed: |bytes| drop(decoded::<FromMothership>(bytes)),
        seeds: || seeds().1,
        runs: 10_000,
    },
    Target {
        name: "walls",
        feed: walls,
        seeds: || {
            EXAMPLES
                .iter()
                .map(|text| text.as_bytes().to_vec())
                .collect()
        },
        runs: 1000,
    },
];

/// Files of walls that the documentation shows.
const EXAMPLES: [&str; 3] = [
    include_str!("../../../docs/examples/2x2.toml"),
    include_str!("../../../docs/examples/3x3-ssh.toml"),
    include_str!("../../../docs/examples/bezels.toml"),
];

/// A message of each kind. This code makes them from the types. A folder of stored messages could
/// become outdated.
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
        transport: TransportKind::Shm,
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
        transport: Some(TransportKind::Tcp),
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
        ToMothership::Where(Box::new(ServerLookup {
            server: "a".into(),
            encrypted: true,
            whereabouts,
        })),
        ToMothership::Holes(0b11),
        ToMothership::Phases(vec![(
            1,
            DisplayPhase {
                error: Some(-7),
                late: 3,
            },
        )]),
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

/// Each message alone, then all messages on one connection, and all messages on separate
/// connections.
fn conversations() -> Vec<Vec<u8>> {
    let said = |messages: &[Vec<u8>], next: u16| -> Vec<u8> {
        let framed = |message: &Vec<u8>| {
            let len = (message.len() as u16 | next << 15).to_le_bytes();
            [&len[..], message].concat()
        };
        messages.iter().flat_map(framed).collect()
    };
    let messages = seeds().0;
    let mut all = messages.clone();
    all.extend(
        messages
            .iter()
            .map(|message| said(std::slice::from_ref(message), 0)),
    );
    all.extend([said(&messages, 0), said(&messages, 1)]);
    all
}

/// Sends the messages of several connections to one mothership. The length of each message precedes
/// it, in 16 bits. The highest bit of a length says that the next connection begins.
fn to_mothership(bytes: &[u8]) {
    decoded::<Opening>(bytes);
    let mut core = Core::new(&Config::default());
    let (mut now, mut conn) = (Duration::ZERO, Conn(0));
    core.comes(conn, now);
    let mut rest = bytes;
    while let Some((len, after)) = rest.split_first_chunk() {
        let len = u16::from_le_bytes(*len);
        let (message, after) = after.split_at(usize::from(len & 0x7fff).min(after.len()));
        rest = after;
        now += Duration::from_millis(10);
        if len >> 15 != 0 {
            conn = Conn(conn.0 + 1);
            core.comes(conn, now);
        }
        decoded::<ToMothership>(message);
        let message = match ToMothership::decode(message) {
            Ok(message) => message,
            Err(why) => {
                core.leaves(conn, &why.to_string());
                continue;
            }
        };
        core.handle_message(conn, message, now);
        core.serve();
        let shown = core.status(now).describe();
        assert!(!shown.contains(|c: char| c.is_control() && c != '\n'));
        core.handle_timeout(now);
        while core.poll_output().is_some() {}
    }
}

/// Reads a mothership's configuration. If it is accepted, its description must not fail.
fn walls(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    match Config::parse(&text, Path::new("/walls/wall.toml"), Units::default()) {
        Ok(config) => {
            for plan in &config.walls {
                assert!(plan.wall.check().is_ok());
            }
            config.describe(80);
            Core::new(&config);
        }
        Err(mistakes) => drop(mistakes.to_string()),
    }
}

fn decoded<T: Serialize + DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    let message = decode(bytes)?;
    assert!(encode(&message).len() <= bytes.len());
    Some(message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_keep_their_promises() {
        TARGETS.iter().for_each(mgn_fuzzing::replay);
    }
}
