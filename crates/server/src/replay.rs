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

/// Between looks whether the server ends.
const END_CHECK_INTERVAL: Duration = Duration::from_millis(100);
/// How long a session goes on then: a client that has gone has left what it sent last.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(500);
/// How long it may take after that to write what it has to write. With [`DRAIN_TIMEOUT`], less than
/// the parent waits for its workers.
const WRITE_TIMEOUT: Duration = Duration::from_secs(1);

/// Whether the server ends, for sessions that must write something before they end too.
#[derive(Debug, Default)]
pub(crate) struct ShutdownNotice(AtomicBool);

impl ShutdownNotice {
    /// Tells the session, and waits for as long as it may take; if it is done earlier, so is this
    /// process.
    pub fn announce(&self) {
        self.0.store(true, Ordering::Relaxed);
        std::thread::sleep(DRAIN_TIMEOUT + WRITE_TIMEOUT);
    }

    pub fn is_announced(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Serves a session, of a renderer that may draw one `tile` of several, until its client goes or
/// misbehaves, or until the server ends, if there is an `ending` to be heard of.
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
        // Whether the client is there still, the next message says.
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
