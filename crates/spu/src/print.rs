//! `print`: a readable trace of the stream.

use mgn_wire::{Commands, Data};
use std::fmt;
use std::io::Write;

/// Writes a line for every command, `context name(arguments)`, and passes it on. Write errors are ignored: a trace must not end a session.
pub struct Print<W: Write> {
    pub(crate) next: Box<dyn Commands>,
    pub(crate) context: u32,
    out: W,
}

impl<W: Write> Print<W> {
    pub fn new(out: W, next: Box<dyn Commands>) -> Print<W> {
        Print {
            next,
            context: 0,
            out,
        }
    }

    pub(crate) fn line(&mut self, name: &str, arguments: &[Show<'_>]) {
        let mut text = format!("{} {name}(", self.context);
        for (i, argument) in arguments.iter().enumerate() {
            use fmt::Write;
            let separator = if i > 0 { ", " } else { "" };
            let _ = write!(text, "{separator}{argument}");
        }
        let _ = writeln!(self.out, "{text})");
    }
}

/// An argument to be shown.
pub(crate) enum Show<'a> {
    Integer(i64),
    Float(f64),
    Enum(u32),
    Str(mgn_wire::Slice<'a, u8>),
    Array(usize),
    Data(Data<'a>),
    Out(u32),
}

impl From<i64> for Show<'_> {
    fn from(value: i64) -> Self {
        Show::Integer(value)
    }
}

impl From<f64> for Show<'_> {
    fn from(value: f64) -> Self {
        Show::Float(value)
    }
}

impl fmt::Display for Show<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Show::Integer(value) => write!(f, "{value}"),
            Show::Float(value) => write!(f, "{value}"),
            Show::Enum(value) => write!(f, "{value:#06x}"),
            Show::Str(text) => write!(f, "{:?}", String::from_utf8_lossy(&text.to_vec())),
            Show::Array(len) => write!(f, "[{len}]"),
            Show::Data(Data::Null) => write!(f, "null"),
            Show::Data(Data::Inline(bytes)) => write!(f, "{} bytes", bytes.len()),
            Show::Data(Data::Offset(offset)) => write!(f, "buffer+{offset}"),
            Show::Out(count) => write!(f, "out[{count}]"),
        }
    }
}
