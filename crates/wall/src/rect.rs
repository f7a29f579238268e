//! Rectangles of pixels.

use serde::{Deserialize, Serialize};

/// Whole pixels, counted from the upper left corner.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Rect {
    pub x: u32,
    pub y: u32,
    pub width: u32,
    pub height: u32,
}

impl Rect {
    pub const fn new(x: u32, y: u32, width: u32, height: u32) -> Rect {
        Rect {
            x,
            y,
            width,
            height,
        }
    }

    /// The rectangle from `(left, top)` to before `(right, bottom)`.
    pub fn between(left: u32, top: u32, right: u32, bottom: u32) -> Rect {
        let (width, height) = (right.saturating_sub(left), bottom.saturating_sub(top));
        Rect::new(left, top, width, height)
    }

    pub fn right(&self) -> u32 {
        self.x.saturating_add(self.width)
    }

    pub fn bottom(&self) -> u32 {
        self.y.saturating_add(self.height)
    }

    pub fn is_empty(&self) -> bool {
        self.width == 0 || self.height == 0
    }

    /// Pixels in it.
    pub fn area(&self) -> u64 {
        u64::from(self.width) * u64::from(self.height)
    }

    /// The intersection of both; empty if there is none.
    pub fn and(&self, other: &Rect) -> Rect {
        Rect::between(
            self.x.max(other.x),
            self.y.max(other.y),
            self.right().min(other.right()),
            self.bottom().min(other.bottom()),
        )
    }

    /// The smallest rectangle that contains both.
    pub fn hull(&self, other: &Rect) -> Rect {
        match (self.is_empty(), other.is_empty()) {
            (true, _) => *other,
            (_, true) => *self,
            _ => Rect::between(
                self.x.min(other.x),
                self.y.min(other.y),
                self.right().max(other.right()),
                self.bottom().max(other.bottom()),
            ),
        }
    }

    /// The parts of it outside `other`: up to four rectangles, none of them empty.
    pub fn without(&self, other: &Rect) -> Vec<Rect> {
        let common = self.and(other);
        if common.is_empty() {
            return if self.is_empty() { vec![] } else { vec![*self] };
        }
        let parts = [
            Rect::between(self.x, self.y, self.right(), common.y),
            Rect::between(self.x, common.y, common.x, common.bottom()),
            Rect::between(common.right(), common.y, self.right(), common.bottom()),
            Rect::between(self.x, common.bottom(), self.right(), self.bottom()),
        ];
        parts.into_iter().filter(|part| !part.is_empty()).collect()
    }

    /// The same pixels counted from the lower left corner of something `height` high, as OpenGL
    /// does: x, y, width, height.
    pub fn upwards(&self, height: u32) -> [i32; 4] {
        let y = i64::from(height) - i64::from(self.bottom());
        [
            self.x as i32,
            y as i32,
            self.width as i32,
            self.height as i32,
        ]
    }
}
