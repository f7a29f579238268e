//! A picture that the X server stores.

use std::sync::Arc;

use x11rb::protocol::xproto::ConnectionExt as _;

use crate::display::lost;
use crate::{Error, Picture, Target as _, Window, XDisplay};

/// A pixmap in the format of the display's root window. It is freed when this is dropped.
#[derive(Debug)]
pub(crate) struct Canvas {
    display: Arc<XDisplay>,
    pub pixmap: u32,
    pub size: (u16, u16),
    target: Window,
}

impl Canvas {
    /// # Errors
    /// [`Error::DisplayLost`], [`Error::NoWindow`] if the X server has no room for it.
    pub fn new(display: &Arc<XDisplay>, size: (u16, u16)) -> Result<Canvas, Error> {
        let screen = display.root();
        let (depth, visual) = (screen.root_depth, screen.root_visual);
        let pixmap = display.new_id()?;
        let connection = &display.connection;
        let made = connection.create_pixmap(depth, pixmap, screen.root, size.0, size.1);
        let made = made.map_err(lost)?.check();
        made.map_err(|error| display.no_window(error))?;
        Ok(Canvas {
            pixmap,
            size,
            target: Window::on_pixmap(display, pixmap, depth, visual)?,
            display: Arc::clone(display),
        })
    }

    /// Draws a picture at the upper left corner.
    ///
    /// # Errors
    /// Those of [`Window`].
    pub fn draw(&mut self, picture: &Picture<'_>) -> Result<(), Error> {
        self.target.show(&Picture {
            x: 0,
            y: 0,
            segment: None,
            ..*picture
        })
    }
}

impl Drop for Canvas {
    fn drop(&mut self) {
        // If the connection is lost, the X server has freed the pixmap already.
        if let Ok(cookie) = self.display.connection.free_pixmap(self.pixmap) {
            cookie.ignore_error();
        }
    }
}
