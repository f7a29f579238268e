//! Labels of objects.

use crate::context::Context;
use crate::current::context;
use crate::gl::objects::sync_name;
use core::ffi::c_void;
use mgn_wire::encoder::c_string;
use mgn_wire::ops;

/// Every driver refuses longer texts, so they are not sent.
const LABEL_BYTES_MAX: usize = 1 << 16;

/// A text to be sent: `length` bytes or, if that is negative, up to its NUL.
///
/// # Safety
/// `text` is null or has as many bytes.
pub(super) unsafe fn text(text: *const u8, length: i32) -> (*const u8, usize) {
    match usize::try_from(length) {
        Ok(length) if length < LABEL_BYTES_MAX => (text, length),
        Ok(_) => (text, 0),
        // SAFETY: the caller's promise.
        Err(_) => unsafe { c_string(text) },
    }
}

pub unsafe extern "C" fn glObjectLabel(identifier: u32, name: u32, length: i32, label: *const u8) {
    // SAFETY: the only reference in use, to the thread's own context; the program gives the label.
    unsafe {
        let cx = context();
        let label = text(label, length);
        cx.enc.gl_object_label(identifier, name, length, label);
    }
}

pub unsafe extern "C" fn glLabelObjectEXT(
    identifier: u32,
    name: u32,
    length: i32,
    label: *const u8,
) {
    // SAFETY: as above. Here 0 means all of the label, and what is negative is refused.
    unsafe {
        let cx = context();
        let label = match length {
            0 => text(label, -1),
            length => text(label, length.max(0)),
        };
        cx.enc.gl_label_object_ext(identifier, name, length, label);
    }
}

pub unsafe extern "C" fn glObjectPtrLabel(ptr: *const c_void, length: i32, label: *const u8) {
    // SAFETY: as above.
    unsafe {
        let cx = context();
        let label = text(label, length);
        cx.enc
            .gl_object_ptr_label(sync_name(ptr.cast_mut()), length, label);
    }
}

pub unsafe extern "C" fn glGetObjectLabel(
    identifier: u32,
    name: u32,
    size: i32,
    length: *mut i32,
    label: *mut u8,
) {
    // SAFETY: as above; the program has room for the length and `size` bytes of label where the
    // pointers are not null.
    unsafe {
        let cx = context();
        let most = room(size, label);
        cx.enc
            .gl_get_object_label(identifier, name, size, 1, most as u32);
        take(cx, ops::GL_GET_OBJECT_LABEL, length, label, most);
    }
}

pub unsafe extern "C" fn glGetObjectLabelEXT(
    identifier: u32,
    name: u32,
    size: i32,
    length: *mut i32,
    label: *mut u8,
) {
    // SAFETY: as above.
    unsafe {
        let cx = context();
        let most = room(size, label);
        cx.enc
            .gl_get_object_label_ext(identifier, name, size, 1, most as u32);
        take(cx, ops::GL_GET_OBJECT_LABEL_EXT, length, label, most);
    }
}

pub unsafe extern "C" fn glGetObjectPtrLabel(
    ptr: *const c_void,
    size: i32,
    length: *mut i32,
    label: *mut u8,
) {
    // SAFETY: as above.
    unsafe {
        let cx = context();
        let (sync, most) = (sync_name(ptr.cast_mut()), room(size, label));
        cx.enc.gl_get_object_ptr_label(sync, size, 1, most as u32);
        take(cx, ops::GL_GET_OBJECT_PTR_LABEL, length, label, most);
    }
}

/// The bytes of a label, including its NUL, for which the program has room.
fn room(size: i32, label: *const u8) -> usize {
    if label.is_null() {
        return 0;
    }
    usize::try_from(size).unwrap_or(0)
}

/// # Safety
/// `length` is null or has room for a value, `label` is null or has room for `most` bytes.
unsafe fn take(cx: &mut Context, op: u16, length: *mut i32, label: *mut u8, most: usize) {
    let mut answer = cx.answer(op);
    // SAFETY: the caller's promise.
    unsafe {
        answer.array(length, 1);
        answer.array(label, most);
    }
}
