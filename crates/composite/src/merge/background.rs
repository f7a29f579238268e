//! The background of a merged picture.

use super::LayerMut;
use crate::covered::Pixel;
use crate::{Channel, Depth, Format, Operation};

/// Gives the background to all pixels at which no picture shows anything. With the nearest depth,
/// they are those with the largest depth (a float that is not less than 1), and get its colour and
/// depth. In blended pictures, they are those with an alpha of 0, and get only its colour. Other
/// operations ignore the background.
pub(crate) fn fill(operation: Operation, format: Format, background: &Pixel, out: LayerMut<'_>) {
    match (operation, format.depth) {
        (Operation::Nearest, Some(Depth::Float)) => {
            // A NaN is far, too.
            let is_near = |depth| f32::from_ne_bytes(depth) < 1.0;
            fill_far(background, |depth| !is_near(depth), out);
        }
        (Operation::Nearest, Some(Depth::Unorm)) => {
            fill_far(background, |depth| depth == [255; 4], out);
        }
        (Operation::Over, _) => fill_transparent(background, out),
        _ => {}
    }
}

fn fill_far(background: &Pixel, is_far: impl Fn([u8; 4]) -> bool, out: LayerMut<'_>) {
    match out.channel.pixel_bytes() {
        4 => fill_far_pixels::<4>(background, is_far, out),
        8 => fill_far_pixels::<8>(background, is_far, out),
        _ => fill_far_pixels::<16>(background, is_far, out),
    }
}

/// `BYTES` is the size of a pixel's colour.
#[inline]
fn fill_far_pixels<const BYTES: usize>(
    background: &Pixel,
    is_far: impl Fn([u8; 4]) -> bool,
    out: LayerMut<'_>,
) {
    let color = *first::<BYTES>(&background.color);
    let colors = out.color.chunks_exact_mut(BYTES);
    for (color_to, depth_to) in colors.zip(out.depth.chunks_exact_mut(4)) {
        let (shown, depth) = (*first::<BYTES>(color_to), *first::<4>(depth_to));
        let is_far = is_far(depth);
        // Both are written in any case: without branches, the compiler uses vectors.
        color_to.copy_from_slice(if is_far { &color } else { &shown });
        depth_to.copy_from_slice(if is_far { &background.depth } else { &depth });
    }
}

fn fill_transparent(background: &Pixel, out: LayerMut<'_>) {
    match out.channel {
        Channel::U8 => fill_transparent_pixels(background, |pixel: &[u8; 4]| pixel[3] == 0, out),
        Channel::U16 => {
            fill_transparent_pixels(background, |pixel: &[u8; 8]| pixel[6..] == [0; 2], out);
        }
        Channel::F16 => {
            // The highest bit is the sign.
            let is_zero = |pixel: &[u8; 8]| u16::from_ne_bytes([pixel[6], pixel[7]]) << 1 == 0;
            fill_transparent_pixels(background, is_zero, out);
        }
        Channel::F32 => {
            let is_zero = |pixel: &[u8; 16]| f32::from_ne_bytes(*first(&pixel[12..])) == 0.0;
            fill_transparent_pixels(background, is_zero, out);
        }
    }
}

#[inline]
fn fill_transparent_pixels<const BYTES: usize>(
    background: &Pixel,
    is_transparent: impl Fn(&[u8; BYTES]) -> bool,
    out: LayerMut<'_>,
) {
    let color = *first::<BYTES>(&background.color);
    for to in out.color.chunks_exact_mut(BYTES) {
        let shown = *first::<BYTES>(to);
        to.copy_from_slice(if is_transparent(&shown) {
            &color
        } else {
            &shown
        });
    }
}

