//! The places of an image's rows in the program's memory.

use mgn_state::PixelStore;
use mgn_wire::sizes::image::{components, pixel_bytes, Element};

/// Extent of the image a command names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    pub width: i32,
    pub height: i32,
    pub depth: i32,
    /// Whether the command takes a depth at all: only then do `IMAGE_HEIGHT` and
    /// `SKIP_IMAGES` apply, even to a single image.
    pub volume: bool,
}

impl Extent {
    /// The extent of a command that takes a width and a height (or a width alone).
    pub fn flat(width: i32, height: i32) -> Extent {
        Extent {
            width,
            height,
            depth: 1,
            volume: false,
        }
    }

    /// The extent of a command that takes a depth.
    pub fn volume(width: i32, height: i32, depth: i32) -> Extent {
        Extent {
            width,
            height,
            depth,
            volume: true,
        }
    }

    /// Whether an extent is greater than `most`.
    pub fn is_beyond(&self, most: i32) -> bool {
        self.width > most || self.height > most || self.depth > most
    }

    fn is_empty(&self) -> bool {
        self.width <= 0 || self.height <= 0 || self.depth <= 0
    }
}

/// The conversion of a row's bytes while they are copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Conversion {
    None,
    /// Elements of this many bytes are byte-swapped.
    Swap(usize),
    /// A row of a bitmap. It starts at bit `offset` (below 8) of its first byte.
    Bits {
        offset: usize,
        width: usize,
        lsb_first: bool,
    },
}

/// The rows of one image, relative to the pointer that the program passes. Computed in checked
/// arithmetic, so that every offset below fits the address space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Bytes from the program's pointer to the first byte of the first row.
    pub(super) start: isize,
    /// Bytes of a row on the wire, and, except for bitmaps, in memory.
    pub(super) row_bytes: usize,
    pub(super) row_stride: isize,
    /// The rows of one image of a volume.
    pub(super) rows: usize,
    pub(super) image_stride: isize,
    pub(super) images: usize,
    pub(super) conversion: Conversion,
    end: usize,
}

impl Layout {
    /// The layout of an image of `extent` in pixels of `format` and `type`; `None` if no
    /// command accepts these enums or if the image would not fit the address space.
    pub fn new(store: &PixelStore, extent: Extent, format: u32, type_: u32) -> Option<Layout> {
        let element = Element::of(type_)?;
        let components = components(format)?;
        if extent.is_empty() {
            return Some(Layout::EMPTY);
        }
        let row_length = match store.row_length {
            0 => i64::from(extent.width),
            n => i64::from(n),
        };
        let align = i64::from(store.alignment);
        let (pixel_bytes, unaligned, row_bytes, skip, conversion) = match element {
            Element::Bit => {
                let n = components as i64;
                let bits = i64::from(extent.width) * n;
                let skip = i64::from(store.skip_pixels) * n;
                let conversion = Conversion::Bits {
                    offset: (skip % 8) as usize,
                    width: bits as usize,
                    lsb_first: store.lsb_first,
                };
                let row = (row_length * n + 7) / 8;
                (0, row, (bits + 7) / 8, skip / 8, conversion)
            }
            Element::Component(size) | Element::Packed(size) => {
                let pixel = pixel_bytes(format, type_)? as i64;
                let conversion = match size {
                    1 => Conversion::None,
                    _ if !store.swap_bytes => Conversion::None,
                    // The one element of 8 bytes is a pair of 4-byte words.
                    8 => Conversion::Swap(4),
                    n => Conversion::Swap(n),
                };
                let skip = i64::from(store.skip_pixels) * pixel;
                let row = pixel * i64::from(extent.width);
                (pixel, row_length * pixel, row, skip, conversion)
            }
        };
        let row_stride = unaligned.checked_add(align - 1)? / align * align;
        Strides {
            skip,
            row_bytes,
            // Bits of a bitmap's last row may reach one byte further than a tight row does.
            last_row_bytes: match conversion {
                Conversion::Bits { offset, width, .. } => ((offset + width) as i64 + 7) / 8,
                _ => pixel_bytes * i64::from(extent.width),
            },
            row_stride,
            rows: i64::from(extent.height),
            rows_skipped: i64::from(store.skip_rows),
            image_rows: match store.image_height {
                n if n > 0 && extent.volume => i64::from(n),
                _ => i64::from(extent.height),
            },
            images: i64::from(extent.depth),
            images_skipped: match extent.volume {
                true => i64::from(store.skip_images),
                false => 0,
            },
            invert: store.invert,
        }
        .layout(conversion)
    }

