//! The activity of the session's thread, for a thread that ends the process when a command hangs or
//! memory runs out.

use crate::control::{Cause, Limit};
use rustix::process::{getpid, kill_process, Signal};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicU8, Ordering};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

/// The interval between checks.
const CHECK_INTERVAL: Duration = Duration::from_millis(200);

/// The current work of the session's thread, and its work so far.
#[derive(Debug)]
pub(crate) struct Activity {
    now: AtomicU8,
    frames: AtomicU64,
    bytes: AtomicU64,
    /// How often the thread has begun to wait for its client.
    waits: AtomicU64,
    /// Whether times are measured. The activity changes with every message, and reading the clock
    /// takes time.
    is_timed: AtomicBool,
    began: Instant,
    /// `since` is when the current activity began, in nanoseconds from `began`. `spent` is the time
    /// of each kind of activity before, in nanoseconds.
    since: AtomicU64,
    spent: [AtomicU64; 3],
    /// The activity of the whole window, if this is one of several sessions.
    whole: Option<Arc<Activity>>,
}

impl Default for Activity {
    fn default() -> Activity {
        Activity {
            now: AtomicU8::default(),
            frames: AtomicU64::default(),
            bytes: AtomicU64::default(),
            waits: AtomicU64::default(),
            is_timed: AtomicBool::default(),
            began: Instant::now(),
            since: AtomicU64::default(),
            spent: Default::default(),
            whole: None,
        }
    }
}

/// The thread has no commands to execute.
const IDLE: u8 = 0;
const WORKING: u8 = 1;
/// The thread waits for the client to take something, for as long as the client likes.
const WAITING: u8 = 2;

impl Activity {
    /// The activity of one session of several that a thread serves. It counts this session's work;
    /// `whole` has the thread's current work.
    pub fn part_of(whole: &Arc<Activity>) -> Activity {
        Activity {
            whole: Some(whole.clone()),
            ..Activity::default()
        }
    }

    pub fn work<T>(&self, work: impl FnOnce() -> T) -> T {
        self.be(WORKING, work)
    }

    pub fn wait<T>(&self, wait: impl FnOnce() -> T) -> T {
        self.be(WAITING, wait)
    }

    fn be<T>(&self, what: u8, f: impl FnOnce() -> T) -> T {
        if let Some(whole) = &self.whole {
            return whole.be(what, f);
        }
        let before = self.turn_to(what);
        let value = f();
        self.turn_to(before);
        value
    }

    fn turn_to(&self, what: u8) -> u8 {
        if what == WAITING {
            self.waits.fetch_add(1, Ordering::Relaxed);
        }
        let before = self.now.swap(what, Ordering::Relaxed);
        if self.is_timed.load(Ordering::Relaxed) {
            let spent = self.lap();
            self.spent[usize::from(before)].fetch_add(spent, Ordering::Relaxed);
        }
        before
    }

    /// Nanoseconds since the last call.
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

    /// How long the thread has worked, and how long it has waited for commands, since
    /// [`Activity::time`] was called.
    pub fn spent(&self) -> (Duration, Duration) {
        let spent = |what: u8| {
            let spent = self.spent[usize::from(what)].load(Ordering::Relaxed);
            Duration::from_nanos(spent)
        };
        (spent(WORKING), spent(IDLE))
    }

    pub fn count_frame(&self) {
        self.whole.iter().for_each(|whole| whole.count_frame());
        self.frames.fetch_add(1, Ordering::Relaxed);
    }

    /// Bytes of commands.
    pub fn count_bytes(&self, bytes: usize) {
        self.whole.iter().for_each(|whole| whole.count_bytes(bytes));
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

    /// The number of the current wait for the client, if there is one.
    pub fn waiting(&self) -> Option<u64> {
        let is_waiting = self.now.load(Ordering::Relaxed) == WAITING;
        is_waiting.then(|| self.waits.load(Ordering::Relaxed))
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
    /// How long the client may send nothing.
    pub idle: Option<Duration>,
}

/// Watches the process from a separate thread. `farewell` gets the reason, and has a moment to send
/// it. Then the process is killed, because the driver's threads may be in any state.
pub(crate) fn watch(
    activity: Arc<Activity>,
    pulse: Arc<AtomicU64>,
    limits: Limits,
    farewell: impl FnOnce(&Cause) + Send + 'static,
) -> std::io::Result<()> {
    thread::Builder::new()
        .name("watchdog".into())
        .spawn(move || {
            let cause = wait_for_trouble(&activity, &pulse, &limits);
            end_now(|| farewell(&cause));
        })?;
    Ok(())
}

/// Ends the process after `farewell`, which tells others why.
pub(crate) fn end_now(farewell: impl FnOnce() + Send) -> ! {
    /// A client that does not take its farewell in time does not get it.
    const FAREWELL_TIMEOUT: Duration = Duration::from_millis(500);
    thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(FAREWELL_TIMEOUT);
            kill();
        });
        farewell();
        kill();
    })
}

