//! Answers on their way to the client.

use crate::watchdog::Activity;
use mgn_fabric::{Error, Sender};
use mgn_render::Errors;
use mgn_wire::{Fault, Reply};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

/// The header before each part of an answer: `context total error told message`. `told` is 1 if
/// messages of debug output wait to be read.
const HEADER: usize = 20;

pub(crate) struct Answers {
    sender: Arc<Sender>,
    errors: Rc<Errors>,
    /// Whether this renderer sends the answers that all renderers of its wall would give alike.
    speaks: Rc<Cell<bool>>,
    /// The number of the current message.
    message: Cell<u32>,
    /// For each context, the last answer that was left to another renderer.
    kept: RefCell<HashMap<u32, Kept>>,
    activity: Arc<Activity>,
}

struct Kept {
    header: [u8; HEADER],
    bytes: Vec<u8>,
}

impl Answers {
    pub fn new(
        sender: Sender,
        errors: Rc<Errors>,
        speaks: Rc<Cell<bool>>,
        activity: Arc<Activity>,
    ) -> Answers {
        Answers {
            sender: Arc::new(sender),
            errors,
            speaks,
            message: Cell::default(),
            kept: RefCell::default(),
            activity,
        }
    }

    /// The connection that carries the answers.
    pub fn sender(&self) -> Arc<Sender> {
        self.sender.clone()
    }

    /// Counts a message that is about to be executed.
    pub fn begin_message(&self) {
        self.message.set(self.message.get().wrapping_add(1));
    }

    /// To be called after each message. If the message has made this renderer the one that speaks,
    /// this sends the answers that the client may not have received from the previous one.
    pub fn end_message(&self) -> Result<(), Fault> {
        if !self.speaks.get() || self.kept.borrow().is_empty() {
            return Ok(());
        }
        let mut kept = self.kept.take().into_values();
        kept.try_for_each(|kept| self.send_parts(&kept.header, &kept.bytes))
    }

    /// Sends the answer to `op`, or keeps it if another renderer sends it.
    pub fn send(&self, context: u32, op: u16, reply: &Reply) -> Result<(), Fault> {
        let bytes = reply.bytes();
        let words = [
            context,
            bytes.len() as u32,
            self.errors.peek(),
            u32::from(self.errors.has_messages()),
            self.message.get(),
        ];
        let mut header = [0; HEADER];
        for (to, word) in header.chunks_exact_mut(4).zip(words) {
            to.copy_from_slice(&u32::to_le_bytes(word));
        }
        if mgn_wire::asked_alone(op) {
            // The other renderers do not receive this message, so it is not counted.
            self.message.set(self.message.get().wrapping_sub(1));
            return self.send_parts(&header, bytes);
        }
        if self.speaks.get() || mgn_wire::everyone_answers(op) {
            return self.send_parts(&header, bytes);
        }
        let bytes = bytes.to_vec();
        self.kept
            .borrow_mut()
            .insert(context, Kept { header, bytes });
        Ok(())
    }

    /// Sends an answer in as many messages as it needs.
    fn send_parts(&self, header: &[u8; HEADER], bytes: &[u8]) -> Result<(), Fault> {
        let room = self.sender.message_max() - HEADER;
        let mut parts = bytes.chunks(room);
        let mut part = parts.next().unwrap_or(&[]);
        loop {
            self.activity
                .wait(|| {
                    let mut reservation = self.sender.reserve(HEADER + part.len())?;
                    reservation.write(0, header);
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

/// The fault of a session whose connection fails.
pub(crate) fn gone(error: &Error) -> Fault {
    match error {
        Error::Closed(_) => Fault::Gone,
        Error::PeerMisbehaved(why) => Fault::refused(*why),
        error @ (Error::NoMemory(_) | Error::NoSpace(_) | Error::Misuse(_)) => {
            Fault::server(error.to_string())
        }
        error => Fault::Network(error.to_string()),
    }
}
