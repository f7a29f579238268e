//! Pictures that are put into a window of the program's.

use std::os::fd::AsFd;
use std::sync::Arc;

use mgn_fabric::Segment;
use rustix::fs::{ftruncate, memfd_create, MemfdFlags};
use rustix::io::pwrite;
use x11rb::connection::RequestConnection;
use x11rb::errors::ReplyError;
use x11rb::protocol::shm::ConnectionExt as _;
use x11rb::protocol::xproto::{ConnectionExt as _, CreateGCAux, Gcontext, ImageFormat};
use x11rb::protocol::ErrorKind;
use x11rb::x11_utils::X11Error;

use crate::display::{lost, Attached};
use crate::picture::{Picture, PIXEL};
use crate::{Error, Target, XDisplay};

/// Bytes of a big-requests PutImage request before its pixels.
const PUT_IMAGE_HEADER: usize = 28;

/// Rows are copied in pieces of about this size, which fit into the CPU cache.
const PIECE: usize = 256 << 10;

/// A window of the program's.
///
/// A picture larger than the window is cut off at the window's edges; a smaller one leaves the rest
/// unchanged. After the window was destroyed, pictures are dropped.
#[derive(Debug)]
pub struct Window {
    display: Arc<XDisplay>,
    window: u32,
    /// `None` until the first picture.
    ready: Option<Ready>,
    gone: bool,
    own: Option<OwnMemory>,
    scratch: Vec<u8>,
}

#[derive(Clone, Copy, Debug)]
struct Ready {
    gc: Gcontext,
    depth: u8,
    order: Order,
    /// The byte order of pixels of two bytes.
    big_endian: bool,
}

/// Which bytes of a BGRX pixel the window has, and in which order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Order([usize; PIXEL]);

impl Order {
    const BGRX: Order = Order([0, 1, 2, 3]);

    fn of(red_mask: Option<u32>, big_endian: bool) -> Order {
        match (red_mask == Some(0xff), big_endian) {
            (false, false) => Order::BGRX,
            (true, false) => Order([2, 1, 0, 3]),
            (false, true) => Order([3, 2, 1, 0]),
            (true, true) => Order([3, 0, 1, 2]),
        }
    }

    /// Pixels of two bytes for a window of depth 16: 5, 6 and 5 bits, red on top. Rows begin at
    /// multiples of four bytes.
    fn shorts(pixels: &[u8], width: usize, big_endian: bool) -> Vec<u8> {
        let row = (width * 2).next_multiple_of(4);
        let mut shorts = Vec::with_capacity(pixels.len() / 2);
        for pixels in pixels.chunks_exact(width * PIXEL) {
            let start = shorts.len();
            for p in pixels.chunks_exact(PIXEL) {
                let [blue, green, red] = [p[0], p[1], p[2]].map(u16::from);
                let short = red >> 3 << 11 | green >> 2 << 5 | blue >> 3;
                shorts.extend(match big_endian {
                    true => short.to_be_bytes(),
                    false => short.to_le_bytes(),
                });
            }
            shorts.resize(start + row, 0);
        }
        shorts
    }

    fn apply(self, pixels: &mut [u8]) {
        let Order([a, b, c, d]) = self;
        for p in pixels.chunks_exact_mut(PIXEL) {
            let from = [p[a], p[b], p[c], p[d]];
            p.copy_from_slice(&from);
        }
    }
}

/// Memory of our own that the X server has attached, for pictures that do not lie in shared memory.
#[derive(Debug)]
struct OwnMemory {
    fd: std::os::fd::OwnedFd,
    id: u64,
    size: usize,
}

/// The result of putting a picture.
enum Put {
    Done,
    /// The picture cannot be put in this way.
    Unable,
}

impl Window {
    /// Sends nothing to the X server yet.
    pub fn new(display: &Arc<XDisplay>, window: u32) -> Window {
        Window {
            display: Arc::clone(display),
            window,
            ready: None,
            gone: false,
            own: None,
            scratch: Vec::new(),
        }
    }

    /// Draws into a pixmap, whose pixels have the format of this visual, instead of a window.
    pub(crate) fn on_pixmap(
        display: &Arc<XDisplay>,
        pixmap: u32,
        depth: u8,
        visual: u32,
    ) -> Result<Window, Error> {
        let mut window = Window::new(display, pixmap);
        window.prepare(depth, visual)?;
        Ok(window)
    }

    fn ready(&mut self) -> Result<Option<Ready>, Error> {
        if self.gone || self.ready.is_some() {
            return Ok(self.ready);
        }
        let connection = &self.display.connection;
        let geometry = connection.get_geometry(self.window).map_err(lost)?;
        let attributes = connection
            .get_window_attributes(self.window)
            .map_err(lost)?;
        let found = geometry
            .reply()
            .and_then(|g| Ok((g.depth, attributes.reply()?.visual)));
        let Some((depth, visual)) = self.unless_gone(found)? else {
            return Ok(None);
        };
        self.prepare(depth, visual)
    }

