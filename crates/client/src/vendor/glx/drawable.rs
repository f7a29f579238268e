//! Windows, pixmaps, pbuffers, and swapping.

use super::abi::ConfigHandle;
use super::config::{pairs, view};
use crate::config::glx;
use crate::config::listed::FbConfig;
use crate::context::Request;
use crate::idle::current;
use crate::process::process;
use crate::session::session;
use crate::surface::{Kind, Surface};
use crate::swap::swap_buffers as swap;
use crate::x11::error::{raise, request, GlxError};
use crate::x11::xlib::{xlib, Display, XVisualInfo, Xid};
use std::ffi::{c_int, c_uint, c_ulong};
use std::sync::atomic::Ordering;
use std::sync::Arc;

const WIDTH: c_int = 0x801D;
const HEIGHT: c_int = 0x801E;
const PRESERVED_CONTENTS: c_int = 0x801B;
const LARGEST_PBUFFER: c_int = 0x801C;
const SWAP_INTERVAL: c_int = 0x20F1;
const MAX_SWAP_INTERVAL: c_int = 0x20F2;
const MAX_INTERVAL: c_int = 1000;

unsafe fn name_of(display: *mut Display) -> String {
    // SAFETY: the program's display.
    xlib().map_or(String::new(), |x| unsafe { x.name(display) })
}

/// The surface that a context draws to by the name `xid`: one the program has created, or a window, which needs no creating.
///
/// # Safety
/// `display` is an open Xlib display.
pub unsafe fn for_context(
    display: *mut Display,
    xid: u32,
    request: &Request,
) -> Option<Arc<Surface>> {
    // SAFETY: the caller vouches for `display`.
    let name = unsafe { name_of(display) };
    let drawables = &process().drawables;
    if let Some(surface) = drawables.find(&name, xid) {
        return Some(surface);
    }
    let (session, format) = (session()?, request.format?);
    // SAFETY: as above.
    unsafe { (xlib()?.sync)(display, 0) };
    let watch = process().watch(&name)?;
    let window = watch.follow(xid)?;
    let surface = Surface::window(session, &watch, window, xid, format, request.config_id);
    drawables.add(&name, &surface);
    Some(surface)
}

pub unsafe extern "C" fn create_window(
    display: *mut Display,
    config: ConfigHandle,
    window: Xid,
    _attributes: *const c_int,
) -> Xid {
    let minor = request::CREATE_WINDOW;
    // SAFETY: the program's display, passed on by libGLX.
    unsafe {
        let Some((config, xlib)) = process().screens.find(config).zip(xlib()) else {
            raise(display, GlxError::BadFbConfig, 0, minor);
            return 0;
        };
        let name = name_of(display);
        (xlib.sync)(display, 0);
        let found = process()
            .watch(&name)
            .and_then(|watch| Some((watch.follow(window as u32)?, watch)));
        let Some(((window, watch), session)) = found.zip(session()) else {
            raise(display, GlxError::CoreWindow, window as u32, minor);
            return 0;
        };
        let xid = xlib.allocate_id(display);
        let surface = Surface::window(session, &watch, window, xid, config.format, config.id);
        process().drawables.add(&name, &surface);
        xid.into()
    }
}

pub unsafe extern "C" fn destroy_window(display: *mut Display, window: Xid) {
    // SAFETY: as libGLX passes them on.
    unsafe {
        destroy(
            display,
            window,
            request::DESTROY_WINDOW,
            GlxError::BadWindow,
        )
    };
}

pub unsafe extern "C" fn destroy_pixmap(display: *mut Display, pixmap: Xid) {
    // SAFETY: as libGLX passes them on.
    unsafe {
        destroy(
            display,
            pixmap,
            request::DESTROY_PIXMAP,
            GlxError::BadPixmap,
        )
    };
}

pub unsafe extern "C" fn destroy_pbuffer(display: *mut Display, pbuffer: Xid) {
    // SAFETY: as libGLX passes them on.
    unsafe {
        destroy(
            display,
            pbuffer,
            request::DESTROY_PBUFFER,
            GlxError::BadPbuffer,
        )
    };
}

/// Forgets the name. The surface itself lives on while a context draws to it.
unsafe fn destroy(display: *mut Display, xid: Xid, minor: u8, error: GlxError) {
    // SAFETY: the program's display.
    unsafe {
        if process()
            .drawables
            .remove(&name_of(display), xid as u32)
            .is_none()
        {
            raise(display, error, xid as u32, minor);
        }
    }
}

pub unsafe extern "C" fn create_glx_pixmap(
    display: *mut Display,
    visual: *mut XVisualInfo,
    pixmap: Xid,
) -> Xid {
    let minor = request::CREATE_GLX_PIXMAP;
    if visual.is_null() {
        return 0;
    }
    // SAFETY: the program's display and visual info, passed on by libGLX.
    unsafe {
        let info = visual.read();
        match view(display, info.screen).and_then(|v| v.of_visual(info.visualid as u32)) {
            Some(config) => pixmap_of(display, config, pixmap as u32, minor),
            None => {
                raise(display, GlxError::Value, info.visualid as u32, minor);
                0
            }
        }
    }
}

