//! Vectors of 8 pixels: their depths in one register, their colours in one register per word of 32
//! bits.

// Rust 1.85 treats all these functions as unsafe, later releases only those that touch memory.
#![allow(unused_unsafe)]

use std::arch::x86_64::*;

use super::Layer;

const PIXELS: usize = 8;

/// Returns how many pixels were merged: all that fill whole vectors.
///
/// # Safety
/// The processor has AVX2. There is a layer; all layers and the result have the same number of
/// pixels, with `WORDS` words of colour each.
#[target_feature(enable = "avx2")]
pub(super) unsafe fn merge<const WORDS: usize, const FLOAT: bool>(
    layers: &[Layer<'_>],
    color: &mut [u8],
    depth: &mut [u8],
) -> usize {
    let vectors = depth.len() / (4 * PIXELS);
    for at in 0..vectors {
        // SAFETY: the caller promises this number of vectors.
        unsafe {
            let mut near = load(layers[0].depth, at);
            let mut colors = [_mm256_setzero_si256(); WORDS];
            for (word, color) in colors.iter_mut().enumerate() {
                *color = load(layers[0].color, WORDS * at + word);
            }
            for layer in &layers[1..] {
                let far = load(layer.depth, at);
                let is_nearer = match FLOAT {
                    true => is_nearer_float(far, near),
                    false => is_nearer_unorm(far, near),
                };
                near = _mm256_blendv_epi8(near, far, is_nearer);
                for (word, color) in colors.iter_mut().enumerate() {
                    let behind = load(layer.color, WORDS * at + word);
                    *color = _mm256_blendv_epi8(*color, behind, widened::<WORDS>(is_nearer, word));
                }
            }
            store(near, depth, at);
            for (word, words) in colors.into_iter().enumerate() {
                store(words, color, WORDS * at + word);
            }
        }
    }
    vectors * PIXELS
}

#[inline]
#[target_feature(enable = "avx2")]
unsafe fn is_nearer_float(depth: __m256i, than: __m256i) -> __m256i {
    // SAFETY: the processor has AVX2, as the caller promises.
    unsafe {
        let (depth, than) = (_mm256_castsi256_ps(depth), _mm256_castsi256_ps(than));
        // `depth` is less, or one of the two is NaN. But `depth` must not be NaN.
        let less = _mm256_cmp_ps::<_CMP_NGE_UQ>(depth, than);
        let number = _mm256_cmp_ps::<_CMP_ORD_Q>(depth, depth);
        _mm256_castps_si256(_mm256_and_ps(less, number))
    }
}

#[inline]
#[target_feature(enable = "avx2")]
unsafe fn is_nearer_unorm(depth: __m256i, than: __m256i) -> __m256i {
    // SAFETY: as above.
    unsafe {
        let is_not_less = _mm256_cmpeq_epi32(_mm256_max_epu32(depth, than), depth);
        _mm256_xor_si256(is_not_less, _mm256_set1_epi32(-1))
    }
}

/// Spreads the mask of 8 pixels over register `word` of their colours.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn widened<const WORDS: usize>(mask: __m256i, word: usize) -> __m256i {
    let place = |lane: usize| ((word * PIXELS + lane) / WORDS) as i32;
    match WORDS {
        1 => mask,
        // SAFETY: as above.
        _ => unsafe {
            let places = _mm256_setr_epi32(
                place(0),
                place(1),
                place(2),
                place(3),
                place(4),
                place(5),
                place(6),
                place(7),
            );
            _mm256_permutevar8x32_epi32(mask, places)
        },
    }
}

#[inline]
#[target_feature(enable = "avx2")]
unsafe fn load(bytes: &[u8], at: usize) -> __m256i {
    // SAFETY: the bytes have this vector.
    unsafe { _mm256_loadu_si256(bytes.as_ptr().add(32 * at).cast()) }
}

#[inline]
#[target_feature(enable = "avx2")]
unsafe fn store(vector: __m256i, bytes: &mut [u8], at: usize) {
    // SAFETY: the bytes have this vector.
    unsafe { _mm256_storeu_si256(bytes.as_mut_ptr().add(32 * at).cast(), vector) };
}
