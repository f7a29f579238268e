//! Operations that treat each channel separately, and "over" with floats.

use half::f16;
use half::slice::HalfFloatSliceExt;

use super::{nearest, Layer, LayerMut};
use crate::{Channel, Format, Operation};

/// Pixels that are merged at a time: few enough for the first-level cache.
const BLOCK: usize = 64;
const VALUES: usize = 4 * BLOCK;

pub(super) fn merge(operation: Operation, format: Format, layers: &[Layer<'_>], out: LayerMut<'_>) {
    if let Some(kind) = format.depth {
        nearest::smallest(kind, layers, out.depth);
    }
    match (out.channel, operation) {
        (Channel::U8, Operation::Max) => bytes(layers, out.color, u8::max),
        (Channel::U8, Operation::Min) => bytes(layers, out.color, u8::min),
        (Channel::U8, _) => bytes(layers, out.color, u8::saturating_add),
        (channel, Operation::Max) => {
            floats(layers, channel, out.color, |a, b| each(a, b, f32::max))
        }
        (channel, Operation::Min) => {
            floats(layers, channel, out.color, |a, b| each(a, b, f32::min))
        }
        (channel, _) => floats(layers, channel, out.color, |a, b| each(a, b, |a, b| a + b)),
    }
}

/// Blends premultiplied floats front to back.
pub(super) fn over(layers: &[Layer<'_>], channel: Channel, out: &mut [u8]) {
    floats(layers, channel, out, |sum, behind| {
        for (sum, behind) in sum.chunks_exact_mut(4).zip(behind.chunks_exact(4)) {
            let through = 1.0 - sum[3];
            for (sum, behind) in sum.iter_mut().zip(behind) {
                *sum += through * behind;
            }
        }
    });
}

fn bytes(layers: &[Layer<'_>], out: &mut [u8], merge: impl Fn(u8, u8) -> u8) {
    for (at, out) in out.chunks_mut(VALUES).enumerate() {
        let count = out.len();
        let mut parts = layers
            .iter()
            .map(|layer| &layer.color[at * VALUES..][..count]);
        match parts.next() {
            None => out.fill(0),
            Some(first) => out.copy_from_slice(first),
        }
        for part in parts {
            out.iter_mut()
                .zip(part)
                .for_each(|(out, part)| *out = merge(*out, *part));
        }
    }
}

fn each(sum: &mut [f32], values: &[f32], merge: impl Fn(f32, f32) -> f32) {
    sum.iter_mut()
        .zip(values)
        .for_each(|(sum, value)| *sum = merge(*sum, *value));
}

fn floats(
    layers: &[Layer<'_>],
    channel: Channel,
    out: &mut [u8],
    merge: impl Fn(&mut [f32], &[f32]),
) {
    let size = channel.bytes();
    for (at, out) in out.chunks_mut(VALUES * size).enumerate() {
        let count = out.len() / size;
        let (mut sum, mut values) = ([0.0; VALUES], [0.0; VALUES]);
        for (number, layer) in layers.iter().enumerate() {
            let size = layer.channel.bytes();
            let part = &layer.color[at * VALUES * size..][..count * size];
            if number == 0 {
                read(part, layer.channel, &mut sum[..count]);
            } else {
                read(part, layer.channel, &mut values[..count]);
                merge(&mut sum[..count], &values[..count]);
            }
        }
        write(&sum[..count], channel, out);
    }
}

fn read(bytes: &[u8], channel: Channel, into: &mut [f32]) {
    if channel == Channel::F16 {
        let mut halves = [f16::ZERO; VALUES];
        let halves = &mut halves[..into.len()];
        for (half, bytes) in halves.iter_mut().zip(bytes.chunks_exact(2)) {
            *half = f16::from_ne_bytes([bytes[0], bytes[1]]);
        }
        return halves.convert_to_f32_slice(into);
    }
    for (value, bytes) in into.iter_mut().zip(bytes.chunks_exact(4)) {
        *value = f32::from_ne_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    }
}

fn write(values: &[f32], channel: Channel, bytes: &mut [u8]) {
    if channel == Channel::F16 {
        let mut halves = [f16::ZERO; VALUES];
        let halves = &mut halves[..values.len()];
        halves.convert_from_f32_slice(values);
        for (half, bytes) in halves.iter().zip(bytes.chunks_exact_mut(2)) {
            bytes.copy_from_slice(&half.to_ne_bytes());
        }
        return;
    }
    for (value, bytes) in values.iter().zip(bytes.chunks_exact_mut(4)) {
        bytes.copy_from_slice(&value.to_ne_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Color;

    fn merged(operation: Operation, color: Color, pictures: &[Vec<f32>], to: Channel) -> Vec<f32> {
        let channel = color.channel();
        let encoded: Vec<Vec<u8>> = pictures
            .iter()
            .map(|picture| {
                let mut bytes = vec![0; picture.len() * channel.bytes()];
                for (values, bytes) in picture
                    .chunks(VALUES)
                    .zip(bytes.chunks_mut(VALUES * channel.bytes()))
                {
                    write(values, channel, bytes);
                }
                bytes
            })
            .collect();
        let layer = |color| Layer {
            channel,
            color,
            depth: &[],
        };
        let layers: Vec<Layer<'_>> = encoded.iter().map(|bytes| layer(&bytes[..])).collect();
        let mut bytes = vec![0; pictures[0].len() * to.bytes()];
        let out = LayerMut {
            channel: to,
            color: &mut bytes,
            depth: &mut [],
        };
        let format = Format { color, depth: None };
        super::super::merge(operation, format, &layers, out).unwrap();
        let mut values = vec![0.0; pictures[0].len()];
        for (values, bytes) in values
            .chunks_mut(VALUES)
            .zip(bytes.chunks(VALUES * to.bytes()))
        {
            read(bytes, to, values);
        }
        values
    }

    fn pictures() -> Vec<Vec<f32>> {
        let value = |seed: usize, at: usize| ((at * 7919 + seed * 104_729) % 1021) as f32 / 1024.0;
        (0..5)
            .map(|seed| (0..4 * 131).map(|at| value(seed, at)).collect())
            .collect()
    }

    #[test]
    fn floats_are_merged_channel_by_channel() {
        let pictures = pictures();
        for (operation, merge) in [
            (Operation::Max, f32::max as fn(f32, f32) -> f32),
            (Operation::Min, f32::min),
            (Operation::Add, |a, b| a + b),
        ] {
            let got = merged(operation, Color::Rgba32f, &pictures, Channel::F32);
            for (at, got) in got.iter().enumerate() {
                let want = pictures
                    .iter()
                    .map(|picture| picture[at])
                    .reduce(merge)
                    .unwrap();
                assert_eq!(*got, want, "{operation:?} {at}");
            }
        }
    }

    #[test]
    fn halves_are_summed_in_floats() {
        let pictures = pictures();
        let wide = merged(Operation::Add, Color::Rgba16f, &pictures, Channel::F32);
        let narrow = merged(Operation::Add, Color::Rgba16f, &pictures, Channel::F16);
        for (at, (wide, narrow)) in wide.iter().zip(narrow).enumerate() {
            let want: f32 = pictures.iter().map(|p| f16::from_f32(p[at]).to_f32()).sum();
            assert_eq!(*wide, want);
            assert_eq!(narrow, f16::from_f32(want).to_f32());
        }
    }

    #[test]
    fn floats_are_blended_front_to_back() {
        let front = vec![0.25, 0.0, 0.5, 0.5];
        let back = vec![1.0, 1.0, 0.0, 1.0];
        let got = merged(
            Operation::Over,
            Color::Rgba32f,
            &[front, back],
            Channel::F32,
        );
        assert_eq!(got, [0.75, 0.5, 0.5, 1.0]);
    }

    #[test]
    fn bytes_stop_at_255() {
        let format = Format {
            color: Color::Rgba8,
            depth: None,
        };
        let (one, other) = ([200u8, 1, 0, 255], [100u8, 2, 0, 255]);
        for (operation, want) in [
            (Operation::Add, [255, 3, 0, 255]),
            (Operation::Max, [200, 2, 0, 255]),
            (Operation::Min, [100, 1, 0, 255]),
        ] {
            let layer = |color| Layer {
                channel: Channel::U8,
                color,
                depth: &[],
            };
            let mut out = [0; 4];
            let into = LayerMut {
                channel: Channel::U8,
                color: &mut out,
                depth: &mut [],
            };
            super::super::merge(operation, format, &[layer(&one), layer(&other)], into).unwrap();
            assert_eq!(out, want);
        }
    }
}
