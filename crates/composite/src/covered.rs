//! The rectangle of a picture outside of which all pixels are the same, so that they need not be
//! copied, read or merged (Ma et al. 1994 call it the bounding rectangle).

use std::convert::{identity, Infallible};
use std::ops::Range;

use crate::{
    merge, Channel, Depth, Format, Layer, LayerMut, MergeError, Operation, PictureRef, Terms,
};

/// If the rectangle has more than this share of a picture's pixels, the whole picture is merged.
const WORTH: (usize, usize) = (7, 8);

/// Pixels of background that are merged at a time.
const BARE: usize = 4096;

/// Pixels of a picture, by columns and rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rectangle {
    pub columns: Range<usize>,
    pub rows: Range<usize>,
}

/// The value of a pixel: its colour and its depth. A format with fewer bytes a pixel uses only the
/// first bytes of the colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Pixel {
    pub color: [u8; 16],
    pub depth: [u8; 4],
}

/// The pixels of a picture that must be read: all others have one value.
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

    pub(crate) fn pixels(&self) -> usize {
        self.columns.len() * self.rows.len()
    }

    /// No pixels.
    pub fn empty() -> Rectangle {
        Rectangle::whole(0, 0)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.pixels() == 0
    }

    /// How many of the picture's first `pixels` pixels, row by row, lie within.
    pub(crate) fn before(&self, pixels: usize, width: usize) -> usize {
        let width = width.max(1);
        let (row, column) = (pixels / width, pixels % width);
        let rows = row.clamp(self.rows.start, self.rows.end) - self.rows.start;
        let within = match self.rows.contains(&row) {
            true => column.clamp(self.columns.start, self.columns.end) - self.columns.start,
            false => 0,
        };
        rows * self.columns.len() + within
    }

    /// Those of the picture's `pixels` that are within, by rows. No row is empty.
    pub(crate) fn rows_of(
        &self,
        pixels: &Range<usize>,
        width: usize,
    ) -> impl Iterator<Item = Range<usize>> {
        let width = width.max(1);
        let (columns, pixels) = (self.columns.clone(), pixels.clone());
        let last = pixels.end.div_ceil(width);
        let rows = self.rows.start.max(pixels.start / width)..self.rows.end.min(last);
        rows.filter_map(move |row| {
            let place = |column: usize| (row * width + column).clamp(pixels.start, pixels.end);
            let within = place(columns.start)..place(columns.end);
            (!within.is_empty()).then_some(within)
        })
    }

    /// The smallest rectangle that contains both.
    pub(crate) fn hull(&self, other: &Rectangle) -> Rectangle {
        let both = |one: &Range<usize>, other: &Range<usize>| {
            one.start.min(other.start)..one.end.max(other.end)
        };
        match (self.pixels(), other.pixels()) {
            (_, 0) => self.clone(),
            (0, _) => other.clone(),
            _ => Rectangle {
                columns: both(&self.columns, &other.columns),
                rows: both(&self.rows, &other.rows),
            },
        }
    }

    fn contains(&self, pixels: &Range<usize>, width: usize) -> bool {
        self.before(pixels.end, width) - self.before(pixels.start, width) == pixels.len()
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

    /// Whether the rectangle is so large that leaving out the rest is not worthwhile.
    pub fn is_nearly_all(&self, pixels: usize) -> bool {
        self.rectangle.pixels() * WORTH.1 > pixels * WORTH.0
    }

    /// The whole picture, with the same background.
    pub fn widened(self, (width, height): (usize, usize)) -> Covered {
        Covered {
            rectangle: Rectangle::whole(width, height),
            ..self
        }
    }

    /// Writes the background to all pixels outside of the rectangle.
    pub fn clear_outside(&self, terms: &Terms, mut picture: LayerMut<'_>) {
        let rectangles = [self.rectangle.clone()];
        let Ok(()) = pieces(
            terms.width,
            0..terms.pixels(),
            &rectangles,
            |piece, covers| {
                if covers != [true] {
                    self.background.fill(picture.part(&piece));
                }
                Ok::<(), Infallible>(())
            },
        );
    }

    /// Finds the rectangle. Returns the whole picture if the rectangle is nearly as large, or if
    /// the result would change without the pixels outside.
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
            return Covered {
                rectangle: Rectangle::empty(),
                background,
            };
        };
        let end = (first..height).rfind(|row| !is_bare(*row, &all));
        let rows = first..end.unwrap_or(first) + 1;
        let mut columns = width..0;
        for row in rows.clone() {
            // Only columns that are outside so far are compared.
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
        let covered = Covered {
            rectangle,
            background,
        };
        match covered.is_nearly_all(width * height) {
            true => covered.widened((width, height)),
            false => covered,
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
    /// A pixel that shows nothing: transparent black, with the largest depth.
    pub(crate) fn nothing(format: Format) -> Pixel {
        Pixel {
            color: [0; 16],
            depth: match format.depth {
                None => [0; 4],
                Some(Depth::Unorm) => [255; 4],
                Some(Depth::Float) => f32::INFINITY.to_ne_bytes(),
            },
        }
    }

    /// Gives all pixels this value.
    pub(crate) fn fill(&self, out: LayerMut<'_>) {
        let color = &self.color[..out.channel.pixel_bytes()];
        for (bytes, pixel) in [(out.color, color), (out.depth, &self.depth[..])] {
            let mut done = pixel.len().min(bytes.len());
            bytes[..done].copy_from_slice(&pixel[..done]);
            // Each step doubles what is filled, so most bytes are copied in large blocks.
            while done < bytes.len() {
                let more = done.min(bytes.len() - done);
                bytes.copy_within(..more, done);
                done += more;
            }
        }
    }

    /// Whether several layers of this value give the same result as the first one alone, wherever
    /// the others are in the order. Where colours are added or blended, such layers must change
    /// nothing.
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
    pub(crate) fn counts(&self, format: Format, operation: Operation) -> bool {
        match operation {
            Operation::Over | Operation::Add => format.depth.is_some(),
            Operation::Nearest | Operation::Max | Operation::Min => true,
        }
    }
}

/// Some pixels of a picture, from `start` on. Only those in the rectangle `kept` are in memory, row
/// by row. They include all covered pixels.
#[derive(Clone, Debug)]
pub(crate) struct Sparse<'p> {
    pub layer: Layer<'p>,
    pub start: usize,
    pub kept: Rectangle,
    pub covered: Covered,
}

