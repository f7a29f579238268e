//! Which tiles geometry can touch (sort-first), after Humphreys et al., *WireGL* (2001): the box
//! around some vertices is compared with the tiles' edges.

/// The tiles' edges as planes in object space.
#[derive(Debug, Clone)]
pub struct Sorter {
    /// A plane, and the tiles that nothing behind the plane touches.
    planes: Vec<([f32; 4], u64)>,
    all: u64,
}

/// A box around vertices.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    // Four numbers fill a register. The fourth has no meaning.
    least: [f32; 4],
    most: [f32; 4],
}

/// The tiles that a box may touch, as far as the planes are decided.
#[derive(Debug, Clone, Copy)]
pub struct TouchedTiles {
    tiles: u64,
    /// The undecided planes, one bit each: parts of the box may lie on both sides of them.
    open: u64,
}

/// The number of boxes that are tested against the planes at once.
pub const GROUP: usize = 8;

/// Boxes ordered by axes, so that a processor handles several of them in each step.
#[derive(Debug, Clone)]
pub struct Boxes {
    centre: [[f32; GROUP]; 3],
    half: [[f32; GROUP]; 3],
}

impl Boxes {
    /// Takes at most `GROUP` boxes. Nothing is decided for missing ones.
    pub fn new(boxes: &[Bounds]) -> Boxes {
        let middles: [_; GROUP] = std::array::from_fn(|i| {
            let bounds = boxes.get(i);
            bounds.map_or(([f32::NAN; 3], [f32::NAN; 3]), Bounds::middle)
        });
        Boxes {
            centre: std::array::from_fn(|axis| middles.map(|(centre, _)| centre[axis])),
            half: std::array::from_fn(|axis| middles.map(|(_, half)| half[axis])),
        }
    }

    /// Which boxes lie entirely behind a plane, and which entirely before it. All bits are set for
    /// such a box. The compiler makes vector instructions of these loops.
    #[inline(always)]
    fn sides(&self, plane: &[f32; 4]) -> [[i32; GROUP]; 2] {
        let (mut at, mut reach) = ([plane[3]; GROUP], [0f32; GROUP]);
        for (axis, (centre, half)) in self.centre.iter().zip(&self.half).enumerate() {
            for i in 0..GROUP {
                at[i] += plane[axis] * centre[i];
                reach[i] += plane[axis].abs() * half[i];
            }
        }
        // NaN decides nothing.
        let outside = std::array::from_fn(|i| -i32::from(at[i] + reach[i] < 0.));
        let inside = std::array::from_fn(|i| -i32::from(at[i] - reach[i] >= 0.));
        [outside, inside]
    }
}

impl TouchedTiles {
    pub fn tiles(&self) -> u64 {
        self.tiles
    }

    /// Whether the result holds for each part of the box, or at most one tile is left.
    pub fn is_all(&self) -> bool {
        self.open == 0 || self.tiles & self.tiles.wrapping_sub(1) == 0
    }
}

impl Bounds {
    /// Contains nothing.
    pub const NONE: Bounds = Bounds {
        least: [f32::INFINITY; 4],
        most: [f32::NEG_INFINITY; 4],
    };

    /// Contains everything.
    pub const ALL: Bounds = Bounds {
        least: [f32::NEG_INFINITY; 4],
        most: [f32::INFINITY; 4],
    };

    /// Extends the bounds to contain a vertex: x, y, z, and any number. NaN is ignored.
    #[inline(always)]
    pub fn add(&mut self, vertex: [f32; 4]) {
        self.least = lesser(vertex, self.least);
        self.most = greater(vertex, self.most);
    }

    /// Extends the bounds to contain four vertices, in half the time of one after the other.
    #[inline(always)]
    pub fn add_four(&mut self, [a, b, c, d]: [[f32; 4]; 4]) {
        let Bounds { least, most } = Bounds::NONE;
        let least = lesser(a, lesser(b, lesser(c, lesser(d, least))));
        let most = greater(a, greater(b, greater(c, greater(d, most))));
        self.least = lesser(least, self.least);
        self.most = greater(most, self.most);
    }

    /// The middle, and half the size.
    #[inline(always)]
    fn middle(&self) -> ([f32; 3], [f32; 3]) {
        let centre = std::array::from_fn(|i| 0.5 * (self.least[i] + self.most[i]));
        let half = std::array::from_fn(|i| 0.5 * (self.most[i] - self.least[i]));
        (centre, half)
    }

