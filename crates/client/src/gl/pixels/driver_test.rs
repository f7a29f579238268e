//! Layouts against the local driver: an image uploaded through random pixel store parameters
//! must equal the same image gathered and uploaded tight, and an image read back through
//! random parameters must equal the tight one scattered, padding included.

use std::ffi::c_void;
use std::mem::transmute;

use mgn_fuzzing::Random;
use mgn_state::PixelStore;
use mgn_wire::gl::*;
use mgn_wire::sizes::image::{components, Element};

use super::{Extent, Layout};

#[path = "../../../../state/tests/driver/egl.rs"]
#[allow(dead_code)]
mod egl;

const ROUNDS: usize = 6000;

/// Internal format, format and type of images that a texture returns unchanged.
const IMAGES: &[(u32, u32, u32)] = &[
    (GL_R8, GL_RED, GL_UNSIGNED_BYTE),
    (GL_RG8, GL_RG, GL_UNSIGNED_BYTE),
    (GL_RGB8, GL_RGB, GL_UNSIGNED_BYTE),
    (GL_RGB8, GL_BGR, GL_UNSIGNED_BYTE),
    (GL_RGBA8, GL_RGBA, GL_UNSIGNED_BYTE),
    (GL_RGBA8, GL_BGRA, GL_UNSIGNED_BYTE),
    (GL_RGBA8, GL_ABGR_EXT, GL_UNSIGNED_BYTE),
    (GL_RGBA8, GL_RGBA, GL_UNSIGNED_INT_8_8_8_8),
    (GL_RGBA8, GL_BGRA, GL_UNSIGNED_INT_8_8_8_8_REV),
    (GL_R16, GL_RED, GL_UNSIGNED_SHORT),
    (GL_RGB16, GL_RGB, GL_UNSIGNED_SHORT),
    (GL_RGBA16, GL_RGBA, GL_UNSIGNED_SHORT),
    (GL_RGBA16I, GL_RGBA_INTEGER, GL_SHORT),
    (GL_RGB32UI, GL_RGB_INTEGER, GL_UNSIGNED_INT),
    (GL_R32I, GL_RED_INTEGER, GL_INT),
    (GL_RGB565, GL_RGB, GL_UNSIGNED_SHORT_5_6_5),
    (GL_RGB565, GL_RGB, GL_UNSIGNED_SHORT_5_6_5_REV),
    (GL_RGBA4, GL_RGBA, GL_UNSIGNED_SHORT_4_4_4_4),
    (GL_RGB5_A1, GL_RGBA, GL_UNSIGNED_SHORT_5_5_5_1),
    (GL_R3_G3_B2, GL_RGB, GL_UNSIGNED_BYTE_3_3_2),
    (GL_RGB10_A2, GL_RGBA, GL_UNSIGNED_INT_2_10_10_10_REV),
    (GL_RGB10_A2, GL_RGBA, GL_UNSIGNED_INT_10_10_10_2),
    (GL_R32F, GL_RED, GL_FLOAT),
    (GL_RGB32F, GL_RGB, GL_FLOAT),
    (GL_RGBA16F, GL_RGBA, GL_HALF_FLOAT),
    (GL_DEPTH24_STENCIL8, GL_DEPTH_STENCIL, GL_UNSIGNED_INT_24_8),
    (
        GL_DEPTH32F_STENCIL8,
        GL_DEPTH_STENCIL,
        GL_FLOAT_32_UNSIGNED_INT_24_8_REV,
    ),
    (GL_DEPTH_COMPONENT32F, GL_DEPTH_COMPONENT, GL_FLOAT),
];

macro_rules! gl {
    ($context:expr, $name:literal ( $($arg:expr => $type:ty),* )) => {{
        // SAFETY: the types are those of the command, and memory it reads or writes is long
        // enough, which is what these tests are about.
        unsafe {
            let f: unsafe extern "C" fn($($type),*) = transmute($context.proc($name));
            f($($arg),*)
        }
    }};
}

