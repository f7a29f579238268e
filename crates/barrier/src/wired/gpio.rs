//! Lines of a GPIO chip, through the kernel's character device (version 2).

use std::fmt;
use std::io;

use gpiocdev::line::{Drive, Value};
use gpiocdev::Request;

use super::{Lines, LINES};

/// Three lines as open-drain outputs, whose levels can be read.
pub struct Gpio {
    request: Request,
    lines: [u32; LINES],
}

impl Gpio {
    /// # Errors
    /// The kernel's error: there is no such chip or line, this user may not use it, or another
    /// program uses it.
    pub fn open(chip: &str, lines: [u32; LINES]) -> io::Result<Gpio> {
        let mut request = Request::builder();
        request.on_chip(chip).with_consumer("mgn-barrier");
        request
            .with_lines(&lines)
            .as_output(Value::Active)
            .with_drive(Drive::OpenDrain);
        Ok(Gpio {
            request: request.request().map_err(other)?,
            lines,
        })
    }
}

impl Lines for Gpio {
    fn hold(&mut self, line: usize, is_held: bool) -> io::Result<()> {
        // An open-drain output that is active releases its line.
        let value = match is_held {
            true => Value::Inactive,
            false => Value::Active,
        };
        let set = self.request.set_value(self.lines[line], value);
        set.map(drop).map_err(other)
    }

    fn is_high(&mut self, line: usize) -> io::Result<bool> {
        let value = self.request.value(self.lines[line]).map_err(other)?;
        Ok(value == Value::Active)
    }
}

impl fmt::Debug for Gpio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut gpio = f.debug_struct("Gpio");
        gpio.field("lines", &self.lines).finish_non_exhaustive()
    }
}

fn other(error: gpiocdev::Error) -> io::Error {
    io::Error::other(error)
}
