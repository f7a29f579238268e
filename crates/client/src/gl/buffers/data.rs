//! Buffer contents: from the program's memory to the server and back.

use super::bindings::{bound, required};
use crate::context::Context;
use crate::current::context;
use crate::memory::bytes::Bytes;
use crate::memory::contents::Memory;
use crate::shadow::buffers::object::BufferObject;
use crate::shadow::buffers::outline::OutlineScan;
use core::ffi::c_void;
use mgn_wire::encoder::Data;
use mgn_wire::{gl::*, ops, RECORD_MAX};

/// Bytes of a glBufferSubData record without its data.
const HEAD: usize = 28;
/// The most bytes in a piece of a large upload, unless it completes a half-filled message.
const PIECE: usize = (RECORD_MAX / 2) & !4095;
const _: () = assert!(2 * (PIECE + HEAD) <= RECORD_MAX);
/// Less room than this is not worth a record of its own.
const RECORD_BYTES_MIN: usize = 16 << 10;
/// Reads are requested in pieces of this size.
pub(super) const READ_PIECE: usize = 4 << 20;
/// The valid flags of storage.
const STORAGE_FLAGS: u32 = GL_MAP_READ_BIT
    | GL_MAP_WRITE_BIT
    | GL_MAP_PERSISTENT_BIT
    | GL_MAP_COHERENT_BIT
    | GL_DYNAMIC_STORAGE_BIT
    | GL_CLIENT_STORAGE_BIT;
/// Allocations of this size or more may fail, so the server is asked whether it succeeded.
const HUGE: i64 = 32 << 20;

pub unsafe extern "C" fn glBufferData(target: u32, size: i64, data: *const c_void, usage: u32) {
    // SAFETY: the program gives a null pointer or `size` bytes; the only reference in use.
    unsafe {
        let cx = context();
        if cx.gl.in_begin() {
            return cx.illegal_in_begin();
        }
        let Some(buffer) = required(cx, target) else {
            return;
        };
        if size < 0 {
            return cx.set_error(GL_INVALID_VALUE);
        }
        if !cx.gl.objects.limits.has_usage(usage) {
            return cx.set_error(GL_INVALID_ENUM);
        }
        if is_storage(cx, buffer) {
            return cx.set_error(GL_INVALID_OPERATION);
        }
        let (data, len) = (data.cast::<u8>(), size as usize);
        let before = cx.enc.doubt;
        let is_small = !data.is_null() && len <= PIECE;
        // Replacing the contents of the old storage has the same effect. It spares drivers that do
        // not recycle memory the allocation of as much again.
        let is_there = !data.is_null() && is_allocated(cx, buffer, size, usage);
        if !is_small && !is_there {
            cx.enc.gl_buffer_data(target, size, Data::Null, usage);
            if size >= HUGE && !has_size(cx, target, size) {
                return allocated(cx, buffer, 0, usage);
            }
        }
        want(cx, target, buffer);
        allocated(cx, buffer, size, usage);
        if !data.is_null() {
            upload(cx, buffer, 0, data, len, |cx, look| match is_small {
                true => cx
                    .enc
                    .gl_buffer_data(target, size, Data::Bytes(data, len), usage),
                false => send(cx, target, 0, data, len, look),
            });
        }
        if size < HUGE && cx.gl.shared.buffers().get(buffer).is_some() {
            cx.enc.doubt = before;
        }
    }
}

/// If draws of the fixed function are sorted, the contents of vertex and index buffers are needed.
fn want(cx: &mut Context, target: u32, buffer: u32) {
    let of_vertices = matches!(
        target,
        GL_ARRAY_BUFFER | GL_ELEMENT_ARRAY_BUFFER | GL_COPY_WRITE_BUFFER
    );
    if of_vertices && cx.gl.is_compat() && cx.may_sort() {
        cx.gl.shared.buffers().want_copy(buffer);
    }
}

/// Whether the buffer's storage is immutable.
fn is_storage(cx: &Context, buffer: u32) -> bool {
    let buffers = cx.gl.shared.buffers();
    buffers.get(buffer).is_some_and(|o| o.storage.is_some())
}

/// Whether the buffer already has storage of this kind, and is not mapped.
fn is_allocated(cx: &Context, buffer: u32, size: i64, usage: u32) -> bool {
    let buffers = cx.gl.shared.buffers();
    buffers
        .get(buffer)
        .is_some_and(|o| o.size == size && o.usage == usage && o.mapping.is_none())
}

