//! Windows of our own on a private X server, seen by another client.

use x11rb::connection::Connection as _;
use x11rb::protocol::xproto::{
    ClientMessageEvent, ConfigureWindowAux, ConnectionExt as _, CreateWindowAux, EventMask,
    ImageFormat, WindowClass,
};

use crate::window_tests::{differs, picture, pixels, TestDisplay};
use crate::{Error, Pane, Target};

impl TestDisplay {
    fn pane(&self, title: &str) -> Pane {
        Pane::open(Some(self.name()), title).unwrap()
    }

    /// The windows with this title.
    fn titled(&self, title: &str) -> Vec<u32> {
        let x11 = &self.program.connection;
        let name = self.program.atom(b"_NET_WM_NAME").unwrap();
        let root = self.program.root().root;
        let all = x11.query_tree(root).unwrap().reply().unwrap().children;
        let is_titled = |window: &u32| {
            let asked = x11.get_property(false, *window, name, 0u32, 0, 99).unwrap();
            asked.reply().unwrap().value == title.as_bytes()
        };
        all.into_iter().filter(is_titled).collect()
    }

    fn size(&self, window: u32) -> (u16, u16) {
        let x11 = &self.program.connection;
        let geometry = x11.get_geometry(window).unwrap().reply().unwrap();
        (geometry.width, geometry.height)
    }

    /// The visible pixels of the window.
    fn seen(&self, window: u32) -> Vec<u8> {
        let (width, height) = self.size(window);
        let x11 = &self.program.connection;
        let form = ImageFormat::Z_PIXMAP;
        let image = x11
            .get_image(form, window, 0, 0, width, height, !0)
            .unwrap();
        image.reply().unwrap().data
    }

    fn resize(&self, window: u32, width: u32, height: u32) {
        let size = ConfigureWindowAux::new().width(width).height(height);
        let x11 = &self.program.connection;
        x11.configure_window(window, &size)
            .unwrap()
            .check()
            .unwrap();
    }

    /// Sends the message that window managers send when the user closes a window.
    fn ask_to_close(&self, window: u32) {
        let protocols = self.program.atom(b"WM_PROTOCOLS").unwrap();
        let delete = self.program.atom(b"WM_DELETE_WINDOW").unwrap();
        let message = ClientMessageEvent::new(32, window, protocols, [delete, 0, 0, 0, 0]);
        let x11 = &self.program.connection;
        let sent = x11.send_event(false, window, EventMask::NO_EVENT, message);
        sent.unwrap().check().unwrap();
    }
}

#[test]
fn a_pane_shows_each_picture_in_its_size() {
    let Some(desk) = TestDisplay::new() else {
        return;
    };
    let mut pane = desk.pane("sizes — ß");
    assert!(
        desk.titled("sizes — ß").is_empty(),
        "there is no picture yet"
    );
    for shared in [true, false] {
        if !shared {
            pane.display.give_up_shared_memory();
        }
        for (width, height) in [(64, 48), (64, 48), (70, 30), (1, 1)] {
            let bytes = pixels(width, height, 0);
            pane.show(&picture(width, height, width * 4, &bytes))
                .unwrap();
            let [window] = desk.titled("sizes — ß")[..] else {
                panic!("not one window")
            };
            assert_eq!(desk.size(window), (width as u16, height as u16));
            assert_eq!(differs(&desk.seen(window), &bytes), None);
        }
    }
    let bytes = pixels(1, 1, 0);
    for (width, height) in [(0, 1), (1, 0)] {
        let refused = pane.show(&picture(width, height, width * 4, &bytes));
        assert!(matches!(refused, Err(Error::TooLarge { .. })));
    }
    drop(pane);
    assert!(desk.titled("sizes — ß").is_empty());
}

#[test]
fn a_pane_keeps_its_picture_without_the_program() {
    let Some(desk) = TestDisplay::new() else {
        return;
    };
    let mut pane = desk.pane("kept");
    let bytes = pixels(64, 48, 0);
    pane.show(&picture(64, 48, 256, &bytes)).unwrap();
    let [window] = desk.titled("kept")[..] else {
        panic!("not one window")
    };
    // Another window covers it for a while.
    let x11 = &desk.program.connection;
    let cover = x11.generate_id().unwrap();
    let looks = CreateWindowAux::new().background_pixel(0x123456);
    let class = WindowClass::INPUT_OUTPUT;
    let root = desk.program.root();
    x11.create_window(0, cover, root.root, 0, 0, 50, 40, 0, class, 0, &looks)
        .unwrap();
    x11.map_window(cover).unwrap().check().unwrap();
    assert!(differs(&desk.seen(window), &bytes).is_some());
    desk.destroy(cover);
    assert_eq!(differs(&desk.seen(window), &bytes), None);
    // The user makes it larger: the rest is black.
    desk.resize(window, 80, 50);
    let wanted: Vec<u8> = (0..50 * 80)
        .flat_map(|at| match (at % 80, at / 80) {
            (x @ 0..64, y @ 0..48) => [x as u8, y as u8, (x ^ y) as u8, 0],
            _ => [0; 4],
        })
        .collect();
    assert_eq!(differs(&desk.seen(window), &wanted), None);
    // The next picture leaves the size as it is.
    pane.show(&picture(64, 48, 256, &bytes)).unwrap();
    assert_eq!(differs(&desk.seen(window), &wanted), None);
    assert!(!pane.is_closed());
}

#[test]
fn a_pane_that_somebody_closes_takes_no_pictures() {
    let Some(desk) = TestDisplay::new() else {
        return;
    };
    let bytes = pixels(64, 48, 0);
    let closings: [fn(&TestDisplay, u32); 2] = [TestDisplay::ask_to_close, TestDisplay::destroy];
    for close in closings {
        let mut pane = desk.pane("closed");
        assert!(!pane.is_closed());
        pane.show(&picture(64, 48, 256, &bytes)).unwrap();
        assert!(!pane.is_closed());
        let [window] = desk.titled("closed")[..] else {
            panic!("not one window")
        };
        close(&desk, window);
        pane.show(&picture(64, 48, 256, &bytes)).unwrap();
        assert!(pane.is_closed());
        assert!(desk.titled("closed").is_empty());
        pane.show(&picture(64, 48, 256, &bytes)).unwrap();
        assert!(pane.is_closed() && desk.titled("closed").is_empty());
    }
}

#[test]
fn a_pane_whose_x_server_goes_is_an_error() {
    let Some(desk) = TestDisplay::new() else {
        return;
    };
    let mut pane = desk.pane("lost");
    let bytes = pixels(64, 48, 0);
    pane.show(&picture(64, 48, 256, &bytes)).unwrap();
    desk.end();
    let error = pane.show(&picture(64, 48, 256, &bytes)).unwrap_err();
    assert!(matches!(error, Error::DisplayLost(_)), "{error}");
    assert!(!pane.is_closed());
    let error = Pane::open(Some(":9999"), "none").unwrap_err();
    assert!(matches!(error, Error::NoDisplay { .. }), "{error}");
}