/// The random choices of these tests.
trait Choices {
    fn store(&mut self, extent: Extent) -> PixelStore;
    /// Bytes that a texture returns unchanged: no NaN among the floats.
    fn pixels(&mut self, n: usize, type_: u32, swapped: bool) -> Vec<u8>;
}

impl Choices for Random {
    fn store(&mut self, extent: Extent) -> PixelStore {
        let mut maybe = |n: i32, or: i32| if self.one_in(2) { self.below(n) } else { or };
        let mut store = PixelStore {
            skip_pixels: maybe(19, 0),
            skip_rows: maybe(4, 0),
            skip_images: maybe(3, 0),
            row_length: maybe(20, 0),
            image_height: maybe(6, 0),
            ..PixelStore::INITIAL
        };
        if store.row_length > 0 {
            store.row_length += extent.width;
        }
        if store.image_height > 0 {
            store.image_height += extent.height;
        }
        store.alignment = self.of(&[1, 2, 4, 8]);
        store.swap_bytes = self.one_in(2);
        store.lsb_first = self.one_in(2);
        store
    }

    fn pixels(&mut self, n: usize, type_: u32, swapped: bool) -> Vec<u8> {
        let mut bytes = self.bytes(n);
        let (size, high) = match type_ {
            GL_FLOAT | GL_FLOAT_32_UNSIGNED_INT_24_8_REV => (4, 0x3f),
            GL_HALF_FLOAT => (2, 0x3b),
            _ => return bytes,
        };
        for element in bytes.chunks_exact_mut(size) {
            let top = if swapped { 0 } else { size - 1 };
            element[top] = element[top] & 0x3 | high & 0x38;
        }
        bytes
    }
}

/// Inverts the order of rows in some cases. Then the driver counts skipped rows in the wrong
/// direction, and writes before the program's pointer, so no rows are skipped.
fn invert_some(random: &mut Random, store: &mut PixelStore) {
    if random.one_in(4) {
        store.invert = true;
        store.skip_rows = 0;
    }
}

fn set_store(context: &egl::Context, store: &PixelStore, pack: bool) {
    let base = |unpack: u32, packing: u32| if pack { packing } else { unpack };
    for (pname, value) in [
        (
            base(GL_UNPACK_SWAP_BYTES, GL_PACK_SWAP_BYTES),
            i32::from(store.swap_bytes),
        ),
        (
            base(GL_UNPACK_LSB_FIRST, GL_PACK_LSB_FIRST),
            i32::from(store.lsb_first),
        ),
        (
            base(GL_UNPACK_ROW_LENGTH, GL_PACK_ROW_LENGTH),
            store.row_length,
        ),
        (
            base(GL_UNPACK_IMAGE_HEIGHT, GL_PACK_IMAGE_HEIGHT),
            store.image_height,
        ),
        (
            base(GL_UNPACK_SKIP_PIXELS, GL_PACK_SKIP_PIXELS),
            store.skip_pixels,
        ),
        (
            base(GL_UNPACK_SKIP_ROWS, GL_PACK_SKIP_ROWS),
            store.skip_rows,
        ),
        (
            base(GL_UNPACK_SKIP_IMAGES, GL_PACK_SKIP_IMAGES),
            store.skip_images,
        ),
        (
            base(GL_UNPACK_ALIGNMENT, GL_PACK_ALIGNMENT),
            store.alignment,
        ),
        (
            base(
                GL_UNPACK_COMPRESSED_BLOCK_WIDTH,
                GL_PACK_COMPRESSED_BLOCK_WIDTH,
            ),
            store.block_width,
        ),
        (
            base(
                GL_UNPACK_COMPRESSED_BLOCK_HEIGHT,
                GL_PACK_COMPRESSED_BLOCK_HEIGHT,
            ),
            store.block_height,
        ),
        (
            base(
                GL_UNPACK_COMPRESSED_BLOCK_DEPTH,
                GL_PACK_COMPRESSED_BLOCK_DEPTH,
            ),
            store.block_depth,
        ),
        (
            base(
                GL_UNPACK_COMPRESSED_BLOCK_SIZE,
                GL_PACK_COMPRESSED_BLOCK_SIZE,
            ),
            store.block_size,
        ),
    ] {
        gl!(context, "glPixelStorei"(pname => u32, value => i32));
    }
    if pack {
        gl!(context, "glPixelStorei"(GL_PACK_INVERT_MESA => u32, i32::from(store.invert) => i32));
    }
}

