//! The fuzz targets of this crate: the decoders of bytes from peers, files and launchers. They must
//! not panic, hang, or allocate more memory than the input justifies.

use std::fs::{self, File};
use std::io::{IoSlice, IoSliceMut, Read, Write};
use std::net::Shutdown;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use mgn_fuzzing::Target;
use rustix::io::Errno;

use crate::connection::ReceiveEnd;
use crate::endpoint::{Endpoint, SendOptions, Settings, Wanted};
use crate::file::Player;
use crate::handshake::{ClientSide, Known, Progress, ServerSide, Step};
use crate::job;
use crate::peer::Peer;
use crate::seal::Seal;
use crate::stream::StreamReceiver;
use crate::tls::Negotiation;
use crate::{Address, Error, Incoming, Token, Transport};

/// A server's end of a TLS negotiation, with a new key.
fn tls_server() -> Negotiation {
    let key = crate::ServerKey::generate().unwrap();
    Negotiation::server(crate::tls::server_config(&key).unwrap()).unwrap()
}

/// A time limit for calls that must return at once, because no more data can come.
const RETURN_TIMEOUT: Option<Duration> = Some(Duration::from_secs(5));

pub const TARGETS: &[Target] = &[
    Target {
        name: "handshake",
        feed: handshake,
        seeds: Vec::new,
        runs: 3000,
    },
    Target {
        name: "tls-server",
        feed: |bytes| negotiation(tls_server(), bytes),
        seeds: || vec![crate::tls::agree().1[0].clone()],
        runs: 300,
    },
    Target {
        name: "tls-client",
        feed: |bytes| negotiation(Negotiation::client().unwrap(), bytes),
        seeds: || vec![crate::tls::agree().1[1].clone()],
        runs: 300,
    },
    Target {
        name: "records",
        feed: records,
        seeds: || vec![sealed()],
        runs: 1000,
    },
    Target {
        name: "stream",
        feed: stream,
        seeds: Vec::new,
        runs: 500,
    },
    Target {
        name: "recording",
        feed: recording,
        seeds: Vec::new,
        runs: 3000,
    },
    Target {
        name: "link-recording",
        feed: link_recording,
        seeds: || vec![recorded_link()],
        runs: 100,
    },
    Target {
        name: "announcement",
        feed: crate::shm::feed_announcement,
        seeds: Vec::new,
        runs: 2000,
    },
    Target {
        name: "handoff",
        feed: handoff,
        seeds: Vec::new,
        runs: 2000,
    },
    Target {
        name: "address",
        feed: address,
        seeds: Vec::new,
        runs: 2000,
    },
    Target {
        name: "relay",
        feed: relay,
        seeds: || vec![crate::relay::opening("gpu-1")],
        runs: 1000,
    },
    Target {
        name: "link",
        feed: crate::endpoint::feed_joining,
        seeds: crate::endpoint::joining_seeds,
        runs: 3000,
    },
    Target {
        name: "frames",
        feed: crate::endpoint::fuzzing::feed,
        seeds: crate::endpoint::fuzzing::seeds,
        runs: 1000,
    },
    Target {
        name: "broadcast",
        feed: crate::job::feed_broadcast,
        seeds: crate::job::broadcast_seeds,
        runs: 1000,
    },
    Target {
        name: "pmi",
        feed: crate::job::feed_pmi,
        seeds: Vec::new,
        runs: 1000,
    },
    Target {
        name: "job-secret",
        feed: crate::job::feed_secret,
        seeds: crate::job::secret_seeds,
        runs: 300,
    },
    Target {
        name: "hosts",
        feed: hosts_of,
        seeds: Vec::new,
        runs: 3000,
    },
    Target {
        name: "settings",
        feed: settings,
        seeds: || vec![Settings::default().to_toml().into_bytes()],
        runs: 1000,
    },
];

