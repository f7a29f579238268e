//! Surfaces: windows and pbuffers, and swapping.

use super::abi::{Attrib, EglBoolean, Handle};
use super::dispatch::{pairs, wide_pairs};
use super::display::{with_display, EglSurface, Open};
use super::error::{call, EglError};
use super::native::Platform;
use super::surface_attributes::{self, SurfaceAttributes};
use crate::config::egl::{Config, MAX_PBUFFER};
use crate::config::Format;
use crate::current::with_current;
use crate::link::surface::{Description, Kind, Surface, Texture};
use crate::native_image;
use crate::swap::swap_buffers as swap;
use crate::x11::watch::Watch;
use std::ffi::{c_int, c_uint, c_ulong, c_void};
use std::ptr::null_mut;
use std::sync::Arc;

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

/// The platform functions take the address of a `Window` or `Pixmap` of Xlib, or of xcb's
/// equivalent.
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
        let drawable = Drawable::of(display, config, window, EglError::BadNativeWindow)?;
        let told = SurfaceAttributes::read(surface_attributes::Kind::Window, attributes)?;
        let Drawable { watch, xid, .. } = &drawable;
        let followed = watch.follow(*xid).ok_or(EglError::BadNativeWindow)?;
        with_display(display, |open| {
            let live = |s: &EglSurface| s.drawable == *xid && s.surface.is_visible();
            if open.surfaces.values().any(live) {
                return Err(EglError::BadAlloc);
            }
            let (id, format) = (drawable.config.id as u32, told.format(drawable.config)?);
            let surface = Surface::window(open.session, watch, followed, description(format, id));
            Ok(add(open, surface, *xid, told))
        })
    })
}

fn pixmap_surface(
    display: Handle,
    config: Handle,
    pixmap: impl FnOnce(Platform) -> u32,
    attributes: &[(c_int, i64)],
) -> Handle {
    call(null_mut(), || {
        let drawable = Drawable::of(display, config, pixmap, EglError::BadNativePixmap)?;
        let told = SurfaceAttributes::read(surface_attributes::Kind::Pixmap, attributes)?;
        let Drawable { watch, xid, .. } = &drawable;
        let geometry = watch.geometry(*xid).ok_or(EglError::BadNativePixmap)?;
        with_display(display, |open| {
            let (id, format) = (drawable.config.id as u32, told.format(drawable.config)?);
            let (size, of) = (
                (geometry.width, geometry.height),
                (*xid, Texture::default()),
            );
            let surface = Surface::pixmap(open.session, watch, of, size, description(format, id));
            Ok(add(open, surface, *xid, told))
        })
    })
}

/// An X drawable for which a surface is created.
struct Drawable {
    config: &'static Config,
    watch: Arc<Watch>,
    xid: u32,
}

impl Drawable {
    /// Fails with `none` if the display has no such drawables.
    fn of(
        display: Handle,
        config: Handle,
        xid: impl FnOnce(Platform) -> u32,
        none: EglError,
    ) -> Result<Drawable, EglError> {
        let (config, watch, platform) = with_display(display, |open| {
            Ok((open.config(config)?, open.watch.clone(), open.platform))
        })?;
        let xid = xid(platform);
        let watch = watch.filter(|_| xid != 0).ok_or(none)?;
        // Without our lock: Xlib has locks of its own, which the program may hold around its calls
        // of EGL. SAFETY: the program's native display, open while it makes surfaces.
        unsafe { platform.sync() };
        Ok(Drawable { config, watch, xid })
    }
}

impl SurfaceAttributes {
    /// The config's format for this surface. Only windows have two buffers, but contexts treat the
    /// only buffer of other surfaces as a back buffer.
    fn format(&self, config: &Config) -> Result<Format, EglError> {
        let format = Format {
            double: self.kind == surface_attributes::Kind::Window,
            ..config.format
        };
        match self.gl_colorspace {
            surface_attributes::SRGB => format.with_srgb().ok_or(EglError::BadMatch),
            _ => Ok(format),
        }
    }
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
            /// The longest side that servers make.
            const SIDE_MAX: c_int = 16384;
            let config = open.config(config)?;
            let mut told = SurfaceAttributes::read(surface_attributes::Kind::Pbuffer, &attributes)?;
            if told.largest {
                told.size = told.size.map(|n| n.min(MAX_PBUFFER));
            } else if told.size.iter().any(|n| *n > SIDE_MAX) {
                return Err(EglError::BadAlloc);
            }
            let [width, height] = told.size.map(|n| n.max(1) as u32);
            let (id, format) = (config.id as u32, told.format(config)?);
            let surface = Surface::pbuffer(open.session, (width, height), description(format, id));
            Ok(add(open, surface, 0, told))
        })
    })
}

fn description(format: Format, config_id: u32) -> Description {
    Description {
        xid: 0,
        format,
        config_id,
    }
}

