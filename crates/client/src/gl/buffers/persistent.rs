//! Mappings that persist while the server uses the buffer: GL_ARB_buffer_storage.
//!
//! The program's writes are sent to the server before the next message. OpenGL promises nothing
//! about bytes that are written while earlier commands may still read them, so no command of the
//! message may expect the old bytes. The server's writes are fetched when the program has waited
//! for them: at fences, at the results of queries, and at glFinish.

use super::data::READ_PIECE;
use crate::context::Context;
use crate::link::session::Session;
use crate::shadow::buffers::persistent::{Write, WORD};
use crate::shadow::share_group::Shared;
use mgn_wire::{ops, RECORD_MAX};
use std::sync::MutexGuard;

/// Bytes of a mgnBufferWrite record without its data.
const HEAD: usize = 20;

/// Orders the messages with programs' writes and the messages that rely on them.
pub struct Turn<'a>(#[allow(dead_code)] MutexGuard<'a, ()>);

impl Shared {
    /// Sends the program's writes to persistent mappings. No command of the share group that relies
    /// on them may be sent before. So hold the result until the next message has been sent.
    pub fn send_persistent(&self, session: &Session, context: u32) -> Turn<'_> {
        let turn = self.turn.lock().unwrap_or_else(|e| e.into_inner());
        let writes = self.buffers().take_writes();
        send(session, context, &writes);
        Turn(turn)
    }
}

/// Sends writes, as many per message as fit.
fn send(session: &Session, context: u32, writes: &[Write]) {
    let size = |w: &Write| HEAD + w.part.len().next_multiple_of(WORD);
    let mut rest = writes;
    while !rest.is_empty() {
        let mut bytes = 0;
        let fits = |w: &&Write| {
            bytes += size(w);
            bytes <= RECORD_MAX
        };
        let count = rest.iter().take_while(fits).count().max(1);
        let (now, later) = rest.split_at(count);
        session.message(context, now.iter().map(size).sum(), |enc| {
            for w in now {
                // SAFETY: there is room for all of them.
                unsafe { enc.mgn_buffer_write(w.buffer, w.offset, w.bytes()) };
            }
        });
        rest = later;
    }
}

/// Called before a mapping of `buffer` ends: the writes to it must be sent first.
pub(super) fn before_unmapping(cx: &mut Context, buffer: u32) {
    let writes = cx.gl.shared.buffers().take_writes_to(buffer);
    for w in writes {
        // SAFETY: the context's own encoder; the bytes lie in memory that the write holds.
        unsafe { cx.enc.mgn_buffer_write(w.buffer, w.offset, w.bytes()) };
    }
}

impl Context {
    /// Fetches the server's writes to persistent mappings.
    #[cold]
    pub fn fetch_persistent(&mut self) {
        let stale = self.gl.shared.buffers().take_stale();
        for mapping in stale {
            let mut at = 0;
            while at < mapping.length {
                let n = READ_PIECE.min(mapping.length - at);
                let mut bytes = vec![0u8; n];
                // SAFETY: the context's own encoder; there is room for the answer.
                let got = unsafe {
                    self.enc
                        .mgn_buffer_read(mapping.buffer, mapping.offset + at as i64, n as u32);
                    self.answer(ops::MGN_BUFFER_READ)
                        .array(bytes.as_mut_ptr(), n)
                };
                self.gl
                    .shared
                    .buffers()
                    .received(mapping, at, &bytes[..got]);
                at += n;
            }
        }
    }
}
