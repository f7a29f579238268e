//! Pixel store parameters: how the program's memory lays out an image.

/// One direction's parameters of `glPixelStore`, as `glGet*` would tell them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PixelStore {
    /// Elements of more than a byte have their bytes reversed in the program's memory.
    pub swap_bytes: bool,
    /// A bitmap's first pixel is the least significant bit of a byte.
    pub lsb_first: bool,
    /// Rows are stored from the last to the first (packing only).
    pub invert: bool,
    /// Pixels from one row to the next; 0 means the image's own width.
    pub row_length: i32,
    /// Rows from one image of a volume to the next; 0 means the image's own height.
    pub image_height: i32,
    pub skip_pixels: i32,
    pub skip_rows: i32,
    pub skip_images: i32,
    /// Rows start at multiples of this many bytes: 1, 2, 4 or 8.
    pub alignment: i32,
    /// Extent in pixels and size in bytes of a block of a compressed image; 0 means unset.
    pub block_width: i32,
    pub block_height: i32,
    pub block_depth: i32,
    pub block_size: i32,
}

impl PixelStore {
    /// The initial state of a new context.
    pub const INITIAL: PixelStore = PixelStore {
        alignment: 4,
        ..PixelStore::TIGHT
    };

    /// No gaps, no skips and no swapping: the layout of images on the wire.
    pub const TIGHT: PixelStore = PixelStore {
        swap_bytes: false,
        lsb_first: false,
        invert: false,
        row_length: 0,
        image_height: 0,
        skip_pixels: 0,
        skip_rows: 0,
        skip_images: 0,
        alignment: 1,
        block_width: 0,
        block_height: 0,
        block_depth: 0,
        block_size: 0,
    };
}

impl Default for PixelStore {
    fn default() -> PixelStore {
        PixelStore::INITIAL
    }
}
