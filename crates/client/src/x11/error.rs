//! Raises X errors for GLX calls that are refused.
//!
//! A GLX implementation reports errors as protocol errors, which reach the program through its own
//! Xlib error handler. Our errors never went over the wire, so the handler is called with the event
//! that the X server would have sent.

use super::xlib::{xlib, Display, XErrorEvent};
use std::collections::HashMap;
use std::ffi::c_int;
use std::sync::Mutex;

/// An error, in the terms of the GLX protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GlxError {
    BadContext,
    BadDrawable,
    BadPixmap,
    BadFbConfig,
    BadPbuffer,
    BadWindow,
    BadProfile,
    /// Errors of the core protocol.
    Value,
    Match,
    Access,
    Alloc,
    Font,
    /// The window does not exist any more.
    CoreWindow,
    CorePixmap,
    CoreDrawable,
}

impl GlxError {
    /// The code, and whether it is relative to the GLX extension's first error.
    fn code(self) -> (u8, bool) {
        match self {
            GlxError::BadContext => (0, true),
            GlxError::BadDrawable => (2, true),
            GlxError::BadPixmap => (3, true),
            GlxError::BadFbConfig => (9, true),
            GlxError::BadPbuffer => (10, true),
            GlxError::BadWindow => (12, true),
            GlxError::BadProfile => (13, true),
            GlxError::Value => (2, false),
            GlxError::CoreWindow => (3, false),
            GlxError::CorePixmap => (4, false),
            GlxError::CoreDrawable => (9, false),
            GlxError::Font => (7, false),
            GlxError::Match => (8, false),
            GlxError::Access => (10, false),
            GlxError::Alloc => (11, false),
        }
    }
}

/// Minor opcodes of the GLX protocol. In an error they say which function the program called.
pub mod request {
    pub const CREATE_CONTEXT: u8 = 3;
    pub const DESTROY_CONTEXT: u8 = 4;
    pub const MAKE_CURRENT: u8 = 5;
    pub const COPY_CONTEXT: u8 = 10;
    pub const SWAP_BUFFERS: u8 = 11;
    pub const USE_X_FONT: u8 = 12;
    pub const CREATE_GLX_PIXMAP: u8 = 13;
    pub const VENDOR_PRIVATE: u8 = 16;
    pub const CREATE_PIXMAP: u8 = 22;
    pub const DESTROY_PIXMAP: u8 = 23;
    pub const CREATE_NEW_CONTEXT: u8 = 24;
    pub const MAKE_CONTEXT_CURRENT: u8 = 26;
    pub const CREATE_PBUFFER: u8 = 27;
    pub const DESTROY_PBUFFER: u8 = 28;
    pub const GET_DRAWABLE_ATTRIBUTES: u8 = 29;
    pub const CHANGE_DRAWABLE_ATTRIBUTES: u8 = 30;
    pub const CREATE_WINDOW: u8 = 31;
    pub const DESTROY_WINDOW: u8 = 32;
    pub const CREATE_CONTEXT_ATTRIBS: u8 = 34;
}

/// Calls the program's error handler as if the X server had answered `minor` with `error`.
///
/// # Safety
/// `display` is null (nothing happens) or an open Xlib display.
pub unsafe fn raise(display: *mut Display, error: GlxError, resource: u32, minor: u8) {
    tracing::debug!(?error, resource, minor, "X error");
    let Some(xlib) = xlib() else { return };
    if display.is_null() {
        return;
    }
    // SAFETY: the caller vouches for `display`.
    let Some((major, first)) = (unsafe { glx_codes(display) }) else {
        return;
    };
    let Some(handler) = xlib.error_handler() else {
        return;
    };
    let (code, relative) = error.code();
    let mut event = XErrorEvent {
        kind: 0,
        display,
        resourceid: resource.into(),
        // SAFETY: the caller vouches for `display`.
        serial: unsafe { (xlib.next_request)(display) }.wrapping_sub(1),
        error_code: if relative { first + code } else { code },
        request_code: major,
        minor_code: minor,
    };
    // SAFETY: the program's own handler, with an event that outlives the call.
    unsafe { handler(display, &mut event) };
}

/// Major opcode and first error of the X server's GLX extension.
unsafe fn glx_codes(display: *mut Display) -> Option<(u8, u8)> {
    static KNOWN: Mutex<Option<HashMap<usize, (u8, u8)>>> = Mutex::new(None);
    let xlib = xlib()?;
    let mut known = KNOWN.lock().unwrap_or_else(|e| e.into_inner());
    let known = known.get_or_insert_with(HashMap::new);
    if let Some(codes) = known.get(&(display as usize)) {
        return Some(*codes);
    }
    let (mut major, mut event, mut first): (c_int, c_int, c_int) = (0, 0, 0);
    // SAFETY: the caller vouches for `display`; the three integers outlive the call.
    let there = unsafe {
        (xlib.query_extension)(display, c"GLX".as_ptr(), &mut major, &mut event, &mut first)
    };
    if there == 0 {
        return None;
    }
    let codes = (major as u8, first as u8);
    known.insert(display as usize, codes);
    Some(codes)
}
