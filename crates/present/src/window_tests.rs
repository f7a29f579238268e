//! Pictures that are put into windows of a private X server, and read back from it.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use mgn_fabric::Segment;
use mgn_launch::{RunDir, Xvfb};
use rustix::fs::{ftruncate, memfd_create, MemfdFlags};
use rustix::io::pwrite;
use x11rb::connection::Connection;
use x11rb::protocol::xproto::{
    ColormapAlloc, ConnectionExt as _, CreateWindowAux, ImageFormat, VisualClass, WindowClass,
};

use crate::{Error, Picture, Target, Window, XDisplay};

/// An X server, the program's connection to it, and ours. Only one can exist at a time, because the
/// environment names one server.
pub(crate) struct TestDisplay {
    pub(crate) program: XDisplay,
    ours: Arc<XDisplay>,
    server: Xvfb,
    _run: RunDir,
    _alone: MutexGuard<'static, ()>,
}

static ONE: Mutex<()> = Mutex::new(());

impl TestDisplay {
    pub(crate) fn new() -> Option<TestDisplay> {
        let alone = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        if mgn_launch::find_xvfb().is_none() {
            eprintln!("SKIPPED: Xvfb is not installed");
            return None;
        }
        let run = RunDir::create().unwrap();
        let server = Xvfb::start(&run).unwrap();
        std::env::set_var("XAUTHORITY", server.authority());
        let connect = || XDisplay::connect(Some(server.display())).unwrap();
        let (program, ours) = (connect(), Arc::new(connect()));
        Some(TestDisplay {
            program,
            ours,
            server,
            _run: run,
            _alone: alone,
        })
    }

    /// The X server's name.
    pub(crate) fn name(&self) -> &str {
        self.server.display()
    }

    /// Ends the X server.
    pub(crate) fn end(self) {
        let TestDisplay { server, .. } = self;
        drop(server);
    }

    /// A window of the program's, 64x48, filled with one value.
    fn window(&self, depth: u8) -> u32 {
        let connection = &self.program.connection;
        let screen = &connection.setup().roots[0];
        let visuals = screen.allowed_depths.iter().filter(|d| d.depth == depth);
        let visual = visuals
            .flat_map(|d| &d.visuals)
            .find(|v| v.class == VisualClass::TRUE_COLOR)
            .expect("the X server has TrueColor visuals of this depth")
            .visual_id;
        let colormap = connection.generate_id().unwrap();
        connection
            .create_colormap(ColormapAlloc::NONE, colormap, screen.root, visual)
            .unwrap();
        let window = connection.generate_id().unwrap();
        let options = CreateWindowAux::new()
            .background_pixel(0x00aabbcc)
            .border_pixel(0)
            .colormap(colormap)
            .override_redirect(1);
        let class = WindowClass::INPUT_OUTPUT;
        connection
            .create_window(
                depth,
                window,
                screen.root,
                0,
                0,
                64,
                48,
                0,
                class,
                visual,
                &options,
            )
            .unwrap();
        connection.map_window(window).unwrap();
        self.program.sync().unwrap();
        window
    }

    fn contents(&self, window: u32) -> Vec<u8> {
        let connection = &self.program.connection;
        let cookie = connection
            .get_image(ImageFormat::Z_PIXMAP, window, 0, 0, 64, 48, !0)
            .unwrap();
        cookie.reply().unwrap().data
    }

    pub(crate) fn destroy(&self, window: u32) {
        self.program.connection.destroy_window(window).unwrap();
        self.program.sync().unwrap();
    }
}

/// Rows of pixels that encode their position, with `gap` bytes of rubbish behind each row.
pub(crate) fn pixels(width: u32, height: u32, gap: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    for y in 0..height {
        for x in 0..width {
            bytes.extend_from_slice(&[x as u8, y as u8, (x ^ y) as u8, 0]);
        }
        bytes.resize(bytes.len() + gap, 0xdd);
    }
    bytes
}

pub(crate) fn picture(width: u32, height: u32, stride: u32, pixels: &Vec<u8>) -> Picture<'_> {
    Picture {
        x: 0,
        y: 0,
        width,
        height,
        stride,
        pixels,
        segment: None,
        surface: 1,
        frame: 1,
    }
}

