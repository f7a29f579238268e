//! Images, as programs hold them.

use std::ffi::c_void;

use crate::abi::{
    Enum, ImageHandle, Size, COLOR_NONE, COLOR_RGBA_FLOAT, COLOR_RGBA_UBYTE, COLOR_RGB_FLOAT,
    DEPTH_FLOAT, DEPTH_NONE,
};
use crate::diagnostics::{call, Problem};
use crate::pixels::{bytes, Color, Words};

/// Pixels from the lower left on, row by row.
#[derive(Debug, Default)]
pub(crate) struct Image {
    pub(crate) color_format: Color,
    pub(crate) has_depth: bool,
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) color: Words,
    pub(crate) depth: Words,
}

/// An image, and the number by which programs know it.
#[derive(Debug)]
pub(crate) struct Numbered {
    pub(crate) number: usize,
    pub(crate) image: Image,
}

impl Image {
    /// Makes room for a picture, with undefined contents.
    pub(crate) fn prepare(
        &mut self,
        color_format: Color,
        has_depth: bool,
        (width, height): (usize, usize),
    ) {
        self.color_format = color_format;
        self.has_depth = has_depth;
        (self.width, self.height) = (width, height);
        self.color.resize(width * height * color_format.words());
        self.depth.resize(width * height * usize::from(has_depth));
    }

    /// Uses memory that it does not own for a picture, until [`Image::prepare`].
    ///
    /// # Safety
    /// As for [`Words::lend`].
    pub(crate) unsafe fn lend(
        &mut self,
        color_format: Color,
        (width, height): (usize, usize),
        color: &mut [u32],
        depth: &mut [u32],
    ) {
        self.color_format = color_format;
        self.has_depth = !depth.is_empty();
        (self.width, self.height) = (width, height);
        // SAFETY: as the caller promises.
        unsafe {
            self.color.lend(color.as_mut_ptr(), color.len());
            self.depth.lend(depth.as_mut_ptr(), depth.len());
        }
    }

    /// Leaves memory that it does not own, if it uses any. The image is then empty.
    pub(crate) fn end_loan(&mut self) {
        if self.color.is_lent() || self.depth.is_lent() {
            self.prepare(Color::None, false, (0, 0));
        }
    }

    /// Whether this address is in memory that it does not own.
    pub(crate) fn is_lent_from(&self, address: usize) -> bool {
        self.color.is_lent_from(address) || self.depth.is_lent_from(address)
    }

    pub(crate) fn pixels(&self) -> usize {
        self.width * self.height
    }

    fn depth_abi(&self) -> Enum {
        match self.has_depth {
            true => DEPTH_FLOAT,
            false => DEPTH_NONE,
        }
    }

    fn colors(&mut self, wanted: &[Color], name: &str) -> Result<usize, Problem> {
        match wanted.contains(&self.color_format) {
            true => Ok(self.color.start()),
            false => {
                let format = self.color_format.to_abi();
                let text = format!("Color format 0x{format:X} is not of type {name}.");
                Err(Problem::Operation(text))
            }
        }
    }

    /// All colours as floats, with as many channels as wanted.
    fn floats(&self, channels: usize) -> Vec<f32> {
        let words = self.color.words();
        let fit = |rgba: [f32; 4]| rgba.into_iter().take(channels);
        match self.color_format {
            Color::None => Vec::new(),
            Color::RgbaBytes => {
                let of = |pixel: &u32| fit(pixel.to_ne_bytes().map(|byte| f32::from(byte) / 255.0));
                words.iter().flat_map(of).collect()
            }
            Color::RgbFloats | Color::RgbaFloats => {
                let of = |pixel: &[u32]| {
                    let mut rgba = [1.0; 4];
                    for (to, from) in rgba.iter_mut().zip(pixel) {
                        *to = f32::from_bits(*from);
                    }
                    fit(rgba)
                };
                words
                    .chunks_exact(self.color_format.words())
                    .flat_map(of)
                    .collect()
            }
        }
    }
}

/// Answers a query about an image. A null image is empty, and is not an error.
fn ask<R>(image: ImageHandle, null: R, answer: impl FnOnce(&mut Image) -> R) -> R
where
    R: Copy,
{
    if image.number.is_null() {
        return null;
    }
    call(null, |registry| {
        Ok(answer(registry.image(image.number as usize)?))
    })
}

/// The address of an image's colours or depths.
fn pointer(
    image: ImageHandle,
    find: impl FnOnce(&mut Image) -> Result<usize, Problem>,
) -> *mut c_void {
    let start = call(0, |registry| match image.number.is_null() {
        true => find(&mut Image::default()),
        false => find(registry.image(image.number as usize)?),
    });
    start as *mut c_void
}

#[no_mangle]
pub extern "C" fn icetImageNull() -> ImageHandle {
    ImageHandle {
        number: std::ptr::null_mut(),
    }
}

#[no_mangle]
pub extern "C" fn icetImageIsNull(image: ImageHandle) -> u8 {
    u8::from(image.number.is_null())
}

#[no_mangle]
pub extern "C" fn icetImageGetColorFormat(image: ImageHandle) -> Enum {
    ask(image, COLOR_NONE, |image| image.color_format.to_abi())
}

#[no_mangle]
pub extern "C" fn icetImageGetDepthFormat(image: ImageHandle) -> Enum {
    ask(image, DEPTH_NONE, |image| image.depth_abi())
}

