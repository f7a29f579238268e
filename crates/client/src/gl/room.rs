//! The size of a program's memory for an answer.

use crate::context::Context;
use mgn_wire::gl::GL_INVALID_OPERATION;

impl Context {
    /// Copies an answer to a program's memory of `size` bytes, or raises an error if it does not
    /// fit.
    ///
    /// # Safety
    /// `to` is null or has `size` bytes.
    pub unsafe fn give_sized(&mut self, answer: &[u8], size: i32, to: *mut u8) {
        if !fits(answer.len(), size) {
            self.set_error(GL_INVALID_OPERATION);
        } else if !to.is_null() {
            // SAFETY: it fits, and the caller's promise.
            unsafe { to.copy_from_nonoverlapping(answer.as_ptr(), answer.len()) };
        }
    }
}

/// Whether `bytes` bytes fit into memory of `size` bytes, as the program has passed it. Mesa treats
/// a negative size of pixels as no limit.
pub fn fits(bytes: usize, size: i32) -> bool {
    usize::try_from(size).map_or(true, |size| bytes <= size)
}
