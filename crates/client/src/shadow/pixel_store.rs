//! Pixel store parameters: the program's, and those that the server has at the moment.

use super::read_ahead::Ahead;
use mgn_state::PixelStore;
use mgn_wire::gl::*;
use mgn_wire::hello::ContextInfo;

/// Pixel store parameters of both directions: the program's, and the last ones sent to the server.
pub struct PixelState {
    pub pack: PixelStore,
    pub unpack: PixelStore,
    pub server_pack: PixelStore,
    pub server_unpack: PixelStore,
    /// Memory for images whose layout in memory differs from that on the wire.
    scratch: Vec<u8>,
    /// The limits for texture sizes.
    limits: [(u32, i32); 5],
    pub ahead: Ahead,
}

/// Scratch memory that is kept for the next image.
const SCRATCH_KEPT: usize = 1 << 20;

/// A parameter: its names for packing and unpacking (0 if it lacks one), its field, and how to read
/// it.
pub struct Parameter {
    pub pack: u32,
    pub unpack: u32,
    pub read: fn(&PixelStore) -> i32,
    write: fn(&mut PixelStore, i32),
}

macro_rules! parameters {
    ($($pack:ident $unpack:ident $field:ident: $kind:ident,)*) => {
        [$(Parameter {
            pack: $pack,
            unpack: $unpack,
            read: |s| i32::from(s.$field),
            write: |s, v| s.$field = parameters!($kind v),
        },)*]
    };
    (int $v:ident) => { $v };
    (bool $v:ident) => { $v != 0 };
}

/// Stands for a name that a parameter lacks.
pub const NONE: u32 = 0;

pub static PARAMETERS: [Parameter; 13] = parameters![
    GL_PACK_ALIGNMENT GL_UNPACK_ALIGNMENT alignment: int,
    GL_PACK_ROW_LENGTH GL_UNPACK_ROW_LENGTH row_length: int,
    GL_PACK_SKIP_PIXELS GL_UNPACK_SKIP_PIXELS skip_pixels: int,
    GL_PACK_SKIP_ROWS GL_UNPACK_SKIP_ROWS skip_rows: int,
    GL_PACK_IMAGE_HEIGHT GL_UNPACK_IMAGE_HEIGHT image_height: int,
    GL_PACK_SKIP_IMAGES GL_UNPACK_SKIP_IMAGES skip_images: int,
    GL_PACK_SWAP_BYTES GL_UNPACK_SWAP_BYTES swap_bytes: bool,
    GL_PACK_LSB_FIRST GL_UNPACK_LSB_FIRST lsb_first: bool,
    GL_PACK_INVERT_MESA NONE invert: bool,
    GL_PACK_COMPRESSED_BLOCK_WIDTH GL_UNPACK_COMPRESSED_BLOCK_WIDTH block_width: int,
    GL_PACK_COMPRESSED_BLOCK_HEIGHT GL_UNPACK_COMPRESSED_BLOCK_HEIGHT block_height: int,
    GL_PACK_COMPRESSED_BLOCK_DEPTH GL_UNPACK_COMPRESSED_BLOCK_DEPTH block_depth: int,
    GL_PACK_COMPRESSED_BLOCK_SIZE GL_UNPACK_COMPRESSED_BLOCK_SIZE block_size: int,
];

impl PixelState {
    /// The state of a new context with these constants.
    pub fn new(info: &ContextInfo) -> PixelState {
        let limits = [
            GL_MAX_TEXTURE_SIZE,
            GL_MAX_3D_TEXTURE_SIZE,
            GL_MAX_CUBE_MAP_TEXTURE_SIZE,
            GL_MAX_RECTANGLE_TEXTURE_SIZE,
            GL_MAX_ARRAY_TEXTURE_LAYERS,
        ];
        let value = |pname| {
            let values = info
                .integers
                .iter()
                .find(|(p, _)| *p == pname)
                .map(|(_, v)| v);
            let value = values.and_then(|v| v.first()).copied().unwrap_or(0);
            value.clamp(0, 1 << 20) as i32
        };
        PixelState {
            pack: PixelStore::INITIAL,
            unpack: PixelStore::INITIAL,
            server_pack: PixelStore::INITIAL,
            server_unpack: PixelStore::INITIAL,
            scratch: Vec::new(),
            limits: limits.map(|pname| (pname, value(pname))),
            ahead: Ahead::default(),
        }
    }

    /// The driver's value of a limit for textures; 0 if it has no such textures.
    pub fn limit(&self, pname: u32) -> i32 {
        self.limits.iter().find(|l| l.0 == pname).map_or(0, |l| l.1)
    }

    /// Sets a parameter that was found to be valid.
    pub fn set(&mut self, pname: u32, value: i32) {
        // OpenGL ES has another name for inverted rows.
        let pname = match pname {
            GL_PACK_REVERSE_ROW_ORDER_ANGLE => GL_PACK_INVERT_MESA,
            pname => pname,
        };
        for p in PARAMETERS.iter().filter(|_| pname != NONE) {
            if p.pack == pname {
                (p.write)(&mut self.pack, value);
            } else if p.unpack == pname {
                (p.write)(&mut self.unpack, value);
            }
        }
    }

    /// Memory of `bytes` bytes to assemble an image in.
    pub fn room(&mut self, bytes: usize) -> *mut u8 {
        if self.scratch.len() < bytes || self.scratch.len() > SCRATCH_KEPT.max(bytes) {
            self.scratch = vec![0; bytes];
        }
        self.scratch.as_mut_ptr()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_have_one_place_each() {
        let mut state = PixelState::new(&ContextInfo::default());
        for (i, p) in PARAMETERS.iter().enumerate() {
            for pname in [p.pack, p.unpack] {
                state.set(pname, i as i32 + 1);
            }
        }
        assert_eq!(
            state.pack,
            PixelStore {
                invert: true,
                ..state.unpack
            }
        );
        let unpack = PixelStore {
            alignment: 1,
            row_length: 2,
            skip_pixels: 3,
            skip_rows: 4,
            image_height: 5,
            skip_images: 6,
            swap_bytes: true,
            lsb_first: true,
            invert: false,
            block_width: 10,
            block_height: 11,
            block_depth: 12,
            block_size: 13,
        };
        assert_eq!(state.unpack, unpack);
        state.set(GL_PACK_REVERSE_ROW_ORDER_ANGLE, 0);
        assert!(!state.pack.invert);
        state.set(NONE, 7);
        assert_eq!(state.unpack, unpack);
    }

    #[test]
    fn scratch_does_not_stay_large() {
        let mut state = PixelState::new(&ContextInfo::default());
        state.room(8 << 20);
        assert_eq!(state.scratch.len(), 8 << 20);
        state.room(100);
        assert_eq!(state.scratch.len(), 100);
        state.room(50);
        assert_eq!(state.scratch.len(), 100);
    }
}
