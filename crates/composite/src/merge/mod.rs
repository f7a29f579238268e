//! Merging pixels of several pictures in one pass.

pub(crate) mod background;
mod channels;
mod nearest;
mod over;

use std::ops::Range;

use crate::{Channel, Format, Operation};

/// Pixels of one picture, as they lie in memory.
#[derive(Clone, Copy, Debug)]
pub struct Layer<'a> {
    pub channel: Channel,
    pub color: &'a [u8],
    /// Empty where the format has no depth.
    pub depth: &'a [u8],
}

/// Where the merged pixels go.
#[derive(Debug)]
pub struct LayerMut<'a> {
    pub channel: Channel,
    pub color: &'a mut [u8],
    pub depth: &'a mut [u8],
}

impl<'a> Layer<'a> {
    /// Some of the pixels.
    pub(crate) fn part(&self, pixels: &Range<usize>) -> Layer<'a> {
        let [color, depth] = parts(self.channel, self.depth.is_empty(), pixels);
        Layer {
            channel: self.channel,
            color: &self.color[color],
            depth: &self.depth[depth],
        }
    }
}

impl LayerMut<'_> {
    /// Some of the pixels.
    pub(crate) fn part(&mut self, pixels: &Range<usize>) -> LayerMut<'_> {
        let [color, depth] = parts(self.channel, self.depth.is_empty(), pixels);
        LayerMut {
            channel: self.channel,
            color: &mut self.color[color],
            depth: &mut self.depth[depth],
        }
    }
}

/// The bytes of pixels in the colours, and in the depths.
fn parts(channel: Channel, has_no_depth: bool, pixels: &Range<usize>) -> [Range<usize>; 2] {
    let depth = if has_no_depth { 0 } else { 4 };
    [channel.pixel_bytes(), depth].map(|pixel| pixels.start * pixel..pixels.end * pixel)
}

/// Why nothing was merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MergeError {
    #[error("got {len} bytes, expected {wanted} pixels of {pixel} bytes")]
    Length {
        len: usize,
        pixel: usize,
        wanted: usize,
    },
    #[error("nearest depth needs pictures with depth")]
    NoDepth,
    #[error("this format and operation do not use {channel:?} channels")]
    Channel { channel: Channel },
}

/// Merges `layers`, the first in front, into `out`. Without layers, the result is transparent
/// black, with the largest depth.
///
/// Layers may have the format's own channels or its partial ones ([`crate::Color::partial`]), and
/// so may the result. If the format has depth, the result gets the smallest depth of all layers,
/// whatever the operation.
///
/// # Errors
/// [`MergeError`]. The result is then undefined.
pub fn merge(
    operation: Operation,
    format: Format,
    layers: &[Layer<'_>],
    out: LayerMut<'_>,
) -> Result<(), MergeError> {
    let (own, partial) = (format.color.channel(), format.color.partial(operation));
    if operation == Operation::Nearest && format.depth.is_none() {
        return Err(MergeError::NoDepth);
    }
    let wanted = out.color.len() / out.channel.pixel_bytes();
    let check = |channel: Channel, color: usize, depth: usize| {
        if channel != own && channel != partial {
            return Err(MergeError::Channel { channel });
        }
        let depths = format.depth_bytes();
        for (len, pixel) in [(color, channel.pixel_bytes()), (depth, depths)] {
            if len != wanted * pixel {
                return Err(MergeError::Length { len, pixel, wanted });
            }
        }
        Ok(())
    };
    check(out.channel, out.color.len(), out.depth.len())?;
    for layer in layers {
        check(layer.channel, layer.color.len(), layer.depth.len())?;
    }
    match operation {
        Operation::Nearest => nearest::merge(format, layers, out),
        Operation::Over => over::merge(format, layers, out),
        Operation::Max | Operation::Min | Operation::Add => {
            channels::merge(operation, format, layers, out);
        }
    }
    Ok(())
}