/// Memory for the X server with `pixels` from `offset` on.
fn memory(pixels: &[u8], offset: usize, size: usize) -> OwnedFd {
    let fd = memfd_create("test", MemfdFlags::CLOEXEC).unwrap();
    ftruncate(&fd, size as u64).unwrap();
    assert_eq!(pwrite(&fd, pixels, offset as u64).unwrap(), pixels.len());
    fd
}

pub(crate) fn differs(got: &[u8], want: &[u8]) -> Option<usize> {
    assert_eq!(got.len(), want.len());
    let same = |(a, b): (&[u8], &[u8])| a[..3] == b[..3];
    got.chunks_exact(4)
        .zip(want.chunks_exact(4))
        .position(|pair| !same(pair))
}

#[test]
fn every_way_in_shows_the_same() {
    let Some(desk) = TestDisplay::new() else {
        return;
    };
    assert!(desk.ours.info().unwrap().shared_memory);
    for depth in [24, 32] {
        let want = pixels(64, 48, 0);
        for gap in [0, 16] {
            let bytes = pixels(64, 48, gap);
            let stride = 256 + gap as u32;
            let window = desk.window(depth);
            let mut target = Window::new(&desk.ours, window);
            target.show(&picture(64, 48, stride, &bytes)).unwrap();
            assert_eq!(
                differs(&desk.contents(window), &want),
                None,
                "copied, {depth}, {gap}"
            );

            let other = desk.window(depth);
            let mut target = Window::new(&desk.ours, other);
            let size = 1 << 20;
            let fd = memory(&bytes, 4096, size);
            let id = u64::from(depth) << 32 | gap as u64;
            let segment = Segment {
                fd: fd.as_fd(),
                id,
                size,
                offset: 4096,
            };
            // The picture's own bytes are wrong: only the shared memory must be read.
            let wrong = vec![1; bytes.len()];
            let shared = Picture {
                segment: Some(segment),
                ..picture(64, 48, stride, &wrong)
            };
            target.show(&shared).unwrap();
            assert_eq!(
                differs(&desk.contents(other), &want),
                None,
                "shared, {depth}, {gap}"
            );
        }
    }
    // The third way, when the X server does not share memory.
    desk.ours.give_up_shared_memory();
    for gap in [0, 16] {
        let window = desk.window(24);
        let bytes = pixels(64, 48, gap);
        let mut target = Window::new(&desk.ours, window);
        target
            .show(&picture(64, 48, 256 + gap as u32, &bytes))
            .unwrap();
        assert_eq!(
            differs(&desk.contents(window), &pixels(64, 48, 0)),
            None,
            "plain, {gap}"
        );
    }
}

#[test]
fn pictures_of_other_sizes_are_cut_off_or_leave_the_rest() {
    let Some(desk) = TestDisplay::new() else {
        return;
    };
    for shared in [true, false] {
        if !shared {
            desk.ours.give_up_shared_memory();
        }
        let window = desk.window(24);
        let mut target = Window::new(&desk.ours, window);
        let small = pixels(10, 5, 0);
        target.show(&picture(10, 5, 40, &small)).unwrap();
        let got = desk.contents(window);
        let at = |x: usize, y: usize| got[(y * 64 + x) * 4..][..3].to_vec();
        assert_eq!(at(9, 4), [9, 4, 9 ^ 4]);
        assert_eq!(at(10, 4), [0xcc, 0xbb, 0xaa]);
        assert_eq!(at(9, 5), [0xcc, 0xbb, 0xaa]);

        // Large enough to need several requests.
        let (width, height) = (1200, 900);
        let large = pixels(width, height, 0);
        target
            .show(&picture(width, height, width * 4, &large))
            .unwrap();
        assert_eq!(differs(&desk.contents(window), &pixels(64, 48, 0)), None);
        target.show(&picture(0, 0, 0, &small)).unwrap();
        assert!(matches!(
            target.show(&picture(64, 48, 256, &small)),
            Err(Error::BadPicture { .. })
        ));
    }
}

