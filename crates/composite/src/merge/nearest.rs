//! The pixel with the smallest depth.

use super::{Layer, LayerMut};
use crate::{Color, Depth, Format};

/// Pixels that are merged at a time, so that what is the nearest so far stays in the first-level
/// cache.
const BLOCK: usize = 512;

pub(super) fn merge(format: Format, layers: &[Layer<'_>], out: LayerMut<'_>) {
    match (format.color, format.depth) {
        (Color::Rgba8, Some(Depth::Float)) => run::<u32, f32>(layers, out),
        (Color::Rgba8, _) => run::<u32, u32>(layers, out),
        (Color::Rgba16f, Some(Depth::Float)) => run::<u64, f32>(layers, out),
        (Color::Rgba16f, _) => run::<u64, u32>(layers, out),
        (Color::Rgba32f, Some(Depth::Float)) => run::<u128, f32>(layers, out),
        (Color::Rgba32f, _) => run::<u128, u32>(layers, out),
    }
}

/// The smallest depth alone.
pub(super) fn smallest(kind: Depth, layers: &[Layer<'_>], out: &mut [u8]) {
    match kind {
        Depth::Float => smallest_of::<f32>(layers, out),
        Depth::Unorm => smallest_of::<u32>(layers, out),
    }
}

fn run<P: Word, D: Distance>(layers: &[Layer<'_>], out: LayerMut<'_>) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2.
        return unsafe { by_avx2::<P, D>(layers, out) };
    }
    nearest::<P, D>(layers, out);
}

/// # Safety
/// The processor has AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn by_avx2<P: Word, D: Distance>(layers: &[Layer<'_>], out: LayerMut<'_>) {
    nearest::<P, D>(layers, out);
}

#[inline(always)]
fn nearest<P: Word, D: Distance>(layers: &[Layer<'_>], out: LayerMut<'_>) {
    let colors = out.color.chunks_mut(BLOCK * P::BYTES);
    let depths = out.depth.chunks_mut(BLOCK * D::BYTES);
    for (at, (colors, depths)) in colors.zip(depths).enumerate() {
        let (color, depth) = (at * BLOCK * P::BYTES, at * BLOCK * D::BYTES);
        let Some((first, others)) = layers.split_first() else {
            colors.fill(0);
            fill(depths, D::FARTHEST);
            continue;
        };
        colors.copy_from_slice(&first.color[color..color + colors.len()]);
        depths.copy_from_slice(&first.depth[depth..depth + depths.len()]);
        for layer in others {
            let from = layer.color[color..color + colors.len()].chunks_exact(P::BYTES);
            let far = layer.depth[depth..depth + depths.len()].chunks_exact(D::BYTES);
            let into = colors.chunks_exact_mut(P::BYTES);
            let near = depths.chunks_exact_mut(D::BYTES);
            for ((into, near), (from, far)) in into.zip(near).zip(from.zip(far)) {
                let (old, new) = (D::read(near), D::read(far));
                let is_nearer = new.is_nearer(old);
                let color = if is_nearer {
                    P::read(from)
                } else {
                    P::read(into)
                };
                color.write(into);
                let depth = if is_nearer { new } else { old };
                depth.write(near);
            }
        }
    }
}

fn smallest_of<D: Distance>(layers: &[Layer<'_>], out: &mut [u8]) {
    let Some((first, others)) = layers.split_first() else {
        return fill(out, D::FARTHEST);
    };
    out.copy_from_slice(first.depth);
    for layer in others {
        let pairs = out
            .chunks_exact_mut(D::BYTES)
            .zip(layer.depth.chunks_exact(D::BYTES));
        for (near, far) in pairs {
            let (old, new) = (D::read(near), D::read(far));
            let depth = if new.is_nearer(old) { new } else { old };
            depth.write(near);
        }
    }
}

fn fill<D: Distance>(depths: &mut [u8], depth: D) {
    for into in depths.chunks_exact_mut(D::BYTES) {
        depth.write(into);
    }
}

/// A pixel or a depth in memory of any alignment.
trait Word: Copy {
    const BYTES: usize;
    fn read(bytes: &[u8]) -> Self;
    fn write(self, bytes: &mut [u8]);
}

macro_rules! word {
    ($($word:ty),*) => {$(
        impl Word for $word {
            const BYTES: usize = size_of::<$word>();

            #[inline(always)]
            fn read(bytes: &[u8]) -> $word {
                let mut word = [0; size_of::<$word>()];
                word.copy_from_slice(bytes);
                <$word>::from_ne_bytes(word)
            }

            #[inline(always)]
            fn write(self, bytes: &mut [u8]) {
                bytes.copy_from_slice(&self.to_ne_bytes());
            }
        }
    )*};
}

word!(u32, u64, u128, f32);

trait Distance: Word {
    const FARTHEST: Self;
    fn is_nearer(self, than: Self) -> bool;
}

impl Distance for f32 {
    const FARTHEST: f32 = f32::INFINITY;

    #[inline(always)]
    fn is_nearer(self, than: f32) -> bool {
        self < than || (than.is_nan() && !self.is_nan())
    }
}

impl Distance for u32 {
    const FARTHEST: u32 = u32::MAX;

    #[inline(always)]
    fn is_nearer(self, than: u32) -> bool {
        self < than
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Channel, Operation};

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
        (color, depth.chunks_exact(4).map(f32::read).collect())
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
        assert_eq!(merged(&[alone.clone()]), alone);
        assert_eq!(merged(&[]), (vec![0; 16], vec![f32::INFINITY; 4]));
    }

    #[test]
    fn blocks_and_their_rest_agree_with_one_pixel_at_a_time() {
        let pixels = 2 * BLOCK + 77;
        let picture = |seed: usize| {
            let value = |at: usize| (at * 2_654_435_761 + seed * 40_503) >> 7;
            let depths = (0..pixels).map(|at| (value(at) % 64) as f32 / 64.0);
            let color = (0..4 * pixels).map(|at| (value(at / 4) + seed) as u8);
            (color.collect::<Vec<u8>>(), depths.collect::<Vec<f32>>())
        };
        let pictures: Vec<_> = (0..9).map(picture).collect();
        let (color, depth) = merged(&pictures);
        for at in 0..pixels {
            let key = |seed: &usize| (pictures[*seed].1[at] * 64.0) as u32;
            let best = (0..9).min_by_key(key).unwrap();
            assert_eq!(depth[at], pictures[best].1[at]);
            assert_eq!(color[4 * at..][..4], pictures[best].0[4 * at..][..4]);
        }
    }
}
