//! Turns of the sessions of one window. The thread that executes their commands waits while a
//! client takes neither answers nor pictures, and the other clients wait with it. So a client that
//! makes them wait for too long loses its session.

use crate::pictures::FramesSlot;
use crate::watchdog::Activity;
use mgn_fabric::Sender;
use mgn_wire::Fault;
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

/// The interval between checks of a wait.
const CHECK_INTERVAL: Duration = Duration::from_millis(200);

/// The session whose turn it is.
#[derive(Default)]
pub(crate) struct Turns(Mutex<Option<Turn>>);

struct Turn {
    /// The connections for the session's answers and for its pictures.
    answers: Arc<Sender>,
    slot: Arc<FramesSlot>,
    /// How long the turn has waited for its client in total. A client gains nothing by taking a
    /// little now and then.
    waited: Duration,
    /// Whether the client has taken nothing for too long.
    is_over: bool,
}

impl Turns {
    /// Watches the waits of `activity` from a separate thread. The waits of one turn may last for
    /// `most` in total.
    pub fn watch(activity: Arc<Activity>, most: Duration) -> std::io::Result<Arc<Turns>> {
        let turns = Arc::<Turns>::default();
        let watched = turns.clone();
        thread::Builder::new()
            .name("turns".into())
            .spawn(move || watched.end_long_waits(&activity, most))?;
        Ok(turns)
    }

    fn end_long_waits(&self, activity: &Activity, most: Duration) {
        let mut last = Instant::now();
        loop {
            thread::sleep(CHECK_INTERVAL);
            let passed = last.elapsed();
            last = Instant::now();
            if activity.waiting().is_some() {
                self.waited(passed, most);
            }
        }
    }

    /// Counts an interval of waiting for the current turn. The turn may have begun within the
    /// interval, so the sum may be one interval too large.
    fn waited(&self, passed: Duration, most: Duration) {
        if let Some(turn) = self.lock().as_mut() {
            turn.waited += passed;
            if turn.waited >= most {
                turn.is_over = true;
                turn.answers.hang_up();
                turn.slot.hang_up();
            }
        }
    }

    /// Does a session's work, which may wait for the session's client.
    pub fn take(
        &self,
        answers: Arc<Sender>,
        slot: Arc<FramesSlot>,
        work: impl FnOnce() -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        *self.lock() = Some(Turn {
            answers,
            slot,
            waited: Duration::ZERO,
            is_over: false,
        });
        let done = work();
        match self.lock().take() {
            Some(turn) if turn.is_over => Err(Fault::refused(
                "a program that reads neither answers nor pictures holds up the others of its \
                 window",
            )),
            _ => done,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Turn>> {
        self.0.lock().unwrap_or_else(|e| e.into_inner())
    }
}
