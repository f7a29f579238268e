//! Windows, pixmaps, pbuffers, and swapping.

use super::abi::ConfigHandle;
use super::config::screens;
use super::config::{pairs, view};
use crate::config::glx;
use crate::config::listed::FbConfig;
use crate::context::Request;
use crate::current::with_current;
use crate::link::begin::session;
use crate::link::surface::drawables;
use crate::link::surface::{Description, Kind, Surface, Texture};
use crate::swap::swap_buffers as swap;
use crate::x11::error::{raise, request, GlxError};
use crate::x11::watch::watch;
use crate::x11::xlib::{xlib, Display, XVisualInfo, Xid};
use std::ffi::{c_int, c_uint, c_ulong};
use std::sync::atomic::Ordering;
use std::sync::Arc;

const WIDTH: c_int = 0x801D;
const HEIGHT: c_int = 0x801E;
const PRESERVED_CONTENTS: c_int = 0x801B;
const LARGEST_PBUFFER: c_int = 0x801C;
/// `GLX_TEXTURE_RECTANGLE_EXT`: the texture target of a drawable that names no other.
const TEXTURE_RECTANGLE: c_int = 0x20DD;

unsafe fn name_of(display: *mut Display) -> String {
    // SAFETY: the program's display.
    xlib().map_or(String::new(), |x| unsafe { x.name(display) })
}

/// The surface with this name, if the program has drawn to it or created it.
///
/// # Safety
/// `display` is an open Xlib display.
pub unsafe fn known(display: *mut Display, xid: u32) -> Option<Arc<Surface>> {
    // SAFETY: the caller vouches for `display`.
    drawables().find(&unsafe { name_of(display) }, xid)
}

/// As [`known`], after the X server has processed the program's requests so far: if a window is
/// destroyed, its GLX windows are, too. Costs a round trip or two if the surface is a window's.
///
/// # Safety
/// `display` is an open Xlib display.
unsafe fn existing(display: *mut Display, xid: u32) -> Option<Arc<Surface>> {
    // SAFETY: the caller vouches for `display`.
    let surface = unsafe { known(display, xid) }?;
    let Kind::Window { watch, window } = &surface.kind else {
        return Some(surface);
    };
    // SAFETY: as above.
    unsafe { (xlib()?.sync)(display, 0) };
    watch.catch_up();
    if !window.is_gone() {
        return Some(surface);
    }
    // SAFETY: as above.
    drop(drawables().remove(&unsafe { name_of(display) }, xid));
    None
}

/// The surface with the name `xid` that a context draws to: the program has created it, or it is a
/// window, which needs no creation.
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
    let drawables = drawables();
    if let Some(surface) = drawables.find(&name, xid) {
        return Some(surface);
    }
    let session = session()?;
    // SAFETY: as above.
    unsafe { (xlib()?.sync)(display, 0) };
    let watch = watch(&name)?;
    let window = watch.follow(xid)?;
    // SAFETY: as above.
    let screen = unsafe { view(display, request.screen) }?;
    let visual = watch.visual_of(xid)?;
    // A context without a config takes the window's format.
    let format = match request.format {
        Some(format) => format,
        None => screen.of_visual(visual)?.format,
    };
    // The config id is the window's in any case.
    let config_id = screen.id_of_visual(visual);
    let description = Description {
        xid,
        format,
        config_id,
    };
    let surface = Surface::window(session, &watch, window, description);
    drawables.add(&name, &surface);
    Some(surface)
}

