//! The fuzz target of this crate: what a worker says to its parent.

use mgn_fuzzing::Target;
use mgn_wire::hello::{ContextInfo, ServerInfo};
use mgn_wire::{Blame, End};

use crate::control::{encode, FromWorker, Inbox};
use crate::sandbox::Confined;
use crate::Abilities;

pub const TARGETS: &[Target] = &[Target {
    name: "worker",
    feed,
    seeds,
    runs: 5000,
}];

/// The bytes arrive in two pieces.
fn feed(bytes: &[u8]) {
    let mut inbox = Inbox::new(0);
    let (one, other) = bytes.split_at(bytes.len() / 2);
    for piece in [one, other] {
        inbox.arrives(piece);
        loop {
            match inbox.next::<FromWorker>() {
                Ok(Some(message)) => assert!(encode(&message).unwrap().len() <= bytes.len()),
                Ok(None) => break,
                Err(_) => return,
            }
        }
    }
}

fn seeds() -> Vec<Vec<u8>> {
    let abilities = Abilities {
        info: ServerInfo::default(),
        contexts: vec![(0, ContextInfo::default())],
        egl: "Mesa 1.5".into(),
    };
    let drawn = FromWorker::Drawn {
        frames: 3,
        bytes: u64::MAX,
    };
    let messages = [
        FromWorker::Ready(Box::new(abilities), Confined::default()),
        FromWorker::Failed("no driver".into()),
        FromWorker::Connect {
            session: 7,
            target: 1,
        },
        drawn,
        FromWorker::Ended(End::new(Blame::Client, "so").into()),
        FromWorker::Left {
            session: 7,
            cause: Some(End::new(Blame::Peers, "so").into()),
            drawn: (5, u64::MAX),
        },
    ];
    let mut seeds: Vec<Vec<u8>> = messages
        .iter()
        .flat_map(encode)
        .map(|bytes| bytes.to_vec())
        .collect();
    seeds.push(seeds.concat());
    seeds
}

#[cfg(test)]
mod tests {
    #[test]
    fn targets_keep_their_promises() {
        super::TARGETS.iter().for_each(mgn_fuzzing::replay);
    }
}
