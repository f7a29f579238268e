//! Handing frames over.

use crate::context::Context;
use crate::ending;
use crate::frames::IN_FLIGHT;
use crate::idle::current;
use crate::session::Session;
use crate::stats::Word;
use crate::surface::Surface;
use std::sync::atomic::Ordering;
use std::sync::Arc;

/// Takes the next frame number of `surface`, and says whether a picture of it is wanted.
pub fn hand_over(session: &Session, surface: &Surface) -> (u32, u32) {
    let frame = surface.handed_over.fetch_add(1, Ordering::AcqRel) + 1;
    if !session.is_answered() {
        surface.finished.store(frame, Ordering::Release);
    }
    let shown = session.options.present && surface.is_visible();
    let saved = session
        .options
        .save
        .as_ref()
        .is_some_and(|save| u64::from(frame) % save.every == 0);
    (frame, u32::from(shown || saved))
}

/// glXSwapBuffers and eglSwapBuffers, from the calling thread. Returns when no more than [`IN_FLIGHT`] frames of the surface are under way.
///
/// Frames of pbuffers count too, so that programs that render off screen can be measured and saved.
pub fn swap_buffers(session: &'static Session, surface: &Arc<Surface>) {
    let (frame, want) = hand_over(session, surface);
    let mine = |cx: &Context| cx.draw.as_ref().is_some_and(|s| Arc::ptr_eq(s, surface));
    match current() {
        Some(cx) if mine(cx) => {
            cx.leave_begin();
            cx.hear();
            // SAFETY: the context's own encoder.
            unsafe { cx.enc.mgn_swap_buffers(surface.id, frame, want) };
            cx.flush();
        }
        other => {
            if let Some(cx) = other {
                cx.flush();
            }
            // SAFETY: written to the control message's own encoder.
            session.control(|e| unsafe { e.mgn_swap_buffers(surface.id, frame, want) });
        }
    }
    session.stats.frame(session.send_wait());
    session.frames.wait(surface, IN_FLIGHT);
    if session.is_enough(session.stats.value(Word::Frames)) {
        ending::enough_frames();
    }
    if let Some(cx) = current().filter(|cx| mine(cx)) {
        cx.follow_window();
    }
}
