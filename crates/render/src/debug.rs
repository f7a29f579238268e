//! Debug output: the driver's messages about a context, and messages about errors that the renderer
//! finds in the driver's place, on their way to the program.
//!
//! The driver filters its own messages as the program has asked. It cannot filter the renderer's
//! messages, so the renderer tracks whether those pass. They are all of one kind.

use mgn_wire::debug::Message;
use mgn_wire::gl::*;
use std::collections::VecDeque;
use std::ffi::{c_char, c_void, CStr};
use std::sync::{Mutex, MutexGuard, OnceLock};

/// The most messages that are kept for a program with a callback. The program takes them at the
/// next answer at the latest. Further messages are lost.
const CALLBACK_MESSAGES_MAX: usize = 1 << 14;
/// Longer messages are cut. No driver sends such messages.
const MESSAGE_MAX: usize = 1 << 16;

/// A context's messages. The driver may call the callback from any of its threads.
#[derive(Default)]
pub(crate) struct Debug(Mutex<State>);

#[derive(Default)]
struct State {
    /// `GL_DEBUG_OUTPUT`.
    output: bool,
    /// Whether the program has a callback.
    called: bool,
    /// Whether messages are dropped, because the current work is not the program's.
    muted: bool,
    for_callback: Vec<Message>,
    log: VecDeque<Message>,
    log_most: usize,
    /// Whether messages about OpenGL errors are hidden: for each open group except the outermost,
    /// the value outside of it; and the current value.
    outer_groups: Vec<bool>,
    errors_hidden: bool,
}

/// The id that Mesa and other drivers use for all OpenGL errors; it may differ between processes.
/// Unset before the first error.
static ERROR_ID: OnceLock<u32> = OnceLock::new();

impl Debug {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(|e| e.into_inner())
    }

    pub fn start(&self, output: bool, log_most: usize) {
        let mut state = self.state();
        (state.output, state.log_most) = (output, log_most);
    }

    pub fn set_output(&self, output: bool) {
        self.state().output = output;
    }

    pub fn set_called(&self, called: bool) {
        self.state().called = called;
    }

    /// Drops messages while `muted` is set.
    pub fn mute(&self, muted: bool) {
        self.state().muted = muted;
    }

    /// Remembers the id of the error message that the driver has just sent, if it is the first.
    pub fn learn_error_id(&self) {
        let mut state = self.state();
        if let Some(message) = state.log.pop_front() {
            let _ = ERROR_ID.set(message.id);
        }
    }

    pub fn knows_error_id() -> bool {
        ERROR_ID.get().is_some()
    }

    /// Adds a message about an error that the driver does not know. Its text differs from Mesa's,
    /// which names the command and the reason.
    pub fn error(&self, code: u32) {
        let mut state = self.state();
        if state.output && !state.errors_hidden {
            state.push(Message {
                source: GL_DEBUG_SOURCE_API,
                kind: GL_DEBUG_TYPE_ERROR,
                id: ERROR_ID.get().copied().unwrap_or(0),
                severity: GL_DEBUG_SEVERITY_HIGH,
                text: format!("{} in a command of OpenGL", name(code)).into_bytes(),
            });
        }
    }

    /// To be called after the driver has accepted glDebugMessageControl.
    pub fn control(&self, source: u32, kind: u32, severity: u32, ids: &[u32], enabled: bool) {
        let is = |value: u32, ours: u32| value == ours || value == GL_DONT_CARE;
        let about_errors = is(source, GL_DEBUG_SOURCE_API)
            && is(kind, GL_DEBUG_TYPE_ERROR)
            && is(severity, GL_DEBUG_SEVERITY_HIGH)
            && (ids.is_empty() || ERROR_ID.get().is_some_and(|id| ids.contains(id)));
        if about_errors {
            self.state().errors_hidden = !enabled;
        }
    }

    /// To be called when there are `depth` groups, including the outermost.
    pub fn set_depth(&self, depth: usize) {
        let mut state = self.state();
        while state.outer_groups.len() + 1 < depth {
            let hidden = state.errors_hidden;
            state.outer_groups.push(hidden);
        }
        while state.outer_groups.len() + 1 > depth.max(1) {
            if let Some(hidden) = state.outer_groups.pop() {
                state.errors_hidden = hidden;
            }
        }
    }

    /// Whether messages are waiting for the client.
    pub fn has_messages(&self) -> bool {
        !self.state().for_callback.is_empty()
    }

    pub fn take_messages(&self) -> Vec<Message> {
        std::mem::take(&mut self.state().for_callback)
    }

    /// The number of messages in the log, and the bytes of the first one with its end mark.
    pub fn logged(&self) -> (usize, usize) {
        let state = self.state();
        (
            state.log.len(),
            state.log.front().map_or(0, |m| m.text.len() + 1),
        )
    }

    /// Takes up to `count` messages out of the log, and no more than fit into `room` bytes with
    /// their end marks.
    pub fn take_logged(&self, count: usize, mut room: Option<usize>) -> Vec<Message> {
        let mut state = self.state();
        let mut taken = Vec::new();
        while taken.len() < count {
            let Some(bytes) = state.log.front().map(|m| m.text.len() + 1) else {
                break;
            };
            if let Some(left) = &mut room {
                match left.checked_sub(bytes) {
                    Some(rest) => *left = rest,
                    None => break,
                }
            }
            taken.extend(state.log.pop_front());
        }
        taken
    }

    /// The driver's callback. `user` is the context's `Debug`.
    ///
    /// # Safety
    /// `text` has `length` bytes, or ends with NUL if that is negative; `user` lives as long as the
    /// driver's context.
    pub unsafe extern "system" fn on_message(
        source: u32,
        kind: u32,
        id: u32,
        severity: u32,
        length: i32,
        text: *const c_char,
        user: *const c_void,
    ) {
        if text.is_null() {
            return;
        }
        // SAFETY: the caller's promise.
        let (text, debug) = unsafe {
            let text = match usize::try_from(length) {
                Ok(length) => std::slice::from_raw_parts(text.cast::<u8>(), length),
                Err(_) => CStr::from_ptr(text).to_bytes(),
            };
            (text, &*user.cast::<Debug>())
        };
        debug.state().push(Message {
            source,
            kind,
            id,
            severity,
            text: text[..text.len().min(MESSAGE_MAX)].to_vec(),
        });
    }
}