impl<'p> Sparse<'p> {
    /// The value of the pixels that are not covered.
    pub fn background(&self) -> (&Pixel, Channel) {
        (&self.covered.background, self.layer.channel)
    }

    /// Where these pixels are in memory.
    pub fn places(&self, pixels: &Range<usize>, width: usize) -> Range<usize> {
        let first = self.kept.before(self.start, width);
        let place = |pixel| self.kept.before(pixel, width) - first;
        place(pixels.start)..place(pixels.end)
    }

    /// These pixels, which must be contiguous in memory.
    pub fn part(&self, pixels: &Range<usize>, width: usize) -> Layer<'p> {
        self.layer.part(&self.places(pixels, width))
    }

    /// Where the covered ones of these pixels are in memory.
    pub fn runs(&self, pixels: &Range<usize>, width: usize) -> Vec<Range<usize>> {
        let rectangle = &self.covered.rectangle;
        let count = rectangle.before(pixels.end, width) - rectangle.before(pixels.start, width);
        if count == 0 {
            return Vec::new();
        }
        if *rectangle == self.kept {
            return vec![self.places(pixels, width)];
        }
        let mut runs: Vec<Range<usize>> = Vec::new();
        for row in rectangle.rows_of(pixels, width) {
            let run = self.places(&row, width);
            match runs.last_mut() {
                Some(last) if last.end == run.start => last.end = run.end,
                _ => runs.push(run),
            }
        }
        runs
    }

    /// Writes these pixels to `out`. Those that are not covered get the background.
    pub fn spread(&self, terms: &Terms, pixels: &Range<usize>, mut out: LayerMut<'_>) {
        let rectangles = [self.covered.rectangle.clone()];
        let Ok(()) = pieces(terms.width, pixels.clone(), &rectangles, |piece, covers| {
            let out = out.part(&(piece.start - pixels.start..piece.end - pixels.start));
            match covers {
                [true] => {
                    let layer = self.part(&piece, terms.width);
                    out.color.copy_from_slice(layer.color);
                    out.depth.copy_from_slice(layer.depth);
                }
                _ => self.covered.background.fill(out),
            }
            Ok::<(), Infallible>(())
        });
    }
}

