//! Tests of peers that break the protocol when one process reads the memory of the other process.

use super::super::head::{HEAD, OFFER, SHOW};
use super::*;

#[test]
fn nobody_fetches_what_is_not_shown_and_nobody_is_shown_who_may_not_read() {
    let endpoint = Endpoint::new().unwrap();
    let mut bytes = vec![7u8; 1 << 20];
    let mut isend = |link| {
        let piece = (bytes.as_mut_ptr(), bytes.len());
        // SAFETY: the endpoint ends before the memory, and nothing changes it.
        unsafe { endpoint.isend(link, 1, &[piece], SendOptions::default()) }
    };
    let address = |far: &mut Liar| {
        let mut offer = [0; HEAD + 8 + OFFER];
        far.data.read_exact(&mut offer).unwrap();
        assert_eq!(offer[0], Kind::Offer as u8);
        u64::from_le_bytes(std::array::from_fn(|at| offer[HEAD + 16 + at]))
    };
    let (link, mut far) = liar(&endpoint);
    let sent = isend(link).unwrap().unwrap();
    assert_eq!(address(&mut far), 0);
    // The peer accepts the message, and asks for the addresses of later messages, although its
    // terms do not let it read our memory.
    far.control
        .write_all(&head(Kind::Accept, SHOW, 0, 0))
        .unwrap();
    let mut parts = vec![0; 1 << 20];
    let mut got = 0;
    while got < parts.len() {
        let mut frame = [0; HEAD + 8];
        far.data.read_exact(&mut frame).unwrap();
        assert_eq!(frame[0], Kind::Part as u8);
        let len = u64::from_le_bytes(std::array::from_fn(|at| frame[HEAD + at])) as usize;
        far.data.read_exact(&mut parts[got..got + len]).unwrap();
        got += len;
    }
    assert!(parts.iter().all(|byte| *byte == 7));
    endpoint.wait(sent, SOON).unwrap().unwrap();
    let sent = isend(link).unwrap().unwrap();
    assert_eq!(address(&mut far), 0);
    far.control
        .write_all(&head(Kind::Accept, FETCHED | SHOW, 0, 0))
        .unwrap();
    let error = endpoint.wait(sent, SOON).unwrap_err();
    assert!(
        error.to_string().contains("without having its address"),
        "{error}"
    );
    assert!(is_well(&endpoint));
}

#[test]
fn what_is_being_read_does_not_come_in_parts() {
    let endpoint = Endpoint::new().unwrap();
    let (link, mut far) = liar_that_is_read(&endpoint, 4096);
    let bytes = vec![7u8; 5000];
    let mut into = vec![0u8; 5000];
    // SAFETY: the test waits for the request.
    let receive = unsafe { endpoint.irecv(Wanted::new(link, 1), &[(into.as_mut_ptr(), 5000)]) };
    // The part would end the message, and another message would get its number before it was read.
    let lie = [
        offer_at(0, 5, 1, 5000, bytes.as_ptr() as u64),
        frame(Kind::Part, 0, 5, 0, &bytes),
        offer(0, 5, 9, 5000),
        frame(Kind::Withdraw, 0, 5, 0, b""),
    ];
    far.data.write_all(&lie.concat()).unwrap();
    let error = endpoint.wait(receive, SOON).unwrap_err();
    assert!(error.to_string().contains("does not fit"), "{error}");
    assert!(is_well(&endpoint));
}

#[test]
fn no_more_is_read_than_there_is_memory_for() {
    let endpoint = Endpoint::new().unwrap();
    let (link, mut far) = liar_that_is_read(&endpoint, 4096);
    let bytes = vec![7u8; 5000];
    let len = isize::MAX as u64;
    far.data
        .write_all(&offer_at(0, 5, 1, len, bytes.as_ptr() as u64))
        .unwrap();
    let mut into = vec![0u8; 4000];
    // SAFETY: the test waits for the request.
    let receive = unsafe { endpoint.irecv(Wanted::new(link, 1), &[(into.as_mut_ptr(), 4000)]) };
    match endpoint.wait(receive, SOON).unwrap_err() {
        Error::Truncated { len, room } => assert_eq!((len, room), (isize::MAX as usize, 4000)),
        error => panic!("{error}"),
    }
    assert!(into == bytes[..4000]);
}

#[test]
fn who_may_not_read_our_memory_is_not_told_where_it_is() {
    let endpoint = Endpoint::new().unwrap();
    let mut memory = vec![7u8; 1000];
    // SAFETY: the offer is dropped before the memory. Until then, no thread accesses the memory.
    let offered = unsafe { endpoint.offer((memory.as_mut_ptr(), 1000)) };
    for (from, kind) in [(NEVER, Kind::Part), (4096, Kind::Remote)] {
        let (_, mut far) = liar_that_is_read(&endpoint, from);
        let get = ask(GET | FETCHED, 3, &offered.key(), 0, 1000, 0);
        far.data.write_all(&get).unwrap();
        let mut answer = [0; HEAD];
        far.data.read_exact(&mut answer).unwrap();
        assert_eq!(answer[0], kind as u8);
    }
}