impl State {
    fn push(&mut self, message: Message) {
        if self.muted {
            return;
        }
        if self.called {
            if self.for_callback.len() < CALLBACK_MESSAGES_MAX {
                self.for_callback.push(message);
            }
        } else if self.log.len() < self.log_most {
            self.log.push_back(message);
        }
    }
}

fn name(code: u32) -> &'static str {
    match code {
        GL_INVALID_ENUM => "GL_INVALID_ENUM",
        GL_INVALID_VALUE => "GL_INVALID_VALUE",
        GL_INVALID_OPERATION => "GL_INVALID_OPERATION",
        GL_STACK_OVERFLOW => "GL_STACK_OVERFLOW",
        GL_STACK_UNDERFLOW => "GL_STACK_UNDERFLOW",
        GL_OUT_OF_MEMORY => "GL_OUT_OF_MEMORY",
        GL_INVALID_FRAMEBUFFER_OPERATION => "GL_INVALID_FRAMEBUFFER_OPERATION",
        GL_CONTEXT_LOST => "GL_CONTEXT_LOST",
        _ => "an error",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_filtered_as_the_groups_say() {
        let debug = Debug::default();
        debug.start(true, 3);
        let ours = (GL_DEBUG_SOURCE_API, GL_DEBUG_TYPE_ERROR);
        let logged = || debug.logged().0;
        debug.error(GL_INVALID_ENUM);
        debug.set_depth(2);
        debug.control(ours.0, GL_DONT_CARE, GL_DONT_CARE, &[], false);
        debug.error(GL_INVALID_ENUM);
        assert_eq!(logged(), 1);
        debug.control(ours.0, ours.1, GL_DEBUG_SEVERITY_LOW, &[], true);
        debug.error(GL_INVALID_ENUM);
        assert_eq!(logged(), 1);
        debug.set_depth(1);
        for _ in 0..5 {
            debug.error(GL_INVALID_ENUM);
        }
        assert_eq!(logged(), 3, "the log is full");
        let (_, bytes) = debug.logged();
        assert!(debug.take_logged(5, Some(bytes - 1)).is_empty());
        assert_eq!(debug.take_logged(5, Some(2 * bytes)).len(), 2);
        assert_eq!(debug.take_logged(5, None).len(), 1);
        debug.set_called(true);
        debug.error(GL_INVALID_VALUE);
        assert_eq!((logged(), debug.take_messages().len()), (0, 1));
        assert!(!debug.has_messages());
    }
}
