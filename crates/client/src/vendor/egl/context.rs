//! Contexts: creating, destroying, making current, waiting.

use super::abi::{EglBoolean, Handle};
use super::dispatch::{current_api, pairs};
use super::display::{with_display, EglSurface};
use super::error::{call, EglError};
use super::surface_attributes::SINGLE_BUFFER;
use super::{OPENGL_API, OPENGL_ES_API};
use crate::config::egl::{Config, ES2_BIT, ES3_BIT, ES_BIT, GL_BIT};
use crate::context::{flag, Refused, Request};
use crate::contexts::contexts;
use crate::current::with_current;
use crate::link::surface::{Kind, Surface};
use mgn_wire::hello::{self, api};
use std::ffi::{c_int, c_uint};
use std::ptr::null_mut;
use std::sync::Arc;

/// EGL_IMG_context_priority. Mesa accepts it even if it does not list it.
const PRIORITY: c_int = 0x3100;
const PRIORITY_HIGH: c_int = 0x3101;
const PRIORITY_MEDIUM: c_int = 0x3102;
const PRIORITY_LOW: c_int = 0x3103;

pub unsafe extern "C" fn create_context(
    display: Handle,
    config: Handle,
    share: Handle,
    attributes: *const c_int,
) -> Handle {
    call(null_mut(), || {
        // SAFETY: the program's list, passed on by libEGL.
        let attributes = unsafe { pairs(attributes) };
        let (session, request, share) = with_display(display, |open| {
            let config = match config.is_null() {
                // EGL_KHR_no_config_context.
                true => None,
                false => Some(open.config(config)?),
            };
            let share = match share.is_null() {
                true => None,
                false => Some(open.context(share)?),
            };
            let request = requested(current_api(), config, &attributes)?;
            let with = share.and_then(|share| contexts().request(share));
            if with.is_some_and(|with| !shares(&with, &request)) {
                return Err(EglError::BadMatch);
            }
            Ok((open.session, request, share))
        })?;
        let made = contexts().create(session, request, share);
        let context = made.map_err(|refused| match refused {
            Refused::Server(_) => EglError::BadMatch,
            Refused::BadContext => EglError::BadContext,
            Refused::NoApi | Refused::NoSession | Refused::Access => EglError::BadAlloc,
        })?;
        with_display(display, |open| {
            open.contexts.insert(context as usize);
            Ok(context.cast())
        })
    })
}

/// Whether two contexts may share objects. All contexts of a share group are lost together or none,
/// and all have errors or none.
fn shares(with: &Request, new: &Request) -> bool {
    let same = |flag| with.has(flag) == new.has(flag);
    same(flag::LOSES) && same(flag::NO_ERROR)
}

