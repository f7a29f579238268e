//! glViewport, which programs call when the size of a window changes.

use crate::current::with_current;
use crate::entry_points;
use crate::generated::entries;

use std::ffi::c_void;

/// The entry point called `name`, as the window systems return it.
pub fn lookup(name: &[u8]) -> Option<*const c_void> {
    match name {
        b"glViewport" => Some(viewport as *const c_void),
        _ => entry_points::lookup(name),
    }
}

/// The next draws already go to a framebuffer of the window's size, not only those after the next
/// swap.
unsafe extern "C" fn viewport(x: i32, y: i32, width: i32, height: i32) {
    with_current(|cx| cx.follow_viewport((width.max(0) as u32, height.max(0) as u32)));
    // SAFETY: an entry point without pointers.
    unsafe { entries::glViewport(x, y, width, height) };
}
