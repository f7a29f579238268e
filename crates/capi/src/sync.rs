//! Mutexes that outlive panics.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex. A panic of an earlier holder has become the error of its call, and the data are
/// still usable.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