/// Asks the server whether it could allocate the buffer bound to `target`.
unsafe fn has_size(cx: &mut Context, target: u32, size: i64) -> bool {
    let mut there = 0i64;
    // SAFETY: the context's own encoder; one value is asked for.
    let answered = unsafe {
        cx.enc
            .gl_get_buffer_parameteri64v(target, GL_BUFFER_SIZE, 1);
        cx.answer(ops::GL_GET_BUFFER_PARAMETERI64V)
            .array(&raw mut there, 1)
    };
    answered == 0 || there == size
}

fn allocated(cx: &mut Context, buffer: u32, size: i64, usage: u32) {
    if cx.gl.shared.buffers().allocate(buffer, size, usage) {
        // Mutable storage never has a persistent mapping.
        cx.gl.shared.notes.mapping_ended(false);
    }
}

/// Sends bytes that the buffer is known to accept, and updates what is known of its contents.
///
/// # Safety
/// `data` holds `len` bytes.
unsafe fn upload(
    cx: &mut Context,
    buffer: u32,
    offset: i64,
    data: *const u8,
    len: usize,
    send: impl FnOnce(&mut Context, Option<&mut OutlineScan<'_>>),
) {
    // SAFETY: the caller's promise.
    let data = unsafe { Bytes::new(data, len) };
    let mut look = cx.gl.shared.buffers().look(buffer, offset, data);
    send(cx, look.as_mut());
    cx.gl.shared.buffers().write(buffer, offset, data, look);
}

/// Sends bytes to the buffer bound to `target`, which is known to accept them, in pieces that fill
/// messages. Bytes that must be examined are examined just before they are sent, so that they are
/// still in the processor's cache then.
///
/// # Safety
/// `data` holds `len` bytes.
pub(super) unsafe fn send(
    cx: &mut Context,
    target: u32,
    offset: i64,
    data: *const u8,
    len: usize,
    mut look: Option<&mut OutlineScan<'_>>,
) {
    let mut at = 0;
    while at < len {
        let room = (cx.enc.room_end() as usize).saturating_sub(cx.enc.cursor() as usize);
        let most = if room >= RECORD_BYTES_MIN + HEAD {
            (room - HEAD) & !63
        } else {
            PIECE
        };
        let n = most.min(len - at);
        // SAFETY: the bytes lie in the caller's memory; the context's own encoder.
        unsafe {
            cx.enc
                .gl_buffer_sub_data(target, offset + at as i64, n as i64, (data.add(at), n));
        }
        if let Some(look) = &mut look {
            look.up_to(at + n);
        }
        at += n;
    }
}

pub unsafe extern "C" fn glBufferStorage(target: u32, size: i64, data: *const c_void, flags: u32) {
    // SAFETY: the program gives a null pointer or `size` bytes; the only reference in use.
    unsafe {
        let cx = context();
        if cx.gl.in_begin() {
            return cx.illegal_in_begin();
        }
        let Some(buffer) = required(cx, target) else {
            return;
        };
        let has = |bits: u32| flags & bits != 0;
        if size <= 0
            || has(!STORAGE_FLAGS)
            || has(GL_MAP_PERSISTENT_BIT) && !has(GL_MAP_READ_BIT | GL_MAP_WRITE_BIT)
            || has(GL_MAP_COHERENT_BIT) && !has(GL_MAP_PERSISTENT_BIT)
        {
            return cx.set_error(GL_INVALID_VALUE);
        }
        if is_storage(cx, buffer) {
            return cx.set_error(GL_INVALID_OPERATION);
        }
        let (data, len) = (data.cast::<u8>(), size as usize);
        let is_small = !data.is_null() && len <= PIECE;
        if !is_small {
            cx.enc.gl_buffer_storage(target, size, Data::Null, flags);
            if size >= HUGE && !has_size(cx, target, size) {
                return;
            }
        }
        want(cx, target, buffer);
        allocated(cx, buffer, size, GL_DYNAMIC_DRAW);
        if !data.is_null() {
            upload(cx, buffer, 0, data, len, |cx, look| match is_small {
                true => cx
                    .enc
                    .gl_buffer_storage(target, size, Data::Bytes(data, len), flags),
                false => send(cx, target, 0, data, len, look),
            });
        }
        cx.gl.shared.buffers().is_storage(buffer, flags);
    }
}

pub unsafe extern "C" fn glBufferSubData(target: u32, offset: i64, size: i64, data: *const c_void) {
    // SAFETY: the program gives `size` bytes; the only reference in use.
    unsafe {
        let cx = context();
        if cx.gl.in_begin() {
            return cx.illegal_in_begin();
        }
        let Some(buffer) = required(cx, target) else {
            return;
        };
        let (error, known) = match cx.gl.shared.buffers().get(buffer) {
            Some(object) => (
                write_error(object, offset, size)
                    .or(object.is_fixed().then_some(GL_INVALID_OPERATION)),
                true,
            ),
            None => (None, false),
        };
        if let Some(error) = error {
            return cx.set_error(error);
        }
        if size <= 0 || data.is_null() {
            return;
        }
        let before = cx.enc.doubt;
        let (data, len) = (data.cast(), size as usize);
        upload(cx, buffer, offset, data, len, |cx, look| {
            send(cx, target, offset, data, len, look);
        });
        if known {
            cx.enc.doubt = before;
        }
    }
}

fn write_error(object: &BufferObject, offset: i64, size: i64) -> Option<u32> {
    range_error(object, offset, size).or_else(|| {
        object
            .is_locked_within(offset, size)
            .then_some(GL_INVALID_OPERATION)
    })
}

fn range_error(object: &BufferObject, offset: i64, size: i64) -> Option<u32> {
    let good = size >= 0
        && offset >= 0
        && offset
            .checked_add(size)
            .is_some_and(|end| end <= object.size);
    (!good).then_some(GL_INVALID_VALUE)
}

pub unsafe extern "C" fn glGetBufferSubData(
    target: u32,
    offset: i64,
    size: i64,
    data: *mut c_void,
) {
    // SAFETY: the program gives room for `size` bytes; the only reference in use.
    unsafe {
        let cx = context();
        if cx.gl.in_begin() {
            return cx.illegal_in_begin();
        }
        let Some(buffer) = required(cx, target) else {
            return;
        };
        let (error, known) = match cx.gl.shared.buffers().get(buffer) {
            Some(object) => {
                let mapped = object.is_locked().then_some(GL_INVALID_OPERATION);
                (
                    range_error(object, offset, size).or(mapped),
                    object.known(offset, size.max(0) as usize),
                )
            }
            None => (None, None),
        };
        if let Some(error) = error {
            return cx.set_error(error);
        }
        if size <= 0 || data.is_null() {
            return;
        }
        match known {
            Some(bytes) => data.cast::<u8>().copy_from(bytes.as_ptr(), bytes.len()),
            None => {
                cx.gl.shared.buffers().is_read(buffer);
                fetch(cx, target, offset, data.cast(), size as usize);
            }
        }
    }
}

/// Reads bytes of the buffer bound to `target`. They must exist.
///
/// # Safety
/// There is room for `len` bytes at `to`.
pub(super) unsafe fn fetch(cx: &mut Context, target: u32, offset: i64, to: *mut u8, len: usize) {
    let mut at = 0;
    while at < len {
        let n = READ_PIECE.min(len - at);
        // SAFETY: the caller's promise; the answer has at most `n` bytes.
        unsafe {
            cx.enc
                .gl_get_buffer_sub_data(target, offset + at as i64, n as i64, n as u32);
            cx.answer(ops::GL_GET_BUFFER_SUB_DATA).array(to.add(at), n);
        }
        at += n;
    }
}

pub unsafe extern "C" fn glCopyBufferSubData(
    read_target: u32,
    write_target: u32,
    read_offset: i64,
    write_offset: i64,
    size: i64,
) {
    // SAFETY: the only reference in use, to the thread's own context.
    unsafe {
        let cx = context();
        if cx.gl.in_begin() {
            return cx.illegal_in_begin();
        }
        let Some(from) = required(cx, read_target) else {
            return;
        };
        let Some(to) = required(cx, write_target) else {
            return;
        };
        let mapped = {
            let buffers = cx.gl.shared.buffers();
            [from, to]
                .iter()
                .any(|name| buffers.get(*name).is_some_and(BufferObject::is_locked))
        };
        if mapped {
            return cx.set_error(GL_INVALID_OPERATION);
        }
        cx.enc
            .gl_copy_buffer_sub_data(read_target, write_target, read_offset, write_offset, size);
        let mut buffers = cx.gl.shared.buffers();
        let refused = |name: u32, offset| {
            buffers
                .get(name)
                .is_some_and(|o| range_error(o, offset, size).is_some())
        };
        let overlaps = from == to
            && read_offset < write_offset.saturating_add(size)
            && write_offset < read_offset.saturating_add(size);
        if !refused(from, read_offset) && !refused(to, write_offset) && !overlaps {
            buffers.copy_within(from, to, read_offset, write_offset, size);
        }
    }
}

/// The server writes to the buffer bound to `target` by a command whose effect the client does not
/// track.
pub fn contents_changed(cx: &mut Context, target: u32) {
    if let Ok(name) = bound(cx, target) {
        cx.gl.shared.buffers().changed(name);
    }
}

pub unsafe extern "C" fn glInvalidateBufferData(buffer: u32) {
    // SAFETY: the only reference in use, to the thread's own context.
    unsafe {
        let cx = context();
        if cx.gl.in_begin() {
            return cx.illegal_in_begin();
        }
        if cx
            .gl
            .shared
            .buffers()
            .get(buffer)
            .is_some_and(BufferObject::is_locked)
        {
            return cx.set_error(GL_INVALID_OPERATION);
        }
        cx.enc.gl_invalidate_buffer_data(buffer);
    }
}

pub unsafe extern "C" fn glInvalidateBufferSubData(buffer: u32, offset: i64, length: i64) {
    // SAFETY: as above.
    unsafe {
        let cx = context();
        if cx.gl.in_begin() {
            return cx.illegal_in_begin();
        }
        let error = cx
            .gl
            .shared
            .buffers()
            .get(buffer)
            .and_then(|o| write_error(o, offset, length));
        if let Some(error) = error {
            return cx.set_error(error);
        }
        cx.enc.gl_invalidate_buffer_sub_data(buffer, offset, length);
    }
}

/// `len` bytes at `offset` of `buffer`, which is the bound vertex array object's element buffer.
/// `None` if it has fewer.
///
/// The first call costs a round trip. From then on a copy is kept, up to a limit.
pub fn element_bytes(cx: &mut Context, buffer: u32, offset: i64, len: usize) -> Option<Vec<u8>> {
    let (size, may_copy) = {
        let mut buffers = cx.gl.shared.buffers();
        buffers.is_read(buffer);
        let object = buffers.get(buffer)?;
        if range_error(object, offset, i64::try_from(len).ok()?).is_some() {
            return None;
        }
        if let Some(bytes) = object.known(offset, len) {
            return Some(bytes);
        }
        (object.size as usize, buffers.may_copy(buffer))
    };
    if may_copy && copy_contents(cx, GL_ELEMENT_ARRAY_BUFFER, buffer, size) {
        if let Some(bytes) = cx
            .gl
            .shared
            .buffers()
            .get(buffer)
            .and_then(|o| o.known(offset, len))
        {
            return Some(bytes);
        }
    }
    let mut bytes = vec![0; len];
    // SAFETY: the vector has room for the bytes, and the buffer has them.
    unsafe { fetch(cx, GL_ELEMENT_ARRAY_BUFFER, offset, bytes.as_mut_ptr(), len) };
    Some(bytes)
}

/// Fetches all of the contents, and keeps a copy. Returns whether there was memory for it.
pub(super) fn copy_contents(cx: &mut Context, target: u32, buffer: u32, size: usize) -> bool {
    let Some(memory) = Memory::zeroed(size) else {
        return false;
    };
    // SAFETY: the memory has room for the bytes.
    unsafe { fetch(cx, target, 0, memory.at(0), size) };
    cx.gl.shared.buffers().keep(buffer, memory);
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shadow::buffers::table::Buffers;

    #[test]
    fn ranges() {
        let mut buffers = Buffers::default();
        buffers.adopt(1, 0);
        buffers.allocate(1, 100, GL_STATIC_DRAW);
        let own = buffers.memory_for(1, 10, 0);
        buffers.map(1, 50, 10, GL_MAP_WRITE_BIT, own);
        let object = buffers.get(1).unwrap();
        for (offset, size, error) in [
            (0, 50, None),
            (0, 100, Some(GL_INVALID_OPERATION)),
            (60, 40, None),
            (60, 41, Some(GL_INVALID_VALUE)),
            (-1, 2, Some(GL_INVALID_VALUE)),
            (1, -1, Some(GL_INVALID_VALUE)),
            (i64::MAX, 1, Some(GL_INVALID_VALUE)),
            (59, 1, Some(GL_INVALID_OPERATION)),
            (100, 0, None),
        ] {
            assert_eq!(write_error(object, offset, size), error, "{offset} {size}");
        }
    }
}
