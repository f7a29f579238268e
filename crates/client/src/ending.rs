//! Ends of the process: ours, and the program's own.

use crate::process::existing_session;
use crate::session::Session;
use std::sync::mpsc;
use std::time::Duration;

/// How long pictures that are still under way may take when the program ends.
const LAST_FRAMES: Duration = Duration::from_secs(5);
/// How long another thread of the program may hold a stdio lock against us.
const STDIO: Duration = Duration::from_secs(1);

/// Ends the process without running the program's own exit handlers, after what it has printed is
/// written out.
pub fn end_process(status: i32) -> ! {
    if let Some(session) = existing_session() {
        session.end_stages();
    }
    let (flushed, done) = mpsc::channel::<()>();
    // Another thread may sit in a read with its stream locked, which would hold fflush for ever: so
    // it is somebody else's wait.
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

/// The program has swapped as often as `MGN_FRAMES` allows: shows what is under way and ends it.
pub fn enough_frames() -> ! {
    if let Some(session) = existing_session() {
        last_frames(session);
    }
    end_process(0)
}

/// Runs when the program exits by itself: the frames it has handed over are still shown and saved.
/// Not in forked children, which have no session.
extern "C" fn at_exit() {
    if let Some(session) = existing_session() {
        if !session.is_lost() {
            last_frames(session);
        }
        session.end_stages();
    }
}

/// Waits for the frames that are under way. Those of other programs may take longer, where they
/// become one picture.
fn last_frames(session: &Session) {
    match session.composite {
        None => session.frames.wait_all(LAST_FRAMES),
        Some(composite) => {
            session.frames.wait_all(composite.patience());
            composite.leave();
        }
    }
    if let Some(barrier) = &session.swap_barrier {
        barrier.leave();
    }
    session.take_leave();
}

#[used]
#[link_section = ".fini_array"]
static AT_EXIT: extern "C" fn() = at_exit;
