//! Runs with viewers, and a client that uses their pages like a browser.

use std::io::{BufRead, BufReader, ErrorKind};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{kill_process, Pid, Signal};
use serde_json::Value;
use tungstenite::client::IntoClientRequest;
use tungstenite::{Message, WebSocket};

/// A run with viewers, and the addresses of their pages.
#[derive(Debug)]
pub struct Live {
    process: Child,
    pub urls: Vec<String>,
}

impl Live {
    /// # Panics
    /// If the run does not print this number of addresses.
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

    /// A separate viewer, which first prints the address of its page.
    ///
    /// # Panics
    /// If the viewer prints no address.
    pub fn viewer(mut command: Command) -> Live {
        let started = command.stdout(Stdio::piped()).spawn();
        let mut process = started.expect("the command starts");
        let said = process.stdout.take().expect("it was piped");
        let mut line = String::new();
        let read = BufReader::new(said).read_line(&mut line);
        read.expect("what it says is text");
        let urls = vec![line.trim_end().to_owned()];
        Live { process, urls }
    }

    pub fn signal(&self, signal: Signal) {
        let _ = kill_process(Pid::from_child(&self.process), signal);
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.signal(Signal::TERM);
        let _ = self.process.wait();
    }
}

/// Watches a page until it shows one frame of all `tiles` of a wall.
///
/// # Panics
/// If that takes longer than `limit`.
pub fn watch(url: &str, tiles: usize, limit: Duration) {
    Watcher::open(url, tiles, limit).sees(tiles);
}

/// Does the work of a page without a browser.
#[derive(Debug)]
pub struct Watcher {
    socket: WebSocket<TcpStream>,
    limit: Duration,
}

impl Watcher {
    /// Opens a page with the token in its address, and asks for all tiles.
    ///
    /// # Panics
    /// If there is no page, or if a later wait takes longer than `limit`.
    pub fn open(url: &str, tiles: usize, limit: Duration) -> Watcher {
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
        let (socket, _) = tungstenite::client::client(request, stream).expect("the page's socket");
        let mut watcher = Watcher { socket, limit };
        let widths = vec![150; tiles];
        // Errors are ignored, because the server may already have refused a wrong token.
        let view = format!("{{\"view\":{{\"widths\":{widths:?},\"quality\":80}}}}");
        let _ = watcher.socket.send(Message::text(view));
        watcher
    }

    /// Waits for a message with one frame of exactly this number of tiles.
    ///
    /// # Panics
    /// If there is no such message in time.
    pub fn sees(&mut self, tiles: usize) {
        self.until(&format!("a frame of {tiles} tiles"), |message| {
            let Message::Binary(bytes) = message else {
                return false;
            };
            let shown = pictures(bytes);
            let frame = shown.first().map(|(_, frame)| *frame);
            shown.len() == tiles && shown.iter().all(|(_, of)| Some(*of) == frame)
        });
    }

    /// Waits until the page is told that its tiles are in these states: `live` or `lost`.
    ///
    /// # Panics
    /// If the page is not told so in time.
    pub fn is_told(&mut self, states: &[&str]) {
        self.until(&format!("{states:?}"), |message| {
            let Message::Text(text) = message else {
                return false;
            };
            let said: Value = serde_json::from_str(text).expect("what pages understand");
            let all = said["tiles"].as_array();
            let is_so = |all: &Vec<Value>| all.iter().map(|tile| &tile["health"]).eq(states);
            all.is_some_and(is_so)
        });
    }

    /// Waits for the end of the connection, and returns the code that is given as the reason.
    ///
    /// # Panics
    /// If the connection does not end in time.
    pub fn is_left(mut self) -> Option<u16> {
        let start = Instant::now();
        loop {
            assert!(start.elapsed() < self.limit, "the connection stays");
            match self.read() {
                Ok(Message::Close(why)) => return why.map(|why| why.code.into()),
                Ok(_) => {}
                Err(tungstenite::Error::Io(error)) => {
                    let is_over = error.kind() != ErrorKind::WouldBlock;
                    assert!(is_over, "the connection stays");
                    return None;
                }
                Err(_) => return None,
            }
        }
    }

    fn read(&mut self) -> Result<Message, tungstenite::Error> {
        loop {
            match self.socket.read() {
                // A signal has stopped and continued this process.
                Err(tungstenite::Error::Io(e)) if e.kind() == ErrorKind::Interrupted => {}
                read => return read,
            }
        }
    }

    fn until(&mut self, what: &str, is_so: impl Fn(&Message) -> bool) {
        let start = Instant::now();
        loop {
            assert!(start.elapsed() < self.limit, "it does not come: {what}");
            let message = self.read().expect("a message");
            if message.is_binary() {
                let taken = Message::text("\"taken\"");
                self.socket.send(taken).expect("it listens");
            }
            if is_so(&message) {
                return;
            }
        }
    }
}

/// The tile and the frame of each picture in a message.
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
