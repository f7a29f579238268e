//! A barrier over three wires, which a cluster can have in addition to its network.
//!
//! Each member can hold each line low (open drain), and a line is high when no member holds it.
//! Epoch e passes when line e mod 3 is high. At its arrival, a member first holds the line of the
//! next epoch, so that the next epoch cannot pass before the member arrives at it. Then the member
//! releases the line of the present epoch.
//!
//! The barrier needs three wires for this reason: a member that has passed an epoch may hold the
//! line of this epoch again only when all other members have seen the line high. With two lines,
//! the member would have to hold the line at its next arrival, when a slow member may still be
//! looking at it. With three lines, it holds the line one arrival later. By then it has passed an
//! epoch at which the slow member has arrived, too.
//!
//! The wires carry no other data: no numbers, and no names of missing members. If a process ends,
//! the kernel releases its GPIO lines. The other members then pass without it, and do not notice
//! its end. The pins of a parallel port keep their levels if a process is killed, and the other
//! members wait.

mod gpio;
mod port;

use std::fmt;
use std::io;
use std::time::{Duration, Instant};

pub use gpio::Gpio;
pub use port::Port;

/// The number of lines of a barrier.
pub const LINES: usize = 3;

/// Lines that all members share.
pub trait Lines: fmt::Debug + Send {
    /// Holds a line low, or releases it.
    ///
    /// # Errors
    /// The device's error.
    fn hold(&mut self, line: usize, is_held: bool) -> io::Result<()>;

    /// Whether no member holds a line.
    ///
    /// # Errors
    /// The device's error.
    fn is_high(&mut self, line: usize) -> io::Result<bool>;
}

/// One member of a barrier over wires.
#[derive(Debug)]
pub struct Wired<L: Lines> {
    lines: L,
    /// The time that a line takes until all members see its level.
    settling: Duration,
    epoch: u64,
    has_arrived: bool,
    has_left: bool,
}

impl<L: Lines> Wired<L> {
    /// Makes a member, which holds the lines of the first two epochs. No member may arrive before
    /// all members have done this.
    ///
    /// # Errors
    /// The device's error.
    pub fn new(mut lines: L, settling: Duration) -> io::Result<Wired<L>> {
        for (line, is_held) in [(0, true), (1, true), (2, false)] {
            lines.hold(line, is_held)?;
        }
        let mut wired = Wired {
            lines,
            settling,
            epoch: 0,
            has_arrived: false,
            has_left: false,
        };
        wired.settle();
        Ok(wired)
    }

    fn line(&self, ahead: u64) -> usize {
        ((self.epoch + ahead) % LINES as u64) as usize
    }

    fn settle(&mut self) {
        let since = Instant::now();
        while since.elapsed() < self.settling {
            std::hint::spin_loop();
        }
    }

    /// The epoch at which this member arrives next, or has arrived.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    pub fn has_arrived(&self) -> bool {
        self.has_arrived
    }

    pub fn has_left(&self) -> bool {
        self.has_left
    }

    /// Arrives, unless this member has arrived or left.
    ///
    /// # Errors
    /// The device's error.
    pub fn arrive(&mut self) -> io::Result<()> {
        if self.has_arrived || self.has_left {
            return Ok(());
        }
        self.lines.hold(self.line(1), true)?;
        self.settle();
        self.lines.hold(self.line(0), false)?;
        self.has_arrived = true;
        Ok(())
    }

    /// Whether all members have arrived at the epoch at which this member has arrived. If so, the
    /// next epoch begins.
    ///
    /// # Errors
    /// The device's error.
    pub fn has_passed(&mut self) -> io::Result<bool> {
        if !self.has_arrived || !self.lines.is_high(self.line(0))? {
            return Ok(false);
        }
        // The level may have been a short spike, so check it again.
        self.settle();
        if !self.lines.is_high(self.line(0))? {
            return Ok(false);
        }
        self.has_arrived = false;
        self.epoch += 1;
        Ok(true)
    }

    /// Releases all lines permanently. The other members then pass without this member.
    ///
    /// # Errors
    /// The device's error.
    pub fn leave(&mut self) -> io::Result<()> {
        self.has_left = true;
        (0..LINES).try_for_each(|line| self.lines.hold(line, false))
    }
}

impl<L: Lines + ?Sized> Lines for Box<L> {
    fn hold(&mut self, line: usize, is_held: bool) -> io::Result<()> {
        (**self).hold(line, is_held)
    }

    fn is_high(&mut self, line: usize) -> io::Result<bool> {
        (**self).is_high(line)
    }
}

/// The error for a text that does not describe lines.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} names no lines: write gpiochip0:17,27,22 (a chip and three of its lines) or parport0"
)]
pub struct UnknownLines(String);

