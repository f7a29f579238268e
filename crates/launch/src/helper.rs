//! A process of our own beside the program. It reports when it is ready, and ends when we end.

use std::io::{self, Read};
use std::os::fd::AsFd;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{poll, PollFd, PollFlags, Timespec};
use rustix::process::{kill_process, Pid, Signal};

use crate::Error;

/// How long a helper may take to end before it is killed.
const HELPER_END_TIMEOUT: Duration = Duration::from_secs(3);

/// The maximum length of the line with which a helper reports that it is ready.
const LINE_MAX: usize = 4096;

/// A child process that is ended when this is dropped.
#[derive(Debug)]
pub(crate) struct Helper {
    child: Child,
    stdout: Option<ChildStdout>,
}

/// Why a helper did not say that it is ready.
#[derive(Debug)]
pub(crate) enum NotReady {
    Ended(Option<ExitStatus>),
    TimedOut,
    Failed(io::Error),
}

impl Helper {
    /// # Errors
    /// [`Error::Spawn`].
    pub(crate) fn start(command: &mut Command) -> Result<Helper, Error> {
        let mut child = command.spawn().map_err(|source| Error::Spawn {
            program: command.get_program().into(),
            source,
        })?;
        let stdout = child.stdout.take();
        Ok(Helper { child, stdout })
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Whether the process still runs.
    pub(crate) fn alive(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// How the process ended, if it has ended.
    pub(crate) fn status(&mut self) -> io::Result<Option<ExitStatus>> {
        self.child.try_wait()
    }

    /// The first line that the process writes to its standard output, without the newline.
    pub(crate) fn first_line(&mut self, timeout: Duration) -> Result<String, NotReady> {
        let deadline = Instant::now() + timeout;
        let Some(stdout) = &mut self.stdout else {
            return Err(NotReady::Ended(None));
        };
        let mut line = Vec::new();
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() || line.len() >= LINE_MAX {
                return Err(NotReady::TimedOut);
            }
            if !readable(&*stdout, left).map_err(NotReady::Failed)? {
                continue;
            }
            let mut byte = [0];
            match stdout.read(&mut byte) {
                Ok(0) => return Err(NotReady::Ended(self.child.wait().ok())),
                Ok(_) if byte[0] == b'\n' => break,
                Ok(_) => line.push(byte[0]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(NotReady::Failed(error)),
            }
        }
        Ok(String::from_utf8_lossy(&line).into_owned())
    }

    fn signal(&self, signal: Signal) {
        if let Some(pid) = Pid::from_raw(self.child.id() as i32) {
            let _ = kill_process(pid, signal);
        }
    }

    /// Kills the process, which its exit status shows.
    pub(crate) fn kill(&self) {
        self.signal(Signal::KILL);
    }

    /// Its standard input, which the caller must close.
    pub(crate) fn take_stdin(&mut self) -> Option<ChildStdin> {
        self.child.stdin.take()
    }

    pub(crate) fn ends_within(&mut self, grace: Duration) -> bool {
        let deadline = Instant::now() + grace;
        let mut pause = Duration::from_micros(500);
        while self.alive() {
            if Instant::now() >= deadline {
                return false;
            }
            thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(20));
        }
        true
    }
}

impl Drop for Helper {
    /// Closes its input, then asks it to end, and finally kills it. A child that has not been
    /// waited for keeps its process id, so the signals reach no other process.
    fn drop(&mut self) {
        let asked = self.child.stdin.take().is_some();
        if asked && self.ends_within(HELPER_END_TIMEOUT) || !self.alive() {
            return;
        }
        self.signal(Signal::TERM);
        if !self.ends_within(HELPER_END_TIMEOUT) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

impl std::fmt::Display for NotReady {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            NotReady::Ended(Some(status)) => write!(f, "it ended with {status}"),
            NotReady::Ended(None) => write!(f, "it ended"),
            NotReady::TimedOut => write!(f, "it did not say that it is ready"),
            NotReady::Failed(error) => write!(f, "{error}"),
        }
    }
}

/// Waits until `fd` can be read. Returns false after the timeout, or if a signal arrives.
pub(crate) fn readable(fd: impl AsFd, timeout: Duration) -> io::Result<bool> {
    let mut fds = [PollFd::new(&fd, PollFlags::IN)];
    let timeout = Timespec {
        tv_sec: timeout.as_secs().try_into().unwrap_or(i64::MAX),
        tv_nsec: timeout.subsec_nanos().into(),
    };
    match poll(&mut fds, Some(&timeout)) {
        Ok(n) => Ok(n > 0),
        Err(rustix::io::Errno::INTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Stdio;

    fn shell(script: &str) -> Helper {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        Helper::start(&mut command).unwrap()
    }

    #[test]
    fn says_its_line_and_ends_when_its_input_closes() {
        let sign = std::env::temp_dir().join(format!("mgn-ends-itself-{}", std::process::id()));
        let script = "echo ready now; cat >/dev/null; echo > ";
        let mut helper = shell(&format!("{script}{}", sign.display()));
        assert_eq!(
            helper.first_line(Duration::from_secs(10)).unwrap(),
            "ready now"
        );
        assert!(helper.alive());
        drop(helper);
        // It was not killed while it did its last work.
        assert!(std::fs::remove_file(sign).is_ok());
    }

    #[test]
    fn is_ended_when_it_does_not_listen() {
        let mut helper = shell("exec sleep 1000");
        let error = helper.first_line(Duration::from_millis(20)).unwrap_err();
        assert!(matches!(error, NotReady::TimedOut));
        helper.child.stdin.take();
        let pid = Pid::from_raw(helper.pid() as i32).unwrap();
        drop(helper);
        assert!(rustix::process::test_kill_process(pid).is_err());
    }

    #[test]
    fn tells_how_it_ended() {
        let error = shell("exit 7")
            .first_line(Duration::from_secs(10))
            .unwrap_err();
        assert!(error.to_string().contains('7'), "{error}");
    }
}
