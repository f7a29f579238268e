//! Runs with viewers, and their pages as browsers see them.

use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{kill_process, Pid, Signal};
use tungstenite::client::IntoClientRequest;
use tungstenite::Message;

/// A run with viewers, and their pages' addresses.
#[derive(Debug)]
pub struct Live {
    process: Child,
    pub urls: Vec<String>,
}

impl Live {
    /// # Panics
    /// If it does not say so many addresses.
    pub fn start(mut command: Command, viewers: usize) -> Live {
        let started = command.stderr(Stdio::piped()).spawn();
        let mut process = started.expect("the command starts");
        let said = process.stderr.take().expect("it was piped");
        let mut lines = BufReader::new(said).lines();
        let address = |line: String| Some(line.split_once("shown at ")?.1.to_owned());
        let found = lines.by_ref().filter_map(|line| address(line.ok()?));
        let urls: Vec<String> = found.take(viewers).collect();
        thread::spawn(move || lines.for_each(drop));
        let live = Live { process, urls };
        assert_eq!(live.urls.len(), viewers, "{:?}", live.urls);
        live
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        let _ = kill_process(Pid::from_child(&self.process), Signal::TERM);
        let _ = self.process.wait();
    }
}

/// Watches a page until it shows one frame of all of a wall's `tiles`.
///
/// # Panics
/// If that takes longer than `limit`.
pub fn watch(url: &str, tiles: usize, limit: Duration) {
    let (place, token) = url.split_once("/#token=").expect("an address with a token");
    let place = place.strip_prefix("http://").expect("a page");
    let request = format!("ws://{place}/watch").into_client_request();
    let mut request = request.expect("an address");
    let headers = request.headers_mut();
    let mut head = |name, value: String| headers.insert(name, value.parse().expect("text"));
    head("origin", format!("http://{place}"));
    head(
        "sec-websocket-protocol",
        format!("manganese-viewer, {token}"),
    );
    let stream = TcpStream::connect(place).expect("the page is served");
    stream.set_read_timeout(Some(limit)).expect("a limit");
    let (mut socket, _) = tungstenite::client::client(request, stream).expect("the page's socket");
    let widths = vec![150; tiles];
    let view = format!("{{\"view\":{{\"widths\":{widths:?},\"quality\":80}}}}");
    socket.send(Message::text(view)).expect("it listens");
    let start = Instant::now();
    loop {
        assert!(
            start.elapsed() < limit,
            "no picture of all tiles of one frame"
        );
        let Message::Binary(bytes) = socket.read().expect("a message") else {
            continue;
        };
        let shown = pictures(&bytes);
        socket.send(Message::text("\"taken\"")).expect("it listens");
        let frame = shown.first().map(|(_, frame)| *frame);
        let is_whole = shown.iter().all(|(_, of)| Some(*of) == frame);
        if shown.len() == tiles && is_whole {
            return;
        }
    }
}

/// Tiles and frames of the pictures in a message.
fn pictures(message: &[u8]) -> Vec<(u32, u64)> {
    let bytes = |at: usize, n: usize| &message[at..at + n];
    let u32_at = |at| u32::from_le_bytes(bytes(at, 4).try_into().expect("4 bytes"));
    let u64_at = |at| u64::from_le_bytes(bytes(at, 8).try_into().expect("8 bytes"));
    let mut at = 4;
    let mut all = Vec::new();
    for _ in 0..u32_at(0) {
        all.push((u32_at(at), u64_at(at + 20)));
        at += 32 + u32_at(at + 28) as usize;
    }
    all
}
