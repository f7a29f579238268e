//! A large picture in tiles, such as the screens of a display wall.

use super::{CompositeError, Group, PictureRef, Terms};
use crate::{LayerMut, Rectangle};

/// A part of a large picture, for one rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tile {
    /// Where it lies in the large picture. Tiles may overlap.
    pub place: Rectangle,
    /// The rank that gets it.
    pub to: usize,
}

impl Terms {
    /// The terms of a part of the picture.
    pub fn for_tile(&self, tile: &Tile) -> Terms {
        Terms {
            width: tile.place.columns.len(),
            height: tile.place.rows.len(),
            origin: [tile.place.columns.start, tile.place.rows.start],
            to: Some(tile.to),
            ..self.clone()
        }
    }
}

impl Group<'_> {
    /// Composites a large picture tile by tile: no rank needs memory for all of it. `terms` are
    /// those of the large picture, but the receiver of each tile is that of the [`Tile`]. All
    /// members must call this with the same tiles.
    ///
    /// `draw` gets the number of a tile, and memory with undefined contents. It draws this member's
    /// share of the tile into the memory, and returns the rectangle that it has drawn, as in
    /// [`Group::composite_drawn`]; none: all of the tile. It is not called if the order leaves this
    /// member out. `show` gets each merged tile that is for this member.
    ///
    /// # Errors
    /// Those of `draw` and `show`, and [`CompositeError::Outside`] for a rectangle of `draw` that
    /// is not within its tile: this member then composites no more, and the others get
    /// [`CompositeError::Lost`], in this call or the next one. [`CompositeError::Outside`] or
    /// [`CompositeError::To`] for a tile that is not within the picture or is for no rank of the
    /// job: nothing has been drawn, and the group stays usable. Others as in [`Group::composite`].
    pub fn composite_tiles<E: From<CompositeError>>(
        &mut self,
        terms: &Terms,
        tiles: &[Tile],
        mut draw: impl FnMut(usize, LayerMut<'_>) -> Result<Option<Rectangle>, E>,
        mut show: impl FnMut(usize, PictureRef<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        // Check all tiles first. All members pass the same ones, so all of them refuse here, before
        // anything is drawn, and the group stays usable.
        for tile in tiles {
            if !tile.place.is_within(terms.width, terms.height) {
                let rectangle = tile.place.clone();
                return Err(CompositeError::Outside { rectangle }.into());
            }
            self.check(&terms.for_tile(tile))?;
        }
        let rank = self.links.rank;
        let draws = terms
            .order
            .as_ref()
            .is_none_or(|order| order.contains(&rank));
        let mut composite = |number: usize, tile: &Tile| {
            let terms = terms.for_tile(tile);
            let covered = match draws {
                true => draw(number, self.draw(&terms)?)?,
                false => None,
            };
            let (_, picture) = self.composite_drawn(&terms, covered)?;
            match tile.to == rank {
                true => show(number, picture),
                false => Ok(()),
            }
        };
        let mut numbered = tiles.iter().enumerate();
        let done = numbered.try_for_each(|(number, tile)| composite(number, tile));
        done.inspect_err(|_| self.give_up())
    }

    /// Tells the other members that this one stops compositing, for example because it cannot draw.
    /// They get [`CompositeError::Lost`].
    pub fn give_up(&mut self) {
        if self.has_failed {
            return;
        }
        self.has_failed = true;
        // Another member may have failed before, and be the cause.
        let said = self.links.check(self.frame);
        let error = said.err().unwrap_or(CompositeError::Failed);
        if let Some(shared) = &self.shared {
            shared.fail(&self.links, &error);
        }
        self.links.fail(self.frame, &error);
    }
}
