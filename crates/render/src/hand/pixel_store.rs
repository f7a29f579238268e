//! Pixel store state: what the program has set, and what the driver has at the moment.
//!
//! Images in the stream are tight, and the driver must know that when it reads them. Images in pixel buffer objects are laid out as the program says. So
//! the driver's state is the one or the other, and changes only when the other kind comes.

use crate::renderer::Renderer;
use mgn_wire::{gl::*, Data, Fault};

/// Parameters of unpacking, with the tight value of each.
const UNPACK: [(u32, i32); 12] = [
    (GL_UNPACK_ALIGNMENT, 1),
    (GL_UNPACK_ROW_LENGTH, 0),
    (GL_UNPACK_SKIP_ROWS, 0),
    (GL_UNPACK_SKIP_PIXELS, 0),
    (GL_UNPACK_IMAGE_HEIGHT, 0),
    (GL_UNPACK_SKIP_IMAGES, 0),
    (GL_UNPACK_SWAP_BYTES, 0),
    (GL_UNPACK_LSB_FIRST, 0),
    (GL_UNPACK_COMPRESSED_BLOCK_WIDTH, 0),
    (GL_UNPACK_COMPRESSED_BLOCK_HEIGHT, 0),
    (GL_UNPACK_COMPRESSED_BLOCK_DEPTH, 0),
    (GL_UNPACK_COMPRESSED_BLOCK_SIZE, 0),
];

/// Parameters of packing, with the tight value of each.
const PACK: [(u32, i32); 14] = [
    (GL_PACK_ALIGNMENT, 1),
    (GL_PACK_ROW_LENGTH, 0),
    (GL_PACK_SKIP_ROWS, 0),
    (GL_PACK_SKIP_PIXELS, 0),
    (GL_PACK_IMAGE_HEIGHT, 0),
    (GL_PACK_SKIP_IMAGES, 0),
    (GL_PACK_SWAP_BYTES, 0),
    (GL_PACK_LSB_FIRST, 0),
    (GL_PACK_INVERT_MESA, 0),
    // The same in OpenGL ES.
    (GL_PACK_REVERSE_ROW_ORDER_ANGLE, 0),
    (GL_PACK_COMPRESSED_BLOCK_WIDTH, 0),
    (GL_PACK_COMPRESSED_BLOCK_HEIGHT, 0),
    (GL_PACK_COMPRESSED_BLOCK_DEPTH, 0),
    (GL_PACK_COMPRESSED_BLOCK_SIZE, 0),
];

/// One direction's state.
#[derive(Debug, Clone)]
struct Side<const N: usize> {
    table: &'static [(u32, i32); N],
    program: [i32; N],
    driver: [i32; N],
}

impl<const N: usize> Side<N> {
    fn new(table: &'static [(u32, i32); N]) -> Side<N> {
        let mut initial = [0; N];
        initial[0] = 4;
        Side {
            table,
            program: initial,
            driver: initial,
        }
    }

    fn position(&self, pname: u32) -> Option<usize> {
        self.table.iter().position(|(p, _)| *p == pname)
    }

    /// Calls `set` for what the driver has to be told.
    fn switch(&mut self, tight: bool, mut set: impl FnMut(u32, i32)) {
        for (i, &(pname, tight_value)) in self.table.iter().enumerate() {
            let value = if tight { tight_value } else { self.program[i] };
            if self.driver[i] != value {
                self.driver[i] = value;
                set(pname, value);
            }
        }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct PixelStore {
    unpack: Side<{ UNPACK.len() }>,
    pack: Side<{ PACK.len() }>,
}

impl Default for PixelStore {
    fn default() -> PixelStore {
        PixelStore {
            unpack: Side::new(&UNPACK),
            pack: Side::new(&PACK),
        }
    }
}

impl PixelStore {
    /// What the program has set a parameter to; none if it is no pixel store parameter.
    pub fn value(&self, pname: u32) -> Option<i32> {
        let unpack = self.unpack.position(pname).map(|i| self.unpack.program[i]);
        unpack.or_else(|| self.pack.position(pname).map(|i| self.pack.program[i]))
    }

    /// What the program has set to other values than at first.
    pub fn changed(&self) -> Vec<(u32, i32)> {
        fn of<const N: usize>(side: &Side<N>) -> impl Iterator<Item = (u32, i32)> + '_ {
            let first = Side::new(side.table);
            let values = side.table.iter().zip(side.program).zip(first.program);
            values
                .filter(|((_, now), first)| now != first)
                .map(|((&(pname, _), now), _)| (pname, now))
        }
        of(&self.unpack).chain(of(&self.pack)).collect()
    }

    fn note(&mut self, pname: u32, value: i32) {
        if let Some(i) = self.unpack.position(pname) {
            (self.unpack.program[i], self.unpack.driver[i]) = (value, value);
        } else if let Some(i) = self.pack.position(pname) {
            (self.pack.program[i], self.pack.driver[i]) = (value, value);
        }
    }
}

impl Renderer {
    pub(crate) fn hand_gl_pixel_storei(&mut self, pname: u32, param: i32) -> Result<(), Fault> {
        self.needs_context()?;
        self.error();
        // SAFETY: the context is current.
        let error = unsafe {
            (self.gl.glPixelStorei)(pname, param);
            (self.gl.glGetError)()
        };
        if error != GL_NO_ERROR {
            self.keep_error(error);
        } else if let Some(cx) = self.cx.as_deref_mut() {
            let flag = matches!(
                pname,
                GL_UNPACK_SWAP_BYTES
                    | GL_UNPACK_LSB_FIRST
                    | GL_PACK_SWAP_BYTES
                    | GL_PACK_LSB_FIRST
                    | GL_PACK_INVERT_MESA
                    | GL_PACK_REVERSE_ROW_ORDER_ANGLE
            );
            cx.pixel_store
                .note(pname, if flag { i32::from(param != 0) } else { param });
        }
        Ok(())
    }