/// Reads the attributes of EGL 1.5 and of EGL_KHR_create_context.
fn requested(
    client_api: c_uint,
    config: Option<&Config>,
    attributes: &[(c_int, i64)],
) -> Result<Request, EglError> {
    const MAJOR_VERSION: c_int = 0x3098;
    const MINOR_VERSION: c_int = 0x30FB;
    const FLAGS: c_int = 0x30FC;
    const PROFILE_MASK: c_int = 0x30FD;
    const DEBUG: c_int = 0x31B0;
    const FORWARD_COMPATIBLE: c_int = 0x31B1;
    const ROBUST_ACCESS: c_int = 0x31B2;
    const RESET_STRATEGY: c_int = 0x31BD;
    const ROBUST_ACCESS_EXT: c_int = 0x30BF;
    const RESET_STRATEGY_EXT: c_int = 0x3138;
    const NO_RESET_NOTIFICATION: i64 = 0x31BE;
    const LOSE_CONTEXT_ON_RESET: i64 = 0x31BF;
    const RELEASE_BEHAVIOR: c_int = 0x2097;
    const RELEASE_FLUSH: i64 = 0x2098;
    const NO_ERROR: c_int = 0x31B3;
    const ROBUST_BIT: u32 = 4;
    const DEBUG_BIT: u32 = 1;
    const FORWARD_BIT: u32 = 2;
    let is_gl = client_api == OPENGL_API;
    let (mut major, mut minor, mut flags, mut profile) = (1u32, 0u32, 0u32, 1i64);
    for (name, value) in attributes {
        let number = u32::try_from(*value).map_err(|_| EglError::BadAttribute);
        let only_gl = if is_gl {
            Ok(())
        } else {
            Err(EglError::BadAttribute)
        };
        let mut set = |bit: u32| match value {
            0 => flags &= !bit,
            _ => flags |= bit,
        };
        match *name {
            MAJOR_VERSION => major = number?,
            MINOR_VERSION => minor = number?,
            FLAGS if *value & !3 == 0 => flags = flags & !7 | *value as u32,
            FLAGS if is_gl && *value & !7 == 0 => flags = flags & !7 | *value as u32,
            DEBUG => set(DEBUG_BIT),
            FORWARD_COMPATIBLE => set(FORWARD_BIT),
            ROBUST_ACCESS | ROBUST_ACCESS_EXT => set(ROBUST_BIT),
            // Only a hint, which need not be followed.
            PRIORITY if (PRIORITY_HIGH..=PRIORITY_LOW).contains(&(*value as c_int)) => {}
            PROFILE_MASK => {
                only_gl?;
                profile = *value;
            }
            RESET_STRATEGY_EXT if is_gl => return Err(EglError::BadAttribute),
            RESET_STRATEGY | RESET_STRATEGY_EXT => match *value {
                NO_RESET_NOTIFICATION => flags &= !flag::LOSES,
                LOSE_CONTEXT_ON_RESET => flags |= flag::LOSES,
                _ => return Err(EglError::BadAttribute),
            },
            RELEASE_BEHAVIOR => match *value {
                0 => flags |= flag::NO_FLUSH,
                RELEASE_FLUSH => flags &= !flag::NO_FLUSH,
                _ => return Err(EglError::BadAttribute),
            },
            NO_ERROR => set(flag::NO_ERROR),
            _ => return Err(EglError::BadAttribute),
        }
    }
    let version = (major, minor);
    if flags & flag::NO_ERROR != 0 && major < 2 {
        return Err(EglError::BadAttribute);
    }
    if flags & flag::NO_ERROR != 0 && flags & (DEBUG_BIT | ROBUST_BIT) != 0 {
        return Err(EglError::BadMatch);
    }
    let forward = flags & FORWARD_BIT != 0;
    if forward && !is_gl {
        return Err(EglError::BadMatch);
    }
    let (there, client, bit) = match client_api {
        OPENGL_ES_API => match version {
            (1, 0..=1) => (true, api::ES1, ES_BIT),
            (2, 0) => (true, api::ES, ES2_BIT),
            (3, 0..=2) => (true, api::ES, ES3_BIT),
            _ => (false, api::ES, 0),
        },
        OPENGL_API => {
            let there = matches!(version, (1, 0..=5) | (2, 0..=1) | (3, 0..=3) | (4, 0..=6));
            if version >= (3, 2) && !matches!(profile, 1 | 2) {
                return Err(EglError::BadMatch);
            }
            // Version 3.1 has no profiles: it is what became the core profile. So is every
            // forward-compatible context.
            let core = forward || (version >= (3, 2) && profile == 1) || version == (3, 1);
            let client = if core { api::CORE } else { api::COMPAT };
            (there && !(forward && version < (3, 0)), client, GL_BIT)
        }
        _ => return Err(EglError::BadMatch),
    };
    if !there || config.is_some_and(|c| c.renderable & bit == 0) {
        return Err(EglError::BadMatch);
    }
    Ok(Request {
        api: client,
        major,
        minor,
        flags,
        format: config.map(|c| c.format),
        config_id: config.map_or(0, |c| c.id as u32),
        screen: 0,
        visual: 0,
        shared_with: 0,
    })
}

pub unsafe extern "C" fn destroy_context(display: Handle, context: Handle) -> EglBoolean {
    call(0, || {
        with_display(display, |open| {
            let handle = open.context(context)?;
            open.contexts.remove(&(context as usize));
            let destroyed = contexts().destroy(handle);
            destroyed.map(|()| 1).map_err(|_| EglError::BadContext)
        })
    })
}

pub unsafe extern "C" fn make_current(
    display: Handle,
    draw: Handle,
    read: Handle,
    context: Handle,
) -> EglBoolean {
    call(0, || {
        let contexts = contexts();
        if context.is_null() {
            if !draw.is_null() || !read.is_null() {
                return Err(EglError::BadMatch);
            }
            let released = contexts.make_current(null_mut(), null_mut(), None, None);
            return released.map(|()| 1).map_err(|_| EglError::BadAccess);
        }
        let (handle, xlib, draw, read) = with_display(display, |open| {
            let handle = open.context(context)?;
            if draw.is_null() != read.is_null() {
                return Err(EglError::BadMatch);
            }
            let request = contexts.request(handle).ok_or(EglError::BadContext)?;
            let mut fitting = |surface: Handle| -> Result<Option<Arc<Surface>>, EglError> {
                if surface.is_null() {
                    return Ok(None);
                }
                let EglSurface { surface, .. } = open.surface(surface)?;
                let plain = surface.format.id & !hello::Config::SRGB;
                match request.format.is_none_or(|f| f.id == plain) {
                    true => Ok(Some(surface.clone())),
                    false => Err(EglError::BadMatch),
                }
            };
            let (draw, read) = (fitting(draw)?, fitting(read)?);
            Ok((handle, open.platform.xlib(), draw, read))
        })?;
        match contexts.make_current(handle, xlib, draw, read) {
            Ok(()) => Ok(1),
            Err(Refused::Access) => Err(EglError::BadAccess),
            Err(_) => Err(EglError::BadContext),
        }
    })
}

pub unsafe extern "C" fn release_thread() -> EglBoolean {
    call(0, || {
        let released = contexts().make_current(null_mut(), null_mut(), None, None);
        released.map(|()| 1).map_err(|_| EglError::BadAccess)
    })
}

