//! Links that drop messages, record them to a file, or play a recording.

mod support;

use std::sync::mpsc::channel;
use std::time::Duration;

use mgn_fabric::endpoint::{Endpoint, Key, LinkId, SendOptions, Wanted};
use mgn_fabric::{file::Player, Error, Transport};
use support::links::{pattern, LONG};
use support::{Folder, TIMEOUT};

const SYNC: SendOptions = SendOptions {
    sync: true,
    unordered: false,
};

const LENGTHS: [usize; 14] = [
    0,
    1,
    8,
    24,
    25,
    1000,
    16_384,
    16_385,
    65_536,
    300_000,
    1 << 20,
    5_000_000,
    3,
    0,
];

fn silent(endpoint: &Endpoint, transport: &Transport) -> LinkId {
    let nowhere = "unix:@nobody-is-here".parse().unwrap();
    endpoint
        .connect(&nowhere, transport, None, b"a name", TIMEOUT)
        .unwrap()
}

/// Checks a link without a peer.
fn takes_everything(endpoint: &Endpoint, link: LinkId) {
    for (at, len) in LENGTHS.into_iter().enumerate() {
        let how = if at % 2 == 0 {
            SYNC
        } else {
            SendOptions::default()
        };
        endpoint
            .send(link, at as u64, &pattern(len, at), how)
            .unwrap();
    }
    let (mut one, mut other) = (pattern(1000, 50), pattern(70_000, 51));
    let pieces = [(one.as_mut_ptr(), 1000), (other.as_mut_ptr(), 70_000)];
    // SAFETY: the test waits for the sends that have not ended yet.
    let sends = unsafe {
        [
            endpoint.isend(link, 100, &pieces, SYNC).unwrap(),
            endpoint
                .isend_active(link, 7, 101, &pieces, SendOptions::default())
                .unwrap(),
        ]
    };
    for send in sends.into_iter().flatten() {
        endpoint.wait(send, LONG).unwrap().unwrap();
    }
    assert!(endpoint.flush(LONG));
    // No message comes from such a link, and it offers no memory.
    let from = Wanted::new(link, 1);
    assert!(matches!(endpoint.recv(from, &mut [0]), Err(Error::NoPeer)));
    assert!(matches!(endpoint.peek(&from, None), Err(Error::NoPeer)));
    let soon = Some(Duration::from_millis(20));
    assert!(endpoint.take(&Wanted::any(), soon).unwrap().is_none());
    // SAFETY: the request is refused before memory is accessed.
    let put = unsafe { endpoint.iput(link, &Key([0; 16]), 0, &pieces) };
    assert!(matches!(put, Err(Error::NotOffered)));
    // The link does not delay other messages.
    endpoint
        .send(endpoint.own(), 5, b"self", SendOptions::default())
        .unwrap();
    let status = endpoint.recv(Wanted::any(), &mut [0; 4]).unwrap();
    assert_eq!((status.link, status.tag), (endpoint.own(), 5));
    endpoint.close(link);
    let closed = endpoint.send(link, 1, b"x", SendOptions::default());
    assert!(matches!(closed, Err(Error::Closed(_))));
}

#[test]
fn nowhere_takes_everything() {
    let endpoint = Endpoint::new().unwrap();
    let link = silent(&endpoint, &Transport::Null);
    takes_everything(&endpoint, link);
}

/// A recording of the messages that [`takes_everything`] sends.
fn recording(folder: &Folder) -> std::path::PathBuf {
    let path = folder.path().join("recording");
    let endpoint = Endpoint::new().unwrap();
    let link = silent(&endpoint, &Transport::File(path.clone()));
    takes_everything(&endpoint, link);
    path
}

#[test]
fn what_was_recorded_is_received() {
    let folder = Folder::new();
    let path = recording(&folder);
    // Receive all messages in order.
    let endpoint = Endpoint::new().unwrap();
    let (say, heard) = channel();
    endpoint.set_handler(7, move |active| {
        say.send((active.tag, active.to_vec())).unwrap();
    });
    let (link, name) = endpoint.play(&path).unwrap();
    assert_eq!(name, b"a name");
    for (at, len) in LENGTHS.into_iter().enumerate() {
        let mut into = vec![0; len];
        let status = endpoint.recv(Wanted::any(), &mut into).unwrap();
        assert_eq!(
            (status.link, status.tag, status.len),
            (link, at as u64, len)
        );
        assert!(into == pattern(len, at), "{at}");
    }
    let both = [pattern(1000, 50), pattern(70_000, 51)].concat();
    let taken = endpoint
        .take(&Wanted::new(link, 100), LONG)
        .unwrap()
        .unwrap();
    assert!(taken.to_vec() == both);
    assert!(heard.recv_timeout(TIMEOUT).unwrap() == (101, both));
    for wanted in [Wanted::new(link, 1), Wanted::any()] {
        let end = endpoint.recv(wanted, &mut [0]).unwrap_err();
        assert!(matches!(end, Error::Closed(_)), "{end}");
    }
}

