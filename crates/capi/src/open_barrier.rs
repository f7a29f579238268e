//! A barrier of this process, and the members that were lost in its last failed pass.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use mgn_barrier::{JobBarrier, WaitError};

use crate::fault::{Code, Fault};
use crate::sync::lock;

/// How long a thread waits at a time. Between two waits, other threads can use the barrier, and the
/// thread notices that the barrier is closed.
const SLICE: Duration = Duration::from_millis(50);

pub(crate) struct OpenBarrier {
    /// `None` after the barrier is closed.
    state: Mutex<Option<State>>,
    is_closing: AtomicBool,
}

struct State {
    barrier: JobBarrier,
    /// The ranks of the members that were lost in the last failed pass.
    lost: Vec<u32>,
}

fn closed() -> Fault {
    Fault::new(Code::Closed, "the barrier has been closed")
}

impl OpenBarrier {
    pub(crate) fn new(barrier: JobBarrier) -> OpenBarrier {
        OpenBarrier {
            state: Mutex::new(Some(State {
                barrier,
                lost: Vec::new(),
            })),
            is_closing: AtomicBool::new(false),
        }
    }

    /// Calls a function that does not wait for long.
    pub(crate) fn with<T>(
        &self,
        call: impl FnOnce(&mut JobBarrier) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        if self.is_closing.load(Ordering::Acquire) {
            return Err(closed());
        }
        let mut state = lock(&self.state);
        call(&mut state.as_mut().ok_or_else(closed)?.barrier)
    }

    pub(crate) fn lost(&self) -> Result<Vec<u32>, Fault> {
        let state = lock(&self.state);
        state
            .as_ref()
            .map(|state| state.lost.clone())
            .ok_or_else(closed)
    }

    /// Arrives if there is a number, and then waits.
    pub(crate) fn wait(
        &self,
        mut number: Option<u64>,
        timeout: Option<Duration>,
    ) -> Result<u64, Fault> {
        let mut since = None;
        loop {
            if self.is_closing.load(Ordering::Acquire) {
                return Err(closed());
            }
            let left = timeout.map(|timeout| {
                let since: &mut Instant = since.get_or_insert_with(Instant::now);
                timeout.saturating_sub(since.elapsed())
            });
            let slice = Some(left.map_or(SLICE, |left| left.min(SLICE)));
            let mut state = lock(&self.state);
            let open = state.as_mut().ok_or_else(closed)?;
            let passed = match number.take() {
                Some(number) => open.barrier.pass(number, slice),
                None => open.barrier.wait(slice),
            };
            match passed {
                Err(WaitError::TimedOut { .. }) if left != Some(Duration::ZERO) => {}
                Err(WaitError::Lost(lost)) => {
                    open.lost = lost.members.iter().map(|id| id.0).collect();
                    return Err(WaitError::Lost(lost).into());
                }
                passed => return Ok(passed?),
            }
        }
    }

    /// Leaves the group. Between two slices of the wait, the barrier can be closed.
    pub(crate) fn leave(&self, timeout: Option<Duration>) -> Result<(), Fault> {
        let since = Instant::now();
        loop {
            let left = timeout.map(|timeout| timeout.saturating_sub(since.elapsed()));
            let slice = left.map_or(SLICE, |left| left.min(SLICE));
            let left_it = self.with(|barrier| Ok(barrier.leave(Some(slice))))?;
            match left_it {
                Err(WaitError::NotLeft) if left != Some(Duration::ZERO) => {}
                left_it => return Ok(left_it?),
            }
        }
    }

    /// Closes the barrier and tells the other members, even if a thread waits here.
    pub(crate) fn close(&self) {
        self.is_closing.store(true, Ordering::Release);
        let state = lock(&self.state).take();
        drop(state);
    }
}
