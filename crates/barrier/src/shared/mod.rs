//! Barriers in memory that the processes of one host share.
//!
//! Unlike the other kinds of barriers, this kind waits by itself, because it needs no packets. It
//! handles members that die or leave. Processes cannot join: a new member needs a new group.

mod load;
pub(crate) mod page;

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant};

use mgn_sys::{cpu, futex, membarrier, memory, Mapping, Protection};

use crate::{Combine, Ended, Id, Lost, Misuse, WaitError};
use load::Load;
use page::{atomic, Atomic, Outcome, Page, PageWord, Seat, MEMBERS_MAX};

/// The first word of the memory. It shows that this is the memory of a barrier.
const MAGIC: u64 = u64::from_le_bytes(*b"mgnbar02");

/// The size of a cache line. Processors that write to different lines do not disturb each other.
const LINE: usize = 64;

/// The positions of the number of members, and of the code of the [`Combine`] plus one.
const COUNT: usize = 8;
const COMBINE: usize = 16;
/// A bit for each member that a process has taken.
const TAKEN: usize = 24;
/// A random number that distinguishes this memory from the memory of other groups.
const NONCE: usize = 32;
const LOST: usize = LINE;
const BELL: usize = 2 * LINE;
const SLEEPERS: usize = BELL + 8;
const VERDICTS: usize = 3 * LINE;
const MEMBERS: usize = VERDICTS + 16 * MEMBERS_MAX;

/// The time for which a member spins before it yields, and the time for which it yields before it
/// sleeps. If there are more members than processors, members do not spin, and yield for
/// `YIELD_CROWDED`.
const SPIN: Duration = Duration::from_micros(20);
const YIELD: Duration = Duration::from_micros(100);
const YIELD_CROWDED: Duration = Duration::from_millis(1);

/// The longest sleep of a member that is certain to be woken, and the longest sleep of a member
/// that is not.
const RUNG_SLEEP_MAX: Duration = Duration::from_secs(1 << 20);
const UNRUNG_SLEEP_MAX: Duration = Duration::from_millis(1);

/// The number of looks at the memory between two reads of the clock. A short pause follows each
/// look.
const STRIDE: u32 = 64;

/// The reason why there is no barrier in shared memory.
#[derive(Debug, thiserror::Error)]
pub enum SharedError {
    #[error("a barrier in shared memory has 1 to {MEMBERS_MAX} members, not {0}")]
    Count(usize),
    #[error("member {member} of a barrier of {count}: members count from 0")]
    Member { member: Id, count: usize },
    #[error("this is not the memory of a barrier of this many members")]
    Other,
    #[error("another process is member {0} already: give each process a number of its own")]
    Taken(Id),
    #[error("the members combine numbers in different ways: choose the same way for all")]
    Combine,
    #[error("there is no memory for the barrier: {0}")]
    System(#[from] io::Error),
}

/// One member of a group on one host.
#[derive(Debug)]
pub struct Shared {
    page: Arc<Memory>,
    seat: Seat,
    ended: Option<Ended>,
    is_crowded: bool,
    load: Load,
}

/// Reports to the members of a group that one of them is lost. It can be used from any thread.
#[derive(Clone, Debug)]
pub struct Reporter {
    page: Arc<Memory>,
    count: usize,
}

#[derive(Debug)]
struct Memory(Mapping);

impl Shared {
    /// Memory for a group of `count` members. The kernel frees the memory when the last descriptor
    /// is closed and the last member is gone.
    ///
    /// # Errors
    /// [`SharedError`]
    pub fn create(count: usize) -> Result<OwnedFd, SharedError> {
        if !(1..=MEMBERS_MAX).contains(&count) {
            return Err(SharedError::Count(count));
        }
        let size = MEMBERS + count * LINE;
        let fd = memory::create("mgn-barrier", size)?;
        let mapping = Mapping::new(&fd, size, Protection::ReadWrite)?;
        let mut nonce = [0; 8];
        getrandom::fill(&mut nonce).map_err(|error| io::Error::other(error.to_string()))?;
        let nonce = u64::from_ne_bytes(nonce);
        mapping.long(NONCE).store(nonce, Ordering::Relaxed);
        mapping.long(COUNT).store(count as u64, Ordering::Relaxed);
        mapping.long(0).store(MAGIC, Ordering::Release);
        Ok(fd)
    }

