//! What the session's thread does, as seen by a thread that ends the process when a command hangs or memory runs out.

use mgn_wire::{Blame, End};
use rustix::process::{getpid, kill_process, Signal};
use std::fs;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicU8, Ordering};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

/// Between looks.
const STEP: Duration = Duration::from_millis(200);

/// What the session's thread is doing now, and has done so far.
#[derive(Debug)]
pub(crate) struct Activity {
    now: AtomicU8,
    frames: AtomicU64,
    bytes: AtomicU64,
    /// Whether somebody wants to know for how long: it turns to something else with every message, and a look at the clock is not free.
    is_timed: AtomicBool,
    began: Instant,
    /// Nanoseconds from then to when it began with what it does now, and of all that it did before, by what that was.
    since: AtomicU64,
    spent: [AtomicU64; 3],
}

impl Default for Activity {
    fn default() -> Activity {
        Activity {
            now: AtomicU8::default(),
            frames: AtomicU64::default(),
            bytes: AtomicU64::default(),
            is_timed: AtomicBool::default(),
            began: Instant::now(),
            since: AtomicU64::default(),
            spent: Default::default(),
        }
    }
}

/// There are no commands.
const IDLE: u8 = 0;
const WORKING: u8 = 1;
/// For the client to take something; that may last as long as the client likes.
const WAITING: u8 = 2;

impl Activity {
    pub fn work<T>(&self, work: impl FnOnce() -> T) -> T {
        self.be(WORKING, work)
    }

    pub fn wait<T>(&self, wait: impl FnOnce() -> T) -> T {
        self.be(WAITING, wait)
    }

    fn be<T>(&self, what: u8, f: impl FnOnce() -> T) -> T {
        let before = self.turn_to(what);
        let value = f();
        self.turn_to(before);
        value
    }

    fn turn_to(&self, what: u8) -> u8 {
        let before = self.now.swap(what, Ordering::Relaxed);
        if self.is_timed.load(Ordering::Relaxed) {
            let spent = self.lap();
            self.spent[usize::from(before)].fetch_add(spent, Ordering::Relaxed);
        }
        before
    }

    /// Nanoseconds since the last time that this was asked.
    fn lap(&self) -> u64 {
        let now = self.began.elapsed().as_nanos() as u64;
        let since = self.since.swap(now, Ordering::Relaxed);
        now.saturating_sub(since)
    }

    /// Counts time from now on. Called by the session's thread.
    pub fn time(&self) {
        self.lap();
        self.is_timed.store(true, Ordering::Relaxed);
    }

    /// How long it has worked, and waited for commands, since its time is counted.
    pub fn spent(&self) -> (Duration, Duration) {
        let spent = |what: u8| {
            let spent = self.spent[usize::from(what)].load(Ordering::Relaxed);
            Duration::from_nanos(spent)
        };
        (spent(WORKING), spent(IDLE))
    }

    pub fn count_frame(&self) {
        self.frames.fetch_add(1, Ordering::Relaxed);
    }

    /// Bytes of commands.
    pub fn count_bytes(&self, bytes: usize) {
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Frames and bytes of commands so far.
    pub fn drawn(&self) -> (u64, u64) {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        (read(&self.frames), read(&self.bytes))
    }

    fn is_working(&self) -> bool {
        self.now.load(Ordering::Relaxed) == WORKING
    }

    #[cfg(test)]
    fn is_idle(&self) -> bool {
        self.now.load(Ordering::Relaxed) == IDLE
    }
}

/// Limits of a session.
pub(crate) struct Limits {
    pub command: Duration,
    pub memory: u64,
}

/// Watches the process from a thread of its own. `farewell` is told why, and has a moment to pass that on before the process is killed: threads of the
/// driver's may be in any state.
pub(crate) fn watch(
    activity: Arc<Activity>,
    pulse: Arc<AtomicU64>,
    limits: Limits,
    farewell: impl FnOnce(&End) + Send + 'static,
) -> std::io::Result<()> {
    thread::Builder::new()
        .name("watchdog".into())
        .spawn(move || {
            let why = wait_for_trouble(&activity, &pulse, &limits);
            end_now(&End::new(Blame::Limits, why), farewell);
        })?;
    Ok(())
}

/// Says why the process ends, and ends it.
pub(crate) fn end_now(end: &End, farewell: impl FnOnce(&End) + Send) -> ! {
    /// A client that does not take its farewell does not get it.
    const MOMENT: Duration = Duration::from_millis(500);
    thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(MOMENT);
            kill();
        });
        farewell(end);
        kill();
    })
}

fn kill() -> ! {
    loop {
        // Nothing else could be done if that failed.
        let _ = kill_process(getpid(), Signal::KILL);
        thread::sleep(STEP);
    }
}

fn wait_for_trouble(activity: &Activity, pulse: &AtomicU64, limits: &Limits) -> String {
    let mut last = (pulse.load(Ordering::Relaxed), Instant::now());
    loop {
        thread::sleep(STEP);
        let now = pulse.load(Ordering::Relaxed);
        if now != last.0 || !activity.is_working() {
            last = (now, Instant::now());
        } else if last.1.elapsed() >= limits.command {
            return format!(
                "a command has run for more than {} s",
                limits.command.as_secs()
            );
        }
        if let Some(used) = private_memory().filter(|used| *used > limits.memory) {
            let mib = |bytes: u64| bytes >> 20;
            return format!(
                "it uses {} MiB of memory, of {} allowed",
                mib(used),
                mib(limits.memory)
            );
        }
    }
}

/// What a session may store of the memory that it may use: beyond it the driver is told that there is none, and there must be some left for the rest of
/// its work, since a session that uses more than it may is ended.
pub(crate) fn left_for_storage(limit: u64) -> u64 {
    (limit - limit / 8).saturating_sub(private_memory().unwrap_or(0))
}

/// Resident bytes of this process that it does not share.
fn private_memory() -> Option<u64> {
    let text = fs::read_to_string("/proc/self/statm").ok()?;
    let mut pages = text
        .split_whitespace()
        .skip(1)
        .map(|n| n.parse::<u64>().unwrap_or(0));
    let (resident, shared) = (pages.next()?, pages.next()?);
    Some(resident.saturating_sub(shared) * rustix::param::page_size() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn activities_nest() {
        let activity = Activity::default();
        activity.work(|| {
            assert!(activity.is_working());
            activity.wait(|| assert!(!activity.is_working()));
            assert!(activity.is_working());
        });
        assert!(activity.is_idle());
    }

    #[test]
    fn time_is_counted_when_somebody_wants_to_know() {
        let activity = Activity::default();
        let work = || activity.work(|| thread::sleep(Duration::from_millis(1)));
        work();
        assert_eq!(activity.spent(), Default::default());
        activity.time();
        work();
        assert!(activity.spent().0 >= Duration::from_millis(1));
    }

    #[test]
    fn a_command_that_hangs_is_seen_and_one_that_waits_is_not() {
        let limits = |memory| Limits {
            command: Duration::from_millis(500),
            memory,
        };
        let pulse = AtomicU64::new(0);
        let activity = Activity::default();
        let started = Instant::now();
        let why = activity.work(|| wait_for_trouble(&activity, &pulse, &limits(u64::MAX)));
        assert!(why.contains("a command has run"));
        assert!(started.elapsed() >= Duration::from_millis(500));
        let why = activity.wait(|| wait_for_trouble(&activity, &pulse, &limits(1)));
        assert!(why.contains("memory"));
    }
}