#[no_mangle]
pub extern "C" fn icetImageGetWidth(image: ImageHandle) -> Size {
    ask(image, 0, |image| image.width as Size)
}

#[no_mangle]
pub extern "C" fn icetImageGetHeight(image: ImageHandle) -> Size {
    ask(image, 0, |image| image.height as Size)
}

#[no_mangle]
pub extern "C" fn icetImageGetNumPixels(image: ImageHandle) -> Size {
    ask(image, 0, |image| image.pixels() as Size)
}

#[no_mangle]
pub extern "C" fn icetImageGetColorub(image: ImageHandle) -> *mut u8 {
    pointer(image, |image| image.colors(&[Color::RgbaBytes], "ubyte")).cast()
}

#[no_mangle]
pub extern "C" fn icetImageGetColorui(image: ImageHandle) -> *mut u32 {
    icetImageGetColorub(image).cast()
}

#[no_mangle]
pub extern "C" fn icetImageGetColorf(image: ImageHandle) -> *mut f32 {
    let floats = [Color::RgbaFloats, Color::RgbFloats];
    pointer(image, |image| image.colors(&floats, "float")).cast()
}

#[no_mangle]
pub extern "C" fn icetImageGetDepthf(image: ImageHandle) -> *mut f32 {
    let depth = |image: &mut Image| match image.has_depth {
        true => Ok(image.depth.start()),
        false => {
            let format = image.depth_abi();
            let text = format!("Depth format 0x{format:X} is not of type float.");
            Err(Problem::Operation(text))
        }
    };
    pointer(image, depth).cast()
}

#[no_mangle]
pub extern "C" fn icetImageGetColorcub(image: ImageHandle) -> *const u8 {
    icetImageGetColorub(image)
}

#[no_mangle]
pub extern "C" fn icetImageGetColorcui(image: ImageHandle) -> *const u32 {
    icetImageGetColorui(image)
}

#[no_mangle]
pub extern "C" fn icetImageGetColorcf(image: ImageHandle) -> *const f32 {
    icetImageGetColorf(image)
}

#[no_mangle]
pub extern "C" fn icetImageGetDepthcf(image: ImageHandle) -> *const f32 {
    icetImageGetDepthf(image)
}

/// Copies values of an image to the program's memory.
///
/// # Safety
/// `out` is null or has room for the values.
unsafe fn copy_out<T: Copy>(
    image: ImageHandle,
    out: *mut T,
    values: impl FnOnce(&Image) -> Result<Vec<T>, Problem>,
) {
    call((), |registry| {
        let values = match image.number.is_null() {
            true => values(&Image::default())?,
            false => values(registry.image(image.number as usize)?)?,
        };
        if out.is_null() {
            return Err(Problem::Value("The pointer to the pixels is null.".into()));
        }
        // SAFETY: as the caller promises, and the vector is our own.
        unsafe { std::ptr::copy_nonoverlapping(values.as_ptr(), out, values.len()) };
        Ok(())
    });
}

fn has_color(image: &Image) -> Result<(), Problem> {
    match image.color_format {
        Color::None => Err(Problem::Operation("Input image has no color data.".into())),
        _ => Ok(()),
    }
}

/// # Safety
/// There is room for the image at `out`.
#[no_mangle]
pub unsafe extern "C" fn icetImageCopyColorub(image: ImageHandle, out: *mut u8, format: Enum) {
    let values = |image: &Image| {
        if format != COLOR_RGBA_UBYTE {
            return Err(Problem::Enum(format!(
                "Invalid color format for copying bytes, 0x{format:X}."
            )));
        }
        has_color(image)?;
        Ok(match image.color_format {
            Color::RgbaBytes => image.color.bytes().to_vec(),
            _ => {
                let floats = image.floats(4);
                let pixels = floats.chunks_exact(4);
                pixels
                    .flat_map(|pixel| bytes([pixel[0], pixel[1], pixel[2], pixel[3]]))
                    .collect()
            }
        })
    };
    // SAFETY: as the caller promises.
    unsafe { copy_out(image, out, values) }
}

/// # Safety
/// There is room for the image at `out`.
#[no_mangle]
pub unsafe extern "C" fn icetImageCopyColorf(image: ImageHandle, out: *mut f32, format: Enum) {
    let values = |image: &Image| {
        let channels = match format {
            COLOR_RGBA_FLOAT => 4,
            COLOR_RGB_FLOAT => 3,
            _ => {
                return Err(Problem::Enum(format!(
                    "Invalid color format for copying floats, 0x{format:X}."
                )))
            }
        };
        has_color(image)?;
        Ok(image.floats(channels))
    };
    // SAFETY: as the caller promises.
    unsafe { copy_out(image, out, values) }
}

/// # Safety
/// There is room for the image at `out`.
#[no_mangle]
pub unsafe extern "C" fn icetImageCopyDepthf(image: ImageHandle, out: *mut f32, format: Enum) {
    let values = |image: &Image| {
        if format != DEPTH_FLOAT {
            return Err(Problem::Enum(format!(
                "Invalid depth format for copying floats, 0x{format:X}."
            )));
        }
        match image.has_depth {
            true => Ok(image
                .depth
                .words()
                .iter()
                .copied()
                .map(f32::from_bits)
                .collect()),
            false => Err(Problem::Operation("Input image has no depth data.".into())),
        }
    };
    // SAFETY: as the caller promises.
    unsafe { copy_out(image, out, values) }
}
