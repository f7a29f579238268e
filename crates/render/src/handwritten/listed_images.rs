//! Images that Mesa reads from the bound pixel buffer without checking the buffer's end: images
//! that it copies to display lists, and compressed ones. The renderer checks the end, or reads the
//! buffer itself.

use super::pixel_store::PixelStore;
use crate::bounds::TOO_FAR;
use crate::generated::driver::Gl;
use crate::renderer::Renderer;
use mgn_wire::{gl::*, Data, Fault};
use std::rc::Rc;

/// An image for the driver, which may read it as long as this lives.
pub(crate) struct Image {
    at: *const u8,
    /// The memory at `at`, unless it is part of a message.
    _copy: Vec<u8>,
    /// The buffer that was bound for unpacking, and is bound again afterwards.
    unbound: Option<(Rc<Gl>, u32)>,
}

impl Image {
    pub(crate) fn cast<T>(&self) -> *const T {
        self.at.cast()
    }
}

impl Drop for Image {
    fn drop(&mut self) {
        if let Some((gl, buffer)) = &self.unbound {
            // SAFETY: the context is that of the command for which this was made.
            unsafe { (gl.glBindBuffer)(GL_PIXEL_UNPACK_BUFFER, *buffer) };
        }
    }
}

/// The layout of compressed blocks in a buffer: one run of bytes for each row of blocks.
#[derive(Debug, PartialEq)]
struct Blocks {
    /// Bytes from the image's start in the buffer to the first row.
    skipped: i128,
    /// Bytes of a row.
    row: i128,
    /// Bytes from one row to the next.
    stride: i128,
    /// Rows from one layer to the next.
    layer: i128,
    /// The number of rows in a layer, and the number of layers.
    rows: i128,
    layers: i128,
}

impl Blocks {
    /// The program's layout of an image with these sides: one, two or three, like the command's
    /// dimensions. None if the program has not set such a layout; an error if the layout skips
    /// fractions of blocks.
    fn of(store: &PixelStore, sides: &[i32]) -> Result<Option<Blocks>, ()> {
        let block = store.number(GL_UNPACK_COMPRESSED_BLOCK_SIZE);
        let names = [
            [
                GL_UNPACK_COMPRESSED_BLOCK_WIDTH,
                GL_UNPACK_SKIP_PIXELS,
                GL_UNPACK_ROW_LENGTH,
            ],
            [
                GL_UNPACK_COMPRESSED_BLOCK_HEIGHT,
                GL_UNPACK_SKIP_ROWS,
                GL_UNPACK_IMAGE_HEIGHT,
            ],
            [GL_UNPACK_COMPRESSED_BLOCK_DEPTH, GL_UNPACK_SKIP_IMAGES, 0],
        ];
        // For each direction: the number of blocks, the skipped blocks, and the blocks from one row
        // or layer to the next.
        let mut counts = [(1, 0, 1); 3];
        for ((names, side), counts) in names.iter().zip(sides).zip(&mut counts) {
            let [per_block, skipped, length] = names.map(|pname| store.number(pname));
            if block == 0 || per_block == 0 {
                return Ok(None);
            }
            if skipped % per_block != 0 {
                return Err(());
            }
            let blocks = |side: i128| (side + per_block - 1) / per_block;
            let side = blocks(i128::from(*side).max(0));
            let length = if length > 0 { blocks(length) } else { side };
            *counts = (side, skipped / per_block, length);
        }
        let [(across, skip_across, pitch), (rows, skip_rows, layer), (layers, skip_layers, _)] =
            counts;
        let stride = pitch * block;
        Ok(Some(Blocks {
            skipped: (skip_layers * layer + skip_rows) * stride + skip_across * block,
            row: across * block,
            stride,
            layer,
            rows,
            layers,
        }))
    }

    /// Bytes of the image without padding.
    fn bytes(&self) -> i128 {
        self.row * self.rows * self.layers
    }

    /// Bytes from the start of the first row to the end of the last.
    fn reach(&self) -> i128 {
        ((self.layers - 1) * self.layer + self.rows - 1) * self.stride + self.row
    }
}

impl Renderer {
    /// The same as `image`, for commands whose images display lists copy from an address; Mesa does
    /// so even while a buffer is bound. While a list is compiled, the renderer reads the part of
    /// the buffer first and passes the copy to the driver. None if the image does not lie inside
    /// the buffer: an error was raised, and nothing remains to be done.
    pub(crate) fn listed_image(
        &mut self,
        data: Data<'_>,
        bytes: usize,
    ) -> Result<Option<Image>, Fault> {
        match self.place_in_buffer(&data).filter(|_| self.compiles()) {
            Some(offset) => self.image_from_buffer(offset, bytes as i128, true),
            None => self.image_as_it_is(data, Some(bytes)),
        }
    }

