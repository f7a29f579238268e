//! Screens on which tiles are shown.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use mgn_verify::Picture;
use rustix::process::{kill_process, Pid, Signal};
use x11rb::connection::Connection;
use x11rb::protocol::xproto::{ConnectionExt as _, ImageFormat};

/// An X server for one tile. All users of this host may connect to it.
#[derive(Debug)]
pub struct Head {
    process: Child,
    display: String,
}

impl Head {
    /// # Panics
    /// If there is no Xvfb.
    pub fn start() -> Head {
        Head::by(Command::new("Xvfb"))
    }

    /// Starts Xvfb by another command, to which Xvfb's arguments are added.
    ///
    /// # Panics
    /// If it does not start.
    pub fn by(mut command: Command) -> Head {
        let mut process = command
            .args(["-displayfd", "1", "-screen", "0", "400x400x24"])
            // Without Composite, the X server does not keep the contents of covered windows.
            .args([
                "-ac",
                "-noreset",
                "-nolisten",
                "tcp",
                "-extension",
                "Composite",
            ])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("Xvfb is installed");
        let mut number = String::new();
        let mut said = BufReader::new(process.stdout.take().expect("it was piped"));
        said.read_line(&mut number).expect("a display number");
        let display = format!(":{}", number.trim());
        Head { process, display }
    }

    pub fn display(&self) -> &str {
        &self.display
    }

    pub fn signal(&self, signal: Signal) {
        let _ = kill_process(Pid::from_child(&self.process), signal);
    }

    /// A picture of a rectangle of the screen.
    ///
    /// # Panics
    /// If the rectangle is not on the screen.
    pub fn see(&self, [x, y, width, height]: [u32; 4]) -> Picture {
        let (connection, screen) = x11rb::connect(Some(&self.display)).expect("the X server");
        let root = connection.setup().roots[screen].root;
        let (at, size) = ((x as i16, y as i16), (width as u16, height as u16));
        let image = connection
            .get_image(ImageFormat::Z_PIXMAP, root, at.0, at.1, size.0, size.1, !0)
            .expect("a connection")
            .reply()
            .expect("the screen can be read");
        let rgb = |p: &[u8]| [p[2], p[1], p[0]];
        Picture {
            width: width as usize,
            height: height as usize,
            pixels: image.data.chunks_exact(4).flat_map(rgb).collect(),
        }
    }

    /// The number of windows on the screen.
    ///
    /// # Panics
    /// If the X server has ended.
    pub fn windows(&self) -> usize {
        let (connection, screen) = x11rb::connect(Some(&self.display)).expect("the X server");
        let root = connection.setup().roots[screen].root;
        let tree = connection.query_tree(root).expect("a connection").reply();
        tree.expect("the root window").children.len()
    }
}

impl Drop for Head {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
