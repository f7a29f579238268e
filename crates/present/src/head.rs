//! A window of our own, for one tile of a wall.

use std::sync::Arc;

use mgn_wall::DisplayPosition;
use x11rb::connection::Connection as _;
use x11rb::protocol::xproto::{
    BackingStore, ConnectionExt as _, CreateWindowAux, EventMask, WindowClass,
};
use x11rb::protocol::Event;

use crate::display::lost;
use crate::error::HEAD_MAX;
use crate::{Error, Picture, Target, Window, XDisplay};

/// A window without a frame, which no window manager moves. It is black where no picture was shown.
/// The window is destroyed when this is dropped.
#[derive(Debug)]
pub struct Head {
    pub(crate) display: Arc<XDisplay>,
    pub(crate) id: u32,
    window: Window,
}

impl Head {
    /// Opens a window of `width` x `height` pixels, or one as large as the screen of the X server
    /// `display`.
    ///
    /// # Errors
    /// [`Error::NoDisplay`], [`Error::TooLarge`], [`Error::NoWindow`], [`Error::DisplayLost`].
    pub fn open(
        display: &str,
        place: DisplayPosition,
        (width, height): (u32, u32),
        title: &str,
    ) -> Result<Head, Error> {
        let display = Arc::new(XDisplay::connect(Some(display))?);
        let screen = display.root();
        let (x, y, width, height) = match place {
            DisplayPosition::Fullscreen => (0, 0, screen.width_in_pixels, screen.height_in_pixels),
            DisplayPosition::At(x, y) => {
                let limit = |n: u32| u16::try_from(n).ok().filter(|n| u32::from(*n) <= HEAD_MAX);
                let (Some(wide), Some(high)) = (limit(width), limit(height)) else {
                    return Err(Error::TooLarge { width, height });
                };
                let limit = |n: i32| n.clamp(i16::MIN.into(), i16::MAX.into()) as i16;
                (limit(x), limit(y), wide, high)
            }
        };
        let no_window = |error| display.no_window(error);
        let x11 = &display.connection;
        let id = display.new_id()?;
        let looks = CreateWindowAux::new()
            .background_pixel(screen.black_pixel)
            .backing_store(BackingStore::WHEN_MAPPED)
            .event_mask(EventMask::EXPOSURE)
            .override_redirect(1);
        let made = x11.create_window(
            screen.root_depth,
            id,
            screen.root,
            x,
            y,
            width,
            height,
            0,
            WindowClass::INPUT_OUTPUT,
            screen.root_visual,
            &looks,
        );
        made.map_err(lost)?.check().map_err(no_window)?;
        display.set_title(id, title)?;
        let mapped = x11.map_window(id).map_err(lost)?;
        mapped.check().map_err(no_window)?;
        Ok(Head {
            window: Window::new(&display, id),
            display,
            id,
        })
    }
}

impl Target for Head {
    fn show(&mut self, picture: &Picture<'_>) -> Result<(), Error> {
        self.window.show(picture)
    }

    fn is_exposed(&mut self) -> bool {
        let mut is_exposed = false;
        // If the connection is lost, the next picture reports that.
        while let Ok(Some(event)) = self.display.connection.poll_for_event() {
            is_exposed |= matches!(event, Event::Expose(_));
        }
        is_exposed
    }
}

impl Drop for Head {
    fn drop(&mut self) {
        // If the connection is lost, the X server has destroyed the window already.
        if let Ok(cookie) = self.display.connection.destroy_window(self.id) {
            cookie.ignore_error();
        }
        let _ = self.display.sync();
    }
}
