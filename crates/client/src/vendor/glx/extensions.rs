//! Functions of GLX extensions that fit no other file: the renderer, frame counters, parts of
//! windows, and old names of functions.

use super::abi::{ConfigHandle, ContextHandle};
use super::{config, context, drawable};
use crate::contexts::contexts;
use crate::current::has_current;
use crate::link::begin::session;
use crate::link::surface::Surface;
use crate::swap;
use crate::x11::error::{raise, GlxError};
use crate::x11::xlib::{xlib, Display, XVisualInfo, Xid};
use std::ffi::{c_char, c_int, c_uint, CString};
use std::sync::{Arc, OnceLock};

const GLX_BAD_CONTEXT: c_int = 5;
const GLX_BAD_VALUE: c_int = 6;

// Frames are shown as they come: nothing here waits for a monitor or counts its frames. Some
// programs call such functions regardless. They report the same as with a local software renderer.

pub unsafe extern "C" fn swap_interval_ext(display: *mut Display, drawable: Xid, interval: c_int) {
    // SAFETY: the program's display, passed on by libGLX.
    unsafe {
        if drawable::known(display, drawable as u32).is_none() {
            return raise(display, GlxError::CoreWindow, drawable as u32, 0);
        }
        if interval < 0 {
            raise(display, GlxError::Value, interval as u32, 0);
        }
    }
}

pub unsafe extern "C" fn swap_interval_mesa(interval: c_uint) -> c_int {
    match c_int::try_from(interval) {
        Ok(_) => GLX_BAD_CONTEXT,
        Err(_) => GLX_BAD_VALUE,
    }
}

pub unsafe extern "C" fn swap_interval_sgi(interval: c_int) -> c_int {
    match interval {
        ..=0 => GLX_BAD_VALUE,
        _ => 0,
    }
}

pub unsafe extern "C" fn get_swap_interval_mesa() -> c_int {
    0
}

pub unsafe extern "C" fn get_video_sync(_count: *mut c_uint) -> c_int {
    GLX_BAD_CONTEXT
}

pub unsafe extern "C" fn wait_video_sync(
    divisor: c_int,
    remainder: c_int,
    _count: *mut c_uint,
) -> c_int {
    match divisor <= 0 || remainder < 0 {
        true => GLX_BAD_VALUE,
        false => GLX_BAD_CONTEXT,
    }
}

pub unsafe extern "C" fn get_sync_values(
    _display: *mut Display,
    _drawable: Xid,
    _ust: *mut i64,
    _msc: *mut i64,
    _sbc: *mut i64,
) -> c_int {
    0
}

pub unsafe extern "C" fn get_msc_rate(
    _display: *mut Display,
    _drawable: Xid,
    _numerator: *mut i32,
    _denominator: *mut i32,
) -> c_int {
    0
}

#[allow(clippy::too_many_arguments)]
pub unsafe extern "C" fn wait_for_msc(
    _display: *mut Display,
    _drawable: Xid,
    _target: i64,
    _divisor: i64,
    _remainder: i64,
    _ust: *mut i64,
    _msc: *mut i64,
    _sbc: *mut i64,
) -> c_int {
    0
}

pub unsafe extern "C" fn wait_for_sbc(
    _display: *mut Display,
    _drawable: Xid,
    _target: i64,
    _ust: *mut i64,
    _msc: *mut i64,
    _sbc: *mut i64,
) -> c_int {
    0
}

/// Swaps at once, whatever count the program asks for.
pub unsafe extern "C" fn swap_buffers_msc(
    display: *mut Display,
    drawable: Xid,
    target: i64,
    divisor: i64,
    remainder: i64,
) -> i64 {
    let wrong = target < 0 || divisor < 0 || remainder < 0 || (divisor > 0 && remainder >= divisor);
    if wrong || !has_current() {
        return -1;
    }
    // SAFETY: as libGLX passes them on.
    unsafe {
        if drawable::known(display, drawable as u32).is_none() {
            return -1;
        }
        drawable::swap_buffers(display, drawable);
    }
    0
}

/// GLX_MESA_copy_sub_buffer. The part is counted from the lower left corner.
pub unsafe extern "C" fn copy_sub_buffer(
    display: *mut Display,
    xid: Xid,
    x: c_int,
    y: c_int,
    width: c_int,
    height: c_int,
) {
    // SAFETY: the program's display, passed on by libGLX.
    let surface: Option<Arc<Surface>> = unsafe { drawable::known(display, xid as u32) };
    if let (Some(surface), Some(session)) = (surface.filter(|s| s.format.double), session()) {
        swap::copy_sub_buffer(session, &surface, [x, y, width, height]);
    }
}

