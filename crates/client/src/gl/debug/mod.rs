//! Debug output. The server stores the messages of the driver and its own. The program's callback
//! is called here, in the program's thread: when an answer says that there are messages, and before
//! a frame is handed over. If the program wants synchronous output, every command that may fail
//! fetches messages before it returns. Otherwise the command is sent at once, and a thread fetches
//! the messages a moment later (`debug_thread`).

pub mod labels;

use crate::context::Context;
use crate::current::context;
use crate::debug_thread::{call, debug_thread, Callback, DebugChannel, MESSAGE_BYTES_MAX};
use crate::gl::arrays::entries::follow_array_switches;
use crate::gl::tracked::{values, Tracked};
use crate::shadow::debug::Debug;
use core::ffi::c_void;
use mgn_wire::debug::messages;
use mgn_wire::gl::*;
use mgn_wire::{ops, Answer};
use std::sync::Arc;

/// A bit of `Encoder::doubt`, in addition to the command's number: the command that may fail has
/// been sent, and the debug thread has been notified.
pub const SENT: u16 = 1 << 15;

impl Context {
    /// Called before a command returns that may have failed.
    #[inline(always)]
    pub fn after_command(&mut self) {
        if self.enc.watched && self.enc.doubt != 0 {
            self.watch();
        }
    }

    #[cold]
    fn watch(&mut self) {
        if self.gl.debug.synchronous {
            return self.deliver_messages();
        }
        // A later command that cannot fail does not change the doubt.
        if self.enc.doubt & SENT != 0 || self.gl.immediate.hides_room() {
            return;
        }
        if let Some(debug_channel) = self.debug_channel.clone() {
            self.flush();
            self.enc.doubt |= SENT;
            debug_thread().remind(&debug_channel);
        }
    }

    /// The state that this context shares with the debug thread.
    pub fn debug_channel(&self) -> Option<Arc<DebugChannel>> {
        self.debug_channel.clone()
    }

    /// A primitive begins. The server cannot be asked for anything until it ends.
    #[cold]
    pub fn watched_begin(&mut self) {
        if let Some(debug_channel) = &self.debug_channel {
            debug_channel.asking().in_begin = true;
        }
    }

    /// The primitive has ended.
    #[cold]
    pub fn watched_end(&mut self) {
        if let Some(debug_channel) = self.debug_channel() {
            self.flush();
            debug_channel.asking().in_begin = false;
        }
    }

    /// Delivers messages at a moment at which a program expects that earlier ones have been
    /// delivered.
    pub fn deliver_expected_messages(&mut self) {
        if self.gl.debug.output && !self.gl.debug.callback.is_null() && self.enc.doubt != 0 {
            self.deliver_messages();
        }
    }

    /// Fetches the messages of all commands so far, and calls the program's callback with them.
    #[cold]
    pub fn deliver_messages(&mut self) {
        if self.gl.in_begin() {
            return;
        }
        // The callback may call OpenGL, which may cause more messages.
        let outermost = !std::mem::replace(&mut self.gl.debug.tells, true);
        let debug_channel = self.debug_channel().filter(|_| outermost);
        let turn = debug_channel
            .as_ref()
            .map(|debug_channel| debug_channel.listener());
        self.enc.mgn_debug_messages(MESSAGE_BYTES_MAX);
        let mut answer = self.answer(ops::MGN_DEBUG_MESSAGES);
        let Debug { callback, user, .. } = self.gl.debug;
        if !callback.is_null() {
            // SAFETY: the program gave it as a function of this type.
            let callback = unsafe { std::mem::transmute::<*mut c_void, Callback>(callback) };
            for message in messages(answer.next_array(1)) {
                // SAFETY: the program's own function and its parameter.
                unsafe { call(callback, message, user) };
            }
        }
        drop(turn);
        if outermost {
            self.gl.debug.tells = false;
            self.follow_line();
        }
    }

    /// Reads the program's settings of debug output, after they may have changed.
    pub fn follow_debug(&mut self) {
        let on = |cap| self.gl.state.is_enabled(cap) == Some(true);
        let (output, synchronous) = (on(GL_DEBUG_OUTPUT), on(GL_DEBUG_OUTPUT_SYNCHRONOUS));
        self.gl.debug.output = output;
        self.gl.debug.synchronous = synchronous;
        self.enc.watched = output && !self.gl.debug.callback.is_null();
        self.follow_line();
    }

    /// Gives the debug thread the program's callback if it may be called in another thread. If the
    /// callback is running, this waits until it has returned.
    fn follow_line(&mut self) {
        if self.gl.debug.tells {
            return;
        }
        let apart = self.enc.watched && !self.gl.debug.synchronous;
        if let (true, None, Some(session)) = (apart, &self.debug_channel, self.session) {
            self.debug_channel = Some(Arc::new(DebugChannel::new(session, self.id)));
        }
        if let Some(debug_channel) = &self.debug_channel {
            let Debug { callback, user, .. } = self.gl.debug;
            let callback = if apart { callback as usize } else { 0 };
            debug_channel.tells(callback, user as usize);
        }
    }