/// The device that has the lines of a member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Device {
    /// Lines of a GPIO chip, which are wired to the same lines of the other members.
    Gpio { chip: String, lines: [u32; LINES] },
    /// A parallel port. Its data pins 0 to 2 each drive an open collector at a line, and its pins
    /// nError, Select and PaperEnd read the lines.
    Port { path: String },
}

impl std::str::FromStr for Device {
    type Err = UnknownLines;

    fn from_str(text: &str) -> Result<Device, UnknownLines> {
        let unknown = || UnknownLines(text.to_owned());
        let path = |name: &str| match name.contains('/') {
            true => name.to_owned(),
            false => format!("/dev/{name}"),
        };
        let Some((chip, lines)) = text.rsplit_once(':') else {
            let name = text.rsplit('/').next().unwrap_or(text);
            return match name.starts_with("parport") {
                true => Ok(Device::Port { path: path(text) }),
                false => Err(unknown()),
            };
        };
        let lines: Vec<u32> = lines.split(',').flat_map(str::parse).collect();
        let lines: [u32; LINES] = lines.try_into().map_err(|_| unknown())?;
        let twice = lines[0] == lines[1] || lines[1] == lines[2] || lines[0] == lines[2];
        if chip.is_empty() || twice || text.matches(',').count() != LINES - 1 {
            return Err(unknown());
        }
        Ok(Device::Gpio {
            chip: path(chip),
            lines,
        })
    }
}

impl Device {
    /// # Errors
    /// The kernel's error.
    pub fn open(&self) -> io::Result<Box<dyn Lines>> {
        Ok(match self {
            Device::Gpio { chip, lines } => Box::new(Gpio::open(chip, *lines)?),
            Device::Port { path } => Box::new(Port::open(path)?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loom::sync::atomic::{AtomicUsize, Ordering};
    use loom::sync::Arc;

    #[test]
    fn lines_have_names() {
        let gpio: Device = "gpiochip0:17,27,22".parse().unwrap();
        let chip = "/dev/gpiochip0".to_owned();
        let lines = [17, 27, 22];
        assert_eq!(gpio, Device::Gpio { chip, lines });
        let path = "/dev/parport1".to_owned();
        assert_eq!("parport1".parse(), Ok(Device::Port { path: path.clone() }));
        assert_eq!("/dev/parport1".parse(), Ok(Device::Port { path }));
        for wrong in [
            "",
            "eth0",
            "gpiochip0",
            "gpiochip0:1,2",
            "gpiochip0:1,2,2",
            "gpiochip0:1,2,x",
            ":1,2,3",
            "g:1,2,3,4",
        ] {
            assert!(wrong.parse::<Device>().is_err(), "{wrong}");
        }
        for device in [gpio, "parport0".parse().unwrap()] {
            // This machine may have such a device. A test must not use it then.
            let is_there = std::path::Path::new("/dev/gpiochip0").exists()
                || std::path::Path::new("/dev/parport0").exists();
            assert!(is_there || device.open().is_err());
        }
    }

    /// Lines that the model checker's threads share: the number of members that hold each line, and
    /// the lines that this member holds.
    #[derive(Clone, Debug)]
    struct Model(Arc<[AtomicUsize; LINES]>, [bool; LINES]);

    impl Lines for Model {
        fn hold(&mut self, line: usize, is_held: bool) -> io::Result<()> {
            if std::mem::replace(&mut self.1[line], is_held) != is_held {
                match is_held {
                    true => self.0[line].fetch_add(1, Ordering::SeqCst),
                    false => self.0[line].fetch_sub(1, Ordering::SeqCst),
                };
            }
            Ok(())
        }

        fn is_high(&mut self, line: usize) -> io::Result<bool> {
            Ok(self.0[line].load(Ordering::SeqCst) == 0)
        }
    }

    /// Tries the orders in which two members can use the lines, with at most three preemptions.
    #[test]
    fn two_members_pass_in_every_order() {
        const EPOCHS: usize = 4;
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(3);
        model.check(|| {
            let lines = Arc::new([0; LINES].map(AtomicUsize::new));
            let arrived = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
            let member = || {
                let model = Model(lines.clone(), [false; LINES]);
                Wired::new(model, Duration::ZERO).unwrap()
            };
            let run = |me: usize, mut member: Wired<Model>, arrived: Arc<[AtomicUsize; 2]>| {
                for epoch in 0..EPOCHS {
                    arrived[me].store(epoch + 1, Ordering::SeqCst);
                    member.arrive().unwrap();
                    while !member.has_passed().unwrap() {
                        loom::thread::yield_now();
                    }
                    assert!(arrived[1 - me].load(Ordering::SeqCst) > epoch, "early");
                }
            };
            // Both members hold their lines before either member arrives.
            let (one, other) = (member(), member());
            let theirs = arrived.clone();
            let thread = loom::thread::spawn(move || run(1, other, theirs));
            run(0, one, arrived);
            thread.join().unwrap();
        });
    }
}
