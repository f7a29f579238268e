//! The pixel with the smallest depth.

use super::{Layer, LayerMut};
use crate::{Depth, Format};

#[cfg(target_arch = "x86_64")]
#[path = "nearest_avx2.rs"]
mod vectors;
#[cfg(target_arch = "aarch64")]
#[path = "nearest_neon.rs"]
mod vectors;

pub(super) fn merge(format: Format, layers: &[Layer<'_>], out: LayerMut<'_>) {
    let size = out.channel.pixel_bytes();
    let kind = format.depth.unwrap_or(Depth::Float);
    run(kind, size, layers, out.color, out.depth);
}

/// Writes the smallest depths, but no colours.
pub(super) fn smallest(kind: Depth, layers: &[Layer<'_>], out: &mut [u8]) {
    run(kind, 0, layers, &mut [], out);
}

/// Merges pixels with `size` bytes of colour each.
fn run(kind: Depth, size: usize, layers: &[Layer<'_>], color: &mut [u8], depth: &mut [u8]) {
    if layers.is_empty() {
        color.fill(0);
        let farthest = match kind {
            Depth::Float => f32::INFINITY.to_ne_bytes(),
            Depth::Unorm => u32::MAX.to_ne_bytes(),
        };
        return depth
            .chunks_exact_mut(4)
            .for_each(|depth| depth.copy_from_slice(&farthest));
    }
    let done = by_vectors(kind, size, layers, color, depth);
    portable(kind, size, layers, color, depth, done);
}

/// Merges the pixels that fill whole vectors. Returns how many these are.
fn by_vectors(
    kind: Depth,
    size: usize,
    layers: &[Layer<'_>],
    color: &mut [u8],
    depth: &mut [u8],
) -> usize {
    #[cfg(target_arch = "x86_64")]
    let has_vectors = std::arch::is_x86_feature_detected!("avx2");
    #[cfg(target_arch = "aarch64")]
    let has_vectors = std::arch::is_aarch64_feature_detected!("neon");
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    if has_vectors {
        // SAFETY: the processor has the instructions, and `merge` has checked the layers' lengths.
        return unsafe {
            match (kind, size) {
                (Depth::Float, 0) => vectors::merge::<0, true>(layers, color, depth),
                (Depth::Float, 4) => vectors::merge::<1, true>(layers, color, depth),
                (Depth::Float, 8) => vectors::merge::<2, true>(layers, color, depth),
                (Depth::Float, _) => vectors::merge::<4, true>(layers, color, depth),
                (Depth::Unorm, 0) => vectors::merge::<0, false>(layers, color, depth),
                (Depth::Unorm, 4) => vectors::merge::<1, false>(layers, color, depth),
                (Depth::Unorm, 8) => vectors::merge::<2, false>(layers, color, depth),
                (Depth::Unorm, _) => vectors::merge::<4, false>(layers, color, depth),
            }
        };
    }
    let _ = (kind, size, layers, color, depth);
    0
}

/// Merges the pixels from `first` on, one by one.
fn portable(
    kind: Depth,
    size: usize,
    layers: &[Layer<'_>],
    color: &mut [u8],
    depth: &mut [u8],
    first: usize,
) {
    for (at, depth) in depth.chunks_exact_mut(4).enumerate().skip(first) {
        let depth_of = |layer: &Layer<'_>| -> [u8; 4] {
            std::array::from_fn(|byte| layer.depth[4 * at + byte])
        };
        let nearest = layers.iter().reduce(|best, layer| {
            match is_nearer(kind, depth_of(layer), depth_of(best)) {
                true => layer,
                false => best,
            }
        });
        if let Some(nearest) = nearest {
            depth.copy_from_slice(&depth_of(nearest));
            let pixel = size * at..size * (at + 1);
            color[pixel.clone()].copy_from_slice(&nearest.color[pixel]);
        }
    }
}

/// A NaN is farther than everything else.
fn is_nearer(kind: Depth, depth: [u8; 4], than: [u8; 4]) -> bool {
    match kind {
        Depth::Unorm => u32::from_ne_bytes(depth) < u32::from_ne_bytes(than),
        Depth::Float => {
            let (depth, than) = (f32::from_ne_bytes(depth), f32::from_ne_bytes(than));
            depth < than || (than.is_nan() && !depth.is_nan())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Channel, Color, Operation};

    const FORMAT: Format = Format {
        color: Color::Rgba8,
        depth: Some(Depth::Float),
    };

    fn merged(pictures: &[(Vec<u8>, Vec<f32>)]) -> (Vec<u8>, Vec<f32>) {
        let depths: Vec<Vec<u8>> = pictures
            .iter()
            .map(|(_, depths)| depths.iter().flat_map(|d| d.to_ne_bytes()).collect())
            .collect();
        let layers: Vec<Layer<'_>> = pictures
            .iter()
            .zip(&depths)
            .map(|((color, _), depth)| Layer {
                channel: Channel::U8,
                color,
                depth,
            })
            .collect();
        let pixels = pictures.first().map_or(4, |(_, depths)| depths.len());
        let (mut color, mut depth) = (vec![9; 4 * pixels], vec![9; 4 * pixels]);
        let out = LayerMut {
            channel: Channel::U8,
            color: &mut color,
            depth: &mut depth,
        };
        super::super::merge(Operation::Nearest, FORMAT, &layers, out).unwrap();
        (color, f32s(&depth))
    }

    fn f32s(bytes: &[u8]) -> Vec<f32> {
        let words = bytes.chunks_exact(4);
        words
            .map(|bytes| f32::from_ne_bytes(bytes.try_into().unwrap()))
            .collect()
    }

    #[test]
    fn the_nearest_wins_and_of_two_alike_the_first() {
        let picture = |color: u8, depths: [f32; 4]| (vec![color; 16], depths.to_vec());
        let nan = f32::NAN;
        let (color, depth) = merged(&[
            picture(1, [0.5, 1.0, nan, 0.25]),
            picture(2, [0.25, 1.0, 1.0, nan]),
            picture(3, [0.25, 0.0, f32::INFINITY, 0.5]),
        ]);
        assert_eq!(color, [2, 2, 2, 2, 3, 3, 3, 3, 2, 2, 2, 2, 1, 1, 1, 1]);
        assert_eq!(depth, [0.25, 0.0, 1.0, 0.25]);
    }

    #[test]
    fn one_picture_keeps_its_background_and_none_is_clear() {
        let alone = (vec![7; 16], vec![1.0, 0.5, 2.0, f32::INFINITY]);
        assert_eq!(merged(std::slice::from_ref(&alone)), alone);
        assert_eq!(merged(&[]), (vec![0; 16], vec![f32::INFINITY; 4]));
    }

    /// Bytes that repeat, so that many depths are equal.
    fn noise(seed: usize, len: usize) -> Vec<u8> {
        (0..len)
            .map(|at| ((at / 4 * 2_654_435_761 + seed * 40_503) >> 9) as u8 % 5)
            .collect()
    }

    #[test]
    fn vectors_and_single_pixels_agree_to_the_bit() {
        let pixels = 8 * 20 + 7;
        for color in [Color::Rgba8, Color::Rgba16f, Color::Rgba32f] {
            for kind in [Depth::Float, Depth::Unorm] {
                let channel = color.channel();
                let size = channel.pixel_bytes();
                let mut pictures: Vec<(Vec<u8>, Vec<u8>)> = (0..9)
                    .map(|seed| (noise(seed, size * pixels), noise(seed + 100, 4 * pixels)))
                    .collect();
                for at in [0, 3, 50] {
                    let nan = f32::NAN.to_ne_bytes();
                    pictures[at % 9].1[4 * at..][..4].copy_from_slice(&nan);
                }
                let layers: Vec<Layer<'_>> = pictures
                    .iter()
                    .map(|(color, depth)| Layer {
                        channel,
                        color,
                        depth,
                    })
                    .collect();
                let mut results = [0, 1].map(|_| (vec![0; size * pixels], vec![0; 4 * pixels]));
                let [vectors, singles] = &mut results;
                let format = Format {
                    color,
                    depth: Some(kind),
                };
                let out = LayerMut {
                    channel,
                    color: &mut vectors.0,
                    depth: &mut vectors.1,
                };
                super::super::merge(Operation::Nearest, format, &layers, out).unwrap();
                portable(kind, size, &layers, &mut singles.0, &mut singles.1, 0);
                assert!(vectors == singles, "{color:?} {kind:?}");
            }
        }
    }
}
