//! The buffer objects of a share group.

use super::object::{BufferObject, Mapping};
use super::outline::{Outline, OutlineScan};
use crate::memory::bytes::Bytes;
use crate::memory::contents::{Memory, ALIGNMENT};
use crate::memory::positions::Positions;
use std::collections::HashMap;

/// The most memory for all copies of contents together.
const COPIES_MAX: usize = 256 << 20;

/// The buffer objects of a share group, by name.
#[derive(Default, Debug)]
pub struct Buffers {
    pub(super) objects: HashMap<u32, BufferObject>,
    /// Bytes of all copies.
    pub(super) copied: usize,
    /// Counts changes of copies.
    contents: u64,
    /// Shaders may write to images. Images of buffer textures are buffers.
    has_images: bool,
    /// Buffers with a persistent mapping.
    pub(super) persistent: Vec<u32>,
}

impl Buffers {
    /// The program binds `name`, perhaps for the first time, or after the object of that name was
    /// deleted. Names have been released `released` times so far.
    pub fn adopt(&mut self, name: u32, released: u32) {
        let new = || BufferObject {
            since: released,
            ..BufferObject::new()
        };
        let object = self.objects.entry(name).or_insert_with(new);
        if object.deleted {
            *object = new();
        }
    }

    /// Draws from this buffer are sorted, so a copy of its contents is needed as soon as it has
    /// storage.
    pub fn want_copy(&mut self, name: u32) {
        if let Some(object) = self.objects.get_mut(&name) {
            object.wanted = true;
        }
    }

    /// A draw reads vertices of the buffer.
    pub fn is_drawn(&mut self, name: u32, positions: Positions) {
        let Some(object) = self.objects.get_mut(&name) else {
            return;
        };
        let grid = positions.grid().map(|(grid, _)| grid);
        object.is_read |= grid.is_none() || object.foreseen.is_some_and(|seen| Some(seen) != grid);
        object.foreseen = object.foreseen.or(grid);
    }

    /// The contents of the buffer are read by something other than draws of its vertices.
    pub fn is_read(&mut self, name: u32) {
        if let Some(object) = self.objects.get_mut(&name) {
            object.is_read = true;
        }
    }

    /// All contents of the buffer are about to be replaced: decides what the client keeps of the
    /// new ones.
    fn renew(&mut self, name: u32) {
        let Some(object) = self.objects.get_mut(&name) else {
            return;
        };
        let len = usize::try_from(object.size).unwrap_or(0);
        let outlined = !object.is_read && !object.written_unseen && object.mapping.is_none();
        let outline = object.foreseen.filter(|_| outlined);
        let outline = outline.map(|grid| Outline::new(grid, len));
        let has_other = object.copy.as_ref().is_some_and(|copy| copy.len() != len);
        let wants_copy = object.wanted && object.copy.is_none() || has_other;
        match outline {
            None if !wants_copy => object.outline = None,
            None => {
                self.forget(name);
                self.make_copy(name);
            }
            Some(_) => {
                self.forget(name);
                self.objects.entry(name).and_modify(|o| o.outline = outline);
            }
        }
    }