fn first<const BYTES: usize>(bytes: &[u8]) -> &[u8; BYTES] {
    bytes.first_chunk().expect("there are as many bytes")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Color;

    const BACKGROUND: Pixel = Pixel {
        color: [9, 8, 7, 6, 5, 4, 3, 2, 1, 10, 11, 12, 13, 14, 15, 16],
        depth: [0, 0, 128, 63],
    };

    fn filled(
        operation: Operation,
        depth: Option<Depth>,
        channel: Channel,
        mut color: Vec<u8>,
        mut depths: Vec<u8>,
    ) -> (Vec<u8>, Vec<u8>) {
        let format = Format {
            color: Color::Rgba8,
            depth,
        };
        let out = LayerMut {
            channel,
            color: &mut color,
            depth: &mut depths,
        };
        fill(operation, format, &BACKGROUND, out);
        (color, depths)
    }

    #[test]
    fn far_pixels_become_background() {
        let depths = [0.5, 1.0, f32::NAN, -1.0, f32::INFINITY, 0.999_999];
        let bytes: Vec<u8> = depths
            .iter()
            .flat_map(|depth| depth.to_ne_bytes())
            .collect();
        for channel in [Channel::U8, Channel::U16, Channel::F32] {
            let size = channel.pixel_bytes();
            let color: Vec<u8> = (100..).take(6 * size).collect();
            let (merged, far) = filled(
                Operation::Nearest,
                Some(Depth::Float),
                channel,
                color.clone(),
                bytes.clone(),
            );
            for (at, is_far) in [false, true, true, false, true, false]
                .into_iter()
                .enumerate()
            {
                let pixel = at * size..(at + 1) * size;
                let wanted = if is_far {
                    &BACKGROUND.color[..size]
                } else {
                    &color[pixel.clone()]
                };
                assert_eq!(merged[pixel], *wanted, "{channel:?} {at}");
                let depth = if is_far {
                    1.0_f32.to_ne_bytes()
                } else {
                    depths[at].to_ne_bytes()
                };
                assert_eq!(far[4 * at..4 * at + 4], depth);
            }
        }
    }

    #[test]
    fn integer_depths_are_far_only_at_the_end() {
        let depths = [u32::MAX, u32::MAX - 1, 0].map(u32::to_ne_bytes).concat();
        let (color, _) = filled(
            Operation::Nearest,
            Some(Depth::Unorm),
            Channel::U8,
            vec![1; 12],
            depths,
        );
        assert_eq!(color, [9, 8, 7, 6, 1, 1, 1, 1, 1, 1, 1, 1]);
    }

    #[test]
    fn transparent_pixels_become_background() {
        let fill = |channel, color| filled(Operation::Over, None, channel, color, Vec::new()).0;
        let bytes = fill(Channel::U8, vec![1, 2, 3, 0, 1, 2, 3, 1]);
        assert_eq!(bytes, [9, 8, 7, 6, 1, 2, 3, 1]);
        let words = [[1, 2, 3, 0], [1, 2, 3, 0x100]].concat();
        let words: Vec<u8> = words.into_iter().flat_map(u16::to_ne_bytes).collect();
        let merged = fill(Channel::U16, words.clone());
        assert_eq!(
            (&merged[..8], &merged[8..]),
            (&BACKGROUND.color[..8], &words[8..])
        );
        // -0 and the smallest number of half precision.
        let halves = [[1, 2, 3, 0x8000], [1, 2, 3, 1]].concat();
        let halves: Vec<u8> = halves.into_iter().flat_map(u16::to_ne_bytes).collect();
        let merged = fill(Channel::F16, halves.clone());
        assert_eq!(
            (&merged[..8], &merged[8..]),
            (&BACKGROUND.color[..8], &halves[8..])
        );
        let floats = [[1.0, 2.0, 3.0, -0.0], [1.0, 2.0, 3.0, 1e-30_f32]].concat();
        let floats: Vec<u8> = floats.into_iter().flat_map(f32::to_ne_bytes).collect();
        let merged = fill(Channel::F32, floats.clone());
        assert_eq!(
            (&merged[..16], &merged[16..]),
            (&BACKGROUND.color[..], &floats[16..])
        );
        assert_eq!(
            filled(Operation::Add, None, Channel::U8, vec![0; 4], vec![]).0,
            [0; 4]
        );
    }
}