/// Uploads an image to the bound texture by the command with the target's number of dimensions.
fn tex_image(
    context: &egl::Context,
    target: u32,
    extent: Extent,
    (internal, format, type_): (u32, u32, u32),
    data: &[u8],
) {
    let (i, w, h, d) = (internal as i32, extent.width, extent.height, extent.depth);
    let data = data.as_ptr();
    match target {
        GL_TEXTURE_1D => gl!(context, "glTexImage1D"(target => u32, 0 => i32, i => i32, w => i32,
            0 => i32, format => u32, type_ => u32, data => *const u8)),
        GL_TEXTURE_2D | GL_TEXTURE_RECTANGLE | GL_TEXTURE_1D_ARRAY => {
            gl!(context, "glTexImage2D"(target => u32, 0 => i32, i => i32, w => i32, h => i32,
                0 => i32, format => u32, type_ => u32, data => *const u8))
        }
        _ => gl!(context, "glTexImage3D"(target => u32, 0 => i32, i => i32, w => i32, h => i32,
            d => i32, 0 => i32, format => u32, type_ => u32, data => *const u8)),
    }
    assert_eq!(context.error(), 0, "{target:#x} {format:#x} {type_:#x}");
}

fn tex_contents(context: &egl::Context, target: u32, format: u32, type_: u32, to: &mut [u8]) {
    gl!(context, "glGetTexImage"(target => u32, 0 => i32, format => u32, type_ => u32,
        to.as_mut_ptr() => *mut u8));
    assert_eq!(context.error(), 0, "{target:#x} {format:#x} {type_:#x}");
}

fn gather(layout: &Layout, memory: &[u8]) -> Vec<u8> {
    assert!(memory.len() >= layout.end());
    let mut tight = vec![0; layout.tight_bytes()];
    // SAFETY: the memory holds the image, and the vector is as long as the tight one.
    unsafe { layout.gather_rows(memory.as_ptr(), 0..layout.total_rows(), tight.as_mut_ptr()) };
    tight
}

fn scatter(layout: &Layout, tight: &[u8], memory: &mut [u8]) {
    assert!(memory.len() >= layout.end() && tight.len() == layout.tight_bytes());
    // SAFETY: as above, the other way round.
    unsafe { layout.scatter(tight.as_ptr(), memory.as_mut_ptr()) };
}

/// The driver treats the rows of one-dimensional arrays as images, unlike the specification. So the
/// tests avoid parameters for which this matters.
fn spare_arrays(target: u32, store: &mut PixelStore) {
    if target == GL_TEXTURE_1D_ARRAY {
        store.invert = false;
        store.image_height = 0;
        store.skip_images = 0;
    }
}

fn context() -> Option<egl::Context> {
    egl::Context::new(egl::Api::Compat, 64, 64)
}

fn random_extent(random: &mut Random, target: u32, format: u32) -> (u32, Extent) {
    let mut n = || 1 + random.below(7);
    let (w, h, d) = (n(), n(), n());
    let depth = matches!(format, GL_DEPTH_COMPONENT | GL_DEPTH_STENCIL);
    match target {
        GL_TEXTURE_1D => (target, Extent::flat(w, 1)),
        // A volume cannot have a depth format.
        GL_TEXTURE_3D if depth => (GL_TEXTURE_2D_ARRAY, Extent::volume(w, h, d)),
        GL_TEXTURE_3D | GL_TEXTURE_2D_ARRAY => (target, Extent::volume(w, h, d)),
        _ => (target, Extent::flat(w, h)),
    }
}

