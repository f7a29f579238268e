//! `save`: frames as image files, on the server, whether or not the program's side wants to see
//! them.
//!
//! The picture is read before the frame is shown, in the same way as a wall's tiles, so that the
//! program's state does not change. On a wall, each session saves the whole surface, but has drawn
//! only its own tile. A frame that is shown without a current context is not saved.

use crate::chain::{Built, Does, Given, Kind, Parameter, Spu, StageContext};
use mgn_present::{FileFormat, Picture, Saver, Target};
use mgn_wire::hello::surface::SINGLE_BUFFERED;
use mgn_wire::hello::{plane, Color, Config};
use mgn_wire::{Commands, Fault, Reply, Slice};
use std::collections::HashMap;

pub const SPU: Spu = Spu {
    name: "save",
    about: "frames as image files",
    does: Does::Ask,
    parameters: &[
        Parameter {
            name: "dir",
            kind: Kind::Folder,
            default: None,
            about: "the folder to write to: frame-000001.png and so on, surface2-frame-000001.png for the next surface",
        },
        Parameter {
            name: "every",
            kind: Kind::Count,
            default: Some("1"),
            about: "every n-th frame of each surface",
        },
        Parameter {
            name: "format",
            kind: Kind::OneOf(&["png", "jpeg"]),
            default: Some("png"),
            about: "exact, or small",
        },
    ],
    build,
};

fn build(given: &Given<'_>, context: &StageContext, next: Box<dyn Commands>) -> Built {
    let dir = given.folder("dir", context)?;
    let format = match given.text("format") {
        "jpeg" => FileFormat::Jpeg,
        _ => FileFormat::Png,
    };
    let saver = Saver::new(&dir, format, given.count("every"));
    let saver = saver.map_err(|error| given.unwritable(&dir, std::io::Error::other(error)))?;
    Ok(Box::new(Save::new(saver, next)))
}

/// Saves the frames that `saver` wants and passes everything on.
pub struct Save {
    next: Box<dyn Commands>,
    saver: Saver,
    context: u32,
    surfaces: HashMap<u32, Surface>,
}

#[derive(Clone, Copy)]
struct Surface {
    is_single: bool,
    color: Color,
    width: u32,
    height: u32,
    /// How many renderers the wall has. Each of them answers only for its own number.
    tiles: i32,
}

impl Save {
    pub fn new(saver: Saver, next: Box<dyn Commands>) -> Save {
        Save {
            next,
            saver,
            context: 0,
            surfaces: HashMap::new(),
        }
    }

    fn save(&mut self, id: u32, frame: u32, front: bool) -> Result<(), Fault> {
        let Some(surface) = self.surfaces.get(&id).copied() else {
            return Ok(());
        };
        if self.context == 0 || !self.saver.wants(frame.into()) {
            return Ok(());
        }
        let plane = if front && !surface.is_single {
            plane::FRONT
        } else {
            plane::BACK
        };
        let (width, height) = (surface.width as i32, surface.height as i32);
        let parts: Vec<i32> = (0..surface.tiles)
            .flat_map(|tile| [tile, 0, 0, width, height])
            .collect();
        let mut reply = Reply::default();
        let stored =
            surface.width as usize * surface.height as usize * surface.color.stored_bytes();
        self.next.mgn_take_tiles(
            id,
            plane,
            Slice::from(&parts[..]),
            stored as u32,
            &mut reply,
        )?;
        let Some(pixels) = reply.bytes().get(4..4 + stored).filter(|p| !p.is_empty()) else {
            // The framebuffer has no such plane, or there is no driver behind this chain.
            return Ok(());
        };
        let pixels = upright_bgrx(pixels, &surface);
        let picture = Picture {
            x: 0,
            y: 0,
            width: surface.width,
            height: surface.height,
            stride: surface.width * 4,
            pixels: &pixels,
            segment: None,
            surface: id,
            frame: frame.into(),
        };
        if let Err(error) = self.saver.show(&picture) {
            tracing::warn!("{error}");
        }
        Ok(())
    }
}

impl Commands for Save {
    fn next(&mut self) -> &mut dyn Commands {
        &mut *self.next
    }

    fn message(&mut self, context: u32) -> Result<(), Fault> {
        self.context = context;
        self.next.message(context)
    }

    fn mgn_create_surface(
        &mut self,
        id: u32,
        kind: u32,
        config: u32,
        width: u32,
        height: u32,
    ) -> Result<(), Fault> {
        self.next
            .mgn_create_surface(id, kind, config, width, height)?;
        let surface = Surface {
            is_single: kind & SINGLE_BUFFERED != 0,
            color: Config::color_of(config),
            width,
            height,
            tiles: 1,
        };
        self.surfaces.insert(id, surface);
        Ok(())
    }

    fn mgn_resize_surface(&mut self, id: u32, width: u32, height: u32) -> Result<(), Fault> {
        self.next.mgn_resize_surface(id, width, height)?;
        if let Some(surface) = self.surfaces.get_mut(&id) {
            (surface.width, surface.height) = (width, height);
        }
        Ok(())
    }

