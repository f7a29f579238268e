//! Mapped buffers. A mapping is memory of the client. It is fetched if the program may read it, and
//! sent after the program has written to it.

use super::bindings::{bound, required};
use super::data::{copy_contents, fetch, send};
use super::persistent::before_unmapping;
use crate::context::Context;
use crate::current::context;
use crate::shadow::buffers::object::BufferObject;
use core::ffi::c_void;
use mgn_wire::gl::*;
use std::ptr::null_mut;
use std::sync::atomic::Ordering;

const ALLOWED: u32 = GL_MAP_READ_BIT
    | GL_MAP_WRITE_BIT
    | GL_MAP_INVALIDATE_RANGE_BIT
    | GL_MAP_INVALIDATE_BUFFER_BIT
    | GL_MAP_FLUSH_EXPLICIT_BIT
    | GL_MAP_UNSYNCHRONIZED_BIT
    | GL_MAP_PERSISTENT_BIT
    | GL_MAP_COHERENT_BIT;

/// The access flags that need the same flags of the storage.
const BY_STORAGE: u32 =
    GL_MAP_READ_BIT | GL_MAP_WRITE_BIT | GL_MAP_PERSISTENT_BIT | GL_MAP_COHERENT_BIT;

pub unsafe extern "C" fn glMapBuffer(target: u32, access: u32) -> *mut c_void {
    // SAFETY: the only reference in use, to the thread's own context.
    let cx = unsafe { context() };
    if cx.gl.in_begin() {
        cx.set_error(GL_INVALID_OPERATION);
        return null_mut();
    }
    let bits = match access {
        GL_WRITE_ONLY => GL_MAP_WRITE_BIT,
        GL_READ_ONLY if !cx.gl.objects.limits.is_es() => GL_MAP_READ_BIT,
        GL_READ_WRITE if !cx.gl.objects.limits.is_es() => GL_MAP_READ_BIT | GL_MAP_WRITE_BIT,
        _ => {
            cx.set_error(GL_INVALID_ENUM);
            return null_mut();
        }
    };
    let Some(buffer) = required(cx, target) else {
        return null_mut();
    };
    let size = cx.gl.shared.buffers().get(buffer).map_or(0, |o| o.size);
    map(cx, target, buffer, 0, size, bits)
}

pub unsafe extern "C" fn glMapBufferRange(
    target: u32,
    offset: i64,
    length: i64,
    access: u32,
) -> *mut c_void {
    // SAFETY: as above.
    let cx = unsafe { context() };
    if cx.gl.in_begin() {
        cx.set_error(GL_INVALID_OPERATION);
        return null_mut();
    }
    match required(cx, target) {
        Some(buffer) => map(cx, target, buffer, offset, length, access),
        None => null_mut(),
    }
}

fn map(
    cx: &mut Context,
    target: u32,
    buffer: u32,
    offset: i64,
    length: i64,
    access: u32,
) -> *mut c_void {
    let (error, undefined, has_copy, may_copy, size) = {
        let buffers = cx.gl.shared.buffers();
        match buffers.get(buffer) {
            Some(o) => (
                refusal(o, offset, length, access),
                o.is_undefined(),
                o.has_copy(),
                buffers.may_copy(buffer),
                o.size,
            ),
            None => (Some(GL_OUT_OF_MEMORY), true, false, false, 0),
        }
    };
    if let Some(error) = error {
        cx.set_error(error);
        return null_mut();
    }
    let is_persistent = access & GL_MAP_PERSISTENT_BIT != 0;
    let invalid = access & (GL_MAP_INVALIDATE_RANGE_BIT | GL_MAP_INVALIDATE_BUFFER_BIT) != 0;
    // For a persistent mapping, the server's contents must be known even if the program may not
    // read them: the program's writes are found as differences from them.
    let fetched = (!invalid || is_persistent) && !undefined;
    if !is_persistent && may_copy && !has_copy {
        if fetched {
            copy_contents(cx, target, buffer, size as usize);
        } else if length == size {
            // The program may write to all of it, so its writes are the whole contents.
            cx.gl.shared.buffers().make_copy(buffer);
        }
    }
    let (pointer, has_own) = {
        let mut buffers = cx.gl.shared.buffers();
        if is_persistent {
            buffers.forget(buffer);
        }
        let has_copy = buffers.get(buffer).is_some_and(BufferObject::has_copy);
        let own = match has_copy {
            true => None,
            false => buffers.memory_for(buffer, length as usize, access),
        };
        let has_own = own.is_some();
        (buffers.map(buffer, offset, length, access, own), has_own)
    };
    let Some(pointer) = pointer else {
        cx.set_error(GL_OUT_OF_MEMORY);
        return null_mut();
    };
    let pointer = pointer as *mut u8;
    if fetched && has_own {
        // SAFETY: `length` bytes are mapped there, and the program does not know them yet.
        unsafe { fetch(cx, target, offset, pointer, length as usize) };
        cx.gl.shared.buffers().fetched(buffer);
    }
    if is_persistent {
        // Writes to the mapping must not overtake earlier commands that use the buffer.
        cx.flush();
    }
    cx.gl.shared.notes.mapping_begins(is_persistent);
    pointer.cast()
}

