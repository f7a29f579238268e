//! A barrier of this process, and the members for which its last pass failed.

use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use mgn_barrier::{JobBarrier, WaitError};

use crate::sync::lock;

pub(crate) struct OpenBarrier(Mutex<State>);

pub(crate) struct State {
    pub(crate) barrier: JobBarrier,
    /// Ranks.
    pub(crate) lost: Vec<u32>,
}

impl OpenBarrier {
    pub(crate) fn new(barrier: JobBarrier) -> OpenBarrier {
        OpenBarrier(Mutex::new(State {
            barrier,
            lost: Vec::new(),
        }))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.0)
    }
}

impl State {
    pub(crate) fn wait(&mut self, timeout: Option<Duration>) -> Result<u64, WaitError> {
        let passed = self.barrier.wait(timeout);
        self.note(passed)
    }

    pub(crate) fn pass(
        &mut self,
        number: u64,
        timeout: Option<Duration>,
    ) -> Result<u64, WaitError> {
        let passed = self.barrier.pass(number, timeout);
        self.note(passed)
    }

    fn note(&mut self, passed: Result<u64, WaitError>) -> Result<u64, WaitError> {
        if let Err(WaitError::Lost(lost)) = &passed {
            self.lost = lost.members.iter().map(|id| id.0).collect();
        }
        passed
    }
}
