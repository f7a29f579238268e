//! How long a thread spins before it sleeps, and how deadlines are counted.

use std::hint;
use std::io;
use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

use mgn_sys::cpu;
use rustix::event::{PollFd, PollFlags, Timespec};

/// The longest a thread ever spins.
pub(crate) const SPIN: Duration = Duration::from_micros(20);

/// How often a sleeping thread looks whether its peer still lives.
pub(crate) const PULSE: Duration = Duration::from_millis(100);

/// How long a busy machine is left alone, and the least time between two looks at it.
const CALM: Duration = Duration::from_millis(4);

/// How much longer than it spins a thread yields, where it does.
const YIELDING: u32 = 5;

/// The same where there are more peers than processors: only those that run can answer, and a step
/// of all of them may take that long.
const CROWDED: Duration = Duration::from_millis(1);

/// A yield that took longer let others run.
const SWITCH: Duration = Duration::from_nanos(1500);

/// Others that run for so long in one wait compute. A thread that sleeps is woken while such a one
/// runs, and one that yields is not.
const LONG: Duration = Duration::from_millis(10);

/// For how long a thread then does not yield.
const COMPUTING: Duration = Duration::from_secs(1);

/// A sleep shorter than this is one that spinning might well have saved.
const SHORT: Duration = Duration::from_micros(60);

/// Failed spins in a row before some waits go to sleep at once.
const PATIENCE: u32 = 4;

/// Decides, for one place that waits, whether to spin.
///
/// Spinning hands a message over in well under a microsecond where a sleeping thread takes 5 to 30,
/// but it takes a processor that others may need. So it is bounded to 20 us, never done on one
/// processor, and given up for more and more of the waits while it keeps failing. A spin that fails
/// while more threads want to run than there are processors, and did 4 ms before, is the last one
/// for 4 ms: those that succeed then cost nobody anything, and the others take half a percent of a
/// processor at most.
///
/// A spinner that yields does so at once on such a machine. While others run it waits for nothing:
/// only the time between counts.
#[derive(Debug)]
pub struct Spinner {
    /// How long one spin lasts at most.
    span: Duration,
    /// How long it goes on after that, leaving the processor to whoever wants it between two
    /// looks.
    yielding: Duration,
    /// Looks between two looks at the clock.
    stride: u32,
    failures: u32,
    skip: u32,
    /// When the machine was last looked at, and whether it was busy.
    looked: Option<Instant>,
    was_busy: bool,
    /// Until when it is left alone; the number of processors is looked at then.
    calm_until: Option<Instant>,
    /// Until when yielding is known to take long.
    computing_until: Option<Instant>,
    slept_at: Option<Instant>,
}

impl Default for Spinner {
    fn default() -> Spinner {
        Spinner::lasting(SPIN)
    }
}

impl Spinner {
    /// One that spins for at most `span`, which is no longer than [`SPIN`].
    pub(crate) fn lasting(span: Duration) -> Spinner {
        Spinner {
            span: span.min(SPIN),
            yielding: Duration::ZERO,
            stride: 16,
            failures: 0,
            skip: 0,
            looked: None,
            was_busy: false,
            calm_until: Some(Instant::now()),
            computing_until: None,
            slept_at: None,
        }
    }

    /// One that then yields for some times as long: whom it waits for may have been asleep itself,
    /// and takes longer to wake than anybody spins. Two that wait for each other would fall
    /// asleep in turns.
    pub(crate) fn yielding(span: Duration) -> Spinner {
        let mut spinner = Spinner::lasting(span);
        spinner.set_crowded(false);
        spinner
    }

    /// Whether it waits for some of more peers than there are processors.
    pub(crate) fn set_crowded(&mut self, crowded: bool) {
        self.yielding = match crowded {
            true => CROWDED,
            false => self.span * YIELDING,
        };
    }

    /// For conditions that take a system call to look at.
    pub(crate) fn for_calls() -> Spinner {
        Spinner {
            stride: 1,
            ..Spinner::default()
        }
    }