    /// The layout of a compressed image of `image_size` tight bytes; `None` if the block
    /// parameters contradict the skips or the size (`GL_INVALID_OPERATION`), or if the image
    /// would not fit the address space. Without block parameters a compressed image is tight.
    pub fn compressed(store: &PixelStore, extent: Extent, image_size: usize) -> Option<Layout> {
        let has = |block: i32| block > 0 && store.block_size > 0;
        if extent.is_empty() || image_size == 0 || !has(store.block_width) {
            return Layout::bytes(image_size);
        }
        let blocks = |pixels: i32, block: i32| -> i64 {
            (i64::from(pixels) + i64::from(block) - 1) / i64::from(block)
        };
        let skipped = |pixels: i32, block: i32| -> Option<i64> {
            (pixels % block == 0).then(|| i64::from(pixels / block))
        };
        let size = i64::from(store.block_size);
        let row_bytes = blocks(extent.width, store.block_width) * size;
        let row_stride = match store.row_length {
            0 => row_bytes,
            n => blocks(n, store.block_width) * size,
        };
        let tall = has(store.block_height);
        let deep = extent.volume && has(store.block_depth);
        let rows = match tall {
            true => blocks(extent.height, store.block_height),
            false => i64::from(extent.height),
        };
        let images = match deep {
            true => blocks(extent.depth, store.block_depth),
            false => i64::from(extent.depth),
        };
        let layout = Strides {
            skip: skipped(store.skip_pixels, store.block_width)? * size,
            row_bytes,
            last_row_bytes: row_bytes,
            row_stride,
            rows,
            rows_skipped: match tall {
                true => skipped(store.skip_rows, store.block_height)?,
                false => 0,
            },
            image_rows: match store.image_height {
                n if n > 0 && tall && extent.volume => blocks(n, store.block_height),
                _ => rows,
            },
            images,
            images_skipped: match deep {
                true => skipped(store.skip_images, store.block_depth)?,
                false => 0,
            },
            invert: false,
        }
        .layout(Conversion::None)?;
        (layout.tight_bytes() == image_size).then_some(layout)
    }

    /// `bytes` bytes without conversion.
    pub fn bytes(bytes: usize) -> Option<Layout> {
        let stride = isize::try_from(bytes).ok()?;
        Some(Layout {
            row_bytes: bytes,
            row_stride: stride,
            image_stride: stride,
            rows: 1,
            images: 1,
            end: bytes,
            ..Layout::EMPTY
        })
    }

    /// No image at all.
    pub const EMPTY: Layout = Layout {
        start: 0,
        row_bytes: 0,
        row_stride: 0,
        rows: 0,
        image_stride: 0,
        images: 0,
        conversion: Conversion::None,
        end: 0,
    };

    /// Bytes of the image on the wire.
    pub fn tight_bytes(&self) -> usize {
        self.row_bytes * self.total_rows()
    }

    /// Bytes of one row on the wire.
    pub fn tight_row_bytes(&self) -> usize {
        self.row_bytes
    }

    /// Bytes of each pixel of an image that is `width` wide; none for bitmaps, and where there is
    /// no pixel.
    pub fn pixel_bytes(&self, width: i32) -> Option<usize> {
        let width = usize::try_from(width).ok().filter(|width| *width > 0)?;
        match self.conversion {
            Conversion::Bits { .. } => None,
            _ => Some(self.row_bytes / width).filter(|bytes| *bytes > 0),
        }
    }

    /// Rows of the whole image, over all images of a volume.
    pub fn total_rows(&self) -> usize {
        self.rows * self.images
    }

    /// Bytes from the program's pointer to the end of the image. A buffer must have at least this
    /// size to hold it.
    pub fn end(&self) -> usize {
        self.end
    }

    /// Whether the image in memory is the same, byte for byte, as the tight image.
    pub fn is_tight(&self) -> bool {
        self.conversion == Conversion::None
            && (self.rows <= 1 || self.row_stride == self.row_bytes as isize)
            && (self.images <= 1 || self.image_stride == (self.row_bytes * self.rows) as isize)
    }

    /// Bytes from the program's pointer to the first byte of the image.
    pub fn start(&self) -> isize {
        self.start
    }

    /// Bytes from the program's pointer to the first byte of row `row`, counted over all
    /// images.
    pub fn row_offset(&self, row: usize) -> isize {
        let (image, row) = (row / self.rows, row % self.rows);
        self.start + image as isize * self.image_stride + row as isize * self.row_stride
    }
}

/// The lengths that determine a layout, in bytes, rows and images.
struct Strides {
    skip: i64,
    row_bytes: i64,
    last_row_bytes: i64,
    row_stride: i64,
    rows: i64,
    rows_skipped: i64,
    image_rows: i64,
    images: i64,
    images_skipped: i64,
    invert: bool,
}

