//! Answers on their way to the client.

use crate::watchdog::Activity;
use mgn_fabric::Sender;
use mgn_render::Errors;
use mgn_wire::{Fault, Reply};
use std::rc::Rc;
use std::sync::Arc;

/// `context total error told`, before each part of an answer; `told` is 1 if messages of debug output wait.
const HEADER: usize = 16;

pub(crate) struct Answers {
    sender: Sender,
    errors: Rc<Errors>,
    /// Which of a wall's renderers answers here.
    tile: u32,
    activity: Arc<Activity>,
}

/// The client has gone: that ends the session, and is nobody's fault.
pub(crate) const GONE: &str = "the client has gone";
/// So does that.
pub(crate) const OVER: &str = "the server ends";

impl Answers {
    pub fn new(sender: Sender, errors: Rc<Errors>, tile: u32, activity: Arc<Activity>) -> Answers {
        Answers {
            sender,
            errors,
            tile,
            activity,
        }
    }

    /// Sends the answer to `op`, in as many messages as it takes. What all renderers of a wall know alike, the first answers.
    pub fn send(&self, context: u32, op: u16, reply: &Reply) -> Result<(), Fault> {
        if self.tile != 0 && !mgn_wire::everyone_answers(op) {
            return Ok(());
        }
        let error = self.errors.peek();
        let told = u32::from(self.errors.has_messages());
        let bytes = reply.bytes();
        let room = self.sender.message_max() - HEADER;
        let mut header = [0; HEADER];
        for (to, word) in header
            .chunks_exact_mut(4)
            .zip([context, bytes.len() as u32, error, told])
        {
            to.copy_from_slice(&u32::to_le_bytes(word));
        }
        let mut parts = bytes.chunks(room);
        let mut part = parts.next().unwrap_or(&[]);
        loop {
            self.activity
                .wait(|| {
                    let mut reservation = self.sender.reserve(HEADER + part.len())?;
                    reservation.write(0, &header);
                    reservation.write(HEADER, part);
                    self.sender.commit(&mut reservation, HEADER + part.len())
                })
                .map_err(|error| gone(&error))?;
            match parts.next() {
                Some(next) => part = next,
                None => return Ok(()),
            }
        }
    }
}

/// What a connection that fails means to the session.
pub(crate) fn gone(error: &mgn_fabric::Error) -> Fault {
    match error {
        mgn_fabric::Error::Closed(_) => Fault::refused(GONE),
        error => Fault::refused(error.to_string()),
    }
}