    /// Member `me` of the group, whose members are numbered from 0. Each member is one process, and
    /// its place can be taken only once.
    ///
    /// # Errors
    /// [`SharedError`]
    pub fn new(
        fd: impl AsFd,
        me: Id,
        count: usize,
        combine: Combine,
    ) -> Result<Shared, SharedError> {
        if !(1..=MEMBERS_MAX).contains(&count) {
            return Err(SharedError::Count(count));
        }
        if me.0 as usize >= count {
            return Err(SharedError::Member { member: me, count });
        }
        let mapping = Mapping::new(fd, MEMBERS + count * LINE, Protection::ReadWrite)?;
        mapping.populate()?;
        let word = |at| mapping.long(at).load(Ordering::Acquire);
        if word(0) != MAGIC || word(COUNT) != count as u64 {
            return Err(SharedError::Other);
        }
        // The first member chooses how numbers are combined.
        let ours = 1 + combine as u64;
        if ![0, ours].contains(&mapping.long(COMBINE).claim(ours)) {
            return Err(SharedError::Combine);
        }
        let bit = 1 << me.0;
        if mapping.long(TAKEN).or(bit, Ordering::Relaxed) & bit != 0 {
            return Err(SharedError::Taken(me));
        }
        membarrier::register();
        Ok(Shared {
            page: Arc::new(Memory(mapping)),
            seat: Seat::new(me.0 as usize, count, combine),
            ended: None,
            is_crowded: count > cpu::cores(),
            load: Load::default(),
        })
    }

    /// Arrives at the next epoch, and contributes `value`. Returns the epoch.
    ///
    /// # Errors
    /// [`Misuse`]
    #[inline]
    pub fn arrive(&mut self, value: u64) -> Result<u64, Misuse> {
        if let Some(ended) = self.ended {
            return Err(ended.into());
        }
        let epoch = self.seat.epoch;
        if self.seat.has_arrived {
            return Err(Misuse::Twice { epoch });
        }
        self.seat.arrive(&self.page.words(), value);
        Ok(epoch)
    }

    /// Arrives, and waits until all other members have arrived, too. Takes less time than a call of
    /// [`Shared::arrive`] and a call of [`Shared::wait`].
    ///
    /// # Errors
    /// [`WaitError`]. A member that has arrived already only waits.
    #[inline]
    pub fn pass(&mut self, value: u64, timeout: Option<Duration>) -> Result<u64, WaitError> {
        match self.pass_at_once(value) {
            Some(value) => Ok(value),
            None => self.wait(timeout),
        }
    }

    /// Arrives, and passes if the other members arrive within a moment. After `None`, the member
    /// has to call [`Shared::wait`].
    #[inline]
    pub(crate) fn pass_at_once(&mut self, value: u64) -> Option<u64> {
        if self.ended.is_some() || self.seat.has_arrived {
            return None;
        }
        let pauses = if self.is_crowded { 0 } else { STRIDE };
        self.seat.arrive_and_pass(&self.page.words(), value, pauses)
    }

    /// Waits until all members have arrived. Returns the combination of their numbers.
    ///
    /// # Errors
    /// [`WaitError`]
    #[inline]
    pub fn wait(&mut self, timeout: Option<Duration>) -> Result<u64, WaitError> {
        if let Some(ended) = self.ended {
            return Err(ended.into());
        }
        if !self.seat.has_arrived {
            return Err(WaitError::NotArrived);
        }
        match self.spin(timeout) {
            Some(outcome) => self.give(outcome),
            None => self.sleep(timeout),
        }
    }

    /// Leaves the group. The other members no longer wait for this member.
    ///
    /// # Errors
    /// [`Misuse`]
    pub fn leave(&mut self) -> Result<(), Misuse> {
        if let Some(ended) = self.ended {
            return Err(ended.into());
        }
        if self.seat.has_arrived {
            let epoch = self.seat.epoch;
            return Err(Misuse::Arrived { epoch });
        }
        self.seat.leave(&self.page.words());
        self.ended = Some(Ended::Left);
        Ok(())
    }

    /// A number that distinguishes this memory from the memory of other barriers.
    ///
    /// # Errors
    /// [`SharedError::System`]
    pub fn nonce(fd: impl AsFd) -> Result<u64, SharedError> {
        let mapping = Mapping::new(fd, MEMBERS, Protection::ReadWrite)?;
        Ok(mapping.long(NONCE).load(Ordering::Relaxed))
    }

    /// Whether a member takes part, as far as this member knows.
    pub fn is_member(&self, member: Id) -> bool {
        member.0 < u64::BITS && self.seat.view >> member.0 & 1 != 0
    }

    pub fn reporter(&self) -> Reporter {
        Reporter {
            page: self.page.clone(),
            count: self.count(),
        }
    }

    fn count(&self) -> usize {
        (self.page.0.len() - MEMBERS) / LINE
    }

    /// Looks at the memory and yields, as long as this is better than to sleep.
    #[inline]
    fn spin(&mut self, timeout: Option<Duration>) -> Option<Outcome> {
        // Most waits end very soon, so do not read the clock at first.
        let outcome = self.look(if self.is_crowded { 1 } else { STRIDE });
        if outcome.is_some() {
            return outcome;
        }
        self.spin_and_yield(timeout)
    }

