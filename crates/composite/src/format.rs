//! The formats of pictures, and the operations on them.

use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

/// The colours of a picture: red, green, blue and alpha, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Color {
    /// A byte for each channel; 255 is 1.
    Rgba8,
    /// Half-precision floats.
    Rgba16f,
    /// Single-precision floats.
    Rgba32f,
}

/// The depths of a picture, four bytes a pixel. A smaller depth is nearer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Depth {
    /// 32-bit integers, as OpenGL reads a depth buffer of 16, 24 or 32 bits with `GL_UNSIGNED_INT`.
    Unorm,
    /// Single-precision floats. A NaN is farther than everything else.
    Float,
}

/// The format of a picture's pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Format {
    pub color: Color,
    pub depth: Option<Depth>,
}

/// How two pixels become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// The first is blended in front of the second. Colours are premultiplied with their alpha
    /// (Porter and Duff 1984).
    Over,
    /// The pixel whose depth is smaller; the first of two with the same depth.
    Nearest,
    /// The larger value, channel by channel.
    Max,
    /// The smaller value, channel by channel.
    Min,
    /// The sum, channel by channel. Bytes stop at 255.
    Add,
}

impl Operation {
    /// In the order of the operations' numbers.
    pub(crate) const NAMES: [(Operation, &'static str); 5] = [
        (Operation::Over, "over"),
        (Operation::Nearest, "nearest"),
        (Operation::Max, "max"),
        (Operation::Min, "min"),
        (Operation::Add, "add"),
    ];
}

/// An unknown name of an operation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no operation {0:?}: use over, nearest, max, min or add")]
pub struct UnknownOperation(String);

impl Display for Operation {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut names = Operation::NAMES.into_iter();
        let name = names.find_map(|(operation, name)| (operation == *self).then_some(name));
        f.write_str(name.unwrap_or_default())
    }
}

impl FromStr for Operation {
    type Err = UnknownOperation;

    fn from_str(wanted: &str) -> Result<Operation, UnknownOperation> {
        let mut names = Operation::NAMES.into_iter();
        let found = names.find_map(|(operation, name)| (name == wanted).then_some(operation));
        found.ok_or_else(|| UnknownOperation(wanted.to_owned()))
    }
}

/// How a channel of a colour is stored while pictures are merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Channel {
    U8,
    /// 65535 is 1.
    U16,
    F16,
    F32,
}

impl Channel {
    pub const fn bytes(self) -> usize {
        match self {
            Channel::U8 => 1,
            Channel::U16 | Channel::F16 => 2,
            Channel::F32 => 4,
        }
    }

    pub const fn pixel_bytes(self) -> usize {
        4 * self.bytes()
    }
}

impl Format {
    /// Bytes of a pixel's depth.
    pub const fn depth_bytes(self) -> usize {
        match self.depth {
            Some(_) => 4,
            None => 0,
        }
    }

    /// Bytes of a pixel's colour, and of its depth.
    pub const fn pixel_bytes(self) -> [usize; 2] {
        [self.color.channel().pixel_bytes(), self.depth_bytes()]
    }
}

impl Color {
    /// The channels of the members' pictures, and of the final result.
    pub const fn channel(self) -> Channel {
        match self {
            Color::Rgba8 => Channel::U8,
            Color::Rgba16f => Channel::F16,
            Color::Rgba32f => Channel::F32,
        }
    }

    /// The channels of pictures between two rounds. For operations that round, they are wider than
    /// the picture's own, so that the result differs by at most 1 LSB from the exact one in any
    /// schedule.
    pub const fn partial(self, operation: Operation) -> Channel {
        match (self, operation) {
            (Color::Rgba8, Operation::Over) => Channel::U16,
            (Color::Rgba16f, Operation::Over | Operation::Add) => Channel::F32,
            _ => self.channel(),
        }
    }
}
