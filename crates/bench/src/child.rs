//! Programs that are run for a limited time.

use std::fmt;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{mpsc, Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{bail, Context, Result};
use rustix::event::{poll, PollFd, PollFlags};
use rustix::process::{
    kill_process_group, pidfd_open, waitid, Pid, PidfdFlags, Signal, WaitId, WaitIdOptions,
};

/// The command of `mgn` for a process that takes part in a measurement.
pub const PART: &str = "bench-part";

/// A program that has ended.
#[derive(Debug)]
pub struct FinishedProgram {
    pub status: ExitStatus,
    pub stdout: String,
    pub stderr: String,
    /// CPU seconds of the program and of those of its children that it has waited for.
    pub cpu: f64,
}

/// A program that was ended because it took too long.
#[derive(Debug)]
pub struct TimedOut {
    name: String,
    limit: Duration,
}

impl fmt::Display for TimedOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.limit.as_secs_f64();
        write!(f, "{} did not end within {seconds} s", self.name)
    }
}

impl std::error::Error for TimedOut {}

/// How long a program may take to end after a signal.
const GRACE_PERIOD: Duration = Duration::from_secs(2);

/// Set when this process gets a signal to end. The current measurement is then abandoned.
static INTERRUPTED: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// From now on, SIGINT and SIGTERM end the programs that are run here and abandon the current
/// measurement. A second signal ends this process at once.
pub fn handle_signals() -> Result<()> {
    use signal_hook::consts::{SIGINT, SIGTERM};
    let flag = INTERRUPTED.get_or_init(Default::default);
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register_conditional_shutdown(signal, 130, flag.clone())?;
        signal_hook::flag::register(signal, flag.clone())?;
    }
    Ok(())
}

/// Whether this process got a signal to end.
pub fn is_interrupted() -> bool {
    let flag = INTERRUPTED.get();
    flag.is_some_and(|flag| flag.load(Ordering::Relaxed))
}

/// Runs a program to its end, and reads its output. Ends it and its process group after `limit`.
pub fn output(command: &mut Command, limit: Duration) -> Result<FinishedProgram> {
    let name = command.get_program().to_string_lossy().into_owned();
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    wait(start(command)?, &name, limit)
}

/// Starts a program as the leader of a process group. It is ended when this process ends.
pub fn start(command: &mut Command) -> Result<Child> {
    mgn_sys::process::end_with_us(command);
    command.stdin(Stdio::null()).process_group(0);
    let started = command.spawn();
    started.with_context(|| format!("cannot run {}", command.get_program().to_string_lossy()))
}

/// As [`output`], for a program that was [started](start).
pub fn wait(mut child: Child, name: &str, limit: Duration) -> Result<FinishedProgram> {
    let stdout = reader(child.stdout.take());
    let stderr = reader(child.stderr.take());
    let pid = Pid::from_child(&child);
    let deadline = Instant::now() + limit;
    let is_late = !ends(pid, deadline);
    if is_late {
        let _ = kill_process_group(pid, Signal::TERM);
        let deadline = Instant::now() + GRACE_PERIOD;
        while !has_ended(pid) && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(10));
        }
        let _ = kill_process_group(pid, Signal::KILL);
    }
    let cpu = cpu(child.id());
    let status = child.wait()?;
    let [stdout, stderr] = [stdout, stderr].map(text);
    if is_interrupted() {
        bail!("interrupted");
    }
    if is_late {
        let name = name.to_string();
        return Err(TimedOut { name, limit }.into());
    }
    Ok(FinishedProgram {
        status,
        stdout,
        stderr,
        cpu,
    })
}

impl FinishedProgram {
    /// The program itself if it succeeded; otherwise an error with the last line of its output.
    pub fn success(self, name: &str) -> Result<FinishedProgram> {
        if self.status.success() {
            return Ok(self);
        }
        let lines = self.stderr.lines().rev().chain(self.stdout.lines().rev());
        let last = lines.map(str::trim).find(|line| !line.is_empty());
        bail!(
            "{name} ended with {}: {}",
            self.status,
            last.unwrap_or("it printed nothing")
        )
    }
}

