//! The text of a thread's last error.

use std::cell::RefCell;
use std::ffi::{c_char, CString};

thread_local! {
    static LAST: RefCell<CString> = RefCell::default();
}

/// The text, which is valid until the next `set` in this thread. Never null.
pub(crate) fn get() -> *const c_char {
    // A thread that is ending may already have dropped the text.
    LAST.try_with(|last| last.borrow().as_ptr())
        .unwrap_or(c"".as_ptr())
}

pub(crate) fn set(text: &str) {
    let text = CString::new(text.replace('\0', " ")).unwrap_or_default();
    let _ = LAST.try_with(|last| last.replace(text));
}
