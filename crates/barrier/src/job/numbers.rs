//! The numbers of barriers that this process has open, and of those that it has closed.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::links::clear;
use super::{Joined, OpenError};

/// Closed barriers that are remembered. Others tell this process once that they have closed
/// theirs, usually at about the same time.
const CLOSED_MAX: usize = 64;

/// A barrier of one rank: one process can be several ranks of a job, in tests.
type Name = (String, u32, u16);

#[derive(Debug)]
struct Numbers {
    open: Vec<Name>,
    closed: Vec<Name>,
}

static NUMBERS: Mutex<Numbers> = Mutex::new(Numbers {
    open: Vec::new(),
    closed: Vec::new(),
});

fn numbers() -> MutexGuard<'static, Numbers> {
    NUMBERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A number that is in use until this is dropped.
#[derive(Debug)]
pub(super) struct Number(Name);

impl Number {
    pub fn take(job: &dyn Joined, number: u16) -> Result<Number, OpenError> {
        let name = (job.name().to_owned(), job.rank(), number);
        let mut numbers = numbers();
        if numbers.open.contains(&name) {
            return Err(OpenError::InUse { number });
        }
        numbers.closed.retain(|known| *known != name);
        for (theirs, rank, number) in &numbers.closed {
            if (theirs, *rank) == (&name.0, name.1) {
                clear(job, *number);
            }
        }
        numbers.open.push(name.clone());
        Ok(Number(name))
    }
}

impl Drop for Number {
    fn drop(&mut self) {
        let mut numbers = numbers();
        numbers.open.retain(|known| *known != self.0);
        if numbers.closed.len() >= CLOSED_MAX {
            numbers.closed.remove(0);
        }
        numbers.closed.push(self.0.clone());
    }
}
