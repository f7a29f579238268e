//! The numbers of the barriers that this process has open, and of the barriers that it has closed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::links::clear;
use super::{Joined, OpenError};

/// The maximum number of closed barriers whose late messages are removed. Each other member sends
/// one such message when it closes its barrier, usually at about the same time.
const CLOSED_MAX: usize = 64;

/// A rank of a job. In tests, one process can be several ranks.
type Rank = (String, u32);

/// The barrier numbers of one rank.
#[derive(Debug, Default)]
struct Numbers {
    open: BTreeSet<u16>,
    /// The numbers that were closed last.
    closed: Vec<u16>,
    /// All numbers that have been open, one bit each.
    used: Vec<u64>,
}

static NUMBERS: Mutex<BTreeMap<Rank, Numbers>> = Mutex::new(BTreeMap::new());

fn numbers() -> MutexGuard<'static, BTreeMap<Rank, Numbers>> {
    NUMBERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A number that is in use until this is dropped.
#[derive(Debug)]
pub(super) struct Number {
    rank: Rank,
    number: u16,
}

impl Number {
    pub fn take(job: &dyn Joined, number: u16) -> Result<Number, OpenError> {
        let rank = (job.name().to_owned(), job.rank());
        let mut all = numbers();
        let numbers = all.entry(rank.clone()).or_default();
        if numbers.open.contains(&number) {
            return Err(OpenError::InUse { number });
        }
        if numbers.is_used(number) {
            return Err(OpenError::Used { number });
        }
        // An earlier barrier with this number may have failed to open.
        numbers.closed.retain(|closed| *closed != number);
        for closed in &numbers.closed {
            clear(job, *closed);
        }
        numbers.open.insert(number);
        Ok(Number { rank, number })
    }

    /// Records that the barrier is open, so that its number is never used again.
    pub fn use_up(&mut self) {
        if let Some(numbers) = numbers().get_mut(&self.rank) {
            let (word, bit) = place(self.number);
            let words = numbers.used.len().max(word + 1);
            numbers.used.resize(words, 0);
            numbers.used[word] |= bit;
        }
    }
}

impl Drop for Number {
    fn drop(&mut self) {
        let mut all = numbers();
        let Some(numbers) = all.get_mut(&self.rank) else {
            return;
        };
        numbers.open.remove(&self.number);
        if numbers.closed.len() >= CLOSED_MAX {
            numbers.closed.remove(0);
        }
        numbers.closed.push(self.number);
    }
}

impl Numbers {
    fn is_used(&self, number: u16) -> bool {
        let (word, bit) = place(number);
        self.used.get(word).is_some_and(|word| word & bit != 0)
    }
}

/// The word and the bit of a number.
fn place(number: u16) -> (usize, u64) {
    (usize::from(number / 64), 1 << (number % 64))
}
