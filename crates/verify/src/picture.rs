//! Pictures: read, compared, and kept where they differ.

use std::fs::{self, File};
use std::io::{self, BufReader};
use std::path::Path;

/// Rows of RGB pixels, 8 bits each, from the top down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    pub width: usize,
    pub height: usize,
    pub pixels: Vec<u8>,
}

/// Where and by how much two pictures of one size differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PixelDifference {
    /// Column and row of the first pixel that differs.
    pub first: (usize, usize),
    /// Its colour in either picture.
    pub direct: [u8; 3],
    pub ours: [u8; 3],
    pub count: usize,
    /// The largest difference of one component.
    pub largest: u8,
}

impl Picture {
    /// Reads a binary PPM or a PNG file, by its name.
    ///
    /// # Errors
    /// If it cannot be read or is neither.
    pub fn read(path: &Path) -> io::Result<Picture> {
        if path.extension().is_some_and(|e| e == "png") {
            return Picture::read_png(path);
        }
        Picture::parse_ppm(&fs::read(path)?)
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "not a binary PPM picture"))
    }

    fn read_png(path: &Path) -> io::Result<Picture> {
        let mut reader = png::Decoder::new(BufReader::new(File::open(path)?))
            .read_info()
            .map_err(invalid)?;
        let mut pixels = vec![0; reader.output_buffer_size().unwrap_or(0)];
        let info = reader.next_frame(&mut pixels).map_err(invalid)?;
        if (info.color_type, info.bit_depth) != (png::ColorType::Rgb, png::BitDepth::Eight) {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "not RGB of 8 bits",
            ));
        }
        pixels.truncate(info.buffer_size());
        Ok(Picture {
            width: info.width as usize,
            height: info.height as usize,
            pixels,
        })
    }

    fn parse_ppm(bytes: &[u8]) -> Option<Picture> {
        let mut rest = bytes.strip_prefix(b"P6")?;
        let mut number = || {
            rest = rest.trim_ascii_start();
            let digits = rest.iter().take_while(|b| b.is_ascii_digit()).count();
            let (number, after) = rest.split_at(digits);
            rest = after;
            std::str::from_utf8(number).ok()?.parse::<usize>().ok()
        };
        let (width, height, most) = (number()?, number()?, number()?);
        let pixels = rest.get(1..)?.to_vec();
        (most == 255 && pixels.len() == width * height * 3).then_some(Picture {
            width,
            height,
            pixels,
        })
    }

    /// `None` if they are equal, or of different sizes.
    pub fn difference(&self, ours: &Picture) -> Option<PixelDifference> {
        if (self.width, self.height) != (ours.width, ours.height) {
            return None;
        }
        let mut found: Option<PixelDifference> = None;
        let pairs = pixels(&self.pixels).zip(pixels(&ours.pixels));
        for (n, (a, b)) in pairs.enumerate().filter(|(_, (a, b))| a != b) {
            let by = a.iter().zip(&b).map(|(a, b)| a.abs_diff(*b)).max();
            let found = found.get_or_insert(PixelDifference {
                first: (n % self.width, n / self.width),
                direct: a,
                ours: b,
                count: 0,
                largest: 0,
            });
            found.count += 1;
            found.largest = found.largest.max(by.unwrap_or(0));
        }
        found
    }

    /// Every pixel that differs, in white; all of them if the sizes differ.
    pub fn mask(&self, other: &Picture) -> Picture {
        let same_size = (self.width, self.height) == (other.width, other.height);
        let pairs = pixels(&self.pixels).zip(pixels(&other.pixels));
        let mut mask = vec![255; self.pixels.len()];
        for (to, (a, b)) in mask.chunks_exact_mut(3).zip(pairs) {
            to.fill(if same_size && a == b { 0 } else { 255 });
        }
        Picture {
            pixels: mask,
            ..*self
        }
    }

    /// # Errors
    /// If the file cannot be written.
    pub fn write_png(&self, path: &Path) -> io::Result<()> {
        let (width, height) = (self.width as u32, self.height as u32);
        let mut encoder = png::Encoder::new(File::create(path)?, width, height);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        let mut writer = encoder.write_header().map_err(invalid)?;
        writer.write_image_data(&self.pixels).map_err(invalid)
    }
}

fn pixels(bytes: &[u8]) -> impl Iterator<Item = [u8; 3]> + '_ {
    bytes.chunks_exact(3).map(|p| [p[0], p[1], p[2]])
}

fn invalid(error: impl std::error::Error + Send + Sync + 'static) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_counted() {
        let a = Picture::parse_ppm(b"P6\n2 2\n255\nabcdefghijkl").unwrap();
        let mut b = a.clone();
        assert_eq!(a.difference(&b), None);
        b.pixels[5] = b'f' + 3;
        b.pixels[11] = b'l' - 9;
        let expected = PixelDifference {
            first: (1, 0),
            direct: *b"def",
            ours: *b"dei",
            count: 2,
            largest: 9,
        };
        assert_eq!(a.difference(&b), Some(expected));
        assert_eq!(
            a.mask(&b).pixels,
            [0, 0, 0, 255, 255, 255, 0, 0, 0, 255, 255, 255]
        );
        let wide = Picture {
            width: 4,
            height: 1,
            ..a.clone()
        };
        assert_eq!(a.difference(&wide), None);
        assert_eq!(a.mask(&wide).pixels, [255; 12]);
    }

    #[test]
    fn what_is_no_picture_is_refused() {
        for bytes in [
            &b"P5\n1 1\n255\na"[..],
            b"P6\n2 2\n255\nabc",
            b"P6\n1 1\n65535\nabc",
            b"P6",
        ] {
            assert!(Picture::parse_ppm(bytes).is_none());
        }
    }
}
