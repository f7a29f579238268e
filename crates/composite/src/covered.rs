//! The rectangle of a picture outside of which all pixels are the same, so that they need not be
//! copied, read or merged (Ma et al. 1994 call it the bounding rectangle).

use std::ops::Range;

use crate::{Channel, Depth, Format, LayerMut, Operation, PictureRef};

/// A rectangle of a picture that is smaller than this share of it is worth its own pieces.
const WORTH: (usize, usize) = (7, 8);

/// Pixels of a picture, by columns and rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rectangle {
    pub columns: Range<usize>,
    pub rows: Range<usize>,
}

/// The value of a pixel: its colour, of which as many bytes count as the format has, and its depth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Pixel {
    pub color: [u8; 16],
    pub depth: [u8; 4],
}

/// Which pixels of a picture have to be looked at: all others have one value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Covered {
    pub rectangle: Rectangle,
    pub background: Pixel,
}

impl Rectangle {
    pub(crate) fn whole(width: usize, height: usize) -> Rectangle {
        Rectangle {
            columns: 0..width,
            rows: 0..height,
        }
    }

    fn pixels(&self) -> usize {
        self.columns.len() * self.rows.len()
    }

    pub(crate) fn is_within(&self, width: usize, height: usize) -> bool {
        let is_within = |range: &Range<usize>, end| range.start <= range.end && range.end <= end;
        is_within(&self.columns, width) && is_within(&self.rows, height)
    }
}

impl Covered {
    pub fn whole(width: usize, height: usize) -> Covered {
        Covered {
            rectangle: Rectangle::whole(width, height),
            background: Pixel::default(),
        }
    }

    /// A picture that shows nothing outside of the rectangle.
    pub fn by(rectangle: Rectangle, format: Format) -> Covered {
        Covered {
            rectangle,
            background: Pixel::nothing(format),
        }
    }

    /// Writes the background to all pixels outside of the rectangle.
    pub fn clear_outside(&self, width: usize, picture: LayerMut<'_>) {
        let parts = [
            (
                picture.color,
                &self.background.color[..],
                picture.channel.pixel_bytes(),
            ),
            (picture.depth, &self.background.depth[..], 4),
        ];
        let Rectangle { columns, rows } = &self.rectangle;
        for (bytes, background, pixel) in parts {
            let background = &background[..pixel];
            for (row, bytes) in bytes.chunks_exact_mut(width.max(1) * pixel).enumerate() {
                let columns = match rows.contains(&row) {
                    true => columns.clone(),
                    false => 0..0,
                };
                for (column, pixel) in bytes.chunks_exact_mut(pixel).enumerate() {
                    if !columns.contains(&column) {
                        pixel.copy_from_slice(background);
                    }
                }
            }
        }
    }

    /// Finds the rectangle. It is the whole picture where that is nearly so, or where pixels
    /// outside could not be left out without a difference.
    pub fn find(
        picture: PictureRef<'_>,
        (width, height): (usize, usize),
        format: Format,
        operation: Operation,
    ) -> Covered {
        let whole = Covered::whole(width, height);
        let [color, depth] = format.pixel_bytes();
        if width * height == 0 {
            return whole;
        }
        let mut background = Pixel::default();
        background.color[..color].copy_from_slice(&picture.color[..color]);
        background.depth[..depth].copy_from_slice(&picture.depth[..depth]);
        if !background.may_be_merged_once(format, operation) {
            return whole;
        }
        // Most pictures that cover everything end here.
        let last = picture.color.len() - color..;
        let corners = [
            width * color - color..width * color,
            last.start..picture.color.len(),
        ];
        let is_bare = |at: &Range<usize>| picture.color[at.clone()] == background.color[..color];
        if !corners.iter().any(is_bare) {
            return whole;
        }
        let parts = [
            Part::new(picture.color, &background.color[..color], width),
            Part::new(picture.depth, &background.depth[..depth], width),
        ];
        let is_bare = |row: usize, columns: &Range<usize>| {
            parts.iter().all(|part| part.is_bare(row, columns))
        };
        let all = 0..width;
        let first = (0..height).find(|row| !is_bare(*row, &all));
        let Some(first) = first else {
            let rectangle = Rectangle {
                columns: 0..0,
                rows: 0..0,
            };
            return Covered {
                rectangle,
                background,
            };
        };
        let end = (first..height).rfind(|row| !is_bare(*row, &all));
        let rows = first..end.unwrap_or(first) + 1;
        let mut columns = width..0;
        for row in rows.clone() {
            // Only what is outside so far is looked at.
            let left = 0..columns.start;
            if !is_bare(row, &left) {
                let found = left.clone().find(|at| !is_bare(row, &(*at..at + 1)));
                columns.start = found.unwrap_or(left.end);
            }
            let right = columns.end..width;
            if !is_bare(row, &right) {
                let found = right.clone().rfind(|at| !is_bare(row, &(*at..at + 1)));
                columns.end = found.map_or(right.start, |at| at + 1);
            }
        }
        let rectangle = Rectangle { columns, rows };
        match rectangle.pixels() * WORTH.1 > width * height * WORTH.0 {
            true => whole,
            false => Covered {
                rectangle,
                background,
            },
        }
    }
}