/// The error of a mapping that OpenGL does not allow.
fn refusal(object: &BufferObject, offset: i64, length: i64, access: u32) -> Option<u32> {
    let has = |bits: u32| access & bits != 0;
    let unread =
        GL_MAP_INVALIDATE_RANGE_BIT | GL_MAP_INVALIDATE_BUFFER_BIT | GL_MAP_UNSYNCHRONIZED_BIT;
    let storage = object.storage.unwrap_or(GL_MAP_READ_BIT | GL_MAP_WRITE_BIT);
    if offset < 0 || length < 0 {
        Some(GL_INVALID_VALUE)
    } else if length == 0 {
        Some(GL_INVALID_OPERATION)
    } else if has(!ALLOWED) {
        Some(GL_INVALID_VALUE)
    } else if !has(GL_MAP_READ_BIT | GL_MAP_WRITE_BIT)
        || has(GL_MAP_READ_BIT) && has(unread)
        || has(GL_MAP_FLUSH_EXPLICIT_BIT) && !has(GL_MAP_WRITE_BIT)
        || has(BY_STORAGE & !storage)
    {
        Some(GL_INVALID_OPERATION)
    } else if offset
        .checked_add(length)
        .is_none_or(|end| end > object.size)
    {
        Some(GL_INVALID_VALUE)
    } else if object.mapping.is_some() {
        Some(GL_INVALID_OPERATION)
    } else {
        None
    }
}

pub unsafe extern "C" fn glUnmapBuffer(target: u32) -> u8 {
    // SAFETY: the only reference in use, to the thread's own context.
    let cx = unsafe { context() };
    if cx.gl.in_begin() {
        return cx.illegal_in_begin();
    }
    let Some(buffer) = required(cx, target) else {
        return 0;
    };
    before_unmapping(cx, buffer);
    let unmapped = cx.gl.shared.buffers().unmap(buffer);
    let Some(unmapped) = unmapped else {
        cx.set_error(GL_INVALID_OPERATION);
        return 0;
    };
    let m = &unmapped.mapping;
    let is_persistent = m.is_persistent();
    if !is_persistent && m.has(GL_MAP_WRITE_BIT) && !m.has(GL_MAP_FLUSH_EXPLICIT_BIT) {
        // SAFETY: `unmapped` holds the mapping's memory.
        unsafe {
            send(
                cx,
                target,
                m.offset,
                m.pointer as *const u8,
                m.length as usize,
                None,
            )
        };
    }
    cx.gl.shared.buffers().unmapped(buffer, unmapped);
    cx.gl.shared.notes.mapping_ended(is_persistent);
    1
}

