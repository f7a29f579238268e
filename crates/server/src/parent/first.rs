//! The first worker. It shows what the driver can do, and in which sandbox the driver opens.

use super::process::{Process, Standing};
use super::{has_ended, POLL_INTERVAL_MAX, WORKER_TIMEOUT};
use crate::error::ServerError;
use crate::options::WorkerCommand;
use crate::probe::Abilities;
use crate::sandbox::{Confined, Level, Profile};
use rustix::event::{poll, PollFd, PollFlags};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::time::Instant;

/// The abilities of a server on this machine, and the sandbox of its sessions. To find out, this
/// starts a worker that opens the driver as a server's workers do, and stops it again.
///
/// # Errors
/// One sentence on why nothing can be rendered here.
pub fn try_worker(command: &WorkerCommand) -> Result<(Abilities, Confined), ServerError> {
    let (signals, _never) = UnixStream::pair().map_err(ServerError::Spawn)?;
    let mut profile = Profile::default();
    let (_worker, abilities, confined) = start(command, &mut profile, &signals, false)?;
    Ok((*abilities, confined))
}

/// Starts the first worker in the most complete sandbox in which the driver opens, and sets the
/// level of `profile` to that sandbox.
pub(super) fn start(
    command: &WorkerCommand,
    profile: &mut Profile,
    signals: &UnixStream,
    end_with_stdin: bool,
) -> Result<(Process, Box<Abilities>, Confined), ServerError> {
    loop {
        let mut worker = Process::start(command, profile, None)?;
        match await_driver(&mut worker, signals, end_with_stdin) {
            Ok((abilities, confined)) => return Ok((worker, abilities, confined)),
            Err(NotReady::Over) => {
                return Err(ServerError::Worker("ended before it had started".into()))
            }
            // An unfamiliar driver may need more than the sandbox allows.
            Err(NotReady::Failed(why)) => profile.level = less(profile, why)?,
        }
    }
}

/// The next less strict level, for a driver that did not open at this one for the reason `why`.
fn less(profile: &Profile, why: String) -> Result<Level, ServerError> {
    match profile.level {
        Level::Full => Ok(Level::Reduced),
        Level::Reduced if profile.is_required => Err(ServerError::Sandbox(why)),
        Level::Reduced => Ok(Level::SystemCalls),
        Level::SystemCalls => Ok(Level::Open),
        Level::Open => Err(ServerError::Worker(why)),
    }
}

/// Why the first worker does not come up.
enum NotReady {
    Failed(String),
    /// The server is to end.
    Over,
}

/// Waits until the first worker has opened the driver. Returns the driver's abilities, and how the
/// worker is confined.
fn await_driver(
    first: &mut Process,
    signals: &UnixStream,
    end_with_stdin: bool,
) -> Result<(Box<Abilities>, Confined), NotReady> {
    let stdin = std::io::stdin();
    let deadline = Instant::now() + WORKER_TIMEOUT;
    loop {
        first.receive_messages();
        let ending = first.ending();
        match (&first.standing, ending) {
            (Standing::Ready(abilities, confined), None) => {
                return Ok((abilities.clone(), confined.clone()))
            }
            (Standing::Failed(why), _) => return Err(NotReady::Failed(why.clone())),
            (_, Some(ending)) => {
                return Err(NotReady::Failed(format!(
                    "the renderer did not start: its process {ending}"
                )));
            }
            _ => {}
        }
        if Instant::now() > deadline {
            return Err(NotReady::Failed(format!(
                "the renderer did not start within {} s",
                WORKER_TIMEOUT.as_secs()
            )));
        }
        let mut fds = vec![PollFd::new(signals, PollFlags::IN)];
        fds.extend(
            first
                .descriptors()
                .map(|(fd, events)| PollFd::from_borrowed_fd(fd, events)),
        );
        if end_with_stdin {
            fds.push(PollFd::from_borrowed_fd(stdin.as_fd(), PollFlags::IN));
        }
        let _ = poll(&mut fds, Some(&POLL_INTERVAL_MAX));
        let signalled = !fds[0].revents().is_empty();
        let closed = end_with_stdin
            && fds.last().is_some_and(|fd| !fd.revents().is_empty())
            && has_ended(&stdin);
        if signalled || closed {
            return Err(NotReady::Over);
        }
    }
}
