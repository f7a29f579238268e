//! Tells debug messages to programs that have asynchronous output. A program may wait for a message
//! without calling OpenGL, so a thread asks the server for messages.
//!
//! When a context sends commands that may fail, it notifies the thread. A moment later the thread
//! fetches the server's messages, unless the context has done so, and calls the program's callback.
//! OpenGL allows that in any thread while output is asynchronous.

use crate::link::session::Session;
use crate::signals::Signals;
use core::ffi::c_void;
use mgn_sys::fork::PerProcess;
use mgn_wire::debug::{messages, Message};
use mgn_wire::{ops, Answer};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

/// The program's callback.
pub type Callback = unsafe extern "C" fn(u32, u32, u32, u32, i32, *const u8, *const c_void);

/// The most bytes of messages in one answer; more than ever exist.
pub const MESSAGE_BYTES_MAX: u32 = (mgn_wire::LONG_MAX / 8) as u32;

/// How long the thread waits for more messages: a context that continues fetches its own messages,
/// and failing commands come in groups.
const COLLECT_INTERVAL: Duration = Duration::from_millis(5);
/// Room for the question to the server.
const QUESTION_BYTES: usize = 64;

/// The program's callback and its user parameter, as numbers.
#[derive(Clone, Copy)]
pub struct Listener {
    callback: usize,
    user: usize,
}

/// The state that a context and the thread share.
pub struct DebugChannel {
    session: &'static Session,
    context: u32,
    /// Set if the thread is to look for messages.
    is_due: AtomicBool,
    /// Only one question of a context is outstanding at a time.
    asking: Mutex<Asking>,
    /// The callback that gets the messages. Locked while messages are fetched and delivered, so
    /// that they arrive in order.
    telling: Mutex<Option<Listener>>,
}

#[derive(Default)]
pub struct Asking {
    /// The server has begun a primitive, during which no question is allowed.
    pub in_begin: bool,
}

impl DebugChannel {
    pub fn new(session: &'static Session, context: u32) -> DebugChannel {
        DebugChannel {
            session,
            context,
            is_due: AtomicBool::new(false),
            asking: Mutex::default(),
            telling: Mutex::new(None),
        }
    }

    /// Locks the channel for questions. To be held while the context asks anything.
    pub fn asking(&self) -> MutexGuard<'_, Asking> {
        self.asking.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Locks the callback. To be held while messages are fetched and delivered.
    pub fn listener(&self) -> MutexGuard<'_, Option<Listener>> {
        self.telling.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Sets the callback that the thread calls from now on, if any. After this has returned, the
    /// thread does not call an earlier callback.
    pub fn tells(&self, callback: usize, user: usize) {
        let listener = Listener { callback, user };
        *self.listener() = (callback != 0).then_some(listener);
    }

    /// Fetches messages and delivers them. Returns whether this must be tried again.
    fn deliver_messages(&self) -> bool {
        let listener = self.listener();
        let Some(Listener { callback, user }) = *listener else {
            return false;
        };
        let answered = {
            let asking = self.asking();
            if asking.in_begin {
                return true;
            }
            let number = (self.session).message(self.context, QUESTION_BYTES, |e| {
                e.mgn_debug_messages(MESSAGE_BYTES_MAX)
            });
            self.session
                .answer(self.context, ops::MGN_DEBUG_MESSAGES, number)
        };
        // SAFETY: the program gave it as a function of this type.
        let callback = unsafe { std::mem::transmute::<usize, Callback>(callback) };
        for message in messages(Answer::new(answered.bytes).next_array(1)) {
            // SAFETY: the program's callback, with the program's parameter.
            unsafe { call(callback, message, user as *const _) };
        }
        false
    }
}

/// Delivers one message.
///
/// # Safety
/// `callback` is the program's own, and `user` is the program's parameter for it.
pub unsafe fn call(callback: Callback, mut message: Message, user: *const c_void) {
    let length = message.text.len() as i32;
    message.text.push(0);
    let Message {
        source,
        kind,
        id,
        severity,
        text,
    } = &message;
    // SAFETY: the caller's promise, and a text that ends with NUL.
    unsafe { callback(*source, *kind, *id, *severity, length, text.as_ptr(), user) };
}

/// The debug thread of the process, and the contexts that have notified it.
#[derive(Default)]
pub struct DebugThread {
    state: Mutex<State>,
    came: Condvar,
}

#[derive(Default)]
struct State {
    channels: Vec<Arc<DebugChannel>>,
    runs: bool,
}

/// The instance of this process.
pub fn debug_thread() -> &'static DebugThread {
    static INSTANCE: PerProcess<DebugThread> = PerProcess::new();
    INSTANCE.get()
}

impl DebugThread {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Notifies the thread that a context has sent something that may have failed.
    pub fn remind(&'static self, debug_channel: &Arc<DebugChannel>) {
        if debug_channel.is_due.swap(true, Ordering::AcqRel) {
            return;
        }
        let mut state = self.state();
        state.channels.push(debug_channel.clone());
        if !state.runs {
            let _signals = Signals::block_all();
            let thread = std::thread::Builder::new().name("mgn-messages".into());
            // If the thread cannot be started, messages come when the context asks for something.
            state.runs = thread.spawn(|| debug_thread().run()).is_ok();
        }
        drop(state);
        self.came.notify_one();
    }

    fn run(&self) {
        loop {
            let mut state = self.state();
            while state.channels.is_empty() {
                state = self.came.wait(state).unwrap_or_else(|e| e.into_inner());
            }
            drop(state);
            std::thread::sleep(COLLECT_INTERVAL);
            let channels = std::mem::take(&mut self.state().channels);
            for debug_channel in channels {
                // Commands that are sent from now on set the flag again.
                debug_channel.is_due.store(false, Ordering::Release);
                if debug_channel.deliver_messages()
                    && !debug_channel.is_due.swap(true, Ordering::AcqRel)
                {
                    self.state().channels.push(debug_channel);
                }
            }
        }
    }
}
