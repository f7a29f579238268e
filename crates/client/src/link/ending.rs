//! The last frames of a program that exits, or that is ended because it has shown enough frames.

use crate::exit::end_process;
use crate::link::session::{existing_session, Session};
use std::time::Duration;

/// How long to wait for pictures that are in flight when the program ends.
const LAST_FRAMES: Duration = Duration::from_secs(5);

/// The program has swapped as often as `MGN_FRAMES` allows: shows the frames in flight and ends the
/// program.
pub fn enough_frames() -> ! {
    if let Some(session) = existing_session() {
        last_frames(session);
        session.end_process(0);
    }
    end_process(0)
}

/// Runs when the program exits: its last frames are still shown and saved. Does nothing in forked
/// children, which have no session.
extern "C" fn at_exit() {
    if let Some(session) = existing_session() {
        session.await_end();
        if !session.is_lost() {
            last_frames(session);
        }
        session.end_stages();
    }
}

/// Waits for the frames in flight. If pictures of several programs are composited, the other
/// programs may need more time.
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
