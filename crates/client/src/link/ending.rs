//! The last frames of a program that exits, or is ended because it has shown enough.

use crate::exit::end_process;
use crate::link::session::{existing_session, Session};
use std::time::Duration;

/// How long pictures that are still under way may take when the program ends.
const LAST_FRAMES: Duration = Duration::from_secs(5);

/// The program has swapped as often as `MGN_FRAMES` allows: shows what is under way and ends it.
pub fn enough_frames() -> ! {
    if let Some(session) = existing_session() {
        last_frames(session);
        session.end_process(0);
    }
    end_process(0)
}

/// Runs when the program exits: the frames it has handed over are still shown and saved. Not in
/// forked children, which have no session.
extern "C" fn at_exit() {
    if let Some(session) = existing_session() {
        session.await_end();
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
