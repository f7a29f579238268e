//! Copying images between the program's memory and the wire.

use mgn_sys::copy::copy;
use std::ops::Range;
use std::slice;

use super::bits;
use super::layout::{Conversion, Layout};

impl Layout {
    /// Copies some rows, counted over all images, from the program's memory to tight rows, so that
    /// a large image can be sent in pieces.
    ///
    /// # Safety
    /// The rows must be among the image's and readable at `src`, where the image that this
    /// layout describes is, and [`Layout::tight_row_bytes`] bytes a row writable at `dst`. The
    /// two must not overlap.
    pub unsafe fn gather_rows(&self, src: *const u8, rows: Range<usize>, dst: *mut u8) {
        let mut dst = dst;
        for row in rows {
            // SAFETY: the row is part of the image, and `dst` has room for each in turn.
            unsafe {
                self.gather_row(src.offset(self.row_offset(row)), dst);
                dst = dst.add(self.row_bytes);
            }
        }
    }

    /// Copies a tight image to the program's memory. Bytes between rows and images keep their
    /// values, and so do the bits next to a bitmap's row.
    ///
    /// # Safety
    /// [`Layout::tight_bytes`] bytes must be readable at `src`, the image that this layout
    /// describes writable at `dst`, and the two must not overlap.
    pub unsafe fn scatter(&self, src: *const u8, dst: *mut u8) {
        if self.tight_bytes() == 0 {
            return;
        }
        if self.is_tight() {
            // SAFETY: a tight layout's bytes follow each other from `start` on.
            unsafe {
                dst.offset(self.start)
                    .copy_from_nonoverlapping(src, self.tight_bytes())
            };
            return;
        }
        // SAFETY: as the caller's.
        unsafe { self.scatter_rows(src, 0..self.total_rows(), dst) }
    }

    /// Copies some rows, counted over all images, from an answer to the program's memory.
    ///
    /// # Safety
    /// As [`Layout::scatter`], with [`Layout::tight_row_bytes`] bytes a row readable at `src`.
    /// The rows must be among the image's.
    pub unsafe fn scatter_rows(&self, src: *const u8, rows: Range<usize>, dst: *mut u8) {
        let mut src = src;
        for row in rows {
            // SAFETY: the row is part of the image, and `src` holds each in turn.
            unsafe {
                self.scatter_row(src, dst.offset(self.row_offset(row)));
                src = src.add(self.row_bytes);
            }
        }
    }

    /// # Safety
    /// A row must be readable at `src` and `row_bytes` bytes writable at `dst`.
    unsafe fn gather_row(&self, src: *const u8, dst: *mut u8) {
        match self.conversion {
            // SAFETY: the caller's memory, which does not overlap.
            Conversion::None => unsafe { copy(src, dst, self.row_bytes) },
            Conversion::Swap(size) => {
                // SAFETY: the caller's memory, which does not overlap, and which no other code
                // uses: `dst` was just reserved and is written here before it is read.
                let dst = unsafe {
                    copy(src, dst, self.row_bytes);
                    slice::from_raw_parts_mut(dst, self.row_bytes)
                };
                swap(dst, size);
            }
            Conversion::Bits {
                offset,
                width,
                lsb_first,
            } => {
                let touched = (offset + width).div_ceil(8);
                // SAFETY: these are the bytes that the row's bits touch, and a tight row,
                // zeroed before it becomes a slice.
                let (src, dst) = unsafe {
                    dst.write_bytes(0, self.row_bytes);
                    (
                        slice::from_raw_parts(src, touched),
                        slice::from_raw_parts_mut(dst, self.row_bytes),
                    )
                };
                bits::gather(src, offset, lsb_first, width, dst);
            }
        }
    }

    /// # Safety
    /// `row_bytes` bytes must be readable at `src` and a row writable at `dst`.
    unsafe fn scatter_row(&self, src: *const u8, dst: *mut u8) {
        match self.conversion {
            // SAFETY: the caller's memory, which does not overlap.
            Conversion::None => unsafe { copy(src, dst, self.row_bytes) },
            Conversion::Swap(size) => {
                // SAFETY: as above; the program may not touch the memory meanwhile.
                let dst = unsafe {
                    copy(src, dst, self.row_bytes);
                    slice::from_raw_parts_mut(dst, self.row_bytes)
                };
                swap(dst, size);
            }
            Conversion::Bits {
                offset,
                width,
                lsb_first,
            } => {
                let touched = (offset + width).div_ceil(8);
                // SAFETY: `src` is a tight row. `dst` has the bytes that the row's bits touch. They
                // are the program's, and initialised where the program will read them.
                let (src, dst) = unsafe {
                    (
                        slice::from_raw_parts(src, self.row_bytes),
                        slice::from_raw_parts_mut(dst, touched),
                    )
                };
                bits::scatter(src, offset, lsb_first, width, dst);
            }
        }
    }
}

