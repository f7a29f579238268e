//! Pixel store state: the program's values, and the driver's current values.
//!
//! Images in the stream have no padding, and the driver must know that when it reads them. Images
//! in pixel buffer objects have the layout that the program has set. So the driver's state is for
//! one of the two kinds, and changes only when an image of the other kind comes.

use crate::context::Context;
use crate::renderer::Renderer;
use mgn_wire::{gl::*, Data, Fault};

/// Unpack parameters, with the value of each for images without padding.
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

/// Pack parameters, with the value of each for images without padding.
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

/// The most pixels of a row in a buffer: Mesa counts its bytes, at most 16 for each pixel, in 31
/// bits.
const ROW_MAX: i32 = i32::MAX / 16 - 1;

/// Fails if Mesa cannot count the bytes of rows with this number of pixels in a buffer.
pub(super) fn has_short_rows(pixels: i128) -> Result<(), Fault> {
    match pixels > ROW_MAX.into() {
        true => Err(Fault::refused("an image with rows of gigabytes")),
        false => Ok(()),
    }
}

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

    /// Calls `set` for each parameter that the driver must change. `set` returns the driver's value
    /// afterwards. Returns false if that is not the wanted value.
    fn switch(&mut self, tight: bool, mut set: impl FnMut(u32, i32) -> Option<i32>) -> bool {
        let mut taken = true;
        for (i, &(pname, tight_value)) in self.table.iter().enumerate() {
            let value = if tight { tight_value } else { self.program[i] };
            if self.driver[i] != value {
                match set(pname, value) {
                    Some(value) => self.driver[i] = value,
                    None => taken = false,
                }
                taken &= self.driver[i] == value;
            }
        }
        taken
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
    /// The program's value of a parameter; none if it is not a pixel store parameter.
    pub fn value(&self, pname: u32) -> Option<i32> {
        let unpack = self.unpack.position(pname).map(|i| self.unpack.program[i]);
        unpack.or_else(|| self.pack.position(pname).map(|i| self.pack.program[i]))
    }

    /// The parameters that the program has changed from their initial values.
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

    /// The driver's values that were set.
    pub fn noted(&self) -> impl Iterator<Item = (u32, i32)> + '_ {
        fn of<const N: usize>(side: &Side<N>) -> impl Iterator<Item = (u32, i32)> + '_ {
            let values = side.table.iter().zip(side.driver);
            values.map(|(&(pname, _), value)| (pname, value))
        }
        of(&self.unpack).chain(of(&self.pack))
    }

    /// Whether the driver reads compressed images in a layout of blocks.
    fn lays_out_blocks(&self) -> bool {
        let size = self.unpack.position(GL_UNPACK_COMPRESSED_BLOCK_SIZE);
        size.is_some_and(|i| self.unpack.driver[i] != 0)
    }

    /// The program's value of a parameter that counts something.
    pub fn number(&self, pname: u32) -> i128 {
        self.value(pname).unwrap_or(0).into()
    }

    pub(super) fn note(&mut self, pname: u32, value: i32) {
        if let Some(i) = self.unpack.position(pname) {
            (self.unpack.program[i], self.unpack.driver[i]) = (value, value);
        } else if let Some(i) = self.pack.position(pname) {
            (self.pack.program[i], self.pack.driver[i]) = (value, value);
        }
    }
}

impl Renderer {
    pub(crate) fn handwritten_gl_pixel_storei(
        &mut self,
        pname: u32,
        param: i32,
    ) -> Result<(), Fault> {
        self.needs_context()?;
        self.error();
        // SAFETY: the context is current.
        unsafe { (self.gl.glPixelStorei)(pname, param) };
        if !self.failed() {
            // Only values that the driver confirms are noted, not the client's, because images are
            // read and written by them.
            if let (Some(value), Some(cx)) = (self.asked(pname), self.cx.as_deref_mut()) {
                cx.pixel_store.note(pname, value);
            }
        }
        Ok(())
    }

    pub(crate) fn handwritten_gl_pixel_storef(
        &mut self,
        pname: u32,
        param: f32,
    ) -> Result<(), Fault> {
        self.handwritten_gl_pixel_storei(pname, param.round() as i32)
    }

    /// Prepares the driver for reading images of the stream (`tight`) or images in the bound pixel
    /// buffer object. Fails if the driver does not accept the parameters, because it would read
    /// elsewhere.
    pub(crate) fn unpack(&mut self, tight: bool) -> Result<(), Fault> {
        if !tight {
            has_short_rows(self.pixel_store_number(GL_UNPACK_ROW_LENGTH))?;
        }
        self.lay_out(|store, set| store.unpack.switch(tight, set))
    }