impl Strides {
    fn layout(self, conversion: Conversion) -> Option<Layout> {
        let image_stride = self.row_stride.checked_mul(self.image_rows)?;
        let first = image_stride
            .checked_mul(self.images_skipped)?
            .checked_add(self.row_stride.checked_mul(self.rows_skipped)?)?
            .checked_add(self.skip)?;
        let last_row = self.row_stride.checked_mul(self.rows - 1)?;
        let end = image_stride
            .checked_mul(self.images - 1)?
            .checked_add(last_row)?
            .checked_add(first)?
            .checked_add(self.last_row_bytes)?;
        let tight = self
            .row_bytes
            .checked_mul(self.rows)?
            .checked_mul(self.images)?;
        // A larger size could not be passed to memcpy, or exist in the program's memory.
        isize::try_from(tight).ok()?;
        let (start, row_stride) = match self.invert {
            true => (first.checked_add(last_row)?, -self.row_stride),
            false => (first, self.row_stride),
        };
        Some(Layout {
            start: isize::try_from(start).ok()?,
            row_bytes: usize::try_from(self.row_bytes).ok()?,
            row_stride: isize::try_from(row_stride).ok()?,
            rows: usize::try_from(self.rows).ok()?,
            image_stride: isize::try_from(image_stride).ok()?,
            images: usize::try_from(self.images).ok()?,
            conversion,
            end: usize::try_from(end).ok()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mgn_wire::gl::*;

    fn layout(store: PixelStore, extent: Extent, format: u32, type_: u32) -> Layout {
        Layout::new(&store, extent, format, type_).unwrap()
    }

    #[test]
    fn rows_are_aligned() {
        let l = layout(
            PixelStore::INITIAL,
            Extent::flat(3, 2),
            GL_RGB,
            GL_UNSIGNED_BYTE,
        );
        assert_eq!((l.row_bytes, l.row_stride, l.end()), (9, 12, 21));
        assert!(!l.is_tight());
        let l = layout(
            PixelStore::TIGHT,
            Extent::flat(3, 2),
            GL_RGB,
            GL_UNSIGNED_BYTE,
        );
        assert!(l.is_tight());
        assert_eq!(l.tight_bytes(), 18);
    }

    #[test]
    fn skips_of_images_need_a_volume() {
        let store = PixelStore {
            skip_images: 2,
            image_height: 5,
            row_length: 4,
            skip_rows: 1,
            skip_pixels: 1,
            ..PixelStore::INITIAL
        };
        let l = layout(store, Extent::flat(2, 2), GL_RGBA, GL_UNSIGNED_BYTE);
        assert_eq!(l.start(), 16 + 4);
        let l = layout(store, Extent::volume(2, 2, 2), GL_RGBA, GL_UNSIGNED_BYTE);
        assert_eq!(l.start(), 2 * 80 + 16 + 4);
        assert_eq!(l.image_stride, 80);
        assert_eq!(l.end(), 2 * 80 + 80 + 2 * 16 + 4 + 8);
    }

    #[test]
    fn what_cannot_exist_is_none() {
        let huge = PixelStore {
            skip_images: i32::MAX,
            image_height: i32::MAX,
            row_length: i32::MAX,
            ..PixelStore::INITIAL
        };
        let extent = Extent::volume(1, 1, 1);
        assert_eq!(Layout::new(&huge, extent, GL_RGBA, GL_FLOAT), None);
        assert_eq!(
            Layout::new(&PixelStore::TIGHT, extent, GL_RGBA, GL_RGBA),
            None
        );
        let m = i32::MAX;
        let extent = Extent::volume(m, m, m);
        assert_eq!(
            Layout::new(&PixelStore::TIGHT, extent, GL_RGBA, GL_FLOAT),
            None
        );
    }

    #[test]
    fn nothing_is_nowhere() {
        let l = layout(
            PixelStore::INITIAL,
            Extent::flat(-1, 3),
            GL_RGBA,
            GL_UNSIGNED_BYTE,
        );
        assert_eq!((l.tight_bytes(), l.end(), l.total_rows()), (0, 0, 0));
    }

    #[test]
    fn compressed_blocks() {
        let store = PixelStore {
            block_width: 4,
            block_height: 4,
            block_depth: 1,
            block_size: 8,
            row_length: 16,
            skip_pixels: 4,
            skip_rows: 4,
            ..PixelStore::INITIAL
        };
        let l = Layout::compressed(&store, Extent::flat(8, 8), 32).unwrap();
        assert_eq!(
            (l.start(), l.row_bytes, l.row_stride, l.rows),
            (40, 16, 32, 2)
        );
        let odd = PixelStore {
            skip_pixels: 3,
            ..store
        };
        assert_eq!(Layout::compressed(&odd, Extent::flat(8, 8), 32), None);
        assert_eq!(Layout::compressed(&store, Extent::flat(8, 8), 40), None);
        let plain = Layout::compressed(&PixelStore::INITIAL, Extent::flat(8, 8), 32).unwrap();
        assert!(plain.is_tight());
    }
}