/// The value that merged pixels have where they are background in all layers.
pub(crate) fn merged_background<'p>(
    terms: &Terms,
    backgrounds: impl Iterator<Item = (&'p Pixel, Channel)>,
    channel: Channel,
) -> Result<Pixel, MergeError> {
    let depth = terms.format.depth_bytes();
    let pixels = backgrounds.filter(|(pixel, _)| pixel.counts(terms.format, terms.operation));
    let layers: Vec<Layer<'_>> = pixels
        .map(|(pixel, channel)| Layer {
            channel,
            color: &pixel.color[..channel.pixel_bytes()],
            depth: &pixel.depth[..depth],
        })
        .collect();
    let mut merged = Pixel::default();
    let out = LayerMut {
        channel,
        color: &mut merged.color[..channel.pixel_bytes()],
        depth: &mut merged.depth[..depth],
    };
    merge(terms.operation, terms.format, &layers, out)?;
    Ok(merged)
}

/// Merges pixels, piece by piece. Where several pictures show the same background, it merges that
/// background once. Only the merged pixels in the rectangle `kept` are written; `out` has room for
/// these, row by row.
pub(crate) fn merge_covered(
    terms: &Terms,
    pixels: &Range<usize>,
    layers: &[Sparse<'_>],
    kept: &Rectangle,
    mut out: LayerMut<'_>,
) -> Result<(), MergeError> {
    let (operation, format, width) = (terms.operation, terms.format, terms.width);
    let covers_all = |rectangle: &Rectangle| rectangle.contains(pixels, width);
    if covers_all(kept) && layers.iter().all(|one| covers_all(&one.covered.rectangle)) {
        let layers: Vec<Layer<'_>> = layers.iter().map(|one| one.part(pixels, width)).collect();
        return merge(operation, format, &layers, out);
    }
    let mut bare: Vec<Bare> = Vec::new();
    let backgrounds: Vec<Option<usize>> = layers
        .iter()
        .map(|one| {
            let (pixel, channel) = (one.covered.background, one.layer.channel);
            if !pixel.counts(format, operation) {
                return None;
            }
            let known = bare.iter().position(|bare| bare.is(&pixel, channel));
            known.or_else(|| {
                bare.push(Bare::new(pixel, channel, format));
                Some(bare.len() - 1)
            })
        })
        .collect();
    let mut rectangles: Vec<Rectangle> = layers
        .iter()
        .map(|one| one.covered.rectangle.clone())
        .collect();
    rectangles.push(kept.clone());
    let first = kept.before(pixels.start, width);
    let mut merged = Vec::with_capacity(layers.len());
    let mut is_used = vec![false; bare.len()];
    pieces(width, pixels.clone(), &rectangles, |piece, covers| {
        let Some((true, covers)) = covers.split_last() else {
            return Ok(());
        };
        let place = kept.before(piece.start, width) - first;
        let step = match covers.iter().copied().all(identity) {
            true => piece.len(),
            false => BARE,
        };
        for start in piece.clone().step_by(step) {
            let part = start..piece.end.min(start + step);
            merged.clear();
            is_used.fill(false);
            for ((layer, covers), background) in layers.iter().zip(covers).zip(&backgrounds) {
                match (covers, background) {
                    (true, _) => merged.push(layer.part(&part, width)),
                    (false, Some(at)) if !is_used[*at] => {
                        is_used[*at] = true;
                        merged.push(bare[*at].layer().part(&(0..part.len())));
                    }
                    (false, _) => {}
                }
            }
            let at = place + part.start - piece.start;
            let out = out.part(&(at..at + part.len()));
            merge(operation, format, &merged, out)?;
        }
        Ok(())
    })
}

/// Pixels of one value.
struct Bare {
    pixel: Pixel,
    channel: Channel,
    color: Vec<u8>,
    depth: Vec<u8>,
}

impl Bare {
    fn new(pixel: Pixel, channel: Channel, format: Format) -> Bare {
        Bare {
            pixel,
            channel,
            color: pixel.color[..channel.pixel_bytes()].repeat(BARE),
            depth: pixel.depth[..format.depth_bytes()].repeat(BARE),
        }
    }

    fn is(&self, pixel: &Pixel, channel: Channel) -> bool {
        (&self.pixel, self.channel) == (pixel, channel)
    }

    fn layer(&self) -> Layer<'_> {
        Layer {
            channel: self.channel,
            color: &self.color,
            depth: &self.depth,
        }
    }
}

