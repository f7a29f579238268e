//! Waiting: the time for which a thread spins before it sleeps, and deadlines.

use std::hint;
use std::io;
use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

use mgn_sys::cpu;
use rustix::event::{PollFd, PollFlags, Timespec};

/// The longest time that a thread spins.
pub(crate) const SPIN: Duration = Duration::from_micros(20);

/// The interval at which a sleeping thread checks whether its peer is alive.
pub(crate) const PULSE: Duration = Duration::from_millis(100);

/// The time for which threads do not spin on a busy machine, and the shortest time between two
/// checks of the machine.
const CALM: Duration = Duration::from_millis(4);

/// The ratio between the time for which a thread yields and the time for which it spins.
const YIELDING: u32 = 5;

/// The time for which a thread yields if there are at least as many peers as processors. Only
/// running peers can answer, and one step of all peers may take this long.
const CROWDED: Duration = Duration::from_millis(1);

/// If a yield takes longer than this, other threads have run.
const SWITCH: Duration = Duration::from_nanos(1500);

/// If a yield takes longer than this, a thread that computes has run. Peers that wait yield within
/// microseconds.
const COMPUTING_SWITCH: Duration = Duration::from_millis(1);

/// The time for which computing threads may run during one wait. The kernel wakes a sleeping thread
/// while a computing thread runs, but does not give the processor back to a yielding thread.
const COMPUTING_TIME: Duration = Duration::from_millis(10);

/// The first and the longest time for which a thread then does not yield. The time doubles whenever
/// threads still compute afterwards. Peers that copy long messages look like computing threads, but
/// stop soon.
const COMPUTING_MIN: Duration = Duration::from_millis(60);
const COMPUTING_MAX: Duration = Duration::from_secs(1);

/// A longer spin might have avoided a sleep that is shorter than this.
const SHORT_WAIT: Duration = Duration::from_micros(60);

/// Failed spins in a row before some waits go to sleep at once.
const FAILED_SPINS_MAX: u32 = 4;

/// Decides whether to spin, for one place in the code that waits.
///
/// A spinning thread gets a message in well under a microsecond, and a sleeping thread in 5 to 30
/// us. But spinning takes a processor that other threads may need. So a spin lasts at most 20 us,
/// and is never done on a machine with one processor. While spins keep failing, more and more waits
/// sleep at once. The machine is busy if two checks in a row, at least 4 ms apart, find more
/// threads that want to run than processors. After a spin has failed on a busy machine, there are
/// no spins for 4 ms, so that failed spins take at most half a percent of a processor.
///
/// On a busy machine, a spinner that may yield does so at once. The time during which other threads
/// run does not count as its waiting time.
#[derive(Debug)]
pub struct Spinner {
    /// The longest duration of a spin.
    span: Duration,
    /// The time after the spin during which the thread yields the processor to other threads
    /// between two checks.
    yielding: Duration,
    is_crowded: bool,
    /// Checks of the condition between two reads of the clock.
    stride: u32,
    failures: u32,
    skip: u32,
    /// The time of the last check of the machine, and whether it was busy.
    looked: Option<Instant>,
    was_busy: bool,
    /// No spins until this time. Then the number of processors is checked again.
    calm_until: Option<Instant>,
    /// No yields until this time, because other threads compute. `computing_for` is the length of
    /// the next pause.
    computing_until: Option<Instant>,
    computing_for: Duration,
    slept_at: Option<Instant>,
}

impl Default for Spinner {
    fn default() -> Spinner {
        Spinner::lasting(SPIN)
    }
}

impl Spinner {
    /// A spinner that spins for at most `span`, limited to [`SPIN`].
    pub(crate) fn lasting(span: Duration) -> Spinner {
        Spinner {
            span: span.min(SPIN),
            yielding: Duration::ZERO,
            is_crowded: false,
            stride: 16,
            failures: 0,
            skip: 0,
            looked: None,
            was_busy: false,
            calm_until: Some(Instant::now()),
            computing_until: None,
            computing_for: COMPUTING_MIN,
            slept_at: None,
        }
    }

    /// A spinner that yields after it has spun, for [`YIELDING`] times as long. The peer may itself
    /// be asleep, and waking it takes longer than a spin. Without yields, two processes that wait
    /// for each other would fall asleep in turns.
    pub(crate) fn yielding(span: Duration) -> Spinner {
        let mut spinner = Spinner::lasting(span);
        spinner.set_crowded(false);
        spinner
    }

