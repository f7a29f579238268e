//! Writes commands into messages, and sends each message when it is full.

use mgn_wire::encoder::Data;
use mgn_wire::{Encoder, Fault, MESSAGE_HEADER, MESSAGE_MAX};

/// A stream that is being written. Each message belongs to one context.
#[repr(C)]
pub(super) struct Script<'a> {
    encoder: Encoder,
    context: u32,
    /// The open message. The vector has the length of a full message.
    message: Vec<u8>,
    send: &'a mut dyn FnMut(&[u8]) -> Result<(), Fault>,
    failed: Option<Fault>,
}

impl<'a> Script<'a> {
    pub fn new(send: &'a mut dyn FnMut(&[u8]) -> Result<(), Fault>) -> Box<Script<'a>> {
        let mut script = Box::new(Script {
            // SAFETY: the encoder stays in its box, and a new message has room for any record.
            encoder: unsafe { Encoder::new(next_message) },
            context: 0,
            message: vec![0; MESSAGE_MAX],
            send,
            failed: None,
        });
        script.begin();
        script
    }

    /// The following commands belong to this context; 0 means none.
    pub fn context(&mut self, id: u32) {
        if self.context != id {
            self.end();
            self.context = id;
            self.begin();
        }
    }

    pub fn encoder(&mut self) -> &mut Encoder {
        &mut self.encoder
    }

    /// Sends what was not sent yet.
    ///
    /// # Errors
    /// The first error of sending a message.
    pub fn finish(&mut self) -> Result<(), Fault> {
        self.end();
        self.begin();
        self.failed.take().map_or(Ok(()), Err)
    }

    /// Writes a record of an earlier stream again: its opcode and its body.
    pub fn again(&mut self, op: u16, body: &[u8]) {
        // SAFETY: as for `say`; the record is started with room for the body.
        unsafe {
            let mut record = self.encoder.record(op, 4 + body.len());
            for word in body.chunks_exact(4) {
                record.put([word[0], word[1], word[2], word[3]]);
            }
            record.finish(&mut self.encoder);
        }
    }

    fn begin(&mut self) {
        self.message[..MESSAGE_HEADER].copy_from_slice(&u64::from(self.context).to_le_bytes());
        let range = self.message.as_mut_ptr_range();
        // SAFETY: the vector is not used before the message ends.
        unsafe {
            let start = range.start.add(MESSAGE_HEADER);
            self.encoder.set_room(start, range.end);
        }
    }

    fn end(&mut self) {
        let used = self.encoder.cursor() as usize - self.message.as_ptr() as usize;
        if used > MESSAGE_HEADER && self.failed.is_none() {
            self.failed = (self.send)(&self.message[..used]).err();
        }
    }
}

/// # Safety
/// The encoder is that of a script.
unsafe fn next_message(encoder: *mut Encoder, n: usize) -> *mut u8 {
    // SAFETY: only scripts have this hook, and they begin with their encoder.
    let script = unsafe { &mut *encoder.cast::<Script<'_>>() };
    script.end();
    script.begin();
    script.encoder.room(n)
}

/// An array for a command.
pub(super) fn list<T>(elements: &[T]) -> (*const T, usize) {
    (elements.as_ptr(), elements.len())
}

/// The same for arguments that are bytes of any type.
pub(super) fn bytes(data: &[u8]) -> Data {
    Data::Bytes(data.as_ptr(), data.len())
}

/// Writes a command.
macro_rules! say {
    ($script:expr, $command:ident($($argument:expr),* $(,)?)) => {{
        // SAFETY: arguments live until the command is written.
        #[allow(unused_unsafe, reason = "commands without arrays are safe")]
        unsafe { $script.encoder().$command($($argument),*) }
    }};
}
pub(super) use say;
