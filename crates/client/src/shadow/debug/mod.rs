//! Debug output and debug groups.

pub mod groups;

use core::ffi::c_void;
use groups::Groups;
use mgn_wire::gl::*;

/// The receiver of messages, and whether there are any.
pub struct Debug {
    pub callback: *mut c_void,
    pub user: *const c_void,
    pub output: bool,
    /// Messages are delivered before the command returns.
    pub synchronous: bool,
    /// The callback is being called in this thread.
    pub tells: bool,
    pub groups: Groups,
}

impl Default for Debug {
    fn default() -> Debug {
        Debug {
            callback: std::ptr::null_mut(),
            user: std::ptr::null(),
            output: false,
            synchronous: false,
            tells: false,
            groups: Groups::default(),
        }
    }
}

impl Debug {
    /// Whether messages are recorded or delivered. Then errors are left to the driver, because its
    /// messages explain them better than the client could.
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