const TARGETS: &[u32] = &[
    GL_TEXTURE_1D,
    GL_TEXTURE_2D,
    GL_TEXTURE_RECTANGLE,
    GL_TEXTURE_1D_ARRAY,
    GL_TEXTURE_3D,
    GL_TEXTURE_2D_ARRAY,
];

#[test]
fn uploads_equal_tight_uploads() {
    let Some(context) = context() else { return };
    let mut random = Random::new(1);
    for round in 0..ROUNDS {
        let image @ (_, format, type_) = random.of(IMAGES);
        let target = random.of(TARGETS);
        let (target, extent) = random_extent(&mut random, target, format);
        let mut store = random.store(extent);
        spare_arrays(target, &mut store);
        // The driver confuses depth and stencil when it swaps bytes.
        store.swap_bytes &= format != GL_DEPTH_STENCIL;
        if store.swap_bytes {
            // The driver swaps the skipped bytes, and leaves the others as they are.
            (store.skip_pixels, store.skip_rows, store.skip_images) = (0, 0, 0);
        }
        let layout = Layout::new(&store, extent, format, type_).unwrap();
        let memory = random.pixels(layout.end(), type_, store.swap_bytes);
        let tight = gather(&layout, &memory);
        let mut contents = [vec![0; tight.len()], vec![0; tight.len()]];
        for (how, data, to) in [(&store, &memory, 0), (&PixelStore::TIGHT, &tight, 1)] {
            set_store(&context, how, false);
            set_store(&context, &PixelStore::TIGHT, true);
            tex_image(&context, target, extent, image, data);
            tex_contents(&context, target, format, type_, &mut contents[to]);
        }
        assert_eq!(
            contents[0], contents[1],
            "round {round}: {target:#x} {extent:?} {format:#x} {type_:#x} {store:?}"
        );
    }
}

#[test]
fn readback_equals_tight_readback() {
    let Some(context) = context() else { return };
    let mut random = Random::new(2);
    for round in 0..ROUNDS {
        let image @ (_, format, type_) = random.of(IMAGES);
        let target = random.of(TARGETS);
        let (target, extent) = random_extent(&mut random, target, format);
        let mut store = random.store(extent);
        invert_some(&mut random, &mut store);
        spare_arrays(target, &mut store);
        // The driver swaps only half of what it writes in this format.
        store.swap_bytes &= type_ != GL_FLOAT_32_UNSIGNED_INT_24_8_REV;
        let layout = Layout::new(&store, extent, format, type_).unwrap();
        let tight_layout = Layout::new(&PixelStore::TIGHT, extent, format, type_).unwrap();
        let pixels = random.pixels(tight_layout.tight_bytes(), type_, false);
        set_store(&context, &PixelStore::TIGHT, false);
        tex_image(&context, target, extent, image, &pixels);
        let mut tight = vec![0; tight_layout.tight_bytes()];
        set_store(&context, &PixelStore::TIGHT, true);
        tex_contents(&context, target, format, type_, &mut tight);
        let mut theirs = random.bytes(layout.end() + 16);
        let mut ours = theirs.clone();
        set_store(&context, &store, true);
        tex_contents(&context, target, format, type_, &mut theirs);
        scatter(&layout, &tight, &mut ours);
        assert_eq!(
            ours, theirs,
            "round {round}: {target:#x} {extent:?} {format:#x} {type_:#x} {store:?}"
        );
    }
}

