//! Frames that are saved as image files.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use png::{BitDepth, ColorType, Compression, Encoder};

use crate::jpeg::jpeg;
use crate::picture::{Picture, PIXEL};
use crate::{Error, Target};

/// High enough for clean thin lines. Colour keeps its full resolution for the same reason.
const JPEG_QUALITY: u32 = 92;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FileFormat {
    #[default]
    Png,
    Jpeg,
}

impl FromStr for FileFormat {
    type Err = Error;

    fn from_str(name: &str) -> Result<FileFormat, Error> {
        match name {
            "png" => Ok(FileFormat::Png),
            "jpeg" | "jpg" => Ok(FileFormat::Jpeg),
            _ => Err(Error::FileFormat(name.into())),
        }
    }
}

/// Writes every n-th frame of each surface to a file of its own: `frame-000001.png` for the surface
/// that came first, `surface2-frame-000001.png` for the next.
#[derive(Debug)]
pub struct Saver {
    dir: PathBuf,
    format: FileFormat,
    every: u64,
    /// The surfaces' numbers in file names, in order of their first frames.
    surfaces: HashMap<u32, usize>,
    scratch: Vec<u8>,
    failed: bool,
}

impl Saver {
    /// Saves into `dir`, which is created if it is missing.
    ///
    /// # Errors
    /// [`Error::SaveDir`] if `dir` cannot be created or is not a directory.
    pub fn new(dir: &Path, format: FileFormat, every: u64) -> Result<Saver, Error> {
        let no_dir = |source| Error::SaveDir {
            path: dir.into(),
            source,
        };
        fs::create_dir_all(dir).map_err(no_dir)?;
        Ok(Saver {
            dir: dir.into(),
            format,
            every: every.max(1),
            surfaces: HashMap::new(),
            scratch: Vec::new(),
            failed: false,
        })
    }

    /// Whether this frame, counted from 1, will be kept: the n-th, the 2n-th and so on.
    pub fn wants(&self, frame: u64) -> bool {
        !self.failed && frame % self.every == 0
    }

    fn path(&mut self, picture: &Picture<'_>) -> PathBuf {
        let next = self.surfaces.len() + 1;
        let surface = *self.surfaces.entry(picture.surface).or_insert(next);
        let prefix = match surface {
            1 => String::new(),
            n => format!("surface{n}-"),
        };
        let extension = match self.format {
            FileFormat::Png => "png",
            FileFormat::Jpeg => "jpg",
        };
        self.dir
            .join(format!("{prefix}frame-{:06}.{extension}", picture.frame))
    }
}

impl Target for Saver {
    fn show(&mut self, picture: &Picture<'_>) -> Result<(), Error> {
        if !self.wants(picture.frame) {
            return Ok(());
        }
        picture.check()?;
        let path = self.path(picture);
        let unfinished = unfinished(&path);
        let written = write(&unfinished, self.format, picture, &mut self.scratch);
        let saved = written.and_then(|()| fs::rename(&unfinished, &path));
        saved.map_err(|source| {
            // After an error the saver gives up: if the disk is full, the next frame would fail,
            // too.
            let _ = fs::remove_file(&unfinished);
            self.failed = true;
            Error::Save { path, source }
        })
    }
}

/// The name of a file while it is written. Nobody should see half a picture, even if this process
/// is killed meanwhile. Each process uses its own name, so that two processes that save to one
/// folder do not publish each other's partial files.
fn unfinished(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}.part", std::process::id()));
    name.into()
}

fn write(
    path: &Path,
    format: FileFormat,
    picture: &Picture<'_>,
    scratch: &mut Vec<u8>,
) -> io::Result<()> {
    let mut file = File::create(path)?;
    let pixels = picture.packed(0, picture.height as usize, scratch);
    match format {
        FileFormat::Png => write_png(&mut file, picture, &pixels),
        FileFormat::Jpeg => {
            let (width, height) = (picture.width as usize, picture.height as usize);
            file.write_all(&jpeg(&pixels, width, height, JPEG_QUALITY)?)
        }
    }
}

fn write_png(file: &mut File, picture: &Picture<'_>, bgrx: &[u8]) -> io::Result<()> {
    let mut rgb = vec![0; bgrx.len() / PIXEL * 3];
    for (to, from) in rgb.chunks_exact_mut(3).zip(bgrx.chunks_exact(PIXEL)) {
        to.copy_from_slice(&[from[2], from[1], from[0]]);
    }
    let mut out = BufWriter::with_capacity(1 << 16, file);
    let mut encoder = Encoder::new(&mut out, picture.width, picture.height);
    encoder.set_color(ColorType::Rgb);
    encoder.set_depth(BitDepth::Eight);
    encoder.set_compression(Compression::Fast);
    let mut writer = encoder.write_header().map_err(png_error)?;
    writer.write_image_data(&rgb).map_err(png_error)?;
    writer.finish().map_err(png_error)?;
    out.flush()
}

