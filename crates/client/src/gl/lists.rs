//! Display lists. They are compiled by the server; while one is, immediate mode travels call by call.

use super::context;
use mgn_wire::gl;
use mgn_wire::sizes::image::call_lists_bytes;

/// The list under compilation.
#[derive(Default)]
pub struct Lists {
    /// Its name, 0 for none.
    open: u32,
    mode: u32,
}

impl Lists {
    pub fn is_open(&self) -> bool {
        self.open != 0
    }

    /// Whether commands are compiled without being executed, so that they change no state now.
    pub fn only_compiles(&self) -> bool {
        self.mode == gl::GL_COMPILE
    }
}

pub unsafe extern "C" fn glGenLists(range: i32) -> u32 {
    // SAFETY: the only reference in use.
    unsafe {
        let cx = context();
        if cx.gl.in_begin() {
            return cx.illegal_in_begin();
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
        cx.enc.gl_gen_lists(first, range);
        first
    }
}

pub unsafe extern "C" fn glDeleteLists(list: u32, range: i32) {
    // SAFETY: the only reference in use.
    unsafe {
        let cx = context();
        if cx.gl.in_begin() {
            return cx.illegal_in_begin();
        }
        if let Err(error) = cx.gl.state.gl_delete_lists(list, range) {
            return cx.set_error(error.code());
        }
        cx.enc.gl_delete_lists(list, range);
        if range > 0 {
            cx.gl.shared.names().lists.release_range(list, range as u32);
        }
    }
}

pub unsafe extern "C" fn glNewList(list: u32, mode: u32) {
    // SAFETY: the only reference in use.
    unsafe {
        let cx = context();
        if cx.gl.in_begin() {
            return cx.illegal_in_begin();
        }
        if let Err(error) = cx.gl.state.gl_new_list(list, mode) {
            return cx.set_error(error.code());
        }
        cx.gl.lists = Lists { open: list, mode };
        cx.gl.immediate.compiling = true;
        cx.gl.shared.names().lists.use_name(list);
        cx.enc.gl_new_list(list, mode);
    }
}

pub unsafe extern "C" fn glEndList() {
    // SAFETY: the only reference in use.
    unsafe {
        let cx = context();
        if cx.gl.in_begin() {
            return cx.illegal_in_begin();
        }
        if let Err(error) = cx.gl.state.gl_end_list() {
            return cx.set_error(error.code());
        }
        cx.gl.lists = Lists::default();
        cx.gl.immediate.compiling = false;
        cx.enc.gl_end_list();
        cx.enc.fallible = true;
    }
}

pub unsafe extern "C" fn glCallList(list: u32) {
    // SAFETY: the only reference in use.
    unsafe {
        let cx = context();
        cx.go_verbatim();
        cx.enc.gl_call_list(list);
        let _ = cx.gl.state.gl_call_list(list);
        cx.after_list();
    }
}

pub unsafe extern "C" fn glCallLists(n: i32, kind: u32, lists: *const core::ffi::c_void) {
    // SAFETY: the program gives `n` names of type `kind`; the only reference in use.
    unsafe {
        let cx = context();
        cx.go_verbatim();
        if n < 0 {
            return cx.set_error(gl::GL_INVALID_VALUE);
        }
        let Some(bytes) = call_lists_bytes(n, kind) else {
            return cx.set_error(gl::GL_INVALID_ENUM);
        };
        cx.enc.gl_call_lists(n, kind, (lists.cast(), bytes));
        let _ = cx.gl.state.gl_call_lists(n, kind, super::values(lists.cast(), bytes));
        cx.after_list();
    }
}

impl crate::context::Context {
    /// A list may have used another program, and may raise errors.
    fn after_list(&mut self) {
        self.enc.fallible = true;
        if self.gl.lists.is_open() && self.gl.lists.only_compiles() {
            return;
        }
        self.gl.objects.list_executed(&self.gl.shared);
    }
}
