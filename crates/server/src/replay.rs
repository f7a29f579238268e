//! The session's thread: messages in, commands to the driver, answers out.

use crate::answers::{gone, Answers};
use crate::pictures::FramesSlot;
use crate::watchdog::Activity;
use mgn_fabric::Receiver;
use mgn_render::perform;
use mgn_wire::{Commands, Decoder, Fault, Reply};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The interval between checks whether the server ends.
const END_CHECK_INTERVAL: Duration = Duration::from_millis(100);
/// How long a session continues after the server's end is announced. A client that has gone may
/// have left messages, which are still executed.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(500);
/// How long a session may then take to write its output. Together with [`DRAIN_TIMEOUT`], it must
/// be less than the time for which the parent waits for its workers.
const WRITE_TIMEOUT: Duration = Duration::from_secs(1);

/// Whether the server ends. Sessions that must write something before they end need to know this.
#[derive(Debug, Default)]
pub(crate) struct ShutdownNotice(AtomicBool);

impl ShutdownNotice {
    /// Tells the session, and waits for the longest time that it may take. If the session is done
    /// earlier, this process ends earlier.
    pub fn announce(&self) {
        self.0.store(true, Ordering::Relaxed);
        std::thread::sleep(DRAIN_TIMEOUT + WRITE_TIMEOUT);
    }

    pub fn is_announced(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Serves a session until its client leaves or misbehaves or, if there is an `ending`, until the
/// server ends. `tile` is set if the renderer draws one tile of several.
pub(crate) fn serve(
    tile: Option<u32>,
    messages: &mut Receiver,
    chain: &mut dyn Commands,
    answers: &Answers,
    frames: &FramesSlot,
    activity: &Arc<Activity>,
    ending: Option<&ShutdownNotice>,
) -> Fault {
    let mut decoder = Decoder::of_tile(tile);
    let mut reply = Reply::default();
    let mut last: Option<Instant> = None;
    loop {
        if ending.is_some_and(ShutdownNotice::is_announced)
            && last.get_or_insert_with(Instant::now).elapsed() > DRAIN_TIMEOUT
        {
            return Fault::Over;
        }
        // An error is ignored: the next message shows whether the client is still there.
        let idle = || drop(frames.report_finished());
        let message = match messages.recv_or(ending.map(|_| END_CHECK_INTERVAL), idle) {
            Ok(Some(message)) => message,
            Ok(None) => continue,
            Err(error) => return gone(&error),
        };
        activity.count_bytes(message.len());
        answers.begin_message();
        let done = activity.work(|| {
            perform(
                &mut decoder,
                &message,
                chain,
                &mut reply,
                |_, context, op, reply| {
                    frames.report_finished()?;
                    answers.send(context, op, reply)
                },
            )?;
            answers.end_message()
        });
        if let Err(fault) = done {
            return fault;
        }
    }
}