    /// Sets whether there are at least as many peers as processors.
    pub(crate) fn set_crowded(&mut self, crowded: bool) {
        self.is_crowded = crowded;
        self.yielding = match crowded {
            true => CROWDED,
            false => self.span * YIELDING,
        };
    }

    /// A spinner for conditions whose check takes a system call.
    pub(crate) fn for_calls() -> Spinner {
        Spinner {
            stride: 1,
            ..Spinner::default()
        }
    }

    /// Spins until `ready` returns true, or until spinning no longer pays. Returns whether it was
    /// ready.
    pub fn spin(&mut self, ready: impl FnMut() -> bool) -> bool {
        self.spin_on(&Here, ready)
    }

    fn spin_on(&mut self, machine: &impl Machine, mut ready: impl FnMut() -> bool) -> bool {
        if ready() {
            return true;
        }
        if self.span.is_zero() {
            return false;
        }
        // With at least as many peers as processors, a peer that sleeps makes all others wait for
        // its wake-up. Their spins would then fail too, and all peers would go on sleeping.
        if self.skip > 0 && !self.is_crowded {
            self.skip -= 1;
            return false;
        }
        let start = machine.now();
        let mut now = start;
        // The time for which other threads had the processor, and the part of it for computing
        // threads.
        let (mut away, mut computing) = (Duration::ZERO, Duration::ZERO);
        let (mut spinning, mut longest) = (self.span, self.span + self.yielding);
        if self.computing_until.is_some_and(|until| now < until) {
            longest = self.span;
        }
        if self.is_calm(machine, start) {
            spinning = Duration::ZERO;
            longest -= self.span;
        }
        if longest.is_zero() {
            return false;
        }
        loop {
            let spent = now - start - away;
            if spent >= longest {
                break;
            }
            let stride = match spent < spinning {
                true => self.stride,
                false => {
                    self.look_around(machine, now);
                    machine.give_way();
                    let back = machine.now();
                    let gone = back - now;
                    if gone > SWITCH {
                        away += gone;
                    }
                    if gone > COMPUTING_SWITCH {
                        computing += gone;
                    }
                    if computing > COMPUTING_TIME {
                        self.computing_until = Some(back + self.computing_for);
                        self.computing_for = (2 * self.computing_for).min(COMPUTING_MAX);
                        break;
                    }
                    1
                }
            };
            for _ in 0..stride {
                hint::spin_loop();
                if ready() {
                    self.failures = 0;
                    // Other threads have run, and none of them computed.
                    if !away.is_zero() && computing.is_zero() {
                        self.computing_for = COMPUTING_MIN;
                    }
                    return true;
                }
            }
            now = machine.now();
        }
        self.failed(machine, now);
        false
    }

    fn is_calm(&mut self, machine: &impl Machine, now: Instant) -> bool {
        if self.calm_until.is_some_and(|until| now >= until) {
            self.calm_until = (machine.cores() == 1).then_some(now + CALM);
        }
        self.calm_until.is_some()
    }

    fn failed(&mut self, machine: &impl Machine, now: Instant) {
        self.failures += 1;
        if self.failures >= FAILED_SPINS_MAX {
            self.skip = 1 << (self.failures - FAILED_SPINS_MAX).min(6);
        }
        self.look_around(machine, now);
    }

    /// Checks whether the machine is busy, after a failed spin and at most once per [`CALM`].
    fn look_around(&mut self, machine: &impl Machine, now: Instant) {
        if self.looked.is_none_or(|looked| now - looked >= CALM) {
            self.looked = Some(now);
            let runnable = machine.runnable();
            let busy = runnable.is_some_and(|runnable| runnable > machine.cores());
            // A thread that wakes only for a moment, as helpers do, does not make the machine busy.
            self.calm_until = (busy && self.was_busy).then_some(now + CALM);
            self.was_busy = busy;
        }
    }

    /// Call this before a sleep, and [`Spinner::woke`] after it. A short sleep resets the count of
    /// failed spins.
    pub fn sleeping(&mut self) {
        self.slept_at = Some(Instant::now());
    }

    pub fn woke(&mut self) {
        if self
            .slept_at
            .take()
            .is_some_and(|at| at.elapsed() < SHORT_WAIT)
        {
            self.failures = 0;
            self.skip = 0;
        }
    }
}

