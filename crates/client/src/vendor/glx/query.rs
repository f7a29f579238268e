//! Queries of strings.

use crate::link::begin::session;
use crate::x11::xlib::Display;
use std::ffi::{c_char, c_int, CString};
use std::sync::OnceLock;

/// Every extension here works; `glXGetProcAddress` answers for any name, so this list is the
/// contract.
const EXTENSIONS: &str = "GLX_ARB_context_flush_control GLX_ARB_create_context GLX_ARB_create_context_no_error GLX_ARB_create_context_profile GLX_ARB_fbconfig_float \
GLX_ARB_framebuffer_sRGB GLX_ARB_get_proc_address GLX_ARB_multisample GLX_EXT_create_context_es2_profile GLX_EXT_create_context_es_profile \
GLX_EXT_fbconfig_packed_float GLX_EXT_framebuffer_sRGB GLX_EXT_no_config_context GLX_EXT_texture_from_pixmap GLX_EXT_visual_info \
GLX_EXT_visual_rating GLX_MESA_copy_sub_buffer GLX_MESA_query_renderer GLX_OML_swap_method GLX_SGIS_multisample GLX_SGIX_fbconfig \
GLX_SGIX_pbuffer GLX_SGIX_visual_select_group GLX_SGI_make_current_read";

/// The extensions that are available with the render server's driver.
fn extensions() -> *const c_char {
    static LIST: OnceLock<CString> = OnceLock::new();
    let list = LIST.get_or_init(|| {
        let dialect = session().map(|session| session.dialect());
        let is_there = |name: &&str| {
            *name != "GLX_OML_swap_method" || dialect.is_none_or(|d| d.has_swap_method())
        };
        let names: Vec<&str> = EXTENSIONS.split(' ').filter(is_there).collect();
        CString::new(names.join(" ")).unwrap_or_default()
    });
    list.as_ptr()
}

pub unsafe extern "C" fn query_extensions_string(
    display: *mut Display,
    screen: c_int,
) -> *const c_char {
    // SAFETY: the program's display, passed on by libGLX.
    match unsafe { super::extensions::has_screen(display, screen) } {
        true => extensions(),
        false => std::ptr::null(),
    }
}

pub unsafe extern "C" fn query_server_string(
    display: *mut Display,
    screen: c_int,
    name: c_int,
) -> *const c_char {
    // SAFETY: as above.
    match unsafe { super::extensions::has_screen(display, screen) } {
        true => string(name),
        false => std::ptr::null(),
    }
}

pub unsafe extern "C" fn get_client_string(_display: *mut Display, name: c_int) -> *const c_char {
    string(name)
}

fn string(name: c_int) -> *const c_char {
    match name {
        1 => c"Manganese".as_ptr(),
        2 => c"1.4".as_ptr(),
        3 => extensions(),
        _ => std::ptr::null(),
    }
}
