//! The tables exchanged with libEGL (`glvnd/libeglabi.h`, ABI version 0.2).

use std::ffi::{c_char, c_int, c_uint, c_void};

/// libEGL's handle of a vendor.
#[repr(C)]
pub struct Vendor {
    _opaque: [u8; 0],
}

/// `EGLDisplay`, `EGLConfig`, `EGLContext`, `EGLSurface`, `EGLSync`: all are addresses or numbers
/// of ours.
pub type Handle = *mut c_void;
pub type EglBoolean = c_uint;
pub type Attrib = isize;

/// libEGL's functions for us.
#[repr(C)]
pub struct Exports {
    pub thread_init: unsafe extern "C" fn(),
    pub current_api: unsafe extern "C" fn() -> c_uint,
    pub current_vendor: unsafe extern "C" fn() -> *mut Vendor,
    pub current_context: unsafe extern "C" fn() -> Handle,
    pub current_display: unsafe extern "C" fn() -> Handle,
    pub current_surface: unsafe extern "C" fn(c_int) -> Handle,
    pub fetch_dispatch_entry: unsafe extern "C" fn(*mut Vendor, c_int) -> *const c_void,
    pub set_error: unsafe extern "C" fn(c_int),
    pub set_last_vendor: unsafe extern "C" fn(*mut Vendor) -> EglBoolean,
    pub vendor_of_display: unsafe extern "C" fn(Handle) -> *mut Vendor,
    pub vendor_of_device: unsafe extern "C" fn(Handle) -> *mut Vendor,
    pub set_vendor_for_device: unsafe extern "C" fn(Handle, *mut Vendor) -> EglBoolean,
}

/// Our functions for libEGL. Entry points are not patched, because that would gain nothing here.
#[repr(C)]
pub struct Imports {
    pub platform_display:
        Option<unsafe extern "C" fn(c_uint, *mut c_void, *const Attrib) -> Handle>,
    pub supports_api: Option<unsafe extern "C" fn(c_uint) -> EglBoolean>,
    pub vendor_string: Option<unsafe extern "C" fn(c_int) -> *const c_char>,
    pub proc_address: Option<unsafe extern "C" fn(*const c_char) -> *const c_void>,
    pub dispatch_address: Option<unsafe extern "C" fn(*const c_char) -> *const c_void>,
    pub set_dispatch_index: Option<unsafe extern "C" fn(*const c_char, c_int)>,
    pub is_patch_supported: *const c_void,
    pub initiate_patch: *const c_void,
    pub release_patch: *const c_void,
    pub patch_thread_attach: *const c_void,
    pub find_native_display_platform: *const c_void,
}

pub const MAJOR_VERSION: u32 = 0;
