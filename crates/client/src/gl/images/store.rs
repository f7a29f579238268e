//! glPixelStore, and the parameters that are sent to the server.

use crate::context::Context;
use crate::current::context;
use crate::gl::buffers::bind::bind;
use crate::gl::buffers::bindings::bound;
use crate::gl::buffers::data::contents_changed;
use crate::gl::buffers::mapping::is_locked;
use crate::gl::tracked::Tracked;
use crate::shadow::arrays::saved::SavedPixels;
use crate::shadow::pixel_store::{Parameter, NONE, PARAMETERS};
use mgn_state::PixelStore;
use mgn_wire::gl::*;
use mgn_wire::hello::api;
use mgn_wire::Encoder;

/// Sends the changes from the server's parameters `server` to `wanted`.
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
        enc.gl_pixel_storei(pname, value);
        enc.doubt = before;
    }
    *server = *wanted;
}

impl Context {
    /// The buffer that images are unpacked from; 0 for the program's memory.
    #[inline]
    pub fn unpack_buffer(&self) -> u32 {
        bound(self, GL_PIXEL_UNPACK_BUFFER).unwrap_or(0)
    }

    /// The buffer that images are packed to; 0 for the program's memory.
    #[inline]
    pub(super) fn pack_buffer(&self) -> u32 {
        bound(self, GL_PIXEL_PACK_BUFFER).unwrap_or(0)
    }

    /// The next image that the server unpacks lies in the pixel unpack buffer, so the server needs
    /// the program's parameters.
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

    /// Whether images are written to the pixel pack buffer instead of the program's memory.
    pub(super) fn packs_into_buffer(&self) -> bool {
        self.pack_buffer() != 0
    }

    /// The same for a command that writes an image to the pixel pack buffer. Returns whether it was
    /// sent.
    pub(super) fn pack(&mut self, send: impl FnOnce(&mut Encoder)) -> bool {
        // The server's buffers are never mapped, so a mapped buffer must be refused here.
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

    /// The pixel state that glPushClientAttrib saves.
    pub fn save_pixels(&self) -> SavedPixels {
        SavedPixels {
            pack: self.gl.pixels.pack,
            unpack: self.gl.pixels.unpack,
            pack_buffer: self.pack_buffer(),
            unpack_buffer: self.unpack_buffer(),
        }
    }

    /// Restores the pixel state for glPopClientAttrib.
    pub fn restore_pixels(&mut self, saved: SavedPixels) {
        for p in &PARAMETERS {
            for (pname, value) in [
                (p.pack, (p.read)(&saved.pack)),
                (p.unpack, (p.read)(&saved.unpack)),
            ] {
                // The value was valid when it was set, so it is valid now.
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
                bind(self, target, then);
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
    fn the_server_is_told_what_differs() {
        // The records go into a vector that is large enough.
        unsafe fn full(_: *mut Encoder, _: usize) -> *mut u8 {
            unreachable!("three records fit")
        }
        let mut room = [0u32; 16];
        let bytes = room.as_mut_ptr_range();
        // SAFETY: the array is not used before all is written.
        let mut enc = unsafe {
            let mut enc = Encoder::new(full);
            enc.set_room(bytes.start.cast(), bytes.end.cast());
            enc
        };
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
        assert_eq!(enc.cursor() as usize - room.as_ptr() as usize, 36);
        assert_eq!(enc.doubt, 0);
        assert_eq!(server, wanted);
    }
}
