//! Active-pixel encoding (after Ahrens and Painter 1998): a message leaves out blocks of a
//! rectangle in which all pixels are background.
//!
//! Each row of the rectangle, or the part of it in the message, is cut into blocks of [`BLOCK`]
//! pixels. A bitmap has one bit for each block, row by row; it is set if a pixel of the block
//! differs from the background. Only the pixels of these *active* blocks are sent. The encoding is
//! lossless: the receiver writes the background to all other blocks.

use std::ops::Range;

use crate::covered::{Pixel, Rectangle, Sparse};
use crate::{Layer, LayerMut};

/// Pixels of a block. The last block of a row may have fewer.
const BLOCK: usize = 16;

/// Neighbouring pixels of the rectangle whose blocks are all active or all inactive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub pixels: usize,
    pub is_active: bool,
}

/// The pixels of a message that are in active blocks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Active {
    pub bitmap: Vec<u8>,
    /// Where these pixels are in the sender's memory.
    pub runs: Vec<Range<usize>>,
}

impl Active {
    /// Compares the covered ones of these pixels with the background.
    pub fn find(held: &Sparse<'_>, pixels: &Range<usize>, width: usize) -> Active {
        let (background, channel) = held.background();
        let color = background.color[..channel.pixel_bytes()].repeat(BLOCK);
        let depth = background.depth.repeat(BLOCK);
        let mut active = Active::default();
        let mut number = 0;
        for row in held.covered.rectangle.rows_of(pixels, width) {
            let memory = held.places(&row, width);
            for start in memory.clone().step_by(BLOCK) {
                let block = start..memory.end.min(start + BLOCK);
                let Layer {
                    color: c, depth: d, ..
                } = held.layer.part(&block);
                if number % 8 == 0 {
                    active.bitmap.push(0);
                }
                if *c != color[..c.len()] || *d != depth[..d.len()] {
                    active.bitmap[number / 8] |= 1 << (number % 8);
                    match active.runs.last_mut() {
                        Some(last) if last.end == block.start => last.end = block.end,
                        _ => active.runs.push(block),
                    }
                }
                number += 1;
            }
        }
        active
    }
}

/// The length of a bitmap in bytes.
pub(crate) fn bitmap_len(rectangle: &Rectangle, pixels: &Range<usize>, width: usize) -> usize {
    let rows = rectangle.rows_of(pixels, width);
    let blocks: usize = rows.map(|row| row.len().div_ceil(BLOCK)).sum();
    blocks.div_ceil(8)
}

/// What a bitmap of this rectangle means, in order. Blocks beyond its end are not active.
pub(crate) fn spans(
    bitmap: &[u8],
    rectangle: &Rectangle,
    pixels: &Range<usize>,
    width: usize,
) -> Vec<Span> {
    let mut spans: Vec<Span> = Vec::new();
    let mut number = 0;
    for row in rectangle.rows_of(pixels, width) {
        for start in row.clone().step_by(BLOCK) {
            let pixels = row.end.min(start + BLOCK) - start;
            let byte = bitmap.get(number / 8).copied().unwrap_or(0);
            let is_active = byte >> (number % 8) & 1 == 1;
            match spans.last_mut() {
                Some(last) if last.is_active == is_active => last.pixels += pixels,
                _ => spans.push(Span { pixels, is_active }),
            }
            number += 1;
        }
    }
    spans
}

/// How many pixels are in active spans.
pub(crate) fn count(spans: &[Span]) -> usize {
    let active = spans.iter().filter(|span| span.is_active);
    active.map(|span| span.pixels).sum()
}

