//! The numbers of barriers that this process has open, and of those that it has closed.

use std::sync::{Mutex, PoisonError};

use super::links::clear;
use super::{Joined, OpenError};

/// Closed barriers that are remembered. Others tell this process once that they have closed
/// theirs, usually at about the same time.
const CLOSED_MAX: usize = 64;

/// A barrier of one rank: one process can be several ranks of a job, in tests.
type Name = (String, u32, u16);

static OPEN: Mutex<Vec<Name>> = Mutex::new(Vec::new());
static CLOSED: Mutex<Vec<Name>> = Mutex::new(Vec::new());

/// A number that is in use until this is dropped.
#[derive(Debug)]
pub(super) struct Number(Name);

impl Number {
    pub fn take(job: &dyn Joined, number: u16) -> Result<Number, OpenError> {
        let name = (job.name().to_owned(), job.rank(), number);
        let mut closed = CLOSED.lock().unwrap_or_else(PoisonError::into_inner);
        for (theirs, rank, number) in closed.iter() {
            if (theirs.as_str(), *rank) == (job.name(), job.rank()) && *number != name.2 {
                clear(job, *number);
            }
        }
        closed.retain(|known| *known != name);
        drop(closed);
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        if open.contains(&name) {
            return Err(OpenError::InUse { number });
        }
        open.push(name.clone());
        Ok(Number(name))
    }
}

impl Drop for Number {
    fn drop(&mut self) {
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|known| *known != self.0);
        drop(open);
        let mut closed = CLOSED.lock().unwrap_or_else(PoisonError::into_inner);
        if closed.len() >= CLOSED_MAX {
            closed.remove(0);
        }
        closed.push(self.0.clone());
    }
}
