//! Ends the process.

use std::sync::mpsc;
use std::time::Duration;

/// How long to wait for another thread of the program that holds a stdio lock.
const STDIO: Duration = Duration::from_secs(1);

/// Ends the process without the program's own exit handlers, after its output has been flushed.
pub fn end_process(status: i32) -> ! {
    let (flushed, done) = mpsc::channel::<()>();
    // Another thread may be blocked in a read while it holds the lock of the stream, which would
    // block fflush forever. So a separate thread calls fflush.
    let flusher = std::thread::Builder::new().spawn(move || {
        // SAFETY: a null stream means all of them.
        unsafe { libc::fflush(std::ptr::null_mut()) };
        drop(flushed);
    });
    if flusher.is_ok() {
        let _ = done.recv_timeout(STDIO);
    }
    // SAFETY: ends the process at once.
    unsafe { libc::_exit(status) }
}
