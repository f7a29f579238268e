//! Surfaces on a wall: which renderer draws, shows and returns which part.
//!
//! A surface is drawn in tiles until a command needs all of it. Then it is made *whole*: every
//! renderer gets the tiles of all others, and draws the whole surface from then on. This ends after
//! the first frame in which no command needed the whole surface.

use mgn_wall::{Area, Rect, Wall};
use mgn_wire::Encoder;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The purpose for which a surface is made whole.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum WholePurpose {
    /// A command reads this rectangle of the read framebuffer: x, y, width, height.
    Reading([i32; 4]),
    /// A command needs the whole draw framebuffer.
    Drawing,
}

/// What the wall has to know about the whole session.
#[derive(Default)]
pub struct Needs {
    /// Limits of offset tiling that have been reported, a bit each.
    pub inexact: AtomicU32,
    /// A display list has been compiled with a command that needs whole surfaces.
    pub lists: AtomicBool,
    /// A display list has been compiled that has conditional rendering.
    pub conditions: AtomicBool,
    /// A display list has been compiled with a command that uses scissor boxes: drawing in lists is
    /// no longer limited to tiles.
    pub scissors: AtomicBool,
    /// The number of contexts, current or not, with queries that count whole surfaces.
    pub counting: AtomicU32,
    /// Shaders may write to memory, which shows how often a fragment was drawn.
    pub writes: AtomicBool,
}

impl Needs {
    /// Whether display lists need whole surfaces.
    pub fn lists(&self) -> bool {
        self.lists.load(Ordering::Relaxed)
    }

    /// A display list that has conditional rendering is compiled.
    pub fn conditions(&self) {
        self.conditions.store(true, Ordering::Relaxed);
    }
}

/// Whether a surface is drawn as a whole, and in which frame that was last needed.
#[derive(Default)]
pub struct Wholeness {
    pub is_whole: AtomicBool,
    pub needed: AtomicU32,
}

/// The areas of a surface's tiles, for the size that it had when they were last asked for.
#[derive(Default)]
pub struct Areas(Mutex<Option<Divided>>);

type Divided = ((u32, u32), Arc<[Area]>);

impl Areas {
    /// The areas at `size`.
    pub fn at(&self, wall: &Wall, size: (u32, u32)) -> Arc<[Area]> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &*known {
            Some((then, areas)) if *then == size => areas.clone(),
            _ => {
                let areas: Arc<[Area]> = wall.areas(size.0, size.1).into();
                *known = Some((size, areas.clone()));
                areas
            }
        }
    }
}

/// Tells the renderers of a wall which part of a surface, `height` high, each of them draws.
///
/// # Safety
/// The encoder can be written to.
pub unsafe fn encode_areas(encoder: &mut Encoder, surface: u32, areas: &[Area], height: u32) {
    let drawn = areas.iter().flat_map(|area| area.drawn.upwards(height));
    let tiles: Vec<i32> = drawn.collect();
    // SAFETY: the caller's promise; the array is ours.
    unsafe { encoder.mgn_tiles(surface, (tiles.as_ptr(), tiles.len())) };
}

/// The bytes that `encode_areas` writes.
pub fn encoded_areas_bytes(areas: &[Area]) -> usize {
    16 * areas.len() + 16
}

/// A part of an image that one renderer has.
pub struct Part {
    pub tile: usize,
    /// Counted from the lower left corner of the framebuffer: x, y, width, height.
    pub rect: [i32; 4],
}

/// The rectangle that both corners of a blit span: x, y, width, height.
pub fn between(one: [i32; 2], other: [i32; 2]) -> [i32; 4] {
    let along = |n: usize| {
        let (from, to) = (one[n].min(other[n]), one[n].max(other[n]));
        (from, to.saturating_sub(from))
    };
    let ((x, width), (y, height)) = (along(0), along(1));
    [x, y, width, height]
}

/// The sides of the smallest rectangle around two rectangles, which are given by their sides.
pub fn hull(a: [i32; 4], b: [i32; 4]) -> [i32; 4] {
    [
        a[0].min(b[0]),
        a[1].min(b[1]),
        a[2].max(b[2]),
        a[3].max(b[3]),
    ]
}

impl Part {
    /// Left, lower, right and upper side.
    pub fn sides(&self) -> [i32; 4] {
        let [x, y, width, height] = self.rect;
        [x, y, x + width, y + height]
    }

    /// The numbers by which renderers are asked for it.
    fn numbers(&self) -> [i32; 5] {
        let [x, y, width, height] = self.rect;
        [self.tile as i32, x, y, width, height]
    }
}

/// The arguments of a question that renderers answer with parts.
pub fn asked(parts: &[Part]) -> Vec<i32> {
    parts.iter().flat_map(Part::numbers).collect()
}

/// The part that each renderer has of the rectangle `[x, y, width, height]` of a surface that is
/// `height` high, in the order of their tiles.
pub fn parts(areas: &[Area], [x, y, width, height]: [i32; 4], total: u32) -> Vec<Part> {
    let end = |from: i32, length: i32| {
        (i64::from(from) + i64::from(length)).clamp(0, i64::from(u32::MAX)) as u32
    };
    let (left, right) = (x.max(0) as u32, end(x, width));
    let (bottom, top) = (y.max(0) as u32, end(y, height).min(total));
    let wanted = Rect::between(left, total - top, right, total.saturating_sub(bottom));
    let mut parts = Vec::new();
    for (tile, area) in areas.iter().enumerate() {
        for owned in &area.owned {
            let common = owned.and(&wanted);
            if !common.is_empty() {
                let rect = common.upwards(total);
                parts.push(Part { tile, rect });
            }
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rectangle_is_read_where_its_pixels_are() {
        let wall = Wall::grid(2, 2).unwrap();
        let areas = wall.areas(10, 10);
        let all = parts(&areas, [0, 0, 10, 10], 10);
        let rects: Vec<_> = all.iter().map(|part| (part.tile, part.rect)).collect();
        // Tiles are counted from above, pixels from below.
        assert_eq!(
            rects,
            [
                (0, [0, 5, 5, 5]),
                (1, [5, 5, 5, 5]),
                (2, [0, 0, 5, 5]),
                (3, [5, 0, 5, 5])
            ]
        );
        let one = parts(&areas, [-3, 9, 4, 100], 10);
        assert_eq!(one.len(), 1);
        assert_eq!((one[0].tile, one[0].rect), (0, [0, 9, 1, 1]));
        assert!(parts(&areas, [20, 20, 5, 5], 10).is_empty());
        assert!(parts(&areas, [0, 0, 0, 0], 10).is_empty());
    }
}
