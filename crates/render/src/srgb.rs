//! Conversion between linear colours and sRGB bytes, as Mesa does it when it works on pixels
//! itself.

use std::array::from_fn;
use std::sync::LazyLock;

/// The linear value of a byte.
pub(crate) fn to_linear(byte: u8) -> f32 {
    static TABLE: LazyLock<[f32; 256]> = LazyLock::new(|| from_fn(|byte| decode(byte as u8)));
    TABLE[usize::from(byte)]
}

fn decode(byte: u8) -> f32 {
    let x = f64::from(byte) / 255.0;
    let linear = if x <= 0.04045 {
        x / 12.92
    } else {
        ((x + 0.055) / 1.055).powf(2.4)
    };
    // Mesa's table has this number of digits.
    format!("{linear:.7e}").parse().unwrap_or(0.0)
}

/// Smaller values are black.
const BLACK_BELOW: u32 = (127 - 13) << 23;
/// The greatest value below 1. This and greater values are white.
const WHITE_FROM: u32 = 0x3f7f_ffff;

/// The byte of a linear value. The curve is approximated by lines, eight for each octave.
pub(crate) fn from_linear(value: f32) -> u8 {
    static LINES: LazyLock<[Line; 104]> = LazyLock::new(|| from_fn(Line::nearest));
    let (least, most) = (f32::from_bits(BLACK_BELOW), f32::from_bits(WHITE_FROM));
    // NaN is black too.
    let value = if value > least {
        value.min(most)
    } else {
        least
    };
    let bits = value.to_bits();
    let line = &LINES[((bits - BLACK_BELOW) >> 20) as usize];
    ((line.start + line.slope * (bits >> 12 & 255)) >> 16) as u8
}

/// A line through 256 values, in fixed point with 16 fractional bits.
#[derive(Clone, Copy)]
struct Line {
    start: u32,
    slope: u32,
}

impl Line {
    /// The best approximation of the curve by least squares.
    fn nearest(number: usize) -> Line {
        const STEPS: u32 = 256;
        let middle = |step: u32| {
            let at = |step: u32| {
                f64::from(f32::from_bits(
                    BLACK_BELOW + ((number as u32) << 20) + (step << 12),
                ))
            };
            (at(step) + at(step + 1)) / 2.0
        };
        let (mut x, mut xx, mut y, mut xy) = (0.0, 0.0, 0.0, 0.0);
        for step in 0..STEPS {
            let (a, b) = (f64::from(step), encode(middle(step)) * 255.0 + 0.5);
            x += a;
            xx += a * a;
            y += b;
            xy += a * b;
        }
        let n = f64::from(STEPS);
        let slope = (xy * n - x * y) / (xx * n - x * x);
        let start = (y - slope * x) / n;
        Line {
            start: ((start * 128.0).round() as u32) << 9,
            slope: (slope * 65536.0).round() as u32,
        }
    }
}

fn encode(linear: f64) -> f64 {
    if linear < 0.003_130_8 {
        12.92 * linear
    } else {
        1.055 * linear.powf(1.0 / 2.4) - 0.055
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back_is_the_same() {
        for byte in 0..=255 {
            assert_eq!(from_linear(to_linear(byte)), byte);
        }
    }

    #[test]
    fn the_steps_are_where_mesa_has_them() {
        // The first values, in steps of 1/2048 of an octave, that are 1, 2, 3, 253, 254 and 255.
        for (step, byte) in [
            (493, 1),
            (3821, 2),
            (5231, 3),
            (26534, 253),
            (26569, 254),
            (26605, 255),
        ] {
            let at = |step: u32| f32::from_bits(BLACK_BELOW + (step << 12));
            assert_eq!(
                (from_linear(at(step - 1)), from_linear(at(step))),
                (byte - 1, byte)
            );
        }
        assert_eq!(
            [f32::NAN, -1.0, 0.0, 1.0, 2.0].map(from_linear),
            [0, 0, 0, 255, 255]
        );
    }
}
