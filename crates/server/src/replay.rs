//! The session's thread: messages in, commands to the driver, answers out.

use crate::answers::{gone, Answers};
use crate::watchdog::Activity;
use mgn_fabric::Receiver;
use mgn_render::perform;
use mgn_wire::{Commands, Decoder, Fault, Reply};
use std::sync::Arc;

/// Serves a session until its client goes or misbehaves.
pub(crate) fn serve(
    messages: &mut Receiver,
    chain: &mut dyn Commands,
    answers: &Answers,
    activity: &Arc<Activity>,
) -> Fault {
    let mut decoder = Decoder::default();
    let mut reply = Reply::default();
    loop {
        let message = match messages.recv(None) {
            Ok(Some(message)) => message,
            Ok(None) => continue,
            Err(error) => return gone(&error),
        };
        activity.count_bytes(message.len());
        let done = activity.work(|| {
            perform(
                &mut decoder,
                &message,
                chain,
                &mut reply,
                |_, context, op, reply| answers.send(context, op, reply),
            )
        });
        if let Err(fault) = done {
            return fault;
        }
    }
}
