//! Mappings of buffer objects.

use super::object::{Mapping, Unmapped};
use super::table::Buffers;
use crate::memory::contents::{Memory, ALIGNMENT};
use mgn_wire::gl::*;
use std::sync::Arc;

impl Buffers {
    /// Buffers with a persistent mapping.
    pub fn persistent(&self) -> Vec<u32> {
        self.persistent.clone()
    }

    /// A persistent mapping, what the server has of it, and whether the server may have written
    /// more than the client knows.
    pub fn persistent_mapping(&self, name: u32) -> Option<(&Mapping, &Arc<Memory>, bool)> {
        let object = self.objects.get(&name)?;
        let mapping = object.mapping.as_ref()?;
        let sent = mapping.sent.as_ref()?;
        Some((mapping, sent, object.stale || object.written_unseen))
    }

    /// The persistent mapping of `name` now equals the server's contents.
    pub fn fetched(&mut self, name: u32) {
        let found = self.persistent_mapping(name);
        let found = found.and_then(|(mapping, sent, _)| Some((mapping.seen()?, sent)));
        if let Some(((own, first), sent)) = found {
            sent.copy(0, own, first, sent.len());
        }
    }

    /// Whether the server may have written to the buffer since the last call.
    pub fn take_stale_mark(&mut self, name: u32) -> bool {
        self.objects
            .get_mut(&name)
            .is_some_and(|o| std::mem::take(&mut o.stale) || o.written_unseen)
    }

    /// Memory for a mapping of `length` bytes that does not use a copy.
    pub fn memory_for(&mut self, name: u32, length: usize, access: u32) -> Option<Memory> {
        if access & GL_MAP_PERSISTENT_BIT != 0 {
            return Memory::watched(length.checked_add(ALIGNMENT)?);
        }
        let spare = self.objects.get_mut(&name).and_then(|o| o.spare.take());
        let needed = length.checked_add(ALIGNMENT)?;
        spare
            .filter(|s| s.len() >= needed)
            .or_else(|| Memory::zeroed(needed))
    }

    /// Begins a mapping and returns the program's pointer: into the copy if there is one, otherwise
    /// into `own`.
    pub fn map(
        &mut self,
        name: u32,
        offset: i64,
        length: i64,
        access: u32,
        own: Option<Memory>,
    ) -> Option<usize> {
        let is_persistent = access & GL_MAP_PERSISTENT_BIT != 0;
        let sent = match is_persistent {
            true => Some(Arc::new(Memory::zeroed(usize::try_from(length).ok()?)?)),
            false => None,
        };
        let object = self.objects.get_mut(&name)?;
        let at = usize::try_from(offset).ok()?;
        let pointer = match (&object.copy, &own) {
            (Some(copy), _) if copy.len() as i64 >= offset + length => copy.at(at),
            // The pointer minus the offset must be aligned.
            (_, Some(own)) => own.at(at % ALIGNMENT),
            _ => return None,
        } as usize;
        let own = own.filter(|own| own.at(at % ALIGNMENT) as usize == pointer);
        (object.outline, object.is_read) = (None, true);
        object.mapping = Some(Mapping {
            offset,
            length,
            access,
            own,
            sent,
            pointer,
        });
        if is_persistent {
            self.persistent.push(name);
        }
        Some(pointer)
    }

    /// Takes out a mapping and its memory, so that it can be sent without the table's lock.
    pub fn unmap(&mut self, name: u32) -> Option<Unmapped> {
        let object = self.objects.get_mut(&name)?;
        let mut mapping = object.mapping.take()?;
        self.persistent.retain(|n| *n != name);
        if mapping.has(GL_MAP_WRITE_BIT) {
            object.undefined = false;
        }
        let whole = mapping.own.is_none();
        let memory = if whole {
            object.copy.take()
        } else {
            mapping.own.take()
        };
        if let (true, Some(copy)) = (whole, &memory) {
            self.copied -= copy.len();
        }
        Some(Unmapped {
            mapping,
            memory,
            whole,
        })
    }

