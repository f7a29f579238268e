//! Surfaces: windows and pbuffers, and swapping.

use super::abi::{Attrib, EglBoolean, Handle};
use super::dispatch::{pairs, wide_pairs};
use super::display::{with_display, EglSurface, Open};
use super::error::{call, EglError};
use super::native::Platform;
use crate::config::egl::{attrib::SURFACE_TYPE, value};
use crate::config::egl::{MAX_PBUFFER, WINDOW_BIT};
use crate::config::Format;
use crate::idle::current;
use crate::surface::{Kind, Surface};
use crate::swap::swap_buffers as swap;
use std::ffi::{c_int, c_uint, c_ulong, c_void};
use std::ptr::null_mut;
use std::sync::atomic::Ordering;
use std::sync::Arc;

const HEIGHT: c_int = 0x3056;
const WIDTH: c_int = 0x3057;
const LARGEST_PBUFFER: c_int = 0x3058;
const NO_TEXTURE: c_int = 0x305C;
const TEXTURE_FORMAT: c_int = 0x3080;
const TEXTURE_TARGET: c_int = 0x3081;
const MIPMAP_TEXTURE: c_int = 0x3082;
const MIPMAP_LEVEL: c_int = 0x3083;
const BACK_BUFFER: c_int = 0x3084;
const SINGLE_BUFFER: c_int = 0x3085;
const RENDER_BUFFER: c_int = 0x3086;
const LINEAR: c_int = 0x308A;
const SWAP_BEHAVIOR: c_int = 0x3093;
const BUFFER_DESTROYED: c_int = 0x3095;
const MULTISAMPLE_RESOLVE: c_int = 0x3099;
const RESOLVE_DEFAULT: c_int = 0x309A;
const COLORSPACE: c_int = 0x309D;

pub unsafe extern "C" fn create_window_surface(
    display: Handle,
    config: Handle,
    window: c_ulong,
    attributes: *const c_int,
) -> Handle {
    // SAFETY: the program's list, passed on by libEGL.
    let attributes = unsafe { pairs(attributes) };
    window_surface(display, config, |_| window as u32, &attributes)
}

pub unsafe extern "C" fn create_platform_window_surface(
    display: Handle,
    config: Handle,
    window: *mut c_void,
    attributes: *const Attrib,
) -> Handle {
    // SAFETY: the program's list and window, passed on by libEGL.
    unsafe {
        let attributes = wide_pairs(attributes);
        window_surface(display, config, |p| window_at(p, window), &attributes)
    }
}

pub unsafe extern "C" fn create_platform_window_surface_ext(
    display: Handle,
    config: Handle,
    window: *mut c_void,
    attributes: *const c_int,
) -> Handle {
    // SAFETY: the program's list and window, passed on by libEGL.
    unsafe {
        let attributes = pairs(attributes);
        window_surface(display, config, |p| window_at(p, window), &attributes)
    }
}

/// The platform functions take the address of an Xlib `Window` or of an `xcb_window_t`.
unsafe fn window_at(platform: Platform, window: *mut c_void) -> u32 {
    if window.is_null() {
        return 0;
    }
    // SAFETY: the program's own variable, of the type that the platform says.
    unsafe {
        match platform {
            Platform::Xcb(_) => window.cast::<u32>().read(),
            _ => window.cast::<c_ulong>().read() as u32,
        }
    }
}

fn window_surface(
    display: Handle,
    config: Handle,
    window: impl FnOnce(Platform) -> u32,
    attributes: &[(c_int, i64)],
) -> Handle {
    call(null_mut(), || {
        let (config, watch, platform) = with_display(display, |open| {
            let config = open.config(config)?;
            for (name, value) in attributes {
                match (*name, *value as c_int) {
                    // Single buffering is a wish that need not be granted.
                    (RENDER_BUFFER, BACK_BUFFER | SINGLE_BUFFER) | (COLORSPACE, LINEAR) => {}
                    (RENDER_BUFFER | COLORSPACE, _) => return Err(EglError::BadMatch),
                    _ => return Err(EglError::BadAttribute),
                }
            }
            let has_windows = value(config, SURFACE_TYPE).is_some_and(|t| t & WINDOW_BIT != 0);
            let watch = open.watch.clone().filter(|_| has_windows);
            Ok((config, watch.ok_or(EglError::BadMatch)?, open.platform))
        })?;
        let window = window(platform);
        // Without our lock: Xlib has locks of its own, which the program may hold around its calls of EGL.
        // SAFETY: the program's native display, open while it makes windows.
        unsafe { platform.sync() };
        let followed = watch.follow(window).ok_or(EglError::BadNativeWindow)?;
        with_display(display, |open| {
            let live = |s: &EglSurface| s.window == window && s.surface.is_visible();
            if open.surfaces.values().any(live) {
                return Err(EglError::BadAlloc);
            }
            let id = config.id as u32;
            let surface = Surface::window(open.session, &watch, followed, 0, config.format, id);
            Ok(add(open, surface, window))
        })
    })
}

