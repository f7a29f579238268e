//! A window of our own that users move, resize and close.

use std::sync::Arc;

use mgn_sys::signals::NoPipeSignal;
use x11rb::connection::Connection as _;
use x11rb::protocol::xproto::{
    AtomEnum, ChangeWindowAttributesAux, ClientMessageEvent, ConfigureWindowAux,
    ConnectionExt as _, CreateWindowAux, EventMask, PropMode, Screen, WindowClass,
};
use x11rb::protocol::Event;
use x11rb::wrapper::ConnectionExt as _;

use crate::canvas::Canvas;
use crate::display::lost;
use crate::error::HEAD_MAX;
use crate::{Error, Picture, Target, XDisplay};

/// A window for the pictures of one program. It opens with the first picture and has that picture's
/// size. It is resized when a picture has another size than the one before. If the user resizes the
/// window, the picture stays unscaled at the upper left.
///
/// The X server stores the picture, and draws it again after it was covered, even while the program
/// is busy. Once the user has closed the window, pictures are dropped. If the X server ends, that
/// is reported as an error, even in programs that a write to a broken connection would end.
#[derive(Debug)]
pub struct Pane {
    pub(crate) display: Arc<XDisplay>,
    title: String,
    /// The atoms WM_PROTOCOLS and WM_DELETE_WINDOW, with which window managers close windows.
    protocols: u32,
    delete: u32,
    open: Option<Open>,
    is_closed: bool,
    is_lost: bool,
}

/// The window, and an inner window whose background is the picture. With a single window, the X
/// server would fill a larger window with copies of the picture.
#[derive(Debug)]
struct Open {
    outer: u32,
    inner: u32,
    canvas: Canvas,
}

impl Pane {
    /// Connects to the X server `display`, or to the one that `DISPLAY` names.
    ///
    /// # Errors
    /// [`Error::NoDisplay`], [`Error::DisplayLost`].
    pub fn open(display: Option<&str>, title: &str) -> Result<Pane, Error> {
        let _guard = NoPipeSignal::block();
        let display = Arc::new(XDisplay::connect(display)?);
        let [protocols, delete] = [
            display.atom(b"WM_PROTOCOLS")?,
            display.atom(b"WM_DELETE_WINDOW")?,
        ];
        Ok(Pane {
            display,
            title: title.to_owned(),
            protocols,
            delete,
            open: None,
            is_closed: false,
            is_lost: false,
        })
    }

    /// Whether the user has closed the window. The first call that notices this destroys it.
    pub fn is_closed(&mut self) -> bool {
        let _guard = NoPipeSignal::block();
        loop {
            let event = match self.display.connection.poll_for_event() {
                Ok(Some(event)) => event,
                Ok(None) => break,
                Err(_) => {
                    self.is_lost = true;
                    break;
                }
            };
            self.is_closed |= match event {
                Event::ClientMessage(message) => self.is_delete(&message),
                Event::DestroyNotify(event) => self
                    .open
                    .as_ref()
                    .is_some_and(|open| open.outer == event.window),
                _ => false,
            };
        }
        if self.is_closed {
            self.close();
        }
        self.is_closed
    }

    /// Whether [`Pane::is_closed`] has found the connection to the X server lost. The next picture
    /// is an error then.
    pub fn is_lost(&self) -> bool {
        self.is_lost
    }

    fn is_delete(&self, message: &ClientMessageEvent) -> bool {
        message.type_ == self.protocols
            && message.format == 32
            && message.data.as_data32()[0] == self.delete
    }

    fn close(&mut self) {
        let Some(open) = self.open.take() else {
            return;
        };
        // If the connection is lost, the X server has destroyed the windows already.
        if let Ok(cookie) = self.display.connection.destroy_window(open.outer) {
            cookie.ignore_error();
        }
        drop(open);
        let _ = self.display.sync();
    }

