//! Display lists. The server compiles them. While it does, each call of immediate mode is sent as a
//! command.

mod known_success;
mod plain;

use super::arrays::entries::follow_array_switches;
use crate::current::context;
use crate::gl::tracked::values;
use crate::link::tiles::WholePurpose;
use crate::shadow::arrays::tree::EVERYONE;
use crate::shadow::lists::Lists;
use crate::shadow::objects::counts::Need;
use mgn_wire::sizes::image::{call_lists_bytes, list_offsets};
use mgn_wire::{gl, ops};

pub unsafe extern "C" fn glGenLists(range: i32) -> u32 {
    // SAFETY: the only reference in use.
    unsafe {
        let cx = context();
        if cx.is_illegal_now() || !cx.gl.is_compat() {
            return cx.fail(gl::GL_INVALID_OPERATION);
        }
        if range < 0 {
            cx.set_error(gl::GL_INVALID_VALUE);
            return 0;
        }
        if range == 0 {
            return 0;
        }
        let first = cx.gl.shared.names().lists.take_range(range as u32);
        let _ = cx.gl.state.gl_gen_lists(first, range);
        first
    }
}

pub unsafe extern "C" fn glDeleteLists(list: u32, range: i32) {
    // SAFETY: the only reference in use.
    unsafe {
        let cx = context();
        if cx.is_illegal_now() {
            return cx.illegal_in_begin();
        }
        if let Err(error) = cx.gl.state.gl_delete_lists(list, range) {
            return cx.set_error(error.code());
        }
        cx.enc.gl_delete_lists(list, range);
        if range > 0 {
            cx.gl.shared.names().lists.release_range(list, range as u32);
            cx.gl.shared.lists().delete(list, range as u32);
        }
    }
}

pub unsafe extern "C" fn glNewList(list: u32, mode: u32) {
    // SAFETY: the only reference in use.
    unsafe {
        let cx = context();
        if cx.gl.in_begin() || !cx.gl.is_compat() {
            return cx.set_error(gl::GL_INVALID_OPERATION);
        }
        if let Err(error) = cx.gl.state.gl_new_list(list, mode) {
            return cx.set_error(error.code());
        }
        // While a list is compiled, its draws are not limited to tiles.
        if mode == gl::GL_COMPILE_AND_EXECUTE && cx.gl.objects.counts.need(Need::Exact) {
            cx.make_whole(WholePurpose::Drawing);
        }
        cx.gl.lists = Lists::new(list, mode);
        cx.gl.immediate.compiling = true;
        cx.gl.shared.names().lists.use_name(list);
        cx.enc.gl_new_list(list, mode);
        cx.enc.scissors = false;
        cx.watch_list();
    }
}

pub unsafe extern "C" fn glEndList() {
    // SAFETY: the only reference in use.
    unsafe {
        let cx = context();
        // A list may contain a glBegin whose glEnd is in another list.
        let only_compiles = cx.gl.lists.is_open() && cx.gl.lists.only_compiles();
        if cx.gl.in_begin() && !only_compiles {
            return cx.illegal_in_begin();
        }
        if let Err(error) = cx.gl.state.gl_end_list() {
            return cx.set_error(error.code());
        }
        if only_compiles {
            cx.gl.immediate.be(false);
        }
        cx.follow_compiled();
        let list = std::mem::take(&mut cx.gl.lists);
        cx.gl.shared.lists().define(list);
        cx.gl.immediate.compiling = false;
        cx.enc.gl_end_list();
        if cx.enc.scissors {
            cx.lists_scissor();
        }
    }
}

pub unsafe extern "C" fn glCallList(list: u32) {
    // SAFETY: the only reference in use.
    unsafe {
        let cx = context();
        if !cx.gl.is_compat() {
            return cx.set_error(gl::GL_INVALID_OPERATION);
        }
        cx.before_called();
        cx.go_verbatim();
        let called = cx.before_lists([list].into_iter());
        let plain = cx.plain_lists([list].into_iter());
        let tiles = cx.tiles_of_lists(&plain);
        cx.only(tiles, 8);
        cx.enc.gl_call_list(list);
        if tiles != EVERYONE {
            cx.leave_behind(&plain);
        }
        let _ = cx.gl.state.gl_call_list(list);
        follow_array_switches(cx);
        cx.follow_list(list);
        cx.after_list(!plain.is_empty() || called.is_some());
        if let Some(called) = called {
            cx.after_lists(called);
        }
    }
}

