//! Tests on links of every kind: unordered messages overtake messages that wait for buffer space,
//! and ordered messages do not.

use std::thread;
use std::time::Duration;

use super::head::{Head, Kind};
use super::memory::Memory;
use super::{Endpoint, Joined, LinkId, SendOptions, Settings, Wanted};
use crate::{Address, Listener, Token, Transport};

const TIMEOUT: Duration = Duration::from_secs(10);

/// The smallest permitted number of envelopes.
const ENVELOPES: usize = 8;

const FREE: SendOptions = SendOptions {
    sync: false,
    unordered: true,
};

fn pair(address: &str, transport: &Transport) -> ((Endpoint, LinkId), (Endpoint, LinkId)) {
    let address: Address = address.parse().unwrap();
    let token = address.needs_token().then(Token::generate);
    let listener = Listener::bind(&address, token.clone()).unwrap();
    let few = Settings {
        envelopes: ENVELOPES,
        ..Settings::default()
    };
    let (one, other) = (Endpoint::new().unwrap(), Endpoint::with(few).unwrap());
    let (here, there) = thread::scope(|scope| {
        let there = scope.spawn(|| loop {
            if let Joined::Link(link, _) = other.accept(listener.accept().unwrap()).unwrap() {
                return link;
            }
        });
        let address = listener.address();
        let here = one.connect(address, transport, token.as_ref(), b"", TIMEOUT);
        (here.unwrap(), there.join().unwrap())
    });
    ((one, here), (other, there))
}

#[test]
fn unordered_messages_overtake_and_ordered_ones_do_not() {
    let name = format!("unix:@mgn-overtaking-{}", std::process::id());
    for (address, transport) in [
        (name.as_str(), Transport::Shm),
        (name.as_str(), Transport::Unix),
        ("tcp:127.0.0.1:0", Transport::Tcp),
        ("tls:127.0.0.1:0", Transport::Tcp),
    ] {
        let ((one, here), (other, there)) = pair(address, &transport);
        let mut byte = 7u8;
        let memory = Memory::one(&mut byte, 1);
        let receive = || {
            let from = Some(there);
            let any = Wanted {
                from,
                ..Wanted::any()
            };
            other.recv(any, &mut [0]).unwrap().tag
        };
        for tag in 0..ENVELOPES as u64 {
            one.send(here, tag, &[7], SendOptions::default()).unwrap();
        }
        // While this thread holds the lock, no thread makes progress. So the waiting message stays,
        // although buffer space becomes free.
        let mut state = one.shared.state();
        let mut send = |tag, how| {
            let head = Head::new(Kind::Eager, 0, tag);
            let request = state.engine.send(here, head, memory.clone(), how);
            request.unwrap()
        };
        let waits = send(100, SendOptions::default()).expect("there is no buffer space for it");
        for tag in 0..4 {
            assert_eq!(receive(), tag);
        }
        assert_eq!(send(101, FREE), None, "{address}: it is sent at once");
        let stays = send(102, SendOptions::default()).expect("it stays behind the waiting message");
        drop(state);
        for tag in [4, 5, 6, 7, 101, 100, 102] {
            assert_eq!(receive(), tag, "{address}");
        }
        for request in [waits, stays] {
            one.wait(request, None).unwrap();
        }
    }
}
