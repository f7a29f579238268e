use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

use super::super::link::AnyLink;
use super::super::settings::Settings;
use super::super::stream::StreamLink;
use super::super::terms::{Limits, Terms};
use super::super::{Endpoint, LinkId};
use crate::byte_stream::ByteStream;
use crate::peer::{Peer, SILENCE_TIME};
use crate::Transport;

/// Adds a TCP link between this address and 127.0.0.1, and returns the other end's sockets.
fn link(endpoint: &Endpoint, address: &str) -> (LinkId, [TcpStream; 2]) {
    let settings = Settings::default();
    let terms = Terms::new(&settings, &Transport::Tcp);
    let limits = Limits::new(&settings, &Transport::Tcp, terms, terms);
    let listener = TcpListener::bind((address, 0)).unwrap();
    let connect = || {
        let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let line = ByteStream::clear(near.into());
        let peer = Peer::tcp(line, "it".into(), SILENCE_TIME);
        (Arc::new(peer), listener.accept().unwrap().0)
    };
    let ((data, far), (control, far_control)) = (connect(), connect());
    let link = StreamLink::new(data, control, limits, None).unwrap();
    let id = endpoint.shared.add(AnyLink::Stream(Box::new(link)));
    (id.unwrap(), [far, far_control])
}

/// A process that has many peers on other hosts does not share its processors with them.
#[test]
fn only_peers_on_this_host_make_it_crowded() {
    let endpoint = Endpoint::new().unwrap();
    let shared = &endpoint.shared;
    if shared.processors > 64 {
        eprintln!("SKIPPED: a process may not have as many sockets as this test needs");
        return;
    }
    let mut links = Vec::new();
    // The two ends have different addresses, as ends on different hosts have.
    links.extend((0..=shared.processors).map(|_| link(&endpoint, "127.0.0.2")));
    assert_eq!(shared.state().near, 0);
    assert!(!shared.is_crowded(&shared.state()));
    let intervals = shared.watch_intervals(&shared.state());
    let here: Vec<_> = (0..shared.processors)
        .map(|_| {
            assert!(!shared.is_crowded(&shared.state()));
            link(&endpoint, "127.0.0.1")
        })
        .collect();
    assert!(shared.is_crowded(&shared.state()));
    assert!(shared.watch_intervals(&shared.state()) > intervals);
    endpoint.close(here[0].0);
    assert!(!shared.is_crowded(&shared.state()));
}
