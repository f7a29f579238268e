//! A barrier over wires. The members use the job's links only to open the barrier together.

use std::time::{Duration, Instant};

use mgn_sys::fork;

use super::links::Links;
use super::meeting::Group;
use super::{Joined, OpenError};
use crate::wired::{Device, Lines, Wired};
use crate::{Ended, Misuse, WaitError};

/// The time until all members see a line's level. An open drain with a pull-up of 10 kOhm rises
/// faster over some metres of cable.
const SETTLING: Duration = Duration::from_micros(5);

/// The time for which a waiting member spins, the time for which it then yields between looks, and
/// the length of its sleeps after that.
const SPIN: Duration = Duration::from_micros(100);
const YIELD: Duration = Duration::from_millis(5);
const SLEEP_INTERVAL: Duration = Duration::from_micros(200);

#[derive(Debug)]
pub(super) struct OverWires {
    wired: Wired<Box<dyn Lines>>,
    group: Group,
    /// The reason why this member could not arrive.
    failed: Option<String>,
    owner: u32,
}

impl OverWires {
    /// Opens a barrier over wires. `device` names the lines, in the text form of [`Device`].
    pub fn open(
        job: Box<dyn Joined>,
        mut group: Group,
        device: Option<&str>,
    ) -> Result<OverWires, OpenError> {
        let mut links = Links::new(job, group.number);
        let name = device.ok_or(OpenError::NoLines)?;
        let failed = |source: std::io::Error| OpenError::System {
            what: format!("no lines at {name}; check its name and its driver (gpiochip or ppdev)"),
            source,
        };
        let opened = match name.parse::<Device>() {
            Ok(device) => device
                .open()
                .and_then(|lines| Wired::new(lines, SETTLING))
                .map_err(failed),
            Err(error) => Err(error.into()),
        };
        // No member may arrive before all members hold their lines.
        let met = group.agree(&mut links, opened.is_ok());
        let wired = opened?;
        met?;
        Ok(OverWires {
            wired,
            group,
            failed: None,
            owner: fork::generation(),
        })
    }

    pub fn members(&self) -> Vec<u32> {
        let members = self.group.view.members().iter();
        members.map(|id| id.0).collect()
    }

    pub fn arrive(&mut self) -> Result<u64, Misuse> {
        let epoch = self.wired.epoch();
        if self.wired.has_left() {
            return Err(Ended::Left.into());
        }
        if self.wired.has_arrived() {
            return Err(Misuse::Twice { epoch });
        }
        // The wait reports a line that cannot be driven.
        self.failed = self.wired.arrive().err().map(|error| error.to_string());
        Ok(epoch)
    }

    pub fn wait(&mut self, timeout: Option<Duration>) -> Result<u64, WaitError> {
        if self.wired.has_left() {
            return Err(Ended::Left.into());
        }
        if let Some(why) = self.failed.take() {
            return Err(WaitError::Lines(why));
        }
        if !self.wired.has_arrived() {
            return Err(WaitError::NotArrived);
        }
        let since = Instant::now();
        loop {
            match self.wired.has_passed() {
                Ok(true) => return Ok(0),
                Ok(false) => {}
                Err(error) => return Err(WaitError::Lines(error.to_string())),
            }
            let spent = since.elapsed();
            if timeout.is_some_and(|timeout| spent >= timeout) {
                let missing = Vec::new();
                return Err(WaitError::TimedOut { missing });
            }
            match spent {
                spent if spent < SPIN => std::hint::spin_loop(),
                spent if spent < YIELD => std::thread::yield_now(),
                _ => std::thread::sleep(SLEEP_INTERVAL),
            }
        }
    }

    pub fn leave(&mut self) -> Result<(), WaitError> {
        if self.wired.has_arrived() {
            return Err(WaitError::Arrived);
        }
        let left = self.wired.leave();
        left.map_err(|error| WaitError::Lines(error.to_string()))
    }
}

impl Drop for OverWires {
    fn drop(&mut self) {
        if self.owner == fork::generation() {
            let _ = self.wired.leave();
        }
    }
}
