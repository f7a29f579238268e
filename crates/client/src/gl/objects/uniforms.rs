//! Uniforms of single integers, which may be samplers. A draw fails if two samplers of different
//! types use the same unit.

use crate::context::Context;
use crate::current::context;
use crate::gl::known_success::Dependency;
use crate::gl::tracked::values;
use mgn_wire::{lens, ops};

pub unsafe extern "C" fn glUniform1i(location: i32, v0: i32) {
    // SAFETY: the only reference in use, to the thread's own context.
    unsafe {
        let cx = context();
        let success_key = cx.success_key(
            ops::GL_UNIFORM1I,
            &[location as u32, v0 as u32],
            &[Dependency::Program],
        );
        let before = cx.enc.doubt;
        cx.enc.gl_uniform1i(location, v0);
        cx.record_sent(before, success_key);
        current_set(cx, location, &[v0]);
    }
}

pub unsafe extern "C" fn glUniform1iv(location: i32, count: i32, value: *const i32) {
    // SAFETY: the program gives `count` values; the only reference in use.
    unsafe {
        let cx = context();
        let count = elements_there(value, count, 1);
        let n = lens::times(count.into(), 1);
        let list = values(value, n);
        let mut arguments = vec![location as u32, count as u32];
        arguments.extend(list.iter().map(|v| *v as u32));
        let success_key = cx.success_key(ops::GL_UNIFORM1IV, &arguments, &[Dependency::Program]);
        let before = cx.enc.doubt;
        cx.enc.gl_uniform1iv(location, count, (value, n));
        cx.record_sent(before, success_key);
        current_set(cx, location, list);
    }
}

pub unsafe extern "C" fn glProgramUniform1i(program: u32, location: i32, v0: i32) {
    // SAFETY: the only reference in use.
    unsafe {
        let cx = context();
        cx.enc.gl_program_uniform1i(program, location, v0);
        set(cx, program, location, &[v0]);
    }
}

pub unsafe extern "C" fn glProgramUniform1iv(
    program: u32,
    location: i32,
    count: i32,
    value: *const i32,
) {
    // SAFETY: as glUniform1iv.
    unsafe {
        let cx = context();
        let count = elements_there(value, count, 1);
        let n = lens::times(count.into(), 1);
        cx.enc
            .gl_program_uniform1iv(program, location, count, (value, n));
        set(cx, program, location, values(value, n));
    }
}

/// How many of `count` elements, with `each` values per element, are sent for a uniform: at most as
/// many as any uniform has, and as the program's memory holds. A driver reads only as many as the
/// uniform needs, so a program may pass any count.
pub fn elements_there<T>(value: *const T, count: i32, each: usize) -> i32 {
    /// More than any driver offers for the uniforms of a stage.
    const ELEMENTS_MAX: i32 = 1 << 16;
    /// The smallest page size. If the first value is accessible, so are all values in the same
    /// page. They are not checked, because the check costs more than the command.
    const PAGE: usize = 4096;
    let count = count.min(ELEMENTS_MAX);
    let size = each * size_of::<T>();
    let bytes = lens::times(count.into(), size);
    if value.is_null() || value as usize % PAGE + bytes <= PAGE {
        return count;
    }
    // At most `count`, so it fits.
    (mapped_bytes(value as usize, bytes) / size) as i32
}

/// The number of the `len` bytes at `address` that lie before the first unmapped page.
fn mapped_bytes(address: usize, len: usize) -> usize {
    /// The number of pages that one call checks.
    const PAGES: usize = 256;
    // SAFETY: asks the system for a number.
    let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096);
    let end = address.saturating_add(len);
    let is_there = |from: usize, pages: usize| {
        let mut resident = [0u8; PAGES];
        // SAFETY: the kernel looks the pages up, whatever the address is, and writes a byte for
        // each.
        let asked = unsafe {
            libc::mincore(
                from as *mut libc::c_void,
                pages * page,
                resident.as_mut_ptr(),
            )
        };
        // If the call is forbidden, nothing is known, and the program is trusted.
        asked == 0 || std::io::Error::last_os_error().raw_os_error() != Some(libc::ENOMEM)
    };
    let mut at = address - address % page;
    while at < end {
        let pages = (end - at).div_ceil(page).min(PAGES);
        if !is_there(at, pages) {
            while at < end && is_there(at, 1) {
                at += page;
            }
            break;
        }
        at += pages * page;
    }
    at.min(end).saturating_sub(address)
}

/// The same for the program in use. If that is not known, no draw is known to succeed any more.
fn current_set(cx: &mut Context, location: i32, list: &[i32]) {
    if let Some(program) = cx.gl.objects.program_in_use() {
        set(cx, program, location, list);
    } else {
        // Only the server knows which program the location belongs to.
        cx.enc.changes = cx.enc.changes.wrapping_add(1);
    }
}

fn set(cx: &mut Context, program: u32, location: i32, list: &[i32]) {
    if cx.gl.lists.is_open() {
        return;
    }
    let since = (cx.id, cx.enc.changes);
    let changed = cx
        .gl
        .shared
        .programs()
        .integers_set(program, location, list, since);
    if changed && cx.has_company() {
        // Other contexts may know that draws with the program succeed.
        cx.integers_change(program);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "unmaps a part of a mapping")]
    fn what_is_not_there_is_not_sent() {
        let page = 4096;
        let len = 8 * page;
        // SAFETY: a fresh mapping, of which the second half is given back at once.
        let base = unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            let rights = libc::PROT_READ | libc::PROT_WRITE;
            let base = libc::mmap(std::ptr::null_mut(), len, rights, flags, -1, 0);
            assert_ne!(base, libc::MAP_FAILED);
            assert_eq!(libc::munmap(base.byte_add(len / 2), len / 2), 0);
            base as usize
        };
        assert_eq!(mapped_bytes(base, len / 2), len / 2);
        assert_eq!(mapped_bytes(base, len), len / 2);
        assert_eq!(mapped_bytes(base + 100, len), len / 2 - 100);
        let value = base as *const f32;
        assert_eq!(elements_there(value, i32::MAX, 16), (len / 2 / 64) as i32);
        assert_eq!(elements_there(value, 100, 1), 100);
        assert_eq!(elements_there(value, -3, 16), -3);
        assert_eq!(elements_there(std::ptr::null::<f32>(), 70_000, 4), 1 << 16);
        // SAFETY: the half that is left, to which no reference remains.
        let unmapped = unsafe { libc::munmap(base as *mut libc::c_void, len / 2) };
        assert_eq!(unmapped, 0);
    }
}
