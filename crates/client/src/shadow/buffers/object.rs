//! The client's knowledge of one buffer object.

use super::outline::Outline;
use crate::memory::bytes::Bytes;
use crate::memory::contents::{Contents, Memory};
use crate::memory::positions::Positions;
use mgn_wire::gl::*;
use std::ops::Range;
use std::sync::Arc;

/// A buffer object. A deleted object stays until its name is reused, because another context may
/// have it bound.
#[derive(Debug)]
pub struct BufferObject {
    pub size: i64,
    pub usage: u32,
    /// The flags of immutable storage.
    pub storage: Option<u32>,
    /// Nothing was written since the storage was allocated.
    pub(super) undefined: bool,
    pub mapping: Option<Mapping>,
    /// A copy of all contents, kept equal to the server's. Only buffers whose contents were needed
    /// once, or that are `wanted`, have a copy.
    pub(super) copy: Option<Memory>,
    /// The bounds of its vertices. If the buffer is used as expected, no copy is needed.
    pub(super) outline: Option<Outline>,
    /// The expected layout of vertex positions, from the first draw.
    pub(super) foreseen: Option<Positions>,
    /// The buffer was also read in another way.
    pub(super) is_read: bool,
    /// The number of the contents. Different contents, of any buffers, have different numbers.
    pub(super) contents: u64,
    /// A copy is kept as soon as there is storage.
    pub(super) wanted: bool,
    /// How often names had been released when the object was created.
    pub(super) since: u32,
    /// The memory of the last mapping, for reuse by the next one.
    pub(super) spare: Option<Memory>,
    /// The buffer was bound where the server writes to it without the client's knowledge, so a copy
    /// would be wrong.
    pub(super) written_unseen: bool,
    /// The server has written to the buffer since a persistent mapping was fetched.
    pub(super) stale: bool,
    /// The buffer has been attached to a texture.
    pub(super) has_texture: bool,
    pub(super) deleted: bool,
}

/// A part of a buffer that is mapped into the program's memory.
#[derive(Debug)]
pub struct Mapping {
    pub offset: i64,
    pub length: i64,
    pub access: u32,
    /// `None` while the program sees the buffer's copy.
    pub(super) own: Option<Memory>,
    /// The server's contents of a persistent mapping, as far as the client knows them.
    pub(super) sent: Option<Arc<Memory>>,
    pub pointer: usize,
}

impl Mapping {
    pub fn has(&self, bits: u32) -> bool {
        self.access & bits != 0
    }

    pub fn is_persistent(&self) -> bool {
        self.has(GL_MAP_PERSISTENT_BIT)
    }

    /// The memory of the mapping, unless that is the buffer's copy, and the offset at which the
    /// mapping begins in it.
    pub(super) fn seen(&self) -> Option<(&Memory, usize)> {
        let own = self.own.as_ref()?;
        Some((own, self.pointer.checked_sub(own.at(0) as usize)?))
    }

    /// The parts that the program may have written since the last call.
    pub fn take_written(&self) -> Vec<Range<usize>> {
        let Some((own, first)) = self.seen() else {
            return Vec::new();
        };
        let inside =
            |part: Range<usize>| part.start.saturating_sub(first)..part.end.saturating_sub(first);
        own.take_written().into_iter().map(inside).collect()
    }

    /// The server has these bytes at `offset` of the buffer. Copies them to the program's memory.
    pub(super) fn server_has(&self, offset: i64, data: Bytes<'_>) {
        let (Some((own, first)), Some(sent)) = (self.seen(), &self.sent) else {
            return;
        };
        let (from, to) = (
            offset.max(self.offset),
            (offset + data.len() as i64).min(self.offset + self.length),
        );
        if from < to {
            let at = (from - self.offset) as usize;
            let part = data.part((from - offset) as usize..(to - offset) as usize);
            sent.write(at, part);
            own.write(first + at, part);
        }
    }
}

/// The data that must be sent at the end of a mapping.
#[derive(Debug)]
pub struct Unmapped {
    pub mapping: Mapping,
    /// Holds the memory that `mapping.pointer` points into.
    pub(super) memory: Option<Memory>,
    pub(super) whole: bool,
}

impl BufferObject {
    pub(super) fn new() -> BufferObject {
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

    /// Whether the buffer is mapped so that the server must not use it.
    pub fn is_locked(&self) -> bool {
        self.mapping.as_ref().is_some_and(|m| !m.is_persistent())
    }

    /// Whether any byte of `offset..offset + size` is mapped so that the server must not use it.
    pub fn is_locked_within(&self, offset: i64, size: i64) -> bool {
        self.mapping
            .as_ref()
            .filter(|m| !m.is_persistent())
            .is_some_and(|m| offset < m.offset + m.length && m.offset < offset + size)
    }

    /// Whether the storage was never written, so that its contents are undefined.
    pub fn is_undefined(&self) -> bool {
        self.undefined && !self.written_unseen
    }

    /// A copy of a part of the contents, if they are known and the part is within bounds.
    pub fn known(&self, offset: i64, len: usize) -> Option<Vec<u8>> {
        self.copy.as_ref()?.read(usize::try_from(offset).ok()?, len)
    }

    /// All of the contents and their number, if the client knows them.
    pub fn contents(&self) -> Option<(Contents<'_>, u64)> {
        Some((self.copy.as_ref()?.contents(), self.contents))
    }

    /// The bounds of the vertices, if they are known, and the number of the contents.
    pub fn outline(&self) -> Option<(&Outline, u64)> {
        Some((self.outline.as_ref()?, self.contents))
    }

    /// Whether a binding refers to this object, and not to an older one of its name. The binding
    /// was made when names had been released `released` times.
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