/// The machine, as far as a spinner depends on it.
trait Machine {
    fn now(&self) -> Instant;
    fn cores(&self) -> usize;
    /// The number of threads that run or want to run.
    fn runnable(&self) -> Option<usize>;
    fn give_way(&self);
}

struct Here;

impl Machine for Here {
    fn now(&self) -> Instant {
        Instant::now()
    }

    fn cores(&self) -> usize {
        cpu::cores()
    }

    fn runnable(&self) -> Option<usize> {
        cpu::runnable()
    }

    fn give_way(&self) {
        std::thread::yield_now();
    }
}

/// Waits until one of `fds` is ready. Returns the number of descriptors that are ready, or 0 after
/// `timeout`.
pub(crate) fn poll(fds: &mut [PollFd<'_>], timeout: Duration) -> io::Result<usize> {
    let timeout = Timespec {
        tv_sec: timeout.as_secs().min(1 << 30) as i64,
        tv_nsec: timeout.subsec_nanos().into(),
    };
    match rustix::event::poll(fds, Some(&timeout)) {
        Err(rustix::io::Errno::INTR) => Ok(0),
        other => Ok(other?),
    }
}

/// Waits until `socket` is ready for the `wanted` events. Returns false if the deadline passes
/// first.
pub(crate) fn ready(
    socket: BorrowedFd<'_>,
    wanted: PollFlags,
    deadline: &Deadline,
) -> io::Result<bool> {
    loop {
        let left = deadline.left(Duration::from_secs(60));
        if poll(&mut [PollFd::new(&socket, wanted)], left)? > 0 {
            return Ok(true);
        }
        if deadline.passed() {
            return Ok(false);
        }
    }
}

/// The time at which a wait ends, if there is one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline(Option<Instant>);

impl Deadline {
    pub(crate) fn after(timeout: Option<Duration>) -> Deadline {
        // A timeout that exceeds the range of the clock means no deadline.
        Deadline(timeout.and_then(|timeout| Instant::now().checked_add(timeout)))
    }

    pub(crate) fn passed(&self) -> bool {
        self.0.is_some_and(|end| Instant::now() >= end)
    }

    /// The remaining time, at most `slice`.
    pub(crate) fn left(&self, slice: Duration) -> Duration {
        self.0.map_or(slice, |end| {
            end.saturating_duration_since(Instant::now()).min(slice)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    /// A machine whose clock advances by one step each time it is read.
    struct Simulated {
        now: Cell<Instant>,
        cores: usize,
        runnable: usize,
        /// The time for which other threads run when this thread yields.
        away: Duration,
        yields: Cell<u32>,
    }

    const STEP: Duration = Duration::from_nanos(100);
    /// The number of checks in the longest spin: 16 for each read of the clock.
    const ALL: u32 = 1 + 16 * (SPIN.as_nanos() / STEP.as_nanos()) as u32;

    impl Simulated {
        fn new(cores: usize, runnable: usize) -> Simulated {
            Simulated {
                // The simulated time is later than the time at which spinners are made.
                now: Cell::new(Instant::now() + COMPUTING_MAX),
                cores,
                runnable,
                away: Duration::ZERO,
                yields: Cell::new(0),
            }
        }

        /// The number of checks of a spinner whose condition never becomes true.
        fn looks(&self, spinner: &mut Spinner) -> u32 {
            let mut looks = 0;
            let is_ready = spinner.spin_on(self, || {
                looks += 1;
                false
            });
            assert!(!is_ready);
            looks
        }
    }

    impl Machine for Simulated {
        fn now(&self) -> Instant {
            self.now.set(self.now.get() + STEP);
            self.now.get()
        }

        fn cores(&self) -> usize {
            self.cores
        }

        fn runnable(&self) -> Option<usize> {
            Some(self.runnable)
        }

        fn give_way(&self) {
            self.yields.set(self.yields.get() + 1);
            self.now.set(self.now.get() + self.away);
        }
    }

    #[test]
    fn spinning_is_bounded_and_fades() {
        let machine = Simulated::new(2, 1);
        let mut spinner = Spinner::default();
        let counts: Vec<u32> = (0..2000).map(|_| machine.looks(&mut spinner)).collect();
        // The first spins have full length. After that, fewer and fewer spins do.
        assert_eq!(counts[..4], [ALL; 4]);
        assert!(counts.iter().all(|looks| [1, ALL].contains(looks)));
        let full = |counts: &[u32]| counts.iter().filter(|looks| **looks == ALL).count();
        assert_eq!(full(&counts[4..200]), 7);
        assert_eq!(full(&counts[200..]), 28);
        // A condition that is true at once does not change the count of failed spins.
        assert!(spinner.spin_on(&machine, || true));
        assert_eq!(machine.looks(&mut Spinner::lasting(Duration::ZERO)), 1);
        assert_eq!(machine.yields.get(), 0);
    }

    #[test]
    fn nothing_spins_on_one_processor_or_a_busy_machine() {
        let single = Simulated::new(1, 1);
        assert_eq!(single.looks(&mut Spinner::default()), 1);
        let busy = Simulated::new(2, 5);
        let mut spinner = Spinner::default();
        // A machine counts as busy if it is busy at two checks 4 ms apart.
        assert_eq!(busy.looks(&mut spinner), ALL);
        busy.now.set(busy.now.get() + CALM);
        assert_eq!(busy.looks(&mut spinner), ALL);
        assert_eq!(busy.looks(&mut spinner), 1);
        busy.now.set(busy.now.get() + CALM);
        assert_eq!(busy.looks(&mut spinner), ALL);
    }

    #[test]
    fn one_that_yields_does_so_after_it_has_spun() {
        let machine = Simulated::new(2, 1);
        let mut spinner = Spinner::yielding(SPIN);
        assert!(machine.looks(&mut spinner) > ALL);
        let most = YIELDING * (SPIN.as_nanos() / STEP.as_nanos()) as u32;
        assert!((1..=most).contains(&machine.yields.get()));
    }

    #[test]
    fn among_many_peers_a_spinner_yields_however_often_it_has_failed() {
        let machine = Simulated::new(2, 9);
        let mut spinner = Spinner::yielding(SPIN);
        spinner.set_crowded(true);
        for _ in 0..100 {
            let before = machine.yields.get();
            machine.looks(&mut spinner);
            assert!(machine.yields.get() > before);
        }
    }

    #[test]
    fn only_threads_that_compute_end_the_yields() {
        for (away, goes_on) in [(COMPUTING_SWITCH / 4, true), (COMPUTING_SWITCH * 4, false)] {
            let machine = Simulated {
                away,
                ..Simulated::new(2, 9)
            };
            let mut spinner = Spinner::yielding(SPIN);
            spinner.set_crowded(true);
            let is_ready = spinner.spin_on(&machine, || machine.yields.get() > 1000);
            assert_eq!(is_ready, goes_on, "{away:?}");
        }
    }

    #[test]
    fn the_longer_threads_compute_the_longer_there_are_no_yields() {
        let machine = |away| Simulated {
            away,
            ..Simulated::new(2, 9)
        };
        let mut spinner = Spinner::yielding(SPIN);
        spinner.set_crowded(true);
        let pause = |spinner: &mut Spinner| {
            let busy = machine(COMPUTING_SWITCH * 4);
            // The previous pause has ended.
            spinner.computing_until = None;
            assert!(!spinner.spin_on(&busy, || busy.yields.get() > 1000));
            spinner.computing_until.unwrap() - busy.now.get()
        };
        let pauses: Vec<Duration> = (0..6).map(|_| pause(&mut spinner)).collect();
        let expected = [1, 2, 4, 8, 16, 32].map(|times| (times * COMPUTING_MIN).min(COMPUTING_MAX));
        assert_eq!(pauses, expected);
        // Other peers have only waited.
        let waiting = machine(COMPUTING_SWITCH / 4);
        spinner.computing_until = None;
        assert!(spinner.spin_on(&waiting, || waiting.yields.get() > 3));
        assert_eq!(pause(&mut spinner), COMPUTING_MIN);
    }

    #[test]
    fn deadlines() {
        assert!(!Deadline::after(None).passed());
        assert!(!Deadline::after(Some(Duration::MAX)).passed());
        assert!(Deadline::after(Some(Duration::ZERO)).passed());
        let soon = Deadline::after(Some(Duration::from_secs(1)));
        assert!(soon.left(Duration::from_secs(9)) <= Duration::from_secs(1));
        assert_eq!(soon.left(Duration::ZERO), Duration::ZERO);
    }
}
