//! Copies what workers write to their standard error, such as the messages of drivers, to the
//! server's standard error.
//!
//! A client that has taken over a worker could otherwise write lines that look like the server's
//! own, and fill the disk that they are stored on. So each line begins with the worker's name, and
//! if there are too many lines, only their number is logged.

use mgn_fabric::printable;
use rustix::event::{poll, PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::ChildStderr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// The maximum length of a line in bytes. Longer lines are split.
const LINE_MAX: u64 = 1024;
/// The maximum number of lines in an interval.
const LINES_MAX: u32 = 100;
const INTERVAL: Duration = Duration::from_secs(10);
/// The pause after each read while lines are only counted. It keeps a worker that writes all the
/// time from occupying a processor in the server.
const PAUSE: Duration = Duration::from_millis(5);

/// How soon the thread notices that the worker has ended, if the pipe stays open. A worker can give
/// the pipe to another process.
const CHECK_INTERVAL: Duration = Duration::from_millis(100);
/// The number of reads from such a pipe after the worker's end.
const LAST_READS: u32 = 16;

/// A thread that copies the lines of a worker to the server's standard error. If it is dropped
/// after the worker has ended, it first writes the last lines.
#[derive(Debug)]
pub(super) struct WorkerLog {
    thread: Option<JoinHandle<()>>,
    has_ended: Arc<AtomicBool>,
}

impl WorkerLog {
    /// # Errors
    /// If the thread cannot be started.
    pub fn begin(from: ChildStderr, worker: u32) -> io::Result<WorkerLog> {
        let name = format!("worker {worker}");
        let has_ended = Arc::new(AtomicBool::new(false));
        let pipe = Pipe {
            from,
            has_ended: has_ended.clone(),
            reads_left: LAST_READS,
        };
        let copy = move || {
            let write = |line: String| {
                // If this fails, there is no other place to report it.
                let _ = writeln!(io::stderr(), "{line}");
            };
            Log::new(&name).copy(pipe, write, || thread::sleep(PAUSE), Instant::now);
        };
        let thread = thread::Builder::new().name("worker log".into()).spawn(copy);
        Ok(WorkerLog {
            thread: Some(thread?),
            has_ended,
        })
    }
}

impl Drop for WorkerLog {
    fn drop(&mut self) {
        self.has_ended.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// A worker's standard error. It ends soon after the worker, even if the pipe does not.
struct Pipe {
    from: ChildStderr,
    has_ended: Arc<AtomicBool>,
    reads_left: u32,
}

impl Read for Pipe {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let limit = Timespec::try_from(CHECK_INTERVAL).map_err(io::Error::other)?;
        loop {
            let has_ended = self.has_ended.load(Ordering::Relaxed);
            let mut fds = [PollFd::new(&self.from, PollFlags::IN)];
            let is_ready = match poll(&mut fds, Some(&limit)) {
                Err(Errno::INTR) => continue,
                ready => ready? > 0,
            };
            if has_ended && (!is_ready || self.reads_left == 0) {
                return Ok(0);
            }
            self.reads_left -= u32::from(has_ended);
            if is_ready {
                return self.from.read(into);
            }
        }
    }
}

/// The lines of one worker.
struct Log<'a> {
    name: &'a str,
    /// When the current interval began, and how many lines it has.
    since: Option<Instant>,
    lines: u32,
    left_out: u64,
}

impl Log<'_> {
    fn new(name: &str) -> Log<'_> {
        Log {
            name,
            since: None,
            lines: 0,
            left_out: 0,
        }
    }

    fn copy(
        &mut self,
        from: impl Read,
        mut write: impl FnMut(String),
        pause: impl Fn(),
        now: impl Fn() -> Instant,
    ) {
        let mut from = BufReader::with_capacity(64 << 10, from);
        let mut line = Vec::new();
        loop {
            line.clear();
            // An error ends the log, too.
            let read = (&mut from).take(LINE_MAX).read_until(b'\n', &mut line);
            if !matches!(read, Ok(1..)) {
                break;
            }
            let text = String::from_utf8_lossy(&line);
            for line in self.take(text.trim_end(), now()) {
                write(line);
            }
            if self.left_out > 0 && from.buffer().is_empty() {
                pause();
            }
        }
        if let Some(line) = self.report() {
            write(line);
        }
    }

    /// The lines to log when a line arrives.
    fn take(&mut self, line: &str, now: Instant) -> Vec<String> {
        let mut logged = Vec::new();
        if self.since.is_none_or(|since| now - since >= INTERVAL) {
            (self.since, self.lines) = (Some(now), 0);
            logged.extend(self.report());
        }
        if self.lines == LINES_MAX {
            self.left_out += 1;
            return logged;
        }
        self.lines += 1;
        let line = printable(line, LINE_MAX as usize);
        logged.push(format!("{}: {line}", self.name));
        logged
    }

    /// The line that says how many lines were not logged, if there are any.
    fn report(&mut self) -> Option<String> {
        match std::mem::take(&mut self.left_out) {
            0 => None,
            count => Some(format!("{}: {count} more lines", self.name)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::{Cell, RefCell};
    use std::process::{Command, Stdio};

    fn logged(text: &[u8], step: Duration) -> (Vec<String>, u32) {
        let (start, count) = (Instant::now(), Cell::new(0));
        let now = || {
            count.set(count.get() + 1);
            start + step * count.get()
        };
        let (lines, pauses) = (RefCell::new(Vec::new()), Cell::new(0));
        let write = |line| lines.borrow_mut().push(line);
        let pause = || pauses.set(pauses.get() + 1);
        Log::new("worker 1").copy(text, write, pause, now);
        (lines.into_inner(), pauses.get())
    }

    #[test]
    fn lines_do_not_look_like_the_servers() {
        let text = b"MESA: warning\nINFO session ended\x1b[2J\r\n\nlast, without an end";
        let (lines, pauses) = logged(text, Duration::ZERO);
        let expected = [
            "worker 1: MESA: warning",
            "worker 1: INFO session ended?[2J",
            "worker 1: ",
            "worker 1: last, without an end",
        ];
        assert_eq!((lines, pauses), (expected.map(String::from).to_vec(), 0));
    }

    #[test]
    fn a_long_line_and_other_bytes_become_lines_of_text() {
        let (lines, _) = logged(&[0xff; 2500], Duration::ZERO);
        assert_eq!(lines.len(), 3);
        assert!(lines.iter().all(|line| line.starts_with("worker 1: ")));
        assert!(lines.iter().all(|line| line.chars().count() <= 1034));
    }

    /// A hijacked worker can give the pipe to its client.
    #[test]
    fn a_pipe_that_stays_open_holds_nobody_up() {
        let mut child = Command::new("sh")
            .args(["-c", "(while sleep 0.01; do echo a >&2; done) & echo $!"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let log = WorkerLog::begin(child.stderr.take().unwrap(), child.id()).unwrap();
        let mut pid = String::new();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        output.read_line(&mut pid).unwrap();
        child.wait().unwrap();
        drop(log);
        let holder = Command::new("kill").arg(pid.trim()).status().unwrap();
        assert!(holder.success(), "the holder has ended before");
    }

    #[test]
    fn of_too_many_lines_the_number_is_logged() {
        let text = b"a\n".repeat(1_000_000);
        let (lines, pauses) = logged(&text, Duration::from_nanos(1));
        assert_eq!(lines.len(), 101);
        assert_eq!(lines[100], "worker 1: 999900 more lines");
        assert!(pauses > 10, "{pauses}");
        // A line each 0.02 s: 500 in an interval.
        let (lines, _) = logged(&b"a\n".repeat(1000), Duration::from_millis(20));
        assert_eq!(lines.len(), 2 * 101);
        assert_eq!(lines[100], "worker 1: 400 more lines");
    }
}