    fn mgn_tiles(&mut self, surface: u32, tiles: Slice<'_, i32>) -> Result<(), Fault> {
        if let Some(surface) = self.surfaces.get_mut(&surface) {
            surface.tiles = (tiles.len() / 4).max(1) as i32;
        }
        self.next.mgn_tiles(surface, tiles)
    }

    fn mgn_destroy_surface(&mut self, id: u32) -> Result<(), Fault> {
        self.surfaces.remove(&id);
        self.next.mgn_destroy_surface(id)
    }

    fn mgn_swap_buffers(&mut self, surface: u32, frame: u32, want: u32) -> Result<(), Fault> {
        self.save(surface, frame, false)?;
        self.next.mgn_swap_buffers(surface, frame, want)
    }

    fn mgn_present_front(&mut self, surface: u32, frame: u32, want: u32) -> Result<(), Fault> {
        self.save(surface, frame, true)?;
        self.next.mgn_present_front(surface, frame, want)
    }

    #[allow(clippy::too_many_arguments)]
    fn mgn_copy_sub_buffer(
        &mut self,
        surface: u32,
        frame: u32,
        want: u32,
        x: i32,
        y: i32,
        width: i32,
        height: i32,
    ) -> Result<(), Fault> {
        self.save(surface, frame, false)?;
        self.next
            .mgn_copy_sub_buffer(surface, frame, want, x, y, width, height)
    }
}

/// Converts rows that are stored from the bottom up to BGRX rows from the top down.
fn upright_bgrx(stored: &[u8], surface: &Surface) -> Vec<u8> {
    let size = surface.color.stored_bytes();
    let rows = stored.chunks_exact(surface.width as usize * size).rev();
    let pixels = rows.flat_map(|row| row.chunks_exact(size));
    pixels
        .flat_map(|pixel| bgrx(pixel, surface.color))
        .collect()
}

fn bgrx(pixel: &[u8], color: Color) -> [u8; 4] {
    let word = |at: usize| u16::from_le_bytes([pixel[at], pixel[at + 1]]);
    let scale = |value: u32, most: u32| ((value * 255 + most / 2) / most) as u8;
    match color {
        Color::Rgb8 => [pixel[2], pixel[1], pixel[0], 0],
        Color::Rgb10 => {
            let all = u32::from(word(0)) | u32::from(word(2)) << 16;
            let channel = |shift: u32| scale(all >> shift & 1023, 1023);
            [channel(20), channel(10), channel(0), 0]
        }
        Color::Rgb565 => {
            let all = u32::from(word(0));
            [
                scale(all & 31, 31),
                scale(all >> 5 & 63, 63),
                scale(all >> 11, 31),
                0,
            ]
        }
        Color::Rgb16F => {
            let channel = |at: usize| (half(word(at)).clamp(0.0, 1.0) * 255.0).round() as u8;
            [channel(4), channel(2), channel(0), 0]
        }
    }
}

/// The value of a 16-bit floating-point number; 0 for NaN.
fn half(bits: u16) -> f32 {
    let mantissa = f32::from(bits & 0x3ff) / 1024.0;
    let exponent = i32::from(bits >> 10 & 31);
    let magnitude = match exponent {
        0 => mantissa * 2f32.powi(-14),
        31 if mantissa != 0.0 => 0.0,
        31 => f32::INFINITY,
        _ => (1.0 + mantissa) * 2f32.powi(exponent - 15),
    };
    if bits >> 15 == 1 {
        -magnitude
    } else {
        magnitude
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_of_every_depth_become_bytes() {
        assert_eq!(bgrx(&[1, 2, 3, 4], Color::Rgb8), [3, 2, 1, 0]);
        let tenth = (1023u32 | 512 << 10).to_le_bytes();
        assert_eq!(bgrx(&tenth, Color::Rgb10), [0, 128, 255, 0]);
        let packed = (31u16 << 11 | 32 << 5).to_le_bytes();
        assert_eq!(bgrx(&packed, Color::Rgb565), [0, 130, 255, 0]);
        let halves: Vec<u8> = [0x3c00u16, 0x3800, 0xbc00, 0x3c00]
            .iter()
            .flat_map(|h| h.to_le_bytes())
            .collect();
        assert_eq!(bgrx(&halves, Color::Rgb16F), [0, 128, 255, 0]);
        assert_eq!(half(0x7c00), f32::INFINITY);
        assert_eq!(half(0x0001), 2f32.powi(-24));
    }

    #[test]
    fn rows_are_turned_over() {
        let surface = Surface {
            is_single: false,
            color: Color::Rgb8,
            width: 1,
            height: 2,
            tiles: 1,
        };
        let stored = [1, 2, 3, 0, 4, 5, 6, 0];
        assert_eq!(upright_bgrx(&stored, &surface), [6, 5, 4, 0, 3, 2, 1, 0]);
    }
}
