//! Which tiles would be shown on top of each other.

use std::fmt;

use crate::{DisplayPosition, Rect, Target, Wall};

/// A tile that is shown where another one is, on the same display.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Covered {
    /// The number of the later tile.
    pub tile: usize,
    /// The names of both tiles, for people.
    names: [String; 2],
    display: String,
}

impl fmt::Display for Covered {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ([one, other], display) = (&self.names, &self.display);
        write!(
            out,
            "the tiles {one} and {other} are shown on top of each other, on the display {display}"
        )
    }
}

impl Wall {
    /// The first tile that is shown where an earlier one is. `host` returns the host of a tile's
    /// server, or nothing if it is not known. Such a tile is ignored.
    pub fn covered<H: PartialEq>(&self, host: impl Fn(usize) -> Option<H>) -> Option<Covered> {
        // Tile, host, display and rectangle of each window. The rectangle is none if the window
        // covers the whole display.
        let mut shown: Vec<(usize, H, &str, Option<Rect>)> = Vec::new();
        for (n, tile) in self.tiles.iter().enumerate() {
            for target in &tile.present {
                let Target::Window { display, place } = target else {
                    continue;
                };
                let Some(host) = host(n) else { continue };
                let screen = display.strip_suffix(".0").unwrap_or(display);
                let rect = match place {
                    DisplayPosition::Fullscreen => None,
                    // Displays have no pixels left of and above 0, 0.
                    DisplayPosition::At(x, y) => Some(Rect::new(
                        (*x).max(0) as u32,
                        (*y).max(0) as u32,
                        tile.rect.width,
                        tile.rect.height,
                    )),
                };
                let meets = |other: &Option<Rect>| match (&rect, other) {
                    (Some(rect), Some(other)) => !rect.and(other).is_empty(),
                    _ => true,
                };
                let other = shown.iter().find(|(number, there, name, other)| {
                    *number != n && *there == host && *name == screen && meets(other)
                });
                if let Some((other, ..)) = other {
                    return Some(Covered {
                        tile: n,
                        names: [self.tiles[*other].to_string(), tile.to_string()],
                        display: display.clone(),
                    });
                }
                shown.push((n, host, screen, rect));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wall(places: &[(&str, DisplayPosition)]) -> Wall {
        let mut wall = Wall::grid(places.len() as u32, 1).unwrap();
        for (tile, (display, place)) in wall.tiles.iter_mut().zip(places) {
            tile.rect = Rect::new(0, 0, 10, 10);
            tile.present = vec![Target::Window {
                display: display.to_string(),
                place: *place,
            }];
        }
        wall
    }

    #[test]
    fn windows_at_the_same_place_are_found() {
        let side_by_side = wall(&[
            (":0", DisplayPosition::At(0, 0)),
            (":0", DisplayPosition::At(10, 0)),
        ]);
        assert_eq!(side_by_side.covered(|_| Some(())), None);
        let meeting = wall(&[
            (":0", DisplayPosition::At(0, 0)),
            (":1", DisplayPosition::At(0, 0)),
            (":0.0", DisplayPosition::At(9, 9)),
        ]);
        let covered = meeting.covered(|_| Some(())).unwrap();
        assert_eq!(covered.tile, 2);
        let said = covered.to_string();
        assert!(
            said.contains("0,0 and 2,0") && said.contains(":0.0"),
            "{said}"
        );
        // On other hosts, or on unknown ones.
        assert_eq!(meeting.covered(Some), None);
        assert_eq!(meeting.covered(|_| None::<()>), None);
        let full = wall(&[
            (":0", DisplayPosition::At(500, 0)),
            (":0", DisplayPosition::Fullscreen),
        ]);
        assert_eq!(full.covered(|_| Some(())).unwrap().tile, 1);
    }
}