    /// The same for compressed blocks. Mesa reads outside of the buffer if the program has set a
    /// block layout, or if the offset is negative.
    pub(crate) fn block_image(
        &mut self,
        data: Data<'_>,
        bytes: usize,
        sides: &[i32],
    ) -> Result<Option<Image>, Fault> {
        let Some(offset) = self.place_in_buffer(&data) else {
            return self.listed_image(data, bytes);
        };
        let Some(cx) = self.cx.as_deref() else {
            return Ok(None);
        };
        let blocks = Blocks::of(&cx.pixel_store, sides);
        let blocks = match blocks {
            Ok(blocks) => blocks.filter(|blocks| blocks.bytes() == bytes as i128 && bytes > 0),
            Err(()) => {
                self.set_error(GL_INVALID_OPERATION);
                return Ok(None);
            }
        };
        let Some(blocks) = blocks else {
            // Mesa checks that the buffer has this size.
            let is_laid_out = self.has_block_layout();
            return match offset > TOO_FAR as u64 {
                true => self.image_from_buffer(offset, bytes as i128, true),
                false if is_laid_out => self.image_from_buffer(offset, bytes as i128, true),
                false => self.listed_image(data, bytes),
            };
        };
        let start = i128::from(offset) + blocks.skipped;
        let Ok(start) = u64::try_from(start) else {
            self.set_error(GL_INVALID_OPERATION);
            return Ok(None);
        };
        let Some(mut image) = self.image_from_buffer(start, blocks.reach(), true)? else {
            return Ok(None);
        };
        let mut tight = Vec::with_capacity(bytes);
        for layer in 0..blocks.layers {
            for row in 0..blocks.rows {
                let at = ((layer * blocks.layer + row) * blocks.stride) as usize;
                tight.extend_from_slice(&image._copy[at..at + blocks.row as usize]);
            }
        }
        (image.at, image._copy) = (tight.as_ptr(), tight);
        Ok(Some(image))
    }

    /// The same for a bitmap, which display lists copy in the same way.
    pub(crate) fn bitmap_image(
        &mut self,
        data: Data<'_>,
        [width, height]: [i32; 2],
        bytes: Option<usize>,
    ) -> Result<Option<Image>, Fault> {
        let offset = self.place_in_buffer(&data).filter(|_| self.compiles());
        let (Some(offset), Some(cx)) = (offset.filter(|_| width > 0 && height > 0), &self.cx)
        else {
            return self.image_as_it_is(data, bytes);
        };
        let number = |pname| cx.pixel_store.number(pname);
        let (skipped, alignment) = (
            number(GL_UNPACK_SKIP_PIXELS),
            number(GL_UNPACK_ALIGNMENT).max(1),
        );
        let length = match number(GL_UNPACK_ROW_LENGTH) {
            0 => i128::from(width),
            length => length,
        };
        let bytes = |bits: i128| (bits + 7) / 8;
        let stride = (bytes(length) + alignment - 1) / alignment * alignment;
        let rows = number(GL_UNPACK_SKIP_ROWS) + i128::from(height) - 1;
        let reach = rows * stride + bytes(skipped + i128::from(width));
        self.image_from_buffer(offset, reach, false)
    }

    fn image_as_it_is(
        &mut self,
        data: Data<'_>,
        bytes: Option<usize>,
    ) -> Result<Option<Image>, Fault> {
        Ok(Some(Image {
            at: self.image(data, bytes)?,
            _copy: Vec::new(),
            unbound: None,
        }))
    }

    /// The offset of an image in the bound buffer, if one is bound.
    fn place_in_buffer(&self, data: &Data<'_>) -> Option<u64> {
        let offset = match data {
            Data::Offset(offset) => *offset,
            Data::Null => 0,
            Data::Inline(_) => return None,
        };
        self.pixel_buffer(GL_PIXEL_UNPACK_BUFFER_BINDING)
            .then_some(offset)
    }

    /// A copy of a part of the bound buffer. The buffer is unbound while the copy lives, because
    /// the driver would take the address for an offset. The copy is read without padding, or in the
    /// program's layout.
    fn image_from_buffer(
        &mut self,
        offset: u64,
        bytes: i128,
        tight: bool,
    ) -> Result<Option<Image>, Fault> {
        let buffer = self.driver_integer(GL_PIXEL_UNPACK_BUFFER_BINDING) as u32;
        let contents = i64::try_from(bytes)
            .ok()
            .and_then(|bytes| self.contents(buffer, offset, bytes));
        let Some(copy) = contents else {
            self.set_error(GL_INVALID_OPERATION);
            return Ok(None);
        };
        // SAFETY: the context is current.
        unsafe { (self.gl.glBindBuffer)(GL_PIXEL_UNPACK_BUFFER, 0) };
        let image = Image {
            at: copy.as_ptr(),
            _copy: copy,
            unbound: Some((self.gl.clone(), buffer)),
        };
        self.unpack(tight)?;
        Ok(Some(image))
    }

    /// Whether the program has set a layout of compressed blocks.
    fn has_block_layout(&self) -> bool {
        let cx = self.cx.as_deref();
        cx.is_some_and(|cx| cx.pixel_store.number(GL_UNPACK_COMPRESSED_BLOCK_SIZE) != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_lie_where_the_program_says() {
        let mut store = PixelStore::default();
        assert_eq!(Blocks::of(&store, &[8, 8]), Ok(None));
        for (pname, value) in [
            (GL_UNPACK_COMPRESSED_BLOCK_WIDTH, 4),
            (GL_UNPACK_COMPRESSED_BLOCK_HEIGHT, 4),
            (GL_UNPACK_COMPRESSED_BLOCK_SIZE, 16),
            (GL_UNPACK_ROW_LENGTH, 17),
            (GL_UNPACK_SKIP_PIXELS, 4),
            (GL_UNPACK_SKIP_ROWS, 8),
        ] {
            store.note(pname, value);
        }
        let expected = Blocks {
            skipped: 2 * 80 + 16,
            row: 32,
            stride: 80,
            layer: 2,
            rows: 2,
            layers: 1,
        };
        assert_eq!(expected.bytes(), 64);
        assert_eq!(expected.reach(), 112);
        assert_eq!(Blocks::of(&store, &[8, 5]), Ok(Some(expected)));
        assert_eq!(Blocks::of(&store, &[8, 8, 1]), Ok(None));
        store.note(GL_UNPACK_SKIP_ROWS, 2);
        assert_eq!(Blocks::of(&store, &[8, 8]), Err(()));
    }
}
