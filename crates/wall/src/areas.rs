//! The parts of a window that each tile draws, shows and answers for.

use crate::{Fit, Rect, Tile, Wall};

/// A tile's share of a window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Area {
    /// The part that it shows. Empty if the window does not reach the tile.
    pub shown: Rect,
    /// The part that it answers for. Each pixel of the window belongs to one tile, whether or not
    /// it is shown.
    pub owned: Vec<Rect>,
    /// The part that it draws: the smallest rectangle around both.
    pub drawn: Rect,
}

impl Wall {
    /// The areas of a window of `width` x `height` pixels, one for each tile.
    pub fn areas(&self, width: u32, height: u32) -> Vec<Area> {
        let window = Rect::new(0, 0, width, height);
        let shown: Vec<Rect> = self
            .tiles
            .iter()
            .map(|tile| self.to_window(tile, window))
            .collect();
        let mut owned: Vec<Vec<Rect>> = Vec::with_capacity(shown.len());
        let mut rest = vec![window];
        for tile in &shown {
            owned.push(
                rest.iter()
                    .map(|part| part.and(tile))
                    .filter(|part| !part.is_empty())
                    .collect(),
            );
            rest = rest.iter().flat_map(|part| part.without(tile)).collect();
        }
        grow(&mut owned, &shown, window);
        let rest = owned.iter().flatten().fold(vec![window], |rest, part| {
            rest.iter().flat_map(|gap| gap.without(part)).collect()
        });
        // The rest goes to the tiles whose drawn part it enlarges least.
        for gap in rest {
            let cost = |n: &usize| {
                let hull = hull(&owned[*n]).hull(&shown[*n]);
                hull.hull(&gap).area() - hull.area()
            };
            if let Some(nearest) = (0..shown.len()).min_by_key(cost) {
                owned[nearest].push(gap);
            }
        }
        let areas = shown.into_iter().zip(owned);
        areas
            .map(|(shown, owned)| Area {
                drawn: hull(&owned).hull(&shown),
                shown,
                owned: merged(owned),
            })
            .collect()
    }

    /// The size in the window of the part that a tile shows, if the tile shows it in another size.
    pub fn scaled(&self, tile: &Tile) -> Option<(u32, u32)> {
        let (size, fit) = self.mural_of(tile);
        let shown = tile.rect.and(&Rect::new(0, 0, size.0, size.1));
        (fit == Fit::Scale).then_some((shown.width, shown.height))
    }

    fn to_window(&self, tile: &Tile, window: Rect) -> Rect {
        let (size, fit) = self.mural_of(tile);
        let tile = &tile.rect;
        let scaled = match fit {
            Fit::OneToOne | Fit::Window => *tile,
            Fit::Scale => {
                let along = |n: u32, from: u32, to: u32| {
                    (u64::from(n.min(from)) * u64::from(to) / u64::from(from.max(1))) as u32
                };
                let x = |n| along(n, size.0, window.width);
                let y = |n| along(n, size.1, window.height);
                Rect::between(x(tile.x), y(tile.y), x(tile.right()), y(tile.bottom()))
            }
        };
        scaled.and(&window)
    }
}

impl Area {
    /// Whether the tile draws exactly what it answers for, so that nothing is counted twice.
    pub fn is_exact(&self) -> bool {
        self.owned.iter().map(Rect::area).sum::<u64>() == self.drawn.area()
    }
}

/// Extends what tiles answer for into what no tile shows, as far as they stay rectangles. So with
/// bezels, each tile draws just what it answers for.
fn grow(owned: &mut [Vec<Rect>], shown: &[Rect], window: Rect) {
    for n in 0..owned.len() {
        let [mut own] = owned[n][..] else { continue };
        if own != shown[n] {
            continue;
        }
        let others = |band: Rect| {
            let parts = owned.iter().flatten().map(move |part| part.and(&band));
            parts.filter(|part| !part.is_empty())
        };
        let band = Rect::between(own.right(), own.y, window.right(), own.bottom());
        let right = others(band).map(|part| part.x).min();
        let band = Rect::between(0, own.y, own.x, own.bottom());
        let left = others(band).map(|part| part.right()).max();
        let (left, right) = (left.unwrap_or(0), right.unwrap_or(window.right()));
        own = Rect::between(left, own.y, right, own.bottom());
        let band = Rect::between(own.x, own.bottom(), own.right(), window.bottom());
        let bottom = others(band).map(|part| part.y).min();
        let band = Rect::between(own.x, 0, own.right(), own.y);
        let top = others(band).map(|part| part.bottom()).max();
        let (top, bottom) = (top.unwrap_or(0), bottom.unwrap_or(window.bottom()));
        owned[n] = vec![Rect::between(own.x, top, own.right(), bottom)];
    }
}