    pub(crate) fn hand_gl_pixel_storef(&mut self, pname: u32, param: f32) -> Result<(), Fault> {
        self.hand_gl_pixel_storei(pname, param.round() as i32)
    }

    /// Prepares the driver for reading images of the stream (`tight`), or ones in the bound pixel buffer object.
    pub(crate) fn unpack(&mut self, tight: bool) {
        let Some(cx) = self.cx.as_deref_mut() else {
            return;
        };
        let gl = &self.gl;
        // SAFETY: the context is current; parameters are set only if the driver has accepted them before or if they are the defaults of ones it has.
        cx.pixel_store.unpack.switch(tight, |pname, value| unsafe {
            (gl.glPixelStorei)(pname, value)
        });
    }

    /// Prepares the driver for writing images to answers (`tight`), or to the bound pixel buffer object.
    pub(crate) fn pack(&mut self, tight: bool) {
        let Some(cx) = self.cx.as_deref_mut() else {
            return;
        };
        let gl = &self.gl;
        // SAFETY: as for `unpack`.
        cx.pixel_store.pack.switch(tight, |pname, value| unsafe {
            (gl.glPixelStorei)(pname, value)
        });
    }

    /// Prepares the driver for an image, and gives the address or offset that it takes: null for no image or one whose size nobody knows, which the driver
    /// then refuses.
    pub(crate) fn image(
        &mut self,
        data: Data<'_>,
        bytes: Option<usize>,
    ) -> Result<*const u8, Fault> {
        let has_buffer = self.pixel_buffer(GL_PIXEL_UNPACK_BUFFER_BINDING);
        self.unpack(!has_buffer);
        let misplaced = match data {
            Data::Offset(_) => !has_buffer,
            Data::Inline(_) => has_buffer,
            Data::Null => false,
        };
        if misplaced {
            return Err(Fault::refused("an image that is not where it says"));
        }
        match (data, bytes) {
            (Data::Offset(offset), _) => Ok(offset as usize as *const u8),
            (Data::Inline(data), Some(bytes)) if data.len() >= bytes => Ok(data.as_ptr()),
            (Data::Inline(_), Some(_)) => Err(Fault::ShortArray),
            (Data::Inline(_), None) | (Data::Null, _) => Ok(std::ptr::null()),
        }
    }

    /// Whether a buffer is bound for packing or unpacking.
    pub(crate) fn pixel_buffer(&self, binding: u32) -> bool {
        self.cx.as_ref().is_some_and(|cx| cx.has_pixel_buffers) && self.driver_integer(binding) != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_driver_is_told_what_differs() {
        let mut store = PixelStore::default();
        let mut told = Vec::new();
        store.unpack.switch(true, |p, v| told.push((p, v)));
        assert_eq!(told, [(GL_UNPACK_ALIGNMENT, 1)]);
        store.note(GL_UNPACK_ROW_LENGTH, 7);
        assert_eq!(store.value(GL_UNPACK_ROW_LENGTH), Some(7));
        assert_eq!(store.value(GL_PACK_ALIGNMENT), Some(4));
        assert_eq!(store.value(GL_TEXTURE_2D), None);
        told.clear();
        store.unpack.switch(true, |p, v| told.push((p, v)));
        assert_eq!(told, [(GL_UNPACK_ROW_LENGTH, 0)]);
        told.clear();
        store.unpack.switch(false, |p, v| told.push((p, v)));
        assert_eq!(told, [(GL_UNPACK_ALIGNMENT, 4), (GL_UNPACK_ROW_LENGTH, 7)]);
        told.clear();
        store.unpack.switch(false, |p, v| told.push((p, v)));
        assert_eq!(told, []);
    }
}