/// GLX_MESA_query_renderer.
pub unsafe extern "C" fn query_renderer(
    display: *mut Display,
    screen: c_int,
    renderer: c_int,
    name: c_int,
    out: *mut c_uint,
) -> c_int {
    // SAFETY: the program's display and integers, passed on by libGLX.
    unsafe {
        if renderer != 0 || !has_screen(display, screen) {
            return 0;
        }
        query_current(name, out)
    }
}

pub unsafe extern "C" fn query_current(name: c_int, out: *mut c_uint) -> c_int {
    let Some(session) = session() else { return 0 };
    let info = &session.info;
    let version = |(major, minor): (u8, u8)| vec![major.into(), minor.into()];
    let values: Vec<u32> = match name {
        // Vendor and device have no PCI number.
        0x8183 | 0x8184 => vec![u32::MAX],
        0x8185 => info.release.to_vec(),
        0x8186 => vec![(!info.is_software).into()],
        0x8187 => vec![info.memory],
        // Memory is unified, and the core profile is preferred.
        0x8188 => vec![info.is_software.into()],
        0x8189 => vec![1],
        0x818A => version(info.core),
        0x818B => version(info.compat),
        0x818C => version(info.es1),
        0x818D => version(info.es),
        _ => return 0,
    };
    if out.is_null() {
        return 0;
    }
    // SAFETY: the program's integers, as many as the name has values.
    unsafe { out.copy_from_nonoverlapping(values.as_ptr(), values.len()) };
    1
}

pub unsafe extern "C" fn renderer_string(
    display: *mut Display,
    screen: c_int,
    renderer: c_int,
    name: c_int,
) -> *const c_char {
    // SAFETY: the program's display, passed on by libGLX.
    unsafe {
        if renderer != 0 || !has_screen(display, screen) {
            return std::ptr::null();
        }
        current_string(name)
    }
}

pub unsafe extern "C" fn current_string(name: c_int) -> *const c_char {
    static STRINGS: OnceLock<[CString; 2]> = OnceLock::new();
    let Some(session) = session() else {
        return std::ptr::null();
    };
    let [vendor, device] = STRINGS.get_or_init(|| {
        [&session.info.vendor, &session.info.renderer]
            .map(|s| CString::new(s.as_str()).unwrap_or_default())
    });
    match name {
        0x8183 => vendor.as_ptr(),
        0x8184 => device.as_ptr(),
        _ => std::ptr::null(),
    }
}

/// # Safety
/// `display` is an open Xlib display.
pub unsafe fn has_screen(display: *mut Display, screen: c_int) -> bool {
    // SAFETY: the program's display.
    let count = xlib().map_or(0, |x| unsafe { (x.screen_count)(display) });
    (0..count).contains(&screen)
}

/// The X server does not know the contexts, so the id is the render server's number.
pub unsafe extern "C" fn context_id(context: ContextHandle) -> Xid {
    contexts().id(context.cast()).unwrap_or(0).into()
}

pub unsafe extern "C" fn visual_config(
    display: *mut Display,
    visual: *mut XVisualInfo,
) -> ConfigHandle {
    // SAFETY: the program's display and visual info, which is not null: see `of_visual`.
    let (screen, id) = unsafe { ((*visual).screen, (*visual).visualid as u32) };
    // SAFETY: as above.
    unsafe { config::config_of_visual(display, screen, id) }
}

pub unsafe extern "C" fn create_pixmap(
    display: *mut Display,
    config: ConfigHandle,
    pixmap: Xid,
) -> Xid {
    // SAFETY: as libGLX passes them on.
    unsafe { drawable::create_pixmap(display, config, pixmap, std::ptr::null()) }
}

pub unsafe extern "C" fn create_pbuffer(
    display: *mut Display,
    config: ConfigHandle,
    width: c_uint,
    height: c_uint,
    attributes: *const c_int,
) -> Xid {
    const PBUFFER_HEIGHT: c_int = 0x8040;
    const PBUFFER_WIDTH: c_int = 0x8041;
    // SAFETY: as libGLX passes them on; the list made here ends as it should.
    unsafe {
        let mut list: Vec<c_int> = config::pairs(attributes, 0)
            .into_iter()
            .flat_map(|(name, value)| [name, value])
            .collect();
        list.extend([PBUFFER_WIDTH, width as c_int]);
        list.extend([PBUFFER_HEIGHT, height as c_int, 0]);
        drawable::create_pbuffer(display, config, list.as_ptr())
    }
}

pub unsafe extern "C" fn create_context(
    display: *mut Display,
    config: ConfigHandle,
    kind: c_int,
    share: ContextHandle,
    direct: c_int,
) -> ContextHandle {
    // SAFETY: as libGLX passes them on.
    unsafe { context::create_new_context(display, config, kind, share, direct) }
}