pub unsafe extern "C" fn create_pixmap(
    display: *mut Display,
    config: ConfigHandle,
    pixmap: Xid,
    _attributes: *const c_int,
) -> Xid {
    let minor = request::CREATE_PIXMAP;
    // SAFETY: the program's display, passed on by libGLX.
    unsafe {
        match process().screens.find(config) {
            Some(config) => pixmap_of(display, config, pixmap as u32, minor),
            None => {
                raise(display, GlxError::BadFbConfig, 0, minor);
                0
            }
        }
    }
}

unsafe fn pixmap_of(display: *mut Display, config: &FbConfig, pixmap: u32, minor: u8) -> Xid {
    let Some((xlib, session)) = xlib().zip(session()) else {
        return 0;
    };
    // SAFETY: the program's display.
    unsafe {
        let name = name_of(display);
        (xlib.sync)(display, 0);
        let watch = process().watch(&name);
        let geometry = watch.as_ref().and_then(|w| w.geometry(pixmap));
        let Some((watch, geometry)) = watch.zip(geometry) else {
            raise(display, GlxError::BadPixmap, pixmap, minor);
            return 0;
        };
        let xid = xlib.allocate_id(display);
        let size = (geometry.width, geometry.height);
        let surface = Surface::pixmap(session, &watch, pixmap, size, xid, config.format, config.id);
        process().drawables.add(&name, &surface);
        xid.into()
    }
}

pub unsafe extern "C" fn create_pbuffer(
    display: *mut Display,
    config: ConfigHandle,
    attributes: *const c_int,
) -> Xid {
    const PBUFFER_HEIGHT: c_int = 0x8040;
    const PBUFFER_WIDTH: c_int = 0x8041;
    let minor = request::CREATE_PBUFFER;
    // SAFETY: the program's display and list, passed on by libGLX.
    unsafe {
        let config = process().screens.find(config);
        let Some(((config, xlib), session)) = config.zip(xlib()).zip(session()) else {
            raise(display, GlxError::BadFbConfig, 0, minor);
            return 0;
        };
        let (mut width, mut height, mut preserved, mut largest) = (0, 0, true, false);
        for (name, value) in pairs(attributes, 0) {
            match name {
                PBUFFER_WIDTH => width = value,
                PBUFFER_HEIGHT => height = value,
                PRESERVED_CONTENTS => preserved = value != 0,
                LARGEST_PBUFFER => largest = value != 0,
                _ => {
                    raise(display, GlxError::Value, 0, minor);
                    return 0;
                }
            }
        }
        let fits = |n: c_int| (0..=glx::MAX_PBUFFER).contains(&n);
        if width < 0 || height < 0 || !(largest || (fits(width) && fits(height))) {
            let error = if width < 0 || height < 0 {
                GlxError::Value
            } else {
                GlxError::Alloc
            };
            raise(display, error, 0, minor);
            return 0;
        }
        let size = [width, height].map(|n| n.clamp(1, glx::MAX_PBUFFER) as u32);
        let xid = xlib.allocate_id(display);
        let surface = Surface::pbuffer(session, (size[0], size[1]), xid, config.format, config.id);
        surface.preserved.store(preserved, Ordering::Relaxed);
        surface.largest.store(largest, Ordering::Relaxed);
        process().drawables.add(&name_of(display), &surface);
        xid.into()
    }
}

pub unsafe extern "C" fn query_drawable(
    display: *mut Display,
    drawable: Xid,
    attribute: c_int,
    out: *mut c_uint,
) {
    const EVENT_MASK: c_int = 0x801F;
    const SCREEN: c_int = 0x800C;
    const FBCONFIG_ID: c_int = 0x8013;
    let xid = drawable as u32;
    // SAFETY: the program's display and integer, passed on by libGLX.
    unsafe {
        let name = name_of(display);
        let value = match process().drawables.find(&name, xid) {
            Some(surface) => {
                let (width, height) = match &surface.kind {
                    Kind::Window { window, .. } => window.size(),
                    _ => surface.size(),
                };
                match attribute {
                    WIDTH => width,
                    HEIGHT => height,
                    PRESERVED_CONTENTS => surface.preserved.load(Ordering::Relaxed).into(),
                    LARGEST_PBUFFER => surface.largest.load(Ordering::Relaxed).into(),
                    FBCONFIG_ID => surface.config_id,
                    EVENT_MASK => surface.event_mask.load(Ordering::Relaxed) as u32,
                    SWAP_INTERVAL => surface.swap_interval.load(Ordering::Relaxed) as u32,
                    MAX_SWAP_INTERVAL => MAX_INTERVAL as u32,
                    SCREEN => xlib().map_or(0, |x| (x.default_screen)(display) as u32),
                    _ => return,
                }
            }
            // A window that nothing was drawn to yet.
            None => {
                if let Some(xlib) = xlib() {
                    (xlib.sync)(display, 0);
                }
                let geometry = process().watch(&name).and_then(|w| w.geometry(xid));
                match (geometry, attribute) {
                    (Some(g), WIDTH) => g.width,
                    (Some(g), HEIGHT) => g.height,
                    (Some(_), SWAP_INTERVAL) => 1,
                    (Some(_), MAX_SWAP_INTERVAL) => MAX_INTERVAL as u32,
                    (Some(_), _) => return,
                    (None, _) => {
                        let minor = request::GET_DRAWABLE_ATTRIBUTES;
                        return raise(display, GlxError::BadDrawable, xid, minor);
                    }
                }
            }
        };
        if !out.is_null() {
            out.write(value);
        }
    }
}

