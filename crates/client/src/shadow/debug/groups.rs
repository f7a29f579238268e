//! `mgn bounds`: a debug group whose text gives the bounds of the program's draws (docs/bounds.md),
//! so that draws that shaders place can be sorted by tiles.

use crate::immediate::sort::drawn;
use mgn_wall::{Area, Bounds, Sorter};
use mgn_wire::gl::*;
use std::sync::Arc;

/// Mesa's GL_MAX_DEBUG_GROUP_STACK_DEPTH and GL_MAX_DEBUG_MESSAGE_LENGTH; the first group is always
/// there.
const DEPTH_MAX: usize = 64;
const TEXT_MAX: usize = 4096;
/// How many pixels a drawing may extend beyond its bounds, for rounding.
const MARGIN: f32 = 2.;

/// The bounds of the open debug groups, innermost last.
#[derive(Default)]
pub struct Groups(Vec<Option<Box<GroupBox>>>);

/// A box, and the transform from its coordinates to clip coordinates.
struct GroupBox {
    bounds: Bounds,
    transform: [f32; 16],
    /// The tiles that the box touches, and on which surface.
    tiles: Option<(Surface, u64)>,
}

/// The viewport, the areas of the tiles, and the height.
type Surface = ([f32; 4], Arc<[Area]>, u32);

impl Groups {
    /// Tracks a group that the program opens, unless that is an error.
    pub fn push(&mut self, source: u32, text: &[u8]) {
        let is_right = matches!(
            source,
            GL_DEBUG_SOURCE_APPLICATION | GL_DEBUG_SOURCE_THIRD_PARTY
        ) && text.len() < TEXT_MAX
            && self.0.len() + 1 < DEPTH_MAX;
        if is_right {
            self.0.push(parse(text).map(Box::new));
        }
    }

    pub fn pop(&mut self) {
        self.0.pop();
    }

    /// The tiles of a surface that current draws may touch; none if the program has given no
    /// bounds.
    pub fn tiles(&mut self, surface: Surface) -> Option<u64> {
        let said = self.0.iter_mut().rev().find_map(Option::as_mut)?;
        match &said.tiles {
            Some((known, tiles)) if *known == surface => Some(*tiles),
            _ => {
                let (viewport, areas, height) = &surface;
                let drawn = drawn(areas, *height);
                let sorter = Sorter::new(&said.transform, *viewport, &drawn, MARGIN);
                let tiles = sorter.tiles(&said.bounds);
                said.tiles = Some((surface, tiles));
                Some(tiles)
            }
        }
    }

    /// Whether any open group gives bounds.
    #[inline]
    pub fn say(&self) -> bool {
        !self.0.is_empty()
    }
}

/// `mgn bounds` is followed by 6 numbers, the least and the greatest x, y and z. 16 more numbers
/// may follow: a matrix by columns.
fn parse(text: &[u8]) -> Option<GroupBox> {
    let text = std::str::from_utf8(text).ok()?;
    let numbers = text.strip_prefix("mgn bounds ")?.split_ascii_whitespace();
    let numbers: Vec<f32> = numbers.map(str::parse).collect::<Result<_, _>>().ok()?;
    let (corners, matrix) = numbers.split_at_checked(6)?;
    let is_box = (0..3).all(|n| corners[n] <= corners[n + 3]);
    if !is_box || !numbers.iter().all(|n| n.is_finite()) {
        return None;
    }
    let identity = std::array::from_fn(|n| if n % 5 == 0 { 1. } else { 0. });
    let transform = match matrix.len() {
        0 => identity,
        _ => matrix.try_into().ok()?,
    };
    let mut bounds = Bounds::NONE;
    for corner in corners.chunks_exact(3) {
        bounds.add([corner[0], corner[1], corner[2], 0.]);
    }
    Some(GroupBox {
        bounds,
        transform,
        tiles: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use mgn_wall::Wall;

    #[test]
    fn the_innermost_group_that_says_something_counts() {
        let areas: Arc<[Area]> = Wall::grid(2, 1).unwrap().areas(100, 100).into();
        let surface = || ([0., 0., 100., 100.], areas.clone(), 100);
        let application = GL_DEBUG_SOURCE_APPLICATION;
        let mut groups = Groups::default();
        assert_eq!(groups.tiles(surface()), None);
        groups.push(application, b"a pass");
        assert_eq!(groups.tiles(surface()), None);
        groups.push(application, b"mgn bounds -1 -1 -1 -0.5 1 1");
        assert_eq!(groups.tiles(surface()), Some(1));
        groups.push(application, b"a part");
        assert_eq!(groups.tiles(surface()), Some(1));
        let matrix = "1 0 0 0 0 1 0 0 0 0 1 0 1.5 0 0 1";
        let moved = format!("mgn bounds -1 -1 -1 -0.5 1 1 {matrix}");
        groups.push(application, moved.as_bytes());
        assert_eq!(groups.tiles(surface()), Some(2));
        groups.pop();
        assert_eq!(groups.tiles(surface()), Some(1));
        // A source that opens no group.
        groups.push(GL_DEBUG_SOURCE_API, b"mgn bounds -1 -1 -1 1 1 1");
        assert_eq!(groups.tiles(surface()), Some(1));
        groups.pop();
        groups.pop();
        assert_eq!(groups.tiles(surface()), None);
    }

    #[test]
    fn what_is_no_box_says_nothing() {
        for text in [
            "mgn bounds",
            "mgn bounds ",
            "mgn bounds 0 0 0 1 1",
            "mgn bounds 0 0 0 1 1 1 1",
            "mgn bounds 1 0 0 0 1 1",
            "mgn bounds 0 0 0 1 1 inf",
            "mgn bounds nan 0 0 1 1 1",
            "mgn bounds 0 0 0 1 1 one",
            "mgn bounds0 0 0 1 1 1",
        ] {
            assert!(parse(text.as_bytes()).is_none(), "{text}");
        }
        assert!(parse(b"mgn bounds 0 0 0  1e0 1 1.0").is_some());
    }
}
