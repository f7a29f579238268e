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
    /// `GL_LIST_INDEX`.
    pub fn index(&self) -> u32 {
        self.open
    }

    /// `GL_LIST_MODE`.
    pub fn mode(&self) -> u32 {
        self.mode
    }

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
        if list == 0 {
            return cx.set_error(gl::GL_INVALID_VALUE);
        }
        if !matches!(mode, gl::GL_COMPILE | gl::GL_COMPILE_AND_EXECUTE) {
            return cx.set_error(gl::GL_INVALID_ENUM);
        }
        if cx.gl.lists.is_open() {
            return cx.set_error(gl::GL_INVALID_OPERATION);
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
        if !cx.gl.lists.is_open() {
            return cx.set_error(gl::GL_INVALID_OPERATION);
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
        cx.after_list();
    }
}

impl crate::context::Context {
    /// A list may have changed anything.
    fn after_list(&mut self) {
        self.enc.fallible = true;
        if self.gl.lists.is_open() && self.gl.lists.only_compiles() {
            return;
        }
        self.gl.immediate.forget();
        self.gl.state.invalidate_after_list();
    }
}
