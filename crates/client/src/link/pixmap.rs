//! Puts pictures into an X pixmap (GLX pixmaps, which glXWaitGL makes readable to X).

use crate::x11::watch::Watch;
use mgn_present::{Error, Picture, Target};
use std::sync::Arc;
use x11rb::connection::RequestConnection;
use x11rb::protocol::xproto::{ConnectionExt, CreateGCAux, ImageFormat};

/// Bytes of a long PutImage request before its pixels.
const PUT_IMAGE_HEADER: usize = 28;

pub struct PixmapTarget {
    watch: Arc<Watch>,
    pixmap: u32,
}

impl PixmapTarget {
    pub fn new(watch: &Arc<Watch>, pixmap: u32) -> PixmapTarget {
        PixmapTarget {
            watch: watch.clone(),
            pixmap,
        }
    }

    /// Puts the rows in pieces that fit a request. The last answer confirms that the X server has
    /// them. It is no error if the pixmap was freed.
    fn put(&self, picture: &Picture<'_>, depth: u8) -> Option<()> {
        let connection = self.watch.connection();
        let gc = x11rb::connection::Connection::generate_id(connection).ok()?;
        let created = connection.create_gc(gc, self.pixmap, &CreateGCAux::new());
        created.ok()?.check().ok()?;
        let row = picture.width as usize * 4;
        let most = connection
            .maximum_request_bytes()
            .saturating_sub(PUT_IMAGE_HEADER);
        let rows = (most.min(1 << 20) / row.max(1)).max(1);
        let mut pixels = Vec::new();
        for first in (0..picture.height as usize).step_by(rows) {
            let count = rows.min(picture.height as usize - first);
            pixels.resize(row * count, 0);
            for (n, into) in pixels.chunks_exact_mut(row.max(1)).enumerate() {
                let at = (first + n) * picture.stride as usize;
                picture.pixels.read(at, into);
            }
            connection
                .put_image(
                    ImageFormat::Z_PIXMAP,
                    self.pixmap,
                    gc,
                    u16::try_from(picture.width).ok()?,
                    count as u16,
                    i16::try_from(picture.x).ok()?,
                    i16::try_from(picture.y as usize + first).ok()?,
                    0,
                    depth,
                    &pixels,
                )
                .ok()?
                .ignore_error();
        }
        connection.free_gc(gc).ok()?.check().ok()
    }
}

impl Target for PixmapTarget {
    fn show(&mut self, picture: &Picture<'_>) -> Result<(), Error> {
        let geometry = self.watch.geometry(self.pixmap);
        if let Some(geometry) = geometry.filter(|g| matches!(g.depth, 24 | 32)) {
            if self.put(picture, geometry.depth).is_none() {
                tracing::debug!(
                    pixmap = self.pixmap,
                    "the X server did not accept a picture"
                );
            }
        }
        Ok(())
    }
}
