//! The reader's access to messages in shared memory. The writer states each place and length, and
//! the reader checks them.

use std::sync::Arc;

use super::lane::{Descriptor, Lane, Memory, GROUP_CHUNKS};
use crate::block::ALIGN;
use crate::message::{Message, Owner};
use crate::Error;

impl Lane {
    /// The message of at most `max` bytes in a chunk that the writer has described.
    pub(crate) fn message(
        self: &Arc<Lane>,
        found: Descriptor,
        max: usize,
    ) -> Result<Message, Error> {
        self.in_chunk(found, max, &self.pool, self.chunks, None)
    }

    /// The message in a chunk of a group's memory that the writer has described.
    pub(crate) fn group_message(
        self: &Arc<Lane>,
        found: Descriptor,
        max: usize,
        memory: &Arc<Memory>,
    ) -> Result<Message, Error> {
        self.in_chunk(found, max, memory, GROUP_CHUNKS, Some(memory.clone()))
    }

    fn in_chunk(
        self: &Arc<Lane>,
        found: Descriptor,
        max: usize,
        memory: &Memory,
        chunks: u32,
        beside: Option<Arc<Memory>>,
    ) -> Result<Message, Error> {
        let (chunk, offset, len) = (found.place, found.offset as usize, found.len as usize);
        if chunk >= chunks {
            return Err(Error::PeerMisbehaved(
                "a message lies in a chunk that does not exist",
            ));
        }
        let size = memory.map.len() / chunks as usize;
        if offset > size || len > size - offset || offset % ALIGN != 0 {
            return Err(Error::PeerMisbehaved("a message reaches beyond its chunk"));
        }
        if len > max {
            return Err(Error::PeerMisbehaved("a message is longer than was agreed"));
        }
        let start = chunk as usize * size + offset;
        let owner = Owner::Shared {
            lane: self.clone(),
            counter: match beside {
                None => chunk,
                Some(_) => self.group_counter(chunk),
            },
            region: beside,
            offset: start as u32,
        };
        Ok(Message::new(memory.map.range(start, len), len, owner))
    }

    /// The message in the arena that the writer has described. It begins at the start of a chunk
    /// that is not before `first`, and may span several chunks.
    pub(crate) fn long_message(
        self: &Arc<Lane>,
        found: Descriptor,
        first: u32,
    ) -> Result<Message, Error> {
        let (chunk, len) = (found.place, found.len as usize);
        if !(first..self.chunks).contains(&chunk) {
            return Err(Error::PeerMisbehaved(
                "a message lies in a chunk that does not exist",
            ));
        }
        let size = self.pool.map.len() / self.chunks as usize;
        let start = chunk as usize * size;
        if found.offset != 0 || len > self.pool.map.len() - start {
            return Err(Error::PeerMisbehaved(
                "a message reaches beyond the memory for it",
            ));
        }
        let owner = Owner::Shared {
            lane: self.clone(),
            counter: chunk,
            region: None,
            offset: start as u32,
        };
        Ok(Message::new(self.pool.map.range(start, len), len, owner))
    }
}
