//! The configs that a program can choose from: the server's formats, tied to X visuals.

pub mod egl;
pub mod glx;
pub mod listed;

use mgn_wire::hello::{self, Color};

/// A default framebuffer that the server provides. Sizes are in bits; `samples` is 0 without
/// multisampling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// The server's name for it.
    pub id: u32,
    pub color: Color,
    pub alpha: u8,
    pub depth: u8,
    pub stencil: u8,
    pub samples: u8,
    pub double: bool,
    /// Whether there is an accumulation buffer, of 16 bits a channel.
    pub accum: bool,
    /// Whether the server also has a variant on which GL_FRAMEBUFFER_SRGB has an effect.
    pub has_srgb: bool,
}

impl Format {
    /// Bits of a channel of accumulation buffers.
    pub const ACCUM_CHANNEL: i32 = 16;

    /// Bits of a channel of the accumulation buffer.
    pub fn accum_bits(&self) -> i32 {
        i32::from(self.accum) * Self::ACCUM_CHANNEL
    }

    /// Bits of red, green, blue and alpha.
    pub fn channels(&self) -> [i32; 4] {
        let [red, green, blue] = self.color.bits();
        [red, green, blue, self.alpha].map(i32::from)
    }

    pub fn color_bits(&self) -> i32 {
        self.channels().iter().sum()
    }

    /// The variant on which GL_FRAMEBUFFER_SRGB has an effect; `None` if the server has none.
    pub fn with_srgb(self) -> Option<Format> {
        let id = self.id | hello::Config::SRGB;
        self.has_srgb.then_some(Format { id, ..self })
    }
}

/// The properties of an X visual that matter for configs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VisualOf {
    pub id: u32,
    pub depth: u8,
    /// X11's number: 4 is TrueColor, 5 DirectColor.
    pub class: u8,
    /// Bits of red, green and blue.
    pub bits: [u8; 3],
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The formats of a server: with and without alpha, depth, stencil and multisampling, double
    /// and single buffered.
    pub fn formats() -> Vec<Format> {
        let mut all = Vec::new();
        for samples in [0, 4] {
            for double in [true, false] {
                for alpha in [8, 0] {
                    for (depth, stencil) in [(24, 8), (24, 0), (0, 0)] {
                        all.push(Format {
                            id: all.len() as u32 + 1,
                            color: Color::Rgb8,
                            alpha,
                            depth,
                            stencil,
                            samples,
                            double,
                            accum: false,
                            has_srgb: samples == 0,
                        });
                    }
                }
            }
        }
        all
    }
}
