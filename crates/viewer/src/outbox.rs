//! The next request to a feed, for the thread that sends it. The newest request wins.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::message::Ask;

#[derive(Debug, Default)]
pub struct Outbox {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    ask: Option<Ask>,
    closed: bool,
}

impl Outbox {
    pub fn put(&self, ask: Ask) {
        self.lock().ask = Some(ask);
        self.changed.notify_one();
    }

    /// Waits for a request. None when the outbox has been closed.
    pub fn take(&self) -> Option<Ask> {
        let mut state = self.lock();
        loop {
            if state.closed {
                return None;
            }
            if let Some(ask) = state.ask.take() {
                return Some(ask);
            }
            let waited = self.changed.wait(state);
            state = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }

    pub fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_one();
    }

    pub fn is_closed(&self) -> bool {
        self.lock().closed
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