fn add(open: &mut Open, surface: Arc<Surface>, drawable: u32, told: SurfaceAttributes) -> Handle {
    let handle = surface.id as usize;
    let made = EglSurface {
        surface,
        drawable,
        told,
    };
    open.surfaces.insert(handle, made);
    handle as Handle
}

pub unsafe extern "C" fn create_pixmap_surface(
    display: Handle,
    config: Handle,
    pixmap: c_ulong,
    attributes: *const c_int,
) -> Handle {
    // SAFETY: the program's list, passed on by libEGL.
    let attributes = unsafe { pairs(attributes) };
    pixmap_surface(display, config, |_| pixmap as u32, &attributes)
}

pub unsafe extern "C" fn create_platform_pixmap_surface(
    display: Handle,
    config: Handle,
    pixmap: *mut c_void,
    attributes: *const Attrib,
) -> Handle {
    // SAFETY: the program's list and pixmap, passed on by libEGL.
    unsafe {
        let attributes = wide_pairs(attributes);
        pixmap_surface(display, config, |p| window_at(p, pixmap), &attributes)
    }
}

pub unsafe extern "C" fn create_platform_pixmap_surface_ext(
    display: Handle,
    config: Handle,
    pixmap: *mut c_void,
    attributes: *const c_int,
) -> Handle {
    // SAFETY: the program's list and pixmap, passed on by libEGL.
    unsafe {
        let attributes = pairs(attributes);
        pixmap_surface(display, config, |p| window_at(p, pixmap), &attributes)
    }
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
        with_display(display, |_| Err(EglError::BadAlloc))
    })
}

pub unsafe extern "C" fn destroy_surface(display: Handle, surface: Handle) -> EglBoolean {
    call(0, || {
        // Dropped after the unlock. The surface lives on while a context draws to it.
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
    call(0, || {
        with_display(display, |open| {
            let EglSurface { surface, told, .. } = open.surface(surface)?;
            let size = match &surface.kind {
                Kind::Window { watch, window } => {
                    watch.poll();
                    let (width, height) = window.size();
                    [width as c_int, height as c_int]
                }
                Kind::Pixmap { .. } => {
                    let (width, height) = surface.size();
                    [width as c_int, height as c_int]
                }
                Kind::Pbuffer => told.size,
            };
            let value = match attribute {
                CONFIG_ID => Some(surface.config_id as c_int),
                surface_attributes::WIDTH => Some(size[0]),
                surface_attributes::HEIGHT => Some(size[1]),
                _ => told.value(attribute)?,
            };
            if out.is_null() {
                return Err(EglError::BadParameter);
            }
            if let Some(value) = value {
                // SAFETY: the program's integer.
                unsafe { out.write(value) };
            }
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
            let id = open.surface(surface)?.surface.config_id as c_int;
            let config = open.configs.iter().find(|c| c.id == id);
            let preserves = config.is_some_and(|c| c.visual.is_some());
            open.surface(surface)?
                .told
                .set(attribute, value, preserves)?;
            Ok(1)
        })
    })
}

/// Copies the pbuffer into the image of the bound texture. The effect of drawing to the pbuffer
/// while it is bound is undefined, so a copy is enough.
pub unsafe extern "C" fn bind_tex_image(
    display: Handle,
    surface: Handle,
    buffer: c_int,
) -> EglBoolean {
    const BACK_BUFFER: c_int = 0x3084;
    call(0, || {
        let (surface, told) = with_display(display, |open| {
            let found = open.surface(surface)?;
            Ok((found.surface.clone(), found.told))
        })?;
        if told.kind != surface_attributes::Kind::Pbuffer {
            return Err(EglError::BadSurface);
        }
        if told.texture_format == surface_attributes::NO_TEXTURE {
            return Err(EglError::BadMatch);
        }
        if buffer != BACK_BUFFER {
            return Err(EglError::BadParameter);
        }
        let with_alpha = told.texture_format != surface_attributes::TEXTURE_RGB;
        native_image::copy(&surface, with_alpha);
        Ok(1)
    })
}

/// The texture keeps the copied image.
pub unsafe extern "C" fn release_tex_image(
    display: Handle,
    surface: Handle,
    _buffer: c_int,
) -> EglBoolean {
    call(0, || {
        with_display(display, |open| match open.surface(surface)?.told.kind {
            surface_attributes::Kind::Pbuffer => Ok(1),
            _ => Err(EglError::BadSurface),
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
        if with_current(|cx| cx.draws_to(&surface)) != Some(true) {
            return Err(EglError::BadSurface);
        }
        swap(session, &surface);
        Ok(1)
    })
}

pub unsafe extern "C" fn swap_interval(display: Handle, _interval: c_int) -> EglBoolean {
    call(0, || {
        with_display(display, |_| Ok(()))?;
        match with_current(|cx| cx.draw.is_some()) {
            None => Err(EglError::BadContext),
            Some(false) => Err(EglError::BadSurface),
            // All intervals are clamped to the only one.
            Some(true) => Ok(1),
        }
    })
}