/// Waits until a child ends. Returns false if the deadline passes first, or if this process gets a
/// signal to end.
fn ends(pid: Pid, deadline: Instant) -> bool {
    // The durations of runs are measured, so the end must be noticed without delay.
    let descriptor = pidfd_open(pid, PidfdFlags::empty()).ok();
    let pause = Duration::from_millis(10);
    let limit = pause.try_into().ok();
    while !has_ended(pid) {
        if Instant::now() >= deadline || is_interrupted() {
            return false;
        }
        match &descriptor {
            // An early end of the wait does not matter.
            Some(end) => drop(poll(&mut [PollFd::new(end, PollFlags::IN)], limit.as_ref())),
            None => thread::sleep(pause),
        }
    }
    true
}

/// Whether a child has ended. Does not reap it.
fn has_ended(pid: Pid) -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    !matches!(
        waitid(WaitId::Pid(pid), options),
        Ok(None) | Err(rustix::io::Errno::INTR)
    )
}

/// Reads output in a thread of its own.
fn reader(from: Option<impl Read + Send + 'static>) -> mpsc::Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || -> Option<()> {
        let mut from = from?;
        let mut bytes = vec![0; 1 << 16];
        loop {
            let got = from.read(&mut bytes).ok().filter(|got| *got > 0)?;
            sender.send(bytes[..got].to_vec()).ok()?;
        }
    });
    receiver
}

/// The whole output, up to its end. A process that has left the group may keep the output open, so
/// the wait is limited.
fn text(receiver: mpsc::Receiver<Vec<u8>>) -> String {
    let deadline = Instant::now() + GRACE_PERIOD;
    let mut bytes = Vec::new();
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        match receiver.recv_timeout(left) {
            Ok(more) if !left.is_zero() => bytes.extend(more),
            _ => return String::from_utf8_lossy(&bytes).into_owned(),
        }
    }
}

/// User and system seconds of a process and of its children that have ended.
pub fn cpu(pid: u32) -> f64 {
    times(pid).iter().sum()
}

/// User and system seconds of this process so far.
pub fn own_cpu() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// User and system seconds of the children of this process that have ended.
pub fn cpu_of_ended() -> f64 {
    times(std::process::id()).iter().skip(2).sum()
}

/// User and system seconds of a process, then those of its children that have ended.
fn times(pid: u32) -> Vec<f64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The fields after the name in parentheses are the state, 10 others, and then these, in ticks.
    let fields = stat.rsplit(')').next().unwrap_or("").split_whitespace();
    let ticks = fields.skip(11).take(4).map(|field| field.parse().ok());
    let seconds = |ticks: f64| ticks / rustix::param::clock_ticks_per_second() as f64;
    ticks.map_while(|ticks| ticks.map(seconds)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(line: &str, limit: Duration) -> Result<FinishedProgram> {
        output(Command::new("sh").args(["-c", line]), limit)
    }

    #[test]
    fn a_hanging_program_is_ended_with_its_children() {
        let begun = Instant::now();
        let limit = Duration::from_millis(200);
        let error = shell("trap '' TERM; sleep 1000 & sleep 1000", limit).unwrap_err();
        assert!(error.to_string().contains("did not end"), "{error}");
        assert!(begun.elapsed() < Duration::from_secs(100));
    }

    #[test]
    fn processes_left_behind_are_not_waited_for() {
        let begun = Instant::now();
        let limit = Duration::from_secs(60);
        let line = "setsid sleep 1000 & echo $!; echo all >&2";
        let finished = shell(line, limit).unwrap();
        assert!(begun.elapsed() < Duration::from_secs(50));
        assert_eq!(finished.stderr, "all\n");
        let left = finished.stdout.trim().parse().ok().and_then(Pid::from_raw);
        rustix::process::kill_process(left.unwrap(), Signal::KILL).unwrap();
    }

    #[test]
    fn failures_have_a_reason() {
        let limit = Duration::from_secs(60);
        let finished = shell("echo out; echo it broke >&2; exit 3", limit).unwrap();
        assert_eq!(finished.stdout, "out\n");
        let error = finished.success("a program").unwrap_err().to_string();
        assert!(error.contains("it broke") && error.contains('3'), "{error}");
        assert!(output(&mut Command::new("/no/such/program"), limit).is_err());
    }
}