/// The colours of a picture, or its depths.
struct Part<'p> {
    bytes: &'p [u8],
    pixel: usize,
    width: usize,
    /// A row of background.
    bare: Vec<u8>,
}

impl<'p> Part<'p> {
    fn new(bytes: &'p [u8], background: &[u8], width: usize) -> Part<'p> {
        Part {
            bytes,
            pixel: background.len(),
            width,
            bare: background.repeat(width),
        }
    }

    fn is_bare(&self, row: usize, columns: &Range<usize>) -> bool {
        let start = (row * self.width + columns.start) * self.pixel;
        let len = columns.len() * self.pixel;
        self.bytes[start..start + len] == self.bare[..len]
    }
}

impl Pixel {
    /// A pixel that shows nothing: transparent black, as far away as can be.
    pub fn nothing(format: Format) -> Pixel {
        Pixel {
            color: [0; 16],
            depth: match format.depth {
                None => [0; 4],
                Some(Depth::Unorm) => [255; 4],
                Some(Depth::Float) => f32::INFINITY.to_ne_bytes(),
            },
        }
    }

    /// Whether layers of this value give the same as one of them, wherever they are in the order
    /// behind the first. Where colours are added or blended, they must change nothing.
    fn may_be_merged_once(&self, format: Format, operation: Operation) -> bool {
        match operation {
            Operation::Nearest => true,
            Operation::Over | Operation::Add => self.color == [0; 16],
            Operation::Max | Operation::Min => match format.color.channel() {
                Channel::U8 | Channel::U16 => true,
                // The larger of a NaN and a number depends on which comes first.
                Channel::F16 | Channel::F32 => self.color == [0; 16],
            },
        }
    }

