//! Runs programs until they end, within a time limit.

use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::process::{kill_process_group, Pid, Signal};

/// A program that was started. Its output is collected. When this is dropped, the program and its
/// process group are ended.
#[derive(Debug)]
pub struct Running {
    child: Child,
    stdout: Option<JoinHandle<String>>,
    stderr: Option<JoinHandle<String>>,
}

/// How a program ended.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The exit status as a shell reports it. `None` if the program was killed because its time was
    /// over.
    pub status: Option<i32>,
    pub stdout: String,
    pub stderr: String,
    pub took: Duration,
}

impl Running {
    /// # Panics
    /// If the program cannot be started.
    pub fn start(command: &mut Command) -> Running {
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .unwrap_or_else(|error| panic!("{command:?}: {error}"));
        let stdout = child.stdout.take().map(collect);
        let stderr = child.stderr.take().map(collect);
        Running {
            child,
            stdout,
            stderr,
        }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn signal(&self, signal: Signal) {
        let _ = rustix::process::kill_process(self.rustix_pid(), signal);
    }

    pub fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    /// Waits until the program ends. Ends it when `limit` is over.
    pub fn finish(mut self, limit: Duration) -> Outcome {
        let start = Instant::now();
        let mut status = None;
        while start.elapsed() < limit {
            if let Ok(Some(ended)) = self.child.try_wait() {
                status = Some(ended);
                break;
            }
            thread::sleep(Duration::from_millis(5));
        }
        let took = start.elapsed();
        self.end();
        let said = |reader: Option<JoinHandle<String>>| {
            reader.and_then(|r| r.join().ok()).unwrap_or_default()
        };
        Outcome {
            status: status.map(exit_code),
            stdout: said(self.stdout.take()),
            stderr: said(self.stderr.take()),
            took,
        }
    }

    /// Sends SIGTERM first, so that the program can end the processes that it started, and then
    /// SIGKILL.
    fn end(&mut self) {
        for (signal, grace) in [(Signal::TERM, 5000), (Signal::KILL, 1000)] {
            let deadline = Instant::now() + Duration::from_millis(grace);
            if self.has_ended() {
                break;
            }
            let _ = kill_process_group(self.rustix_pid(), signal);
            while Instant::now() < deadline && matches!(self.child.try_wait(), Ok(None)) {
                thread::sleep(Duration::from_millis(5));
            }
        }
        // Remaining processes of the group would keep the pipes open.
        let _ = kill_process_group(self.rustix_pid(), Signal::KILL);
    }

    fn rustix_pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.end();
    }
}

impl Outcome {
    /// Runs `command` to its end.
    pub fn of(command: &mut Command, limit: Duration) -> Outcome {
        Running::start(command).finish(limit)
    }

    /// A description with the exit status and the output, for the message of a failed test.
    pub fn describe(&self) -> String {
        let status = match self.status {
            Some(status) => format!("exit status {status}"),
            None => "did not end".into(),
        };
        format!(
            "{status} after {:.1?}\n{}{}",
            self.took, self.stdout, self.stderr
        )
    }
}

/// The statistics that `mgn run --stats-json` wrote to `path`.
pub(crate) fn figures(path: &Path) -> Option<serde_json::Value> {
    serde_json::from_str(&std::fs::read_to_string(path).ok()?).ok()
}

fn collect(mut pipe: impl Read + Send + 'static) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = pipe.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

fn exit_code(status: ExitStatus) -> i32 {
    mgn_launch::exit_code(status)
}