#[test]
fn read_pixels_equals_tight_read_pixels() {
    let Some(context) = context() else { return };
    let mut random = Random::new(3);
    let noise = random.bytes(64 * 64 * 4);
    set_store(&context, &PixelStore::TIGHT, false);
    gl!(context, "glWindowPos2i"(0 => i32, 0 => i32));
    gl!(context, "glDrawPixels"(64 => i32, 64 => i32, GL_RGBA => u32, GL_UNSIGNED_BYTE => u32,
        noise.as_ptr() => *const u8));
    let formats = [
        (GL_RGBA, GL_UNSIGNED_BYTE),
        (GL_BGR, GL_UNSIGNED_BYTE),
        (GL_RGB, GL_UNSIGNED_SHORT_5_6_5),
        (GL_RGBA, GL_FLOAT),
        (GL_DEPTH_COMPONENT, GL_UNSIGNED_INT),
        (GL_DEPTH_STENCIL, GL_UNSIGNED_INT_24_8),
        (GL_STENCIL_INDEX, GL_UNSIGNED_BYTE),
    ];
    for round in 0..ROUNDS / 4 {
        let (format, type_) = random.of(&formats);
        let extent = Extent::flat(1 + random.below(30), 1 + random.below(9));
        let mut store = random.store(extent);
        invert_some(&mut random, &mut store);
        let read = |store: &PixelStore, to: &mut [u8]| {
            set_store(&context, store, true);
            gl!(context, "glReadPixels"(3 => i32, 5 => i32, extent.width => i32,
                extent.height => i32, format => u32, type_ => u32, to.as_mut_ptr() => *mut u8));
            assert_eq!(context.error(), 0, "{format:#x} {type_:#x}");
        };
        let layout = Layout::new(&store, extent, format, type_).unwrap();
        let mut tight = vec![0; layout.tight_bytes()];
        read(&PixelStore::TIGHT, &mut tight);
        let mut theirs = match Element::of(type_) {
            // The driver writes whole bytes of a bitmap.
            Some(Element::Bit) => vec![0; layout.end() + 16],
            _ => random.bytes(layout.end() + 16),
        };
        let mut ours = theirs.clone();
        read(&store, &mut theirs);
        scatter(&layout, &tight, &mut ours);
        assert_eq!(
            ours, theirs,
            "round {round}: {extent:?} {format:#x} {type_:#x} {store:?}"
        );
    }
}

#[test]
fn bitmaps_draw_what_tight_bitmaps_draw() {
    let Some(context) = context() else { return };
    let mut random = Random::new(4);
    for round in 0..ROUNDS / 4 {
        let extent = Extent::flat(1 + random.below(40), 1 + random.below(9));
        let store = random.store(extent);
        let layout = Layout::new(&store, extent, GL_COLOR_INDEX, GL_BITMAP).unwrap();
        assert_eq!(components(GL_COLOR_INDEX), Some(1));
        let memory = random.bytes(layout.end());
        let tight = gather(&layout, &memory);
        let mut pictures = [vec![0u8; 64 * 16 * 4], vec![0u8; 64 * 16 * 4]];
        for (how, data, to) in [(&store, &memory, 0), (&PixelStore::TIGHT, &tight, 1)] {
            gl!(context, "glClear"(GL_COLOR_BUFFER_BIT => u32));
            set_store(&context, how, false);
            set_store(&context, &PixelStore::TIGHT, true);
            gl!(context, "glWindowPos2i"(1 => i32, 1 => i32));
            gl!(context, "glBitmap"(extent.width => i32, extent.height => i32, 0. => f32,
                0. => f32, 0. => f32, 0. => f32, data.as_ptr() => *const u8));
            gl!(context, "glReadPixels"(0 => i32, 0 => i32, 64 => i32, 16 => i32,
                GL_RGBA => u32, GL_UNSIGNED_BYTE => u32,
                pictures[to].as_mut_ptr().cast() => *mut c_void));
            assert_eq!(context.error(), 0);
        }
        assert!(pictures[0].iter().any(|&b| b != 0) || tight.iter().all(|&b| b == 0));
        assert_eq!(
            pictures[0], pictures[1],
            "round {round}: {extent:?} {store:?}"
        );
    }
}