    /// Extends the bounds to contain others, or everything if the others contain no number.
    #[inline]
    pub fn join(&mut self, others: &Bounds) {
        if (0..3).any(|i| others.least[i] > others.most[i]) {
            *self = Bounds::ALL;
        }
        self.least = lesser(others.least, self.least);
        self.most = greater(others.most, self.most);
    }
}

/// How far a box's centre lies before a plane, and how far the corners reach from there.
#[inline(always)]
fn along(plane: &[f32; 4], centre: [f32; 3], half: [f32; 3]) -> (f32, f32) {
    let at = plane[0] * centre[0] + plane[1] * centre[1] + plane[2] * centre[2] + plane[3];
    let reach = plane[0].abs() * half[0] + plane[1].abs() * half[1] + plane[2].abs() * half[2];
    (at, reach)
}

/// The lesser of each two numbers; the second one if either is NaN.
#[inline(always)]
fn lesser(a: [f32; 4], b: [f32; 4]) -> [f32; 4] {
    std::array::from_fn(|i| if a[i] < b[i] { a[i] } else { b[i] })
}

#[inline(always)]
fn greater(a: [f32; 4], b: [f32; 4]) -> [f32; 4] {
    std::array::from_fn(|i| if a[i] > b[i] { a[i] } else { b[i] })
}

impl Sorter {
    /// A sorter for vertices. `transform` (by columns) maps them to clip coordinates, and
    /// `viewport` (x, y, width, height) maps these to pixels. Each of `tiles` is a rectangle (x, y,
    /// width, height, from below). `margin` is how far the drawing reaches beyond its vertices, in
    /// pixels.
    pub fn new(
        transform: &[f32; 16],
        viewport: [f32; 4],
        tiles: &[[i32; 4]],
        margin: f32,
    ) -> Sorter {
        let row = |n: usize| [0, 4, 8, 12].map(|column| transform[column + n]);
        let w = row(3);
        let mut planes: Vec<([f32; 4], u64)> = Vec::new();
        let mut all = 0;
        for (n, tile) in tiles.iter().enumerate() {
            let tile_bit = 1u64 << n;
            if tile[2] <= 0 || tile[3] <= 0 {
                continue;
            }
            all |= tile_bit;
            for axis in 0..2 {
                let (from, length) = (viewport[axis], viewport[axis + 2]);
                if length <= 0. {
                    continue;
                }
                let along = row(axis);
                // A pixel's place in normalised coordinates.
                let place = |pixel: f32| 2. * (pixel - from) / length - 1.;
                let low = place(tile[axis] as f32 - margin);
                let high = place((tile[axis] + tile[axis + 2]) as f32 + margin);
                for (edge, sign) in [(low, 1.), (high, -1.)] {
                    // Inside is where sign * (along - edge * w) >= 0.
                    let plane = std::array::from_fn(|i| sign * (along[i] - edge * w[i]));
                    match planes.iter_mut().find(|(known, _)| *known == plane) {
                        Some((_, behind)) => *behind |= tile_bit,
                        None => planes.push((plane, tile_bit)),
                    }
                }
            }
        }
        Sorter { planes, all }
    }

    /// All tiles that anything can touch.
    pub fn all(&self) -> u64 {
        self.all
    }

    /// The initial result, for which all planes are undecided.
    pub fn begin(&self) -> TouchedTiles {
        // A plane without a bit is never tested, as if every box lay inside.
        let number = self.planes.len().min(64) as u32;
        TouchedTiles {
            tiles: self.all,
            open: u64::MAX.checked_shr(64 - number).unwrap_or(0),
        }
    }

    /// Judges boxes that lie in a box for which the result was `known`.
    #[inline]
    pub fn judge(&self, boxes: &Boxes, known: TouchedTiles) -> [TouchedTiles; GROUP] {
        let mut tiles = [known.tiles; GROUP];
        let mut open = [known.open; GROUP];
        let mut left = known.open;
        while left != 0 {
            let n = left.trailing_zeros() as usize;
            left &= left - 1;
            let (plane, behind) = &self.planes[n];
            let [outside, inside] = boxes.sides(plane);
            for i in 0..GROUP {
                let all = |bits: i32| i64::from(bits) as u64;
                tiles[i] &= !(all(outside[i]) & behind);
                open[i] &= !(all(outside[i] | inside[i]) & 1 << n);
            }
        }
        std::array::from_fn(|i| TouchedTiles {
            tiles: tiles[i],
            open: open[i],
        })
    }

