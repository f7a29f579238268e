//! glGetError, exactly: errors that the client finds travel in their place, and the answer is local
//! when nothing that can fail is unacknowledged.

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

    /// Raises an error for a command that returns nothing of interest then.
    #[cold]
    pub fn fail<T: Default>(&mut self, code: u32) -> T {
        self.set_error(code);
        T::default()
    }

    /// A command that isn't allowed between glBegin and glEnd.
    #[cold]
    pub fn illegal_in_begin<T: Default>(&mut self) -> T {
        if self.gl.lists.is_open() && self.gl.in_begin() {
            // A display list holds the error and raises it when it is called. Of any command that
            // is wrong here, that is all that the driver puts into the list.
            self.enc.gl_shade_model(gl::GL_SMOOTH);
            self.after_command();
        } else {
            self.set_error(gl::GL_INVALID_OPERATION);
        }
        T::default()
    }

    /// Whether a command that display lists never hold is illegal because of a glBegin. Drivers
    /// execute it at once while a list is compiled, also between a glBegin and a glEnd that the
    /// list holds, since these are executed when the list ends.
    #[inline(always)]
    pub fn is_illegal_now(&self) -> bool {
        self.gl.in_begin() && !self.gl.lists.is_open()
    }

    /// Whether an error that is found here is left to the driver all the same: for its words, or
    /// because a display list holds the command, and with it the error.
    pub fn leaves_errors(&self) -> bool {
        self.gl.debug.is_heard() || self.gl.lists.is_open()
    }

    /// Asks the server for the error that the program asks for; 0 without one.
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

    /// Call this before the shadow's hook of a command. Earlier doubts are about commands that may
    /// fail and have been sent.
    #[inline(always)]
    pub fn before_judged(&mut self) -> u16 {
        self.gl.state.take_doubt();
        self.enc.doubt
    }

    /// Sends a command in which everything was checked that can be wrong with it.
    #[inline(always)]
    pub fn send_infallible(&mut self, send: impl FnOnce(&mut Encoder)) {
        let before = self.enc.doubt;
        send(&mut self.enc);
        self.enc.doubt = before;
    }

    /// A command has been sent that the shadow let pass, and what could fail `before` it can still.
    /// It succeeds unless the shadow has doubts; of OpenGL ES 1 the shadow does not know which
    /// commands it lacks.
    #[inline(always)]
    pub fn judged(&mut self, before: u16) {
        if !self.gl.state.take_doubt() && !self.gl.is_es1() {
            self.enc.doubt = before;
        }
    }

    /// A round trip brought the context's error.
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
            // Every command has this error, and each is reported once.
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
