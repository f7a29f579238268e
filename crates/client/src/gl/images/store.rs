//! glPixelStore: the program's parameters, and those that the server has at the moment.

use super::ahead::Ahead;
use crate::context::Context;
use crate::current::context;
use crate::gl::buffers::{self, bound, contents_changed, is_locked};
use crate::gl::Tracked;
use crate::shadow::arrays::saved::SavedPixels;
use mgn_state::PixelStore;
use mgn_wire::gl::*;
use mgn_wire::hello::{api, ContextInfo};
use mgn_wire::Encoder;

/// Pixel store parameters of both directions, as the program set them and as the server was told of
/// them last.
pub struct PixelState {
    pub pack: PixelStore,
    pub unpack: PixelStore,
    server_pack: PixelStore,
    server_unpack: PixelStore,
    /// Where images are gathered that don't lie in memory as they travel.
    scratch: Vec<u8>,
    /// The largest textures.
    limits: [(u32, i32); 5],
    pub(super) ahead: Ahead,
}

/// Scratch memory that is kept for the next image.
const SCRATCH_KEPT: usize = 1 << 20;

/// A parameter's name for packing and unpacking (0 where it has none), where it is kept, and how to
/// read it.
struct Parameter {
    pack: u32,
    unpack: u32,
    read: fn(&PixelStore) -> i32,
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

const NONE: u32 = 0;

static PARAMETERS: [Parameter; 13] = parameters![
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

    /// What the driver says of one of the limits of textures; 0 if it has no such textures.
    pub(super) fn limit(&self, pname: u32) -> i32 {
        self.limits.iter().find(|l| l.0 == pname).map_or(0, |l| l.1)
    }

    /// Takes a parameter that was found valid.
    fn set(&mut self, pname: u32, value: i32) {
        // Inverted rows have another name in OpenGL ES.
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

    /// `bytes` bytes to gather an image in.
    pub(super) fn room(&mut self, bytes: usize) -> *mut u8 {
        if self.scratch.len() < bytes || self.scratch.len() > SCRATCH_KEPT.max(bytes) {
            self.scratch = vec![0; bytes];
        }
        self.scratch.as_mut_ptr()
    }
}

/// Sends what brings the server's parameters from `server` to `wanted`.
#[cold]
fn follow(
    enc: &mut Encoder,
    server: &mut PixelStore,
    wanted: &PixelStore,
    name: fn(&Parameter) -> u32,
    api: u32,
) {
    for p in &PARAMETERS {
        let value = (p.read)(wanted);
        if (p.read)(server) == value || name(p) == NONE {
            continue;
        }
        let pname = match name(p) {
            GL_PACK_INVERT_MESA if !matches!(api, api::COMPAT | api::CORE) => {
                GL_PACK_REVERSE_ROW_ORDER_ANGLE
            }
            pname => pname,
        };
        // A valid value raises no error.
        let before = enc.doubt;
        // SAFETY: the context's own encoder.
        unsafe { enc.gl_pixel_storei(pname, value) };
        enc.doubt = before;
    }
    *server = *wanted;
}

impl Context {
    /// The buffer that images are read from; 0 for the program's memory.
    #[inline]
    pub(in crate::gl) fn unpack_buffer(&self) -> u32 {
        bound(self, GL_PIXEL_UNPACK_BUFFER).unwrap_or(0)
    }

    /// The buffer that images are written to; 0 for the program's memory.
    #[inline]
    pub(super) fn pack_buffer(&self) -> u32 {
        bound(self, GL_PIXEL_PACK_BUFFER).unwrap_or(0)
    }

    /// The next image that the server unpacks lies in the pixel unpack buffer: the server has to
    /// know the program's parameters.
    pub(super) fn unpack_as_set(&mut self) {
        let pixels = &mut self.gl.pixels;
        if pixels.server_unpack != pixels.unpack {
            follow(
                &mut self.enc,
                &mut pixels.server_unpack,
                &pixels.unpack,
                |p| p.unpack,
                self.gl.api,
            );
        }
    }

    /// Whether images go to the pixel pack buffer, and not to the program's memory.
    pub(super) fn packs_into_buffer(&self) -> bool {
        self.pack_buffer() != 0
    }

    /// Sends a command that writes an image to the pixel pack buffer: likewise. Says whether it was
    /// sent.
    pub(super) fn pack(&mut self, send: impl FnOnce(&mut Encoder)) -> bool {
        // The server's buffers are never mapped, so it is here that a mapped one is refused.
        if is_locked(self, GL_PIXEL_PACK_BUFFER) {
            return self.fail(GL_INVALID_OPERATION);
        }
        let pixels = &mut self.gl.pixels;
        if pixels.server_pack != pixels.pack {
            follow(
                &mut self.enc,
                &mut pixels.server_pack,
                &pixels.pack,
                |p| p.pack,
                self.gl.api,
            );
        }
        send(&mut self.enc);
        contents_changed(self, GL_PIXEL_PACK_BUFFER);
        true
    }

    /// What glPushClientAttrib saves of pixels.
    pub fn save_pixels(&self) -> SavedPixels {
        SavedPixels {
            pack: self.gl.pixels.pack,
            unpack: self.gl.pixels.unpack,
            pack_buffer: self.pack_buffer(),
            unpack_buffer: self.unpack_buffer(),
        }
    }

    /// Brings back what glPopClientAttrib finds.
    pub fn restore_pixels(&mut self, saved: SavedPixels) {
        for p in &PARAMETERS {
            for (pname, value) in [
                (p.pack, (p.read)(&saved.pack)),
                (p.unpack, (p.read)(&saved.unpack)),
            ] {
                // Valid when it was set, so valid now.
                let _ = self.gl.state.gl_pixel_storei(pname, value);
            }
        }
        (self.gl.pixels.pack, self.gl.pixels.unpack) = (saved.pack, saved.unpack);
        for (target, now, then) in [
            (GL_PIXEL_PACK_BUFFER, self.pack_buffer(), saved.pack_buffer),
            (
                GL_PIXEL_UNPACK_BUFFER,
                self.unpack_buffer(),
                saved.unpack_buffer,
            ),
        ] {
            if now != then {
                buffers::bind(self, target, then);
            }
        }
    }
}

pub unsafe extern "C" fn glPixelStorei(pname: u32, param: i32) {
    // SAFETY: the only reference in use, to the thread's own context.
    let cx = unsafe { context() };
    if cx.is_illegal_now() {
        return cx.illegal_in_begin();
    }
    if let Some(error) = cx.gl.state.gl_pixel_storei(pname, param).refusal() {
        return cx.set_error(error);
    }
    cx.gl.pixels.set(pname, param);
}

pub unsafe extern "C" fn glPixelStoref(pname: u32, param: f32) {
    // SAFETY: as the caller's.
    unsafe { glPixelStorei(pname, param.round() as i32) }
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
    fn the_server_is_told_what_differs() {
        // Records go into a vector that no record leaves.
        unsafe fn full(_: *mut Encoder, _: usize) -> *mut u8 {
            unreachable!("three records fit")
        }
        let mut room = [0u32; 16];
        let mut enc = Encoder::new(full);
        enc.cur = room.as_mut_ptr().cast();
        enc.end = enc.cur.wrapping_add(size_of_val(&room));
        let mut server = PixelStore::INITIAL;
        let wanted = PixelStore {
            skip_rows: 9,
            invert: true,
            ..PixelStore::TIGHT
        };
        follow(&mut enc, &mut server, &wanted, |p| p.pack, api::ES);
        let sent = |n: usize| (room[n * 3 + 1], room[n * 3 + 2]);
        assert_eq!(sent(0), (GL_PACK_ALIGNMENT, 1));
        assert_eq!(sent(1), (GL_PACK_SKIP_ROWS, 9));
        assert_eq!(sent(2), (GL_PACK_REVERSE_ROW_ORDER_ANGLE, 1));
        assert_eq!(enc.cur as usize - room.as_ptr() as usize, 36);
        assert_eq!(enc.doubt, 0);
        assert_eq!(server, wanted);
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
