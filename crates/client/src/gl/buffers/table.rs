//! What the client knows of buffer objects.

use super::memory::{Memory, ALIGNMENT};
use super::outline::{Look, Outline};
use crate::gl::arrays::Positions;
use mgn_wire::gl::*;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, MutexGuard};

/// Copies of contents take no more than this in sum.
const COPIES_MAX: usize = 256 << 20;

/// The buffer objects of a share group, by name.
#[derive(Default, Debug)]
pub struct Buffers {
    objects: HashMap<u32, BufferObject>,
    /// Bytes of all copies.
    copied: usize,
    /// Counts changes of copies.
    contents: u64,
    /// Shaders may write to images, of which those of textures on buffers are buffers.
    has_images: bool,
    /// Buffers with a persistent mapping.
    persistent: Vec<u32>,
}

/// A buffer object. A deleted one stays until its name is used again, because another context may
/// have it bound.
#[derive(Debug)]
pub struct BufferObject {
    pub size: i64,
    pub usage: u32,
    /// The flags of storage that stays for good.
    pub storage: Option<u32>,
    /// Nothing was written since its storage was allocated.
    undefined: bool,
    pub mapping: Option<Mapping>,
    /// All of its contents, kept the same as the server's. Only of buffers whose contents were
    /// needed once, or are `wanted`.
    copy: Option<Memory>,
    /// Where its vertices lie, which is as far as it was foreseen all that there is to know.
    outline: Option<Outline>,
    /// How positions of its vertices were read.
    foreseen: Option<Positions>,
    /// It was read in another way, too.
    is_read: bool,
    /// The number of what it holds: another one for other contents, of whichever buffer.
    contents: u64,
    /// A copy is kept as soon as there is storage.
    wanted: bool,
    /// How often names had been released when the object came to be.
    since: u32,
    /// Memory of the last mapping, for the next.
    spare: Option<Memory>,
    /// It was bound where the server writes to it unseen, so a copy would be wrong.
    written_unseen: bool,
    /// The server wrote to it since a persistent mapping was fetched.
    stale: bool,
    /// A texture was put on it.
    has_texture: bool,
    deleted: bool,
}

/// The contents of a buffer, to be read.
#[derive(Clone, Copy)]
pub struct Contents<'a>(&'a Memory);

impl Contents<'_> {
    /// Where `len` bytes at `offset` lie, if there are so many.
    pub fn at(&self, offset: usize, len: usize) -> Option<*const u8> {
        let fits = offset.checked_add(len)? <= self.0.len();
        fits.then(|| self.0.at(offset).cast_const())
    }
}

/// A part of a buffer that the program sees in its memory.
#[derive(Debug)]
pub struct Mapping {
    pub offset: i64,
    pub length: i64,
    pub access: u32,
    /// `None` while the program sees the buffer's copy.
    own: Option<Memory>,
    /// What the server has of a persistent mapping, as far as the client knows.
    sent: Option<Arc<Memory>>,
    pub pointer: usize,
}

impl Mapping {
    pub fn has(&self, bits: u32) -> bool {
        self.access & bits != 0
    }

    pub fn is_persistent(&self) -> bool {
        self.has(GL_MAP_PERSISTENT_BIT)
    }

    /// Parts outside which the program has written nothing since the last call.
    pub fn take_written(&self) -> Vec<Range<usize>> {
        let Some(own) = &self.own else {
            return Vec::new();
        };
        let first = self.offset as usize % ALIGNMENT;
        let inside =
            |part: Range<usize>| part.start.saturating_sub(first)..part.end.saturating_sub(first);
        own.take_written().into_iter().map(inside).collect()
    }

    /// The server has these bytes at `offset` of the buffer, and so has the program's memory from
    /// now on.
    ///
    /// # Safety
    /// `data` holds `len` bytes.
    unsafe fn server_has(&self, offset: i64, data: *const u8, len: usize) {
        let (Some(own), Some(sent)) = (&self.own, &self.sent) else {
            return;
        };
        let (from, to) = (
            offset.max(self.offset),
            (offset + len as i64).min(self.offset + self.length),
        );
        if from < to {
            let (at, len) = ((from - self.offset) as usize, (to - from) as usize);
            // SAFETY: the part that lies in the mapping.
            unsafe {
                let data = data.add((from - offset) as usize);
                sent.write(at, data, len);
                own.write(at + self.offset as usize % ALIGNMENT, data, len);
            }
        }
    }
}