    /// Prepares the driver for writing images to answers (`tight`) or to the bound pixel buffer
    /// object. Fails if the driver does not accept the parameters, because it would write
    /// elsewhere.
    pub(crate) fn pack(&mut self, tight: bool) -> Result<(), Fault> {
        if !tight {
            has_short_rows(self.pixel_store_number(GL_PACK_ROW_LENGTH))?;
        }
        self.lay_out(|store, set| store.pack.switch(tight, set))
    }

    fn pixel_store_number(&self, pname: u32) -> i128 {
        let cx = self.cx.as_deref();
        cx.map_or(0, |cx| cx.pixel_store.number(pname))
    }

    /// Whether the rows of images that the program reads go from bottom to top.
    pub(super) fn packs_upwards(&self) -> bool {
        [GL_PACK_INVERT_MESA, GL_PACK_REVERSE_ROW_ORDER_ANGLE]
            .iter()
            .any(|pname| self.pixel_store_number(*pname) != 0)
    }

    fn lay_out(
        &mut self,
        switch: impl FnOnce(&mut PixelStore, &dyn Fn(u32, i32) -> Option<i32>) -> bool,
    ) -> Result<(), Fault> {
        let Some(mut cx) = self.cx.take() else {
            return Ok(());
        };
        let taken = switch(&mut cx.pixel_store, &|pname, value| {
            self.store(pname, value)
        });
        self.cx = Some(cx);
        match taken {
            true => Ok(()),
            false => Err(Fault::driver(
                "the driver does not accept the layout of an image",
            )),
        }
    }

    /// Sets a parameter to a value that the driver has accepted before, or to the default of a
    /// parameter that it has. Returns the driver's value afterwards.
    fn store(&self, pname: u32, value: i32) -> Option<i32> {
        // SAFETY: the context is current.
        unsafe { (self.gl.glPixelStorei)(pname, value) };
        self.asked(pname)
    }

    /// Prepares the driver for an image. Returns the address or offset for the command: null if
    /// there is no image, or one of unknown size, which the driver refuses.
    pub(crate) fn image(
        &mut self,
        data: Data<'_>,
        bytes: Option<usize>,
    ) -> Result<*const u8, Fault> {
        if self.is_in_primitive() {
            // The driver reads nothing of this image.
            return Ok(std::ptr::null());
        }
        let has_buffer = self.pixel_buffer(GL_PIXEL_UNPACK_BUFFER_BINDING);
        self.unpack(!has_buffer)?;
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

    /// Prepares the driver for display lists, whose images have no padding. Mesa reads compressed
    /// images in lists with the block layout that is set when a list is called.
    pub(crate) fn unpack_lists(&mut self) -> Result<(), Fault> {
        let lays_out = |cx: &Context| cx.pixel_store.lays_out_blocks();
        if !self.cx.as_deref().is_some_and(lays_out) {
            return Ok(());
        }
        // Between glBegin and glEnd the driver accepts no layout, but the list may end the
        // primitive.
        match self.has_no_primitive() {
            true => self.unpack(true),
            false => Err(Fault::refused(
                "a display list between glBegin and glEnd while compressed images have a layout",
            )),
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
    fn a_value_that_the_driver_does_not_take_is_not_noted() {
        let mut store = PixelStore::default();
        store.note(GL_PACK_SKIP_ROWS, 1000);
        assert!(!store.pack.switch(true, |_, _| None));
        assert!(!store.pack.switch(true, |pname, value| match pname {
            GL_PACK_SKIP_ROWS => Some(1000),
            _ => Some(value),
        }));
        let mut told = Vec::new();
        assert!(store.pack.switch(true, |pname, value| {
            told.push(pname);
            Some(value)
        }));
        assert_eq!(told, [GL_PACK_SKIP_ROWS]);
    }

    #[test]
    fn the_driver_is_told_what_differs() {
        fn switched(store: &mut PixelStore, tight: bool) -> Vec<(u32, i32)> {
            let mut told = Vec::new();
            assert!(store.unpack.switch(tight, |pname, value| {
                told.push((pname, value));
                Some(value)
            }));
            told
        }
        let mut store = PixelStore::default();
        let told = switched(&mut store, true);
        assert_eq!(told, [(GL_UNPACK_ALIGNMENT, 1)]);
        store.note(GL_UNPACK_ROW_LENGTH, 7);
        assert_eq!(store.value(GL_UNPACK_ROW_LENGTH), Some(7));
        assert_eq!(store.value(GL_PACK_ALIGNMENT), Some(4));
        assert_eq!(store.value(GL_TEXTURE_2D), None);
        let told = switched(&mut store, true);
        assert_eq!(told, [(GL_UNPACK_ROW_LENGTH, 0)]);
        let told = switched(&mut store, false);
        assert_eq!(told, [(GL_UNPACK_ALIGNMENT, 4), (GL_UNPACK_ROW_LENGTH, 7)]);
        let told = switched(&mut store, false);
        assert_eq!(told, []);
    }
}