    fn window(&self, size: (u16, u16)) -> Result<Open, Error> {
        let connection = &self.display.connection;
        let screen = self.display.root();
        let outer = self.create(
            screen.root,
            size,
            &CreateWindowAux::new()
                .background_pixel(screen.black_pixel)
                .event_mask(EventMask::STRUCTURE_NOTIFY),
        )?;
        let inner = self.create(outer, size, &CreateWindowAux::new())?;
        self.display.set_title(outer, &self.title)?;
        let delete = &[self.delete];
        let told = connection.change_property32(
            PropMode::REPLACE,
            outer,
            self.protocols,
            AtomEnum::ATOM,
            delete,
        );
        told.map_err(lost)?.ignore_error();
        let canvas = Canvas::new(&self.display, size)?;
        for window in [inner, outer] {
            let mapped = connection.map_window(window).map_err(lost)?;
            mapped
                .check()
                .map_err(|error| self.display.no_window(error))?;
        }
        Ok(Open {
            outer,
            inner,
            canvas,
        })
    }

    fn create(
        &self,
        parent: u32,
        (width, height): (u16, u16),
        looks: &CreateWindowAux,
    ) -> Result<u32, Error> {
        let Screen {
            root_depth,
            root_visual,
            ..
        } = *self.display.root();
        let id = self.display.new_id()?;
        let class = WindowClass::INPUT_OUTPUT;
        let made = self.display.connection.create_window(
            root_depth,
            id,
            parent,
            0,
            0,
            width,
            height,
            0,
            class,
            root_visual,
            looks,
        );
        made.map_err(lost)?
            .check()
            .map_err(|error| self.display.no_window(error))?;
        Ok(id)
    }

    fn put(&self, open: &mut Open, size: (u16, u16), picture: &Picture<'_>) -> Result<(), Error> {
        if open.canvas.size != size {
            self.resize(open, size)?;
        }
        open.canvas.draw(picture)?;
        let connection = &self.display.connection;
        // Set again for each picture, because an X server may copy a background when it is set.
        // Errors mean that the window was destroyed, which an event reports as well.
        let picture = ChangeWindowAttributesAux::new().background_pixmap(open.canvas.pixmap);
        let set = connection.change_window_attributes(open.inner, &picture);
        set.map_err(lost)?.ignore_error();
        let cleared = connection.clear_area(false, open.inner, 0, 0, 0, 0);
        cleared.map_err(lost)?.ignore_error();
        self.display.sync()
    }

    /// Gives the window the size of the next picture.
    fn resize(&self, open: &mut Open, (width, height): (u16, u16)) -> Result<(), Error> {
        let canvas = Canvas::new(&self.display, (width, height))?;
        let connection = &self.display.connection;
        let size = ConfigureWindowAux::new()
            .width(u32::from(width))
            .height(u32::from(height));
        for window in [open.outer, open.inner] {
            let configured = connection.configure_window(window, &size);
            configured.map_err(lost)?.ignore_error();
        }
        open.canvas = canvas;
        Ok(())
    }
}

impl Target for Pane {
    /// Replaces the picture that was shown, and ignores the new picture's position in the window.
    fn show(&mut self, picture: &Picture<'_>) -> Result<(), Error> {
        picture.check()?;
        let _guard = NoPipeSignal::block();
        if self.is_closed() {
            return Ok(());
        }
        let (width, height) = (picture.width, picture.height);
        let side = |side: u32| {
            let fits = (1..=HEAD_MAX).contains(&side);
            u16::try_from(side).ok().filter(|_| fits)
        };
        let (Some(wide), Some(high)) = (side(width), side(height)) else {
            return Err(Error::TooLarge { width, height });
        };
        let size = (wide, high);
        let mut open = match self.open.take() {
            Some(open) => open,
            None => self.window(size)?,
        };
        let shown = self.put(&mut open, size, picture);
        self.open = Some(open);
        shown
    }
}

impl Drop for Pane {
    fn drop(&mut self) {
        let _guard = NoPipeSignal::block();
        self.close();
    }
}
