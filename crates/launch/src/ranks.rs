//! Several runs of one program side by side: the ranks of a job on this host.

use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};

use rustix::process::{pidfd_send_signal, Signal};

use crate::helper::{readable, Helper};
use crate::session::open_pidfd;
use crate::signals::Signals;
use crate::{exit_code, Error};

/// How long the other ranks may continue after rank 0 has ended.
const OTHERS_END_TIMEOUT: Duration = Duration::from_secs(10);
/// How long to wait for the reason why a rank was lost.
const LOSS_REASON_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a rank may take to end when it is told to.
const RANK_END_TIMEOUT: Duration = Duration::from_secs(6);
/// The interval between checks of all ranks.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// One process for each rank. Dropping this ends the processes that still run.
#[derive(Debug)]
pub struct Ranks {
    ranks: Vec<Rank>,
    signals: Signals,
    rules: Rules,
}

/// What the end of a rank means.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rules {
    /// The others draw for rank 0, which shows the picture, so they end with rank 0.
    pub are_led: bool,
    /// The exit status of a rank that has reported itself what is wrong.
    pub told: Option<i32>,
    /// The exit status of a rank that has lost another rank. The other rank's end says more.
    pub untold: Option<i32>,
}

#[derive(Debug)]
struct Rank {
    process: Helper,
    pidfd: std::os::fd::OwnedFd,
    status: Option<ExitStatus>,
}

/// How a job ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JobEnd {
    /// All ranks have ended well, or rank 0 has ended well and the others with it.
    Well,
    /// A rank did not end well, so the others were ended. Of several such ranks, this is the one
    /// whose status says most about the reason.
    Rank { rank: usize, status: i32 },
    /// A signal came, and was passed on to all ranks.
    Signal(i32),
}

impl Ranks {
    /// Starts the processes. Signals to this process are passed on to all of them.
    ///
    /// # Errors
    /// [`Error::Spawn`] and similar ones. If this fails, no process stays behind.
    pub fn start(commands: Vec<Command>, rules: Rules) -> Result<Ranks, Error> {
        let mut started = Ranks {
            ranks: Vec::new(),
            signals: Signals::new()?,
            rules,
        };
        for mut command in commands {
            let process = Helper::start(&mut command)?;
            let pidfd = open_pidfd(process.pid())?;
            started.signals.send_to(open_pidfd(process.pid())?);
            started.ranks.push(Rank {
                process,
                pidfd,
                status: None,
            });
        }
        Ok(started)
    }

    /// Waits for the end of the job.
    ///
    /// # Errors
    /// If the system does not let us wait.
    pub fn wait(mut self) -> Result<JobEnd, Error> {
        let (mut led_until, mut found_until) = (None, None);
        loop {
            self.look()?;
            let are_over = self.ranks.iter().all(|rank| rank.status.is_some());
            let now = Instant::now();
            match (self.signals.last(), self.bad()) {
                // The ranks have received the signal, and end in their own time.
                (Some(signal), _) if are_over => return Ok(JobEnd::Signal(signal)),
                (Some(_), _) => {}
                (None, Some((rank, status))) => {
                    let is_sure = Some(status) != self.rules.untold;
                    let until = *found_until.get_or_insert(now + LOSS_REASON_TIMEOUT);
                    if is_sure || are_over || now >= until {
                        return Ok(JobEnd::Rank { rank, status });
                    }
                }
                (None, None) if are_over => return Ok(JobEnd::Well),
                (None, None) => {}
            }
            let leader = self.ranks.first().filter(|_| self.rules.are_led);
            if leader.is_some_and(|rank| rank.status.is_some_and(|status| status.success())) {
                let until = *led_until.get_or_insert(now + OTHERS_END_TIMEOUT);
                if now >= until {
                    return Ok(JobEnd::Well);
                }
            }
            self.rest()?;
        }
    }

    /// The rank that did not end well and whose status says most about the reason.
    fn bad(&self) -> Option<(usize, i32)> {
        let Rules { told, untold, .. } = self.rules;
        let statuses = self
            .ranks
            .iter()
            .map(|rank| rank.status.map_or(0, exit_code));
        let bad = statuses.enumerate().filter(|(_, status)| *status != 0);
        bad.min_by_key(|(_, status)| match Some(*status) {
            status if status == untold => 2,
            status if status == told => 1,
            _ => 0,
        })
    }

    fn look(&mut self) -> Result<(), Error> {
        for rank in self.ranks.iter_mut().filter(|rank| rank.status.is_none()) {
            let status = rank.process.status();
            rank.status = status.map_err(Error::system("waiting for a rank"))?;
        }
        Ok(())
    }

    /// Waits until the first running rank ends, or for a short time.
    fn rest(&self) -> Result<(), Error> {
        let mut running = self.ranks.iter().filter(|rank| rank.status.is_none());
        if let Some(rank) = running.next() {
            readable(&rank.pidfd, POLL_INTERVAL).map_err(Error::system("waiting for a rank"))?;
        }
        Ok(())
    }
}

impl Drop for Ranks {
    fn drop(&mut self) {
        // All ranks are asked at once. Each is waited for when it is dropped.
        for rank in self.ranks.iter().filter(|rank| rank.status.is_none()) {
            let _ = pidfd_send_signal(&rank.pidfd, Signal::TERM);
        }
        let deadline = Instant::now() + RANK_END_TIMEOUT;
        for rank in &mut self.ranks {
            let left = deadline.saturating_duration_since(Instant::now());
            rank.process.ends_within(left);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranks(scripts: &[&str], are_led: bool) -> Ranks {
        let shell = |script: &&str| {
            let mut command = Command::new("sh");
            command.args(["-c", script]);
            command
        };
        let rules = Rules {
            are_led,
            told: Some(76),
            untold: Some(75),
        };
        Ranks::start(scripts.iter().map(shell).collect(), rules).unwrap()
    }

    #[test]
    fn one_end_is_the_end_of_all() {
        assert_eq!(ranks(&["true", "true"], true).wait().unwrap(), JobEnd::Well);
        let end = ranks(&["exec sleep 1000", "exit 3"], true).wait().unwrap();
        assert_eq!(end, JobEnd::Rank { rank: 1, status: 3 });
        let end = ranks(&["exec sleep 1000", "kill -9 $$"], false).wait();
        let (rank, status) = (1, 137);
        assert_eq!(end.unwrap(), JobEnd::Rank { rank, status });
    }

    #[test]
    fn the_end_that_explains_most_is_told() {
        let scripts = ["exit 75", "exit 75", "sleep 0.3; exit 9"];
        let (rank, status) = (2, 9);
        let end = ranks(&scripts, true).wait().unwrap();
        assert_eq!(end, JobEnd::Rank { rank, status });
        let end = ranks(&["exit 75", "exit 75"], true).wait().unwrap();
        assert!(matches!(end, JobEnd::Rank { status: 75, .. }));
        let end = ranks(&["exit 76", "exec sleep 1000"], true).wait();
        assert!(matches!(end.unwrap(), JobEnd::Rank { status: 76, .. }));
    }

    #[test]
    fn the_others_end_with_rank_0() {
        let started = ranks(&["true", "exec sleep 1000"], true);
        let pid = rustix::process::Pid::from_raw(started.ranks[1].process.pid() as i32);
        assert_eq!(started.wait().unwrap(), JobEnd::Well);
        assert!(rustix::process::test_kill_process(pid.unwrap()).is_err());
    }
}
