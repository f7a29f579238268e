//! A PC's parallel port, through the driver ppdev.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;

/// Request numbers of linux/ppdev.h.
const GROUP: u8 = b'p';
const EXCLUSIVE: libc::Ioctl = none(0x8f);
const CLAIM: libc::Ioctl = none(0x8b);
const RELEASE: libc::Ioctl = none(0x8c);
const READ_STATUS: libc::Ioctl = read_byte(0x81);
const WRITE_DATA: libc::Ioctl = write_byte(0x86);

const fn none(number: u8) -> libc::Ioctl {
    (GROUP as libc::Ioctl) << 8 | number as libc::Ioctl
}

const fn read_byte(number: u8) -> libc::Ioctl {
    2 << 30 | 1 << 16 | none(number)
}

const fn write_byte(number: u8) -> libc::Ioctl {
    1 << 30 | 1 << 16 | none(number)
}

/// A port that no other program can use while this value exists.
#[derive(Debug)]
pub struct ParallelPort(File);

impl ParallelPort {
    /// # Errors
    /// The kernel's error: there is no such port, this user may not use it, or another program or
    /// the printer driver `lp` uses it.
    pub fn claim(path: &Path) -> io::Result<ParallelPort> {
        let file = File::options().read(true).write(true).open(path)?;
        // Without EXCLUSIVE, CLAIM waits for another program that uses the port, and also stops
        // that program.
        for command in [EXCLUSIVE, CLAIM] {
            // SAFETY: these commands have no argument.
            check(unsafe { libc::ioctl(file.as_raw_fd(), command) })?;
        }
        Ok(ParallelPort(file))
    }

    /// Sets the eight data pins.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn write_data(&self, data: u8) -> io::Result<()> {
        // SAFETY: the command reads one byte.
        check(unsafe { libc::ioctl(self.0.as_raw_fd(), WRITE_DATA, &data) })
    }

    /// The status pins: bit 3 is nError, bit 4 Select, bit 5 PaperEnd, bit 6 nAck, and bit 7 Busy,
    /// which is inverted.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn read_status(&self) -> io::Result<u8> {
        let mut status = 0_u8;
        // SAFETY: the command writes one byte.
        check(unsafe { libc::ioctl(self.0.as_raw_fd(), READ_STATUS, &mut status) })?;
        Ok(status)
    }
}

impl Drop for ParallelPort {
    fn drop(&mut self) {
        // SAFETY: this command has no argument.
        let _ = unsafe { libc::ioctl(self.0.as_raw_fd(), RELEASE) };
    }
}

fn check(result: libc::c_int) -> io::Result<()> {
    match result {
        0.. => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_port_is_refused() {
        assert!(ParallelPort::claim(Path::new("/dev/null")).is_err());
        assert!(ParallelPort::claim(Path::new("/dev/no-parport")).is_err());
    }

    /// The numbers are those that C's macros _IO, _IOR and _IOW make.
    #[test]
    fn commands_have_the_kernels_numbers() {
        let commands =
            [EXCLUSIVE, CLAIM, RELEASE, READ_STATUS, WRITE_DATA].map(|command| command as u32);
        assert_eq!(commands, [0x708f, 0x708b, 0x708c, 0x8001_7081, 0x4001_7086]);
    }
}
