//! Lines at the parallel port of a PC.

use std::io;
use std::path::Path;

use mgn_sys::parport::ParallelPort;

use super::Lines;

/// The status bits of nError, Select and PaperEnd, which are not inverted.
const FIRST: usize = 3;

/// Lines at a parallel port. A data pin that is set makes its open collector hold the line.
#[derive(Debug)]
pub struct Port {
    port: ParallelPort,
    data: u8,
}

impl Port {
    /// # Errors
    /// The kernel's error.
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
        // Without this, the pins would keep their levels after the program ends.
        let _ = self.port.write_data(0);
    }
}
