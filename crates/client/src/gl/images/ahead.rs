//! Small consecutive reads: the client reads more from the server than the program wants, and
//! answers the next reads from that.
//!
//! Each read costs a round trip, and reading a few pixels takes hardly less time than some
//! thousand. The pixels remain valid as long as this process has sent the server no command:
//! nothing can have been drawn, bound or selected in the meantime.

use crate::context::Context;
use crate::gl::pixels::Layout;
use crate::link::stats::Word;
use crate::shadow::read_ahead::{Ahead, Region, StreamPosition};
use core::ffi::c_void;
use mgn_wire::ops;

/// After this number of consecutive reads, more are likely.
const IN_A_ROW: u32 = 2;

impl Context {
    /// The positions of the streams. None if they do not show whether pixels are still valid:
    /// stages send messages of their own, and the pixels of walls and pixmaps come from several
    /// sources.
    fn position(&self) -> Option<StreamPosition> {
        let session = self.session?;
        let is_apart = session.wall().is_some() || session.options.chain.has_stages();
        let of_x = self
            .read
            .as_ref()
            .is_some_and(|surface| surface.is_pixmap());
        (!is_apart && !of_x).then(|| StreamPosition {
            messages: session.stats.value(Word::Messages),
            written: self.enc.cursor() as usize,
        })
    }

    /// A read was answered. The pixels stay valid if only reads follow.
    pub(super) fn has_read(&mut self) {
        let position = self.position();
        let ahead = &mut self.gl.pixels.ahead;
        ahead.position = position;
        ahead.reads = ahead.reads.saturating_add(1);
        ahead.image = Vec::new();
    }

    /// Reads a small region, if pixels that were read before contain it, or if more reads are
    /// likely to follow. Returns whether it was read.
    ///
    /// # Safety
    /// `pixels` has room for the image of the layout.
    pub(super) unsafe fn read_ahead(
        &mut self,
        region: &Region,
        layout: &Layout,
        pixels: *mut c_void,
    ) -> bool {
        let position = self.position();
        let ahead = &mut self.gl.pixels.ahead;
        if position.is_none() || ahead.position != position {
            ahead.reads = 0;
            ahead.image = Vec::new();
            return false;
        }
        let Some(pixel_bytes) = layout.pixel_bytes(region.width) else {
            return false;
        };
        let holds = |ahead: &Ahead| match ahead.image.is_empty() {
            true => None,
            false => ahead.region.holds(region),
        };
        if holds(&*ahead).is_none() {
            if ahead.reads < IN_A_ROW {
                return false;
            }
            let Some(wanted) = region.with_surroundings(pixel_bytes) else {
                return false;
            };
            self.enc.gl_read_pixels(
                wanted.x,
                wanted.y,
                wanted.width,
                wanted.height,
                wanted.format,
                wanted.type_,
            );
            let mut answer = self.answer(ops::GL_READ_PIXELS);
            let image = answer.next_array(1);
            let bytes = wanted.width as usize * wanted.height as usize * pixel_bytes;
            if image.len() != bytes {
                // The region cannot be read. The program's own read will raise the error.
                self.gl.pixels.ahead = Ahead::default();
                return false;
            }
            let image = image.to_vec();
            let position = self.position();
            let ahead = &mut self.gl.pixels.ahead;
            (ahead.position, ahead.region, ahead.image) = (position, wanted, image);
        }
        let ahead = &self.gl.pixels.ahead;
        let Some((column, row)) = holds(ahead) else {
            return false;
        };
        let row_bytes = ahead.region.width as usize * pixel_bytes;
        for i in 0..layout.total_rows() {
            let from = &ahead.image[(row + i) * row_bytes + column * pixel_bytes..];
            let from = &from[..layout.tight_row_bytes()];
            // SAFETY: the caller's promise, and a row of the layout's.
            unsafe { layout.scatter_rows(from.as_ptr(), i..i + 1, pixels.cast()) };
        }
        true
    }
}