    /// Begins a scan of the part of the data that must be examined before it is written to the
    /// buffer.
    pub fn look<'a>(&mut self, name: u32, offset: i64, data: Bytes<'a>) -> Option<OutlineScan<'a>> {
        let object = self.get(name)?;
        let is_all = offset == 0 && object.size == data.len() as i64;
        if is_all && !object.undefined && (object.outline.is_none() || object.is_read) {
            self.renew(name);
        }
        let outline = self.get(name)?.outline.as_ref()?;
        Some(outline.look(usize::try_from(offset).ok()?, data))
    }

    /// The contents have changed.
    fn changes(&mut self, name: u32) {
        self.contents += 1;
        if let Some(object) = self.objects.get_mut(&name) {
            object.contents = self.contents;
        }
    }

    pub fn get(&self, name: u32) -> Option<&BufferObject> {
        self.objects.get(&name)
    }

    pub fn exists(&self, name: u32) -> bool {
        self.objects
            .get(&name)
            .is_some_and(|object| !object.deleted)
    }

    /// Releases everything that a deleted buffer holds, and returns its mapping.
    pub fn delete(&mut self, name: u32) -> Option<Mapping> {
        self.forget(name);
        let object = self.objects.get_mut(&name)?;
        object.deleted = true;
        object.spare = None;
        self.persistent.retain(|n| *n != name);
        object.mapping.take()
    }

    /// Allocates new storage with undefined contents. Returns whether the old storage was mapped.
    pub fn allocate(&mut self, name: u32, size: i64, usage: u32) -> bool {
        let Some(object) = self.objects.get_mut(&name) else {
            return false;
        };
        let was_mapped = object.mapping.take().is_some();
        let len = usize::try_from(size).unwrap_or(0);
        (object.size, object.usage, object.undefined) = (size, usage, true);
        if object
            .spare
            .as_ref()
            .is_some_and(|s| s.len() > 2 * (len + ALIGNMENT))
        {
            object.spare = None;
        }
        self.renew(name);
        was_mapped
    }

    /// The program has written bytes to `offset`. They may have been scanned.
    pub fn write<'a>(
        &mut self,
        name: u32,
        offset: i64,
        data: Bytes<'a>,
        look: Option<OutlineScan<'a>>,
    ) {
        let Some(object) = self.objects.get_mut(&name) else {
            return;
        };
        object.undefined = false;
        let at = usize::try_from(offset).unwrap_or(0);
        if let Some(copy) = &object.copy {
            copy.write(at, data);
        }
        if let Some(outline) = &mut object.outline {
            let mut look = look.unwrap_or_else(|| outline.look(at, data));
            look.up_to(data.len());
            outline.wrote(look);
        }
        if let Some(mapping) = object.mapping.as_ref().filter(|m| m.is_persistent()) {
            mapping.server_has(offset, data);
        }
        self.changes(name);
    }

    /// The server copies between buffers, within their sizes.
    pub fn copy_within(&mut self, from: u32, to: u32, from_offset: i64, to_offset: i64, len: i64) {
        let bytes = match self.objects.get(&to) {
            Some(target) if target.has_copy() || target.outline.is_some() => {
                let source = self.objects.get(&from);
                source.and_then(|s| s.known(from_offset, usize::try_from(len).ok()?))
            }
            _ => None,
        };
        self.is_read(from);
        match bytes {
            Some(bytes) => self.write(to, to_offset, bytes[..].into(), None),
            None => self.changed(to),
        }
    }

    /// The server has changed the contents in a way that the client does not track.
    pub fn changed(&mut self, name: u32) {
        self.forget(name);
        if let Some(object) = self.objects.get_mut(&name) {
            object.undefined = false;
            object.stale = true;
        }
    }

    /// The buffer is bound where the server may write to it at any time.
    pub fn is_written_unseen(&mut self, name: u32) {
        self.changed(name);
        if let Some(object) = self.objects.get_mut(&name) {
            object.written_unseen = true;
        }
    }

    /// The buffer is attached to a texture: shaders could write to the buffer through an image of
    /// the texture.
    pub fn is_textured(&mut self, name: u32) {
        if let Some(object) = self.objects.get_mut(&name) {
            object.has_texture = true;
        }
        if self.has_images {
            self.is_written_unseen(name);
        }
    }

    /// Images of any textures are bound.
    pub fn images_bound(&mut self) {
        if std::mem::replace(&mut self.has_images, true) {
            return;
        }
        let textured = self.objects.iter().filter(|(_, o)| o.has_texture);
        let names: Vec<u32> = textured.map(|(name, _)| *name).collect();
        names
            .into_iter()
            .for_each(|name| self.is_written_unseen(name));
    }

    /// Whether a copy of the contents may be kept.
    pub fn may_copy(&self, name: u32) -> bool {
        let Some(object) = self.objects.get(&name) else {
            return false;
        };
        let fits = usize::try_from(object.size).is_ok_and(|len| self.copied + len <= COPIES_MAX);
        let is_persistent = object.mapping.as_ref().is_some_and(Mapping::is_persistent);
        object.has_copy() || !object.written_unseen && !is_persistent && fits
    }

    /// Keeps `bytes`, all of the contents as the server has them, if a copy may be kept. Another
    /// thread may have mapped the buffer persistently since they were fetched.
    pub fn keep(&mut self, name: u32, bytes: Memory) {
        if !self.may_copy(name) {
            return;
        }
        let Some(object) = self.objects.get_mut(&name) else {
            return;
        };
        if object.copy.is_none() && !object.deleted && bytes.len() as i64 == object.size {
            self.copied += bytes.len();
            object.copy = Some(bytes);
            self.changes(name);
        }
    }

    /// Keeps a copy from now on, if that is allowed. The contents are undefined.
    pub fn make_copy(&mut self, name: u32) {
        let len = self.objects.get(&name).map_or(0, |o| o.size);
        if self.may_copy(name) {
            if let Some(memory) = Memory::zeroed(usize::try_from(len).unwrap_or(0)) {
                self.keep(name, memory);
            }
        }
    }

    /// The storage is immutable.
    pub fn is_storage(&mut self, name: u32, flags: u32) {
        if let Some(object) = self.objects.get_mut(&name) {
            object.storage = Some(flags);
        }
    }

    /// The contents of the buffer are no longer known.
    pub fn forget(&mut self, name: u32) {
        let Some(object) = self.objects.get_mut(&name) else {
            return;
        };
        object.outline = None;
        let Some(copy) = object.copy.take() else {
            return;
        };
        self.copied -= copy.len();
        // The program still uses a mapping of the copy.
        if let Some(mapping) = object.mapping.as_mut().filter(|m| m.own.is_none()) {
            mapping.own = Some(copy);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mgn_wire::gl::*;

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
    fn copies_follow_what_is_written() {
        let mut b = buffers();
        assert_eq!(b.get(1).unwrap().known(0, 8), None);
        keep(&mut b, 1, b"abcdefgh");
        b.write(1, 2, b"XY"[..].into(), None);
        assert_eq!(b.get(1).unwrap().known(1, 4).unwrap(), b"bXYe");
        assert_eq!(b.get(1).unwrap().known(5, 4), None);
        keep(&mut b, 2, b"abcdefgh");
        b.copy_within(2, 1, 0, 4, 4);
        assert_eq!(b.get(1).unwrap().known(0, 8).unwrap(), b"abXYabcd");
        b.copy_within(3, 1, 0, 4, 4);
        assert_eq!(b.get(1).unwrap().known(0, 8), None);
        allocate(&mut b, 2, b"12345");
        assert_eq!(b.get(2).unwrap().known(0, 5).unwrap(), b"12345");
        b.is_written_unseen(2);
        b.allocate(2, 5, GL_STATIC_DRAW);
        assert!(!b.get(2).unwrap().is_undefined());
        assert!(!b.may_copy(2) && b.get(2).unwrap().known(0, 1).is_none());
        assert_eq!(b.copied, 0);
    }

    #[test]
    fn contents_have_another_number_when_they_change() {
        let mut b = buffers();
        b.want_copy(1);
        assert!(b.get(1).unwrap().contents().is_none());
        allocate(&mut b, 1, b"abcdefgh");
        let number = |b: &Buffers| b.get(1).unwrap().contents().map(|(_, number)| number);
        let mut numbers = vec![number(&b).unwrap()];
        b.write(1, 2, b"XY"[..].into(), None);
        numbers.push(number(&b).unwrap());
        b.map(1, 0, 8, GL_MAP_WRITE_BIT, None).unwrap();
        let unmapped = b.unmap(1).unwrap();
        b.unmapped(1, unmapped);
        numbers.push(number(&b).unwrap());
        allocate(&mut b, 1, b"abcd");
        numbers.push(number(&b).unwrap());
        numbers.dedup();
        assert_eq!(numbers.len(), 4);
        b.copy_within(2, 1, 0, 0, 4);
        assert_eq!(number(&b), None);
        b.delete(1);
        b.adopt(1, 5);
        assert!(b.get(1).unwrap().is_bound_since(5) && !b.get(1).unwrap().is_bound_since(4));
    }

    /// A buffer is filled again after draws from it.
    #[test]
    fn of_what_is_drawn_as_foreseen_no_copy_is_kept() {
        let mut b = buffers();
        let tight = Positions {
            at: 0,
            stride: 4,
            size: 2,
            type_: GL_SHORT,
        };
        let fill = |b: &mut Buffers| {
            let bytes = b"abcdefgh";
            let look = b.look(1, 0, bytes[..].into());
            b.write(1, 0, bytes[..].into(), look);
            let object = b.get(1).unwrap();
            (
                object.has_copy(),
                object.outline().map(|(_, number)| number),
            )
        };
        b.want_copy(1);
        b.is_drawn(1, tight);
        let (_, first) = fill(&mut b);
        let again = fill(&mut b);
        assert!(first.is_some() && !again.0 && again.1 > first);
        // After new storage of another size, the outline is tried again, also if the same positions
        // begin at another place.
        b.is_drawn(1, Positions { at: 4, ..tight });
        b.allocate(1, 16, GL_STATIC_DRAW);
        assert!(b.get(1).unwrap().outline().is_some() && b.copied == 0);
        b.copy_within(2, 1, 0, 0, 8);
        assert!(b.get(1).unwrap().outline().is_none());
        b.allocate(1, 8, GL_STATIC_DRAW);
        assert!(matches!(fill(&mut b), (false, Some(_))));
        // After any other read, a copy is kept.
        for other in 0..4 {
            b.delete(1);
            b.adopt(1, 0);
            b.want_copy(1);
            b.is_drawn(1, tight);
            b.allocate(1, 8, GL_STATIC_DRAW);
            assert!(matches!(fill(&mut b), (false, Some(_))));
            match other {
                0 => b.is_drawn(1, Positions { stride: 8, ..tight }),
                1 => b.is_read(1),
                2 => b.copy_within(1, 2, 0, 0, 4),
                _ => {
                    let own = b.memory_for(1, 8, 0);
                    b.map(1, 0, 8, GL_MAP_WRITE_BIT, own).unwrap();
                    assert!(b.get(1).unwrap().outline().is_none());
                    let unmapped = b.unmap(1).unwrap();
                    b.unmapped(1, unmapped);
                }
            }
            assert_eq!(fill(&mut b), (true, None));
        }
        b.is_written_unseen(1);
        assert_eq!(fill(&mut b), (false, None));
    }

    #[test]
    fn copies_are_bounded() {
        let mut b = buffers();
        b.allocate(1, COPIES_MAX as i64 - 8, GL_STATIC_DRAW);
        assert!(b.may_copy(1));
        b.make_copy(1);
        assert!(b.may_copy(2));
        keep(&mut b, 2, b"abcdefgh");
        assert!(!b.may_copy(3) && b.may_copy(2));
        b.delete(1);
        assert!(b.may_copy(3));
        assert_eq!(b.copied, 8);
    }

    #[test]
    fn images_of_textures_on_buffers_are_written_unseen() {
        let mut b = buffers();
        b.is_textured(1);
        assert!(b.may_copy(1));
        b.images_bound();
        assert!(!b.may_copy(1) && b.may_copy(2));
        b.is_textured(2);
        assert!(!b.may_copy(2) && b.may_copy(3));
    }

    #[test]
    fn a_deleted_buffer_is_remembered_until_its_name_is_used_again() {
        let mut b = buffers();
        b.delete(1);
        assert_eq!(b.get(1).unwrap().size, 8);
        b.adopt(1, 0);
        assert_eq!(b.get(1).unwrap().size, 0);
    }
}
