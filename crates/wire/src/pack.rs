//! `Pack`: the end of a chain that encodes the commands into messages again, for execution
//! elsewhere.

use crate::encoder::{self, Encoder};
use crate::{sift, Data, Fault, Reply, MESSAGE_HEADER, MESSAGE_MAX};
use std::cell::RefCell;
use std::rc::Rc;

/// Writes commands into messages. Commands that no stage has changed are encoded as they were
/// decoded, except that commands from `LONG` records may be split at other places. A question
/// returns before its answer exists: `reply` is then empty, and marks that an answer will follow.
///
/// Clones write into the same messages.
#[derive(Clone)]
pub struct Pack(Rc<RefCell<Packer>>);

/// A message that is ready to send.
pub struct Packed<'a> {
    pub context: u32,
    /// Whether any of its commands has an answer.
    pub asks: bool,
    pub bytes: &'a [u8],
}

/// The encoder comes first: `refill` casts a pointer to it to a pointer to the packer.
#[repr(C)]
struct Packer {
    encoder: Encoder,
    /// The buffer for the message.
    room: Vec<u32>,
    context: u32,
    asks: bool,
    questions: u64,
    send: Box<dyn FnMut(Packed<'_>)>,
}

impl Pack {
    /// `send` gets each message that is full or ended by `flush`.
    pub fn new(send: impl FnMut(Packed<'_>) + 'static) -> Pack {
        let mut packer = Packer {
            // SAFETY: no encoder leaves its packer, and a flushed room takes any record.
            encoder: unsafe { Encoder::new(refill) },
            room: vec![0; MESSAGE_MAX / 4],
            context: 0,
            asks: false,
            questions: 0,
            send: Box::new(send),
        };
        packer.begin();
        Pack(Rc::new(RefCell::new(packer)))
    }

    /// Ends the message, unless there is nothing in it.
    pub fn flush(&self) {
        self.0.borrow_mut().flush();
    }

    /// The number of questions written so far.
    pub fn questions(&self) -> u64 {
        self.0.borrow().questions
    }

    /// The following commands belong to this context.
    pub(crate) fn begin(&self, context: u32) {
        let mut packer = self.0.borrow_mut();
        packer.flush();
        packer.context = context;
        packer.begin();
    }

    /// Lets `write` encode a command.
    pub(crate) fn write(&self, write: impl FnOnce(&mut Encoder)) -> Result<(), Fault> {
        write(&mut self.0.borrow_mut().encoder);
        Ok(())
    }

    /// The same for a command that may know its tiles.
    pub(crate) fn write_sorted(
        &self,
        is_sorted: bool,
        write: impl FnOnce(&mut Encoder),
    ) -> Result<(), Fault> {
        self.write(write)?;
        if is_sorted {
            self.0.borrow_mut().room[1] = sift::SORTED;
        }
        Ok(())
    }

    /// The same for a command that has an answer.
    pub(crate) fn ask(
        &self,
        reply: &mut Reply,
        write: impl FnOnce(&mut Encoder),
    ) -> Result<(), Fault> {
        self.write(write)?;
        let mut packer = self.0.borrow_mut();
        packer.asks = true;
        packer.questions += 1;
        reply.empty();
        Ok(())
    }
}

impl Packer {
    fn begin(&mut self) {
        self.room[0] = self.context;
        self.room[1] = 0;
        self.asks = false;
        let room = self.room.as_mut_ptr_range();
        // SAFETY: the vector is not used before the message is flushed.
        unsafe {
            let start = room.start.cast::<u8>().add(MESSAGE_HEADER);
            self.encoder.set_room(start, room.end.cast());
        }
    }

    fn flush(&mut self) {
        let start = self.room.as_ptr().cast::<u8>();
        let used = self.encoder.cursor() as usize - start as usize;
        if used == MESSAGE_HEADER {
            return;
        }
        (self.send)(Packed {
            context: self.context,
            asks: self.asks,
            // SAFETY: so much of the room was written.
            bytes: unsafe { std::slice::from_raw_parts(start, used) },
        });
        self.begin();
    }
}

/// The encoder's hook: see `Encoder::refill`.
unsafe fn refill(encoder: *mut Encoder, n: usize) -> *mut u8 {
    // SAFETY: every encoder with this hook is the first field of a `Packer`, which `write` or `ask`
    // has borrowed.
    let packer = unsafe { &mut *encoder.cast::<Packer>() };
    packer.flush();
    packer.encoder.room(n)
}

impl From<Data<'_>> for encoder::Data {
    fn from(data: Data<'_>) -> encoder::Data {
        match data {
            Data::Null => encoder::Data::Null,
            Data::Inline(bytes) => encoder::Data::Bytes(bytes.as_ptr(), bytes.len()),
            Data::Offset(offset) => encoder::Data::Offset(offset),
        }
    }
}
