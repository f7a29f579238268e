//! Strings.

use crate::x11::xlib::Display;
use std::ffi::{c_char, c_int, CStr};

/// Every extension here works; `glXGetProcAddress` answers for any name, so this list is the contract.
const EXTENSIONS: &CStr = c"GLX_ARB_context_flush_control GLX_ARB_create_context GLX_ARB_create_context_no_error GLX_ARB_create_context_profile GLX_ARB_get_proc_address GLX_ARB_multisample \
GLX_EXT_create_context_es2_profile GLX_EXT_create_context_es_profile GLX_EXT_swap_control GLX_EXT_visual_info GLX_EXT_visual_rating \
GLX_MESA_swap_control GLX_SGI_swap_control";

pub unsafe extern "C" fn query_extensions_string(
    _display: *mut Display,
    _screen: c_int,
) -> *const c_char {
    EXTENSIONS.as_ptr()
}

pub unsafe extern "C" fn query_server_string(
    _display: *mut Display,
    _screen: c_int,
    name: c_int,
) -> *const c_char {
    string(name)
}

pub unsafe extern "C" fn get_client_string(_display: *mut Display, name: c_int) -> *const c_char {
    string(name)
}

fn string(name: c_int) -> *const c_char {
    match name {
        1 => c"Manganese".as_ptr(),
        2 => c"1.4".as_ptr(),
        3 => EXTENSIONS.as_ptr(),
        _ => std::ptr::null(),
    }
}