pub unsafe extern "C" fn create_pbuffer_surface(
    display: Handle,
    config: Handle,
    attributes: *const c_int,
) -> Handle {
    // SAFETY: the program's list, passed on by libEGL.
    let attributes = unsafe { pairs(attributes) };
    call(null_mut(), || {
        with_display(display, |open| {
            let config = open.config(config)?;
            let (mut width, mut height, mut largest) = (0, 0, false);
            for (name, value) in attributes {
                match (name, value as c_int) {
                    (WIDTH | HEIGHT, ..=-1) => return Err(EglError::BadParameter),
                    (WIDTH, n) => width = n,
                    (HEIGHT, n) => height = n,
                    (LARGEST_PBUFFER, n) => largest = n != 0,
                    (TEXTURE_FORMAT | TEXTURE_TARGET, NO_TEXTURE) | (COLORSPACE, LINEAR) => {}
                    (MIPMAP_TEXTURE, _) => {}
                    (TEXTURE_FORMAT | TEXTURE_TARGET | COLORSPACE, _) => {
                        return Err(EglError::BadMatch)
                    }
                    _ => return Err(EglError::BadAttribute),
                }
            }
            if !largest && (width > MAX_PBUFFER || height > MAX_PBUFFER) {
                return Err(EglError::BadAlloc);
            }
            let size = [width, height].map(|n| n.clamp(1, MAX_PBUFFER) as u32);
            let id = config.id as u32;
            // Pbuffers have one buffer, though contexts take it for a back buffer.
            let format = Format {
                double: false,
                ..config.format
            };
            let surface = Surface::pbuffer(open.session, (size[0], size[1]), 0, format, id);
            surface.largest.store(largest, Ordering::Relaxed);
            Ok(add(open, surface, 0))
        })
    })
}

fn add(open: &mut Open, surface: Arc<Surface>, window: u32) -> Handle {
    let handle = surface.id as usize;
    let made = EglSurface {
        surface,
        window,
        mipmap_level: 0,
    };
    open.surfaces.insert(handle, made);
    handle as Handle
}

/// Configs have no pixmap bit.
pub unsafe extern "C" fn create_pixmap_surface(
    display: Handle,
    config: Handle,
    _pixmap: c_ulong,
    _attributes: *const c_int,
) -> Handle {
    call(null_mut(), || {
        with_display(display, |open| {
            open.config(config)?;
            Err(EglError::BadMatch)
        })
    })
}

pub unsafe extern "C" fn create_platform_pixmap_surface(
    display: Handle,
    config: Handle,
    _pixmap: *mut c_void,
    _attributes: *const Attrib,
) -> Handle {
    // SAFETY: neither the pixmap nor the list is looked at.
    unsafe { create_pixmap_surface(display, config, 0, std::ptr::null()) }
}

/// The only client buffers that pbuffers can be made of are OpenVG's.
pub unsafe extern "C" fn create_pbuffer_from_client_buffer(
    display: Handle,
    _kind: c_uint,
    _buffer: Handle,
    _config: Handle,
    _attributes: *const c_int,
) -> Handle {
    call(null_mut(), || {
        with_display(display, |_| Err(EglError::BadParameter))
    })
}

pub unsafe extern "C" fn destroy_surface(display: Handle, surface: Handle) -> EglBoolean {
    call(0, || {
        // Dropped outside the lock: it lives on while a context draws to it.
        let gone = with_display(display, |open| {
            open.surfaces
                .remove(&(surface as usize))
                .ok_or(EglError::BadSurface)
        })?;
        drop(gone);
        Ok(1)
    })
}

