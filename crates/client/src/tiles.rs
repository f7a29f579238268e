//! Surfaces on a wall: which renderer draws, shows and answers for what.

use crate::session::Session;
use mgn_wall::{Area, Rect, Wall};
use mgn_wire::Encoder;
use std::sync::{Arc, Mutex, PoisonError};

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

/// Tells the renderers of a wall what each of them draws of a surface that is `height` high.
///
/// # Safety
/// The encoder can be written to.
pub unsafe fn tell(encoder: &mut Encoder, surface: u32, areas: &[Area], height: u32) {
    let drawn = areas.iter().flat_map(|area| area.drawn.upwards(height));
    let tiles: Vec<i32> = drawn.collect();
    // SAFETY: the caller's promise; the array is ours.
    unsafe { encoder.mgn_tiles(surface, (tiles.as_ptr(), tiles.len())) };
}

/// Bytes of what `tell` writes.
pub fn told_bytes(areas: &[Area]) -> usize {
    16 * areas.len() + 16
}

/// A part of an image that one renderer has.
pub struct Part {
    pub tile: usize,
    /// Counted from the lower left corner of the framebuffer: x, y, width, height.
    pub rect: [i32; 4],
}

/// What each renderer has of the rectangle `[x, y, width, height]` of a surface that is `height` high, in the order of their tiles.
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

impl Session {
    /// The wall that pictures are divided for.
    pub fn wall(&self) -> Option<&Wall> {
        self.options.wall.as_ref().filter(|_| self.is_answered())
    }
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