/// Cuts a stripe of a picture into pieces, so that each layer covers a piece entirely or not at
/// all. Calls `each` with the piece's pixels, in order, and with whether each layer covers it.
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
        // The cuts are the same until this row.
        let next = layers
            .iter()
            .flat_map(|layer| [layer.rows.start, layer.rows.end])
            .filter(|next| *next > row)
            .min();
        let mut end = next.map_or(stripe.end, |next| stripe.end.min(next * width));
        // If the stripe has only a part of a row, this part is a separate band.
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

    /// Runs hold exactly the covered pixels, whether all pixels or only the covered ones are in
    /// memory.
    #[test]
    fn runs_hold_what_is_covered_and_nothing_else() {
        let (width, height) = (13, 11);
        let whole = Rectangle::whole(width, height);
        let all = |rectangle: &Rectangle, pixels: &Range<usize>| -> Vec<u8> {
            let pixels = pixels.clone().filter(|pixel| {
                let (row, column) = (pixel / width, pixel % width);
                rectangle.rows.contains(&row) && rectangle.columns.contains(&column)
            });
            pixels.flat_map(|pixel| [pixel as u8; 4]).collect()
        };
        let mut counts = [0; 3];
        for covered in [
            whole.clone(),
            rectangle(2..7, 1..9),
            rectangle(0..13, 3..8),
            rectangle(12..13, 0..11),
            rectangle(0..0, 0..0),
        ] {
            for pixels in [0..143, 7..8, 30..99, 15..16, 99..143, 40..40] {
                for kept in [&whole, &covered] {
                    let color = all(kept, &pixels);
                    let background = Pixel {
                        color: [200; 16],
                        ..Pixel::default()
                    };
                    let sparse = Sparse {
                        layer: Layer {
                            channel: Channel::U8,
                            color: &color,
                            depth: &[],
                        },
                        start: pixels.start,
                        kept: kept.clone(),
                        covered: Covered {
                            rectangle: covered.clone(),
                            background,
                        },
                    };
                    let part = pixels.start + pixels.len() / 3..pixels.end;
                    let runs = sparse.runs(&part, width);
                    let sent = runs.iter().flat_map(|run| sparse.layer.part(run).color);
                    let sent: Vec<u8> = sent.copied().collect();
                    assert_eq!(sent, all(&covered, &part), "{part:?} of {covered:?}");
                    counts[runs.len().min(2)] += 1;
                    // And back to a picture.
                    let terms = Terms {
                        width,
                        height,
                        origin: [0, 0],
                        format: Format {
                            color: Color::Rgba8,
                            depth: None,
                        },
                        operation: Operation::Over,
                        schedule: None,
                        order: None,
                        to: None,
                    };
                    let mut picture = vec![0; 4 * part.len()];
                    let out = LayerMut {
                        channel: Channel::U8,
                        color: &mut picture,
                        depth: &mut [],
                    };
                    sparse.spread(&terms, &part, out);
                    for (pixel, value) in part.clone().zip(picture.chunks_exact(4)) {
                        let is_covered = !all(&covered, &(pixel..pixel + 1)).is_empty();
                        let wanted = if is_covered { pixel as u8 } else { 200 };
                        assert_eq!(value, [wanted; 4]);
                    }
                }
            }
        }
        assert!(counts.iter().all(|count| *count > 0), "{counts:?}");
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