/// What a mapping leaves to send at its end.
#[derive(Debug)]
pub struct Unmapped {
    pub mapping: Mapping,
    /// Holds the memory that `mapping.pointer` points into.
    memory: Option<Memory>,
    whole: bool,
}

impl BufferObject {
    fn new() -> BufferObject {
        BufferObject {
            size: 0,
            usage: GL_STATIC_DRAW,
            storage: None,
            undefined: true,
            mapping: None,
            copy: None,
            outline: None,
            foreseen: None,
            is_read: false,
            contents: 0,
            wanted: false,
            since: 0,
            spare: None,
            written_unseen: false,
            stale: false,
            has_texture: false,
            deleted: false,
        }
    }

    /// Whether it is mapped so that the server may not work with it.
    pub fn is_locked(&self) -> bool {
        self.mapping.as_ref().is_some_and(|m| !m.is_persistent())
    }

    /// Whether any byte of `offset..offset + size` is mapped so that the server may not work with
    /// it.
    pub fn is_locked_within(&self, offset: i64, size: i64) -> bool {
        self.mapping
            .as_ref()
            .filter(|m| !m.is_persistent())
            .is_some_and(|m| offset < m.offset + m.length && m.offset < offset + size)
    }

    /// Whether nobody has written to the storage yet, so that it may hold anything.
    pub fn is_undefined(&self) -> bool {
        self.undefined && !self.written_unseen
    }

    /// A copy of a part of the contents, if they are known and it lies within.
    pub fn known(&self, offset: i64, len: usize) -> Option<Vec<u8>> {
        self.copy.as_ref()?.read(usize::try_from(offset).ok()?, len)
    }

    /// All of the contents and their number, if they are known to the client.
    pub fn contents(&self) -> Option<(Contents<'_>, u64)> {
        Some((Contents(self.copy.as_ref()?), self.contents))
    }

    /// Where its vertices lie, if that is known, and the number of the contents.
    pub fn outline(&self) -> Option<(&Outline, u64)> {
        Some((self.outline.as_ref()?, self.contents))
    }

    /// Whether what was bound when names had been released so often is this object, and not an
    /// older one of its name.
    pub fn is_bound_since(&self, released: u32) -> bool {
        !self.deleted && released >= self.since
    }

    /// Whether the program may change the contents only through the server or a mapping.
    pub fn is_fixed(&self) -> bool {
        self.storage
            .is_some_and(|flags| flags & GL_DYNAMIC_STORAGE_BIT == 0)
    }

    pub fn has_copy(&self) -> bool {
        self.copy.is_some()
    }

    /// GL_BUFFER_ACCESS of a buffer that `api` maps or could map.
    pub fn access(&self, is_es: bool) -> u32 {
        let access = self.mapping.as_ref().map_or(0, |m| m.access);
        match access & (GL_MAP_READ_BIT | GL_MAP_WRITE_BIT) {
            GL_MAP_READ_BIT => GL_READ_ONLY,
            GL_MAP_WRITE_BIT => GL_WRITE_ONLY,
            0 if is_es => GL_WRITE_ONLY,
            _ => GL_READ_WRITE,
        }
    }
}

impl Buffers {
    /// The program binds `name`, perhaps for the first time, perhaps after the object of that name
    /// was deleted. Names have been released `released` times.
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

    /// Whoever sorts draws wants to know what the buffer holds from when it has storage.
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

    /// What the buffer holds is read otherwise than by draws of its vertices.
    pub fn is_read(&mut self, name: u32) {
        if let Some(object) = self.objects.get_mut(&name) {
            object.is_read = true;
        }
    }

    /// All that the buffer holds is to be another: now it is decided what the client keeps of that.
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