    /// The tiles that something inside the box may touch, one bit each.
    #[inline]
    pub fn tiles(&self, bounds: &Bounds) -> u64 {
        let (centre, half) = bounds.middle();
        let mut hit = self.all;
        for (plane, behind) in &self.planes {
            let (at, reach) = along(plane, centre, half);
            // NaN decides nothing.
            if at + reach < 0. {
                hit &= !behind;
            }
        }
        hit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const IDENTITY: [f32; 16] = [
        1., 0., 0., 0., 0., 1., 0., 0., 0., 0., 1., 0., 0., 0., 0., 1.,
    ];
    /// Two columns, two rows, from below.
    const QUARTERS: [[i32; 4]; 4] = [
        [0, 0, 50, 50],
        [50, 0, 50, 50],
        [0, 50, 50, 50],
        [50, 50, 50, 50],
    ];

    fn around(vertices: &[[f32; 3]]) -> Bounds {
        let mut bounds = Bounds::NONE;
        vertices
            .iter()
            .for_each(|[x, y, z]| bounds.add([*x, *y, *z, 1.]));
        bounds
    }

    #[test]
    fn boxes_touch_the_tiles_they_are_in() {
        let sorter = Sorter::new(&IDENTITY, [0., 0., 100., 100.], &QUARTERS, 1.);
        let of = |x: f32, y: f32| sorter.tiles(&around(&[[x, y, 0.], [x + 0.1, y + 0.1, 0.5]]));
        assert_eq!(of(-0.5, -0.5), 0b0001);
        assert_eq!(of(0.5, -0.5), 0b0010);
        assert_eq!(of(-0.05, -0.05), 0b1111);
        assert_eq!(of(-0.05, 0.5), 0b1100);
        assert_eq!(of(5., 0.), 0);
        // The margin: half a pixel left of the middle.
        assert_eq!(sorter.tiles(&around(&[[-0.011, -0.5, 0.]])), 0b0011);
    }

    #[test]
    fn four_vertices_at_once_are_as_one_after_the_other() {
        let numbers = [-2., 0.5, f32::NAN, 7., f32::INFINITY, 1.];
        for n in 0..6usize.pow(4) {
            let vertices = [1, 6, 36, 216].map(|by| {
                let x = numbers[n / by % 6];
                [x, -x, x * 0.5, 0.]
            });
            let mut one_by_one = Bounds::NONE;
            one_by_one.add([3., 3., 3., 0.]);
            let mut at_once = one_by_one;
            vertices.iter().for_each(|v| one_by_one.add(*v));
            at_once.add_four(vertices);
            assert_eq!(at_once, one_by_one, "{vertices:?}");
        }
    }

    #[test]
    fn what_joins_boxes_touches_the_tiles_of_all_of_them() {
        let sorter = Sorter::new(&IDENTITY, [0., 0., 100., 100.], &QUARTERS, 1.);
        let mut joined = around(&[[-0.5, -0.5, 0.]]);
        joined.join(&around(&[[-0.4, -0.3, 0.]]));
        assert_eq!(sorter.tiles(&joined), 0b0001);
        joined.join(&around(&[[0.5, -0.3, 0.]]));
        assert_eq!(sorter.tiles(&joined), 0b0011);
        joined.join(&around(&[[0.5, f32::NAN, 0.]]));
        assert_eq!(sorter.tiles(&joined), 0b1111);
    }

    #[test]
    fn what_is_behind_the_eye_hits_nothing_that_it_should_not_miss() {
        let mut perspective = [0.; 16];
        (perspective[0], perspective[5], perspective[10]) = (1., 1., -1.);
        (perspective[11], perspective[14]) = (-1., -1.);
        let sorter = Sorter::new(&perspective, [0., 0., 100., 100.], &QUARTERS, 1.);
        // From before the eye on the left to behind it.
        let across = around(&[[-2., -0.5, -2.], [-1.9, -0.4, 2.]]);
        assert_ne!(sorter.tiles(&across) & 0b0101, 0);
        let left = around(&[[-1., -1., -2.], [-0.5, -0.5, -1.9]]);
        assert_eq!(sorter.tiles(&left), 0b0001);
    }

    #[test]
    fn a_window_that_does_not_reach_a_tile_is_never_drawn_there() {
        let tiles = [[0, 0, 10, 10], [0, 0, 0, 0]];
        let sorter = Sorter::new(&IDENTITY, [0., 0., 10., 10.], &tiles, 1.);
        assert_eq!(sorter.tiles(&around(&[[0.; 3]])), 0b01);
        assert_eq!(sorter.tiles(&around(&[[f32::NAN; 3]])), 0b01);
    }
}