pub unsafe extern "C" fn glFlushMappedBufferRange(target: u32, offset: i64, length: i64) {
    // SAFETY: as above.
    let cx = unsafe { context() };
    if cx.gl.in_begin() {
        return cx.illegal_in_begin();
    }
    let Some(buffer) = required(cx, target) else {
        return;
    };
    let place = match cx
        .gl
        .shared
        .buffers()
        .get(buffer)
        .map(|o| o.mapping.as_ref())
    {
        _ if offset < 0 || length < 0 => Err(GL_INVALID_VALUE),
        Some(Some(m)) if m.has(GL_MAP_FLUSH_EXPLICIT_BIT) => match offset.checked_add(length) {
            Some(end) if end <= m.length => Ok((m.offset, m.pointer)),
            _ => Err(GL_INVALID_VALUE),
        },
        _ => Err(GL_INVALID_OPERATION),
    };
    match place {
        // SAFETY: the bytes are mapped there, until this thread or one that it is synchronized with
        // unmaps them.
        Ok((start, pointer)) => unsafe {
            send(
                cx,
                target,
                start + offset,
                (pointer as *const u8).add(offset as usize),
                length as usize,
                None,
            );
        },
        Err(error) => cx.set_error(error),
    }
}

pub unsafe extern "C" fn glGetBufferPointerv(target: u32, pname: u32, params: *mut *mut c_void) {
    // SAFETY: as above.
    let cx = unsafe { context() };
    if cx.gl.in_begin() {
        return cx.illegal_in_begin();
    }
    if pname != GL_BUFFER_MAP_POINTER {
        return cx.set_error(GL_INVALID_ENUM);
    }
    let Some(buffer) = required(cx, target) else {
        return;
    };
    let pointer = cx
        .gl
        .shared
        .buffers()
        .get(buffer)
        .and_then(|o| o.mapping.as_ref())
        .map_or(0, |m| m.pointer);
    if !params.is_null() {
        // SAFETY: the program gives room for the pointer.
        unsafe { params.write(pointer as *mut c_void) };
    }
}

/// Whether the buffer bound to `target` is mapped so that the server must not use it.
pub fn is_locked(cx: &Context, target: u32) -> bool {
    match bound(cx, target) {
        // The counter exists so that the common case needs no lock.
        Ok(name) => {
            cx.gl.shared.notes.mapped.load(Ordering::Relaxed) != 0
                && cx
                    .gl
                    .shared
                    .buffers()
                    .get(name)
                    .is_some_and(BufferObject::is_locked)
        }
        Err(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shadow::buffers::table::Buffers;

    #[test]
    fn what_may_be_mapped() {
        let mut buffers = Buffers::default();
        buffers.adopt(1, 0);
        buffers.allocate(1, 100, GL_STATIC_DRAW);
        let (read, write) = (GL_MAP_READ_BIT, GL_MAP_WRITE_BIT);
        for (offset, length, access, error) in [
            (0, 100, read | write, None),
            (90, 10, write | GL_MAP_FLUSH_EXPLICIT_BIT, None),
            (90, 11, write, Some(GL_INVALID_VALUE)),
            (-1, 10, write, Some(GL_INVALID_VALUE)),
            (0, 0, write, Some(GL_INVALID_OPERATION)),
            (0, 10, 0, Some(GL_INVALID_OPERATION)),
            (
                0,
                10,
                write | GL_MAP_PERSISTENT_BIT,
                Some(GL_INVALID_OPERATION),
            ),
            (
                0,
                10,
                write | GL_MAP_COHERENT_BIT,
                Some(GL_INVALID_OPERATION),
            ),
            (
                0,
                10,
                read | GL_MAP_INVALIDATE_BUFFER_BIT,
                Some(GL_INVALID_OPERATION),
            ),
            (
                0,
                10,
                read | GL_MAP_FLUSH_EXPLICIT_BIT,
                Some(GL_INVALID_OPERATION),
            ),
        ] {
            assert_eq!(
                refusal(buffers.get(1).unwrap(), offset, length, access),
                error,
                "{offset} {length} {access:#x}"
            );
        }
        let own = buffers.memory_for(1, 100, 0);
        buffers.map(1, 0, 100, write, own);
        assert_eq!(
            refusal(buffers.get(1).unwrap(), 0, 10, write),
            Some(GL_INVALID_OPERATION)
        );
    }
}
