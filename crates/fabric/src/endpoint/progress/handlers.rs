//! Calls of the program's handlers, for messages that have been received. Handlers run without the
//! lock.

use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::PoisonError;

use super::super::engine::Bytes;
use super::super::handled::Active;
use super::super::lock::Guard;
use super::{Shared, State};

impl Shared {
    /// Calls the handlers for which messages have been received, and then leaves.
    #[inline]
    pub(super) fn leave_and_handle<'s>(&'s self, mut state: Guard<'s, State>) {
        if state.has_active() {
            drop(state);
            self.run_handlers();
            state = self.state();
        }
        self.leave(&mut state);
    }

    pub(super) fn run_handlers(&self) {
        let mut state = self.state();
        state.engine.return_credits();
        if state.is_handling {
            return;
        }
        while let Some(active) = state.engine.active.pop_front() {
            let handler = state.handlers.get(&active.handler).cloned();
            state.is_handling = true;
            drop(state);
            let (start, len, eager) = match &active.bytes {
                Bytes::Whole(bytes) => (bytes.as_ptr(), bytes.len(), 0),
                Bytes::Body(body) => (
                    body.as_ptr().expect("handlers' messages are not placed"),
                    body.len(),
                    body.len(),
                ),
            };
            let message = Active {
                from: active.from,
                tag: active.tag,
                start,
                len,
                life: std::marker::PhantomData,
            };
            let number = active.handler;
            match handler {
                Some(handler) => {
                    let mut call = handler.lock().unwrap_or_else(PoisonError::into_inner);
                    // A panic must not end this thread, because another thread may have set the
                    // handler.
                    if catch_unwind(AssertUnwindSafe(|| call(message))).is_err() {
                        tracing::error!("handler {number} has panicked");
                    }
                }
                None => {
                    tracing::warn!("a message for handler {number}, which is not set, is dropped")
                }
            }
            let from = active.from;
            drop(active);
            state = self.state();
            state.is_handling = false;
            state.engine.handled(from, eager);
            state.engine.return_credits();
        }
    }
}

impl State {
    /// Whether messages have been received whose handlers have not been called, and no thread is
    /// calling handlers.
    #[inline]
    pub(super) fn has_active(&self) -> bool {
        !self.engine.active.is_empty() && !self.is_handling
    }
}