#[test]
fn polygon_stipples() {
    let Some(context) = context() else { return };
    let mut random = Random::new(5);
    let extent = Extent::flat(32, 32);
    for round in 0..ROUNDS / 4 {
        let store = random.store(extent);
        let layout = Layout::new(&store, extent, GL_COLOR_INDEX, GL_BITMAP).unwrap();
        let memory = random.bytes(layout.end());
        let tight = gather(&layout, &memory);
        set_store(&context, &store, false);
        set_store(&context, &PixelStore::TIGHT, true);
        gl!(context, "glPolygonStipple"(memory.as_ptr() => *const u8));
        let mut back = vec![0; 128];
        gl!(context, "glGetPolygonStipple"(back.as_mut_ptr() => *mut u8));
        assert_eq!(back, tight, "round {round}: {store:?}");
        let mut pack = random.store(extent);
        // The driver clears the rest of a byte that two rows share.
        pack.row_length = pack.row_length.max(64);
        let layout = Layout::new(&pack, extent, GL_COLOR_INDEX, GL_BITMAP).unwrap();
        set_store(&context, &pack, true);
        let mut theirs = vec![0; layout.end() + 8];
        let mut ours = theirs.clone();
        gl!(context, "glGetPolygonStipple"(theirs.as_mut_ptr() => *mut u8));
        scatter(&layout, &tight, &mut ours);
        assert_eq!(ours, theirs, "round {round}: {pack:?}");
    }
}

#[test]
fn compressed_uploads_and_readback() {
    let Some(context) = context() else { return };
    let mut random = Random::new(6);
    let target = GL_TEXTURE_2D_ARRAY;
    let format = GL_COMPRESSED_RGBA_S3TC_DXT5_EXT;
    for round in 0..ROUNDS / 4 {
        let mut blocks = |n: i32| random.below(n);
        let (w, h, d) = (4 + 4 * blocks(4), 4 + 4 * blocks(3), 1 + blocks(3));
        let mut store = PixelStore {
            block_width: 4,
            block_height: 4,
            block_depth: 1,
            block_size: 16,
            skip_pixels: 4 * blocks(3),
            skip_rows: 4 * blocks(3),
            skip_images: blocks(3),
            ..PixelStore::INITIAL
        };
        if blocks(2) == 0 {
            store.row_length = w + blocks(9);
        }
        if blocks(2) == 0 {
            store.image_height = h + blocks(9);
        }
        let extent = Extent::volume(w, h, d);
        let size = (w / 4 * (h / 4) * d * 16) as usize;
        let layout = Layout::compressed(&store, extent, size).unwrap();
        let memory = random.bytes(layout.end());
        let tight = gather(&layout, &memory);
        set_store(&context, &store, false);
        gl!(context, "glCompressedTexImage3D"(target => u32, 0 => i32, format => u32, w => i32,
            h => i32, d => i32, 0 => i32, size as i32 => i32, memory.as_ptr() => *const u8));
        assert_eq!(context.error(), 0, "{store:?}");
        let mut back = vec![0; size];
        set_store(&context, &PixelStore::TIGHT, true);
        gl!(context, "glGetCompressedTexImage"(target => u32, 0 => i32,
            back.as_mut_ptr() => *mut u8));
        assert_eq!(back, tight, "round {round}: {extent:?} {store:?}");
        let mut theirs = random.bytes(layout.end() + 16);
        let mut ours = theirs.clone();
        set_store(&context, &store, true);
        gl!(context, "glGetCompressedTexImage"(target => u32, 0 => i32,
            theirs.as_mut_ptr() => *mut u8));
        scatter(&layout, &tight, &mut ours);
        assert_eq!(ours, theirs, "round {round}: {extent:?} {store:?}");
    }
}
