//! Several walls that show the same, as one wall in which each tile knows the number of its own
//! wall.
//!
//! Tiles may overlap, and the first tile that shows a pixel answers for it. So the tiles of the
//! first wall answer for all that they show. The tiles of the other walls draw and show their
//! parts, too.

use crate::{Fit, Replica, Target, Tile, Wall, WallError};

impl Wall {
    /// This wall together with `others` that show the same. If several walls show the program's own
    /// window, only the first of them keeps doing so.
    ///
    /// # Errors
    /// [`WallError`], if they have too many tiles together.
    pub fn with_replicas(
        mut self,
        others: impl IntoIterator<Item = Wall>,
    ) -> Result<Wall, WallError> {
        for (other, number) in others.into_iter().zip(1..) {
            let in_program = self.tiles.iter().any(Tile::is_in_program);
            self.name = format!("{}+{}", self.name, other.name);
            self.genlock |= other.genlock;
            self.tiles.extend(other.tiles.into_iter().map(|mut tile| {
                tile.present
                    .retain(|target| *target != Target::Program || !in_program);
                let (wall, size, fit) = (other.name.clone(), other.size, other.fit);
                tile.replica = Some(Replica {
                    number,
                    wall,
                    size,
                    fit,
                });
                tile
            }));
            self.check()?;
        }
        Ok(self)
    }

    /// How many walls it combines.
    pub fn walls(&self) -> u32 {
        let last = self.tiles.iter().map(Tile::wall_number).max();
        last.unwrap_or(0) + 1
    }

    /// The combined wall with this number (from 0), alone, and a test whether a tile belongs to it.
    pub fn one_of(&self, number: u32) -> (Wall, impl Fn(&Tile) -> bool) {
        let is_of_it = move |tile: &Tile| tile.wall_number() == number;
        let tiles = self.tiles.iter().filter(|tile| is_of_it(tile));
        (self.of(tiles), is_of_it)
    }

    /// The wall with this tile alone, as the tile's server gets it, and the tile's number in its
    /// own wall.
    pub fn alone(&self, tile: usize) -> (Wall, u32) {
        let own = &self.tiles[tile];
        let before = self.tiles[..tile].iter();
        let number = before.filter(|other| other.wall_number() == own.wall_number());
        (self.of([own].into_iter()), number.count() as u32)
    }

    /// A wall of tiles that all belong to the same wall.
    fn of<'t>(&self, tiles: impl Iterator<Item = &'t Tile>) -> Wall {
        let mut wall = Wall {
            tiles: tiles.cloned().collect(),
            name: self.name.clone(),
            windows: self.windows.clone(),
            ..*self
        };
        for tile in &mut wall.tiles {
            if let Some(replica) = tile.replica.take() {
                (wall.name, wall.size, wall.fit) = (replica.wall, replica.size, replica.fit);
            }
        }
        wall
    }

    /// The width and height of a tile's mural, and how windows map to it.
    pub(crate) fn mural_of(&self, tile: &Tile) -> ((u32, u32), Fit) {
        match &tile.replica {
            None => (self.size, self.fit),
            Some(replica) => (replica.size, replica.fit),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rect;

    #[test]
    fn replicas_show_the_same_and_the_first_answers_for_it() {
        let mut beamer = Wall::grid(1, 1).unwrap();
        beamer.tiles[0]
            .present
            .push(Target::Viewer("unix:@v".into()));
        let (grid, strip) = (Wall::grid(2, 2).unwrap(), Wall::grid(3, 1).unwrap());
        let all = [beamer.clone(), strip.clone()];
        let wall = grid.clone().with_replicas(all).unwrap();
        assert_eq!((wall.tiles.len(), wall.walls()), (8, 3));
        assert_eq!(Wall::from_json(&wall.to_json()), Ok(wall.clone()));
        let areas = wall.areas(90, 50);
        assert_eq!(areas[..4], grid.areas(90, 50)[..]);
        assert!(areas[4..].iter().all(|area| area.owned.is_empty()));
        let shown: Vec<Rect> = areas[4..].iter().map(|area| area.shown).collect();
        let third = |n: u32| Rect::new(30 * n, 0, 30, 50);
        let whole = Rect::new(0, 0, 90, 50);
        assert_eq!(shown, [whole, third(0), third(1), third(2)]);

        // The program's window is shown once.
        assert_eq!(wall.tiles[4].present, [Target::Viewer("unix:@v".into())]);
        assert_eq!(wall.tiles[7].to_string(), "2,0 of 3x1");
        let (alone, number) = wall.alone(6);
        assert_eq!(
            (alone.name.as_str(), alone.size, number),
            ("3x1", (3, 1), 1)
        );
        assert_eq!(wall.one_of(0).0.tiles, grid.tiles);
        let (found, is_of_it) = wall.one_of(2);
        assert_eq!((found.size, found.tiles.len()), (strip.size, 3));
        assert!(is_of_it(&wall.tiles[5]) && !is_of_it(&wall.tiles[0]));

        let large = Wall::grid(8, 8).unwrap();
        let error = large.with_replicas([beamer]).unwrap_err();
        assert!(error.to_string().contains("65 tiles"), "{error}");
    }
}
