//! Mappings that persist while the server uses the buffer. The program and the server write to them
//! without notifying each other.
//!
//! The program's writes are found by comparison with the bytes that were last sent to the server.
//! So any code may write there, even the kernel.

use super::object::Mapping;
use super::table::Buffers;
use crate::memory::contents::{Memory, ALIGNMENT};
use mgn_wire::{gl::*, ops, RECORD_MAX};
use std::ops::Range;
use std::sync::Arc;

/// The number of bytes that are compared at a time.
const LINE: usize = ALIGNMENT;
/// The granularity of changes if the server may have written the neighbouring bytes.
pub const WORD: usize = 4;
/// The most bytes that are sent in one record.
const PIECE: usize = RECORD_MAX / 4;

/// Bytes that are being sent to a buffer.
#[derive(Debug)]
pub struct Write {
    pub buffer: u32,
    pub offset: i64,
    /// The bytes, in the record of what was sent to the server. A command of another thread may
    /// write to the same bytes at the same time. That command is then sent later, so its bytes win.
    sent: Arc<Memory>,
    pub part: Range<usize>,
}

impl Write {
    pub fn bytes(&self) -> (*const u8, usize) {
        (self.sent.at(self.part.start), self.part.len())
    }
}

/// A mapping whose bytes the server may have changed.
#[derive(Clone, Copy, Debug)]
pub struct Stale {
    pub buffer: u32,
    pub offset: i64,
    pub length: usize,
    pointer: usize,
}

impl Mapping {
    /// Whether the program's writes are sent only by glFlushMappedBufferRange, or never.
    fn is_told(&self) -> bool {
        !self.has(GL_MAP_WRITE_BIT)
            || self.has(GL_MAP_FLUSH_EXPLICIT_BIT) && !self.has(GL_MAP_COHERENT_BIT)
    }

    /// The parts of the program's memory, from `first` on, that differ from what was sent. They
    /// consist of pieces of `grain` bytes, and each part fits into one record.
    fn changes(
        &self,
        (own, first): (&Memory, usize),
        sent: &Memory,
        grain: usize,
    ) -> Vec<Range<usize>> {
        let len = self.length as usize;
        let same = |part: Range<usize>| own.same(first + part.start, sent, part.start, part.len());
        let mut changes: Vec<Range<usize>> = Vec::new();
        let lines =
            |part: Range<usize>| (part.start / LINE * LINE..part.end.min(len)).step_by(LINE);
        let mut next = 0;
        for line in self.take_written().into_iter().flat_map(lines) {
            let end = len.min(line + LINE);
            // A line may belong to two parts.
            if line < next || same(line..end) {
                continue;
            }
            next = end;
            for at in (line..end).step_by(grain) {
                let part = at..end.min(at + grain);
                if grain < LINE && same(part.clone()) {
                    continue;
                }
                match changes.last_mut() {
                    Some(last) if last.end == part.start && last.len() < PIECE => {
                        last.end = part.end;
                    }
                    _ => changes.push(part),
                }
            }
        }
        changes
    }
}

impl Buffers {
    /// The program's writes to persistent mappings since the last call.
    pub fn take_writes(&mut self) -> Vec<Write> {
        let mut writes = Vec::new();
        for name in self.persistent() {
            writes.append(&mut self.take_writes_to(name));
        }
        writes
    }

    pub fn take_writes_to(&mut self, buffer: u32) -> Vec<Write> {
        let Some((mapping, sent, is_shared)) = self.persistent_mapping(buffer) else {
            return Vec::new();
        };
        if mapping.is_told() {
            return Vec::new();
        }
        let Some((own, first)) = mapping.seen() else {
            return Vec::new();
        };
        let grain = if is_shared { WORD } else { LINE };
        let changes = mapping.changes((own, first), sent, grain);
        let take = |part: Range<usize>| {
            // The bytes to send are also recorded as sent.
            sent.copy(part.start, own, first + part.start, part.len());
            Write {
                buffer,
                offset: mapping.offset + part.start as i64,
                sent: sent.clone(),
                part,
            }
        };
        changes.into_iter().map(take).collect()
    }

    /// The mappings whose bytes the server may have changed since they were fetched.
    pub fn take_stale(&mut self) -> Vec<Stale> {
        let mut names = self.persistent();
        names.retain(|name| self.take_stale_mark(*name));
        let stale = |buffer| {
            let (mapping, ..) = self.persistent_mapping(buffer)?;
            Some(Stale {
                buffer,
                offset: mapping.offset,
                length: mapping.length as usize,
                pointer: mapping.pointer,
            })
        };
        names.into_iter().filter_map(stale).collect()
    }

    /// The server has `bytes` at `offset` of a persistent mapping. Bytes that the program has
    /// written in the meantime are kept.
    pub fn received(&mut self, of: Stale, offset: usize, bytes: &[u8]) {
        let Some((mapping, sent, _)) = self.persistent_mapping(of.buffer) else {
            return;
        };
        if mapping.pointer != of.pointer || offset + bytes.len() > mapping.length as usize {
            // The buffer was mapped again.
            return;
        }
        let Some((own, first)) = mapping.seen() else {
            return;
        };
        let lines = bytes.chunks(LINE).enumerate();
        let changed = lines.filter(|(i, line)| !sent.holds(offset + i * LINE, line));
        let words = changed.flat_map(|(i, line)| {
            let words = line.chunks(WORD).enumerate();
            words.map(move |(j, word)| (offset + i * LINE + j * WORD, word))
        });
        for (at, word) in words {
            let part = at..at + word.len();
            if sent.holds(part.start, word) {
                continue;
            }
            let is_untouched = own.same(first + part.start, sent, part.start, part.len());
            sent.write(part.start, word.into());
            if is_untouched {
                own.write(first + part.start, word.into());
            }
        }
    }
}

