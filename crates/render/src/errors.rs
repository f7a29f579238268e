//! A context's error, which may be raised by the client, the renderer or the driver.

use crate::debug::Debug;
use mgn_wire::gl::GL_NO_ERROR;
use std::cell::{Cell, RefCell};
use std::sync::Arc;

/// The error of the current context: the first one that has not been read yet. OpenGL keeps one
/// error until it is read, and drops later errors.
pub struct Errors {
    get_error: unsafe extern "C" fn() -> u32,
    pending: Cell<u32>,
    current: Cell<bool>,
    /// The debug messages of the current context.
    debug: RefCell<Option<Arc<Debug>>>,
}

impl Errors {
    pub(crate) fn new(get_error: unsafe extern "C" fn() -> u32) -> Errors {
        Errors {
            get_error,
            pending: Cell::new(GL_NO_ERROR),
            current: Cell::new(false),
            debug: RefCell::default(),
        }
    }

    /// The error, which is kept; GL_NO_ERROR if no context is current.
    pub fn peek(&self) -> u32 {
        if !self.current.get() {
            return GL_NO_ERROR;
        }
        // SAFETY: takes no arguments. `Errors` is not `Sync`, so the renderer's thread asks, and a
        // context is current there.
        let driver = unsafe { (self.get_error)() };
        if self.pending.get() == GL_NO_ERROR {
            self.pending.set(driver);
        }
        self.pending.get()
    }

    /// Whether the driver has raised an error since it was last asked. The error is kept.
    pub(crate) fn is_new(&self) -> bool {
        let driver = if self.current.get() {
            // SAFETY: as for `peek`.
            unsafe { (self.get_error)() }
        } else {
            GL_NO_ERROR
        };
        if self.pending.get() == GL_NO_ERROR {
            self.pending.set(driver);
        }
        driver != GL_NO_ERROR
    }

    /// Raises an error that the driver did not raise.
    pub(crate) fn add(&self, code: u32) {
        if let Some(debug) = &*self.debug.borrow() {
            debug.error(code);
        }
        self.keep(code);
    }

    /// Keeps an error that was taken from the driver and has not been read yet.
    pub(crate) fn keep(&self, code: u32) {
        if self.peek() == GL_NO_ERROR && self.current.get() {
            self.pending.set(code);
        }
    }

    /// Whether messages of debug output wait for the program.
    pub fn has_messages(&self) -> bool {
        let debug = self.debug.borrow();
        debug.as_ref().is_some_and(|debug| debug.has_messages())
    }

    /// Takes the error, and forgets it.
    pub(crate) fn take(&self) -> u32 {
        let error = self.peek();
        self.pending.set(GL_NO_ERROR);
        error
    }

    pub(crate) fn enter(&self, pending: u32, debug: Arc<Debug>) {
        self.pending.set(pending);
        self.current.set(true);
        self.debug.replace(Some(debug));
    }

    /// The error to keep until the context is entered again. An error in the driver stays there.
    pub(crate) fn leave(&self) -> u32 {
        self.current.set(false);
        self.debug.replace(None);
        self.pending.replace(GL_NO_ERROR)
    }
}
