//! Walls without renderers: feeds whose pictures are made here.
#![allow(dead_code)]

use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use mgn_present::{Picture, Target};
use mgn_viewer::{Counters, Feed, FeedOptions, Viewer, ViewerOptions};
use mgn_wall::{Rect, Wall};
use tungstenite::client::IntoClientRequest;
use tungstenite::{Message, WebSocket};

/// Blue, green, red: colours that JPEG keeps apart.
pub const COLOURS: [[u8; 3]; 4] = [[200, 40, 20], [30, 180, 60], [20, 60, 210], [190, 190, 40]];

pub const PROTOCOL: &str = "manganese-viewer";

pub const TIMEOUT: Duration = Duration::from_secs(60);

pub fn unique(name: &str) -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let n = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("unix:@mgn-viewer-{}-{name}-{n}", std::process::id())
}

/// Long limits, so that a tile or a page does not count as late on a busy machine.
pub fn options(wall: Wall, feeds: &str) -> ViewerOptions {
    ViewerOptions {
        patience: TIMEOUT,
        page_patience: TIMEOUT,
        ..ViewerOptions::new(wall, feeds.parse().unwrap())
    }
}

pub fn viewer(wall: Wall, name: &str) -> Viewer {
    Viewer::start(options(wall, &unique(name))).unwrap()
}

pub fn feed(viewer: &Viewer, tile: u16) -> Feed {
    Feed::start(FeedOptions {
        viewer: viewer.feeds().clone(),
        token: None,
        tile,
        name: format!("server {tile}"),
    })
}

/// Shows a picture of one colour.
pub fn show(feed: &mut Feed, colour: [u8; 3], (width, height): (u32, u32), frame: u64) {
    show_part(feed, colour, Rect::new(0, 0, width, height), frame);
}

/// Shows a rectangle of the window in one colour.
pub fn show_part(feed: &mut Feed, colour: [u8; 3], part: Rect, frame: u64) {
    let pixel = [colour[0], colour[1], colour[2], 0];
    let pixels = pixel.repeat(part.area() as usize);
    show_pixels(feed, &pixels, part, frame);
}

pub fn show_pixels(feed: &mut Feed, pixels: &Vec<u8>, part: Rect, frame: u64) {
    let picture = Picture {
        x: part.x,
        y: part.y,
        width: part.width,
        height: part.height,
        stride: part.width * 4,
        pixels,
        segment: None,
        surface: 1,
        frame,
    };
    feed.show(&picture).unwrap();
}

/// Feeds of some tiles that draw frame after frame, in step.
pub struct Drawing {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Drawing {
    /// Tile n has the n-th colour.
    pub fn start(viewer: &Viewer, tiles: &[u16], size: (u32, u32)) -> Drawing {
        let mut feeds: Vec<(u16, Feed)> = tiles.iter().map(|n| (*n, feed(viewer, *n))).collect();
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        let thread = thread::spawn(move || {
            let mut frame = 0;
            while !stopped.load(Ordering::Relaxed) {
                frame += 1;
                for (n, feed) in &mut feeds {
                    show(feed, COLOURS[usize::from(*n) % 4], size, frame);
                    feed.count(&Counters {
                        frames: frame,
                        bytes: frame * 50_000 * (u64::from(*n) + 1),
                        rendering: Duration::from_millis(frame * (3 + u64::from(*n) * 3)),
                        waiting: Duration::from_millis(frame * (7 - u64::from(*n) * 2)),
                    });
                }
                thread::sleep(Duration::from_millis(16));
            }
        });
        Drawing {
            stop,
            thread: Some(thread),
        }
    }
}

impl Drop for Drawing {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().map(JoinHandle::join);
    }
}

/// Does the work of a page, without a browser.
pub struct Watcher {
    pub socket: WebSocket<TcpStream>,
}

/// A tile's picture as a page gets it.
#[derive(Debug, Clone, PartialEq)]
pub struct Shown {
    pub tile: usize,
    pub frame: u64,
    /// The size of the renderer's picture.
    pub size: (u32, u32),
    pub jpeg: Vec<u8>,
}

/// Host and port, and the token.
pub fn parts(viewer: &Viewer) -> (String, String) {
    let url = viewer.url().strip_prefix("http://").unwrap();
    let (host, token) = url.split_once("/#token=").unwrap();
    (host.into(), token.into())
}

/// Opens the WebSocket with these headers.
pub fn open(
    place: &str,
    headers: &[(&'static str, &str)],
) -> Result<WebSocket<TcpStream>, Box<tungstenite::Error>> {
    let stream = TcpStream::connect(place).unwrap();
    stream.set_read_timeout(Some(TIMEOUT)).unwrap();
    let mut request = format!("ws://{place}/watch").into_client_request().unwrap();
    for (name, value) in headers {
        request.headers_mut().insert(*name, value.parse().unwrap());
    }
    match tungstenite::client::client(request, stream) {
        Ok((socket, _)) => Ok(socket),
        Err(tungstenite::HandshakeError::Failure(error)) => Err(Box::new(error)),
        Err(other) => panic!("{other}"),
    }
}

impl Watcher {
    pub fn connect(viewer: &Viewer) -> Watcher {
        let (host, token) = parts(viewer);
        let origin = format!("http://{host}");
        let offered = format!("{PROTOCOL}, {token}");
        let headers = [("origin", &*origin), ("sec-websocket-protocol", &*offered)];
        Watcher {
            socket: open(&host, &headers).unwrap(),
        }
    }

    /// Looks at tiles of these widths.
    pub fn look(&mut self, widths: &[u32]) {
        let said = format!("{{\"view\":{{\"widths\":{widths:?},\"quality\":80}}}}");
        self.socket.send(Message::text(said)).unwrap();
    }

    /// The next pictures, which are not said to have been taken.
    pub fn next(&mut self) -> Vec<Shown> {
        loop {
            if let Message::Binary(bytes) = self.socket.read().unwrap() {
                return decode(&bytes);
            }
        }
    }

    pub fn taken(&mut self) {
        self.socket.send(Message::text("\"taken\"")).unwrap();
    }

    pub fn take(&mut self) -> Vec<Shown> {
        let shown = self.next();
        self.taken();
        shown
    }

    /// The next report of which `wanted` holds.
    pub fn told(&mut self, wanted: impl Fn(&serde_json::Value) -> bool) -> serde_json::Value {
        loop {
            match self.socket.read().unwrap() {
                Message::Text(text) => {
                    let said: serde_json::Value = serde_json::from_str(&text).unwrap();
                    if wanted(&said) {
                        return said;
                    }
                }
                Message::Binary(_) => self.taken(),
                _ => {}
            }
        }
    }
}

fn decode(bytes: &[u8]) -> Vec<Shown> {
    let u32_at = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    let u64_at = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
    let mut at = 4;
    let pictures = (0..u32_at(0)).map(|_| {
        let length = u32_at(at + 28) as usize;
        let shown = Shown {
            tile: u32_at(at) as usize,
            frame: u64_at(at + 20),
            size: (u32_at(at + 12), u32_at(at + 16)),
            jpeg: bytes[at + 32..][..length].to_vec(),
        };
        at += 32 + length;
        shown
    });
    let pictures = pictures.collect();
    assert_eq!(at, bytes.len());
    pictures
}
