//! Vectors of 8 pixels, in two registers of 16-bit channels. One has the first two pixels of each
//! half, and the other the second two: this is how AVX2 unpacks bytes and packs them again.

// Rust 1.85 treats all these functions as unsafe, later releases only those that touch memory.
#![allow(unused_unsafe)]

use std::arch::x86_64::*;

use super::{Channel, Layer};

const PIXELS: usize = 8;

/// Returns how many pixels were merged: all that fill whole vectors.
///
/// # Safety
/// The processor has AVX2.
#[target_feature(enable = "avx2")]
pub(super) unsafe fn merge(layers: &[Layer<'_>], channel: Channel, out: &mut [u8]) -> usize {
    let vectors = out.len() / channel.pixel_bytes() / PIXELS;
    // Two vectors at a time hide the time that a multiplication takes.
    for at in 0..vectors / 2 {
        // SAFETY: all layers and `out` have the same number of pixels, as the crate's `merge` has
        // checked.
        unsafe { together::<2>(layers, channel, out, 2 * at) };
    }
    if vectors % 2 == 1 {
        // SAFETY: as above.
        unsafe { together::<1>(layers, channel, out, vectors - 1) };
    }
    vectors * PIXELS
}

/// # Safety
/// As for [`merge`]; all layers and `out` have `N` vectors from vector `first` on.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn together<const N: usize>(
    layers: &[Layer<'_>],
    channel: Channel,
    out: &mut [u8],
    first: usize,
) {
    // SAFETY: the functions called need AVX2 and these vectors, as the caller promises.
    unsafe {
        let mut sums = [[_mm256_setzero_si256(); 2]; N];
        for layer in layers {
            for (at, sum) in sums.iter_mut().enumerate() {
                let values = load(layer, first + at);
                for (sum, value) in sum.iter_mut().zip(values) {
                    *sum = _mm256_adds_epu16(*sum, _mm256_mulhi_epu16(through(*sum), value));
                }
            }
        }
        for (at, sum) in sums.into_iter().enumerate() {
            store(sum, channel, out, first + at);
        }
    }
}

/// How much light the layers so far let through, repeated for each channel of a pixel.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn through(sum: __m256i) -> __m256i {
    // SAFETY: the processor has AVX2, as the caller promises.
    unsafe {
        let alpha = _mm256_setr_epi8(
            6, 7, 6, 7, 6, 7, 6, 7, 14, 15, 14, 15, 14, 15, 14, 15, 6, 7, 6, 7, 6, 7, 6, 7, 14, 15,
            14, 15, 14, 15, 14, 15,
        );
        let ones = _mm256_set1_epi16(-1);
        _mm256_sub_epi16(ones, _mm256_shuffle_epi8(sum, alpha))
    }
}

#[inline]
#[target_feature(enable = "avx2")]
unsafe fn load(layer: &Layer<'_>, at: usize) -> [__m256i; 2] {
    // SAFETY: the layer has this vector.
    unsafe {
        match layer.channel {
            Channel::U8 => {
                let bytes = _mm256_loadu_si256(layer.color.as_ptr().add(32 * at).cast());
                // Two copies of a byte, side by side, are 257 times the byte.
                [
                    _mm256_unpacklo_epi8(bytes, bytes),
                    _mm256_unpackhi_epi8(bytes, bytes),
                ]
            }
            _ => {
                let from = layer.color.as_ptr().add(64 * at).cast::<__m256i>();
                let (a, b) = (_mm256_loadu_si256(from), _mm256_loadu_si256(from.add(1)));
                [
                    _mm256_permute2x128_si256(a, b, 0x20),
                    _mm256_permute2x128_si256(a, b, 0x31),
                ]
            }
        }
    }
}

#[inline]
#[target_feature(enable = "avx2")]
unsafe fn store([low, high]: [__m256i; 2], channel: Channel, out: &mut [u8], at: usize) {
    // SAFETY: `out` has this vector.
    unsafe {
        match channel {
            Channel::U8 => {
                let bytes = _mm256_packus_epi16(narrow(low), narrow(high));
                _mm256_storeu_si256(out.as_mut_ptr().add(32 * at).cast(), bytes);
            }
            _ => {
                let into = out.as_mut_ptr().add(64 * at).cast::<__m256i>();
                _mm256_storeu_si256(into, _mm256_permute2x128_si256(low, high, 0x20));
                _mm256_storeu_si256(into.add(1), _mm256_permute2x128_si256(low, high, 0x31));
            }
        }
    }
}

#[inline]
#[target_feature(enable = "avx2")]
unsafe fn narrow(wide: __m256i) -> __m256i {
    // SAFETY: as above.
    unsafe {
        let most = _mm256_sub_epi16(wide, _mm256_srli_epi16(wide, 8));
        _mm256_srli_epi16(_mm256_adds_epu16(most, _mm256_set1_epi16(128)), 8)
    }
}
