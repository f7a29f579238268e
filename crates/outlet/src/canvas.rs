//! The tiles that one process gets of a large picture, put together for its outlet.

use mgn_composite::{Color, Format, PictureRef, Rectangle, Tile};

use crate::{Attached, OutletError, Shot};

/// The part of the large picture that this process gets: the smallest rectangle around its tiles.
/// Pixels that none of them covers are black.
#[derive(Debug)]
pub struct Canvas<'a> {
    attached: &'a Attached,
    color: Color,
    place: Rectangle,
    pixels: Vec<u8>,
}

impl<'a> Canvas<'a> {
    /// One for the tiles of this rank; none if it gets no pixels.
    pub fn of(
        attached: &'a Attached,
        rank: usize,
        tiles: &[Tile],
        format: Format,
    ) -> Option<Canvas<'a>> {
        let places = tiles.iter().filter(|tile| tile.to == rank);
        let places = places.map(|tile| &tile.place);
        let places = places.filter(|place| !place.columns.is_empty() && !place.rows.is_empty());
        let place = places.cloned().reduce(|all, next| Rectangle {
            columns: all.columns.start.min(next.columns.start)
                ..all.columns.end.max(next.columns.end),
            rows: all.rows.start.min(next.rows.start)..all.rows.end.max(next.rows.end),
        })?;
        Some(Canvas {
            attached,
            color: format.color,
            place,
            pixels: Vec::new(),
        })
    }

    /// Takes a merged tile.
    pub fn put(&mut self, place: &Rectangle, picture: PictureRef<'_>) {
        let pixel = self.pixel();
        let row = place.columns.len() * pixel;
        if place.columns.is_empty() || place.rows.is_empty() {
            return;
        }
        let [width, height] = [self.place.columns.len(), self.place.rows.len()];
        self.pixels.resize(width * height * pixel, 0);
        let left = place.columns.start - self.place.columns.start;
        let top = place.rows.start - self.place.rows.start;
        for (y, from) in picture.color.chunks_exact(row).enumerate() {
            let start = ((top + y) * width + left) * pixel;
            self.pixels[start..start + row].copy_from_slice(from);
        }
    }

    /// Shows all that was taken.
    ///
    /// # Errors
    /// As for [`crate::Outlet::show`].
    pub fn show(self) -> Result<(), OutletError> {
        self.attached.show_shot(&Shot {
            width: self.place.columns.len(),
            height: self.place.rows.len(),
            color: self.color,
            direction: self.attached.direction,
            pixels: &self.pixels,
        })
    }

    /// Bytes of one.
    fn pixel(&self) -> usize {
        let format = Format {
            color: self.color,
            depth: None,
        };
        format.pixel_bytes()[0]
    }
}
