//! Connections to the page that say nothing or read nothing, and the pages that are shown
//! nevertheless.

#[path = "../../fabric/tests/support/attack.rs"]
mod attack;
mod support;

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use attack::{far_way_to, lines_logged, memory_of, open, survive, LINES, MEMORY};
use mgn_wall::Wall;
use support::{parts, viewer, Watcher, TIMEOUT};

/// More than there are places.
const CROWD: usize = 300;

/// The log and the memory are the whole process's: one test at a time.
static ALONE: Mutex<()> = Mutex::new(());

/// Loads a part of the page.
fn load(place: SocketAddr) {
    let mut stream = TcpStream::connect(place).unwrap();
    stream.set_read_timeout(Some(TIMEOUT)).unwrap();
    let request = format!("GET / HTTP/1.1\r\nHost: {place}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}

/// Asks for much and reads nothing.
fn deaf(place: SocketAddr) -> TcpStream {
    let socket = open(place).unwrap();
    rustix::net::sockopt::set_socket_recv_buffer_size(&socket, 4096).unwrap();
    let stream = TcpStream::from(socket);
    ask(&stream, place);
    stream
}

/// Sends as many requests as there is room for. False if the connection is closed.
fn ask(mut stream: &TcpStream, place: SocketAddr) -> bool {
    let request = format!("GET /viewer.js HTTP/1.1\r\nHost: {place}\r\n\r\n").repeat(100);
    for _ in 0..100 {
        match stream.write(request.as_bytes()) {
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => return true,
            Err(_) => return false,
        }
    }
    true
}

#[test]
fn a_flood_keeps_no_page_out() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let viewer = viewer(Wall::grid(1, 1).unwrap(), "flood");
    let place = parts(&viewer).0.parse().unwrap();
    for text in ["", "GET / HTTP/1.1\r\n"] {
        survive(place, text.as_bytes(), || load(far_way_to(place)));
    }
}

#[test]
fn those_who_read_nothing_keep_no_page_out() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let viewer = viewer(Wall::grid(1, 1).unwrap(), "deaf");
    let place = parts(&viewer).0.parse().unwrap();
    let (lines, memory) = (lines_logged(), memory_of(std::process::id()));
    let crowd: Vec<_> = (0..CROWD).map(|_| deaf(place)).collect();
    // Those that had not connected yet ask, too.
    thread::sleep(Duration::from_secs(1));
    for stream in &crowd {
        ask(stream, place);
    }
    load(place);
    let mut watcher = Watcher::connect(&viewer);
    watcher.told(|said| said["wall"].is_object());
    let lines = lines_logged() - lines;
    let memory = memory_of(std::process::id()).saturating_sub(memory);
    assert!(lines < LINES, "{lines} lines were logged");
    assert!(memory < MEMORY, "{memory} bytes of memory were used");
}

#[test]
fn feeds_that_are_refused_do_not_fill_the_log() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let viewer = viewer(Wall::grid(1, 1).unwrap(), "refused");
    let lines = lines_logged();
    for _ in 0..3 * LINES {
        let unix = mgn_fabric::Transport::Unix;
        let refused = mgn_fabric::connect(viewer.feeds(), unix, None, b"nonsense", TIMEOUT);
        assert!(matches!(refused, Err(mgn_fabric::Error::Refused(_))));
    }
    let lines = lines_logged() - lines;
    assert!(lines < LINES, "{lines} lines were logged");
}

#[test]
fn who_reads_nothing_is_closed_after_a_while() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let viewer = viewer(Wall::grid(1, 1).unwrap(), "closed");
    let place = parts(&viewer).0.parse().unwrap();
    let stream = deaf(place);
    let start = Instant::now();
    while ask(&stream, place) {
        assert!(start.elapsed() < TIMEOUT, "it is still open");
        thread::sleep(Duration::from_millis(200));
    }
}