    /// The context is destroyed: its callback gets no more messages.
    pub fn hang_up(&mut self) {
        if let Some(debug_channel) = &self.debug_channel {
            debug_channel.tells(0, 0);
        }
    }
}

/// glEnable and glDisable.
macro_rules! switches {
    ($($name:ident: $method:ident;)*) => {$(
        pub unsafe extern "C" fn $name(cap: u32) {
            // SAFETY: the only reference in use, to the thread's own context.
            unsafe {
                let cx = context();
                if cx.gl.in_begin() {
                    return cx.illegal_in_begin();
                }
                let before = cx.before_judged();
                let refusal = cx.gl.state.$method(cap).refusal();
                if cx.gl.state.is_array_switch(cap) {
                    // The client stores the enabled arrays, so no server list has this command.
                    return follow_array_switches(cx);
                }
                if let Some(error) = refusal {
                    if !cx.leaves_errors() {
                        return cx.fail(error);
                    }
                    cx.gl.state.doubt();
                }
                cx.enc.$method(cap);
                cx.judged(before);
                if cap == GL_FRAGMENT_SHADER_ATI {
                    cx.gl.objects.ati_fragments_enabled();
                }
                if matches!(cap, GL_DEBUG_OUTPUT | GL_DEBUG_OUTPUT_SYNCHRONOUS) {
                    cx.follow_debug();
                }
            }
        }
    )*};
}

switches! {
    glEnable: gl_enable;
    glDisable: gl_disable;
}

pub unsafe extern "C" fn glDebugMessageCallback(callback: *mut c_void, user: *const c_void) {
    // SAFETY: as above.
    unsafe {
        let cx = context();
        if cx.gl.in_begin() {
            return cx.illegal_in_begin();
        }
        // Messages so far are for the old callback.
        cx.deliver_expected_messages();
        cx.gl.debug.callback = callback;
        cx.gl.debug.user = user;
        cx.follow_debug();
        cx.enc
            .gl_debug_message_callback(u8::from(!callback.is_null()));
    }
}

pub unsafe extern "C" fn glDebugMessageInsert(
    source: u32,
    type_: u32,
    id: u32,
    severity: u32,
    length: i32,
    text: *const u8,
) {
    // SAFETY: as above; the program gives `length` bytes, or a text that ends with NUL.
    unsafe {
        let cx = context();
        let text = labels::text(text, length);
        cx.enc
            .gl_debug_message_insert(source, type_, id, severity, length, text);
    }
}

pub unsafe extern "C" fn glPushDebugGroup(source: u32, id: u32, length: i32, text: *const u8) {
    // SAFETY: as above.
    unsafe {
        let cx = context();
        let text = labels::text(text, length);
        cx.enc.gl_push_debug_group(source, id, length, text);
        if !cx.gl.in_begin() {
            cx.gl.debug.groups.push(source, values(text.0, text.1));
        }
    }
}

pub unsafe extern "C" fn glPopDebugGroup() {
    // SAFETY: as above.
    unsafe {
        let cx = context();
        cx.enc.gl_pop_debug_group();
        if !cx.gl.in_begin() {
            cx.gl.debug.groups.pop();
        }
    }
}

pub unsafe extern "C" fn glGetDebugMessageLog(
    count: u32,
    size: i32,
    sources: *mut u32,
    types: *mut u32,
    ids: *mut u32,
    severities: *mut u32,
    lengths: *mut i32,
    mut text: *mut u8,
) -> u32 {
    // SAFETY: as above; each list is null or has room for `count` values, and `text` is or has room
    // for `size` bytes.
    unsafe {
        let cx = context();
        if cx.gl.in_begin() {
            return cx.illegal_in_begin();
        }
        if size < 0 && !text.is_null() {
            return cx.fail(GL_INVALID_VALUE);
        }
        cx.enc
            .gl_get_debug_message_log(count, size, u8::from(!text.is_null()), MESSAGE_BYTES_MAX);
        let mut answer: Answer = cx.answer(ops::GL_GET_DEBUG_MESSAGE_LOG);
        let mut room = size;
        let mut taken = 0;
        for message in messages(answer.next_array(1)).iter().take(count as usize) {
            let length = message.text.len() as i32 + 1;
            if !text.is_null() {
                if room < length {
                    break;
                }
                text.copy_from_nonoverlapping(message.text.as_ptr(), message.text.len());
                text.add(message.text.len()).write(0);
                text = text.add(length as usize);
                room -= length;
            }
            put(sources, taken, message.source);
            put(types, taken, message.kind);
            put(ids, taken, message.id);
            put(severities, taken, message.severity);
            put(lengths, taken, length);
            taken += 1;
        }
        taken as u32
    }
}

/// # Safety
/// `list` is null or has room for a value at `at`.
unsafe fn put<T>(list: *mut T, at: usize, value: T) {
    if !list.is_null() {
        // SAFETY: the caller's promise.
        unsafe { list.add(at).write(value) };
    }
}