/// Writes all pixels of the spans. `active` has the pixels of the active ones.
pub(crate) fn expand(spans: &[Span], active: Layer<'_>, background: &Pixel, mut out: LayerMut<'_>) {
    let (mut from, mut to) = (0, 0);
    for span in spans {
        let out = out.part(&(to..to + span.pixels));
        to += span.pixels;
        if span.is_active {
            let layer = active.part(&(from..from + span.pixels));
            from += span.pixels;
            out.color.copy_from_slice(layer.color);
            out.depth.copy_from_slice(layer.depth);
        } else {
            background.fill(out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::covered::Covered;
    use crate::Channel;

    const WIDTH: usize = 45;
    const HEIGHT: usize = 6;

    /// Colours and depths of a picture in which every pixel is background but these.
    fn picture(background: &Pixel, drawn: &[usize]) -> (Vec<u8>, Vec<u8>) {
        let mut color = background.color[..4].repeat(WIDTH * HEIGHT);
        let mut depth = background.depth.repeat(WIDTH * HEIGHT);
        for (number, at) in drawn.iter().enumerate() {
            // Some differ only in their depth.
            match number % 2 {
                0 => color[4 * at + 1] ^= 1,
                _ => depth[4 * at + 3] ^= 1,
            }
        }
        (color, depth)
    }

    /// Encodes and expands, and returns the number of pixels that were sent.
    fn round_trip(drawn: &[usize], rectangle: &Rectangle, pixels: &Range<usize>) -> usize {
        let mut background = Pixel::default();
        background.color[..4].copy_from_slice(&[9, 8, 7, 6]);
        background.depth = [1, 2, 3, 4];
        let (color, depth) = picture(&background, drawn);
        let layer = Layer {
            channel: Channel::U8,
            color: &color,
            depth: &depth,
        };
        let held = Sparse {
            layer,
            start: 0,
            kept: Rectangle::whole(WIDTH, HEIGHT),
            covered: Covered {
                rectangle: rectangle.clone(),
                background,
            },
        };
        let active = Active::find(&held, pixels, WIDTH);
        let len = bitmap_len(rectangle, pixels, WIDTH);
        assert_eq!(active.bitmap.len(), len);
        let runs = active.runs.iter().map(|run| layer.part(run));
        let sent_color: Vec<u8> = runs.clone().flat_map(|run| run.color).copied().collect();
        let sent_depth: Vec<u8> = runs.flat_map(|run| run.depth).copied().collect();

        let spans = spans(&active.bitmap, rectangle, pixels, WIDTH);
        let count: usize = spans.iter().map(|span| span.pixels).sum();
        let mut out = (vec![0; 4 * count], vec![0; 4 * count]);
        let sent = Layer {
            channel: Channel::U8,
            color: &sent_color,
            depth: &sent_depth,
        };
        let to = LayerMut {
            channel: Channel::U8,
            color: &mut out.0,
            depth: &mut out.1,
        };
        expand(&spans, sent, &background, to);
        let rows = rectangle.rows_of(pixels, WIDTH);
        let rows: Vec<Layer<'_>> = rows.map(|row| layer.part(&row)).collect();
        let of = |part: fn(&Layer<'_>) -> Vec<u8>| rows.iter().flat_map(part).collect::<Vec<u8>>();
        assert_eq!(out.0, of(|row| row.color.to_vec()));
        assert_eq!(out.1, of(|row| row.depth.to_vec()));
        sent_color.len() / 4
    }

    #[test]
    fn only_blocks_with_something_in_them_are_sent() {
        let whole = Rectangle::whole(WIDTH, HEIGHT);
        let all = 0..WIDTH * HEIGHT;
        assert_eq!(round_trip(&[], &whole, &all), 0);
        // One pixel in the middle block of a row, and one in the last block, which is shorter.
        assert_eq!(round_trip(&[WIDTH + 17], &whole, &all), BLOCK);
        assert_eq!(round_trip(&[2 * WIDTH - 1], &whole, &all), WIDTH % BLOCK);
        // The last block of a row and the first one of the next row.
        let drawn = [2 * WIDTH - 1, 2 * WIDTH];
        assert_eq!(round_trip(&drawn, &whole, &all), WIDTH % BLOCK + BLOCK);
        let drawn: Vec<usize> = all.clone().collect();
        assert_eq!(round_trip(&drawn, &whole, &all), all.len());
    }

    #[test]
    fn parts_of_rows_and_of_pictures_come_back() {
        let drawn: Vec<usize> = (0..WIDTH * HEIGHT).filter(|at| at % 37 < 3).collect();
        let edges = [0, 1, 16, 20, WIDTH];
        let starts = [0, 5, WIDTH, 2 * WIDTH + 40];
        for columns in edges.iter().flat_map(|one| edges.map(|other| *one..other)) {
            for start in starts {
                for end in [start, start + 1, start + 50, WIDTH * HEIGHT] {
                    let rectangle = Rectangle {
                        columns: columns.clone(),
                        rows: 1..HEIGHT,
                    };
                    round_trip(&drawn, &rectangle, &(start..end));
                }
            }
        }
    }

    #[test]
    fn a_bitmap_of_another_length_is_no_panic() {
        let whole = Rectangle::whole(WIDTH, HEIGHT);
        let all = 0..WIDTH * HEIGHT;
        let span = |is_active| Span {
            pixels: all.len(),
            is_active,
        };
        assert_eq!(spans(&[], &whole, &all, WIDTH), [span(false)]);
        assert_eq!(spans(&[255; 100], &whole, &all, WIDTH), [span(true)]);
    }
}
