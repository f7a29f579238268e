//! The tables exchanged with libGLX (`glvnd/libglxabi.h`, ABI version 1.0).

use crate::x11::xlib::{Display, Xid};
use std::ffi::{c_char, c_int, c_uchar, c_void};

/// libGLX's handle of a vendor.
#[repr(C)]
pub struct Vendor {
    _opaque: [u8; 0],
}

pub type ContextHandle = *mut c_void;
pub type ConfigHandle = *mut c_void;

/// libGLX's functions for us. Only dispatch functions call them: while an implementation runs,
/// libGLX may hold a lock.
#[repr(C)]
pub struct Exports {
    pub dispatch_of_screen: unsafe extern "C" fn(*mut Display, c_int) -> *mut Vendor,
    pub dispatch_of_current: unsafe extern "C" fn() -> *mut Vendor,
    pub fetch_dispatch_entry: unsafe extern "C" fn(*mut Vendor, c_int) -> *const c_void,
    pub current_context: unsafe extern "C" fn() -> ContextHandle,
    pub add_context: unsafe extern "C" fn(*mut Display, ContextHandle, *mut Vendor) -> c_int,
    pub remove_context: unsafe extern "C" fn(*mut Display, ContextHandle),
    pub vendor_of_context: unsafe extern "C" fn(ContextHandle) -> *mut Vendor,
    pub add_config: unsafe extern "C" fn(*mut Display, ConfigHandle, *mut Vendor) -> c_int,
    pub remove_config: unsafe extern "C" fn(*mut Display, ConfigHandle),
    pub vendor_of_config: unsafe extern "C" fn(*mut Display, ConfigHandle) -> *mut Vendor,
    pub add_drawable: unsafe extern "C" fn(*mut Display, Xid, *mut Vendor) -> c_int,
    pub remove_drawable: unsafe extern "C" fn(*mut Display, Xid),
    pub vendor_of_drawable: unsafe extern "C" fn(*mut Display, Xid) -> *mut Vendor,
}

/// Our functions for libGLX. Entry points are not patched, because that would gain nothing here.
#[repr(C)]
pub struct Imports {
    pub is_screen_supported: Option<unsafe extern "C" fn(*mut Display, c_int) -> c_int>,
    pub proc_address: Option<unsafe extern "C" fn(*const c_char) -> *const c_void>,
    pub dispatch_address: Option<unsafe extern "C" fn(*const c_char) -> *const c_void>,
    pub set_dispatch_index: Option<unsafe extern "C" fn(*const c_char, c_int)>,
    pub notify_error:
        Option<unsafe extern "C" fn(*mut Display, c_uchar, Xid, c_uchar, c_int) -> c_int>,
    pub is_patch_supported: *const c_void,
    pub initiate_patch: *const c_void,
    pub release_patch: *const c_void,
    pub patch_thread_attach: *const c_void,
}

pub const MAJOR_VERSION: u32 = 1;