/// Whether the program may know, by `answer` to `op`, that the server has finished some commands.
pub fn is_wait(op: u16, answer: &[u8]) -> bool {
    match op {
        ops::GL_CLIENT_WAIT_SYNC => !answer.starts_with(&GL_TIMEOUT_EXPIRED.to_le_bytes()),
        ops::MGN_FINISH
        | ops::GL_GET_SYNCIV
        | ops::MGN_COUNTED
        | ops::GL_GET_QUERY_OBJECTIV
        | ops::GL_GET_QUERY_OBJECTUIV
        | ops::GL_GET_QUERY_OBJECTI64V
        | ops::GL_GET_QUERY_OBJECTUI64V => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: u32 =
        GL_MAP_READ_BIT | GL_MAP_WRITE_BIT | GL_MAP_PERSISTENT_BIT | GL_MAP_COHERENT_BIT;

    /// Buffer 1 of 1000 bytes, mapped from 40 on.
    fn mapped(access: u32) -> Buffers {
        let mut buffers = Buffers::default();
        buffers.adopt(1, 0);
        buffers.allocate(1, 1000, GL_DYNAMIC_DRAW);
        let own = buffers.memory_for(1, 900, access);
        let pointer = buffers.map(1, 40, 900, access, own).unwrap();
        let (memory, first) = seen(&buffers);
        assert_eq!(memory.at(first) as usize, pointer);
        buffers
    }

    /// The memory in which the program sees the buffer, and where the mapping begins in it.
    fn seen(buffers: &Buffers) -> (&Memory, usize) {
        let mapping = buffers.get(1).and_then(|object| object.mapping.as_ref());
        mapping.and_then(Mapping::seen).unwrap()
    }

    /// The program writes a byte to the mapping.
    fn poke(buffers: &Buffers, at: usize, byte: u8) {
        let (memory, first) = seen(buffers);
        memory.write(first + at, [byte][..].into());
    }

    fn writes(buffers: &mut Buffers) -> Vec<(u32, i64, Vec<u8>)> {
        let bytes = |w: &Write| w.sent.read(w.part.start, w.part.len()).unwrap();
        let writes = buffers.take_writes();
        writes
            .iter()
            .map(|w| (w.buffer, w.offset, bytes(w)))
            .collect()
    }

    #[test]
    fn what_the_program_writes_is_taken_once() {
        let mut b = mapped(ALL);
        assert_eq!(writes(&mut b), []);
        poke(&b, 64, 7);
        poke(&b, 899, 9);
        let mut line = [0; LINE];
        line[0] = 7;
        assert_eq!(
            writes(&mut b),
            [(1, 104, line.to_vec()), (1, 936, vec![0, 0, 0, 9])]
        );
        assert_eq!(writes(&mut b), []);
        b.unmap(1);
        assert_eq!(writes(&mut b), []);
    }

    /// The program sees the buffer's copy, which existed when the buffer was mapped.
    #[test]
    fn a_mapping_of_a_former_copy_is_followed() {
        let mut b = Buffers::default();
        b.adopt(1, 0);
        b.allocate(1, 1000, GL_DYNAMIC_DRAW);
        b.make_copy(1);
        b.map(1, 128, 500, ALL, None).unwrap();
        b.forget(1);
        poke(&b, 64, 7);
        let mut line = vec![0; LINE];
        line[0] = 7;
        assert_eq!(writes(&mut b), [(1, 192, line)]);
    }

    #[test]
    fn beside_what_the_server_writes_only_words_are_sent() {
        let mut b = mapped(ALL);
        b.is_written_unseen(1);
        poke(&b, 65, 7);
        assert_eq!(writes(&mut b), [(1, 104, vec![0, 7, 0, 0])]);
    }

    #[test]
    fn explicit_flushes_are_the_program_s() {
        let mut b = mapped(GL_MAP_WRITE_BIT | GL_MAP_PERSISTENT_BIT | GL_MAP_FLUSH_EXPLICIT_BIT);
        poke(&b, 0, 7);
        assert_eq!(writes(&mut b), []);
    }

    #[test]
    fn what_the_server_writes_arrives_but_for_what_the_program_wrote() {
        let mut b = mapped(ALL);
        assert!(b.take_stale().is_empty());
        b.changed(1);
        let stale = b.take_stale()[0];
        assert_eq!((stale.offset, stale.length), (40, 900));
        poke(&b, 4, 7);
        b.received(stale, 0, &[1; 12]);
        let (memory, first) = seen(&b);
        let now = memory.read(first, 16).unwrap();
        assert_eq!(now, [1, 1, 1, 1, 7, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0]);
        assert_eq!(writes(&mut b)[0].2[..8], [1, 1, 1, 1, 7, 0, 0, 0]);
        assert!(b.take_stale().is_empty());
    }

    #[test]
    fn commands_that_write_are_seen_in_the_mapping() {
        let mut b = mapped(ALL);
        b.write(1, 38, b"abcd"[..].into(), None);
        let (memory, first) = seen(&b);
        assert_eq!(memory.read(first, 4).unwrap(), b"cd\0\0");
        assert_eq!(writes(&mut b), []);
    }

    #[test]
    fn answers_after_which_the_server_is_done() {
        assert!(is_wait(ops::MGN_FINISH, &[]));
        assert!(!is_wait(ops::MGN_GET_ERROR, &[]));
        assert!(!is_wait(
            ops::GL_CLIENT_WAIT_SYNC,
            &GL_TIMEOUT_EXPIRED.to_le_bytes()
        ));
        assert!(is_wait(
            ops::GL_CLIENT_WAIT_SYNC,
            &GL_CONDITION_SATISFIED.to_le_bytes()
        ));
    }
}