    /// Whether a layer of this value changes anything.
    pub fn counts(&self, format: Format, operation: Operation) -> bool {
        match operation {
            Operation::Over | Operation::Add => format.depth.is_some(),
            Operation::Nearest | Operation::Max | Operation::Min => true,
        }
    }
}

/// Cuts a stripe of a picture into pieces, each of which is either covered by a layer or not at all
/// touched by it. Calls `each` with the piece's pixels, in order, and with whether each layer
/// covers it.
pub(crate) fn pieces<E>(
    width: usize,
    stripe: Range<usize>,
    layers: &[Rectangle],
    mut each: impl FnMut(Range<usize>, &[bool]) -> Result<(), E>,
) -> Result<(), E> {
    let mut covers = vec![false; layers.len()];
    let mut cuts = Vec::with_capacity(2 * layers.len());
    let mut at = stripe.start;
    while at < stripe.end {
        let (row, column) = (at / width, at % width);
        // Rows from here on that have the same cuts.
        let next = layers
            .iter()
            .flat_map(|layer| [layer.rows.start, layer.rows.end])
            .filter(|next| *next > row)
            .min();
        let mut end = next.map_or(stripe.end, |next| stripe.end.min(next * width));
        // Rows that are not whole are a band of their own.
        if column != 0 {
            end = end.min((row + 1) * width);
        } else if end - at > width {
            end -= (end - at) % width;
        }
        let here = |layer: &&Rectangle| layer.rows.contains(&row);
        cuts.clear();
        cuts.extend(
            layers
                .iter()
                .filter(here)
                .flat_map(|layer| [layer.columns.start, layer.columns.end])
                .filter(|cut| *cut > 0 && *cut < width),
        );
        cuts.sort_unstable();
        cuts.dedup();
        let mut piece = |range: Range<usize>| {
            let column = range.start % width;
            for (covers, layer) in covers.iter_mut().zip(layers) {
                *covers = layer.rows.contains(&row) && layer.columns.contains(&column);
            }
            each(range, &covers)
        };
        if cuts.is_empty() {
            piece(at..end)?;
            at = end;
            continue;
        }
        while at < end {
            let row = at / width * width;
            let row_end = end.min(row + width);
            let inside = cuts.iter().map(|cut| row + cut);
            for cut in inside.filter(|cut| *cut < row_end).chain([row_end]) {
                if cut > at {
                    piece(at..cut)?;
                    at = cut;
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Color, Picture};
    use std::convert::Infallible;

    const DEPTH: Format = Format {
        color: Color::Rgba8,
        depth: Some(Depth::Unorm),
    };

    fn rectangle(columns: Range<usize>, rows: Range<usize>) -> Rectangle {
        Rectangle { columns, rows }
    }

    /// A picture of one colour with another in a rectangle.
    fn picture(size: (usize, usize), inside: &Rectangle, background: u8) -> Picture {
        let value = |at: usize| {
            let (row, column) = (at / size.0, at % size.0);
            match inside.rows.contains(&row) && inside.columns.contains(&column) {
                true => 7,
                false => background,
            }
        };
        let bytes: Vec<u8> = (0..4 * size.0 * size.1)
            .map(|byte| value(byte / 4))
            .collect();
        Picture {
            color: bytes.clone(),
            depth: bytes,
        }
    }

    #[test]
    fn the_rectangle_is_found() {
        let size = (20, 10);
        for inside in [
            rectangle(3..9, 2..8),
            rectangle(1..2, 9..10),
            rectangle(5..15, 1..3),
            rectangle(0..0, 0..0),
        ] {
            let picture = picture(size, &inside, 255);
            let found = Covered::find(picture.borrowed(), size, DEPTH, Operation::Nearest);
            assert_eq!(found.rectangle, inside);
            assert_eq!(found.background.depth, [255; 4]);
        }
        // Two corners that are far apart make one rectangle, which is nearly everything.
        let mut apart = picture(size, &rectangle(1..2, 0..1), 0);
        apart.color[4 * 198] = 1;
        let found = Covered::find(apart.borrowed(), size, DEPTH, Operation::Over);
        assert_eq!(found, Covered::whole(20, 10));
    }

    #[test]
    fn a_background_that_counts_each_time_is_not_left_out() {
        let size = (20, 10);
        let picture = picture(size, &rectangle(3..4, 3..4), 1);
        let find = |operation| Covered::find(picture.borrowed(), size, DEPTH, operation);
        for operation in [Operation::Over, Operation::Add] {
            assert_eq!(find(operation), Covered::whole(20, 10));
        }
        for operation in [Operation::Nearest, Operation::Max, Operation::Min] {
            assert_eq!(find(operation).rectangle, rectangle(3..4, 3..4));
        }
    }

    /// Every pixel is in one piece, which has exactly the layers that cover the pixel.
    #[test]
    fn pieces_are_what_layers_cover() {
        let (width, height) = (13, 11);
        let layers = [
            rectangle(0..13, 0..11),
            rectangle(2..7, 1..9),
            rectangle(5..13, 3..4),
            rectangle(0..0, 0..0),
            rectangle(0..1, 10..11),
        ];
        for stripe in [0..143, 0..0, 5..6, 5..80, 26..39, 14..142] {
            let mut at = stripe.start;
            let each = |piece: Range<usize>, covers: &[bool]| {
                assert!(piece.start == at && !piece.is_empty(), "{piece:?} at {at}");
                for pixel in piece.clone() {
                    let (row, column) = (pixel / width, pixel % width);
                    let is_in = |layer: &Rectangle| {
                        layer.rows.contains(&row) && layer.columns.contains(&column)
                    };
                    let wanted: Vec<bool> = layers.iter().map(is_in).collect();
                    assert_eq!(covers, wanted, "pixel {pixel} of {stripe:?}");
                }
                at = piece.end;
                Ok::<(), Infallible>(())
            };
            pieces(width, stripe.clone(), &layers, each).unwrap();
            assert_eq!(at, stripe.end);
        }
        // Rows without cuts are one piece.
        let mut count = 0;
        let whole = [Rectangle::whole(width, height)];
        pieces(width, 0..143, &whole, |_, _| {
            count += 1;
            Ok::<(), Infallible>(())
        })
        .unwrap();
        assert_eq!(count, 1);
    }
}