    /// Spins until `ready` or until it no longer pays. Says whether it was ready.
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
        if self.skip > 0 {
            self.skip -= 1;
            return false;
        }
        let start = machine.now();
        let mut now = start;
        // The time in which others had the processor.
        let mut away = Duration::ZERO;
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
                    if away > LONG {
                        self.computing_until = Some(back + COMPUTING);
                        break;
                    }
                    1
                }
            };
            for _ in 0..stride {
                hint::spin_loop();
                if ready() {
                    self.failures = 0;
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
        if self.failures >= PATIENCE {
            self.skip = 1 << (self.failures - PATIENCE).min(6);
        }
        self.look_around(machine, now);
    }

    /// After spinning has failed, and not often: whether the machine is busy.
    fn look_around(&mut self, machine: &impl Machine, now: Instant) {
        if self.looked.is_none_or(|looked| now - looked >= CALM) {
            self.looked = Some(now);
            let runnable = machine.runnable();
            let busy = runnable.is_some_and(|runnable| runnable > machine.cores());
            // A thread that wakes for a moment, as helpers do, makes no busy machine.
            self.calm_until = (busy && self.was_busy).then_some(now + CALM);
            self.was_busy = busy;
        }
    }

    /// To be called before and after a sleep: short sleeps restore confidence in spinning.
    pub fn sleeping(&mut self) {
        self.slept_at = Some(Instant::now());
    }

    pub fn woke(&mut self) {
        if self.slept_at.take().is_some_and(|at| at.elapsed() < SHORT) {
            self.failures = 0;
            self.skip = 0;
        }
    }
}

/// What spinning looks at besides its condition.
trait Machine {
    fn now(&self) -> Instant;
    fn cores(&self) -> usize;
    /// How many threads run or want to.
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

/// Waits until one of `fds` is ready. Gives how many are, 0 after `timeout`.
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

/// Waits until `socket` is ready for what is wanted. False when the deadline passes first.
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

/// The end of a wait, or none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline(Option<Instant>);

impl Deadline {
    pub(crate) fn after(timeout: Option<Duration>) -> Deadline {
        // A timeout beyond what the clock can count is none.
        Deadline(timeout.and_then(|timeout| Instant::now().checked_add(timeout)))
    }

    pub(crate) fn passed(&self) -> bool {
        self.0.is_some_and(|end| Instant::now() >= end)
    }

    /// What is left, at most `slice`.
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

    /// A machine whose clock goes on by a step each time that somebody looks at it.
    struct Simulated {
        now: Cell<Instant>,
        cores: usize,
        runnable: usize,
        yields: Cell<u32>,
    }

    const STEP: Duration = Duration::from_nanos(100);
    /// Looks of a spin that lasts as long as one may: 16 for each look at the clock.
    const ALL: u32 = 1 + 16 * (SPIN.as_nanos() / STEP.as_nanos()) as u32;

    impl Simulated {
        fn new(cores: usize, runnable: usize) -> Simulated {
            Simulated {
                // Later than when spinners are made.
                now: Cell::new(Instant::now() + COMPUTING),
                cores,
                runnable,
                yields: Cell::new(0),
            }
        }

        /// How often a spinner looks that waits in vain.
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
        }
    }

    #[test]
    fn spinning_is_bounded_and_fades() {
        let machine = Simulated::new(2, 1);
        let mut spinner = Spinner::default();
        let counts: Vec<u32> = (0..2000).map(|_| machine.looks(&mut spinner)).collect();
        // At first each spin lasts as long as it may; of those that follow, fewer and fewer do.
        assert_eq!(counts[..4], [ALL; 4]);
        assert!(counts.iter().all(|looks| [1, ALL].contains(looks)));
        let full = |counts: &[u32]| counts.iter().filter(|looks| **looks == ALL).count();
        assert_eq!(full(&counts[4..200]), 7);
        assert_eq!(full(&counts[200..]), 28);
        // One that is ready at once says nothing about those that are not.
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
        // A machine is busy that is so twice, 4 ms apart.
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
    fn deadlines() {
        assert!(!Deadline::after(None).passed());
        assert!(!Deadline::after(Some(Duration::MAX)).passed());
        assert!(Deadline::after(Some(Duration::ZERO)).passed());
        let soon = Deadline::after(Some(Duration::from_secs(1)));
        assert!(soon.left(Duration::from_secs(9)) <= Duration::from_secs(1));
        assert_eq!(soon.left(Duration::ZERO), Duration::ZERO);
    }
}
