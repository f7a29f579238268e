//! Pictures compressed as JPEG.

use std::io;

use turbojpeg::{Compressor, Image, PixelFormat, Subsamp};

use crate::PIXEL;

/// From this quality on, colour keeps its full resolution.
const FINE: u32 = 90;

/// Compresses BGRX rows without gaps to a JPEG of a quality from 1 to 100.
///
/// # Errors
/// The error of the JPEG library.
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
