//! Small consecutive reads: the client reads more from the server than the program wants, and
//! answers the next reads from that.
//!
//! Each read is a round trip, and one of a few pixels takes hardly longer than one of some
//! thousand. The pixels remain valid as long as this process has sent the server no command: then
//! nothing can have been drawn, bound or chosen meanwhile.

use crate::context::Context;
use crate::gl::pixels::Layout;
use crate::link::stats::Word;
use crate::shadow::read_ahead::{Ahead, Region, StreamPosition};
use core::ffi::c_void;
use mgn_wire::ops;

/// After this number of reads with nothing between them, more are likely.
const IN_A_ROW: u32 = 2;

impl Context {
    /// Where the streams stand; none where that says too little: stages have messages of their own,
    /// and the pixels of walls and of pixmaps come from several.
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

    /// A read was answered, and nothing but reads may follow.
    pub(super) fn has_read(&mut self) {
        let position = self.position();
        let ahead = &mut self.gl.pixels.ahead;
        ahead.position = position;
        ahead.reads = ahead.reads.saturating_add(1);
        ahead.image = Vec::new();
    }

    /// Reads a small region if that can be answered from what was read before, or is likely to be
    /// one of many. Says whether it was read.
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
                // It cannot be read at all, which the program's own question shall say.
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
