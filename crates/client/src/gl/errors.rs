//! Exact glGetError. Errors that the client finds are sent in their place in the stream. The answer
//! is local if every command that may fail has been acknowledged.

use super::debug::SENT;
use crate::context::Context;
use crate::current::context;
use mgn_wire::encoder::Encoder;
use mgn_wire::{gl, ops};

impl Context {
    /// Raises an error in its place in the stream.
    #[cold]
    pub fn set_error(&mut self, code: u32) {
        if self.gl.in_begin() {
            self.gl.immediate.pending_error.get_or_insert(code);
            return;
        }
        self.enc.mgn_set_error(code);
        self.after_command();
    }

    /// Raises an error for a command whose return value does not matter then.
    #[cold]
    pub fn fail<T: Default>(&mut self, code: u32) -> T {
        self.set_error(code);
        T::default()
    }

    /// Raises the error of a command that is not allowed between glBegin and glEnd.
    #[cold]
    pub fn illegal_in_begin<T: Default>(&mut self) -> T {
        if self.gl.lists.is_open() && self.gl.in_begin() {
            // A display list contains the error, and raises it when it is called. The driver puts
            // nothing else into the list for any command that is wrong here.
            self.enc.gl_shade_model(gl::GL_SMOOTH);
            self.after_command();
        } else {
            self.set_error(gl::GL_INVALID_OPERATION);
        }
        T::default()
    }

    /// Whether a command that display lists never contain is illegal because of a glBegin. While a
    /// list is compiled, drivers execute such a command at once, also between a compiled glBegin
    /// and glEnd, because these are executed when the list ends.
    #[inline(always)]
    pub fn is_illegal_now(&self) -> bool {
        self.gl.in_begin() && !self.gl.lists.is_open()
    }

    /// Whether an error that is found here is left to the driver nevertheless: for its message, or
    /// because a display list is to contain the command, and with it the error.
    pub fn leaves_errors(&self) -> bool {
        self.gl.debug.is_heard() || self.gl.lists.is_open()
    }

    /// Asks the server for the error that the program queries; 0 if there is none.
    pub fn ask_error(&mut self) -> u32 {
        if let (true, Some(session)) = (self.enc.doubt != 0, self.session) {
            session.stats.doubted(self.enc.doubt & !SENT);
        }
        self.enc.mgn_get_error(1);
        let mut answer = self.answer(ops::MGN_GET_ERROR);
        let mut code = 0;
        // SAFETY: there is room for the one code.
        unsafe { answer.array(&raw mut code, 1) };
        self.gl.errors.clear();
        self.settle_known_success(code);
        self.gl.known_success.want();
        self.enc.doubt = 0;
        self.shown_error(code)
    }

    /// Call this before the shadow executes a command. Returns the doubt about earlier commands.
    #[inline(always)]
    pub fn before_judged(&mut self) -> u16 {
        self.gl.state.take_doubt();
        self.enc.doubt
    }

    /// Sends a command after a complete check for errors.
    #[inline(always)]
    pub fn send_infallible(&mut self, send: impl FnOnce(&mut Encoder)) {
        let before = self.enc.doubt;
        send(&mut self.enc);
        self.enc.doubt = before;
    }

    /// Call this after a command that the shadow has accepted. The doubt from `before` remains. The
    /// command itself succeeds, unless the shadow has doubts. In OpenGL ES 1, a command may be
    /// missing, which the shadow does not know.
    #[inline(always)]
    pub fn judged(&mut self, before: u16) {
        if !self.gl.state.take_doubt() && !self.gl.is_es1() {
            self.enc.doubt = before;
        }
    }

    /// Records the context's error, which a round trip has returned.
    pub fn error_reported(&mut self, code: u32) {
        self.settle_known_success(code);
        self.enc.doubt = 0;
        self.gl.errors.report(code);
    }
}

pub unsafe extern "C" fn glGetError() -> u32 {
    // SAFETY: the only reference in use, to the thread's own context.
    unsafe {
        let cx = context();
        if cx.is_illegal_now() {
            return match cx.error_of_begin() {
                Some(code) => code,
                None => cx.illegal_in_begin(),
            };
        }
        if cx.is_lost() {
            // Every command raises this error, and each one is reported once.
            return match std::mem::take(&mut cx.enc.doubt) {
                0 => gl::GL_NO_ERROR,
                _ => gl::GL_CONTEXT_LOST,
            };
        }
        if cx.enc.doubt != 0 || cx.gl.errors.is_reported() {
            return cx.ask_error();
        }
        gl::GL_NO_ERROR
    }
}

pub unsafe extern "C" fn glFlush() {
    // SAFETY: as above.
    unsafe {
        let cx = context();
        if cx.is_illegal_now() {
            return cx.illegal_in_begin();
        }
        cx.enc.mgn_flush();
        cx.present_front();
        cx.deliver_expected_messages();
        cx.flush();
    }
}

pub unsafe extern "C" fn glFinish() {
    // SAFETY: as above.
    unsafe {
        let cx = context();
        if cx.is_illegal_now() {
            return cx.illegal_in_begin();
        }
        cx.finish();
    }
}
