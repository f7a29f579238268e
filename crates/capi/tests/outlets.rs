//! Outlets: composited pictures in files and in a window, byte for byte.

#[path = "../../fabric/tests/support/networks.rs"]
mod networks;
mod support;

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use mgn_launch::{RunDir, Xvfb};
use networks::Network;
use support::{compile, installed, job, job_of, png};
use x11rb::connection::Connection;
use x11rb::protocol::xproto::{ClientMessageEvent, ConnectionExt, EventMask, ImageFormat};
use x11rb::rust_connection::RustConnection;

/// The pixel of the pictures that `outlets.c` draws.
fn pixel(x: usize, y: usize, frame: usize) -> [u8; 3] {
    [5 * x, 7 * y, x * y + 11 * frame].map(|value| value as u8)
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().flatten();
    let mut names: Vec<String> = entries
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// The rank that gets a composited picture shows it the right way up.
#[test]
fn composited_pictures_go_to_files() {
    const WIDTH: usize = 37;
    const HEIGHT: usize = 23;
    let folder = installed().join("outlets-files");
    let program = compile("tests/outlets.c", &[], "outlets");
    job(&program, &[folder.to_str().unwrap()], 3);
    let rank = |rank: &str| folder.join(format!("rank-{rank}"));
    let rows = |rows: &mut dyn Iterator<Item = usize>, frame: usize| -> Vec<u8> {
        let row = |y: usize| (0..WIDTH).flat_map(move |x| pixel(x, y, frame));
        rows.flat_map(row).collect()
    };
    assert_eq!(names(&rank("0")), ["frame-000002.png", "frame-000004.png"]);
    for frame in [2, 4] {
        let shown = png(&rank("0").join(format!("frame-00000{frame}.png")));
        let turned = rows(&mut (0..HEIGHT).rev(), frame);
        assert!(shown == (WIDTH, turned), "frame {frame} is another picture");
    }
    assert_eq!(names(&rank("1")), ["frame-000001.png", "frame-000002.png"]);
    let shown = png(&rank("1").join("frame-000001.png"));
    assert!(shown == (WIDTH, rows(&mut (0..HEIGHT), 5)), "rank 1");
    // Two tiles, and black around them.
    let tile = |x: usize, y: usize| match (x, y) {
        (4..=9, 2..=6) | (12..=16, 6..=9) => pixel(x, y, 7),
        _ => [0, 0, 0],
    };
    let all = (2..10).flat_map(|y| (4..17).map(move |x| (x, y)));
    let wanted: Vec<u8> = all.flat_map(|(x, y)| tile(x, y)).collect();
    assert!(png(&rank("1").join("frame-000002.png")) == (13, wanted));
    assert_eq!(names(&rank("2-lost")), [""; 0]);
}

/// An X server and one of its clients. The environment names only one X server at a time.
struct TestDisplay {
    x11: RustConnection,
    server: Xvfb,
    _run: RunDir,
    _alone: MutexGuard<'static, ()>,
}

static ONE: Mutex<()> = Mutex::new(());

impl TestDisplay {
    fn new() -> Option<TestDisplay> {
        if mgn_launch::find_xvfb().is_none() {
            eprintln!("SKIPPED: Xvfb is not installed");
            return None;
        }
        let alone = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        let run = RunDir::create().unwrap();
        // Without this flag, the server removes names and windows when the last client disconnects.
        let server = Xvfb::start_with(&run, &["-noreset"]).unwrap();
        std::env::set_var("XAUTHORITY", server.authority());
        let (x11, _) = x11rb::connect(Some(server.display())).unwrap();
        Some(TestDisplay {
            x11,
            server,
            _run: run,
            _alone: alone,
        })
    }

    fn atom(&self, name: &str) -> u32 {
        let asked = self.x11.intern_atom(false, name.as_bytes()).unwrap();
        asked.reply().unwrap().atom
    }

    /// The windows with this title.
    fn titled(&self, title: &str) -> Vec<u32> {
        let name = self.atom("_NET_WM_NAME");
        let root = self.x11.setup().roots[0].root;
        let tree = self.x11.query_tree(root).unwrap().reply().unwrap();
        let is_titled = |window: &u32| {
            let asked = self.x11.get_property(false, *window, name, 0u32, 0, 99);
            asked.unwrap().reply().unwrap().value == title.as_bytes()
        };
        tree.children.into_iter().filter(is_titled).collect()
    }

    /// The width of a window, and the red, green and blue values of its visible pixels.
    fn seen(&self, window: u32) -> (usize, Vec<u8>) {
        let size = self.x11.get_geometry(window).unwrap().reply().unwrap();
        let (form, width, height) = (ImageFormat::Z_PIXMAP, size.width, size.height);
        let asked = self.x11.get_image(form, window, 0, 0, width, height, !0);
        let bgrx = asked.unwrap().reply().unwrap().data;
        let pixels = bgrx.chunks_exact(4).flat_map(|p| [p[2], p[1], p[0]]);
        (width.into(), pixels.collect())
    }

    /// The message of a window manager when a user closes a window.
    fn close(&self, window: u32) {
        let what = [self.atom("WM_DELETE_WINDOW"), 0, 0, 0, 0];
        let message = ClientMessageEvent::new(32, window, self.atom("WM_PROTOCOLS"), what);
        let sent = self
            .x11
            .send_event(false, window, EventMask::NO_EVENT, message);
        sent.unwrap().check().unwrap();
    }
}

/// A program that prints its progress, and continues on command.
struct InteractiveProgram {
    child: Child,
    said: BufReader<std::process::ChildStdout>,
}

impl InteractiveProgram {
    fn with(command: &mut Command) -> InteractiveProgram {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let said = BufReader::new(child.stdout.take().unwrap());
        InteractiveProgram { child, said }
    }

    fn read_line(&mut self) -> String {
        let mut line = String::new();
        self.said.read_line(&mut line).unwrap();
        line.trim_end().to_string()
    }

    fn go_on(&mut self) {
        self.child.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
    }
}

impl Drop for InteractiveProgram {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The program `window.c` on this X server.
fn window(desk: &TestDisplay, arguments: &[&str]) -> InteractiveProgram {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    let program = PROGRAM.get_or_init(|| compile("tests/window.c", &[], "window"));
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env("LD_LIBRARY_PATH", installed().join("lib"))
        .env("DISPLAY", desk.server.display())
        .env("XAUTHORITY", desk.server.authority());
    InteractiveProgram::with(&mut command)
}

/// The end of the X server causes an error, but does not end the program.
#[test]
fn a_window_whose_x_server_ends_is_an_error() {
    let Some(desk) = TestDisplay::new() else {
        return;
    };
    let mut talk = window(&desk, &["lost window", "lost"]);
    assert_eq!(talk.read_line(), "shown");
    let TestDisplay { server, _run, .. } = desk;
    drop(server);
    for _ in 2..=3 {
        talk.go_on();
        assert_eq!(talk.read_line(), "lost");
    }
    talk.go_on();
    assert!(talk.child.wait().unwrap().success());
}

/// A window shows the program's pictures. The program notices when a user closes the window.
#[test]
fn pictures_go_to_a_window_until_it_is_closed() {
    const HEIGHT: usize = 23;
    let Some(desk) = TestDisplay::new() else {
        return;
    };
    let title = "pictures of a program – ü";
    let mut talk = window(&desk, &[title]);
    let mut last = 0;
    for frame in 1..=3 {
        assert_eq!(talk.read_line(), "shown");
        let [found] = desk.titled(title)[..] else {
            panic!("there is not one window")
        };
        let width = 37 + frame;
        let all = (0..HEIGHT).flat_map(|y| (0..width).flat_map(move |x| pixel(x, y, frame)));
        let wanted: Vec<u8> = all.collect();
        assert!(desk.seen(found) == (width, wanted), "frame {frame}");
        last = found;
        if frame < 3 {
            talk.go_on();
        }
    }
    desk.close(last);
    talk.go_on();
    assert_eq!(talk.read_line(), "closed");
    assert!(desk.titled(title).is_empty(), "the window is still there");
    talk.go_on();
    assert!(talk.child.wait().unwrap().success());
}

/// Ranks that share memory are on one host. Pictures are the same whether they are merged in memory
/// or sent by TCP between hosts.
#[test]
fn pictures_are_composited_on_one_host_and_between_hosts() {
    let program = compile("tests/hosts.c", &[], "hosts");
    assert_eq!(job(&program, &[], 3), ["1\n"; 3]);
    if !networks::are_there() {
        return;
    }
    let nets = [Network::new(), Network::new()];
    let [one, other] = [nets[0].pid(), nets[1].pid()];
    networks::plug(
        "mgn-hosts",
        [(one, "10.77.31.1/24"), (other, "10.77.31.2/24")],
    );
    let token = installed().join("token");
    let mut private = fs::OpenOptions::new();
    private.write(true).create(true).mode(0o600);
    let mut file = private.open(&token).unwrap();
    let secret = mgn_fabric::Token::generate().to_text();
    file.write_all(secret.as_bytes()).unwrap();
    let start = |rank: usize| {
        let mut command = Command::new("nsenter");
        let net = [one, one, other][rank].to_string();
        command.args(["-t", &net, "-n"]).arg(&program);
        command
    };
    let settings = [
        ("MGN_TOKEN_FILE", token.to_str().unwrap()),
        ("MGN_INTERFACES", "mgn-hosts"),
    ];
    let hosts = "10.77.31.1 slots=2\n10.77.31.2\n";
    assert_eq!(job_of(hosts, "hosts-2", start, 3, &settings), ["2\n"; 3]);
}