    /// Returns the memory that `unmap` has taken out.
    pub fn unmapped(&mut self, name: u32, unmapped: Unmapped) {
        let Some(memory) = unmapped.memory else {
            return;
        };
        let Some(object) = self.objects.get_mut(&name) else {
            return;
        };
        if unmapped.whole {
            // Except if the buffer got new storage or another mapping in the meantime.
            if object.mapping.is_none() && !object.deleted {
                self.keep(name, memory);
            }
        } else if !object.deleted && object.spare.is_none() {
            object.spare = Some(memory);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allocate(buffers: &mut Buffers, name: u32, bytes: &[u8]) {
        buffers.allocate(name, bytes.len() as i64, GL_STATIC_DRAW);
        buffers.write(name, 0, bytes.into(), None);
    }

    fn keep(buffers: &mut Buffers, name: u32, bytes: &[u8]) {
        let memory = Memory::zeroed(bytes.len()).unwrap();
        memory.write(0, bytes.into());
        buffers.keep(name, memory);
    }

    fn buffers() -> Buffers {
        let mut buffers = Buffers::default();
        for name in 1..4 {
            buffers.adopt(name, 0);
            allocate(&mut buffers, name, b"abcdefgh");
        }
        buffers
    }

    #[test]
    fn mappings_use_the_copy_or_memory_of_their_own() {
        let mut b = buffers();
        let own = b.memory_for(1, 3, 0);
        let pointer = b.map(1, 5, 3, GL_MAP_WRITE_BIT, own).unwrap();
        assert_eq!((pointer - 5) % ALIGNMENT, 0);
        let object = b.get(1).unwrap();
        assert!(
            object.is_locked_within(0, 6)
                && object.is_locked_within(7, 1)
                && !object.is_locked_within(0, 5)
        );
        assert_eq!(object.access(false), GL_WRITE_ONLY);
        let unmapped = b.unmap(1).unwrap();
        b.unmapped(1, unmapped);
        assert!(b.unmap(1).is_none());
        let again = b.memory_for(1, 3, 0);
        assert_eq!(b.map(1, 5, 3, GL_MAP_WRITE_BIT, again), Some(pointer));
        keep(&mut b, 2, b"abcdefgh");
        let pointer = b.map(2, 2, 4, GL_MAP_WRITE_BIT | GL_MAP_READ_BIT, None);
        // Writes to the copy's memory, as the program does.
        let copy = b.objects[&2].copy.as_ref().unwrap();
        assert_eq!(pointer, Some(copy.at(2) as usize));
        copy.write(2, b"WXYZ"[..].into());
        let unmapped = b.unmap(2).unwrap();
        b.unmapped(2, unmapped);
        assert_eq!(b.get(2).unwrap().known(0, 8).unwrap(), b"abWXYZgh");
        assert_eq!(b.copied, 8);
    }

    #[test]
    fn a_mapped_copy_stays_until_it_is_unmapped() {
        let mut b = buffers();
        keep(&mut b, 1, b"abcdefgh");
        let pointer = b.map(1, 0, 8, GL_MAP_WRITE_BIT, None).unwrap();
        b.is_written_unseen(1);
        let mapping = b.objects[&1].mapping.as_ref().unwrap();
        let memory = mapping.own.as_ref().unwrap();
        assert_eq!(memory.at(0) as usize, pointer);
        memory.write(0, b"12345678"[..].into());
        let unmapped = b.unmap(1).unwrap();
        assert_eq!(unmapped.mapping.pointer, pointer);
        b.unmapped(1, unmapped);
        assert!(b.get(1).unwrap().known(0, 8).is_none());
    }

    /// Another thread may have fetched the mapping before.
    #[test]
    fn no_copy_is_kept_of_a_persistently_mapped_buffer() {
        let mut b = buffers();
        let access = GL_MAP_WRITE_BIT | GL_MAP_PERSISTENT_BIT;
        let own = b.memory_for(1, 8, access);
        b.map(1, 0, 8, access, own).unwrap();
        keep(&mut b, 1, b"abcdefgh");
        assert!(b.get(1).unwrap().known(0, 8).is_none());
        let unmapped = b.unmap(1).unwrap();
        b.unmapped(1, unmapped);
        keep(&mut b, 1, b"abcdefgh");
        assert!(b.get(1).unwrap().known(0, 8).is_some());
    }

    #[test]
    fn new_storage_ends_a_mapping() {
        let mut b = buffers();
        let own = b.memory_for(1, 8, 0);
        b.map(1, 0, 8, GL_MAP_WRITE_BIT, own).unwrap();
        assert!(b.allocate(1, 4, GL_STATIC_DRAW));
        assert!(b.unmap(1).is_none() && b.get(1).unwrap().is_undefined());
        assert!(b.delete(1).is_none());
    }
}
