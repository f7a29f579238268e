//! Waits that the user can interrupt.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// How often a wait looks whether the user has interrupted the program.
pub const INTERRUPT: Duration = Duration::from_millis(100);

/// Does something that can take long. If a signal handler of the program raises an exception
/// meanwhile, as that of an interrupt does, this is the result; the work then goes on in a thread
/// of its own, and its result is dropped.
///
/// # Errors
/// The exception, or that there can be no thread.
pub fn interruptible<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    let (done, mut result) = mpsc::sync_channel(1);
    let worker = move || {
        let _ = done.send(work());
    };
    thread::Builder::new()
        .name("manganese".into())
        .spawn(worker)
        .map_err(|error| PyRuntimeError::new_err(format!("there can be no thread: {error}")))?;
    loop {
        let result = &mut result;
        match py.detach(move || result.recv_timeout(INTERRUPT)) {
            Ok(value) => return Ok(value),
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(PyRuntimeError::new_err("the library has panicked"))
            }
        }
    }
}