    /// What of `len` bytes at `data` is to be looked at before they are written to a part of the
    /// buffer.
    pub fn look(&mut self, name: u32, offset: i64, data: *const u8, len: usize) -> Option<Look> {
        let object = self.get(name)?;
        let is_all = offset == 0 && object.size == len as i64;
        if is_all && !object.undefined && (object.outline.is_none() || object.is_read) {
            self.renew(name);
        }
        let outline = self.get(name)?.outline.as_ref()?;
        Some(outline.look(usize::try_from(offset).ok()?, data, len))
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

    /// Lets go of what a deleted buffer holds, and gives its mapping.
    pub fn delete(&mut self, name: u32) -> Option<Mapping> {
        self.forget(name);
        let object = self.objects.get_mut(&name)?;
        object.deleted = true;
        object.spare = None;
        self.persistent.retain(|n| *n != name);
        object.mapping.take()
    }

    /// New storage, whose contents are undefined. Says whether the old was mapped.
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

    /// The program has written `len` bytes at `offset`, which may have been looked at.
    ///
    /// # Safety
    /// `data` holds `len` bytes.
    pub unsafe fn write(
        &mut self,
        name: u32,
        offset: i64,
        data: *const u8,
        len: usize,
        look: Option<Look>,
    ) {
        let Some(object) = self.objects.get_mut(&name) else {
            return;
        };
        object.undefined = false;
        let at = usize::try_from(offset).unwrap_or(0);
        if let Some(copy) = &object.copy {
            // SAFETY: the caller's promise.
            unsafe { copy.write(at, data, len) };
        }
        if let Some(outline) = &mut object.outline {
            let mut look = look.unwrap_or_else(|| outline.look(at, data, len));
            // SAFETY: likewise.
            unsafe { look.up_to(len) };
            outline.wrote(look);
        }
        if let Some(mapping) = object.mapping.as_ref().filter(|m| m.is_persistent()) {
            // SAFETY: likewise.
            unsafe { mapping.server_has(offset, data, len) };
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
            // SAFETY: the vector's own bytes.
            Some(bytes) => unsafe { self.write(to, to_offset, bytes.as_ptr(), bytes.len(), None) },
            None => self.changed(to),
        }
    }

    /// The server changed the contents in a way that the client does not follow.
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

    /// A texture is put on the buffer: through an image of it shaders could write to the buffer.
    pub fn is_textured(&mut self, name: u32) {
        if let Some(object) = self.objects.get_mut(&name) {
            object.has_texture = true;
        }
        if self.has_images {
            self.is_written_unseen(name);
        }
    }

    /// Images are bound, of whichever textures.
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

    /// Keeps `bytes`, all of the contents as the server has them.
    pub fn keep(&mut self, name: u32, bytes: Memory) {
        let Some(object) = self.objects.get_mut(&name) else {
            return;
        };
        if object.copy.is_none() && !object.deleted && bytes.len() as i64 == object.size {
            self.copied += bytes.len();
            object.copy = Some(bytes);
            self.changes(name);
        }
    }

    /// Keeps a copy from now on, if it may, of contents that are undefined.
    pub fn make_copy(&mut self, name: u32) {
        let len = self.objects.get(&name).map_or(0, |o| o.size);
        if self.may_copy(name) {
            if let Some(memory) = Memory::zeroed(usize::try_from(len).unwrap_or(0)) {
                self.keep(name, memory);
            }
        }
    }

    /// Buffers with a persistent mapping.
    pub fn persistent(&self) -> Vec<u32> {
        self.persistent.clone()
    }

    /// A persistent mapping, what the server has of it, and whether the server may have written
    /// beside what the client knows of.
    pub fn persistent_mapping(&self, name: u32) -> Option<(&Mapping, &Arc<Memory>, bool)> {
        let object = self.objects.get(&name)?;
        let mapping = object.mapping.as_ref()?;
        let sent = mapping.sent.as_ref()?;
        Some((mapping, sent, object.stale || object.written_unseen))
    }

    /// The persistent mapping of `name` holds what the server has.
    pub fn fetched(&mut self, name: u32) {
        if let Some((mapping, sent, _)) = self.persistent_mapping(name) {
            // SAFETY: `sent` is as long as the mapping.
            unsafe { sent.write(0, mapping.pointer as *const u8, sent.len()) };
        }
    }

    /// Whether the server may have written to the buffer since the last time.
    pub fn take_stale_mark(&mut self, name: u32) -> bool {
        self.objects
            .get_mut(&name)
            .is_some_and(|o| std::mem::take(&mut o.stale) || o.written_unseen)
    }

    /// The storage stays as it is for good.
    pub fn is_storage(&mut self, name: u32, flags: u32) {
        if let Some(object) = self.objects.get_mut(&name) {
            object.storage = Some(flags);
        }
    }

    /// What the buffer holds is no longer known.
    pub fn forget(&mut self, name: u32) {
        let Some(object) = self.objects.get_mut(&name) else {
            return;
        };
        object.outline = None;
        let Some(copy) = object.copy.take() else {
            return;
        };
        self.copied -= copy.len();
        // The program goes on using a mapping of it.
        if let Some(mapping) = object.mapping.as_mut().filter(|m| m.own.is_none()) {
            mapping.own = Some(copy);
        }
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

    /// Begins a mapping and gives the program's pointer: into the copy if there is one, else into
    /// `own`.
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
            // The pointer less the offset is to be aligned.
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

    /// Takes a mapping and its memory out, so that it can be sent without the table's lock.
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

    /// Takes back what `unmap` gave.
    pub fn unmapped(&mut self, name: u32, unmapped: Unmapped) {
        let Some(memory) = unmapped.memory else {
            return;
        };
        let may_copy = self.may_copy(name);
        let Some(object) = self.objects.get_mut(&name) else {
            return;
        };
        if unmapped.whole {
            // Unless the buffer got new storage or another mapping meanwhile.
            if may_copy && object.mapping.is_none() && !object.deleted {
                self.keep(name, memory);
            }
        } else if !object.deleted && object.spare.is_none() {
            object.spare = Some(memory);
        }
    }
}

impl super::super::Shared {
    /// The group's buffer objects, locked. Not held while something is sent or awaited.
    pub fn buffers(&self) -> MutexGuard<'_, Buffers> {
        self.buffers.lock().unwrap_or_else(|e| e.into_inner())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allocate(buffers: &mut Buffers, name: u32, bytes: &[u8]) {
        buffers.allocate(name, bytes.len() as i64, GL_STATIC_DRAW);
        // SAFETY: the slice's own bytes.
        unsafe { buffers.write(name, 0, bytes.as_ptr(), bytes.len(), None) };
    }

    fn keep(buffers: &mut Buffers, name: u32, bytes: &[u8]) {
        let memory = Memory::zeroed(bytes.len()).unwrap();
        // SAFETY: the slice's own bytes.
        unsafe { memory.write(0, bytes.as_ptr(), bytes.len()) };
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
        // SAFETY: the literal's own bytes.
        unsafe { b.write(1, 2, b"XY".as_ptr(), 2, None) };
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
        // SAFETY: the literal's own bytes.
        unsafe { b.write(1, 2, b"XY".as_ptr(), 2, None) };
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

    /// What is known of a buffer that is filled again after it was drawn from.
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
            let look = b.look(1, 0, bytes.as_ptr(), 8);
            // SAFETY: the literal's own bytes.
            unsafe { b.write(1, 0, bytes.as_ptr(), 8, look) };
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
        // New storage of another size is another chance, and so are the same positions farther on.
        b.is_drawn(1, Positions { at: 4, ..tight });
        b.allocate(1, 16, GL_STATIC_DRAW);
        assert!(b.get(1).unwrap().outline().is_some() && b.copied == 0);
        b.copy_within(2, 1, 0, 0, 8);
        assert!(b.get(1).unwrap().outline().is_none());
        b.allocate(1, 8, GL_STATIC_DRAW);
        assert!(matches!(fill(&mut b), (false, Some(_))));
        // Whatever else reads it has a copy kept from then on.
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
        let pointer = b
            .map(2, 2, 4, GL_MAP_WRITE_BIT | GL_MAP_READ_BIT, None)
            .unwrap() as *mut u8;
        // SAFETY: four bytes of the copy are mapped there.
        unsafe { pointer.copy_from(b"WXYZ".as_ptr(), 4) };
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
        // SAFETY: eight bytes are still mapped there.
        unsafe { (pointer as *mut u8).copy_from(b"12345678".as_ptr(), 8) };
        let unmapped = b.unmap(1).unwrap();
        assert_eq!(unmapped.mapping.pointer, pointer);
        b.unmapped(1, unmapped);
        assert!(b.get(1).unwrap().known(0, 8).is_none());
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
    fn new_storage_ends_a_mapping() {
        let mut b = buffers();
        let own = b.memory_for(1, 8, 0);
        b.map(1, 0, 8, GL_MAP_WRITE_BIT, own).unwrap();
        assert!(b.allocate(1, 4, GL_STATIC_DRAW));
        assert!(b.unmap(1).is_none() && b.get(1).unwrap().is_undefined());
        assert!(b.delete(1).is_none());
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