/// Both sides of the handshake, with and without a token.
fn handshake(bytes: &[u8]) {
    let token = || "a".repeat(64).parse::<Token>().unwrap();
    let transports = &[Transport::Shm, Transport::Unix, Transport::Tcp];
    for token in [None, Some(token())] {
        let known = token.clone().map(|token| Known {
            tokens: vec![token].into(),
            channel: None,
        });
        let mut server = ServerSide::new(known, transports);
        let mut rest = bytes;
        while server.wants() > 0 && !rest.is_empty() {
            let (now, later) = rest.split_at(server.wants().min(rest.len()));
            rest = later;
            if matches!(
                server.receive(now),
                Progress::Fail(..) | Progress::Done { .. }
            ) {
                break;
            }
        }
        let mut client = ClientSide::new(&Transport::Unix, token.as_ref(), b"", "it").unwrap();
        let mut rest = bytes;
        while client.wants() > 0 && !rest.is_empty() {
            let (now, later) = rest.split_at(client.wants().min(rest.len()));
            rest = later;
            if matches!(client.receive(now), Err(_) | Ok(Step::Done(_))) {
                break;
            }
        }
    }
}

/// Negotiates keys with an end that sends `bytes`.
fn negotiation(mut negotiation: Negotiation, mut bytes: &[u8]) {
    while !bytes.is_empty() && !negotiation.is_over() {
        let (now, after) = bytes.split_at(negotiation.wants().min(bytes.len()));
        bytes = after;
        if negotiation.receive(now).is_err() {
            break;
        }
    }
    // The keys of this negotiation are new, so no bytes from before can be part of it.
    assert!(!negotiation.is_over());
}

/// A seal with the same keys in both directions, so that it can decrypt its own records.
fn seal() -> Seal {
    Seal::handed_over(&[7; Seal::BYTES])
}

/// A seed for [`records`]: whether and where a record is damaged, then the peer's data.
fn sealed() -> Vec<u8> {
    let mut bytes = vec![0, 0, 0];
    bytes.extend([3; 700]);
    bytes
}

/// An encrypted connection. Bytes from a sender without the keys are refused. If a record was
/// changed, the peer's data before it arrives, and nothing after it.
fn records(bytes: &[u8]) {
    let received = |wire: &[u8]| {
        let (mut near, far) = UnixStream::pair().unwrap();
        near.write_all(&wire[..wire.len().min(100_000)]).unwrap();
        near.shutdown(Shutdown::Write).unwrap();
        let (seal, mut all) = (seal(), Vec::<u8>::new());
        loop {
            let mut into = [0; 1000];
            match seal.recv(far.as_fd(), &mut [IoSliceMut::new(&mut into)]) {
                Ok(0) | Err(Errno::BADMSG) => return all,
                Ok(got) => all.extend(&into[..got]),
                Err(error) => panic!("{error}"),
            }
        }
    };
    assert!(received(bytes).is_empty());
    let Some(([flips, low, high], plain)) = bytes.split_first_chunk() else {
        return;
    };
    let plain = &plain[..plain.len().min(50_000)];
    let (one, mut other) = UnixStream::pair().unwrap();
    let (near, mut wire) = (seal(), Vec::new());
    let mut ends = Vec::new();
    for part in plain.chunks(300) {
        assert_eq!(
            near.send(one.as_fd(), &[IoSlice::new(part)]),
            Ok(part.len())
        );
        let mut record = vec![0; part.len() + 100];
        let got = other.read(&mut record).unwrap();
        wire.extend(&record[..got]);
        ends.push(wire.len());
    }
    let at = usize::from(u16::from_le_bytes([*low, *high]));
    let intact = match wire.get_mut(at) {
        Some(byte) if *flips != 0 => {
            *byte ^= flips;
            ends.iter().filter(|end| **end <= at).count()
        }
        _ => ends.len(),
    };
    assert_eq!(received(&wire), plain[..plain.len().min(300 * intact)]);
}