/// The mask is kept; pbuffers here are never clobbered, so no event follows.
pub unsafe extern "C" fn select_event(display: *mut Display, drawable: Xid, mask: c_ulong) {
    // SAFETY: the program's display, passed on by libGLX.
    unsafe {
        match process().drawables.find(&name_of(display), drawable as u32) {
            Some(surface) => surface.event_mask.store(mask, Ordering::Relaxed),
            None => raise(
                display,
                GlxError::BadDrawable,
                drawable as u32,
                request::CHANGE_DRAWABLE_ATTRIBUTES,
            ),
        }
    }
}

pub unsafe extern "C" fn get_selected_event(
    display: *mut Display,
    drawable: Xid,
    out: *mut c_ulong,
) {
    // SAFETY: the program's display and integer, passed on by libGLX.
    unsafe {
        match process().drawables.find(&name_of(display), drawable as u32) {
            Some(surface) if !out.is_null() => {
                out.write(surface.event_mask.load(Ordering::Relaxed));
            }
            Some(_) => {}
            None => raise(
                display,
                GlxError::BadDrawable,
                drawable as u32,
                request::GET_DRAWABLE_ATTRIBUTES,
            ),
        }
    }
}

pub unsafe extern "C" fn swap_buffers(display: *mut Display, drawable: Xid) {
    let xid = drawable as u32;
    // Almost always what is current; the display's name costs more than the whole rest.
    let mine = current()
        .filter(|cx| cx.display() == display)
        .and_then(|cx| cx.draw.clone());
    let surface = mine.filter(|s| s.xid == xid).or_else(|| {
        // SAFETY: the program's display, passed on by libGLX.
        process().drawables.find(&unsafe { name_of(display) }, xid)
    });
    match (surface, session()) {
        (Some(surface), Some(session)) => swap(session, &surface),
        (None, Some(_)) => {
            // A window that exists but was never drawn to has nothing to swap.
            // SAFETY: the program's display, passed on by libGLX.
            unsafe {
                let name = name_of(display);
                if process()
                    .watch(&name)
                    .and_then(|w| w.geometry(xid))
                    .is_none()
                {
                    raise(display, GlxError::BadDrawable, xid, request::SWAP_BUFFERS);
                }
            }
        }
        _ => {}
    }
}

/// Afterwards X sees what GL has drawn.
pub unsafe extern "C" fn wait_gl() {
    if let Some(context) = current() {
        context.finish();
    }
}

/// What X has drawn into a pixmap before is not read back: GL and X share no memory here.
pub unsafe extern "C" fn wait_x() {}

pub unsafe extern "C" fn swap_interval_ext(display: *mut Display, drawable: Xid, interval: c_int) {
    // SAFETY: the program's display, passed on by libGLX.
    unsafe {
        if interval < 0 {
            return raise(display, GlxError::Value, 0, request::VENDOR_PRIVATE);
        }
        if let Some(surface) = process().drawables.find(&name_of(display), drawable as u32) {
            surface.swap_interval.store(interval, Ordering::Relaxed);
        }
    }
}

pub unsafe extern "C" fn swap_interval_mesa(interval: c_uint) -> c_int {
    match c_int::try_from(interval) {
        Ok(interval) => set_interval(interval),
        Err(_) => GLX_BAD_VALUE,
    }
}

pub unsafe extern "C" fn swap_interval_sgi(interval: c_int) -> c_int {
    if interval <= 0 {
        return GLX_BAD_VALUE;
    }
    set_interval(interval)
}

pub unsafe extern "C" fn get_swap_interval_mesa() -> c_int {
    let draw = current().and_then(|cx| cx.draw.as_ref());
    draw.map_or(0, |s| s.swap_interval.load(Ordering::Relaxed))
}

const GLX_BAD_CONTEXT: c_int = 5;
const GLX_BAD_VALUE: c_int = 6;

fn set_interval(interval: c_int) -> c_int {
    match current().and_then(|cx| cx.draw.as_ref()) {
        Some(surface) => {
            surface.swap_interval.store(interval, Ordering::Relaxed);
            0
        }
        None => GLX_BAD_CONTEXT,
    }
}
