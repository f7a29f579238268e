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
        group: Group,
        device: Option<&str>,
    ) -> Result<OverWires, OpenError> {
        let name = device.ok_or(OpenError::NoLines)?;
        let failed = |source: std::io::Error| OpenError::System {
            what: format!("no lines at {name}; check its name and its driver (gpiochip or ppdev)"),
            source,
        };
        let opened = match name.parse::<Device>() {
            Ok(device) => device.open().map_err(failed),
            Err(error) => Err(error.into()),
        };
        let hold = |lines| Wired::new(lines, SETTLING).map_err(failed);
        OverWires::meet(job, group, opened.and_then(hold))
    }

    fn meet(
        job: Box<dyn Joined>,
        mut group: Group,
        opened: Result<Wired<Box<dyn Lines>>, OpenError>,
    ) -> Result<OverWires, OpenError> {
        let mut links = Links::new(job, group.number);
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

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
    use std::sync::mpsc::{channel, Receiver, Sender};
    use std::sync::Arc;
    use std::thread;

    use mgn_fabric::job::Job;

    use super::*;
    use crate::wired::LINES;
    use crate::{Kind, Options};

    const WAIT_TIMEOUT: Option<Duration> = Some(Duration::from_secs(60));

    /// Emulated lines: the number of members that hold each of them.
    type Wires = Arc<[AtomicUsize; LINES]>;

    /// A member's access to the lines, and the lines that it holds.
    #[derive(Debug)]
    struct Emulated(Wires, [bool; LINES]);

    impl Lines for Emulated {
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

    fn open(rank: u32, name: &str, wires: &Wires) -> OverWires {
        let hosts = vec!["localhost".to_owned(); 3];
        let job = Arc::new(Job::new(name, rank, hosts).unwrap().join().unwrap());
        let options = Options {
            kind: Kind::Wired,
            ..Options::default()
        };
        let group = Group::of(&job, &options).unwrap();
        let lines: Box<dyn Lines> = Box::new(Emulated(wires.clone(), [false; LINES]));
        let wired = Wired::new(lines, SETTLING).unwrap();
        OverWires::meet(Box::new(job), group, Ok(wired)).unwrap()
    }

    /// Three members pass epochs. Then one leaves, and the others go on.
    #[test]
    fn members_pass_over_emulated_lines() {
        const EPOCHS: u64 = 100;
        let wires = Wires::default();
        let arrived = AtomicU64::new(0);
        let name = format!("wires-{}", std::process::id());
        let run = |rank: u32, looked: Option<Sender<()>>, may_close: Option<Receiver<()>>| {
            let mut member = open(rank, &name, &wires);
            assert_eq!(member.members(), [0, 1, 2]);
            assert_eq!(member.wait(WAIT_TIMEOUT), Err(WaitError::NotArrived));
            for epoch in 0..EPOCHS {
                arrived.fetch_add(1, Ordering::SeqCst);
                assert_eq!(member.arrive(), Ok(epoch));
                assert_eq!(member.arrive(), Err(Misuse::Twice { epoch }));
                assert_eq!(member.leave(), Err(WaitError::Arrived));
                assert_eq!(member.wait(WAIT_TIMEOUT), Ok(0));
                assert!(arrived.load(Ordering::SeqCst) >= 3 * (epoch + 1), "early");
            }
            if rank == 1 {
                assert_eq!(member.leave(), Ok(()));
                assert_eq!(member.arrive(), Err(Ended::Left.into()));
                assert_eq!(member.wait(WAIT_TIMEOUT), Err(Ended::Left.into()));
            } else {
                for epoch in EPOCHS..2 * EPOCHS {
                    arrived.fetch_add(1, Ordering::SeqCst);
                    assert_eq!(member.arrive(), Ok(epoch));
                    assert_eq!(member.wait(WAIT_TIMEOUT), Ok(0));
                    let count = 3 * EPOCHS + 2 * (epoch + 1 - EPOCHS);
                    assert!(arrived.load(Ordering::SeqCst) >= count, "early");
                }
            }
            if let Some(looked) = looked {
                // The wait ends without the other member.
                assert_eq!(member.arrive(), Ok(2 * EPOCHS));
                let missing = Vec::new();
                let late = member.wait(Some(Duration::from_millis(1)));
                assert_eq!(late, Err(WaitError::TimedOut { missing }));
                looked.send(()).unwrap();
                // A member that closes its barrier releases its lines.
                assert_eq!(member.wait(WAIT_TIMEOUT), Ok(0));
            } else if let Some(may_close) = may_close {
                may_close.recv().unwrap();
            }
        };
        thread::scope(|scope| {
            let (looked, may_close) = channel();
            scope.spawn(|| run(0, Some(looked), None));
            scope.spawn(|| run(1, None, None));
            scope.spawn(|| run(2, None, Some(may_close)));
        });
        assert!(wires.iter().all(|held| held.load(Ordering::SeqCst) == 0));
    }
}