fn stream(bytes: &[u8]) {
    // More bytes do not fit in the socket's buffer.
    let bytes = &bytes[..bytes.len().min(100_000)];
    let (mut near, far) = UnixStream::pair().unwrap();
    near.write_all(bytes).unwrap();
    near.shutdown(Shutdown::Write).unwrap();
    let peer = Arc::new(Peer::unix(far.into(), "the seed".into(), false));
    let mut receiver = StreamReceiver::new(peer, 8192, 1 << 20, 4 * 8192);
    let mut received = 0;
    let end = loop {
        match receiver.recv(RETURN_TIMEOUT, &mut || ()) {
            Ok(Some(message)) => received += message.to_vec().len() + 8,
            Ok(None) => panic!("the end of the stream went unnoticed"),
            Err(error) => break error,
        }
    };
    assert!(received <= bytes.len());
    assert!(
        matches!(end, Error::Closed(_) | Error::PeerMisbehaved(_)),
        "{end}"
    );
}

fn recording(bytes: &[u8]) {
    let Ok(mut player) = Player::new(bytes, Path::new("seed")) else {
        return;
    };
    let mut played = player.opening().len();
    while let Ok(Some(message)) = player.next_message() {
        played += message.to_vec().len() + 4;
    }
    assert!(played <= bytes.len());
}

/// A recording of a link, received to its end.
fn link_recording(bytes: &[u8]) {
    static ENDPOINT: OnceLock<Endpoint> = OnceLock::new();
    let endpoint = ENDPOINT.get_or_init(|| Endpoint::new().unwrap());
    let file = file();
    File::from(file.try_clone().unwrap())
        .write_all(bytes)
        .unwrap();
    let Ok((link, _)) = endpoint.play(Path::new(&path(&file))) else {
        return;
    };
    let any = Wanted {
        from: Some(link),
        ..Wanted::any()
    };
    let mut received = 0;
    while let Ok(Some(message)) = endpoint.take(&any, RETURN_TIMEOUT) {
        received += message.len();
    }
    assert!(received <= bytes.len() && !endpoint.is_open(link));
}

fn recorded_link() -> Vec<u8> {
    let endpoint = Endpoint::new().unwrap();
    let file = file();
    let record = Transport::File(path(&file).into());
    let nowhere = "unix:@nobody".parse().unwrap();
    let link = endpoint.connect(&nowhere, &record, None, b"me", Duration::ZERO);
    let link = link.unwrap();
    for len in [0, 20, 300, 2000] {
        let message = vec![5; len];
        endpoint
            .send(link, 1, &message, SendOptions::default())
            .unwrap();
    }
    fs::read(path(&file)).unwrap()
}

/// A file without a name, in memory.
fn file() -> OwnedFd {
    rustix::fs::memfd_create("recording", rustix::fs::MemfdFlags::CLOEXEC).unwrap()
}

fn path(file: &OwnedFd) -> String {
    format!("/proc/self/fd/{}", file.as_raw_fd())
}

/// The bytes with which a server process hands a client to another process.
fn handoff(bytes: &[u8]) {
    let null = File::open("/dev/null").unwrap();
    if let Ok(incoming) = Incoming::from_handoff(null.into(), bytes) {
        assert_eq!(*incoming.into_handoff().1, bytes);
    }
}

fn address(bytes: &[u8]) {
    for line in String::from_utf8_lossy(bytes).lines() {
        if let Ok(address) = line.parse::<Address>() {
            assert_eq!(address.to_string().parse::<Address>().unwrap(), address);
        }
    }
}

fn relay(bytes: &[u8]) {
    if let Some(server) = crate::relay::asked_for(bytes) {
        assert_eq!(crate::relay::opening(server), bytes);
    }
}

/// Hostfiles, and Slurm's lists of nodes.
fn hosts_of(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let _ = job::hostfile(Path::new("hosts"), &text);
    let _ = job::nodelist(&text);
}

/// The file that `mgn tune` writes.
fn settings(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let Ok(settings) = Settings::parse(&text, Path::new("tune.toml")) else {
        return;
    };
    let written = settings.to_toml();
    let again = Settings::parse(&written, Path::new("tune.toml")).unwrap();
    assert_eq!(again.to_toml(), written);
}

#[cfg(test)]
mod tests {
    #[test]
    fn targets_keep_their_promises() {
        super::TARGETS.iter().for_each(mgn_fuzzing::replay);
    }
}
