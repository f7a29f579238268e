//! Debug output. The driver's messages and the server's own wait there, and the program's callback is called here, in the program's thread: when an
//! answer says that there are any, and before a frame is handed over. Where the program wants synchronous output, every command that may fail asks for
//! them before it returns.

pub mod bounds;
pub mod labels;

use crate::context::Context;
use crate::gl::{context, values, Tracked};
use core::ffi::c_void;
use mgn_wire::debug::messages;
use mgn_wire::gl::*;
use mgn_wire::{ops, Answer};

type Callback = unsafe extern "C" fn(u32, u32, u32, u32, i32, *const u8, *const c_void);

/// Bytes of messages in one answer; more than there ever are.
const MOST: u32 = (mgn_wire::LONG_MAX / 8) as u32;

/// Who is told of messages, and whether there are any.
pub struct Debug {
    callback: *mut c_void,
    user: *const c_void,
    output: bool,
    pub groups: bounds::Groups,
}

impl Default for Debug {
    fn default() -> Debug {
        Debug {
            callback: std::ptr::null_mut(),
            user: std::ptr::null(),
            output: false,
            groups: bounds::Groups::default(),
        }
    }
}

impl Debug {
    /// Whether messages are kept or told. Then the driver is to refuse commands, and not the client: it has better words for it.
    pub fn is_heard(&self) -> bool {
        self.output
    }

    /// `GL_DEBUG_CALLBACK_FUNCTION` and `GL_DEBUG_CALLBACK_USER_PARAM`.
    pub fn pointer(&self, pname: u32) -> *mut c_void {
        match pname {
            GL_DEBUG_CALLBACK_FUNCTION => self.callback,
            _ => self.user.cast_mut(),
        }
    }
}

impl Context {
    /// The command that is about to return may have failed.
    #[inline(always)]
    pub fn done(&mut self) {
        if self.enc.watched && self.enc.doubt != 0 {
            self.tell();
        }
    }

    /// A moment at which a program expects to have been told, if there is something to tell.
    pub fn hear(&mut self) {
        if self.gl.debug.output && !self.gl.debug.callback.is_null() && self.enc.doubt != 0 {
            self.tell();
        }
    }

    /// Fetches the messages of all commands so far, and calls the program's callback with them.
    #[cold]
    pub fn tell(&mut self) {
        if self.gl.in_begin() {
            return;
        }
        // SAFETY: the context's own encoder.
        unsafe { self.enc.mgn_debug_messages(MOST) };
        let mut answer = self.answer(ops::MGN_DEBUG_MESSAGES);
        let Debug { callback, user, .. } = self.gl.debug;
        if callback.is_null() {
            return;
        }
        // SAFETY: the program gave it as a function of this type.
        let callback = unsafe { std::mem::transmute::<*mut c_void, Callback>(callback) };
        for mut message in messages(answer.next_array(1)) {
            let length = message.text.len() as i32;
            message.text.push(0);
            let text = message.text.as_ptr();
            let (source, kind) = (message.source, message.kind);
            // SAFETY: the program's own function, and a text that ends with NUL.
            unsafe {
                callback(
                    source,
                    kind,
                    message.id,
                    message.severity,
                    length,
                    text,
                    user,
                )
            };
        }
    }

    /// Looks at what the program has said of debug output, after it may have said something else.
    pub fn follow_debug(&mut self) {
        let on = |cap| self.gl.state.is_enabled(cap) == Some(true);
        let (output, synchronous) = (on(GL_DEBUG_OUTPUT), on(GL_DEBUG_OUTPUT_SYNCHRONOUS));
        self.gl.debug.output = output;
        self.enc.watched = output && synchronous && !self.gl.debug.callback.is_null();
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
                if let Some(error) = cx.gl.state.$method(cap).refusal() {
                    if !cx.gl.debug.is_heard() {
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
        // What was said so far is the old one's.
        cx.hear();
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
    // SAFETY: as above; each list is null or has room for `count` values, and `text` is or has room for `size` bytes.
    unsafe {
        let cx = context();
        if cx.gl.in_begin() {
            return cx.illegal_in_begin();
        }
        if size < 0 && !text.is_null() {
            return cx.fail(GL_INVALID_VALUE);
        }
        cx.enc
            .gl_get_debug_message_log(count, size, u8::from(!text.is_null()), MOST);
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
