//! Passes signals to this process on to the program, or to the ranks of a job.

use std::fs;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use rustix::process::{pidfd_send_signal, Signal};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::exfiltrator::origin::WithOrigin;
use signal_hook::iterator::{Handle, SignalsInfo};
use signal_hook::low_level::siginfo::{Cause, Origin};

use crate::Error;

/// Passes on the signals that we receive, from its creation until it is dropped.
#[derive(Debug)]
pub(crate) struct Signals {
    shared: Arc<Shared>,
    handle: Handle,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    /// The last signal that came; 0 before the first one.
    last: AtomicI32,
    programs: Mutex<Vec<OwnedFd>>,
}

impl Signals {
    pub(crate) fn new() -> Result<Signals, Error> {
        let caught = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]
            .into_iter()
            .filter(|&s| !is_ignored(s));
        let mut signals =
            SignalsInfo::<WithOrigin>::new(caught).map_err(Error::system("catching signals"))?;
        let shared = Arc::new(Shared::default());
        let handle = signals.handle();
        let thread = thread::Builder::new()
            .name("signals".into())
            .spawn({
                let shared = Arc::clone(&shared);
                move || signals.forever().for_each(|origin| shared.pass_on(&origin))
            })
            .map_err(Error::system("starting a thread"))?;
        Ok(Signals {
            shared,
            handle,
            thread: Some(thread),
        })
    }

    /// The last signal that came.
    pub(crate) fn last(&self) -> Option<i32> {
        Some(self.shared.last.load(Ordering::SeqCst)).filter(|&s| s != 0)
    }

    /// From now on, signals also go to the process behind `pidfd`. If a signal has come already, it
    /// is passed on at once.
    pub(crate) fn send_to(&self, pidfd: OwnedFd) {
        let mut programs = self
            .shared
            .programs
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(early) = self.last() {
            send(&pidfd, early);
        }
        programs.push(pidfd);
    }
}

impl Shared {
    fn pass_on(&self, origin: &Origin) {
        let programs = self.programs.lock().unwrap_or_else(PoisonError::into_inner);
        self.last.store(origin.signal, Ordering::SeqCst);
        // The terminal's signals come from the kernel, which has sent them to the program too.
        if origin.cause != Cause::Kernel {
            programs.iter().for_each(|pidfd| send(pidfd, origin.signal));
        }
    }
}

fn send(pidfd: &OwnedFd, signal: i32) {
    if let Some(signal) = Signal::from_named_raw(signal) {
        let _ = pidfd_send_signal(pidfd, signal);
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        self.handle.close();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Whether a signal is ignored from the start, as under nohup. It stays ignored, and the program
/// inherits this.
fn is_ignored(signal: i32) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}