    fn prepare(&mut self, depth: u8, visual: u32) -> Result<Option<Ready>, Error> {
        let (red_mask, big_endian) = self.display.pixel_order(visual);
        let formats =
            &x11rb::connection::Connection::setup(&self.display.connection).pixmap_formats;
        let bits = formats
            .iter()
            .find(|f| f.depth == depth)
            .map(|f| f.bits_per_pixel);
        let shorts = depth == 16 && bits == Some(16) && red_mask == Some(0xf800);
        if !shorts && (!matches!(depth, 24 | 32) || bits != Some(32)) {
            return Err(Error::Depth {
                window: self.window,
                depth,
            });
        }
        let connection = &self.display.connection;
        let gc = x11rb::connection::Connection::generate_id(connection)
            .map_err(|error| Error::DisplayLost(error.to_string()))?;
        let options = CreateGCAux::new().graphics_exposures(0);
        let made = connection
            .create_gc(gc, self.window, &options)
            .map_err(lost)?
            .check();
        if self.unless_gone(made)?.is_none() {
            return Ok(None);
        }
        self.ready = Some(Ready {
            gc,
            depth,
            order: Order::of(red_mask, big_endian),
            big_endian,
        });
        Ok(self.ready)
    }

    /// The value of an X server's answer; `None` if the window does not exist any more.
    fn unless_gone<T>(&mut self, answer: Result<T, ReplyError>) -> Result<Option<T>, Error> {
        match answer {
            Ok(value) => Ok(Some(value)),
            Err(ReplyError::X11Error(error)) if is_gone(&error) => {
                tracing::debug!(window = self.window, "the window is gone");
                self.gone = true;
                self.ready = None;
                Ok(None)
            }
            Err(ReplyError::X11Error(error)) => {
                let why = format!("{:?}", error.error_kind);
                Err(Error::Refused {
                    window: self.window,
                    why,
                })
            }
            Err(ReplyError::ConnectionError(error)) => Err(lost(error)),
        }
    }

    /// Makes the X server draw from shared memory.
    fn put_shared(
        &mut self,
        to: Ready,
        picture: &Picture<'_>,
        segment: &Segment<'_>,
        stride: usize,
    ) -> Result<Put, Error> {
        let total_width = stride / PIXEL;
        // The X server requires the last row to have the full stride.
        let length = stride * picture.height as usize;
        let sizes = (u16::try_from(total_width), u16::try_from(picture.height));
        let at = (i16::try_from(picture.x), i16::try_from(picture.y));
        let ((Ok(total_width), Ok(height)), (Ok(x), Ok(y))) = (sizes, at) else {
            return Ok(Put::Unable);
        };
        let Attached::Yes(name) = self.display.attach(segment, length)? else {
            return Ok(Put::Unable);
        };
        let drawn = self
            .display
            .connection
            .shm_put_image(
                self.window,
                to.gc,
                total_width,
                height,
                0,
                0,
                picture.width as u16,
                height,
                x,
                y,
                to.depth,
                ImageFormat::Z_PIXMAP.into(),
                false,
                name,
                segment.offset as u32,
            )
            .map_err(lost)?
            .check();
        match drawn {
            Err(ReplyError::X11Error(error)) if !is_gone(&error) => {
                tracing::debug!(?error, "the X server does not draw from our memory");
                self.display.give_up_shared_memory();
                Ok(Put::Unable)
            }
            other => self.unless_gone(other).map(|_| Put::Done),
        }
    }

    /// Copies the picture to shared memory of our own, for the X server to draw from.
    fn put_copied(&mut self, to: Ready, picture: &Picture<'_>) -> Result<Put, Error> {
        let length = picture.row_bytes() * picture.height as usize;
        let Some(own) = self.own_memory(length) else {
            return Ok(Put::Unable);
        };
        let filled = fill(&own, picture, to.order, &mut self.scratch);
        let put = match filled {
            Ok(()) => {
                let (id, size) = (own.id, own.size);
                let segment = Segment {
                    fd: own.fd.as_fd(),
                    id,
                    size,
                    offset: 0,
                };
                self.put_shared(to, picture, &segment, picture.row_bytes())
            }
            // There is no memory for a second copy, so the picture is sent through the socket.
            Err(_) => Ok(Put::Unable),
        };
        self.own = Some(own);
        put
    }

    fn own_memory(&mut self, length: usize) -> Option<OwnMemory> {
        if let Some(own) = self.own.take_if(|own| own.size >= length) {
            return Some(own);
        }
        let size = length.next_multiple_of(1 << 16);
        let fd = memfd_create("mgn-picture", MemfdFlags::CLOEXEC).ok()?;
        ftruncate(&fd, size as u64).ok()?;
        Some(OwnMemory {
            fd,
            id: next_id(),
            size,
        })
    }