fn hull(parts: &[Rect]) -> Rect {
    parts
        .iter()
        .fold(Rect::default(), |hull, part| hull.hull(part))
}

/// Replaces the parts by one rectangle if they fill one.
fn merged(parts: Vec<Rect>) -> Vec<Rect> {
    let hull = hull(&parts);
    if parts.len() > 1 && parts.iter().map(Rect::area).sum::<u64>() == hull.area() {
        return vec![hull];
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wall(size: (u32, u32), fit: Fit, rects: &[[u32; 4]]) -> Wall {
        let tile = |(n, r): (usize, &[u32; 4])| {
            Tile::new(n.to_string(), Rect::new(r[0], r[1], r[2], r[3]))
        };
        Wall {
            name: "test".into(),
            size,
            fit,
            tiling: Default::default(),
            genlock: false,
            windows: Default::default(),
            tiles: rects.iter().enumerate().map(tile).collect(),
        }
    }

    /// Every pixel of the window has one owner.
    fn check(wall: &Wall, width: u32, height: u32) {
        let areas = wall.areas(width, height);
        let owners = |x, y| {
            let pixel = Rect::new(x, y, 1, 1);
            let mut parts = areas.iter().flat_map(|area| &area.owned);
            let first = parts
                .by_ref()
                .filter(|part| !part.and(&pixel).is_empty())
                .count();
            first
        };
        for (x, y) in (0..width).flat_map(|x| (0..height).map(move |y| (x, y))) {
            assert_eq!(
                owners(x, y),
                1,
                "{x}, {y} of {width} x {height} on {wall:?}"
            );
        }
        for area in areas {
            for part in area.owned.iter().chain([&area.shown]) {
                assert_eq!(area.drawn.hull(part), area.drawn);
            }
        }
    }

    #[test]
    fn a_grid_divides_any_window() {
        let wall = Wall::grid(3, 2).unwrap();
        for (width, height) in [(1, 1), (2, 7), (300, 300), (301, 199)] {
            check(&wall, width, height);
            let areas = wall.areas(width, height);
            assert!(areas.iter().all(|area| area.is_exact()));
            let shown: u64 = areas.iter().map(|area| area.shown.area()).sum();
            assert_eq!(shown, u64::from(width) * u64::from(height));
        }
    }

    #[test]
    fn bezels_and_overlaps_have_owners() {
        let bezelled = [
            [0, 0, 40, 30],
            [50, 0, 40, 30],
            [0, 40, 40, 30],
            [50, 40, 40, 30],
        ];
        for (fit, width, height) in [(Fit::OneToOne, 100, 75), (Fit::Scale, 61, 33)] {
            let wall = wall((90, 70), fit, &bezelled);
            check(&wall, width, height);
            let areas = wall.areas(width, height);
            assert!(areas.iter().all(|area| area.is_exact()));
        }
        let overlapping = [[0, 0, 50, 50], [40, 10, 50, 50], [20, 30, 30, 40]];
        let wall = wall((90, 70), Fit::OneToOne, &overlapping);
        check(&wall, 100, 80);
        assert!(!wall.areas(100, 80)[1].is_exact());
    }

    #[test]
    fn a_window_need_not_reach_a_tile() {
        let wall = wall((20, 10), Fit::OneToOne, &[[0, 0, 10, 10], [10, 0, 10, 10]]);
        let areas = wall.areas(5, 5);
        assert!(areas[1].shown.is_empty() && areas[1].drawn.is_empty());
        check(&wall, 5, 5);
    }

    #[test]
    fn text_survives_and_mistakes_are_told() {
        let wall: Wall = "4x2".parse().unwrap();
        assert_eq!(Wall::from_json(&wall.to_json()).unwrap(), wall);
        for wrong in ["", "2", "0x3", "9x9", "2x", "x2", "-1x2", "2x2x2"] {
            assert!(wrong.parse::<Wall>().is_err(), "{wrong}");
        }
        assert!(Wall::from_json("{}").is_err());
        let mut twice = wall.clone();
        twice.tiles[1].name = twice.tiles[0].name.clone();
        assert!(matches!(
            Wall::from_json(&twice.to_json()),
            Err(crate::WallError::Twice(_))
        ));
    }

    #[test]
    fn pixels_are_counted_from_below_by_opengl() {
        assert_eq!(Rect::new(1, 2, 3, 4).upwards(10), [1, 4, 3, 4]);
    }
}
