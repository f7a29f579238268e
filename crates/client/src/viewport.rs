//! glViewport, which programs call when a window gets a new size.

use crate::current::with_current;
use crate::entry_points;
use crate::generated::entries;

use std::ffi::c_void;

/// The entry point called `name`, as the window systems hand it out.
pub fn lookup(name: &[u8]) -> Option<*const c_void> {
    match name {
        b"glViewport" => Some(viewport as *const c_void),
        _ => entry_points::lookup(name),
    }
}

/// The next draws, and not only those after the next swap, go to a framebuffer of the window's
/// size.
unsafe extern "C" fn viewport(x: i32, y: i32, width: i32, height: i32) {
    with_current(|cx| cx.follow_viewport((width.max(0) as u32, height.max(0) as u32)));
    // SAFETY: an entry point without pointers.
    unsafe { entries::glViewport(x, y, width, height) };
}
