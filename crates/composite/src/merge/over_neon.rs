//! Vectors of 8 pixels, in one register of 16-bit values for each channel.

// Rust 1.85 treats all these functions as unsafe, later releases only those that touch memory.
#![allow(unused_unsafe)]

use std::arch::aarch64::*;

use super::{Channel, Layer};

const PIXELS: usize = 8;

/// Returns how many pixels were merged: all that fill whole vectors.
///
/// # Safety
/// The processor has NEON. All layers and `out` have the same number of pixels.
#[target_feature(enable = "neon")]
pub(super) unsafe fn merge(layers: &[Layer<'_>], channel: Channel, out: &mut [u8]) -> usize {
    let vectors = out.len() / channel.pixel_bytes() / PIXELS;
    for at in 0..vectors {
        // SAFETY: the layers and `out` have this vector, as the caller promises.
        unsafe {
            let mut sums = [vdupq_n_u16(0); 4];
            for layer in layers {
                let values = load(layer, at);
                let through = vmvnq_u16(sums[3]);
                for (sum, value) in sums.iter_mut().zip(values) {
                    *sum = vqaddq_u16(*sum, multiply_high(through, value));
                }
            }
            store(sums, channel, out, at);
        }
    }
    vectors * PIXELS
}

/// The upper halves of the products.
///
/// # Safety
/// The processor has NEON.
#[inline]
#[target_feature(enable = "neon")]
unsafe fn multiply_high(one: uint16x8_t, other: uint16x8_t) -> uint16x8_t {
    // SAFETY: the processor has NEON, as the caller promises.
    unsafe {
        let low = vmull_u16(vget_low_u16(one), vget_low_u16(other));
        let high = vmull_high_u16(one, other);
        vshrn_high_n_u32::<16>(vshrn_n_u32::<16>(low), high)
    }
}

/// # Safety
/// The processor has NEON, and the layer has this vector.
#[inline]
#[target_feature(enable = "neon")]
unsafe fn load(layer: &Layer<'_>, at: usize) -> [uint16x8_t; 4] {
    // SAFETY: the caller's promise. The instructions need no alignment of what they load.
    unsafe {
        match layer.channel {
            Channel::U8 => {
                let bytes = vld4_u8(layer.color.as_ptr().add(4 * PIXELS * at));
                // Two copies of a byte, side by side, are 257 times the byte.
                [bytes.0, bytes.1, bytes.2, bytes.3].map(|channel| {
                    let wide = vmovl_u8(channel);
                    vsliq_n_u16::<8>(wide, wide)
                })
            }
            _ => {
                let words = vld4q_u16(layer.color.as_ptr().add(8 * PIXELS * at).cast());
                [words.0, words.1, words.2, words.3]
            }
        }
    }
}

/// # Safety
/// The processor has NEON, and `out` has this vector.
#[inline]
#[target_feature(enable = "neon")]
unsafe fn store(sums: [uint16x8_t; 4], channel: Channel, out: &mut [u8], at: usize) {
    // SAFETY: the caller's promise. The instructions need no alignment of what they store.
    unsafe {
        match channel {
            Channel::U8 => {
                let [r, g, b, a] = sums.map(|sum| narrow(sum));
                vst4_u8(
                    out.as_mut_ptr().add(4 * PIXELS * at),
                    uint8x8x4_t(r, g, b, a),
                );
            }
            _ => {
                let [r, g, b, a] = sums;
                let into = out.as_mut_ptr().add(8 * PIXELS * at).cast();
                vst4q_u16(into, uint16x8x4_t(r, g, b, a));
            }
        }
    }
}

/// # Safety
/// The processor has NEON.
#[inline]
#[target_feature(enable = "neon")]
unsafe fn narrow(wide: uint16x8_t) -> uint8x8_t {
    // SAFETY: the caller's promise.
    unsafe {
        let most = vsubq_u16(wide, vshrq_n_u16::<8>(wide));
        vshrn_n_u16::<8>(vqaddq_u16(most, vdupq_n_u16(128)))
    }
}
