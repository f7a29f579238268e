//! Holes in pictures, where a tile's renderer is lost.

use crate::link::surface::Surface;
use mgn_wall::Rect;

/// The width of the stripes of a hole, in pixels, and their two colours.
const STRIPE: u32 = 16;
const STRIPES: [[u8; 4]; 2] = [[0x30, 0x30, 0x30, 0xff], [0x60, 0x60, 0x60, 0xff]];

/// The areas of a surface that belong to lost tiles. Empty if they do not cover the surface
/// together with the `drawn` areas.
pub fn holes(surface: &Surface, drawn: &[Rect], missing: &[bool]) -> Vec<Rect> {
    if !missing.contains(&true) {
        return Vec::new();
    }
    let areas = surface.areas();
    let areas = areas.iter().flat_map(|areas| areas.iter());
    let lost = areas.zip(missing).filter(|(_, missing)| **missing);
    let mut holes: Vec<_> = lost.map(|(area, _)| area.drawn).collect();
    let (width, height) = surface.size();
    let known: u64 = drawn.iter().chain(&holes).map(Rect::area).sum();
    if known < u64::from(width) * u64::from(height) {
        holes.clear();
    }
    holes
}

/// Fills `hole` with stripes. The canvas holds the rectangle `all` of the window.
pub fn stripe(canvas: &mut [u8], stride: usize, all: &Rect, hole: &Rect) {
    for y in hole.y..hole.y + hole.height {
        let at = (y - all.y) as usize * stride + (hole.x - all.x) as usize * 4;
        let row = &mut canvas[at..at + hole.width as usize * 4];
        for (pixel, x) in row.chunks_exact_mut(4).zip(hole.x..) {
            pixel.copy_from_slice(&STRIPES[((x + y) / STRIPE % 2) as usize]);
        }
    }
}

/// Sets the depths of a hole to the nearest value, so that it stays a hole in a composited picture.
pub fn bring_forward(depths: &mut [u8], stride: usize, all: &Rect, hole: &Rect) {
    for y in hole.y..hole.bottom() {
        let at = (y - all.y) as usize * stride + (hole.x - all.x) as usize * 4;
        depths[at..at + hole.width as usize * 4].fill(0);
    }
}