#[test]
fn it_is_received_in_any_order_and_answered() {
    let folder = Folder::new();
    let path = recording(&folder);
    let endpoint = Endpoint::new().unwrap();
    let (link, _) = endpoint.play(&path).unwrap();
    let mut into: Vec<Vec<u8>> = LENGTHS.iter().map(|len| vec![0; *len]).collect();
    for tags in [
        (7..LENGTHS.len()).rev().collect::<Vec<_>>(),
        (0..7).collect(),
    ] {
        let posted: Vec<_> = tags
            .iter()
            .map(|tag| {
                let place = (into[*tag].as_mut_ptr(), into[*tag].len());
                // SAFETY: the test waits for the request.
                unsafe { endpoint.irecv(Wanted::new(link, *tag as u64), &[place]) }
            })
            .collect();
        // A program may also send on the link.
        endpoint.send(link, 1, &[1; 100_000], SYNC).unwrap();
        for receive in posted {
            endpoint.wait(receive, LONG).unwrap().unwrap();
        }
    }
    for (at, bytes) in into.iter().enumerate() {
        assert!(*bytes == pattern(LENGTHS[at], at), "{at}");
    }
}

/// The recording has more messages than may wait, and more bytes than may be held.
#[test]
fn a_long_recording_is_read_as_it_is_received() {
    let folder = Folder::new();
    let path = folder.path().join("long");
    let endpoint = Endpoint::new().unwrap();
    let link = silent(&endpoint, &Transport::File(path.clone()));
    for at in 0..2000 {
        endpoint
            .send(link, 3, &pattern(9000, at), SendOptions::default())
            .unwrap();
    }
    endpoint
        .send(link, 4, b"last", SendOptions::default())
        .unwrap();
    drop(endpoint);
    let endpoint = Endpoint::new().unwrap();
    let (link, _) = endpoint.play(&path).unwrap();
    // The last message cannot be received before the others.
    let starved = endpoint.recv(Wanted::new(link, 4), &mut [0; 4]);
    assert!(matches!(starved, Err(Error::Starved(256))), "{starved:?}");
    for at in 0..2000 {
        let mut into = vec![0; 9000];
        endpoint.recv(Wanted::new(link, 3), &mut into).unwrap();
        assert!(into == pattern(9000, at), "{at}");
    }
    endpoint.recv(Wanted::new(link, 4), &mut [0; 4]).unwrap();
    assert!(matches!(
        endpoint.recv(Wanted::new(link, 4), &mut [0; 4]),
        Err(Error::Closed(_))
    ));
}

#[test]
fn what_is_no_recording_of_a_link_is_refused() {
    let folder = Folder::new();
    let endpoint = Endpoint::new().unwrap();
    let path = folder.path().join("other");
    let nowhere = "unix:@nobody-is-here".parse().unwrap();
    let transport = Transport::File(path.clone());
    drop(mgn_fabric::connect(&nowhere, transport, None, b"a program", TIMEOUT).unwrap());
    let error = endpoint.play(&path).unwrap_err();
    assert!(error.to_string().contains("of an endpoint"), "{error}");
    assert!(Player::open(&path).is_ok());
    let missing = endpoint.play(&folder.path().join("missing")).unwrap_err();
    assert!(matches!(missing, Error::Io { .. }), "{missing}");
    // A full disk ends the link and all its operations with the same error.
    let full = Transport::File("/dev/full".into());
    let refused = endpoint.connect(&nowhere, &full, None, b"", TIMEOUT);
    assert!(refused.unwrap_err().to_string().contains("/dev/full"));
}

/// A recording that is cut anywhere delivers its whole messages, and then one error.
#[test]
fn a_recording_that_breaks_off_is_an_error_at_its_end() {
    let folder = Folder::new();
    let path = folder.path().join("whole");
    let endpoint = Endpoint::new().unwrap();
    let link = silent(&endpoint, &Transport::File(path.clone()));
    for at in 0..3 {
        endpoint
            .send(link, at, &[at as u8; 30], SendOptions::default())
            .unwrap();
    }
    endpoint
        .send(link, 3, &[3; 40_000], SendOptions::default())
        .unwrap();
    let whole = std::fs::read(&path).unwrap();
    let short = folder.path().join("short");
    let start = whole.len() - 3 * (4 + 16 + 30) - (4 + 16 + 40_000);
    for cut in (start..start + 180).chain([whole.len() - 1]) {
        std::fs::write(&short, &whole[..cut]).unwrap();
        let (link, _) = endpoint.play(&short).unwrap();
        let whole_ones = ((cut - start) / 50).min(3);
        let mut into = vec![0; 40_000];
        for at in 0..whole_ones {
            let status = endpoint
                .recv(Wanted::new(link, at as u64), &mut into)
                .unwrap();
            assert!(into[..status.len].iter().all(|byte| *byte == at as u8));
        }
        let end = endpoint.recv(Wanted::new(link, 3), &mut into).unwrap_err();
        match cut - start {
            0 | 50 | 100 | 150 => assert!(matches!(end, Error::Closed(_)), "{cut}: {end}"),
            _ => assert!(matches!(end, Error::BadRecording { .. }), "{cut}: {end}"),
        }
    }
}
