//! Disconnects a renderer that accepts no messages while the whole program waits for it.

use crate::signals::Signals;
use mgn_fabric::Sender;
use std::io;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// A renderer that accepts no message for this time is disconnected.
const STALL_TIMEOUT: Duration = Duration::from_millis(if cfg!(test) { 200 } else { 10_000 });

/// Watches the messages that one thread sends to a renderer.
#[derive(Default)]
pub struct StallWatch {
    /// Incremented when a message begins and when it has been sent: odd during a message.
    steps: AtomicU32,
}

impl StallWatch {
    /// Runs `work`. If one of its messages to `sender` waits longer than the limit, the connection
    /// is closed, which ends the wait.
    ///
    /// # Errors
    /// The thread for the watch cannot be started.
    pub fn over<T>(sender: &Sender, work: impl FnOnce(&StallWatch) -> T) -> io::Result<T> {
        let watch = &StallWatch::default();
        let (over, is_over) = mpsc::channel::<()>();
        thread::scope(|scope| {
            // The thread ends when this is dropped.
            let _over = over;
            let signals = Signals::block_all();
            let thread = thread::Builder::new().name("mgn-stall".into());
            let started = thread.spawn_scoped(scope, move || watch.until(&is_over, sender));
            drop(signals);
            started?;
            Ok(work(watch))
        })
    }

    /// Sends a message.
    pub fn during<T>(&self, send: impl FnOnce() -> T) -> T {
        self.steps.fetch_add(1, Ordering::Relaxed);
        let sent = send();
        self.steps.fetch_add(1, Ordering::Relaxed);
        sent
    }

    fn until(&self, is_over: &mpsc::Receiver<()>, sender: &Sender) {
        let mut seen = 0;
        while let Err(RecvTimeoutError::Timeout) = is_over.recv_timeout(STALL_TIMEOUT) {
            let now = self.steps.load(Ordering::Relaxed);
            if now == seen && now % 2 == 1 {
                return sender.hang_up();
            }
            seen = now;
        }
    }
}
