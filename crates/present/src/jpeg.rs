//! Pictures compressed as JPEG.

use std::io;

use turbojpeg::{Compressor, Image, PixelFormat, Subsamp};

use crate::PIXEL;

/// Colour is kept at full resolution from this quality on.
const FINE: u32 = 90;

/// BGRX rows without gaps as JPEG of a quality from 1 to 100.
///
/// # Errors
/// What the JPEG library says.
pub fn jpeg(bgrx: &[u8], width: usize, height: usize, quality: u32) -> io::Result<Vec<u8>> {
    let subsampling = match quality >= FINE {
        true => Subsamp::None,
        false => Subsamp::Sub2x2,
    };
    let image = Image {
        pixels: bgrx,
        width,
        pitch: width * PIXEL,
        height,
        format: PixelFormat::BGRX,
    };
    let compress = || {
        let mut compressor = Compressor::new()?;
        compressor.set_quality(quality as i32)?;
        compressor.set_subsamp(subsampling)?;
        compressor.compress_to_vec(image)
    };
    compress().map_err(io::Error::other)
}
