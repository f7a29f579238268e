//! Feeds arbitrary bytes to the protocol, as if a peer had sent them on the two sockets of a link.
//! No thread is needed.

use std::io::Write;
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use super::engine::{Engine, SendOptions};
use super::head::{Head, Kind};
use super::memory::Memory;
use super::remote_key::Key;
use super::stream::StreamLink;
use super::terms::Limits;
use super::wanted::Wanted;
use crate::peer::Peer;
use crate::{Error, Transport};

/// More bytes do not fit in a socket's buffer.
const SOCKET_BYTES_MAX: usize = 60_000;

/// The first two bytes give the number of bytes, at the end of the input, that are sent on the
/// control socket.
pub(crate) fn feed(bytes: &[u8]) {
    let Some((len, rest)) = bytes.split_first_chunk() else {
        return;
    };
    let answers = usize::from(u16::from_le_bytes(*len)).min(rest.len());
    let (data, answers) = rest.split_at(rest.len() - answers);
    let said = |bytes: &[u8]| {
        let (mut far, near) = UnixStream::pair().unwrap();
        far.write_all(&bytes[..bytes.len().min(SOCKET_BYTES_MAX)])
            .unwrap();
        (far, Arc::new(Peer::unix(near.into(), "it".into(), false)))
    };
    let ((far, near), (far_control, control)) = (said(data), said(answers));
    let limits = Limits::usual(&Transport::Unix);
    let mut engine = Engine::new();
    let link = engine.add_link(StreamLink::new(near, control, limits, None).unwrap());

    // One region serves all operations, because its contents do not matter. It outlives the
    // engine's last step.
    let mut memory = vec![0u8; 100_000];
    let start = memory.as_mut_ptr();
    let piece = |len| Memory::one(start, len);
    let key = Key([9; 16]);
    engine.expose(key, piece(1000));
    engine.receive(Wanted::new(link, 1), piece(1000));
    engine.receive(Wanted::new(link, 2), piece(100_000));
    let head = Head::new(Kind::Eager, 0, 1);
    // A short message, and a message that the peer has to accept.
    let _ = engine.send(link, head, piece(20), SendOptions::default());
    let _ = engine.send(link, head, piece(100_000), SendOptions::default());
    let _ = engine.get(link, key, 0, piece(1000));
    let _ = engine.put(link, key, 0, piece(1000));
    while engine.progress(link) {}
    // Take the unexpected messages.
    while engine.take_in_place(&Wanted::any()).is_some() {}
    far.shutdown(Shutdown::Both).unwrap();
    far_control.shutdown(Shutdown::Both).unwrap();
    while engine.progress(link) {}
    engine.cut(link, Error::Closed("it".into()));
}

/// Frames of each kind.
pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let head = |kind, flags, id, value| {
        let head = Head {
            flags,
            ..Head::new(kind, id, value)
        };
        head.encode().map(u64::to_le_bytes).as_flattened().to_vec()
    };
    let frame = |kind, flags, id, value, payload: &[u8]| {
        let len = (payload.len() as u64).to_le_bytes();
        [&head(kind, flags, id, value), &len[..], payload].concat()
    };
    let of = |data: &[u8], answers: &[u8]| {
        let len = (answers.len() as u16).to_le_bytes();
        [&len[..], data, answers].concat()
    };
    let offer = |tag, len: u64| {
        frame(
            Kind::Offer,
            0,
            5,
            tag,
            &[len.to_le_bytes(), [0; 8]].concat(),
        )
    };
    let ask = |flags, id, len: u64| {
        let words = [0, len, 0].map(u64::to_le_bytes);
        frame(
            Kind::Remote,
            flags,
            id,
            0,
            &[&[9; 16], words.as_flattened()].concat(),
        )
    };
    use super::head::{ANSWER, FOLLOWS, GET, PUT, SYNC};
    let eager = [
        frame(Kind::Eager, 0, 0, 1, b"hello"),
        frame(Kind::Eager, SYNC, 3, 7, &[1; 300]),
    ];
    let part = |flags, id, at, len| frame(Kind::Part, flags, id, at, &vec![3; len]);
    let parts = [offer(2, 1500), part(0, 5, 0, 1000), part(0, 5, 1000, 500)];
    let withdrawn = [offer(8, 1500), frame(Kind::Withdraw, 0, 5, 0, b"")];
    let written = [ask(PUT | SYNC | FOLLOWS, 3, 10), part(0, 3, 0, 10)];
    let answers = [
        head(Kind::Credit, 0, 1, 20),
        head(Kind::Accept, 0, 0, 0),
        head(Kind::Taken, 0, 0, 0),
        head(Kind::Window, 0, 0, 5000),
    ];
    vec![
        of(&eager.concat(), &[]),
        of(&parts.concat(), &[]),
        of(&withdrawn.concat(), &[]),
        of(&written.concat(), &[]),
        of(&ask(GET, 3, 1000), &head(Kind::Withdrawn, 0, 0, 0)),
        of(&part(ANSWER, 1, 0, 1000), &[]),
        of(&eager.concat(), &answers.concat()),
    ]
}
