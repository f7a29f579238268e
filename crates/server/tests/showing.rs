//! Tiles of a wall that the server shows itself.
// The encoder copies what it is pointed at, and the tests point at their own values.
#![allow(clippy::undocumented_unsafe_blocks)]

#[allow(dead_code)]
#[macro_use]
mod support;

use mgn_fabric::{Error, Transport};
use mgn_wall::{Target, Wall};
use mgn_wire::frames::{want, Header, Instruction, Kind, Release};
use std::fs;
use std::io::{BufReader, Read};
use std::net::TcpListener;
use std::path::Path;
use support::{Client, Server};

processes!();

fn wall(target: Target) -> Wall {
    let mut wall = Wall::grid(1, 1).unwrap();
    wall.size = (64, 48);
    wall.tiles[0].rect = mgn_wall::Rect::new(0, 0, 64, 48);
    wall.tiles[0].present = vec![target];
    wall
}

fn swap(client: &Client, frame: u32) {
    client.encode(1, |e| {
        e.mgn_swap_buffers(1, frame, want::WINDOW | want::WALL);
    });
}

fn show(frame: Release) -> Vec<u8> {
    let vblank = None;
    Instruction::Show { frame, vblank }.encode()
}

/// Lets a frame be shown, if it was kept, and waits until it is.
fn release(client: &mut Client, surface: u32, frame: u32) {
    let release = Release { surface, frame };
    client.frames_sender.send(&show(release)).unwrap();
    let shown = client.frame().0;
    assert_eq!(shown, Header::plain(Kind::Shown, surface, frame));
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().flatten();
    let names = entries.map(|entry| entry.file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

#[test]
fn a_tile_is_shown_when_the_client_says_so() {
    let server = Server::start(false, &[]);
    let folder = server.folder.join("pictures");
    let wall = wall(Target::Files(folder.clone()));
    let shown = server.client_that_is_shown(Transport::Shm, Some(wall));
    let mut client = shown.unwrap();
    client.set_up();
    let folder = folder.join("0,0");
    for frame in 1..=3 {
        client.draw_triangle();
        swap(&client, frame);
        let (header, pixels) = client.frame();
        assert_eq!((header.kind, header.frame), (Kind::Done, frame));
        assert!(header.kept && pixels.is_empty());
    }
    // A picture that was not kept is not shown.
    release(&mut client, 9, 1);
    release(&mut client, 1, 9);
    assert!(names(&folder).is_empty());
    release(&mut client, 1, 2);
    assert_eq!(names(&folder), ["frame-000002.png"]);
    release(&mut client, 1, 1);
    release(&mut client, 1, 3);
    assert_eq!(names(&folder), ["frame-000002.png", "frame-000003.png"]);
    // One that has nothing shown waits, and goes on when something is.
    for frame in 4..=20 {
        swap(&client, frame);
    }
    let (mut done, mut shown) = (3, 3);
    while shown < 20 {
        let header = client.frame().0;
        if header.kind == Kind::Done {
            done += 1;
            assert_eq!(header.frame, done);
            let release = Release {
                surface: 1,
                frame: done,
            };
            client.frames_sender.send(&show(release)).unwrap();
        } else {
            shown += 1;
            assert_eq!(header, Header::plain(Kind::Shown, 1, shown));
            assert!(names(&folder).len() as u32 >= shown - 1);
        }
    }
    client.frames_sender.send(b"what").unwrap();
    for frame in 21..=30 {
        let _ = client.try_encode(1, |e| e.mgn_swap_buffers(1, frame, want::WALL));
    }
    let why = client.ending().unwrap();
    assert!(
        why.contains("an invalid message on its frames connection"),
        "{why}"
    );
}

/// The client has composited the frame with those of other programs.
#[test]
fn composited_pixels_are_shown_instead_of_those_that_were_drawn() {
    let server = Server::start(false, &[]);
    let folder = server.folder.join("merged");
    let wall = wall(Target::Files(folder.clone()));
    let shown = server.client_that_is_shown(Transport::Shm, Some(wall));
    let mut client = shown.unwrap();
    client.set_up();
    client.draw_triangle();
    for frame in 1..=2 {
        client.encode(1, |e| {
            e.mgn_swap_buffers(1, frame, want::COMPOSITE | want::WALL);
        });
        let (header, pixels) = client.frame();
        assert_eq!((header.kind, header.frame), (Kind::Picture, frame));
        assert!(header.kept && pixels.len() == 64 * 48 * 4);
    }
    let merged = |frame: u32, pixels: &[u8]| {
        let frame = Release { surface: 1, frame };
        Instruction::Merge { frame, pixels }.encode()
    };
    let all = [9, 90, 200, 255].repeat(64 * 48);
    for part in [&all[..5001], &all[5001..]] {
        client.frames_sender.send(&merged(1, part)).unwrap();
    }
    release(&mut client, 1, 1);
    let file = fs::File::open(folder.join("0,0/frame-000001.png")).unwrap();
    let mut reader = png::Decoder::new(BufReader::new(file)).read_info().unwrap();
    let mut found = vec![0; reader.output_buffer_size().unwrap()];
    reader.next_frame(&mut found).unwrap();
    assert!(found == [200, 90, 9].repeat(64 * 48), "another picture");
    for part in [&all[..], &all[..1]] {
        let _ = client.frames_sender.send(&merged(2, part));
    }
    for frame in 3..=12 {
        let _ = client.try_encode(1, |e| e.mgn_swap_buffers(1, frame, want::WALL));
    }
    let why = client.ending().unwrap();
    assert!(
        why.contains("an invalid message on its frames connection"),
        "{why}"
    );
}

#[test]
fn what_cannot_be_shown_is_refused() {
    let server = Server::start(true, &[]);
    let folder = server.folder.join("pictures");
    let refused = |wall: Wall| match server.client_that_is_shown(Transport::Tcp, Some(wall)) {
        Err(Error::Refused(why)) => why,
        other => panic!("{:?}", other.map(|_| ())),
    };
    let why = refused(wall(Target::Files(folder.clone())));
    assert!(why.contains("may not show the tile"), "{why}");
    assert!(!folder.exists());
    let mut several = wall(Target::Program);
    several.tiles.push(several.tiles[0].clone());
    several.tiles[1].name = "another".into();
    assert!(refused(several).contains("one tile"));
    let mut nothing = wall(Target::Program);
    nothing.tiles.clear();
    assert!(refused(nothing).contains("no tiles"));
}

/// A client by network may have its tile shown at a viewer where it is. Its worker is as confined
/// as all others: the server connects to the viewer for it, and again when the viewer has gone.
#[test]
fn a_viewer_is_reached_through_the_server() {
    let server = Server::start(true, &[]);
    let viewer = TcpListener::bind("127.0.0.1:0").unwrap();
    let place = format!("tcp:{}", viewer.local_addr().unwrap());
    let wall = wall(Target::Viewer(place));
    let client = server.client_that_is_shown(Transport::Tcp, Some(wall));
    let _client = client.unwrap();
    for _ in 0..2 {
        let (mut connection, _) = viewer.accept().unwrap();
        // The server begins the handshake.
        connection.read_exact(&mut [0; 8]).unwrap();
    }
    // In a test program, the worker is a thread beside that of the test harness. One of the workers
    // waits for the next session, and may have only just started.
    let threads = server.workers().into_iter().flat_map(|worker| {
        let tasks = fs::read_dir(format!("/proc/{worker}/task"));
        tasks.into_iter().flatten().flatten()
    });
    let all: Vec<String> = threads
        .filter_map(|task| fs::read_to_string(task.path().join("status")).ok())
        .filter(|status| status.contains("Name:\tviewer feed"))
        .collect();
    assert!(!all.is_empty());
    for status in all {
        assert!(status.contains("CapEff:\t0000000000000000"), "{status}");
        assert!(status.contains("Seccomp:\t2"), "{status}");
    }
}