/// Reverses the bytes of every element of `size` bytes.
fn swap(bytes: &mut [u8], size: usize) {
    match size {
        2 => bytes.chunks_exact_mut(2).for_each(|e| e.swap(0, 1)),
        _ => bytes.chunks_exact_mut(4).for_each(|e| e.reverse()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::layout::Extent;
    use super::*;
    use mgn_state::PixelStore;
    use mgn_wire::gl::*;

    fn gathered(layout: &Layout, memory: &[u8]) -> Vec<u8> {
        assert!(memory.len() >= layout.end());
        let mut tight = vec![0xee; layout.tight_bytes()];
        // SAFETY: the memory holds the image, and the vector is as long as the tight one.
        unsafe { layout.gather_rows(memory.as_ptr(), 0..layout.total_rows(), tight.as_mut_ptr()) };
        tight
    }

    fn scattered(layout: &Layout, tight: &[u8], memory: &mut [u8]) {
        assert!(memory.len() >= layout.end());
        assert_eq!(tight.len(), layout.tight_bytes());
        // SAFETY: as above, the other way round.
        unsafe { layout.scatter(tight.as_ptr(), memory.as_mut_ptr()) };
    }

    #[test]
    fn rows_and_padding() {
        let extent = Extent::flat(3, 2);
        let layout = Layout::new(&PixelStore::INITIAL, extent, GL_RED, GL_UNSIGNED_BYTE).unwrap();
        assert_eq!(
            gathered(&layout, &[1, 2, 3, 0, 4, 5, 6]),
            [1, 2, 3, 4, 5, 6]
        );
        let mut memory = [9; 9];
        scattered(&layout, &[1, 2, 3, 4, 5, 6], &mut memory);
        assert_eq!(memory, [1, 2, 3, 9, 4, 5, 6, 9, 9]);
    }

    #[test]
    fn swapped_elements() {
        let store = PixelStore {
            swap_bytes: true,
            ..PixelStore::INITIAL
        };
        let bytes = [1, 2, 3, 4, 5, 6, 7, 8];
        let gather = |format, type_| {
            gathered(
                &Layout::new(&store, Extent::flat(1, 1), format, type_).unwrap(),
                &bytes,
            )
        };
        assert_eq!(gather(GL_RG, GL_UNSIGNED_SHORT), [2, 1, 4, 3]);
        assert_eq!(gather(GL_RG, GL_FLOAT), [4, 3, 2, 1, 8, 7, 6, 5]);
        assert_eq!(gather(GL_RGB, GL_UNSIGNED_SHORT_5_6_5), [2, 1]);
        assert_eq!(gather(GL_RGBA, GL_UNSIGNED_INT_8_8_8_8), [4, 3, 2, 1]);
        assert_eq!(gather(GL_RGBA, GL_UNSIGNED_BYTE), [1, 2, 3, 4]);
        assert_eq!(
            gather(GL_DEPTH_STENCIL, GL_FLOAT_32_UNSIGNED_INT_24_8_REV),
            [4, 3, 2, 1, 8, 7, 6, 5]
        );
    }

    #[test]
    fn inverted_rows() {
        let store = PixelStore {
            invert: true,
            ..PixelStore::INITIAL
        };
        let layout = Layout::new(&store, Extent::flat(2, 3), GL_RED, GL_UNSIGNED_BYTE).unwrap();
        let mut memory = [0; 10];
        scattered(&layout, &[1, 2, 3, 4, 5, 6], &mut memory);
        assert_eq!(memory, [5, 6, 0, 0, 3, 4, 0, 0, 1, 2]);
        assert_eq!(gathered(&layout, &memory), [1, 2, 3, 4, 5, 6]);
    }

    #[test]
    fn pieces_make_the_whole() {
        let store = PixelStore {
            row_length: 5,
            image_height: 4,
            skip_rows: 1,
            skip_pixels: 1,
            skip_images: 1,
            ..PixelStore::INITIAL
        };
        let layout =
            Layout::new(&store, Extent::volume(3, 2, 3), GL_RGB, GL_UNSIGNED_BYTE).unwrap();
        let memory: Vec<u8> = (0..layout.end()).map(|i| i as u8).collect();
        let whole = gathered(&layout, &memory);
        let mut pieces = vec![0; layout.tight_bytes()];
        for row in 0..layout.total_rows() {
            let to = &mut pieces[row * layout.tight_row_bytes()..];
            // SAFETY: the memory holds the image, and the rest of the vector this row.
            unsafe { layout.gather_rows(memory.as_ptr(), row..row + 1, to.as_mut_ptr()) };
        }
        assert_eq!(whole, pieces);
    }
}