    /// Sends the pixels through the connection, in as many requests as necessary.
    fn put_plain(&mut self, to: Ready, picture: &Picture<'_>) -> Result<(), Error> {
        let row = picture.row_bytes();
        let most = self.display.connection.maximum_request_bytes() - PUT_IMAGE_HEADER;
        let rows = most.min(PIECE.max(row)) / row;
        let (Ok(width), true) = (u16::try_from(picture.width), rows > 0) else {
            return Err(Error::TooWide {
                width: picture.width,
            });
        };
        let height = picture.height as usize;
        for first in (0..height).step_by(rows) {
            let count = rows.min(height - first);
            // Coordinates in a window cannot be larger than this.
            let at = (
                i16::try_from(picture.x),
                i16::try_from(picture.y as usize + first),
            );
            let (Ok(x), Ok(y)) = at else { break };
            let mut pixels = picture.packed(first, count, &mut self.scratch);
            if to.depth == 16 {
                let shorts = Order::shorts(&pixels, picture.width as usize, to.big_endian);
                pixels = shorts.into();
            } else if to.order != Order::BGRX {
                to.order.apply(pixels.to_mut());
            }
            self.display
                .connection
                .put_image(
                    ImageFormat::Z_PIXMAP,
                    self.window,
                    to.gc,
                    width,
                    count as u16,
                    x,
                    y,
                    0,
                    to.depth,
                    &pixels,
                )
                .map_err(lost)?
                .ignore_error();
        }
        // The last request fails if the window does not exist any more.
        let answer = self
            .display
            .connection
            .get_geometry(self.window)
            .map_err(lost)?
            .reply();
        self.unless_gone(answer)?;
        Ok(())
    }
}

impl Target for Window {
    fn show(&mut self, picture: &Picture<'_>) -> Result<(), Error> {
        picture.check()?;
        let Some(to) = self.ready()? else {
            return Ok(());
        };
        if picture.width == 0 || picture.height == 0 {
            return Ok(());
        }
        if to.depth == 16 {
            return self.put_plain(to, picture);
        }
        if let (Some(segment), Order::BGRX) = (&picture.segment, to.order) {
            let put = self.put_shared(to, picture, segment, picture.stride as usize)?;
            if matches!(put, Put::Done) {
                return Ok(());
            }
        }
        match self.put_copied(to, picture)? {
            Put::Done => Ok(()),
            Put::Unable => self.put_plain(to, picture),
        }
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        if let Some(ready) = self.ready {
            // There is no one to report a failure to.
            let _ = self
                .display
                .connection
                .free_gc(ready.gc)
                .map(|cookie| cookie.ignore_error());
            let _ = self.display.sync();
        }
    }
}

fn is_gone(error: &X11Error) -> bool {
    matches!(error.error_kind, ErrorKind::Drawable | ErrorKind::Window)
}

/// Numbers for our own memory, counted down from the far end of the range that callers use.
fn next_id() -> u64 {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(u64::MAX);
    NEXT.fetch_sub(1, Ordering::Relaxed)
}

fn fill(
    own: &OwnMemory,
    picture: &Picture<'_>,
    order: Order,
    scratch: &mut Vec<u8>,
) -> rustix::io::Result<()> {
    let row = picture.row_bytes();
    let rows = (PIECE / row).max(1);
    let height = picture.height as usize;
    for first in (0..height).step_by(rows) {
        let mut pixels = picture.packed(first, rows.min(height - first), scratch);
        if order != Order::BGRX {
            order.apply(pixels.to_mut());
        }
        let mut left = &pixels[..];
        let mut at = (first * row) as u64;
        while !left.is_empty() {
            let n = pwrite(&own.fd, left, at)?;
            left = &left[n..];
            at += n as u64;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shorts_have_the_upper_bits_and_padded_rows() {
        let pixels = [0xff, 0, 0, 0, 0, 0xff, 0, 0, 0, 0, 0xff, 0];
        let shorts = Order::shorts(&pixels, 3, false);
        assert_eq!(shorts, [0x1f, 0, 0xe0, 0x07, 0, 0xf8, 0, 0]);
        assert_eq!(Order::shorts(&pixels[..4], 1, true), [0, 0x1f, 0, 0]);
    }

    #[test]
    fn bytes_are_put_in_order() {
        let put = |red, big| {
            let mut pixel = *b"bgrx";
            Order::of(red, big).apply(&mut pixel);
            String::from_utf8(pixel.to_vec()).unwrap()
        };
        assert_eq!(put(Some(0xff0000), false), "bgrx");
        assert_eq!(put(None, false), "bgrx");
        assert_eq!(put(Some(0xff), false), "rgbx");
        assert_eq!(put(Some(0xff0000), true), "xrgb");
        assert_eq!(put(Some(0xff), true), "xbgr");
    }
}