    #[inline]
    fn look(&mut self, times: u32) -> Option<Outcome> {
        for _ in 0..times {
            let outcome = self.seat.look(&self.page.words());
            if outcome.is_some() {
                return outcome;
            }
            std::hint::spin_loop();
        }
        None
    }

    fn spin_and_yield(&mut self, timeout: Option<Duration>) -> Option<Outcome> {
        let (spin, most) = match self.is_crowded {
            true => (Duration::ZERO, YIELD_CROWDED),
            false => (SPIN, SPIN + YIELD),
        };
        let most = timeout.map_or(most, |timeout| most.min(timeout));
        let start = Instant::now();
        let may_yield = self.load.allows_yields(start);
        let mut spent = Duration::ZERO;
        while spent < most {
            let is_yielding = spent >= spin;
            if is_yielding {
                if !may_yield {
                    break;
                }
                std::thread::yield_now();
            }
            let outcome = self.look(if is_yielding { 1 } else { STRIDE });
            let before = std::mem::replace(&mut spent, start.elapsed());
            if is_yielding {
                self.load.has_yielded(spent - before, start + spent);
            }
            if outcome.is_some() {
                return outcome;
            }
        }
        None
    }

    fn sleep(&mut self, timeout: Option<Duration>) -> Result<u64, WaitError> {
        let page = self.page.clone();
        let start = Instant::now();
        loop {
            let (bell, is_rung_for) = page::announce(&page.words());
            let outcome = self.seat.look(&page.words());
            let left = timeout.map(|timeout| timeout.saturating_sub(start.elapsed()));
            if outcome.is_none() && left != Some(Duration::ZERO) {
                let longest = if is_rung_for {
                    RUNG_SLEEP_MAX
                } else {
                    UNRUNG_SLEEP_MAX
                };
                let most = left.map_or(longest, |left| left.min(longest));
                futex::wait(page.0.word(BELL), bell, most);
            }
            page::awake(&page.words());
            match outcome {
                Some(outcome) => return self.give(outcome),
                None if left == Some(Duration::ZERO) => {
                    let missing = members(self.seat.missing(&self.page.words()));
                    return Err(WaitError::TimedOut { missing });
                }
                None => {}
            }
        }
    }

    fn give(&mut self, outcome: Outcome) -> Result<u64, WaitError> {
        match outcome {
            Outcome::Passed { value, .. } => Ok(value),
            Outcome::Failed { epoch, lost } => {
                let members = members(lost);
                Err(Lost { epoch, members }.into())
            }
            Outcome::Excluded => {
                self.ended = Some(Ended::Excluded);
                Err(Ended::Excluded.into())
            }
        }
    }
}

impl Reporter {
    /// Reports that the process of a member has ended. The epoch at which the member has not
    /// arrived fails for all other members, and the member takes no part in later epochs. This has
    /// no effect if the member has left before, or if there is no such member. The process must
    /// have ended: if it still arrives, an epoch can pass for some members and fail for others.
    pub fn lost(&self, member: Id) {
        if (member.0 as usize) < self.count {
            page::lose(&self.page.words(), member.0 as usize);
        }
    }
}

fn members(mask: u64) -> Vec<Id> {
    let all = 0..MEMBERS_MAX as u32;
    all.filter(|member| mask >> member & 1 != 0)
        .map(Id)
        .collect()
}

atomic!(AtomicU32, u32);
atomic!(AtomicU64, u64);

/// The words of the memory.
struct Words<'m> {
    longs: &'m [AtomicU64],
    mapping: &'m Mapping,
}

impl Memory {
    #[inline]
    fn words(&self) -> Words<'_> {
        Words {
            longs: self.0.longs(),
            mapping: &self.0,
        }
    }
}

impl Page for Words<'_> {
    type Long = AtomicU64;
    type Word = AtomicU32;

    #[inline]
    fn long(&self, place: PageWord) -> &AtomicU64 {
        let offset = match place {
            PageWord::Lost => LOST,
            PageWord::Verdict(view) => VERDICTS + 16 * view,
            PageWord::Before(view) => VERDICTS + 16 * view + 8,
            PageWord::Arrived(member) => MEMBERS + LINE * member,
            PageWord::Value(member, parity) => MEMBERS + LINE * member + 8 + 8 * parity as usize,
            PageWord::Sleepers => SLEEPERS,
        };
        &self.longs[offset / 8]
    }

    #[inline]
    fn bell(&self) -> &AtomicU32 {
        self.mapping.word(BELL)
    }

    #[inline]
    fn light_fence() {
        membarrier::light();
    }

    fn heavy_fence() -> bool {
        membarrier::heavy()
    }

    fn wake(&self) {
        futex::wake_all(self.mapping.word(BELL));
    }
}