fn png_error(error: png::EncodingError) -> io::Error {
    match error {
        png::EncodingError::IoError(source) => source,
        other => io::Error::other(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str) -> Scratch {
            let dir = std::env::temp_dir().join(format!("mgn-saver-{}-{name}", std::process::id()));
            let _ = fs::remove_dir_all(&dir);
            Scratch(dir)
        }

        fn names(&self) -> Vec<String> {
            let entries = fs::read_dir(&self.0).unwrap().flatten();
            let mut names: Vec<_> = entries
                .map(|e| e.file_name().into_string().unwrap())
                .collect();
            names.sort();
            names
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    const WIDTH: u32 = 20;
    const HEIGHT: u32 = 10;

    /// A gradient, with rows further apart than they are long.
    fn gradient() -> (Vec<u8>, u32) {
        let stride = WIDTH as usize * PIXEL + 16;
        let mut pixels = vec![0xee; stride * HEIGHT as usize];
        for (y, row) in pixels.chunks_exact_mut(stride).enumerate() {
            for (x, pixel) in row.chunks_exact_mut(PIXEL).take(WIDTH as usize).enumerate() {
                pixel.copy_from_slice(&[x as u8 * 10, y as u8 * 20, 200, 0]);
            }
        }
        (pixels, stride as u32)
    }

    fn picture(pixels: &Vec<u8>, stride: u32, surface: u32, frame: u64) -> Picture<'_> {
        let (width, height) = (WIDTH, HEIGHT);
        Picture {
            x: 0,
            y: 0,
            width,
            height,
            stride,
            pixels,
            segment: None,
            surface,
            frame,
        }
    }

    #[test]
    fn png_holds_the_very_pixels() {
        let scratch = Scratch::new("png");
        let (pixels, stride) = gradient();
        let mut saver = Saver::new(&scratch.0, FileFormat::Png, 1).unwrap();
        saver.show(&picture(&pixels, stride, 9, 1)).unwrap();
        let file = io::BufReader::new(File::open(scratch.0.join("frame-000001.png")).unwrap());
        let mut reader = png::Decoder::new(file).read_info().unwrap();
        let mut rgb = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut rgb).unwrap();
        assert_eq!((info.width, info.height), (WIDTH, HEIGHT));
        let at = |x: usize, y: usize| &rgb[(y * WIDTH as usize + x) * 3..][..3];
        assert_eq!(at(0, 0), [200, 0, 0]);
        assert_eq!(at(19, 9), [200, 180, 190]);
    }

    #[test]
    fn jpeg_is_close() {
        let scratch = Scratch::new("jpeg");
        let (pixels, stride) = gradient();
        let mut saver = Saver::new(&scratch.0, "jpeg".parse().unwrap(), 1).unwrap();
        saver.show(&picture(&pixels, stride, 9, 12)).unwrap();
        let bytes = fs::read(scratch.0.join("frame-000012.jpg")).unwrap();
        let image = turbojpeg::decompress(&bytes, turbojpeg::PixelFormat::RGB).unwrap();
        assert_eq!(
            (image.width, image.height),
            (WIDTH as usize, HEIGHT as usize)
        );
        let last = &image.pixels[(9 * image.pitch + 19 * 3)..][..3];
        for (&got, want) in last.iter().zip([200i32, 180, 190]) {
            assert!((i32::from(got) - want).abs() < 12, "{last:?}");
        }
    }

    #[test]
    fn every_nth_frame_of_each_surface() {
        let scratch = Scratch::new("every");
        let (pixels, stride) = gradient();
        let mut saver = Saver::new(&scratch.0, FileFormat::Png, 3).unwrap();
        for frame in 1..=7 {
            saver.show(&picture(&pixels, stride, 40, frame)).unwrap();
            saver.show(&picture(&pixels, stride, 7, frame)).unwrap();
        }
        let expected = [
            "frame-000003.png",
            "frame-000006.png",
            "surface2-frame-000003.png",
            "surface2-frame-000006.png",
        ];
        assert_eq!(scratch.names(), expected);
    }

    #[test]
    fn a_full_disk_is_said_once_and_leaves_nothing() {
        let scratch = Scratch::new("full");
        let (pixels, stride) = gradient();
        let mut saver = Saver::new(&scratch.0, FileFormat::Png, 1).unwrap();
        let path = scratch.0.join("frame-000001.png");
        let unfinished = unfinished(&path);
        std::os::unix::fs::symlink("/dev/full", &unfinished).unwrap();
        let error = saver
            .show(&picture(&pixels, stride, 1, 1))
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("frame-000001.png") && error.contains("No space"),
            "{error}"
        );
        saver.show(&picture(&pixels, stride, 1, 2)).unwrap();
        assert!(scratch.names().is_empty());
    }

    #[test]
    fn a_file_is_no_directory() {
        let scratch = Scratch::new("nodir");
        fs::write(&scratch.0, b"x").unwrap();
        let error = Saver::new(&scratch.0, FileFormat::Png, 1).unwrap_err();
        assert!(matches!(error, Error::SaveDir { .. }));
        fs::remove_file(&scratch.0).unwrap();
    }
}