fn describe(config: &FbConfig, xid: u32) -> Description {
    Description {
        xid,
        format: config.format,
        config_id: config.id,
    }
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
        let Some((config, xlib)) = screens().find(config).zip(xlib()) else {
            raise(display, GlxError::BadFbConfig, 0, minor);
            return 0;
        };
        let name = name_of(display);
        (xlib.sync)(display, 0);
        let found = watch(&name).and_then(|watch| Some((watch.follow(window as u32)?, watch)));
        let Some(((window, watch), session)) = found.zip(session()) else {
            raise(display, GlxError::CoreWindow, window as u32, minor);
            return 0;
        };
        let xid = xlib.allocate_id(display);
        let surface = Surface::window(session, &watch, window, describe(config, xid));
        drawables().add(&name, &surface);
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
    let xid = xid as u32;
    let is_such = |surface: &Surface| match &surface.kind {
        Kind::Window { window, .. } => error == GlxError::BadWindow && window.xid != xid,
        Kind::Pixmap { .. } => error == GlxError::BadPixmap,
        Kind::Pbuffer => error == GlxError::BadPbuffer,
    };
    // SAFETY: the program's display.
    unsafe {
        match existing(display, xid).filter(|s| is_such(s)) {
            Some(_) => drop(drawables().remove(&name_of(display), xid)),
            None => raise(display, error, xid, minor),
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
        let visual = info.visualid as u32;
        let screen = view(display, info.screen);
        match screen.and_then(|screen| Some((screen, screen.of_visual(visual)?))) {
            Some((screen, config)) => {
                let config = FbConfig {
                    id: screen.id_of_visual(visual),
                    ..*config
                };
                pixmap_of(display, &config, pixmap as u32, &[], minor)
            }
            None => {
                raise(display, GlxError::Value, visual, minor);
                0
            }
        }
    }
}

pub unsafe extern "C" fn create_pixmap(
    display: *mut Display,
    config: ConfigHandle,
    pixmap: Xid,
    attributes: *const c_int,
) -> Xid {
    let minor = request::CREATE_PIXMAP;
    // SAFETY: the program's display, passed on by libGLX.
    unsafe {
        match screens().find(config) {
            Some(config) => {
                let attributes = pairs(attributes, 0);
                pixmap_of(display, config, pixmap as u32, &attributes, minor)
            }
            None => {
                raise(display, GlxError::BadFbConfig, 0, minor);
                0
            }
        }
    }
}

unsafe fn pixmap_of(
    display: *mut Display,
    config: &FbConfig,
    pixmap: u32,
    attributes: &[(c_int, c_int)],
    minor: u8,
) -> Xid {
    const TEXTURE_FORMAT: c_int = 0x20D5;
    const TEXTURE_TARGET: c_int = 0x20D6;
    let told = |name| {
        attributes
            .iter()
            .rfind(|(n, _)| *n == name)
            .map(|(_, v)| *v)
    };
    let texture = Texture {
        format: told(TEXTURE_FORMAT).unwrap_or(0),
        target: told(TEXTURE_TARGET).unwrap_or(TEXTURE_RECTANGLE),
    };
    let Some((xlib, session)) = xlib().zip(session()) else {
        return 0;
    };
    // SAFETY: the program's display.
    unsafe {
        let name = name_of(display);
        (xlib.sync)(display, 0);
        let watch = watch(&name);
        let geometry = watch.as_ref().and_then(|w| w.geometry(pixmap));
        let Some((watch, geometry)) = watch.zip(geometry) else {
            raise(display, GlxError::CoreDrawable, pixmap, minor);
            return 0;
        };
        if watch.visual_of(pixmap).is_some() {
            raise(display, GlxError::CorePixmap, pixmap, minor);
            return 0;
        }
        let xid = xlib.allocate_id(display);
        let size = (geometry.width, geometry.height);
        let surface = Surface::pixmap(
            session,
            &watch,
            (pixmap, texture),
            size,
            describe(config, xid),
        );
        drawables().add(&name, &surface);
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
        let config = screens().find(config);
        let Some(((config, xlib), session)) = config.zip(xlib()).zip(session()) else {
            raise(display, GlxError::BadFbConfig, 0, minor);
            return 0;
        };
        let attributes = pairs(attributes, 0);
        let told = |name| {
            attributes
                .iter()
                .rfind(|(n, _)| *n == name)
                .map(|(_, v)| *v)
        };
        let size = [PBUFFER_WIDTH, PBUFFER_HEIGHT].map(|n| told(n).unwrap_or(0));
        let largest = told(LARGEST_PBUFFER).is_some_and(|v| v != 0);
        // The X server's own pixmaps cannot be larger.
        let most = c_int::from(i16::MAX);
        if !largest && size.iter().any(|n| !(0..=most).contains(n)) {
            raise(display, GlxError::Alloc, 0, minor);
            return 0;
        }
        let size = size.map(|n| n.clamp(1, most) as u32);
        let xid = xlib.allocate_id(display);
        let surface = Surface::pbuffer(session, (size[0], size[1]), describe(config, xid));
        drawables().add(&name_of(display), &surface);
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
    const FBCONFIG_ID: c_int = 0x8013;
    const DRAWABLE_TYPE: c_int = 0x8010;
    const TEXTURE_TARGET: c_int = 0x20D6;
    let xid = drawable as u32;
    // SAFETY: the program's display and integer, passed on by libGLX.
    unsafe {
        if !out.is_null() && xid != 0 {
            out.write(0);
        }
        let value = match existing(display, xid) {
            Some(surface) => {
                let (width, height) = match &surface.kind {
                    Kind::Window { window, .. } => window.size(),
                    _ => surface.size(),
                };
                let (kind, target) = match &surface.kind {
                    Kind::Window { window, .. } if window.xid == xid => (glx::WINDOW_BIT, 0),
                    Kind::Window { .. } => (glx::WINDOW_BIT, TEXTURE_RECTANGLE),
                    Kind::Pixmap { texture, .. } => (glx::PIXMAP_BIT, texture.target),
                    Kind::Pbuffer => (glx::PBUFFER_BIT, TEXTURE_RECTANGLE),
                };
                match attribute {
                    WIDTH => width,
                    HEIGHT => height,
                    // Contents are always preserved, whether or not the program asks for it.
                    PRESERVED_CONTENTS => (kind == glx::PBUFFER_BIT).into(),
                    FBCONFIG_ID => surface.config_id,
                    EVENT_MASK => surface.event_mask.load(Ordering::Relaxed) as u32,
                    DRAWABLE_TYPE => kind as u32,
                    TEXTURE_TARGET => target as u32,
                    _ => 0,
                }
            }
            // A window that nothing was drawn to so far.
            None => {
                let Some(size) = bare_window(display, xid) else {
                    let minor = request::GET_DRAWABLE_ATTRIBUTES;
                    return raise(display, GlxError::BadDrawable, xid, minor);
                };
                match attribute {
                    WIDTH => size.0,
                    HEIGHT => size.1,
                    DRAWABLE_TYPE => glx::WINDOW_BIT as u32,
                    FBCONFIG_ID => config_of_window(display, xid),
                    _ => 0,
                }
            }
        };
        if !out.is_null() {
            out.write(value);
        }
    }
}

/// The size of a window by its X name.
unsafe fn bare_window(display: *mut Display, xid: u32) -> Option<(u32, u32)> {
    // SAFETY: the caller's display.
    unsafe {
        (xlib()?.sync)(display, 0);
        let watch = watch(&name_of(display))?;
        watch.visual_of(xid)?;
        watch.geometry(xid).map(|g| (g.width, g.height))
    }
}

/// The config of a window's GLX window, under the window's X name; 0 if it has none.
unsafe fn config_of_window(display: *mut Display, xid: u32) -> u32 {
    // SAFETY: the caller's display.
    let name = unsafe { name_of(display) };
    let surface = drawables().of_window(&name, xid);
    surface.map_or(0, |surface| surface.config_id)
}

/// The mask is kept; pbuffers here are never clobbered, so no event follows.
pub unsafe extern "C" fn select_event(display: *mut Display, drawable: Xid, mask: c_ulong) {
    // SAFETY: the program's display, passed on by libGLX.
    unsafe {
        match drawables().find(&name_of(display), drawable as u32) {
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
        match drawables().find(&name_of(display), drawable as u32) {
            Some(surface) if !out.is_null() => {
                out.write(surface.event_mask.load(Ordering::Relaxed));
            }
            Some(_) => {}
            None if bare_window(display, drawable as u32).is_some() && !out.is_null() => {
                out.write(0);
            }
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
    // Nearly always the current surface. Getting the display's name costs more than all the rest.
    let mine = with_current(|cx| {
        let draw = cx.draw.as_ref().filter(|s| s.xid == xid);
        draw.filter(|_| cx.display() == display).cloned()
    });
    let surface = mine.flatten().or_else(|| {
        // SAFETY: the program's display, passed on by libGLX.
        drawables().find(&unsafe { name_of(display) }, xid)
    });
    match (surface, session()) {
        (Some(surface), Some(session)) => swap(session, &surface),
        (None, Some(_)) => {
            // A window that exists but was never drawn to has nothing to swap.
            // SAFETY: the program's display, passed on by libGLX.
            unsafe {
                if bare_window(display, xid).is_none() {
                    raise(display, GlxError::BadDrawable, xid, request::SWAP_BUFFERS);
                }
            }
        }
        _ => {}
    }
}

/// After this call, X sees what GL has drawn.
pub unsafe extern "C" fn wait_gl() {
    with_current(|cx| cx.finish());
}

/// X's earlier drawing into a pixmap is not read back: GL and X share no memory here.
pub unsafe extern "C" fn wait_x() {
    let display = with_current(|cx| cx.display());
    if let (Some(display), Some(xlib)) = (display.filter(|d| !d.is_null()), xlib()) {
        // SAFETY: the display that the program made the context current with.
        unsafe { (xlib.sync)(display, 0) };
    }
}
