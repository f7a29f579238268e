//! Hands frames over.

use crate::current::with_current;
use crate::link::ending;
use crate::link::frames::IN_FLIGHT;
use crate::link::session::Session;
use crate::link::stats::Word;
use crate::link::surface::Surface;
use crate::link::swap_barrier::Failed;
use mgn_wire::Encoder;
use std::sync::atomic::Ordering;
use std::sync::Arc;

/// glXSwapBuffers and eglSwapBuffers, from the calling thread. Returns when at most [`IN_FLIGHT`]
/// frames of the surface are in flight. More are allowed if they are invisible.
///
/// Frames of pbuffers count too, so that programs that render off screen can be measured and their
/// frames saved.
pub fn swap_buffers(session: &'static Session, surface: &Arc<Surface>) {
    wait_for_others(session, surface);
    let (frame, want) = session.next_frame(surface);
    // SAFETY: written to an encoder that has room.
    ask(session, surface, |e| unsafe {
        e.mgn_swap_buffers(surface.id, frame, want);
        end_frame(session, e, surface, frame);
    });
    let now = session.stats.frame(session.send_wait());
    match want {
        0 => session.frames.wait_unseen(surface, frame, now),
        _ => session.frames.wait(surface, IN_FLIGHT),
    }
    if session.is_enough(session.stats.value(Word::Frames)) {
        ending::enough_frames();
    }
    with_current(|cx| {
        if cx.draws_to(surface) {
            cx.end_frame();
        }
    });
}

/// Waits for the other programs if the swaps of several programs are synchronized. If their
/// pictures are composited, they wait before each composition instead.
fn wait_for_others(session: &'static Session, surface: &Arc<Surface>) {
    let Some(barrier) = &session.swap_barrier else {
        return;
    };
    if session.composite.is_some() {
        return;
    }
    // The server draws the frame in the meantime.
    with_current(|cx| cx.flush());
    if let Err(Failed(why, status)) = barrier.pass_for(surface) {
        session.part(why, status);
    }
}

/// glXCopySubBufferMESA: shows the part `[x, y, width, height]` of the back buffer, counted from
/// the lower left corner.
pub fn copy_sub_buffer(session: &'static Session, surface: &Arc<Surface>, part: [i32; 4]) {
    let (frame, want) = session.next_frame(surface);
    let [x, y, w, h] = part;
    ask(session, surface, |e| {
        e.mgn_copy_sub_buffer(surface.id, frame, want, x, y, w, h);
    });
    session.frames.wait(surface, IN_FLIGHT);
}

/// Sends the command that shows something of `surface`, after all commands of the calling thread's
/// context.
fn ask(session: &'static Session, surface: &Arc<Surface>, write: impl FnOnce(&mut Encoder)) {
    let mut write = Some(write);
    with_current(|cx| {
        if cx.draws_to(surface) {
            cx.leave_begin();
            cx.deliver_expected_messages();
            if let Some(write) = write.take() {
                write(&mut cx.enc);
            }
        }
        cx.flush();
    });
    if let Some(write) = write {
        session.control(write);
    }
}

/// Tells the renderers that a surface is drawn in tiles again, if no command has needed the whole
/// surface in frame `frame`, which ends.
///
/// # Safety
/// The encoder can be written to.
unsafe fn end_frame(session: &Session, encoder: &mut Encoder, surface: &Surface, frame: u32) {
    let whole = &surface.wholeness;
    let needed = session.needs.writes.load(Ordering::Relaxed)
        || session.needs.counting.load(Ordering::Relaxed) > 0
        || whole.needed.load(Ordering::Relaxed) == frame.wrapping_sub(1);
    if whole.is_whole.load(Ordering::Relaxed) && !needed {
        whole.is_whole.store(false, Ordering::Relaxed);
        encoder.mgn_whole(surface.id, 0);
    }
}