pub unsafe extern "C" fn query_surface(
    display: Handle,
    surface: Handle,
    attribute: c_int,
    out: *mut c_int,
) -> EglBoolean {
    const CONFIG_ID: c_int = 0x3028;
    const HORIZONTAL_RESOLUTION: c_int = 0x3090;
    const PIXEL_ASPECT_RATIO: c_int = 0x3092;
    const UNKNOWN: c_int = -1;
    call(0, || {
        with_display(display, |open| {
            let EglSurface {
                surface,
                window,
                mipmap_level,
            } = open.surface(surface)?;
            let (width, height) = match &surface.kind {
                Kind::Window { watch, window } => {
                    watch.poll();
                    window.size()
                }
                _ => surface.size(),
            };
            let value = match attribute {
                CONFIG_ID => surface.config_id as c_int,
                WIDTH => width as c_int,
                HEIGHT => height as c_int,
                RENDER_BUFFER => BACK_BUFFER,
                SWAP_BEHAVIOR => BUFFER_DESTROYED,
                MULTISAMPLE_RESOLVE => RESOLVE_DEFAULT,
                HORIZONTAL_RESOLUTION..=PIXEL_ASPECT_RATIO => UNKNOWN,
                MIPMAP_LEVEL => *mipmap_level,
                COLORSPACE => LINEAR,
                // Attributes of pbuffers, which leave the integer alone for windows.
                LARGEST_PBUFFER | TEXTURE_FORMAT | TEXTURE_TARGET | MIPMAP_TEXTURE
                    if *window != 0 =>
                {
                    return Ok(1)
                }
                LARGEST_PBUFFER => surface.largest.load(Ordering::Relaxed).into(),
                TEXTURE_FORMAT | TEXTURE_TARGET => NO_TEXTURE,
                MIPMAP_TEXTURE => 0,
                _ => return Err(EglError::BadAttribute),
            };
            if out.is_null() {
                return Err(EglError::BadParameter);
            }
            // SAFETY: the program's integer.
            unsafe { out.write(value) };
            Ok(1)
        })
    })
}

pub unsafe extern "C" fn surface_attrib(
    display: Handle,
    surface: Handle,
    attribute: c_int,
    value: c_int,
) -> EglBoolean {
    call(0, || {
        with_display(display, |open| {
            let surface = open.surface(surface)?;
            match (attribute, value) {
                (MIPMAP_LEVEL, level) => surface.mipmap_level = level,
                (MULTISAMPLE_RESOLVE, RESOLVE_DEFAULT) | (SWAP_BEHAVIOR, BUFFER_DESTROYED) => {}
                (MULTISAMPLE_RESOLVE | SWAP_BEHAVIOR, _) => return Err(EglError::BadMatch),
                _ => return Err(EglError::BadAttribute),
            }
            Ok(1)
        })
    })
}

/// eglBindTexImage and eglReleaseTexImage: no config binds to textures.
pub unsafe extern "C" fn bind_tex_image(
    display: Handle,
    surface: Handle,
    _buffer: c_int,
) -> EglBoolean {
    call(0, || {
        with_display(display, |open| {
            open.surface(surface)?;
            Err(EglError::BadMatch)
        })
    })
}

pub unsafe extern "C" fn copy_buffers(
    display: Handle,
    surface: Handle,
    _pixmap: c_ulong,
) -> EglBoolean {
    call(0, || {
        with_display(display, |open| {
            open.surface(surface)?;
            Err(EglError::BadNativePixmap)
        })
    })
}

pub unsafe extern "C" fn swap_buffers(display: Handle, surface: Handle) -> EglBoolean {
    call(0, || {
        let (session, surface) = with_display(display, |open| {
            let session = open.session;
            Ok((session, open.surface(surface)?.surface.clone()))
        })?;
        let is_mine =
            current().is_some_and(|cx| cx.draw.as_ref().is_some_and(|s| Arc::ptr_eq(s, &surface)));
        if !is_mine {
            return Err(EglError::BadSurface);
        }
        swap(session, &surface);
        Ok(1)
    })
}

pub unsafe extern "C" fn swap_interval(display: Handle, _interval: c_int) -> EglBoolean {
    call(0, || {
        with_display(display, |_| Ok(()))?;
        let context = current().ok_or(EglError::BadContext)?;
        // Every interval is the one there is.
        context.draw.as_ref().map(|_| 1).ok_or(EglError::BadSurface)
    })
}