fn kill() -> ! {
    loop {
        // Nothing else could be done if that failed.
        let _ = kill_process(getpid(), Signal::KILL);
        thread::sleep(CHECK_INTERVAL);
    }
}

fn wait_for_trouble(activity: &Activity, pulse: &AtomicU64, limits: &Limits) -> Cause {
    let mut last = (pulse.load(Ordering::Relaxed), Instant::now());
    let mut heard = (activity.drawn().1, Instant::now());
    loop {
        thread::sleep(CHECK_INTERVAL);
        let now = pulse.load(Ordering::Relaxed);
        if now != last.0 || !activity.is_working() {
            last = (now, Instant::now());
        } else if last.1.elapsed() >= limits.command {
            let seconds = limits.command.as_secs();
            let why = format!("a command has run for more than {seconds} s");
            return Cause::limit(Limit::Watchdog, why);
        }
        if let Some(used) = used_memory().filter(|used| *used > limits.memory) {
            let mib = |bytes: u64| bytes >> 20;
            let (used, most) = (mib(used), mib(limits.memory));
            let why = format!("it uses {used} MiB of memory, of {most} allowed");
            return Cause::limit(Limit::Memory, why);
        }
        let bytes = activity.drawn().1;
        if bytes != heard.0 || activity.is_working() {
            heard = (bytes, Instant::now());
        } else if let Some(idle) = limits.idle.filter(|idle| heard.1.elapsed() >= *idle) {
            let seconds = idle.as_secs();
            let why = format!(
                "the program has sent nothing for {seconds} s (--idle-timeout of the server)"
            );
            return Cause::limit(Limit::Idle, why);
        }
    }
}

/// The part of a session's memory limit that its objects may use. Beyond it, the driver is told
/// that there is no memory. Some must be left for the rest of its work, because a session that
/// exceeds its limit is ended.
pub(crate) fn left_for_storage(limit: u64) -> u64 {
    (limit - limit / 8).saturating_sub(used_memory().unwrap_or(0))
}

/// Bytes of this process that count for its limit. Pictures and commands on their way lie in memory
/// that is shared with the client, and count as well.
fn used_memory() -> Option<u64> {
    mgn_sys::process::memory(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn activities_nest() {
        let activity = Activity::default();
        activity.work(|| {
            assert!(activity.is_working());
            activity.wait(|| {
                assert!(!activity.is_working());
                assert_eq!(activity.waiting(), Some(1));
            });
            assert!(activity.is_working());
            assert_eq!(activity.waiting(), None);
            activity.wait(|| assert_eq!(activity.waiting(), Some(2)));
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
            idle: None,
        };
        let pulse = AtomicU64::new(0);
        let activity = Activity::default();
        let started = Instant::now();
        let cause = activity.work(|| wait_for_trouble(&activity, &pulse, &limits(u64::MAX)));
        assert_eq!(cause.limit, Some(Limit::Watchdog));
        assert!(started.elapsed() >= Duration::from_millis(500));
        let cause = activity.wait(|| wait_for_trouble(&activity, &pulse, &limits(1)));
        assert_eq!(cause.limit, Some(Limit::Memory));
    }

    #[test]
    fn a_client_that_sends_nothing_is_seen_and_a_command_that_takes_long_is_not() {
        let limits = |command, idle| Limits {
            command: Duration::from_millis(command),
            memory: u64::MAX,
            idle: Some(Duration::from_millis(idle)),
        };
        let pulse = AtomicU64::new(0);
        let activity = Activity::default();
        let cause = wait_for_trouble(&activity, &pulse, &limits(u64::MAX, 300));
        assert_eq!(cause.limit, Some(Limit::Idle));
        let cause = activity.wait(|| wait_for_trouble(&activity, &pulse, &limits(1, 300)));
        assert_eq!(cause.limit, Some(Limit::Idle));
        let cause = activity.work(|| wait_for_trouble(&activity, &pulse, &limits(1000, 1)));
        assert_eq!(cause.limit, Some(Limit::Watchdog));
    }
}