pub unsafe extern "C" fn glCallLists(n: i32, kind: u32, lists: *const core::ffi::c_void) {
    // SAFETY: the program gives `n` names of type `kind`; the only reference in use.
    unsafe {
        let cx = context();
        if !cx.gl.is_compat() {
            return cx.set_error(gl::GL_INVALID_OPERATION);
        }
        cx.before_called();
        cx.go_verbatim();
        if n < 0 {
            return cx.set_error(gl::GL_INVALID_VALUE);
        }
        let Some(bytes) = call_lists_bytes(n, kind) else {
            return cx.set_error(gl::GL_INVALID_ENUM);
        };
        let names = values(lists.cast::<u8>(), bytes);
        let base = cx.list_base();
        let all = |base| list_offsets(kind, names).map(move |n| n.wrapping_add(base));
        let called = base.and_then(|base| cx.before_lists(all(base)));
        let plain = base.map_or_else(Vec::new, |base| cx.plain_lists(all(base)));
        let tiles = cx.tiles_of_lists(&plain);
        cx.only(tiles, 16 + bytes.next_multiple_of(4));
        cx.enc.gl_call_lists(n, kind, (lists.cast(), bytes));
        if tiles != EVERYONE {
            cx.leave_behind(&plain);
        }
        let _ = cx.gl.state.gl_call_lists(n, kind, names);
        follow_array_switches(cx);
        cx.follow_lists(kind, names);
        cx.after_list(!plain.is_empty() || called.is_some());
        if let Some(called) = called {
            cx.after_lists(called);
        }
    }
}

pub unsafe extern "C" fn glIsList(list: u32) -> u8 {
    // SAFETY: the only reference in use.
    let cx = unsafe { context() };
    if cx.gl.in_begin() || !cx.gl.is_compat() {
        return cx.fail(gl::GL_INVALID_OPERATION);
    }
    u8::from(cx.gl.shared.names().lists.is_taken(list))
}

impl crate::context::Context {
    /// Updates whether the program is between glBegin and glEnd, after a list was called.
    fn follow_list(&mut self, list: u32) {
        let found = self.gl.shared.lists().leaves_inside(list);
        let Some(inside) = found else { return };
        if self.gl.lists.is_open() {
            self.gl.lists.leaves(inside);
        }
        self.gl.immediate.be(inside);
        if self.enc.watched {
            match inside {
                true => self.watched_begin(),
                false => self.watched_end(),
            }
        }
    }

    /// Makes surfaces whole before lists are called. Between glBegin and glEnd that is not needed,
    /// because lists called there contain no command that needs it, and not possible.
    fn before_called(&mut self) {
        if !self.gl.in_begin() {
            self.make_whole_for_lists();
        }
    }

    fn list_base(&self) -> Option<u32> {
        let base = self.gl.state.get(gl::GL_LIST_BASE).values()?;
        Some(base.int64(0) as u32)
    }

    fn follow_lists(&mut self, kind: u32, names: &[u8]) {
        if self.gl.shared.lists().are_balanced() {
            return;
        }
        let base = self.list_base().unwrap_or(0);
        for offset in list_offsets(kind, names) {
            self.follow_list(base.wrapping_add(offset));
        }
    }

    /// A list was called. It may have raised errors. It may have used another program, unless it is
    /// known to contain no such command.
    fn after_list(&mut self, is_known: bool) {
        self.enc.doubt = ops::GL_CALL_LIST;
        if is_known || self.gl.lists.is_open() && self.gl.lists.only_compiles() {
            return;
        }
        self.gl.objects.list_executed(&self.gl.shared.notes);
    }
}
