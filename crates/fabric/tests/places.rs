//! Tests of messages whose memory consists of several pieces, or is too short for the message.

mod support;

use mgn_fabric::endpoint::{SendOptions, Settings, Wanted};
use mgn_fabric::Error;
use support::links::*;

#[test]
fn pieces_are_gathered_and_scattered() {
    for kind in ALL {
        let ((one, here), (other, there)) = pair(&kind, Settings::default(), Settings::default());
        for len in [10, 30, 304, 5000, 1_000_000] {
            let whole = pattern(len, 1);
            let (mut a, mut b, mut c) = (whole[..3].to_vec(), Vec::new(), whole[3..].to_vec());
            let (mut x, mut y) = (vec![0; len / 2], vec![0; len - len / 2]);
            let piece = |part: &mut Vec<u8>| (part.as_mut_ptr(), part.len());
            // SAFETY: all requests are waited for here.
            unsafe {
                let receive = other.irecv(Wanted::new(there, 1), &[piece(&mut x), piece(&mut y)]);
                let send = one.isend(
                    here,
                    1,
                    &[piece(&mut a), piece(&mut b), piece(&mut c)],
                    SendOptions::default(),
                );
                if let Some(send) = send.unwrap() {
                    one.wait(send, LONG).unwrap().unwrap();
                }
                other.wait(receive, LONG).unwrap().unwrap();
            }
            assert_eq!([x, y].concat(), whole);
        }
    }
}

/// Sends a message of more than 4 GiB, which consists of many references to the same piece of
/// memory.
#[test]
fn short_messages_fill_whatever_place_there_is_and_nothing_else() {
    for kind in ALL {
        let ((one, here), (other, there)) = pair(&kind, Settings::default(), Settings::default());
        for (len, cut) in [81, 304]
            .into_iter()
            .flat_map(|len| [23, 24, 25, 80].map(|cut| (len, cut)))
        {
            let whole = pattern(len, cut);
            for room in [0, 10, 24, 30, 80, len - 1, len] {
                // The memory is in one piece, and in three pieces.
                for pieces in [
                    vec![(0, room)],
                    vec![(0, cut.min(room)), (400, room - cut.min(room)), (800, 7)],
                ] {
                    let mut into = vec![0; 1200];
                    let start = into.as_mut_ptr();
                    let places: Vec<_> = pieces
                        .iter()
                        // SAFETY: inside the vector.
                        .map(|(at, len)| (unsafe { start.add(*at) }, *len))
                        .collect();
                    // SAFETY: the test waits for the request here.
                    let receive = unsafe { other.irecv(Wanted::new(there, 1), &places) };
                    one.send(here, 1, &whole, SendOptions::default()).unwrap();
                    let fits = pieces.iter().map(|(_, len)| len).sum::<usize>() >= len;
                    match other.wait(receive, LONG) {
                        Ok(status) => assert!(fits && status.unwrap().len == len, "{kind}"),
                        Err(error) => assert!(
                            !fits && matches!(error, Error::Truncated { .. }),
                            "{kind}: {error}"
                        ),
                    }
                    let mut expected = vec![0; 1200];
                    let mut rest = &whole[..];
                    for (at, size) in pieces {
                        let part = size.min(rest.len());
                        expected[at..at + part].copy_from_slice(&rest[..part]);
                        rest = &rest[part..];
                    }
                    assert!(into == expected, "{kind}: {len} cut at {cut} into {room}");
                }
            }
        }
    }
}
