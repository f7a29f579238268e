//! Vectors of 4 pixels: their depths in one register, their colours in one register per word of 32
//! bits.

// Rust 1.85 treats all these functions as unsafe, later releases only those that touch memory.
#![allow(unused_unsafe)]

use std::arch::aarch64::*;

use super::Layer;

const PIXELS: usize = 4;

/// Returns how many pixels were merged: all that fill whole vectors.
///
/// # Safety
/// The processor has NEON. There is a layer; all layers and the result have the same number of
/// pixels, with `WORDS` words of colour each.
#[target_feature(enable = "neon")]
pub(super) unsafe fn merge<const WORDS: usize, const FLOAT: bool>(
    layers: &[Layer<'_>],
    color: &mut [u8],
    depth: &mut [u8],
) -> usize {
    let vectors = depth.len() / (4 * PIXELS);
    for at in 0..vectors {
        // SAFETY: all have this vector, as the caller promises.
        unsafe {
            let mut near = load(layers[0].depth, at);
            let mut colors = [vdupq_n_u32(0); WORDS];
            for (word, color) in colors.iter_mut().enumerate() {
                *color = load(layers[0].color, WORDS * at + word);
            }
            for layer in &layers[1..] {
                let far = load(layer.depth, at);
                let is_nearer = match FLOAT {
                    true => is_nearer_float(far, near),
                    false => vcltq_u32(far, near),
                };
                near = vbslq_u32(is_nearer, far, near);
                for (word, color) in colors.iter_mut().enumerate() {
                    let behind = load(layer.color, WORDS * at + word);
                    *color = vbslq_u32(widened::<WORDS>(is_nearer, word), behind, *color);
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

/// # Safety
/// The processor has NEON.
#[inline]
#[target_feature(enable = "neon")]
unsafe fn is_nearer_float(depth: uint32x4_t, than: uint32x4_t) -> uint32x4_t {
    // SAFETY: the caller's promise.
    unsafe {
        let (depth, than) = (vreinterpretq_f32_u32(depth), vreinterpretq_f32_u32(than));
        // `depth` is less, or one of the two is NaN. But `depth` must not be NaN.
        let is_less = vmvnq_u32(vcgeq_f32(depth, than));
        vandq_u32(is_less, vceqq_f32(depth, depth))
    }
}

/// Spreads the mask of 4 pixels over register `word` of their colours.
///
/// # Safety
/// The processor has NEON.
#[inline]
#[target_feature(enable = "neon")]
unsafe fn widened<const WORDS: usize>(mask: uint32x4_t, word: usize) -> uint32x4_t {
    // SAFETY: the caller's promise.
    unsafe {
        match (WORDS, word) {
            (1, _) => mask,
            (2, 0) => vzip1q_u32(mask, mask),
            (2, _) => vzip2q_u32(mask, mask),
            (_, 0) => vdupq_laneq_u32::<0>(mask),
            (_, 1) => vdupq_laneq_u32::<1>(mask),
            (_, 2) => vdupq_laneq_u32::<2>(mask),
            (_, _) => vdupq_laneq_u32::<3>(mask),
        }
    }
}

/// # Safety
/// `bytes` has this vector, and the processor has NEON.
#[inline]
#[target_feature(enable = "neon")]
unsafe fn load(bytes: &[u8], at: usize) -> uint32x4_t {
    // SAFETY: the caller's promise. A load of bytes needs no alignment.
    unsafe { vreinterpretq_u32_u8(vld1q_u8(bytes.as_ptr().add(16 * at))) }
}

/// # Safety
/// `bytes` has this vector, and the processor has NEON.
#[inline]
#[target_feature(enable = "neon")]
unsafe fn store(vector: uint32x4_t, bytes: &mut [u8], at: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        vst1q_u8(
            bytes.as_mut_ptr().add(16 * at),
            vreinterpretq_u8_u32(vector),
        )
    };
}
