//! Sessions with a server, over every transport.
// The encoder copies what it is pointed at, and the tests point at their own values.
#![allow(clippy::undocumented_unsafe_blocks)]

#[macro_use]
mod support;

use mgn_fabric::{Error, Transport};
use mgn_wire::frames::{Header, Kind, HEADER};
use mgn_wire::gl::*;
use mgn_wire::hello::{self, Hello, Role};
use std::time::Duration;
use support::{opening, wait_until, Server};

processes!();

#[test]
fn the_same_picture_over_every_transport() {
    let (unix, tcp) = (Server::start(false, &[]), Server::start(true, &[]));
    let pictures = [
        (&unix, Transport::Shm),
        (&unix, Transport::Unix),
        (&tcp, Transport::Tcp),
    ]
    .map(|(server, transport)| {
        let mut client = server.client(transport);
        assert!(!client.welcome.info.renderer.is_empty());
        client.set_up();
        client.draw_triangle();
        let (header, pixels) = client.swap(1);
        assert_eq!(
            (header.kind, header.width, header.height),
            (Kind::Picture, 64, 48)
        );
        pixels
    });
    assert_eq!(pictures[0].len(), 64 * 48 * 4);
    assert_eq!(pictures[0][..3], [51, 51, 51]);
    let middle = (24 * 64 + 32) * 4;
    assert_ne!(pictures[0][middle..middle + 3], [51, 51, 51]);
    assert_eq!(pictures[0], pictures[1]);
    assert_eq!(pictures[0], pictures[2]);
}

#[test]
fn a_long_answer_comes_in_parts() {
    let server = Server::start(false, &[]);
    let mut client = server.client(Transport::Shm);
    client.set_up();
    client.encode(1, |e| {
        e.mgn_resize_surface(1, 500, 400);
        e.gl_clear_color(1.0, 0.0, 0.0, 1.0);
        e.gl_clear(GL_COLOR_BUFFER_BIT);
        e.gl_read_pixels(0, 0, 500, 400, GL_RGBA, GL_UNSIGNED_BYTE);
    });
    let pixels = client.answer_array::<u8>();
    assert_eq!(pixels.len(), 500 * 400 * 4);
    assert!(pixels.chunks_exact(4).all(|p| p == [255, 0, 0, 255]));
}

#[test]
fn many_sessions_draw_at_once_and_leave_nothing() {
    let server = Server::start(false, &[("TEST_SESSIONS", "6")]);
    let mut clients: Vec<_> = (0..6).map(|_| server.client(Transport::Shm)).collect();
    match server.try_client(Transport::Shm) {
        Err(Error::Refused(why)) => assert!(why.contains("6 sessions"), "{why}"),
        other => panic!("{:?}", other.map(|_| ())),
    }
    for client in &mut clients {
        client.set_up();
        client.draw_triangle();
    }
    let pictures: Vec<_> = clients.iter_mut().map(|c| c.swap(3).1).collect();
    assert!(pictures.iter().all(|p| *p == pictures[0]));
    drop(clients);
    wait_until("all workers but the spare one end", || {
        server.workers().len() <= 1
    });
    server.client(Transport::Shm).set_up();
}

#[test]
fn discarding_answers_but_does_not_draw() {
    let server = Server::start(false, &[("TEST_SPU", "discard")]);
    let mut client = server.client(Transport::Shm);
    client.set_up();
    client.draw_triangle();
    client.encode(1, |e| e.mgn_swap_buffers(1, 9, 1));
    let (header, _) = client.frame();
    assert_eq!((header.kind, header.frame), (Kind::Done, 9));
    client.encode(1, |e| {
        e.gl_read_pixels(0, 0, 1, 1, GL_RGB, GL_UNSIGNED_BYTE)
    });
    assert_eq!(client.answer_array::<u8>(), [0, 0, 0]);
}

#[test]
fn frames_without_pictures_are_told_of_together() {
    const FRAMES: u32 = 100;
    let server = Server::start(false, &[("TEST_SPU", "discard")]);
    let mut client = server.client(Transport::Shm);
    client.set_up();
    let mut told = Vec::new();
    let mut messages = 0;
    client.encode(1, |e| {
        (1..=FRAMES).for_each(|frame| e.mgn_swap_buffers(1, frame, 0));
    });
    while told.len() < FRAMES as usize {
        let message = client.frames.recv(Some(Duration::from_secs(20)));
        let message = message.unwrap().expect("a message in time").to_vec();
        messages += 1;
        for header in message.chunks(HEADER) {
            let header = Header::decode(header.try_into().unwrap()).unwrap();
            assert_eq!(header.kind, Kind::Done);
            told.push(header.frame);
        }
    }
    assert!(told.iter().copied().eq(1..=FRAMES), "{told:?}");
    assert!(messages <= FRAMES / 2, "{messages} messages");
    // A client that asks is notified of all finished frames before the answer comes.
    client.encode(1, |e| {
        e.mgn_swap_buffers(1, FRAMES + 1, 0);
        e.mgn_swap_buffers(1, FRAMES + 2, 0);
        e.mgn_finish();
    });
    client.answer();
    let mut last = 0;
    while let Some(message) = client.frames.recv(Some(Duration::ZERO)).unwrap() {
        let message = message.to_vec();
        let header = message.last_chunk().and_then(Header::decode);
        last = header.unwrap().frame;
    }
    assert_eq!(last, FRAMES + 2);
}

#[test]
fn strangers_are_turned_away() {
    let server = Server::start(false, &[]);
    let refused = |opening: &[u8]| match server.connect(Transport::Unix, opening) {
        Err(Error::Refused(why)) => why,
        other => panic!("{:?}", other.map(|_| ())),
    };
    assert!(refused(b"what").contains("same release"));
    let role = Role::Session {
        program: "old".into(),
        pid: 1,
        tile: None,
        shown: None,
        window: None,
    };
    let old = Hello {
        version: hello::VERSION,
        table_hash: 1,
        role,
    };
    assert!(refused(&postcard::to_allocvec(&old).unwrap()).contains("table of commands"));
    assert!(refused(&opening(Role::Frames {
        session: 99,
        key: [0; 16]
    }))
    .contains("no such session"));
    let client = server.client(Transport::Unix);
    let wrong = Role::Frames {
        session: client.welcome.session,
        key: [0; 16],
    };
    assert!(refused(&opening(wrong)).contains("no such session"));
}

#[test]
fn the_server_ends_with_its_last_client() {
    let mut server = Server::start(false, &[("TEST_ONCE", "1")]);
    server.client(Transport::Shm).set_up();
    wait_until("the server ends", || {
        server.child.try_wait().unwrap().is_some()
    });
    assert!(server.child.wait().unwrap().success());
}