#[test]
fn a_destroyed_window_is_no_error() {
    let Some(desk) = TestDisplay::new() else {
        return;
    };
    let bytes = pixels(64, 48, 0);
    for shared in [true, false] {
        if !shared {
            desk.ours.give_up_shared_memory();
        }
        for pictures_before in 0..2 {
            let window = desk.window(24);
            let mut target = Window::new(&desk.ours, window);
            for _ in 0..pictures_before {
                target.show(&picture(64, 48, 256, &bytes)).unwrap();
            }
            desk.destroy(window);
            for _ in 0..3 {
                target.show(&picture(64, 48, 256, &bytes)).unwrap();
            }
        }
    }
}

#[test]
fn segments_come_and_go() {
    let Some(desk) = TestDisplay::new() else {
        return;
    };
    let window = desk.window(24);
    let mut target = Window::new(&desk.ours, window);
    let size = 1 << 16;
    for round in 0..2 {
        for id in 0..30u64 {
            let mut bytes = pixels(64, 48, 0);
            bytes[0] = id as u8 + round;
            let fd = memory(&bytes, 0, size);
            let id = id + 100 * u64::from(round);
            let segment = Some(Segment {
                fd: fd.as_fd(),
                id,
                size,
                offset: 0,
            });
            target
                .show(&Picture {
                    segment,
                    ..picture(64, 48, 256, &bytes)
                })
                .unwrap();
            assert_eq!(differs(&desk.contents(window), &bytes), None);
        }
    }
    // A place outside the segment is not passed to the X server, which would refuse it.
    let bytes = pixels(64, 48, 0);
    let fd = memory(&bytes, 0, size);
    for offset in [size - 100, usize::MAX, 1 << 33] {
        let segment = Some(Segment {
            fd: fd.as_fd(),
            id: 7777,
            size,
            offset,
        });
        target
            .show(&Picture {
                segment,
                ..picture(64, 48, 256, &bytes)
            })
            .unwrap();
        assert_eq!(differs(&desk.contents(window), &bytes), None);
    }
}

#[test]
fn an_x_server_that_goes_is_an_error() {
    let Some(desk) = TestDisplay::new() else {
        return;
    };
    let window = desk.window(24);
    let mut target = Window::new(&desk.ours, window);
    let bytes = pixels(64, 48, 0);
    target.show(&picture(64, 48, 256, &bytes)).unwrap();
    desk.end();
    let error = target.show(&picture(64, 48, 256, &bytes)).unwrap_err();
    assert!(matches!(error, Error::DisplayLost(_)), "{error}");
}

#[test]
fn no_x_server_is_an_error_that_names_it() {
    let error = XDisplay::connect(Some(":9999")).unwrap_err().to_string();
    assert!(
        error.contains(":9999") && error.contains("check its name"),
        "{error}"
    );
}

/// Run with `--ignored --nocapture` to see the cost of each way.
#[test]
#[ignore = "a measurement"]
fn cost_of_each_way() {
    let Some(desk) = TestDisplay::new() else {
        return;
    };
    for (width, height) in [(300, 300), (1920, 1080)] {
        let bytes = pixels(width, height, 0);
        let size = bytes.len();
        let fd = memory(&bytes, 0, size);
        let segment = || {
            Some(Segment {
                fd: fd.as_fd(),
                id: size as u64,
                size,
                offset: 0,
            })
        };
        let window = desk.window(24);
        desk.program
            .connection
            .configure_window(
                window,
                &x11rb::protocol::xproto::ConfigureWindowAux::new()
                    .width(width)
                    .height(height),
            )
            .unwrap();
        desk.program.sync().unwrap();
        let mut target = Window::new(&desk.ours, window);
        for (name, shared) in [("shared", true), ("copied", false)] {
            let start = Instant::now();
            let n = 200;
            for _ in 0..n {
                let segment = segment().filter(|_| shared);
                let whole = picture(width, height, width * 4, &bytes);
                target.show(&Picture { segment, ..whole }).unwrap();
            }
            println!("{width}x{height} {name}: {:?}", start.elapsed() / n);
        }
    }
    desk.ours.give_up_shared_memory();
    let bytes = pixels(1920, 1080, 0);
    let mut target = Window::new(&desk.ours, desk.window(24));
    let start = Instant::now();
    for _ in 0..50 {
        target.show(&picture(1920, 1080, 1920 * 4, &bytes)).unwrap();
    }
    println!("1920x1080 plain, window 64x48: {:?}", start.elapsed() / 50);
}
