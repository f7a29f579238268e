//! Lines at a PC's parallel port.

use std::io;
use std::path::Path;

use mgn_sys::parport::ParallelPort;

use super::Lines;

/// The status bits of nError, Select and PaperEnd, which are not inverted.
const FIRST: usize = 3;

/// A data pin that is set makes its open collector hold the line.
#[derive(Debug)]
pub struct Port {
    port: ParallelPort,
    data: u8,
}

impl Port {
    /// # Errors
    /// What the kernel says.
    pub fn open(path: &str) -> io::Result<Port> {
        let port = ParallelPort::claim(Path::new(path))?;
        port.write_data(0)?;
        Ok(Port { port, data: 0 })
    }
}

impl Lines for Port {
    fn hold(&mut self, line: usize, is_held: bool) -> io::Result<()> {
        let data = self.data & !(1 << line) | u8::from(is_held) << line;
        self.port.write_data(data)?;
        self.data = data;
        Ok(())
    }

    fn is_high(&mut self, line: usize) -> io::Result<bool> {
        Ok(self.port.read_status()? >> (FIRST + line) & 1 != 0)
    }
}

impl Drop for Port {
    fn drop(&mut self) {
        // The pins would keep their level after the program.
        let _ = self.port.write_data(0);
    }
}