pub unsafe extern "C" fn query_context(
    display: Handle,
    context: Handle,
    attribute: c_int,
    out: *mut c_int,
) -> EglBoolean {
    const CONFIG_ID: c_int = 0x3028;
    const RENDER_BUFFER: c_int = 0x3086;
    const CLIENT_TYPE: c_int = 0x3097;
    const CLIENT_VERSION: c_int = 0x3098;
    const BACK_BUFFER: c_int = 0x3084;
    const NONE: c_int = 0x3038;
    call(0, || {
        with_display(display, |open| {
            let handle = open.context(context)?;
            let request = contexts().request(handle).ok_or(EglError::BadContext)?;
            let is_es = matches!(request.api, api::ES | api::ES1);
            let value = match attribute {
                CONFIG_ID => request.config_id as c_int,
                CLIENT_TYPE if is_es => OPENGL_ES_API as c_int,
                CLIENT_TYPE => OPENGL_API as c_int,
                CLIENT_VERSION => request.major as c_int,
                RENDER_BUFFER => {
                    let drawn_to = with_current(|cx| {
                        let draw = cx.draw.as_ref();
                        draw.filter(|_| std::ptr::eq(cx, handle)).cloned()
                    });
                    match drawn_to.flatten().as_ref().map(|s| &s.kind) {
                        Some(Kind::Pixmap { .. }) => SINGLE_BUFFER,
                        Some(_) => BACK_BUFFER,
                        None => NONE,
                    }
                }
                PRIORITY => PRIORITY_MEDIUM,
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

pub unsafe extern "C" fn wait_client() -> EglBoolean {
    call(0, || {
        with_current(|cx| cx.finish());
        Ok(1)
    })
}

/// Native rendering goes to windows, which we never read.
pub unsafe extern "C" fn wait_native(_engine: c_int) -> EglBoolean {
    call(0, || Ok(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::tests::formats;

    fn ask(
        client_api: c_uint,
        attributes: &[(c_int, i64)],
    ) -> Result<(u32, u32, u32, u32), EglError> {
        let config = Config {
            id: 1,
            format: formats()[0],
            visual: None,
            renderable: GL_BIT | ES2_BIT | ES3_BIT,
            group: None,
        };
        let request = requested(client_api, Some(&config), attributes)?;
        Ok((request.api, request.major, request.minor, request.flags))
    }

    #[test]
    fn apis_and_versions() {
        assert_eq!(ask(OPENGL_ES_API, &[(0x3098, 2)]), Ok((api::ES, 2, 0, 0)));
        assert_eq!(
            ask(OPENGL_ES_API, &[(0x3098, 3), (0x30FB, 1)]),
            Ok((api::ES, 3, 1, 0))
        );
        assert_eq!(
            ask(OPENGL_ES_API, &[]),
            Err(EglError::BadMatch),
            "no ES 1 in this config"
        );
        assert_eq!(ask(OPENGL_API, &[]), Ok((api::COMPAT, 1, 0, 0)));
        let gl33 = [(0x3098, 3), (0x30FB, 3)];
        assert_eq!(ask(OPENGL_API, &gl33), Ok((api::CORE, 3, 3, 0)));
        let gl31 = [(0x3098, 3), (0x30FB, 1)];
        assert_eq!(ask(OPENGL_API, &gl31), Ok((api::CORE, 3, 1, 0)));
        let gl30 = [(0x3098, 3), (0x30FB, 0)];
        assert_eq!(ask(OPENGL_API, &gl30), Ok((api::COMPAT, 3, 0, 0)));
        let forward = [(0x3098, 3), (0x30FB, 0), (0x31B1, 1)];
        assert_eq!(ask(OPENGL_API, &forward), Ok((api::CORE, 3, 0, 2)));
        let compat = [(0x3098, 3), (0x30FB, 3), (0x30FD, 2), (0x31B0, 1)];
        assert_eq!(ask(OPENGL_API, &compat), Ok((api::COMPAT, 3, 3, 1)));
    }

    #[test]
    fn mistakes_have_their_errors() {
        assert_eq!(ask(OPENGL_ES_API, &[(0x3098, 7)]), Err(EglError::BadMatch));
        assert_eq!(
            ask(OPENGL_ES_API, &[(0x30FD, 1)]),
            Err(EglError::BadAttribute)
        );
        assert_eq!(ask(OPENGL_API, &[(0x1111, 1)]), Err(EglError::BadAttribute));
        assert_eq!(
            ask(OPENGL_ES_API, &[(0x3098, 3), (0x30FC, 4)]),
            Err(EglError::BadAttribute)
        );
        let no_errors = (0x31B3, 1);
        assert_eq!(
            ask(OPENGL_API, &[(0x3098, 1), no_errors]),
            Err(EglError::BadAttribute)
        );
        assert_eq!(
            ask(OPENGL_API, &[(0x3098, 3), no_errors, (0x31B2, 1)]),
            Err(EglError::BadMatch)
        );
        assert_eq!(
            ask(OPENGL_API, &[(0x3098, 3), (0x30FB, 2), (0x30FD, 3)]),
            Err(EglError::BadMatch)
        );
        assert_eq!(
            ask(OPENGL_API, &[(0x3098, 2), (0x31B1, 1)]),
            Err(EglError::BadMatch)
        );
    }
}
